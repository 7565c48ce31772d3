//! Which kernels are learned from and which scored on.

use crate::Error;
use dataset::{Code, Language, Programs, content_hash};
use std::path::Path;
use synth::Exclusion;

/// Kernels to learn from and, apart from these, to score on; none of the former is a near-duplicate
/// of one of the latter, which would give its answer away.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// To learn from, in an order drawn by the seed.
    pub train: Vec<String>,
    /// To score on.
    pub test: Vec<String>,
    /// Kernels that were given to learn from.
    pub given: usize,
    /// Of these, near-duplicates of one to score on.
    pub excluded: usize,
}

impl Split {
    /// The kernels at `train` and `test`, at most `limit` of each; without `test` a third of the
    /// former, drawn by the seed.
    ///
    /// # Errors
    /// When programs cannot be read.
    pub fn read(
        train: &Path,
        test: Option<&Path>,
        limit: usize,
        seed: u64,
    ) -> Result<Split, Error> {
        let mut train = texts(train, seed)?;
        let mut test = match test {
            Some(path) => texts(path, seed)?,
            None => train.split_off(train.len() - train.len() / 3),
        };
        test.truncate(limit);
        let mut exclusion = Exclusion::default();
        test.iter().try_for_each(|text| exclusion.add_program(text))?;
        let given = train.len();
        let programs: Vec<(&str, &str)> = train.iter().map(|text| ("", text.as_str())).collect();
        let matches = exclusion.matches(&programs)?;
        let mut matches = matches.iter();
        train.retain(|_| matches.next().is_some_and(Option::is_none));
        let excluded = given - train.len();
        train.truncate(limit);
        Ok(Split { train, test, given, excluded })
    }

    /// Whether there is something on both sides.
    ///
    /// # Errors
    /// When there is not.
    pub fn check(&self) -> Result<(), Error> {
        if self.test.is_empty() {
            return Err(Error::NothingLeft("score on"));
        }
        if self.train.is_empty() {
            return Err(Error::NothingLeft("learn from"));
        }
        Ok(())
    }
}

/// The kernels at `path`, each text once, in an order drawn by the seed.
fn texts(path: &Path, seed: u64) -> Result<Vec<String>, Error> {
    let mut texts = Vec::new();
    for program in Programs::open(path)?.iter()? {
        let program = program?;
        if let (Language::OpenCl, Code::Text(text)) = (program.language, program.code) {
            texts.push(text);
        }
    }
    texts.sort_by_cached_key(|text| content_hash(format!("{seed} {text}").as_bytes()));
    texts.dedup();
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_is_kept_for_testing_and_its_near_duplicates_are_not_learned_from() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).expect("is written");
        };
        let functions = ["sin", "cos", "tan", "exp", "log", "sqrt", "fabs", "floor", "ceil"];
        for (number, function) in functions.iter().enumerate() {
            let line = |at: usize| {
                format!("float {function}{at} = {function}(x[i + {number}{at}]) * {number}.{at}f; ")
            };
            let lines: String = (0..8).map(line).collect();
            let text = format!(
                "kernel void a(global float *x) {{ int i = get_global_id(0); {lines} x[i] = {function}7; }}"
            );
            write(&format!("{number}.cl"), &text);
        }
        let split = Split::read(folder.path(), None, 100, 1).expect("is read");
        assert_eq!((split.given, split.test.len()), (6, 3));
        assert_eq!(split.train.len() + split.excluded, 6);
        assert!(split.check().is_ok());
        let same = Split::read(folder.path(), Some(folder.path()), 100, 1).expect("is read");
        assert_eq!((same.train.len(), same.excluded, same.test.len()), (0, 9, 9));
        assert_eq!(
            same.check().expect_err("nothing").to_string(),
            "no kernel is left to learn from"
        );
        assert_eq!(Split::read(folder.path(), None, 1, 1).expect("is read").test.len(), 1);
    }
}
