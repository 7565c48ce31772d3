//! Where cycles come from: one file per source.
//!
//! A source takes a built program and its input and answers a [`Measurement`] or a verdict. An
//! emulator inside this process would be one more file here.

mod cachegrind;
mod gem5;
mod qemu;
mod wall;

pub(crate) use wall::Clock;

/// For the fuzzer: whether a tool may have written this.
pub(crate) fn logs(text: &str) -> bool {
    cachegrind::cycles_in(text).is_some() || !gem5::parse(text).is_empty()
}

use crate::{
    Error, Measurement, bounded,
    elf::Image,
    options::{Options, SourceKind},
    place::Place,
};
use dataset::Verdict;
use sandbox::{Finished, Memory, Profile, Program};
use std::{
    ffi::OsString,
    ops::Range,
    path::{Path, PathBuf},
    time::Duration,
};
use timing_model::{Architecture, Cpu};

/// A built program in its place, with its input in a file beside it.
pub(crate) struct Prepared<'a> {
    pub(crate) place: &'a Place,
    pub(crate) program: PathBuf,
    pub(crate) stdin: PathBuf,
    pub(crate) image: Image,
    /// Where the functions are that are counted one by one.
    pub(crate) functions: &'a [Range<u64>],
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
    if options.source != SourceKind::Qemu {
        must_be_of_this_machine(cpu, "only the model (--source qemu) runs its programs")?;
    }
    Ok(match options.source {
        SourceKind::Qemu => Box::new(qemu::Qemu::find(options, cpu)?),
        SourceKind::Gem5 => Box::new(gem5::Gem5::find(options, cpu)?),
        SourceKind::Cachegrind => Box::new(cachegrind::Cachegrind::find(options, cpu)?),
        SourceKind::Wall => Box::new(wall::Wall::find(options)?),
    })
}

/// A processor of another instruction set than this machine's, where that cannot be.
pub(crate) fn must_be_of_this_machine(cpu: &Cpu, why: &str) -> Result<(), Error> {
    match cpu.architecture {
        Architecture::X86_64 => Ok(()),
        other => {
            let reason = format!("processor {} is {}: {why}", cpu.name, other.name());
            Err(Error::Option { option: "--cpu", reason })
        }
    }
}

/// A run of an emulator or of a native program.
struct Run<'a> {
    what: &'static str,
    command: Vec<OsString>,
    place: &'a Place,
    profile: Profile,
    wall: Duration,
    stdin: Vec<u8>,
    /// Whether descriptor 3 is a pipe to us.
    channel: bool,
}

impl<'a> Run<'a> {
    /// Under the limits of the options: it reads its place and `tools`, and writes nothing.
    fn new(
        what: &'static str,
        command: Vec<OsString>,
        program: &Prepared<'a>,
        options: &Options,
        tools: &[&Path],
    ) -> Run<'a> {
        let base = Profile::native();
        let mut readable = base.readable.clone();
        readable.push(program.place.path().into());
        readable.extend(tools.iter().map(PathBuf::from));
        let profile = Profile {
            memory: Memory::Resident(options.memory_bytes),
            processor: options.timeout,
            output_bytes: options.output_bytes,
            readable,
            ..base
        };
        let (place, wall) = (program.place, options.timeout);
        Run { what, command, place, profile, wall, stdin: Vec::new(), channel: false }
    }

    fn go(self) -> Result<Finished, Error> {
        let program = Program {
            command: self.command,
            environment: Vec::new(),
            directory: Some(self.place.path().into()),
            stdin: self.stdin,
            wall: self.wall,
            channel: self.channel,
        };
        bounded::run(self.what, &program, &self.profile)
    }
}

/// Run the program of a place natively and answer what it printed: for programs of our own.
pub(crate) fn run_plain(
    what: &'static str,
    place: &Place,
    options: &Options,
) -> Result<String, Error> {
    let stdin = place.put("stdin", b"")?;
    let (program, image) = (place.program(), Image::default());
    let prepared = Prepared { place, program, stdin, image, functions: &[] };
    let command = vec![prepared.program.clone().into_os_string()];
    let finished = Run::new(what, command, &prepared, options, &[]).go()?;
    match finished.death {
        None => Ok(String::from_utf8_lossy(&finished.stdout).into_owned()),
        Some(death) => Err(Error::Start { what: what.into(), reason: death.to_string() }),
    }
}
