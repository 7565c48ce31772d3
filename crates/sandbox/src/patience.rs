//! Limits on the clock that a busy machine does not shorten.

use crate::watch;
use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

/// Before this share of the limit nothing is looked at: most is done by then.
const FIRST_LOOK: u32 = 8;
/// The most that is added, in limits: a program whose threads wait for each other's processors is no reason to wait for
/// ever.
const MOST_ADDED: u32 = 8;

/// A limit on the clock. Time in which a process was ready to run and no processor was free for it is not counted: what
/// ends it is its own slowness, not that of others beside it.
#[derive(Debug)]
pub(crate) struct Patience {
    limit: Duration,
    begun: Instant,
    queue: Option<Queue>,
}

impl Patience {
    /// From now on.
    pub(crate) fn new(limit: Duration) -> Patience {
        Patience { limit, begun: Instant::now(), queue: None }
    }

    pub(crate) fn limit(&self) -> Duration {
        self.limit
    }

    /// How long to wait before this is asked again; zero where the limit is met. `processes`: whose waiting is looked at.
    pub(crate) fn left(&mut self, processes: impl FnOnce() -> Vec<u32>) -> Duration {
        let elapsed = self.begun.elapsed();
        let first = self.limit / FIRST_LOOK;
        match &mut self.queue {
            None if elapsed < first => return first.saturating_sub(elapsed),
            None => self.queue = Some(Queue::new(&processes())),
            Some(queue) => queue.look(&processes()),
        }
        let waited = self.queue.as_ref().map_or(Duration::ZERO, |queue| queue.waited);
        remaining(self.limit, elapsed, waited)
    }
}

fn remaining(limit: Duration, elapsed: Duration, waited: Duration) -> Duration {
    (limit + waited.min(limit * MOST_ADDED)).saturating_sub(elapsed)
}

/// Time that threads stood in the queue of a processor.
#[derive(Debug, Default)]
struct Queue {
    /// Of each thread, up to the last look.
    seen: HashMap<u32, Duration>,
    /// Of the thread that waited longest between two looks, over all looks.
    waited: Duration,
}

impl Queue {
    /// What was before does not count.
    fn new(processes: &[u32]) -> Queue {
        let mut queue = Queue::default();
        queue.look(processes);
        Queue { waited: Duration::ZERO, ..queue }
    }

    fn look(&mut self, processes: &[u32]) {
        let now: HashMap<_, _> = processes.iter().flat_map(|pid| watch::queued(*pid)).collect();
        let more = now.iter().map(|(thread, total)| {
            total.saturating_sub(self.seen.get(thread).copied().unwrap_or_default())
        });
        self.waited += more.max().unwrap_or_default();
        self.seen = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn time_in_the_queue_is_added_up_to_a_bound() {
        assert_eq!(remaining(SECOND * 4, SECOND * 3, Duration::ZERO), SECOND);
        assert_eq!(remaining(SECOND * 4, SECOND * 4, Duration::ZERO), Duration::ZERO);
        assert_eq!(remaining(SECOND * 4, SECOND * 9, SECOND * 6), SECOND);
        assert_eq!(remaining(SECOND * 4, SECOND * 36, SECOND * 500), Duration::ZERO);
    }

    #[test]
    fn threads_that_compete_are_seen_to_wait() {
        let mut queue = Queue::new(&[std::process::id()]);
        let threads = 4 * std::thread::available_parallelism().map_or(1, usize::from);
        let end = Instant::now() + SECOND / 2;
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(move || while Instant::now() < end {});
            }
            std::thread::sleep(SECOND / 4);
            queue.look(&[std::process::id()]);
        });
        assert!(queue.waited > Duration::ZERO);
    }

    #[test]
    fn sleep_is_not_waiting() {
        let mut sleeper = std::process::Command::new("sleep").arg("60").spawn().expect("a process");
        std::thread::sleep(SECOND / 4);
        let mut queue = Queue::new(&[sleeper.id()]);
        std::thread::sleep(SECOND / 4);
        queue.look(&[sleeper.id()]);
        sleeper.kill().and_then(|()| sleeper.wait()).expect("it ends");
        assert_eq!(queue.waited, Duration::ZERO);
    }
}
