//! Our side of the launcher: starting a program in its sandbox, and its end.

use crate::{
    Death, Held,
    control::{self, Ending, Event, Order},
    watch,
};
use host::Helper;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, pidfd_open},
};
use std::{
    collections::BTreeMap,
    io,
    net::Shutdown,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::{net::UnixStream, process::CommandExt},
    },
    process::{Child, Command, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// File name of the launcher.
/// A sandbox that is not there by now will not be.
const START_LIMIT: Duration = Duration::from_secs(60);
/// How long a launcher may take to end what it started before it is killed itself.
const END_LIMIT: Duration = Duration::from_secs(5);

/// A program in its sandbox.
#[derive(Debug)]
pub(crate) struct Running {
    /// There until this is dropped.
    launcher: Option<Child>,
    socket: UnixStream,
    number: u64,
    /// Whether [`stop_all`] ends it.
    stops: bool,
    /// Whether it has namespaces of its own.
    isolated: bool,
    ending: Option<Ending>,
}

static STOPPED: AtomicBool = AtomicBool::new(false);
static NEXT: AtomicU64 = AtomicU64::new(0);
/// Launchers of sandboxes in which nothing is alive any more, while the kernel takes those down.
static LEAVING: Mutex<Vec<Child>> = Mutex::new(Vec::new());
/// How many of these there may be.
const MOST_LEAVING: usize = 8;
/// Handles on the sockets of all that runs.
static RUNNING: Mutex<BTreeMap<u64, OwnedFd>> = Mutex::new(BTreeMap::new());

/// End every program that this process has started by [`crate::run()`], and start none any more: for a
/// stop by the user. Whoever waits for one gets [`Death::Stopped`]. Workers answer what they were asked.
pub fn stop_all() {
    STOPPED.store(true, Ordering::SeqCst);
    let Ok(running) = RUNNING.lock() else { return };
    for socket in running.values() {
        // One that has ended already is no concern.
        let _ = rustix::net::shutdown(socket, rustix::net::Shutdown::Both);
    }
}

/// Whether [`stop_all`] was called.
#[must_use]
pub fn is_stopped() -> bool {
    STOPPED.load(Ordering::SeqCst)
}

impl Running {
    /// Start what `order` says with these descriptors as its first ones.
    ///
    /// # Errors
    /// [`Death::Start`] with what is missing, [`Death::Machine`] where the launcher was ended,
    /// [`Death::Stopped`].
    pub(crate) fn start(
        order: &Order,
        descriptors: &[BorrowedFd<'_>],
    ) -> Result<(Running, Held), Death> {
        let stops = !order.enters_itself;
        if stops && is_stopped() {
            return Err(Death::Stopped);
        }
        let start = |error: io::Error| Death::Start(error.to_string());
        let launcher =
            Helper::LAUNCH.find().map_err(|missing| Death::Start(missing.to_string()))?;
        let (socket, theirs) = UnixStream::pair().map_err(start)?;
        let child = Command::new(launcher)
            .env_clear()
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Ctrl-C in the terminal is ours to handle.
            .process_group(0)
            .spawn()
            .map_err(|error| Death::Start(format!("{}: {error}", Helper::LAUNCH.name)))?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        if let (true, Ok(mut running), Ok(handle)) =
            (stops, RUNNING.lock(), socket.as_fd().try_clone_to_owned())
        {
            running.insert(number, handle);
        }
        let isolated = false;
        let mut running =
            Running { launcher: Some(child), socket, number, stops, isolated, ending: None };
        if stops && is_stopped() {
            return Err(Death::Stopped);
        }
        control::order(&running.socket, order, descriptors).map_err(|e| running.lost(&e))?;
        let held = running.started()?;
        running.isolated = held.namespaces;
        Ok((running, held))
    }

    /// Start the program once more, in the sandbox in which it has ended; of an order that allows it,
    /// where there are namespaces.
    ///
    /// # Errors
    /// As for [`Running::start`]; there may be nothing wrong with a new sandbox then.
    pub(crate) fn again(&mut self, descriptors: &[BorrowedFd<'_>]) -> Result<Held, Death> {
        self.ending = None;
        control::again(&self.socket, descriptors).map_err(|e| self.lost(&e))?;
        self.started()
    }

    fn started(&mut self) -> Result<Held, Death> {
        match self.event(START_LIMIT).map_err(|e| self.lost(&e))? {
            Some(Event::Started(held)) => Ok(held),
            Some(Event::Failed(reason)) => Err(Death::Start(reason)),
            Some(Event::Ended(_)) => Err(Death::Machine("an answer out of turn".into())),
            None => Err(Death::Start("the sandbox could not be made in time".into())),
        }
    }

    /// The launcher's process identifier: the root of all that runs inside.
    pub(crate) fn id(&self) -> u32 {
        self.launcher.as_ref().map_or(0, Child::id)
    }

    /// The program's process identifier on this host, while it lives.
    pub(crate) fn program(&self) -> Option<u32> {
        let first = watch::children(self.id()).into_iter().next()?;
        watch::children(first).into_iter().next()
    }

    /// Wait at most `limit` for the program's end.
    ///
    /// # Errors
    /// [`Death::Machine`] where the launcher was ended by somebody else, [`Death::Stopped`] where by us.
    pub(crate) fn ended(&mut self, limit: Duration) -> Result<Option<Ending>, Death> {
        if let Some(ending) = self.ending {
            return Ok(Some(ending));
        }
        match self.event(limit) {
            Ok(Some(Event::Ended(ending))) => {
                self.ending = Some(ending);
                Ok(Some(ending))
            }
            Ok(None) => Ok(None),
            Ok(Some(Event::Failed(reason))) => Err(Death::Machine(reason)),
            Ok(Some(Event::Started(_))) => Err(Death::Machine("an answer out of turn".into())),
            Err(error) => Err(self.lost(&error)),
        }
    }

    /// The next event within `limit`; an error where the launcher is gone.
    fn event(&mut self, limit: Duration) -> io::Result<Option<Event>> {
        let wait = Timespec::try_from(limit).map_err(io::Error::other)?;
        let mut watched = [PollFd::new(&self.socket, PollFlags::IN)];
        match poll(&mut watched, Some(&wait)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(None),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        match control::receive(&mut &self.socket)? {
            Some(event) => Ok(Some(event)),
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    fn lost(&self, error: &io::Error) -> Death {
        match self.stops && is_stopped() {
            true => Death::Stopped,
            false => Death::Machine(format!("its launcher was ended ({error})")),
        }
    }

    /// End everything inside; returns when nothing of it is left but, where the program has ended, what
    /// the kernel has to take down.
    pub(crate) fn end(&mut self) {
        // The launcher ends what it started when its socket closes.
        let _ = self.socket.shutdown(Shutdown::Both);
        // Within namespaces nothing is alive any more once the end is told.
        let is_empty = self.isolated && self.ending.is_some();
        if let (false, Some(launcher)) = (is_empty, &mut self.launcher) {
            wait_for(launcher);
        }
    }
}

/// Wait for a launcher whose socket is closed.
fn wait_for(launcher: &mut Child) {
    let pid = i32::try_from(launcher.id()).ok().and_then(Pid::from_raw);
    if let Some(ended) = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) {
        let patience = Instant::now() + END_LIMIT;
        let mut watched = [PollFd::new(&ended, PollFlags::IN)];
        loop {
            let left = patience.saturating_duration_since(Instant::now());
            let wait = Timespec::try_from(left).expect("a wait is a short time");
            match poll(&mut watched, Some(&wait)) {
                Err(rustix::io::Errno::INTR) => {}
                Ok(1..) => break,
                _ => {
                    // Its child dies with it, and everything inside with that.
                    let _ = launcher.kill();
                    break;
                }
            }
        }
    }
    let _ = launcher.wait();
}

/// Take leave of a launcher in whose sandbox nothing is alive: the kernel needs milliseconds to take
/// namespaces down, in which the next program can be started.
fn leave(launcher: Child) {
    let Ok(mut leaving) = LEAVING.lock() else { return };
    leaving.push(launcher);
    leaving.retain_mut(|launcher| matches!(launcher.try_wait(), Ok(None)));
    if leaving.len() > MOST_LEAVING {
        wait_for(&mut leaving.remove(0));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
        if let Some(launcher) = self.launcher.take() {
            leave(launcher);
        }
        if let Ok(mut running) = RUNNING.lock() {
            running.remove(&self.number);
        }
    }
}
