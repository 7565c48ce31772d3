//! Tests that may lack something of the outside world: whether it is there is asked when they run, and a test
//! without it is *ignored*, by name and reason, never passed. `cargo xtask test` lists and counts them.
//!
//! What this workspace builds and what `scripts/setup.sh` installs is not of the outside world: a test
//! that needs such a thing just uses it, and fails where it is absent.
//!
//! A test file with such tests has `harness = false` in its crate's manifest, functions without `#[test]`, and
//! a list of them:
//!
//! ```
//! fn adds() {
//!     assert_eq!(1 + 1, 2);
//! }
//!
//! fn zig_compiles() {
//!     unreachable!("nobody has this compiler")
//! }
//!
//! stampmill_trials::main! {
//!     adds,
//!     zig_compiles: stampmill_trials::lacks::program("no-such-zig"),
//! }
//! ```
//!
//! [`browser`] drives a real browser. [`facts`] names the published numbers that ship with the sources, [`kernels`] the programs that do.

pub mod browser;
pub mod lacks;

use libtest_mimic::Arguments;
pub use libtest_mimic::Failed;
use std::{
    env, fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};

/// Names the file to which harnesses append a line `BINARY::TEST<tab>REASON` for each test they ignore.
pub const SKIPPED: &str = "STAMPMILL_SKIPPED";

/// One test, and what of the outside world it lacks.
pub struct Trial {
    name: String,
    lacks: Option<String>,
    test: Box<dyn FnOnce() -> Result<(), Failed> + Send>,
}

impl Trial {
    /// A test that needs nothing. It fails with an error or a panic.
    #[must_use]
    pub fn new(
        name: impl Into<String>,
        test: impl FnOnce() -> Result<(), Failed> + Send + 'static,
    ) -> Trial {
        Trial { name: name.into(), lacks: None, test: Box::new(test) }
    }

    /// The same, ignored where `lacks` names what is not here (see [`lacks`]).
    #[must_use]
    pub fn needs(mut self, lacks: Option<String>) -> Trial {
        self.lacks = self.lacks.or(lacks);
        self
    }
}

/// Run the trials that the command line asks for.
#[must_use]
pub fn run(trials: Vec<Trial>) -> ExitCode {
    run_on(None, trials)
}

/// The same on so many threads, where the command line names no number.
#[must_use]
pub fn run_on(threads: Option<usize>, trials: Vec<Trial>) -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads = arguments.test_threads.or(threads);
    let left_out = |trial: &Trial| {
        trial.lacks.is_some()
            && !(arguments.list || arguments.ignored || arguments.include_ignored)
            && is_asked_for(&arguments, &trial.name)
    };
    let skipped: Vec<&Trial> = trials.iter().filter(|trial| left_out(trial)).collect();
    if let Err(error) = record(&skipped) {
        eprintln!("the skipped tests cannot be recorded: {error}");
        return ExitCode::FAILURE;
    }
    let trials = trials.into_iter().map(|Trial { name, lacks, test }| {
        let trial = libtest_mimic::Trial::test(name, test).with_ignored_flag(lacks.is_some());
        match lacks {
            Some(lacks) => trial.with_kind(format!("needs: {lacks}")),
            None => trial,
        }
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

/// Whether the command line's filters let this name through.
fn is_asked_for(arguments: &Arguments, name: &str) -> bool {
    let fits = |filter: &String| match arguments.exact {
        true => name == filter,
        false => name.contains(filter.as_str()),
    };
    arguments.filter.as_ref().is_none_or(fits) && !arguments.skip.iter().any(fits)
}

/// Tell `cargo xtask test` what is left out. One write a line: other binaries may append at the same time.
fn record(skipped: &[&Trial]) -> std::io::Result<()> {
    let Some(path) = env::var_os(SKIPPED) else { return Ok(()) };
    let own = env::current_exe()?;
    let own = own.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    // Cargo adds a hash to the name.
    let binary = own.rsplit_once('-').map_or(own.as_str(), |(name, _)| name);
    let mut file = fs::OpenOptions::new().append(true).create(true).open(path)?;
    for trial in skipped {
        let reason = trial.lacks.as_deref().unwrap_or_default();
        file.write_all(format!("{binary}::{}\t{reason}\n", trial.name).as_bytes())?;
    }
    Ok(())
}

/// The `main` of a test file: its tests, each with what it may lack.
#[macro_export]
macro_rules! main {
    ($($test:path $(: $lacks:expr)?),* $(,)?) => {
        fn main() -> std::process::ExitCode {
            $crate::run(vec![$(
                $crate::Trial::new(stringify!($test), || { $test(); Ok(()) })$(.needs($lacks))?
            ),*])
        }
    };
}

/// Where a file of published numbers is; `facts/README.md` says what each holds and where it comes from.
#[must_use]
pub fn facts(name: &str) -> PathBuf {
    // Not `env!`: a build folder may serve several checkouts. Cargo runs tests in their crate's folder.
    Path::new("../trials/facts").join(name)
}

/// The folder of earlier work's data that does not ship: what `STAMPMILL_REFERENCE` names, else
/// `../shared/data` beside the checkout.
#[must_use]
pub fn reference() -> PathBuf {
    env::var_os("STAMPMILL_REFERENCE").map_or_else(|| "../../../shared/data".into(), PathBuf::from)
}

/// Make a program of these bytes. A process of its own writes it: a child that another thread of a test starts at the same
/// time holds what this process has open till it is another program, and the file is "busy" as long.
///
/// # Panics
/// Where it cannot be written.
pub fn program(path: &Path, bytes: &[u8]) {
    let mut shell = Command::new("sh");
    shell.args(["-c", "cat > \"$1\" && chmod 755 \"$1\"", "sh"]).arg(path).stdin(Stdio::piped());
    let mut writing = shell.spawn().expect("there is a shell");
    writing.stdin.take().expect("it is asked for").write_all(bytes).expect("the shell reads");
    assert!(writing.wait().expect("it is ours").success(), "{} is not written", path.display());
}

/// Texts of the 1,803 real kernels that ship with the sources (`datasets/device-mapping-h200`), in their order.
///
/// # Panics
/// Where they cannot be read.
#[must_use]
pub fn kernels() -> Vec<String> {
    let folder = Path::new("../../datasets/device-mapping-h200/kernels");
    let programs = dataset::Programs::open(folder).expect("they come with the sources");
    let text = |program: dataset::Result<dataset::Program>| match program.expect("readable").code {
        dataset::Code::Text(text) => text,
        dataset::Code::Bytes(_) => unreachable!("kernels are text"),
    };
    programs.iter().expect("of programs").map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_those_of_the_harness() {
        let asked = |words: &[&str], name| {
            is_asked_for(&Arguments::from_iter(["test"].iter().chain(words)), name)
        };
        assert!(asked(&[], "a::b") && asked(&["b"], "a::b") && asked(&["--exact", "b"], "b"));
        assert!(!asked(&["c"], "a::b") && !asked(&["--exact", "b"], "a::b"));
        assert!(!asked(&["--skip", "b"], "a::b") && asked(&["--skip", "c"], "a::b"));
    }

    #[test]
    fn the_first_lack_is_the_reason() {
        let trial = Trial::new("t", || Ok(())).needs(None).needs(Some("a".into()));
        assert_eq!(trial.needs(Some("b".into())).lacks.as_deref(), Some("a"));
    }

    #[test]
    fn the_kernels_that_ship_are_all_there() {
        let kernels = kernels();
        assert_eq!(kernels.len(), 1803);
        assert!(kernels.iter().all(|kernel| kernel.contains("kernel")));
    }
}
