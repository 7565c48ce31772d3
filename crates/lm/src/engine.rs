//! The training engine, `stampmill-torch`: a program of its own that links libtorch.

use crate::{Error, Result};
use dataset::Progress;
pub use rows::Metric;
use serde::{Deserialize, Serialize};
use std::{
    env,
    io::{BufRead, BufReader, Read},
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread::JoinHandle,
    time::Duration,
};

/// Environment variable that names the engine's executable.
pub const ENGINE_VARIABLE: &str = "STAMPMILL_TORCH";

const ENGINE: &str = "stampmill-torch";

/// Signal of the kernel's out-of-memory killer.
const KILL: i32 = 9;

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trained {
    /// Steps.
    pub steps: u64,
    /// Tokens.
    pub tokens: u64,
    /// Seconds.
    pub seconds: f64,
    /// Loss of the last step.
    pub loss: f64,
    /// Best validation loss.
    pub validation_loss: Option<f64>,
    /// Tokens a second.
    pub tokens_per_second: f64,
    /// Number of weights.
    pub parameters: u64,
    /// Where it ran.
    pub device: String,
    /// Why it ended.
    pub stopped: String,
    /// Tokens that fitted into memory at a time, where it were fewer than asked for.
    #[serde(default)]
    pub fitted: Option<u64>,
}

/// Where the engine is, if anywhere: the variable, beside this program, where `make torch` puts it,
/// the search path.
#[must_use]
pub fn find_engine() -> Option<PathBuf> {
    if let Some(named) = env::var_os(ENGINE_VARIABLE) {
        return Some(named.into());
    }
    let made = || Some(host::cache().join("torch/bin").join(ENGINE)).filter(|path| path.is_file());
    host::installed(ENGINE).or_else(made).or_else(|| host::on_path(ENGINE))
}

pub(crate) fn engine() -> Result<PathBuf> {
    find_engine().ok_or_else(|| {
        Error::Engine(format!(
            "no training engine `{ENGINE}` found: `make torch` builds it (it fetches libtorch, about \
             0.5 GB), or name it in {ENGINE_VARIABLE}; `--prepare-only` writes a folder to train \
             elsewhere"
        ))
    })
}

pub(crate) fn cannot_run(engine: &Path) -> impl Fn(std::io::Error) -> Error + '_ {
    move |error| Error::Engine(format!("cannot run {}: {error}", engine.display()))
}

/// Make sure that there is an engine and that it can use the device, before anything is done for it.
///
/// # Errors
/// When there is none or it cannot, with what to do.
pub fn check_engine(device: &str) -> Result<()> {
    let engine = engine()?;
    let output = Command::new(&engine)
        .args(["devices", "--device", device])
        .output()
        .map_err(cannot_run(&engine))?;
    if output.status.success() {
        return Ok(());
    }
    Err(Error::Engine(complaint(&String::from_utf8_lossy(&output.stderr))))
}

/// The engine's own line of what it wrote, or else all of it.
fn complaint(said: &str) -> String {
    let own = said.lines().rev().find_map(|line| line.strip_prefix("stampmill-torch:"));
    own.unwrap_or(said).trim().to_owned()
}

/// Train in a training folder, telling how it goes.
///
/// # Errors
/// When there is no engine or it fails, with what it says.
pub fn train(
    folder: &Path,
    arguments: &[String],
    steps: u64,
    progress: &dyn Progress,
    cancelled: &AtomicBool,
) -> Result<Trained> {
    let engine = engine()?;
    let cannot = cannot_run(&engine);
    let mut child = Command::new(&engine)
        .arg("train")
        .arg(folder)
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(&cannot)?;
    tracing::info!(program = %engine.display(), process = child.id(), "the engine was started to train");
    progress.begin("training", steps);
    let complaints = listen(&mut child);
    let mut trained = None;
    let lines = child.stdout.take().map(BufReader::new);
    for line in lines.into_iter().flat_map(BufRead::lines).map_while(std::io::Result::ok) {
        if cancelled.load(Ordering::Relaxed) {
            stop(&mut child);
            return Err(Error::Cancelled);
        }
        if let Ok(metric) = serde_json::from_str::<Metric>(&line) {
            progress.advance(1);
            progress.message(&format!(
                "loss {:.4}{} {:.0} tokens/s",
                metric.loss,
                metric
                    .validation_loss
                    .map(|loss| format!(" validation {loss:.4}"))
                    .unwrap_or_default(),
                metric.tokens_per_second
            ));
        } else if let Ok(done) = serde_json::from_str::<Trained>(&line) {
            trained = Some(done);
        }
    }
    let status = child.wait().map_err(cannot)?;
    let said = complaints.and_then(|thread| thread.join().ok()).unwrap_or_default();
    if !status.success() {
        let less = "a smaller `batch_tokens` or `length` in the recipe needs less";
        return Err(failure(status, &said, less));
    }
    trained.ok_or_else(|| Error::Engine("the training engine said no result".to_owned()))
}

/// Gather what a child says of its failures.
pub(crate) fn listen(child: &mut Child) -> Option<JoinHandle<String>> {
    child.stderr.take().map(|mut pipe| {
        std::thread::spawn(move || {
            let mut text = String::new();
            // What cannot be read is not said.
            let _ = pipe.read_to_string(&mut text);
            text
        })
    })
}

/// Why the engine ended, from what it said; `less`: what to do where memory ran out.
pub(crate) fn failure(status: ExitStatus, said: &str, less: &str) -> Error {
    let mut why = complaint(said);
    if status.signal() == Some(KILL) {
        let gap = if why.is_empty() { "" } else { "; " };
        why += &format!("{gap}it was killed, most often because memory ran out: {less}");
    }
    Error::Engine(format!("the libtorch engine failed ({status}): {why}"))
}

fn stop(child: &mut Child) {
    // Either it is gone already or it goes now.
    let _ = child.kill();
    let _ = child.wait();
    std::thread::sleep(Duration::from_millis(10));
}

/// The metrics of a training folder.
///
/// # Errors
/// When there are none.
pub fn metrics(folder: &Path) -> Result<Vec<Metric>> {
    let path = folder.join("metrics.jsonl");
    let text = std::fs::read_to_string(&path).map_err(Error::file("read", &path))?;
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}
