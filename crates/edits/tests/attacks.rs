//! Candidates that cheat: each is a file of `cheats/PROBLEM` that says in its head what is due.
//!
//! - `kind`, `tries`: what it is about;
//! - `due`: the verdicts that may come of it; `no-gain` is one that is accepted and no faster, `faster` one that counts as an
//!   improvement, and then `why` says why the judge takes it.
//!
//! The test runs in a process namespace of its own, so that what gets out of the judge's sandbox gets no further.

use dataset::{
    Dataset,
    stage::{self, Context},
};
use stampmill_edits::{
    Bench, Candidates, Judge, JudgeOptions, Judgement, Limits, Pair, Store, TestSet, Tests,
};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

const CHILD: &str = "EDITS_HOSTILE_CHILD";
const CHEATS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cheats");

/// The files in a folder, or the folders, by name.
fn within(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut all: Vec<PathBuf> =
        entries.map(|entry| entry.expect("the folder is readable").path()).collect();
    all.sort();
    all
}

fn stem(path: &Path) -> String {
    path.file_stem().expect("a file has a name").to_string_lossy().into_owned()
}

fn copy(from: &Path, to: &Path) {
    if from.is_file() {
        let _ = fs::copy(from, to).expect("the file can be copied");
        return;
    }
    fs::create_dir_all(to).expect("the folder can be made");
    for one in within(from) {
        copy(&one, &to.join(one.file_name().expect("it has a name")));
    }
}

/// What the head of a cheat says about `key`.
fn head<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let head = text.split("*/").next()?;
    head.lines().find_map(|line| line.trim_start_matches(['/', '*', ' ']).strip_prefix(key))
}

/// What came of a candidate, in the words of `due`.
fn outcome(row: &Judgement, threshold: f64) -> &str {
    let net = row.src_net.zip(row.net).map(|(slow, fast)| slow / fast);
    match row.ratio() {
        _ if !row.is_accepted() => &row.verdict,
        Some(ratio) if ratio < threshold && net.is_some_and(|net| net < threshold) => "no-gain",
        _ => "faster",
    }
}

#[test]
fn what_cheats_has_the_verdict_that_is_due() {
    const TEST: &str = "what_cheats_has_the_verdict_that_is_due";
    if std::env::var_os(CHILD).is_none() {
        // The first process of a namespace is beyond the reach of signals from inside: the judge is its child.
        let script = "\"$@\"; status=$?; exit $status";
        let exe = std::env::current_exe().unwrap();
        let status = Command::new("unshare")
            .args(["-Urpf", "--mount-proc", "--kill-child", "sh", "-c", script, "sh"])
            .arg(exe)
            .args([TEST, "--exact", "--nocapture"])
            .env(CHILD, "1")
            .status();
        return assert!(status.expect("util-linux is installed").success());
    }
    let home = tempfile::tempdir().unwrap();
    let cheats = Path::new(CHEATS);
    for name in ["tests", "hidden"] {
        copy(&cheats.join(name), &home.path().join(name));
    }
    let (mut pairs, mut candidates, mut texts) = (Vec::new(), Vec::new(), BTreeMap::new());
    for slow in within(&cheats.join("slow")) {
        let name = stem(&slow);
        let src_code = fs::read_to_string(&slow).unwrap();
        let (problem_id, src_id) = (name.clone(), name.clone());
        pairs.push(Pair { problem_id, src_id, src_code, ..Pair::default() });
        let files = within(&cheats.join(&name));
        let here = home.path().display().to_string();
        let of = |file: &PathBuf| fs::read_to_string(file).unwrap().replace("@HOME@", &here);
        let programs: Vec<String> = files.iter().map(of).collect();
        texts.extend((0..).zip(files).map(|(at, file)| ((name.clone(), at), stem(&file))));
        candidates.push(Candidates { src_id: name, programs, ..Candidates::default() });
    }
    let options = timing::Options { max_instructions: 50_000_000, ..timing::Options::default() };
    let limits = Limits { wall: Duration::from_secs(2), ..Limits::default() };
    let bench = Bench::open(&options, limits, &Store::at(&home.path().join("cache"))).unwrap();
    let tests = Tests {
        visible: TestSet::visible(&home.path().join("tests")).unwrap(),
        hidden: Some(TestSet::hidden(&home.path().join("hidden")).unwrap()),
    };
    let out = home.path().join("judged");
    let options = JudgeOptions::default();
    let threshold = options.threshold;
    let judge = Judge::new(pairs, &candidates, tests, &bench, options, &dataset::Silent).unwrap();
    let context = Context { jobs: 2, ..Context::new(&out) };
    let report = stage::run(&judge, &context).unwrap().summary;
    assert_eq!(report.candidates, texts.len() as u64);
    let rows: Vec<Judgement> =
        Dataset::open(&out).unwrap().rows().unwrap().collect::<Result<_, _>>().unwrap();
    let mut wrong = String::new();
    for row in &rows {
        let name = &texts[&(row.src_id.clone(), row.candidate)];
        let found = outcome(row, threshold);
        let due = head(&row.code, "due: ").unwrap_or_default();
        let is_due = due.split_whitespace().any(|word| word == found)
            && (found != "faster" || head(&row.code, "why: ").is_some());
        if !is_due || row.detail.contains("root:") {
            let gain = row.ratio().unwrap_or_default();
            wrong += &format!(
                "{}/{name}: due {due}, found {found} ({gain:.2}x): {} {}\n",
                row.src_id, row.verdict, row.detail
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(!home.path().join("new").exists());
    let output = fs::read(home.path().join("tests/sum/output.0.txt")).unwrap();
    assert_eq!(output, b"20000100000\n");
}
