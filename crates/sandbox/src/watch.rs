//! Looking at, and ending, a group of processes.

use rustix::process::{Pid, Signal, kill_process_group};

const PAGE_BYTES: u64 = 4096;

/// Resident bytes of the processes of group `group`.
pub(crate) fn group_resident_bytes(group: u32) -> u64 {
    let Ok(entries) = std::fs::read_dir("/proc") else { return 0 };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter_map(|pid| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            // The name in parentheses may hold anything; fields count from behind it.
            let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
            let group_of = fields.nth(2)?.parse::<u32>().ok()?;
            (group_of == group).then_some(())?;
            fields.nth(18)?.parse::<u64>().ok()
        })
        .sum::<u64>()
        * PAGE_BYTES
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
