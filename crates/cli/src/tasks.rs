//! `--cluster`: what a stage's command line becomes on executors, and what they must be like.

use crate::command::doctor::tool;
use anyhow::bail;
use clap::{ArgAction, ArgMatches, Command, parser::ValueSource};
use cluster::{About, Address, Asked, Token};
use dataset::Url;
use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

/// Arguments that say where and how a stage runs, not what: a task has its own.
const OF_THE_CLIENT: [&str; 15] = [
    "out",
    "force",
    "part",
    "cluster",
    "token_file",
    "cluster_parts",
    "cluster_keys",
    "format",
    "json",
    "quiet",
    "verbose",
    "jobs",
    "allow_weak_sandbox",
    "config",
    "help",
];

/// The same command line, whose help shows `--cluster` only where a stage runs on one.
pub(crate) fn shown(command: Command) -> Command {
    shown_below(command, "")
}

fn shown_below(mut command: Command, above: &str) -> Command {
    let verbs: Vec<String> = command.get_subcommands().map(|one| one.get_name().into()).collect();
    for verb in verbs {
        let name = format!("{above} {verb}").trim_start().to_owned();
        command = command.mut_subcommand(verb, |command| shown_below(command, &name));
    }
    let has = |id: &str| command.get_arguments().any(|argument| argument.get_id() == id);
    if !has("part") || !has("cluster") || cluster::tools_of(above).is_some() {
        return command;
    }
    for id in ["cluster", "token_file", "cluster_parts"] {
        command = command.mut_arg(id, |argument| argument.hide(true));
    }
    command
}

/// What `--cluster` and the like say, if they are given.
pub(crate) fn asked(command: &Command, matches: &ArgMatches) -> anyhow::Result<Option<Asked>> {
    let (_, leaf) = leaf(command, matches);
    if leaf.try_contains_id("part").is_err() {
        return Ok(None); // no stage: `query` has a --cluster, too
    }
    let Ok(Some(url)) = leaf.try_get_one::<String>("cluster") else { return Ok(None) };
    let token = leaf.try_get_one::<std::path::PathBuf>("token_file").ok().flatten();
    let token = token.map(|file| Token::read(file)).transpose()?;
    let parts = leaf.try_get_one::<u32>("cluster_parts").ok().flatten().copied();
    let address = Address::new(url, token)?;
    let keys = leaf.try_get_one::<u64>("cluster_keys").ok().flatten().copied();
    let keys = keys.unwrap_or(u64::MAX);
    Ok(Some(Asked { address, arguments: arguments(command, matches)?, parts, keys }))
}

/// The command that was given, and what was given to it.
fn leaf<'a>(command: &'a Command, matches: &'a ArgMatches) -> (&'a Command, &'a ArgMatches) {
    match matches.subcommand() {
        Some((name, inner)) => match command.find_subcommand(name) {
            Some(command) => leaf(command, inner),
            None => (command, matches),
        },
        None => (command, matches),
    }
}

/// The name of the command that was given: `ir extract`.
pub(crate) fn name(mut matches: &ArgMatches) -> String {
    let mut words = Vec::new();
    while let Some((word, inner)) = matches.subcommand() {
        words.push(word);
        matches = inner;
    }
    words.join(" ")
}

/// A command line that says the same as was given, less what is the client's own.
pub(crate) fn arguments(command: &Command, matches: &ArgMatches) -> anyhow::Result<Vec<String>> {
    let (leaf, given) = leaf(command, matches);
    let mut words: Vec<OsString> = name(matches).split(' ').map(OsString::from).collect();
    let mut places = Vec::new();
    for argument in leaf.get_arguments() {
        let id = argument.get_id().as_str();
        let is_given =
            || given.value_source(id).is_some_and(|from| from != ValueSource::DefaultValue);
        if OF_THE_CLIENT.contains(&id)
            || !matches!(given.try_contains_id(id), Ok(true))
            || !is_given()
        {
            continue;
        }
        match (argument.get_long(), argument.get_action()) {
            (Some(long), ArgAction::SetTrue) => words.push(format!("--{long}").into()),
            (long, action) if action.takes_values() => {
                for value in given.get_raw(id).into_iter().flatten() {
                    match long {
                        Some(long) => {
                            let mut word = OsString::from(format!("--{long}="));
                            word.push(value);
                            words.push(word);
                        }
                        None => places.push(value.to_owned()),
                    }
                }
            }
            (_, action) => {
                bail!("internal error: no word for {id} ({action:?}); please report this")
            }
        }
    }
    if !places.is_empty() {
        words.push("--".into());
        words.extend(places);
    }
    let text = |word: OsString| match word.into_string() {
        Ok(word) => Ok(word),
        Err(word) => bail!("{}: a cluster takes only UTF-8", word.display()),
    };
    words.into_iter().map(text).collect()
}

/// Refuse a command line that names something outside of all of `roots`, folders or URLs; but for --out, which the
/// task says itself.
pub(crate) fn is_inside(
    command: &Command,
    matches: &ArgMatches,
    roots: &[PathBuf],
) -> anyhow::Result<()> {
    let urls = roots.iter().map(|root| Url::of(root)).collect::<dataset::Result<Vec<_>>>()?;
    let shown =
        || roots.iter().map(|root| root.display().to_string()).collect::<Vec<_>>().join(", ");
    let (leaf, given) = leaf(command, matches);
    for argument in leaf.get_arguments().filter(|argument| argument.get_action().takes_values()) {
        let id = argument.get_id().as_str();
        if id == "out" {
            continue;
        }
        let values = given.try_get_raw(id).ok().flatten();
        for value in values.into_iter().flatten() {
            let words = value.to_string_lossy().into_owned();
            let pieces = words.split(',').map(OsStr::new).chain([value]);
            for path in pieces.flat_map(crate::destination::paths_in) {
                let is_path = path.is_absolute()
                    || path.components().any(|part| part == std::path::Component::ParentDir)
                    || path.symlink_metadata().is_ok();
                let is_inside = match Url::of(&path)? {
                    Some(url) => urls.iter().flatten().any(|root| url.is_in(root)),
                    None if is_path => resolved(&path)
                        .is_some_and(|found| roots.iter().any(|root| found.starts_with(root))),
                    None => true,
                };
                if !is_inside {
                    let (path, roots) = (path.display(), shown());
                    bail!("{path} is not in {roots}, the only folder of this executor (--root)");
                }
            }
        }
    }
    Ok(())
}

/// Where a path leads, links followed as far as it is there; `None` where `..` stands behind what is not, and of a
/// link to what is not.
fn resolved(path: &Path) -> Option<PathBuf> {
    if let Ok(found) = path.canonicalize() {
        return Some(found);
    }
    let name = path.file_name().filter(|_| !path.is_symlink())?;
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    Some(resolved(folder)?.join(name))
}

/// What this machine works with: those of these tools that are here.
pub(crate) fn about(tools: &[&str]) -> cluster::Result<About> {
    let versions: BTreeMap<String, String> =
        tools.iter().filter_map(|name| Some(((*name).to_owned(), tool(name)?))).collect();
    About::here(versions)
}

/// All tools that a stage on a cluster may need.
pub(crate) fn all_tools() -> Vec<&'static str> {
    let mut tools: Vec<_> =
        cluster::STAGES.iter().flat_map(|(_, tools)| tools.iter().copied()).collect();
    tools.sort_unstable();
    tools.dedup();
    tools
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Arguments;
    use clap::CommandFactory;

    fn parsed(words: &[&str]) -> (Command, ArgMatches) {
        let mut command = Arguments::command();
        let words = std::iter::once("stampmill").chain(words.iter().copied());
        let matches = command.try_get_matches_from_mut(words).expect("a good command line");
        (command, matches)
    }

    #[test]
    fn a_task_hears_what_to_do_and_not_where() -> anyhow::Result<()> {
        let line = "ir stats modules --no-tokens --verify-hashes --jobs 3 -q --json --force -o out --cluster a:1";
        let (command, matches) = parsed(&line.split(' ').collect::<Vec<_>>());
        let words = ["ir", "stats", "--no-tokens", "--verify-hashes", "--", "modules"];
        assert_eq!(arguments(&command, &matches)?, words);
        assert_eq!(
            asked(&command, &matches)?.map(|asked| asked.address.url().to_owned()).as_deref(),
            Some("http://a:1")
        );
        let line = "steer --target a=1 --target b=2,c=3 --budget 5 --out o --cluster a:1 --cluster-parts 7";
        let (command, matches) = parsed(&line.split(' ').collect::<Vec<_>>());
        let words = ["steer", "--target=a=1", "--target=b=2,c=3", "--budget=5"];
        assert_eq!(arguments(&command, &matches)?, words);
        assert_eq!(asked(&command, &matches)?.and_then(|asked| asked.parts), Some(7));
        // Said again, it says the same.
        let again: Vec<&str> = words.iter().copied().chain(["--out", "x"]).collect();
        let (command, matches) = parsed(&again);
        assert_eq!(arguments(&command, &matches)?, words);
        Ok(())
    }

    #[test]
    fn nothing_outside_of_the_root_is_named() -> anyhow::Result<()> {
        let home = tempfile::tempdir()?;
        let root = home.path().canonicalize()?.join("root");
        std::fs::create_dir(&root)?;
        std::os::unix::fs::symlink("/etc", root.join("link"))?;
        std::os::unix::fs::symlink("/nothing/here", root.join("dangling"))?;
        let refuses = |input: &str| {
            let (command, matches) = parsed(&["features", input, "--out", "/tries/o"]);
            let roots = [root.clone(), "s3://bucket/data".into()];
            is_inside(&command, &matches, &roots).is_err()
        };
        let inside = root.join("programs").display().to_string();
        assert!(!refuses(&inside));
        assert!(!refuses("s3://bucket/data/kernels") && !refuses("s3://bucket/data"));
        for wrong in [
            "s3://bucket",
            "s3://bucket/database",
            "s3://other/data",
            "k=s3://other/data/x",
            "s3://bucket/data/../x",
        ] {
            assert!(refuses(wrong), "{wrong}");
        }
        let wrong =
            ["/etc/passwd", "..", "../root/../..", "x=/etc", "@/etc/passwd", "a,/etc/passwd"];
        for wrong in wrong
            .map(str::to_owned)
            .into_iter()
            .chain([format!("{inside}/../../x"), format!("{inside}/../x")])
            .chain(
                ["link", "dangling", "link/new"].map(|name| root.join(name).display().to_string()),
            )
        {
            assert!(refuses(&wrong), "{wrong}");
        }
        Ok(())
    }
}
