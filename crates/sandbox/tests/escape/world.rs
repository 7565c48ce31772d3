//! What is around an attack: all that it must not touch, and how that is looked at from outside.

use rustix::{
    fs::XattrFlags,
    io::{FdFlags, fcntl_setfd},
    process::{Resource, getrlimit},
};
use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, BufRead, BufReader, Write},
    net::{TcpListener, UdpSocket},
    os::{
        linux::net::SocketAddrExt,
        unix::{
            fs::{MetadataExt, PermissionsExt, symlink},
            net::{SocketAddr, UnixDatagram, UnixListener},
        },
    },
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::Mutex,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// Files, listeners and a stranger's process, all open to everybody who gets near them.
pub(crate) struct World {
    root: PathBuf,
    name: String,
    ears: Option<Ears>,
    victim: Option<Mutex<Victim>>,
    /// Open across `exec` on purpose: programs must not inherit it.
    _leaked: Option<File>,
    _folder: Option<TempDir>,
}

struct Ears {
    tcp: TcpListener,
    udp: UdpSocket,
    path: UnixListener,
    readable: UnixListener,
    names: UnixListener,
    datagrams: UnixDatagram,
}

struct Victim {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    facts: Vec<(String, String)>,
}

/// What was seen, by what it is about.
pub(crate) struct State(BTreeMap<String, String>);

impl State {
    pub(crate) fn differences(&self, after: &State) -> Vec<String> {
        let names = self.0.keys().chain(after.0.keys().filter(|name| !self.0.contains_key(*name)));
        let changed = names.filter(|name| self.0.get(*name) != after.0.get(*name));
        let none = String::from("nothing");
        let told = |state: &State, name: &String| state.0.get(name).unwrap_or(&none).clone();
        changed
            .map(|name| {
                let (was, is) = (told(self, name), told(after, name));
                // Long texts that begin alike.
                let same = was.bytes().zip(is.bytes()).take_while(|(one, other)| one == other);
                let from = same.count().saturating_sub(20);
                let tail = |text: &str| -> String { text.chars().skip(from).take(120).collect() };
                format!("changed: {name}\n  was ...{}\n  is ...{}", tail(&was), tail(&is))
            })
            .collect()
    }
}

impl World {
    /// A world in which the attack of that name lies ready.
    pub(crate) fn new(programs: &Path, attack: &str) -> Result<World, String> {
        let told = |error: io::Error| format!("the world cannot be made: {error}");
        let folder = tempfile::tempdir().map_err(told)?;
        let mut world = World {
            root: folder.path().to_owned(),
            name: folder.path().file_name().unwrap_or_default().to_string_lossy().into_owned(),
            ears: None,
            victim: None,
            _leaked: None,
            _folder: Some(folder),
        };
        world.fill(programs, attack).map_err(told)?;
        Ok(world)
    }

    /// The paths of a world that another process made.
    pub(crate) fn of(root: &Path) -> World {
        let name = root.file_name().unwrap_or_default().to_string_lossy().into_owned();
        World { root: root.into(), name, ears: None, victim: None, _leaked: None, _folder: None }
    }

    fn fill(&mut self, programs: &Path, attack: &str) -> io::Result<()> {
        let anybody =
            |path: &Path, mode: u32| fs::set_permissions(path, fs::Permissions::from_mode(mode));
        anybody(&self.root, 0o777)?;
        for folder in ["outside", "outside/empty", "own", "writable"] {
            fs::create_dir(self.root.join(folder))?;
            anybody(&self.root.join(folder), 0o777)?;
        }
        for file in ["outside/sentinel", "outside/secret.txt", "own/readable.txt"] {
            let path = self.root.join(file);
            fs::write(&path, "unchanged\n")?;
            anybody(&path, 0o666)?;
            // Where the file system keeps none there is none to be removed.
            let _ = rustix::fs::setxattr(&path, "user.kept", b"kept", XattrFlags::empty());
        }
        symlink("/etc/passwd", self.outside().join("link"))?;
        fs::copy(programs.join(attack), self.own().join("attack"))?;
        anybody(&self.own().join("attack"), 0o777)?;
        // Bytes of queues count to the user, in all namespaces together.
        for (name, least) in [("msg_default", "1"), ("msgsize_default", "128")] {
            let _ = fs::write(format!("/proc/sys/fs/mqueue/{name}"), least);
        }
        let queues = self.root.join("queues");
        fs::create_dir(&queues)?;
        let mounted = Command::new("mount").args(["-t", "mqueue", "none"]).arg(&queues).status()?;
        if !mounted.success() {
            return Err(io::Error::other("the file system of message queues cannot be mounted"));
        }
        fs::write(queues.join("escape"), "")?;
        anybody(&queues.join("escape"), 0o666)?;

        let name = SocketAddr::from_abstract_name(format!("escape-{}", self.name))?;
        let ears = Ears {
            tcp: TcpListener::bind("127.0.0.1:0")?,
            udp: UdpSocket::bind("127.0.0.1:0")?,
            path: UnixListener::bind(self.outside().join("socket"))?,
            readable: UnixListener::bind(self.own().join("socket"))?,
            names: UnixListener::bind_addr(&name)?,
            datagrams: UnixDatagram::bind(self.outside().join("datagrams"))?,
        };
        ears.tcp.set_nonblocking(true)?;
        ears.udp.set_nonblocking(true)?;
        ears.datagrams.set_nonblocking(true)?;
        for listener in [&ears.path, &ears.readable, &ears.names] {
            listener.set_nonblocking(true)?;
        }
        for socket in ["outside/socket", "outside/datagrams", "own/socket"] {
            anybody(&self.root.join(socket), 0o777)?;
        }
        self.ears = Some(ears);
        self.victim =
            Some(Mutex::new(Victim::start(&programs.join("victim"), &self.shared_name())?));
        let leaked =
            File::options().read(true).write(true).open(self.outside().join("secret.txt"))?;
        fcntl_setfd(&leaked, FdFlags::empty())?;
        self._leaked = Some(leaked);
        Ok(())
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn own(&self) -> PathBuf {
        self.root.join("own")
    }

    pub(crate) fn writable(&self) -> PathBuf {
        self.root.join("writable")
    }

    fn outside(&self) -> PathBuf {
        self.root.join("outside")
    }

    fn shared_name(&self) -> String {
        format!("/escape-{}", self.name)
    }

    /// What attacks are told: where all is that they must not reach.
    pub(crate) fn facts(&self) -> Vec<(String, String)> {
        let path = |name: &str| self.root.join(name).display().to_string();
        let mut facts: Vec<(String, String)> = [
            ("OUTSIDE", path("outside")),
            ("SENTINEL", path("outside/sentinel")),
            ("OWN", path("own")),
            ("WRITABLE", path("writable")),
            ("LISTEN_PATH", path("outside/socket")),
            ("LISTEN_DATAGRAM", path("outside/datagrams")),
            ("LISTEN_READABLE", path("own/socket")),
            ("LISTEN_ABSTRACT", format!("escape-{}", self.name)),
            ("POSIX_MEMORY", self.shared_name()),
            ("QUEUE", "/escape".to_owned()),
            ("RUNNER", std::process::id().to_string()),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
        if let Some(ears) = &self.ears {
            let tcp = ears.tcp.local_addr().map(|address| address.port());
            let udp = ears.udp.local_addr().map(|address| address.port());
            facts.push(("TCP".into(), tcp.unwrap_or(0).to_string()));
            facts.push(("UDP".into(), udp.unwrap_or(0).to_string()));
        }
        if let Some(victim) = &self.victim {
            let victim = victim.lock().expect("no thread panics with the lock held");
            facts.push(("VICTIM".into(), victim.child.id().to_string()));
            facts.extend(victim.facts.iter().cloned());
        }
        facts
    }

    /// Everything that an attack could have changed.
    pub(crate) fn state(&self) -> Result<State, String> {
        let mut all = BTreeMap::new();
        for folder in ["outside", "own"] {
            see_files(&self.root.join(folder), &mut all).map_err(|error| error.to_string())?;
        }
        let names = |folder: &str| -> Vec<String> {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            let mut names: Vec<String> =
                entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
            names.sort();
            names
        };
        let queues = self.root.join("queues");
        all.insert("message queues".into(), format!("{:?}", names(&queues.to_string_lossy())));
        let queue = fs::read_to_string(queues.join("escape")).unwrap_or_default();
        all.insert("the message queue".into(), queue);
        let shared = self.shared_name();
        let mine = names("/dev/shm")
            .into_iter()
            .filter(|name| shared.ends_with(name.as_str()) || name.contains(&shared[1..]));
        all.insert("named memory".into(), format!("{:?}", mine.collect::<Vec<_>>()));
        for kind in ["shm", "msg", "sem"] {
            // Keys and identifiers; the times behind them are the victim's own.
            let text = fs::read_to_string(format!("/proc/sysvipc/{kind}")).unwrap_or_default();
            let ids = text.lines().map(|line| line.split_whitespace().take(2).collect::<Vec<_>>());
            all.insert(format!("System V {kind}"), format!("{:?}", ids.collect::<Vec<_>>()));
        }
        all.insert(
            "name of the machine".into(),
            fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default(),
        );
        all.insert("the runner".into(), process(std::process::id()));
        all.insert("limits of the runner".into(), format!("{:?}", getrlimit(Resource::Nofile)));
        let victim = self.victim.as_ref().ok_or("no victim")?;
        let mut victim = victim.lock().map_err(|error| error.to_string())?;
        let begun = Instant::now();
        let mut seen = process(victim.child.id());
        // It goes back to sleep when it has answered.
        while ["R (running)", "D (disk sleep)"].iter().any(|state| seen.contains(state))
            && begun.elapsed() < Duration::from_secs(5)
        {
            std::thread::sleep(Duration::from_millis(1));
            seen = process(victim.child.id());
        }
        let asleep = seen.contains("S (sleeping)");
        all.insert("the victim from outside".into(), seen);
        // One that is stopped or dead does not answer.
        let own = if asleep {
            victim.answer().map_err(|error| error.to_string())?
        } else {
            "no answer".into()
        };
        all.insert("the victim's own view".into(), own);
        Ok(State(all))
    }

    /// What the listeners heard: nothing, or it was an escape.
    pub(crate) fn heard(&self) -> Vec<String> {
        let Some(ears) = &self.ears else { return Vec::new() };
        let mut buffer = [0; 16];
        let heard = [
            ("TCP", ears.tcp.accept().is_ok()),
            ("UDP", ears.udp.recv(&mut buffer).is_ok()),
            ("a socket outside", ears.path.accept().is_ok()),
            ("a socket in its folder", ears.readable.accept().is_ok()),
            ("an abstract socket", ears.names.accept().is_ok()),
            ("datagrams", ears.datagrams.recv(&mut buffer).is_ok()),
        ];
        let loud = heard.into_iter().filter(|(_, heard)| *heard);
        loud.map(|(name, _)| format!("heard on {name}")).collect()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if self._folder.is_some() {
            // Else its folder cannot be removed; with the namespace the mount goes anyway.
            let _ = Command::new("umount").arg(self.root.join("queues")).status();
            let _ = fs::remove_file(format!("/dev/shm{}", self.shared_name()));
        }
    }
}

impl Victim {
    fn start(program: &Path, shared: &str) -> io::Result<Victim> {
        let mut child = Command::new(program)
            .arg(shared)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let none = || io::Error::other("the victim has no pipes");
        let stdin = child.stdin.take().ok_or_else(none)?;
        let mut stdout = BufReader::new(child.stdout.take().ok_or_else(none)?);
        let mut line = String::new();
        stdout.read_line(&mut line)?;
        let facts: Vec<(String, String)> = line
            .split_whitespace()
            .filter_map(|fact| fact.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        if facts.is_empty() {
            return Err(io::Error::other("the victim cannot make its objects"));
        }
        Ok(Victim { child, stdin, stdout, facts })
    }

    fn answer(&mut self) -> io::Result<String> {
        self.stdin.write_all(b"look\n")?;
        let mut line = String::new();
        self.stdout.read_line(&mut line)?;
        Ok(line)
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        // One that was stopped would not see the end of its input; System V objects end with the
        // namespace.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Content, mode, owner, times, links and attributes of all under `folder`.
fn see_files(folder: &Path, into: &mut BTreeMap<String, String>) -> io::Result<()> {
    let mut waiting = vec![folder.to_owned()];
    while let Some(path) = waiting.pop() {
        let about = fs::symlink_metadata(&path)?;
        let mut names = vec![0; 1024];
        let length = rustix::fs::llistxattr(&path, &mut names[..]).unwrap_or(0);
        names.truncate(length);
        let flags = File::open(&path).ok().and_then(|file| rustix::fs::ioctl_getflags(file).ok());
        let content = match about.is_file() && about.len() < 4096 {
            true => String::from_utf8_lossy(&fs::read(&path)?).into_owned(),
            false => about.len().to_string(),
        };
        let seen = format!(
            "{content:?}, mode {:o}, owner {}:{}, {} links, written {}.{}, changed {}.{}, {:?}, {flags:?}",
            about.mode(),
            about.uid(),
            about.gid(),
            about.nlink(),
            about.mtime(),
            about.mtime_nsec(),
            about.ctime(),
            about.ctime_nsec(),
            String::from_utf8_lossy(&names),
        );
        into.insert(path.display().to_string(), seen);
        if about.is_dir() {
            waiting.extend(fs::read_dir(&path)?.flatten().map(|entry| entry.path()));
        }
    }
    Ok(())
}

/// What the kernel tells of a process that others can change.
fn process(pid: u32) -> String {
    let read = |file: &str| fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let status = read("status");
    let wanted = ["State", "SigPnd", "ShdPnd", "Cpus_allowed:", "Uid", "TracerPid", "Seccomp:"];
    let lines = status.lines().filter(|line| wanted.iter().any(|wanted| line.starts_with(wanted)));
    let is_own = pid == std::process::id();
    let lines: Vec<&str> = lines.filter(|line| !(is_own && line.starts_with("State"))).collect();
    let stat = read("stat");
    let behind = stat.rsplit_once(')').map_or("", |(_, behind)| behind);
    let fields: Vec<&str> = behind.split_whitespace().collect();
    // Group, session, terminal; priority and nice.
    let wanted: Vec<&str> =
        [2, 3, 4, 15, 16].iter().filter_map(|at| fields.get(*at).copied()).collect();
    let files = ["limits", "oom_score_adj", "comm", "timerslack_ns", "coredump_filter"];
    format!("{lines:?} {wanted:?} {:?}", files.map(read))
}

/// Living processes of this namespace that are neither ours nor the victim.
pub(crate) fn others(world: &World) -> Vec<String> {
    let victim = world.victim.as_ref().and_then(|victim| victim.lock().ok().map(|v| v.child.id()));
    let own = std::process::id();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let strangers = pids.filter(|pid| *pid != 1 && *pid != own && Some(*pid) != victim);
    let named = strangers.filter_map(|pid| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (head, behind) = stat.rsplit_once(')')?;
        let name = head.split_once('(').map_or("", |(_, name)| name);
        // The dead that nobody has asked about do nothing more.
        (!behind.trim_start().starts_with(['Z', 'X'])).then(|| format!("{name} ({pid})"))
    });
    named.collect()
}
