//! `stampmill man`: manual pages of all commands.

use crate::{Global, output};
use anyhow::Context;
use clap::{Command, CommandFactory};
use serde::Serialize;
use std::{
    fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
};

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
        let mut command = command.disable_help_subcommand(true);
        command.build();
        write(&command, &self.out).with_context(written)?;
        output::report(global, &Report { pages }, || {
            output::line(&format!("{pages} manual pages in {}", self.out.display()))?;
            let parent = self.out.parent().filter(|parent| !parent.as_os_str().is_empty());
            let how = match parent.filter(|_| self.out.ends_with("man1")) {
                Some(parent) => format!("-M {} stampmill-steer", parent.display()),
                // With a `/` in it a name is a file's.
                None => self.out.join("stampmill-steer.1").display().to_string(),
            };
            output::hint(&format!("read one: man {how}"))
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Write the page of a command, and those of the commands below it.
fn write(command: &Command, folder: &Path) -> io::Result<()> {
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        write(inner, folder)?;
    }
    let man = clap_mangen::Man::new(command.clone());
    let (mut page, mut synopsis) = (Vec::new(), Vec::new());
    man.render(&mut page)?;
    man.render_synopsis_section(&mut synopsis)?;
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).map_err(io::Error::other);
    let (page, synopsis) = (text(page)?, text(synopsis)?);
    // The first lines set up the macros.
    let synopsis = synopsis.split_once(".SH SYNOPSIS").map_or("", |(_, rest)| rest);
    let page = page.replacen(synopsis, &with_values(synopsis, command), 1);
    // Examples are copied: no blanks are put in to fill a line, no word is divided.
    let page = page.replacen(".SH NAME", ".ad l\n.nh\n.SH NAME", 1);
    fs::write(folder.join(man.get_filename()), page)
}

/// A synopsis with the names of the options' values.
fn with_values(synopsis: &str, command: &Command) -> String {
    let mut synopsis = synopsis.to_owned();
    for arg in command.get_arguments().filter(|arg| arg.get_action().takes_values()) {
        let (Some(long), Some(names)) = (arg.get_long(), arg.get_value_names()) else { continue };
        let option = format!("\\-\\-{}\\fR", long.replace('-', "\\-"));
        let names = names.join(" ").replace('-', "\\-");
        synopsis = synopsis.replacen(&option, &format!("{option} \\fI{names}\\fR"), 1);
    }
    synopsis
}

/// Commands that help shows, this one among them.
fn count(command: &Command) -> usize {
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    1 + shown.map(count).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_synopsis_names_the_values_of_options() {
        let folder = tempfile::tempdir().unwrap();
        let mut command = crate::Arguments::command();
        command.build();
        write(&command, folder.path()).unwrap();
        let page = fs::read_to_string(folder.path().join("stampmill-features.1")).unwrap();
        let synopsis = page.split(".SH").find(|part| part.starts_with(" SYNOPSIS")).unwrap();
        assert!(synopsis.contains("\\-\\-space\\fR \\fISPACES\\fR]"), "{synopsis}");
        assert!(synopsis.contains("\\-\\-force\\fR]"), "{synopsis}");
    }
}
