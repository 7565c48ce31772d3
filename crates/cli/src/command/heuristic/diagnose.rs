use super::targets::{Targets, Wanted};
use crate::{
    Global,
    destination::{Output, file},
    output,
};
use heuristics::{DiagnoseOptions, Diagnosis, ErrorOf, Table};
use std::{path::PathBuf, process::ExitCode};

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
    #[command(flatten)]
    targets: Targets,
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
        self.targets.have_folder()?;
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
        let wanted: Vec<Wanted<'_>> = found
            .regions
            .iter()
            .map(|region| Wanted {
                program: &region.program,
                id: &region.id,
                vectors: &region.vectors,
            })
            .collect();
        let written = self.targets.write("regions", &wanted, table.level)?;
        output::report(global, &found, || {
            print(&found)?;
            if let Some(output) = &self.output {
                output::line(&format!("page: {}", output.out.display()))?;
            }
            let why = match found.regions.is_empty() {
                true => ": they are named where the verdict is `short`",
                false => "",
            };
            written.map_or(Ok(()), |written| output::line(&format!("{written}{why}")))
        })?;
        Ok(ExitCode::SUCCESS)
    }
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
    if found.leaking > 0 {
        output::line(&format!(
            "leaking: {} rows are near-duplicates of rows of another group: not trained on where these are tested",
            output::count(found.leaking as u64)
        ))?;
    }
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
