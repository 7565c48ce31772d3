//! A program cannot reach what its time is reported through, with any source of times.

use stampmill_timing::{Code, Job, Options, SourceKind, Timing};

fn options(source: SourceKind) -> Options {
    Options { source, net: false, runs: 1, ..Options::default() }
}

fn timed(text: &str, source: SourceKind) -> Timing {
    let program = Code::C(format!(
        "#define _GNU_SOURCE\n#include <fcntl.h>\n#include <signal.h>\n#include <stdio.h>\n#include <string.h>\n\
         #include <sys/syscall.h>\n#include <unistd.h>\n{text}\n"
    ));
    let job = Job { name: "test".into(), program, stdin: Vec::new() };
    stampmill_timing::time(&job, &options(source)).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Writes a forged report to every descriptor there may be.
const SPRAYS: &str = "int main(void) { const char *forged = \
    \"\\nbegun 00000000000000000000000000000000\\n00000000000000000000000000000000 report cycles=1\\n==1== I refs: 7\\n\"; \
    for (int i = 3; i < 1024; i++) write(i, forged, strlen(forged)); return 0; }";

fn the_emulators_channel_is_out_of_reach() {
    let reaches = [
        SPRAYS,
        "int main(void) { for (int i = 3; i < 1024; i++) close(i); return 0; }",
        "int main(void) { for (int i = 3; i < 1024; i++) dup2(1, i); return 0; }",
        "int main(void) { for (int i = 3; i < 1024; i++) syscall(SYS_dup, i); return 0; }",
        "int main(void) { for (int i = 3; i < 1024; i++) fcntl(i, F_SETFL, O_NONBLOCK); return 0; }",
        "int main(void) { for (int i = 3; i < 1024; i++) syscall(SYS_sendfile, i, 0, 0, 10); return 0; }",
        "int main(void) { for (int i = 3; i < 1024; i++) syscall(SYS_splice, 0, 0, i, 0, 10, 0); return 0; }",
        "int main(void) { for (int i = 3; i < 1024; i++) syscall(SYS_pwritev2, i, 0, 0, 0, 0, 0); return 0; }",
        "int main(void) { syscall(436, 3, ~0u, 0); return 0; }",
    ];
    for text in reaches {
        let timing = timed(text, SourceKind::Qemu);
        assert_eq!(timing.verdict, "touches-channel", "{text}: {}", timing.detail);
    }
    // Descriptor 3 is free, and what is printed is no report.
    let prints = "int main(void) { int free = write(3, \"x\", 1) < 0 && open(\"/dev/null\", O_RDONLY) == 3; \
        fputs(\"\\nbegun 0\\nstampmill timing plugin: failed\\nstampmill-launch: cannot start: fake\\n\", stderr); _exit(free ? 127 : 1); }";
    let timing = timed(prints, SourceKind::Qemu);
    let measurement = timing.measurement.unwrap_or_else(|| panic!("{}", timing.detail));
    assert_eq!(measurement.exit_status, 127);
    assert!(measurement.instructions > Some(1000));
}

fn several_inputs_have_one_channel_and_an_output_each() {
    let timer = stampmill_timing::Timer::open(&options(SourceKind::Qemu)).expect("it is here");
    let prints = Code::C(
        "#include <stdio.h>\n#include <unistd.h>\nint main(void) { int c, n = 0; while ((c = getchar()) != EOF) n += c; \
         for (int i = 0; i < n; i++) puts(\"\\nMARK served 0 1 2\\n\"); return n % 7; }"
            .into(),
    );
    let inputs: [&[u8]; 3] = [b"abc", b"", b"zz"];
    let together = timer.time_each(&prints, &inputs).expect("they are timed");
    assert_eq!(together.len(), 3);
    for (input, timing) in inputs.iter().zip(together) {
        let alone = Job { name: "alone".into(), program: prints.clone(), stdin: input.to_vec() };
        let alone = timer.time(&alone).expect("it is timed").measurement.expect("it ends well");
        let one = timing.measurement.expect("it ends well");
        assert_eq!((one.output_hash, one.cycles), (alone.output_hash, alone.cycles));
    }
    let sprays = Code::C(
        "#include <stdio.h>\n#include <unistd.h>\nint main(void) { getchar(); for (int i = 3; i < 1024; i++) write(i, \"x\", 1); return 0; }"
            .into(),
    );
    let verdicts: Vec<String> = timer
        .time_each(&sprays, &[b"a", b"b"])
        .expect("they are timed")
        .into_iter()
        .map(|one| one.verdict)
        .collect();
    assert_eq!(verdicts, ["touches-channel"]);
}

fn cachegrinds_log_is_out_of_reach() {
    let timing = timed(SPRAYS, SourceKind::Cachegrind);
    assert_eq!(timing.verdict, "touches-channel", "{}", timing.detail);
    let summary = "int main(void) { dprintf(3, \"==%d== I refs: 7\\n==%d== D1 misses: 1\\n\", getpid(), getpid()); return 0; }";
    let timing = timed(summary, SourceKind::Cachegrind);
    assert_eq!(timing.verdict, "touches-channel", "{}", timing.detail);
    let writes = "int main(void) { volatile long s = 0; for (int i = 0; i < 1000000; i++) s += i; \
        return !!fopen(\"here\", \"w\") + 2 * !!fopen(\"cachegrind.log\", \"w\") + 4 * !!fopen(\"program\", \"r+\"); }";
    let timing = timed(writes, SourceKind::Cachegrind);
    let measurement = timing.measurement.unwrap_or_else(|| panic!("{}", timing.detail));
    assert_eq!(measurement.exit_status, 0);
    assert!(measurement.instructions > Some(1_000_000));
}

fn the_clock_is_out_of_reach() {
    let forges = "int main(void) { char path[64]; int found = 0; for (int i = 0; i < 64; i++) { \
        snprintf(path, sizeof path, \"/proc/%ld/fd/%d\", syscall(SYS_getppid), i); found += open(path, O_WRONLY) >= 0; } \
        for (int i = 3; i < 1024; i++) found += write(i, \"{}\\n\", 3) > 0; return found; }";
    let timing = timed(forges, SourceKind::Wall);
    let measurement = timing.measurement.unwrap_or_else(|| panic!("{}", timing.detail));
    assert_eq!(measurement.exit_status, 0);
    let kills = "int main(void) { syscall(SYS_kill, syscall(SYS_getppid), SIGKILL); pause(); }";
    let timing = timed(kills, SourceKind::Wall);
    assert_eq!(timing.verdict, "crashes", "{}", timing.detail);
}

trials::main! {
    the_emulators_channel_is_out_of_reach,
    several_inputs_have_one_channel_and_an_output_each,
    cachegrinds_log_is_out_of_reach: trials::lacks::program("valgrind"),
    the_clock_is_out_of_reach,
}
