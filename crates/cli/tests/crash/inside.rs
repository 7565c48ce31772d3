//! Trials in process and mount namespaces of their own: the binary of the trials runs itself, with `--inside`.

use crate::home::{SHARED, run_by};
use std::{
    path::Path,
    process::{Command, ExitCode, Stdio},
};
use trials::Failed;

const INSIDE: &str = "--inside";

/// The two words that say which trial this process is, if it is one.
pub(crate) fn asked() -> Option<(String, String)> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.as_slice() {
        [inside, one, other] if inside == INSIDE => Some((one.clone(), other.clone())),
        _ => None,
    }
}

/// Run a trial in namespaces of its own, `more` of them than all have, and pass on what it says; `shared`: see
/// [`SHARED`].
pub(crate) fn isolated(
    one: &str,
    other: &str,
    more: &[&str],
    shared: Option<&Path>,
) -> Result<(), Failed> {
    let mut command = Command::new("unshare");
    if run_by("id -u").trim() != "0" {
        command.args(["--user", "--map-root-user"]);
    }
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = command
        .args(more)
        .args(["--pid", "--fork", "--mount-proc", "--kill-child", "--"])
        // The shell is the first process and collects the dead.
        .args(["sh", "-c", "ip link set lo up 2>/dev/null; \"$@\"; status=$?; exit $status", "sh"])
        .arg(own)
        .args([INSIDE, one, other])
        .envs(shared.map(|folder| (SHARED, folder)))
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("unshare (util-linux) cannot be started: {error}"))?;
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    print!("{said}");
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{one} {other}: {}: {said}", output.status).into()),
    }
}

/// Say how a trial ended.
pub(crate) fn said(one: &str, other: &str, done: Result<String, String>) -> ExitCode {
    let status = if done.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(3) };
    let (Ok(line) | Err(line)) = done;
    println!("{one} {other}: {line}");
    status
}
