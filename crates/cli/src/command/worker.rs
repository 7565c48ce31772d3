//! `stampmill worker`: hidden; what this program does when it starts itself as a worker.

use crate::Global;
use std::process::ExitCode;

/// Answer requests over standard input and output, inside a sandbox
#[derive(clap::Args, Debug)]
pub(crate) struct Worker {
    /// Which kind of worker
    #[arg(value_enum)]
    kind: Kind,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum Kind {
    /// Reads LLVM modules for features
    Modules,
    /// Reads LLVM modules for IR data sets
    Ir,
    /// Optimises LLVM modules and says what they cost
    Costs,
}

impl Worker {
    pub(crate) fn run(self, _: &Global) -> anyhow::Result<ExitCode> {
        match self.kind {
            Kind::Modules => features::serve_modules()?,
            Kind::Ir => ir::serve()?,
            Kind::Costs => cost::serve()?,
        }
        Ok(ExitCode::SUCCESS)
    }
}
