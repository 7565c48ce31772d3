//! What test binaries report, added up: passed, failed, and skipped by name and reason.

use anyhow::{Context, bail};
use std::{env, fs, path::Path};

/// Results of tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcomes {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    /// What the harnesses say they ignored.
    ignored: u64,
    /// Names of those tests, and the reasons.
    skipped: Vec<(String, String)>,
    /// What the harnesses say of tests that failed, line by line.
    failures: Vec<String>,
    /// Whether a harness is saying so.
    is_telling: bool,
}

/// Before a line of [`Outcomes::failures`] in a note: no test's name begins so.
const FAILURE: char = '\t';
/// Lines about the tests that failed in one binary; a test that prints more is read above.
const LINES_OF_FAILURES: usize = 80;

impl Outcomes {
    /// Count what a line of output says. Children of tests write where harnesses do, at times without an end of
    /// line: results may stand anywhere in it.
    pub(crate) fn add_line(&mut self, line: &str) {
        if line.contains("test result: ") {
            self.is_telling = false;
        } else if !self.is_telling && line == "failures:" {
            self.is_telling = true;
            self.failures.push(String::new());
        }
        if self.is_telling && !line.trim().is_empty() {
            let told = self.failures.iter().rev().take_while(|line| !line.is_empty()).count();
            if told < LINES_OF_FAILURES {
                self.failures.push(line.to_owned());
            }
        }
        for [passed, failed, ignored] in line.split("test result: ").skip(1).filter_map(counts) {
            self.passed += passed;
            self.failed += failed;
            self.ignored += ignored;
        }
    }

    /// Add lines `NAME<tab>REASON`.
    pub(crate) fn add_skipped(&mut self, lines: &str) {
        let lines = lines.lines().map(|line| line.split_once('\t').unwrap_or((line, "")));
        self.skipped.extend(lines.map(|(name, reason)| (name.to_owned(), reason.to_owned())));
    }

    /// Print again what failed, each skipped test, and the one line that ends every run of tests; with
    /// STAMPMILL_OUTCOMES, note all of it in that folder under the task's name too.
    ///
    /// # Errors
    /// When a test failed, none passed, or one was ignored without a name and a reason.
    pub(crate) fn told(mut self, task: &str) -> anyhow::Result<()> {
        if let Some(folder) = env::var_os("STAMPMILL_OUTCOMES") {
            let path = Path::new(&folder).join(task);
            fs::write(&path, self.noted())
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        for line in &self.failures {
            println!("{line}");
        }
        self.skipped.sort();
        for (name, reason) in &self.skipped {
            println!("skipped: {name} [needs: {reason}]");
        }
        let Outcomes { passed, failed, skipped, .. } = &self;
        println!("{passed} passed, {failed} failed, {} skipped", skipped.len());
        self.verdict()
    }

    fn verdict(&self) -> anyhow::Result<()> {
        let Outcomes { passed, failed, ignored, skipped, .. } = self;
        if *failed > 0 || *passed == 0 {
            bail!("{failed} tests failed, {passed} passed");
        }
        if *ignored != skipped.len() as u64 {
            bail!("{ignored} tests were ignored, {} of them with a reason", skipped.len());
        }
        Ok(())
    }

    fn noted(&self) -> String {
        let Outcomes { passed, failed, ignored, skipped, failures, .. } = self;
        let mut text = format!("{passed} {failed} {ignored}\n");
        for line in failures {
            text += &format!("{FAILURE}{line}\n");
        }
        for (name, reason) in skipped {
            text += &format!("{name}\t{reason}\n");
        }
        text
    }

    /// Add what [`Outcomes::told`] noted.
    fn add_noted(&mut self, text: &str) -> Option<()> {
        let (counts, skipped) = text.split_once('\n')?;
        let mut counts = counts.split(' ').map(|word| word.parse::<u64>().ok());
        self.passed += counts.next()??;
        self.failed += counts.next()??;
        self.ignored += counts.next()??;
        let failures = skipped.lines().filter_map(|line| line.strip_prefix(FAILURE));
        self.failures.extend(failures.map(str::to_owned));
        let skipped = skipped.lines().filter(|line| !line.starts_with(FAILURE));
        self.add_skipped(&skipped.collect::<Vec<_>>().join("\n"));
        Some(())
    }
}

/// Those of a result `ok. 7 passed; 0 failed; 2 ignored; ...`.
fn counts(result: &str) -> Option<[u64; 3]> {
    let (_, result) = result.split_once(". ")?;
    let mut parts = result.split(';');
    let mut count = |word| parts.next()?.trim().strip_suffix(word)?.trim_end().parse::<u64>().ok();
    Some([count("passed")?, count("failed")?, count("ignored")?])
}

/// Tell the sum of what is noted in a folder.
///
/// # Errors
/// As [`Outcomes::told`], and when a note cannot be read.
pub(crate) fn total(arguments: &[String]) -> anyhow::Result<()> {
    let [folder] = arguments else { bail!("one folder, please: `cargo xtask total FOLDER`") };
    let mut all = Outcomes::default();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {folder}"))? {
        let path = entry?.path();
        let text = fs::read_to_string(&path)?;
        all.add_noted(&text).with_context(|| format!("{} is no note", path.display()))?;
    }
    all.told("total")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_count_wherever_they_stand_in_a_line() {
        let mut outcomes = Outcomes::default();
        for line in [
            "test result: ok. 7 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "a child's wordstest result: FAILED. 1 passed; 3 failed; 0 ignored; 0 measured; 9 filtered out",
            "test result: ok. 1 passed; 0 failed; 0 ignored; test result: ok. 2 passed; 0 failed; 1 ignored; x",
            "skipped: no test result: of mine",
            "test a_test ... ignored",
        ] {
            outcomes.add_line(line);
        }
        assert_eq!((outcomes.passed, outcomes.failed, outcomes.ignored), (11, 3, 3));
    }

    #[test]
    fn what_a_harness_says_of_failures_is_said_again() {
        let mut outcomes = Outcomes::default();
        let said = "test a ... FAILED\nfailures:\n\n---- a ----\nleft: 1\n\nfailures:\n    a\n\n\
            test result: FAILED. 0 passed; 1 failed; 0 ignored\nmore";
        said.lines().for_each(|line| outcomes.add_line(line));
        assert_eq!(
            outcomes.failures,
            ["", "failures:", "---- a ----", "left: 1", "failures:", "    a"]
        );
        let mut all = Outcomes::default();
        all.add_noted(&outcomes.noted()).expect("a note");
        assert_eq!((all.failures, all.skipped), (outcomes.failures, Vec::new()));
    }

    #[test]
    fn what_is_noted_adds_up() {
        let mut outcomes = Outcomes { passed: 5, failed: 1, ignored: 1, ..Outcomes::default() };
        outcomes.add_skipped("ir::d\tldc2\n");
        let mut all = outcomes.clone();
        all.add_noted(&outcomes.noted()).expect("a note");
        assert_eq!((all.passed, all.failed, all.ignored, all.skipped.len()), (10, 2, 2, 2));
        assert_eq!(all.skipped[0], ("ir::d".to_owned(), "ldc2".to_owned()));
        assert!(all.add_noted("no note").is_none());
    }

    #[test]
    fn a_test_ignored_without_a_reason_is_an_error() {
        let mut outcomes = Outcomes { passed: 5, ignored: 1, ..Outcomes::default() };
        assert!(outcomes.verdict().is_err());
        outcomes.add_skipped("ir::d\tldc2\n");
        outcomes.verdict().expect("it has one");
    }
}
