//! Where cycles come from: one file per source.
//!
//! A source takes a built program and its input and answers a [`Measurement`] or a verdict. An
//! emulator inside this process would be one more file here.

mod cachegrind;
mod gem5;
mod qemu;
mod wall;

pub(crate) use wall::Clock;

use crate::{
    Error, Measurement,
    elf::Image,
    options::{Options, SourceKind},
    place::Place,
};
use dataset::Verdict;
use sandbox::{Calls, Death, Finished, Memory, Profile, Program};
use std::{ffi::OsString, path::PathBuf, time::Duration};
use timing_model::Cpu;

/// A built program in its place, with its input in a file beside it.
pub(crate) struct Prepared<'a> {
    pub(crate) place: &'a Place,
    pub(crate) program: PathBuf,
    pub(crate) stdin: PathBuf,
    pub(crate) image: Image,
}

impl Prepared<'_> {
    /// Put another input in the place of the last one.
    fn give(&self, input: &[u8]) -> Result<(), Error> {
        std::fs::write(&self.stdin, input).map_err(Error::file("write", &self.stdin))
    }
}

/// Something that tells how long a program takes.
pub(crate) trait Source: Send + Sync {
    /// Measure one program.
    ///
    /// # Errors
    /// When the source itself cannot run; what the program does is a verdict.
    fn measure(&self, program: &Prepared<'_>) -> Result<Result<Measurement, Verdict>, Error>;

    /// Measure one program on several inputs, in order, up to the first on which it comes to a bad end.
    ///
    /// # Errors
    /// As [`Source::measure`].
    fn measure_each(
        &self,
        program: &Prepared<'_>,
        inputs: &[&[u8]],
    ) -> Result<Vec<Result<Measurement, Verdict>>, Error> {
        let mut all = Vec::new();
        for input in inputs {
            program.give(input)?;
            let one = self.measure(program)?;
            let ended = one.is_err();
            all.push(one);
            if ended {
                break;
            }
        }
        Ok(all)
    }

    /// Identity of all that shapes a result besides program and input; `None` where results differ
    /// from run to run and must not be kept.
    fn identity(&self) -> Option<String>;

    /// The tool that runs programs, and its version.
    fn tool(&self) -> (&'static str, String);
}

/// The source that the options ask for.
pub(crate) fn open(options: &Options, cpu: &Cpu) -> Result<Box<dyn Source>, Error> {
    Ok(match options.source {
        SourceKind::Qemu => Box::new(qemu::Qemu::find(options, cpu)?),
        SourceKind::Gem5 => Box::new(gem5::Gem5::find(options, cpu)?),
        SourceKind::Cachegrind => Box::new(cachegrind::Cachegrind::find(options, cpu)?),
        SourceKind::Wall => Box::new(wall::Wall::find(options)?),
    })
}

/// Run an emulator or a native program under the limits of a foreign one.
fn run_bounded(
    what: &'static str,
    command: Vec<OsString>,
    program: &Prepared<'_>,
    options: &Options,
    tools: Vec<PathBuf>,
    writes: Vec<PathBuf>,
    processes: bool,
) -> Result<Finished, Error> {
    let profile = Profile {
        memory: Memory::Resident(options.memory_bytes),
        processor: options.timeout,
        output_bytes: options.output_bytes,
        readable: tools,
        calls: if processes { Calls::Files } else { Calls::Compute },
        writable: writes,
        processes: if processes { 8 } else { 1 },
        ..Profile::native()
    };
    run_under(what, command, program, &profile, options.timeout)
}

/// Run an emulator or a native program under a profile, for at most `wall`.
fn run_under(
    what: &'static str,
    command: Vec<OsString>,
    program: &Prepared<'_>,
    profile: &Profile,
    wall: Duration,
) -> Result<Finished, Error> {
    let run = Program {
        command,
        environment: Vec::new(),
        directory: Some(program.place.path().into()),
        wall,
        ..Program::default()
    };
    let start = |reason: String| Error::Start { what: what.to_owned(), reason };
    match sandbox::run(&run, profile) {
        Ok(Finished { death: Some(Death::Start(reason)), .. }) => Err(start(reason)),
        Ok(finished) => Ok(finished),
        Err(death) => Err(start(death.to_string())),
    }
}

/// Run the program of a place natively and answer what it printed: for programs of our own.
pub(crate) fn run_plain(
    what: &'static str,
    place: &Place,
    options: &Options,
) -> Result<String, Error> {
    let stdin = place.put("stdin", b"")?;
    let prepared = Prepared { place, program: place.program(), stdin, image: Image::default() };
    let command = vec![prepared.program.clone().into_os_string()];
    let finished = run_bounded(what, command, &prepared, options, Vec::new(), Vec::new(), false)?;
    match finished.death {
        None => Ok(String::from_utf8_lossy(&finished.stdout).into_owned()),
        Some(death) => Err(Error::Start { what: what.into(), reason: death.to_string() }),
    }
}

/// The verdict that a bad end earns.
fn verdict_of(death: &Death) -> Verdict {
    match death {
        Death::Signal(4, _) => Verdict::new("crashes", "illegal instruction (signal 4)"),
        Death::Signal(..) | Death::Exit(..) => Verdict::new("crashes", death.to_string()),
        other => Verdict::new(other.name(), other.to_string()),
    }
}
