use super::reader;
use crate::{
    Global, command::time::Bounds, destination::StageOutput, interrupt, output, progress::Bar,
    stage,
};
use ir::{Cycles, CyclesReport, Stdin};
use std::{path::PathBuf, process::ExitCode};

/// Run modules that define `main` on a simulated CPU: the cycles of each program and of each of its functions
#[derive(clap::Args, Debug)]
#[command(after_help = help!("ir-run"))]
pub(crate) struct Run {
    /// A data set of modules
    dataset: PathBuf,
    #[command(flatten)]
    output: StageOutput,
    /// Standard input of every program [default: empty]
    #[arg(long, value_name = "FILE", conflicts_with = "inputs")]
    stdin: Option<PathBuf>,
    /// A folder of inputs, by the programs' source files: NAME.in, NAME.ANYTHING.in, NAME/ANYTHING.in
    #[arg(long, value_name = "DIR")]
    inputs: Option<PathBuf>,
    #[command(flatten)]
    bounds: Bounds,
}

impl Run {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let reader = reader(global)?;
        let bar = Bar::new(global);
        let context = self.output.context(global.jobs(), &bar, &interrupt::flag()?);
        let stdin = match (self.stdin, self.inputs) {
            (Some(file), _) => Stdin::File(file),
            (None, Some(folder)) => Stdin::Folder(folder),
            (None, None) => Stdin::Empty,
        };
        let cycles = Cycles::new(&self.dataset, &reader, stdin, &self.bounds.options())?;
        stage::run(&cycles, &context, global)
    }
}

impl stage::Shown for Cycles<'_> {
    fn print(report: &CyclesReport, seconds: f64, out: &str) -> anyhow::Result<()> {
        let count = output::count;
        let all = report.verdicts.values().sum();
        output::print_shares(["verdict", "programs", "share"], &report.verdicts, all)?;
        output::line(&format!(
            "{} programs ran: {} instructions, {} cycles on {}, {} of them in {} functions ({} executed), in {seconds:.1} s",
            count(report.programs),
            count(report.instructions),
            count(report.cycles),
            report.cpu,
            output::percent(report.function_cycles, report.cycles),
            count(report.functions),
            count(report.executed)
        ))?;
        if report.linked > 0 {
            output::line(&format!(
                "{} of the modules without a `main` have functions in these programs",
                count(report.linked)
            ))?;
        }
        output::line(&format!(
            "functions: stampmill query \"SELECT path, function, calls, cycles FROM c WHERE function <> '' ORDER BY cycles DESC LIMIT 20\" c={out}"
        ))
    }

    fn is_good(report: &CyclesReport) -> bool {
        report.programs > 0
    }

    fn is_nothing(manifest: &dataset::Manifest) -> bool {
        stage::is_all_rejected(manifest)
    }
}
