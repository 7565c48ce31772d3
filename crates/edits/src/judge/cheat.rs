//! Why a candidate is right, or fast, on the tests it could know and not on others.

use crate::{
    suite::Test,
    token::{Kind, tokens},
};
use dataset::Verdict;
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
    match of_tests(slow, candidate, visible) {
        Some(verdict) => verdict,
        None if array_shrunk => EditVerdict::ShrunkenArray,
        None => EditVerdict::FailsHiddenTests,
    }
}

/// Chance that none of the others gains, below which the known tests are what the gain is of.
const CHANCE: f64 = 0.05;

/// Why a candidate that is right everywhere is faster on tests that it could know, and on none of the others on which the slow
/// program takes as long: it would be by chance, were they alike, or the known ones stand in its text. Tests are given as the slow
/// program's time and its ratio to the candidate's.
pub(super) fn why_gain_is_of_known(
    (slow, candidate): (&str, &str),
    visible: &[Test],
    known: &[(f64, f64)],
    others: &[(f64, f64)],
    threshold: f64,
) -> Option<Verdict> {
    let gains = |ratio: f64| ratio >= threshold;
    let least = known.iter().filter(|of| gains(of.1)).map(|of| of.0).min_by(f64::total_cmp)?;
    let as_long = |of: &&(f64, f64)| of.0 >= least;
    let others: Vec<_> = others.iter().filter(as_long).collect();
    if others.is_empty() || others.iter().any(|of| gains_some(of.1, threshold)) {
        return None;
    }
    let known: Vec<_> = known.iter().filter(as_long).collect();
    let gaining = known.iter().filter(|of| gains(of.1)).count();
    let share = gaining as f64 / known.len() as f64;
    let chance = (1.0 - share).powf(others.len() as f64);
    let name = match of_tests(slow, candidate, visible) {
        Some(name) => name,
        None if chance < CHANCE => EditVerdict::GainsOnKnownTests,
        None => return None,
    };
    let detail = format!(
        "faster on {gaining} of {} tests that it could know, and on none of {} hidden ones that take as long",
        known.len(),
        others.len()
    );
    Some(Verdict::new(name, detail))
}

/// Whether a ratio is some of the threshold's gain: half of it.
fn gains_some(ratio: f64, threshold: f64) -> bool {
    ratio >= 1.0 + (threshold - 1.0) / 2.0
}

/// Of the slow program's longest time on a test, the share from which another test is as large.
const AS_LARGE: f64 = 0.5;

/// The test which shows that a gain is of small inputs alone: the slow program's longest, where none of those that are as large
/// has some of the gain. Tests are given by number, the slow program's time and its ratio to the candidate's; those of `others`
/// are hidden.
pub(super) fn refuting_test(
    known: &[(u64, f64, f64)],
    others: &[(u64, f64, f64)],
    threshold: f64,
) -> Option<String> {
    let all =
        || known.iter().map(|of| ("test", of)).chain(others.iter().map(|of| ("hidden test", of)));
    // Of equal ones the first.
    let (kind, (number, longest, _)) =
        all().rev().max_by(|(_, (_, a, _)), (_, (_, b, _))| a.total_cmp(b))?;
    let mut large = all().filter(|(_, (_, slow, _))| *slow >= AS_LARGE * longest);
    let none_gains = !large.any(|(_, (_, _, ratio))| gains_some(*ratio, threshold));
    none_gains.then(|| format!("{kind} {number}"))
}

/// What of the tests stands in the candidate's text and not in the slow program's.
fn of_tests(slow: &str, candidate: &str, visible: &[Test]) -> Option<EditVerdict> {
    let known = constants(slow);
    let new: BTreeSet<String> = constants(candidate).difference(&known).cloned().collect();
    if holds(&new, visible.iter().map(|test| &test.output[..])) {
        Some(EditVerdict::AnswerTable)
    } else if holds(&new, visible.iter().map(|test| &test.input[..])) {
        Some(EditVerdict::HardCodedInput)
    } else {
        None
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

    #[test]
    fn a_gain_on_known_tests_alone_is_told_from_one_that_others_have() {
        let slow = "int main() { int n; cin >> n; cout << f(n); }";
        let tests = [test("100 200\n", "4711 4712\n")];
        let why = |candidate: &str, known: &[(f64, f64)], others: &[(f64, f64)]| {
            let why = why_gain_is_of_known((slow, candidate), &tests, known, others, 1.1);
            why.map(|verdict| verdict.name.into_owned())
        };
        let of = |verdict: EditVerdict| Some(verdict.name().to_owned());
        let (all, half) = ([(2.0, 9.0), (3.0, 9.0)], [(2.0, 9.0), (3.0, 1.0)]);
        let plain = "return n;";
        assert_eq!(why(plain, &all, &[(2.5, 1.0)]), of(EditVerdict::GainsOnKnownTests));
        assert_eq!(why("puts(\"4711 4712\");", &half, &[(2.5, 1.0)]), of(EditVerdict::AnswerTable));
        assert_eq!(
            why("n == 100 || n == 200", &all, &[(2.5, 1.0)]),
            of(EditVerdict::HardCodedInput)
        );
        // By chance; another gains as well; the others are too small; there are none.
        assert_eq!(why(plain, &half, &[(2.5, 1.0)]), None);
        assert_eq!(why(plain, &all, &[(2.5, 1.0), (2.5, 1.06)]), None);
        assert_eq!(why("puts(\"4711 4712\");", &all, &[(1.0, 1.0)]), None);
        assert_eq!(why(plain, &all, &[]), None);
        assert_eq!(why(plain, &half, &[(2.0, 1.0); 5]), of(EditVerdict::GainsOnKnownTests));
    }

    #[test]
    fn a_gain_on_small_inputs_alone_is_refuted_by_the_longest() {
        let refuted = |known: &[(u64, f64, f64)], others: &[(u64, f64, f64)]| {
            refuting_test(known, others, 1.1)
        };
        let small = [(0, 1.0, 4.0), (1, 3.0, 2.0)];
        assert_eq!(refuted(&small, &[(0, 9.0, 1.0)]).as_deref(), Some("hidden test 0"));
        // Less than half of the gain is none; a loss is none, too.
        let both = [(7, 5.0, 1.04), (2, 9.0, 0.5), (3, 9.0, 1.0)];
        assert_eq!(refuted(&small, &both).as_deref(), Some("hidden test 2"));
        assert_eq!(refuted(&[(4, 9.0, 1.0), (5, 1.0, 9.0)], &[]).as_deref(), Some("test 4"));
        // One of those that are as large gains; the longest does; there are none.
        assert_eq!(refuted(&small, &[(0, 5.0, 1.0)]), None);
        assert_eq!(refuted(&small, &[(0, 2.0, 1.0)]), None);
        assert_eq!(refuted(&[], &[]), None);
    }
}
