//! Which kernels run and pass the checker in work-groups of one size, for `--work-group`.

use crate::runs::Cut;
use anyhow::Context;
use device::{Error, Options, Outcome, Runner};
use std::{sync::Arc, time::Duration};

/// Work-items at least that a kernel runs with.
const LEAST: u64 = 64;

/// Executes kernels on the processor's device in work-groups of one size.
pub(super) struct WorkGroup {
    runner: Runner,
    cut: Arc<Cut>,
}

impl WorkGroup {
    /// Of so many work-items. `cut` ends a check.
    ///
    /// # Errors
    /// When there is no such device.
    pub(super) fn new(size: u64, cut: &Arc<Cut>) -> anyhow::Result<WorkGroup> {
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
        let runner = Runner::new(options, cut.flag())
            .context("--work-group needs a device to run kernels on")?;
        Ok(WorkGroup { runner, cut: Arc::clone(cut) })
    }

    /// In a word what is found of a kernel that does not pass; `None` of one that does.
    ///
    /// # Errors
    /// Why that cannot be told: a device or a disk that does not work says nothing of a kernel.
    pub(super) fn rejected(&self, text: &str) -> Result<Option<String>, String> {
        match self.cut.within(|| self.runner.check(text)) {
            Ok(Outcome::Pass) => Ok(None),
            Ok(found) => Ok(Some(found.name().to_owned())),
            Err(Error::Stopped) => Ok(Some(self.cut.why().to_owned())),
            Err(error) => Err(error.to_string()),
        }
    }
}
