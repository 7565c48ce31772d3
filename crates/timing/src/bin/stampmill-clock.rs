//! Runs a program several times on one input and prints how long each run took: by the clock, and of
//! that on a processor.
//!
//! Usage: `stampmill-clock RUNS STDIN-FILE PROGRAM`. It is started inside the sandbox, so that the
//! sandbox's own start is not part of the times; the program's output goes nowhere. What it prints goes to standard
//! output, which no program is given, and no other process can look into this one.

use rustix::process::{
    DumpableBehavior, Pid, WaitId, WaitIdOptions, set_dumpable_behavior, waitid,
};
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
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("stampmill-clock: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> io::Result<String> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    let mut arguments = std::env::args_os().skip(1);
    let mut next =
        |what: &str| arguments.next().ok_or_else(|| io::Error::other(format!("{what} is missing")));
    let runs = next("the number of runs")?;
    let runs: u64 = runs.to_string_lossy().parse().map_err(io::Error::other)?;
    let (stdin, program) = (next("the input")?, next("the program")?);
    let (mut nanoseconds, mut processor) = (Vec::new(), Vec::new());
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
        let mut child = command.spawn()?;
        if let Some(pid) = Pid::from_raw(child.id() as i32) {
            // Ended but not yet waited for: what it used can still be read.
            waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?;
        }
        nanoseconds.push(started.elapsed().as_nanos());
        processor.push(used(child.id()));
        let status = child.wait()?;
        ended = (status.code().unwrap_or(0), status.signal().unwrap_or(0));
        if ended.1 != 0 {
            break;
        }
    }
    let (status, signal) = ended;
    Ok(format!(
        "{{\"nanoseconds\":{nanoseconds:?},\"processor_nanoseconds\":{processor:?},\"status\":{status},\
         \"signal\":{signal}}}"
    ))
}

/// Nanoseconds that a process was on a processor; 0 where this kernel does not tell.
fn used(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap_or_default();
    text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0)
}
