//! The arguments that samples are to have.

use crate::{Error, Result};
use kernels::Judge;
use lm::condition;
use rows::SampleVerdict;

/// The arguments of a text's last kernel; address spaces have two spellings.
pub(crate) fn arguments(text: &str) -> Vec<String> {
    let lexemes = condition::arguments(text).into_iter();
    lexemes.map(|lexeme| lexeme.trim_start_matches("__").to_owned()).collect()
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
            || has("global") && pointer.is_some_and(|at| !is_const(at))
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
                return Err(refused(
                    "none of them can hold a result: one is to be a buffer that is written, such as \
                     `global float*` (--allow-useless does without)"
                        .to_owned(),
                ));
            }
            // Normal form may respell a type; it is not to lose an argument.
            let commas = |list: &[String]| list.iter().filter(|lexeme| *lexeme == ",").count();
            Ok(normal.filter(|normal| commas(normal) == commas(&own)).unwrap_or(own))
        }
    }
}
