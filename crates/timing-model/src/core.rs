//! A core that an instruction source drives block by block.

use crate::{
    Architecture,
    block::{Block, Brief, Exit},
    branch::{Outcome, Predictors},
    counters::Counters,
    cpu::Cpu,
    decode::{Operation, Translator},
    functions::{FunctionCounts, Functions},
    kernel::SystemCalls,
    memory::Memory,
    pipeline::{Accesses, Addresses, Pipeline, SLOTS},
    report::{Report, Sampled},
    sampling::{Estimate, Figures, Phase, Sampling},
    strings::{Repeats, UNTOUCHED},
    verdict::Refusal,
};
use std::ops::Range;

/// What a core needs to know besides its processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Address of the program's `main`, for the time before it; 0: unknown.
    pub main: u64,
    /// End of the program's image in memory: below are pages of its file.
    pub image_end: u64,
    /// Instructions after which the program is stopped; 0: no limit.
    pub max_instructions: u64,
    /// One instruction in so many, by and large, is simulated in detail, and the others are estimated; 0 and 1: all.
    pub sample_rate: u64,
}

/// Where an instruction reports the addresses that it accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Takes the address of its load; the next one takes that of its store.
    pub number: usize,
    /// Bytes from its first access to its last, where it makes several in order: of each that is reported so much is to
    /// be taken away, so that what stays is where the last one says that the first one was.
    pub span: u8,
}

/// A processor core, and the program that runs on it.
///
/// The source translates each block once, reports each access of its instructions, and says when a
/// block begins. A block is charged when the next one begins, since only then is it known where its
/// branch went.
pub struct Core {
    architecture: Architecture,
    translator: Translator,
    blocks: Vec<Block>,
    /// Those of the blocks where not all is simulated in detail, else none.
    briefs: Vec<Brief>,
    slots: Box<Addresses>,
    previous: Option<u32>,
    functions: Option<Box<Functions>>,
    state: State,
}

/// All that executing a block changes.
struct State {
    pipeline: Pipeline,
    memory: Memory,
    predictors: Predictors,
    repeats: Repeats,
    calls: SystemCalls,
    sampling: Sampling,
    counters: Counters,
    settings: Settings,
    /// Line of code that was fetched last.
    code_line: u64,
    startup_cycles: Option<u64>,
    /// Whether accesses go to the memory's journal.
    notes_accesses: bool,
    /// Instruction count up to which blocks that were seen in this interval are only counted.
    skip_until: u64,
    refusal: Option<Refusal>,
}

impl Core {
    /// A core of the given processor, idle.
    #[must_use]
    pub fn new(cpu: &Cpu, settings: Settings) -> Core {
        let translator = Translator::new(cpu);
        let limit =
            if settings.max_instructions == 0 { u64::MAX } else { settings.max_instructions };
        Core {
            architecture: cpu.architecture,
            blocks: Vec::new(),
            briefs: Vec::new(),
            slots: Box::new([[0; 2]; SLOTS]),
            previous: None,
            functions: None,
            state: State {
                pipeline: Pipeline::new(cpu, translator.port_sets()),
                memory: Memory::new(cpu, settings.image_end),
                predictors: Predictors::new(&cpu.branch),
                repeats: Repeats::new(&cpu.strings),
                calls: SystemCalls::new(&cpu.kernel),
                sampling: Sampling::new(settings.sample_rate),
                counters: Counters::default(),
                settings: Settings { max_instructions: limit, ..settings },
                code_line: u64::MAX,
                startup_cycles: None,
                notes_accesses: false,
                skip_until: 0,
                refusal: None,
            },
            translator,
        }
    }

    /// Simulate every block, whatever was seen before.
    #[cfg(test)]
    pub(crate) fn simulate_all(&mut self) {
        self.state.pipeline.simulate_all();
    }

    /// Count for each function, by the addresses of its code, what it takes: before the first block is translated, and
    /// not where only samples are simulated in detail.
    pub fn watch(&mut self, functions: &[Range<u64>]) {
        debug_assert!(self.blocks.is_empty() && self.state.settings.sample_rate <= 1);
        self.functions = Some(Box::new(Functions::new(functions)));
    }

    /// What each function has taken, in the order in which they were given.
    #[must_use]
    pub fn functions(&self) -> &[FunctionCounts] {
        self.functions.as_ref().map_or(&[], |functions| functions.counts())
    }

    /// Decode a block: its instructions' addresses and bytes. Answers its number, or why a program
    /// that gets here cannot be timed.
    ///
    /// # Errors
    /// When the block holds an instruction whose result differs from run to run or that the
    /// emulator has not.
    pub fn translate(&mut self, code: &[(u64, &[u8])]) -> Result<u32, Refusal> {
        let mut block = self.translator.block(code);
        if let Some(refusal) = block.refusal {
            return Err(refusal);
        }
        if let Some(functions) = &mut self.functions {
            functions.add(block.start);
        }
        if self.state.sampling.is_on() {
            self.briefs.push(block.brief());
        }
        block.number = self.blocks.len() as u32;
        self.state.pipeline.note(&block);
        self.blocks.push(block);
        Ok(self.blocks.len() as u32 - 1)
    }

    /// Where instruction `index` of a block reports its accesses.
    #[must_use]
    pub fn slot(&self, block: u32, index: usize) -> Slot {
        let part = self.blocks.get(block as usize).and_then(|block| block.parts.get(index));
        part.map_or(Slot { number: 0, span: 0 }, |part| Slot {
            number: usize::from(part.operation) % SLOTS * 2,
            span: part.span,
        })
    }

    /// Note that the current block's access of `slot` goes to `address`.
    #[inline(always)]
    pub fn access(&mut self, slot: usize, address: u64) {
        if self.state.notes_accesses {
            let state = &mut self.state;
            return state.memory.note(address, slot % 2 == 1, &mut state.counters);
        }
        self.slots[slot / 2 % SLOTS][slot % 2] = address;
    }

    /// Block number `block` begins, so the one before it has ended.
    ///
    /// # Errors
    /// When the program may not go on.
    #[inline]
    pub fn enter(&mut self, block: u32) -> Result<(), Refusal> {
        let previous = self.previous.replace(block);
        if self.state.counters.instructions < self.state.skip_until && self.skip(previous) {
            return Ok(());
        }
        let next = self.blocks[block as usize].start;
        if let Some(previous) = previous {
            let left = &self.blocks[previous as usize];
            let brief = self.briefs.get_mut(previous as usize);
            self.state.run(left, next, &mut self.slots, brief);
            if let Some(functions) = &mut self.functions {
                self.state.charge(functions, previous);
                functions.enter(block, Some((previous, left.exit)));
            }
        } else if let Some(functions) = &mut self.functions {
            functions.enter(block, None);
        }
        if next == self.state.settings.main && self.state.startup_cycles.is_none() {
            self.state.startup_cycles = Some(self.state.estimate().0);
            self.state.set_skip();
        }
        match self.state.refusal {
            None => Ok(()),
            Some(refusal) => Err(refusal),
        }
    }

    /// Count a block, and no more; answers whether that is enough.
    #[inline(always)]
    fn skip(&mut self, block: Option<u32>) -> bool {
        let Some(brief) = block.and_then(|block| self.briefs.get(block as usize)) else {
            return false;
        };
        let state = &mut self.state;
        let instructions = state.counters.instructions + u64::from(brief.instructions);
        let is_new = brief.seen != state.sampling.number;
        if is_new || brief.is_special || instructions >= state.skip_until {
            return false;
        }
        state.counters.instructions = instructions;
        state.counters.branches += u64::from(brief.branches);
        state.sampling.note(brief.bucket, u64::from(brief.instructions));
        true
    }

    /// The program makes a system call, by Linux's number for its instruction set.
    ///
    /// # Errors
    /// When the call would make its time depend on anything but the program.
    pub fn system_call(&mut self, number: i64) -> Result<(), Refusal> {
        Refusal::of_call(self.architecture.x86_call(number)).map_or(Ok(()), Err)
    }

    /// A system call has returned.
    pub fn system_call_done(&mut self, number: i64, arguments: [u64; 3], result: i64) {
        self.state.counters.system_calls += 1;
        let number = self.architecture.x86_call(number);
        if let Some(released) = self.state.calls.done(number, arguments, result) {
            self.state.memory.release(released.address, released.bytes);
        }
    }

    /// The program has ended.
    pub fn finish(&mut self) -> Report {
        if let Some(previous) = self.previous.take() {
            let block = &self.blocks[previous as usize];
            let brief = self.briefs.get_mut(previous as usize);
            self.state.run(block, block.end, &mut self.slots, brief);
            if let Some(functions) = &mut self.functions {
                self.state.charge(functions, previous);
            }
        }
        let state = &self.state;
        let (cycles, estimate) = state.estimate();
        let [_, mispredicts, l1d_misses, l2_misses, l3_misses, tlb_misses] = estimate.figures;
        Report {
            cycles,
            sampling_error_cycles: estimate.error,
            sampled: state.sampling.is_on().then_some(Sampled {
                interval_cycles: estimate.interval,
                detailed_instructions: estimate.detailed,
                strata: estimate.strata,
            }),
            startup_cycles: state.startup_cycles,
            kernel_cycles: state.pipeline.stalled(),
            counters: Counters {
                mispredicts,
                l1d_misses,
                l2_misses,
                l3_misses,
                tlb_misses,
                ..state.counters
            },
        }
    }
}

impl State {
    /// What was counted in detail.
    fn figures(&self) -> Figures {
        let Counters { mispredicts, l1d_misses, l2_misses, l3_misses, tlb_misses, .. } =
            self.counters;
        let working = self.pipeline.cycles() - self.pipeline.stalled();
        [working, mispredicts, l1d_misses, l2_misses, l3_misses, tlb_misses]
    }

    /// Cycles so far, the operating system's included, and what else is known of all.
    fn estimate(&self) -> (u64, Estimate) {
        let estimate = self.sampling.estimate(self.counters.instructions, self.figures());
        (estimate.figures[0] + self.pipeline.stalled(), estimate)
    }

    /// Set up to where blocks may be skipped.
    fn set_skip(&mut self) {
        let may = self.sampling.phase == Phase::Skip
            && (self.settings.main == 0 || self.startup_cycles.is_some());
        let until = self.sampling.change_at.min(self.settings.max_instructions);
        self.skip_until = if may { until } else { 0 };
    }

    #[inline(never)]
    fn change_phase(&mut self) {
        let figures = self.figures();
        self.sampling.change(self.counters.instructions, figures);
        let noted = self.notes_accesses;
        self.notes_accesses = self.sampling.phase.notes_accesses();
        if noted && !self.notes_accesses {
            self.memory.catch_up();
        }
        self.memory.advance();
        self.code_line = u64::MAX;
        self.set_skip();
    }

    /// Charge to the function of the block that ran last what was not charged yet.
    #[inline(never)]
    fn charge(&self, functions: &mut Functions, block: u32) {
        functions.charge(block, self.pipeline.cycles(), self.counters.instructions);
    }

    /// Charge a block that went on at `next`; its brief is there where not all is simulated in detail.
    #[inline]
    fn run(&mut self, block: &Block, next: u64, slots: &mut Addresses, brief: Option<&mut Brief>) {
        let before = self.counters.instructions;
        if block.exit == Exit::Repeat {
            self.run_repeat(block, next, slots);
        } else {
            match self.sampling.phase {
                Phase::Detailed => self.run_detailed(block, next, slots),
                Phase::Warm => self.run_warm(block, next, slots),
                Phase::Near => self.pass::<true>(block, next),
                Phase::Skip => self.pass::<false>(block, next),
            }
        }
        let instructions = self.counters.instructions;
        if let Some(brief) = brief {
            brief.seen = self.sampling.number;
            self.sampling.note(brief.bucket, instructions - before);
        }
        if instructions >= self.sampling.change_at {
            self.change_phase();
        }
        if instructions > self.settings.max_instructions {
            self.refusal = Some(Refusal::Instructions);
        }
    }

    /// Charge a block, and its branch.
    #[inline(always)]
    fn run_detailed(&mut self, block: &Block, next: u64, slots: &Addresses) {
        if block.system_call {
            return self.run_part(block, next, slots, &block.operations);
        }
        self.counters.instructions += block.instructions;
        if block.lines.0 != self.code_line || block.lines.1 != block.lines.0 {
            self.fetch_code::<true>(block);
        }
        let outcome = self.branch(block, next);
        self.pipeline.run(block, outcome, slots, &mut self.memory, &mut self.counters);
    }

    /// Charge some first operations of a block, what a system call takes after them, and the block's branch.
    #[inline(never)]
    fn run_part(&mut self, block: &Block, next: u64, slots: &Addresses, operations: &[Operation]) {
        self.counters.instructions += block.instructions;
        if block.lines.0 != self.code_line || block.lines.1 != block.lines.0 {
            self.fetch_code::<true>(block);
        }
        let last =
            self.pipeline.run_part(block, operations, slots, &mut self.memory, &mut self.counters);
        if block.system_call {
            self.pipeline.stall(self.calls.take_due());
        }
        let outcome = self.branch(block, next);
        self.pipeline.end(outcome, last);
    }

    /// Let caches, buffers and predictors follow, at no time but the operating system's.
    #[inline(always)]
    fn run_warm(&mut self, block: &Block, next: u64, slots: &Addresses) {
        self.counters.instructions += block.instructions;
        if block.lines.0 != self.code_line || block.lines.1 != block.lines.0 {
            self.fetch_code::<false>(block);
        }
        for &slot in &block.accesses {
            let address = slots[slot as usize / 2 % SLOTS][slot as usize % 2];
            let store = slot & 1 == 1;
            if !self.memory.is_recent(address, store) {
                let instruction = block.start.wrapping_add(u64::from(slot / 2));
                self.memory.follow(address, store, instruction, &mut self.counters);
            }
        }
        self.stall_for_system(block);
        self.branch(block, next);
    }

    /// Count a block whose accesses were noted; predictors follow where `NEAR`.
    #[inline(always)]
    fn pass<const NEAR: bool>(&mut self, block: &Block, next: u64) {
        self.counters.instructions += block.instructions;
        if block.lines.0 != self.code_line || block.lines.1 != block.lines.0 {
            (block.lines.0..=block.lines.1).for_each(|line| self.memory.note_code(line));
            self.code_line = block.lines.1;
        }
        self.stall_for_system(block);
        if NEAR {
            self.branch(block, next);
        } else {
            self.counters.branches += u64::from(block.exit != Exit::Fall);
        }
    }

    /// The operating system's time of a block that is not simulated in detail.
    #[inline(always)]
    fn stall_for_system(&mut self, block: &Block) {
        let stalled =
            self.memory.take_faults() + if block.system_call { self.calls.take_due() } else { 0 };
        if stalled > 0 {
            self.pipeline.stall(stalled);
        }
    }

    /// A block that ends in a repeated string instruction, of which each element is one execution.
    #[inline(never)]
    fn run_repeat(&mut self, block: &Block, next: u64, slots: &mut Addresses) {
        let Some((repeated, before)) = block.operations.split_last() else { return };
        let continues = self.repeats.continues(block.last);
        if self.notes_accesses {
            if !before.is_empty() {
                self.counters.instructions += block.instructions;
                self.counters.branches += 1;
            } else if !continues {
                self.counters.instructions += 1;
            }
            self.repeats.skip(block.last);
            if next != block.last {
                self.repeats.end();
            }
            return;
        }
        let detailed = self.sampling.phase == Phase::Detailed;
        if !before.is_empty() {
            if detailed {
                self.run_part(block, next, slots, before);
            } else {
                self.counters.instructions += block.instructions;
                self.counters.branches += 1;
            }
        } else if !continues {
            self.counters.instructions += 1;
        }
        let addresses = slots[before.len() % SLOTS];
        slots[before.len() % SLOTS][1] = UNTOUCHED;
        let accesses = Accesses { addresses: &addresses, instruction: block.last };
        self.repeats.element(
            repeated,
            accesses,
            detailed,
            &mut self.pipeline,
            &mut self.memory,
            &mut self.counters,
        );
        if next != block.last {
            self.repeats.end();
        }
    }

    #[inline(never)]
    fn fetch_code<const TIMED: bool>(&mut self, block: &Block) {
        for line in block.lines.0..=block.lines.1 {
            let cycles = self.memory.code::<TIMED>(self.pipeline.now(), line, &mut self.counters);
            let faults = self.memory.take_faults();
            if faults > 0 {
                self.pipeline.stall(faults);
            }
            if TIMED && cycles > 0 {
                self.pipeline.wait_for_code(cycles);
            }
        }
        self.code_line = block.lines.1;
    }

    /// Let the predictors meet the branch of a block that went on at `next`.
    #[inline(always)]
    fn branch(&mut self, block: &Block, next: u64) -> Outcome {
        if block.exit == Exit::Fall {
            return Outcome::Straight;
        }
        self.counters.branches += 1;
        let outcome = self.predictors.meet(block, next);
        self.counters.mispredicts += u64::from(outcome == Outcome::Mispredicted);
        outcome
    }
}
