//! The trainer: a Python program on `torch` and `transformers` that this library carries.

use crate::{
    Error, Result,
    engine::{cannot_run, complaint, failure, listen},
};
use dataset::{Progress, content_hash};
pub use rows::Metric;
use serde::{Deserialize, Serialize};
use std::{
    env, fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

/// Environment variable that names the Python to train with.
pub const PYTHON_VARIABLE: &str = "STAMPMILL_PYTHON";

/// What it must have.
const NEEDS: [&str; 4] = ["torch", "transformers", "safetensors", "numpy"];

/// The program's files: the wheel has the same as `stampmill.trainer`.
const FILES: [(&str, &str); 10] = [
    ("__init__.py", include_str!("../../../python/src/stampmill/trainer/__init__.py")),
    ("__main__.py", include_str!("../../../python/src/stampmill/trainer/__main__.py")),
    ("batches.py", include_str!("../../../python/src/stampmill/trainer/batches.py")),
    ("bench.py", include_str!("../../../python/src/stampmill/trainer/bench.py")),
    ("chacha.py", include_str!("../../../python/src/stampmill/trainer/chacha.py")),
    ("corpus.py", include_str!("../../../python/src/stampmill/trainer/corpus.py")),
    ("failure.py", include_str!("../../../python/src/stampmill/trainer/failure.py")),
    ("model.py", include_str!("../../../python/src/stampmill/trainer/model.py")),
    ("settings.py", include_str!("../../../python/src/stampmill/trainer/settings.py")),
    ("train.py", include_str!("../../../python/src/stampmill/trainer/train.py")),
];

/// What Python runs of the folder that holds the package.
const START: &str = "import sys\nfrom stampmill_trainer.__main__ import main\nsys.exit(main())\n";

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

/// The Python to train with, if there is one: that of the variable, that which `make torch` makes, the search path's
/// where it has what is needed.
#[must_use]
pub fn find_python() -> Option<PathBuf> {
    if let Some(named) = env::var_os(PYTHON_VARIABLE) {
        return Some(named.into());
    }
    let made = host::cache().join("torch/python/python");
    if made.is_file() {
        return Some(made);
    }
    host::on_path("python3").filter(|python| {
        let look = format!(
            "import importlib.util as u, sys; sys.exit(not all(u.find_spec(n) for n in {NEEDS:?}))"
        );
        let status = Command::new(python).args(["-c", &look]).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    })
}

/// The trainer, ready to be told what to do.
///
/// # Errors
/// When no Python has what it needs, or its files cannot be written.
pub fn trainer() -> Result<Command> {
    let python = find_python().ok_or_else(|| {
        let needs = NEEDS.join(", ");
        Error::Engine(format!(
            "no Python to train with: none on the search path has {needs}; pip install them, or `make torch` in a \
             checkout fetches them (about 0.6 GB), or name one in {PYTHON_VARIABLE}; `--prepare-only` writes a folder to train elsewhere"
        ))
    })?;
    let mut command = Command::new(python);
    command.arg(unpacked()?);
    Ok(command)
}

/// The folder with the program, which Python runs as it is.
fn unpacked() -> Result<PathBuf> {
    let all: String = FILES.iter().flat_map(|(name, text)| [*name, *text]).collect();
    let folder = host::cache().join("trainer").join(content_hash(all.as_bytes()));
    let package = folder.join("stampmill_trainer");
    fs::create_dir_all(&package).map_err(Error::file("create", &package))?;
    let inner = FILES.iter().map(|(name, text)| (package.join(name), *text));
    for (path, text) in inner.chain([(folder.join("__main__.py"), START)]) {
        if !path.is_file() {
            host::write_whole(&path, text.as_bytes()).map_err(Error::file("write", &path))?;
        }
    }
    Ok(folder)
}

fn named(command: &Command) -> PathBuf {
    command.get_program().into()
}

/// Make sure that there is a trainer and that it can use the device, before anything is done for it.
///
/// # Errors
/// When there is none or it cannot, with what to do.
pub fn check_trainer(device: &str) -> Result<()> {
    let mut command = trainer()?;
    let output = command
        .args(["devices", "--device", device])
        .output()
        .map_err(cannot_run(&named(&command)))?;
    if output.status.success() {
        return Ok(());
    }
    Err(Error::Engine(complaint(&String::from_utf8_lossy(&output.stderr))))
}

/// Train in a training folder, telling how it goes.
///
/// # Errors
/// When there is no trainer or it fails, with what it says.
pub fn train(
    folder: &Path,
    arguments: &[String],
    steps: u64,
    progress: &dyn Progress,
    cancelled: &AtomicBool,
) -> Result<Trained> {
    let mut command = trainer()?;
    let python = named(&command);
    let cannot = cannot_run(&python);
    let mut child = command
        .arg("train")
        .arg(folder)
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(&cannot)?;
    tracing::info!(program = %python.display(), process = child.id(), "the trainer was started");
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
    trained.ok_or_else(|| Error::Engine("the trainer said no result".to_owned()))
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
/// When there are none, or a line is broken.
pub fn metrics(folder: &Path) -> Result<Vec<Metric>> {
    let path = folder.join("metrics.jsonl");
    let text = std::fs::read_to_string(&path).map_err(Error::file("read", &path))?;
    let lines = (1..).zip(text.lines()).filter(|(_, text)| !text.is_empty());
    let metric = |(line, text): (usize, &str)| {
        let broken = |error: serde_json::Error| Error::Line {
            path: path.clone(),
            line,
            why: error.to_string(),
        };
        serde_json::from_str(text).map_err(broken)
    };
    lines.map(metric).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_line_of_metrics_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.jsonl");
        let metric = r#"{"step":1,"tokens":2,"seconds":3,"loss":4,"validation_loss":null,"learning_rate":5,"gradient_norm":6,"tokens_per_second":7}"#;
        std::fs::write(&path, format!("{metric}\n\n")).unwrap();
        assert_eq!(metrics(folder.path()).unwrap().len(), 1);
        std::fs::write(&path, format!("{metric}\n{{\"step\n{metric}\n")).unwrap();
        let said = metrics(folder.path()).unwrap_err().to_string();
        assert!(said.contains("line 2"), "{said}");
    }
}
