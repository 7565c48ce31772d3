//! What holds for a whole process: a file of its own, so that no other test sees it.

use serde::{Deserialize, Serialize};
use stampmill_dataset::{
    Builder, Dataset, Notes, Programs, Result, Row, check, described_by,
    stage::{Share, Shared},
};
use std::{fs, sync::Mutex};

#[derive(Serialize, Deserialize)]
struct Sample {
    text: String,
}

impl Row for Sample {
    const SCHEMA: &'static str = "sample";
    const VERSION: u32 = 1;
}

#[test]
fn a_changed_part_is_found_on_opening_where_hashes_are_verified() {
    let home = tempfile::tempdir().unwrap();
    let builder = Builder::<Sample>::create(&home.path().join("set"), false, &"").unwrap();
    let set = builder.finish([Sample { text: "a".into() }], Notes::default()).unwrap();
    let mut bytes = fs::read(&set.shards()[0]).unwrap();
    bytes[8] ^= 1;
    fs::write(&set.shards()[0], bytes).unwrap();
    assert!(Dataset::open(set.folder()).is_ok(), "size and number of rows are right");
    let bytes = set.manifest().shards[0].bytes;
    stampmill_dataset::verify_hashes(bytes - 1);
    assert!(Dataset::open(set.folder()).is_ok(), "it is larger");
    stampmill_dataset::verify_hashes(bytes);
    let error = Dataset::open(set.folder()).unwrap_err().to_string();
    stampmill_dataset::verify_hashes(0);
    assert!(error.contains("part-00000.parquet") && error.contains("its hash is"), "{error}");
}

static HEARD: Mutex<Vec<String>> = Mutex::new(Vec::new());

#[test]
fn what_is_passed_over_without_a_row_is_said_once() {
    stampmill_dataset::on_notice(|notice| HEARD.lock().unwrap().push(notice.to_owned()));
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("a.cl"), "kernel void a() {}").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", home.path().join("b.cl")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", home.path().join("c.cl")).unwrap();
    let programs = Programs::open(home.path()).unwrap();
    assert_eq!(programs.iter().unwrap().count(), 1);
    let heard = HEARD.lock().unwrap();
    assert_eq!(heard.len(), 1, "{heard:?}");
    assert!(heard[0].contains("2 files are skipped, first b.cl (unsafe-path"), "{heard:?}");
}

#[derive(Serialize, Deserialize)]
struct Told {
    text: String,
}

impl Row for Told {
    const SCHEMA: &'static str = "told";
    const VERSION: u32 = 1;
}

#[test]
fn what_describes_a_data_set_goes_with_it() {
    described_by(|set| {
        let manifest = set.manifest();
        if manifest.schema != Told::SCHEMA {
            return Ok(Vec::new());
        }
        let texts = set.rows::<Told>()?.map(|row| row.map(|row| row.text));
        let texts: Vec<String> = texts.collect::<Result<_>>()?;
        Ok(vec![("_told.txt", format!("{}: {}", manifest.rows, texts.join(" ")).into_bytes())])
    });
    let home = tempfile::tempdir().unwrap();
    let make = |name: &str, force: bool, text: &str, notes: Notes| {
        let builder = Builder::<Told>::create(&home.path().join(name), force, &text).unwrap();
        builder.finish([Told { text: text.into() }], notes).unwrap()
    };
    let told = |set: &Dataset| fs::read_to_string(set.folder().join("_told.txt"));
    let set = make("set", false, "old", Notes::default());
    assert_eq!(told(&set).unwrap(), "1: old");
    assert_eq!(set.manifest().notes.files, ["_told.txt"]);
    assert!(check(set.folder()).unwrap().is_whole());
    // It is ours to replace, and copied with the rest.
    let set =
        make("set", true, "new", Notes { files: vec!["_told.txt".into()], ..Notes::default() });
    assert_eq!(told(&set).unwrap(), "1: new");
    assert_eq!(set.manifest().notes.files, ["_told.txt"]);
    set.export(&home.path().join("copy"), &[], &[]).unwrap();
    assert_eq!(told(&Dataset::open(&home.path().join("copy")).unwrap()).unwrap(), "1: new");
    // A share is a part of a data set that is not there yet.
    let share = Some(Shared {
        stage: "tell".into(),
        share: Share { index: 1, count: 2 },
        is_by_rows: false,
        items: 2,
        left: 0,
        left_out: [].into(),
        facts: serde_json::Value::Null,
        units: Vec::new(),
    });
    let share = make("share", false, "half", Notes { share, ..Notes::default() });
    assert!(told(&share).is_err() && share.manifest().notes.files.is_empty());
}
