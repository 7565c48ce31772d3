//! Where a command puts what it makes.

use anyhow::bail;
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

/// The flags of every command that makes a data set in parts.
#[derive(clap::Args, Debug)]
pub(crate) struct Target {
    /// The data set to make
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Replace what is at --out
    #[arg(long)]
    pub(crate) force: bool,
    /// Go on with an unfinished run (the default when the command is the same)
    #[arg(long)]
    pub(crate) resume: bool,
}

/// Refuse to replace the file at --out without --force.
pub(crate) fn is_free(out: &Path, force: bool) -> anyhow::Result<()> {
    if out.exists() && !force {
        bail!(
            "{} exists already; name another file with --out, or replace it with --force",
            out.display()
        );
    }
    Ok(())
}

/// Refuse a command whose --out is something that another of its arguments names: with --force its
/// input would be gone.
pub(crate) fn is_no_input(arguments: &[OsString]) -> anyhow::Result<()> {
    let texts: Vec<&str> = arguments.iter().filter_map(|argument| argument.to_str()).collect();
    let at = texts.iter().position(|text| matches!(*text, "-o" | "--out"));
    let joined = || texts.iter().position(|text| text.starts_with("--out="));
    let Some((place, value)) = at
        .and_then(|at| Some((at + 1, *texts.get(at + 1)?)))
        .or_else(|| joined().map(|at| (at, texts[at].trim_start_matches("--out="))))
    else {
        return Ok(());
    };
    let Ok(out) = Path::new(value).canonicalize() else { return Ok(()) };
    for (_, text) in texts.iter().enumerate().skip(2).filter(|(at, _)| *at != place) {
        let path = text.split_once('=').map_or(*text, |(_, path)| path);
        if Path::new(path).canonicalize().is_ok_and(|path| path == out) {
            bail!("--out {value} is an input of this command too; name another place");
        }
    }
    Ok(())
}
