//! Programs in OpenCL C, whose names may be whole tokens or spelled; keywords and types are whole.

#[path = "../../crates/grammar/tests/tokens/mod.rs"]
mod tokens;

pub(crate) use tokens::{END, Tokens};

/// Which lexeme a constraint refuses (their number: the end), and whether the program might have ended behind each
/// before.
fn read(tokens: &Tokens, lexemes: &[&str]) -> (Option<usize>, Vec<bool>) {
    let mut constraint = tokens.constraint();
    let mut ends = Vec::new();
    for (at, lexeme) in lexemes.iter().enumerate() {
        for id in tokens.spell(lexeme) {
            if constraint.push(id).is_err() {
                return (Some(at), ends);
            }
        }
        ends.push(constraint.may_end());
    }
    (constraint.push(END).is_err().then_some(lexemes.len()), ends)
}

/// Assert that a program's names may be whole, or spelled.
pub(crate) fn same_however_spelled(lexemes: &[&str]) {
    let words = lexemes.iter().copied().filter(|lexeme| {
        lexeme.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && !lexeme.starts_with(|first: char| first.is_ascii_digit())
    });
    let (whole, ends) = read(&Tokens::with_keywords(words), lexemes);
    let (spelled, spelled_ends) = read(&Tokens::with_keywords([]), lexemes);
    let program = || lexemes.join(" ");
    for (at, (end, spelled_end)) in ends.iter().zip(&spelled_ends).enumerate() {
        assert_eq!(end, spelled_end, "an end behind lexeme {at}, whole and spelled: {}", program());
    }
    match (whole, spelled) {
        (None, None) => {}
        // What is spelled is read when the next lexeme begins, or refused before it ends.
        (Some(whole), Some(spelled)) if spelled.abs_diff(whole) <= 1 => {}
        _ => panic!("refused at {whole:?} whole, at {spelled:?} spelled: {}", program()),
    }
}
