//! Enters a sandbox profile, then becomes the program it was asked to run.
//!
//! Usage: `benchstone-launch PROFILE-AS-JSON PROGRAM [ARGUMENT...]`

use std::{
    ffi::OsString,
    io::ErrorKind,
    os::unix::process::CommandExt,
    process::Command,
    time::{Duration, Instant},
};

/// How long a program may be open for writing elsewhere. Another thread of the caller that starts a
/// program holds the caller's open files for a moment, one that was just written among them.
const BUSY: Duration = Duration::from_secs(5);

fn main() {
    let problem = launch(std::env::args_os().skip(1));
    eprintln!("benchstone-launch: {problem}");
    std::process::exit(127);
}

/// Returns only when it failed, with the reason.
fn launch(mut arguments: impl Iterator<Item = OsString>) -> String {
    let Some(profile) = arguments.next() else { return "no profile given".into() };
    let profile: sandbox::Profile = match serde_json::from_str(&profile.to_string_lossy()) {
        Ok(profile) => profile,
        Err(error) => return format!("not a profile: {error}"),
    };
    let Some(program) = arguments.next() else { return "no program given".into() };
    // The thread that started us waits for us, so its end is the end of the run.
    let killed_with_parent =
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    if let Err(error) = killed_with_parent {
        return format!("cannot tie the program to its parent: {error}");
    }
    if let Some(root) = &profile.root {
        let here = std::env::current_dir().unwrap_or_else(|_| "/".into());
        let inside =
            here.strip_prefix(root).map_or("/".into(), |rest| std::path::Path::new("/").join(rest));
        let entered = rustix::process::chroot(root)
            .map_err(std::io::Error::from)
            .and_then(|()| std::env::set_current_dir(inside));
        if let Err(error) = entered {
            return format!("cannot enter {}: {error}", root.display());
        }
    }
    if let Err(error) = sandbox::enter(&profile) {
        return format!("cannot enter the sandbox: {error}");
    }
    let mut command = Command::new(&program);
    command.args(arguments);
    let begun = Instant::now();
    let mut error = command.exec();
    while error.kind() == ErrorKind::ExecutableFileBusy && begun.elapsed() < BUSY {
        std::thread::sleep(Duration::from_millis(2));
        error = command.exec();
    }
    format!("cannot start {}: {error}", program.to_string_lossy())
}
