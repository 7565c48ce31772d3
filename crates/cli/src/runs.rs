//! Which kernels run and pass the checker, for `--must-run`, and which are faster on one device than on another, for
//! `--faster-on`.

use crate::{Global, command::features::options as extractor_options};
use anyhow::{Context, bail};
use device::{Benchmark, Error, Options, Outcome, RunRow, Runner, Transfers};
use features::{Extractor, Undefined};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};
use synth::{Deadline, MayRace};

/// How often somebody looks whether a check is to be cut short.
const TICK: Duration = Duration::from_millis(20);

/// What is found of a kernel whose check was cut short because the search's time was up.
const OUT_OF_TIME: &str = "out-of-time";

/// What is known of kernels, by their texts.
struct Known<T>(Mutex<BTreeMap<String, T>>);

impl<T: Clone> Known<T> {
    fn new() -> Known<T> {
        Known(Mutex::default())
    }

    /// What `find` says of a text, which is asked once; `None`: the user has stopped all of it, and nothing is remembered.
    fn of<E: Fault>(
        &self,
        text: &str,
        find: impl FnOnce() -> Result<T, E>,
    ) -> Result<Option<T>, String> {
        let key = dataset::content_hash(text.as_bytes());
        if let Some(known) = self.0.lock().ok().and_then(|known| known.get(&key).cloned()) {
            return Ok(Some(known));
        }
        let found = match find() {
            Ok(found) => found,
            Err(error) if error.is_stop() => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
        if let Ok(mut known) = self.0.lock() {
            known.insert(key, found.clone());
        }
        Ok(Some(found))
    }
}

/// What keeps a kernel from being looked at.
trait Fault: ToString {
    /// Whether it is the user, who has stopped all of it.
    fn is_stop(&self) -> bool;
}

impl Fault for Error {
    fn is_stop(&self) -> bool {
        matches!(self, Error::Stopped)
    }
}

impl Fault for features::Error {
    fn is_stop(&self) -> bool {
        matches!(self, features::Error::Cancelled { .. })
    }
}

impl Fault for synth::Error {
    fn is_stop(&self) -> bool {
        match self {
            synth::Error::Stopped => true,
            synth::Error::Features(error) => error.is_stop(),
            _ => false,
        }
    }
}

/// Cuts checks short: because the user has stopped all of it, or because the time of the search that asks is up.
pub(crate) struct Cut {
    stop: Arc<AtomicBool>,
    deadline: Deadline,
    /// Ends what is running.
    raised: Arc<AtomicBool>,
}

impl Cut {
    /// `stop` is what the user raises; `deadline` is that of the search, where there is one.
    pub(crate) fn new(stop: &Arc<AtomicBool>, deadline: Deadline) -> Arc<Cut> {
        Arc::new(Cut { stop: Arc::clone(stop), deadline, raised: Arc::default() })
    }

    /// What is raised to end what is running.
    pub(crate) fn flag(&self) -> &Arc<AtomicBool> {
        &self.raised
    }

    /// Do `work`, and have it ended once the user stops it or the time is up.
    pub(crate) fn within<R>(&self, work: impl FnOnce() -> R) -> R {
        let ended = AtomicBool::new(false);
        thread::scope(|scope| {
            let watch = scope.spawn(|| {
                while !ended.load(Ordering::Acquire) {
                    if self.stop.load(Ordering::Relaxed) || self.deadline.is_past() {
                        self.raised.store(true, Ordering::Relaxed);
                    }
                    thread::park_timeout(TICK);
                }
            });
            let result = work();
            ended.store(true, Ordering::Release);
            watch.thread().unpark();
            let _ = watch.join();
            self.raised.store(self.stop.load(Ordering::Relaxed), Ordering::Relaxed);
            result
        })
    }

    /// In a word, why there is nothing to say of a kernel.
    pub(crate) fn why(&self) -> &'static str {
        if self.stop.load(Ordering::Relaxed) { "stopped" } else { OUT_OF_TIME }
    }
}

/// Executes kernels on the processor's device, each text once.
pub(crate) struct Runs {
    runner: Runner,
    cut: Arc<Cut>,
    known: Known<String>,
    /// Find what executions on a device only find by chance, or not with the arguments that they have.
    undefined: Option<(MayRace, Extractor, Known<String>)>,
}

impl Runs {
    /// What `--must-run` asks for of kernels that may demand work-groups of `group` work-items, `stop` is what the user
    /// raises; `None` without the option.
    ///
    /// # Errors
    /// When there is no such device, or no kernel could be looked at for races: better now than after the first kernel.
    pub(crate) fn wanted(
        must_run: bool,
        allow_races: bool,
        group: u64,
        stop: &Arc<AtomicBool>,
        global: &Global,
    ) -> anyhow::Result<Option<Runs>> {
        let cut = Cut::new(stop, Deadline::default());
        Runs::wanted_within(must_run, allow_races, group, &cut, global)
    }

    /// The same, whose checks `cut` ends.
    ///
    /// # Errors
    /// As [`Runs::wanted`].
    pub(crate) fn wanted_within(
        must_run: bool,
        allow_races: bool,
        group: u64,
        cut: &Arc<Cut>,
        global: &Global,
    ) -> anyhow::Result<Option<Runs>> {
        if !must_run {
            return Ok(None);
        }
        let mut sizes = [64, 256, 1024].map(|size: u64| size.next_multiple_of(group)).to_vec();
        sizes.dedup();
        let runs = Runs::within(cut, "--must-run", &sizes)?;
        if allow_races { Ok(Some(runs)) } else { runs.without_races(global).map(Some) }
    }

    /// `option` asks for it; at each of these sizes a kernel is to pass. Races are found by chance at best.
    ///
    /// # Errors
    /// When there is no such device.
    pub(crate) fn new(stop: &Arc<AtomicBool>, option: &str, sizes: &[u64]) -> anyhow::Result<Runs> {
        Runs::within(&Cut::new(stop, Deadline::default()), option, sizes)
    }

    fn within(cut: &Arc<Cut>, option: &str, sizes: &[u64]) -> anyhow::Result<Runs> {
        let options = Options {
            devices: "cpu".to_owned(),
            global_sizes: sizes.to_vec(),
            budget: Duration::ZERO,
            // Many are tried, of which some do not end.
            limit: Duration::from_secs(5),
            ..Options::default()
        };
        let runner = Runner::new(options, cut.flag())
            .with_context(|| format!("{option} needs a device to run kernels on"))?;
        Ok(Runs { runner, cut: Arc::clone(cut), known: Known::new(), undefined: None })
    }

    /// Those that pass have no race either, no divergent barrier, and read no local memory that nothing has written, as far as
    /// [`Extractor::undefined`] and [`MayRace`] tell. One that the former cannot run or the latter cannot read does not pass.
    ///
    /// # Errors
    /// When no kernel could be looked at, as without a linker.
    fn without_races(self, global: &Global) -> anyhow::Result<Runs> {
        let cancelled = Arc::clone(self.cut.flag());
        let options = features::Options { cancelled, ..extractor_options(1, global)? };
        let extractor = Extractor::new(features::spaces("dynamic")?, options);
        let trial = "kernel void A(global int* x) { x[get_global_id(0)] += 1; }";
        let without = "--must-run looks for races (--allow-races does without)";
        if global.is_watched() && !features::has_builtins() {
            eprintln!(
                "note: OpenCL's built-in functions are compiled for this machine, once; that takes some ten seconds"
            );
        }
        match self.cut.within(|| extractor.undefined(trial)).context(without)? {
            Ok(_) => {
                let undefined = Some((MayRace::new(1).context(without)?, extractor, Known::new()));
                Ok(Runs { undefined, ..self })
            }
            Err(verdict) => bail!("{without}: {verdict}"),
        }
    }

    /// What running the kernel comes to, an outcome by its name or why it cannot be run; `None`: the user has stopped all of
    /// it, or the time was up before it was known.
    ///
    /// # Errors
    /// Why that cannot be told: a device or a disk that does not work says nothing of a kernel.
    pub(crate) fn check(&self, text: &str) -> Result<Option<String>, String> {
        self.cut.within(|| self.checked(text))
    }

    fn checked(&self, text: &str) -> Result<Option<String>, String> {
        // What does not end, or crashes, costs moments here and seconds on a device.
        let defined = match &self.undefined {
            Some((may_race, extractor, known)) => known.of(text, || {
                match may_race.hazard(text)? {
                    Ok(Some(hazard)) => return Ok::<_, synth::Error>(hazard.name().to_owned()),
                    Ok(None) => {}
                    Err(verdict) => return Ok(verdict.to_string()),
                }
                let found = extractor.undefined(text)?;
                Ok(match found {
                    Ok(undefined) => outcome_of(undefined).name().to_owned(),
                    Err(verdict) => verdict.to_string(),
                })
            })?,
            None => Some(Outcome::Pass.name().to_owned()),
        };
        let found = match defined {
            Some(found) if is_pass(&found) => self
                .known
                .of(text, || self.runner.check(text).map(|found| found.name().to_owned()))?,
            other => other,
        };
        tracing::debug!(outcome = found.as_deref(), text, "a kernel was checked");
        Ok(found)
    }

    /// In a word what is found of a kernel that does not pass; `None` of one that does.
    ///
    /// # Errors
    /// Like [`Runs::check`].
    pub(crate) fn rejected(&self, text: &str) -> Result<Option<String>, String> {
        let found = self.check(text)?.unwrap_or_else(|| self.cut.why().to_owned());
        Ok((!is_pass(&found)).then(|| word(&found).to_owned()))
    }
}

/// The word of an outcome or verdict, without what is said of it.
fn word(found: &str) -> &str {
    found.split_once(':').map_or(found, |(word, _)| word)
}

/// Whether that is what [`Runs::check`] says of a kernel that is as asked.
pub(crate) fn is_pass(found: &str) -> bool {
    found == Outcome::Pass.name()
}

/// What is found in a kernel that passes otherwise.
fn outcome_of(undefined: Undefined) -> Outcome {
    match undefined {
        Undefined { global_races: 0, local_races: 0, unset_local_reads: 0 } => Outcome::Pass,
        Undefined { global_races: 0, local_races: 0, .. } => Outcome::ReadsUnset,
        _ => Outcome::Race,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_cut_short_when_the_user_stops_it_and_the_next_begins_afresh() {
        let stop = Arc::new(AtomicBool::new(false));
        let cut = Cut::new(&stop, Deadline::default());
        assert!(!cut.within(|| cut.flag().load(Ordering::Relaxed)));
        assert_eq!(cut.why(), OUT_OF_TIME);
        stop.store(true, Ordering::Relaxed);
        cut.within(|| {
            while !cut.flag().load(Ordering::Relaxed) {
                thread::yield_now();
            }
        });
        assert_eq!(cut.why(), "stopped");
        assert!(cut.flag().load(Ordering::Relaxed), "what was stopped stays so");
        stop.store(false, Ordering::Relaxed);
        cut.within(|| {});
        assert!(!cut.flag().load(Ordering::Relaxed));
    }

    #[test]
    fn what_keeps_a_kernel_from_being_looked_at_is_not_remembered() {
        let known: Known<String> = Known::new();
        let fails = |error: synth::Error| known.of("a kernel", || Err(error));
        assert_eq!(fails(synth::Error::Stopped), Ok(None));
        assert_eq!(fails(features::Error::Cancelled { done: 0 }.into()), Ok(None));
        let full = std::io::Error::other("too many");
        assert!(fails(synth::Error::Thread(full)).is_err_and(|said| said.contains("too many")));
        let verdict = || Ok::<_, synth::Error>("unsupported".to_owned());
        assert_eq!(known.of("a kernel", verdict), Ok(Some("unsupported".to_owned())));
        assert_eq!(fails(synth::Error::Stopped), Ok(Some("unsupported".to_owned())));
    }
}
