use super::reader;
use crate::{Global, output, progress::Bar};
use ir::{Compared, DiffReport};
use std::{path::PathBuf, process::ExitCode};

/// Differences that are printed; `--json` has all.
const SHOWN: usize = 40;

/// Compare two data sets of modules, or two modules: which modules and functions are in one alone, and which changed
#[derive(clap::Args, Debug)]
#[command(after_help = help!("ir-diff"))]
pub(crate) struct Diff {
    /// A data set of modules, or a module (.bc, .ll)
    first: PathBuf,
    /// What it is compared with
    second: PathBuf,
}

impl Diff {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let reader = reader(global)?;
        let bar = Bar::new(global);
        let report = ir::diff(&self.first, &self.second, &reader, &bar)?;
        drop(bar);
        output::report(global, &report, || print(&report))?;
        Ok(output::status(report.is_same()))
    }
}

fn print(report: &DiffReport) -> anyhow::Result<()> {
    let count = output::count;
    let rows = report.differences.iter().take(SHOWN).map(|one| {
        vec![
            one.module.clone(),
            one.function.clone(),
            one.change.clone(),
            count(one.instructions_before),
            count(one.instructions_after),
        ]
    });
    if !report.is_same() {
        output::print_table(&["module", "function", "", "instructions", "after"], rows)?;
    }
    if report.differences.len() > SHOWN {
        let more = (report.differences.len() - SHOWN) as u64;
        output::line(&format!("and {} more, which --json prints", count(more)))?;
    }
    let said = |what: &str, of: Compared| {
        format!(
            "{what}: {} the same, {} changed, {} only in the first, {} only in the second",
            count(of.same),
            count(of.changed),
            count(of.only_first),
            count(of.only_second)
        )
    };
    output::line(&said("modules", report.modules))?;
    output::line(&said("functions of modules in both", report.functions))?;
    if report.failed > 0 {
        output::line(&format!("modules that could not be read: {}", count(report.failed)))?;
    }
    output::line(&format!(
        "instructions: {} and {}",
        count(report.instructions_before),
        count(report.instructions_after)
    ))
}
