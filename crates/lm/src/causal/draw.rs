//! Drawing answers to many questions side by side.

use super::Causal;
use crate::{
    Error, Remote, Result,
    slots::{self, Ahead, Source},
};
use nn::{Choice, Chooser};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::sync::{Arc, mpsc};

/// What to go on from, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Tokens to read; at least one. Questions that begin alike share them.
    pub tokens: Arc<[u32]>,
    /// Most tokens to draw; cut to the room that the model has.
    pub most: usize,
    /// How likely tokens are preferred.
    pub choice: Choice,
    /// Same seed, same draws.
    pub seed: u64,
    /// Texts that end the answer and are left out of it.
    pub stop: Vec<String>,
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// The model ended it, or a stop text came up.
    Stop,
    /// There was no more room, or no more was asked for.
    Length,
}

/// What a model went on with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The text drawn.
    pub text: String,
    /// Tokens drawn, the one that ended it included.
    pub tokens: usize,
    /// Why it ended.
    pub end: End,
}

/// Who asked a question.
pub trait Listener: Send {
    /// Whether the answer is still wanted: looked at before every token. Of an answer that is not wanted
    /// nothing more is told.
    fn listens(&self) -> bool;

    /// Whether text is wanted while it is drawn.
    fn streams(&self) -> bool {
        false
    }

    /// Text that was added to the answer. Pieces are whole characters and hold no part of a stop text; together
    /// they are the answer's text. Only told where text is wanted while it is drawn.
    fn piece(&mut self, _text: &str) {}

    /// The whole answer; the last that is told.
    fn done(self: Box<Self>, answer: Result<Answer>);
}

/// A question, and whom to tell.
pub struct Job {
    /// What is asked.
    pub question: Question,
    /// Who hears of the answer.
    pub listener: Box<dyn Listener>,
}

/// What is to be done next.
pub enum Turn {
    /// A question is to be answered.
    Job(Job),
    /// Nobody asks now.
    Nothing,
    /// Nobody will ask any more.
    Over,
}

/// Tokens of a question that are read without looking whether its answer is still wanted.
const READ: usize = 512;

/// Tokens of a sequence that an engine elsewhere keeps, of a model that has no limit of its own.
const KEPT: usize = 4096;

impl Causal {
    /// Whether a question of that many tokens can be answered with at least one.
    ///
    /// # Errors
    /// When it is empty or leaves no room.
    pub fn fits(&self, tokens: usize) -> Result<()> {
        fits(tokens, self.length)
    }

    /// Answer one question.
    ///
    /// # Errors
    /// When it does not fit, or the model fails.
    pub fn answer(&self, question: Question) -> Result<Answer> {
        let (sender, receiver) = mpsc::channel();
        let mut job = Some(Job { question, listener: Box::new(Waiting(sender)) });
        self.serve(1, None, |_| job.take().map_or(Turn::Over, Turn::Job));
        receiver.recv().unwrap_or(Err(Error::Cancelled))
    }

    /// Have the libtorch engine run the model on `device` (`cpu`, `cuda`), for `slots` answers side by side.
    ///
    /// # Errors
    /// When there is no engine, or it cannot use the device or read the checkpoint.
    pub fn elsewhere(&self, slots: usize, device: &str) -> Result<Remote> {
        let length = if self.length == usize::MAX { KEPT } else { self.length };
        Remote::start(&self.folder, slots.max(1), length, device, None)
    }

    /// Answer questions as they come, up to `slots` side by side, until nobody can ask any more. `next` says what
    /// comes next; asked with `true`, it may wait for a question, as nothing else is to be done. The model runs here, or where
    /// [`Causal::elsewhere`] started it.
    pub fn serve(&self, slots: usize, remote: Option<Remote>, mut next: impl FnMut(bool) -> Turn) {
        let (mut source, length) = match remote {
            Some(remote) => {
                let length = self.length.min(remote.length());
                (Source::Elsewhere(remote), length)
            }
            None => match self.model.decoder(slots.max(1)) {
                Some(decoder) => (Source::Here(decoder, Vec::new()), self.length),
                None => return,
            },
        };
        let slots = source.groups().last().map_or(0, |group| group.end);
        let mut running: Vec<Option<Running>> = (0..slots).map(|_| None).collect();
        let mut open = true;
        loop {
            for place in &mut running {
                place.take_if(|one| !one.listener.listens());
            }
            for slot in 0..slots {
                if running[slot].is_some() || !open {
                    continue;
                }
                match next(running.iter().all(Option::is_none)) {
                    Turn::Job(job) => running[slot] = self.take(job, slot, length, &mut source),
                    Turn::Nothing => break,
                    Turn::Over => open = false,
                }
            }
            if running.iter().all(Option::is_none) {
                if open {
                    continue;
                }
                return;
            }
            self.step(&mut running, &mut source);
        }
    }

    /// Take a question, and read it where that is best done at once; `None` where its answer is told already.
    fn take(&self, job: Job, slot: usize, length: usize, source: &mut Source) -> Option<Running> {
        let Job { question, listener } = job;
        let begun = fits(question.tokens.len(), length).and_then(|()| source.rewind(slot, 0));
        if let Err(error) = begun {
            listener.done(Err(error));
            return None;
        }
        let mut one = Running {
            most: question.most.min(length - question.tokens.len()),
            random: ChaCha8Rng::seed_from_u64(question.seed),
            question,
            listener,
            read: 0,
            drawn: Vec::new(),
            told: String::new(),
            due: 1,
            chooser: Chooser::default(),
            end: None,
        };
        // An engine elsewhere reads a token of each slot at a time: questions are read side by side.
        let Source::Here(decoder, _) = source else { return Some(one) };
        let mut logits = Vec::new();
        for tokens in one.question.tokens.chunks(READ) {
            if !one.listener.listens() {
                return None;
            }
            logits = match decoder.read(slot, tokens) {
                Ok(logits) => logits,
                Err(error) => {
                    one.listener.done(Err(error.into()));
                    return None;
                }
            };
        }
        one.read = one.question.tokens.len();
        self.choose(&mut one, &logits);
        self.tell(one)
    }

    /// One token more for all.
    fn step(&self, running: &mut [Option<Running>], source: &mut Source) {
        if let Err(error) = self.advance(running, source) {
            let why = error.to_string();
            for one in running.iter_mut().filter_map(Option::take) {
                one.listener.done(Err(Error::Prompt(why.clone())));
            }
            return;
        }
        for place in running {
            *place = place.take().and_then(|one| self.tell(one));
        }
    }

    fn advance(&self, running: &mut [Option<Running>], source: &mut Source) -> Result<()> {
        let mut groups = source.groups();
        groups.retain(|group| running[group.clone()].iter().any(Option::is_some));
        for group in &groups {
            slots::begin(source, group.start, &running[group.clone()], |one| (one.next(), 0))?;
        }
        for group in groups {
            slots::finish(source, &mut running[group], |one, ahead| {
                if let (true, Ahead::Logits(logits)) = (one.has_read(), ahead) {
                    self.choose(one, logits);
                }
            })?;
        }
        Ok(())
    }

    /// Choose what comes next.
    fn choose(&self, one: &mut Running, logits: &[f32]) {
        if one.drawn.len() >= one.most {
            one.end = Some(End::Length);
            return;
        }
        let token = one.chooser.choose(logits, one.question.choice, &mut one.random, |_| true);
        let Some(token) = token else {
            one.end = Some(End::Stop);
            return;
        };
        one.drawn.push(token);
        if self.ends.contains(&token) || self.stops(one) {
            one.end = Some(End::Stop);
        } else if one.drawn.len() >= one.most {
            one.end = Some(End::Length);
        }
    }

    /// Whether a stop text has just come up.
    fn stops(&self, one: &Running) -> bool {
        let Some(longest) = one.question.stop.iter().map(String::len).max() else { return false };
        // A token has at least one byte; a few have none and some are parts of a character.
        let tail = &one.drawn[one.drawn.len().saturating_sub(longest + 8)..];
        let text = self.text(tail).unwrap_or_default();
        one.question.stop.iter().any(|stop| text.contains(stop.as_str()))
    }

    /// Tell a finished answer, and of others what is certain; those go on.
    fn tell(&self, mut one: Running) -> Option<Running> {
        let Some(end) = one.end else {
            if one.listener.streams() && one.drawn.len() >= one.due {
                one.due = one.drawn.len() + 1 + one.drawn.len() / SELDOM;
                // A tokenizer that refuses now is reported at the end.
                let text = self.text(&one.drawn).unwrap_or_default();
                one.add(certain(&text, self.spelling.is_own(), &one.question.stop));
            }
            return Some(one);
        };
        let text = match one.drawn.split_last() {
            Some((last, before)) if self.ends.contains(last) => self.text(before),
            _ => self.text(&one.drawn),
        };
        let answer = text.map(|mut text| {
            let stops = one.question.stop.iter().filter_map(|stop| text.find(stop.as_str()));
            if let Some(at) = stops.min() {
                text.truncate(at);
            }
            Answer { text, tokens: one.drawn.len(), end }
        });
        if let (true, Ok(answer)) = (one.listener.streams(), &answer) {
            one.add(&answer.text);
        }
        one.listener.done(answer);
        None
    }
}

/// Whether a question of so many tokens leaves room in a sequence of `length`.
fn fits(tokens: usize, length: usize) -> Result<()> {
    if tokens == 0 {
        return Err(Error::Prompt(
            "the prompt is empty and this model has no token to begin with".into(),
        ));
    }
    if tokens >= length {
        return Err(Error::TooLong { tokens, length });
    }
    Ok(())
}

/// A text is told after every token while it is short, later after every part of this share of it: what is drawn
/// must be spelled as a whole.
const SELDOM: usize = 256;

/// What of the text drawn so far stays as it is, whatever is drawn next. `blanks`: the tokenizer chooses the
/// blanks between words, and so may change what stands before a word that goes on.
fn certain<'a>(text: &'a str, blanks: bool, stop: &[String]) -> &'a str {
    let text = match blanks {
        true => text.trim_end().trim_end_matches(|c: char| !c.is_whitespace()).trim_end(),
        // The first bytes of a character.
        false => text.trim_end_matches(char::REPLACEMENT_CHARACTER),
    };
    let begun = |stop: &String| {
        let mut lengths = (1..stop.len()).rev().filter(|length| stop.is_char_boundary(*length));
        lengths.find(|length| text.ends_with(&stop[..*length]))
    };
    let begun = stop.iter().filter_map(begun).max().unwrap_or(0);
    &text[..text.len() - begun]
}

/// An answer being drawn.
struct Running {
    question: Question,
    listener: Box<dyn Listener>,
    most: usize,
    /// Tokens of the question that were read.
    read: usize,
    drawn: Vec<u32>,
    /// What was told of it.
    told: String,
    /// Tokens at which more is told.
    due: usize,
    random: ChaCha8Rng,
    chooser: Chooser,
    end: Option<End>,
}

impl Running {
    /// The token to read next: of the question, or what was drawn last.
    fn next(&self) -> u32 {
        let asked = self.question.tokens.get(self.read).or(self.drawn.last());
        asked.copied().unwrap_or_default()
    }

    /// One token more was read; whether the question is at its end.
    fn has_read(&mut self) -> bool {
        self.read = (self.read + 1).min(self.question.tokens.len());
        self.read == self.question.tokens.len()
    }

    /// Tell what `text` has more than was told.
    fn add(&mut self, text: &str) {
        let Some(piece) = text.strip_prefix(self.told.as_str()) else { return };
        if !piece.is_empty() {
            self.listener.piece(piece);
            self.told.push_str(piece);
        }
    }
}

/// Who waits for one answer.
struct Waiting(mpsc::Sender<Result<Answer>>);

impl Listener for Waiting {
    fn listens(&self) -> bool {
        true
    }

    fn done(self: Box<Self>, answer: Result<Answer>) {
        // Whoever asked holds the other end.
        let _ = self.0.send(answer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_still_change_is_not_told() {
        let stop = ["END".to_owned(), "é!".to_owned()];
        assert_eq!(certain("a b", false, &stop), "a b");
        assert_eq!(certain("a bE", false, &stop), "a b");
        assert_eq!(certain("a bEN", false, &stop), "a b");
        assert_eq!(certain("a bENx", false, &stop), "a bENx");
        assert_eq!(certain("caf\u{fffd}", false, &stop), "caf");
        assert_eq!(certain("café", false, &stop), "caf");
        assert_eq!(certain("int x = fo", true, &[]), "int x =");
        assert_eq!(certain("int", true, &[]), "");
    }
}
