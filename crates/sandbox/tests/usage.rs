//! What is told about a program that a limit ended.

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
    let works = used("while :; do :; done");
    assert!(works > 0.0, "{works}");
}
