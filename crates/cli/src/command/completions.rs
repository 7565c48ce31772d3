//! `stampmill completions`: what a shell needs to complete commands and options.

use crate::{Global, output};
use clap::CommandFactory;
use clap_complete::Shell;
use std::process::ExitCode;

/// Print a script that completes commands and options in a shell
#[derive(clap::Args, Debug)]
#[command(after_help = help!("completions"))]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self, _: &Global) -> anyhow::Result<ExitCode> {
        output::bytes(&script(self.shell))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn script(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    let mut command = crate::tasks::shown(crate::Arguments::command());
    clap_complete::generate(shell, &mut command, "stampmill", &mut script);
    script
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn every_shell_learns_of_commands_and_their_options() {
        for shell in Shell::value_variants() {
            let text = String::from_utf8(script(*shell)).unwrap();
            assert!(["fsck", "self-play", "verify-hashes"].iter().all(|word| text.contains(word)));
        }
    }
}
