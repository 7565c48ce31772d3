//! Every `cases/*.cl` is prepared and compared with the `.out` beside it; `BLESS=1` rewrites those.

#![expect(clippy::unwrap_used, reason = "what fails in set-up fails the test")]

use dataset::{
    Dataset,
    stage::{Context, run},
};
use stampmill_kernels::{KernelRow, Options, Prepare, Report, Result};
use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

fn prepare(options: &Options, out: &Path) -> Result<Report> {
    let context = Context { jobs: 1, ..Context::new(out) };
    Ok(run(&Prepare::new(options)?, &context)?.summary)
}

fn prepared(input: &Path, out: &Path) -> Option<Vec<KernelRow>> {
    match prepare(&Options::new(input), out) {
        Ok(_) => {
            Some(Dataset::open(out).unwrap().rows().unwrap().map(|row| row.unwrap()).collect())
        }
        Err(stampmill_kernels::Error::Clang(error)) => {
            println!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn shown(rows: &[KernelRow]) -> String {
    let mut text = String::new();
    for row in rows {
        let same = if row.identical_ir { ", identical IR" } else { "" };
        writeln!(text, "== {}: {} {}{same}", row.original_name, row.status, row.verdict).unwrap();
        if !row.detail.is_empty() {
            writeln!(text, "-- {}", row.detail).unwrap();
        }
        for inferred in &row.inferred {
            writeln!(text, "++ {inferred}").unwrap();
        }
        text.push_str(&row.text);
    }
    text
}

#[test]
fn every_case_gives_what_stands_beside_it() {
    let folder = Path::new("cases");
    let mut cases: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.retain(|path| path.extension().is_some_and(|extension| extension == "cl"));
    cases.sort();
    assert!(!cases.is_empty());
    let mut wrong = Vec::new();
    for case in cases {
        let scratch = tempfile::tempdir().unwrap();
        let Some(rows) = prepared(&case, &scratch.path().join("kernels")) else { return };
        let (found, expected) = (shown(&rows), case.with_extension("out"));
        if std::env::var_os("BLESS").is_some() {
            fs::write(&expected, &found).unwrap();
        } else if fs::read_to_string(&expected).unwrap_or_default() != found {
            wrong.push(format!("{}:\n{found}", case.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn preparing_again_changes_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = Path::new("cases");
    let once = scratch.path().join("once");
    let Some(first) = prepared(folder, &once) else { return };
    let again = prepared(&once, &scratch.path().join("again")).unwrap();
    assert_same_texts(&first, &again);
}

fn assert_same_texts(first: &[KernelRow], again: &[KernelRow]) {
    let texts = |rows: &[KernelRow]| {
        let accepted = rows.iter().filter(|row| row.verdict == "accepted");
        let mut texts: Vec<String> = accepted.map(|row| row.text.clone()).collect();
        texts.sort();
        texts
    };
    let (first, again) = (texts(first), texts(again));
    assert!(!first.is_empty());
    for text in &again {
        assert!(first.contains(text), "preparing again gave\n{text}");
    }
    assert_eq!(first.len(), again.len());
}

/// Published kernels, one file each; every tenth, because a debugger's patience is finite.
fn published(file: &str, into: &Path) -> bool {
    let data = std::env::var_os("STAMPMILL_REFERENCE")
        .map_or_else(|| PathBuf::from("../../../shared/data"), PathBuf::from);
    let Ok(lines) = fs::read_to_string(data.join("kernels").join(file)) else {
        println!("skipped: no reference data at {}", data.display());
        return false;
    };
    fs::create_dir(into).unwrap();
    for (at, line) in lines.lines().enumerate().step_by(10) {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        fs::write(into.join(format!("{at:04}.cl")), row["src"].as_str().unwrap()).unwrap();
    }
    true
}

#[test]
fn published_kernels_keep_their_ir_and_settle_at_once() {
    for file in ["clgen.jsonl", "benchmarks.jsonl"] {
        let scratch = tempfile::tempdir().unwrap();
        let sources = scratch.path().join("sources");
        if !published(file, &sources) {
            return;
        }
        let once = scratch.path().join("once");
        let Some(first) = prepared(&sources, &once) else { return };
        let unproved: Vec<&str> = first
            .iter()
            .filter(|row| {
                let ours = ["rewrite-changed-ir", "isolation-changed-ir", "isolation-failed"];
                ours.contains(&row.verdict.as_str()) || row.rewritten && !row.identical_ir
            })
            .map(|row| row.path.as_str())
            .collect();
        assert!(unproved.is_empty(), "{file}: not proved equal: {unproved:?}");
        assert_same_texts(&first, &prepared(&once, &scratch.path().join("again")).unwrap());
    }
}

#[test]
fn bad_files_are_rows_with_verdicts() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("bad");
    fs::create_dir(&folder).unwrap();
    let bomb: String = (1..40).fold("#define A0 x+x\n".to_owned(), |text, at| {
        text + &format!("#define A{at} A{0} A{0}\n", at - 1)
    });
    fs::write(folder.join("bomb.cl"), bomb + "kernel void k(global int* a, int x) { a[0] = A39; }")
        .unwrap();
    fs::write(folder.join("empty.cl"), " \n").unwrap();
    fs::write(folder.join("good.cl"), "kernel void k(global int* a) { a[get_global_id(0)] = 1; }")
        .unwrap();
    fs::write(
        folder.join("host.cl"),
        "#include \"/etc/passwd\"\nkernel void k(global int* a) { a[1] += 2; }",
    )
    .unwrap();
    fs::write(
        folder.join("data.cl"),
        "kernel void k(global int* a) { int t[] = {\n#include \"t.inc\"\n}; a[0] = t[a[1]]; }",
    )
    .unwrap();
    fs::write(folder.join("bytes.cl"), b"kernel void k() { /* \0 */ }").unwrap();
    fs::write(folder.join("latin.cl"), b"kernel void k(global int* a) { a[3] += 2; /* \xe9 */ }")
        .unwrap();
    fs::write(folder.join("library.cl"), "int f(int a) { return a; }").unwrap();
    fs::write(
        folder.join("loop.cl"),
        "#include \"loop.cl\"\nkernel void k(global int* a) { a[2] += 2; }",
    )
    .unwrap();
    fs::write(folder.join("nothing.cl"), "kernel void k(void) {}").unwrap();
    fs::write(folder.join("off.cl"), "#if 0\nkernel void k(global int* a) { a[0] = 1; }\n#endif\n")
        .unwrap();
    fs::write(folder.join("wrong.cl"), "kernel void k(global int* a) { a[0] = ; }").unwrap();
    let out = scratch.path().join("out");
    let limit = std::time::Duration::from_secs(5);
    let report = match prepare(&Options { limit, ..Options::new(&folder) }, &out) {
        Ok(report) => report,
        Err(error) => return println!("skipped: {error}"),
    };
    let rows: Vec<KernelRow> =
        Dataset::open(&out).unwrap().rows().unwrap().map(|row| row.unwrap()).collect();
    let verdicts: Vec<(&str, &str)> =
        rows.iter().map(|row| (row.path.trim_end_matches(".cl"), row.verdict.as_str())).collect();
    assert!(
        matches!(verdicts[0], ("bomb", "timeout" | "cpu-limit" | "memory-limit" | "crash")),
        "{verdicts:?}"
    );
    assert_eq!(
        verdicts[1..],
        [
            ("bytes", "not-utf8"),
            ("data", "does-not-compile"),
            ("empty", "empty"),
            ("good", "accepted"),
            ("host", "accepted"),
            ("latin", "accepted"),
            ("library", "no-kernel"),
            ("loop", "accepted"),
            ("nothing", "too-small"),
            ("off", "inactive"),
            ("wrong", "does-not-compile"),
        ]
    );
    assert_eq!((report.files, report.kernels), (12, 4));
}
