//! Candidates that reach for the judge: each has the verdict that is due, and the others theirs.
//!
//! The test runs in a process namespace of its own, so that what gets out of the judge's sandbox gets no further.

use dataset::{
    Dataset,
    stage::{self, Context},
};
use stampmill_edits::{
    Bench, Candidates, Judge, JudgeOptions, Judgement, Limits, Pair, Store, TestFolder, Tests,
};
use std::{path::Path, process::Command, time::Duration};

const CHILD: &str = "EDITS_HOSTILE_CHILD";

/// A right program, with `reach` done before it answers; `bad` set there is a wrong answer.
fn candidate(reach: &str) -> String {
    format!(
        "#include <cstdio>\n#include <cstdlib>\n#include <cstring>\n#include <fcntl.h>\n#include <sched.h>\n#include <signal.h>\n\
         #include <sys/resource.h>\n#include <sys/stat.h>\n#include <sys/syscall.h>\n#include <unistd.h>\n\
         int main() {{ int n; if (scanf(\"%d\", &n) != 1) return 1; int bad = 0; long parent = syscall(SYS_getppid); \
         if (parent < 1) parent = 1; {reach} printf(\"%ld\\n\", bad ? -1L : (long)n * (n + 1) / 2); return 0; }}\n"
    )
}

/// What is tried, and the verdicts that may come of it.
fn attempts(home: &Path) -> Vec<(String, &'static [&'static str])> {
    let hidden = home.join("hidden/p1/output.0.txt").display().to_string();
    let judged = home.join("judged.partial").display().to_string();
    let home = home.display();
    let plain = |reach: &str, verdicts| (candidate(reach), verdicts);
    vec![
        // Natively nobody is there to be reached; the emulator has a process beside it.
        plain("kill(-1, SIGKILL);", &["sends-signals"][..]),
        plain("syscall(SYS_kill, parent, SIGKILL);", &["sends-signals"]),
        plain("syscall(SYS_tgkill, parent, parent, SIGTERM);", &["sends-signals"]),
        plain("syscall(SYS_tkill, parent, SIGSTOP);", &["sends-signals"]),
        plain("syscall(SYS_kill, parent, SIGSTOP);", &["sends-signals"]),
        plain(
            "struct rlimit none = {0, 0}; bad |= syscall(SYS_prlimit64, parent, RLIMIT_NOFILE, &none, 0) == 0;",
            &["accepted"],
        ),
        plain("cpu_set_t one; CPU_ZERO(&one); CPU_SET(0, &one); bad |= sched_setaffinity(parent, sizeof one, &one) == 0;", &["accepted"]),
        plain("bad |= setpriority(PRIO_PROCESS, parent, 19) == 0;", &["accepted"]),
        plain("fputs(\"stampmill-launch: cannot start: fake\\n\", stderr); exit(127);", &["wrong-output"]),
        plain(
            &format!("const char *paths[] = {{\"{judged}\", \"{home}/tests/p1/output.0.txt\", \"{home}/new\", \"/tmp/new\"}}; for (const char *at : paths) \
                bad |= open(at, O_RDWR | O_CREAT, 0600) >= 0 || unlink(at) == 0 || mkdir(at, 0700) == 0;"),
            &["accepted"],
        ),
        plain(&format!("bad |= open(\"{hidden}\", O_RDONLY) >= 0;"), &["accepted"]),
        plain("for (int i = 0; i < 64; i++) bad |= fork() >= 0;", &["starts-threads"]),
        plain("if (n == 2000) abort();", &["crashes"]),
        // Natively there is nothing there; in the emulator there is what reports its time.
        plain("for (int i = 3; i < 1024; i++) bad |= write(i, \"x\", 1) > 0;", &["touches-channel"]),
        plain(
            "char path[40]; for (int i = 3; i < 1024; i++) { snprintf(path, sizeof path, \"/proc/self/fd/%d\", i); bad |= open(path, O_WRONLY) >= 0; }",
            &["accepted"],
        ),
        plain(&format!("asm(\".pushsection .rodata\\n.incbin \\\"{hidden}\\\"\\n.popsection\");"), &["does-not-compile"]),
        (format!("{}#include \"/etc/shadow\"\n", candidate("")), &["does-not-compile"]),
        (format!("{}#include \"{hidden}\"\n", candidate("")), &["does-not-compile"]),
        plain(&format!("bad = __has_include(\"{hidden}\") || __has_include(\"/etc/shadow\");"), &["does-not-compile"]),
        (
            format!("#if __has_include(\"{hidden}\") || __has_include(\"/etc/shadow\")\n#error seen\n#endif\n{}", candidate("")),
            &["accepted"],
        ),
        (format!("const unsigned char text[] = {{\n#embed \"{hidden}\"\n}};\n{}", candidate("")), &["does-not-compile"]),
        (format!("const unsigned char text[] = {{\n#embed \"/etc/shadow\" limit(99)\n}};\n{}", candidate("")), &["does-not-compile"]),
        (
            format!("#ifdef __has_embed\n#if __has_embed(\"{hidden}\")\n#error seen\n#endif\n#endif\n{}", candidate("")),
            &["accepted"],
        ),
        plain(&format!("asm(\".include \\\"{hidden}\\\"\");"), &["does-not-compile"]),
        plain("asm(\".include \\\"/etc/shadow\\\"\");", &["does-not-compile"]),
        ("#error No space left on device\n".into(), &["does-not-compile"]),
        (
            "#include <cstdio>\nint main() { puts(\"500500\"); fflush(stdout); int n; return scanf(\"%d\", &n) - 1; }\n".into(),
            &["wrong-output"],
        ),
        plain("", &["accepted"]),
    ]
}

fn pair() -> Pair {
    Pair {
        problem_id: "p1".into(),
        src_id: "s1".into(),
        tgt_id: "s2".into(),
        src_code: "#include <cstdio>\nint main() { int n; if (scanf(\"%d\", &n) != 1) return 1; volatile long s = 0; \
            for (int i = 1; i <= n; i++) s += i; printf(\"%ld\\n\", s); }\n"
            .into(),
        ..Pair::default()
    }
}

fn tests(home: &Path) -> Tests {
    let put = |name: &str, numbers: &[u64]| {
        let folder = TestFolder::create(&home.join(name)).expect("it is ours");
        let test = |(at, n): (usize, &u64)| stampmill_edits::Test {
            number: at as u64,
            input: format!("{n}\n").into(),
            output: format!("{}\n", n * (n + 1) / 2).into(),
        };
        folder
            .put("p1", &numbers.iter().enumerate().map(test).collect::<Vec<_>>())
            .expect("it is ours");
        folder.into()
    };
    Tests { visible: put("tests", &[1000, 2000]), hidden: Some(put("hidden", &[3000])) }
}

#[test]
fn what_reaches_for_the_judge_has_its_verdict_and_the_others_theirs() {
    const TEST: &str = "what_reaches_for_the_judge_has_its_verdict_and_the_others_theirs";
    if std::env::var_os(CHILD).is_none() {
        // The first process of a namespace is beyond the reach of signals from inside: the judge is its child.
        let script = "\"$@\"; status=$?; exit $status";
        let exe = std::env::current_exe().unwrap();
        let status = Command::new("unshare")
            .args(["-Urpf", "--mount-proc", "--kill-child", "sh", "-c", script, "sh"])
            .arg(exe)
            .args([TEST, "--exact", "--nocapture"])
            .env(CHILD, "1")
            .status();
        return assert!(status.expect("util-linux is installed").success());
    }
    let home = tempfile::tempdir().unwrap();
    let options = timing::Options { max_instructions: 50_000_000, ..timing::Options::default() };
    let limits = Limits { wall: Duration::from_secs(2), ..Limits::default() };
    let bench = Bench::open(&options, limits, &Store::at(&home.path().join("cache"))).unwrap();
    let (attempts, pair, tests) = (attempts(home.path()), pair(), tests(home.path()));
    let programs = attempts.iter().map(|(code, _)| code.clone()).collect();
    let candidates = Candidates { src_id: "s1".into(), programs, ..Candidates::default() };
    let out = home.path().join("judged");
    let options = JudgeOptions::default();
    let judge =
        Judge::new(vec![pair], &[candidates], tests, &bench, options, &dataset::Silent).unwrap();
    let context = Context { jobs: 2, ..Context::new(&out) };
    let report = stage::run(&judge, &context).unwrap().summary;
    assert_eq!(report.candidates, attempts.len() as u64);
    let rows: Vec<Judgement> =
        Dataset::open(&out).unwrap().rows().unwrap().collect::<Result<_, _>>().unwrap();
    let wrong: Vec<String> = rows
        .iter()
        .filter(|row| {
            let due = attempts[row.candidate as usize].1;
            !due.contains(&row.verdict.as_str()) || row.detail.contains("root:")
        })
        .map(|row| format!("{}{}: {}\n", row.code, row.verdict, row.detail))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.concat());
    assert!(!home.path().join("new").exists());
    let output = std::fs::read(home.path().join("tests/p1/output.0.txt")).unwrap();
    assert_eq!(output, b"500500\n");
}
