//! The grammar of OpenCL C accepts a text or not, however its words are cut into tokens.

use crate::program::same_however_spelled;

/// Longer ones are looked at no further.
const LONGEST: usize = 400;

pub fn run(data: &[u8]) {
    let Some(text) = crate::input::text(data) else { return };
    let lexemes: Vec<&str> = lexer::tokens(text).map(|token| token.text).take(LONGEST).collect();
    // No token spells others.
    let printable = |lexeme: &&str| lexeme.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    if lexemes.iter().all(printable) {
        same_however_spelled(&lexemes);
    }
    // What does nothing is refused, whatever the lexemes are.
    let mut useful = stampmill_grammar::Useful::new();
    for part in lexemes.chunks(9) {
        let _ = useful.read(part);
        useful.accept(part);
    }
}
