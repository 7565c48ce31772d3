//! What the start and the end of a sandbox cost, beside a plain process: `cargo bench -p stampmill-sandbox`.

use stampmill_sandbox::{Profile, Program, Series, run};
use std::{
    process::Command,
    time::{Duration, Instant},
};

const ROUNDS: u32 = 100;

fn main() {
    let folder = std::env::temp_dir().join(format!("stampmill-start-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let plain = each(|| assert!(Command::new("/bin/true").status().is_ok_and(|s| s.success())));
    println!("plain process       {plain:>8.2} ms");
    for profile in [Profile::native(), Profile::compile(folder.clone()), Profile::device()] {
        let program = Program {
            command: vec!["/bin/true".into()],
            wall: Duration::from_secs(20),
            ..Program::default()
        };
        let took = each(|| assert_eq!(run(&program, &profile).expect("it runs").status, Some(0)));
        println!("{:<20}{took:>8.2} ms  {:.1} x plain", profile.name, took / plain);
    }
    let mut series = Series::new(
        Program {
            command: vec!["/bin/true".into()],
            wall: Duration::from_secs(20),
            ..Program::default()
        },
        Profile::native(),
    );
    let took = each(|| assert_eq!(series.run(b"").expect("it runs").status, Some(0)));
    println!("{:<20}{took:>8.2} ms  {:.1} x plain", "native, again", took / plain);
    std::fs::remove_dir_all(&folder).expect("it is ours");
}

/// Milliseconds of one call, the mean of many.
fn each(mut call: impl FnMut()) -> f64 {
    call();
    let begun = Instant::now();
    (0..ROUNDS).for_each(|_| call());
    begun.elapsed().as_secs_f64() * 1e3 / f64::from(ROUNDS)
}
