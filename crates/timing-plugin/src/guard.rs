//! What a program could reach of the emulator by its numbers: the descriptor that the report goes through, and the
//! processes beside it.

/// Whether a system call, by its Linux x86-64 number, names that descriptor. Of calls that are not known every argument
/// counts as a descriptor: a number that happens to be the same costs its program a verdict, not us a report.
pub(crate) fn touches(number: i64, arguments: &[u64; 6], channel: i32) -> bool {
    const CLOSE_RANGE: i64 = 436;
    // Descriptors are `int`s: the upper half of a register says nothing.
    let is = |at: usize| arguments[at] as i32 == channel;
    if number == CLOSE_RANGE {
        let (first, last) = (arguments[0] as u32, arguments[1] as u32);
        return (first..=last).contains(&channel.unsigned_abs());
    }
    let places: &[usize] = match number {
        // mprotect, munmap, brk, rt_sigaction, rt_sigprocmask, rt_sigreturn, sched_yield, mremap, madvise, nanosleep,
        // getpid, exit, kill, uname, getrlimit, getrusage, sysinfo, getuid, getgid, geteuid, getegid, getppid,
        // sigaltstack, arch_prctl, setrlimit, gettid, futex, sched_getaffinity, set_tid_address, clock_getres,
        // clock_nanosleep, exit_group, tgkill, set_robust_list, prlimit64, getrandom, rseq
        10..=15
        | 24
        | 25
        | 28
        | 35
        | 39
        | 60
        | 62
        | 63
        | 97..=99
        | 102
        | 104
        | 107
        | 108
        | 110
        | 131
        | 158
        | 160
        | 186
        | 202
        | 204
        | 218
        | 229..=231
        | 234
        | 273
        | 302
        | 318
        | 334 => &[],
        // open, stat, lstat, poll, access, select, readlink: paths, and whether something can be read
        2 | 4 | 6 | 7 | 21 | 23 | 79 | 89 => &[],
        // read, write, close, fstat, lseek, ioctl, pread64, pwrite64, readv, writev, dup, fcntl, fsync, fdatasync,
        // ftruncate, getdents64, openat, newfstatat, readlinkat, vmsplice
        0 | 1 | 3 | 5 | 8 | 16..=20 | 32 | 72 | 74 | 75 | 77 | 217 | 257 | 262 | 267 | 278 => &[0],
        // mmap
        9 => &[4],
        // dup2, sendfile, dup3, tee
        33 | 40 | 276 | 292 => &[0, 1],
        // splice, copy_file_range
        275 | 326 => &[0, 2],
        _ => &[0, 1, 2, 3, 4, 5],
    };
    places.iter().any(|at| is(*at))
}

/// Whether a system call, by its Linux x86-64 number, sends a signal to another process than `own`: the emulator that
/// waits for this copy of it, or to its whole group.
pub(crate) fn signals_others(number: i64, arguments: &[u64; 6], own: u32) -> bool {
    let other = |at: usize| arguments[at] as u32 != own;
    match number {
        // kill, tkill, rt_sigqueueinfo
        62 | 129 | 200 => other(0),
        // tgkill, rt_tgsigqueueinfo
        234 | 297 => other(0) || other(1),
        // pidfd_send_signal
        424 => true,
        _ => false,
    }
}
