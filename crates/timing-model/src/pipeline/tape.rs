//! What a block asks of the memory and what it is answered, so that it need not be asked again.

use super::Accesses;

/// What the memory answers to an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// When a load has its data, or a store is written.
    pub(super) cycle: u64,
    /// Cycles of page faults.
    pub(super) faults: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Load,
    /// A load from two lines.
    Crossing,
    Store,
}

/// An access of a block, in cycles from the block's begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// Index of its operation, and its kind in the two highest bits.
    what: u16,
    /// When it goes to the memory.
    pub(super) issue: u16,
    /// When a crossing load goes to its second line, or a store's data is there.
    pub(super) second: u16,
    /// What it is answered.
    pub(super) result: u16,
}

/// Operations beyond are not told apart.
const OPERATIONS: u64 = 1 << 14;

impl Step {
    #[inline(always)]
    pub(super) fn operation(self) -> usize {
        usize::from(self.what) % OPERATIONS as usize
    }

    #[inline(always)]
    pub(super) fn kind(self) -> Kind {
        match self.what >> 14 {
            0 => Kind::Load,
            1 => Kind::Crossing,
            _ => Kind::Store,
        }
    }
}

/// An access with its answer, in cycles of the program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub(super) kind: Kind,
    pub(super) issue: u64,
    pub(super) second: u64,
    pub(super) answer: Answer,
}

/// Takes part in the accesses of a block.
pub(super) trait Tape {
    /// The answer to the next access, if it was made already.
    fn play(&mut self) -> Option<Answer>;
    fn record(&mut self, at: Accesses<'_>, record: Record);
}

/// Plays and records nothing.
pub(super) struct Silent;

impl Tape for Silent {
    #[inline(always)]
    fn play(&mut self) -> Option<Answer> {
        None
    }

    #[inline(always)]
    fn record(&mut self, _: Accesses<'_>, _: Record) {}
}

/// Plays the first answers and records all accesses.
#[derive(Default)]
pub(super) struct Recorder {
    /// Answers to accesses of the block that were made already.
    pub(super) answers: Vec<Answer>,
    played: usize,
    pub(super) steps: Vec<Step>,
    /// Address and cycle at which the block begins.
    start: u64,
    base: u64,
    /// Whether something happened that a step cannot tell.
    pub(super) spoiled: bool,
}

impl Recorder {
    /// A block begins whose first accesses were answered.
    pub(super) fn begin(&mut self, start: u64, base: u64) {
        self.played = 0;
        self.steps.clear();
        (self.start, self.base, self.spoiled) = (start, base, false);
    }
}

impl Tape for Recorder {
    #[inline(always)]
    fn play(&mut self) -> Option<Answer> {
        let answer = self.answers.get(self.played).copied();
        self.played += 1;
        answer
    }

    #[inline(always)]
    fn record(&mut self, at: Accesses<'_>, record: Record) {
        let [issue, second, result] = [record.issue, record.second, record.answer.cycle]
            .map(|cycle| cycle.saturating_sub(self.base));
        let farthest = issue.max(second).max(result);
        let operation = at.instruction.wrapping_sub(self.start);
        self.spoiled |= record.answer.faults > 0 || farthest > u64::from(u16::MAX);
        self.spoiled |= operation >= OPERATIONS;
        self.steps.push(Step {
            what: operation as u16 | (record.kind as u16) << 14,
            issue: issue as u16,
            second: second as u16,
            result: result as u16,
        });
    }
}
