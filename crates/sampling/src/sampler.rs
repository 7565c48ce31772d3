//! Samples drawn and judged.

use crate::{
    Error, Result, SampleRow,
    arguments::{arguments, asked, without_fences},
    corpus, drawn,
    evaluate::learned as learned_kernels,
    fill::{drawn_part, is_constant_fill, lexemes, whatever_its_value},
    likelihood::unlikely,
    mark_duplicates,
    summary::is_accepted,
    tries::Tries,
    undefined::{undefined, undefined_of_prompt},
};
use clang::Clang;
use dataset::{Input, Progress, Silent, Verdict, stage::Cancel};
use features::Extractor;
use grammar::{Useful, Useless};
use kernels::{Judge, Judged};
use leak::{Known, Print};
use lm::{Checkpoint, Drawing, Entry, Kind, Prompt, Sample, Seen, TrainingSet, condition};
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
    /// How often a sample is drawn at most until it has the features that are asked for, passes, changes something, is likely
    /// enough, and is no near-duplicate of what was learned.
    pub tries: u64,
    /// Where the libtorch engine runs the model (`cpu`, `cuda`); `None`: this process does.
    pub device: Option<String>,
    /// Samples that the engine drew already, a list of ids a line; they are judged alone.
    pub drawn: Option<PathBuf>,
    /// Whether accepted samples are put into normal form.
    pub normalise: bool,
    /// Whether near-duplicates of what the model learned from are drawn anew.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub novel: bool,
    /// Bits a token above which a sample is drawn anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_bits: Option<f64>,
    /// Whether [`Sampler::checked_by`] runs them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub must_run: bool,
}

/// Runs a program: `None` if it passes, else what it came to. An error is the machine's.
pub type Check<'a> =
    &'a (dyn Fn(&str) -> std::result::Result<Option<String>, String> + Send + Sync);

/// Samples on their way to those that judge them.
const WAITING: usize = 1024;

/// From one try at a sample to the next, in the numbers that they are drawn by: more than there are samples.
const TRY: u64 = 1 << 40;

/// Draws samples from a checkpoint and judges them. As a stage it does so in chunks of numbers, and a
/// row depends on settings and its number alone.
pub struct Sampler<'a> {
    pub(crate) checkpoint: &'a Checkpoint,
    pub(crate) settings: Settings,
    judge: Judge,
    /// For what the judge does not tell: warnings.
    clang: Clang,
    /// How much of the prompt is undefined whatever is drawn.
    undefined: usize,
    /// The arguments that every sample is to have, as normal form spells them.
    asked: Option<Vec<String>>,
    /// What a kernel of these arguments does that does nothing, where samples are to do something.
    empty: Option<String>,
    /// What the prompt's kernel does without the hole, where that compiles, or whatever value the hole has.
    without: Option<String>,
    /// What accepted samples may not be near-duplicates of.
    learned: Option<Known>,
    check: Option<Check<'a>>,
    /// Says which features a sample has.
    extractor: Option<Extractor>,
    seen: Seen,
    pub(crate) tries: Tries<'a>,
    jobs: usize,
    pub(crate) cancel: Cancel,
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
    /// When there is no clang worker, the checkpoint's list of what it learned from is broken, or not there where samples are
    /// compared with it, the model cannot continue the prompt or gives no text a probability where that is limited, or no
    /// kernel can have the arguments that are asked for.
    pub fn new(
        checkpoint: &'a Checkpoint,
        settings: Settings,
        jobs: usize,
        cancel: &Cancel,
    ) -> Result<Sampler<'a>> {
        let (judge, clang) = (Judge::new(Clang::start(jobs)?), Clang::start(jobs)?);
        // Only checkpoints made elsewhere lack it.
        let seen = Seen::read(checkpoint.folder())?;
        let (jobs, cancel) = (jobs.max(1), cancel.clone());
        let inputs = OnceLock::new();
        let asked = match &settings.prompt.arguments {
            Some(arguments) => Some(asked(&judge, arguments, settings.drawing.useful)?),
            None => None,
        };
        let prompt = &settings.prompt.text;
        let undefined = undefined_of_prompt(&clang, prompt)?;
        let empty = match settings.drawing.useful && asked.is_some() {
            true => judge.effect(&prompt.replace(lm::HOLE, "}")),
            false => None,
        };
        let without = match settings.drawing.useful && prompt.contains(lm::HOLE) {
            true => {
                let nothing = judge.effect(&prompt.replace(lm::HOLE, ""));
                nothing.or_else(|| whatever_its_value(prompt, &|text| judge.effect(text)))
            }
            false => None,
        };
        judge.works()?;
        let learned = settings.novel.then(|| TrainingSet::read(checkpoint.folder())).transpose()?;
        let learned = match learned {
            Some(None) => return Err(Error::UnknownTraining(checkpoint.folder().to_owned())),
            Some(Some(training)) => Some(learned_kernels(&training)),
            None => None,
        };
        if settings.most_bits.is_some() {
            // A model of kind `hole` has none.
            checkpoint.bits("")?;
        }
        let (check, extractor, tries) = (None, None, Tries::default());
        let sampler = Sampler {
            checkpoint,
            settings,
            judge,
            clang,
            undefined,
            asked,
            empty,
            without,
            learned,
            check,
            extractor,
            seen,
            tries,
            jobs,
            cancel,
            inputs,
        };
        if sampler.settings.drawn.is_none() {
            sampler.model(1).check(&sampler.settings.prompt)?;
        }
        Ok(sampler)
    }

    /// Have accepted samples run. What does not pass is drawn anew, and `does-not-run` in the end.
    #[must_use]
    pub fn checked_by(self, check: Check<'a>) -> Sampler<'a> {
        Sampler { check: Some(check), ..self }
    }

    /// Whether the prompt asks for features.
    #[must_use]
    pub fn asks_for_features(&self) -> bool {
        !self.settings.prompt.features.is_empty()
    }

    /// The same, with what describes samples in the spaces of [`corpus::SPACES`]. What has not the features that the prompt
    /// asks for is drawn anew, and `not-as-asked` in the end; without it the model leans towards them, and that is all.
    #[must_use]
    pub fn describing(self, extractor: Extractor) -> Sampler<'a> {
        Sampler { extractor: Some(extractor), ..self }
    }

    /// All rows, duplicates marked: those of all chunks, drawn as if they were one.
    ///
    /// # Errors
    /// When the model fails; [`Error::Stopped`].
    pub fn sample(&self, progress: &dyn Progress) -> Result<Vec<SampleRow>> {
        let rows = self.sample_until_stopped(progress)?;
        self.whole(rows, self.settings.samples)
    }

    /// The same; where `cancel` is raised, the rows that were done before.
    ///
    /// # Errors
    /// When the model fails.
    pub fn sample_until_stopped(&self, progress: &dyn Progress) -> Result<Vec<SampleRow>> {
        progress.begin("sampling", self.settings.samples);
        let numbers = 0..self.settings.samples;
        let mut rows =
            self.judged_until_stopped(&mut drawn::Reader::default(), numbers, progress)?;
        mark_duplicates(&mut rows);
        Ok(rows)
    }

    /// The rows of these numbers, in their order; none is marked as a duplicate yet.
    ///
    /// # Errors
    /// As [`Sampler::sample`].
    pub(crate) fn judged(
        &self,
        reader: &mut drawn::Reader,
        numbers: Range<u64>,
        progress: &dyn Progress,
    ) -> Result<Vec<SampleRow>> {
        let all = numbers.end.saturating_sub(numbers.start);
        let rows = self.judged_until_stopped(reader, numbers, progress)?;
        self.whole(rows, all)
    }

    /// These rows, if none of so many is missing because of a stop.
    fn whole(&self, rows: Vec<SampleRow>, all: u64) -> Result<Vec<SampleRow>> {
        if self.cancel.is_cancelled() && (rows.len() as u64) < all {
            return Err(Error::Stopped { done: rows.len(), all });
        }
        Ok(rows)
    }

    /// Whether samples may be drawn more than once.
    pub(crate) fn draws_anew(&self) -> bool {
        let is_limited = self.learned.is_some() || self.settings.most_bits.is_some();
        // What arguments are asked for alone is drawn once.
        let fills = self.fills_body() && self.asked.is_none();
        let rejects = self.check.is_some() || self.without.is_some() || fills || is_limited;
        let wants = self.extractor.is_some() && self.asks_for_features();
        (wants || rejects) && self.settings.drawn.is_none() && self.settings.tries > 1
    }

    /// Whether samples go on in the body of a function of the prompt, and are to do something there.
    fn fills_body(&self) -> bool {
        self.settings.drawing.useful && self.settings.prompt.text.contains('{')
    }

    /// The rows of these numbers as [`Sampler::judged`] makes them; where `cancel` is raised, those that were done before.
    fn judged_until_stopped(
        &self,
        reader: &mut drawn::Reader,
        numbers: Range<u64>,
        progress: &dyn Progress,
    ) -> Result<Vec<SampleRow>> {
        let wanted = self.extractor.as_ref().filter(|_| self.asks_for_features());
        let again = self.draws_anew();
        let last = if again { self.settings.tries - 1 } else { 0 };
        let mut missing: Vec<u64> = numbers.collect();
        let mut rows = Vec::new();
        for attempt in 0..=last {
            // Where none is drawn anew each sample is done as soon as it is judged.
            let judged = (!again).then_some(progress);
            let drawn = self.told_attempt(reader, &missing, attempt, wanted, judged)?;
            missing.clear();
            for row in drawn {
                if attempt < last && !is_accepted(&row) {
                    missing.push(row.number);
                } else {
                    rows.push(row);
                    progress.advance(u64::from(again));
                }
            }
            if missing.is_empty() || self.cancel.is_cancelled() {
                break;
            }
        }
        rows.sort_by_key(|row| row.number);
        Ok(rows)
    }

    /// One try at samples of these ascending numbers, drawn at once and judged by all threads; where `cancel` is raised, the
    /// rows of those that were judged before.
    pub(crate) fn attempt(
        &self,
        reader: &mut drawn::Reader,
        numbers: &[u64],
        attempt: u64,
        progress: Option<&dyn Progress>,
    ) -> Result<Vec<SampleRow>> {
        let (tx, rx) = sync_channel::<Sample>(WAITING);
        let rx = Mutex::new(rx);
        let rows = Mutex::new(Vec::new());
        let drawn = std::thread::scope(|scope| {
            for _ in 0..self.jobs {
                scope.spawn(|| {
                    loop {
                        let sample = rx.lock().unwrap_or_else(PoisonError::into_inner).recv();
                        let Ok(sample) = sample else { return };
                        if self.cancel.is_cancelled() {
                            continue;
                        }
                        let row = self.judge(&sample);
                        // What is found out during a stop says nothing of a sample.
                        if self.cancel.is_cancelled() {
                            continue;
                        }
                        rows.lock().unwrap_or_else(PoisonError::into_inner).push(row);
                        if let Some(progress) = progress {
                            progress.advance(1);
                        }
                    }
                });
            }
            let mut done = |sample: Sample| {
                let sample = Sample { number: sample.number % TRY, ..sample };
                tx.send(sample).is_ok() && !self.cancel.is_cancelled()
            };
            let drawn = self.draw(reader, numbers, attempt, &mut done);
            drop(tx);
            drawn
        });
        let works = drawn.and_then(|()| Ok(self.judge.works()?));
        let rows = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
        let rows = works.and_then(|()| rows.into_iter().collect::<Result<Vec<_>>>());
        if rows.is_err() && self.cancel.is_cancelled() {
            return Ok(Vec::new());
        }
        let mut rows = rows?;
        rows.sort_by_key(|row| row.number);
        Ok(rows)
    }

    fn draw(
        &self,
        reader: &mut drawn::Reader,
        numbers: &[u64],
        attempt: u64,
        done: &mut dyn FnMut(Sample) -> bool,
    ) -> Result<()> {
        let prompt = &self.settings.prompt;
        if let Some(path) = &self.settings.drawn {
            let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else {
                return Ok(());
            };
            return reader.read(path, self.checkpoint, prompt, *first..last + 1, done);
        }
        let prompts = numbers.iter().map(|number| (number + attempt * TRY, prompt.clone()));
        Ok(self.model(numbers.len()).draw_each(prompts, done)?)
    }

    /// Mark the accepted rows that have not the features which were asked for.
    pub(crate) fn compare(&self, rows: &mut [SampleRow], extractor: &Extractor) -> Result<()> {
        let accepted: Vec<&mut SampleRow> =
            rows.iter_mut().filter(|row| is_accepted(row)).collect();
        let entry = |row: &&mut SampleRow| Entry { text: row.text.clone(), ..Entry::default() };
        let mut entries: Vec<Entry> = accepted.iter().map(entry).collect();
        corpus::describe(&mut entries, extractor, &Silent)?;
        for (row, mut entry) in accepted.into_iter().zip(entries) {
            let tokens = self.checkpoint.tokenizer().encode_plain(row.text.trim()).len();
            entry.features.insert("tokens".to_owned(), tokens as f64);
            let missed = condition::missed(&self.settings.prompt.features, &entry.features);
            if !missed.is_empty() {
                row.verdict = SampleVerdict::NotAsAsked.to_string();
                row.detail = missed.join(", ");
            }
        }
        Ok(())
    }

    /// What draws `count` samples.
    fn model(&self, count: usize) -> lm::Sampler<'_> {
        let Settings { drawing, device, .. } = &self.settings;
        let longest = match self.checkpoint.kind() {
            Kind::Lstm => drawing.longest.saturating_mul(4),
            _ => drawing.longest,
        };
        let drawing = Drawing { longest, slots: drawing.slots.min(count), ..*drawing };
        let sampler = lm::Sampler::new(self.checkpoint, drawing).stopped_by(self.cancel.flag());
        match device {
            Some(device) => sampler.elsewhere(device),
            None => sampler,
        }
    }

    fn judge(&self, sample: &Sample) -> Result<SampleRow> {
        let mut row = SampleRow {
            number: sample.number,
            path: format!("sample-{}.cl", sample.number),
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
        let mut idle = false;
        match self.judge.check(&sample.text) {
            Ok(judged) => {
                let (text, judged) = self.without_dead_code(&sample.text, judged);
                row.verdict = Verdict::ACCEPTED.to_owned();
                // What was removed may have stood in the way of what the optimizer makes of the rest.
                let empty = empty_blocks(&text) > empty_blocks(&self.settings.prompt.text);
                let is_prompt = |text: &str| self.judge.effect(text) == self.without;
                idle = self.fills_body() && empty
                    || self.without.is_some()
                        && (is_prompt(&sample.text) || text != sample.text && is_prompt(&text));
                row.instructions = judged.instructions;
                row.name = judged.kernel;
                if self.settings.normalise
                    && let Some(normal) = self.judge.normalise(&text)
                {
                    row.text = normal.text;
                    row.name = normal.name;
                } else {
                    row.text = text;
                }
                let undefined = undefined(&self.clang, &row.text, &judged.standard)?;
                if let Some(warning) = undefined.into_iter().flatten().nth(self.undefined) {
                    row.verdict = SampleVerdict::Undefined.to_string();
                    row.detail = warning;
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
        if self.empty.is_some()
            && row.verdict == Verdict::ACCEPTED
            && self.judge.effect(&without_fences(&sample.text)) == self.empty
        {
            row.verdict = SampleVerdict::NotAsAsked.to_string();
            row.detail = "it does nothing".to_owned();
        }
        if self.settings.drawing.useful
            && row.verdict == Verdict::ACCEPTED
            && is_constant_fill(&sample.text, &self.settings.prompt.text)
        {
            row.verdict = SampleVerdict::NoEffect.to_string();
            row.detail = "it names nothing".to_owned();
        }
        if idle && row.verdict == Verdict::ACCEPTED {
            row.verdict = SampleVerdict::NoEffect.to_string();
        }
        if let Some(learned) = &self.learned
            && row.verdict == Verdict::ACCEPTED
            && let Some(known) = learned.copied(&Print::of_text(&row.text))
        {
            row.verdict = SampleVerdict::NearDuplicate.to_string();
            row.detail = known.of().to_owned();
        }
        if let Some(most) = self.settings.most_bits
            && row.verdict == Verdict::ACCEPTED
            && let Some(bits) = unlikely(self.checkpoint, &row.text, most)?
        {
            row.verdict = SampleVerdict::Unlikely.to_string();
            row.detail = bits;
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

    /// A sample that passed, without the dead code that was drawn, where that is looked at and what is left passes as well.
    fn without_dead_code(&self, text: &str, judged: Judged) -> (String, Judged) {
        let drawn = drawn_part(text, &self.settings.prompt.text);
        let Some(drawn) = drawn.filter(|_| self.settings.drawing.useful) else {
            return (text.to_owned(), judged);
        };
        // A program that never ends, or reads what nothing wrote, does whatever the optimizer likes: it tells nothing of its parts.
        let unset = unset(text);
        let may_be = |left: &str| self::unset(left) <= unset;
        let left = self.judge.without_dead_code(text, drawn, &may_be).filter(|left| left != text);
        match left.and_then(|left| self.judge.check(&left).ok().map(|judged| (left, judged))) {
            Some(left) => left,
            None => (text.to_owned(), judged),
        }
    }
}

/// Loops and branches with nothing in them.
fn empty_blocks(text: &str) -> usize {
    lexemes(text).windows(2).filter(|two| *two == ["{", "}"]).count()
}

/// How many statements read a variable that nothing has written.
fn unset(text: &str) -> usize {
    let refused = Useful::new().refused(&lexemes(text));
    refused.into_iter().filter(|why| *why == Useless::Uninitialized).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial;
    use std::{
        path::Path,
        sync::atomic::{AtomicUsize, Ordering},
    };

    fn settings(samples: u64) -> Settings {
        Settings {
            prompt: Prompt::new(lm::START),
            drawing: Drawing { seed: 7, longest: 128, slots: 3, ..Drawing::default() },
            samples,
            tries: 1,
            device: None,
            drawn: None,
            normalise: true,
            novel: false,
            most_bits: None,
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
    fn a_stop_leaves_what_was_done_before() {
        let checkpoint =
            Checkpoint::load(Path::new("../../models/infill")).expect("the model that ships");
        let (cancel, checked) = (Cancel::default(), AtomicUsize::new(0));
        let passes = |_: &str| Ok::<Option<String>, String>(None);
        let stops = |_: &str| {
            // The third is being run when the stop comes: that it passes means nothing.
            if checked.fetch_add(1, Ordering::Relaxed) == 2 {
                cancel.cancel();
            }
            Ok::<Option<String>, String>(None)
        };
        let sampler = |cancel: &Cancel| {
            Sampler::new(&checkpoint, Settings { tries: 4, ..settings(12) }, 1, cancel)
                .unwrap_or_else(|error| panic!("{error}"))
        };
        let mut reader = drawn::Reader::default();
        let straight = sampler(&Cancel::default()).checked_by(&passes);
        let all = straight.judged(&mut reader, 0..12, &Silent).expect("are drawn");
        let stopped = sampler(&cancel).checked_by(&stops);
        let kept = stopped.judged_until_stopped(&mut reader, 0..12, &Silent).expect("are drawn");
        assert_eq!((all.len(), kept.len()), (12, 2), "{kept:?}");
        assert!(kept.iter().all(|row| is_accepted(row) && all.contains(row)), "{kept:?}");
        let nothing = stopped.sample(&Silent);
        assert!(matches!(nothing, Err(Error::Stopped { done: 0, all: 12 })), "{nothing:?}");
    }

    #[test]
    fn what_has_not_the_features_asked_for_is_drawn_anew() {
        let checkpoint =
            Checkpoint::load(Path::new("../../models/infill")).expect("the model that ships");
        let spaces = features::spaces(corpus::SPACES).expect("they are known");
        let sampled = |tries| {
            let mut settings = Settings { tries, ..settings(12) };
            settings.prompt.features.insert("blocks".to_owned(), 4.0);
            let sampler = Sampler::new(&checkpoint, settings, 2, &Cancel::default())
                .unwrap_or_else(|error| panic!("{error}"));
            let reader = features::ModuleReader::InProcess;
            let options = features::Options { reader, ..features::Options::default() };
            let extractor = Extractor::new(spaces.clone(), options);
            sampler.describing(extractor).sample(&Silent).expect("are drawn")
        };
        let (once, often) = (sampled(1), sampled(6));
        assert!(often.iter().map(|row| row.number).eq(0..12));
        let kept = |(once, often): (&SampleRow, &SampleRow)| !is_accepted(once) || once == often;
        assert!(once.iter().zip(&often).all(kept), "{once:?}\n{often:?}");
        let accepted = |rows: &[SampleRow]| rows.iter().filter(|row| is_accepted(row)).count();
        assert!(accepted(&once) < accepted(&often), "{once:?}\n{often:?}");
    }

    #[test]
    fn a_prompt_is_kept_and_read_in_the_words_of_normal_form() {
        let checkpoint =
            Checkpoint::load(Path::new("../../models/infill")).expect("the model that ships");
        let drawn = |text: &str| {
            let mut settings = Settings { normalise: false, ..settings(3) };
            settings.prompt = Prompt::new(text);
            let sampler = Sampler::new(&checkpoint, settings, 2, &Cancel::default())
                .unwrap_or_else(|error| panic!("{error}"));
            let rows = sampler.sample(&Silent).expect("are drawn");
            rows.into_iter().map(|row| row.text).collect::<Vec<_>>()
        };
        let short = drawn("kernel void A(global int* a) {");
        assert!(short.iter().all(|text| text.starts_with("kernel void A(global int* a)")));
        let long = drawn("__kernel void A(__global int* a) {");
        assert_eq!(short.iter().map(|text| lexer::respelled(text)).collect::<Vec<_>>(), long);
    }

    #[test]
    fn a_fill_that_changes_nothing_has_no_effect() {
        let fills = ["int d = c + 1; d += 2;", "a[c] = a[c] + 1.0f;", "a[c] = 3.0f; a[c] = a[0];"];
        let text = "kernel void A(global float* a) { int c = get_global_id(0); [HOLE] a[c] = 2.0f * a[c]; }";
        let of = |fills: &[&str], text: &str, useful| {
            let drawing = Drawing { useful, ..settings(3).drawing };
            let rows = trial::of_fills(fills, Prompt::new(text), drawing);
            rows.into_iter().map(|row| row.verdict).collect::<Vec<_>>()
        };
        let verdicts = |text: &str, useful| of(&fills, text, useful);
        assert_eq!(verdicts(text, true), ["no-effect", "accepted", "accepted"]);
        assert_eq!(verdicts(text, false), ["accepted"; 3]);
        // Without the hole this is no program, and nothing can be said.
        let open = text.replace("a[c] = 2.0f * a[c];", "a[c] = 2.0f * d;");
        assert_eq!(verdicts(&open, true)[0], "accepted");
        // Nor is this, but whatever value is there does the same.
        let verdicts = |text: &str, useful| of(&["c + 1", "a[0] > 2.0f", "c++"], text, useful);
        let unused = "kernel void A(global float* a) { int c = get_global_id(0); int d = [HOLE]; a[c] *= 2.0f; }";
        assert_eq!(verdicts(unused, true), ["no-effect", "no-effect", "accepted"]);
        assert_eq!(verdicts(unused, false), ["accepted"; 3]);
        assert_eq!(verdicts(&unused.replace("2.0f", "d"), true), ["accepted"; 3]);
    }

    #[test]
    fn a_hole_in_an_expression_is_filled_with_one_that_names_something() {
        let checkpoint =
            Checkpoint::load(Path::new("../../models/infill")).expect("the model that ships");
        for (begin, end) in [
            ("if (", ") a[c] += 1.0f; }"),
            ("if (c < b) a[c] =", "; }"),
            ("for (int d = 0;", "; d++) a[c] += 1.0f; }"),
        ] {
            let begin = format!(
                "kernel void A(global float* a, int b) {{ int c = get_global_id(0); {begin}"
            );
            let mut settings = settings(6);
            settings.prompt = Prompt::new(&format!("{begin} [HOLE]{end}"));
            (settings.drawing.useful, settings.normalise) = (true, false);
            let sampler = Sampler::new(&checkpoint, settings, 2, &Cancel::default())
                .unwrap_or_else(|error| panic!("{error}"));
            for row in sampler.sample(&Silent).expect("are drawn") {
                assert!(["accepted", "duplicate"].contains(&&*row.verdict), "{row:?}");
                let [whole, begin, end] = [&row.text, &begin, end].map(|text| lexemes(text));
                let fill = &whole[begin.len()..whole.len() - end.len()];
                let is_apart = fill.iter().any(|lexeme| matches!(*lexeme, ";" | "{" | "}"));
                let is_name = |lexeme: &&str| lexeme.starts_with(|one: char| one.is_alphabetic());
                assert!(fill.iter().any(is_name) && !is_apart, "{fill:?}");
            }
        }
    }

    #[test]
    fn near_duplicates_of_what_was_learned_are_drawn_anew() {
        let checkpoint =
            Checkpoint::load(Path::new("../../models/infill")).expect("the model that ships");
        let rows = |novel, tries| {
            let settings = Settings { novel, tries, ..settings(12) };
            let sampler = Sampler::new(&checkpoint, settings, 2, &Cancel::default())
                .unwrap_or_else(|error| panic!("{error}"));
            sampler.sample(&Silent).expect("are drawn")
        };
        let (as_drawn, once, anew) = (rows(false, 8), rows(true, 1), rows(true, 20));
        let near =
            |rows: &[SampleRow]| rows.iter().filter(|row| row.verdict == "near-duplicate").count();
        assert!(near(&as_drawn) == 0 && near(&once) > 0 && near(&anew) == 0, "{once:?}");
        for ((as_drawn, once), anew) in as_drawn.iter().zip(&once).zip(&anew) {
            assert_eq!(as_drawn.text, once.text, "one try draws the same");
            assert_eq!(
                once.verdict == "near-duplicate",
                once.text != anew.text,
                "{once:?} {anew:?}"
            );
            assert!(once.verdict != "near-duplicate" || !once.detail.is_empty());
        }
    }

    #[test]
    fn dead_code_that_was_drawn_goes_and_what_a_prompt_holds_stays() {
        let checkpoint =
            Checkpoint::load(Path::new("../../models/infill")).expect("the model that ships");
        let folder = tempfile::tempdir().expect("a folder");
        let drawn = folder.path().join("ids.jsonl");
        let text = |prompt: &str, fill: &str, useful| {
            let mut ids = checkpoint.tokenizer().encode_plain(fill);
            ids.push(lm::tokenizer::Special::ALL.end);
            std::fs::write(&drawn, serde_json::to_string(&ids).expect("JSON")).expect("is written");
            let mut settings = Settings { drawn: Some(drawn.clone()), ..settings(1) };
            settings.prompt = Prompt::new(prompt);
            settings.drawing.useful = useful;
            let sampler = Sampler::new(&checkpoint, settings, 2, &Cancel::default())
                .unwrap_or_else(|error| panic!("{error}"));
            let row = sampler.sample(&Silent).expect("are judged").remove(0);
            assert_eq!(row.verdict, "accepted", "{row:?}");
            row.text
        };
        let whole = "A(global float* a) { int b = 2; b += 3; a[get_global_id(0)] *= 2.0f; }";
        assert!(!text(lm::START, whole, true).contains("int b"));
        assert!(text(lm::START, whole, false).contains("int b"));
        let prompt =
            "kernel void A(global float* a) { int b = 2; [HOLE] a[get_global_id(0)] *= 2.0f; }";
        let left = text(prompt, "int c = b; c += 3; a[1] = 2.0f;", true);
        assert!(left.contains("int b") && !left.contains("int c"), "{left}");
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
