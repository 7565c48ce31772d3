//! What holds for a whole process: a file of its own, so that no other test sees it.

use serde::{Deserialize, Serialize};
use stampmill_dataset::{Builder, Dataset, Notes, Programs, Row};
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
