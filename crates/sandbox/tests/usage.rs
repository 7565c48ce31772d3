//! What is told about a program that a limit ended.

use stampmill_sandbox::{Bounds, Death, Profile, Program, Worker, processor_time, run};
use std::{process::Command, time::Duration};

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
    let before = processor_time();
    let works = used("while :; do :; done");
    assert!(works > 0.0, "{works}");
    // It is no child of this process, and counts here when it is waited for; less than half is rounded.
    let seen = (processor_time() - before).as_secs_f64();
    assert!(seen >= works / 2.0, "{seen} of {works}");
}

/// A budget of processor time is of everything that works for it.
#[test]
fn the_time_of_a_worker_counts_while_it_works() {
    let profile = Profile::clang();
    let mut command = Command::new(env!("CARGO_BIN_EXE_sandbox-echo"));
    command.arg(serde_json::to_string(&profile).expect("a profile is plain data"));
    let mut worker = Worker::spawn(command, &profile).expect("it starts");
    let second = Some(Duration::from_secs(1));
    let bounds =
        Bounds { wall: Duration::from_secs(60), processor: second, still: None, stop: None };
    let before = processor_time();
    std::thread::scope(|scope| {
        let spins = scope.spawn(|| worker.call_within(b"spin", &bounds));
        let mut seen = Duration::ZERO;
        while seen < Duration::from_millis(300) {
            assert!(!spins.is_finished(), "{seen:?}");
            std::thread::sleep(Duration::from_millis(10));
            seen = processor_time() - before;
        }
        assert_eq!(spins.join().expect("no panic"), Err(Death::Processor));
    });
}
