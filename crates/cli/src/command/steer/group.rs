//! Which kernels run and pass the checker in work-groups of one size, for `--work-group`.

use anyhow::Context;
use device::{Error, Options, Outcome, Runner};
use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

/// Work-items at least that a kernel runs with.
const LEAST: u64 = 64;

/// Executes kernels on the processor's device in work-groups of one size.
pub(super) struct WorkGroup {
    runner: Runner,
}

impl WorkGroup {
    /// Of so many work-items. `stop` is what the user raises.
    ///
    /// # Errors
    /// When there is no such device.
    pub(super) fn new(size: u64, stop: &Arc<AtomicBool>) -> anyhow::Result<WorkGroup> {
        let least = size * LEAST.div_ceil(size);
        let options = Options {
            devices: "cpu".to_owned(),
            global_sizes: vec![least, 4 * least],
            local_sizes: vec![size],
            budget: Duration::ZERO,
            // Many are tried, of which some do not end.
            limit: Duration::from_secs(5),
            ..Options::default()
        };
        let runner =
            Runner::new(options, stop).context("--work-group needs a device to run kernels on")?;
        Ok(WorkGroup { runner })
    }

    /// In a word what is found of a kernel that does not pass; `None` of one that does.
    ///
    /// # Errors
    /// Why that cannot be told: a device or a disk that does not work says nothing of a kernel.
    pub(super) fn rejected(&self, text: &str) -> Result<Option<String>, String> {
        match self.runner.check(text) {
            Ok(Outcome::Pass) => Ok(None),
            Ok(found) => Ok(Some(found.name().to_owned())),
            Err(Error::Stopped) => Ok(Some("stopped".to_owned())),
            Err(error) => Err(error.to_string()),
        }
    }
}
