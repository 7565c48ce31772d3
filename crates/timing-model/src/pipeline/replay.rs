//! Blocks that met the pipeline in the same state before are not simulated again.
//!
//! What a block does to the pipeline depends on the state that it meets, on how its branch was predicted, and on what
//! the memory answers. So while a block is simulated its accesses are recorded, and with them the state that it leaves
//! ([`super::memo`]). When it meets that state again only its accesses are made, at the cycles that are known; if the
//! answers are the same, so is the state that it leaves. Until something else happens the pipeline itself stays behind:
//! [`Pipeline::settle`] brings it up.

use super::{
    Accesses, Addresses, Pipeline,
    access::{self, crosses},
    memo::{End, Entry, First, Key, Memo},
    ports::RING,
    snapshot::HORIZON,
    tape::{Answer, Kind, Recorder, Silent, Step},
};
use crate::{
    block::Block,
    branch::Outcome,
    counters::Counters,
    decode::{Operation, flag, register},
    memory::Memory,
};

/// A block of more cycles is not learned: its ports would not fit beside the state that it leaves.
const LONGEST: u64 = RING as u64 - HORIZON - 1024;
/// Blocks that ended in the last cycles, no more of which can matter than the ring of ports holds at once.
const LATEST: usize = 512;

/// Where in the memo the pipeline is.
#[derive(Clone, Copy)]
struct Place {
    node: u32,
    first: First,
    /// Whether the pipeline itself is there, too.
    is_settled: bool,
}

/// Whether it pays to look states up. It does where few blocks in few states run again and again, as in most loops; where
/// many take turns their legs are not near, and finding them takes as long as simulating them.
struct Gain {
    /// Blocks that were saved cheaply, less what the others cost.
    credit: u32,
    /// Blocks until states are looked up again, and how many there were the last time.
    rest: u32,
    last_rest: u32,
    /// Ends of legs that were reached last, by their low bits.
    recent: Box<[u32; RECENT]>,
}

const RECENT: usize = 1024;

impl Gain {
    const MOST: u32 = 1 << 15;
    const FIRST: u32 = 1 << 14;
    /// What a block costs that had to be simulated.
    const COST: u32 = 4;
    const LEAST_REST: u32 = 1 << 14;
    const MOST_REST: u32 = 1 << 20;

    fn new() -> Gain {
        Gain { credit: Gain::FIRST, rest: 0, last_rest: 0, recent: Box::new([0; RECENT]) }
    }

    /// A block had to be simulated; answers whether states are looked up further on.
    fn lose(&mut self) -> bool {
        self.pay(Gain::COST)
    }

    fn pay(&mut self, cost: u32) -> bool {
        self.credit = self.credit.saturating_sub(cost);
        if self.credit > 0 {
            return true;
        }
        self.last_rest = (self.last_rest * 2).clamp(Gain::LEAST_REST, Gain::MOST_REST);
        (self.credit, self.rest) = (Gain::FIRST, self.last_rest);
        false
    }

    /// A block was saved whose leg ends at `at`; answers as [`Gain::lose`] does.
    #[inline(always)]
    fn win(&mut self, at: u32) -> bool {
        let recent = &mut self.recent[at as usize % RECENT];
        if *recent != at {
            *recent = at;
            return self.pay(1);
        }
        if self.credit < Gain::MOST {
            self.credit += 1;
        } else {
            self.last_rest = 0;
        }
        true
    }
}

/// The memo and the way through it.
pub(super) struct Replay {
    memo: Memo,
    place: Option<Place>,
    gain: Gain,
    recorder: Recorder,
    /// The state that is being looked up.
    state: Vec<u16>,
    /// Entries that are ends of blocks since the pipeline was settled, with the cycle of their begin; those of no cycles left out.
    latest: Box<[(u32, u64); LATEST]>,
    ended: usize,
    /// The cycle in which the pipeline was settled last.
    settled: u64,
}

impl Replay {
    pub(super) fn new() -> Replay {
        Replay {
            memo: Memo::new(),
            place: None,
            gain: Gain::new(),
            recorder: Recorder::default(),
            state: Vec::new(),
            latest: Box::new([(0, 0); LATEST]),
            ended: 0,
            settled: 0,
        }
    }
}

impl Pipeline {
    /// Look no state up from now on.
    #[cfg(test)]
    pub(crate) fn simulate_all(&mut self) {
        self.leave();
        self.replay.gain.rest = u32::MAX;
    }

    /// A block was decoded: states are told apart by registers and units that blocks name.
    pub(crate) fn note(&mut self, block: &Block) {
        let (mut named, mut unit_sets) = (self.named, self.unit_sets.clone());
        for op in &block.operations {
            let registers = op.destinations.iter().filter(|one| **one < register::SINK);
            named = registers.fold(named, |named, one| named.max(usize::from(*one) + 1));
            if op.flags & flag::UNIT != 0 && !unit_sets.contains(&op.ports) {
                unit_sets.push(op.ports);
            }
        }
        if named != self.named || unit_sets != self.unit_sets {
            self.leave();
            self.replay.memo.clear();
            (self.named, self.unit_sets) = (named, unit_sets);
        }
    }

    /// Take a block through the pipeline whose branch was predicted so.
    #[inline(always)]
    pub(crate) fn run(
        &mut self,
        block: &Block,
        outcome: Outcome,
        addresses: &Addresses,
        memory: &mut Memory,
        counters: &mut Counters,
    ) {
        if self.replay.place.is_none() {
            self.run_unknown(block, outcome, addresses, memory, counters);
        } else if !self.walk(block, outcome, addresses, memory, counters) {
            self.run_new(block, outcome, addresses, memory, counters);
        }
    }

    /// A block that meets a state which is not looked up.
    #[inline(never)]
    fn run_unknown(
        &mut self,
        block: &Block,
        outcome: Outcome,
        addresses: &Addresses,
        memory: &mut Memory,
        counters: &mut Counters,
    ) {
        let last =
            self.simulate(block, &block.operations, addresses, memory, counters, &mut Silent);
        self.end(outcome, last);
        let gain = &mut self.replay.gain;
        if gain.rest > 0 {
            gain.rest -= 1;
            return;
        }
        self.find_place();
    }

    /// Make the accesses of a block that met this state before; answers whether that was all.
    #[inline(always)]
    fn walk(
        &mut self,
        block: &Block,
        outcome: Outcome,
        addresses: &Addresses,
        memory: &mut Memory,
        counters: &mut Counters,
    ) -> bool {
        let base = self.cycle;
        self.replay.recorder.answers.clear();
        let Some(Place { first, .. }) = self.replay.place else { return false };
        let Some(mut at) = self.replay.memo.leg(first, key(block, outcome)) else { return false };
        loop {
            let mut step = match self.replay.memo.entries[at as usize] {
                Entry::Step { step, .. } => step,
                Entry::End { node, end } => {
                    self.arrive(at, node, end, base);
                    return true;
                }
                Entry::Leg { .. } | Entry::Taken { .. } => return false,
            };
            let op = &block.operations[step.operation()];
            let accesses = Accesses::of(block, step.operation(), addresses);
            if step.kind() != Kind::Store {
                let crosses = crosses(accesses.load(), op.bytes);
                if crosses != (step.kind() == Kind::Crossing) {
                    let Some(other) = self.other(at, |other| other.kind() != step.kind()) else {
                        return false;
                    };
                    (at, step) = other;
                }
            }
            let answer = self.ask(&step, op, accesses, base, memory, counters);
            self.replay.recorder.answers.push(answer);
            if answer.faults > 0 {
                return false;
            }
            let result = answer.cycle - base;
            if result != u64::from(step.result) {
                let found = self.other(at, |other| {
                    other.kind() == step.kind() && u64::from(other.result) == result
                });
                let Some((found, _)) = found else { return false };
                at = found;
            }
            at += 1;
        }
    }

    /// A step that stands for the one at `at`.
    #[inline(never)]
    fn other(&self, at: u32, is: impl Fn(&Step) -> bool) -> Option<(u32, Step)> {
        let memo = &self.replay.memo;
        let found = memo.find(at, is)?;
        if let Entry::Step { step, .. } = memo.entries[found as usize] {
            Some((found, step))
        } else {
            None
        }
    }

    /// Make an access.
    #[inline(always)]
    fn ask(
        &mut self,
        step: &Step,
        op: &Operation,
        at: Accesses<'_>,
        base: u64,
        memory: &mut Memory,
        counters: &mut Counters,
    ) -> Answer {
        let when = [base + u64::from(step.issue), base + u64::from(step.second)];
        if step.kind() == Kind::Store {
            let answer = self.store(op, at, when, memory, counters);
            self.written = answer.cycle;
            answer
        } else {
            access::load(&self.forwarding, op, at, when, memory, counters)
        }
    }

    /// A block that began at `base` has ended as it did before.
    #[inline(always)]
    fn arrive(&mut self, at: u32, node: u32, end: End, base: u64) {
        let replay = &mut self.replay;
        if replay.place.is_some_and(|place| place.is_settled) {
            replay.settled = base;
            replay.ended = 0;
        }
        if end.cycles > 0 {
            replay.latest[replay.ended % LATEST] = (at, base);
            replay.ended += 1;
        }
        let first = replay.memo.first(node);
        replay.place = Some(Place { node, first, is_settled: false });
        let pays = replay.gain.win(at);
        self.cycle = base + u64::from(end.cycles);
        self.begun = base + u64::from(end.begun);
        self.retired = base.wrapping_add_signed(i64::from(end.retired));
        self.fetch.put(base.wrapping_add_signed(i64::from(end.fetch)), u64::from(end.used));
        if !pays {
            self.leave();
        }
    }

    /// A block that did not meet this state before, or got another answer: the first ones are recorded.
    #[inline(never)]
    fn run_new(
        &mut self,
        block: &Block,
        outcome: Outcome,
        addresses: &Addresses,
        memory: &mut Memory,
        counters: &mut Counters,
    ) {
        self.settle();
        let from = self.replay.place.take();
        let base = self.cycle;
        let mut recorder = std::mem::take(&mut self.replay.recorder);
        recorder.begin(block.start, base);
        let last =
            self.simulate(block, &block.operations, addresses, memory, counters, &mut recorder);
        self.end(outcome, last);
        let to = if self.replay.gain.lose() { self.find_place() } else { None };
        if let (Some(from), Some(to)) = (from, to)
            && !recorder.spoiled
            && self.cycle - base <= LONGEST
        {
            let ports = &self.ports;
            let taken = (base + 1..=self.cycle).map(|cycle| ports.taken(cycle));
            let (fetch, used) = self.fetch.at();
            let end = End {
                cycles: (self.cycle - base) as u16,
                retired: self.retired.wrapping_sub(base) as i16,
                fetch: fetch.wrapping_sub(base) as i16,
                used: used as u16,
                begun: (self.begun - base) as u16,
            };
            let taken = self.replay.memo.keep(taken);
            self.replay.memo.learn(
                from.node,
                key(block, outcome),
                &recorder.steps,
                (to, end),
                taken,
            );
        }
        self.replay.recorder = recorder;
        if self.replay.memo.is_full() {
            self.replay.memo.clear();
            self.replay.place = None;
        }
    }

    /// Look the state up, where it can be taken down.
    fn find_place(&mut self) -> Option<u32> {
        let mut state = std::mem::take(&mut self.replay.state);
        let node = self.take_down(&mut state).then(|| self.replay.memo.node(&state));
        self.replay.state = state;
        self.replay.place =
            node.map(|node| Place { node, first: self.replay.memo.first(node), is_settled: true });
        node
    }

    /// Something else happens than a block.
    #[inline(always)]
    pub(crate) fn leave(&mut self) {
        if self.replay.place.is_some() {
            self.settle();
            self.replay.place = None;
        }
    }

    /// Bring all of the pipeline to where its cycles are.
    #[inline(never)]
    fn settle(&mut self) {
        let Some(place @ Place { node, is_settled: false, .. }) = self.replay.place else { return };
        self.ports.free_after(self.replay.settled);
        self.ports.advance(self.begun);
        let mut state = std::mem::take(&mut self.replay.state);
        state.clear();
        state.extend_from_slice(self.replay.memo.state(node));
        self.restore(&state);
        self.replay.state = state;
        // Ports of cycles that are past by now matter to µops so late that the ring comes round to them.
        let floor = self.ports.floor();
        let replay = &mut self.replay;
        let oldest = replay.ended.saturating_sub(LATEST);
        for at in (oldest..replay.ended).rev() {
            let (entry, base) = replay.latest[at % LATEST];
            let Entry::End { end, .. } = replay.memo.entries[entry as usize] else { continue };
            if base + u64::from(end.cycles) < floor {
                break;
            }
            for (cycle, taken) in (base + 1..).zip(replay.memo.taken(entry, end.cycles)) {
                if cycle >= floor {
                    self.ports.put(cycle, *taken);
                }
            }
        }
        replay.place = Some(Place { is_settled: true, ..place });
    }
}

/// What tells apart the legs from a state.
#[inline(always)]
fn key(block: &Block, outcome: Outcome) -> Key {
    let outcome = match outcome {
        Outcome::Straight => 0,
        Outcome::Taken(bubble) => bubble as u32 + 1,
        Outcome::Mispredicted => u32::MAX,
    };
    Key { block: block.number, outcome }
}
