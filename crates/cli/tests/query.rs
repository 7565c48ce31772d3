//! `stampmill query`: what its helper may take, and how it ends.

use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
    time::Duration,
};

fn query(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stampmill"));
    command.arg("query").current_dir(home).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("a folder");
    fs::write(home.path().join("a.cl"), "kernel void a() {}\n").expect("a file");
    home
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Numbers from 1 to a hundred thousand, paired with themselves.
const PAIRS: &str = "generate_series(1, 100000) a(x), generate_series(1, 100000) b(y)";

#[test]
fn a_query_without_bounds_ends_in_an_error() {
    let home = home();
    for sql in [
        format!("SELECT * FROM {PAIRS}"),
        format!("SELECT array_agg(x || ' and ' || y) AS all FROM {PAIRS}"),
        format!("SELECT x, y, repeat('long', 100) AS l FROM {PAIRS} ORDER BY x * y % 1000, y"),
        "SELECT repeat(text, 100000000) FROM dataset".to_owned(),
    ] {
        let output = query(home.path()).args([&sql, "a.cl", "--memory", "32MiB"]).output();
        let output = output.expect("it starts");
        let said = said(&output);
        assert_eq!(output.status.code(), Some(2), "{sql}: {said}");
        assert!(said.contains("--memory"), "{sql}: {said}");
    }
}

#[test]
fn hashes_are_verified_where_that_is_asked_for() {
    let home = home();
    let asked = |words: &[&str]| query(home.path()).args(words).output().expect("it starts");
    let all = ["SELECT path FROM dataset", "a.cl", "--out", "set", "--quiet"];
    assert!(asked(&all).status.success());
    let manifest = home.path().join("set/_dataset.json");
    let text = fs::read_to_string(&manifest).expect("a manifest");
    fs::write(&manifest, text.replace("\"seed\": 0", "\"seed\": 7")).expect("a file");
    let of_set = ["SELECT path FROM dataset", "set"];
    assert!(asked(&of_set).status.success());
    let output = asked(&[of_set[0], of_set[1], "--verify-hashes"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("it was edited"), "{}", said(&output));
}

#[test]
fn seed_tools_and_hosts_of_a_measurement_survive() {
    let home = home();
    fs::write(
        home.path().join("b.cl"),
        "kernel void b(global int* x) { x[get_global_id(0)] *= 2; }\n",
    )
    .expect("a file");
    for (out, seed) in [("one", "7"), ("two", "9")] {
        let run = ["run", "b.cl", "--devices", "cpu", "--global-sizes", "256", "--budget", "1ms"];
        let mut command = Command::new(env!("CARGO_BIN_EXE_stampmill"));
        command.current_dir(home.path()).args(run).args(["--seed", seed, "--out", out]);
        assert!(command.output().expect("it starts").status.success());
    }
    let sql = "SELECT * FROM a UNION ALL SELECT * FROM b";
    let output = query(home.path()).args([sql, "a=one", "b=two", "--out", "both"]).output();
    assert!(output.expect("it starts").status.success());
    let manifest = |name: &str| -> serde_json::Value {
        let path = home.path().join(name).join("_dataset.json");
        serde_json::from_str(&fs::read_to_string(path).expect("a manifest")).expect("JSON")
    };
    let (one, both) = (manifest("one"), manifest("both"));
    assert_eq!((&one["seed"], &both["seed"]), (&7.into(), &7.into()));
    assert!(one["tools"].as_object().is_some_and(|tools| !tools.is_empty()));
    assert_eq!((&one["tools"], &one["host"]), (&both["tools"], &both["host"]));
    let lineage = both["lineage"].as_object().expect("by identity").values();
    let mut seeds: Vec<_> = lineage.filter_map(|of| of["seed"].as_u64()).collect();
    seeds.sort_unstable();
    assert_eq!(seeds, [7, 9]);
}

#[test]
fn rows_are_printed_as_they_are_found_until_nobody_reads() {
    use std::io::{BufRead, BufReader};
    let home = home();
    for format in ["csv", "jsonl"] {
        let sql = format!("SELECT x, y FROM {PAIRS}");
        let mut child =
            query(home.path()).args([&sql, "a.cl", "--format", format]).spawn().expect("it starts");
        let out = BufReader::new(child.stdout.take().expect("its output"));
        // Ten thousand million rows are never all made.
        let lines: Vec<String> = out.lines().take(3).map(|line| line.expect("a line")).collect();
        assert_eq!(lines.len(), 3);
        let output = child.wait_with_output().expect("it ends");
        assert_eq!((output.status.code(), said(&output)), (Some(0), String::new()));
    }
}

#[test]
fn a_signal_ends_the_query_and_its_helper() {
    let home = home();
    for signal in ["INT", "TERM"] {
        let sql = format!("SELECT sum(x * y % 7) FROM {PAIRS}");
        let child = query(home.path()).args([&sql, "a.cl"]).spawn().expect("it starts");
        let children = format!("/proc/{0}/task/{0}/children", child.id());
        let helper = (0..1000).find_map(|_| {
            std::thread::sleep(Duration::from_millis(20));
            let first = fs::read_to_string(&children).ok()?.split(' ').next()?.to_owned();
            (!first.is_empty()).then_some(first)
        });
        let helper = helper.expect("it starts its helper");
        let kill = format!("kill -{signal} {}", child.id());
        Command::new("sh").args(["-c", &kill]).status().expect("a signal");
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(130), "{}", said(&output));
        assert!(!Path::new("/proc").join(helper).exists(), "the helper outlived it");
    }
}

#[test]
fn a_missing_helper_is_said_with_how_to_build_it() {
    let home = home();
    let alone = home.path().join("bin/inner");
    fs::create_dir_all(&alone).expect("a folder");
    let program = alone.join("stampmill");
    trials::program(&program, &fs::read(env!("CARGO_BIN_EXE_stampmill")).expect("it is built"));
    let output = Command::new(&program)
        .args(["query", "SELECT 1 FROM dataset", "a.cl"])
        .current_dir(home.path())
        .output()
        .expect("it starts");
    let said = said(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("no stampmill-query beside") && said.contains("make build"), "{said}");
}
