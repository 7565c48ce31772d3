//! Where a command puts what it makes.

use anyhow::bail;
use dataset::{
    Dataset, Progress,
    stage::{self, Cancel, Share},
};
use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
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
    /// Only part I of N, by a hash of the item's name; `stampmill merge` joins the parts
    #[arg(long, value_name = "I/N")]
    pub(crate) part: Option<Share>,
}

impl Target {
    /// How a stage is to be run.
    pub(crate) fn context<'a>(
        &self,
        jobs: usize,
        progress: &'a dyn Progress,
        cancelled: &Arc<AtomicBool>,
    ) -> stage::Context<'a> {
        stage::Context {
            out: self.out.clone(),
            force: self.force,
            jobs,
            share: self.part,
            time: None,
            progress,
            cancel: Cancel::from(Arc::clone(cancelled)),
        }
    }
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

/// Refuse a command whose --out is something that another of its arguments names, lies around that,
/// or is a part of a data set: its input would be gone, or another data set broken.
pub(crate) fn is_no_input(arguments: &[OsString]) -> anyhow::Result<()> {
    let Some((place, value)) = out_of(arguments) else { return Ok(()) };
    let shown = value.display();
    let name = value.file_name().unwrap_or_default();
    let folder = value.parent().filter(|folder| *folder != Path::new(""));
    if dataset::is_part_name(name) && Dataset::is_at(folder.unwrap_or(Path::new("."))) {
        bail!("--out {shown} is in the place of a data set's part; name another place");
    }
    let Ok(out) = value.canonicalize() else { return Ok(()) };
    let others = arguments.iter().enumerate().skip(2).filter(|(at, _)| *at != place);
    for input in others.flat_map(|(_, argument)| paths_in(argument)) {
        let Ok(input) = input.canonicalize() else { continue };
        if input == out {
            bail!("--out {shown} is an input of this command too; name another place");
        }
        if input.starts_with(&out) {
            bail!("--out {shown} holds an input of this command; name another place");
        }
    }
    Ok(())
}

/// What the command line says of --out, and where.
fn out_of(arguments: &[OsString]) -> Option<(usize, PathBuf)> {
    let words = arguments.iter().enumerate().take_while(|(_, word)| *word != "--");
    for (at, word) in words {
        if word == "-o" || word == "--out" {
            return Some((at + 1, PathBuf::from(arguments.get(at + 1)?)));
        }
        let bytes = word.as_bytes();
        let joined = bytes.strip_prefix(b"--out=").or_else(|| {
            let short = bytes.strip_prefix(b"-o")?;
            Some(short.strip_prefix(b"=").unwrap_or(short))
        });
        if let Some(path) = joined.filter(|path| !path.is_empty()) {
            return Some((at, PathBuf::from(OsStr::from_bytes(path))));
        }
    }
    None
}

/// The paths that an argument may name: `PATH`, `NAME=PATH`, `@PATH`, `git+PATH`, `parquet:PATH#X`.
fn paths_in(argument: &OsStr) -> Vec<PathBuf> {
    let bytes = argument.as_bytes();
    let behind = |byte: u8| bytes.iter().position(|at| *at == byte).map(|at| &bytes[at + 1..]);
    let parquet = bytes.strip_prefix(b"parquet:");
    let file = parquet.map(|rest| rest.split(|byte| *byte == b'#').next().unwrap_or(rest));
    let all = [
        Some(bytes),
        behind(b'='),
        bytes.strip_prefix(b"@"),
        bytes.strip_prefix(b"git+"),
        parquet,
        file,
    ];
    let paths = all.into_iter().flatten().filter(|path| !path.is_empty());
    paths.map(|path| PathBuf::from(OsStr::from_bytes(path))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn no_output_takes_the_place_of_an_input_or_a_part() -> anyhow::Result<()> {
        let home = tempfile::tempdir()?;
        let path = |name: &str| home.path().join(name).display().to_string();
        fs::create_dir_all(home.path().join("data/raw"))?;
        fs::create_dir(home.path().join("k"))?;
        fs::write(home.path().join("k/dataset.json"), "{}")?;
        fs::write(home.path().join("list.toml"), "")?;
        let said = |words: &[String]| {
            let line = ["stampmill".to_owned(), "prepare".to_owned()].into_iter();
            let line: Vec<OsString> = line.chain(words.iter().cloned()).map(Into::into).collect();
            is_no_input(&line).err().map(|error| error.to_string()).unwrap_or_default()
        };
        let (raw, k) = (path("data/raw"), path("k"));
        for out in [format!("--out={raw}"), format!("-o{raw}"), format!("-o={raw}")] {
            assert!(said(&[raw.clone(), out.clone()]).contains("is an input"), "{out}");
        }
        for input in [format!("t={raw}"), format!("git+{raw}"), format!("{raw}/")] {
            let words = [input.clone(), "--out".into(), raw.clone()];
            assert!(said(&words).contains("is an input"), "{input}");
        }
        let list = path("list.toml");
        assert!(said(&[format!("@{list}"), "-o".into(), list.clone()]).contains("is an input"));
        assert!(said(&[format!("parquet:{list}#x"), "-o".into(), list]).contains("is an input"));
        assert!(said(&[raw.clone(), "-o".into(), path("data")]).contains("holds an input"));
        for part in ["dataset.json", "part-00000.parquet", "mine.parquet"] {
            let words = [raw.clone(), "--force".into(), "-o".into(), format!("{k}/{part}")];
            assert!(said(&words).contains("a data set's part"), "{part}");
        }
        assert_eq!(said(&[k.clone(), "-o".into(), format!("{k}/report.html")]), "");
        assert_eq!(said(&[raw.clone(), "-o".into(), format!("{raw}/new")]), "");
        assert_eq!(said(&[raw, "-o".into(), path("new")]), "");
        Ok(())
    }
}
