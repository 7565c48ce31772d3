use crate::{Memory, Profile};
use landlock::{
    ABI, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Which of the restrictions a machine's kernel really enforces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// Resource limits.
    pub limits: bool,
    /// Landlock: `full`, `partial` or `none`.
    pub landlock: String,
    /// System-call filter.
    pub seccomp: bool,
}

/// Restrict this process, and all it will start, to `profile`, for good.
///
/// Limits that every Linux has must hold; Landlock and seccomp are taken as far as the kernel has
/// them, and the answer says how far that was.
///
/// # Errors
/// When a resource limit cannot be set, or a path that should stay writable cannot be opened.
pub fn enter(profile: &Profile) -> std::io::Result<Held> {
    lower(Resource::Core, 0)?;
    if let Memory::AddressSpace(bytes) = profile.memory {
        lower(Resource::As, bytes)?;
    }
    let file_bytes = if profile.writable.is_empty() { 0 } else { profile.output_bytes };
    lower(Resource::Fsize, file_bytes)?;
    allow_processor_seconds(profile.processor.as_secs().max(1))?;
    rustix::thread::set_no_new_privs(true)?;
    let landlock = restrict_files(profile).unwrap_or_else(|_| "none".to_owned());
    let seccomp = restrict_calls(profile).is_ok();
    Ok(Held { limits: true, landlock, seccomp })
}

/// Allow `seconds` of processor time from now on; the kernel then sends `SIGXCPU`.
pub(crate) fn allow_processor_seconds(seconds: u64) -> std::io::Result<()> {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime).tv_sec;
    let maximum = getrlimit(Resource::Cpu).maximum;
    let soft = u64::try_from(used).unwrap_or(0) + seconds + 1;
    let current = maximum.map_or(soft, |hard| soft.min(hard));
    Ok(setrlimit(Resource::Cpu, Rlimit { current: Some(current), maximum })?)
}

fn lower(resource: Resource, value: u64) -> std::io::Result<()> {
    let hard = getrlimit(resource).maximum.map_or(value, |hard| hard.min(value));
    Ok(setrlimit(resource, Rlimit { current: Some(hard), maximum: Some(hard) })?)
}

fn restrict_files(profile: &Profile) -> Result<String, landlock::RulesetError> {
    let abi = ABI::V5;
    let mut handled = AccessFs::from_write(abi);
    // Devices answer to ioctl; a driver worker is nothing without it.
    handled.remove(AccessFs::IoctlDev);
    if profile.readable.is_some() {
        handled |= AccessFs::from_read(abi);
    }
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(handled)?
        .create()?;
    for path in &profile.writable {
        if let Ok(file) = PathFd::new(path) {
            rules = rules.add_rule(PathBeneath::new(file, handled))?;
        }
    }
    for path in profile.readable.iter().flatten() {
        if let Ok(file) = PathFd::new(path) {
            rules = rules.add_rule(PathBeneath::new(file, AccessFs::from_read(abi)))?;
        }
    }
    Ok(match rules.restrict_self()?.ruleset {
        RulesetStatus::FullyEnforced => "full",
        RulesetStatus::PartiallyEnforced => "partial",
        RulesetStatus::NotEnforced => "none",
    }
    .to_owned())
}

/// System calls no program under study has a use for.
const NEVER: &[i64] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_reboot,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_userfaultfd,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
];

/// Calls that change the file system, refused where nothing may be written even if the kernel has
/// no Landlock.
const CHANGES_FILES: &[i64] = &[
    libc::SYS_creat,
    libc::SYS_unlink,
    libc::SYS_unlinkat,
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_mkdir,
    libc::SYS_mkdirat,
    libc::SYS_rmdir,
    libc::SYS_link,
    libc::SYS_linkat,
    libc::SYS_symlink,
    libc::SYS_symlinkat,
    libc::SYS_truncate,
    libc::SYS_chmod,
    libc::SYS_fchmodat,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_fchownat,
    libc::SYS_mknod,
    libc::SYS_mknodat,
];

fn restrict_calls(profile: &Profile) -> Result<(), Box<dyn std::error::Error>> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for call in NEVER {
        rules.insert(*call, Vec::new());
    }
    if !profile.network {
        // Sockets of every family but AF_UNIX.
        let other = SeccompCondition::new(
            0,
            SeccompCmpArgLen::Dword,
            SeccompCmpOp::Ne,
            u64::from(libc::AF_UNIX.unsigned_abs()),
        )?;
        rules.insert(libc::SYS_socket, vec![SeccompRule::new(vec![other])?]);
    }
    if !profile.processes {
        // Threads are made by clone with CLONE_THREAD; without it a process would be.
        let thread = u64::from(libc::CLONE_THREAD.unsigned_abs());
        let process =
            SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(thread), 0)?;
        rules.insert(libc::SYS_clone, vec![SeccompRule::new(vec![process])?]);
        for call in [libc::SYS_fork, libc::SYS_vfork, libc::SYS_setsid, libc::SYS_setpgid] {
            rules.insert(call, Vec::new());
        }
    } else if profile.name == "native" || profile.tree.is_some() {
        // Whoever leaves the group would outlive its end.
        for call in [libc::SYS_setsid, libc::SYS_setpgid] {
            rules.insert(call, Vec::new());
        }
    }
    if profile.writable.is_empty() {
        for call in CHANGES_FILES {
            rules.insert(*call, Vec::new());
        }
        for (call, argument) in [(libc::SYS_open, 1), (libc::SYS_openat, 2)] {
            let opens_for = |flag: i32| -> Result<SeccompRule, seccompiler::BackendError> {
                let flag = u64::from(flag.unsigned_abs());
                SeccompRule::new(vec![SeccompCondition::new(
                    argument,
                    SeccompCmpArgLen::Dword,
                    SeccompCmpOp::MaskedEq(flag),
                    flag,
                )?])
            };
            rules.insert(
                call,
                vec![
                    opens_for(libc::O_WRONLY)?,
                    opens_for(libc::O_RDWR)?,
                    opens_for(libc::O_CREAT)?,
                    opens_for(libc::O_TRUNC)?,
                ],
            );
        }
    }
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let refuse = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch)?;
    let program: BpfProgram = filter.try_into()?;
    seccompiler::apply_filter_all_threads(&program)?;
    // `clone3` takes its flags in memory, where a filter cannot look: send callers back to `clone`.
    if !profile.processes {
        let rules = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
        let absent = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, absent, arch)?;
        let program: BpfProgram = filter.try_into()?;
        seccompiler::apply_filter_all_threads(&program)?;
    }
    Ok(())
}
