use super::{reader, show, wrapper};
use crate::{Global, destination::StageOutput, interrupt, progress::Bar};
use dataset::stage;
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
        let cancelled = interrupt::flag()?;
        let reader = reader(global)?;
        let stage = ir::Extract::new(&self.inputs, &reader, wrapper()?)?;
        let bar = Bar::new(global);
        let done = stage::run(&stage, &self.output.context(global.jobs(), &bar, &cancelled))?;
        drop(bar);
        show(&done, &self.output.out, global, done.summary.modules)
    }
}
