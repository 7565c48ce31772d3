//! What is there of a run that is not finished: per target its rows, and what the search has learned.

use anyhow::Context;
use dataset::{Builder, Dataset, Notes};
use serde::Serialize;
use std::path::Path;
use synth::{Found, Memory, SteeredRow, Target, TrajectoryRow};

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

    /// How many of the targets are done, from the first on: what is behind one that is missing was
    /// found with other knowledge than a run without a stop would have had.
    pub(super) fn done(&self, targets: &[Target]) -> usize {
        let is_done = |target: &&Target| {
            let has_path = self.paths.as_ref().is_none_or(|paths| paths.has(&target.name));
            self.kernels.has(&target.name) && has_path
        };
        targets.iter().take_while(is_done).count()
    }

    /// What the search carried on from each of these targets.
    ///
    /// # Errors
    /// When a part cannot be read.
    pub(super) fn memories(&self, targets: &[Target]) -> anyhow::Result<Vec<Memory>> {
        let memory = |target: &Target| -> anyhow::Result<Memory> {
            let rows: Vec<SteeredRow> =
                self.kernels.rows_of(&target.name).collect::<dataset::Result<_>>()?;
            let row = rows.iter().rfind(|row| row.verdict == MEMORY);
            let bytes = row.and_then(|row| unhex(&row.text)).with_context(|| {
                let folder = self.kernels.unfinished().display();
                format!(
                    "{folder} lacks what was learned for {}: remove it and begin again",
                    target.name
                )
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
        let memory = SteeredRow {
            target: target.name.clone(),
            verdict: MEMORY.to_owned(),
            text: hex(found.memory.bytes()),
            ..SteeredRow::default()
        };
        self.kernels.add(&target.name, found.kernels.into_iter().chain([memory]))
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
        // What lies behind one that is missing is done again.
        unfinished.add(&targets[2], found(8)).expect("kept");
        drop(unfinished);
        let unfinished = open();
        assert_eq!(unfinished.done(&targets), 1);
        let memories = unfinished.memories(&targets[..1]).expect("read");
        assert_eq!(memories[0].bytes(), [7, 0, 255]);
        let rows = rows_of(&unfinished.kernels, &targets[0]).expect("read");
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].text, "kernel");
    }
}
