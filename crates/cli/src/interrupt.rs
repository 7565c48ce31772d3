//! Ctrl-C: the first asks the run to stop where nothing is lost, the second ends it.

use anyhow::Context;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// A flag that Ctrl-C (or a termination signal) raises.
pub(crate) fn flag() -> anyhow::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    ctrlc::set_handler(move || {
        if raised.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
        eprintln!(
            "\nstopping at the next safe place; again to stop at once. What is done so far is kept."
        );
    })
    .context("cannot listen for Ctrl-C")?;
    Ok(flag)
}
