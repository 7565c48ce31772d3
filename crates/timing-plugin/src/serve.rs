//! One program on many inputs: it starts once, and is copied where inputs first matter.
//!
//! Up to its first system call that might tell two inputs apart a program does the same whatever it
//! will read. There this process forks for each input; a copy takes the input as its standard input
//! and goes on as if it had been started with it, with the emulator, its translations and the model as
//! they are. The original waits for one copy after the other and says how each ended.

use libc::{c_int, pid_t};
use std::{
    fs::File,
    io::{ErrorKind, Read, Write},
    os::fd::{AsRawFd, OwnedFd},
    time::{Duration, Instant},
};

/// How often the memory of a copy is looked at.
const TICK_MILLISECONDS: c_int = 20;

/// The inputs that wait, and what each run may use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Serving {
    /// Inputs are the files `FILE.0`, `FILE.1`, and so on.
    pub(crate) inputs: u64,
    /// Resident memory of one run; 0: no limit.
    pub(crate) memory_bytes: u64,
    /// Wall-clock time of one run.
    pub(crate) wall: Duration,
}

/// How the run of a copy ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It left with a status.
    Left(c_int),
    /// A signal ended it.
    Killed,
    /// It took more than it may, and was ended.
    Stopped,
}

/// Where a fork leaves one.
pub(crate) enum Side {
    /// The copy's number, and what it prints.
    Original(pid_t, File),
    Copy,
}

/// Whether a system call, by its Linux x86-64 number, does the same whatever the inputs are. Those that
/// are not known count as different.
pub(crate) fn is_alike(number: i64, flags: u64) -> bool {
    const MAP_ANONYMOUS: u64 = 0x20;
    match number {
        // mmap, of memory without a file
        9 => flags & MAP_ANONYMOUS != 0,
        // mprotect, munmap, brk, rt_sigaction, rt_sigprocmask, uname, readlink, arch_prctl, futex,
        // set_tid_address, readlinkat, set_robust_list, prlimit64, getrandom, rseq
        10..=14 | 63 | 89 | 158 | 202 | 218 | 267 | 273 | 302 | 318 | 334 => true,
        _ => false,
    }
}

/// Make a copy of this process, whose standard output is a pipe to the original.
pub(crate) fn copy() -> Result<Side, String> {
    let failed = |what: &str| format!("{what}: {}", std::io::Error::last_os_error());
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for two descriptors.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return Err(failed("cannot make a pipe"));
    }
    let [reading, writing] = ends.map(crate::session::owned);
    let (Some(reading), Some(writing)) = (reading, writing) else {
        return Err("a pipe without ends".into());
    };
    // SAFETY: this is the only thread of the program; the emulator's other one is made anew in the copy
    // by the handler that the emulator has registered for that.
    match unsafe { libc::fork() } {
        0 => {
            // SAFETY: both are open descriptors; the copy has no use for the original's output.
            let taken = unsafe { libc::dup2(writing.as_raw_fd(), libc::STDOUT_FILENO) };
            if taken < 0 {
                // Without a report this is no measurement.
                crate::leave(1);
            }
            Ok(Side::Copy)
        }
        id if id > 0 => {
            // SAFETY: the descriptor is open; the other end stays as programs know pipes.
            unsafe { libc::fcntl(reading.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
            Ok(Side::Original(id, File::from(reading)))
        }
        _ => Err(failed("cannot fork")),
    }
}

/// Wait for a copy within its limits; how it ended and how many bytes of its output were handed on.
pub(crate) fn wait(id: pid_t, mut output: File, serving: &Serving) -> (End, u64) {
    let begun = Instant::now();
    let ended = descriptor_of(id);
    let mut stopped = false;
    let (mut bytes, mut open) = (0, true);
    loop {
        // A descriptor below zero is never ready: then this is a nap.
        let fd = ended.as_ref().map_or(-1, AsRawFd::as_raw_fd);
        let wanted = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let mut wanted = [wanted(fd), wanted(if open { output.as_raw_fd() } else { -1 })];
        // A copy that has closed its output has most likely ended.
        let tick = if open { TICK_MILLISECONDS } else { 1 };
        // SAFETY: `wanted` is two valid entries, which live during this call.
        unsafe { libc::poll(wanted.as_mut_ptr(), 2, tick) };
        open &= hand_on(&mut output, &mut bytes);
        let mut status = 0;
        // SAFETY: `status` can be written to; `id` is a child that was not waited for yet.
        let waited = unsafe { libc::waitpid(id, &raw mut status, libc::WNOHANG) };
        if waited == id {
            // It started no other process, so that nothing comes behind this.
            hand_on(&mut output, &mut bytes);
            let end = match (stopped, libc::WIFEXITED(status)) {
                (true, _) => End::Stopped,
                (false, true) => End::Left(libc::WEXITSTATUS(status)),
                (false, false) => End::Killed,
            };
            return (end, bytes);
        }
        let too_large = serving.memory_bytes > 0
            && peak_bytes(id).is_some_and(|bytes| bytes > serving.memory_bytes);
        if !stopped && (too_large || begun.elapsed() > serving.wall) {
            stopped = true;
            // SAFETY: takes no pointers; the child was not waited for, so the number is still its.
            unsafe { libc::kill(id, libc::SIGKILL) };
        }
    }
}

/// Write what has been printed so far to standard output, counting its bytes; whether more can come.
fn hand_on(output: &mut File, bytes: &mut u64) -> bool {
    let mut buffer = [0; 64 << 10];
    loop {
        match output.read(&mut buffer) {
            Ok(0) => return false,
            Ok(count) => {
                let mut out = std::io::stdout().lock();
                if out.write_all(&buffer[..count]).and_then(|()| out.flush()).is_ok() {
                    *bytes += count as u64;
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return error.kind() == ErrorKind::WouldBlock,
        }
    }
}

/// A descriptor that can be read once the process has ended; `None` where the kernel has none.
fn descriptor_of(id: pid_t) -> Option<OwnedFd> {
    // SAFETY: takes no pointers.
    let descriptor = unsafe { libc::syscall(libc::SYS_pidfd_open, id, 0) };
    crate::session::owned(c_int::try_from(descriptor).ok()?)
}

/// Largest resident memory that a process has had.
fn peak_bytes(id: pid_t) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}
