//! `stampmill worker`: hidden; what this program does when it starts itself, or an executor starts it.

use crate::{Arguments, Global, tasks};
use anyhow::{Context, anyhow};
use clap::{CommandFactory, FromArgMatches};
use dataset::{Dataset, stage::Share};
use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Answer requests over standard input and output, inside a sandbox; do a task of a cluster
#[derive(clap::Args, Debug)]
pub(crate) struct Worker {
    #[command(subcommand)]
    kind: Kind,
}

#[derive(clap::Subcommand, Debug)]
enum Kind {
    /// Reads LLVM modules for features
    Modules,
    /// Reads LLVM modules for IR data sets
    Ir,
    /// Optimises LLVM modules and says what they cost
    Costs,
    /// Says what this machine works with
    About,
    /// Makes a part of a stage's data set
    Part(Part),
}

/// A task: what an executor was told, and what it says itself.
#[derive(clap::Args, Debug)]
struct Part {
    /// Nothing outside of these folders and URLs is named
    #[arg(long, required = true)]
    root: Vec<PathBuf>,
    /// Where what is to go to an object store comes to be
    #[arg(long)]
    tries: PathBuf,
    /// Where the part is to stand once it is whole
    #[arg(long)]
    place: PathBuf,
    /// Which part
    #[arg(long)]
    share: Share,
    /// Whose try it is
    #[arg(long = "try")]
    attempt: String,
    /// The process that it ends with
    #[arg(long)]
    parent: i32,
    /// The stage that it is to be
    #[arg(long)]
    stage: String,
    /// The stage's command line
    #[arg(last = true)]
    arguments: Vec<OsString>,
}

/// The exit status of a task that nobody would do.
const REFUSED: u8 = 3;

impl Worker {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        match self.kind {
            Kind::Modules => features::serve_modules()?,
            Kind::Ir => ir::serve()?,
            Kind::Costs => cost::serve()?,
            Kind::About => crate::output::json(&tasks::about(&tasks::all_tools())?)?,
            Kind::Part(part) => return part.run(global),
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Part {
    fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        set_parent_process_death_signal(Some(Signal::KILL))
            .context("cannot bind this task to its executor")?;
        // Who was gone before that ends nobody.
        if getppid().is_none_or(|parent| parent.as_raw_nonzero().get() != self.parent) {
            return Ok(ExitCode::FAILURE);
        }
        if dataset::is_there(&self.place)? {
            return Ok(ExitCode::SUCCESS);
        }
        let out = self.attempt()?;
        if !Dataset::is_at(&out) {
            let parsed = match self.parsed(&out, global) {
                Ok(parsed) => parsed,
                Err(error) => {
                    eprintln!("{error:#}");
                    return Ok(ExitCode::from(REFUSED));
                }
            };
            // The client has verified what is small.
            dataset::verify_hashes(if parsed.global.verify_hashes { u64::MAX } else { 0 });
            parsed.command.run(&parsed.global)?;
        }
        if !dataset::put_into_place(&out, &self.place)? {
            fs::remove_dir_all(&out).context("cannot remove what is there twice")?;
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Where this try's part comes to be.
    fn attempt(&self) -> anyhow::Result<PathBuf> {
        let name = self.place.file_name().ok_or_else(|| anyhow!("a part without a name"))?;
        let mut name = name.to_owned();
        name.push(format!(".try-{}", self.attempt));
        Ok(match dataset::is_url(&self.place) {
            true => self.tries.join(name),
            false => self.place.with_file_name(name),
        })
    }

    /// The stage's command, of this part: nothing is taken from what was told that is not for a client to say.
    fn parsed(&self, out: &Path, global: &Global) -> anyhow::Result<Arguments> {
        let told = self.matches(self.arguments.clone(), out, global)?;
        let command = Arguments::command();
        let name = tasks::name(&told);
        if name != self.stage || cluster::tools_of(&name).is_none() {
            return Err(anyhow!("`{name}` is not the stage `{}` of a cluster", self.stage));
        }
        let words = tasks::arguments(&command, &told)?.into_iter().map(OsString::from).collect();
        let matches = self.matches(words, out, global)?;
        tasks::is_inside(&command, &matches, &self.root)?;
        Ok(Arguments::from_arg_matches(&matches)?)
    }

    fn matches(
        &self,
        mut words: Vec<OsString>,
        out: &Path,
        global: &Global,
    ) -> anyhow::Result<clap::ArgMatches> {
        let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
        let places = words.split_off(end);
        words.insert(0, "stampmill".into());
        words.extend(["--out".into(), out.into()]);
        words.extend(["--part".into(), self.share.to_string().into()]);
        words.extend(["--jobs".into(), global.jobs().to_string().into()]);
        words.extend(["--json".into(), "--quiet".into()]);
        if global.allow_weak_sandbox {
            words.push("--allow-weak-sandbox".into());
        }
        words.extend(places);
        Ok(Arguments::command().try_get_matches_from(words)?)
    }
}
