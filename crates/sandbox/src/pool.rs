use crate::{Bounds, Death, Held, Profile, Worker};
use std::{
    process::Command,
    sync::{Condvar, Mutex},
    time::Duration,
};

/// How often a message is sent while workers are killed by others over it.
const TRIES: u32 = 3;

/// A fixed number of workers, shared by any number of threads.
///
/// A worker that dies is replaced at the next call; the message that killed it is answered with its
/// [`Death`] and is not tried again.
pub struct Pool {
    profile: Profile,
    command: Box<dyn Fn() -> Command + Send + Sync>,
    state: Mutex<State>,
    freed: Condvar,
}

struct State {
    idle: Vec<Worker>,
    unborn: usize,
}

impl Pool {
    /// A pool of at most `size` workers, each started by `command` when it is first needed.
    pub fn new(
        size: usize,
        profile: Profile,
        command: impl Fn() -> Command + Send + Sync + 'static,
    ) -> Pool {
        let state = Mutex::new(State { idle: Vec::new(), unborn: size.max(1) });
        Pool { profile, command: Box::new(command), state, freed: Condvar::new() }
    }

    /// Have a worker answer `message` within `limit`; waits until one is free. A fault of the machine
    /// is tried again, three times in all.
    ///
    /// # Errors
    /// How the worker died over this message.
    pub fn call(&self, message: &[u8], limit: Duration) -> Result<Vec<u8>, Death> {
        self.call_within(message, &Bounds { wall: limit, processor: None, still: None, stop: None })
    }

    /// The same within more bounds than time.
    ///
    /// # Errors
    /// As there; [`Death::Processor`] and [`Death::Stopped`] where the worker was ended for them.
    pub fn call_within(&self, message: &[u8], bounds: &Bounds<'_>) -> Result<Vec<u8>, Death> {
        let mut answer = self.call_once(message, bounds);
        for _ in 1..TRIES {
            if !matches!(answer, Err(Death::Machine(_))) {
                break;
            }
            answer = self.call_once(message, bounds);
        }
        answer
    }

    fn call_once(&self, message: &[u8], bounds: &Bounds<'_>) -> Result<Vec<u8>, Death> {
        let mut worker = self.take()?;
        let answer = worker.call_within(message, bounds);
        if let Err(death) = &answer {
            let (profile, process) = (&self.profile.name, worker.id());
            tracing::info!(%profile, process, %death, "a worker has ended; the next request starts another");
        }
        self.give_back(answer.is_ok().then_some(worker));
        answer
    }

    /// The restrictions that hold for the workers of this pool.
    ///
    /// # Errors
    /// When no worker can be started.
    pub fn held(&self) -> Result<Held, Death> {
        let worker = self.take()?;
        let held = *worker.held();
        self.give_back(Some(worker));
        Ok(held)
    }

    /// Run `work` with a worker of its own, for conversations of more than one message. A worker
    /// over which `work` fails is not used again.
    ///
    /// # Errors
    /// Whatever `work` reports, or that no worker could be started.
    pub fn with<T>(&self, work: impl FnOnce(&mut Worker) -> Result<T, Death>) -> Result<T, Death> {
        let mut worker = self.take()?;
        let result = work(&mut worker);
        self.give_back(result.is_ok().then_some(worker));
        result
    }

    fn take(&self) -> Result<Worker, Death> {
        let mut state = self.state.lock().expect("no thread panics with the lock held");
        loop {
            if let Some(worker) = state.idle.pop() {
                return Ok(worker);
            }
            if state.unborn > 0 {
                state.unborn -= 1;
                drop(state);
                let born = Worker::spawn((self.command)(), &self.profile);
                if born.is_err() {
                    self.give_back(None);
                }
                return born;
            }
            state = self.freed.wait(state).expect("no thread panics with the lock held");
        }
    }

    fn give_back(&self, worker: Option<Worker>) {
        let mut state = self.state.lock().expect("no thread panics with the lock held");
        match worker {
            Some(worker) => state.idle.push(worker),
            None => state.unborn += 1,
        }
        self.freed.notify_one();
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("profile", &self.profile).finish_non_exhaustive()
    }
}
