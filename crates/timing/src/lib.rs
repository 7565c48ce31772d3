//! Deterministic time of native programs.
//!
//! Real machines disagree with themselves: identical programs measured twice differ by 1.12× on
//! average and one in twenty by 1.9× (Shypula et al., *Learning Performance-Improving Code Edits*,
//! ICLR 2024). This crate answers with the cycles of a described processor instead, the same on
//! every x86-64 host, in any directory, under any environment and load. A program for x86-64, AArch64 or RISC-V, as
//! the processor has it, is built by one [recipe] and its [target]'s compiler, run in QEMU's user mode under the limits of `sandbox`, and its instruction
//! stream feeds the out-of-order model of `timing-model`.
//!
//! - [`time`] takes one program; the stage [`TimeSuite`] many, in parallel, as rows of a data set.
//! - [`SourceKind`] says where cycles come from: QEMU with our model, gem5, cachegrind, or the wall clock.
//! - [`calibrate()`] writes a processor file for the host; [`validate()`] tells how well the model's
//!   times agree with its clock.
//! - What a program does wrong is the verdict of its [`Timing`], never an error.
//!
//! ```no_run
//! use stampmill_timing::{Code, Job, Options};
//!
//! let job = Job {
//!     name: "sum".into(),
//!     program: Code::Cpp("#include <iostream>\nint main() { long n; std::cin >> n; std::cout << n * n; }".into()),
//!     stdin: b"12\n".to_vec(),
//! };
//! let timing = stampmill_timing::time(&job, &Options { cpu: "zen4".into(), ..Options::default() })?;
//! match timing.measurement {
//!     Some(m) => println!("{} cycles, {} s without start-up", m.cycles.unwrap_or(0), m.seconds_net.unwrap_or(0.0)),
//!     None => println!("{}: {}", timing.verdict, timing.detail),
//! }
//! # Ok::<(), stampmill_timing::Error>(())
//! ```

pub mod bounded;
mod calibrate;
mod compare;
pub mod compiler;
mod elf;
mod error;
#[doc(hidden)]
pub mod fuzz;
mod measurement;
mod net;
mod options;
mod place;
pub mod recipe;
mod source;
mod stage;
mod suite;
pub mod target;
mod validate;

pub use calibrate::{Calibration, calibrate, nearest_processor};
pub use compare::{Change, Comparison, Outcome, Seconds, compare, compare_programs};
pub use error::Error;
pub use measurement::{Measurement, Timing};
pub use options::{Code, Compiler, Job, Options, SourceKind, built_in};
pub use stage::{SuiteItem, SuiteReport, TimeSuite};
pub use suite::{Suite, TimingRow, inputs};
pub use target::Target;
pub use timing_model::{Architecture, Cpu, FunctionCounts};
pub use validate::{
    Agreement, Compared, Figure, Half, ValidateOptions, ValidationReport, is_held_out, programs,
    validate,
};

use net::EmptyPrograms;
use place::Place;
use source::{Prepared, Source};
use std::{collections::BTreeMap, ops::Range};

/// Time one program.
///
/// # Errors
/// When the processor file is wrong, or a tool that the source needs is missing or cannot run.
/// Whatever the program does wrong is the verdict of the answer.
pub fn time(job: &Job, options: &Options) -> Result<Timing, Error> {
    Timer::open(options)?.time(job)
}

/// An opened source: many programs can be timed with one.
pub struct Timer {
    options: Options,
    cpu: Cpu,
    source: Box<dyn Source>,
    empty: EmptyPrograms,
}

impl Timer {
    /// Find the source and read the processor.
    ///
    /// # Errors
    /// As [`time`].
    pub fn open(options: &Options) -> Result<Timer, Error> {
        options.check()?;
        let cpu = options.processor()?;
        let source = source::open(options, &cpu)?;
        Ok(Timer { options: options.clone(), cpu, source, empty: EmptyPrograms::default() })
    }

    /// Identity of all that shapes a time besides program and input; `None` where times differ from
    /// run to run and must not be kept.
    #[must_use]
    pub fn identity(&self) -> Option<String> {
        self.source.identity()
    }

    /// As a row calls the processor.
    #[must_use]
    pub fn cpu_name(&self) -> &str {
        match self.options.source {
            SourceKind::Wall => "host",
            _ => &self.cpu.name,
        }
    }

    /// What programs are built and run with.
    #[must_use]
    pub fn target(&self) -> &'static Target {
        Target::of(self.cpu.architecture)
    }

    /// The tools that shape the times of these programs, with their versions.
    ///
    /// # Errors
    /// When there is no compiler for one of them.
    pub fn tools(&self, jobs: &[Job]) -> Result<BTreeMap<String, String>, Error> {
        let (name, version) = self.source.tool();
        let mut tools = BTreeMap::from([(name.to_owned(), version)]);
        for c in [false, true] {
            let is = |job: &Job| match job.program {
                Code::C(_) => c,
                Code::Cpp(_) => !c,
                Code::Elf(_) => false,
            };
            if jobs.iter().any(is) {
                tools.extend([self.target().compiler_version(self.options.compiler, c)?]);
            }
        }
        Ok(tools)
    }

    /// Time one program, with the empty program of its headers taken away in `seconds_net`.
    ///
    /// # Errors
    /// As [`time`].
    pub fn time(&self, job: &Job) -> Result<Timing, Error> {
        self.time_functions(job, &[])
    }

    /// The same, with what each function takes in [`Measurement::functions`]: they are told by the addresses of their
    /// code in the executable. Of the sources QEMU with our model knows them, where it simulates all in detail.
    ///
    /// # Errors
    /// As [`time`].
    pub fn time_functions(&self, job: &Job, functions: &[Range<u64>]) -> Result<Timing, Error> {
        let mut timing = time_with(job, &self.cpu, &self.options, self.source.as_ref(), functions)?;
        self.add_net(&mut timing, &job.program)?;
        Ok(timing)
    }

    /// Time one program on several inputs, in order, up to the first on which it comes to a bad end.
    /// The times are those of [`Timer::time`]; the program is built, and where the source can, started
    /// once for all.
    ///
    /// # Errors
    /// As [`time`].
    pub fn time_each(&self, program: &Code, inputs: &[&[u8]]) -> Result<Vec<Timing>, Error> {
        let place = Place::new()?;
        let image = match recipe::build(program, &self.cpu, &self.options, &place)? {
            Ok(image) => image,
            Err(verdict) => {
                return Ok(inputs.iter().take(1).map(|_| verdict.clone().into()).collect());
            }
        };
        let stdin = place.put("stdin", b"")?;
        let program_at = place.program();
        let prepared =
            Prepared { place: &place, program: program_at, stdin, image, functions: &[] };
        let mut timings = Vec::new();
        for measured in self.source.measure_each(&prepared, inputs)? {
            let mut timing = Timing::from(measured);
            self.add_net(&mut timing, program)?;
            timings.push(timing);
        }
        Ok(timings)
    }

    fn add_net(&self, timing: &mut Timing, program: &Code) -> Result<(), Error> {
        if let Some(measurement) = &mut timing.measurement
            && self.options.net
        {
            let empty =
                self.empty.seconds(program, &self.cpu, &self.options, self.source.as_ref())?;
            // An executable has no headers to go by: what is before its `main` is known instead.
            let clock = self.cpu.clock_mhz as f64 * 1e6;
            let startup = measurement.startup_cycles.map(|cycles| cycles as f64 / clock);
            let away = empty.or(startup);
            measurement.seconds_net =
                away.map(|seconds| (measurement.seconds_simulated - seconds).max(0.0));
        }
        Ok(())
    }
}

/// Build a program and measure it.
fn time_with(
    job: &Job,
    cpu: &Cpu,
    options: &Options,
    source: &dyn Source,
    functions: &[Range<u64>],
) -> Result<Timing, Error> {
    let place = Place::new()?;
    let image = match recipe::build(&job.program, cpu, options, &place)? {
        Ok(image) => image,
        Err(verdict) => {
            let detail = job.named(&verdict.detail);
            return Ok(Timing { detail, ..verdict.into() });
        }
    };
    let stdin = place.put("stdin", &job.stdin)?;
    let program = place.program();
    let prepared = Prepared { place: &place, program, stdin, image, functions };
    source.measure(&prepared).map(Timing::from)
}
