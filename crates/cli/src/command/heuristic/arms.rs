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
    /// All programs that there would be: with these the base has the error that is to be reached, and their learning curve
    /// says what programs of the arms are worth
    #[arg(long, value_name = "TASK")]
    ceiling: Option<PathBuf>,
    /// More sizes of the ceiling's learning curve, comma-separated
    #[arg(long, value_name = "COUNTS", value_delimiter = ',', requires = "ceiling", value_parser = super::count)]
    curve: Vec<usize>,
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
            ceiling: self.ceiling.as_ref().map(load).transpose()?,
            curve: self.curve.clone(),
            draws: self.draws,
            seed: self.seed,
        })?;
        output::report(global, &found, || print(&found))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn print(found: &ArmReport) -> anyhow::Result<()> {
    output::line(&format!(
        "{} test programs of {} groups and {} families, base of {}; {} programs dropped that are tested on or there twice",
        found.test, found.groups, found.families, found.base, found.dropped
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
            arm.change_by_family.map(interval).unwrap_or_default(),
            format!("{:.3}", arm.lin1.value),
        ]
    });
    let header = ["added", "programs", "of", "error", "change", "by family", "lin1"];
    output::print_table(&header, rows)?;
    let gaps = found.arms.iter().filter_map(|arm| Some((arm, arm.gap?)));
    let gaps: Vec<Vec<String>> = gaps
        .map(|(arm, gap)| {
            let share = |of: ErrorOf| {
                let [value, low, high] =
                    [of.value, of.interval[0], of.interval[1]].map(|share| 100.0 * share);
                format!("{value:.0} % ({low:.0} to {high:.0})")
            };
            let programs = |of: ErrorOf| {
                format!("{:.0} ({:.0} to {:.0})", of.value, of.interval[0], of.interval[1])
            };
            let (closed, by_family) = (share(gap.closed), share(gap.closed_by_family));
            vec![arm.arm.clone(), arm.added.to_string(), closed, by_family, programs(gap.worth)]
        })
        .collect();
    if !gaps.is_empty() {
        let header = [
            "added",
            "programs",
            "of the gap closed",
            "by family",
            "programs of the ceiling that do the same",
        ];
        output::print_table(&header, gaps)?;
    }
    if !found.rivals.is_empty() {
        let rows = found.rivals.iter().map(|rival| {
            let (arm, than) = (rival.arm.clone(), rival.than.clone());
            let (by_group, by_family) = (interval(rival.difference), interval(rival.by_family));
            vec![arm, than, rival.added.to_string(), by_group, by_family]
        });
        let header = ["arm", "against", "programs", "error less the other's", "by family"];
        output::print_table(&header, rows)?;
    }
    for verdict in &found.verdicts {
        output::line(&format!("{}: {}", verdict.word, verdict.text))?;
    }
    Ok(())
}
