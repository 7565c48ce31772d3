//! Foreign programs under limits, with what the machine does to them told from what they do.

use crate::Error;
use dataset::Verdict;
use rows::TimingVerdict;
use sandbox::{Death, Finished, Profile, Program};
use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

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

/// Faults of the machine in a run over many programs: each costs the program that met it its verdict, and the run
/// only when there are many in a row.
#[derive(Debug, Default)]
pub struct Faults {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    programs: u64,
    in_a_row: u32,
    first: Option<String>,
}

/// Faults in a row after which a run is given up: nothing else would become of the others.
const GIVE_UP: u32 = 16;

impl Faults {
    /// Let an answer about so many programs pass; a fault is noted and `None` then.
    ///
    /// # Errors
    /// The error, where `is_fault` says that it is none of a single program, and when there were too many in a row.
    pub fn pass<T, E: std::fmt::Display>(
        &self,
        programs: u64,
        answer: Result<T, E>,
        is_fault: impl Fn(&E) -> bool,
    ) -> Result<Option<T>, E> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match answer {
            Ok(answer) => {
                state.in_a_row = 0;
                Ok(Some(answer))
            }
            Err(error) if is_fault(&error) => {
                state.programs += programs;
                state.in_a_row += 1;
                state.first.get_or_insert_with(|| error.to_string());
                if state.in_a_row < GIVE_UP { Ok(None) } else { Err(error) }
            }
            Err(error) => Err(error),
        }
    }

    /// Programs that have no verdict for it.
    #[must_use]
    pub fn programs(&self) -> u64 {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).programs
    }

    /// Whether there were none among `total` programs.
    ///
    /// # Errors
    /// [`Error::Unfinished`] where there were.
    pub fn check(&self, total: u64) -> Result<(), Error> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match &state.first {
            None => Ok(()),
            Some(first) => {
                Err(Error::Unfinished { count: state.programs, total, first: first.clone() })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_costs_its_program_and_many_in_a_row_the_run() {
        let faults = Faults::default();
        let fault = || Err::<(), _>(Error::Start { what: "x".into(), reason: "no room".into() });
        let pass = |answer| faults.pass(2, answer, Error::is_fault);
        for _ in 0..3 {
            assert!(matches!(pass(fault()), Ok(None)));
        }
        assert!(matches!(pass(Ok(())), Ok(Some(()))));
        for _ in 1..GIVE_UP {
            assert!(matches!(pass(fault()), Ok(None)));
        }
        assert!(pass(fault()).is_err());
        assert!(matches!(pass(Err(Error::Cancelled)), Err(Error::Cancelled)));
        let unfinished = faults.check(100).unwrap_err().to_string();
        assert!(
            unfinished.starts_with("38 of 100") && unfinished.contains("no room"),
            "{unfinished}"
        );
        assert!(Faults::default().check(1).is_ok());
    }

    #[test]
    fn what_depends_on_the_machine_is_not_kept() {
        let verdict = |name: &'static str, detail: &str| is_lasting(&Verdict::new(name, detail));
        assert!(verdict("crashes", "killed by signal 11") && verdict("wrong-output", "line 1"));
        assert!(!verdict("crashes", "killed by signal 9") && !verdict("memory-limit", ""));
    }
}
