//! Ctrl-C: the first asks the run to stop where nothing is lost, the second ends it.

use anyhow::Context;
use std::{
    process::ExitCode,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

/// What a shell reports of a program that Ctrl-C ended.
const STATUS: u8 = 130;

static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Have a file beyond the limit on their size (`ulimit -f`) be an error with words, not the end of
/// the process. A handler and not `SIG_IGN`: that would be handed on to programs under study.
pub(crate) fn survive_large_files() -> anyhow::Result<()> {
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::new(AtomicBool::new(false)))
        .map(|_| ())
        .context("cannot handle the signal for too large files")
}

/// A flag that Ctrl-C (or a termination signal) raises; foreign programs that run are ended then, and have
/// no verdict. The first who asks for it says what is told.
pub(crate) fn flag() -> anyhow::Result<Arc<AtomicBool>> {
    listen(|| stopping(" The same command resumes."))
}

/// The same for a command that says in the end what it keeps.
pub(crate) fn final_flag() -> anyhow::Result<Arc<AtomicBool>> {
    listen(|| stopping(""))
}

fn stopping(more: &str) {
    sandbox::stop_all();
    eprintln!("\nstopping; Ctrl-C again to stop at once.{more}");
}

/// The same for a command whose usual end Ctrl-C is: nothing is said.
pub(crate) fn quiet_flag() -> anyhow::Result<Arc<AtomicBool>> {
    listen(sandbox::stop_all)
}

/// The same for a server whose foreign programs may still end.
pub(crate) fn gentle_flag() -> anyhow::Result<Arc<AtomicBool>> {
    listen(|| {})
}

fn listen(tell: impl Fn() + Send + 'static) -> anyhow::Result<Arc<AtomicBool>> {
    if let Some(flag) = FLAG.get() {
        return Ok(Arc::clone(flag));
    }
    let flag = FLAG.get_or_init(Arc::default);
    let raised = Arc::clone(flag);
    ctrlc::set_handler(move || {
        if raised.swap(true, Ordering::SeqCst) {
            std::process::exit(STATUS.into());
        }
        tell();
    })
    .context("cannot listen for Ctrl-C")?;
    Ok(Arc::clone(flag))
}

/// The exit status of a command that ended before its time because it was asked to; `None`: it was
/// not asked.
pub(crate) fn status() -> Option<ExitCode> {
    let raised = FLAG.get().is_some_and(|flag| flag.load(Ordering::SeqCst));
    raised.then(|| ExitCode::from(STATUS))
}
