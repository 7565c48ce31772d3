use serde::{Deserialize, Serialize};
use std::{path::PathBuf, time::Duration};

/// Which memory is counted against the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Memory {
    /// Bytes of address space, enforced by the kernel at every allocation.
    AddressSpace(u64),
    /// Bytes resident in the whole process group, watched by the parent: for programs that
    /// reserve far more than they use (GPU drivers, emulators).
    Resident(u64),
}

/// What a worker may do.
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
    /// Where it may write; empty: nowhere.
    pub writable: Vec<PathBuf>,
    /// What it may read; `None`: everything.
    pub readable: Option<Vec<PathBuf>>,
    /// Whether it may open network sockets.
    pub network: bool,
    /// Whether it may start processes of its own.
    pub processes: bool,
    /// A folder and the bytes that may lie in it, watched by the parent; of a program, which ends
    /// by [`Death::Output`](crate::Death::Output) when there are more.
    pub tree: Option<(PathBuf, u64)>,
    /// The folder that is `/` for it, entered before anything else; of a program, and for root.
    pub root: Option<PathBuf>,
}

const MIB: u64 = 1 << 20;

impl Profile {
    /// For clang: 3 GiB of address space, 10 s a program, no files, no network.
    #[must_use]
    pub fn clang() -> Profile {
        Profile {
            name: "clang".into(),
            memory: Memory::AddressSpace(3072 * MIB),
            processor: Duration::from_secs(10),
            output_bytes: 256 * MIB,
            writable: Vec::new(),
            readable: None,
            network: false,
            processes: false,
            tree: None,
            root: None,
        }
    }

    /// For OpenCL drivers: resident memory, scratch for their caches, processes allowed because
    /// drivers call linkers and compilers.
    #[must_use]
    pub fn device(scratch: PathBuf) -> Profile {
        Profile {
            name: "device".into(),
            memory: Memory::Resident(8192 * MIB),
            processor: Duration::from_secs(600),
            output_bytes: 1024 * MIB,
            writable: vec![scratch, "/dev".into()],
            readable: None,
            network: false,
            processes: true,
            tree: None,
            root: None,
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
            writable: Vec::new(),
            readable: None,
            network: false,
            processes: false,
            tree: None,
            root: None,
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
            writable: vec![tree, "/dev/null".into(), "/dev/tty".into()],
            readable: None,
            network: fetching,
            processes: true,
            tree: None,
            root: None,
        }
    }
}
