//! A stop by the user ends all that runs; in a process of its own, since it is for good.

use stampmill_sandbox::{Death, Profile, Program, run, stop_all};
use std::time::{Duration, Instant};

#[test]
fn a_stop_ends_what_runs_and_starts_nothing_more() {
    let program = Program {
        command: ["/bin/sh", "-c", "echo on; exec sleep 600"].map(Into::into).to_vec(),
        wall: Duration::from_secs(600),
        ..Program::default()
    };
    let begun = Instant::now();
    let ended = std::thread::scope(|scope| {
        let running = scope.spawn(|| run(&program, &Profile::native()));
        std::thread::sleep(Duration::from_millis(300));
        stop_all();
        running.join().expect("no panic")
    });
    assert_eq!(ended.map(|done| done.status), Err(Death::Stopped));
    assert!(begun.elapsed() < Duration::from_secs(300), "it was waited for");
    assert_eq!(run(&program, &Profile::native()).map(|done| done.status), Err(Death::Stopped));
}
