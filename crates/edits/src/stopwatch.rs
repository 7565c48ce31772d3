//! Times of built programs, each measured once.

use crate::{Error, Result, store::Store, toolchain::Executable};
use dataset::{Verdict, content_hash, content_hash_of};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering};
use timing::bounded::is_lasting;

/// What a program takes on one input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Time {
    /// Seconds of the simulated processor from the first instruction to the last.
    pub seconds: f64,
    /// Those from `main` on.
    pub seconds_net: f64,
    /// Instructions; 0 where the source of times does not count them.
    pub instructions: u64,
    /// Whether it asked for more input than there was.
    pub input_ended: bool,
    /// Identity of what it printed.
    pub output_hash: String,
}

#[derive(Serialize, Deserialize)]
enum Kept {
    Time(Time),
    Verdict(String, String),
}

/// Tells times and keeps them.
pub struct Stopwatch {
    timer: timing::Timer,
    identity: Option<String>,
    store: Store,
    measured: AtomicU64,
    instructions: AtomicU64,
}

impl Stopwatch {
    /// Open a source of times.
    ///
    /// # Errors
    /// When the processor is unknown or a tool is missing.
    pub fn open(options: &timing::Options, store: Store) -> Result<Stopwatch> {
        let timer = timing::Timer::open(options)?;
        let identity = timer.identity();
        let counts = (AtomicU64::new(0), AtomicU64::new(0));
        Ok(Stopwatch { timer, identity, store, measured: counts.0, instructions: counts.1 })
    }

    /// What programs are built and timed with.
    #[must_use]
    pub fn target(&self) -> &'static timing::Target {
        self.timer.target()
    }

    /// Identity of the processor and the source; empty for the wall clock.
    #[must_use]
    pub fn identity(&self) -> &str {
        self.identity.as_deref().unwrap_or_default()
    }

    /// Measurements made, those that were kept already left out, and their instructions.
    #[must_use]
    pub fn work(&self) -> (u64, u64) {
        (self.measured.load(Ordering::Relaxed), self.instructions.load(Ordering::Relaxed))
    }

    /// Time a program on an input; a verdict when it comes to a bad end.
    ///
    /// # Errors
    /// When the source of times itself cannot run.
    pub fn time(
        &self,
        executable: &Executable,
        input: &[u8],
    ) -> Result<std::result::Result<Time, Verdict>> {
        let mut times = self.time_each(executable, &[input])?;
        Ok(times.pop().expect("an input has an answer"))
    }

    /// Time a program on several inputs, in order, up to the first on which it comes to a bad end. Those
    /// that are not known yet are measured together, which costs less than one by one.
    ///
    /// # Errors
    /// When the source of times itself cannot run.
    pub fn time_each(
        &self,
        executable: &Executable,
        inputs: &[&[u8]],
    ) -> Result<Vec<std::result::Result<Time, Verdict>>> {
        let keys: Vec<Option<String>> =
            inputs.iter().map(|input| self.key(executable, input)).collect();
        let mut all: Vec<Option<Kept>> =
            keys.iter().map(|key| self.kept(key.as_deref()?)).collect();
        // What is behind a known bad end is not asked for.
        if let Some(at) = all.iter().position(|one| matches!(one, Some(Kept::Verdict(..)))) {
            all.truncate(at + 1);
        }
        let missing: Vec<usize> = (0..all.len()).filter(|at| all[*at].is_none()).collect();
        if !missing.is_empty() {
            let path = &executable.timed().path;
            let bytes = std::fs::read(path).map_err(Error::file("read", path))?;
            let wanted: Vec<&[u8]> = missing.iter().map(|at| inputs[*at]).collect();
            let timings = self.timer.time_each(&timing::Code::Elf(bytes), &wanted)?;
            for (at, timing) in missing.into_iter().zip(timings) {
                all[at] = Some(self.keep(keys[at].as_deref(), timing));
            }
        }
        let mut answers = Vec::new();
        for one in all.into_iter().map_while(|one| one) {
            match one {
                Kept::Time(time) => answers.push(Ok(time)),
                Kept::Verdict(name, detail) => {
                    answers.push(Err(Verdict { name: name.into(), detail }));
                    break;
                }
            }
        }
        Ok(answers)
    }

    fn key(&self, executable: &Executable, input: &[u8]) -> Option<String> {
        let identity = self.identity.as_ref()?;
        let input = content_hash(input);
        Some(content_hash_of([identity, &executable.timed().hash, &input].map(|s| s.as_bytes())))
    }

    fn kept(&self, key: &str) -> Option<Kept> {
        serde_json::from_slice(&self.store.get("times", key)?).ok()
    }

    /// Count what was measured, and keep it.
    fn keep(&self, key: Option<&str>, timing: timing::Timing) -> Kept {
        self.measured.fetch_add(1, Ordering::Relaxed);
        let kept = match timing.measurement {
            Some(m) => {
                self.instructions.fetch_add(m.instructions.unwrap_or(0), Ordering::Relaxed);
                Kept::Time(Time {
                    seconds: m.seconds_simulated,
                    seconds_net: m.seconds_net.unwrap_or(m.seconds_simulated),
                    instructions: m.instructions.unwrap_or(0),
                    input_ended: m.input_ended.unwrap_or(false),
                    output_hash: m.output_hash,
                })
            }
            None => Kept::Verdict(timing.verdict, timing.detail),
        };
        // A limit says something about this machine at this hour, too: not kept.
        let lasting = match &kept {
            Kept::Time(_) => true,
            Kept::Verdict(name, detail) => {
                is_lasting(&Verdict { name: name.clone().into(), detail: detail.clone() })
            }
        };
        if let (Some(key), true, Ok(text)) = (key, lasting, serde_json::to_vec(&kept)) {
            self.store.put("times", key, &text);
            // As it will be read: to the last digit a number may come back as another.
            return serde_json::from_slice(&text).unwrap_or(kept);
        }
        kept
    }
}
