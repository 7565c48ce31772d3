//! `stampmill export`: programs as files.

use crate::{Global, output};
use anyhow::{Context, bail};
use dataset::{Code, Language, Programs};
use std::{
    collections::HashMap,
    fs::Permissions,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Write the programs of a data set as files (.cl, .c, .cpp, .ll, .bc)
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    stampmill export kernels --to cl\n  \
    stampmill export kernels --to cl --limit 100")]
pub(crate) struct Export {
    /// A data set of programs
    dataset: PathBuf,
    /// The folder to make; it must not exist
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// Write at most N programs
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

impl Export {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let programs = Programs::open(&self.dataset)?;
        if std::fs::symlink_metadata(&self.to).is_ok() {
            bail!("{} exists already; name another folder with --to", self.to.display());
        }
        let parent = match self.to.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        std::fs::create_dir_all(parent)
            .with_context(|| format!("cannot create {}", parent.display()))?;
        // A folder of its own name, so that it is nobody's but ours, and gone with an error.
        let partial = tempfile::Builder::new()
            .prefix(".stampmill-export-")
            .permissions(Permissions::from_mode(0o755))
            .tempdir_in(parent)
            .with_context(|| format!("cannot create a folder in {}", parent.display()))?;
        let mut taken: HashMap<String, u32> = HashMap::new();
        let mut written = 0u64;
        for program in programs.iter()?.take(self.limit.unwrap_or(usize::MAX)) {
            let program = program?;
            let extension = match program.language {
                Language::OpenCl => "cl",
                Language::C => "c",
                Language::Cxx => "cpp",
                Language::LlvmIr => "ll",
                Language::Bitcode => "bc",
            };
            let stem = stem(&program.path, &program.name);
            let times = taken.entry(stem.to_lowercase()).or_default();
            *times += 1;
            let name = match *times {
                1 => format!("{stem}.{extension}"),
                again => format!("{stem}-{again}.{extension}"),
            };
            let bytes = match &program.code {
                Code::Text(text) => text.as_bytes(),
                Code::Bytes(bytes) => bytes,
            };
            let path = partial.path().join(&name);
            std::fs::write(&path, bytes)
                .with_context(|| format!("cannot write {}", path.display()))?;
            written += 1;
        }
        std::fs::rename(partial.path(), &self.to)
            .with_context(|| format!("cannot write {}", self.to.display()))?;
        // It is where it belongs: nothing of it is to be removed.
        let _ = partial.keep();
        output::report(global, &serde_json::json!({ "programs": written, "to": self.to }), || {
            output::line(&format!("{written} programs in {}", self.to.display()))
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

/// A file name that says where the program is from and holds no character a shell minds.
fn stem(path: &str, name: &str) -> String {
    let path = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    let whole = if name.is_empty() { path.to_owned() } else { format!("{path}-{name}") };
    let tame: String =
        whole.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let tame = tame.trim_matches('-');
    let start = tame.len().saturating_sub(120);
    match tame.is_empty() {
        true => "program".to_owned(),
        false => tame[start..].trim_start_matches('-').to_owned(),
    }
}
