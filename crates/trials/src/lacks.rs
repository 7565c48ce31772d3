//! What of the outside world is not here: each function gives `None` where all is there, else what is lacking.

use std::{
    path::Path,
    process::{Command, Stdio},
};

/// How the names of programs begin that `scripts/setup.sh` installs: none of them is a reason to skip a test.
const OURS: [&str; 9] =
    ["clang", "llvm-", "qemu-", "g++", "gcc", "make", "oclgrind", "python3", "unshare"];

/// A program on the search path.
#[must_use]
pub fn program(name: &str) -> Option<String> {
    any_program(&[name])
}

/// One of these programs; the first is named.
///
/// # Panics
/// For a program that `scripts/setup.sh` installs.
#[must_use]
pub fn any_program(names: &[&str]) -> Option<String> {
    let is_ours = |name: &&&str| OURS.iter().any(|own| name.starts_with(own));
    if let Some(ours) = names.iter().find(is_ours) {
        panic!("scripts/setup.sh installs `{ours}`: a test just uses it, and fails without it");
    }
    let starts = |name: &&str| {
        let mut command = Command::new(name);
        command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok()
    };
    match names.iter().any(starts) {
        true => None,
        false => names.first().map(|name| (*name).to_owned()),
    }
}

/// One of these files; `what` they are is named.
#[must_use]
pub fn any_file(what: &str, paths: &[&str]) -> Option<String> {
    (!paths.iter().any(|path| Path::new(path).exists())).then(|| what.to_owned())
}

/// A file of the reference data that does not ship ([`crate::reference`]).
#[must_use]
pub fn reference(path: &str) -> Option<String> {
    (!crate::reference().join(path).is_file()).then(|| format!("reference data {path}"))
}

/// The right to mount a file system in namespaces that `unshare` makes with these flags.
#[must_use]
pub fn mounts(unshare: &[&str]) -> Option<String> {
    let script = ["sh", "-c", "mount -t tmpfs none /tmp"];
    denied("the right to mount", Command::new("unshare").args(unshare).args(script))
}

/// The right to show a folder over another (overlayfs) in a namespace of one's own.
#[must_use]
pub fn overlay() -> Option<String> {
    let script = "mount -t overlay overlay -o lowerdir=/usr/lib:/usr/bin /usr/bin";
    let mut unshare = Command::new("unshare");
    denied("the right to mount an overlay", unshare.args(["-Urm", "sh", "-c", script]))
}

/// The right to start a program whose addresses are not drawn at random.
#[must_use]
pub fn fixed_addresses() -> Option<String> {
    let what = "the right to switch random addresses off";
    denied(what, Command::new("setarch").args(["-R", "true"]))
}

/// What the kernel denies a command of util-linux.
fn denied(what: &str, command: &mut Command) -> Option<String> {
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    let status = status.expect("scripts/setup.sh installs util-linux");
    (!status.success()).then(|| what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_here_is_named() {
        assert_eq!(program("no-such-zig").as_deref(), Some("no-such-zig"));
        assert_eq!(any_program(&["no-such-zig", "sh"]), None);
    }

    #[test]
    #[should_panic(expected = "a test just uses it")]
    fn what_setup_installs_is_no_reason_to_skip() {
        let _ = program("qemu-aarch64");
    }
}
