//! How well simulated times agree with this host's clock, in figures with intervals.
//!
//! Programs are named `PAIR.slow` and `PAIR.fast`. Which pairs are held out is decided by a hash of the
//! pair's name alone, so nobody chose them and no tuning can move them. Wall-clock times are
//! interleaved: every program runs once per round, so that a busy minute hurts all alike, and the best
//! round of each counts.

mod agreement;

use crate::{
    Error, Job, Options, SourceKind, Suite,
    elf::Image,
    place::Place,
    recipe,
    source::{self, Clock, Prepared},
};
use agreement::{Interval, Pairing};
use dataset::{Progress, Verdict, content_hash};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

pub use agreement::Figure;

/// Two programs count as different from this ratio of wall-clock times on.
const APART: f64 = 1.2;

/// Which programs of a suite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Half {
    /// Those that a model may be tuned on.
    Tuning,
    /// Those that it may not.
    HeldOut,
    /// All.
    #[default]
    Both,
}

/// What to validate.
#[derive(Clone, Debug)]
pub struct ValidateOptions {
    /// Folder or `.jsonl` file of programs.
    pub programs: PathBuf,
    /// How to simulate them.
    pub options: Options,
    /// Rounds of wall-clock runs, at least 2.
    pub rounds: u64,
    /// Which programs to look at.
    pub half: Half,
    /// Whether to compare with the time on a processor instead of the clock's: on a machine that is
    /// busy with other things the two differ by the waiting.
    pub processor_time: bool,
}

/// One program's times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// Its name.
    pub name: String,
    /// Whether it is in the half that is never tuned on.
    pub held_out: bool,
    /// Simulated seconds.
    pub seconds_simulated: f64,
    /// Best wall-clock seconds.
    pub seconds_wall: f64,
    /// Instructions executed.
    pub instructions: u64,
}

/// How one half of the programs agrees.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// Programs in it.
    pub programs: u64,
    /// Spearman's rank correlation.
    pub spearman: Figure,
    /// Kendall's tau-b.
    pub kendall: Figure,
    /// Share of any two programs whose wall-clock times are more than 1.2 apart that are in the right order.
    pub pair_order: Figure,
    /// Median of |simulated / (scale · wall) - 1|.
    pub median_error: Figure,
    /// Median error of the slow program's time over the fast one's, as a factor less 1.
    pub speedup_error: Figure,
    /// The one scale factor: median of simulated over wall-clock time.
    pub scale: f64,
    /// Spearman between the best of the even and of the odd rounds: what the host's noise allows.
    pub ceiling_spearman: f64,
    /// Median difference of these two.
    pub ceiling_error: f64,
}

/// A validation's figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ValidationReport {
    /// Which source was validated.
    pub source: String,
    /// Name of the processor.
    pub cpu: String,
    /// What simulated times are compared with: `wall` or `processor` time.
    pub measured: String,
    /// Rounds of such runs.
    pub rounds: u64,
    /// Identity of the programs of the held-out half.
    pub held_out_identity: String,
    /// The half for tuning.
    pub tuning: Option<Agreement>,
    /// The half that is never tuned on.
    pub held_out: Option<Agreement>,
    /// All programs.
    pub all: Option<Agreement>,
    /// Programs that could not be timed, in the simulation or in some round, by verdict.
    pub rejected: BTreeMap<String, u64>,
    /// Every program.
    pub rows: Vec<Compared>,
}

/// Whether a program is in the half that is never tuned on: by its pair's name.
#[must_use]
pub fn is_held_out(name: &str) -> bool {
    let pair = name.split('.').next().unwrap_or(name);
    content_hash(pair.as_bytes()).as_bytes().first().is_some_and(|digit| *digit < b'8')
}

struct Built {
    job: Job,
    place: Place,
    image: Image,
    seconds_simulated: f64,
    instructions: u64,
}

/// Compare simulated with wall-clock times of many programs.
///
/// # Errors
/// When the programs cannot be read, or a tool is missing.
pub fn validate(
    options: &ValidateOptions,
    progress: &dyn Progress,
) -> Result<ValidationReport, Error> {
    if options.rounds < 2 {
        let reason = "the noise of one round cannot be told".into();
        return Err(Error::Option { option: "--rounds", reason });
    }
    let mut suite = Suite::read(&options.programs)?;
    let held = suite.jobs.iter().filter(|job| is_held_out(&job.name)).cloned().collect();
    let held_out_identity = Suite { jobs: held }.identity();
    suite.jobs.retain(|job| match options.half {
        Half::Tuning => !is_held_out(&job.name),
        Half::HeldOut => is_held_out(&job.name),
        Half::Both => true,
    });
    let (built, mut rejected) = simulate(suite, &options.options, progress)?;
    let times = measure(&built, options, progress)?;
    let (built, times) = timed(built, times, &mut rejected);
    let rows: Vec<Compared> = built
        .iter()
        .zip(&times)
        .map(|(built, times)| Compared {
            name: built.job.name.clone(),
            held_out: is_held_out(&built.job.name),
            seconds_simulated: built.seconds_simulated,
            seconds_wall: least(times.iter().copied()),
            instructions: built.instructions,
        })
        .collect();
    let half = |wanted: Option<bool>| {
        let kept: Vec<usize> = (0..rows.len())
            .filter(|at| wanted.is_none_or(|wanted| rows[*at].held_out == wanted))
            .collect();
        let rows: Vec<&Compared> = kept.iter().map(|at| &rows[*at]).collect();
        let times: Vec<&Vec<f64>> = kept.iter().map(|at| &times[*at]).collect();
        agreement(&rows, &times)
    };
    Ok(ValidationReport {
        source: options.options.source.name().into(),
        cpu: options.options.processor()?.name,
        measured: if options.processor_time { "processor" } else { "wall" }.into(),
        rounds: options.rounds,
        held_out_identity,
        tuning: half(Some(false)),
        held_out: half(Some(true)),
        all: half(None),
        rejected,
        rows,
    })
}

fn simulate(
    suite: Suite,
    options: &Options,
    progress: &dyn Progress,
) -> Result<(Vec<Built>, BTreeMap<String, u64>), Error> {
    let cpu = options.processor()?;
    source::must_be_of_this_machine(
        &cpu,
        "this machine's clock times programs of its own instruction set",
    )?;
    let source = source::open(options, &cpu)?;
    progress.begin("simulate", suite.jobs.len() as u64);
    let outcomes = suite.jobs.into_par_iter().map(|job| -> Result<_, Error> {
        let place = Place::new()?;
        let image = match recipe::build(&job.program, &cpu, options, &place)? {
            Ok(image) => image,
            Err(verdict) => return Ok(Err(verdict)),
        };
        let prepared = prepare(&job, &place, image)?;
        let outcome = source.measure(&prepared)?;
        progress.advance(1);
        Ok(outcome.map(|measurement| Built {
            seconds_simulated: measurement.seconds_simulated,
            instructions: measurement.instructions.unwrap_or(0),
            job,
            place,
            image,
        }))
    });
    let outcomes: Vec<_> = outcomes.collect::<Result<_, _>>()?;
    let mut rejected = BTreeMap::new();
    let mut built = Vec::new();
    for outcome in outcomes {
        match outcome {
            Ok(one) => built.push(one),
            Err(verdict) => *rejected.entry(verdict.name.into_owned()).or_insert(0) += 1,
        }
    }
    Ok((built, rejected))
}

fn prepare<'a>(job: &Job, place: &'a Place, image: Image) -> Result<Prepared<'a>, Error> {
    let stdin = place.put("stdin", &job.stdin)?;
    Ok(Prepared { place, program: place.program(), stdin, image, functions: &[] })
}

/// Those that ran in every round, with their times; the others are counted by their first verdict.
fn timed<T>(
    built: Vec<T>,
    times: Vec<Result<Vec<f64>, Verdict>>,
    rejected: &mut BTreeMap<String, u64>,
) -> (Vec<T>, Vec<Vec<f64>>) {
    let mut kept = (Vec::new(), Vec::new());
    for (built, times) in built.into_iter().zip(times) {
        match times {
            Ok(times) => {
                kept.0.push(built);
                kept.1.push(times);
            }
            Err(verdict) => *rejected.entry(verdict.name.into_owned()).or_insert(0) += 1,
        }
    }
    kept
}

/// Wall-clock seconds of each program in each round; the first verdict of one that did not run.
fn measure(
    built: &[Built],
    options: &ValidateOptions,
    progress: &dyn Progress,
) -> Result<Vec<Result<Vec<f64>, Verdict>>, Error> {
    let options_of_clock = Options { source: SourceKind::Wall, ..options.options.clone() };
    let clock = Clock::find(&options_of_clock)?;
    progress.begin("wall clock", options.rounds * built.len() as u64);
    let mut times: Vec<Result<Vec<f64>, Verdict>> = vec![Ok(Vec::new()); built.len()];
    for _ in 0..options.rounds {
        for (built, times) in built.iter().zip(&mut times) {
            progress.advance(1);
            let Ok(known) = times else { continue };
            let prepared = prepare(&built.job, &built.place, built.image)?;
            match clock.time(&prepared, 1)? {
                Ok(runs) => {
                    let measured = match options.processor_time {
                        true => &runs.processor_nanoseconds,
                        false => &runs.nanoseconds,
                    };
                    known.extend(measured.iter().map(|ns| *ns as f64 / 1e9));
                }
                Err(verdict) => *times = Err(verdict),
            }
        }
    }
    Ok(times)
}

fn least(times: impl Iterator<Item = f64>) -> f64 {
    times.fold(f64::INFINITY, f64::min)
}

fn agreement(rows: &[&Compared], times: &[&Vec<f64>]) -> Option<Agreement> {
    if rows.len() < 3 {
        return None;
    }
    let points: Vec<Pairing> = rows
        .iter()
        .map(|row| Pairing {
            pair: row.name.split('.').next().unwrap_or_default().to_owned(),
            slow: row.name.contains(".slow"),
            model: row.seconds_simulated,
            wall: row.seconds_wall,
        })
        .collect();
    let every = |parity: usize| -> Vec<f64> {
        times.iter().map(|times| least(times.iter().skip(parity).step_by(2).copied())).collect()
    };
    let (even, odd) = (every(0), every(1));
    let differences = even.iter().zip(&odd).map(|(a, b)| (a / b - 1.0).abs());
    let interval = Interval::new(&points);
    Some(Agreement {
        programs: rows.len() as u64,
        spearman: interval.of(agreement::spearman),
        kendall: interval.of(agreement::kendall),
        pair_order: interval.of(|points| agreement::pair_order(points, APART)),
        median_error: interval.of(agreement::median_error),
        speedup_error: interval.of(agreement::speedup_error),
        scale: agreement::scale(&points),
        ceiling_spearman: statistics::spearman(&even, &odd),
        ceiling_error: statistics::median(differences).unwrap_or(0.0),
    })
}

/// The programs that were written for validation: `programs/` of this crate's sources, where they were when
/// it was built, or else in the checkout whose root is the current folder.
#[must_use]
pub fn programs() -> PathBuf {
    // A build folder may serve several checkouts, one of which is gone: Cargo tells tests where they are.
    let sources = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let built = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources = sources.or_else(|| built.is_dir().then(|| built.to_path_buf()));
    sources.unwrap_or_else(|| "crates/timing".into()).join("programs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_fails_in_a_round_is_rejected_and_not_infinitely_slow() {
        let times = vec![Ok(vec![1.0, 2.0]), Err(Verdict::new("timeout", "")), Ok(vec![3.0])];
        let mut rejected = BTreeMap::from([("timeout".to_owned(), 2)]);
        let (built, times) = timed(vec!["a", "b", "c"], times, &mut rejected);
        assert_eq!(built, ["a", "c"]);
        assert_eq!(times, [vec![1.0, 2.0], vec![3.0]]);
        assert_eq!(rejected["timeout"], 3);
    }
}
