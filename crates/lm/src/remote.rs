//! A decoder in another process, `stampmill-torch decode`: on a GPU, say.

use crate::{
    Error, Result,
    engine::{cannot_run, engine, failure, listen},
};
use rayon::prelude::*;
use serde::Deserialize;
use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread::JoinHandle,
};

/// Most slots: a request of half of them still fits into a pipe that nobody reads from.
const MOST: usize = 8000;

/// The engine's first line.
#[derive(Clone, Copy, Debug, Deserialize)]
struct Header {
    slots: usize,
    groups: usize,
    length: usize,
    vocabulary: usize,
    half: bool,
    ranked: usize,
}

/// Tokens that the engine draws itself, without replacement.
#[derive(Clone, Copy, Debug)]
pub struct Ranked {
    /// How many.
    pub count: usize,
    /// Divides the logits.
    pub temperature: f32,
}

/// What comes next in each slot of a request, a row for each.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Rows of the vocabulary's size.
    Logits(Vec<f32>),
    /// Tokens drawn without replacement, the first drawn first.
    Ranked(Vec<u32>),
}

/// Slots of sequences that the libtorch engine reads.
///
/// Requests are answered in their order, and the engine works while nobody waits for it: with slots in
/// two groups, one group's logits are looked at while the other group is read.
#[derive(Debug)]
pub struct Remote {
    engine: PathBuf,
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    complaints: Option<JoinHandle<String>>,
    header: Header,
    /// Tokens that each slot has read.
    lengths: Vec<usize>,
    /// Rows of the requests that are under way.
    flight: VecDeque<usize>,
}

impl Remote {
    /// Start the engine with a checkpoint: at least `slots` sequences of up to `length` tokens, in two groups
    /// where they are two or more, on `device` (`cpu`, `cuda`). With `ranked` the engine answers with tokens instead of
    /// logits.
    ///
    /// # Errors
    /// When there is no engine, or it cannot use the device or read the checkpoint.
    pub fn start(
        folder: &Path,
        slots: usize,
        length: usize,
        device: &str,
        ranked: Option<Ranked>,
    ) -> Result<Remote> {
        let engine = engine()?;
        let groups = if slots > 1 { 2 } else { 1 };
        let slots = slots.next_multiple_of(groups).min(MOST);
        let mut command = Command::new(&engine);
        command.arg("decode").arg(folder);
        if let Some(Ranked { count, temperature }) = ranked {
            command.args(["--ranked", &count.to_string()]);
            command.args(["--temperature", &temperature.to_string()]);
        }
        let mut child = command
            .args(["--device", device])
            .args(["--slots", &slots.to_string(), "--groups", &groups.to_string()])
            .args(["--length", &length.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(cannot_run(&engine))?;
        tracing::info!(program = %engine.display(), process = child.id(), device, slots, "the engine was started to draw");
        let complaints = listen(&mut child);
        let requests = child.stdin.take();
        let Some(answers) = child.stdout.take() else {
            return Err(Error::Engine(format!("{} has no output", engine.display())));
        };
        let header = Header { slots, groups, length, vocabulary: 0, half: false, ranked: 0 };
        let mut remote = Remote {
            engine,
            child,
            requests,
            answers: BufReader::new(answers),
            complaints,
            header,
            lengths: vec![0; slots],
            flight: VecDeque::new(),
        };
        let mut line = String::new();
        // What is no header is told as what the engine says of itself.
        let _ = remote.answers.read_line(&mut line);
        match serde_json::from_str(&line) {
            Ok(header) => remote.header = header,
            Err(_) => return Err(remote.failed()),
        }
        Ok(remote)
    }

    /// Number of slots.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.header.slots
    }

    /// Number of groups that the slots are equal parts of, in order. A request has slots of one group.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.header.groups
    }

    /// Most tokens of a sequence.
    #[must_use]
    pub fn length(&self) -> usize {
        self.header.length
    }

    /// Forget what the slot has read behind its first `length` tokens. The engine refuses to go back with models
    /// that keep states, but for a `length` of 0.
    pub fn rewind(&mut self, slot: usize, length: usize) {
        self.lengths[slot] = self.lengths[slot].min(length);
    }

    /// Ask for one token to be read in each of the named slots of a group (each named once): `(slot, token, key)`; of
    /// the key alone depends what is drawn behind it, where the engine draws.
    ///
    /// # Errors
    /// When the engine has ended, with what it says.
    pub fn begin(&mut self, tokens: &[(usize, u32, u32)]) -> Result<()> {
        let mut bytes = Vec::with_capacity(4 + 16 * tokens.len());
        bytes.extend((tokens.len() as u32).to_le_bytes());
        for (slot, token, key) in tokens {
            let place = &mut self.lengths[*slot];
            for number in [*slot as u32, *place as u32, *token, *key] {
                bytes.extend(number.to_le_bytes());
            }
            *place += 1;
        }
        let requests = self.requests.as_mut();
        let written = requests.is_some_and(|pipe| pipe.write_all(&bytes).is_ok());
        if !written {
            return Err(self.failed());
        }
        self.flight.push_back(tokens.len());
        Ok(())
    }

    /// What the engine says of the oldest request that is under way. No row where none is.
    ///
    /// # Errors
    /// As [`Remote::begin`].
    pub fn finish(&mut self) -> Result<Next> {
        let Some(rows) = self.flight.pop_front() else { return Ok(Next::Logits(Vec::new())) };
        let Header { vocabulary, half, ranked, .. } = self.header;
        let (width, size) = match (ranked, half) {
            (0, true) => (vocabulary, 2),
            (0, false) => (vocabulary, 4),
            (count, _) => (count, 4),
        };
        let mut bytes = vec![0; rows * width * size];
        if self.answers.read_exact(&mut bytes).is_err() {
            return Err(self.failed());
        }
        let four = bytes.as_chunks::<4>().0;
        Ok(match (ranked, half) {
            // A bf16 is the upper half of an f32.
            (0, true) => Next::Logits(
                bytes
                    .par_chunks_exact(2)
                    .with_min_len(1 << 14)
                    .map(|two| {
                        f32::from_bits(u32::from(u16::from_le_bytes([two[0], two[1]])) << 16)
                    })
                    .collect(),
            ),
            (0, false) => Next::Logits(
                four.par_iter()
                    .with_min_len(1 << 14)
                    .map(|four| f32::from_le_bytes(*four))
                    .collect(),
            ),
            _ => Next::Ranked(four.iter().map(|four| u32::from_le_bytes(*four)).collect()),
        })
    }

    /// Why the engine does not answer.
    fn failed(&mut self) -> Error {
        self.requests = None;
        let status = match self.child.wait() {
            Ok(status) => status,
            Err(error) => return cannot_run(&self.engine)(error),
        };
        let said = self.complaints.take().and_then(|thread| thread.join().ok());
        failure(status, &said.unwrap_or_default(), "a smaller `--batch` needs less")
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        // Either it is gone already or it goes now.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
