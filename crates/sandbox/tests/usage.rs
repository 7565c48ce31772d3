//! What is told about a program that a limit ended.
#![allow(unsafe_code, reason = "what children used has no safe form")]

use stampmill_sandbox::{Death, Profile, Program, run};
use std::time::Duration;

/// Whether it waited or worked tells a fault of the machine from a fault of the program.
#[test]
fn a_program_that_a_limit_ended_has_its_processor_time() {
    let used = |script: &str| {
        let program = Program {
            command: ["/bin/sh", "-c", script].map(Into::into).into(),
            wall: Duration::from_secs(1),
            ..Program::default()
        };
        let finished = run(&program, &Profile::native()).expect("it is started");
        assert!(matches!(finished.death, Some(Death::Timeout(_))), "{:?}", finished.death);
        finished.user_seconds + finished.system_seconds
    };
    let before = of_children();
    let works = used("while :; do :; done");
    assert!(works > 0.0, "{works}");
    // `time` and benches see it too. What a clock's tick rounds is less than half.
    let seen = of_children() - before;
    assert!(seen >= works / 2.0, "{seen} of {works}");
}

/// Seconds of this process's children that have ended and were waited for.
fn of_children() -> f64 {
    // SAFETY: all zeroes is a valid `rusage`, which holds numbers only.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live structure of that type.
    let done = unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage) };
    assert_eq!(done, 0, "nothing can go wrong with this");
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}
