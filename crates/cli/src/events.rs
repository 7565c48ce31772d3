//! `-v` and `-vv`: what the libraries say of their work, a line each, on standard error.

use crate::{output, progress};
use std::io::{self, Write};
use tracing_subscriber::{filter::LevelFilter, filter::Targets, fmt, prelude::*};

/// Show events from here on: with 1 what is started, kept and given up, with 2 each program that is run, with 3 all.
/// With 3 those of our dependencies too.
pub(crate) fn show(verbose: u8) {
    let (ours, others) = match verbose {
        0 => return,
        1 => (LevelFilter::INFO, LevelFilter::OFF),
        2 => (LevelFilter::DEBUG, LevelFilter::OFF),
        _ => (LevelFilter::TRACE, LevelFilter::DEBUG),
    };
    // No colors: what stands in a line may be a program's, and logs are read by programs.
    let lines = fmt::layer().with_ansi(false).with_timer(fmt::time::uptime()).with_writer(|| Lines);
    let of = Targets::new().with_default(others).with_target("stampmill", ours);
    // There is one in a process, and this is called once.
    let _ = tracing_subscriber::registry().with(lines).with(of).try_init();
}

/// Standard error, above the progress bar; what would steer a terminal is told by its code.
struct Lines;

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        // Standard error may be gone, which is no reason to fail.
        progress::above(|| drop(io::stderr().write_all(output::plain(&text).as_bytes())));
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
