//! Which kernels run and pass the checker, for `--must-run`, and which are faster on one device than on another, for
//! `--faster-on`.

use anyhow::{Context, bail};
use device::{Benchmark, Error, Options, Outcome, RunRow, Runner, Transfers};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, atomic::AtomicBool},
    time::Duration,
};

/// What is known of kernels, by their texts.
struct Known<T>(Mutex<BTreeMap<String, T>>);

impl<T: Copy> Known<T> {
    fn new() -> Known<T> {
        Known(Mutex::default())
    }

    /// What `find` says of a text, which is asked once; `None`: the user has stopped all of it, and nothing is remembered.
    fn of(&self, text: &str, find: impl FnOnce() -> Result<T, Error>) -> Result<Option<T>, String> {
        let key = dataset::content_hash(text.as_bytes());
        if let Some(known) = self.0.lock().ok().and_then(|known| known.get(&key).copied()) {
            return Ok(Some(known));
        }
        let found = match find() {
            Ok(found) => found,
            Err(Error::Stopped) => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
        if let Ok(mut known) = self.0.lock() {
            known.insert(key, found);
        }
        Ok(Some(found))
    }
}

/// Executes kernels on the processor's device, each text once.
pub(crate) struct Runs {
    runner: Runner,
    known: Known<Outcome>,
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
            // Many are tried, of which some do not end.
            limit: Duration::from_secs(5),
            ..Options::default()
        };
        let runner = Runner::new(options, stop)
            .with_context(|| format!("{option} needs a device to run kernels on"))?;
        Ok(Runs { runner, known: Known::new() })
    }

    /// What running the kernel comes to; `None`: the user has stopped all of it.
    ///
    /// # Errors
    /// Why that cannot be told: a device or a disk that does not work says nothing of a kernel.
    pub(crate) fn check(&self, text: &str) -> Result<Option<Outcome>, String> {
        self.known.of(text, || self.runner.check(text))
    }
}

/// Measures kernels on two devices.
pub(crate) struct Faster {
    /// Of both devices, the one to be faster on first.
    runner: Runner,
    margin: f64,
    known: Known<bool>,
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
        let options = Options {
            devices: format!("{device},{than}"),
            global_sizes: vec![size],
            ..Options::default()
        };
        let runner = Runner::new(options, stop).context("--faster-on needs both devices")?;
        let names = runner.names();
        let (one, other) = match &names[..] {
            [one, other] => (one, other),
            [one] => bail!("--faster-on {device} and --than {than} are both {one}"),
            all => bail!(
                "--faster-on {device} and --than {than} are more than two devices: {}",
                all.join(", ")
            ),
        };
        let settings = json!({ "device": one, "than": other, "margin": margin, "size": size });
        Ok(Faster { runner, margin, known: Known::new(), settings })
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
        Ok(self.known.of(text, || self.is_faster(text))?.unwrap_or(false))
    }

    fn is_faster(&self, text: &str) -> Result<bool, Error> {
        let rows = self.runner.rows(&[Benchmark::of(text)])?;
        let times: Option<Vec<(f64, f64)>> = rows.iter().map(seconds).collect();
        let Some([(fast, above), (slow, below)]) = times.as_deref() else { return Ok(false) };
        Ok(fast * self.margin <= *slow && fast + above < slow - below)
    }
}

/// Seconds of a run, transfers to a GPU included, and half of their confidence interval.
fn seconds(run: &RunRow) -> Option<(f64, f64)> {
    let half = run.interval? / 2.0 * run.kernel_time_ns? as f64 * 1e-9;
    Some((run.seconds(Transfers::Gpu)?, half))
}
