//! The program that does what is asked, kept for as long as this process needs it.

use crate::protocol::{Action, Answer, Request};
use dataset::{Error, Result, Url};
use host::Helper;
use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{Mutex, PoisonError},
};

#[derive(Debug)]
struct Worker {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It has nothing to do that somebody waits for, and may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks one thing after the other.
#[derive(Debug, Default)]
pub(crate) struct Asker(Mutex<Option<Worker>>);

impl Asker {
    /// Have something done with the object, or with what stands below the URL. What the program says went wrong is
    /// an error that says what was to be done.
    pub(crate) fn ask(&self, what: &'static str, url: &Url, action: Action) -> Result<Answer> {
        let failed = |reason: String| Error::Store { action: what, url: url.to_string(), reason };
        let mut worker = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if worker.is_none() {
            *worker = Some(start().map_err(failed)?);
        }
        let (bucket, key) = (url.bucket().to_owned(), url.key().to_owned());
        let answer = match worker.as_mut() {
            Some(worker) => worker.ask(&Request { bucket, key, action }),
            None => Err("it was not started".to_owned()),
        };
        match answer {
            Ok(Answer::Failed(reason)) => Err(failed(reason)),
            Ok(answer) => Ok(answer),
            Err(why) => {
                // The next request starts another.
                *worker = None;
                Err(failed(format!("{} ended: {why}", Helper::OBJECTS.name)))
            }
        }
    }
}

fn start() -> std::result::Result<Worker, String> {
    let program = Helper::OBJECTS.find().map_err(|missing| missing.to_string())?;
    let started = Command::new(&program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child =
        started.map_err(|error| format!("cannot start {}: {error}", program.display()))?;
    tracing::info!(program = %program.display(), process = child.id(), "the client of object stores was started");
    let input = child.stdin.take().ok_or("it has no input")?;
    let output = child.stdout.take().ok_or("it has no output")?;
    Ok(Worker { child, input, output: BufReader::new(output) })
}

impl Worker {
    fn ask(&mut self, request: &Request) -> std::result::Result<Answer, String> {
        let text = serde_json::to_string(request).map_err(|error| error.to_string())?;
        writeln!(self.input, "{text}").map_err(|error| error.to_string())?;
        let mut line = String::new();
        match self.output.read_line(&mut line) {
            Ok(0) => Err("without a word".to_owned()),
            Ok(_) => serde_json::from_str(&line).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }
}
