//! Native programs end with the command that runs them, however that ends, and leave nothing behind.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

const PATIENCE: Duration = Duration::from_secs(120);

fn stampmill(scratch: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stampmill"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.env("TMPDIR", scratch);
    command
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        thread::sleep(Duration::from_millis(10));
    }
}

fn send(signal: &str, child: &Child) {
    let kill = format!("kill {signal} {}", child.id());
    let sent = Command::new("sh").args(["-c", &kill]).status();
    assert!(sent.expect("a shell").success());
}

/// All that this process has started, and what that has.
fn descendants(pid: u32) -> Vec<u32> {
    let mut found = Vec::new();
    let parents = fs::read_dir("/proc").expect("Linux").flatten().filter_map(|entry| {
        let child: u32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
        Some((child, parent))
    });
    let parents: Vec<(u32, u32)> = parents.collect();
    let mut waiting = vec![pid];
    while let Some(pid) = waiting.pop() {
        let children = parents.iter().filter(|(_, parent)| *parent == pid).map(|(child, _)| *child);
        let children: Vec<u32> = children.collect();
        found.extend(&children);
        waiting.extend(children);
    }
    found
}

/// Those that run a program of the name that programs under study have.
fn programs(pid: u32) -> usize {
    let runs = |pid: &u32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        words.starts_with(b"program\0")
            || words.split(|byte| *byte == 0).any(|word| word == b"./program")
    };
    descendants(pid).iter().filter(|pid| runs(pid)).count()
}

fn lives(pid: &u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

fn folder(home: &Path, name: &str) -> PathBuf {
    let path = home.join(name);
    fs::create_dir(&path).expect("a folder");
    path
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_program_that_is_timed_ends_with_its_command() {
    let home = tempfile::tempdir().expect("a folder");
    let scratch = folder(home.path(), "scratch");
    let (endless, short) = (home.path().join("endless.c"), home.path().join("short.c"));
    fs::write(&endless, "int main(void) { for (;;) __asm__ volatile(\"\"); }\n").expect("a file");
    fs::write(&short, "int main(void) { return 0; }\n").expect("a file");
    let left = || fs::read_dir(&scratch).expect("a folder").count();
    for source in ["wall", "qemu"] {
        for signal in ["-INT", "-TERM", "-KILL"] {
            let mut command = stampmill(&scratch);
            let child = command.arg("time").arg(&endless).args(["--no-net", "--source", source]);
            let mut child = child.spawn().expect("it starts");
            until("the program does not start", || {
                assert!(child.try_wait().expect("a child").is_none(), "it ended by itself");
                programs(child.id()) > 0
            });
            let started = descendants(child.id());
            send(signal, &child);
            let output = child.wait_with_output().expect("it ends");
            until("the program lives on", || !started.iter().any(lives));
            if signal == "-KILL" {
                assert!(left() > 0, "a killed command cannot have removed its folder");
                let mut command = stampmill(&scratch);
                let output = command.arg("time").arg(&short).args(["--no-net", "--source", source]);
                let output = output.output().expect("it starts");
                assert!(output.status.success(), "{}", said(&output));
            } else {
                assert_eq!(output.status.code(), Some(130), "{}", said(&output));
            }
            assert_eq!(left(), 0, "{source} {signal}");
        }
    }
}

#[test]
fn a_stopped_judge_keeps_its_rows_and_goes_on() {
    let home = tempfile::tempdir().expect("a folder");
    let scratch = folder(home.path(), "scratch");
    let at = |name: &str| home.path().join(name);
    let read = "#include <cstdio>\\nint main() { int n; if (scanf(\\\"%d\\\", &n) != 1) return 1;";
    let (mut pairs, mut answers) = (String::new(), String::new());
    for number in 0..4 {
        pairs.push_str(&format!(
            "{{\"problem_id\": \"p1\", \"src_id\": \"s{number}\", \"tgt_id\": \"t\", \"src_code\": \"{read} long s = {number}; s = 0; for (int i = 1; i <= n; i++) s += i; printf(\\\"%ld\\\\n\\\", s); }}\\n\", \"tgt_code\": \"int main() {{}}\", \"src_agg_runtime\": 2.0, \"tgt_agg_runtime\": 1.0, \"speedup\": 2.0}}\n"
        ));
        // The last one is being judged when the signal comes.
        let answer = match number {
            3 => "int main() { for (volatile int i = 0;; i = 1) ; }\\n".to_owned(),
            _ => format!("{read} printf(\\\"%d\\\\n\\\", n * (n + 1) / 2); return {number}; }}\\n"),
        };
        answers.push_str(&format!(
            "{{\"src_id\": \"s{number}\", \"generated_answers\": [\"{answer}\"]}}\n"
        ));
    }
    fs::write(at("pairs.jsonl"), pairs).expect("a file");
    fs::write(at("answers.jsonl"), answers).expect("a file");
    fs::create_dir_all(at("tests/p1")).expect("a folder");
    fs::write(at("tests/p1/input.0.txt"), "100\n").expect("a file");
    fs::write(at("tests/p1/output.0.txt"), "5050\n").expect("a file");
    let judge = || {
        let mut command = stampmill(&scratch);
        command.current_dir(home.path()).args(["edits", "judge", "pairs.jsonl", "--candidates"]);
        command.args(["answers.jsonl", "--tests", "tests", "--cache", "cache", "--limit", "8s"]);
        command.args(["--jobs", "1", "--json", "--out", "judged"]);
        command
    };
    let trial = || fs::read_dir(at("judged.partial")).map_or(0, Iterator::count);
    let mut child = judge().spawn().expect("it starts");
    // Settings, lock and three parts.
    until("nothing was judged", || {
        assert!(child.try_wait().expect("a child").is_none(), "it ended by itself");
        trial() >= 4
    });
    send("-INT", &child);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{}", said(&output));
    assert!(said(&output).contains("repeat the command"), "{}", said(&output));
    assert!(!at("judged").exists() && trial() >= 4);
    assert_eq!(fs::read_dir(&scratch).expect("a folder").count(), 0);
    let output = judge().output().expect("it starts");
    assert!(output.status.success(), "{}", said(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["verdicts"], serde_json::json!({"accepted": 3, "timeout": 1}));
}
