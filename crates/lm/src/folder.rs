//! From a training folder to a checkpoint in its place.

use crate::{
    Error, Metric, Result, Trained, card, curve::curve, metrics, settings::Settings, train,
};
use dataset::{Builder, Notes, Progress};
use std::{fs, path::Path, sync::atomic::AtomicBool, time::Duration};

/// What only training needs.
const TRAINING_FILES: [&str; 3] = ["metrics.jsonl", "corpus.safetensors", "state.safetensors"];

/// Steps that a training folder asks for; 0 where it does not say.
#[must_use]
pub fn planned_steps(work: &Path) -> u64 {
    let text = fs::read_to_string(work.join("training.json")).unwrap_or_default();
    let settings: Option<Settings> = serde_json::from_str(&text).ok();
    settings.map_or(0, |settings| settings.steps())
}

/// The file in a training folder with the settings of the command that made it.
const SETTINGS: &str = "settings.json";

/// A run of the engine in the training folder of a checkpoint that is to be made.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The checkpoint.
    pub out: &'a Path,
    /// All that decides about the weights: a stopped run is resumed under equal settings only.
    pub settings: &'a str,
    /// The engine's name of the device: `cpu`, `cuda` or `auto`.
    pub device: &'a str,
    /// Stop after this time, as if the budget were used up.
    pub limit: Option<Duration>,
}

impl Run<'_> {
    /// Whether there is a stopped run to resume.
    ///
    /// # Errors
    /// When the checkpoint cannot have a training folder.
    pub fn resumes(&self) -> Result<bool> {
        let found = fs::read_to_string(dataset::partial_folder(self.out)?.join(SETTINGS));
        Ok(found.is_ok_and(|found| found == self.settings))
    }

    /// Train, from the beginning or where the run was stopped, and put the checkpoint in its place.
    ///
    /// # Errors
    /// As [`train`], [`finish`] and [`place`]; what is done is kept.
    pub fn train(&self, progress: &dyn Progress, cancelled: &AtomicBool) -> Result<Trained> {
        let work = dataset::partial_folder(self.out)?;
        let resumes = self.resumes()?;
        let file = work.join(SETTINGS);
        fs::write(&file, self.settings).map_err(Error::file("write", &file))?;
        let mut arguments = vec!["--device".to_owned(), self.device.to_owned()];
        if let Some(limit) = self.limit {
            arguments.extend(["--seconds".to_owned(), limit.as_secs_f64().to_string()]);
        }
        if resumes {
            arguments.push("--resume".to_owned());
        }
        let trained = train(&work, &arguments, planned_steps(&work), progress, cancelled)?;
        finish(&work)?;
        fs::remove_file(&file).map_err(Error::file("remove", &file))?;
        place(&work, self.out)?;
        Ok(trained)
    }
}

/// A training folder that could not be written is none: nothing of it is left.
///
/// # Errors
/// What was wrong with `prepared`.
pub fn or_nothing<T>(prepared: Result<T>, work: &Path) -> Result<T> {
    if prepared.is_err() {
        // The reason why it could not be written is what matters.
        let _ = dataset::abandon_folder(work);
    }
    prepared
}

/// Make a checkpoint of a folder that was trained in: metrics as a table and as a picture, and
/// nothing that only training needs.
///
/// # Errors
/// When the engine left no weights or metrics, or files cannot be written or removed.
pub fn finish(work: &Path) -> Result<()> {
    let metrics = metrics(work)?;
    let builder = Builder::<Metric>::create(&work.join("metrics"), true, &"metrics")?;
    let picture = work.join("curve.svg");
    fs::write(&picture, curve(&metrics)).map_err(Error::file("write", &picture))?;
    builder.finish(metrics, Notes::default())?;
    for path in TRAINING_FILES.map(|file| work.join(file)) {
        if path.exists() {
            fs::remove_file(&path).map_err(Error::file("remove", &path))?;
        }
    }
    let base = work.join("base");
    if base.is_dir() {
        fs::remove_dir_all(&base).map_err(Error::file("remove", &base))?;
    }
    if !work.join("model.safetensors").is_file() {
        return Err(Error::Engine(format!(
            "the trainer wrote no model.safetensors in {}",
            work.display()
        )));
    }
    Ok(())
}

/// Put a folder in its place, or in that of another checkpoint.
///
/// # Errors
/// When something else is there, or it cannot be moved.
pub fn place(work: &Path, out: &Path) -> Result<()> {
    if out.exists() && !out.join("config.json").is_file() {
        return Err(Error::NoCheckpoint(out.to_owned()));
    }
    Ok(dataset::place_folder(work, out, &is_of_checkpoint)?)
}

/// Whether a checkpoint may have a file of this name.
fn is_of_checkpoint(name: &Path) -> bool {
    let known =
        [card::FILE, "metrics", "base", "curve.svg", "merges.txt", "vocab.txt", "metrics.jsonl"];
    let endings = ["json", "safetensors", "model", "jinja"];
    known.iter().any(|known| name == Path::new(known))
        || name.extension().is_some_and(|ending| endings.iter().any(|known| ending == *known))
}
