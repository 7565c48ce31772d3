//! Every `cases/*.cl` is prepared and compared with the `.out` beside it; `BLESS=1` rewrites those.

#![expect(clippy::unwrap_used, reason = "what fails in set-up fails the test")]

use dataset::{
    Dataset,
    stage::{Context, run},
};
use stampmill_kernels::{KernelRow, Options, Prepare, Report, Result};
use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

fn prepare(options: &Options, out: &Path) -> Result<Report> {
    let context = Context { jobs: 1, ..Context::new(out) };
    Ok(run(&Prepare::new(options)?, &context)?.summary)
}

fn prepared(input: &Path, out: &Path) -> Vec<KernelRow> {
    prepare(&Options::new(input), out).unwrap_or_else(|error| panic!("{error}"));
    Dataset::open(out).unwrap().rows().unwrap().map(|row| row.unwrap()).collect()
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
        let rows = prepared(&case, &scratch.path().join("kernels"));
        let (found, expected) = (shown(&rows), case.with_extension("out"));
        if std::env::var_os("BLESS").is_some() {
            fs::write(&expected, &found).unwrap();
        } else if fs::read_to_string(&expected).unwrap_or_default() != found {
            wrong.push(format!("{}:\n{found}", case.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn preparing_again_changes_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = Path::new("cases");
    let once = scratch.path().join("once");
    let first = prepared(folder, &once);
    let again = prepared(&once, &scratch.path().join("again"));
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

/// Kernels, one file each; every so many, because a debugger's patience is finite.
fn put(texts: &[String], step: usize, into: &Path) {
    fs::create_dir(into).unwrap();
    for (at, text) in texts.iter().enumerate().step_by(step) {
        fs::write(into.join(format!("{at:04}.cl")), text).unwrap();
    }
}

/// Prepared, each kernel of `sources` has the IR it had; prepared again, its text.
fn keeps_ir_and_settles(scratch: &Path, sources: &Path) {
    let once = scratch.join("once");
    let first = prepared(sources, &once);
    let unproved: Vec<&str> = first
        .iter()
        .filter(|row| {
            let ours = ["rewrite-changed-ir", "isolation-changed-ir", "isolation-failed"];
            ours.contains(&row.verdict.as_str()) || row.rewritten && !row.identical_ir
        })
        .map(|row| row.path.as_str())
        .collect();
    assert!(unproved.is_empty(), "not proved equal: {unproved:?}");
    assert_same_texts(&first, &prepared(&once, &scratch.join("again")));
}

/// The same program with other names and layout, behind a macro and with a comment.
fn disguised(text: &str) -> String {
    let mut words = String::from("#define SHIFT(x) ((x) << 1)\n/* Of another hand. */\n");
    let mut rest = text;
    let of_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    while let Some(first) = rest.chars().next() {
        let length = match of_word(first) {
            true => rest.find(|c| !of_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (word, after) = rest.split_at(length);
        // Names of the normal form are single letters; after a dot they are members and components.
        let is_name = length == 1 && first.is_ascii_lowercase() && !words.ends_with(['.', '\'']);
        words += &match (is_name, word) {
            (true, _) => format!("its_{word}"),
            (false, "\n") => " // end\n\n".to_owned(),
            (false, " ") => "  ".to_owned(),
            (false, _) => word.to_owned(),
        };
        rest = after;
    }
    words
}

fn real_kernels_in_disguise_keep_their_ir_and_become_themselves() {
    let scratch = tempfile::tempdir().unwrap();
    let sources = scratch.path().join("sources");
    // What continues a line, or is text, does not survive another layout; members have no names of their own here.
    let plain = |text: &String| {
        !["\\", "\"", "#", "struct", "union", "->"].iter().any(|part| text.contains(part))
    };
    let kernels: Vec<String> = trials::kernels().into_iter().filter(plain).collect();
    assert!(kernels.len() > 1000, "{}", kernels.len());
    let kernels: Vec<String> = kernels.into_iter().step_by(12).collect();
    let texts: Vec<String> = kernels.iter().map(|text| disguised(text)).collect();
    put(&texts, 1, &sources);
    keeps_ir_and_settles(scratch.path(), &sources);
    let rows: Vec<KernelRow> = Dataset::open(&scratch.path().join("once"))
        .unwrap()
        .rows()
        .unwrap()
        .map(|row| row.unwrap())
        .collect();
    let same = rows.iter().filter(|row| kernels.contains(&row.text)).count();
    assert!(same * 100 >= kernels.len() * 95, "{same} of {}", kernels.len());
}

fn published_kernels_keep_their_ir_and_settle_at_once() {
    for file in PUBLISHED {
        let scratch = tempfile::tempdir().unwrap();
        let sources = scratch.path().join("sources");
        let lines = fs::read_to_string(trials::reference().join(file)).unwrap();
        let text = |line: &str| {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            row["src"].as_str().unwrap().to_owned()
        };
        let texts: Vec<String> = lines.lines().map(text).collect();
        put(&texts, 10, &sources);
        keeps_ir_and_settles(scratch.path(), &sources);
    }
}

const PUBLISHED: [&str; 2] = ["kernels/clgen.jsonl", "kernels/benchmarks.jsonl"];

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
    fs::write(folder.join("float.cl"), "kernel void k(global float* a) { a[2] *= 3.0f; }").unwrap();
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
    let report = prepare(&Options { limit, ..Options::new(&folder) }, &out).unwrap();
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
            ("float", "accepted"),
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
    assert_eq!((report.files, report.kernels), (13, 5));
    assert_eq!((report.unique_kernels, report.families), (5, 5));
    let mut rejected: BTreeMap<String, u64> = BTreeMap::new();
    for (_, verdict) in verdicts.iter().filter(|(_, verdict)| *verdict != "accepted") {
        *rejected.entry((*verdict).to_owned()).or_default() += 1;
    }
    assert_eq!(report.rejected, rejected);
    assert_eq!(report.packages[0].rejected, rejected);
    assert_eq!((report.compiled_plain, report.compiled_repaired), (3, 2));
}

trials::main! {
    every_case_gives_what_stands_beside_it,
    preparing_again_changes_nothing,
    real_kernels_in_disguise_keep_their_ir_and_become_themselves,
    published_kernels_keep_their_ir_and_settle_at_once:
        PUBLISHED.iter().find_map(|file| trials::lacks::reference(file)),
    bad_files_are_rows_with_verdicts,
}
