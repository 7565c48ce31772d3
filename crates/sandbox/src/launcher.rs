//! The launcher's side: `stampmill-launch` reads one [`Order`] from its standard input, makes the
//! sandbox, starts the program in it and reports its end. When the socket closes, because we want the
//! program's end or because we are dead, everything inside dies.
//!
//! Three processes: the launcher waits; its child is the first process of the new namespaces and
//! watches; that one's child becomes the program. A program that may be run again is, in the same
//! namespaces, each time with restrictions entered anew.

use crate::{
    Memory, calls,
    control::{self, Ending, Event, Order},
    isolate,
    limits::{self, cap_processor_seconds, enter_with},
    system::{self, Forked},
};
use rustix::{
    event::{PollFd, PollFlags, poll},
    process::{
        Pid, PidfdFlags, Resource, Signal, WaitOptions, getrlimit, kill_process, pidfd_open,
        set_parent_process_death_signal, setsid, wait,
    },
};
use std::{
    io::{self, Read},
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::{net::UnixStream, process::CommandExt},
    },
    process::{Command, ExitCode},
    time::{Duration, Instant},
};

/// How long a program may be open for writing elsewhere. Another thread of the caller that starts a
/// program holds the caller's open files for a moment, one that was just written among them.
const BUSY: Duration = Duration::from_secs(5);

/// What the launcher does from start to end.
#[must_use]
pub fn launch() -> ExitCode {
    let Ok(socket) = io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from) else {
        return ExitCode::FAILURE;
    };
    let done = match control::read_order(&socket) {
        // Whoever wanted something has left.
        Ok(None) => return ExitCode::SUCCESS,
        Ok(Some((order, descriptors))) => obey(&socket, &order, descriptors),
        Err(error) => Err(error),
    };
    if let Err(error) = done {
        // Nobody is left to be told where this fails.
        let _ = control::say(&socket, &Event::Failed(error.to_string()));
    }
    ExitCode::SUCCESS
}

/// What may be inherited is less than a program may take: then its end says nothing about it.
fn has_memory(profile: &crate::Profile) -> io::Result<()> {
    const LEAST: u64 = 1 << 30;
    let wanted = match profile.memory {
        Memory::AddressSpace(bytes) | Memory::Resident(bytes) => bytes.min(LEAST),
    };
    match getrlimit(Resource::As).maximum {
        Some(most) if most < wanted => Err(io::Error::other(format!(
            "this process may take {} MiB of memory only (ulimit -v); foreign programs may need {} MiB",
            most >> 20,
            wanted >> 20
        ))),
        _ => Ok(()),
    }
}

/// Leave the namespaces and wait for the first process in the new ones.
fn obey(socket: &UnixStream, order: &Order, descriptors: Vec<OwnedFd>) -> io::Result<()> {
    has_memory(&order.profile)?;
    let isolated = match isolate::leave_namespaces(&order.profile) {
        Ok(()) => true,
        Err(_) if order.weak => false,
        Err(error) => return Err(without_namespaces(order, &error)),
    };
    match system::fork()? {
        Forked::Parent(first) => {
            drop(descriptors);
            system::wait_for(first).map(|_| ())
        }
        Forked::Child => {
            if let Err(error) = be_first(socket, order, descriptors, isolated) {
                let _ = control::say(socket, &Event::Failed(error.to_string()));
            }
            // Whatever still runs in here ends with its first process.
            std::process::exit(0)
        }
    }
}

/// What to say where there are no namespaces: whoever mends that wants to know now what else is missing.
fn without_namespaces(order: &Order, error: &io::Error) -> io::Error {
    let mut lacking = vec![("namespaces", error.to_string())];
    let said = tried_in_a_copy(order).unwrap_or_default();
    for (name, why) in said.lines().filter_map(|line| line.split_once('\t')) {
        let known = ["Landlock", "seccomp"].into_iter().find(|known| *known == name);
        lacking.extend(known.map(|name| (name, why.to_owned())));
    }
    limits::missing(&lacking)
}

/// What of the other protections cannot be had, a line each. They are for good: a copy of this process tries them.
fn tried_in_a_copy(order: &Order) -> io::Result<String> {
    let (mut reader, mut writer) = io::pipe()?;
    match system::fork()? {
        Forked::Child => {
            let profile = own(order);
            let _ = rustix::thread::set_no_new_privs(true);
            let (_, lacking) = limits::protect(&profile, true, &calls::filters(&profile));
            let lines =
                lacking.iter().map(|(name, why)| format!("{name}\t{}\n", why.replace('\n', " ")));
            let _ = io::Write::write_all(&mut writer, lines.collect::<String>().as_bytes());
            std::process::exit(0)
        }
        Forked::Parent(copy) => {
            drop(writer);
            let mut said = String::new();
            reader.read_to_string(&mut said)?;
            system::wait_for(copy)?;
            Ok(said)
        }
    }
}

/// The first process inside: makes the root, starts the program, watches; and again as often as it is
/// wanted, when nothing of the last run is alive.
fn be_first(
    socket: &UnixStream,
    order: &Order,
    descriptors: Vec<OwnedFd>,
    isolated: bool,
) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if isolated {
        isolate::enter_root(order)?;
    } else {
        // What outlives its parent becomes our child, so that it can be found and ended.
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    }
    let filters = calls::filters(&order.profile);
    let mut pid = None;
    let mut descriptors = descriptors;
    loop {
        let program = begin(socket, order, descriptors, isolated, (&filters, pid))?;
        pid = Some(program);
        // None where nobody wants it any more.
        let ending = watch(socket, program)?;
        if !isolated {
            if let Some(ending) = ending {
                control::say(socket, &Event::Ended(ending))?;
            }
            end_children();
            return Ok(());
        }
        // Waited for one by one: of what the kernel ends with a namespace nobody is told the time.
        system::end_others()?;
        let Some(ending) = ending else { return Ok(()) };
        control::say(socket, &Event::Ended(ending))?;
        if !order.repeats {
            return Ok(());
        }
        match control::read_again(socket)? {
            Some(more) => descriptors = more,
            None => return Ok(()),
        }
    }
}

type Filters = Result<calls::Filters, Box<dyn std::error::Error>>;

/// Start the program, and say so. Each time it gets the same identifier, so that no run can tell how
/// many were before it.
fn begin(
    socket: &UnixStream,
    order: &Order,
    descriptors: Vec<OwnedFd>,
    isolated: bool,
    (filters, pid): (&Filters, Option<Pid>),
) -> io::Result<Pid> {
    let (mut told, teller) = io::pipe()?;
    let program = match pid.map_or_else(system::fork, system::fork_as)? {
        Forked::Parent(program) => program,
        Forked::Child => {
            drop(told);
            let problem = become_program(order, &descriptors, isolated, (filters, &teller));
            let _ = io::Write::write_all(&mut &teller, problem.to_string().as_bytes());
            std::process::exit(127)
        }
    };
    drop((descriptors, teller));
    // Closed by `exec`; before that, one byte of what holds, or words.
    let mut words = Vec::new();
    told.read_to_end(&mut words)?;
    match Started::read(&words) {
        Some(held) => control::say(socket, &Event::Started(held))?,
        None => {
            system::wait_for(program)?;
            return Err(io::Error::other(String::from_utf8_lossy(&words).into_owned()));
        }
    }
    Ok(program)
}

/// What the child says just before it becomes the program.
struct Started;

impl Started {
    const MARK: u8 = 1;

    fn write(held: crate::Held, to: &io::PipeWriter) -> io::Result<()> {
        let mut message = vec![Started::MARK];
        message.extend(postcard::to_stdvec(&held).map_err(io::Error::other)?);
        io::Write::write_all(&mut &*to, &message)
    }

    /// Only where nothing came behind it: then `exec` closed the pipe.
    fn read(words: &[u8]) -> Option<crate::Held> {
        let message = words.strip_prefix(&[Started::MARK])?;
        match postcard::take_from_bytes(message) {
            Ok((held, [])) => Some(held),
            _ => None,
        }
    }
}

/// Returns only where it failed, with the reason.
fn become_program(
    order: &Order,
    descriptors: &[OwnedFd],
    isolated: bool,
    (filters, teller): (&Filters, &io::PipeWriter),
) -> io::Error {
    match try_become(order, descriptors, isolated, (filters, teller)) {
        Err(error) => error,
        Ok(never) => never,
    }
}

fn try_become(
    order: &Order,
    descriptors: &[OwnedFd],
    isolated: bool,
    (filters, teller): (&Filters, &io::PipeWriter),
) -> io::Result<io::Error> {
    system::default_signals();
    // A session of its own has no terminal.
    setsid()?;
    // Out of the way of the numbers that the program gets; closed by `exec`.
    let teller = rustix::io::fcntl_dupfd_cloexec(teller, 64).map(io::PipeWriter::from)?;
    let moved: Vec<OwnedFd> = descriptors
        .iter()
        .map(|descriptor| rustix::io::fcntl_dupfd_cloexec(descriptor, 65))
        .collect::<Result<_, _>>()?;
    for (number, descriptor) in (0..).zip(&moved) {
        system::place(descriptor.as_fd(), number)?;
    }
    let count = moved.len();
    drop(moved);
    let directory = order.directory.as_deref();
    if let Some(directory) = directory {
        let directory = match &order.profile.root {
            Some(root) => {
                std::path::Path::new("/").join(directory.strip_prefix(root).unwrap_or(directory))
            }
            None => directory.to_owned(),
        };
        std::env::set_current_dir(&directory).map_err(|error| {
            io::Error::other(format!("cannot go to {}: {error}", directory.display()))
        })?;
    }
    let (program, arguments) =
        order.command.split_first().ok_or_else(|| io::Error::other("no program given"))?;
    let mut held = match order.enters_itself {
        false => {
            let held = enter_with(&own(order), true, order.weak, filters)?;
            cap_processor_seconds()?;
            held
        }
        true => {
            rustix::thread::set_no_new_privs(true)?;
            crate::Held::default()
        }
    };
    held.namespaces = isolated;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(order.environment.iter().map(|(name, value)| (name, value)));
    // All but the teller close here or at `exec`.
    close_between(count, &teller)?;
    Started::write(held, &teller)?;
    let begun = Instant::now();
    let mut error = command.exec();
    while error.kind() == io::ErrorKind::ExecutableFileBusy && begun.elapsed() < BUSY {
        std::thread::sleep(Duration::from_millis(2));
        error = command.exec();
    }
    let words = format!("cannot start {}: {error}", program.to_string_lossy());
    io::Write::write_all(&mut &teller, words.as_bytes())?;
    std::process::exit(127)
}

/// The profile, with what the program needs to be started.
fn own(order: &Order) -> crate::Profile {
    let mut profile = order.profile.clone();
    profile.readable.extend(order.directory.clone());
    let program = order.command.first().map(std::path::PathBuf::from);
    profile.readable.extend(program.filter(|path| path.is_absolute()));
    profile
}

/// Close what the program has no number for, but the teller, which is higher than all of those.
fn close_between(first: usize, teller: &io::PipeWriter) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let teller = u32::try_from(teller.as_raw_fd()).map_err(io::Error::other)?;
    let first = u32::try_from(first).map_err(io::Error::other)?;
    system::close_range(first, teller - 1)?;
    system::close_range(teller + 1, u32::MAX)
}

/// Until the program ends, or nobody wants it any more: then `None`.
fn watch(socket: &UnixStream, program: Pid) -> io::Result<Option<Ending>> {
    let ended = pidfd_open(program, PidfdFlags::empty())?;
    loop {
        let socket: BorrowedFd<'_> = socket.as_fd();
        let mut both = [PollFd::new(&socket, PollFlags::IN), PollFd::new(&ended, PollFlags::IN)];
        match poll(&mut both, None) {
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
            Ok(_) => {}
        }
        if !both[1].revents().is_empty() {
            return system::wait_for(program).map(Some);
        }
        if !both[0].revents().is_empty() {
            // Nothing is ever sent while a program runs: this is the end.
            let _ = kill_process(program, Signal::KILL);
            return Ok(None);
        }
    }
}

/// Without namespaces of our own: end what is left, as far as it can be found.
fn end_children() {
    for _ in 0..1000 {
        for child in crate::watch::children(std::process::id()) {
            if let Some(pid) = i32::try_from(child).ok().and_then(Pid::from_raw) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        match wait(WaitOptions::NOHANG) {
            Err(_) => return,
            Ok(Some(_)) => {}
            Ok(None) => std::thread::sleep(Duration::from_millis(2)),
        }
    }
}
