//! Which kernels run and pass the checker, for `--must-run`.

use anyhow::Context;
use device::{Error, Options, Outcome, Runner};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, atomic::AtomicBool},
    time::Duration,
};

/// Executes kernels on the processor's device, each text once.
pub(crate) struct Runs {
    runner: Runner,
    known: Mutex<BTreeMap<String, Outcome>>,
}

impl Runs {
    /// `stop` is what the user raises, `option` what asks for it.
    ///
    /// # Errors
    /// When there is no such device: better now than after the first kernel.
    pub(crate) fn new(stop: &Arc<AtomicBool>, option: &str) -> anyhow::Result<Runs> {
        let options = Options {
            devices: "cpu".to_owned(),
            global_sizes: vec![256],
            budget: Duration::ZERO,
            ..Options::default()
        };
        let runner = Runner::new(options, stop)
            .with_context(|| format!("{option} needs a device to run kernels on"))?;
        Ok(Runs { runner, known: Mutex::default() })
    }

    /// What running the kernel comes to; `None`: the user has stopped all of it.
    ///
    /// # Errors
    /// Why that cannot be told: a device or a disk that does not work says nothing of a kernel.
    pub(crate) fn check(&self, text: &str) -> Result<Option<Outcome>, String> {
        let key = dataset::content_hash(text.as_bytes());
        if let Some(known) = self.known.lock().ok().and_then(|known| known.get(&key).copied()) {
            return Ok(Some(known));
        }
        let outcome = match self.runner.check(text) {
            Ok(outcome) => outcome,
            // Nothing is remembered of this one.
            Err(Error::Stopped) => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
        if let Ok(mut known) = self.known.lock() {
            known.insert(key, outcome);
        }
        Ok(Some(outcome))
    }
}
