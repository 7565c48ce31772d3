//! Namespaces: a program sees its own processes, its own network and a root that holds what its
//! profile names.

use crate::{Cover, Profile, control::Order, system};
use rustix::{
    mount::{
        MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind_recursive, mount_change,
        unmount,
    },
    process::{getegid, geteuid, pivot_root},
    thread::UnshareFlags,
};
use std::{
    ffi::CString,
    fs,
    io::{self, Error},
    os::unix::{
        ffi::OsStrExt,
        fs::{PermissionsExt, symlink},
    },
    path::{Path, PathBuf},
};

/// The user and the group that a program is inside: nobody's, and not root.
const INSIDE: u32 = 1000;

/// Folders of the system's programs, headers and libraries.
pub(crate) const SYSTEM: [&str; 6] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"];

/// What the system's programs and libraries need in `/etc` to find each other.
pub(crate) const LINKS: [&str; 3] = ["/etc/ld.so.cache", "/etc/alternatives", "/etc/OpenCL"];

/// What programs need to find users, hosts, certificates, other languages and devices.
pub(crate) const SETTINGS: [&str; 33] = [
    "/sys",
    "/opt",
    "/etc/passwd",
    "/etc/group",
    "/etc/nsswitch.conf",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/protocols",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/ca-certificates",
    "/etc/mime.types",
    "/etc/localtime",
    "/etc/timezone",
    "/etc/os-release",
    "/etc/debian_version",
    "/etc/dpkg",
    "/etc/java-17-openjdk",
    "/etc/python3",
    "/etc/python3.11",
    "/etc/python3.13",
    "/etc/perl",
    "/etc/fonts",
    "/etc/magic",
    "/etc/xml",
    "/etc/sgml",
    "/etc/pip.conf",
    "/etc/pocl",
    "/etc/ldc2.conf",
];

/// The file that names users.
const USERS: &str = "/etc/passwd";

/// Nodes of `/dev` that every program may open.
pub(crate) const NODES: [&str; 5] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Enter namespaces of our own; the caller's next child is the first process inside.
pub(crate) fn leave_namespaces(profile: &Profile) -> io::Result<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let mut flags = UnshareFlags::NEWNS
        | UnshareFlags::NEWPID
        | UnshareFlags::NEWIPC
        | UnshareFlags::NEWUTS
        | UnshareFlags::NEWCGROUP;
    if !profile.network {
        flags |= UnshareFlags::NEWNET;
    }
    system::unshare(flags | UnshareFlags::NEWUSER)?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{INSIDE} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{INSIDE} {group} 1"))
}

/// One path of the host that is seen inside.
struct Bind {
    /// Where it is, without links.
    source: PathBuf,
    /// Where it is seen.
    target: PathBuf,
    writable: bool,
    device: bool,
}

impl Bind {
    /// `None` where there is no such path on this host.
    fn new(target: &Path, writable: bool) -> Option<Bind> {
        let source = fs::canonicalize(target).ok()?;
        Some(Bind { source, target: target.to_owned(), writable, device: false })
    }
}

/// Where the host's root is while the private one is made.
const HOST: &str = "/.host";
/// Where a private root that is a folder of the host is put together.
const INNER: &str = "/.root";
/// Where the files of a cover are while it is mounted.
const COVER: &str = "/.cover";

/// Replace the root by one that holds what the order needs; called by the first process inside.
///
/// # Errors
/// What could not be done, in words.
pub(crate) fn enter_root(order: &Order) -> io::Result<()> {
    let profile = &order.profile;
    let links: Vec<(&str, PathBuf)> =
        SYSTEM.iter().filter_map(|path| fs::read_link(path).ok().map(|to| (*path, to))).collect();
    let binds = binds(order)?;
    change_root()?;
    let base = match &profile.root {
        None => PathBuf::new(),
        Some(root) => {
            let base = PathBuf::from(INNER);
            let source = host(root);
            make_folder(&base)?;
            bind(&source, &base, true, false)?;
            base
        }
    };
    if profile.root.is_none() {
        for (path, to) in links {
            symlink(to, path).map_err(|error| told("link", Path::new(path), &error))?;
        }
    }
    let within = |path: &str| base.join(path.trim_start_matches('/'));
    if profile.proc {
        mount_proc(&within("/proc"), !profile.settings)?;
    }
    make_nodes(&binds, &within("/dev"), profile)?;
    if profile.scratch > 0 {
        memory(&within("/tmp"), profile.scratch)?;
    }
    for one in binds.iter().filter(|bind| !bind.device) {
        let source = match &profile.root {
            Some(root) => host(&root.join(one.target.strip_prefix("/").unwrap_or(&one.target))),
            None => host(&one.source),
        };
        let target = base.join(one.target.strip_prefix("/").unwrap_or(&one.target));
        match one.target == Path::new(USERS) {
            true => show_users(&source, &target)?,
            false => bind(&source, &target, !one.writable, false)?,
        }
    }
    for one in &profile.covers {
        cover(one, profile.root.as_deref(), &base)?;
    }
    finish(&base)
}

/// What is bound where, parents first, nothing twice.
fn binds(order: &Order) -> io::Result<Vec<Bind>> {
    let profile = &order.profile;
    let mut all = Vec::new();
    if profile.root.is_none() {
        let system = SYSTEM.iter().filter(|path| !Path::new(path).is_symlink());
        let settings = SETTINGS.iter().filter(|_| profile.settings);
        let fixed = system.chain(&LINKS).chain(settings).map(Path::new);
        let program = order.command.first().map(PathBuf::from).filter(|path| path.is_absolute());
        let own = profile.readable.iter().chain(&order.directory).chain(&program);
        all.extend(
            fixed.chain(own.map(PathBuf::as_path)).filter_map(|path| Bind::new(path, false)),
        );
        // What lies in a folder of the system's is there already.
        let covered = |path: &Path| SYSTEM.iter().any(|system| path.starts_with(system));
        let fixed_count = SYSTEM.len();
        let mut kept = 0;
        all.retain(|bind: &Bind| {
            kept += 1;
            kept <= fixed_count && SYSTEM.iter().any(|s| bind.target == Path::new(s))
                || !(covered(&bind.target) && bind.source == bind.target)
        });
    }
    for path in &profile.writable {
        let on_host = match &profile.root {
            Some(root) => root.join(path.strip_prefix("/").unwrap_or(path)),
            None => path.clone(),
        };
        if path.starts_with("/dev") || profile.scratch > 0 && path == Path::new("/tmp") {
            continue;
        }
        let source = fs::canonicalize(&on_host)
            .map_err(|error| told("find the writable", &on_host, &error))?;
        all.push(Bind { source, target: path.clone(), writable: true, device: false });
    }
    let nodes = NODES.iter().map(Path::new).chain(profile.devices.iter().map(PathBuf::as_path));
    all.extend(nodes.filter_map(|path| Some(Bind { device: true, ..Bind::new(path, true)? })));
    // The writable form of a path wins.
    all.sort_by(|a, b| {
        let depth = |bind: &Bind| bind.target.components().count();
        (depth(a), &a.target, !a.writable).cmp(&(depth(b), &b.target, !b.writable))
    });
    all.dedup_by(|later, first| later.target == first.target);
    // What lies in a folder that may be written is there already; bound again, it could not be.
    let writable: Vec<(PathBuf, PathBuf)> = all
        .iter()
        .filter(|bind| bind.writable && !bind.device)
        .map(|bind| (bind.target.clone(), bind.source.clone()))
        .collect();
    let is_there = |bind: &Bind| {
        writable.iter().any(|(target, source)| {
            bind.target.strip_prefix(target).is_ok_and(|rest| bind.source == source.join(rest))
        })
    };
    all.retain(|bind| bind.writable || !is_there(bind));
    Ok(all)
}

/// Make an empty file system the root, with the host's below [`HOST`].
fn change_root() -> io::Result<()> {
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).map_err(|error| told("keep mounts of", Path::new("/"), &error))?;
    let place =
        ["/tmp", "/mnt", "/var/tmp", "/run"].into_iter().find(|path| Path::new(path).is_dir());
    let place = Path::new(place.ok_or_else(|| Error::other("no folder to mount a root on"))?);
    memory(place, 4 << 20)?;
    fs::set_permissions(place, fs::Permissions::from_mode(0o755))?;
    let put = place.join(HOST.trim_start_matches('/'));
    make_folder(&put)?;
    pivot_root(place, &put).map_err(|error| told("make the root", place, &error))?;
    std::env::set_current_dir("/")
}

fn host(path: &Path) -> PathBuf {
    Path::new(HOST).join(path.strip_prefix("/").unwrap_or(path))
}

/// Show `source` at `target`, which is made where there is nothing.
fn bind(source: &Path, target: &Path, read_only: bool, devices: bool) -> io::Result<()> {
    let there = fs::symlink_metadata(target).is_ok();
    if !there && source.is_dir() {
        make_folder(target)?;
    } else if !there {
        if let Some(parent) = target.parent() {
            make_folder(parent)?;
        }
        fs::File::create(target).map_err(|error| told("make", target, &error))?;
    }
    mount_bind_recursive(source, target).map_err(|error| told("show", target, &error))?;
    system::restrict_mount(target, read_only, devices, true)
        .map_err(|error| told("restrict", target, &error))
}

/// Show the machine's users behind one that has the number of programs inside: some ask for their own name, which is the same
/// on all machines.
fn show_users(source: &Path, target: &Path) -> io::Result<()> {
    if let Some(folder) = target.parent() {
        make_folder(folder)?;
    }
    let mut users = format!("build:x:{INSIDE}:{INSIDE}::/:/bin/sh\n").into_bytes();
    users.extend(fs::read(source).map_err(|error| told("read", target, &error))?);
    fs::write(target, users).map_err(|error| told("write", target, &error))
}

/// Show the files of a cover in its folder.
fn cover(cover: &Cover, root: Option<&Path>, base: &Path) -> io::Result<()> {
    let inner = cover.folder.strip_prefix("/").unwrap_or(&cover.folder);
    let own = host(&root.unwrap_or(Path::new("/")).join(inner));
    let target = base.join(inner);
    // By a path without the signs that options are parted by.
    bind(&host(&cover.files), Path::new(COVER), true, false)?;
    let options = [b"lowerdir=", COVER.as_bytes(), b":", own.as_os_str().as_bytes()].concat();
    let options = CString::new(options)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::RDONLY;
    mount("overlay", &target, "overlay", flags, Some(options.as_c_str()))
        .map_err(|error| told("cover", &target, &error))?;
    unmount(COVER, UnmountFlags::DETACH)
        .map_err(|error| told("let go of", Path::new(COVER), &error))?;
    fs::remove_dir(COVER)?;
    for (name, shown) in &cover.kept {
        bind(&own.join(name), &target.join(shown), true, false)?;
    }
    Ok(())
}

/// A file system in memory of at most `bytes`.
fn memory(target: &Path, bytes: u64) -> io::Result<()> {
    make_folder(target)?;
    let options = CString::new(format!("mode=1777,size={bytes},nr_inodes=65536"))?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount("tmpfs", target, "tmpfs", flags, Some(options.as_c_str()))
        .map_err(|error| told("mount memory at", target, &error))
}

fn mount_proc(target: &Path, processes_only: bool) -> io::Result<()> {
    make_folder(target)?;
    let options = if processes_only { c"subset=pid" } else { c"" };
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC | MountFlags::RDONLY;
    mount("proc", target, "proc", flags, Some(options))
        .map_err(|error| told("mount", target, &error))
}

/// A `/dev` with the nodes of the profile.
fn make_nodes(binds: &[Bind], folder: &Path, profile: &Profile) -> io::Result<()> {
    memory(folder, 1 << 20)?;
    for one in binds.iter().filter(|bind| bind.device) {
        let target = folder.join(one.target.strip_prefix("/dev").unwrap_or(&one.target));
        bind(&host(&one.source), &target, false, true)?;
    }
    if profile.proc {
        for (name, to) in [
            ("fd", "/proc/self/fd"),
            ("stdin", "/proc/self/fd/0"),
            ("stdout", "/proc/self/fd/1"),
            ("stderr", "/proc/self/fd/2"),
        ] {
            symlink(to, folder.join(name)).map_err(|error| told("link", folder, &error))?;
        }
    }
    if profile.scratch > 0 {
        memory(&folder.join("shm"), profile.scratch)?;
    }
    system::restrict_mount(folder, true, true, false)
        .map_err(|error| told("restrict", folder, &error))
}

/// Let go of the host, and make what is left unchangeable.
fn finish(base: &Path) -> io::Result<()> {
    unmount(HOST, UnmountFlags::DETACH)
        .map_err(|error| told("let go of", Path::new("/"), &error))?;
    fs::remove_dir(HOST)?;
    system::restrict_mount(Path::new("/"), true, false, false)
        .map_err(|error| told("restrict", Path::new("/"), &error))?;
    if base.as_os_str().is_empty() {
        return Ok(());
    }
    rustix::process::chroot(base).map_err(|error| told("enter", base, &error))?;
    std::env::set_current_dir("/")
}

fn make_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path).map_err(|error| told("make", path, &error))
}

fn told(action: &str, path: &Path, error: &dyn std::fmt::Display) -> Error {
    Error::other(format!("cannot {action} {}: {error}", path.display()))
}
