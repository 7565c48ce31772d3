//! Pairs of kernels of what commits change, from a repository that git makes.

use serde_json::Value;
use std::{fs, path::Path, process::Command};

/// Runs git in a folder; what fails fails the test.
fn git(folder: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"];
    let mut command = Command::new("git");
    let done = command.args(identity).args(arguments).current_dir(folder).output();
    let done = done.expect("git is here");
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// Commits a file.
fn commit(folder: &Path, subject: &str, text: &str) {
    fs::write(folder.join("k.cl"), text).expect("it can be written");
    git(folder, &["add", "k.cl"]);
    git(folder, &["commit", "-qm", subject]);
}

fn a_kernel_that_a_commit_changes_is_a_pair() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = home.path().join("repository");
    fs::create_dir(&folder).expect("a folder can be made");
    git(&folder, &["init", "-q"]);
    let kernel = |name: &str, body: &str| {
        format!("kernel void {name}(global const float* a, global float* b) {{ {body} }}\n")
    };
    let slow = "int i = get_global_id(0); for (int k = 0; k < 16; k++) b[i] += a[i] * k;";
    let fast = "int i = get_global_id(0); float s = b[i]; for (int k = 0; k < 16; k++) s += a[i] * k; b[i] = s;";
    let renamed = slow.replace("get_global_id(0)", "get_global_id( 0 )").replace('k', "step");
    let copy = kernel("copy", "b[get_global_id(0)] = a[get_global_id(0)];");
    commit(&folder, "begin", &(kernel("sum", slow) + &copy));
    commit(&folder, "other names", &(kernel("sum", &renamed) + &copy));
    commit(&folder, "keep the sum in a variable", &(kernel("sum", fast) + &copy));
    let output = Command::new(env!("CARGO_BIN_EXE_stampmill"))
        .args(["edits", "pair-kernels", "git+repository", "--out", "pairs.jsonl", "--json"])
        .current_dir(home.path())
        .env("STAMPMILL_CACHE", home.path().join("cache"))
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let summary: Value = serde_json::from_slice(&output.stdout).expect("a summary");
    let count = |name: &str| summary[name].as_u64().expect("a number");
    assert_eq!((count("commits"), count("changes")), (3, 2), "{summary}");
    assert_eq!((count("kernels"), count("pairs"), count("same")), (4, 1, 3), "{summary}");
    let lines = fs::read_to_string(home.path().join("pairs.jsonl")).expect("it was written");
    let pair: Value = serde_json::from_str(lines.trim_end()).expect("one line");
    assert_eq!(pair["subject"], "keep the sum in a variable");
    let commit = pair["commit"].as_str().expect("a commit");
    assert_eq!(pair["src_id"], format!("k.cl#sum@{}^", &commit[..12]));
    assert!(pair["src_code"] != pair["tgt_code"] && pair["tgt_id"] == commit, "{pair}");
}

trials::main! {
    a_kernel_that_a_commit_changes_is_a_pair: trials::lacks::program("git"),
}
