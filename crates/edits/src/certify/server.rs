//! A program on many inputs: by its server (`server.c`), which is linked into it and starts a child for each, and where that
//! does not answer, as it is judged.

use crate::{
    Limits, Result,
    bench::Bench,
    execute::Runs,
    pair::Language,
    toolchain::{Build, Executable},
};
use dataset::Verdict;
use rows::EditVerdict;
use sandbox::{Death, Memory, Profile, Program};
use std::time::Duration;

/// Inputs that one server answers.
const BATCH: usize = 128;
/// One of so many inputs is run again as the program is judged: a program could take the server's place.
const AGAIN: usize = 64;
/// Servers that may fail before the program is run without.
const FAILURES: u32 = 2;
/// Where a run without server is stopped.
const LONGEST: Duration = Duration::from_secs(2);
/// Clock of one batch. The server stops each child by itself.
const WALL: Duration = Duration::from_secs(400);
/// Blocks that a run without server counts for.
const STEPS_OF_ONE: u64 = 1_000_000;
/// Processes at a time: the server, a child, and the sandbox's first.
const PROCESSES: u32 = 4;

/// What a program does on an input.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outcome {
    /// What it printed, or how it came to a bad end.
    pub(super) printed: std::result::Result<Vec<u8>, Verdict>,
    /// Basic blocks executed.
    pub(super) steps: u64,
    /// Which of its basic blocks, a bit each; empty where it ran without server.
    pub(super) reached: Vec<u8>,
}

/// A program that is run on many inputs.
pub(super) struct Subject<'a> {
    /// The build that is judged.
    pub(super) program: Executable,
    bench: &'a Bench,
    runs: Runs,
    traced: Option<Executable>,
    failures: u32,
    /// Its basic blocks, once it has answered.
    pub(super) blocks: u32,
}

impl<'a> Subject<'a> {
    /// Build a program; a verdict where it does not compile.
    pub(super) fn build(
        bench: &'a Bench,
        code: &str,
        language: Language,
    ) -> Result<std::result::Result<Subject<'a>, Verdict>> {
        let program = match bench.build(code, language)? {
            Ok(program) => program,
            Err(verdict) => return Ok(Err(verdict)),
        };
        // Some programs have names that the server has, or no function `main`.
        let traced = bench.toolchain.build(code, language, Build::Traced)?.ok();
        let runs = Runs::within(&program, &bench.limits, LONGEST);
        Ok(Ok(Subject { program, bench, runs, traced, failures: 0, blocks: 0 }))
    }

    /// What it does on each input.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) fn run_all(&mut self, inputs: &[&[u8]]) -> Result<Vec<Outcome>> {
        let mut all = Vec::with_capacity(inputs.len());
        for batch in inputs.chunks(BATCH) {
            timing::bounded::check()?;
            let mut some = self.served(batch)?;
            for at in (0..some.len()).step_by(AGAIN) {
                if self.is_otherwise(&some[at], batch[at])? {
                    tracing::debug!(program = self.program.hash, "answers otherwise when traced");
                    (self.traced, some) = (None, Vec::new());
                    break;
                }
            }
            for input in &batch[some.len()..] {
                some.push(self.alone(input)?);
            }
            all.append(&mut some);
        }
        Ok(all)
    }

    fn alone(&mut self, input: &[u8]) -> Result<Outcome> {
        let ran = self.bench.output_in(&mut self.runs, input)?;
        let printed = ran.map(|ran| ran.stdout);
        Ok(Outcome { printed, steps: STEPS_OF_ONE, reached: Vec::new() })
    }

    /// Whether a program without its server prints something else. Bad ends may differ: memory that is not the program's is
    /// elsewhere there.
    fn is_otherwise(&mut self, served: &Outcome, input: &[u8]) -> Result<bool> {
        let alone = self.alone(input)?.printed;
        Ok(matches!((&served.printed, alone), (Ok(one), Ok(other)) if *one != other))
    }

    /// What the server says, of the first inputs or of all.
    fn served(&mut self, inputs: &[&[u8]]) -> Result<Vec<Outcome>> {
        let Some(traced) = self.traced.as_ref().filter(|_| self.failures < FAILURES) else {
            return Ok(Vec::new());
        };
        let mut stdin = Vec::new();
        for input in inputs {
            stdin.extend((input.len() as u32).to_le_bytes());
            stdin.extend_from_slice(input);
        }
        let Limits { memory_bytes, .. } = self.bench.limits;
        let base = Profile::native();
        let mut readable = base.readable.clone();
        readable.push(traced.path.clone());
        let program = Program {
            command: vec![traced.path.clone().into_os_string()],
            stdin,
            wall: WALL,
            channel: true,
            ..Program::default()
        };
        let profile = Profile {
            memory: Memory::Resident(memory_bytes),
            processor: WALL,
            processes: PROCESSES,
            readable,
            ..base
        };
        let finished = timing::bounded::run("a certified program", &program, &profile)?;
        let mut answer = Answer(&finished.channel);
        let Some(blocks) = answer.number() else {
            self.failures += 1;
            return Ok(Vec::new());
        };
        self.blocks = blocks;
        let mut all = Vec::new();
        while all.len() < inputs.len()
            && let Some(outcome) = answer.outcome(blocks)
        {
            all.push(outcome);
        }
        self.failures += u32::from(all.len() < inputs.len());
        Ok(all)
    }
}

/// What a server wrote that is not read yet.
struct Answer<'a>(&'a [u8]);

impl<'a> Answer<'a> {
    fn bytes(&mut self, many: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(many)?;
        self.0 = rest;
        Some(bytes)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.bytes(4)?.try_into().ok()?))
    }

    fn outcome(&mut self, blocks: u32) -> Option<Outcome> {
        let [end, signal] = *self.bytes(2)? else { return None };
        let steps = u64::from_le_bytes(self.bytes(8)?.try_into().ok()?);
        let length = self.number()? as usize;
        let printed = self.bytes(length)?;
        let reached = self.bytes((blocks as usize).div_ceil(8))?.to_vec();
        let bad = |verdict: EditVerdict, detail: &str| Err(Verdict::new(verdict, detail));
        let printed = match (end, i32::from(signal)) {
            (0, _) => Ok(printed.to_vec()),
            // What the kernel sends to who uses up its time.
            (1, 24) | (2, _) => bad(EditVerdict::CpuLimit, "does not end within the limit"),
            (1, signal) => Err(timing::bounded::verdict_of(&Death::Signal(signal, String::new()))),
            _ => bad(EditVerdict::OutputLimit, "prints more than 64 KiB"),
        };
        Some(Outcome { printed, steps, reached })
    }
}
