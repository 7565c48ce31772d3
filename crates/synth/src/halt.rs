//! Work under way that is cut short: because the user wants no more of it, or because the time is up.

use crate::clock::Clock;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

/// How often somebody looks whether work is to be cut short.
const TICK: Duration = Duration::from_millis(20);

/// Looked at wherever something may take long. Under a budget in candidates nothing but the user
/// raises it, so that what such a search finds never depends on it.
#[derive(Debug, Default)]
pub(crate) struct Halt {
    cut: AtomicBool,
    abort: Arc<AtomicBool>,
}

impl Halt {
    /// Whether no further edit is to be begun; what was made so far may still be looked at.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut.load(Ordering::Relaxed)
    }

    /// Whether no answer is wanted any more at all.
    pub(crate) fn is_aborted(&self) -> bool {
        self.abort.load(Ordering::Relaxed)
    }

    /// What has compilers end in the middle of a program.
    pub(crate) fn abortion(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.abort)
    }

    /// Do `work`, and have it cut short once `stop` is raised or the time of `clock` is up; in the
    /// latter case not before the first of `judged`, so that even the shortest time gives an answer.
    pub(crate) fn watched<R>(
        &self,
        clock: &Clock,
        judged: &AtomicU64,
        stop: &AtomicBool,
        work: impl FnOnce() -> R,
    ) -> R {
        let before = judged.load(Ordering::Relaxed);
        let ended = AtomicBool::new(false);
        thread::scope(|scope| {
            let watch = scope.spawn(|| {
                while !ended.load(Ordering::Acquire) {
                    let stopped = stop.load(Ordering::Relaxed);
                    let late = stopped || clock.is_overdue();
                    if late {
                        self.cut.store(true, Ordering::Relaxed);
                    }
                    if stopped || late && judged.load(Ordering::Relaxed) > before {
                        self.abort.store(true, Ordering::Relaxed);
                    }
                    thread::park_timeout(TICK);
                }
            });
            let result = work();
            ended.store(true, Ordering::Release);
            watch.thread().unpark();
            let _ = watch.join();
            self.cut.store(false, Ordering::Relaxed);
            self.abort.store(false, Ordering::Relaxed);
            result
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Budget;

    #[test]
    fn who_wants_no_more_ends_work_and_the_next_begins_afresh() {
        let (halt, stop) = (Halt::default(), AtomicBool::new(false));
        let clock = Clock::start(Budget::Candidates(1));
        halt.watched(&clock, &AtomicU64::new(0), &stop, || {
            assert!(!halt.is_cut());
            stop.store(true, Ordering::Relaxed);
            while !halt.is_cut() || !halt.is_aborted() {
                thread::yield_now();
            }
        });
        assert!(!halt.is_cut() && !halt.is_aborted());
    }

    #[test]
    fn time_that_is_up_waits_for_one_answer_and_counted_candidates_for_all() {
        let (halt, stop, judged) = (Halt::default(), AtomicBool::new(false), AtomicU64::new(3));
        let clock = Clock::overdue();
        halt.watched(&clock, &judged, &stop, || {
            while !halt.is_cut() {
                thread::yield_now();
            }
            assert!(!halt.is_aborted());
            judged.store(4, Ordering::Relaxed);
            while !halt.is_aborted() {
                thread::yield_now();
            }
        });
        assert!(!Clock::start(Budget::Candidates(0)).is_overdue());
    }
}
