//! Tests of problems: `DIR/PROBLEM/input.N.txt` and `output.N.txt`, as PIE keeps them.

use crate::{Error, Result};
use dataset::content_hash_of;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// One test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// Its number N.
    pub number: u64,
    /// What a program reads.
    pub input: Vec<u8>,
    /// What it must print.
    pub output: Vec<u8>,
}

/// Where the tests of all problems are.
#[derive(Clone, Debug)]
pub struct TestFolder {
    root: PathBuf,
}

impl TestFolder {
    /// A folder of tests.
    ///
    /// # Errors
    /// When there is no such folder.
    pub fn open(root: &Path) -> Result<TestFolder> {
        std::fs::read_dir(root).map_err(Error::file("read", root))?;
        Ok(TestFolder { root: root.to_owned() })
    }

    /// A folder of tests that may have to be made.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn create(root: &Path) -> Result<TestFolder> {
        std::fs::create_dir_all(root).map_err(Error::file("create", root))?;
        TestFolder::open(root)
    }

    /// Where it is.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The tests of `problem`, by number; none where it has no folder. An input without an output
    /// is no test.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn tests(&self, problem: &str) -> Result<Vec<Test>> {
        let folder = self.root.join(plain(problem));
        let Ok(entries) = std::fs::read_dir(&folder) else {
            // A problem may have none; the folder of all must not have gone.
            return TestFolder::open(&self.root).map(|_| Vec::new());
        };
        let mut numbers: Vec<u64> = entries
            .flatten()
            .filter_map(|entry| {
                let name = entry.file_name();
                name.to_str()?.strip_prefix("input.")?.strip_suffix(".txt")?.parse().ok()
            })
            .collect();
        numbers.sort_unstable();
        let mut tests = Vec::new();
        for number in numbers {
            let read = |kind: &str| {
                let path = folder.join(format!("{kind}.{number}.txt"));
                std::fs::read(&path).map_err(Error::file("read", &path))
            };
            if folder.join(format!("output.{number}.txt")).is_file() {
                tests.push(Test { number, input: read("input")?, output: read("output")? });
            }
        }
        Ok(tests)
    }

    /// Write the tests of a problem.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn put(&self, problem: &str, tests: &[Test]) -> Result<()> {
        let folder = self.root.join(plain(problem));
        std::fs::create_dir_all(&folder).map_err(Error::file("create", &folder))?;
        for test in tests {
            for (kind, content) in [("output", &test.output), ("input", &test.input)] {
                let path = folder.join(format!("{kind}.{}.txt", test.number));
                crate::pair::write_whole(&path, content)?;
            }
        }
        Ok(())
    }

    /// Identity of all tests of `problems`.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn identity<'a>(&self, problems: impl IntoIterator<Item = &'a str>) -> Result<String> {
        let mut hashes = BTreeMap::new();
        for problem in problems {
            if !hashes.contains_key(problem) {
                hashes.insert(problem.to_owned(), hash_of(&self.tests(problem)?));
            }
        }
        Ok(content_hash_of(hashes.iter().flat_map(|(k, v)| [k.as_bytes(), v.as_bytes()])))
    }
}

/// Identity of some tests.
pub(crate) fn hash_of(tests: &[Test]) -> String {
    let numbers: Vec<String> = tests.iter().map(|test| test.number.to_string()).collect();
    content_hash_of(
        tests
            .iter()
            .zip(&numbers)
            .flat_map(|(test, number)| [number.as_bytes(), &test.input[..], &test.output[..]]),
    )
}

/// A problem's name as a folder's: nothing that leads out of it.
fn plain(problem: &str) -> String {
    let kept = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    problem.chars().map(|c| if kept(c) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_read_by_number_and_names_lead_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let tests = TestFolder::create(folder.path()).unwrap();
        let test = |number| Test { number, input: b"1\n".to_vec(), output: b"2\n".to_vec() };
        tests.put("../p1", &[test(10), test(2)]).unwrap();
        std::fs::write(folder.path().join("___p1/input.3.txt"), "no output").unwrap();
        let read = tests.tests("../p1").unwrap();
        assert_eq!(read.iter().map(|t| t.number).collect::<Vec<_>>(), [2, 10]);
        assert_eq!(tests.tests("p9").unwrap(), []);
    }
}
