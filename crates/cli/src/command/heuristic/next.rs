use super::targets::{Targets, Wanted};
use crate::{Global, output};
use heuristics::{NextOptions, Table, Way};
use std::{collections::BTreeMap, path::PathBuf, process::ExitCode};

/// How programs are chosen, for `--by`
#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum By {
    /// What models of the labeled programs disagree about
    Committee,
    /// Where a model of their errors expects much, and the pool has many programs
    ExpectedError,
    /// What is farthest from them
    Uncovered,
    /// Of tasks with several choices: where models choose differently, and a wrong choice is dear
    Regret,
}

impl By {
    fn way(self) -> Way {
        match self {
            By::Committee => Way::Committee,
            By::ExpectedError => Way::ExpectedError,
            By::Uncovered => Way::Uncovered,
            By::Regret => Way::Regret,
        }
    }
}

/// What a score is, as the head of its column.
fn head(by: Way) -> &'static str {
    match by {
        Way::Committee => "disagreement, log2",
        Way::ExpectedError => "error × density, log2",
        Way::Uncovered => "distance, spreads",
        Way::Regret => "regret, log2",
    }
}

/// Choose which programs to label next, or to steer to: those that models of the labeled ones disagree about
#[derive(clap::Args, Debug)]
#[command(after_help = help!("heuristic-next"))]
pub(crate) struct Next {
    /// A `task` data set: what is labeled
    task: PathBuf,
    /// A data set of `features`: the programs to choose from, in the spaces of the task and at its level
    pool: PathBuf,
    /// Programs wanted
    #[arg(long, value_name = "N", default_value = "100", value_parser = super::count)]
    n: usize,
    /// How they are chosen
    #[arg(long, value_enum, default_value = "committee")]
    by: By,
    #[command(flatten)]
    targets: Targets,
    /// Random seed of the models
    #[arg(long, default_value_t = 0)]
    seed: u32,
}

impl Next {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        self.targets.have_folder()?;
        let (task, pool) = (Table::load(&self.task)?, Table::of_vectors(&self.pool)?);
        let options = NextOptions { count: self.n, by: self.by.way(), seed: self.seed };
        let found = heuristics::next(&task, &pool, &options)?;
        let vectors: Vec<BTreeMap<String, Vec<f64>>> = found
            .programs
            .iter()
            .map(|one| {
                let features = &pool.task.rows[one.row].features;
                let spaces = pool.spaces.iter();
                spaces.map(|(name, at)| (name.clone(), features[at.clone()].to_vec())).collect()
            })
            .collect();
        let wanted: Vec<Wanted<'_>> = found
            .programs
            .iter()
            .zip(&vectors)
            .map(|(one, vectors)| Wanted { program: &one.program, id: &one.id, vectors })
            .collect();
        let written = self.targets.write("programs", &wanted, pool.level)?;
        output::report(global, &found, || {
            output::line(&format!(
                "{} of {} programs, by {} labeled ones; {} of the pool are labeled",
                found.programs.len(),
                found.pool,
                found.labeled,
                found.known
            ))?;
            let rows = found.programs.iter().map(|one| {
                let score = match (one.disagreement, one.score) {
                    (Some(disagreement), _) => format!("{disagreement:.2}"),
                    (None, score) => format!("{:.3}", score.unwrap_or_default()),
                };
                vec![one.program.clone(), one.variant.clone(), score]
            });
            output::print_table(&["program", "input", head(options.by)], rows)?;
            written.map_or(Ok(()), |written| output::line(&written))
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
