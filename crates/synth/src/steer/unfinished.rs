//! What is there of a run that is not finished: per target its rows, and what the search has learned.

use crate::{Error, Found, Memory, SteeredRow, Target, TrajectoryRow};
use dataset::{Builder, Dataset, Notes};
use serde::Serialize;
use std::path::Path;

/// The verdict of a part's last row, which is no kernel: what the search carries on from its target.
/// It stands in the part, so that both are there or neither; no data set holds it.
const MEMORY: &str = "memory";

/// The parts of both data sets.
pub(super) struct Unfinished {
    pub(super) kernels: Builder<SteeredRow>,
    pub(super) paths: Option<Builder<TrajectoryRow>>,
}

impl Unfinished {
    /// Begin, or find what is there of a run with equal `settings`.
    ///
    /// # Errors
    /// As [`Builder::create`].
    pub(super) fn open(
        out: &Path,
        trajectory: Option<&Path>,
        force: bool,
        settings: &impl Serialize,
    ) -> dataset::Result<Unfinished> {
        let paths = trajectory.map(|path| Builder::create(path, force, settings)).transpose()?;
        Ok(Unfinished { kernels: Builder::create(out, force, settings)?, paths })
    }

    /// Whether the target is done.
    pub(super) fn has(&self, target: &Target) -> bool {
        let has_path = self.paths.as_ref().is_none_or(|paths| paths.has(&target.name));
        self.kernels.has(&target.name) && has_path
    }

    /// What the search carried on from each of these targets.
    ///
    /// # Errors
    /// When a part cannot be read.
    pub(super) fn memories(&self, targets: &[&Target]) -> Result<Vec<Memory>, Error> {
        let memory = |target: &&Target| {
            let rows: Vec<SteeredRow> =
                self.kernels.rows_of(&target.name).collect::<dataset::Result<_>>()?;
            let row = rows.iter().rfind(|row| row.verdict == MEMORY);
            let bytes = row.and_then(|row| unhex(&row.text)).ok_or_else(|| Error::Forgotten {
                folder: self.kernels.unfinished().to_owned(),
                target: target.name.clone(),
            })?;
            Ok(Memory::of_bytes(bytes))
        };
        targets.iter().map(memory).collect()
    }

    /// Keep what was found for a target; afterwards it outlives a crash.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn add(&self, target: &Target, found: Found) -> dataset::Result<()> {
        if let Some(paths) = &self.paths {
            paths.add(&target.name, found.trajectory)?;
        }
        // Nothing where each target is searched for by itself.
        let memory = (!found.memory.bytes().is_empty()).then(|| SteeredRow {
            target: target.name.clone(),
            verdict: MEMORY.to_owned(),
            text: hex(found.memory.bytes()),
            ..SteeredRow::default()
        });
        self.kernels.add(&target.name, found.kernels.into_iter().chain(memory))
    }
}

/// Whether the run that is unfinished at `out` has finished its trajectories at `path`.
pub(super) fn has_made(out: &Path, path: &Path, made: &Notes) -> bool {
    let name = out.file_name().unwrap_or_default().to_string_lossy();
    let is_unfinished = !out.exists() && out.with_file_name(format!("{name}.partial")).exists();
    let same = |found: &Notes| {
        (&found.inputs, &found.configuration, found.seed)
            == (&made.inputs, &made.configuration, made.seed)
    };
    is_unfinished && Dataset::open(path).is_ok_and(|dataset| same(&dataset.manifest().notes))
}

/// The rows of a target that the data set is to hold.
///
/// # Errors
/// When its part cannot be read.
pub(super) fn rows_of(
    kernels: &Builder<SteeredRow>,
    target: &Target,
) -> dataset::Result<Vec<SteeredRow>> {
    let rows: Vec<SteeredRow> = kernels.rows_of(&target.name).collect::<dataset::Result<_>>()?;
    Ok(rows.into_iter().filter(|row| row.verdict != MEMORY).collect())
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits =
        |byte: &u8| [byte >> 4, byte & 15].map(|digit| char::from(DIGITS[usize::from(digit)]));
    bytes.iter().flat_map(digits).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pair = |pair: &[u8]| match pair {
        [high, low] => u8::try_from(digit(*high)? << 4 | digit(*low)?).ok(),
        _ => None,
    };
    text.as_bytes().chunks(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_comes_back_and_is_no_row() {
        let folder = tempfile::tempdir().expect("a folder");
        let open =
            || Unfinished::open(&folder.path().join("out"), None, false, &1).expect("opened");
        let targets = ["a", "b", "c"].map(|name| Target::point(name, &[1.0]));
        let found = |byte: u8| Found {
            kernels: vec![SteeredRow { text: "kernel".into(), ..SteeredRow::default() }],
            memory: Memory::of_bytes(vec![byte, 0, 255]),
            ..Found::default()
        };
        let unfinished = open();
        unfinished.add(&targets[0], found(7)).expect("kept");
        unfinished.add(&targets[2], found(8)).expect("kept");
        drop(unfinished);
        let unfinished = open();
        assert_eq!(targets.each_ref().map(|target| unfinished.has(target)), [true, false, true]);
        let memories = unfinished.memories(&[&targets[0]]).expect("read");
        assert_eq!(memories[0].bytes(), [7, 0, 255]);
        let rows = rows_of(&unfinished.kernels, &targets[0]).expect("read");
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].text, "kernel");
    }
}
