use super::{print_modules, reader, wrapper};
use crate::{Global, destination::StageOutput, interrupt, progress::Bar, stage};
use dataset::stage::Done;
use std::{path::PathBuf, process::ExitCode};

/// Extract modules from stores, objects, archives, corpora and compilation databases
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Inputs: the store of `ir wrap`; ml-compiler-opt's corpora (corpus_description.json); objects and\n\
archives with embedded bitcode (.llvmbc); compile_commands.json; .bc and .ll; folders of these.\n\n\
Examples:\n  \
    stampmill ir extract ir-store --out modules\n  \
    stampmill ir extract corpus/ libfoo.a a.o --out modules\n  \
    stampmill ir extract build/compile_commands.json --out modules"
)]
pub(crate) struct Extract {
    /// What to extract modules from
    #[arg(value_name = "INPUT", required = true)]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    output: StageOutput,
}

impl Extract {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let reader = reader(global)?;
        let bar = Bar::new(global);
        let context = self.output.context(global.jobs(), &bar, &interrupt::flag()?);
        stage::run(&ir::Extract::new(&self.inputs, &reader, wrapper()?)?, &context, global)
    }
}

impl stage::Shown for ir::Extract<'_> {
    fn print(done: &Done<ir::Report>, out: &str) -> anyhow::Result<()> {
        print_modules(done, out)
    }

    fn is_good(report: &ir::Report) -> bool {
        report.modules > 0
    }
}
