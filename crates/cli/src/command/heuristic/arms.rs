use crate::{Global, output};
use heuristics::{ArmOptions, ArmReport, ErrorOf, Table};
use std::{path::PathBuf, process::ExitCode};

/// Compare sources of training programs: add equally many of each to a base, score on held-out packages
#[derive(clap::Args, Debug)]
#[command(after_help = help!("heuristic-arms"))]
pub(crate) struct Arms {
    /// `task` data sets to add from, a source each; the task has one choice
    #[arg(value_name = "TASK", required = true)]
    arms: Vec<PathBuf>,
    /// What there is before anything is added
    #[arg(long, value_name = "TASK")]
    base: PathBuf,
    /// What is scored on; no program of its groups and families is trained on
    #[arg(long, value_name = "TASK")]
    test: PathBuf,
    /// Programs of the base in a training set, at most
    #[arg(long, value_name = "N", default_value = "200", value_parser = super::count)]
    base_size: usize,
    /// Programs added, comma-separated
    #[arg(long, value_name = "COUNTS", value_delimiter = ',', default_value = "100", value_parser = super::count)]
    added: Vec<usize>,
    /// Training sets of each kind
    #[arg(long, value_name = "N", default_value = "8", value_parser = super::count)]
    draws: usize,
    /// Feature spaces, comma-separated [default: all that the tasks have]
    #[arg(long, value_name = "SPACES", value_delimiter = ',')]
    space: Vec<String>,
    /// Random seed of draws, models and intervals
    #[arg(long, default_value_t = 0)]
    seed: u32,
}

impl Arms {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let load = |path: &PathBuf| {
            let table = Table::load(path)?;
            match self.space.is_empty() {
                true => Ok(table),
                false => table.with_spaces(&self.space),
            }
        };
        let found = heuristics::arms(&ArmOptions {
            base: load(&self.base)?,
            base_size: self.base_size,
            test: load(&self.test)?,
            arms: self.arms.iter().map(load).collect::<Result<_, heuristics::Error>>()?,
            added: self.added.clone(),
            draws: self.draws,
            seed: self.seed,
        })?;
        output::report(global, &found, || print(&found))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn print(found: &ArmReport) -> anyhow::Result<()> {
    output::line(&format!(
        "{} test programs of {} groups, base of {}; {} programs dropped that are tested on or there twice",
        found.test, found.groups, found.base, found.dropped
    ))?;
    let interval =
        |of: ErrorOf| format!("{:.3} ({:.3} to {:.3})", of.value, of.interval[0], of.interval[1]);
    let rows = found.arms.iter().map(|arm| {
        vec![
            arm.arm.clone(),
            arm.added.to_string(),
            arm.available.to_string(),
            interval(arm.error),
            arm.change.map(interval).unwrap_or_default(),
            format!("{:.3}", arm.lin1.value),
        ]
    });
    output::print_table(&["added", "programs", "of", "error", "change", "lin1"], rows)?;
    if !found.rivals.is_empty() {
        let rows = found.rivals.iter().map(|rival| {
            let (arm, than) = (rival.arm.clone(), rival.than.clone());
            vec![arm, than, rival.added.to_string(), interval(rival.difference)]
        });
        output::print_table(&["arm", "against", "programs", "error less the other's"], rows)?;
    }
    for verdict in &found.verdicts {
        output::line(&format!("{}: {}", verdict.word, verdict.text))?;
    }
    Ok(())
}
