use crate::{Held, Memory, Profile, calls, files};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io::{self, Error};

/// Restrict this process, and all it will start, to `profile`, for good: its limits, its files and
/// its system calls. Namespaces are the launcher's part.
///
/// A worker calls it (through [`crate::serve()`]) when it has loaded what it needs; system libraries
/// and programs stay readable where the profile lets processes be started.
///
/// # Errors
/// When a limit cannot be set, or a protection is missing and `weak` does not accept that.
pub fn enter(profile: &Profile, weak: bool) -> io::Result<Held> {
    let with_system = profile.processes > 1;
    enter_with(profile, with_system, weak, &calls::filters(profile))
}

/// `filters` are those of the profile, or why there are none.
pub(crate) fn enter_with(
    profile: &Profile,
    with_system: bool,
    weak: bool,
    filters: &Result<calls::Filters, Box<dyn std::error::Error>>,
) -> io::Result<Held> {
    lower(Resource::Core, 0)?;
    if let Memory::AddressSpace(bytes) = profile.memory {
        lower(Resource::As, bytes)?;
    }
    let writes = !profile.writable.is_empty() || profile.scratch > 0;
    lower(Resource::Fsize, if writes { profile.output_bytes } else { 0 })?;
    if profile.processes > 1 {
        // Threads count, too.
        lower(Resource::Nproc, u64::from(profile.processes).max(64) * 16)?;
    }
    allow_processor_seconds(profile.processor.as_secs().max(1))?;
    rustix::thread::set_no_new_privs(true)?;
    let (held, lacking) = protect(profile, with_system, filters);
    match lacking.is_empty() || weak {
        true => Ok(held),
        false => Err(missing(&lacking)),
    }
}

/// A protection that cannot be had, and why.
pub(crate) type Lacking = (&'static str, String);

/// Restrict this thread, and all it will start, to the files and system calls of a profile; what of that cannot
/// be had.
pub(crate) fn protect(
    profile: &Profile,
    with_system: bool,
    filters: &Result<calls::Filters, Box<dyn std::error::Error>>,
) -> (Held, Vec<Lacking>) {
    let mut held = Held { namespaces: true, ..Held::default() };
    let mut lacking = Vec::new();
    match files::restrict(profile, with_system) {
        Ok(0) => lacking.push(("Landlock", "this kernel does not enforce it".to_owned())),
        Ok(version) => held.landlock = version,
        Err(error) => lacking.push(("Landlock", error.to_string())),
    }
    let restricted = match filters {
        Ok(filters) => calls::restrict(filters),
        Err(error) => Err(error.to_string().into()),
    };
    match restricted {
        Ok(()) => held.seccomp = true,
        Err(error) => lacking.push(("seccomp", error.to_string())),
    }
    (held, lacking)
}

/// What to say where protections cannot be had: all of them, with the reasons.
pub(crate) fn missing(lacking: &[Lacking]) -> Error {
    let each: Vec<String> =
        lacking.iter().map(|(name, why)| format!("no {name} ({why})")).collect();
    Error::other(format!(
        "the sandbox has {}; foreign programs are not started like that; to start them nevertheless, give \
         --allow-weak-sandbox (`stampmill doctor` says what holds here)",
        each.join(" and ")
    ))
}

/// Allow `seconds` of processor time from now on; the kernel then sends `SIGXCPU`.
pub(crate) fn allow_processor_seconds(seconds: u64) -> io::Result<()> {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime).tv_sec;
    let maximum = getrlimit(Resource::Cpu).maximum;
    let soft = u64::try_from(used).unwrap_or(0) + seconds + 1;
    let current = maximum.map_or(soft, |hard| soft.min(hard));
    Ok(setrlimit(Resource::Cpu, Rlimit { current: Some(current), maximum })?)
}

/// Whoever ignores `SIGXCPU` is killed a second later.
pub(crate) fn cap_processor_seconds() -> io::Result<()> {
    let soft = getrlimit(Resource::Cpu).current;
    let maximum = soft.map(|seconds| seconds + 1);
    Ok(setrlimit(Resource::Cpu, Rlimit { current: soft, maximum })?)
}

fn lower(resource: Resource, value: u64) -> io::Result<()> {
    let hard = getrlimit(resource).maximum.map_or(value, |hard| hard.min(value));
    Ok(setrlimit(resource, Rlimit { current: Some(hard), maximum: Some(hard) })?)
}
