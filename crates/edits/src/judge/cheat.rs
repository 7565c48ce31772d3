//! Why a candidate is right on the tests it could know and wrong on others.

use crate::{
    suite::Test,
    token::{Kind, tokens},
};
use rows::EditVerdict;
use std::collections::BTreeSet;

/// Share of a test's distinct telling tokens that must stand in a candidate's text.
const SHARE: f64 = 0.5;

/// A name for it: expected outputs or inputs that stand in the candidate's text and not in the slow
/// program's, or an array that is too short, or just `fails-hidden-tests`.
pub(super) fn why_hidden_fails(
    slow: &str,
    candidate: &str,
    visible: &[Test],
    array_shrunk: bool,
) -> EditVerdict {
    let known = constants(slow);
    let new: BTreeSet<String> = constants(candidate).difference(&known).cloned().collect();
    if holds(&new, visible.iter().map(|test| &test.output[..])) {
        EditVerdict::AnswerTable
    } else if holds(&new, visible.iter().map(|test| &test.input[..])) {
        EditVerdict::HardCodedInput
    } else if array_shrunk {
        EditVerdict::ShrunkenArray
    } else {
        EditVerdict::FailsHiddenTests
    }
}

/// Numbers, and words inside of strings.
fn constants(source: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for token in tokens(source) {
        match token.kind {
            Kind::Number => {
                found.insert(token.text.trim_end_matches(['u', 'l', 'U', 'L']).to_owned());
            }
            Kind::Literal => {
                let inside = token.text.trim_matches(['"', '\'']);
                let words = inside.split(|c: char| c.is_whitespace() || c == '\\');
                found.extend(words.filter(|word| !word.is_empty()).map(str::to_owned));
            }
            _ => {}
        }
    }
    found
}

/// Whether much of some test's text stands among the constants. One digit tells nothing, and a text
/// without telling tokens cannot be recognised.
fn holds<'a>(constants: &BTreeSet<String>, texts: impl Iterator<Item = &'a [u8]>) -> bool {
    texts.into_iter().any(|text| {
        let text = String::from_utf8_lossy(text);
        let telling: BTreeSet<&str> =
            text.split_whitespace().filter(|token| token.len() >= 2).collect();
        let held = telling.iter().filter(|token| constants.contains(**token)).count();
        !telling.is_empty() && held as f64 >= SHARE * telling.len() as f64
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(input: &str, output: &str) -> Test {
        Test { number: 1, input: input.into(), output: output.into() }
    }

    #[test]
    fn tables_and_hard_coded_inputs_are_recognised() {
        let slow = "int main() { int n; cin >> n; cout << f(n); }";
        let tests = [test("100 200\n", "4711 4712\n")];
        let why = |candidate: &str, shrunk| why_hidden_fails(slow, candidate, &tests, shrunk);
        assert_eq!(why("int a[] = {4711, 4712};", false), EditVerdict::AnswerTable);
        assert_eq!(why("puts(\"4711 4712\");", false), EditVerdict::AnswerTable);
        assert_eq!(why("if (n == 100 && m == 200) x();", false), EditVerdict::HardCodedInput);
        assert_eq!(why("int a[7];", true), EditVerdict::ShrunkenArray);
        assert_eq!(why("return n;", false), EditVerdict::FailsHiddenTests);
    }
}
