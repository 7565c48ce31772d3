//! Foreign programs under limits, with what the machine does to them told from what they do.

use crate::Error;
use dataset::Verdict;
use rows::TimingVerdict;
use sandbox::{Death, Finished, Profile, Program};
use std::time::Duration;

const SIGKILL: i32 = 9;

/// Whether work may go on.
///
/// # Errors
/// [`Error::Cancelled`] after [`sandbox::stop_all`].
pub fn check() -> Result<(), Error> {
    if sandbox::is_stopped() { Err(Error::Cancelled) } else { Ok(()) }
}

/// Run a foreign program to its end. What could as well be the machine's doing (a kill that nobody here sent, a
/// time-out of a program that hardly ran) is tried a second time before it counts.
///
/// # Errors
/// [`Error::Start`] where the machine and not the program is to blame, [`Error::Cancelled`] after
/// [`sandbox::stop_all`].
pub fn run(what: &str, program: &Program, profile: &Profile) -> Result<Finished, Error> {
    twice(what, program.wall, || sandbox::run(program, profile))
}

/// The same for several runs of one program, which share a sandbox where they can.
#[derive(Debug)]
pub struct Series {
    what: String,
    wall: Duration,
    runs: sandbox::Series,
}

impl Series {
    /// As [`sandbox::Series::new`].
    #[must_use]
    pub fn new(what: &str, program: Program, profile: Profile) -> Series {
        let (what, wall) = (what.to_owned(), program.wall);
        Series { what, wall, runs: sandbox::Series::new(program, profile) }
    }

    /// Run the program on an input.
    ///
    /// # Errors
    /// As [`run`].
    pub fn run(&mut self, stdin: &[u8]) -> Result<Finished, Error> {
        twice(&self.what, self.wall, || self.runs.run(stdin))
    }
}

fn twice(
    what: &str,
    wall: Duration,
    mut run: impl FnMut() -> Result<Finished, Death>,
) -> Result<Finished, Error> {
    let first = once(what, &mut run)?;
    if !is_doubtful(&first, wall) {
        return Ok(first);
    }
    let starved = starved_programs();
    let second = once(what, &mut run)?;
    let killed = matches!(second.death, Some(Death::Signal(SIGKILL, _)));
    if killed && starved_programs() > starved {
        let reason = "the kernel ended it for want of memory; give the machine more or run fewer at once (--jobs)";
        return Err(Error::Start { what: what.to_owned(), reason: reason.into() });
    }
    Ok(second)
}

fn once(what: &str, run: &mut impl FnMut() -> Result<Finished, Death>) -> Result<Finished, Error> {
    check()?;
    let error = |death: &Death| match death {
        Death::Stopped => Some(Error::Cancelled),
        death if death.is_ours() => {
            Some(Error::Start { what: what.to_owned(), reason: death.to_string() })
        }
        _ => None,
    };
    match run() {
        Ok(finished) => match finished.death.as_ref().and_then(error) {
            Some(error) => Err(error),
            None => Ok(finished),
        },
        Err(death) => Err(error(&death)
            .unwrap_or_else(|| Error::Start { what: what.to_owned(), reason: death.to_string() })),
    }
}

fn is_doubtful(finished: &Finished, wall: Duration) -> bool {
    match &finished.death {
        Some(Death::Signal(SIGKILL, _)) => true,
        Some(Death::Timeout(_)) => {
            finished.user_seconds + finished.system_seconds < wall.as_secs_f64() / 4.0
        }
        _ => false,
    }
}

/// Processes that this kernel has ended for want of memory since it runs.
pub(crate) fn starved_programs() -> u64 {
    let text = std::fs::read_to_string("/proc/vmstat").unwrap_or_default();
    let count = text.lines().find_map(|line| line.strip_prefix("oom_kill "));
    count.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}

/// Whether a verdict follows from the program alone, so that it can be kept for other runs: limits of time, memory
/// and output depend on what else the machine does, and anybody can send a kill.
#[must_use]
pub fn is_lasting(verdict: &Verdict) -> bool {
    const LIMITS: [&str; 5] =
        ["timeout", "cpu-limit", "memory-limit", "output-limit", "process-limit"];
    !LIMITS.contains(&verdict.name.as_ref()) && !verdict.detail.contains("killed by signal 9")
}

/// The verdict that a bad end earns.
#[must_use]
pub fn verdict_of(death: &Death) -> Verdict {
    match death {
        Death::Signal(4, _) => {
            Verdict::new(TimingVerdict::Crashes, "illegal instruction (signal 4)")
        }
        Death::Signal(..) | Death::Exit(..) => {
            Verdict::new(TimingVerdict::Crashes, death.to_string())
        }
        other => Verdict::new(other.name(), other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_depends_on_the_machine_is_not_kept() {
        let verdict = |name: &'static str, detail: &str| is_lasting(&Verdict::new(name, detail));
        assert!(verdict("crashes", "killed by signal 11") && verdict("wrong-output", "line 1"));
        assert!(!verdict("crashes", "killed by signal 9") && !verdict("memory-limit", ""));
    }
}
