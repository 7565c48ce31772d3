//! Prepares a raw data set, folder or file: `prepare INPUT OUT [JOBS]`; prints the report as JSON.

use dataset::stage::{Context, Done, run};
use stampmill_kernels::{Options, Prepare, Report, Result};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, out, rest @ ..] = arguments.as_slice() else {
        eprintln!("usage: prepare INPUT OUT [JOBS]");
        return ExitCode::from(2);
    };
    let mut context = Context::new(out);
    if let Some(jobs) = rest.first().and_then(|jobs| jobs.parse().ok()) {
        context.jobs = jobs;
    }
    match prepare(input, &context) {
        Ok(done) => {
            println!("{}", serde_json::to_string_pretty(&done).unwrap_or_default());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn prepare(input: &str, context: &Context<'_>) -> Result<Done<Report>> {
    run(&Prepare::new(&Options::new(input))?, context)
}
