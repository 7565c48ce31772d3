//! The engine that draws elsewhere, `stampmill-torch`, a program of its own that links libtorch; and what is said of programs that failed.

use crate::{Error, Result};
use std::{
    env,
    io::Read,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, ExitStatus},
    thread::JoinHandle,
};

/// Environment variable that names the engine's executable.
pub const ENGINE_VARIABLE: &str = "STAMPMILL_TORCH";

const ENGINE: &str = "stampmill-torch";

/// Signal of the kernel's out-of-memory killer.
const KILL: i32 = 9;

/// Where the engine is, if anywhere: the variable, beside this program, where `make torch` puts it,
/// the search path.
#[must_use]
pub fn find_engine() -> Option<PathBuf> {
    if let Some(named) = env::var_os(ENGINE_VARIABLE) {
        return Some(named.into());
    }
    let made = || Some(host::cache().join("torch/bin").join(ENGINE)).filter(|path| path.is_file());
    host::installed(ENGINE).or_else(made).or_else(|| host::on_path(ENGINE))
}

pub(crate) fn engine() -> Result<PathBuf> {
    find_engine().ok_or_else(|| {
        Error::Engine(format!(
            "no engine `{ENGINE}` found: `make torch` in a checkout builds it (it fetches libtorch, about 0.5 GB), \
             or name it in {ENGINE_VARIABLE}"
        ))
    })
}

pub(crate) fn cannot_run(engine: &Path) -> impl Fn(std::io::Error) -> Error + '_ {
    move |error| Error::Engine(format!("cannot run {}: {error}", engine.display()))
}

/// The engine's own line of what it wrote, or else all of it.
pub(crate) fn complaint(said: &str) -> String {
    let own = said.lines().rev().find_map(|line| {
        line.strip_prefix("stampmill-torch:").or_else(|| line.strip_prefix("stampmill-trainer:"))
    });
    own.unwrap_or(said).trim().to_owned()
}

/// Gather what a child says of its failures.
pub(crate) fn listen(child: &mut Child) -> Option<JoinHandle<String>> {
    child.stderr.take().map(|mut pipe| {
        std::thread::spawn(move || {
            let mut text = String::new();
            // What cannot be read is not said.
            let _ = pipe.read_to_string(&mut text);
            text
        })
    })
}

/// Why the engine ended, from what it said; `less`: what to do where memory ran out.
pub(crate) fn failure(status: ExitStatus, said: &str, less: &str) -> Error {
    let mut why = complaint(said);
    if status.signal() == Some(KILL) {
        let gap = if why.is_empty() { "" } else { "; " };
        why += &format!("{gap}it was killed, most often because memory ran out: {less}");
    }
    Error::Engine(format!("the engine failed ({status}): {why}"))
}
