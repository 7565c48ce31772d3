use serde::{Deserialize, Serialize};
use std::{path::PathBuf, time::Duration};

/// Which memory is counted against the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Memory {
    /// Bytes of address space, enforced by the kernel at every allocation.
    AddressSpace(u64),
    /// Bytes resident in all processes of the sandbox, watched by the parent: for programs that
    /// reserve far more than they use (GPU drivers, emulators).
    Resident(u64),
}

/// Which system calls are allowed; every other one is answered with `ENOSYS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Calls {
    /// Memory, time, threads and open descriptors; files are opened for reading only.
    Compute,
    /// Those, and files are created, changed and removed.
    Files,
    /// Those, and what drivers of devices need.
    Driver,
    /// Those of files, and owners, modes, System V objects and pairs of sockets: build systems.
    Build,
}

/// What a worker or a program may do. Whatever is not listed is denied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// Its name in results.
    pub name: String,
    /// Memory limit.
    pub memory: Memory,
    /// Processor time per request (for a program: in all), in whole seconds.
    pub processor: Duration,
    /// Bytes of one answer; for a program, of standard output and of any file it writes.
    pub output_bytes: u64,
    /// Where it may write.
    pub writable: Vec<PathBuf>,
    /// What it may read besides the system's libraries and programs.
    pub readable: Vec<PathBuf>,
    /// Nodes of `/dev` that it may open besides `null`, `zero`, `full`, `random` and `urandom`.
    pub devices: Vec<PathBuf>,
    /// Bytes of its private `/tmp`, which is gone with it; 0: there is none.
    pub scratch: u64,
    /// Whether it sees a `/proc`, with its own processes only.
    pub proc: bool,
    /// Whether it sees the machine's `/sys` and the settings in `/etc` that programs need to find
    /// users, hosts and certificates.
    pub settings: bool,
    /// System calls.
    pub calls: Calls,
    /// Whether it may open network sockets.
    pub network: bool,
    /// Processes that it may have at a time; 1: it may start none.
    pub processes: u32,
    /// A folder and the bytes that may lie in it, watched by the parent; of a program, which ends
    /// by [`Death::Output`](crate::Death::Output) when there are more.
    pub tree: Option<(PathBuf, u64)>,
    /// The folder that is `/` for it; of a program. Paths of `readable` and `writable` are inside.
    pub root: Option<PathBuf>,
    /// Files that it sees in the place of others; of a program.
    pub covers: Vec<Cover>,
}

/// Files that are seen in a folder in the place of the folder's own of the same names, and beside the others: an overlay,
/// which is only read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cover {
    /// The folder, by a path without links, as the program names it.
    pub folder: PathBuf,
    /// Where the files lie, on the host.
    pub files: PathBuf,
    /// Names of files of the folder that can be had nevertheless, and the names by which they are; each of these is one
    /// of `files`.
    pub kept: Vec<(String, String)>,
}

const MIB: u64 = 1 << 20;

impl Profile {
    /// For clang: 3 GiB of address space, 10 s a program, no files, no network.
    #[must_use]
    pub fn clang() -> Profile {
        Profile {
            name: "clang".into(),
            memory: Memory::AddressSpace(3072 * MIB),
            output_bytes: 256 * MIB,
            processor: Duration::from_secs(10),
            ..Profile::nothing()
        }
    }

    /// For OpenCL drivers: resident memory, a private `/tmp` for their caches, processes allowed
    /// because drivers call linkers and compilers.
    #[must_use]
    pub fn device() -> Profile {
        Profile {
            name: "device".into(),
            memory: Memory::Resident(8192 * MIB),
            processor: Duration::from_secs(600),
            output_bytes: 1024 * MIB,
            scratch: 1024 * MIB,
            proc: true,
            settings: true,
            calls: Calls::Driver,
            processes: 128,
            ..Profile::nothing()
        }
    }

    /// For foreign native programs and emulators: resident memory, nothing written.
    #[must_use]
    pub fn native() -> Profile {
        Profile {
            name: "native".into(),
            memory: Memory::Resident(2048 * MIB),
            processor: Duration::from_secs(60),
            output_bytes: 64 * MIB,
            ..Profile::nothing()
        }
    }

    /// For compilers and linkers on a foreign source in `folder`: it, the system's headers and
    /// libraries, and nothing else.
    #[must_use]
    pub fn compile(folder: PathBuf) -> Profile {
        Profile {
            name: "compile".into(),
            memory: Memory::Resident(4096 * MIB),
            processor: Duration::from_secs(60),
            output_bytes: 256 * MIB,
            tree: Some((folder.clone(), 1024 * MIB)),
            writable: vec![folder],
            scratch: 1024 * MIB,
            calls: Calls::Files,
            processes: 32,
            ..Profile::nothing()
        }
    }

    /// For build systems: their own tree, and the network only when `fetching`.
    #[must_use]
    pub fn build(tree: PathBuf, fetching: bool) -> Profile {
        Profile {
            name: "build".into(),
            memory: Memory::Resident(8192 * MIB),
            processor: Duration::from_secs(3600),
            output_bytes: 4096 * MIB,
            writable: vec![tree],
            readable: crate::tool_folders(),
            scratch: 4096 * MIB,
            proc: true,
            settings: true,
            calls: Calls::Build,
            network: fetching,
            processes: 4096,
            ..Profile::nothing()
        }
    }

    /// The least there is: what the others are made from.
    fn nothing() -> Profile {
        Profile {
            name: "nothing".into(),
            memory: Memory::Resident(256 * MIB),
            processor: Duration::from_secs(10),
            output_bytes: MIB,
            writable: Vec::new(),
            readable: Vec::new(),
            devices: Vec::new(),
            scratch: 0,
            proc: false,
            settings: false,
            calls: Calls::Compute,
            network: false,
            processes: 1,
            tree: None,
            root: None,
            covers: Vec::new(),
        }
    }
}
