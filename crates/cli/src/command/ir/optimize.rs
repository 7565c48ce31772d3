use super::{print_modules, reader};
use crate::{Global, destination::StageOutput, interrupt, output, progress::Bar, stage};
use ir::{Plan, Stop};
use std::{path::PathBuf, process::ExitCode, time::Duration};

/// Run a pipeline of LLVM's passes on modules: the modules after it, or after any of its passes, or what each pass did
#[derive(clap::Args, Debug)]
#[command(alias = "optimise", after_help = help!("ir-optimize"))]
pub(crate) struct Optimize {
    /// A data set of modules
    dataset: PathBuf,
    #[command(flatten)]
    output: StageOutput,
    /// Passes, as LLVM's `opt -passes` takes them; a level alone (O2) is `default<O2>`
    #[arg(long, alias = "passes", value_name = "PASSES", default_value = "default<O3>", value_parser = pipeline)]
    pipeline: String,
    /// Make a row for each run of a pass on a function
    #[arg(long)]
    after_each: bool,
    /// Stop after N runs of passes on a module, or after the K-th run of a pass on each function: N, PASS or PASS:K
    #[arg(long, value_name = "STOP")]
    stop_after: Option<Stop>,
    /// Time limit of one module, at most 1h
    #[arg(long, value_name = "TIME", default_value = "3m", value_parser = limit)]
    limit: Duration,
    /// Do not keep times of passes, so that two runs make equal rows
    #[arg(long, requires = "after_each")]
    no_times: bool,
}

/// A pipeline; of a level as compilers write it, LLVM's own.
#[expect(clippy::unnecessary_wraps, reason = "clap wants a result")]
fn pipeline(text: &str) -> Result<String, std::convert::Infallible> {
    let level = text.trim_start_matches('-');
    let is_level = ["O0", "O1", "O2", "O3", "Os", "Oz"].contains(&level);
    Ok(if is_level { format!("default<{level}>") } else { text.to_owned() })
}

fn limit(text: &str) -> Result<Duration, String> {
    let limit = crate::duration::limit(text)?;
    if limit > ir::LONGEST {
        return Err("no module is given more than 1h".to_owned());
    }
    Ok(limit)
}

impl Optimize {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let reader = reader(global)?;
        let bar = Bar::new(global);
        let context = self.output.context(global.jobs(), &bar, &interrupt::flag()?);
        let plan = Plan { pipeline: self.pipeline, stop: self.stop_after };
        if self.after_each {
            let times = !self.no_times;
            let passes = ir::Passes::new(&self.dataset, &reader, plan, self.limit, times)?;
            return stage::run(&passes, &context, global);
        }
        let optimize = ir::Optimize::new(&self.dataset, &reader, plan, self.limit)?;
        stage::run(&optimize, &context, global)
    }
}

impl stage::Shown for ir::Optimize<'_> {
    fn print(report: &ir::Report, seconds: f64, out: &str) -> anyhow::Result<()> {
        // The packages were built before.
        print_modules(&ir::Report { packages: 0, ..report.clone() }, seconds, out)
    }

    fn is_good(report: &ir::Report) -> bool {
        report.modules > 0
    }
}

impl stage::Shown for ir::Passes<'_> {
    fn print(report: &ir::PassesReport, seconds: f64, out: &str) -> anyhow::Result<()> {
        let count = output::count;
        let mut passes: Vec<_> =
            report.passes.iter().filter(|(_, sums)| sums.changed > 0).collect();
        passes.sort_by_key(|(name, sums)| (std::cmp::Reverse(sums.changed), *name));
        let rows = passes.iter().map(|(name, sums)| {
            vec![
                (*name).clone(),
                count(sums.runs),
                count(sums.functions),
                count(sums.changed),
                output::percent(sums.changed, report.functions),
                count(sums.added),
                count(sums.removed),
                format!("{:+}", sums.instructions),
            ]
        });
        let header =
            ["pass", "runs", "functions", "changed", "of all", "added", "removed", "instructions"];
        output::print_table(&header, rows)?;
        output::line(&format!(
            "{} runs of {} passes on {} functions of {} modules ({} failed); {} passes changed nothing; in {seconds:.1} s",
            count(report.runs),
            report.passes.len(),
            count(report.functions),
            count(report.modules),
            count(report.failed),
            report.passes.len() - passes.len()
        ))?;
        output::line(&format!(
            "times: stampmill query \"SELECT pass, sum(seconds) AS s FROM p GROUP BY pass ORDER BY s DESC\" p={out}"
        ))
    }

    fn is_good(report: &ir::PassesReport) -> bool {
        report.modules > 0
    }
}
