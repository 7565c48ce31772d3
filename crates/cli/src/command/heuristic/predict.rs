use super::{super::label, source::Columns};
use crate::{Global, headers, interrupt, output};
use anyhow::{Context, anyhow, bail};
use dataset::{Dataset, Programs, Row as _};
use heuristics::{CostModel, Heuristic, Row, Table, Task};
use rows::{ContentFile, CpuGpuRow, KernelProgram, Module, SampleRow, SteeredRow};
use std::{path::PathBuf, process::ExitCode};

/// Kernels without a prediction that are named.
const NAMED: usize = 10;

/// Schemas of data sets of programs.
const PROGRAMS: [&str; 5] = [
    ContentFile::SCHEMA,
    KernelProgram::SCHEMA,
    SampleRow::SCHEMA,
    SteeredRow::SCHEMA,
    Module::SCHEMA,
];

/// Predict the best choice, or the cost, for every row of a task
#[derive(clap::Args, Debug)]
#[command(after_help = help!("heuristic-predict"))]
pub(crate) struct Predict {
    /// A file written by `heuristic train`, or a folder with one named model.json
    model: PathBuf,
    /// A data set of `label` or `features`, or a CSV table; if it has costs, predictions are scored. With
    /// --global-sizes a data set, folder or file of kernels
    task: PathBuf,
    /// For a model of cpu-gpu: predict for kernels that nobody ran, at these global sizes; transfers and groups are of the
    /// arguments that `run` would make
    #[arg(long, value_name = "SIZES")]
    global_sizes: Option<String>,
    /// Local sizes of these [default: the largest up to 256 that divides the global size]
    #[arg(long, value_name = "SIZES", requires = "global_sizes")]
    local_sizes: Option<String>,
    #[command(flatten)]
    columns: Columns,
}

impl Predict {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        if Dataset::is_at(&self.model) {
            bail!(
                "{} is a data set and no model: `heuristic predict MODEL TASK`; `heuristic train TASK --out MODEL` makes one",
                self.model.display()
            );
        }
        if let Some(model) = CostModel::load(&self.model)? {
            if self.global_sizes.is_some() {
                bail!(
                    "--global-sizes is for models of cpu-gpu: {} predicts costs, of vectors by `stampmill features`",
                    self.model.display()
                );
            }
            return self.predict_costs(&model, global);
        }
        let heuristic = Heuristic::load(&self.model)
            .with_context(|| format!("cannot use {}", self.model.display()))?;
        let task = match &self.global_sizes {
            Some(sizes) => self.unmeasured(sizes, global)?,
            None if self.is_kernels() => {
                let names = cpu_gpu();
                let what = match heuristic.features().iter().all(|name| names.contains(name)) {
                    true => "the model, of cpu-gpu, needs --global-sizes, for example 2^16",
                    false => return Err(self.wants_vectors(&spaces_of(heuristic.features()), None)),
                };
                bail!("{} holds programs: {what}", self.task.display())
            }
            None => self.columns.read(&self.task, global)?.task,
        };
        // What the model learned from is enough; where it is not there, the error says so.
        let task = task.select(heuristic.features()).unwrap_or(task);
        let report = heuristics::predict(&heuristic, &task)?;
        output::report(global, &report, || {
            let rows = report.predictions.iter().map(|prediction| {
                vec![
                    prediction.program.clone(),
                    prediction.variant.clone(),
                    prediction.choice.clone(),
                    prediction.label.clone().unwrap_or_else(|| "unknown".into()),
                ]
            });
            output::print_table(&["program", "input", "choice", "best"], rows)?;
            if let Some(scores) = &report.scores {
                let rows = [super::score_row(&report.model, scores)];
                super::print_scores(rows, Some(scores))?;
                super::say_trained_on(report.trained_on, report.predictions.len())?;
            }
            Ok(())
        })?;
        Ok(ExitCode::from(u8::from(report.predictions.is_empty())))
    }

    fn is_kernels(&self) -> bool {
        match Programs::open(&self.task) {
            Ok(Programs::Files(..)) => true,
            Ok(Programs::Dataset(found)) => PROGRAMS.contains(&found.manifest().schema.as_str()),
            Err(_) => false,
        }
    }

    /// That programs were given where vectors of these spaces are wanted, and the commands that make them; `level`: the option that
    /// says at which level of optimization, where the model knows.
    fn wants_vectors(&self, spaces: &[&str], level: Option<String>) -> anyhow::Error {
        let (programs, model) = (self.task.display(), self.model.display());
        // Features of a table name no space.
        let space = match spaces {
            [] => " --space SPACE".to_owned(),
            spaces => format!(" --space {}", spaces.join(",")),
        };
        let (level, more) = match level {
            Some(level) => (level, ""),
            None => (String::new(), " (and the --opt of the vectors that it was trained on)"),
        };
        anyhow!(
            "{programs} holds programs, and the model reads vectors: `stampmill features {programs}{space}{level} --out vectors`{more}, \
             then `heuristic predict {model} vectors`"
        )
    }

    /// The kernels that were given as rows of a task; what is none is named on standard error.
    fn unmeasured(&self, sizes: &str, global: &Global) -> anyhow::Result<Task> {
        let sizes = device::sizes(sizes)?;
        let groups = self.local_sizes.as_deref().map_or(Ok(Vec::new()), device::sizes)?;
        headers::say(&self.task, global);
        let (vectors, _) = label::vectors(&self.task, global, interrupt::flag()?.as_ref())?;
        let found = device::unmeasured(&self.task, &vectors, &sizes, &groups)?;
        if !global.is_quiet() {
            for (kernel, why) in found.left_out.iter().take(NAMED) {
                eprintln!("{}", output::plain(&format!("{kernel}: {why}")));
            }
            if let Some(more @ 1..) = found.left_out.len().checked_sub(NAMED) {
                eprintln!("and {} more without a prediction", output::count(more as u64));
            }
        }
        let rows = found.rows.into_iter().map(|row| Row {
            features: row.features().map(|(_, value)| value).to_vec(),
            program: row.program,
            variant: row.variant,
            group: row.group,
            costs: Vec::new(),
            label: 0,
        });
        Ok(Task { features: cpu_gpu(), choices: Vec::new(), rows: rows.collect() })
    }

    fn predict_costs(&self, model: &CostModel, global: &Global) -> anyhow::Result<ExitCode> {
        if self.is_kernels() {
            let (spaces, level) = model.described_in();
            let level = level.map(|level| format!(" --opt {level}"));
            return Err(self.wants_vectors(&spaces, Some(level.unwrap_or_default())));
        }
        let table = match super::costs_of(&self.task)? {
            Some(table) => table,
            None if Dataset::is_at(&self.task) && !Task::is_at(&self.task) => {
                Table::of_vectors(&self.task)?
            }
            None => self.columns.read_table(&self.task, global)?,
        };
        let left_out: Vec<String> =
            table.left_out.iter().map(|(why, count)| format!("{count} rows {why}")).collect();
        if !left_out.is_empty() && !global.is_quiet() {
            eprintln!("{}: {}", self.task.display(), left_out.join(", "));
        }
        let report = model.predict(&table)?;
        output::report(global, &report, || {
            let rows = report.predictions.iter().map(|one| {
                let cost = one.cost.map_or("unknown".to_owned(), |cost| format!("{cost:.1}"));
                vec![
                    one.program.clone(),
                    one.variant.clone(),
                    format!("{:.1}", one.predicted),
                    cost,
                ]
            });
            let predicted = format!("predicted {}", report.choice);
            output::print_table(&["program", "input", &predicted, &report.choice], rows)?;
            if let Some(error) = &report.error {
                output::line(&format!(
                    "error: {:.3} (root of the mean squared difference of log2), half of them within a factor of {:.2}",
                    error.root, error.median_factor
                ))?;
                super::say_trained_on(report.trained_on, report.predictions.len())?;
            }
            Ok(())
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The feature spaces that names such as `grewe:comp` are of.
fn spaces_of(names: &[String]) -> Vec<&str> {
    let mut spaces: Vec<&str> =
        names.iter().filter_map(|name| Some(name.split_once(':')?.0)).collect();
    spaces.sort_unstable();
    spaces.dedup();
    spaces
}

/// Names of the features of a task of cpu-gpu.
fn cpu_gpu() -> Vec<String> {
    CpuGpuRow::default().features().map(|(name, _)| name.to_owned()).to_vec()
}
