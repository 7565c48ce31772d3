use crate::{Death, Memory, Profile, companion, death, watch};
use rustix::process::{WaitId, WaitIdOptions, waitid};
use std::{
    ffi::OsString,
    io::{Read, Write},
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

const TICK: Duration = Duration::from_millis(5);
/// The same for builds, which are long and have many processes to look at.
const BUILD_TICK: Duration = Duration::from_millis(100);
/// How often the size of a tree is taken: that costs a look at every file.
const TREE_TICK: Duration = Duration::from_secs(2);
const START_FAILED: i32 = 127;

/// A foreign program to be run once.
#[derive(Clone, Debug)]
pub struct Program {
    /// Program and arguments.
    pub command: Vec<OsString>,
    /// Its whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Where it runs.
    pub directory: Option<PathBuf>,
    /// What it reads on standard input.
    pub stdin: Vec<u8>,
    /// Wall-clock limit.
    pub wall: Duration,
}

/// How a foreign program ended.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Its exit status where it left by itself with one, 0 included.
    pub status: Option<i32>,
    /// Set where a limit or a signal ended it.
    pub death: Option<Death>,
    /// What it wrote, at most the profile's `output_bytes`.
    pub stdout: Vec<u8>,
    /// The same for standard error.
    pub stderr: Vec<u8>,
    /// Wall-clock time.
    pub wall: Duration,
    /// Processor seconds in user mode.
    pub user_seconds: f64,
    /// Processor seconds in the kernel.
    pub system_seconds: f64,
    /// Largest resident memory seen of its main process.
    pub peak_bytes: u64,
}

/// Run `program` to its end under `profile`.
///
/// # Errors
/// Only when it could not be started; everything that happens to a started program is in
/// [`Finished`].
pub fn run(program: &Program, profile: &Profile) -> Result<Finished, Death> {
    let launcher = companion("benchstone-launch")
        .ok_or_else(|| Death::Start("benchstone-launch is not beside this program".into()))?;
    let profile_text = serde_json::to_string(profile).map_err(|e| Death::Start(e.to_string()))?;
    let mut command = Command::new(launcher);
    command
        .arg(profile_text)
        .args(&program.command)
        .env_clear()
        .envs(program.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    if let Some(directory) = &program.directory {
        command.current_dir(directory);
    }
    let started = Instant::now();
    let mut child = command.spawn().map_err(|error| Death::Start(error.to_string()))?;
    let id = child.id();
    let mut stdin = child.stdin.take().expect("standard input was asked for");
    let stdout = child.stdout.take().expect("standard output was asked for");
    let stderr = child.stderr.take().expect("standard error was asked for");
    let limit = profile.output_bytes;
    let (death, user_seconds, system_seconds, peak_bytes, out, err) = std::thread::scope(|scope| {
        // A program may leave without reading its input: a broken pipe is its affair.
        scope.spawn(move || stdin.write_all(&program.stdin));
        let out = scope.spawn(move || capture(stdout, limit, id));
        let err = scope.spawn(move || capture(stderr, limit, id));
        let (death, peak) = supervise(id, started + program.wall, program.wall, profile);
        let (user, system) = watch::processor_seconds(id);
        // Children that outlive it would keep the pipes open.
        watch::kill_group(id);
        let out = out.join().expect("reading does not panic");
        let err = err.join().expect("reading does not panic");
        (death, user, system, peak, out, err)
    });
    let wall = started.elapsed();
    let status = child.wait().map_err(|error| Death::Start(error.to_string()))?;
    let (stdout, too_much) = out;
    let (stderr, too_loud) = err;
    if status.code() == Some(START_FAILED) && stderr.starts_with(b"benchstone-launch:") {
        return Err(Death::Start(String::from_utf8_lossy(&stderr).trim().to_owned()));
    }
    let death = if too_much || too_loud { Some(Death::Output) } else { death };
    let death = death.or_else(|| match status.code() {
        Some(_) => None,
        None => death::from_status(status, &stderr),
    });
    let status = status.code();
    Ok(Finished { status, death, stdout, stderr, wall, user_seconds, system_seconds, peak_bytes })
}

/// Wait until the process has ended (without reaping it), enforcing what the kernel does not.
fn supervise(
    id: u32,
    deadline: Instant,
    wall: Duration,
    profile: &Profile,
) -> (Option<Death>, u64) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(id).unwrap_or(0));
    let Some(pid) = pid else { return (None, 0) };
    let mut peak = 0;
    let mut death = None;
    let mut nap = Duration::from_micros(200);
    let mut looked = Instant::now();
    loop {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        match waitid(WaitId::Pid(pid), options) {
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Ok(Some(_)) | Err(_) => return (death, peak),
        }
        peak = watch::peak_resident_bytes(id).unwrap_or(0).max(peak);
        if death.is_none() {
            if Instant::now() > deadline {
                death = Some(Death::Timeout(u64::try_from(wall.as_millis()).unwrap_or(u64::MAX)));
            } else if let Memory::Resident(bytes) = profile.memory
                && (peak > bytes
                    || profile.processes && watch::group_usage(id).resident_bytes > bytes)
            {
                death = Some(Death::Memory);
            } else if let Some((tree, bytes)) = &profile.tree
                && looked.elapsed() > TREE_TICK
            {
                looked = Instant::now();
                death = (watch::tree_bytes(tree) > *bytes).then_some(Death::Output);
            }
            if death.is_some() {
                watch::kill_group(id);
            }
        }
        std::thread::sleep(nap);
        nap = (nap * 2).min(if profile.tree.is_some() { BUILD_TICK } else { TICK });
    }
}

/// Read at most `limit` bytes; more than that ends the writer's group.
fn capture(mut from: impl Read, limit: u64, group: u32) -> (Vec<u8>, bool) {
    let mut text = Vec::new();
    let mut buffer = [0; 64 << 10];
    loop {
        match from.read(&mut buffer) {
            Ok(0) | Err(_) => return (text, false),
            Ok(count) => {
                let room = usize::try_from(limit).unwrap_or(usize::MAX) - text.len();
                text.extend_from_slice(&buffer[..count.min(room)]);
                if count > room {
                    watch::kill_group(group);
                    return (text, true);
                }
            }
        }
    }
}
