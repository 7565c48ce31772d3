//! Looking at the processes of a sandbox from outside.

use std::time::Duration;

const PAGE_BYTES: u64 = 4096;

/// What processes use.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    pub(crate) resident_bytes: u64,
    /// Of the living, and of the ended whose parents among them have noticed.
    pub(crate) processor: Duration,
    pub(crate) threads: u64,
}

/// The living children of a process.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let mut all = Vec::new();
    for thread in threads.flatten() {
        match std::fs::read_to_string(thread.path().join("children")) {
            Ok(text) => {
                all.extend(text.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()))
            }
            // A kernel without that file, unless the thread has just ended.
            Err(_) if thread.path().exists() => return children_by_search(pid),
            Err(_) => {}
        }
    }
    all
}

fn children_by_search(parent: u32) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| Stat::read(*pid).is_some_and(|stat| stat.field(1) == u64::from(parent)))
        .collect()
}

/// The children of a process, theirs, and so on; more than `most` are not looked for, so that a program that starts
/// thousands is ended before they are counted.
pub(crate) fn descendants(pid: u32, most: usize) -> Vec<u32> {
    let mut all = children(pid);
    let mut at = 0;
    while at < all.len() && all.len() <= most {
        all.extend(children(all[at]));
        at += 1;
    }
    all.truncate(most.saturating_add(1));
    all
}

/// What the descendants of a process use, as [`descendants`] finds them.
pub(crate) fn usage_below(pid: u32, most: usize) -> Usage {
    let inside = descendants(pid, most);
    let mut usage = Usage { resident_bytes: memory_files(&inside), ..Usage::default() };
    for one in inside.into_iter().map(self::usage) {
        usage.resident_bytes += one.resident_bytes;
        usage.processor += one.processor;
        usage.threads += one.threads;
    }
    usage
}

/// Processor time of this process and of all that descend from it, workers inside sandboxes too: of
/// the living, and of those that have ended and were waited for.
#[must_use]
pub fn processor_time() -> Duration {
    let own = std::process::id();
    descendants(own, usize::MAX).into_iter().chain([own]).map(|pid| usage(pid).processor).sum()
}

/// What one process uses, and its children that have ended did.
pub(crate) fn usage(pid: u32) -> Usage {
    Stat::read(pid).map_or_else(Usage::default, |stat| stat.usage())
}

/// A line of `/proc/PID/stat`.
struct Stat(String);

impl Stat {
    fn read(pid: u32) -> Option<Stat> {
        std::fs::read_to_string(format!("/proc/{pid}/stat")).ok().map(Stat)
    }

    /// The name in parentheses may hold anything; fields count from behind it.
    fn field(&self, at: usize) -> u64 {
        let behind = self.0.rsplit_once(')').map_or("", |(_, behind)| behind);
        behind.split_whitespace().nth(at).and_then(|field| field.parse().ok()).unwrap_or(0)
    }

    fn usage(&self) -> Usage {
        // The kernel reports these in hundredths of a second on every Linux.
        let hundredths: u64 = (11..=14).map(|at| self.field(at)).sum();
        Usage {
            resident_bytes: self.field(21) * PAGE_BYTES,
            processor: Duration::from_millis(hundredths * 10),
            threads: self.field(17),
        }
    }
}

/// How long each thread of a living process was ready to run while no processor was free for it, by its number.
pub(crate) fn queued(pid: u32) -> Vec<(u32, Duration)> {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let of_thread = |thread: std::fs::DirEntry| {
        let number = thread.file_name().to_str()?.parse().ok()?;
        // Nanoseconds on a processor, nanoseconds in its queue, turns. A kernel may lack the file.
        let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        let queued = text.split_whitespace().nth(1)?.parse().ok()?;
        Some((number, Duration::from_nanos(queued)))
    };
    threads.flatten().filter_map(of_thread).collect()
}

/// Peak resident bytes of a living process.
pub(crate) fn peak_resident_bytes(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

/// Bytes of the files of memory that processes hold open: they count to nobody's resident memory.
pub(crate) fn memory_files(pids: &[u32]) -> u64 {
    use std::{fs, os::unix::fs::MetadataExt};
    let mut all = std::collections::BTreeMap::new();
    for pid in pids {
        for entry in fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten() {
            let path = entry.path();
            let target = fs::read_link(&path).unwrap_or_default();
            if target.as_os_str().as_encoded_bytes().starts_with(b"/memfd:")
                && let Ok(about) = fs::metadata(&path)
            {
                // Copies of a descriptor are of one file.
                all.insert(about.ino(), about.blocks() * 512);
            }
        }
    }
    all.values().sum()
}

/// Bytes on disk of the files under `folder`, links not followed; files that come and go meanwhile
/// count or not.
pub(crate) fn tree_bytes(folder: &std::path::Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let mut waiting = vec![folder.to_owned()];
    let mut blocks = 0;
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            blocks += metadata.blocks();
            if metadata.is_dir() {
                waiting.push(entry.path());
            }
        }
    }
    // `st_blocks` is in units of 512 bytes whatever the file system.
    blocks * 512
}
