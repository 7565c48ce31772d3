//! Whether a kernel does anything that nothing comes of.

use crate::Error;
use clang::Clang;
use kernels::Judge;

/// Finds statements that the optimizer makes the same of a kernel without.
pub struct DeadCode {
    judge: Judge,
}

impl DeadCode {
    /// With so many workers.
    ///
    /// # Errors
    /// When clang's worker cannot be had.
    pub fn new(jobs: usize) -> Result<DeadCode, Error> {
        Ok(DeadCode { judge: Judge::new(Clang::start(jobs.max(1))?) })
    }

    /// Whether there is such a statement in a program, a loop or branch with nothing in it, or a variable that nothing names
    /// (see [`Judge::without_dead_code`]).
    ///
    /// # Errors
    /// Why that cannot be told: the machine failed clang, which says nothing of the program.
    pub fn is_in(&self, text: &str) -> Result<bool, String> {
        let left = self.judge.without_dead_code(text, 0..text.len(), &|_| true);
        self.judge.works().map_err(|error| error.to_string())?;
        Ok(left.is_none_or(|left| words(&left) != words(text)))
    }
}

/// The tokens of a program but for parentheses, which do nothing either.
fn words(text: &str) -> Vec<&str> {
    let all = lexer::tokens(text).map(|token| token.text);
    all.filter(|text| !["(", ")"].contains(text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_that_nothing_comes_of_is_found() {
        let found = DeadCode::new(1).unwrap_or_else(|error| panic!("{error}"));
        let kernel = |body: &str| format!("__kernel void A(__global int* a, int b) {{ {body} }}");
        for (body, is_dead) in [
            ("a[get_global_id(0)] = (b + 1) * 2;", false),
            ("int c = b; a[get_global_id(0)] = c;", false),
            ("int c = b; c += a[1]; a[get_global_id(0)] = b;", true),
            ("a[get_global_id(0)] = b; if (b > 2) { }", true),
        ] {
            assert_eq!(found.is_in(&kernel(body)), Ok(is_dead), "{body}");
        }
    }
}
