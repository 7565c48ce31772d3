use crate::{
    Global,
    destination::{self, Output, file},
    output,
};
use anyhow::{Context, bail};
use dataset::Dataset;
use heuristics::{DiagnoseOptions, Diagnosis, ErrorOf, Region, Table};
use serde_json::{Map, Value, json};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Measure whether a task is short of programs, of features or of good labels
#[derive(clap::Args, Debug)]
#[command(mut_arg("out", |out| file("The page to make, by default none", "FILE.html")(out).required(false)))]
#[command(after_help = help!("heuristic-diagnose"))]
pub(crate) struct Diagnose {
    /// A `task` data set of real programs
    task: PathBuf,
    /// Feature spaces, comma-separated [default: all that the task has]
    #[arg(long, value_name = "SPACES", value_delimiter = ',')]
    space: Vec<String>,
    /// A `task` data set of made programs, labeled in the same way; once for each source
    #[arg(long, value_name = "TASK")]
    made: Vec<PathBuf>,
    /// Of a choice: sizes of the fixed sets, comma-separated
    #[arg(long, value_name = "TRIES", value_delimiter = ',', default_value = "1,2,3,5")]
    tries: Vec<usize>,
    /// How often the rows are split anew: what is said holds for the mean of these, and the spread is named
    #[arg(long, value_name = "N", default_value = "5", value_parser = super::count)]
    splits: usize,
    /// Training sets of each size of the learning curve, at most, but one in each split
    #[arg(long, value_name = "N", default_value = "4", value_parser = super::count)]
    draws: usize,
    /// Regions that lack programs, at most
    #[arg(long, value_name = "N", default_value_t = 40)]
    regions: usize,
    /// Write the regions as targets of `steer`
    #[arg(long, value_name = "FILE.jsonl")]
    targets: Option<PathBuf>,
    /// The targets' vectors, made by `features` at its own level, -O1, at which `steer` counts [default: the task's
    /// own, which are of use to it only if they were made so]
    #[arg(long, value_name = "DATASET", requires = "targets")]
    vectors: Option<PathBuf>,
    /// The targets' space [default: the first of the vectors']
    #[arg(long, value_name = "SPACE", requires = "targets")]
    target_space: Option<String>,
    /// Random seed of folds, draws, models and intervals
    #[arg(long, default_value_t = 0)]
    seed: u32,
    #[command(flatten)]
    output: Option<Output>,
}

impl Diagnose {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        if let Some(output) = &self.output {
            output.is_free_file()?;
        }
        self.targets.as_deref().map_or(Ok(()), destination::has_folder)?;
        let load = |path: &PathBuf| {
            let table = Table::load(path)?;
            match self.space.is_empty() {
                true => Ok(table),
                false => table.with_spaces(&self.space),
            }
        };
        let table = load(&self.task)?;
        let options = DiagnoseOptions {
            seed: self.seed,
            splits: self.splits,
            draws: self.draws,
            tries: self.tries.clone(),
            regions: self.regions,
            made: self.made.iter().map(load).collect::<Result<_, _>>()?,
        };
        let found = heuristics::diagnose(&table, &options)?;
        if let Some(output) = &self.output {
            let command = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
            report::diagnosis(&found, &format!("stampmill {command}"))?.save(&output.out)?;
        }
        if let Some(path) = &self.targets {
            self.write_targets(&found.regions, table.level, path)?;
        }
        output::report(global, &found, || {
            print(&found)?;
            self.print_written(&found, table.level)
        })?;
        Ok(ExitCode::SUCCESS)
    }

    /// What was written, and where.
    fn print_written(&self, found: &Diagnosis, level: Option<u64>) -> anyhow::Result<()> {
        if let Some(output) = &self.output {
            output::line(&format!("page: {}", output.out.display()))?;
        }
        let Some(path) = &self.targets else { return Ok(()) };
        let vectors = match &self.vectors {
            _ if found.regions.is_empty() => String::new(),
            Some(_) => "; next: `stampmill steer --targets` with this file".to_owned(),
            None if level == Some(STEERED) => {
                "; next: `stampmill steer --targets` with this file".to_owned()
            }
            None => {
                let level =
                    level.map_or("a level that is not known".into(), |at| format!("-O{at}"));
                format!(
                    ", counted at {level}, where `steer` counts at -O{STEERED} and refuses others: make vectors of the \
                     same programs by `stampmill features PROGRAMS --space SPACE`, and name them in --vectors"
                )
            }
        };
        output::line(&format!("{} regions in {}{vectors}", found.regions.len(), path.display()))
    }

    /// A line for each region: its program's name, the vector to steer to, and the level that it was counted at.
    fn write_targets(
        &self,
        regions: &[Region],
        level: Option<u64>,
        path: &Path,
    ) -> anyhow::Result<()> {
        let others = self.vectors.as_deref().map(vectors).transpose()?;
        let (others, level) = match others {
            Some((others, level)) => (Some(others), level),
            None => (None, level),
        };
        let mut lines = String::new();
        for region in regions {
            let found = match &others {
                None => Some(&region.vectors),
                Some(others) => others.get(&region.id),
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
            line.insert("target".into(), region.program.clone().into());
            line.insert(space.clone(), json!(vector));
            if let Some(level) = level {
                line.insert("opt".into(), level.into());
            }
            lines += &format!("{}\n", Value::Object(line));
        }
        if lines.is_empty() && !regions.is_empty() {
            bail!("no region has vectors to steer to: name a data set of them in --vectors");
        }
        host::write_whole(path, lines.as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))
    }
}

/// The level that `steer` counts at.
const STEERED: u64 = 1;

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

fn print(found: &Diagnosis) -> anyhow::Result<()> {
    let interval =
        |of: ErrorOf| format!("{:.3} ({:.3} to {:.3})", of.value, of.interval[0], of.interval[1]);
    output::line(&format!(
        "{} rows of {} groups, split {} times; {} of {} features differ; error: {}",
        output::count(found.rows as u64),
        found.groups,
        found.splits,
        found.features[1],
        found.features[0],
        found.error
    ))?;
    if !found.left_out.is_empty() {
        let each = found.left_out.iter().map(|(why, n)| format!("{} {why}", output::count(*n)));
        output::line(&format!("left out: {}", each.collect::<Vec<_>>().join(", ")))?;
    }
    if let Some(regression) = &found.regression {
        let rows = regression.models.iter();
        let rows = rows.map(|(name, error)| vec![name.clone(), interval(*error)]);
        output::print_table(&["model", "error on held-out groups"], rows)?;
    }
    if let Some(choice) = &found.choice {
        let rows = choice.fixed.iter().map(|set| {
            vec![
                set.tries.to_string(),
                interval(set.error),
                format!("{:.1} %", 100.0 * set.share_of_oracle),
                interval(set.with_model),
            ]
        });
        let header = ["tries", "fixed set", "of the oracle's saving", "model's choice as the last"];
        output::print_table(&header, rows)?;
    }
    let rows = found.curve.iter();
    let rows = rows.map(|point| vec![point.programs.to_string(), interval(point.error)]);
    output::print_table(&["real programs", "error on held-out groups"], rows)?;
    if !found.made.is_empty() {
        let rows = found.made.iter().map(|made| {
            vec![
                made.table.clone(),
                made.programs.to_string(),
                made.bias.map(interval).unwrap_or_default(),
                interval(made.error),
                format!("{:.0} %", 100.0 * made.outside),
            ]
        });
        output::print_table(&["made", "programs", "bias", "error", "outside"], rows)?;
    }
    for verdict in &found.verdicts {
        output::line(&format!("{}: {}", verdict.word, verdict.text))?;
    }
    Ok(())
}
