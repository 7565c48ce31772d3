//! Runs that end before their time: Ctrl-C, a full disk. Nothing that looks whole is left, and what
//! was done is not lost.

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

fn benchstone() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_benchstone"));
    command.stdin(Stdio::null());
    command
}

/// Whether the clang worker can be started; says so where not.
fn has_clang() -> bool {
    let output = benchstone().args(["doctor", "--json"]).output().expect("it starts");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let found = report["components"]
        .as_array()
        .expect("components")
        .iter()
        .any(|component| component["name"] == "clang worker" && component["found"] == true);
    if !found {
        println!("skipped: no clang worker here");
    }
    found
}

/// A folder of `count` files of one kernel each.
fn programs(home: &Path, count: usize) -> PathBuf {
    let folder = home.join("programs");
    fs::create_dir(&folder).expect("a folder");
    for at in 0..count {
        let mut text = format!("kernel void k(global int *a, int n) {{ int s = {at};\n");
        for line in 0..200 {
            writeln!(text, "  s = s * {line} + a[(s + {line}) % n];").expect("text grows");
        }
        text.push_str("  a[get_global_id(0)] = s; }\n");
        fs::write(folder.join(format!("{at:04}.cl")), text).expect("a file");
    }
    folder
}

fn prepare(folder: &Path, out: &Path) -> Command {
    let mut command = benchstone();
    command.args(["prepare", "--json", "--out"]).arg(out).arg(folder);
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn ctrl_c_leaves_nothing_that_looks_whole_and_the_next_run_goes_on() {
    if !has_clang() {
        return;
    }
    let home = tempfile::tempdir().expect("a folder");
    let folder = programs(home.path(), 300);
    let (out, partial) = (home.path().join("kernels"), home.path().join("kernels.partial"));
    let mut child = prepare(&folder, &out)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let parts = || fs::read_dir(&partial).map_or(0, Iterator::count);
    let begun = Instant::now();
    // The lock, the settings and a few parts.
    while parts() < 6 {
        assert!(begun.elapsed() < Duration::from_secs(120), "nothing was written");
        assert!(child.try_wait().expect("a child").is_none(), "it ended before it was stopped");
        thread::sleep(Duration::from_millis(5));
    }
    // The shell's own `kill`: a small machine has no other.
    let stopped = Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status();
    assert!(stopped.expect("a shell").success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("again"), "says how to go on: {}", said(&output));
    assert!(!out.exists());
    let kept = parts();
    assert!(kept >= 6);

    let output = prepare(&folder, &out).output().expect("it starts");
    assert!(output.status.success(), "{}", said(&output));
    assert!(!partial.exists());
    let straight = home.path().join("straight");
    assert!(prepare(&folder, &straight).status().expect("it starts").success());
    let identity = |folder: &Path| {
        let text = fs::read(folder.join("dataset.json")).expect("a manifest");
        let manifest: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
        manifest["identity"].clone()
    };
    assert_eq!(identity(&out), identity(&straight));
}

#[test]
fn a_full_disk_is_a_message_and_no_data_set() {
    let home = tempfile::tempdir().expect("a folder");
    let small = home.path().join("small");
    fs::create_dir(&small).expect("a folder");
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=16k", "tmpfs"])
        .arg(&small)
        .stderr(Stdio::null())
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        println!("skipped: a small file system cannot be mounted here");
        return;
    }
    let folder = programs(home.path(), 60);
    let output = benchstone().arg("mine").arg(&folder).arg("--out").arg(small.join("raw")).output();
    let whole = small.join("raw").exists();
    let _ = Command::new("umount").arg(&small).status();
    let output = output.expect("it starts");
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).to_lowercase().contains("no space left"), "{}", said(&output));
    assert!(!whole);
}
