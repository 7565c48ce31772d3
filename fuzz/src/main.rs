//! All fuzz targets in one binary: `fuzz --target=NAME [CORPUS...] [OPTIONS OF LIBFUZZER]`; `fuzz --list` names them.
#![no_main]

mod input;
mod program;
mod target;

use std::{process::exit, sync::OnceLock};
use target::TARGETS;

static CHOSEN: OnceLock<fn(&[u8])> = OnceLock::new();

/// libFuzzer passes over flags of two dashes, and hands them to the processes that it starts.
fn choose() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.iter().any(|argument| argument == "--list") {
        TARGETS.iter().for_each(|(name, _)| println!("{name}"));
        exit(0);
    }
    let named = arguments.iter().find_map(|argument| argument.strip_prefix("--target="));
    let Some((_, run)) = TARGETS.iter().find(|(name, _)| Some(*name) == named) else {
        eprintln!("fuzz --target=NAME: no target {named:?}; --list names them");
        exit(2);
    };
    CHOSEN.get_or_init(|| *run);
    // One thread, and not the main one: `serve` computes beside the thread that answers, and would wait for itself.
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().expect("the first pool");
}

libfuzzer_sys::fuzz_target!(init: choose(), |data: &[u8]| {
    CHOSEN.get().expect("chosen")(data);
});
