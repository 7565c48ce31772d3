//! The few calls of the operating system that have no safe form in a library.

use crate::control::Ending;
use rustix::{process::Pid, thread::UnshareFlags};
use std::{ffi::CString, io, os::unix::ffi::OsStrExt, path::Path};

/// Which of two processes goes on.
pub(crate) enum Forked {
    /// The new one.
    Child,
    /// The old one, with the new one's identifier.
    Parent(Pid),
}

/// Copy this process, which must have one thread only.
pub(crate) fn fork() -> io::Result<Forked> {
    // SAFETY: the launcher has one thread, so no lock is held by another one that the copy lacks.
    let pid = unsafe { libc::fork() };
    match pid {
        0 => Ok(Forked::Child),
        _ => Pid::from_raw(pid).filter(|_| pid > 0).map(Forked::Parent).ok_or_else(last),
    }
}

/// Copy this process, which must have one thread only; the copy gets the identifier `pid` in the
/// namespace whose first process this is.
pub(crate) fn fork_as(pid: Pid) -> io::Result<Forked> {
    let wanted = pid.as_raw_pid();
    // SAFETY: all zeroes is a valid `clone_args`, which holds numbers only.
    let mut arguments: libc::clone_args = unsafe { std::mem::zeroed() };
    arguments.exit_signal = u64::from(libc::SIGCHLD.unsigned_abs());
    arguments.set_tid = (&raw const wanted) as u64;
    arguments.set_tid_size = 1;
    // SAFETY: as in `fork`, no other thread holds a lock; memory is copied, no stack is shared; the
    // size given is that of the structure pointed to, whose one pointer is to a live number.
    let made = unsafe {
        libc::syscall(libc::SYS_clone3, &raw const arguments, size_of::<libc::clone_args>())
    };
    match i32::try_from(made) {
        Ok(0) => Ok(Forked::Child),
        Ok(pid) => Pid::from_raw(pid).filter(|_| pid > 0).map(Forked::Parent).ok_or_else(last),
        Err(_) => Err(last()),
    }
}

/// End all other processes of the namespace whose first this is. Nothing is left of them afterwards:
/// whatever is in the namespace descends from its first process, which has no child then.
pub(crate) fn end_others() -> io::Result<()> {
    if std::process::id() != 1 {
        return Err(io::Error::other("only the first process of a namespace may end all others"));
    }
    loop {
        // SAFETY: sends a signal; to all processes of this namespace but this one, which is its first.
        // That there are none is no concern.
        let _ = unsafe { libc::kill(-1, libc::SIGKILL) };
        // SAFETY: no status is asked for.
        let ended = unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::__WALL) };
        let error = last();
        match error.raw_os_error() {
            _ if ended > 0 => {}
            Some(libc::ECHILD) => return Ok(()),
            Some(libc::EINTR) => {}
            _ => return Err(error),
        }
    }
}

/// Leave namespaces.
pub(crate) fn unshare(flags: UnshareFlags) -> io::Result<()> {
    assert!(!flags.contains(UnshareFlags::FILES), "descriptors stay shared by all threads");
    // SAFETY: the table of descriptors, which is what makes this call unsafe, is not unshared.
    Ok(unsafe { rustix::thread::unshare_unsafe(flags) }?)
}

/// Wait for `pid` to end, and take it out of the kernel's table.
pub(crate) fn wait_for(pid: Pid) -> io::Result<Ending> {
    let mut status = 0;
    // SAFETY: all zeroes is a valid `rusage`, which holds numbers only.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both pointers are to live values of the right types.
        let got = unsafe { libc::wait4(pid.as_raw_pid(), &raw mut status, 0, &raw mut usage) };
        if got > 0 {
            break;
        }
        let error = last();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    Ok(Ending {
        status,
        user_seconds: seconds(usage.ru_utime),
        system_seconds: seconds(usage.ru_stime),
        // In KiB on every Linux.
        peak_bytes: u64::try_from(usage.ru_maxrss).unwrap_or(0) * 1024,
    })
}

/// Make a mount, and with `all` the ones below it, read-only where `read_only`, without devices where
/// not `devices`, and never with set-user-ID programs. What else it has stays.
pub(crate) fn restrict_mount(
    path: &Path,
    read_only: bool,
    devices: bool,
    all: bool,
) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other)?;
    let mut set = libc::MOUNT_ATTR_NOSUID;
    if read_only {
        set |= libc::MOUNT_ATTR_RDONLY;
    }
    if !devices {
        set |= libc::MOUNT_ATTR_NODEV;
    }
    let attributes = libc::mount_attr { attr_set: set, attr_clr: 0, propagation: 0, userns_fd: 0 };
    let flags = if all { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path ends with a zero byte, and the size given is that of the structure pointed to.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    if done == 0 { Ok(()) } else { Err(last()) }
}

/// Close the descriptors from `first` to `last`, both included.
pub(crate) fn close_range(first: u32, last: u32) -> io::Result<()> {
    if first > last {
        return Ok(());
    }
    // SAFETY: closes descriptors that nothing in this process uses any more: it is about to become
    // another program.
    let done = unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
    if done == 0 { Ok(()) } else { Err(self::last()) }
}

/// Answer every signal as at the start of a session: what we ignore or block is no concern of a
/// program's, whose end would depend on it.
pub(crate) fn default_signals() {
    // SAFETY: the default action runs no code of this process; the two that cannot be set are refused.
    for signal in 1..=libc::SIGRTMAX() {
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    // SAFETY: all zeroes is a valid set of signals, which is emptied and then read.
    unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// Make `from` the descriptor `to`, open across `exec`.
pub(crate) fn place(from: std::os::fd::BorrowedFd<'_>, to: i32) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    // SAFETY: `from` is open; whatever `to` was is no longer used by this process.
    let done = unsafe { libc::dup2(from.as_raw_fd(), to) };
    if done == to { Ok(()) } else { Err(last()) }
}

fn last() -> io::Error {
    io::Error::last_os_error()
}
