//! `stampmill completions`: what a shell needs to complete commands and options.

use crate::{Global, output};
use anyhow::bail;
use clap::{Arg, Command, CommandFactory, ValueEnum, builder::PossibleValuesParser};
use clap_complete::Shell;
use std::process::ExitCode;

/// Print a script that completes commands and options in a shell
#[derive(clap::Args, Debug)]
#[command(after_help = help!("completions"))]
pub(crate) struct Completions {
    /// The shell [default: that of the variable SHELL]
    shell: Option<Shell>,
}

impl Completions {
    pub(crate) fn run(self, _: &Global) -> anyhow::Result<ExitCode> {
        let Some(shell) = self.shell.or_else(Shell::from_env) else {
            let names = Shell::value_variants().iter().map(Shell::to_string);
            bail!("which shell? one of {}", names.collect::<Vec<_>>().join(", "));
        };
        output::bytes(&script(shell))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn script(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    let mut command =
        suggesting("", without_hidden(&crate::tasks::shown(crate::Arguments::command())));
    clap_complete::generate(shell, &mut command, "stampmill", &mut script);
    script
}

/// The same options and commands, without the commands that a person has no use for.
fn without_hidden(command: &Command) -> Command {
    Command::new("stampmill")
        .args(command.get_arguments())
        .subcommands(command.get_subcommands().filter(|one| !one.is_hide_set()))
}

/// The same command with the words that its options know: only a shell sees them, as these options take more than one of
/// them or say themselves what is wrong with another.
fn suggesting(path: &str, command: Command) -> Command {
    let command = command.mut_args(|arg| match words(path, &arg) {
        Some(words) => {
            let none = Vec::<&str>::new();
            arg.value_parser(PossibleValuesParser::new(words)).default_values(none)
        }
        None => arg,
    });
    command.mut_subcommands(|inner| {
        let path = format!("{path} {}", inner.get_name());
        suggesting(path.trim_start(), inner)
    })
}

/// The words that an option takes, where its parser does not name them.
fn words(path: &str, arg: &Arg) -> Option<Vec<&'static str>> {
    Some(match (path, arg.get_long()?) {
        (_, "space") => features::ALL.map(|space| space.name()).to_vec(),
        (_, "licenses") => vec!["permissive", "osi", "all"],
        ("ir license", "policy") => vec!["compile", "permissive", "osi", "all"],
        ("ir export", "format") => vec!["compile", "mlgo", "text"],
        ("run", "devices") => vec!["cpu", "gpu", "all"],
        ("train", "model") => lm::Kind::ALL.map(|kind| kind.name()).to_vec(),
        ("heuristic train" | "heuristic crossval" | "heuristic explain", "model") => {
            heuristics::LEARNERS.iter().map(|learner| learner.name()).collect()
        }
        ("heuristic reproduce", "recipe") => {
            heuristics::RECIPES.iter().map(|recipe| recipe.name()).collect()
        }
        ("learn", "strategy") => vec!["active", "expected-error", "passive"],
        ("learn", "task") => vec!["cpu-gpu", "local-size:"],
        ("steer", "metric") => vec!["standardised", "euclidean", "own"],
        (_, "cpu") if path.starts_with("time") || path.starts_with("edits") => {
            timing::Cpu::NAMES.to_vec()
        }
        ("edits validate", "form") => edits::schema::FORMS.map(|form| form.name).to_vec(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shell_learns_of_commands_and_their_options() {
        for shell in Shell::value_variants() {
            let text = String::from_utf8(script(*shell)).unwrap();
            assert!(["fsck", "self-play", "verify-hashes"].iter().all(|word| text.contains(word)));
            let hidden = ["--parent", "-l parent", "stampmill__worker"];
            assert!(hidden.iter().all(|word| !text.contains(word)), "a hidden command in {shell}");
            let values =
                ["grewe-fixed", "ast-depth", "permissive", "zen4", "expected-error", "mlgo"];
            // What these two list are options alone.
            if !matches!(shell, Shell::Elvish | Shell::PowerShell) {
                for value in values {
                    assert!(text.contains(value), "{value} in {shell}");
                }
            }
        }
    }

    #[test]
    fn what_is_suggested_is_taken() {
        fn check(path: &str, command: &Command, found: &mut Vec<String>) {
            for arg in command.get_arguments() {
                for word in words(path, arg).into_iter().flatten() {
                    let words = ["stampmill"].into_iter().chain(path.split(' '));
                    let words: Vec<String> = words.map(str::to_owned).collect();
                    let line =
                        [words, vec![format!("--{}={word}", arg.get_long().unwrap())]].concat();
                    let told = crate::Arguments::command().try_get_matches_from(line).err();
                    let wrong = clap::error::ErrorKind::ValueValidation;
                    let told = told.filter(|told| told.kind() == wrong && !word.ends_with(':'));
                    assert!(told.is_none(), "{path} --{:?} {word}: {told:?}", arg.get_long());
                }
                found.extend(
                    words(path, arg).and(arg.get_long()).map(|long| format!("{path} {long}")),
                );
            }
            for inner in command.get_subcommands() {
                check(format!("{path} {}", inner.get_name()).trim_start(), inner, found);
            }
        }
        let mut found = Vec::new();
        check("", &crate::Arguments::command(), &mut found);
        for option in [
            "features space",
            "ir export format",
            "train model",
            "heuristic train model",
            "edits judge cpu",
        ] {
            assert!(found.iter().any(|known| known == option), "{option} in {found:?}");
        }
    }
}
