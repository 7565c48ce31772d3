//! `--config FILE.toml`: any flag of a command may stand in the file; the command line wins.

use anyhow::{Context, anyhow, bail};
use std::ffi::OsString;

/// The program's arguments with those of the configuration file, if one is named, put in.
pub(crate) fn arguments(command: &clap::Command) -> anyhow::Result<Vec<OsString>> {
    merge(command, std::env::args_os().collect())
}

fn merge(command: &clap::Command, given: Vec<OsString>) -> anyhow::Result<Vec<OsString>> {
    let Some(file) = value_of(&given, "--config") else { return Ok(given) };
    let text = std::fs::read_to_string(&file)
        .map_err(|error| anyhow!(dataset::refusal("read", file.as_ref(), &error)))?;
    let table: toml::Table =
        text.parse().with_context(|| format!("{file} is no configuration file"))?;
    let mut spoken = command.clone();
    for word in given.iter().skip(1).filter_map(|word| word.to_str()) {
        if let Some(inner) = spoken.find_subcommand(word) {
            spoken = inner.clone();
        }
    }
    let mut merged = given;
    for (name, value) in table {
        let name = name.replace('_', "-");
        let flag = format!("--{name}");
        let mut known = spoken.get_arguments().chain(command.get_arguments());
        let Some(argument) = known.find(|argument| argument.get_long() == Some(name.as_str()))
        else {
            bail!("{file}: `{}` has no flag `{flag}`", spoken.get_name());
        };
        // Values of their own, or one value with commas.
        let is_repeated = matches!(argument.get_action(), clap::ArgAction::Append)
            && argument.get_value_delimiter().is_none();
        let said = |word: &OsString| {
            word.to_str().is_some_and(|w| w == flag || w.starts_with(&format!("{flag}=")))
        };
        if merged.iter().any(said) {
            continue;
        }
        match value {
            toml::Value::Boolean(true) => merged.push(flag.into()),
            toml::Value::Boolean(false) => {}
            toml::Value::Array(values) if is_repeated => {
                merged.extend(values.iter().map(|value| format!("{flag}={}", plain(value)).into()));
            }
            toml::Value::Array(values) => {
                let values: Vec<String> = values.iter().map(plain).collect();
                merged.push(format!("{flag}={}", values.join(",")).into());
            }
            value => merged.push(format!("{flag}={}", plain(&value)).into()),
        }
    }
    Ok(merged)
}

fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn value_of(arguments: &[OsString], flag: &str) -> Option<String> {
    let mut words = arguments.iter().filter_map(|word| word.to_str());
    while let Some(word) = words.next() {
        if word == flag {
            return words.next().map(str::to_owned);
        }
        if let Some(value) = word.strip_prefix(flag).and_then(|rest| rest.strip_prefix('=')) {
            return Some(value.to_owned());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::merge;
    use clap::{Arg, ArgAction, Command};
    use std::{ffi::OsString, io::Write};

    fn merged(file: &str, line: &str) -> anyhow::Result<Vec<OsString>> {
        let mut config = tempfile::NamedTempFile::new()?;
        config.write_all(file.as_bytes())?;
        let command = Command::new("b").subcommand(
            Command::new("c")
                .arg(Arg::new("out").long("out"))
                .arg(Arg::new("target").long("target").action(ArgAction::Append))
                .arg(Arg::new("force").long("force").action(ArgAction::SetTrue)),
        );
        let path = config.path().display().to_string();
        let line = format!("b c {line} --config {path}");
        let mut words = merge(&command, line.split_whitespace().map(OsString::from).collect())?;
        words.retain(|word| word != "--config" && *word != OsString::from(&path));
        Ok(words)
    }

    #[test]
    fn flags_in_the_file_count_and_the_command_line_wins() -> anyhow::Result<()> {
        let file = "out = \"x\"\nforce = true\n";
        assert_eq!(merged(file, "")?, ["b", "c", "--force", "--out=x"]);
        assert_eq!(merged(file, "--out y")?, ["b", "c", "--out", "y", "--force"]);
        Ok(())
    }

    #[test]
    fn a_list_is_several_values_or_one_with_commas() -> anyhow::Result<()> {
        let file = "out = [\"x\", \"y\"]\ntarget = [\"a=1,b=2\", \"a=3\"]\n";
        let words = ["b", "c", "--out=x,y", "--target=a=1,b=2", "--target=a=3"];
        assert_eq!(merged(file, "")?, words);
        Ok(())
    }

    #[test]
    fn a_flag_the_command_does_not_have_is_named() {
        let error = merged("outt = 1", "").expect_err("no such flag").to_string();
        assert!(error.contains("--outt"), "{error}");
    }
}
