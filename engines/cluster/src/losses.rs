//! Whether all executors stayed while they carried out a plan.
//!
//! Where an executor is lost in the middle of a plan of several steps, Ballista 55 has what it made made again, and may
//! then hand on rows twice: a count came out too high in one of ten such runs. Parts of a stage are files under names of
//! their own, which that does not harm; the rows of any other plan are taken only if nobody was lost.

use crate::{
    Error,
    client::{PATIENCE, REFUSED},
};
use cluster::{Address, Executor, Status};
use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

/// Whoever is silent for longer is taken for dead, so that nobody waits for it: executors are heard each second.
const SILENT: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(200);

/// The executors when a plan was handed in.
pub(crate) struct Watch {
    begun: Instant,
    /// By identity: how often each had been lost, and whether it seemed alive.
    before: BTreeMap<String, (u64, bool)>,
}

/// How often a plan is tried: as often as a task.
pub(crate) const TRIES: u32 = 4;
const PAUSE: Duration = Duration::from_secs(1);

/// Whether a plan that came to nothing is tried again.
#[derive(Default)]
pub(crate) struct Retry {
    tries: u32,
    silent: Option<Instant>,
}

impl Retry {
    /// Wait for another try, unless it would come to the same end.
    pub(crate) async fn after(&mut self, error: Error) -> Result<(), Error> {
        match &error {
            Error::Cluster(cluster::Error::NoScheduler { .. } | cluster::Error::NoExecutors(_)) => {
                if self.silent.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
                    return Err(error);
                }
            }
            Error::Ballista(_) | Error::Sql(_) | Error::ExecutorLost
                if !is_final(&error.to_string()) =>
            {
                self.silent = None;
                self.tries += 1;
                if self.tries == TRIES {
                    return Err(error);
                }
            }
            _ => return Err(error),
        }
        tokio::time::sleep(PAUSE).await;
        Ok(())
    }
}

/// Whether what an engine said is not a matter of who died.
fn is_final(text: &str) -> bool {
    [REFUSED, "Resources exhausted"].iter().any(|words| text.contains(words))
}

/// What is known of an executor once a plan has ended.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    /// It stayed, or had no share in it.
    Well,
    /// It may be dead: it was not heard since.
    Unknown,
    /// It was lost at least once.
    Lost,
}

impl Watch {
    /// Of the cluster as it is.
    pub(crate) async fn begin(address: &Address) -> Result<Watch, Error> {
        Ok(Watch::of(&status(address).await?))
    }

    fn of(status: &Status) -> Watch {
        let of = |one: &Executor| {
            let seems_alive = one.state == "active" && one.silent_seconds < SILENT.as_secs_f64();
            (one.heartbeat.id.clone(), (one.losses, seems_alive))
        };
        Watch { begun: Instant::now(), before: status.executors.iter().map(of).collect() }
    }

    /// Wait until it is known whether all that may have had a share stayed to the end, which is now.
    pub(crate) async fn all_stayed(&self, address: &Address) -> Result<bool, Error> {
        let ended = Instant::now();
        loop {
            let status = status(address).await?;
            let (since_begin, since_end) = (self.begun.elapsed(), ended.elapsed());
            let found = |one| self.found(one, since_begin, since_end);
            let all: Vec<Found> = status.executors.iter().map(found).collect();
            let known = |id: &String| status.executors.iter().any(|one| one.heartbeat.id == *id);
            let is_forgotten =
                self.before.iter().any(|(id, (_, seemed_alive))| *seemed_alive && !known(id));
            if is_forgotten || all.contains(&Found::Lost) {
                return Ok(false);
            }
            if all.iter().all(|found| *found == Found::Well) {
                return Ok(true);
            }
            if since_end > SILENT {
                return Ok(false);
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    fn found(&self, one: &Executor, since_begin: Duration, since_end: Duration) -> Found {
        let (losses, seemed_alive) =
            self.before.get(&one.heartbeat.id).copied().unwrap_or((0, false));
        let was_heard = one.silent_seconds < since_begin.as_secs_f64();
        if !was_heard && !seemed_alive {
            return Found::Well;
        }
        if one.state != "active" || one.losses != losses {
            return Found::Lost;
        }
        match one.silent_seconds < since_end.as_secs_f64() {
            true => Found::Well,
            false => Found::Unknown,
        }
    }
}

/// What the scheduler knows of its executors.
pub(crate) async fn status(address: &Address) -> Result<Status, Error> {
    let asked = address.clone();
    let status = tokio::task::spawn_blocking(move || cluster::status(&asked)).await;
    Ok(status.map_err(|error| Error::Failed(error.to_string()))??)
}

#[cfg(test)]
mod tests {
    use super::{Found, Watch};
    use cluster::{Executor, Heartbeat, Status};
    use std::time::Duration;

    fn executor(id: &str, state: &str, silent_seconds: f64, losses: u64) -> Executor {
        let heartbeat = Heartbeat {
            id: id.to_owned(),
            name: id.to_owned(),
            about: cluster::About::default(),
            tasks: 1,
            running: Vec::new(),
            done: 0,
            faults: 0,
            leaving: None,
        };
        Executor { heartbeat, state: state.to_owned(), silent_seconds, losses }
    }

    #[test]
    fn who_was_lost_meanwhile_is_found() {
        let executors = vec![
            executor("stays", "active", 0.4, 1),
            executor("dies", "active", 0.4, 0),
            executor("dead", "active", 7.0, 0),
            executor("long-lost", "lost", 900.0, 0),
        ];
        let status = Status { version: String::new(), executors, jobs: Vec::new() };
        let watch = Watch::of(&status);
        let found =
            |one: Executor| watch.found(&one, Duration::from_secs(10), Duration::from_secs(1));
        assert_eq!(found(executor("stays", "active", 0.3, 1)), Found::Well);
        // It was heard before the end, and not yet after it.
        assert_eq!(found(executor("stays", "active", 1.5, 1)), Found::Unknown);
        // It was silent too long, and is back.
        assert_eq!(found(executor("stays", "active", 0.3, 2)), Found::Lost);
        // It died before it was heard once more.
        assert_eq!(found(executor("dies", "lost", 10.4, 0)), Found::Lost);
        assert_eq!(found(executor("dies", "left", 3.0, 0)), Found::Lost);
        // They had no share.
        assert_eq!(found(executor("dead", "active", 17.0, 0)), Found::Well);
        assert_eq!(found(executor("long-lost", "lost", 910.0, 0)), Found::Well);
        // It came meanwhile, and may have had one.
        assert_eq!(found(executor("new", "active", 0.1, 0)), Found::Well);
        assert_eq!(found(executor("new", "lost", 9.0, 0)), Found::Lost);
    }
}
