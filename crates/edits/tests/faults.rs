//! A machine without room makes no verdicts, and what it could not judge is judged once there is room.

use dataset::stage::{self, Context};
use stampmill_edits::{
    Bench, Candidates, Judge, JudgeOptions, Limits, Pair, Store, TestFolder, Tests,
};
use std::{path::Path, process::Command};

const HOME: &str = "EDITS_FAULTS_HOME";

fn judged(home: &Path) -> String {
    let options = timing::Options { max_instructions: 50_000_000, ..timing::Options::default() };
    let store = Store::at(&home.join("cache"));
    let bench = Bench::open(&options, Limits::default(), &store).expect("it is all here");
    let visible = TestFolder::create(&home.join("tests")).expect("it is ours");
    let test =
        stampmill_edits::Test { number: 0, input: b"20\n".to_vec(), output: b"210\n".to_vec() };
    visible.put("p1", &[test]).expect("it is ours");
    let read = "#include <cstdio>\nint main() { int n; if (scanf(\"%d\", &n) != 1) return 1;";
    let pair = Pair {
        problem_id: "p1".into(),
        src_id: "s1".into(),
        src_code: format!(
            "{read} long s = 0; for (int i = 1; i <= n; i++) s += i; printf(\"%ld\\n\", s); }}\n"
        ),
        ..Pair::default()
    };
    let right = format!("{read} printf(\"%ld\\n\", (long)n * (n + 1) / 2); }}\n");
    let wrong = "int main() { return x; }\n".to_owned();
    let programs = vec![right, wrong];
    let candidates = Candidates { src_id: "s1".into(), programs, ..Candidates::default() };
    let tests = Tests { visible: visible.into(), hidden: None };
    let options = JudgeOptions::default();
    let judged = Judge::new(vec![pair], &[candidates], tests, &bench, options, &dataset::Silent)
        .and_then(|judge| stage::run(&judge, &Context::new(home.join("judged"))));
    match judged {
        Ok(done) => format!("{:?}", done.summary.verdicts),
        Err(error) => format!("error: {error}"),
    }
}

fn a_full_folder_for_temporary_files_leaves_no_verdict_and_nothing_in_the_store() {
    const TEST: &str =
        "a_full_folder_for_temporary_files_leaves_no_verdict_and_nothing_in_the_store";
    if let Some(home) = std::env::var_os(HOME) {
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=600k", "none"])
            .arg(std::env::temp_dir())
            .status();
        assert!(mounted.expect("util-linux is installed").success());
        return eprintln!("told {}", judged(Path::new(&home)));
    }
    let (home, small) =
        (tempfile::tempdir().expect("it is ours"), tempfile::tempdir().expect("it is ours"));
    let output = Command::new("unshare")
        .arg("-Urm")
        .arg(std::env::current_exe().expect("it is ours"))
        .args([TEST, "--exact", "--nocapture"])
        .env(HOME, home.path())
        .env("TMPDIR", small.path())
        .output()
        .expect("it is ours");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let told = text
        .lines()
        .find_map(|line| line.strip_prefix("told "))
        .unwrap_or_else(|| panic!("{text}"));
    assert!(told.starts_with("error: ") && told.contains("no room"), "{told}");
    assert!(!home.path().join("cache/rejected").exists());
    assert!(!home.path().join("judged").exists());
    assert_eq!(judged(home.path()), "{\"accepted\": 1, \"does-not-compile\": 1}");
}

trials::main! {
    a_full_folder_for_temporary_files_leaves_no_verdict_and_nothing_in_the_store:
        trials::lacks::mounts(&["-Urm"]),
}
