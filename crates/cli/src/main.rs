//! The `stampmill` binary: one file per command under `command/`, what they share beside this file.
//!
//! A command is a struct that clap fills, with a `run` that calls a crate of the workspace and ends with [`output::report`]: the summary
//! as a text for people or, with `--json`, as one object on standard output, whose stable keys are in `CLI.md`. Options of every command
//! are [`Global`]'s, where results go is [`destination`]'s, Ctrl-C is [`interrupt`]'s. Below its options a command shows a file of `help/`.
//! Errors of crates are printed as they are; `anyhow` is used here and in `xtask` alone. To add a command, write a file, name it in `command/mod.rs`
//! and show what it prints in `cases/NAME/`:
//!
//! ```text
//! $ stampmill features kernel.cl --space grewe --out vectors --json
//! {"programs":1,"rows":1,"verdicts":{"accepted":1},"vectors":{"grewe":1},"missing":{},"seconds":0.1}
//! ```
//!
//! Exit status: 0 success, 1 a negative result, 2 a failure, 130 stopped by Ctrl-C or a signal to end.

/// What stands below a command's options: a file of `help/`.
macro_rules! help {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/help/", $name, ".txt")).trim_ascii_end()
    };
}

mod choice;
mod command;
mod config;
mod destination;
#[cfg(test)]
mod documents;
mod duration;
mod events;
mod headers;
mod interrupt;
mod output;
mod progress;
mod runs;
mod size;
mod stage;
mod tasks;
mod usage;
mod version;

use clap::{CommandFactory, FromArgMatches, Parser};
use std::{
    io::{self, IsTerminal, Write},
    process::ExitCode,
    sync::LazyLock,
    time::Instant,
};

/// Bytes of a data set whose hashes are verified whenever it is opened: some hundredths of a second.
const ALWAYS_VERIFIED: u64 = 64 << 20;

/// Programs and data for learned compilers: mine, describe, model, steer, run.
#[derive(Parser, Debug)]
#[command(
    name = "stampmill",
    version,
    long_version = version::LONG,
    max_term_width = 100,
    after_help = help!("stampmill")
)]
struct Arguments {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: command::Command,
}

/// Options of every command.
#[derive(clap::Args, Debug, Clone)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Global {
    /// Print the summary as one JSON object on standard output, and nothing else there
    #[arg(long, global = true)]
    json: bool,
    /// Print no progress and no notes; twice (-qq): nor what was made, which the exit status and --json say
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    quiet: u8,
    /// Print details: tools started, caches hit, workers restarted; -vv prints each program that is run
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    /// Worker processes and threads [default: number of cores; at most 8 per core]
    #[arg(long, global = true, value_name = "N")]
    jobs: Option<std::num::NonZeroUsize>,
    /// Run foreign programs even if this kernel lacks namespaces, Landlock or seccomp
    #[arg(long, global = true)]
    allow_weak_sandbox: bool,
    /// Verify the hash of every file of the data sets that are read; of those up to 64 MiB they are verified in any case
    #[arg(long, global = true)]
    verify_hashes: bool,
    /// Read flags from a TOML file, as `out = "kernels"`; the command line wins
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<std::path::PathBuf>,
    /// What --cluster of a stage's command says
    #[arg(skip)]
    cluster: Option<cluster::Asked>,
}

impl Global {
    /// Whether progress and notes are unwanted.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet > 0
    }

    /// Whether a person is looking, who wants to know how it goes.
    pub(crate) fn is_watched(&self) -> bool {
        !self.is_quiet() && std::io::stderr().is_terminal()
    }

    /// Whether a summary for people is unwanted, too.
    pub(crate) fn is_silent(&self) -> bool {
        self.quiet > 1
    }

    /// Threads and workers to use.
    pub(crate) fn jobs(&self) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        bounded(self.jobs.map_or(cores, usize::from), cores)
    }
}

/// Jobs that a machine of so many cores can hold: each may be a process with memory of its own.
fn bounded(wanted: usize, cores: usize) -> usize {
    wanted.clamp(1, (JOBS_PER_CORE * cores).max(LEAST_BOUND))
}

/// More of them wait for each other, and for memory.
const JOBS_PER_CORE: usize = 8;
const LEAST_BOUND: usize = 32;

/// When the command began.
static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);

fn main() -> ExitCode {
    LazyLock::force(&BEGAN);
    if let Err(error) = interrupt::survive_large_files() {
        return fail(&error);
    }
    let arguments = match config::arguments(&Arguments::command()) {
        Ok(arguments) => arguments,
        Err(error) => return fail(&error),
    };
    let mut command = tasks::shown(Arguments::command());
    let matches = command
        .try_get_matches_from_mut(&arguments)
        .unwrap_or_else(|error| version::exit(error, &command, &arguments));
    if let Err(error) = destination::is_no_input(&command, &matches) {
        return fail(&error);
    }
    let mut parsed = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    parsed.global.cluster = match tasks::asked(&command, &matches) {
        Ok(asked) => asked,
        Err(error) => return fail(&error),
    };
    if parsed.global.is_quiet() {
        output::without_hints();
    } else {
        events::show(parsed.global.verbose);
    }
    dataset::verify_hashes(if parsed.global.verify_hashes { u64::MAX } else { ALWAYS_VERIFIED });
    if !parsed.global.is_quiet() {
        dataset::on_notice(|notice| eprintln!("stampmill: {notice}"));
    }
    dataset::object_stores_by(objects::Objects::new(host::cache().join("objects")));
    dataset::described_by(report::describe);
    sandbox::allow_weak(parsed.global.allow_weak_sandbox);
    dataset::protections_from(|| {
        sandbox::protections().into_iter().map(|(name, held)| (name, held.to_string())).collect()
    });
    if let Some(wanted) = parsed.global.jobs
        && wanted.get() != parsed.global.jobs()
        && !parsed.global.is_quiet()
    {
        eprintln!("--jobs {wanted}: using {}, the most for this machine", parsed.global.jobs());
    }
    let status = match parsed.command.run(&parsed.global) {
        Ok(status) => status,
        Err(error) => fail(&error),
    };
    say_protections(&parsed.global);
    status
}

/// Once a command: what held while foreign programs ran; always where something was missing.
fn say_protections(global: &Global) {
    let shown = global.is_watched();
    for (profile, held) in sandbox::protections() {
        let missing = held.missing().join(", ");
        // Standard error may be gone or full, which is no reason to fail.
        let _ = match missing.is_empty() {
            true if shown => writeln!(std::io::stderr(), "sandbox `{profile}`: {held}"),
            true => Ok(()),
            false => writeln!(
                std::io::stderr(),
                "warning: programs ran in a weak sandbox: `{profile}` had no {missing}"
            ),
        };
    }
}

fn fail(error: &anyhow::Error) -> ExitCode {
    // A library's message often says its cause's already; nothing is said twice.
    let mut text = error.to_string();
    for cause in error.chain().skip(1) {
        let kind = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        let cause = cause.to_string();
        let told: &[&str] = match kind {
            Some(io::ErrorKind::NotFound) => &[
                "there is nothing at ",
                " is not finished (",
                "is to be copied first",
                "to a file or folder of this machine first",
            ],
            Some(io::ErrorKind::IsADirectory) => &[" is a folder, and a file is wanted"],
            _ => &[],
        };
        if !text.contains(&cause) && !told.iter().any(|words| text.contains(words)) {
            text = format!("{text}: {cause}");
        }
    }
    // Standard error may be the file that is full.
    let _ = writeln!(std::io::stderr(), "stampmill: {}", output::plain(&text));
    interrupt::status().unwrap_or(ExitCode::from(2))
}

#[cfg(test)]
mod tests {
    use super::bounded;

    #[test]
    fn jobs_are_bounded_by_cores() {
        assert_eq!([0, 3, 10_000].map(|wanted| bounded(wanted, 2)), [1, 3, 32]);
        assert_eq!(bounded(10_000, 64), 512);
    }
}
