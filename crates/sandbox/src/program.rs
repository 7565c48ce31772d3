use crate::{
    Calls, Death, Held, Memory, Profile,
    control::{Ending, Order},
    death, held,
    patience::Patience,
    start::Running,
    watch,
};
use std::{
    cell::LazyCell,
    ffi::OsString,
    io::{self, PipeReader, Read, Write},
    os::{fd::AsFd, unix::process::ExitStatusExt},
    path::PathBuf,
    process::ExitStatus,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

const SIGKILL: i32 = 9;
/// Bytes that a pipe has room for, however many pipes its user has.
const SMALL: usize = 4096;
const TICK: Duration = Duration::from_millis(5);
/// The same for builds, which are long and have many processes to look at.
const BUILD_TICK: Duration = Duration::from_millis(100);
/// Threads of all processes together: root's are bounded by no limit of the kernel's.
const THREADS: u64 = 2048;
/// How often the size of a tree and of files of memory is taken: that costs a look at every file.
const TREE_TICK: Duration = Duration::from_secs(2);

/// A foreign program to be run once.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Program and arguments.
    pub command: Vec<OsString>,
    /// Its whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Where it runs; it may read what is there.
    pub directory: Option<PathBuf>,
    /// What it reads on standard input.
    pub stdin: Vec<u8>,
    /// Limit on the clock; what it waits for a processor that others use is not counted.
    pub wall: Duration,
    /// Whether its descriptor 3 is a pipe to us: for emulators and tools that keep their descriptors
    /// from the program that they run.
    pub channel: bool,
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
    /// What came through its channel, at most as much; empty where it had none.
    pub channel: Vec<u8>,
    /// The protections that held.
    pub held: Held,
    /// Wall-clock time.
    pub wall: Duration,
    /// Processor seconds in user mode; where a limit ended it, all that its processes used.
    pub user_seconds: f64,
    /// Processor seconds in the kernel.
    pub system_seconds: f64,
    /// Largest resident memory seen of its main process.
    pub peak_bytes: u64,
}

/// Run `program` to its end under `profile`.
///
/// # Errors
/// Only for faults of the machine and of ours ([`Death::is_ours`]), and [`Death::Stopped`]; everything
/// that happens to a started program is in [`Finished`].
pub fn run(program: &Program, profile: &Profile) -> Result<Finished, Death> {
    once(program, profile, &program.stdin, &mut None, false)
}

/// Runs of one program, one after the other.
///
/// They share a sandbox, which saves most of the cost of a start, where the profile lets the program
/// leave nothing behind: it writes no file, starts no process and reaches no network, and namespaces
/// hold. Every process of a run is gone, every descriptor and restriction is made anew before the next.
/// A run that a limit ended takes its sandbox with it.
#[derive(Debug)]
pub struct Series {
    program: Program,
    profile: Profile,
    running: Option<Running>,
}

impl Series {
    /// Nothing is started yet; the input that `program` has is not used.
    #[must_use]
    pub fn new(program: Program, profile: Profile) -> Series {
        Series { program, profile, running: None }
    }

    /// Run the program to its end with `stdin` as its input.
    ///
    /// # Errors
    /// As for [`run`].
    pub fn run(&mut self, stdin: &[u8]) -> Result<Finished, Death> {
        let repeats = leaves_nothing(&self.profile);
        once(&self.program, &self.profile, stdin, &mut self.running, repeats)
    }
}

/// Whether nothing that a program does under `profile` outlives its processes.
fn leaves_nothing(profile: &Profile) -> bool {
    profile.calls == Calls::Compute
        && profile.processes == 1
        && profile.scratch == 0
        && profile.writable.is_empty()
        && profile.devices.is_empty()
        && profile.root.is_none()
        && !profile.network
}

/// Run a program, in the sandbox that is `kept` where there is one; a sandbox that can be used again is
/// there afterwards.
fn once(
    program: &Program,
    profile: &Profile,
    input: &[u8],
    kept: &mut Option<Running>,
    repeats: bool,
) -> Result<Finished, Death> {
    let pipe = || io::pipe().map_err(|error| Death::Machine(error.to_string()));
    let (their_in, mut stdin) = pipe()?;
    let (stdout, their_out) = pipe()?;
    let (stderr, their_err) = pipe()?;
    let (channel, their_channel) = match program.channel {
        true => pipe().map(|(ours, theirs)| (Some(ours), Some(theirs)))?,
        false => (None, None),
    };
    let mut descriptors = vec![their_in.as_fd(), their_out.as_fd(), their_err.as_fd()];
    descriptors.extend(their_channel.as_ref().map(AsFd::as_fd));
    let started = Instant::now();
    let (mut running, held) = match kept.take() {
        None => Running::start(&order(program, profile, repeats), &descriptors)?,
        Some(mut running) => match running.again(&descriptors) {
            Ok(held) => (running, held),
            Err(Death::Stopped) => return Err(Death::Stopped),
            // Whatever is wrong with it: a new one may be well, or says what is.
            Err(_) => {
                drop(running);
                return once(program, profile, input, kept, repeats);
            }
        },
    };
    held::remember(&profile.name, held);
    drop((their_in, their_out, their_err, their_channel));
    let limit = profile.output_bytes;
    let flooded = AtomicBool::new(false);
    let (ended, out, err, channel) = std::thread::scope(|scope| {
        // A program may leave without reading its input: a broken pipe is its affair.
        match input.len() {
            // There is room for that in any pipe.
            ..=SMALL => drop((stdin.write_all(input), stdin)),
            _ => drop(scope.spawn(move || stdin.write_all(input))),
        }
        let flooded = &flooded;
        let out = scope.spawn(move || capture(stdout, limit, flooded));
        let err = scope.spawn(move || capture(stderr, limit, flooded));
        let channel = channel.map(|channel| scope.spawn(move || capture(channel, limit, flooded)));
        let wall = Patience::new(program.wall);
        let ended = supervise(&mut running, wall, profile, flooded);
        if !(repeats && held.namespaces && matches!(ended, Ok((None, Some(_), ..)))) {
            // Nothing that it started outlives it, or would keep the pipes open.
            running.end();
        }
        let out = out.join().expect("reading does not panic");
        let err = err.join().expect("reading does not panic");
        let channel = channel.map(|channel| channel.join().expect("reading does not panic"));
        (ended, out, err, channel.unwrap_or_default())
    });
    let wall = started.elapsed();
    let (death, ending, peak, used_so_far) = ended?;
    if repeats && held.namespaces && death.is_none() && ending.is_some() {
        *kept = Some(running);
    }
    let status = ending.map(|ending| ExitStatus::from_raw(ending.status));
    tracing::debug!(
        profile = %profile.name,
        program = %program.command.first().map(|name| name.display().to_string()).unwrap_or_default(),
        status = status.map(tracing::field::display),
        death = death.as_ref().map(tracing::field::display),
        milliseconds = wall.as_millis() as u64,
        "a program has run"
    );
    let death = if flooded.load(Ordering::Relaxed) { Some(Death::Output) } else { death };
    let used = ending.map_or(0.0, |ending| ending.user_seconds + ending.system_seconds);
    let killed = status.is_some_and(|status| status.signal() == Some(SIGKILL));
    let death = match death {
        // It ignored the signal that came first.
        None if killed && used >= profile.processor.as_secs_f64() => Some(Death::Processor),
        death => death,
    };
    let death = death.or_else(|| {
        status.filter(|status| status.code().is_none()).and_then(|s| death::from_status(s, &err))
    });
    Ok(Finished {
        status: status.and_then(|status| status.code()).filter(|_| death.is_none()),
        death,
        stdout: out,
        stderr: err,
        channel,
        held,
        wall,
        user_seconds: ending.map_or(used_so_far.as_secs_f64(), |ending| ending.user_seconds),
        system_seconds: ending.map_or(0.0, |ending| ending.system_seconds),
        peak_bytes: ending.map_or(peak, |ending| ending.peak_bytes.max(peak)),
    })
}

fn order(program: &Program, profile: &Profile, repeats: bool) -> Order {
    Order {
        command: program.command.clone(),
        environment: program.environment.clone(),
        directory: program.directory.clone(),
        profile: profile.clone(),
        repeats,
        enters_itself: false,
        weak: held::is_weak_allowed(),
    }
}

/// What ended it where a limit did, how it ended where by itself, the memory seen, and the processor time where a limit
/// ended it.
type Ended = (Option<Death>, Option<Ending>, u64, Duration);

/// Wait until the program has ended, enforcing what the kernel does not.
fn supervise(
    running: &mut Running,
    mut wall: Patience,
    profile: &Profile,
    flooded: &AtomicBool,
) -> Result<Ended, Death> {
    let mut peak = 0;
    let files_of_memory = profile.calls == Calls::Driver;
    let mut nap = Duration::from_millis(1);
    let mut looked = Instant::now();
    let most = if profile.tree.is_some() && profile.processes > 64 { BUILD_TICK } else { TICK };
    let mut program = None;
    loop {
        if let Some(ending) = running.ended(nap)? {
            return Ok((None, Some(ending), peak, Duration::ZERO));
        }
        nap = (nap * 2).min(most);
        program = program.or_else(|| running.program());
        let resident = program.and_then(watch::peak_resident_bytes).unwrap_or(0);
        peak = resident.max(peak);
        let inside = LazyCell::new(|| watch::descendants(running.id(), allowed(profile)));
        let death = if flooded.load(Ordering::Relaxed) {
            Some(Death::Output)
        } else if wall.left(|| inside.clone()).is_zero() {
            Some(Death::Timeout(u64::try_from(wall.limit().as_millis()).unwrap_or(u64::MAX)))
        } else if let Some(death) = too_much(program, &inside, profile, peak) {
            Some(death)
        } else if (profile.tree.is_some() || files_of_memory) && looked.elapsed() > TREE_TICK {
            looked = Instant::now();
            let is_full = |(tree, bytes): &(PathBuf, u64)| watch::tree_bytes(tree) > *bytes;
            if profile.tree.as_ref().is_some_and(is_full) {
                Some(Death::Output)
            } else if files_of_memory && watch::memory_files(&inside) > memory_of(profile) {
                Some(Death::Memory)
            } else {
                None
            }
        } else {
            None
        };
        if death.is_some() {
            return Ok((
                death,
                None,
                peak,
                watch::usage_below(running.id(), allowed(profile)).processor,
            ));
        }
    }
}

/// How many processes may be below the launcher, whose child is ours.
fn allowed(profile: &Profile) -> usize {
    profile.processes as usize + 1
}

fn memory_of(profile: &Profile) -> u64 {
    match profile.memory {
        Memory::Resident(bytes) => bytes,
        Memory::AddressSpace(_) => u64::MAX,
    }
}

/// What all of its processes use, against the limits.
fn too_much(
    program: Option<u32>,
    inside: &LazyCell<Vec<u32>, impl FnOnce() -> Vec<u32>>,
    profile: &Profile,
    peak: u64,
) -> Option<Death> {
    let most = memory_of(profile);
    if peak > most {
        return Some(Death::Memory);
    }
    let inside: &[u32] = match profile.processes {
        1 => program.as_slice(),
        _ => inside,
    };
    if inside.len() > allowed(profile) {
        return Some(Death::Processes);
    }
    let mut resident = 0;
    let mut threads = 0;
    for used in inside.iter().copied().map(watch::usage) {
        resident += used.resident_bytes;
        threads += used.threads;
    }
    if threads > THREADS.max(profile.processes.into()) {
        return Some(Death::Processes);
    }
    (profile.processes > 1 && resident > most).then_some(Death::Memory)
}

/// Read at most `limit` bytes; more than that is a flood, of which the rest is not kept.
fn capture(mut from: PipeReader, limit: u64, flooded: &AtomicBool) -> Vec<u8> {
    let mut text = Vec::new();
    let mut buffer = [0; 64 << 10];
    loop {
        match from.read(&mut buffer) {
            Ok(0) | Err(_) => return text,
            Ok(count) => {
                let room = usize::try_from(limit).unwrap_or(usize::MAX) - text.len();
                text.extend_from_slice(&buffer[..count.min(room)]);
                if count > room {
                    flooded.store(true, Ordering::Relaxed);
                    return text;
                }
            }
        }
    }
}
