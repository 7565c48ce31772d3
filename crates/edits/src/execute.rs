//! Running a built program on an input, under limits.

use crate::{Result, toolchain::Executable};
use dataset::Verdict;
use rows::EditVerdict;
use sandbox::{Memory, Profile, Program};
use std::time::Duration;
use timing::bounded::{Series, verdict_of};

/// What a program may use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Wall-clock time of one run.
    pub wall: Duration,
    /// Resident memory.
    pub memory_bytes: u64,
    /// What it may print.
    pub output_bytes: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { wall: Duration::from_secs(10), memory_bytes: 1 << 30, output_bytes: 64 << 20 }
    }
}

/// A run that ended.
#[derive(Clone, Debug)]
pub struct Ran {
    /// What it printed.
    pub stdout: Vec<u8>,
    /// What it said on standard error.
    pub stderr: Vec<u8>,
    /// The status it left with; like PIE, contest programs that leave with another than 0 still
    /// count, since old C programs return what happens to be there.
    pub status: i32,
    /// Largest resident memory seen.
    pub peak_bytes: u64,
    /// Processor time, start of the process included: unlike wall-clock time, a busy machine does not add to it.
    pub processor: Duration,
}

/// Programs of contests recurse deeply; the timed run gives them as much.
const STACK_BYTES: u64 = 256 << 20;

/// Heap memory is filled, as far as that costs little: what is read before it is written shows. A fault is a finding, also where
/// the program would catch its signal.
const ASAN: &str = "detect_leaks=0:detect_stack_use_after_return=0:max_malloc_fill_size=1048576:\
                    handle_segv=2:handle_sigbus=2:handle_sigfpe=2:handle_sigill=2";

/// Let programs that are started from here have a deep stack, as far as this process may.
pub(crate) fn allow_deep_stacks() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let old = getrlimit(Resource::Stack);
    let wanted = old.maximum.map_or(STACK_BYTES, |hard| hard.min(STACK_BYTES));
    if old.current.is_some_and(|soft| soft < wanted) {
        // Where it is refused, deep recursion is a crash of the program, and says so.
        let _ = setrlimit(Resource::Stack, Rlimit { current: Some(wanted), ..old });
    }
}

/// Runs of one program: it may read its own file and the system's, write nothing, and start nothing.
pub(crate) struct Runs {
    /// Identity of the program.
    pub(crate) hash: String,
    series: Series,
    sanitized: bool,
}

impl Runs {
    pub(crate) fn new(executable: &Executable, limits: &Limits) -> Runs {
        Runs::within(executable, limits, limits.wall)
    }

    /// With a limit of its own on processor time.
    pub(crate) fn within(executable: &Executable, limits: &Limits, processor: Duration) -> Runs {
        Runs::with(executable, limits, processor, Vec::new(), false)
    }

    /// Of a build with sanitizers: what they find is the verdict `undefined-behaviour`.
    pub(crate) fn sanitized(executable: &Executable, limits: &Limits) -> Runs {
        // Sanitizers take several times the time and memory.
        let limits = Limits {
            wall: limits.wall * 8,
            memory_bytes: limits.memory_bytes.saturating_mul(4),
            ..*limits
        };
        let environment = vec![
            ("ASAN_OPTIONS".into(), ASAN.into()),
            ("UBSAN_OPTIONS".into(), "print_stacktrace=0".into()),
        ];
        Runs::with(executable, &limits, limits.wall, environment, true)
    }

    fn with(
        executable: &Executable,
        limits: &Limits,
        processor: Duration,
        environment: Vec<(std::ffi::OsString, std::ffi::OsString)>,
        sanitized: bool,
    ) -> Runs {
        let base = Profile::native();
        let mut readable = base.readable.clone();
        readable.push(executable.path.clone());
        let program = Program {
            command: vec![executable.path.clone().into_os_string()],
            environment,
            wall: limits.wall,
            ..Program::default()
        };
        let profile = Profile {
            memory: Memory::Resident(limits.memory_bytes),
            // Sanitizers look for their memory there.
            proc: sanitized,
            processor,
            output_bytes: limits.output_bytes,
            readable,
            ..base
        };
        let series = Series::new("a judged program", program, profile);
        Runs { hash: executable.hash.clone(), series, sanitized }
    }

    /// Run the program on an input. A verdict when it comes to a bad end.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(crate) fn run(&mut self, input: &[u8]) -> Result<std::result::Result<Ran, Verdict>> {
        let finished = self.series.run(input)?;
        let finding = || {
            let finding = finding(&finished.stderr)?;
            Some(Verdict::new(EditVerdict::UndefinedBehaviour, finding))
        };
        let verdict = match &finished.death {
            None if self.sanitized => finding(),
            None => None,
            Some(death) => Some(finding().unwrap_or_else(|| verdict_of(death))),
        };
        Ok(match verdict {
            Some(verdict) => Err(verdict),
            None => Ok(Ran {
                status: finished.status.unwrap_or(0),
                stdout: finished.stdout,
                stderr: finished.stderr,
                peak_bytes: finished.peak_bytes,
                processor: Duration::from_secs_f64(finished.user_seconds + finished.system_seconds),
            }),
        })
    }
}

/// What a sanitizer found, in one line.
fn finding(stderr: &[u8]) -> Option<String> {
    let words = String::from_utf8_lossy(stderr);
    let address = words.lines().find_map(|line| line.split_once("ERROR: AddressSanitizer: "));
    if let Some((_, rest)) = address {
        let kind = rest.split([' ', ':']).next().unwrap_or(rest);
        let place = words.lines().find_map(|line| line.split_once("source.c").map(|(_, at)| at));
        return Some(match place {
            Some(at) => format!("{kind} at source.c{}", at.split(')').next().unwrap_or(at)),
            None => kind.to_owned(),
        });
    }
    let undefined = words.lines().find_map(|line| line.split_once(": runtime error: "));
    undefined.map(|(place, what)| {
        let place = place.rsplit('/').next().unwrap_or(place);
        format!("{what} at {place}")
    })
}
