//! Programs as targets of `steer`.

use crate::destination;
use anyhow::{Context, bail};
use dataset::Dataset;
use serde_json::{Map, Value, json};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// The level that `steer` counts at.
const STEERED: u64 = 1;

/// Where targets are written, and their vectors.
#[derive(clap::Args, Debug, Clone)]
pub(super) struct Targets {
    /// Write what was found as targets of `steer`
    #[arg(long, value_name = "FILE.jsonl")]
    targets: Option<PathBuf>,
    /// The targets' vectors, made by `features` at its own level, -O1, at which `steer` counts [default: those that were
    /// looked at, which are of use to it only if they were made so]
    #[arg(long, value_name = "DATASET", requires = "targets")]
    vectors: Option<PathBuf>,
    /// The targets' space [default: the first of the vectors']
    #[arg(long, value_name = "SPACE", requires = "targets")]
    target_space: Option<String>,
}

/// A program that is to be a target.
pub(super) struct Wanted<'a> {
    pub(super) program: &'a str,
    pub(super) id: &'a str,
    /// Its vectors, by space, as they were looked at.
    pub(super) vectors: &'a BTreeMap<String, Vec<f64>>,
}

impl Targets {
    /// Refuse to write into a folder that is none.
    pub(super) fn have_folder(&self) -> anyhow::Result<()> {
        self.targets.as_deref().map_or(Ok(()), destination::has_folder)
    }

    /// A line for each program: its name, the vector to steer to, and the level that it was counted at. `level` is that of
    /// the programs' own vectors. What was written, and where, in words.
    pub(super) fn write(
        &self,
        what: &str,
        wanted: &[Wanted<'_>],
        level: Option<u64>,
    ) -> anyhow::Result<Option<String>> {
        let Some(path) = &self.targets else { return Ok(None) };
        let others = self.vectors.as_deref().map(vectors).transpose()?;
        let (others, level) = match others {
            Some((others, level)) => (Some(others), level),
            None => (None, level),
        };
        let (mut lines, mut count) = (String::new(), 0_usize);
        for one in wanted {
            let found = match &others {
                None => Some(one.vectors),
                Some(others) => others.get(one.id),
            };
            let Some(found) = found.filter(|found| !found.is_empty()) else { continue };
            let space = match &self.target_space {
                Some(space) => space,
                None => found.keys().next().expect("it is not empty"),
            };
            let Some(vector) = found.get(space) else {
                let known: Vec<&str> = found.keys().map(String::as_str).collect();
                bail!("no vectors of `{space}` for --targets; there are {}", known.join(", "));
            };
            let mut line = Map::new();
            line.insert("target".into(), one.program.into());
            line.insert(space.clone(), json!(vector));
            if let Some(level) = level {
                line.insert("opt".into(), level.into());
            }
            lines += &format!("{}\n", Value::Object(line));
            count += 1;
        }
        if lines.is_empty() && !wanted.is_empty() {
            bail!(
                "none of the {what} has vectors to steer to: name a data set of them in --vectors"
            );
        }
        host::write_whole(path, lines.as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
        let then = match level {
            _ if wanted.is_empty() => String::new(),
            _ if self.vectors.is_some() || level == Some(STEERED) => {
                "; next: `stampmill steer --targets` with this file".to_owned()
            }
            level => {
                let level =
                    level.map_or("a level that is not known".into(), |at| format!("-O{at}"));
                format!(
                    ", counted at {level}, where `steer` counts at -O{STEERED} and refuses others: make vectors of the \
                     same programs by `stampmill features PROGRAMS --space SPACE`, and name them in --vectors"
                )
            }
        };
        Ok(Some(format!("{count} {what} in {}{then}", path.display())))
    }
}

type Vectors = BTreeMap<String, BTreeMap<String, Vec<f64>>>;

/// The vectors of a data set of `features`, and the level that they were counted at.
fn vectors(path: &Path) -> anyhow::Result<(Vectors, Option<u64>)> {
    let mut all = Vectors::new();
    let dataset = Dataset::open(path)?;
    for row in dataset.rows::<features::Row>()? {
        let row = row?;
        all.insert(row.id, row.vectors);
    }
    Ok((all, dataset.manifest().notes.configuration["level"].as_u64()))
}
