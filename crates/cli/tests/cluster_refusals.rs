//! Clusters that a command does not work with, told by what a scheduler says; no engine is needed for that. What tasks
//! refuse, too. Stages on real clusters are in `cluster/`.

use stand_in::Response;
use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

fn stampmill(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stampmill"));
    command.current_dir(home).env("STAMPMILL_CACHE", home.join("cache"));
    command
}

fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("this machine works");
    let text = "kernel void k(global int *a) { a[get_global_id(0)] += 1; }\n";
    fs::create_dir(home.path().join("programs")).expect("this machine works");
    fs::write(home.path().join("programs/a.cl"), text).expect("this machine works");
    home
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).trim().to_owned()
}

/// What `features` says to a scheduler that answers this.
fn features(answer: Response) -> String {
    let address = stand_in::serve(move |request| {
        assert_eq!(request.url, "/stampmill/status");
        Some(answer.clone())
    });
    let home = home();
    let url = format!("http://{}", address.expect("this machine works"));
    let words = ["features", "programs", "--out", "out", "--cluster", &url];
    let output = stampmill(home.path()).args(words).output().expect("this machine works");
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    // Nothing lies about.
    let mut names: Vec<_> = fs::read_dir(home.path())
        .expect("this machine works")
        .map(|entry| entry.expect("this machine works").file_name())
        .collect();
    names.retain(|name| name != "cache");
    assert_eq!(names, ["programs"]);
    said(&output)
}

/// A scheduler's answer with one executor, which works with what this machine does but for `change`.
fn with_executor(change: impl FnOnce(&mut serde_json::Value)) -> Response {
    let home = home();
    let output =
        stampmill(home.path()).args(["worker", "about"]).output().expect("this machine works");
    assert!(output.status.success(), "{}", said(&output));
    let mut about: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("this machine works");
    assert!(about["tools"]["clang"].is_string(), "{about}");
    change(&mut about);
    let executor = serde_json::json!({
        "id": "1", "name": "10.0.0.2:7", "about": about, "tasks": 2, "running": [], "done": 0, "faults": 0,
        "leaving": null, "state": "active", "silent_seconds": 0.1, "losses": 0,
    });
    let status = serde_json::json!({ "version": "0.1.0", "executors": [executor], "jobs": [] });
    Response::new(status.to_string())
}

#[test]
fn what_is_no_scheduler_is_told_by_its_answer() {
    let page = features(Response::new("<html>").status(404));
    assert!(page.contains("is no scheduler of stampmill: 404"), "{page}");
    let other = features(Response::new("{\"status\": \"ok\"}"));
    assert!(other.contains("is no scheduler of stampmill"), "{other}");
    let busy = features(Response::new("try later").status(503));
    assert!(busy.contains("503 try later"), "{busy}");
    let token = features(Response::new("no token").status(401));
    assert!(
        token.contains("refuses the token: no token") && token.contains("--token-file"),
        "{token}"
    );
}

#[test]
fn a_scheduler_without_executors_is_no_cluster() {
    let none = features(Response::new(r#"{"version":"0.1.0","executors":[],"jobs":[]}"#));
    assert!(
        none.contains("has no executor") && none.contains("stampmill cluster executor"),
        "{none}"
    );
}

#[test]
fn an_executor_that_would_make_other_rows_is_named() {
    let version = features(with_executor(|about| about["version"] = "0.0.9".into()));
    assert!(version.contains("executor 10.0.0.2:7 is not like this machine"), "{version}");
    assert!(version.contains("stampmill: 0.1.0 here, 0.0.9 there"), "{version}");
    let build = features(with_executor(|about| about["build"] = "0123456789".into()));
    assert!(build.contains("build of stampmill: ") && build.contains("01234567 there"), "{build}");
    let clang = features(with_executor(|about| {
        about["tools"].as_object_mut().unwrap().remove("clang");
    }));
    assert!(clang.contains("clang: ") && clang.contains("none there"), "{clang}");
}

#[test]
fn a_task_is_a_stage_in_its_folder_and_nothing_else() {
    let home = home();
    let root = home.path().canonicalize().unwrap();
    let place = root.join("part");
    let own = std::process::id().to_string();
    let task = |stage: &str, words: &[&str]| {
        let mut command = stampmill(&root);
        command
            .args(["worker", "part", "--quiet", "--share", "1/1", "--try", "t", "--parent", &own]);
        command.arg("--root").arg(&root).arg("--tries").arg(root.join("tries"));
        command.arg("--place").arg(&place);
        command.args(["--stage", stage, "--"]).args(words);
        command.output().unwrap()
    };
    let refused = |stage: &str, words: &[&str], why: &str| {
        let output = task(stage, words);
        assert_eq!(output.status.code(), Some(3), "{words:?}: {}", said(&output));
        assert!(said(&output).contains(why), "{words:?}: {}", said(&output));
        assert!(!place.exists());
    };
    refused("mine", &["mine", "programs"], "not the stage");
    refused("features", &["prepare", "programs"], "not the stage");
    refused("features", &["worker", "modules"], "");
    refused("features", &["features", "/etc"], "is not in");
    refused("features", &["features", "../.."], "is not in");
    refused("features", &["features", "programs", "--no-such-flag"], "--no-such-flag");
    // What is not the client's to say is not heard.
    let output = task("features", &["features", "--space=grewe", "--force", "--", "programs"]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(place.join("_dataset.json").is_file());
    // Done again, it changes nothing.
    let before = fs::metadata(place.join("_dataset.json")).unwrap().modified().unwrap();
    assert!(task("features", &["features", "--space=grewe", "--", "programs"]).status.success());
    assert_eq!(fs::metadata(place.join("_dataset.json")).unwrap().modified().unwrap(), before);
    let left: Vec<_> =
        fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains(".try-")), "{left:?}");
}

#[test]
fn a_task_whose_executor_is_gone_does_nothing() {
    let home = home();
    let mut command = stampmill(home.path());
    command
        .args(["worker", "part", "--share", "1/1", "--try", "t", "--parent", "1", "--root", "."]);
    command.args(["--tries", "tries"]);
    command.args(["--place", "part", "--stage", "features", "--", "features", "programs"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(!home.path().join("part").exists());
}
