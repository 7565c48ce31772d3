//! Runs of one program in one sandbox: what they share, and what not.

use stampmill_sandbox::{Death, Profile, Program, Series};
use std::time::Duration;

fn series(script: &str, profile: Profile) -> Series {
    let program = Program {
        command: ["/bin/sh", "-c", script].map(Into::into).into(),
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        wall: Duration::from_secs(60),
        ..Program::default()
    };
    Series::new(program, profile)
}

/// What it prints when it is run three times, on an input that is the number of the run.
fn printed(script: &str, profile: Profile) -> Vec<String> {
    let mut series = series(script, profile);
    let mut all = Vec::new();
    for number in 1..=3 {
        let finished = series.run(format!("{number}\n").as_bytes()).expect("it is started");
        assert_eq!((finished.status, &finished.death), (Some(0), &None), "{finished:?}");
        all.push(String::from_utf8(finished.stdout).expect("text"));
    }
    all
}

#[test]
fn each_run_has_its_own_input_and_the_number_of_the_first() {
    let all = printed("read word; echo $word $$", Profile::native());
    assert_eq!(all, ["1 2\n", "2 2\n", "3 2\n"]);
}

#[test]
fn a_sandbox_is_shared_only_where_nothing_can_be_left_in_it() {
    // Page faults of the children that the first process has taken leave of.
    let script = "read line </proc/1/stat; set -- $line; echo ${11}";
    let shared = |profile: Profile| {
        let all = printed(script, Profile { proc: true, ..profile });
        assert_eq!(all[0], "0\n");
        all[1] != "0\n" && all[2] != "0\n"
    };
    assert!(shared(Profile::native()));
    assert!(!shared(Profile { processes: 2, ..Profile::native() }));
    assert!(!shared(Profile { scratch: 1 << 20, ..Profile::native() }));
    let folder = tempfile::tempdir().expect("a folder");
    assert!(!shared(Profile { writable: vec![folder.path().into()], ..Profile::native() }));
    assert!(!shared(Profile::device()));
}

#[test]
fn a_bad_end_costs_the_next_run_nothing() {
    let script = "read word; case $word in limit) while :; do echo x; done;; signal) kill -SEGV $$;; \
                  status) exit 7;; esac; echo $word";
    let profile = Profile { output_bytes: 1000, ..Profile::native() };
    let mut series = series(script, profile);
    let mut end = |word: &str| {
        let finished = series.run(format!("{word}\n").as_bytes()).expect("it is started");
        (finished.status, finished.death, finished.stdout)
    };
    for _ in 0..2 {
        assert_eq!(end("well"), (Some(0), None, b"well\n".to_vec()));
        assert_eq!(end("limit").1, Some(Death::Output));
        assert!(matches!(end("signal").1, Some(Death::Signal(11, _))));
        assert_eq!(end("status"), (Some(7), None, Vec::new()));
    }
}
