//! Parameters that answers are to have.

use crate::program::{Parameter, Space, Ty};
use lm::condition;
use std::{fmt, str::FromStr};

/// Words that say nothing of what a parameter is given.
const PROMISES: [&str; 4] = ["restrict", "__restrict", "__restrict__", "volatile"];

/// The parameters that answers are to have, by their types and in their order: `global float*, global float*, int`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arguments(Vec<Ty>);

impl Arguments {
    /// Whether a program's last kernel has these parameters. What is promised of one (`restrict`) is not looked at.
    #[must_use]
    pub fn are_of(&self, text: &str) -> bool {
        types_of(text) == self.0
    }

    /// Whether one of them points to global memory.
    pub(crate) fn have_buffer(&self) -> bool {
        self.0.iter().any(|ty| matches!(ty, Ty::Pointer { space: Space::Global, .. }))
    }

    pub(crate) fn types(&self) -> &[Ty] {
        &self.0
    }

    /// The same as parameters of a kernel that has no others.
    pub(crate) fn parameters(&self) -> Vec<Parameter> {
        let named = self.0.iter().enumerate().map(|(at, ty)| {
            let name = format!("p{at}");
            Parameter { text: format!("{ty} {name}"), name, ty: *ty }
        });
        named.collect()
    }
}

/// The types of the parameters of a program's last kernel.
pub(crate) fn types_of(text: &str) -> Vec<Ty> {
    let all = condition::arguments(text);
    let parameters = all.split(|lexeme| *lexeme == ",").filter(|one| !one.is_empty());
    parameters.map(of_words).collect()
}

/// The type of a parameter without its name.
fn of_words(words: &[&str]) -> Ty {
    let words = words.iter().copied().filter(|word| !PROMISES.contains(word));
    let mut words: Vec<&str> = words.collect();
    // Behind the star it is the parameter itself that does not change.
    while words.contains(&"*") && words.last() == Some(&"const") {
        words.pop();
    }
    Ty::parse(&words.join(" "))
}

impl FromStr for Arguments {
    type Err = String;

    fn from_str(text: &str) -> Result<Arguments, String> {
        let mut types = Vec::new();
        for part in text.split(',').map(str::trim) {
            match of_words(&condition::parse_arguments(part)) {
                Ty::Pointer { space: Space::Private, .. } => {
                    return Err(format!(
                        "`{part}` does not say where it points: global, local or constant"
                    ));
                }
                Ty::Other => {
                    return Err(format!(
                        "`{part}` is no type of an argument that kernels are made with: numbers (int), vectors (float4), and \
                         pointers to these (global float*)"
                    ));
                }
                ty => types.push(ty),
            }
        }
        Ok(Arguments(types))
    }
}

impl fmt::Display for Arguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let types: Vec<String> = self.0.iter().map(Ty::to_string).collect();
        f.write_str(&types.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_types_is_found_in_a_kernel_with_them() {
        let wanted: Arguments =
            "global float*, __global const int*, uint4, size_t".parse().unwrap();
        assert_eq!(wanted.to_string(), "__global float*, __global const int*, uint4, ulong");
        let kernel =
            |parameters: &str| format!("void f(int a) {{}}\n__kernel void A({parameters}) {{}}");
        for (parameters, is_as_wanted) in [
            ("__global float* restrict a, const global int *b, uint4 c, ulong d", true),
            ("global float* a, global int const* const b, uint4 c, unsigned long d", true),
            ("global float*, global const int* restrict, uint4, unsigned long", true),
            ("global float* a, global int* b, uint4 c, ulong d", false),
            ("global const int* b, global float* a, uint4 c, ulong d", false),
            ("global float* a, global const int* b, uint4 c", false),
            ("", false),
        ] {
            assert_eq!(wanted.are_of(&kernel(parameters)), is_as_wanted, "{parameters}");
        }
        assert!(!wanted.are_of("int f;"));
        // With names as well, as `sample --args` takes them.
        let named: Arguments =
            "global float* a, const global int* restrict b, uint4 c, size_t d".parse().unwrap();
        assert_eq!(named, wanted);
    }

    #[test]
    fn what_is_no_list_of_types_is_named() {
        for (text, part) in [
            ("float*", "does not say where it points"),
            ("global float*, image2d_t", "`image2d_t` is no type"),
            ("int,", "`` is no type"),
            ("", "is no type"),
        ] {
            let error = text.parse::<Arguments>().unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
