//! Looking at, and ending, a group of processes.

use rustix::process::{Pid, Signal, kill_process_group};
use std::time::Duration;

const PAGE_BYTES: u64 = 4096;

/// What a group of processes uses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    pub(crate) resident_bytes: u64,
    /// Of the living, and of the ended whose parents among them have noticed.
    pub(crate) processor: Duration,
}

/// What the processes of group `group` use.
pub(crate) fn group_usage(group: u32) -> Usage {
    let mut usage = Usage::default();
    let Ok(entries) = std::fs::read_dir("/proc") else { return usage };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    for stat in pids.filter_map(Stat::read).filter(|stat| stat.field(2) == u64::from(group)) {
        let one = stat.usage();
        usage.resident_bytes += one.resident_bytes;
        usage.processor += one.processor;
    }
    usage
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
        }
    }
}

/// Processor seconds (user, system) of an ended but unreaped process, its reaped children included.
pub(crate) fn processor_seconds(pid: u32) -> (f64, f64) {
    let read = || -> Option<(f64, f64)> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
        // The kernel reports these in hundredths of a second on every Linux.
        Some(((ticks(11)? + ticks(13)?) / 100.0, (ticks(12)? + ticks(14)?) / 100.0))
    };
    read().unwrap_or((0.0, 0.0))
}

/// Peak resident bytes of a living process.
pub(crate) fn peak_resident_bytes(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

/// Kill every process of group `group`.
pub(crate) fn kill_group(group: u32) {
    if let Some(pid) = i32::try_from(group).ok().and_then(Pid::from_raw) {
        // There may be nobody left to kill.
        let _ = kill_process_group(pid, Signal::KILL);
    }
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
