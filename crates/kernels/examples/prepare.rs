//! Prepares a raw data set, folder or file: `prepare INPUT OUT [JOBS]`; prints the report as JSON.

use stampmill_kernels::{Options, prepare};
use std::{process::ExitCode, sync::atomic::AtomicBool};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, out, rest @ ..] = arguments.as_slice() else {
        eprintln!("usage: prepare INPUT OUT [JOBS]");
        return ExitCode::from(2);
    };
    let mut options = Options::new(input, out);
    if let Some(jobs) = rest.first().and_then(|jobs| jobs.parse().ok()) {
        options.jobs = jobs;
    }
    match prepare(&options, &dataset::Silent, &AtomicBool::new(false)) {
        Ok(report) => {
            println!("{}", serde_json::to_string_pretty(&report).unwrap_or_default());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
