//! Tests of problems: a data set of `edits tests`, or `DIR/PROBLEM/input.N.txt` and `output.N.txt`, as PIE keeps
//! them, or an archive (tar or zip) of such a folder.

use crate::{
    Error, Result,
    files::{is_archive, unpacked},
};
use dataset::{Dataset, content_hash_of};
use rows::{EditTestSummary, EditTestText};
use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    io::ErrorKind,
    ops::RangeInclusive,
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
pub struct TestSet(Place);

#[derive(Clone, Debug)]
enum Place {
    Folder(TestFolder),
    /// All tests of an archive, by problem.
    Archive {
        path: PathBuf,
        problems: BTreeMap<String, Vec<Test>>,
    },
    Rows {
        dataset: Box<Dataset>,
        /// Which of its tests: those that are held back, or the others.
        hidden: bool,
        /// The Parquet files that hold those of a problem, first and last.
        problems: BTreeMap<String, RangeInclusive<usize>>,
    },
}

impl TestSet {
    /// The visible tests of a data set, or a folder or archive of tests.
    ///
    /// # Errors
    /// When there is no such folder, it is a data set of something else, or an archive breaks off or has a problem twice.
    pub fn visible(path: &Path) -> Result<TestSet> {
        TestSet::open(path, false)
    }

    /// The hidden tests of a data set, or a folder or archive of tests.
    ///
    /// # Errors
    /// As [`TestSet::visible`].
    pub fn hidden(path: &Path) -> Result<TestSet> {
        TestSet::open(path, true)
    }

    fn open(path: &Path, hidden: bool) -> Result<TestSet> {
        if is_archive(path)? {
            let problems = of_archive(path)?;
            return Ok(TestSet(Place::Archive { path: path.to_owned(), problems }));
        }
        if !Dataset::is_at(path) {
            return Ok(TestFolder::open(path)?.into());
        }
        let dataset = Box::new(Dataset::open(path)?);
        let mut problems: BTreeMap<String, RangeInclusive<usize>> = BTreeMap::new();
        for shard in 0..dataset.shards().len() {
            for row in dataset.rows_of_shard::<EditTestSummary>(shard)? {
                let row = row?;
                if row.number.is_some() && row.hidden == hidden {
                    let found = problems.entry(row.problem_id).or_insert(shard..=shard);
                    *found = *found.start()..=shard;
                }
            }
        }
        Ok(TestSet(Place::Rows { dataset, hidden, problems }))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        match &self.0 {
            Place::Folder(folder) => &folder.root,
            Place::Archive { path, .. } => path,
            Place::Rows { dataset, .. } => dataset.folder(),
        }
    }

    /// The problems that have tests; of a folder, all that lies in it.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn problems(&self) -> Result<BTreeSet<String>> {
        match &self.0 {
            Place::Folder(folder) => folder.problems(),
            Place::Archive { problems, .. } => Ok(problems.keys().cloned().collect()),
            Place::Rows { problems, .. } => Ok(problems.keys().cloned().collect()),
        }
    }

    /// The tests of `problem`, by number; none where it has none.
    ///
    /// # Errors
    /// When something cannot be read.
    pub fn tests(&self, problem: &str) -> Result<Vec<Test>> {
        let (dataset, wanted, problems) = match &self.0 {
            Place::Folder(folder) => return folder.tests(problem),
            Place::Archive { problems, .. } => {
                let found = problems.get(problem).or_else(|| problems.get(&plain(problem)));
                return Ok(found.cloned().unwrap_or_default());
            }
            Place::Rows { dataset, hidden, problems } => (dataset, *hidden, problems),
        };
        let mut tests = Vec::new();
        for shard in problems.get(problem).cloned().into_iter().flatten() {
            for row in dataset.rows_of_shard::<EditTestText>(shard)? {
                let EditTestText { problem_id, hidden, number, input, output } = row?;
                if let (Some(number), true) = (number, problem_id == problem && hidden == wanted) {
                    tests.push(Test { number, input, output });
                }
            }
        }
        tests.sort_by_key(|test| test.number);
        Ok(tests)
    }

    /// Identity of all tests of `problems`.
    ///
    /// # Errors
    /// When something cannot be read.
    pub fn identity<'a>(&self, problems: impl IntoIterator<Item = &'a str>) -> Result<String> {
        if let Place::Rows { dataset, .. } = &self.0 {
            return Ok(dataset.manifest().identity.clone());
        }
        let problems: BTreeSet<&str> = problems.into_iter().collect();
        let mut pieces = Vec::new();
        for problem in problems {
            pieces.extend([problem.to_owned(), hash_of(&self.tests(problem)?)]);
        }
        Ok(content_hash_of(pieces.iter().map(String::as_bytes)))
    }

    /// Write all tests as a folder at `out`; how many there are. `force` replaces a folder of tests.
    ///
    /// # Errors
    /// When there is something at `out` already, or it cannot be written.
    pub fn export(&self, out: &Path, force: bool) -> Result<u64> {
        if out.exists() && !force {
            return Err(dataset::Error::Exists(out.to_owned()).into());
        }
        let partial = dataset::begin_folder(out)?;
        let folder = TestFolder::open(&partial)?;
        let mut count = 0;
        for problem in self.problems()? {
            let tests = self.tests(&problem)?;
            folder.put(&problem, &tests)?;
            count += tests.len() as u64;
        }
        dataset::place_folder(&partial, out, &|name| holds_tests(&out.join(name)))?;
        Ok(count)
    }
}

impl From<TestFolder> for TestSet {
    fn from(folder: TestFolder) -> TestSet {
        TestSet(Place::Folder(folder))
    }
}

/// The tests of an archive, by problem: `PROBLEM/input.N.txt` beside `PROBLEM/output.N.txt`, in whatever folder these are.
fn of_archive(path: &Path) -> Result<BTreeMap<String, Vec<Test>>> {
    let number = |name: &str, kind: &str| {
        let (folder, name) = name.rsplit_once('/')?;
        Some((folder.to_owned(), number_in(name, kind)?))
    };
    let is_test = |name: &str| number(name, "input.").or(number(name, "output.")).is_some();
    let files = unpacked(path, is_test)?;
    let mut inputs = BTreeMap::new();
    let mut outputs = BTreeMap::new();
    for (name, content) in files {
        if let Some(of) = number(&name, "input.") {
            inputs.insert(of, content);
        } else if let Some(of) = number(&name, "output.") {
            outputs.insert(of, content);
        }
    }
    let (mut problems, mut folders) = (BTreeMap::<_, Vec<Test>>::new(), BTreeMap::new());
    // By folder and number; an input without an output is no test.
    for ((folder, number), input) in inputs {
        let Some(output) = outputs.remove(&(folder.clone(), number)) else { continue };
        let problem = folder.rsplit('/').next().unwrap_or(&folder).to_owned();
        let first = folders.entry(problem.clone()).or_insert_with(|| folder.clone());
        if *first != folder {
            let reason = format!(
                "{} holds tests of {problem} twice, in {first} and in {folder}; unpack it and give one of the folders",
                path.display()
            );
            return Err(Error::Option { option: "--tests", reason });
        }
        problems.entry(problem).or_default().push(Test { number, input, output });
    }
    match problems.is_empty() {
        true => Err(Error::Empty {
            what: "tests (PROBLEM/input.N.txt and output.N.txt)",
            path: path.to_owned(),
        }),
        false => Ok(problems),
    }
}

/// Names of all that is in a folder.
fn names_in(folder: &Path) -> std::io::Result<Vec<OsString>> {
    std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.file_name())).collect()
}

/// Whether a folder holds a problem's tests and nothing else.
fn holds_tests(folder: &Path) -> bool {
    let is_test = |entry: std::io::Result<std::fs::DirEntry>| {
        let name = entry.map(|entry| entry.file_name()).unwrap_or_default();
        let name = name.to_string_lossy();
        number_in(&name, "input.").or_else(|| number_in(&name, "output.")).is_some()
    };
    std::fs::read_dir(folder).is_ok_and(|mut entries| entries.all(is_test))
}

/// N of `input.N.txt`.
fn number_in(name: &str, kind: &str) -> Option<u64> {
    name.strip_prefix(kind)?.strip_suffix(".txt")?.parse().ok()
}

/// A folder of tests.
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
        if root.is_file() {
            let reason = format!(
                "{} is a file; wanted is a data set of `stampmill edits tests`, or a folder or archive (tar, zip) with \
                 PROBLEM/input.N.txt and output.N.txt",
                root.display()
            );
            return Err(Error::Option { option: "--tests", reason });
        }
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

    fn problems(&self) -> Result<BTreeSet<String>> {
        let names = names_in(&self.root).map_err(Error::file("read", &self.root))?;
        Ok(names.into_iter().filter_map(|name| name.into_string().ok()).collect())
    }

    /// None where it has no folder. An input without an output is no test.
    fn tests(&self, problem: &str) -> Result<Vec<Test>> {
        let folder = self.root.join(plain(problem));
        let names = match names_in(&folder) {
            // A problem may have none; the folder of all must not have gone.
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return TestFolder::open(&self.root).map(|_| Vec::new());
            }
            names => names.map_err(Error::file("read", &folder))?,
        };
        let mut numbers: Vec<u64> =
            names.iter().filter_map(|name| number_in(name.to_str()?, "input.")).collect();
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
    use dataset::{Builder, Notes};
    use rows::EditTest;

    fn test(number: u64) -> Test {
        Test { number, input: b"1\n".to_vec(), output: b"2\n".to_vec() }
    }

    #[test]
    fn tests_are_read_by_number_and_names_lead_nowhere() {
        let home = tempfile::tempdir().unwrap();
        let folder = TestFolder::create(home.path()).unwrap();
        folder.put("../p1", &[test(10), test(2)]).unwrap();
        std::fs::write(home.path().join("___p1/input.3.txt"), "no output").unwrap();
        let tests = TestSet::from(folder);
        let read = tests.tests("../p1").unwrap();
        assert_eq!(read.iter().map(|t| t.number).collect::<Vec<_>>(), [2, 10]);
        assert_eq!(tests.tests("p9").unwrap(), []);
        // A folder that is there and cannot be read is no problem without tests.
        std::os::unix::fs::symlink("p8", home.path().join("p8")).unwrap();
        assert!(tests.tests("p8").unwrap_err().to_string().contains("p8"));
    }

    #[test]
    fn an_archive_reads_as_the_folder_that_it_is_of() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("tests.tar");
        let files = |below: &str| -> Vec<(String, &str)> {
            [
                "p1/input.10.txt",
                "p1/output.10.txt",
                "p1/input.2.txt",
                "p1/output.2.txt",
                "p1/input.3.txt",
            ]
            .iter()
            .map(|name| {
                (format!("{below}/{name}"), if name.contains("in") { "1\n" } else { "2\n" })
            })
            .collect()
        };
        let pack = |files: &[(String, &str)]| {
            let files: Vec<(&str, &str)> =
                files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
            crate::files::pack(&path, &files);
        };
        pack(&files("all/tests"));
        let tests = TestSet::visible(&path).unwrap();
        assert_eq!(tests.tests("p1").unwrap(), [test(2), test(10)]);
        assert_eq!(tests.tests("p2").unwrap(), []);
        let out = home.path().join("folder");
        assert_eq!(tests.export(&out, false).unwrap(), 2);
        let folder = TestSet::visible(&out).unwrap();
        assert_eq!(folder.identity(["p1"]).unwrap(), tests.identity(["p1"]).unwrap());
        pack(&[files("a"), files("b")].concat());
        let error = TestSet::visible(&path).unwrap_err().to_string();
        assert!(error.contains("twice, in a/p1 and in b/p1"), "{error}");
        pack(&[("p1/notes.txt".to_owned(), "none")]);
        let error = TestSet::visible(&path).unwrap_err().to_string();
        assert!(error.contains("no tests"), "{error}");
    }

    /// A data set of three problems: of the first a visible and two hidden tests, of the second none, and of
    /// the third more than a Parquet file holds.
    fn rows(home: &Path) -> PathBuf {
        let row = |problem: &str, hidden: bool, number: Option<u64>| EditTest {
            problem_id: problem.into(),
            hidden,
            number,
            input: number.map(|n| format!("{n}\n").into()).unwrap_or_default(),
            output: b"\xff".to_vec(),
            ..EditTest::default()
        };
        let mut rows = vec![
            row("p1", false, Some(0)),
            row("p1", true, Some(1)),
            row("p1", true, Some(0)),
            row("p2", false, None),
        ];
        rows.extend((0..600).map(|number| row("p3", false, Some(number))));
        let out = home.join("rows");
        let builder = Builder::<EditTest>::create(&out, false, &"").unwrap();
        builder.finish(rows, Notes::default()).unwrap();
        out
    }

    #[test]
    fn a_data_set_of_tests_reads_as_the_folder_it_is_exported_to() {
        let home = tempfile::tempdir().unwrap();
        let rows = rows(home.path());
        let (visible, hidden) = (TestSet::visible(&rows).unwrap(), TestSet::hidden(&rows).unwrap());
        let numbers = |tests: &TestSet, problem: &str| -> Vec<u64> {
            tests.tests(problem).unwrap().iter().map(|test| test.number).collect()
        };
        assert_eq!((numbers(&visible, "p1"), numbers(&hidden, "p1")), (vec![0], vec![0, 1]));
        assert_eq!((numbers(&visible, "p2"), numbers(&hidden, "p3")), (vec![], vec![]));
        assert_eq!(numbers(&visible, "p3"), (0..600).collect::<Vec<_>>());
        let out = home.path().join("folder");
        assert_eq!(visible.export(&out, false).unwrap(), 601);
        let folder = TestSet::visible(&out).unwrap();
        assert_eq!(folder.problems().unwrap(), visible.problems().unwrap());
        for problem in ["p1", "p3"] {
            assert_eq!(folder.tests(problem).unwrap(), visible.tests(problem).unwrap());
        }
        assert!(visible.export(&out, false).is_err(), "it is there already");
        assert_eq!(hidden.export(&out, true).unwrap(), 2);
        assert_eq!(TestSet::hidden(&out).unwrap().problems().unwrap().len(), 1);
        std::fs::write(out.join("p1/notes.txt"), "mine").unwrap();
        assert!(visible.export(&out, true).is_err(), "what is not ours stays");
        assert!(out.join("p1/notes.txt").is_file());
    }
}
