//! `stampmill time cpu`: a built-in processor file, to read or to begin one's own from.

use crate::output;
use std::process::ExitCode;

/// Print a built-in processor file, with what each value means and where it is from
#[derive(clap::Args, Debug)]
#[command(after_help = help!("time-cpu"))]
pub(super) struct Cpu {
    /// skylake, zen4 (x86-64), neoverse-n1 (AArch64) or sifive-p550 (RISC-V)
    name: String,
}

impl Cpu {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let text = timing::Cpu::text(&self.name)
            .ok_or_else(|| anyhow::anyhow!("`{}` is none of {}", self.name, timing::built_in()))?;
        output::line(text.trim_end())?;
        Ok(ExitCode::SUCCESS)
    }
}
