//! What to do where a command line is not taken, as far as that is known better than clap knows it.

use clap::{
    Command,
    builder::StyledStr,
    error::{ContextKind, ContextValue, ErrorKind},
};
use std::{ffi::OsString, path::Path};

/// Names that other programs have for how many things are shown or done, and those that commands have for it here.
const COUNTS: [&str; 7] = ["n", "limit", "count", "number", "max", "first", "head"];
const COUNTED: [&str; 3] = ["n", "programs", "sample"];

/// Words that a command does not take, and what there is in their place.
const ELSEWHERE: [(&str, &str, &str); 6] = [
    ("fetch", "--list", "without a name the names are listed"),
    ("ir", "show", "`stampmill show DATASET` prints modules"),
    ("query", "--limit", "LIMIT N stands in the query, at its end"),
    ("time", "--net", "`stampmill time compare A B --net` compares times less start-up"),
    ("time", "--fail-above", "`stampmill time compare A B --fail-above 5` fails where B is slower"),
    ("time", "--markdown", "`stampmill time compare A B --markdown` prints Markdown"),
];

/// Put what to do beside what is wrong with `arguments`.
pub(crate) fn advise(error: &mut clap::Error, command: &Command, arguments: &[OsString]) {
    if error.kind() == ErrorKind::InvalidValue {
        suggest(error);
        return;
    }
    no_subcommand(error, command, arguments);
    if !matches!(error.kind(), ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand) {
        return;
    }
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    let given = text(ContextKind::InvalidArg).or_else(|| text(ContextKind::InvalidSubcommand));
    let Some(given) = given else { return };
    let command = spoken(command, arguments);
    // `-- --limit` is what nobody means, but where words are handed on.
    if !command.get_positionals().any(clap::Arg::is_last_set) {
        error.remove(ContextKind::Suggested);
    }
    if let Some(tip) = tip(command, &given) {
        // The usage is then that of an argument which was not meant.
        if error.remove(ContextKind::SuggestedArg).is_some() {
            error.remove(ContextKind::Usage);
        }
        let tip = ContextValue::StyledStrs(vec![StyledStr::from(tip)]);
        error.insert(ContextKind::Suggested, tip);
    }
}

/// Name the value that is likeliest to be meant by one that there is not, where clap, which looks at how words begin, knows none.
fn suggest(error: &mut clap::Error) {
    let (Some(ContextValue::String(given)), Some(ContextValue::Strings(there))) =
        (error.get(ContextKind::InvalidValue), error.get(ContextKind::ValidValue))
    else {
        return;
    };
    let near = dataset::near(given, there.iter().map(String::as_str)).map(str::to_owned);
    if let (Some(near), None) = (near, error.get(ContextKind::SuggestedValue)) {
        error.insert(ContextKind::SuggestedValue, ContextValue::String(near));
    }
}

/// A word behind options that no command is named by is an argument too many: clap takes it for a subcommand which these options
/// do not go with.
fn no_subcommand(error: &mut clap::Error, command: &Command, arguments: &[OsString]) {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidSubcommand) else {
        return;
    };
    let before = arguments.iter().position(|word| word == given.as_str()).unwrap_or(0);
    let is_one = spoken(command, &arguments[..before]).find_subcommand(given).is_some();
    if error.kind() != ErrorKind::ArgumentConflict || is_one {
        return;
    }
    let mut unknown = clap::Error::new(ErrorKind::UnknownArgument).with_cmd(command);
    unknown.insert(ContextKind::InvalidArg, ContextValue::String(given.clone()));
    if let Some(usage) = error.get(ContextKind::Usage) {
        unknown.insert(ContextKind::Usage, usage.clone());
    }
    *error = unknown;
}

/// The command that arguments are of.
fn spoken<'c>(command: &'c Command, arguments: &[OsString]) -> &'c Command {
    let words = arguments.iter().skip(1).filter_map(|word| word.to_str());
    words.fold(command, |found, word| found.find_subcommand(word).unwrap_or(found))
}

fn tip(command: &Command, given: &str) -> Option<String> {
    let name = command.get_name();
    let known = ELSEWHERE.iter().find(|(of, word, _)| *of == name && *word == given);
    if let Some((.., tip)) = known {
        return Some((*tip).to_owned());
    }
    let has = |flag: &&str| command.get_arguments().any(|one| one.get_long() == Some(*flag));
    if let Some(flag) = given.strip_prefix('-') {
        let is_count = COUNTS.contains(&flag.trim_start_matches('-'));
        let counted = COUNTED.into_iter().filter(|_| is_count).find(has)?;
        return Some(format!("--{counted} N says how many"));
    }
    if command.has_subcommands() {
        let is_there = Path::new(given).exists();
        return is_there.then(|| format!("`stampmill show {given}` shows what is there"));
    }
    let made = ["to", "out"].into_iter().find(has)?;
    Some(format!("--{made} names what is made: --{made} {given}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn said(line: &str) -> String {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let mut command = crate::Arguments::command();
        let mut error = command.try_get_matches_from_mut(&words).expect_err("is not taken");
        advise(&mut error, &command, &words);
        error.to_string()
    }

    #[test]
    fn what_is_not_taken_is_told_with_what_there_is() {
        for (line, tip) in [
            ("stampmill show k --count 3", "tip: --programs N says how many"),
            ("stampmill run k -n 3", "tip: --sample N says how many"),
            ("stampmill export k made", "tip: --to names what is made: --to made"),
            ("stampmill features k v", "tip: --out names what is made: --out v"),
            ("stampmill fetch --list", "tip: without a name the names are listed"),
            ("stampmill ir show k", "tip: `stampmill show DATASET` prints modules"),
            ("stampmill time a.c b.c --net", "tip: `stampmill time compare A B --net`"),
            ("stampmill src", "tip: `stampmill show src` shows what is there"),
            ("stampmill run k --device cpu", "tip: a similar argument exists: '--devices'"),
            ("stampmill opt a.c -O3", "use '-- -O'"),
            ("stampmill completions zhs", "tip: a similar value exists: 'zsh'"),
            ("stampmill completions zsssh", "[possible values: bash, elvish"),
            ("stampmill steer --target a=1 --budget 5 sec", "unexpected argument 'sec' found"),
            ("stampmill steer --target a=1 --budget 5 sec", "Usage: stampmill steer"),
            (
                "stampmill steer --target a=1 archive",
                "the subcommand 'archive' cannot be used with",
            ),
        ] {
            assert!(said(line).contains(tip), "{line}: {}", said(line));
        }
        for line in ["stampmill show k --count 3", "stampmill mine k --limit 3"] {
            assert!(!said(line).contains("as a value"), "{line}: {}", said(line));
        }
    }
}
