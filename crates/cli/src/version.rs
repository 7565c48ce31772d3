//! What `--version` says: the commit, and which clang and LLVM are here; `-V` says the version alone.

use crate::usage;
use std::{ffi::OsString, fmt::Write as _, io::Write as _};

/// Version and commit; what is found on this machine is added when it is asked for.
pub(crate) const LONG: &str =
    concat!(env!("CARGO_PKG_VERSION"), "\ncommit ", env!("STAMPMILL_COMMIT"));

/// End as clap wants to; `--version` and what to do say more than clap knows.
pub(crate) fn exit(mut error: clap::Error, command: &clap::Command, arguments: &[OsString]) -> ! {
    use clap::error::{ContextKind, ContextValue};
    usage::advise(&mut error, command, arguments);
    // The help does not list the alias.
    if let Some(ContextValue::String(name)) = error.get(ContextKind::SuggestedArg)
        && name == "--output"
    {
        error.insert(ContextKind::SuggestedArg, ContextValue::String("--out".to_owned()));
    }
    // A reader that has gone away wants no more.
    let _ = error.print();
    let is_long = error.to_string().contains("\ncommit ");
    if error.kind() == clap::error::ErrorKind::DisplayVersion && is_long {
        let _ = std::io::stdout().write_all(found().as_bytes());
    }
    std::process::exit(error.exit_code())
}

/// The clang of the worker, and every LLVM that modules may be read with, the newest first.
fn found() -> String {
    let mut text = String::new();
    let clang = clang::find_worker().map_err(|error| error.to_string()).and_then(|worker| {
        let version = clang::version_of(&worker);
        let version = version.ok_or("it does not start: is libclang-cpp19 installed?".to_owned());
        Ok(format!("{} ({})", version?, worker.display()))
    });
    // Writing to a string does not fail.
    let _ = match clang {
        Ok(clang) => writeln!(text, "{clang}"),
        Err(why) => writeln!(text, "clang: {why}"),
    };
    let all = llvm::candidates();
    for candidate in &all {
        // A file's name tells no patch.
        let (version, path) = (candidate.version, candidate.path.display());
        let _ = writeln!(text, "LLVM {}.{} ({path})", version.major, version.minor);
    }
    if all.is_empty() {
        let _ = writeln!(text, "LLVM: none; apt-get install libllvm19");
    }
    text
}
