//! What a search may use up.

use sandbox::processor_time;
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

/// By how much a search may exceed its time before what it does is cut short: most generations of
/// ordinary programs end by themselves within that.
const GRACE: Duration = Duration::from_millis(300);

/// What asking whether a kernel is acceptable is given at least, and laying out what was found, whatever is left.
const LAST: Duration = Duration::from_secs(3);

/// What a search for plain kernels needs at least, and is given beyond what was used.
const AGAIN: Duration = Duration::from_secs(3);
const CANDIDATES_AGAIN: u64 = 1_500;
/// What a search for plain kernels takes at most: those that are found are mostly found by then.
const MOST: Duration = Duration::from_secs(10);
const MOST_CANDIDATES: u64 = 3_000;

/// How long a search for one target goes on at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// Time on the clock.
    Wall(Duration),
    /// Processor time of this process and its workers: fair on a machine that others use too.
    Processor(Duration),
    /// Candidates judged: the only budget under which a seed gives the same answer twice.
    Candidates(u64),
}

impl Budget {
    /// What so many targets have in all; one of candidates stays.
    pub(crate) fn of_all(self, targets: usize) -> Budget {
        let targets = u32::try_from(targets).unwrap_or(u32::MAX);
        match self {
            Budget::Wall(limit) => Budget::Wall(limit.saturating_mul(targets)),
            Budget::Processor(limit) => Budget::Processor(limit.saturating_mul(targets)),
            Budget::Candidates(_) => self,
        }
    }
}

/// Measures what one target's search has used.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    budget: Budget,
    started: Instant,
    processor: Duration,
}

impl Clock {
    pub(crate) fn start(budget: Budget) -> Clock {
        Clock { budget, started: Instant::now(), processor: processor_time() }
    }

    /// Seconds since the start, in the unit of the budget; 0 where that counts candidates: rows that
    /// repeat hold no clock.
    pub(crate) fn seconds(&self) -> f64 {
        match self.budget {
            Budget::Processor(_) => processor_time().saturating_sub(self.processor).as_secs_f64(),
            Budget::Wall(_) => self.started.elapsed().as_secs_f64(),
            Budget::Candidates(_) => 0.0,
        }
    }

    /// Whether a budget of time is spent for long enough that no generation should still go on.
    pub(crate) fn is_overdue(&self) -> bool {
        match self.budget {
            Budget::Wall(limit) | Budget::Processor(limit) => {
                self.seconds() >= limit.saturating_add(GRACE).as_secs_f64()
            }
            Budget::Candidates(_) => false,
        }
    }

    /// Whether a budget of time is spent, so that what may be left undone is.
    pub(crate) fn is_up(&self) -> bool {
        !matches!(self.budget, Budget::Candidates(_)) && self.is_spent(0)
    }

    /// One whose time is up.
    #[cfg(test)]
    pub(crate) fn overdue() -> Clock {
        let clock = Clock::start(Budget::Wall(Duration::ZERO));
        Clock { started: clock.started.checked_sub(2 * GRACE).unwrap_or(clock.started), ..clock }
    }

    pub(crate) fn is_spent(&self, candidates: u64) -> bool {
        match self.budget {
            Budget::Wall(limit) | Budget::Processor(limit) => self.seconds() >= limit.as_secs_f64(),
            Budget::Candidates(limit) => candidates >= limit,
        }
    }

    /// How much of a budget of time is spent; of one of candidates nothing is said.
    pub(crate) fn share(&self) -> f64 {
        match self.budget {
            Budget::Wall(limit) | Budget::Processor(limit) => self.seconds() / limit.as_secs_f64(),
            Budget::Candidates(_) => 0.0,
        }
    }

    /// The same with another limit, whichever it has.
    fn ending(
        &self,
        time: impl Fn(Duration) -> Duration,
        candidates: impl Fn(u64) -> u64,
    ) -> Clock {
        let budget = match self.budget {
            Budget::Wall(limit) => Budget::Wall(time(limit)),
            Budget::Processor(limit) => Budget::Processor(time(limit)),
            Budget::Candidates(limit) => Budget::Candidates(candidates(limit)),
        };
        Clock { budget, ..self.clone() }
    }

    /// The same, ending once as much again is used as is now, though no more than enough, and a little; or where it ends anyway.
    pub(crate) fn for_as_long_again(&self, candidates: u64) -> Clock {
        let used = Duration::from_secs_f64(self.seconds());
        let time = used.saturating_add(used.min(MOST)).saturating_add(AGAIN);
        let candidates = candidates + candidates.min(MOST_CANDIDATES) + CANDIDATES_AGAIN;
        self.ending(|limit| limit.min(time), |limit| limit.min(candidates))
    }

    /// Whether a third of the budget is enough for a search.
    pub(crate) fn is_ample(&self) -> bool {
        match self.budget {
            Budget::Wall(limit) | Budget::Processor(limit) => limit > AGAIN,
            Budget::Candidates(limit) => limit > CANDIDATES_AGAIN,
        }
    }

    /// The same, ending after a third of the budget, or once enough is used.
    pub(crate) fn first_third(&self) -> Clock {
        self.ending(|limit| MOST.min(limit / 3), |limit| MOST_CANDIDATES.min(limit / 3))
    }

    /// The same, ending after two thirds of the budget.
    pub(crate) fn first_two_thirds(&self) -> Clock {
        self.ending(|limit| limit * 2 / 3, |limit| limit * 2 / 3)
    }

    /// The same without this share of its time, at the end.
    pub(crate) fn but_the_last(&self, share: f64) -> Clock {
        self.ending(|limit| limit.mul_f64(1.0 - share), |limit| limit)
    }

    /// The same, ending once so much of the time that is left now is used.
    pub(crate) fn for_the_next(&self, share: f64) -> Clock {
        let used = Duration::from_secs_f64(self.seconds());
        let next = |limit: Duration| used + limit.saturating_sub(used).mul_f64(share);
        self.ending(next, |limit| limit)
    }

    /// The same time, as one of another budget of which at most this share is used by now.
    pub(crate) fn spent_at_most(&self, budget: Budget, share: f64) -> Clock {
        let used =
            |limit: Duration| Duration::from_secs_f64(self.seconds()).min(limit.mul_f64(share));
        let fresh = Clock::start(budget);
        match budget {
            Budget::Wall(limit) => {
                let started = fresh.started.checked_sub(used(limit)).unwrap_or(fresh.started);
                Clock { started, ..fresh }
            }
            Budget::Processor(limit) => {
                Clock { processor: fresh.processor.saturating_sub(used(limit)), ..fresh }
            }
            Budget::Candidates(_) => fresh,
        }
    }

    /// The same, with a little time from now on even where there is none left.
    pub(crate) fn with_the_last(&self) -> Clock {
        let used = Duration::from_secs_f64(self.seconds());
        self.ending(|limit| limit.max(used.saturating_add(LAST)), |limit| limit)
    }

    /// What is left of the budget.
    pub(crate) fn left(&self) -> Budget {
        let used = Duration::from_secs_f64(self.seconds());
        self.ending(|limit| limit.saturating_sub(used), |limit| limit).budget
    }

    /// How many more candidates may be judged, of so many.
    pub(crate) fn allows(&self, candidates: u64, wanted: usize) -> usize {
        match self.budget {
            Budget::Candidates(limit) => {
                usize::try_from(limit.saturating_sub(candidates)).unwrap_or(wanted).min(wanted)
            }
            Budget::Wall(_) | Budget::Processor(_) => wanted,
        }
    }
}

/// When who is asked whether a kernel is acceptable has to end: a search begins it anew for each kernel that it asks about.
/// A budget of candidates never ends it.
#[derive(Clone, Debug, Default)]
pub struct Deadline(Arc<Mutex<Option<Clock>>>);

impl Deadline {
    /// Whether it is time to end.
    #[must_use]
    pub fn is_past(&self) -> bool {
        let clock = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        clock.as_ref().is_some_and(Clock::is_up)
    }

    /// A kernel is asked about now, in a search that ends by this clock.
    pub(crate) fn begin(&self, end: &Clock) {
        let end = end.with_the_last();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_asked_has_a_little_time_whatever_is_left_and_no_end_with_candidates() {
        let deadline = Deadline::default();
        assert!(!deadline.is_past());
        let spent = Clock::overdue();
        let Budget::Wall(last) = spent.with_the_last().budget else { unreachable!("of time") };
        assert!(last >= LAST && last < 2 * LAST, "{last:?}");
        *deadline.0.lock().expect("whole") = Some(spent.clone());
        assert!(deadline.is_past());
        let ample = Clock::start(Budget::Wall(Duration::from_secs(1000)));
        assert_eq!(ample.with_the_last().budget, ample.budget);
        deadline.begin(&Clock::start(Budget::Candidates(0)));
        assert!(!deadline.is_past());
    }

    #[test]
    fn what_all_targets_used_is_charged_to_the_first_up_to_a_share() {
        let one = Budget::Wall(Duration::from_secs(10));
        assert_eq!(one.of_all(3), Budget::Wall(Duration::from_secs(30)));
        let clock = Clock::start(one.of_all(3));
        let started = clock.started.checked_sub(Duration::from_secs(20)).expect("a while ago");
        let Budget::Wall(left) = Clock { started, ..clock }.spent_at_most(one, 0.5).left() else {
            unreachable!("of time")
        };
        assert!(left <= Duration::from_secs(5) && left > Duration::from_secs(1), "{left:?}");
    }

    #[test]
    fn what_is_kept_for_later_is_kept_of_time_and_not_of_candidates() {
        let clock = Clock::start(Budget::Wall(Duration::from_secs(1000)));
        assert_eq!(clock.but_the_last(0.25).budget, Budget::Wall(Duration::from_secs(750)));
        let Budget::Wall(next) = clock.for_the_next(0.5).budget else { unreachable!("of time") };
        assert!((500..1000).contains(&next.as_secs()), "{next:?}");
        let Budget::Wall(left) = clock.left() else { unreachable!("of time") };
        assert!(left < Duration::from_secs(1000), "{left:?}");
        let clock = Clock::start(Budget::Candidates(1000));
        for same in [clock.but_the_last(0.25), clock.for_the_next(0.5)] {
            assert_eq!(same.budget, Budget::Candidates(1000));
        }
        assert_eq!(clock.left(), Budget::Candidates(1000));
        let spent = Clock::overdue();
        assert_eq!(spent.left(), Budget::Wall(Duration::ZERO));
        assert!(spent.for_the_next(0.5).is_up());
    }
}
