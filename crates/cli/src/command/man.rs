//! `stampmill man`: manual pages of all commands.

use crate::{Global, output};
use anyhow::Context;
use clap::CommandFactory;
use serde::Serialize;
use std::{fs, path::PathBuf, process::ExitCode};

/// Write a manual page for each command
#[derive(clap::Args, Debug)]
#[command(after_help = help!("man"))]
pub(crate) struct Man {
    /// The folder for the pages
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
}

#[derive(Serialize)]
struct Report {
    pages: usize,
}

impl Man {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let written = || format!("cannot write manual pages to {}", self.out.display());
        fs::create_dir_all(&self.out).with_context(written)?;
        let command = crate::tasks::shown(crate::Arguments::command());
        let pages = count(&command);
        clap_mangen::generate_to(command, &self.out).with_context(written)?;
        output::report(global, &Report { pages }, || {
            output::line(&format!("{pages} manual pages in {}", self.out.display()))
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Commands that help shows, this one among them.
fn count(command: &clap::Command) -> usize {
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    1 + shown.map(count).sum::<usize>()
}
