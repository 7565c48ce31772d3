//! What this machine does wrong is no verdict about a program, and what a program makes up is no fault of the machine.
//!
//! Each test starts this binary again: with another search path, or in namespaces of its own with a small file system.

use dataset::stage::{self, Context};
use stampmill_timing::{Code, Job, Options, TimeSuite};
use std::{
    path::Path,
    process::{Command, Output},
};

const CHILD: &str = "TIMING_FAULTS_CHILD";

fn options() -> Options {
    Options { cpu: "zen4".into(), net: false, max_instructions: 200_000_000, ..Options::default() }
}

fn job(text: &str) -> Job {
    Job { name: "test".into(), program: Code::C(text.into()), stdin: Vec::new() }
}

/// What timing a program comes to, in one line.
fn outcome(text: &str) -> String {
    match stampmill_timing::time(&job(text), &options()) {
        Ok(timing) => format!("verdict {} {}", timing.verdict, timing.detail),
        Err(error) if error.is_fault() => format!("fault {error}"),
        Err(error) => format!("error {error}"),
    }
}

fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Run the test of that name again with what `change` changes; what it told as its outcome.
fn again(test: &str, before: &[&str], change: impl Fn(&mut Command)) -> String {
    let exe = std::env::current_exe().expect("it is ours").into_os_string();
    let mut words: Vec<_> = before.iter().map(Into::into).collect();
    words.extend([exe, test.into(), "--exact".into(), "--nocapture".into()]);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env(CHILD, "1");
    change(&mut command);
    let output: Output = command.output().expect("it is ours");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let told = text.lines().find_map(|line| line.strip_prefix("outcome ")).map(str::to_owned);
    told.unwrap_or_else(|| panic!("{text}"))
}

/// A folder with a `gcc` that is this shell script.
fn compiler(folder: &Path, script: &str) {
    trials::program(&folder.join("gcc"), format!("#!/bin/sh\n{script}\n").as_bytes());
}

fn with_compiler(test: &str, script: &str) -> String {
    let folder = tempfile::tempdir().expect("it is ours");
    compiler(folder.path(), script);
    let path = std::env::var("PATH").unwrap_or_default();
    again(test, &[], |command| {
        command.env("PATH", format!("{}:{path}", folder.path().display()));
    })
}

fn a_compiler_that_is_killed_is_no_verdict() {
    if is_child() {
        return eprintln!("outcome {}", outcome("int main(void) { return 0; }"));
    }
    let test = "a_compiler_that_is_killed_is_no_verdict";
    let killed = with_compiler(test, "kill -9 $$");
    assert!(killed.starts_with("fault "), "{killed}");
    let says = "echo 'gcc: fatal error: Killed signal terminated program cc1' >&2; exit 1";
    let killed = with_compiler(test, says);
    assert!(killed.starts_with("fault "), "{killed}");
    let missing =
        "echo \"gcc: fatal error: cannot execute 'cc1': execvp: No such file\" >&2; exit 1";
    let missing = with_compiler(test, missing);
    assert!(missing.starts_with("fault ") && missing.contains("cc1"), "{missing}");
}

fn a_compiler_that_is_killed_once_is_asked_again() {
    if is_child() {
        return eprintln!("outcome {}", outcome("int main(void) { return 0; }"));
    }
    let test = "a_compiler_that_is_killed_once_is_asked_again";
    let once = "[ -e was-here ] || { : >was-here; kill -9 $$; }; exec /usr/bin/gcc \"$@\"";
    let told = with_compiler(test, once);
    assert!(told.starts_with("verdict accepted"), "{told}");
}

fn a_fault_costs_one_program_of_a_suite_and_the_next_run_makes_it_good() {
    const HOME: &str = "TIMING_FAULTS_HOME";
    let timed = |home: &Path| {
        let suite = stampmill_timing::Suite {
            jobs: ["int main(void) { return 0; }", "int main(void) { return 1; } /* UNLUCKY */"]
                .iter()
                .enumerate()
                .map(|(at, text)| Job { name: format!("p{at}"), ..job(text) })
                .collect(),
        };
        let context = Context::new(home.join("times"));
        match TimeSuite::new(suite, &options()).and_then(|suite| stage::run(&suite, &context)) {
            Ok(done) => format!("{:?}", done.summary.verdicts),
            Err(error) => format!("error {error}"),
        }
    };
    if let Some(home) = std::env::var_os(HOME) {
        return eprintln!("outcome {}", timed(Path::new(&home)));
    }
    let (home, tools) =
        (tempfile::tempdir().expect("it is ours"), tempfile::tempdir().expect("it is ours"));
    let unlucky =
        "[ -e source.c ] && grep -q UNLUCKY source.c && kill -9 $$\nexec /usr/bin/gcc \"$@\"";
    compiler(tools.path(), unlucky);
    let path = std::env::var("PATH").unwrap_or_default();
    let test = "a_fault_costs_one_program_of_a_suite_and_the_next_run_makes_it_good";
    let told = again(test, &[], |command| {
        command.env(HOME, home.path()).env("PATH", format!("{}:{path}", tools.path().display()));
    });
    assert!(told.starts_with("error 1 of 2 programs have no rows"), "{told}");
    assert!(!home.path().join("times").exists());
    assert!(home.path().join("times.partial").exists());
    assert_eq!(timed(home.path()), "{\"accepted\": 2}");
}

fn a_full_folder_for_temporary_files_is_no_verdict() {
    if is_child() {
        let small = std::env::temp_dir();
        let size = "size=600k";
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", size, "none"]).arg(&small).status();
        assert!(mounted.expect("util-linux is installed").success());
        return eprintln!(
            "outcome {}",
            outcome("#include <stdio.h>\nint main(void) { puts(\"x\"); }")
        );
    }
    let folder = tempfile::tempdir().expect("it is ours");
    let test = "a_full_folder_for_temporary_files_is_no_verdict";
    let told = again(test, &["unshare", "-Urm"], |command| {
        command.env("TMPDIR", folder.path());
    });
    assert!(told.starts_with("fault ") && told.contains("no room"), "{told}");
}

fn what_a_program_makes_up_is_its_verdict() {
    let made_up = [
        "#error No space left on device",
        "#error Killed signal terminated program cc1",
        "__asm__(\".error \\\"/usr/bin/ld: final link failed: No space left on device\\\"\");",
        "_Static_assert(0, \"\\ngcc: fatal error: cannot execute 'cc1'\\n\");",
    ];
    for text in made_up {
        let told = outcome(&format!("int main(void) {{ return 0; }}\n{text}\n"));
        assert!(told.starts_with("verdict does-not-compile"), "{text}: {told}");
    }
}

fn the_compiler_sees_the_source_and_the_headers_alone() {
    let folder = tempfile::tempdir().expect("it is ours");
    let secret = folder.path().join("output.0.txt");
    std::fs::write(&secret, "hidden-answer-4711 @ # $\n").expect("it is ours");
    let secret = secret.display();
    let attempts = [
        format!("__asm__(\".incbin \\\"{secret}\\\"\");\nint main(void) {{ return 0; }}"),
        format!("__asm__(\".include \\\"{secret}\\\"\");\nint main(void) {{ return 0; }}"),
        format!("int main(void) {{ return 0; }}\n#include \"{secret}\""),
        "int main(void) { return 0; }\n#include \"/etc/shadow\"".to_owned(),
        "int main(void) { return 0; }\n#include \"/proc/self/environ\"".to_owned(),
    ];
    for text in attempts {
        let told = outcome(&text);
        assert!(told.starts_with("verdict does-not-compile"), "{text}: {told}");
        assert!(!told.contains("4711") && !told.contains("root:"), "{text}: {told}");
    }
    let looks = format!(
        "#if __has_include(\"{secret}\") || __has_include(\"/etc/shadow\") || __has_include(\"/root\")\n\
         #error seen\n#endif\nint main(void) {{ return 0; }}"
    );
    let told = outcome(&looks);
    assert!(told.starts_with("verdict accepted"), "{told}");
}

/// Beside the faults, because it too starts this binary again.
fn addresses_that_are_not_drawn_at_random_do_not_matter() {
    let told = || {
        let program = job("int main(void) { int here; return (long)&here >> 4 & 1; }");
        let timing = stampmill_timing::time(&program, &options()).expect("it is timed");
        let measurement = timing.measurement.expect("it ends well");
        format!("{:?} {:?}", measurement.instructions, measurement.cycles)
    };
    if is_child() {
        return eprintln!("outcome {}", told());
    }
    let test = "addresses_that_are_not_drawn_at_random_do_not_matter";
    assert_eq!(again(test, &["setarch", "-R"], |_| {}), told());
}

trials::main! {
    a_compiler_that_is_killed_is_no_verdict,
    a_compiler_that_is_killed_once_is_asked_again,
    a_fault_costs_one_program_of_a_suite_and_the_next_run_makes_it_good,
    a_full_folder_for_temporary_files_is_no_verdict: trials::lacks::mounts(&["-Urm"]),
    what_a_program_makes_up_is_its_verdict,
    the_compiler_sees_the_source_and_the_headers_alone,
    addresses_that_are_not_drawn_at_random_do_not_matter: trials::lacks::fixed_addresses(),
}
