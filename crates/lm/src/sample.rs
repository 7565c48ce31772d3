//! Drawing kernels from a checkpoint.

use crate::{
    Checkpoint, Error, Kind, Remote, Result, condition,
    remote::Ranked,
    slots::{self, Ahead, Source},
    tokenizer::{Special, Syntax},
    usefulness::Usefulness,
};
use grammar::{Constraint, Grammar, Refusal, is_builtin};
use nn::{Architecture, Choice, Chooser, Encoder, Precision};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::{
    cell::Cell,
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// The mark of the place to fill in a prompt.
pub const HOLE: &str = "[HOLE]";

/// What every kind of model is compared from (BenchPress, PACT'22, section 5.1).
pub const START: &str = "kernel void [HOLE]";

/// How to draw.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Drawing {
    /// How likely tokens are preferred.
    pub choice: Choice,
    /// Same seed, same samples, in whatever batches they are drawn.
    pub seed: u64,
    /// Whether only what can compile is drawn (kinds that read lexemes).
    pub constrained: bool,
    /// Whether statements without effect are written anew, and a kernel writes a result. Of what is constrained alone.
    pub useful: bool,
    /// Fewest tokens of a sample, prompt not included: what is constrained does not end before, if it can go on.
    pub shortest: usize,
    /// Most tokens of a sample, prompt included; the model's length at most. What ends a program that
    /// has no more room may be a few tokens longer.
    pub longest: usize,
    /// Samples drawn side by side.
    pub slots: usize,
    /// What the products of a model of this process are made in.
    pub precision: Precision,
}

impl Default for Drawing {
    fn default() -> Drawing {
        Drawing {
            choice: Choice::default(),
            seed: 0,
            constrained: true,
            useful: false,
            shortest: 0,
            longest: usize::MAX,
            slots: 32,
            precision: Precision::Single,
        }
    }
}

/// What to draw from: a text with a hole, and conditions.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Prompt {
    /// Text with one [`HOLE`]; without one, samples go on after it.
    pub text: String,
    /// Wanted values of [`condition::FEATURES`].
    pub features: BTreeMap<String, f64>,
    /// Wanted arguments: `global float*, const int`.
    pub arguments: Option<String>,
}

impl Prompt {
    /// A prompt of this text alone.
    #[must_use]
    pub fn new(text: &str) -> Prompt {
        Prompt { text: text.to_owned(), ..Prompt::default() }
    }
}

/// A sample.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// Its number: with the seed, what it was drawn by.
    pub number: u64,
    /// The whole text, prompt included.
    pub text: String,
    /// Tokens drawn.
    pub tokens: usize,
    /// Whether it came to its own end; otherwise it is cut short.
    pub ended: bool,
    /// Whether it was force-closed: there was no more room, or no next statement came up that compiles.
    pub closed: bool,
    /// Draws that the constraint refused.
    pub refused: u64,
}

/// A prompt as tokens.
#[derive(Clone, Debug)]
pub(crate) struct Encoded {
    /// What the model reads first.
    given: Vec<u16>,
    /// What it reads behind a hole.
    read_after: Vec<u16>,
    /// The prompt's own text, which is kept.
    pub(crate) before: Vec<u16>,
    pub(crate) after: Vec<u16>,
    /// Whether a kernel may have to write a result: arguments that are asked for hold a buffer to write to.
    may_write: bool,
}

/// Draws samples from a checkpoint.
#[derive(Debug)]
pub struct Sampler<'a> {
    checkpoint: &'a Checkpoint,
    drawing: Drawing,
    grammar: Option<Arc<Grammar>>,
    /// Where the libtorch engine reads tokens; nowhere: this process does.
    device: Option<String>,
    /// Ends drawing when it is raised.
    stop: Arc<AtomicBool>,
}

impl<'a> Sampler<'a> {
    /// From a checkpoint, in this way.
    #[must_use]
    pub fn new(checkpoint: &'a Checkpoint, drawing: Drawing) -> Sampler<'a> {
        let lexemes = checkpoint.kind() != Kind::Lstm && drawing.constrained;
        let grammar = lexemes.then(|| {
            let tokenizer = Syntax::new(checkpoint.tokenizer().vocabulary().clone());
            Arc::new(tokenizer.grammar())
        });
        Sampler { checkpoint, drawing, grammar, device: None, stop: Arc::default() }
    }

    /// The same; what is being drawn when `stop` is raised is not told.
    #[must_use]
    pub fn stopped_by(self, stop: Arc<AtomicBool>) -> Sampler<'a> {
        Sampler { stop, ..self }
    }

    /// The same, with the model run by the libtorch engine on this device (`cpu`, `cuda`).
    #[must_use]
    pub fn elsewhere(self, device: &str) -> Sampler<'a> {
        Sampler { device: Some(device.to_owned()), ..self }
    }

    /// Draw the samples `numbers` of one prompt, telling each as it is done.
    ///
    /// # Errors
    /// When the prompt leaves no room or holds conditions the model does not know, or the model
    /// fails; what `done` answers `false` to ends drawing.
    pub fn draw(
        &self,
        prompt: &Prompt,
        numbers: std::ops::Range<u64>,
        done: &mut dyn FnMut(Sample) -> bool,
    ) -> Result<()> {
        self.draw_each(numbers.map(|number| (number, prompt.clone())), done)
    }

    /// Draw one sample for each numbered prompt.
    ///
    /// # Errors
    /// As [`Sampler::draw`].
    pub fn draw_each(
        &self,
        mut prompts: impl Iterator<Item = (u64, Prompt)>,
        done: &mut dyn FnMut(Sample) -> bool,
    ) -> Result<()> {
        if let Architecture::Encoder(encoder) = self.checkpoint.model().architecture() {
            if self.device.is_some() {
                return Err(Error::Engine(
                    "a hole model is filled elsewhere by `stampmill-torch sample`; `--drawn` judges what it wrote"
                        .to_owned(),
                ));
            }
            for (number, prompt) in prompts {
                let sample = self.fill(encoder, number, &self.encode(&prompt)?)?;
                if !done(sample) {
                    return Ok(());
                }
            }
            return Ok(());
        }
        let slots = self.drawing.slots.max(1);
        let mut source = if let Some(device) = &self.device {
            let folder = self.checkpoint.folder();
            // The likeliest tokens of a share are chosen of all logits, here.
            let Choice { temperature, top_p } = self.drawing.choice;
            let ranked = (temperature > 0.0 && top_p >= 1.0)
                .then_some(Ranked { count: RANKED, temperature });
            Source::Elsewhere(Remote::start(folder, slots, self.longest(), device, ranked)?)
        } else {
            let Some(decoder) = self.checkpoint.model().decoder_in(slots, self.drawing.precision)
            else {
                return Ok(());
            };
            Source::Here(decoder, Vec::new())
        };
        let mut known: Option<(Prompt, Encoded)> = None;
        let mut next = |source: &mut Source, slot: usize| -> Result<Option<Running>> {
            let Some((number, prompt)) = prompts.next() else { return Ok(None) };
            if known.as_ref().is_none_or(|(known, _)| *known != prompt) {
                known = Some((prompt.clone(), self.encode(&prompt)?));
            }
            let encoded = known.as_ref().map(|(_, encoded)| encoded.clone());
            source.rewind(slot, 0)?;
            encoded.map(|encoded| self.begin(number, encoded)).transpose()
        };
        let (choice, last) = (self.drawing.choice, |one: &Running| (u32::from(one.next), one.key));
        let groups = source.groups();
        let mut running: Vec<Option<Running>> = Vec::new();
        for group in &groups {
            for slot in group.clone() {
                running.push(next(&mut source, slot)?);
            }
            slots::begin(&mut source, group.start, &running[group.clone()], last)?;
        }
        while running.iter().any(Option::is_some) && !self.stop.load(Ordering::Relaxed) {
            for group in &groups {
                let running = &mut running[group.clone()];
                if running.iter().all(Option::is_none) {
                    continue;
                }
                slots::finish(&mut source, running, |one, ahead| one.advance(ahead, choice))?;
                for (slot, place) in group.clone().zip(running.iter_mut()) {
                    if let Some(length) = place.as_mut().and_then(|one| one.rewind.take()) {
                        source.rewind(slot, length)?;
                    }
                    let Some(one) = place.take_if(|one| one.finished) else { continue };
                    if !done(self.finish(one)) {
                        return Ok(());
                    }
                    *place = next(&mut source, slot)?;
                }
                slots::begin(&mut source, group.start, running, last)?;
            }
        }
        Ok(())
    }

    /// Whether something can be drawn from this prompt: it leaves room, and the constraint accepts it.
    #[must_use]
    pub fn reads(&self, prompt: &Prompt) -> bool {
        self.check(prompt).is_ok()
    }

    /// That something can be drawn from this prompt.
    ///
    /// # Errors
    /// Why nothing can.
    pub fn check(&self, prompt: &Prompt) -> Result<()> {
        self.encode(prompt).and_then(|encoded| self.begin(0, encoded)).map(drop)
    }

    fn encode(&self, prompt: &Prompt) -> Result<Encoded> {
        let tokenizer = self.checkpoint.tokenizer();
        let special = Special::ALL;
        let (before, after) = match prompt.text.split_once(HOLE) {
            Some((_, after)) if after.contains(HOLE) => {
                return Err(Error::Prompt(format!("the prompt has more than one {HOLE}")));
            }
            Some((before, after)) => (before, after.trim()),
            None => (prompt.text.as_str(), ""),
        };
        if self.checkpoint.kind() == Kind::Lstm && !after.is_empty() {
            return Err(Error::Prompt(format!(
                "an lstm model goes on from its prompt and cannot read behind {HOLE}: end the prompt with it"
            )));
        }
        // What models learned from is in normal form: they know no `kernel`, only `__kernel`.
        let read = |text: &str| self.checkpoint.encode_prompt(&lexer::respelled(text));
        let (read_before, read_after) = (read(before), read(after));
        let [before, after] = [before, after].map(|text| self.checkpoint.encode_prompt(text));
        let mut given = vec![special.start];
        if self.checkpoint.kind() == Kind::Infill {
            for piece in condition::of(&prompt.features).into_iter().flatten() {
                let id = tokenizer.vocabulary().id(&piece);
                given.push(id.ok_or_else(|| {
                    Error::Prompt(format!(
                        "this checkpoint was not trained on the condition {piece}"
                    ))
                })?);
            }
            if let Some(arguments) = &prompt.arguments {
                let lexemes = condition::parse_arguments(arguments);
                given.push(special.arguments);
                given.extend(tokenizer.encode_plain(&lexemes.join(" ")));
                given.push(special.arguments_end);
            }
        } else if !prompt.features.is_empty() || prompt.arguments.is_some() {
            return Err(Error::Prompt(format!(
                "{} models have no conditions; infill models do",
                self.checkpoint.kind().name()
            )));
        }
        if after.is_empty() || self.checkpoint.kind() != Kind::Infill {
            given.extend_from_slice(&read_before);
        } else {
            given.push(special.prefix);
            given.extend_from_slice(&read_before);
            given.push(special.suffix);
            given.extend_from_slice(&read_after);
            given.push(special.middle);
        }
        let longest = self.longest();
        if given.len() + 8 > longest {
            return Err(Error::Prompt(format!(
                "the prompt takes {} of {longest} tokens: no room is left to fill in",
                given.len()
            )));
        }
        let written =
            |one: &str| one.contains('*') && one.contains("global") && !one.contains("const");
        let may_write = prompt.arguments.as_ref().is_none_or(|all| all.split(',').any(written));
        Ok(Encoded { given, read_after, before, after, may_write })
    }

    fn longest(&self) -> usize {
        self.drawing.longest.min(self.checkpoint.length())
    }

    fn begin(&self, number: u64, encoded: Encoded) -> Result<Running> {
        let mut constraint =
            self.grammar.as_ref().map(|grammar| Constraint::new(Arc::clone(grammar)));
        if let Some(constraint) = &mut constraint {
            for (at, token) in encoded.before.iter().enumerate() {
                if let Err(refusal) = constraint.push(*token) {
                    let tokenizer = self.checkpoint.tokenizer();
                    let read = tokenizer.decode(&encoded.before[..=at]);
                    let all = tokenizer.decode(&encoded.before);
                    let read = to_end_of_word(read.trim_end(), &all);
                    let name = read.rsplit(|one| !is_of_name(one)).find(|name| !name.is_empty());
                    let own =
                        name.filter(|name| refusal == Refusal::Redeclared && is_builtin(name));
                    let own = own.map(|name| {
                        format!(
                            "; `{name}` is a function of OpenCL's own: give the kernel another name"
                        )
                    });
                    if is_directive(read) {
                        return Err(Error::Prompt(
                            "models know no directives but `#pragma`: write what `#define` and `#if` come to"
                                .to_owned(),
                        ));
                    }
                    return Err(Error::Prompt(format!(
                        "the prompt cannot compile: {refusal}, at the end of …{}{}",
                        tail(read, 40),
                        own.unwrap_or_default()
                    )));
                }
            }
            if !encoded.after.is_empty() {
                constraint.hold(&encoded.after);
            }
        }
        let useful = match &self.grammar {
            Some(grammar) if self.drawing.useful && encoded.may_write => {
                Some(Usefulness::of(grammar, &encoded))
            }
            _ => None,
        };
        let is_part = constraint.as_ref().is_some_and(Constraint::is_part);
        let names = useful.as_ref().is_some_and(|useful| is_part && !useful.wants_constant());
        let mut random = ChaCha8Rng::seed_from_u64(self.drawing.seed);
        random.set_stream(number + 1);
        let mut queue = encoded.given.clone();
        queue.reverse();
        let next = queue.pop().unwrap_or(Special::ALL.start);
        // Where the engine does not draw, this takes nothing from what is drawn by.
        let key = random.clone().random();
        Ok(Running {
            number,
            queue,
            next,
            key,
            room: self.longest() - encoded.given.len(),
            encoded,
            drawn: Vec::new(),
            safe: constraint.clone().map(|constraint| (constraint, 0)),
            shortest: self.drawing.shortest,
            useful,
            names,
            constraint,
            rewind: None,
            strayed: 0,
            thrown: 0,
            tolerated: 0,
            random,
            chooser: Chooser::default(),
            refused: 0,
            ended: false,
            closed: false,
            finished: false,
        })
    }

    fn finish(&self, one: Running) -> Sample {
        let ids = [&one.encoded.before[..], &one.drawn, &one.encoded.after].concat();
        Sample {
            number: one.number,
            text: self.checkpoint.tokenizer().decode(&ids),
            tokens: one.drawn.len(),
            ended: one.ended,
            closed: one.closed,
            refused: one.refused,
        }
    }

    /// BenchPress's way: the kernel is read anew for every token that goes into its hole.
    fn fill(&self, encoder: &Encoder, number: u64, encoded: &Encoded) -> Result<Sample> {
        let special = Special::ALL;
        let mut one = self.begin(number, encoded.clone())?;
        one.queue.clear();
        let fixed = encoded.given.len() + encoded.read_after.len() + 2;
        one.room = self.longest().saturating_sub(fixed);
        while !one.finished {
            let text = encoded.given.iter().chain(&one.drawn);
            let mut ids: Vec<u32> = text.map(|id| u32::from(*id)).collect();
            let place = ids.len() as u32;
            ids.push(u32::from(special.hole));
            ids.extend(encoded.read_after.iter().map(|id| u32::from(*id)));
            ids.push(u32::from(special.end));
            let mut logits = encoder.logits_at(&[&ids], &[place])?;
            // To have nothing more to fill in is this kind's end.
            logits[usize::from(special.end)] = logits[usize::from(special.hole_end)];
            logits[usize::from(special.hole_end)] = f32::NEG_INFINITY;
            one.advance(Ahead::Logits(&logits), self.drawing.choice);
        }
        Ok(self.finish(one))
    }
}

/// Draws that may be refused within a statement before it is written anew. A model that is refused again and again is
/// led where it has never been, and does not find back: the statements of its own that compile are likelier.
const MOST_REFUSED: u64 = 40;

/// Tokens that an engine elsewhere draws at a place. Where all of them are refused the statement is written anew anyway.
const RANKED: usize = MOST_REFUSED as usize + 8;

/// Most tokens of a statement.
const MOST_TOKENS: usize = 200;

/// How often a statement is written anew.
const ATTEMPTS: u32 = 8;

/// Most tokens that are thrown away in a sample. Most samples throw away fewer, but a few throw away
/// thousands and are still drawn when all others are done.
const MOST_THROWN: usize = 512;

/// How often a statement is written anew that compiles and does nothing.
const USELESS_ATTEMPTS: u32 = 24;

/// A sample being drawn.
struct Running {
    number: u64,
    /// Tokens of the prompt that are still to be read, the next one last.
    queue: Vec<u16>,
    next: u16,
    /// Of it depends what the engine draws behind `next`, where the engine draws.
    key: u32,
    encoded: Encoded,
    drawn: Vec<u16>,
    room: usize,
    constraint: Option<Constraint>,
    /// The last state between two statements, or the prompt's, and how much was drawn then.
    safe: Option<(Constraint, usize)>,
    shortest: usize,
    /// What the program does, where it has to do something.
    useful: Option<Usefulness>,
    /// Whether what fills the hole is to name something: it is a part of an expression that may depend on what there is.
    names: bool,
    /// Tokens that the model is to go back to before it reads `next`.
    rewind: Option<usize>,
    /// How often it went back to the last such state.
    strayed: u32,
    /// Tokens that were thrown away.
    thrown: usize,
    /// Refused draws up to that state.
    tolerated: u64,
    random: ChaCha8Rng,
    chooser: Chooser,
    refused: u64,
    ended: bool,
    closed: bool,
    finished: bool,
}

impl Running {
    /// Choose what comes after `next`.
    fn advance(&mut self, ahead: Ahead<'_>, choice: Choice) {
        if let Ahead::Ranked(_) = ahead {
            self.key = self.random.random();
        }
        if let Some(token) = self.queue.pop() {
            self.next = token;
            return;
        }
        let end = Special::ALL.end;
        let left = self.room.saturating_sub(self.drawn.len());
        let Some(constraint) = &self.constraint else {
            let token = match ahead {
                Ahead::Logits(row) => self.chooser.choose(row, choice, &mut self.random, |_| true),
                Ahead::Ranked(row) => row.first().copied(),
            };
            self.take(token.map(|token| token as u16));
            self.finished |= left <= 1;
            return;
        };
        if left <= constraint.distance() {
            return self.close();
        }
        let short = self.drawn.len() < self.shortest;
        let (after, refused) = (&self.encoded.after, &mut self.refused);
        let mut next = None;
        let useful = self.useful.as_ref();
        let owes = useful.is_some_and(Usefulness::owes_change);
        let nameless = || self.names && useful.is_some_and(|useful| !useful.is_named(&self.drawn));
        let nameless = !owes && nameless();
        let wants_end = Cell::new(false);
        let mut allowed = |id: u32| {
            let id = id as u16;
            let fits = if id == end && !after.is_empty() {
                let joins = constraint.joins(after);
                wants_end.set(wants_end.get() || joins);
                joins && !owes && !nameless
            } else {
                constraint.after(id).is_ok_and(|state| {
                    // The brace of a kernel, or the end behind one.
                    let ends = short && state.at_file_scope() && !constraint.at_file_scope()
                        || short && id == end;
                    next = Some(state);
                    !ends
                })
            };
            *refused += u64::from(!fits);
            fits
        };
        let forced = self.useful.as_mut().and_then(Usefulness::forced).map(u32::from);
        let forced = forced.filter(|id| allowed(*id));
        if let (None, Some(useful)) = (forced, &mut self.useful) {
            useful.forget();
        }
        let token = match ahead {
            _ if forced.is_some() => forced,
            Ahead::Logits(row) => self.chooser.choose(row, choice, &mut self.random, &mut allowed),
            Ahead::Ranked(row) => row.iter().copied().find(|id| allowed(*id)),
        };
        // Where the model would end the hole and may not yet, it is told how a result begins.
        let asked = match &mut self.useful {
            Some(useful) if owes && wants_end.get() => useful.ask().map(u32::from),
            _ => None,
        };
        let token = asked.filter(|id| allowed(*id)).or(token);
        let Some(token) = token else { return self.stray() };
        self.take(Some(token as u16));
        let Some(next) = next.filter(|_| !self.finished) else { return };
        // What is declared may be declared behind the hole, too.
        let clashes = || next.is_held() && !next.joins(&self.encoded.after);
        if next.at_statement() && (clashes() || !self.is_useful()) {
            return self.stray();
        }
        if next.at_statement() {
            self.safe = Some((next.clone(), self.drawn.len()));
            self.tolerated = self.refused;
            self.strayed = 0;
        }
        self.constraint = Some(next);
        let length = self.drawn.len() - self.safe.as_ref().map_or(0, |(_, length)| *length);
        if self.refused - self.tolerated > MOST_REFUSED || length > MOST_TOKENS {
            self.stray();
        }
    }

    /// What is being written is not what the model would write by itself: write the statement anew, or end the program
    /// before it where that was in vain too often or too much was thrown away.
    fn stray(&mut self) {
        let Some((constraint, length)) = self.safe.clone() else { return self.close() };
        self.thrown += self.drawn.len() - length;
        self.drawn.truncate(length);
        self.constraint = Some(constraint);
        self.tolerated = self.refused;
        self.strayed += 1;
        let (attempts, most) = match &self.useful {
            Some(_) => (USELESS_ATTEMPTS, 2 * MOST_THROWN),
            None => (ATTEMPTS, MOST_THROWN),
        };
        if self.strayed > attempts || self.thrown > most {
            return self.close();
        }
        let given = &self.encoded.given;
        if let Some(last) = self.drawn.last().or(given.last()) {
            self.next = *last;
            self.rewind = Some(given.len() + length - 1);
        }
    }

    /// Whether what was drawn since the last state between two statements does something.
    fn is_useful(&mut self) -> bool {
        let Some(useful) = &mut self.useful else { return true };
        let from = self.safe.as_ref().map_or(0, |(_, length)| *length);
        useful.read(&self.drawn[from..], self.strayed)
    }

    fn take(&mut self, token: Option<u16>) {
        match token {
            Some(token) if token != Special::ALL.end => {
                self.drawn.push(token);
                self.next = token;
            }
            token => {
                self.ended = token.is_some();
                self.finished = true;
            }
        }
    }

    /// End the program from here, or else from its last whole statement.
    fn close(&mut self) {
        self.finished = true;
        self.closed = true;
        if let Some((constraint, length)) = &mut self.safe
            && let Some(result) = self.useful.as_ref().and_then(|useful| useful.result(constraint))
        {
            self.drawn.truncate(*length);
            self.drawn.extend(result);
            *length = self.drawn.len();
            self.constraint = Some(constraint.clone());
        }
        let after = &self.encoded.after;
        if let (true, Some((constraint, length)), Some(useful)) =
            (self.names, &self.safe, &self.useful)
            && let Some(named) = useful.item_that_joins(constraint, after)
        {
            self.drawn.truncate(*length);
            self.drawn.extend(named);
            self.ended = true;
            return;
        }
        let here = self.constraint.as_ref().and_then(|constraint| constraint.closing(after));
        let closing = here.or_else(|| {
            let (constraint, length) = self.safe.as_ref()?;
            let closing = constraint.closing(after)?;
            self.drawn.truncate(*length);
            Some(closing)
        });
        if let Some(closing) = closing {
            self.drawn.extend(closing);
            self.ended = true;
        }
    }
}

/// Whether a name may hold this.
fn is_of_name(one: char) -> bool {
    one.is_alphanumeric() || one == '_'
}

/// `read`, which `all` begins with, up to the end of its last word: a token may be part of one.
fn to_end_of_word<'a>(read: &'a str, all: &'a str) -> &'a str {
    match all.strip_prefix(read) {
        Some(rest) if read.ends_with(is_of_name) => {
            let more = rest.find(|one| !is_of_name(one)).unwrap_or(rest.len());
            &all[..read.len() + more]
        }
        _ => read,
    }
}

/// Whether a text ends within a line of the preprocessor.
fn is_directive(read: &str) -> bool {
    let line = read.lines().last().unwrap_or_default().trim_start();
    line.starts_with('#') && !line.starts_with("#pragma")
}

/// The last characters of a text, in one line.
fn tail(text: &str, count: usize) -> String {
    let from = text.char_indices().rev().nth(count - 1).map_or(0, |(at, _)| at);
    text[from..].split_whitespace().collect::<Vec<_>>().join(" ")
}
