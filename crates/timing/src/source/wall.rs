//! This host's clock: the best of several runs, with an interval.

use super::{Prepared, Run, Source};
use crate::{Error, Measurement, bounded::verdict_of, options::Options};
use dataset::Verdict;
use host::Helper;
use rows::TimingVerdict;
use sandbox::Calls;
use serde::{Deserialize, Serialize};
use std::{ffi::OsString, path::PathBuf, time::Instant};

const CLOCK: &str = Helper::CLOCK.name;

/// What `stampmill-clock` prints: wall-clock nanoseconds from start to end of each run of the
/// program, and how the last one ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Runs {
    pub(crate) nanoseconds: Vec<u64>,
    /// Of those, on a processor.
    pub(crate) processor_nanoseconds: Vec<u64>,
    pub(crate) status: i32,
    pub(crate) signal: i32,
}

/// Times native programs from close by: a small process inside the sandbox starts them and waits.
pub(crate) struct Clock {
    clock: PathBuf,
    options: Options,
}

impl Clock {
    pub(crate) fn find(options: &Options) -> Result<Clock, Error> {
        Ok(Clock { clock: Helper::CLOCK.find()?, options: options.clone() })
    }

    /// Run a program `runs` times.
    pub(crate) fn time(
        &self,
        program: &Prepared<'_>,
        runs: u64,
    ) -> Result<Result<Runs, Verdict>, Error> {
        let mut command: Vec<OsString> = vec![self.clock.clone().into_os_string()];
        command.push(runs.to_string().into());
        command.push(program.stdin.clone().into_os_string());
        command.push(program.program.clone().into_os_string());
        let mut run = Run::new(CLOCK, command, program, &self.options, &[&self.clock]);
        // It and the program, whose output goes to `/dev/null` and whose processor time is in `/proc`.
        run.profile.processes = 2;
        run.profile.proc = true;
        run.profile.calls = Calls::Files;
        let finished = run.go()?;
        if let Some(death) = &finished.death {
            return Ok(Err(verdict_of(death)));
        }
        // Its standard output is its own: the program's goes nowhere.
        let runs = serde_json::from_slice::<Runs>(&finished.stdout).map_err(|_| {
            let words = String::from_utf8_lossy(&finished.stderr);
            let reason = words.lines().last().unwrap_or("the clock said nothing").to_owned();
            Error::Start { what: CLOCK.into(), reason }
        })?;
        if runs.signal != 0 {
            return Ok(Err(Verdict::new(
                TimingVerdict::Crashes,
                format!("killed by signal {}", runs.signal),
            )));
        }
        Ok(Ok(runs))
    }
}

/// Best of n on this host.
pub(super) struct Wall {
    clock: Clock,
    runs: u64,
}

impl Wall {
    pub(super) fn find(options: &Options) -> Result<Wall, Error> {
        Ok(Wall { clock: Clock::find(options)?, runs: options.runs })
    }
}

impl Source for Wall {
    fn measure(&self, program: &Prepared<'_>) -> Result<Result<Measurement, Verdict>, Error> {
        let started = Instant::now();
        let runs = match self.clock.time(program, self.runs)? {
            Ok(runs) => runs,
            Err(verdict) => return Ok(Err(verdict)),
        };
        let mut seconds: Vec<f64> = runs.nanoseconds.iter().map(|ns| *ns as f64 / 1e9).collect();
        seconds.sort_by(f64::total_cmp);
        let best = seconds.first().copied().unwrap_or(0.0);
        Ok(Ok(Measurement {
            source: "wall".into(),
            cpu: "host".into(),
            seconds_simulated: best,
            interval: best_interval(&seconds),
            runs: self.runs,
            exit_status: runs.status,
            // The clock sends the output to nowhere, so that no reader competes for the processor.
            output_hash: String::new(),
            host_seconds: started.elapsed().as_secs_f64(),
            ..Measurement::default()
        }))
    }

    fn identity(&self) -> Option<String> {
        None
    }

    fn tool(&self) -> (&'static str, String) {
        (CLOCK, env!("CARGO_PKG_VERSION").to_owned())
    }
}

/// 95 % bootstrap interval of the best of these sorted times. In closed form: the least of n draws
/// with replacement exceeds the k-th of n with probability (1 - k/n)^n.
fn best_interval(sorted: &[f64]) -> Option<[f64; 2]> {
    let n = sorted.len();
    if n < 2 {
        return None;
    }
    let exceeds = |k: usize| (1.0 - k as f64 / n as f64).powi(n as i32);
    let k = (1..=n).find(|k| exceeds(*k) <= 0.05)?;
    Some([sorted[0], sorted[k - 1]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_of_the_best_reaches_to_the_third_of_ten() {
        let times: Vec<f64> = (1..=10).map(f64::from).collect();
        assert_eq!(best_interval(&times), Some([1.0, 3.0]));
        assert_eq!(best_interval(&[2.0]), None);
        assert_eq!(best_interval(&[]), None);
    }
}
