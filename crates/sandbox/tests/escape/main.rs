//! The escape suite: every program of `tests/attacks/` under every profile it names.
//!
//! An attack says what it thinks it did; what counts is the world around it, which must be as it was
//! ([`world::World`]): files, listeners, a stranger's process, shared objects, processes left over.
//! Each trial runs in process, System V and mount namespaces of its own, so that a hole that is found
//! takes nothing else down. The same with a protection of the kernel taken away must stop loudly.
//!
//! The binary runs itself: without `--inside` it is the list of trials, with it one trial.

mod attack;
mod inside;
mod world;

use attack::{Attack, compiled};
use std::{
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};
use trials::{Failed, Trial};

/// What the environment of the runner holds that no attack may find.
const SECRET: &str = "STAMPMILL_ESCAPE_SECRET";
/// More than any trial needs, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(120);
/// What is taken away, one behind the other, and what a message must name then.
const PROTECTIONS: [(&[&str], &str); 5] = [
    (&["landlock"], "Landlock"),
    (&["seccomp"], "seccomp"),
    (&["namespaces"], "namespaces"),
    (&["landlock", "seccomp"], "Landlock seccomp"),
    (&["landlock", "namespaces", "seccomp"], "namespaces Landlock seccomp"),
];

/// Attacks that do no harm to who runs the suite: they are tried without a sandbox, too, where they must get somewhere.
const BARE: [&str; 11] = [
    "kill-victim",
    "metadata-by-path",
    "open-descriptors",
    "pages-of-others",
    "ptrace",
    "tcp-connect",
    "udp-send",
    "unix-abstract",
    "unix-path",
    "unlink-rename",
    "write-outside",
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == "--inside") {
        return inside::main(&words[1..]);
    }
    // Most trials wait most of the time: for a limit, or for the kernel to clear up.
    let processors = std::thread::available_parallelism().map_or(2, usize::from);
    let programs = match compiled() {
        Ok(programs) => Arc::new(programs),
        Err(reason) => {
            eprintln!("{reason}");
            return ExitCode::FAILURE;
        }
    };
    let mut trials = Vec::new();
    for attack in &programs.attacks {
        for profile in &attack.profiles {
            trials.push(attack_trial(&programs.folder, attack, profile));
        }
    }
    for name in BARE {
        let folder = programs.folder.clone();
        trials.push(Trial::new(format!("bare::{name}"), move || {
            isolated(&folder, &[], &["bare", name])
        }));
    }
    for profile in attack::PROFILES {
        let (folder, name) = (programs.folder.clone(), (*profile).to_owned());
        trials.push(Trial::new(format!("{profile}::everything-dies-with-the-runner"), move || {
            isolated(&folder, &[], &["dies-with-runner", &name])
        }));
    }
    for (taken, named) in PROTECTIONS {
        for accepted in ["refused", "accepted"] {
            let folder = programs.folder.clone();
            let name = taken.join("-and-");
            trials.push(Trial::new(format!("without-{name}::{accepted}"), move || {
                isolated(&folder, taken, &["without", named, accepted])
            }));
        }
    }
    trials::run_on(Some(processors * 3), trials)
}

fn attack_trial(folder: &Path, attack: &Attack, profile: &str) -> Trial {
    let (folder, attack, profile) = (folder.to_owned(), attack.clone(), profile.to_owned());
    Trial::new(format!("{profile}::{}", attack.name), move || {
        isolated(&folder, &[], &["attack", &attack.name, &profile, &attack.due.join("|")])
    })
}

/// Run one trial in namespaces of its own, on a kernel without the protections `taken`.
fn isolated(folder: &Path, taken: &[&str], words: &[&str]) -> Result<(), Failed> {
    let mut command = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    command.args(["--pid", "--fork", "--ipc", "--uts", "--mount-proc", "--kill-child", "--"]);
    // The shell is the first process and collects the dead; the runner is one among others, of a number
    // that no process of a fresh namespace has.
    let first = "echo 20000 >/proc/sys/kernel/ns_last_pid; \"$@\"; status=$?; exit $status";
    command.args(["sh", "-c", first, "sh"]);
    for taken in taken {
        command.arg(folder.join("without")).arg(taken);
    }
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut child = command
        .arg(own)
        .arg("--inside")
        .arg(folder)
        .args(words)
        .env(SECRET, "the runner's own")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("unshare (util-linux) cannot be started: {error}"))?;
    let begun = Instant::now();
    while child.try_wait().map_err(|error| error.to_string())?.is_none() {
        if begun.elapsed() > PATIENCE {
            // With it the namespace and all that is in it go.
            let _ = child.kill();
            return Err("the runner hangs".into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let said = [output.stdout, output.stderr].concat();
    match output.status.success() {
        true => Ok(()),
        false => {
            Err(format!("{}: {}", output.status, String::from_utf8_lossy(&said).trim()).into())
        }
    }
}

/// Where a file of this suite is.
fn source(name: &str) -> PathBuf {
    // A build folder may serve several checkouts: Cargo tells where this one is.
    let package =
        std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or(env!("CARGO_MANIFEST_DIR").into());
    Path::new(&package).join("tests").join(name)
}
