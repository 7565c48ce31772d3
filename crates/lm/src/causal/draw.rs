//! Drawing answers to many questions side by side.

use super::Causal;
use crate::{Error, Result, slots};
use nn::{Choice, Chooser, Decoder};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::{
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, TryRecvError},
    },
    time::Duration,
};

/// What to go on from, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Tokens to read; at least one.
    pub tokens: Vec<u32>,
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

/// A question, and whom to tell.
pub struct Job {
    /// What is asked.
    pub question: Question,
    /// Takes the answer; it is told exactly once.
    pub done: Box<dyn FnOnce(Result<Answer>) + Send>,
}

/// How long to wait for a question before looking whether to stop.
const LOOK: Duration = Duration::from_millis(100);

impl Causal {
    /// Whether a question of that many tokens can be answered with at least one.
    ///
    /// # Errors
    /// When it is empty or leaves no room.
    pub fn fits(&self, tokens: usize) -> Result<()> {
        if tokens == 0 {
            return Err(Error::Prompt(
                "the prompt is empty and this model has no token to begin with".into(),
            ));
        }
        if tokens >= self.length {
            return Err(Error::TooLong { tokens, length: self.length });
        }
        Ok(())
    }

    /// Answer one question.
    ///
    /// # Errors
    /// When it does not fit, or the model fails.
    pub fn answer(&self, question: Question) -> Result<Answer> {
        let (sender, receiver) = std::sync::mpsc::channel();
        let (tell, told) = std::sync::mpsc::channel();
        let done = Box::new(move |answer| {
            // Who asked waits below.
            let _ = tell.send(answer);
        });
        // The receiver is in this function.
        let _ = sender.send(Job { question, done });
        drop(sender);
        self.serve(1, &receiver, &AtomicBool::new(false));
        told.recv().unwrap_or(Err(Error::Cancelled))
    }

    /// Answer questions as they come, up to `slots` side by side, until nobody can ask any more or
    /// `stopped` is raised; what is not answered by then is told so.
    pub fn serve(&self, slots: usize, jobs: &Receiver<Job>, stopped: &AtomicBool) {
        let slots = slots.max(1);
        let Some(mut decoder) = self.model.decoder(slots) else { return };
        let mut running: Vec<Option<Running>> = (0..slots).map(|_| None).collect();
        let mut open = true;
        loop {
            if stopped.load(Ordering::Relaxed) {
                for one in running.into_iter().flatten() {
                    (one.done)(Err(Error::Cancelled));
                }
                while let Ok(job) = jobs.try_recv() {
                    (job.done)(Err(Error::Cancelled));
                }
                return;
            }
            for slot in 0..slots {
                if running[slot].is_some() || !open {
                    continue;
                }
                let idle = running.iter().all(Option::is_none);
                let job = match idle {
                    true => jobs
                        .recv_timeout(LOOK)
                        .map_err(|error| error == RecvTimeoutError::Disconnected),
                    false => jobs.try_recv().map_err(|error| error == TryRecvError::Disconnected),
                };
                match job {
                    Ok(job) => running[slot] = self.take(job, slot, &mut *decoder),
                    Err(gone) => {
                        open &= !gone;
                        break;
                    }
                }
            }
            if running.iter().all(Option::is_none) {
                if open {
                    continue;
                }
                return;
            }
            self.step(&mut running, &mut *decoder);
        }
    }

    /// Read a question; `None` where its answer is told already.
    fn take(&self, job: Job, slot: usize, decoder: &mut dyn Decoder) -> Option<Running> {
        let question = job.question;
        decoder.reset(slot);
        let read = self
            .fits(question.tokens.len())
            .and_then(|()| Ok(decoder.read(slot, &question.tokens)?));
        let logits = match read {
            Ok(logits) => logits,
            Err(error) => {
                (job.done)(Err(error));
                return None;
            }
        };
        let mut one = Running {
            most: question.most.min(self.length - question.tokens.len()),
            random: ChaCha8Rng::seed_from_u64(question.seed),
            question,
            done: job.done,
            drawn: Vec::new(),
            chooser: Chooser::default(),
            end: None,
        };
        self.choose(&mut one, &logits);
        self.tell(one)
    }

    /// One token more for all.
    fn step(&self, running: &mut [Option<Running>], decoder: &mut dyn Decoder) {
        let last = |one: &Running| one.drawn.last().copied();
        let stepped = slots::step(decoder, running, last, |one, logits| self.choose(one, logits));
        if let Err(error) = stepped {
            let why = error.to_string();
            for one in running.iter_mut().filter_map(Option::take) {
                (one.done)(Err(Error::Prompt(why.clone())));
            }
            return;
        }
        for place in running {
            *place = place.take().and_then(|one| self.tell(one));
        }
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

    /// Tell a finished answer; the others go on.
    fn tell(&self, one: Running) -> Option<Running> {
        let Some(end) = one.end else { return Some(one) };
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
        (one.done)(answer);
        None
    }
}

/// An answer being drawn.
struct Running {
    question: Question,
    done: Box<dyn FnOnce(Result<Answer>) + Send>,
    most: usize,
    drawn: Vec<u32>,
    random: ChaCha8Rng,
    chooser: Chooser,
    end: Option<End>,
}
