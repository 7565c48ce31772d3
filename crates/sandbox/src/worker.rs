use crate::{Death, Held, Memory, Profile, death, watch, write_frame};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::{
    io::Read,
    os::unix::process::CommandExt,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

/// How often a resident-memory limit is looked at.
const TICK: Duration = Duration::from_millis(20);
/// Bytes of standard error kept for the message of a [`Death`].
const LAST_WORDS: usize = 4096;
/// A worker that has not said hello by now will not.
const START_LIMIT: Duration = Duration::from_secs(60);

/// A process that answers messages one at a time, within the limits of its profile.
#[derive(Debug)]
pub struct Worker {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
    words: Arc<Mutex<Vec<u8>>>,
    listener: Option<std::thread::JoinHandle<()>>,
    profile: Profile,
    held: Held,
}

impl Worker {
    /// Start `command`, which must call [`crate::serve()`] with an equal profile.
    ///
    /// # Errors
    /// [`Death::Start`] when it cannot be started, else how it died before its first word.
    pub fn spawn(mut command: Command, profile: &Profile) -> Result<Worker, Death> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|error| {
                Death::Start(format!("{}: {error}", command.get_program().to_string_lossy()))
            })?;
        let words = Arc::new(Mutex::new(Vec::new()));
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().expect("standard output was asked for");
        let stderr = child.stderr.take().expect("standard error was asked for");
        let heard = Arc::clone(&words);
        let listener = std::thread::spawn(move || listen(stderr, &heard));
        let held = Held { limits: false, landlock: "none".into(), seccomp: false };
        let listener = Some(listener);
        let profile = profile.clone();
        let mut worker = Worker { child, stdin, stdout, words, listener, profile, held };
        let hello = worker.receive(START_LIMIT)?;
        worker.held = postcard::from_bytes(&hello)
            .map_err(|error| Death::Start(format!("not a worker of ours: {error}")))?;
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
        self.child.id()
    }

    /// Send a message and wait for the answer, at most for `limit`.
    ///
    /// # Errors
    /// How it died over the message. It is dead then; start another.
    pub fn call(&mut self, message: &[u8], limit: Duration) -> Result<Vec<u8>, Death> {
        let sent = match self.stdin.as_mut() {
            Some(stdin) => write_frame(stdin, message),
            None => Err(std::io::ErrorKind::BrokenPipe.into()),
        };
        if sent.is_err() {
            return Err(self.bury());
        }
        self.receive(limit)
    }

    fn receive(&mut self, limit: Duration) -> Result<Vec<u8>, Death> {
        let deadline = Instant::now() + limit;
        let mut length = [0; 4];
        self.read_exact(&mut length, deadline, limit)?;
        let length = u32::from_le_bytes(length);
        if u64::from(length) > self.profile.output_bytes {
            self.kill();
            return Err(Death::Output);
        }
        let mut message = vec![0; length as usize];
        self.read_exact(&mut message, deadline, limit)?;
        Ok(message)
    }

    fn read_exact(
        &mut self,
        into: &mut [u8],
        deadline: Instant,
        limit: Duration,
    ) -> Result<(), Death> {
        let mut filled = 0;
        while filled < into.len() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                self.kill();
                return Err(Death::Timeout(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)));
            }
            if !self.readable(left) {
                if let Memory::Resident(bytes) = self.profile.memory
                    && watch::group_resident_bytes(self.child.id()) > bytes
                {
                    self.kill();
                    return Err(Death::Memory);
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

    fn readable(&self, left: Duration) -> bool {
        let wait = match self.profile.memory {
            Memory::Resident(_) => left.min(TICK),
            Memory::AddressSpace(_) => left,
        };
        let wait = Timespec::try_from(wait).expect("a wait is a short time");
        let mut watched = [PollFd::new(&self.stdout, PollFlags::IN)];
        matches!(poll(&mut watched, Some(&wait)), Ok(ready) if ready > 0)
    }

    fn kill(&mut self) {
        watch::kill_group(self.child.id());
        // It is dead either way; the status tells nothing more.
        let _ = self.child.wait();
    }

    fn bury(&mut self) -> Death {
        self.stdin = None;
        // A worker that closed its output but lingers is as dead to us as one that left.
        let patience = Instant::now() + Duration::from_secs(2);
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(5));
        }
        watch::kill_group(self.child.id());
        let status = match self.child.wait() {
            Ok(status) => status,
            Err(error) => return Death::Start(error.to_string()),
        };
        if let Some(listener) = self.listener.take() {
            // The listener ends with the pipe; a panic there only costs the message.
            let _ = listener.join();
        }
        let words = self.words.lock().map(|words| words.clone()).unwrap_or_default();
        death::from_status(status, &words)
            .unwrap_or_else(|| Death::Exit(0, "left in the middle of a request".into()))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.stdin = None;
        self.kill();
    }
}

fn listen(mut from: impl Read, words: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        if let Ok(mut words) = words.lock() {
            words.extend_from_slice(&buffer[..count]);
            let excess = words.len().saturating_sub(LAST_WORDS);
            words.drain(..excess);
        }
    }
}
