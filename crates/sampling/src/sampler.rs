//! Samples drawn and judged.

use crate::{Error, Result, SampleRow, drawn, mark_duplicates};
use clang::Clang;
use dataset::{Input, Progress, Verdict, stage::Cancel};
use kernels::Judge;
use lm::{Checkpoint, Drawing, Kind, Prompt, Sample, Seen, condition};
use rows::SampleVerdict;
use serde::Serialize;
use std::{
    fmt,
    ops::Range,
    path::PathBuf,
    sync::{Mutex, OnceLock, PoisonError, mpsc::sync_channel},
};

/// What is drawn. Beside the checkpoint, all that shapes the rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// What each sample continues.
    pub prompt: Prompt,
    /// How tokens are chosen. A model of characters has four times as many tokens.
    pub drawing: Drawing,
    /// How many samples.
    pub samples: u64,
    /// Where the libtorch engine runs the model (`cpu`, `cuda`); `None`: this process does.
    pub device: Option<String>,
    /// Samples that the engine drew already, a list of ids a line; they are judged alone.
    pub drawn: Option<PathBuf>,
    /// Whether accepted samples are put into normal form.
    pub normalise: bool,
    /// Whether [`Sampler::checked_by`] runs them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub must_run: bool,
}

/// Runs a program: `None` if it passes, else what it came to. An error is the machine's.
pub type Check<'a> =
    &'a (dyn Fn(&str) -> std::result::Result<Option<String>, String> + Send + Sync);

/// Samples on their way to those that judge them.
const WAITING: usize = 1024;

/// Draws samples from a checkpoint and judges them. As a stage it does so in chunks of numbers, and a
/// row depends on settings and its number alone.
pub struct Sampler<'a> {
    pub(crate) checkpoint: &'a Checkpoint,
    pub(crate) settings: Settings,
    judge: Judge,
    /// The arguments that every sample is to have, as normal form spells them.
    asked: Option<Vec<String>>,
    check: Option<Check<'a>>,
    seen: Seen,
    jobs: usize,
    cancel: Cancel,
    /// What is drawn from, hashed once: it is in memory, and its files may go.
    pub(crate) inputs: OnceLock<Vec<Input>>,
}

impl fmt::Debug for Sampler<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sampler").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl<'a> Sampler<'a> {
    /// From this checkpoint, judged by `jobs` threads. Raising `cancel`, which is to be that of a stage's
    /// run, ends what is drawn soon.
    ///
    /// # Errors
    /// When there is no clang worker, the checkpoint's list of what it learned from is broken, the model
    /// cannot continue the prompt, or no kernel can have the arguments that are asked for.
    pub fn new(
        checkpoint: &'a Checkpoint,
        settings: Settings,
        jobs: usize,
        cancel: &Cancel,
    ) -> Result<Sampler<'a>> {
        let judge = Judge::new(Clang::start(jobs)?);
        // Only checkpoints made elsewhere lack it.
        let seen = Seen::read(checkpoint.folder())?;
        let (jobs, cancel) = (jobs.max(1), cancel.clone());
        let inputs = OnceLock::new();
        let asked = match &settings.prompt.arguments {
            Some(arguments) => Some(asked(&judge, arguments)?),
            None => None,
        };
        let check = None;
        let sampler =
            Sampler { checkpoint, settings, judge, asked, check, seen, jobs, cancel, inputs };
        if sampler.settings.drawn.is_none() {
            sampler.model(1).check(&sampler.settings.prompt)?;
        }
        Ok(sampler)
    }

    /// Have accepted samples run; those that do not pass are `does-not-run`.
    #[must_use]
    pub fn checked_by(self, check: Check<'a>) -> Sampler<'a> {
        Sampler { check: Some(check), ..self }
    }

    /// All rows, duplicates marked: those of all chunks, drawn as if they were one.
    ///
    /// # Errors
    /// When the model fails; [`Error::Stopped`].
    pub fn sample(&self, progress: &dyn Progress) -> Result<Vec<SampleRow>> {
        progress.begin("sampling", self.settings.samples);
        let numbers = 0..self.settings.samples;
        let mut rows = self.judged(&mut drawn::Reader::default(), numbers, progress)?;
        mark_duplicates(&mut rows);
        Ok(rows)
    }

    /// The rows of these numbers, in their order, drawn at once and judged by all threads; none is marked
    /// as a duplicate yet.
    pub(crate) fn judged(
        &self,
        reader: &mut drawn::Reader,
        numbers: Range<u64>,
        progress: &dyn Progress,
    ) -> Result<Vec<SampleRow>> {
        let all = numbers.end - numbers.start;
        let (tx, rx) = sync_channel::<Sample>(WAITING);
        let rx = Mutex::new(rx);
        let rows = Mutex::new(Vec::new());
        let drawn = std::thread::scope(|scope| {
            for _ in 0..self.jobs {
                scope.spawn(|| {
                    loop {
                        let sample = rx.lock().unwrap_or_else(PoisonError::into_inner).recv();
                        let Ok(sample) = sample else { return };
                        let row = self.judge(&sample);
                        rows.lock().unwrap_or_else(PoisonError::into_inner).push(row);
                        progress.advance(1);
                    }
                });
            }
            let mut done = |sample: Sample| tx.send(sample).is_ok() && !self.cancel.is_cancelled();
            let drawn = self.draw(reader, numbers, &mut done);
            drop(tx);
            drawn
        });
        drawn?;
        self.judge.works()?;
        let rows = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut rows = rows.into_iter().collect::<Result<Vec<_>>>()?;
        if self.cancel.is_cancelled() {
            return Err(Error::Stopped { done: rows.len(), all });
        }
        rows.sort_by_key(|row| row.number);
        Ok(rows)
    }

    fn draw(
        &self,
        reader: &mut drawn::Reader,
        numbers: Range<u64>,
        done: &mut dyn FnMut(Sample) -> bool,
    ) -> Result<()> {
        let prompt = &self.settings.prompt;
        if let Some(path) = &self.settings.drawn {
            return reader.read(path, self.checkpoint, prompt, numbers, done);
        }
        let count = usize::try_from(numbers.end - numbers.start).unwrap_or(usize::MAX);
        Ok(self.model(count).draw(prompt, numbers, done)?)
    }

    /// What draws `count` samples.
    fn model(&self, count: usize) -> lm::Sampler<'_> {
        let Settings { drawing, device, .. } = &self.settings;
        let longest = match self.checkpoint.kind() {
            Kind::Lstm => drawing.longest.saturating_mul(4),
            _ => drawing.longest,
        };
        let drawing = Drawing { longest, slots: drawing.slots.min(count), ..*drawing };
        let sampler = lm::Sampler::new(self.checkpoint, drawing);
        match device {
            Some(device) => sampler.elsewhere(device),
            None => sampler,
        }
    }

    fn judge(&self, sample: &Sample) -> Result<SampleRow> {
        let mut row = SampleRow {
            number: sample.number,
            text: sample.text.clone(),
            tokens: lexer::tokens(&sample.text).count() as u32,
            closed: sample.closed,
            refused: sample.refused,
            ..SampleRow::default()
        };
        if !sample.ended {
            row.verdict = "unfinished".to_owned();
            row.detail = format!("{} tokens without an end", sample.tokens);
            return Ok(row);
        }
        match self.judge.check(&sample.text) {
            Ok(judged) => {
                row.verdict = Verdict::ACCEPTED.to_owned();
                row.instructions = judged.instructions;
                row.name = judged.kernel;
                if self.settings.normalise
                    && let Some(normal) = self.judge.normalise(&sample.text)
                {
                    row.text = normal.text;
                    row.name = normal.name;
                }
            }
            Err(verdict) => {
                row.verdict = verdict.name.into_owned();
                row.detail = verdict.detail;
            }
        }
        if let Some(asked) = &self.asked
            && row.verdict == Verdict::ACCEPTED
            && arguments(&row.text) != *asked
        {
            row.verdict = SampleVerdict::NotAsAsked.to_string();
            row.detail = format!("its arguments are `{}`", arguments(&row.text).join(" "));
        }
        if let Some(check) = self.check
            && row.verdict == Verdict::ACCEPTED
            && let Some(outcome) = check(&row.text).map_err(Error::Check)?
        {
            row.verdict = SampleVerdict::DoesNotRun.to_string();
            row.detail = outcome;
        }
        row.memorised = self.seen.holds(&sample.text) || self.seen.holds(&row.text);
        Ok(row)
    }
}

/// The arguments of a text's last kernel; address spaces have two spellings.
fn arguments(text: &str) -> Vec<String> {
    let lexemes = condition::arguments(text).into_iter();
    lexemes.map(|lexeme| lexeme.trim_start_matches("__").to_owned()).collect()
}

/// The arguments that a kernel has which was asked to have these.
fn asked(judge: &Judge, wanted: &str) -> Result<Vec<String>> {
    let refused = |reason: String| Error::Arguments { asked: wanted.to_owned(), reason };
    let text = condition::head(wanted).map_err(refused)? + "}\n";
    let judged = judge.check(&text);
    judge.works()?;
    match judged {
        Err(verdict) if verdict.name != SampleVerdict::TooSmall.name() => {
            Err(refused(verdict.detail))
        }
        _ => {
            let normal = judge.normalise(&text).map(|row| arguments(&row.text));
            let own = arguments(&text);
            // Normal form may respell a type; it is not to lose an argument.
            let commas = |list: &[String]| list.iter().filter(|lexeme| *lexeme == ",").count();
            Ok(normal.filter(|normal| commas(normal) == commas(&own)).unwrap_or(own))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dataset::Silent;
    use std::path::Path;

    fn settings(samples: u64) -> Settings {
        Settings {
            prompt: Prompt::new(lm::START),
            drawing: Drawing { seed: 7, longest: 128, slots: 3, ..Drawing::default() },
            samples,
            device: None,
            drawn: None,
            normalise: true,
            must_run: false,
        }
    }

    #[test]
    fn rows_depend_on_their_numbers_and_not_on_what_is_drawn_with_them() {
        // Not `env!`: a build folder may serve several checkouts. Cargo runs tests in the crate's folder.
        let checkpoint =
            Checkpoint::load(Path::new("../../models/infill")).expect("the model that ships");
        let cancel = Cancel::default();
        let sampler = Sampler::new(&checkpoint, settings(5), 2, &cancel)
            .unwrap_or_else(|error| panic!("{error}"));
        let judged = |numbers| sampler.judged(&mut drawn::Reader::default(), numbers, &Silent);
        let rows = |numbers| judged(numbers).expect("are drawn");
        let all = rows(0..5);
        assert_eq!(all.iter().map(|row| row.number).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        assert_eq!([rows(0..2), rows(2..5)].concat(), all);
        assert!(rows(5..5).is_empty());
        let mut marked = all;
        mark_duplicates(&mut marked);
        assert_eq!(sampler.sample(&Silent).expect("are drawn"), marked);
        cancel.cancel();
        let stopped = judged(0..5);
        assert!(matches!(stopped, Err(Error::Stopped { all: 5, .. })), "{stopped:?}");
    }

    #[test]
    fn samples_drawn_elsewhere_come_in_the_same_chunks() {
        let checkpoint =
            Checkpoint::load(Path::new("../../models/infill")).expect("the model that ships");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ids.jsonl");
        std::fs::write(&path, "[1]\n[20, 1]\n[21, 1]\nnot ids\n").expect("is written");
        let mut reader = drawn::Reader::default();
        let mut read = |numbers| {
            let mut told = Vec::new();
            let prompt = Prompt::new(lm::START);
            let mut done = |sample: Sample| {
                told.push((sample.number, sample.text));
                true
            };
            reader.read(&path, &checkpoint, &prompt, numbers, &mut done).map(|()| told)
        };
        let all = read(0..3).expect("are read");
        assert!(read(1..1).expect("there are none").is_empty());
        assert_eq!([read(0..1), read(1..3)].map(|part| part.expect("is read")).concat(), all);
        let broken = read(2..4).expect_err("no list").to_string();
        assert!(broken.contains("line 4: no list of ids"), "{broken}");
    }
}
