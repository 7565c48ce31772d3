//! What a sample may be conditioned on: a wanted feature vector and an argument specification
//! (BenchDirect, Tsimpourlas et al. 2023, section 4), as tokens before the kernel.

use lexer::{Kind, Token, kernel_signatures, tokens};
use std::collections::BTreeMap;

/// Features that can be asked for, in the order in which they stand before a kernel. The first six
/// are Grewe's (CGO'13), then two of InstCount's; `tokens` is the kernel's length.
pub const FEATURES: [&str; 9] = [
    "comp",
    "rational",
    "mem",
    "localmem",
    "coalesced",
    "atomic",
    "instructions",
    "blocks",
    "tokens",
];

/// Which of [`FEATURES`] a dimension of a feature space is, where it is one.
#[must_use]
pub fn feature(dimension: &str) -> Option<&'static str> {
    let name = match dimension {
        "TotalInsts" => "instructions",
        "TotalBlocks" => "blocks",
        other => other,
    };
    FEATURES.into_iter().find(|known| *known == name)
}

/// Steps of a feature: none, one, two or three, four to seven, and so on.
pub const STEPS: usize = 12;

/// The step of a value: 0 for 0, else one more than the binary logarithm, rounded down.
#[must_use]
pub fn step(value: f64) -> usize {
    if value < 1.0 { 0 } else { (value.log2() as usize + 1).min(STEPS - 1) }
}

/// Of the values that are wanted those that were missed, each with what was found and what would have done: a value
/// of the same step.
#[must_use]
pub fn missed(wanted: &BTreeMap<String, f64>, found: &BTreeMap<String, f64>) -> Vec<String> {
    let missed = |(name, wanted): (&String, &f64)| match found.get(name) {
        Some(found) if step(*found) == step(*wanted) => None,
        Some(found) => Some(format!("{name} is {found}, wanted {}", values(step(*wanted)))),
        None => Some(format!("{name} is unknown, wanted {}", values(step(*wanted)))),
    };
    wanted.iter().filter_map(missed).collect()
}

/// The whole numbers of a step.
fn values(step: usize) -> String {
    let first = 1_u64 << step.saturating_sub(1);
    match step {
        0 => "0".to_owned(),
        1 => "1".to_owned(),
        _ if step == STEPS - 1 => format!("{first} or more"),
        _ => format!("{first} to {}", 2 * first - 1),
    }
}

/// Spellings of all condition tokens: `<comp:0>` to `<tokens:11>`.
#[must_use]
pub fn pieces() -> Vec<String> {
    FEATURES.iter().flat_map(|name| (0..STEPS).map(move |step| piece(name, step))).collect()
}

fn piece(name: &str, step: usize) -> String {
    format!("<{name}:{step}>")
}

/// The condition tokens' spellings for a feature vector, one place for each of [`FEATURES`];
/// `None` where it has no value.
#[must_use]
pub fn of(values: &BTreeMap<String, f64>) -> Vec<Option<String>> {
    FEATURES.iter().map(|name| values.get(*name).map(|value| piece(name, step(*value)))).collect()
}

/// The argument specification of the last kernel in a text: its parameters without their names, as
/// lexemes with commas between the parameters. Empty where the text has no kernel.
#[must_use]
pub fn arguments(text: &str) -> Vec<&str> {
    let last = kernel_signatures(text).pop();
    last.map_or_else(Vec::new, |signature| parse_arguments(&text[signature.parameters]))
}

/// A specification as a person gives it: `global float*, const int`.
#[must_use]
pub fn parse_arguments(text: &str) -> Vec<&str> {
    let all: Vec<Token<'_>> = tokens(text).filter(|token| token.kind != Kind::Directive).collect();
    specification(&all)
}

/// The head of a kernel of these arguments, as training text has it, up to the body's brace: for
/// `global float*, const int` it is `__kernel void A(__global float* a, const int b) {`.
///
/// # Errors
/// Says what is no list of arguments: an empty one, or one that has more than 26.
pub fn head(text: &str) -> Result<String, String> {
    let lexemes = parse_arguments(text);
    let parameters: Vec<&[&str]> = lexemes.split(|lexeme| *lexeme == ",").collect();
    if parameters.iter().any(|parameter| parameter.is_empty()) {
        return Err("an argument is empty; write types, as `global float*, const int`".into());
    }
    if parameters.len() > NAMES.len() {
        return Err(format!("{} arguments; a kernel here has 26 at most", parameters.len()));
    }
    let mut head = "__kernel void A(".to_owned();
    for (at, (parameter, name)) in parameters.iter().zip(NAMES.chars()).enumerate() {
        head += if at > 0 { ", " } else { "" };
        for (at, lexeme) in parameter.iter().enumerate() {
            let glued = at == 0 || *lexeme == "*";
            head += if glued { "" } else { " " };
            head += lexer::spelling(lexeme);
        }
        head.push(' ');
        head.push(name);
    }
    Ok(head + ") {")
}

const NAMES: &str = "abcdefghijklmnopqrstuvwxyz";

fn specification<'a>(inside: &[Token<'a>]) -> Vec<&'a str> {
    let mut lexemes = Vec::new();
    for (at, parameter) in inside.split(|token| token.is(",")).enumerate() {
        if at > 0 {
            lexemes.push(",");
        }
        let words = parameter.iter().filter(|token| token.kind == Kind::Word).count();
        // The last word, where it is no type: what stands before one is no name, but a misspelled word.
        let last = parameter.iter().rposition(|token| token.kind == Kind::Word);
        // Nor is what a star follows.
        let starred = |at: usize| parameter.get(at + 1).is_some_and(|next| next.is("*"));
        let name = last.filter(|at| words > 1 && !is_type(parameter[*at].text) && !starred(*at));
        let kept = parameter.iter().enumerate().filter(|(at, _)| Some(*at) != name);
        lexemes.extend(kept.map(|(_, token)| token.text));
    }
    lexemes
}

fn is_type(word: &str) -> bool {
    use grammar::{KEYWORDS, TYPES};
    let scalar = word.trim_end_matches(|letter: char| letter.is_ascii_digit());
    KEYWORDS.binary_search(&word).is_ok()
        || TYPES.binary_search(&word).is_ok()
        || TYPES.binary_search(&scalar).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_specification_is_the_parameters_without_names() {
        let text = "void B(int a) {}\nkernel __attribute__((reqd_work_group_size(8, 1, 1))) void \
                    A(global float4* restrict a, const int b, local Ta* c) { B(b); }";
        assert_eq!(arguments(text).join(" "), "global float4 * restrict , const int , local Ta *");
        assert_eq!(parse_arguments("global float*, int").join(" "), "global float * , int");
        assert!(arguments("int a;").is_empty());
    }

    #[test]
    fn a_head_is_that_of_normal_form() {
        let written = head("global float*, const int, read_only image2d_t, float4 v");
        let wanted =
            "__kernel void A(__global float* a, const int b, __read_only image2d_t c, float4 d) {";
        assert_eq!(written.as_deref(), Ok(wanted));
        // Misspelled it stays, for a compiler to refuse.
        assert_eq!(head("globl float").as_deref(), Ok("__kernel void A(globl float a) {"));
        assert_eq!(head("__global int *x").as_deref(), Ok("__kernel void A(__global int* a) {"));
        for wrong in ["", ",", "int,", "int,,int"] {
            assert!(head(wrong).is_err(), "{wrong}");
        }
        assert!(head(&["int"; 26].join(",")).is_ok());
        assert!(head(&["int"; 27].join(",")).is_err());
    }

    #[test]
    fn steps_double() {
        let steps: Vec<usize> = [0.0, 0.3, 1.0, 2.0, 3.0, 4.0, 1e9].map(step).into();
        assert_eq!(steps, [0, 0, 1, 2, 2, 3, STEPS - 1]);
    }
    #[test]
    fn a_value_of_the_wanted_step_is_as_wanted() {
        let of = |pairs: &[(&str, f64)]| -> BTreeMap<String, f64> {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
        };
        let wanted = of(&[("blocks", 9000.0), ("localmem", 0.0), ("mem", 5.0)]);
        let found = of(&[("blocks", 3.0), ("comp", 1.0), ("localmem", 0.0), ("mem", 8.0)]);
        assert_eq!(
            missed(&wanted, &found),
            ["blocks is 3, wanted 1024 or more", "mem is 8, wanted 4 to 7"]
        );
        assert!(
            missed(&wanted, &of(&[("blocks", 1024.0), ("localmem", 0.0), ("mem", 7.0)])).is_empty()
        );
        assert_eq!(missed(&of(&[("mem", 1.0)]), &of(&[])), ["mem is unknown, wanted 1"]);
    }
}
