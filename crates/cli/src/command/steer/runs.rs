//! Which kernels run and pass the checker, for `--must-run`.

use anyhow::Context;
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// Executes kernels on the processor's device, each text once.
pub(super) struct Runs {
    folder: tempfile::TempDir,
    known: Mutex<BTreeMap<String, bool>>,
    stop: Arc<AtomicBool>,
}

impl Runs {
    /// `stop` is what the user raises.
    ///
    /// # Errors
    /// When there is no such device: better now than after the first search.
    pub(super) fn new(stop: &Arc<AtomicBool>) -> anyhow::Result<Runs> {
        let devices = device::devices()?;
        device::select(&devices, "cpu").context("--must-run needs a device to run kernels on")?;
        let folder = tempfile::tempdir()?;
        Ok(Runs { folder, known: Mutex::default(), stop: Arc::clone(stop) })
    }

    /// Whether the kernel passes.
    ///
    /// # Errors
    /// Why that cannot be told: a device or a disk that does not work says nothing of a kernel.
    pub(super) fn accepts(&self, text: &str) -> Result<bool, String> {
        let key = dataset::content_hash(text.as_bytes());
        if let Some(known) = self.known.lock().ok().and_then(|known| known.get(&key).copied()) {
            return Ok(known);
        }
        if self.stop.load(Ordering::Relaxed) {
            // The search ends; nothing is remembered of this one.
            return Ok(false);
        }
        let passes = match self.passes(&key, text) {
            Ok(passes) => passes,
            Err(_) if self.stop.load(Ordering::Relaxed) => return Ok(false),
            Err(error) => return Err(format!("{error:#}")),
        };
        if let Ok(mut known) = self.known.lock() {
            known.insert(key, passes);
        }
        Ok(passes)
    }

    fn passes(&self, key: &str, text: &str) -> anyhow::Result<bool> {
        let file = self.folder.path().join(format!("{key}.cl"));
        std::fs::write(&file, text)?;
        let options = device::Options {
            devices: "cpu".to_owned(),
            global_sizes: vec![256],
            budget: Duration::ZERO,
            jobs: 1,
            cancelled: Arc::clone(&self.stop),
            ..device::Options::new(&file, self.folder.path().join(key))
        };
        Ok(device::run(&options, &dataset::Silent)?.kernels_passing > 0)
    }
}
