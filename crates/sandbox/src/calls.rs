//! seccomp: the system calls that a profile allows. Every other one is answered with `ENOSYS`, as by a
//! kernel that lacks it, so that libraries fall back to older ones.

use crate::{Calls, Profile};
use libc::{
    SYS_accept, SYS_accept4, SYS_access, SYS_alarm, SYS_arch_prctl, SYS_bind, SYS_brk, SYS_capget,
    SYS_chdir, SYS_chmod, SYS_chown, SYS_clock_getres, SYS_clock_gettime, SYS_clock_nanosleep,
    SYS_clone, SYS_close, SYS_close_range, SYS_connect, SYS_copy_file_range, SYS_creat, SYS_dup,
    SYS_dup2, SYS_dup3, SYS_epoll_create, SYS_epoll_create1, SYS_epoll_ctl, SYS_epoll_pwait,
    SYS_epoll_pwait2, SYS_epoll_wait, SYS_eventfd, SYS_eventfd2, SYS_execve, SYS_exit,
    SYS_exit_group, SYS_faccessat, SYS_faccessat2, SYS_fadvise64, SYS_fallocate, SYS_fchdir,
    SYS_fchmod, SYS_fchmodat, SYS_fchown, SYS_fchownat, SYS_fcntl, SYS_fdatasync, SYS_fgetxattr,
    SYS_flistxattr, SYS_flock, SYS_fork, SYS_fremovexattr, SYS_fsetxattr, SYS_fstat, SYS_fstatfs,
    SYS_fsync, SYS_ftruncate, SYS_futex, SYS_futex_waitv, SYS_futimesat, SYS_get_mempolicy,
    SYS_get_robust_list, SYS_getcpu, SYS_getcwd, SYS_getdents, SYS_getdents64, SYS_getegid,
    SYS_geteuid, SYS_getgid, SYS_getgroups, SYS_getitimer, SYS_getpeername, SYS_getpgid,
    SYS_getpgrp, SYS_getpid, SYS_getppid, SYS_getpriority, SYS_getrandom, SYS_getresgid,
    SYS_getresuid, SYS_getrlimit, SYS_getrusage, SYS_getsid, SYS_getsockname, SYS_getsockopt,
    SYS_gettid, SYS_gettimeofday, SYS_getuid, SYS_getxattr, SYS_inotify_add_watch,
    SYS_inotify_init, SYS_inotify_init1, SYS_inotify_rm_watch, SYS_ioctl, SYS_kill, SYS_lchown,
    SYS_lgetxattr, SYS_link, SYS_linkat, SYS_listen, SYS_listxattr, SYS_llistxattr,
    SYS_lremovexattr, SYS_lseek, SYS_lsetxattr, SYS_lstat, SYS_madvise, SYS_mbind, SYS_membarrier,
    SYS_memfd_create, SYS_mincore, SYS_mkdir, SYS_mkdirat, SYS_mknod, SYS_mknodat, SYS_mlock,
    SYS_mlock2, SYS_mlockall, SYS_mmap, SYS_mprotect, SYS_mremap, SYS_msgctl, SYS_msgget,
    SYS_msgrcv, SYS_msgsnd, SYS_msync, SYS_munlock, SYS_munlockall, SYS_munmap, SYS_nanosleep,
    SYS_newfstatat, SYS_open, SYS_openat, SYS_pause, SYS_personality, SYS_pipe, SYS_pipe2,
    SYS_poll, SYS_ppoll, SYS_prctl, SYS_pread64, SYS_preadv, SYS_preadv2, SYS_prlimit64,
    SYS_pselect6, SYS_pwrite64, SYS_pwritev, SYS_pwritev2, SYS_read, SYS_readahead, SYS_readlink,
    SYS_readlinkat, SYS_readv, SYS_recvfrom, SYS_recvmmsg, SYS_recvmsg, SYS_removexattr,
    SYS_rename, SYS_renameat, SYS_renameat2, SYS_restart_syscall, SYS_rmdir, SYS_rseq,
    SYS_rt_sigaction, SYS_rt_sigpending, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigsuspend,
    SYS_rt_sigtimedwait, SYS_sched_get_priority_max, SYS_sched_get_priority_min,
    SYS_sched_getaffinity, SYS_sched_getparam, SYS_sched_getscheduler, SYS_sched_setaffinity,
    SYS_sched_yield, SYS_seccomp, SYS_select, SYS_semctl, SYS_semget, SYS_semop, SYS_semtimedop,
    SYS_sendfile, SYS_sendmmsg, SYS_sendmsg, SYS_sendto, SYS_set_mempolicy, SYS_set_robust_list,
    SYS_set_tid_address, SYS_setitimer, SYS_setpgid, SYS_setpriority, SYS_setresgid, SYS_setresuid,
    SYS_setrlimit, SYS_setsid, SYS_setsockopt, SYS_setxattr, SYS_shutdown, SYS_sigaltstack,
    SYS_signalfd4, SYS_socket, SYS_socketpair, SYS_splice, SYS_stat, SYS_statfs, SYS_statx,
    SYS_symlink, SYS_symlinkat, SYS_sync_file_range, SYS_sysinfo, SYS_tee, SYS_tgkill, SYS_time,
    SYS_timer_create, SYS_timer_delete, SYS_timer_gettime, SYS_timer_settime, SYS_timerfd_create,
    SYS_timerfd_gettime, SYS_timerfd_settime, SYS_times, SYS_tkill, SYS_truncate, SYS_umask,
    SYS_uname, SYS_unlink, SYS_unlinkat, SYS_utime, SYS_utimensat, SYS_utimes, SYS_vfork,
    SYS_wait4, SYS_waitid, SYS_write, SYS_writev,
};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen as Length, SeccompCmpOp as Op,
    SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};
use std::collections::BTreeMap;

/// Memory, time, threads, open descriptors, and looking at files.
const COMPUTE: &[i64] = &[
    SYS_access,
    SYS_alarm,
    SYS_arch_prctl,
    SYS_brk,
    SYS_capget,
    SYS_chdir,
    SYS_clock_getres,
    SYS_clock_gettime,
    SYS_clock_nanosleep,
    SYS_close,
    SYS_close_range,
    SYS_dup,
    SYS_dup2,
    SYS_dup3,
    SYS_epoll_create,
    SYS_epoll_create1,
    SYS_epoll_ctl,
    SYS_epoll_pwait,
    SYS_epoll_pwait2,
    SYS_epoll_wait,
    SYS_eventfd,
    SYS_eventfd2,
    SYS_execve,
    SYS_exit,
    SYS_exit_group,
    SYS_faccessat,
    SYS_faccessat2,
    SYS_fadvise64,
    SYS_fchdir,
    SYS_fstat,
    SYS_fstatfs,
    SYS_futex,
    SYS_futex_waitv,
    SYS_get_robust_list,
    SYS_getcpu,
    SYS_getcwd,
    SYS_getdents,
    SYS_getdents64,
    SYS_getegid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getgroups,
    SYS_getitimer,
    SYS_getpgid,
    SYS_getpgrp,
    SYS_getpid,
    SYS_getppid,
    SYS_getpriority,
    SYS_getrandom,
    SYS_getresgid,
    SYS_getresuid,
    SYS_getrlimit,
    SYS_getrusage,
    SYS_getsid,
    SYS_gettid,
    SYS_gettimeofday,
    SYS_getuid,
    SYS_kill,
    SYS_lseek,
    SYS_lstat,
    SYS_madvise,
    SYS_membarrier,
    SYS_mincore,
    SYS_mmap,
    SYS_mprotect,
    SYS_mremap,
    SYS_msync,
    SYS_munmap,
    SYS_nanosleep,
    SYS_newfstatat,
    SYS_pause,
    SYS_pipe,
    SYS_pipe2,
    SYS_poll,
    SYS_ppoll,
    SYS_pread64,
    SYS_preadv,
    SYS_preadv2,
    SYS_pselect6,
    SYS_pwrite64,
    SYS_pwritev,
    SYS_pwritev2,
    SYS_read,
    SYS_readahead,
    SYS_readlink,
    SYS_readlinkat,
    SYS_readv,
    SYS_restart_syscall,
    SYS_rseq,
    SYS_rt_sigaction,
    SYS_rt_sigpending,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_rt_sigsuspend,
    SYS_rt_sigtimedwait,
    SYS_sched_get_priority_max,
    SYS_sched_get_priority_min,
    SYS_sched_getaffinity,
    SYS_sched_getparam,
    SYS_sched_getscheduler,
    SYS_sched_yield,
    SYS_seccomp,
    SYS_select,
    SYS_set_robust_list,
    SYS_set_tid_address,
    SYS_setitimer,
    SYS_sigaltstack,
    SYS_stat,
    SYS_statfs,
    SYS_statx,
    SYS_sysinfo,
    SYS_tgkill,
    SYS_time,
    SYS_timer_create,
    SYS_timer_delete,
    SYS_timer_gettime,
    SYS_timer_settime,
    SYS_timerfd_create,
    SYS_timerfd_gettime,
    SYS_timerfd_settime,
    SYS_times,
    SYS_tkill,
    SYS_umask,
    SYS_uname,
    SYS_wait4,
    SYS_waitid,
    SYS_write,
    SYS_writev,
];

/// Making, changing and removing files.
const FILES: &[i64] = &[
    SYS_chmod,
    SYS_copy_file_range,
    SYS_creat,
    SYS_fallocate,
    SYS_fchmod,
    SYS_fchmodat,
    SYS_fdatasync,
    SYS_flock,
    SYS_fsync,
    SYS_ftruncate,
    SYS_futimesat,
    SYS_link,
    SYS_linkat,
    SYS_mkdir,
    SYS_mkdirat,
    SYS_open,
    SYS_openat,
    SYS_rename,
    SYS_renameat,
    SYS_renameat2,
    SYS_rmdir,
    SYS_sendfile,
    SYS_splice,
    SYS_symlink,
    SYS_symlinkat,
    SYS_sync_file_range,
    SYS_tee,
    SYS_truncate,
    SYS_unlink,
    SYS_unlinkat,
    SYS_utime,
    SYS_utimensat,
    SYS_utimes,
];

/// Processes besides the first.
const PROCESSES: &[i64] = &[SYS_fork, SYS_vfork, SYS_setpgid];

/// Where memory lies and what runs where: drivers of devices and thread pools.
const DRIVER: &[i64] = &[
    SYS_get_mempolicy,
    SYS_mbind,
    SYS_mlock,
    SYS_mlock2,
    SYS_mlockall,
    SYS_munlock,
    SYS_munlockall,
    SYS_sched_setaffinity,
    SYS_set_mempolicy,
    SYS_setrlimit,
    SYS_signalfd4,
];

/// System V objects, of the sandbox alone; no segments of memory, which count to no process.
const SYSTEM_V: &[i64] = &[
    SYS_msgctl,
    SYS_msgget,
    SYS_msgrcv,
    SYS_msgsnd,
    SYS_semctl,
    SYS_semget,
    SYS_semop,
    SYS_semtimedop,
];

/// Owners, sessions, watches, and becoming the user that one is (`make` does so before it starts
/// anything): build systems.
const BUILD: &[i64] = &[
    SYS_chown,
    SYS_fchown,
    SYS_fchownat,
    SYS_inotify_add_watch,
    SYS_inotify_init,
    SYS_inotify_init1,
    SYS_inotify_rm_watch,
    SYS_lchown,
    SYS_setsid,
    SYS_setresgid,
    SYS_setresuid,
];

/// Extended attributes of files.
const ATTRIBUTES: &[i64] = &[
    SYS_fgetxattr,
    SYS_flistxattr,
    SYS_fremovexattr,
    SYS_fsetxattr,
    SYS_getxattr,
    SYS_lgetxattr,
    SYS_listxattr,
    SYS_llistxattr,
    SYS_lremovexattr,
    SYS_lsetxattr,
    SYS_removexattr,
    SYS_setxattr,
];

/// What goes on over a socket that is open.
const SOCKETS: &[i64] = &[
    SYS_getpeername,
    SYS_getsockname,
    SYS_getsockopt,
    SYS_recvfrom,
    SYS_recvmmsg,
    SYS_recvmsg,
    SYS_sendmmsg,
    SYS_sendmsg,
    SYS_sendto,
    SYS_setsockopt,
    SYS_shutdown,
];

/// What makes one that reaches the network.
const NETWORK: &[i64] = &[SYS_accept, SYS_accept4, SYS_bind, SYS_connect, SYS_listen];

/// `clone` with one of these makes namespaces.
const NEW_NAMESPACES: u64 = 0x7e02_0000;

/// What descriptors may be asked: to be copied, locked, sized and described; never to send signals.
const FCNTL: &[u64] = &[0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1031, 1032, 1033, 1034];

/// What a terminal or a pipe may be asked where nothing else may.
const IOCTL: &[u64] = &[0x5401, 0x5413, 0x540f, 0x541b, 0x5421, 0x5450, 0x5451];

/// What no descriptor may be asked: typing at a terminal, the attributes of `chattr` (both widths).
const NEVER_IOCTL: &[u64] = &[0x5412, 0x541c, 0x4008_6602, 0x4004_6602, 0x401c_5820];

/// Names, parent-death signals, dumps, more filters, and what is looked at only.
const PRCTL: &[u64] = &[1, 2, 3, 4, 15, 16, 21, 22, 23, 38, 39, 41, 42, 0x5356_4d41];

/// Address-space randomisation may be asked for and turned off.
const PERSONALITY: &[u64] = &[0xffff_ffff, 0, 0x0004_0000];

/// What [`restrict`] gives to the kernel, in order.
pub(crate) struct Filters(Vec<BpfProgram>);

/// The filters that allow the calls of `profile`.
pub(crate) fn filters(profile: &Profile) -> Result<Filters, Box<dyn std::error::Error>> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let absent = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    let filter = SeccompFilter::new(rules(profile)?, absent, SeccompAction::Allow, arch)?;
    let mut all = vec![filter.try_into()?];
    // Of two filters that refuse a call, the later one names the error.
    let mut refuse = |calls: &[i64], error: i32| -> Result<(), BackendError> {
        let rules = calls.iter().map(|call| (*call, Vec::new())).collect();
        let refused = SeccompAction::Errno(error.unsigned_abs());
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, arch)?;
        all.push(filter.try_into()?);
        Ok(())
    };
    if profile.calls == Calls::Build {
        // Python's `shutil.copy2` takes a file system without them, but no kernel without them.
        refuse(ATTRIBUTES, libc::ENOTSUP)?;
        if !profile.network {
            // People read what builds say: that sockets are refused, not that there are none.
            refuse(&[SYS_socket], libc::EPERM)?;
        }
    }
    Ok(Filters(all))
}

/// Restrict this process, all its threads and all it starts to what the filters allow.
pub(crate) fn restrict(filters: &Filters) -> Result<(), Box<dyn std::error::Error>> {
    for program in &filters.0 {
        seccompiler::apply_filter_all_threads(program)?;
    }
    Ok(())
}

fn rules(profile: &Profile) -> Result<BTreeMap<i64, Vec<SeccompRule>>, BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    let mut allow = |calls: &[i64]| rules.extend(calls.iter().map(|call| (*call, Vec::new())));
    allow(COMPUTE);
    match profile.calls {
        Calls::Compute => {}
        Calls::Files => allow(FILES),
        Calls::Driver => {
            for calls in [FILES, DRIVER, SYSTEM_V, SOCKETS, &[SYS_memfd_create]] {
                allow(calls);
            }
        }
        Calls::Build => {
            for calls in [FILES, DRIVER, SYSTEM_V, SOCKETS, BUILD] {
                allow(calls);
            }
        }
    }
    if profile.processes > 1 {
        allow(PROCESSES);
    }
    if profile.network {
        allow(SOCKETS);
        allow(NETWORK);
    }
    let wide = matches!(profile.calls, Calls::Driver | Calls::Build);
    rules.insert(SYS_clone, clone_rules(profile.processes > 1)?);
    rules.insert(SYS_fcntl, one_of(1, FCNTL)?);
    rules.insert(SYS_prctl, one_of(0, PRCTL)?);
    rules.insert(SYS_personality, one_of(0, PERSONALITY)?);
    rules.insert(SYS_ioctl, if wide { none_of(1, NEVER_IOCTL)? } else { one_of(1, IOCTL)? });
    // Limits of oneself.
    rules.insert(SYS_prlimit64, one_of(0, &[0])?);
    if profile.calls == Calls::Compute {
        rules.insert(SYS_open, reading(1)?);
        rules.insert(SYS_openat, reading(2)?);
    }
    if profile.calls == Calls::Build {
        // Of oneself, not of a user; named pipes, no devices.
        rules.insert(SYS_setpriority, one_of(0, &[0])?);
        let pipe = u64::from(libc::S_IFIFO);
        let kind = u64::from(libc::S_IFMT);
        for (call, argument) in [(SYS_mknod, 1), (SYS_mknodat, 2)] {
            let is_pipe = SeccompCondition::new(argument, Length::Dword, Op::MaskedEq(kind), pipe)?;
            rules.insert(call, vec![SeccompRule::new(vec![is_pipe])?]);
        }
    }
    if wide {
        rules.insert(SYS_socketpair, one_of(0, &[u64::from(libc::AF_UNIX.unsigned_abs())])?);
    }
    if profile.network {
        let families = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
        rules.insert(
            SYS_socket,
            one_of(0, &families.map(|family| u64::from(family.unsigned_abs())))?,
        );
    }
    Ok(rules)
}

/// Threads, and with `processes` processes; never namespaces.
fn clone_rules(processes: bool) -> Result<Vec<SeccompRule>, BackendError> {
    let mut all = vec![SeccompCondition::new(0, Length::Qword, Op::MaskedEq(NEW_NAMESPACES), 0)?];
    if !processes {
        let thread = u64::from(libc::CLONE_THREAD.unsigned_abs());
        all.push(SeccompCondition::new(0, Length::Qword, Op::MaskedEq(thread), thread)?);
    }
    Ok(vec![SeccompRule::new(all)?])
}

/// The argument is one of `values`.
fn one_of(argument: u8, values: &[u64]) -> Result<Vec<SeccompRule>, BackendError> {
    let rule = |value: &u64| {
        SeccompRule::new(vec![SeccompCondition::new(argument, Length::Dword, Op::Eq, *value)?])
    };
    values.iter().map(rule).collect()
}

/// The argument is none of `values`.
fn none_of(argument: u8, values: &[u64]) -> Result<Vec<SeccompRule>, BackendError> {
    let condition = |value: &u64| SeccompCondition::new(argument, Length::Dword, Op::Ne, *value);
    Ok(vec![SeccompRule::new(values.iter().map(condition).collect::<Result<_, _>>()?)?])
}

/// Flags of `open` that read and make nothing.
fn reading(argument: u8) -> Result<Vec<SeccompRule>, BackendError> {
    let changes = libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC;
    let mask = u64::from(changes.unsigned_abs());
    let reads = SeccompCondition::new(argument, Length::Dword, Op::MaskedEq(mask), 0)?;
    Ok(vec![SeccompRule::new(vec![reads])?])
}
