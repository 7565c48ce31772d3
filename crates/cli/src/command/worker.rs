//! `benchstone worker`: hidden; what this program does when it starts itself as a worker.

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
    /// Reads LLVM modules
    Modules,
}

impl Worker {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.kind {
            Kind::Modules => features::serve_modules()?,
        }
        Ok(ExitCode::SUCCESS)
    }
}
