//! Tasks as a user names them: a `task` data set, or a table and what its columns mean.

use crate::{Global, command::run::is_kernels};
use heuristics::{Features, Group, Import, ImportOptions, Mapping, Origin, Table, Task, import};
use std::path::{Path, PathBuf};

/// Groups that an error names.
const GROUPS: usize = 12;

/// What the columns of a table mean; the defaults read the CLgen paper's files. Of these a `task`
/// data set takes `--features` only.
#[derive(clap::Args, Debug, Clone, serde::Serialize)]
pub(super) struct Columns {
    /// Column with the program's name
    #[arg(long, value_name = "COLUMN", default_value = "benchmark")]
    program: String,
    /// Column with the input's name; empty: none
    #[arg(long, value_name = "COLUMN", default_value = "dataset")]
    variant: String,
    /// Column whose rows are held out together, or `program` [default: the suite in the program's name]
    #[arg(long, value_name = "COLUMN")]
    group: Option<String>,
    /// Features: `grewe`, `extended`, or comma-separated columns [default: all of a task, `grewe` of a
    /// table]
    #[arg(long, value_name = "NAMES")]
    features: Option<String>,
    /// Costs of the choices: comma-separated NAME=COLUMN; empty: not measured
    #[arg(long, value_name = "COSTS", default_value = "CPU=runtime_cpu,GPU=runtime_gpu")]
    costs: String,
    /// Keep rows with invalid counters
    #[arg(long)]
    keep_garbage: bool,
}

impl Columns {
    /// The same, with what a table says beyond a task: nothing.
    pub(super) fn read_table(&self, source: &Path, global: &Global) -> anyhow::Result<Table> {
        let task = self.read(source, global)?.task;
        let origins = vec![Origin::default(); task.rows.len()];
        Ok(Table { name: source.display().to_string(), task, origins, ..Table::default() })
    }

    /// Which option names another column than one that is not there.
    fn explained(&self, error: heuristics::Error) -> anyhow::Error {
        let heuristics::Error::MissingColumn { column, .. } = &error else { return error.into() };
        let option = match column {
            column if *column == self.program => "--program names the one of programs' names",
            column if *column == self.variant => {
                "--variant names the one of their variants ('' where there is none)"
            }
            column if self.costs.contains(column.as_str()) => "--costs names those of costs",
            _ => return error.into(),
        };
        anyhow::anyhow!("{error}; {option}")
    }

    /// Read `source`, naming rejected rows on standard error.
    pub(super) fn read(&self, source: &Path, global: &Global) -> anyhow::Result<Import> {
        if let (true, Some(group)) = (Task::is_at(source), &self.group) {
            let task = Table::load(source)?.task;
            let there: Vec<&str> = task.groups().into_iter().collect();
            let what = match there.contains(&group.as_str()) {
                true => "takes a column of a CSV table",
                false => "is no group that is known",
            };
            let more = there.len().saturating_sub(GROUPS);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            anyhow::bail!(
                "--group {group} {what}: {} is a task, whose groups were chosen when it was made (`label --group`); \
                 it has {}{more}, and each is held out in turn",
                source.display(),
                there[..there.len().min(GROUPS)].join(", ")
            );
        }
        if is_kernels(source) {
            anyhow::bail!(
                "{} is a data set of kernels and no task: run them and `stampmill label` the runs, or `stampmill label --task` them",
                source.display()
            );
        }
        let features = self.features.as_deref().map(features);
        let mut mapping = Mapping::cgo17(features.clone().unwrap_or(Features::Grewe));
        mapping.program.clone_from(&self.program);
        mapping.variant = Some(self.variant.clone()).filter(|column| !column.is_empty());
        match self.group.as_deref() {
            None => {}
            Some("program") => mapping.group = Group::Program,
            Some(column) => mapping.group = Group::Column(column.to_owned()),
        }
        let cost = |cost: &str| {
            let (name, column) = cost.split_once('=').unwrap_or((cost, cost));
            (name.trim().to_owned(), column.trim().to_owned())
        };
        mapping.costs =
            self.costs.split(',').filter(|text| !text.trim().is_empty()).map(cost).collect();
        let options =
            ImportOptions { source: source.to_owned(), mapping, keep_garbage: self.keep_garbage };
        let mut import = import(&options).map_err(|error| self.explained(error))?;
        if let (true, Some(features)) = (Task::is_at(source), features) {
            import.task = import.task.select(&features.names())?;
        }
        if !global.is_quiet() {
            for (verdict, count) in &import.verdicts {
                if verdict != dataset::Verdict::ACCEPTED {
                    eprintln!("{}: {count} rows {verdict}", source.display());
                }
            }
        }
        if global.verbose > 0 {
            for (line, verdict) in &import.notes {
                eprintln!("{}:{line}: {verdict}", source.display());
            }
        }
        Ok(import)
    }
}

fn features(names: &str) -> Features {
    match names {
        "grewe" => Features::Grewe,
        "extended" => Features::Extended,
        names => Features::Columns(names.split(',').map(|name| name.trim().to_owned()).collect()),
    }
}

/// A task, and perhaps rows to add to its training sets.
#[derive(clap::Args, Debug, Clone)]
pub(super) struct Source {
    /// A `task` data set or a CSV table (.csv, .csv.gz)
    task: PathBuf,
    /// Rows added to every training set, never tested on; both results are reported
    #[arg(long, value_name = "TASK")]
    extra: Option<PathBuf>,
    #[command(flatten)]
    columns: Columns,
}

impl Source {
    /// Rows whose family is in several groups; of a table, which says no families, none.
    pub(super) fn leaking(&self) -> anyhow::Result<usize> {
        Ok(if Task::is_at(&self.task) { Table::load(&self.task)?.leaking() } else { 0 })
    }

    pub(super) fn read(
        &self,
        global: &Global,
    ) -> anyhow::Result<(heuristics::Task, Option<heuristics::Task>)> {
        let task = self.columns.read(&self.task, global)?.task;
        if let Some(extra) = &self.extra
            && Task::is_at(&self.task)
            && Task::is_at(extra)
        {
            Table::load(&self.task)?.same_question(&Table::load(extra)?)?;
        }
        let extra = match &self.extra {
            Some(path) => Some(self.columns.read(path, global)?.task),
            None => None,
        };
        Ok((task, extra))
    }
}
