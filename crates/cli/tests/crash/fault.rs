//! Faults of the machine: no room, nothing to write to, inputs that go, no memory, tools that are killed.

use crate::{
    home::{Ended, Home, Running, Straight, orphans, processes, run_by},
    stage::Stage,
};
use std::{fs, path::Path, process::Command, time::Duration};

/// How the runs under a fault ended; `None` where it does not concern the stage.
type Suffered = Result<Option<Vec<Ended>>, String>;

/// One way in which a machine fails a command. What it does is undone before the second run.
pub(crate) struct Fault {
    pub(crate) name: &'static str,
    /// Run the command with it.
    run: fn(&Home, &Stage, &Straight) -> Suffered,
}

pub(crate) const FAULTS: &[Fault] = &[
    Fault { name: "full-tmpdir", run: full_tmpdir },
    Fault { name: "full-out", run: full_out },
    Fault { name: "read-only-out", run: read_only_out },
    Fault { name: "vanishing-input", run: vanishing_input },
    Fault { name: "no-memory", run: no_memory },
    Fault { name: "killed-tools", run: killed_tools },
];

pub(crate) fn named(name: &str) -> Option<&'static Fault> {
    FAULTS.iter().find(|fault| fault.name == name)
}

/// Run a stage under a fault, then without: the rows are those of a run that knew of no fault.
pub(crate) fn suffer(stage: &Stage, fault: &Fault) -> Result<String, String> {
    let home = Home::new(stage);
    let straight = Straight::of(&home, stage)?;
    let Some(all) = (fault.run)(&home, stage, &straight)? else {
        return Ok("does not concern it".into());
    };
    let orphans = orphans();
    if !orphans.is_empty() {
        return Err(format!("still running: {}", orphans.join(", ")));
    }
    for ended in &all {
        is_clear(ended)?;
    }
    let first = all.last().map(Ended::told).unwrap_or_default();
    let whole = all.last().is_some_and(|ended| ended.status.success());
    if !whole {
        let ended = home.run(stage, &[])?;
        if !ended.status.success() {
            return Err(format!("afterwards: {}; before: {first}", ended.told()));
        }
    }
    home.compare(stage, &straight).map_err(|problem| format!("{problem}; before: {first}"))?;
    let left = home.leftovers(stage).len();
    // What is kept of the results must be right, too: the same again from the cache alone.
    for name in ["made", "scratch"] {
        let folder = home.path().join(name);
        // Where the fault was a small file system it goes with what is on it.
        run_by(&format!("umount -l {} 2>/dev/null", folder.display()));
        let emptied = fs::remove_dir_all(&folder).and_then(|()| fs::create_dir(&folder));
        emptied.map_err(|error| error.to_string())?;
    }
    home.run_well(stage)?;
    home.compare(stage, &straight).map_err(|problem| format!("from the cache: {problem}"))?;
    let how = if whole { "went well nonetheless" } else { "a clear error" };
    Ok(format!("{how}; {} rows equal afterwards, {left} leftovers", straight.rows.len()))
}

/// A failure has status 2 and says what is wrong. An abort for want of memory is the one other end: the
/// allocator's message is then the last word.
fn is_clear(ended: &Ended) -> Result<(), String> {
    use std::os::unix::process::ExitStatusExt;
    let starved = ended.status.signal() == Some(6) && ended.said.contains("memory allocation of");
    let is_failure = ended.status.code() == Some(2) && ended.said.contains("stampmill: ");
    match ended.status.success() || is_failure || starved {
        true if ended.said.contains("panicked") => Err(format!("a panic: {}", ended.told())),
        true => Ok(()),
        false => Err(format!("no clear error: {}", ended.told())),
    }
}

fn mount(options: &str, folder: &Path) -> Result<(), String> {
    let mut command = Command::new("mount");
    command.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(folder);
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        other => Err(format!("a small file system cannot be mounted: {other:?}")),
    }
}

fn full_tmpdir(home: &Home, stage: &Stage, _: &Straight) -> Suffered {
    let scratch = home.path().join("scratch");
    let mut all = Vec::new();
    for size in ["size=4k", "size=32k", "size=256k"] {
        mount(size, &scratch)?;
        let ended = home.run(stage, &[]);
        run_by(&format!("umount -l {}", scratch.display()));
        all.push(ended?);
        if all.last().is_some_and(|ended| ended.status.success()) {
            break;
        }
    }
    Ok(Some(all))
}

fn full_out(home: &Home, stage: &Stage, _: &Straight) -> Suffered {
    let made = home.path().join("made");
    mount("size=8k", &made)?;
    let ended = home.run(stage, &[])?;
    // Small results find room in what is left.
    if !ended.status.success() && !ended.said.to_lowercase().contains("no space left") {
        return Err(format!("does not say what is full: {}", ended.told()));
    }
    run_by(&format!("mount -o remount,size=1g {}", made.display()));
    Ok(Some(vec![ended]))
}

fn read_only_out(home: &Home, stage: &Stage, _: &Straight) -> Suffered {
    let made = home.path().join("made");
    mount("ro", &made)?;
    let ended = home.run(stage, &[])?;
    if ended.status.success() || !ended.said.to_lowercase().contains("read-only file system") {
        return Err(format!("does not say what is read-only: {}", ended.told()));
    }
    run_by(&format!("umount -l {}", made.display()));
    Ok(Some(vec![ended]))
}

fn vanishing_input(home: &Home, stage: &Stage, straight: &Straight) -> Suffered {
    if stage.reads.is_empty() {
        return Ok(None);
    }
    let (there, gone) = (home.path().join(stage.reads), home.path().join("gone"));
    let mut all = Vec::new();
    for share in [0.15, 0.5] {
        let running = home.start(stage, &[]).map_err(|error| error.to_string())?;
        std::thread::sleep(straight.took.mul_f64(share));
        fs::rename(&there, &gone).map_err(|error| error.to_string())?;
        let ended = running.end();
        fs::rename(&gone, &there).map_err(|error| error.to_string())?;
        let ended = ended?;
        // A source that was gone before a file of it was read has a verdict, which is counted.
        if ended.status.code() == Some(1) && has_failed_source(home) {
            continue;
        }
        all.push(ended);
        if all.last().is_some_and(|ended| ended.status.success()) {
            break;
        }
    }
    Ok(Some(all))
}

fn has_failed_source(home: &Home) -> bool {
    let manifest = fs::read(home.path().join("made/out/_dataset.json")).unwrap_or_default();
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap_or_default();
    manifest["summary"]["failed_sources"] == 1
}

fn no_memory(home: &Home, stage: &Stage, _: &Straight) -> Suffered {
    let mut all = Vec::new();
    for mebibytes in [256, 384, 512] {
        let limit = format!("--as={}", mebibytes << 20);
        all.push(home.run(stage, &["prlimit", &limit])?);
        if all.last().is_some_and(|ended| ended.status.success()) {
            break;
        }
    }
    Ok(Some(all))
}

/// Kill our workers, one at a time, all along: by their numbers, never the command itself. Foreign
/// programs are not among them: whether one was killed or killed itself cannot be told.
fn killed_tools(home: &Home, stage: &Stage, straight: &Straight) -> Suffered {
    let mut running = home.start(stage, &[]).map_err(|error| error.to_string())?;
    let main = running.child.id();
    // The wrapper in a build is inside of it, where the build itself may kill it.
    let is_worker = |(name, pid): &(String, u32)| {
        let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let is_reader = command.split(|byte| *byte == 0).any(|word| word == b"worker");
        *pid != main && (name.starts_with("stampmill-") || is_reader)
    };
    let mut killed = 0;
    for _ in 0..6 {
        std::thread::sleep(straight.took.mul_f64(0.12));
        if running.has_ended() {
            break;
        }
        if let Some((_, pid)) = processes().into_iter().rev().find(is_worker) {
            run_by(&format!("kill -KILL {pid}"));
            killed += 1;
        }
    }
    let ended = Running::end(running)?;
    std::thread::sleep(Duration::from_millis(10));
    Ok((killed > 0).then(|| vec![ended]))
}
