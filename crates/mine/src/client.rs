//! The clients of other ecosystems (apt-get, pip, cargo), run with a limit on their time.

use crate::{Error, Result};
use std::{
    io::{Read, Seek, SeekFrom},
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

/// How often something that fails for the network's sake is tried.
const TRIES: u32 = 3;
const FIRST_PAUSE: Duration = Duration::from_secs(2);

/// How a client ended.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) success: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Finished {
    /// The line that says best what went wrong.
    pub(crate) fn reason(&self) -> String {
        let lines = || self.stderr.lines().chain(self.stdout.lines()).map(str::trim);
        let telling = |line: &&str| {
            let lower = line.to_ascii_lowercase();
            lower.starts_with("e:") || lower.starts_with("error")
        };
        let found = lines().find(telling).or_else(|| lines().rfind(|line| !line.is_empty()));
        found.unwrap_or("failed without a word").to_owned()
    }

    fn is_transient(&self) -> bool {
        let said = format!("{}\n{}", self.stderr, self.stdout).to_ascii_lowercase();
        let signs = [
            "temporary failure",
            "timed out",
            "connection reset",
            "could not connect",
            "connection refused",
            "502 bad gateway",
            "503 service",
            "spurious network error",
            "network is unreachable",
        ];
        !self.success && signs.iter().any(|sign| said.contains(sign))
    }
}

/// Run a client; where the network fails it, again after a pause. Without the client the answer is
/// that it cannot be started.
pub(crate) fn run(
    spec: &str,
    cancelled: &AtomicBool,
    wall: Duration,
    command: impl Fn() -> Command,
) -> Result<Finished> {
    let mut pause = FIRST_PAUSE;
    for last in (0..TRIES).map(|attempt| attempt + 1 == TRIES) {
        let finished = once(spec, cancelled, wall, command())?;
        if last || !finished.is_transient() {
            return Ok(finished);
        }
        tracing::info!(spec, reason = %finished.reason(), seconds = pause.as_secs(), "tried again after a pause");
        wait(pause, cancelled)?;
        pause *= 3;
    }
    unreachable!("the last try returns")
}

fn once(
    spec: &str,
    cancelled: &AtomicBool,
    wall: Duration,
    mut command: Command,
) -> Result<Finished> {
    let program = command.get_program().to_string_lossy().into_owned();
    let failed =
        |error: std::io::Error| Error::unavailable(spec, format!("cannot run {program}: {error}"));
    // Files, not pipes: nothing need read them while the client runs.
    let mut out = tempfile::tempfile().map_err(failed)?;
    let mut err = tempfile::tempfile().map_err(failed)?;
    command
        .stdin(Stdio::null())
        .stdout(out.try_clone().map_err(failed)?)
        .stderr(err.try_clone().map_err(failed)?);
    let mut child = command.spawn().map_err(failed)?;
    tracing::info!(spec, program, process = child.id(), "a client of a registry was started");
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            break Some(status);
        }
        let stop = cancelled.load(Ordering::Relaxed);
        if stop || started.elapsed() > wall {
            // It may have ended between the look and the kill; waiting tells either way.
            let _ = child.kill();
            let _ = child.wait();
            if stop {
                return Err(Error::Cancelled);
            }
            break None;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let read = |file: &mut std::fs::File| -> std::io::Result<String> {
        file.seek(SeekFrom::Start(0))?;
        let mut bytes = Vec::new();
        file.take(8 << 20).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let stdout = read(&mut out).map_err(failed)?;
    let mut stderr = read(&mut err).map_err(failed)?;
    if status.is_none() {
        stderr = format!("error: {program} did not end within {} s\n{stderr}", wall.as_secs());
    }
    Ok(Finished { success: status.is_some_and(|status| status.success()), stdout, stderr })
}

/// Sleep, unless the user stops the run.
pub(crate) fn wait(pause: Duration, cancelled: &AtomicBool) -> Result<()> {
    let until = Instant::now() + pause;
    while Instant::now() < until {
        if cancelled.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        std::thread::sleep(Duration::from_millis(20).min(pause));
    }
    Ok(())
}
