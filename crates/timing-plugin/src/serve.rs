//! One program on many inputs: it starts once, and is copied where inputs first matter.
//!
//! Up to its first system call that might tell two inputs apart a program does the same whatever it
//! will read. There this process forks for each input; a copy takes the input as its standard input
//! and goes on as if it had been started with it, with the emulator, its translations and the model as
//! they are. The original waits for one copy after the other and says how each ended.

use libc::{c_int, pid_t};
use std::{
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
    Original(pid_t),
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

/// Make a copy of this process.
pub(crate) fn copy() -> Result<Side, String> {
    // SAFETY: this is the only thread of the program; the emulator's other one is made anew in the copy
    // by the handler that the emulator has registered for that.
    match unsafe { libc::fork() } {
        0 => {
            if let Err(error) = forbid_processes() {
                eprintln!("benchstone timing plugin: cannot forbid processes: {error}");
                // Without a report this is no measurement.
                crate::leave(1);
            }
            Ok(Side::Copy)
        }
        id if id > 0 => Ok(Side::Original(id)),
        _ => Err(std::io::Error::last_os_error().to_string()),
    }
}

/// From here on this process can start threads and no processes, nor leave its group: what a program may that is
/// started alone.
fn forbid_processes() -> Result<(), String> {
    use libc::{
        BPF_ABS, BPF_JEQ, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET, BPF_W, SECCOMP_RET_ALLOW,
        SECCOMP_RET_ERRNO,
    };
    let load = (BPF_LD | BPF_W | BPF_ABS) as u16;
    let equal = (BPF_JMP | BPF_JEQ | BPF_K) as u16;
    let set = (BPF_JMP | BPF_JSET | BPF_K) as u16;
    let leave = (BPF_RET | BPF_K) as u16;
    let step = |code, k, jt, jf| libc::sock_filter { code, jt, jf, k };
    let refuse = |error: c_int| SECCOMP_RET_ERRNO | error.unsigned_abs();
    // Where the call's number and the lower half of its first argument are.
    let (number, first) = (0, 16);
    let call = |number: i64| number as u32;
    let mut filter = [
        step(load, number, 0, 0),
        step(equal, call(libc::SYS_fork), 8, 0),
        step(equal, call(libc::SYS_vfork), 7, 0),
        step(equal, call(libc::SYS_setsid), 6, 0),
        step(equal, call(libc::SYS_setpgid), 5, 0),
        // Its flags are in memory, where a filter cannot look: callers go back to `clone`.
        step(equal, call(libc::SYS_clone3), 5, 0),
        step(equal, call(libc::SYS_clone), 0, 2),
        step(load, first, 0, 0),
        step(set, libc::CLONE_THREAD.unsigned_abs(), 0, 1),
        step(leave, SECCOMP_RET_ALLOW, 0, 0),
        step(leave, refuse(libc::EPERM), 0, 0),
        step(leave, refuse(libc::ENOSYS), 0, 0),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: takes no pointers.
    let kept = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    // SAFETY: `program` names `filter`, and both live during this call, which only reads them.
    let set =
        unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) };
    match (kept, set) {
        (0, 0) => Ok(()),
        _ => Err(std::io::Error::last_os_error().to_string()),
    }
}

/// Wait for a copy within its limits.
pub(crate) fn wait(id: pid_t, serving: &Serving) -> End {
    let begun = Instant::now();
    let ended = descriptor_of(id);
    let mut stopped = false;
    loop {
        // A descriptor below zero is never ready: then this is a nap.
        let fd = ended.as_ref().map_or(-1, AsRawFd::as_raw_fd);
        let mut wanted = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // SAFETY: `wanted` is one valid entry, which lives during this call.
        unsafe { libc::poll(&raw mut wanted, 1, TICK_MILLISECONDS) };
        let mut status = 0;
        // SAFETY: `status` can be written to; `id` is a child that was not waited for yet.
        let waited = unsafe { libc::waitpid(id, &raw mut status, libc::WNOHANG) };
        if waited == id && !stopped && libc::WIFEXITED(status) {
            return End::Left(libc::WEXITSTATUS(status));
        }
        if waited == id {
            return if stopped { End::Stopped } else { End::Killed };
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
