//! What a user of the crate sees: the same cycles always, and a verdict for every bad program.

use stampmill_timing::{Code, Job, Measurement, Options, Timing};
use std::{path::PathBuf, process::Command};

const SUM: &str = "#include <cstdio>\n#include <ctime>\n#include <cstdlib>\n#include <unistd.h>\nint main(int argc, char **argv) { \
    long n; if (scanf(\"%ld\", &n) != 1) n = 7; long t = time(0) % 3 + getpid() % 5 + (argv[0][0] == 'p'); \
    char *home = getenv(\"HOME\"); if (home) t += 1000000; \
    for (long i = 0; i < n; i++) t += i ^ (t >> 3); printf(\"%ld\\n\", t); }\n";

fn cpp(text: &str, stdin: &str) -> Job {
    Job { name: "test".into(), program: Code::Cpp(text.into()), stdin: stdin.into() }
}

fn options() -> Options {
    Options { cpu: "zen4".into(), net: false, max_instructions: 200_000_000, ..Options::default() }
}

fn timed(job: &Job, options: &Options) -> Timing {
    stampmill_timing::time(job, options).unwrap_or_else(|error| panic!("{error}"))
}

fn figures(timing: Timing) -> Measurement {
    let measurement =
        timing.measurement.unwrap_or_else(|| panic!("{}: {}", timing.verdict, timing.detail));
    Measurement { host_seconds: 0.0, ..measurement }
}

#[test]
fn the_same_program_takes_the_same_cycles_under_load() {
    let job = cpp(SUM, "300000\n");
    let first = timed(&job, &options());
    let first = figures(first);
    assert!(first.instructions > Some(300_000) && first.cycles > Some(100_000));
    std::thread::scope(|scope| {
        let others: Vec<_> = (0..3).map(|_| scope.spawn(|| timed(&job, &options()))).collect();
        for other in others {
            let again = figures(other.join().expect("timing does not panic"));
            assert_eq!(again, first);
        }
    });
}

/// Runs this test binary again, so that directory, environment and argument are another process's.
#[test]
fn directory_and_environment_do_not_matter() {
    let job = cpp(SUM, "1000\n");
    if std::env::var_os("TIMING_CHILD").is_some() {
        let timing = timed(&job, &options());
        return eprintln!("figures {}", serde_json::to_string(&figures(timing)).unwrap());
    }
    let run = |folder: PathBuf, extra: &[(&str, &str)]| {
        let exe = std::env::current_exe().unwrap();
        let name = "directory_and_environment_do_not_matter";
        let mut command = Command::new(exe);
        command.args([name, "--exact", "--nocapture"]);
        command.current_dir(folder).env("TIMING_CHILD", "1");
        command.envs(extra.iter().copied());
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let figures = text.lines().find_map(|line| line.strip_prefix("figures "));
        figures.unwrap_or_else(|| panic!("{text}")).to_owned()
    };
    let plain = run("/".into(), &[]);
    let long = "x".repeat(5000);
    let settings =
        [("LD_BIND_NOW", "1"), ("LONG", long.as_str()), ("GLIBC_TUNABLES", "glibc.malloc.check=3")];
    assert_eq!(run(std::env::temp_dir(), &settings), plain);
}

#[test]
fn bad_programs_have_a_verdict_each() {
    let cases = [
        ("int main() { return x; }", "", "does-not-compile"),
        ("int main() { volatile int *p = 0; *p = 1; }", "", "crashes"),
        ("#include <cstdlib>\nint main() { abort(); }", "", "crashes"),
        (
            "#include <cstdio>\nint main() { for (;;) puts(\"again and again and again and again\"); }",
            "",
            "output-limit",
        ),
        ("int main() { for (;;) asm volatile(\"\"); }", "", "instruction-limit"),
        ("#include <x86intrin.h>\nint main() { return __rdtsc() & 1; }", "", "reads-clock"),
        ("int main() { asm volatile(\"rdrand %%rax\" ::: \"rax\"); }", "", "reads-random"),
        (
            "int main() { asm volatile(\".byte 0x62,0xf1,0x7c,0x48,0x58,0xc0\"); }",
            "",
            "needs-avx512",
        ),
        ("#include <thread>\nint main() { std::thread t([] {}); t.join(); }", "", "starts-threads"),
        ("#include <unistd.h>\nint main() { return fork() > 0; }", "", "starts-threads"),
        ("#include <sys/socket.h>\nint main() { return socket(2, 1, 0) > 0; }", "", "uses-network"),
        ("#include <cstdio>\nint main() { while (getchar() != 'q'); }", "abc", "reads-past-input"),
    ];
    let few = Options { output_bytes: 1 << 20, max_instructions: 50_000_000, ..options() };
    for (program, stdin, wanted) in cases {
        let timing = timed(&cpp(program, stdin), &few);
        assert_eq!(timing.verdict, wanted, "{program}: {}", timing.detail);
    }
}

#[test]
fn several_inputs_together_take_what_each_takes_alone() {
    let program = Code::Cpp(
        "#include <iostream>\n#include <cstdlib>\nint main() { long n, s = 0; std::cout << \"sum\" << std::endl; \
        std::cin >> n; if (n < 0) abort(); for (long i = 0; i < n; i++) s += i ^ (s >> 3); std::cout << s << std::endl; return n % 7; }"
            .into(),
    );
    let timer = stampmill_timing::Timer::open(&options()).unwrap();
    let inputs: [&[u8]; 4] = [b"10\n", b"200000\n", b"", b"31\n"];
    let together = timer.time_each(&program, &inputs).unwrap();
    assert_eq!(together.len(), inputs.len());
    for (input, timing) in inputs.iter().zip(together) {
        let job = Job { name: "alone".into(), program: program.clone(), stdin: input.to_vec() };
        assert_eq!(figures(timing), figures(timer.time(&job).unwrap()), "{input:?}");
    }
    let until_it_fails = timer.time_each(&program, &[b"5\n", b"-1\n", b"7\n"]).unwrap();
    let verdicts: Vec<&str> = until_it_fails.iter().map(|timing| timing.verdict.as_str()).collect();
    assert_eq!(verdicts, ["accepted", "crashes"]);
    let forks = Code::C(
        "#include <stdio.h>\n#include <unistd.h>\nint main(void) { getchar(); return fork() < 0; }\n"
            .into(),
    );
    let forked = timer.time_each(&forks, &[b"a", b"b"]).unwrap();
    let verdicts: Vec<&str> = forked.iter().map(|timing| timing.verdict.as_str()).collect();
    assert_eq!(verdicts, ["starts-threads"]);
    let never = Code::C("int main(void) { return 3; }\n".into());
    let answers = timer.time_each(&never, &[b"a", b"b"]).unwrap();
    assert!(answers.into_iter().map(figures).all(|measurement| measurement.exit_status == 3));
}

#[test]
fn limits_of_memory_and_time_are_verdicts_and_nothing_is_written() {
    let hungry = cpp(
        "#include <cstdlib>\n#include <cstring>\nint main() { for (;;) memset(malloc(1 << 26), 1, 1 << 26); }",
        "",
    );
    let timing = timed(&hungry, &Options { memory_bytes: 512 << 20, ..options() });
    assert_eq!(timing.verdict, "memory-limit", "{}", timing.detail);
    let asleep = cpp("#include <unistd.h>\nint main() { pause(); }", "");
    let short = Options { timeout: std::time::Duration::from_millis(500), ..options() };
    let timing = timed(&asleep, &short);
    assert_eq!(timing.verdict, "timeout", "{}", timing.detail);
    let writes = cpp(
        "#include <cstdio>\nint main() { return fopen(\"/tmp/stampmill-wrote\", \"w\") || fopen(\"here\", \"w\"); }",
        "",
    );
    let timing = timed(&writes, &options());
    assert_eq!(figures(timing).exit_status, 0);
}

/// Runs this test binary again with another search path.
#[test]
fn without_qemu_or_with_an_old_one_the_message_says_what_to_install() {
    const NAME: &str = "without_qemu_or_with_an_old_one_the_message_says_what_to_install";
    if std::env::var_os("TIMING_CHILD").is_some() {
        let error = stampmill_timing::time(&cpp("int main() {}", ""), &options()).unwrap_err();
        eprintln!("error {error}");
        return;
    }
    let folder = std::env::temp_dir().join(format!("stampmill-old-qemu-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let said = || {
        let exe = std::env::current_exe().unwrap();
        let mut command = Command::new(exe);
        command.args([NAME, "--exact", "--nocapture"]).env("TIMING_CHILD", "1");
        let output = command.env("PATH", &folder).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let line = text.lines().find_map(|line| line.strip_prefix("error ")).map(str::to_owned);
        line.unwrap_or(text)
    };
    let missing = said();
    assert!(missing.contains("apt install qemu-user"), "{missing}");
    let old = folder.join("qemu-x86_64");
    trials::program(&old, b"#!/bin/sh\necho 'qemu-x86_64 version 5.2.0 (Debian 1:5.2+dfsg-11)'\n");
    let too_old = said();
    assert!(too_old.contains("5.2 is too old") && too_old.contains("apt install"), "{too_old}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn files_that_are_no_programs_have_a_verdict() {
    let elf = |bytes: &[u8]| Job {
        name: "elf".into(),
        program: Code::Elf(bytes.to_vec()),
        stdin: Vec::new(),
    };
    let exe = std::fs::read("/bin/true").unwrap_or_default();
    let cases: [(&[u8], &str); 3] =
        [(b"#!/bin/sh\n", "not-an-elf"), (b"\x7fELF\x01\x01", "elf-32-bit"), (&exe, "dynamic")];
    for (bytes, wanted) in cases.iter().filter(|(bytes, _)| !bytes.is_empty()) {
        let timing = timed(&elf(bytes), &options());
        assert_eq!(timing.verdict, *wanted);
    }
}

#[test]
fn more_work_takes_longer_and_random_access_longest() {
    let program = |index: &str| {
        format!(
            "#include <cstdio>\n#include <vector>\nint main() {{ std::vector<int> v(1 << 22, 1); unsigned long s = 1; long t = 0; \
            for (unsigned long i = 0; i < 2000000; i++) {{ s = s * 6364136223846793005ul + 1; t += v[{index}]; }} printf(\"%ld\", t + (s >> 60)); }}"
        )
    };
    let near = timed(&cpp(&program("i & 1023"), ""), &options());
    let far = timed(&cpp(&program("s >> 42"), ""), &options());
    let (near, far) = (figures(near), figures(far));
    assert!(far.cycles > near.cycles && far.l2_misses > near.l2_misses);
}

#[test]
fn sampling_stays_near_the_full_model() {
    let job = cpp(SUM, "8000000\n");
    let full = timed(&job, &options());
    let sampled = timed(&job, &Options { sample_rate: 10, ..options() });
    let (full, sampled) = (figures(full), figures(sampled));
    assert_eq!(full.instructions, sampled.instructions);
    let (full, sampled) = (full.seconds_simulated, sampled.seconds_simulated);
    assert!((sampled / full - 1.0).abs() < 0.05, "{sampled} against {full}");
}

#[test]
fn start_up_is_apart_and_an_empty_program_takes_nothing() {
    let options = Options { net: true, ..options() };
    let timing = timed(&cpp("#include <iostream>\nint main(void) { return 0; }\n", ""), &options);
    let m = figures(timing);
    assert!(m.startup_cycles > Some(10_000) && m.startup_cycles < m.cycles);
    assert_eq!(m.seconds_net, Some(0.0));
}

#[test]
fn a_wrong_processor_is_an_error_that_names_the_right_ones() {
    let error = stampmill_timing::time(&cpp("", ""), &Options { cpu: "z80".into(), ..options() })
        .unwrap_err();
    assert!(error.to_string().contains("skylake, zen4, neoverse-n1 and sifive-p550"), "{error}");
}

#[test]
fn the_held_out_half_is_the_one_that_was_frozen() {
    let suite = stampmill_timing::Suite::read(&stampmill_timing::programs()).unwrap();
    assert!(suite.jobs.len() >= 150, "{}", suite.jobs.len());
    let held: Vec<Job> =
        suite.jobs.into_iter().filter(|job| stampmill_timing::is_held_out(&job.name)).collect();
    let identity = stampmill_timing::Suite { jobs: held }.identity();
    let frozen = include_str!("../programs/held-out.identity").trim();
    assert_eq!(identity, frozen, "the held-out programs changed");
}
