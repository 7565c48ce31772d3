//! Where a command puts what it makes.

use crate::size;
use anyhow::bail;
use clap::{Arg, ArgMatches, Command, parser::ValueSource};
use dataset::{
    Dataset, Progress, Url,
    stage::{Cancel, Context, Share},
};
use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

/// The flags of every command that makes something; `--jobs`, `--json` and `--quiet` are [`crate::Global`]'s.
/// A command that may also make nothing takes an `Option<Output>`, with [`optional`] as its argument's words.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct Output {
    /// The data set to make
    #[arg(short, long, value_name = "DIR", alias = "output")]
    pub(crate) out: PathBuf,
    /// Replace what is at --out
    #[arg(long)]
    pub(crate) force: bool,
}

impl Output {
    /// Refuse to replace the file at --out without --force, or to write into a folder that is none.
    pub(crate) fn is_free_file(&self) -> anyhow::Result<()> {
        has_folder(&self.out)?;
        if self.out.exists() && !self.force {
            bail!(
                "{} exists already; name another file with --out, or replace it with --force",
                self.out.display()
            );
        }
        Ok(())
    }
}

/// The same of a stage, which can also do a part of its work.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct StageOutput {
    /// The data set to make
    #[arg(short, long, value_name = "DIR", alias = "output")]
    pub(crate) out: PathBuf,
    /// Replace what is at --out
    #[arg(long)]
    pub(crate) force: bool,
    /// Process only part I of N of the items; `stampmill merge` joins the parts
    #[arg(long, value_name = "I/N")]
    pub(crate) part: Option<Share>,
    /// Have the executors of a cluster do the work; its scheduler's address (`stampmill cluster`)
    #[arg(long, value_name = "URL", conflicts_with = "part")]
    cluster: Option<String>,
    /// A file with the token that the scheduler wants
    #[arg(long, value_name = "FILE", requires = "cluster")]
    token_file: Option<PathBuf>,
    /// Parts that the cluster does the work in [default: 4 for each task that its executors do at a time, or one for 25,000 items]
    #[arg(long, value_name = "N", requires = "cluster", value_parser = clap::value_parser!(u32).range(1..=65536))]
    cluster_parts: Option<u32>,
    /// Rows that are compared in this process, at about 100 bytes each; more are compared by the executors
    #[arg(long, value_name = "N", default_value = "2e6", value_parser = size::count, hide = true)]
    cluster_keys: u64,
}

impl StageOutput {
    /// How a stage is to be run.
    pub(crate) fn context<'a>(
        &self,
        jobs: usize,
        progress: &'a dyn Progress,
        cancelled: &Arc<AtomicBool>,
    ) -> Context<'a> {
        Context {
            force: self.force,
            jobs,
            share: self.part,
            progress,
            cancel: Cancel::from(Arc::clone(cancelled)),
            ..Context::new(&self.out)
        }
    }
}

/// Refuse a file whose folder is not there.
pub(crate) fn has_folder(file: &Path) -> anyhow::Result<()> {
    if dataset::is_url(file) {
        bail!(dataset::Error::NotThere(file.to_owned()));
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder.filter(|folder| !folder.is_dir()) {
        None => Ok(()),
        Some(folder) => bail!(
            "{} cannot be written: there is no folder {}; make it first",
            file.display(),
            folder.display()
        ),
    }
}

/// `--out` of a command that makes a file.
pub(crate) fn file(help: &'static str, name: &'static str) -> impl FnOnce(Arg) -> Arg {
    move |out| out.value_name(name).help(help)
}

/// `--out` of a command that may do without.
pub(crate) fn optional(help: &'static str) -> impl FnOnce(Arg) -> Arg {
    move |out| out.required(false).help(help)
}

/// Refuse a command whose --out is something that another of its arguments names, lies around that,
/// or is a part of a data set: its input would be gone, or another data set broken.
pub(crate) fn is_no_input(command: &Command, matches: &ArgMatches) -> anyhow::Result<()> {
    if let Some((name, inner)) = matches.subcommand() {
        return match command.find_subcommand(name) {
            Some(command) => is_no_input(command, inner),
            None => Ok(()),
        };
    }
    let Ok(Some(mut values)) = matches.try_get_raw("out") else { return Ok(()) };
    let Some(value) = values.next().map(Path::new) else { return Ok(()) };
    let shown = value.display();
    let name = value.file_name().unwrap_or_default();
    let folder = value.parent().filter(|folder| *folder != Path::new(""));
    if dataset::is_part_name(name) && Dataset::is_at(folder.unwrap_or(Path::new("."))) {
        bail!("--out {shown} is in the place of a data set's part; name another place");
    }
    let url = Url::of(value)?;
    let out = value.canonicalize().ok();
    if url.is_none() && out.is_none() {
        return Ok(());
    }
    let others = command.get_arguments().filter(|argument| {
        let id = argument.get_id();
        let given = || matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
        id != "out" && argument.get_action().takes_values() && given()
    });
    let values = others.filter_map(|argument| matches.get_raw(argument.get_id().as_str()));
    for input in values.flatten().flat_map(paths_in) {
        let (is_out, is_inside) = match (&url, &out) {
            (Some(out), _) => match Url::of(&input)? {
                Some(input) => (input == *out, input.is_in(out)),
                None => continue,
            },
            (None, Some(out)) => match input.canonicalize() {
                Ok(input) => (input == *out, input.starts_with(out)),
                Err(_) => continue,
            },
            (None, None) => continue,
        };
        if is_out {
            bail!("--out {shown} is an input of this command too; name another place");
        }
        if is_inside {
            bail!("--out {shown} holds an input of this command; name another place");
        }
    }
    Ok(())
}

/// The paths that an argument may name: `PATH`, `PATH#X`, `NAME=PATH`, `@PATH`, `git+PATH#X`, `git+file://PATH`, `parquet:PATH#X`.
pub(crate) fn paths_in(argument: &OsStr) -> Vec<PathBuf> {
    let bytes = argument.as_bytes();
    let behind = |byte: u8| bytes.iter().position(|at| *at == byte).map(|at| &bytes[at + 1..]);
    let before = |rest: &'_ [u8]| rest.iter().rposition(|at| *at == b'#');
    let (git, parquet) = (bytes.strip_prefix(b"git+"), bytes.strip_prefix(b"parquet:"));
    let url = bytes.strip_prefix(b"git+file://");
    let whole = [Some(bytes), behind(b'='), bytes.strip_prefix(b"@"), git, url, parquet];
    let all = whole
        .into_iter()
        .flat_map(|rest| [rest, rest.and_then(|rest| Some(&rest[..before(rest)?]))]);
    let paths = all.flatten().filter(|path| !path.is_empty());
    paths.map(|path| PathBuf::from(OsStr::from_bytes(path))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Args;
    use std::fs;

    #[test]
    fn no_output_takes_the_place_of_an_input_or_a_part() -> anyhow::Result<()> {
        let home = tempfile::tempdir()?;
        let path = |name: &str| home.path().join(name).display().to_string();
        fs::create_dir_all(home.path().join("data/raw"))?;
        fs::create_dir(home.path().join("k"))?;
        fs::write(home.path().join("k/_dataset.json"), "{}")?;
        fs::write(home.path().join("list.toml"), "")?;
        let said = |words: &[String]| {
            let command = Output::augment_args(Command::new("prepare"));
            let inputs = Arg::new("inputs").action(clap::ArgAction::Append);
            let mut command = Command::new("stampmill").subcommand(command.arg(inputs));
            let line = ["stampmill", "prepare"].map(str::to_owned).into_iter();
            let line = line.chain(words.iter().cloned());
            let matches = command.try_get_matches_from_mut(line).expect("a command");
            let refused = is_no_input(&command, &matches).err();
            refused.map(|error| error.to_string()).unwrap_or_default()
        };
        let (raw, k) = (path("data/raw"), path("k"));
        for out in [format!("--out={raw}"), format!("-o{raw}"), format!("-o={raw}")] {
            assert!(said(&[raw.clone(), out.clone()]).contains("is an input"), "{out}");
        }
        let git = [format!("git+{raw}"), format!("git+file://{raw}")];
        for input in [format!("t={raw}"), format!("{raw}/")].into_iter().chain(git) {
            let words = [input.clone(), "--out".into(), raw.clone()];
            assert!(said(&words).contains("is an input"), "{input}");
        }
        let list = path("list.toml");
        assert!(said(&[format!("@{list}"), "-o".into(), list.clone()]).contains("is an input"));
        assert!(said(&[format!("parquet:{list}#x"), "-o".into(), list]).contains("is an input"));
        assert!(said(&[raw.clone(), "-o".into(), path("data")]).contains("holds an input"));
        for part in ["_dataset.json", "part-00000.parquet", "mine.parquet"] {
            let words = [raw.clone(), "--force".into(), "-o".into(), format!("{k}/{part}")];
            assert!(said(&words).contains("a data set's part"), "{part}");
        }
        assert_eq!(said(&[k.clone(), "-o".into(), format!("{k}/report.html")]), "");
        assert_eq!(said(&[raw.clone(), "-o".into(), format!("{raw}/new")]), "");
        assert_eq!(said(&[raw, "-o".into(), path("new")]), "");
        let in_store = |input: &str, out: &str| said(&[input.into(), "-o".into(), out.into()]);
        assert!(in_store("s3://bucket/a", "s3://bucket/a/").contains("is an input"));
        assert!(in_store("t=s3://bucket/a/b", "s3://bucket/a").contains("holds an input"));
        assert!(in_store("@s3://bucket/a", "s3://bucket/a").contains("is an input"));
        assert_eq!(in_store("s3://bucket/a", "s3://bucket/ab"), "");
        assert_eq!(in_store(&k, "s3://bucket/a"), "");
        let said = in_store(&k, "s3://key:secret@bucket/a");
        assert!(!said.contains("secret") && said.contains("AWS_ACCESS_KEY_ID"), "{said}");
        Ok(())
    }
}
