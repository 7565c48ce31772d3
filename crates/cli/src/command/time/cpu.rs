//! `stampmill time cpu`: a built-in processor file, to read or to begin one's own from.

use crate::output;
use std::process::ExitCode;

/// Print a built-in processor file, with what each value means and where it is from
#[derive(clap::Args, Debug)]
#[command(after_help = help!("time-cpu"))]
pub(super) struct Cpu {
    /// skylake or zen4
    name: String,
}

impl Cpu {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let text = timing::Cpu::text(&self.name)
            .ok_or_else(|| anyhow::anyhow!("`{}` is neither skylake nor zen4", self.name))?;
        output::line(text.trim_end())?;
        Ok(ExitCode::SUCCESS)
    }
}
