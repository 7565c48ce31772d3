//! Which kernels run and pass the checker, for `--must-run`, and which are faster on one device than on another, for
//! `--faster-on`.

use anyhow::{Context, ensure};
use device::{Benchmark, Error, Options, Outcome, RunRow, Runner, Transfers};
use serde_json::{Value, json};
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

/// Measures kernels on two devices.
pub(crate) struct Faster {
    runners: [Runner; 2],
    margin: f64,
    known: Mutex<BTreeMap<String, bool>>,
    settings: Value,
}

impl Faster {
    /// A kernel is faster on `device` than on `than` when its time there, with its transfers to a GPU, is `margin` times shorter
    /// with `size` work-items.
    ///
    /// # Errors
    /// When one of the devices is not there, or both are the same.
    pub(crate) fn new(
        device: &str,
        than: &str,
        margin: f64,
        size: u64,
        stop: &Arc<AtomicBool>,
    ) -> anyhow::Result<Faster> {
        let runner = |devices: &str| {
            let options = Options {
                devices: devices.to_owned(),
                global_sizes: vec![size],
                ..Options::default()
            };
            Runner::new(options, stop).context("--faster-on needs both devices")
        };
        let runners = [runner(device)?, runner(than)?];
        let names = runners.each_ref().map(Runner::names);
        for (names, word) in names.iter().zip([device, than]) {
            let several = names.join(", ");
            ensure!(names.len() == 1, "`{word}` is more than one device: {several}");
        }
        let [[one], [other]] = [&names[0][..], &names[1][..]] else { unreachable!("one each") };
        ensure!(one != other, "--faster-on {device} and --than {than} are both {one}");
        let settings = json!({ "device": one, "than": other, "margin": margin, "size": size });
        Ok(Faster { runners, margin, known: Mutex::default(), settings })
    }

    /// For the manifest.
    pub(crate) fn settings(&self) -> Value {
        self.settings.clone()
    }

    /// Whether the kernel passes on both devices and is so much faster on the first that the confidence intervals of its times
    /// leave no doubt of the order. A kernel is measured once.
    ///
    /// # Errors
    /// Why that cannot be told.
    pub(crate) fn accepts(&self, text: &str) -> Result<bool, String> {
        let key = dataset::content_hash(text.as_bytes());
        if let Some(known) = self.known.lock().ok().and_then(|known| known.get(&key).copied()) {
            return Ok(known);
        }
        // What is stopped is not remembered.
        let Some(is_faster) = self.is_faster(text)? else { return Ok(false) };
        if let Ok(mut known) = self.known.lock() {
            known.insert(key, is_faster);
        }
        Ok(is_faster)
    }

    /// `None`: the user has stopped all of it.
    fn is_faster(&self, text: &str) -> Result<Option<bool>, String> {
        let mut times = [(0.0, 0.0); 2];
        for (runner, time) in self.runners.iter().zip(&mut times) {
            let rows = match runner.rows(&[Benchmark::of(text)]) {
                Ok(rows) => rows,
                Err(Error::Stopped) => return Ok(None),
                Err(error) => return Err(error.to_string()),
            };
            match rows.first().and_then(seconds) {
                Some(measured) => *time = measured,
                None => return Ok(Some(false)),
            }
        }
        let [(fast, above), (slow, below)] = times;
        Ok(Some(fast * self.margin <= slow && fast + above < slow - below))
    }
}

/// Seconds of a run, transfers to a GPU included, and half of their confidence interval.
fn seconds(run: &RunRow) -> Option<(f64, f64)> {
    let half = run.interval? / 2.0 * run.kernel_time_ns? as f64 * 1e-9;
    Some((run.seconds(Transfers::Gpu)?, half))
}
