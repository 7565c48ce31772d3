//! Rounds of `learn` that travel: kernels are exported where no device is, run by the command that is
//! printed, and their costs imported.

use dataset::{Dataset, Verdict};
use learn::LearnedRow;
use serde_json::Value;
use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    process::{Command, Stdio},
};

/// Kernels to train on, and as many to test on.
const GIVEN: usize = 9;
/// Kernels made in the round.
const BATCH: u64 = 2;

fn stampmill(home: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stampmill"));
    command.current_dir(home).stdin(Stdio::null()).args(arguments.split(' '));
    command
}

/// What a command says as JSON, and whether it ends well.
fn answer(command: &mut Command) -> (Value, bool) {
    let output = command.output().expect("it starts");
    let said = serde_json::from_slice(&output.stdout);
    let said = said.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    (said, output.status.success())
}

/// What a command says as JSON; it must end well.
fn said(command: &mut Command) -> Value {
    let (said, ends_well) = answer(command);
    assert!(ends_well, "{said}");
    said
}

/// What `learn` says on a machine without OpenCL.
fn learn(home: &Path, arguments: &str) -> Value {
    said(stampmill(home, arguments).env("OCL_ICD_VENDORS", "/nonexistent"))
}

/// Runs a command that was printed; it ends well where any of its kernels passes. Those of a round
/// are what the search found for points that hang on measured times: at times none of them does.
fn perform(home: &Path, printed: &Value) {
    let line =
        printed.as_str().and_then(|line| line.strip_prefix("stampmill ")).expect("a command");
    let (report, ends_well) = answer(&mut stampmill(home, &format!("{line} --json")));
    let passing = report["kernels_passing"].as_u64().expect("a count");
    assert_eq!(ends_well, passing > 0, "{report}");
}

/// A kernel unlike those of other numbers; those to test on compute with integers, so that none is a
/// near-duplicate of one to train on.
fn kernel(number: usize, is_test: bool) -> String {
    let floats = [
        format!("s = s * {number}.5f + x[i];"),
        format!("s += sqrt(fabs(s) + {number}.0f);"),
        format!("for (int j = 0; j < {number}; j++) {{ s = s * 0.5f + j; }}"),
        format!("if (s > {number}.0f) {{ s -= {number}.25f; }}"),
        format!("s = fmax(s, x[i] * {number}.0f);"),
    ];
    let integers = [
        format!("s ^= i + {number};"),
        format!("s |= x[i] << {number};"),
        format!("while (s > {number}00) {{ s /= 2; }}"),
        format!("s -= (s & 1) ? {number} : 2;"),
        format!("s = abs(s) % {number}1;"),
    ];
    let (element, statements) = if is_test { ("int", integers) } else { ("float", floats) };
    let body: Vec<&str> = (0..4).map(|at| statements[(number + at * 2) % 5].as_str()).collect();
    format!(
        "kernel void k(global {element} *x) {{\n  int i = get_global_id(0);\n  \
         {element} s = x[i];\n  {}\n  x[i] = s + x[i];\n}}\n",
        body.join("\n  ")
    )
}

#[test]
fn a_round_travels_to_the_devices_and_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path();
    for name in ["train", "test"] {
        fs::create_dir(home.join(name)).expect("a folder");
        for number in 1..=GIVEN {
            let path = home.join(name).join(format!("{number}.cl"));
            fs::write(path, kernel(number, name == "test")).expect("a file");
        }
    }
    let command = format!(
        "learn --task local-size:8,256 --train train --test test --committee knn:3,tree:3 --rounds 1 \
         --batch {BATCH} --candidates 100 --global-size 1024 --measuring 1ms --out learned --json"
    );

    let begun = learn(home, &format!("{command} --export-round round-0"));
    assert_eq!(begun["waiting"]["round"], 0);
    assert_eq!(begun["waiting"]["kernels"], 2 * GIVEN);
    perform(home, &begun["run"]);
    let import = begun["go_on"].as_str().and_then(|line| line.strip_prefix("stampmill "));
    let import = import.expect("a command");
    // What was taken in is not taken in again.
    for _ in 0..2 {
        let imported = learn(home, import);
        assert_eq!(imported["imported"]["round"], 0);
        assert_eq!(imported["imported"]["labelled"], GIVEN);
    }

    let second = learn(home, &format!("{command} --export-round round-1"));
    assert_eq!(second["waiting"]["round"], 1);
    // Two points may have given the same kernel.
    let waiting = second["waiting"]["kernels"].as_u64().expect("a count");
    assert!((1..=BATCH).contains(&waiting), "{waiting}");
    perform(home, &second["run"]);
    let report = learn(home, &format!("{command} --import-runs round-1.runs --export-round none"));
    assert!(!home.join("none").exists());

    let rows: Vec<LearnedRow> = Dataset::open(&home.join("learned"))
        .expect("is finished")
        .rows()
        .expect("is of this schema")
        .collect::<Result<_, _>>()
        .expect("is read");
    let of = |role| rows.iter().filter(move |row| row.role == role);
    let labelled = |role| of(role).filter(|row| row.costs.len() == 2).count();
    assert_eq!((of("train").count(), of("test").count()), (GIVEN, GIVEN));
    let made: BTreeSet<&str> = of("round").map(|row| row.path.as_str()).collect();
    assert_eq!(made.len() as u64, waiting);
    assert_eq!((labelled("train"), labelled("test")), (GIVEN, GIVEN));
    assert!(rows.iter().all(|row| (row.verdict == Verdict::ACCEPTED) != row.costs.is_empty()));
    assert_eq!(report["rounds"], 1);
    assert_eq!(report["labelled"], labelled("train") + labelled("round"));
}
