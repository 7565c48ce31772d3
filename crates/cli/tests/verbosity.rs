//! `--version`, `-v` and `NO_COLOR`: what the command says of itself and of its work.

use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
};

const KERNEL: &str = "kernel void a(global int* x) { x[0] = 1; }\n";

fn stampmill(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stampmill"));
    command.current_dir(home).stdin(Stdio::null()).env("STAMPMILL_CACHE", home.join("cache"));
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn version_names_the_commit_and_what_reads_modules() {
    let home = tempfile::tempdir().expect("a folder");
    let say = |flag: &str| stampmill(home.path()).arg(flag).output().expect("it runs");
    let short = text(&say("-V").stdout);
    assert_eq!(short, format!("stampmill {}\n", env!("CARGO_PKG_VERSION")));
    let long = say("--version");
    assert!(long.status.success() && long.stderr.is_empty(), "{long:?}");
    let long = text(&long.stdout);
    let lines: Vec<&str> = long.lines().collect();
    assert_eq!(lines[0], short.trim_end());
    let commit = lines[1].strip_prefix("commit ").expect("a commit");
    let is_commit = |word: &str| word.len() == 12 && word.bytes().all(|b| b.is_ascii_hexdigit());
    assert!(is_commit(commit) || commit == "unknown", "{commit}");
    assert!(
        lines[2].contains("clang version 19") && lines[2].contains("stampmill-clang"),
        "{long}"
    );
    assert!(lines[3..].iter().any(|line| line.starts_with("LLVM 19.")), "{long}");

    // What is missing is said, and is no failure: a version is asked for when something is wrong.
    let bare = stampmill(home.path())
        .arg("--version")
        .env("STAMPMILL_CLANG_WORKER", "/nothing/here")
        .output()
        .expect("it runs");
    assert!(bare.status.success() && text(&bare.stdout).contains("clang: no clang worker at"));
}

#[test]
fn events_come_with_v_alone_and_name_workers_and_llvm() {
    let home = tempfile::tempdir().expect("a folder");
    fs::write(home.path().join("a.cl"), KERNEL).expect("a file");
    let describe = |flags: &[&str]| {
        let mut command = stampmill(home.path());
        command.args(["features", "a.cl", "--space", "instcount", "--format", "jsonl"]);
        command.args(flags).output().expect("it runs")
    };
    let plain = describe(&[]);
    assert_eq!((plain.status.code(), text(&plain.stderr)), (Some(0), String::new()));
    let told = describe(&["-v"]);
    let said = text(&told.stderr);
    assert_eq!(told.stdout, plain.stdout, "events are no rows");
    for part in ["INFO stampmill_sandbox", "a worker was started", "profile=clang"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("DEBUG") && !said.contains('\u{1b}'), "{said}");
    let more = text(&describe(&["-vv"]).stderr);
    assert!(!more.contains("TRACE") && more.lines().count() >= said.lines().count(), "{more}");
    assert_eq!(text(&describe(&["-v", "-q"]).stderr), "");
    let all = text(&describe(&["-vvv"]).stderr);
    assert!(all.contains("TRACE stampmill_host"), "{all}");
}

#[test]
fn a_cached_result_is_named() {
    let home = tempfile::tempdir().expect("a folder");
    fs::write(home.path().join("a.cpp"), "int main() { return 0; }\n").expect("a file");
    let time = || stampmill(home.path()).args(["time", "a.cpp", "-vv"]).output().expect("it runs");
    let first = text(&time().stderr);
    assert!(first.contains("a program has run") && first.contains("qemu"), "{first}");
}

/// What a command writes when it writes to a terminal.
fn on_a_terminal(home: &Path, arguments: &str, no_color: Option<&str>) -> Output {
    let line = format!("{} {arguments}", env!("CARGO_BIN_EXE_stampmill"));
    let mut command = Command::new("script");
    command.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
    command.current_dir(home).stdin(Stdio::null()).env("TERM", "xterm-256color");
    command.env("STAMPMILL_CACHE", home.join("cache")).env_remove("NO_COLOR");
    if let Some(value) = no_color {
        command.env("NO_COLOR", value);
    }
    command.output().expect("it runs")
}

/// Whether there is a sequence that sets a color or a weight: ESC [ ... m.
fn is_colored(output: &Output) -> bool {
    let text = text(&output.stdout);
    text.split("\u{1b}[").skip(1).any(|rest| {
        rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m')
    })
}

#[test]
fn no_color_is_obeyed_by_all_that_a_terminal_shows() {
    let home = tempfile::tempdir().expect("a folder");
    fs::write(home.path().join("a.cl"), KERNEL).expect("a file");
    // Help and complaints have colors of clap's on a terminal, so that the test would see them.
    for colored in ["--help", "mine --help", "minne"] {
        assert!(is_colored(&on_a_terminal(home.path(), colored, None)), "{colored}");
    }
    let all = [
        "--help",
        "mine --help",
        "minne",
        "--version",
        "doctor",
        "features a.cl --space grewe -vv",
        "features a.cl --space grewe --out vectors",
        "show vectors",
        "query 'SELECT 1 AS one'",
        "features nothing --space grewe",
        "fsck vectors",
    ];
    for line in all {
        let output = on_a_terminal(home.path(), line, Some("1"));
        let shown = text(&output.stdout);
        assert!(!shown.is_empty(), "{line} says something");
        assert!(!is_colored(&output), "{line}: {shown:?}");
    }
}
