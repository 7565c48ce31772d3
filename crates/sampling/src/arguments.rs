//! The arguments that samples are to have.

use crate::{Error, Result};
use kernels::Judge;
use lexer::Token;
use lm::condition;
use rows::SampleVerdict;

/// The arguments of a text's last kernel; address spaces have two spellings.
pub(crate) fn arguments(text: &str) -> Vec<String> {
    let lexemes = condition::arguments(text).into_iter();
    lexemes.map(|lexeme| lexeme.trim_start_matches("__").to_owned()).collect()
}

/// Whether what an argument points to is of a type that no list of arguments can say the members of: nothing is written to it.
fn is_incomplete(argument: &[String]) -> bool {
    let has = |word: &str| argument.iter().any(|lexeme| lexeme == word);
    let stars = argument.iter().filter(|lexeme| *lexeme == "*").count();
    stars == 1 && (has("void") || (has("struct") || has("union")) && !has("{"))
}

/// Whether one of these arguments is memory that others see and that may be written.
fn may_hold_a_result(arguments: &[String]) -> bool {
    arguments.split(|lexeme| lexeme == ",").any(|one| {
        let has = |word: &str| one.iter().any(|lexeme| lexeme == word);
        let pointer = one.iter().position(|lexeme| lexeme == "*");
        // `const` behind the star is of the pointer.
        let is_const = |at: usize| one[..at].iter().any(|lexeme| lexeme == "const");
        let is_image = one.iter().any(|lexeme| lexeme.starts_with("image"));
        is_image && (has("write_only") || has("read_write"))
            || has("global") && pointer.is_some_and(|at| !is_const(at)) && !is_incomplete(one)
            || has("pipe")
    })
}

/// The arguments that a kernel has which was asked to have these; where it is to be of use, one that holds its result.
pub(crate) fn asked(judge: &Judge, wanted: &str, useful: bool) -> Result<Vec<String>> {
    let refused = |reason: String| Error::Arguments { asked: wanted.to_owned(), reason };
    let text = condition::head(wanted).map_err(refused)? + "}\n";
    let judged = judge.check(&text);
    judge.works()?;
    match judged {
        Err(verdict) if verdict.name != SampleVerdict::TooSmall.name() => {
            Err(refused(verdict.detail))
        }
        _ => {
            let normal = judge.normalise(&text).map(|row| arguments(&row.text));
            let own = arguments(&text);
            if useful && !may_hold_a_result(&own) {
                let is_opaque = own.split(|lexeme| lexeme == ",").any(is_incomplete);
                let why = if is_opaque {
                    ", and nothing says what a `struct` or `void` holds"
                } else {
                    ""
                };
                return Err(refused(format!(
                    "none of them can hold a result{why}: one is to be a buffer that is written, such as \
                     `global float*` (--allow-useless does without)"
                )));
            }
            // Normal form may respell a type; it is not to lose an argument.
            let commas = |list: &[String]| list.iter().filter(|lexeme| *lexeme == ",").count();
            Ok(normal.filter(|normal| commas(normal) == commas(&own)).unwrap_or(own))
        }
    }
}

/// Functions that write nothing, and that an optimizer leaves where they are.
const FENCES: [&str; 8] = [
    "atomic_work_item_fence",
    "barrier",
    "mem_fence",
    "prefetch",
    "read_mem_fence",
    "sub_group_barrier",
    "work_group_barrier",
    "write_mem_fence",
];

/// A program with a number in the place of each call that writes nothing and only orders what others write: what is left has no
/// effect if the program computes nothing.
pub(crate) fn without_fences(text: &str) -> String {
    let all: Vec<Token<'_>> = lexer::tokens(text).collect();
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    for (at, token) in all.iter().enumerate() {
        let is_call = all.get(at + 1).is_some_and(|next| next.is("("));
        if token.begin < from || !is_call || !FENCES.contains(&token.text) {
            continue;
        }
        let Some(last) = all.get(lexer::closing(&all, at)) else { break };
        out.push_str(&text[from..token.begin]);
        out.push('0');
        from = last.end();
    }
    out + &text[from..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial;
    use lm::{Drawing, Prompt};

    #[test]
    fn a_kernel_that_does_nothing_is_not_as_asked() {
        let bodies = ["}", "mem_fence(0x02); }", "a[get_global_id(0)] = b; }"];
        let verdicts = |useful| {
            let arguments = "global float*, int";
            let text = condition::head(arguments).expect("a list") + lm::HOLE;
            let prompt = Prompt { arguments: Some(arguments.to_owned()), ..Prompt::new(&text) };
            let rows = trial::of_fills(&bodies, prompt, Drawing { useful, ..Drawing::default() });
            rows.into_iter().map(|row| row.verdict).collect::<Vec<_>>()
        };
        let told = verdicts(true);
        assert!(told[..2].iter().all(|verdict| verdict != "accepted"), "{told:?}");
        assert_eq!((&*told[1], &*told[2]), ("not-as-asked", "accepted"));
        assert_eq!(verdicts(false)[1..], ["accepted", "accepted"]);
    }

    #[test]
    fn a_buffer_that_can_be_written_may_hold_a_result() {
        for (wanted, may) in [
            ("global float*, int", true),
            ("global struct foo*, global int*", true),
            ("write_only image2d_t", true),
            ("global struct foo*", false),
            ("global union foo*, int", false),
            ("global void*", false),
            ("global const float*", false),
            ("int, float", false),
        ] {
            let head = condition::head(wanted).expect("a list");
            assert_eq!(may_hold_a_result(&arguments(&(head + "}"))), may, "{wanted}");
        }
    }

    #[test]
    fn fences_are_left_out() {
        for (text, wanted) in [
            ("{ mem_fence(0x02); }", "{ 0; }"),
            ("{ barrier((1) | (2)); a[0] = 1; barrier(1); }", "{ 0; a[0] = 1; 0; }"),
            ("{ int barrier = 1; a[0] = barrier; }", "{ int barrier = 1; a[0] = barrier; }"),
            ("{ barrier(", "{ barrier("),
        ] {
            assert_eq!(without_fences(text), wanted);
        }
    }
}
