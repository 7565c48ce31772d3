//! Runs a program several times on one input and prints how long each run took.
//!
//! Usage: `benchstone-clock RUNS STDIN-FILE PROGRAM`. It is started inside the sandbox, so that the
//! sandbox's own start is not part of the times; the program's output goes nowhere.

use std::{
    fs::File,
    io,
    os::unix::process::{CommandExt, ExitStatusExt},
    process::{Command, ExitCode, Stdio},
    time::Instant,
};

fn main() -> ExitCode {
    match run() {
        Ok(line) => {
            eprintln!("\n{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("benchstone-clock: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> io::Result<String> {
    let mut arguments = std::env::args_os().skip(1);
    let mut next =
        |what: &str| arguments.next().ok_or_else(|| io::Error::other(format!("{what} is missing")));
    let runs = next("the number of runs")?;
    let runs: u64 = runs.to_string_lossy().parse().map_err(io::Error::other)?;
    let (stdin, program) = (next("the input")?, next("the program")?);
    let mut nanoseconds = Vec::new();
    let mut ended = (0, 0);
    for _ in 0..runs {
        let mut command = Command::new(&program);
        command
            .arg0("program")
            .env_clear()
            .stdin(File::open(&stdin)?)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let started = Instant::now();
        let status = command.spawn()?.wait()?;
        nanoseconds.push(started.elapsed().as_nanos());
        ended = (status.code().unwrap_or(0), status.signal().unwrap_or(0));
        if ended.1 != 0 {
            break;
        }
    }
    let times: Vec<String> = nanoseconds.iter().map(ToString::to_string).collect();
    let (status, signal) = ended;
    Ok(format!("{{\"nanoseconds\":[{}],\"status\":{status},\"signal\":{signal}}}", times.join(",")))
}
