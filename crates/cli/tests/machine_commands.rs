//! Commands whose output is of this machine or as long as a manual: that they work.

use std::{fs, path::Path, process::Command};

/// Run it in that folder: what it prints.
fn stampmill(folder: &Path, words: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stampmill"));
    let output = command.current_dir(folder).args(words).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {said}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn every_shell_has_completions_of_every_command() {
    let home = tempfile::tempdir().expect("a folder");
    for shell in ["bash", "zsh", "fish"] {
        let script = stampmill(home.path(), &["completions", shell]);
        for command in ["features", "steer", "edits", "self-play"] {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
}

#[test]
fn a_processor_file_of_this_machine_is_one_that_programs_are_timed_on() {
    let home = tempfile::tempdir().expect("a folder");
    stampmill(home.path(), &["time", "calibrate", "--out", "here.toml", "--quiet"]);
    let made = fs::read_to_string(home.path().join("here.toml")).expect("a file");
    let built_in = stampmill(home.path(), &["time", "cpu", "zen4"]);
    // The file that was made begins with this machine's name, the built-in one with its own.
    let tables = |text: &str| -> Vec<String> {
        let table: toml::Table = text.parse().expect("TOML");
        table.keys().cloned().collect()
    };
    assert_eq!(tables(&made), tables(&built_in));
    fs::write(home.path().join("one.c"), "int main(void) { return 0; }\n").expect("a file");
    let words = ["time", "one.c", "--cpu", "here.toml", "--no-net", "--json"];
    let timed: serde_json::Value =
        serde_json::from_str(&stampmill(home.path(), &words)).expect("JSON");
    assert!(timed["cycles"].as_u64() > Some(0), "{timed}");
}

#[test]
fn a_model_is_compared_with_the_clock_over_programs_of_ones_own() {
    let home = tempfile::tempdir().expect("a folder");
    fs::create_dir(home.path().join("programs")).expect("a folder");
    for rounds in 1..4 {
        let program = format!(
            "int main(void) {{ volatile long s = 0; for (long i = 0; i < {rounds}00000; i++) s += i; }}\n"
        );
        fs::write(home.path().join(format!("programs/{rounds}.c")), program).expect("a file");
    }
    let words = ["time", "validate", "--programs", "programs", "--rounds", "2", "--json"];
    let found: serde_json::Value =
        serde_json::from_str(&stampmill(home.path(), &words)).expect("JSON");
    assert_eq!(found["all"]["programs"], 3, "{found}");
}
