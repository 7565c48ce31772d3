use crate::{
    Death, Held, Memory, Profile, control::Order, death, held, patience::Patience,
    serve::STRICTNESS, start::Running, watch, words::Words, write_frame,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::{
    ffi::OsString,
    io::{self, PipeReader, PipeWriter, Read},
    os::{fd::AsFd, unix::process::ExitStatusExt},
    process::{Command, ExitStatus},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// How often a resident-memory limit, or any of [`Bounds`] but the wall clock, is looked at.
const TICK: Duration = Duration::from_millis(20);
/// Of so many looks at the worker one is at all its group: that costs a look at every process of the
/// machine.
const GROUP_TICKS: u32 = 10;
const SIGKILL: i32 = 9;
/// A worker that has not said hello by now will not.
const START_LIMIT: Duration = Duration::from_secs(60);

/// When an answer is waited for no longer.
#[derive(Clone, Copy, Debug)]
pub struct Bounds<'a> {
    /// Time on the clock, but what the worker waits for a processor that others use.
    pub wall: Duration,
    /// Processor time of the worker, all its threads and the processes it started, of this message
    /// alone: what a program needs of it hardly depends on what else the machine does.
    pub processor: Option<Duration>,
    /// Time on the wall in which it uses no processor time at all: what computes on processors and
    /// does nothing for so long waits for ever.
    pub still: Option<Duration>,
    /// Raised by who wants no answer any more.
    pub stop: Option<&'a AtomicBool>,
}

impl Bounds<'_> {
    fn wall(wall: Duration) -> Bounds<'static> {
        Bounds { wall, processor: None, still: None, stop: None }
    }
}

/// Since when a worker has used no processor time.
#[derive(Debug)]
struct Stillness {
    used: Duration,
    since: Instant,
}

impl Stillness {
    /// How long it has been still, where it has used so much by now.
    fn lasts(&mut self, used: Duration, now: Instant) -> Duration {
        if used != self.used {
            *self = Stillness { used, since: now };
        }
        now.saturating_duration_since(self.since)
    }
}

/// A process that answers messages one at a time, within the limits of its profile.
#[derive(Debug)]
pub struct Worker {
    running: Running,
    /// Its process identifier.
    id: u32,
    stdin: Option<PipeWriter>,
    stdout: PipeReader,
    words: Arc<Words>,
    listener: Option<std::thread::JoinHandle<()>>,
    profile: Profile,
    held: Held,
}

/// The moments at which the bounds of a message are met.
struct Due<'a> {
    bounds: &'a Bounds<'a>,
    wall: Patience,
    /// Processor time of the worker since it was started.
    processor: Option<Duration>,
    stillness: Stillness,
}

impl Worker {
    /// Start `command`, which must call [`crate::serve()`] with an equal profile. It sees of our
    /// environment what drivers and loaders are configured by, and what `command` sets.
    ///
    /// # Errors
    /// [`Death::Start`] when it cannot be started, else how it died before its first word.
    pub fn spawn(command: Command, profile: &Profile) -> Result<Worker, Death> {
        let weak = held::is_weak_allowed();
        let order = Order {
            command: std::iter::once(command.get_program())
                .chain(command.get_args())
                .map(OsString::from)
                .collect(),
            environment: environment(&command, weak),
            directory: command.get_current_dir().map(Into::into),
            profile: profile.clone(),
            repeats: false,
            enters_itself: true,
            weak,
        };
        let pipe = || io::pipe().map_err(|error| Death::Machine(error.to_string()));
        let (their_in, stdin) = pipe()?;
        let (stdout, their_out) = pipe()?;
        let (stderr, their_err) = pipe()?;
        let descriptors = [their_in.as_fd(), their_out.as_fd(), their_err.as_fd()];
        let (running, outer) = Running::start(&order, &descriptors)?;
        drop((their_in, their_out, their_err));
        let words = Arc::new(Words::new(stderr));
        let heard = Arc::clone(&words);
        let listener = Some(std::thread::spawn(move || heard.listen()));
        let id = running.program().unwrap_or(0);
        let (stdin, profile) = (Some(stdin), profile.clone());
        let mut worker =
            Worker { running, id, stdin, stdout, words, listener, profile, held: outer };
        let hello = worker.receive(&Bounds::wall(START_LIMIT))?;
        let inner: Result<Held, String> = postcard::from_bytes(&hello)
            .map_err(|error| Death::Start(format!("not a worker of ours: {error}")))?;
        let inner = inner.map_err(Death::Start)?;
        worker.held = Held { namespaces: outer.namespaces, ..inner };
        held::remember(&worker.profile.name, worker.held);
        tracing::info!(
            profile = %worker.profile.name,
            process = worker.id,
            program = %command.get_program().display(),
            protections = %worker.held,
            "a worker was started"
        );
        Ok(worker)
    }

    /// The restrictions that hold for it.
    #[must_use]
    pub fn held(&self) -> &Held {
        &self.held
    }

    /// Its process identifier.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Send a message and wait for the answer, at most for `limit`.
    ///
    /// # Errors
    /// How it died over the message. It is dead then; start another.
    pub fn call(&mut self, message: &[u8], limit: Duration) -> Result<Vec<u8>, Death> {
        self.call_within(message, &Bounds::wall(limit))
    }

    /// The same within more bounds than time.
    ///
    /// # Errors
    /// As [`Worker::call`]; [`Death::Processor`] and [`Death::Stopped`] where it was killed for them.
    pub fn call_within(&mut self, message: &[u8], bounds: &Bounds<'_>) -> Result<Vec<u8>, Death> {
        self.words.forget();
        let sent = match self.stdin.as_mut() {
            Some(stdin) => write_frame(stdin, message),
            None => Err(std::io::ErrorKind::BrokenPipe.into()),
        };
        if sent.is_err() {
            return Err(self.bury());
        }
        self.receive(bounds)
    }

    /// Processor time that it has used so far, with that of its threads and of processes that it
    /// started and that have ended.
    #[must_use]
    pub fn processor_time(&self) -> Duration {
        watch::usage(self.id).processor
    }

    fn receive(&mut self, bounds: &Bounds<'_>) -> Result<Vec<u8>, Death> {
        let begun = bounds.processor.map(|limit| self.processor_time() + limit);
        let stillness = Stillness { used: Duration::ZERO, since: Instant::now() };
        let wall = Patience::new(bounds.wall);
        let mut due = Due { bounds, wall, processor: begun, stillness };
        let mut length = [0; 4];
        self.read_exact(&mut length, &mut due)?;
        let length = u32::from_le_bytes(length);
        if u64::from(length) > self.profile.output_bytes {
            self.kill();
            return Err(Death::Output);
        }
        let mut message = vec![0; length as usize];
        self.read_exact(&mut message, &mut due)?;
        Ok(message)
    }

    fn read_exact(&mut self, into: &mut [u8], due: &mut Due<'_>) -> Result<(), Death> {
        let mut filled = 0;
        let mut ticks = 0;
        while filled < into.len() {
            let left = due.wall.left(|| vec![self.id]);
            if left.is_zero() {
                self.kill();
                let limit = due.bounds.wall.as_millis();
                return Err(Death::Timeout(u64::try_from(limit).unwrap_or(u64::MAX)));
            }
            if !self.readable(left, due.bounds) {
                ticks += 1;
                if let Some(death) = self.exceeds(due, ticks % GROUP_TICKS == 0) {
                    self.kill();
                    return Err(death);
                }
                continue;
            }
            match self.stdout.read(&mut into[filled..]) {
                Ok(0) => return Err(self.bury()),
                Ok(count) => filled += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return Err(self.bury()),
            }
        }
        Ok(())
    }

    /// Why it must go, where it must; `thorough`: with an eye on the processes it started.
    fn exceeds(&self, due: &mut Due<'_>, thorough: bool) -> Option<Death> {
        if due.bounds.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Some(Death::Stopped);
        }
        let memory = match self.profile.memory {
            Memory::Resident(bytes) => Some(bytes),
            Memory::AddressSpace(_) => None,
        };
        if memory.is_none() && due.processor.is_none() && due.bounds.still.is_none() {
            return None;
        }
        let id = self.id;
        let used = if thorough {
            watch::usage_below(self.running.id(), usize::MAX)
        } else {
            watch::usage(id)
        };
        if memory.is_some_and(|most| used.resident_bytes > most) {
            return Some(Death::Memory);
        }
        // What its children use is seen by a thorough look only.
        if let (true, Some(most)) = (thorough, due.bounds.still)
            && due.stillness.lasts(used.processor, Instant::now()) > most
        {
            return Some(Death::Timeout(u64::try_from(most.as_millis()).unwrap_or(u64::MAX)));
        }
        due.processor.is_some_and(|most| used.processor > most).then_some(Death::Processor)
    }

    fn readable(&self, left: Duration, bounds: &Bounds<'_>) -> bool {
        let watched = matches!(self.profile.memory, Memory::Resident(_))
            || bounds.processor.is_some()
            || bounds.still.is_some()
            || bounds.stop.is_some();
        let wait = if watched { left.min(TICK) } else { left };
        let wait = Timespec::try_from(wait).expect("a wait is a short time");
        let mut watched = [PollFd::new(&self.stdout, PollFlags::IN)];
        matches!(poll(&mut watched, Some(&wait)), Ok(ready) if ready > 0)
    }

    fn kill(&mut self) {
        self.running.end();
    }

    fn bury(&mut self) -> Death {
        self.stdin = None;
        // A worker that closed its output but lingers is as dead to us as one that left.
        let ended = self.running.ended(Duration::from_secs(2));
        self.running.end();
        let ending = match ended {
            Ok(ending) => ending,
            Err(death) => return death,
        };
        if let Some(listener) = self.listener.take() {
            // The listener ends with the pipe; a panic there only costs the message.
            let _ = listener.join();
        }
        let words = self.words.last();
        if ending
            .is_some_and(|ending| ExitStatus::from_raw(ending.status).signal() == Some(SIGKILL))
        {
            // Nothing that it works on runs in it, so nothing of that sent this.
            let by = "the worker was killed, by somebody or by the kernel for lack of memory";
            return Death::Machine(by.into());
        }
        ending
            .and_then(|ending| death::from_status(ExitStatus::from_raw(ending.status), &words))
            .unwrap_or_else(|| Death::Exit(0, "left in the middle of a request".into()))
    }
}

/// What a worker sees of our environment: what its loader, drivers and threads are configured by.
fn environment(command: &Command, weak: bool) -> Vec<(OsString, OsString)> {
    const NAMES: [&str; 6] = ["PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "LANG", "LC_ALL", "TZ"];
    const PREFIXES: [&str; 10] = [
        "STAMPMILL_",
        "OCL_",
        "OPENCL_",
        "POCL_",
        "CUDA_",
        "NVIDIA_",
        "ROC",
        "HSA_",
        "OMP_",
        "RAYON_",
    ];
    let passed = |name: &OsString| {
        let name = name.to_string_lossy();
        NAMES.contains(&&*name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    };
    let mut all: Vec<(OsString, OsString)> =
        std::env::vars_os().filter(|(name, _)| passed(name)).collect();
    for (name, value) in command.get_envs() {
        all.retain(|(old, _)| old != name);
        all.extend(value.map(|value| (name.into(), value.into())));
    }
    all.retain(|(name, _)| name != STRICTNESS);
    all.push((STRICTNESS.into(), if weak { "weak" } else { "strict" }.into()));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stillness_begins_anew_with_any_work() {
        let (second, begin) = (Duration::from_secs(1), Instant::now());
        let mut stillness = Stillness { used: Duration::ZERO, since: begin };
        assert_eq!(stillness.lasts(Duration::ZERO, begin + second * 3), second * 3);
        assert_eq!(stillness.lasts(second, begin + second * 4), Duration::ZERO);
        assert_eq!(stillness.lasts(second, begin + second * 9), second * 5);
        // A child that ended takes its share along.
        assert_eq!(stillness.lasts(Duration::ZERO, begin + second * 10), Duration::ZERO);
    }
}
