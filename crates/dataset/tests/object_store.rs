//! Data sets named by URL: what is made, read and refused, with a folder in the place of an object store.

use serde::{Deserialize, Serialize};
use stampmill_dataset::{
    Builder, Dataset, Error, Manifest, Notes, ObjectStore, Programs, Result, Row, Url,
    begin_folder, beside, file_beside, is_there, object_stores_by, put_into_place,
};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Word {
    word: String,
}

impl Row for Word {
    const SCHEMA: &'static str = "word";
    const VERSION: u32 = 1;
}

/// Keeps a data set in a folder for each URL.
struct Folders(PathBuf);

/// Whether the next that is put into the bucket `late` comes too late.
static LATE: AtomicBool = AtomicBool::new(true);

impl Folders {
    fn at(&self, url: &Url) -> PathBuf {
        self.0.join(url.bucket()).join(url.key())
    }
}

fn failed(error: std::io::Error) -> Error {
    Error::Store { action: "use", url: "a folder".into(), reason: error.to_string() }
}

impl ObjectStore for Folders {
    fn take(&self, url: &Url) -> Result<Option<PathBuf>> {
        Ok(self.has(url)?.then(|| self.at(url)))
    }

    fn manifest(&self, url: &Url) -> Result<Option<Vec<u8>>> {
        Ok(fs::read(self.at(url).join(Manifest::FILE)).ok())
    }

    fn files(&self, url: &Url) -> Result<Option<Vec<Url>>> {
        let Some(text) = self.manifest(url)? else { return Ok(None) };
        let manifest: Manifest = serde_json::from_slice(&text).expect("a manifest");
        Ok(Some(manifest.shards.iter().map(|shard| url.join(&shard.file)).collect()))
    }

    fn has(&self, url: &Url) -> Result<bool> {
        Ok(self.at(url).join(Manifest::FILE).is_file())
    }

    fn put(&self, folder: &Path, url: &Url, replace: bool) -> Result<bool> {
        let is_late = url.bucket() == "late" && LATE.swap(false, Ordering::SeqCst);
        if is_late || self.has(url)? && !replace {
            return Ok(false);
        }
        self.remove(url)?;
        let to = self.at(url);
        fs::create_dir_all(&to).map_err(failed)?;
        for entry in fs::read_dir(folder).map_err(failed)?.flatten() {
            fs::copy(entry.path(), to.join(entry.file_name())).map_err(failed)?;
        }
        Ok(true)
    }

    fn names(&self, url: &Url) -> Result<Vec<String>> {
        let entries = fs::read_dir(self.at(url)).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        Ok(names)
    }

    fn remove(&self, url: &Url) -> Result<()> {
        let folder = self.at(url);
        if folder.is_dir() { fs::remove_dir_all(folder).map_err(failed) } else { Ok(()) }
    }

    fn put_file(&self, file: &Path, url: &Url) -> Result<()> {
        fs::copy(file, self.at(url)).map(drop).map_err(failed)
    }

    fn workshop(&self, url: &Url) -> PathBuf {
        self.0.join("workshop").join(url.bucket()).join(url.name())
    }
}

/// The store of all tests here, and the folder that it is in.
fn store() -> &'static Path {
    static HOME: OnceLock<tempfile::TempDir> = OnceLock::new();
    let home = HOME.get_or_init(|| {
        let home = tempfile::tempdir().expect("a folder");
        object_stores_by(Folders(home.path().to_owned()));
        home
    });
    home.path()
}

fn make(out: &Path, force: bool, words: &[&str]) -> Result<Dataset> {
    finished(out, force, words, Notes::default())
}

fn finished(out: &Path, force: bool, words: &[&str], notes: Notes) -> Result<Dataset> {
    let builder = Builder::<Word>::create(out, force, &words)?;
    if !builder.has("all") {
        builder.add("all", words.iter().map(|word| Word { word: (*word).to_owned() }))?;
    }
    let rows = builder.rows()?.collect::<Result<Vec<_>>>()?;
    builder.finish(rows, notes)
}

fn words(named: &Path) -> Vec<String> {
    let rows = Dataset::open(named).and_then(|set| set.rows::<Word>()).expect("it opens");
    rows.map(|row| row.expect("a row").word).collect()
}

#[test]
fn a_data_set_is_the_same_there_as_in_a_folder() {
    let home = store();
    let (url, folder) = (Path::new("s3://same/set"), home.join("alone"));
    assert!(!is_there(url).unwrap());
    let missing = Dataset::open(url).expect_err("there is none").to_string();
    assert!(missing.contains("there is no data set at s3://same/set"), "{missing}");
    let made = make(url, false, &["a", "b"]).unwrap();
    assert_eq!(made.folder(), url);
    make(&folder, false, &["a", "b"]).unwrap();
    assert_eq!(
        stampmill_dataset::files(url).unwrap(),
        [Path::new("s3://same/set/part-00000.parquet")]
    );
    assert_eq!(stampmill_dataset::files(&folder).unwrap(), [folder.join("part-00000.parquet")]);
    assert!(matches!(
        stampmill_dataset::files(Path::new("s3://same/none")),
        Err(Error::NotADataset(_))
    ));
    let there = home.join("same/set");
    for name in ["_dataset.json", "part-00000.parquet"] {
        assert_eq!(
            fs::read(there.join(name)).unwrap(),
            fs::read(folder.join(name)).unwrap(),
            "{name}"
        );
    }
    assert_eq!(words(url), ["a", "b"]);
    assert_eq!(Programs::open(url).unwrap().len(), 2);
    let workshop = home.join("workshop/same");
    assert_eq!(fs::read_dir(&workshop).unwrap().count(), 0, "nothing is left on the way");
}

#[test]
fn what_is_there_is_replaced_by_force_alone() {
    store();
    let url = Path::new("s3://force/set");
    make(url, false, &["old"]).unwrap();
    assert!(matches!(make(url, false, &["new"]), Err(Error::Exists(out)) if out == url));
    assert_eq!(words(url), ["old"]);
    make(url, true, &["new"]).unwrap();
    assert_eq!(words(url), ["new"]);
}

#[test]
fn what_comes_too_late_is_kept() {
    store();
    let url = Path::new("s3://late/set");
    let tools = [("clang".to_owned(), "19".to_owned())].into();
    let late = match finished(url, false, &["mine"], Notes { tools, ..Notes::default() }) {
        Err(Error::Overtaken { kept, .. }) => kept,
        other => panic!("{other:?} instead of a refusal"),
    };
    assert!(late.is_dir());
    // What the parts were made with is known to whoever made them.
    let made = finished(url, true, &["mine"], Notes::default()).unwrap();
    assert_eq!(made.manifest().notes.tools.get("clang").map(String::as_str), Some("19"));
    assert_eq!(words(url), ["mine"]);
}

#[test]
fn nothing_but_data_sets_is_made_there() {
    store();
    assert!(matches!(begin_folder(Path::new("s3://more/model")), Err(Error::NotThere(_))));
    assert!(matches!(make(Path::new("s3://bucket"), false, &["a"]), Err(Error::NoName(_))));
    assert!(matches!(make(Path::new("s3://bucket/a//b"), false, &["a"]), Err(Error::Url(_))));
}

#[test]
fn files_come_to_be_beside_a_data_set() {
    let home = store();
    let url = Path::new("s3://beside/set");
    make(url, false, &["a"]).unwrap();
    let write = |folder: &Path| fs::write(folder.join("page.html"), "page").map_err(failed);
    beside(url, write).unwrap();
    let found = file_beside(url, "page.html").unwrap().expect("it is there");
    assert_eq!(fs::read_to_string(found).unwrap(), "page");
    assert_eq!(file_beside(url, "other.html").unwrap(), None);
    let folder = home.join("beside-folder");
    make(&folder, false, &["a"]).unwrap();
    beside(&folder, write).unwrap();
    assert!(folder.join("page.html").is_file());
}

#[test]
fn a_part_that_is_there_already_stays() {
    let home = store();
    for place in [Path::new("s3://place/set").to_owned(), home.join("place-folder")] {
        let (one, other) = (home.join("try-1"), home.join("try-2"));
        make(&one, false, &["one"]).unwrap();
        make(&other, false, &["other"]).unwrap();
        assert!(put_into_place(&one, &place).unwrap() && !one.exists());
        assert!(!put_into_place(&other, &place).unwrap() && other.exists());
        assert_eq!(words(&place), ["one"]);
        fs::remove_dir_all(&other).unwrap();
    }
}
