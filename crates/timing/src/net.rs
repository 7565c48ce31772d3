//! What a program's headers cost before and after `main`, as an empty program that includes them.

use crate::{
    Error,
    options::{Code, Job, Options},
    recipe,
    source::Source,
    target::Target,
};
use dataset::{content_hash, content_hash_of};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};
use timing_model::Cpu;

/// Times of empty programs, measured once each: in this process, and on disk for the next.
#[derive(Default)]
pub(crate) struct EmptyPrograms {
    known: Mutex<BTreeMap<String, f64>>,
}

impl EmptyPrograms {
    /// Seconds of the empty program with the headers of `code`; `None` for executables, and where
    /// it cannot be measured.
    pub(crate) fn seconds(
        &self,
        code: &Code,
        cpu: &Cpu,
        options: &Options,
        source: &dyn Source,
    ) -> Result<Option<f64>, Error> {
        let Some(program) = recipe::empty_program(code) else { return Ok(None) };
        let (Code::C(text) | Code::Cpp(text)) = &program else { return Ok(None) };
        let language: &[u8] = if matches!(program, Code::C(_)) { b"c" } else { b"cpp" };
        let settings = format!("{:?} {:?} {:?}", options.compiler, options.flags, options.runs);
        let identity = source.identity();
        let source_name = identity.as_deref().unwrap_or(options.source.name());
        let recipe = recipe::identity(Target::of(cpu.architecture));
        let key = content_hash_of([
            text.as_bytes(),
            language,
            settings.as_bytes(),
            source_name.as_bytes(),
            recipe.as_bytes(),
        ]);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(seconds) = known.get(&key) {
            return Ok(Some(*seconds));
        }
        let kept = identity.is_some().then(|| file_of(&key));
        if let Some(seconds) = kept.as_deref().and_then(read) {
            known.insert(key, seconds);
            return Ok(Some(seconds));
        }
        // The lock is held on purpose: others that want the same figure would measure it again.
        let job = Job { name: "empty".into(), program, stdin: Vec::new() };
        let timing = crate::time_with(&job, cpu, options, source, &[])?;
        let Some(measurement) = timing.measurement else { return Ok(None) };
        known.insert(key, measurement.seconds_simulated);
        if let Some(path) = kept {
            keep(&path, measurement.seconds_simulated);
        }
        Ok(Some(measurement.seconds_simulated))
    }
}

fn file_of(key: &str) -> PathBuf {
    let folder = if sandbox::is_weak_allowed() { "timing-weak-sandbox" } else { "timing" };
    host::cache().join(folder).join(key)
}

/// What is kept, if it is all there: a number that was cut short is a number too.
fn read(path: &Path) -> Option<f64> {
    let text = std::fs::read_to_string(path).ok()?;
    let (number, check) = text.split_once(' ')?;
    let seconds: f64 = number.parse().ok()?;
    let whole = check == content_hash(number.as_bytes());
    (whole && seconds.is_finite() && seconds >= 0.0).then_some(seconds)
}

/// A cache that cannot be written is a slower run, no failure.
fn keep(path: &Path, seconds: f64) {
    let folder = path.parent().map(std::fs::create_dir_all);
    let number = seconds.to_string();
    let text = format!("{number} {}", content_hash(number.as_bytes()));
    if matches!(folder, Some(Ok(()))) {
        let _ = host::write_whole(path, text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_figure_that_was_cut_short_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b");
        keep(&path, 0.015625);
        assert_eq!(read(&path), Some(0.015625));
        let whole = std::fs::read(&path).unwrap();
        for length in 0..whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(read(&path), None, "{length}");
        }
    }
}
