//! What is wrong with a data set or a folder is named, and nothing of it is lost or followed.

#![expect(clippy::unwrap_used, reason = "what fails in set-up fails the test")]

use serde::{Deserialize, Serialize};
use stampmill_dataset::{
    Builder, Dataset, Error, Found, LARGEST_PROGRAM, Manifest, Notes, Programs, Row, Verdict, check,
};
use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs::{self, File},
    os::unix::{ffi::OsStrExt, fs::symlink, net::UnixListener},
    path::Path,
};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Sample {
    path: String,
    verdict: String,
}

impl Row for Sample {
    const SCHEMA: &'static str = "sample";
    const VERSION: u32 = 1;
    const SHARD_ROWS: usize = 2;
}

/// Three parts: five rows, two of verdict `timeout`.
fn write(out: &Path) -> Dataset {
    let rows = ["accepted", "timeout", "accepted", "timeout", "accepted"];
    let rows = rows
        .iter()
        .enumerate()
        .map(|(at, verdict)| Sample { path: at.to_string(), verdict: (*verdict).to_owned() });
    let verdicts = BTreeMap::from([("accepted".to_owned(), 3), ("timeout".to_owned(), 2)]);
    let builder = Builder::<Sample>::create(out, true, &"").unwrap();
    builder.finish(rows, Notes { verdicts, ..Notes::default() }).unwrap()
}

/// Change the manifest as text.
fn edit(set: &Path, from: &str, to: &str) {
    let path = set.join(Manifest::FILE);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{from} is not in {text}");
    fs::write(path, text.replacen(from, to, 1)).unwrap();
}

fn pipe(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// What is said when the data set is opened, and by `check`: both must name the same file.
fn said(set: &Path, file: &str) -> String {
    let error = Dataset::open(set).expect_err("it is broken").to_string();
    assert!(error.contains(file), "{file}: {error}");
    let checked = check(set).unwrap();
    assert!(checked.problems.iter().any(|problem| problem.file == file), "{file}: {checked:?}");
    error
}

#[test]
fn a_whole_data_set_has_no_problem() {
    let home = tempfile::tempdir().unwrap();
    let set = write(&home.path().join("set"));
    let checked = check(set.folder()).unwrap();
    assert_eq!((checked.is_whole(), checked.rows, checked.parts), (true, 5, 3), "{checked:?}");
}

#[test]
fn a_part_that_is_missing_cut_off_renamed_or_one_too_many_is_named() {
    let home = tempfile::tempdir().unwrap();
    let broken = |name: &str, harm: &dyn Fn(&Path)| {
        let set = home.path().join(name);
        write(&set);
        harm(&set);
        set
    };
    let (first, second) = ("part-00000.parquet", "part-00001.parquet");
    let missing = broken("missing", &|set| fs::remove_file(set.join(second)).unwrap());
    assert!(said(&missing, second).contains("missing"));
    let empty = broken("empty", &|set| drop(File::create(set.join(second)).unwrap()));
    assert!(said(&empty, second).contains("0 bytes"));
    let cut = broken("cut", &|set| {
        let file = File::options().write(true).open(set.join(second)).unwrap();
        file.set_len(100).unwrap();
    });
    assert!(said(&cut, second).contains("100 bytes"));
    let renamed = broken("renamed", &|set| {
        fs::rename(set.join(second), set.join("part-00009.parquet")).unwrap();
    });
    assert!(said(&renamed, second).contains("missing"));
    let extra = broken("extra", &|set| {
        fs::copy(set.join(first), set.join("part-00009.parquet")).unwrap();
    });
    assert!(said(&extra, "part-00009.parquet").contains("not named"));
    // A file of the right size with another number of rows.
    let other = broken("other", &|set| edit(set, "\"rows\": 2", "\"rows\": 1"));
    edit(&other, "\"rows\": 5", "\"rows\": 4");
    assert!(said(&other, first).contains("2 rows, where _dataset.json says 1"));
}

#[test]
fn a_part_leads_nowhere_but_into_its_folder() {
    let home = tempfile::tempdir().unwrap();
    let other = write(&home.path().join("other"));
    let names = [
        "../other/part-00000.parquet".to_owned(),
        other.shards()[0].display().to_string(),
        "./part-00000.parquet".to_owned(),
        "..".to_owned(),
        String::new(),
    ];
    for (at, name) in names.iter().enumerate() {
        let set = home.path().join(format!("set{at}"));
        write(&set);
        edit(&set, "part-00000.parquet", name);
        assert!(said(&set, Manifest::FILE).contains("not the name of a file"), "{name}");
    }
    let instead = |name: &str, put: &dyn Fn(&Path)| {
        let set = home.path().join(name);
        let part = write(&set).shards()[0].clone();
        fs::rename(&part, home.path().join(format!("{name}.parquet"))).unwrap();
        put(&part);
        said(&set, "part-00000.parquet")
    };
    let link = instead("link", &|part| symlink(home.path().join("link.parquet"), part).unwrap());
    assert!(link.contains("leads out"), "{link}");
    assert!(instead("pipe", &pipe).contains("a pipe"));
    assert!(instead("folder", &|part| fs::create_dir(part).unwrap()).contains("a folder"));
    let device = instead("device", &|part| symlink("/dev/zero", part).unwrap());
    assert!(device.contains("leads out"), "{device}");
}

#[test]
fn a_manifest_that_is_no_file_is_no_manifest() {
    let home = tempfile::tempdir().unwrap();
    pipe(&home.path().join(Manifest::FILE));
    assert!(!Dataset::is_at(home.path()));
    // Nothing waits for somebody to write into it.
    assert!(Dataset::open(home.path()).is_err());
}

#[test]
fn check_finds_what_opening_does_not_look_for() {
    let home = tempfile::tempdir().unwrap();
    let set = home.path().join("set");
    let problem = |harm: &dyn Fn(&Path)| {
        write(&set);
        harm(&set);
        Dataset::open(&set).expect("the sizes and numbers are right");
        let checked = check(&set).unwrap();
        let (edited, others): (Vec<_>, Vec<_>) =
            checked.problems.iter().partition(|problem| problem.problem.contains("it was edited"));
        assert!(others.len() == 1 && edited.len() < 2, "{checked:?}");
        assert_eq!(edited.len(), usize::from(others[0].file == Manifest::FILE), "{checked:?}");
        let problem = format!("{}: {}", checked.problems[0].file, checked.problems[0].problem);
        fs::remove_dir_all(&set).unwrap();
        problem
    };
    let flipped = problem(&|set| {
        let path = set.join("part-00001.parquet");
        let mut bytes = fs::read(&path).unwrap();
        bytes[8] ^= 1;
        fs::write(path, bytes).unwrap();
    });
    assert!(flipped.starts_with("part-00001.parquet: its hash is"), "{flipped}");
    let counts = problem(&|set| edit(set, "\"timeout\": 2", "\"timeout\": 1"));
    assert!(counts.contains("says 1 of verdict timeout, and there are 2"), "{counts}");
    let foreign = problem(&|set| fs::write(set.join("notes.txt"), "mine").unwrap());
    assert_eq!(foreign, "notes.txt: no part of a data set");
    let identity = problem(&|set| {
        let identity = Dataset::open(set).unwrap().manifest().identity.clone();
        edit(set, &identity, "0");
    });
    assert!(identity.contains("its identity"), "{identity}");
    write(&set);
    edit(&set, "\"rows\": 5", "\"rows\": 6");
    assert!(said(&set, Manifest::FILE).contains("6 rows, and 5"));
    fs::write(set.join(Manifest::FILE), "{").unwrap();
    assert!(said(&set, Manifest::FILE).contains("damaged"));
    assert!(matches!(check(home.path()), Err(Error::NotADataset(_))));
}

/// What stands in a folder, by path: the text of a program, or a verdict.
fn found(folder: &Path) -> BTreeMap<String, String> {
    let programs = Programs::open(folder).unwrap();
    let all = programs.found().unwrap().map(|found| match found.unwrap() {
        Found::Program(program) => (program.path.clone(), "program".to_owned()),
        Found::Rejected(rejected) => (rejected.path, rejected.verdict.name.into_owned()),
    });
    let listed: Vec<(String, String)> = all.collect();
    assert_eq!(listed.len() as u64, programs.len(), "all are said to be there");
    let by_path: BTreeMap<String, String> = listed.iter().cloned().collect();
    assert_eq!(by_path.len(), listed.len(), "no two have one path: {listed:?}");
    by_path
}

#[test]
fn everything_in_a_folder_is_a_program_or_has_a_verdict() {
    let home = tempfile::tempdir().unwrap();
    let outside = home.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret.cl"), "kernel void s() {}").unwrap();
    let folder = home.path().join("folder");
    fs::create_dir_all(folder.join("deep/er")).unwrap();
    fs::write(folder.join("deep/er/a.cl"), "kernel void a() {}").unwrap();
    symlink("deep/er/a.cl", folder.join("inside.cl")).unwrap();
    symlink("deep", folder.join("inside")).unwrap();
    symlink("../outside/secret.cl", folder.join("out.cl")).unwrap();
    symlink("../outside", folder.join("out")).unwrap();
    symlink("/dev/zero", folder.join("zero.cl")).unwrap();
    symlink("nothing", folder.join("gone.cl")).unwrap();
    symlink("loop.cl", folder.join("loop.cl")).unwrap();
    symlink("nothing", folder.join("notes.txt")).unwrap();
    pipe(&folder.join("pipe.cl"));
    pipe(&folder.join("pipe.txt"));
    let _socket = UnixListener::bind(folder.join("socket.cl")).unwrap();
    let sparse = File::create(folder.join("sparse.cl")).unwrap();
    sparse.set_len(LARGEST_PROGRAM + 1).unwrap();
    fs::write(folder.join(OsStr::from_bytes(b"k\xe9.cl")), "kernel void b() {}").unwrap();
    fs::write(folder.join(OsStr::from_bytes(b"k\xe8.cl")), "kernel void c() {}").unwrap();
    fs::write(folder.join("k\\xe8.cl"), "kernel void d() {}").unwrap();
    let wanted = [
        ("deep/er/a.cl", "program"),
        ("gone.cl", "unreadable"),
        ("inside.cl", "program"),
        ("k\\x5cxe8.cl", "program"),
        ("k\\xe8.cl", "program"),
        ("k\\xe9.cl", "program"),
        ("loop.cl", "unreadable"),
        ("out", "unsafe-path"),
        ("out.cl", "unsafe-path"),
        ("pipe.cl", "not-a-file"),
        ("socket.cl", "not-a-file"),
        ("sparse.cl", "too-large"),
        ("zero.cl", "unsafe-path"),
    ];
    let wanted = wanted.map(|(path, what)| (path.to_owned(), what.to_owned()));
    assert_eq!(found(&folder), BTreeMap::from(wanted));
}

#[test]
fn a_file_that_vanishes_and_a_folder_too_deep_have_verdicts() {
    let home = tempfile::tempdir().unwrap();
    let mut deep = home.path().join("folder");
    fs::create_dir(&deep).unwrap();
    fs::write(deep.join("a.cl"), "kernel void a() {}").unwrap();
    fs::write(deep.join("b.cl"), "kernel void b() {}").unwrap();
    let folder = deep.clone();
    for _ in 0..80 {
        deep.push("d");
        fs::create_dir(&deep).unwrap();
    }
    fs::write(deep.join("bottom.cl"), "kernel void a() {}").unwrap();
    let programs = Programs::open(&folder).unwrap();
    fs::remove_file(folder.join("a.cl")).unwrap();
    let verdicts: Vec<Verdict> = programs
        .found()
        .unwrap()
        .filter_map(|found| match found.unwrap() {
            Found::Program(_) => None,
            Found::Rejected(rejected) => Some(rejected.verdict),
        })
        .collect();
    let names: Vec<&str> = verdicts.iter().map(|verdict| verdict.name.as_ref()).collect();
    assert_eq!(names, ["unreadable", "too-deep"], "{verdicts:?}");
    // Who makes no rows gets what is there.
    assert_eq!(programs.iter().unwrap().map(Result::unwrap).count(), 1);
}

#[test]
fn what_is_no_file_and_no_folder_is_said_to_be_that() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("pipe.cl");
    pipe(&path);
    for (path, what) in [(path.as_path(), "a pipe"), (Path::new("/dev/zero"), "a device")] {
        let error = Programs::open(path).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
}
