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
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    time::Duration,
};

/// Environment variable that names the Python to train with.
pub const PYTHON_VARIABLE: &str = "STAMPMILL_PYTHON";

/// What it must have.
const NEEDS: [&str; 4] = ["torch", "transformers", "safetensors", "numpy"];

/// The program's files: the wheel has the same as `stampmill.trainer`.
const FILES: [(&str, &str); 11] = [
    ("__init__.py", include_str!("../../../python/src/stampmill/trainer/__init__.py")),
    ("__main__.py", include_str!("../../../python/src/stampmill/trainer/__main__.py")),
    ("batches.py", include_str!("../../../python/src/stampmill/trainer/batches.py")),
    ("bench.py", include_str!("../../../python/src/stampmill/trainer/bench.py")),
    ("chacha.py", include_str!("../../../python/src/stampmill/trainer/chacha.py")),
    ("corpus.py", include_str!("../../../python/src/stampmill/trainer/corpus.py")),
    ("failure.py", include_str!("../../../python/src/stampmill/trainer/failure.py")),
    ("model.py", include_str!("../../../python/src/stampmill/trainer/model.py")),
    ("sample.py", include_str!("../../../python/src/stampmill/trainer/sample.py")),
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

/// A step that is not done yet.
#[derive(Deserialize)]
struct Part {
    step: u64,
    parts_done: u64,
    parts: u64,
    step_seconds: f64,
}

impl Part {
    fn words(&self) -> String {
        let Part { step, parts_done, parts, step_seconds } = self;
        format!(
            "step {step}: {parts_done} of {parts} parts; a step takes about {step_seconds:.0} s"
        )
    }
}

/// How often is looked whether to stop.
const LOOK: Duration = Duration::from_millis(100);
/// A step that takes longer is told of.
const LONG_SECONDS: f64 = 20.0;
/// Status of a trainer that has said what is wrong.
const SAID: i32 = 2;

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
    let (sender, receiver) = mpsc::channel();
    let lines = child.stdout.take().map(BufReader::new);
    std::thread::spawn(move || {
        let mut lines = lines.into_iter().flat_map(BufRead::lines);
        // Nobody listens any more where the run was stopped.
        while let Some(Ok(line)) = lines.next()
            && sender.send(line).is_ok()
        {}
    });
    let (mut trained, mut seconds, mut noted) = (None, None, false);
    loop {
        if cancelled.load(Ordering::Relaxed) {
            stop(&mut child);
            return Err(Error::Cancelled);
        }
        let line = match receiver.recv_timeout(LOOK) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        if let Ok(metric) = serde_json::from_str::<Metric>(&line) {
            let before = seconds.replace(metric.seconds).or((metric.step == 1).then_some(0.0));
            progress.advance(1);
            progress.message(&step_words(&metric, before));
        } else if let Ok(part) = serde_json::from_str::<Part>(&line) {
            progress.message(&part.words());
            if part.step_seconds >= LONG_SECONDS && !noted {
                noted = true;
                progress.note(&format!(
                    "a step takes about {:.0} s here; a smaller `batch_tokens`, `width` or `layers` in a --recipe makes it shorter",
                    part.step_seconds
                ));
            }
        } else if let Ok(done) = serde_json::from_str::<Trained>(&line) {
            trained = Some(done);
        }
    }
    let status = child.wait().map_err(cannot)?;
    let said = complaints.and_then(|thread| thread.join().ok()).unwrap_or_default();
    if status.success() {
        return trained.ok_or_else(|| Error::Engine("the trainer said no result".to_owned()));
    }
    if status.signal().is_some() {
        // What ended both of us may have come to it first.
        std::thread::sleep(LOOK);
    }
    if cancelled.load(Ordering::Relaxed) {
        return Err(Error::Cancelled);
    }
    if status.code() == Some(SAID) && !said.is_empty() {
        return Err(Error::Engine(complaint(&said)));
    }
    Err(failure(status, &said, "a smaller `batch_tokens` or `length` in the recipe needs less"))
}

/// What a step came to, and how long it took.
fn step_words(metric: &Metric, before: Option<f64>) -> String {
    let validation =
        metric.validation_loss.map(|loss| format!(" validation {loss:.4}")).unwrap_or_default();
    let step = before.map(|before| format!(", {:.1} s a step", metric.seconds - before));
    format!(
        "loss {:.4}{validation} {:.0} tokens/s{}",
        metric.loss,
        metric.tokens_per_second,
        step.unwrap_or_default()
    )
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
    fn a_step_says_how_long_it_takes() {
        let line = r#"{"step":3,"parts_done":2,"parts":12,"step_seconds":80.4}"#;
        assert!(serde_json::from_str::<Metric>(line).is_err());
        let part: Part = serde_json::from_str(line).unwrap();
        assert_eq!(part.words(), "step 3: 2 of 12 parts; a step takes about 80 s");
        let metric = r#"{"step":1,"tokens":2,"seconds":3,"loss":4,"validation_loss":null,"learning_rate":5,"gradient_norm":6,"tokens_per_second":7}"#;
        let metric: Metric = serde_json::from_str(metric).unwrap();
        assert_eq!(step_words(&metric, Some(0.5)), "loss 4.0000 7 tokens/s, 2.5 s a step");
        assert_eq!(step_words(&metric, None), "loss 4.0000 7 tokens/s");
    }

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
