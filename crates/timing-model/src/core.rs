//! A core that an instruction source drives block by block.

use crate::{
    Architecture,
    block::{Block, Exit},
    branch::{Outcome, Predictors},
    counters::Counters,
    cpu::Cpu,
    decode::{Operation, Translator},
    functions::{FunctionCounts, Functions},
    kernel::SystemCalls,
    memory::Memory,
    pipeline::{Accesses, Pipeline},
    report::Report,
    sampling::{Phase, Sampling},
    strings::{Repeats, UNTOUCHED},
    verdict::Refusal,
};
use std::ops::Range;

/// Operations of a block whose addresses are told apart; each has one of a load and one of a store.
const SLOTS: usize = 1024;
type Slots = [[u64; 2]; SLOTS];

/// What a core needs to know besides its processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Address of the program's `main`, for the time before it; 0: unknown.
    pub main: u64,
    /// End of the program's image in memory: below are pages of its file.
    pub image_end: u64,
    /// Instructions after which the program is stopped; 0: no limit.
    pub max_instructions: u64,
    /// One instruction in so many is simulated in detail; 0 and 1: all.
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
    slots: Box<Slots>,
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
    /// Branches that no predictor saw, since they were far from a sampled window.
    unpredicted: u64,
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
                unpredicted: 0,
                refusal: None,
            },
            translator,
        }
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
        let block = self.translator.block(code);
        if let Some(refusal) = block.refusal {
            return Err(refusal);
        }
        if let Some(functions) = &mut self.functions {
            functions.add(block.start);
        }
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
        self.slots[slot / 2 % SLOTS][slot % 2] = address;
    }

    /// Block number `block` begins, so the one before it has ended.
    ///
    /// # Errors
    /// When the program may not go on.
    #[inline]
    pub fn enter(&mut self, block: u32) -> Result<(), Refusal> {
        let next = self.blocks[block as usize].start;
        if let Some(previous) = self.previous.replace(block) {
            let left = &self.blocks[previous as usize];
            self.state.run(left, next, &mut self.slots);
            if let Some(functions) = &mut self.functions {
                self.state.charge(functions, previous);
                functions.enter(block, Some((previous, left.exit)));
            }
        } else if let Some(functions) = &mut self.functions {
            functions.enter(block, None);
        }
        if next == self.state.settings.main && self.state.startup_cycles.is_none() {
            self.state.startup_cycles = Some(self.state.cycles().0);
        }
        match self.state.refusal {
            None => Ok(()),
            Some(refusal) => Err(refusal),
        }
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
            self.state.run(block, block.end, &mut self.slots);
            if let Some(functions) = &mut self.functions {
                self.state.charge(functions, previous);
            }
        }
        let state = &mut self.state;
        let (cycles, error) = state.cycles();
        let mut counters = state.counters;
        let seen = counters.branches - state.unpredicted;
        if state.unpredicted > 0 && seen > 0 {
            let scaled = u128::from(counters.mispredicts) * u128::from(counters.branches);
            counters.mispredicts = (scaled / u128::from(seen)) as u64;
        }
        Report {
            cycles,
            sampling_error_cycles: error,
            startup_cycles: state.startup_cycles,
            kernel_cycles: state.pipeline.stalled(),
            counters,
        }
    }
}

impl State {
    /// Cycles so far, and their standard error where they were sampled.
    fn cycles(&mut self) -> (u64, u64) {
        let stalled = self.pipeline.stalled();
        let working = self.pipeline.cycles() - stalled;
        let (total, error) = self.sampling.total(self.counters.instructions, working);
        (total + stalled, error)
    }

    /// Charge to the function of the block that ran last what was not charged yet.
    #[inline(never)]
    fn charge(&self, functions: &mut Functions, block: u32) {
        functions.charge(block, self.pipeline.cycles(), self.counters.instructions);
    }

    /// Charge a block that went on at `next`.
    #[inline]
    fn run(&mut self, block: &Block, next: u64, slots: &mut Slots) {
        if block.exit == Exit::Repeat {
            self.run_repeat(block, next, slots);
        } else {
            match self.sampling.phase {
                Phase::Detailed => self.run_detailed(block, next, slots, &block.operations),
                Phase::Far => self.run_warm::<false>(block, next, slots),
                Phase::Near => self.run_warm::<true>(block, next, slots),
            }
        }
        let instructions = self.counters.instructions;
        if instructions >= self.sampling.change_at {
            let working = self.pipeline.cycles() - self.pipeline.stalled();
            self.sampling.change(instructions, working);
            self.memory.forget_recent();
        }
        if instructions > self.settings.max_instructions {
            self.refusal = Some(Refusal::Instructions);
        }
    }

    /// Charge some first operations of a block, and its branch.
    #[inline(always)]
    fn run_detailed(&mut self, block: &Block, next: u64, slots: &Slots, operations: &[Operation]) {
        self.counters.instructions += block.instructions;
        if block.lines.0 != self.code_line || block.lines.1 != block.lines.0 {
            self.fetch_code::<true>(block);
        }
        self.pipeline.begin(block.uops);
        let mut last = 0;
        for (at, operation) in operations.iter().enumerate() {
            let accesses = Accesses {
                addresses: &slots[at % SLOTS],
                instruction: block.start.wrapping_add(at as u64),
            };
            last = self.pipeline.execute(operation, accesses, &mut self.memory, &mut self.counters);
        }
        if block.system_call {
            self.pipeline.stall(self.calls.take_due());
        }
        if block.exit != Exit::Fall {
            self.branch::<true>(block, next, last);
        }
    }

    /// Keep caches and buffers warm, and predictors where `NEAR`, at no time but the operating
    /// system's.
    #[inline(always)]
    fn run_warm<const NEAR: bool>(&mut self, block: &Block, next: u64, slots: &Slots) {
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
        let stalled =
            self.memory.take_faults() + if block.system_call { self.calls.take_due() } else { 0 };
        if stalled > 0 {
            self.pipeline.stall(stalled);
        }
        if NEAR && block.exit != Exit::Fall {
            self.branch::<false>(block, next, 0);
        } else if block.exit != Exit::Fall {
            self.counters.branches += 1;
            self.unpredicted += 1;
        }
    }

    /// A block that ends in a repeated string instruction, of which each element is one execution.
    #[inline(never)]
    fn run_repeat(&mut self, block: &Block, next: u64, slots: &mut Slots) {
        let Some((repeated, before)) = block.operations.split_last() else { return };
        let continues = self.repeats.continues(block.last);
        let detailed = self.sampling.phase == Phase::Detailed;
        if !before.is_empty() {
            if detailed {
                self.run_detailed(block, next, slots, before);
            } else {
                self.counters.instructions += block.instructions;
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

    #[inline(always)]
    fn branch<const TIMED: bool>(&mut self, block: &Block, next: u64, resolved: u64) {
        self.counters.branches += 1;
        match self.predictors.meet(block, next) {
            Outcome::Straight => {}
            Outcome::Taken(bubble) => {
                if TIMED {
                    self.pipeline.taken(bubble);
                }
            }
            Outcome::Mispredicted => {
                self.counters.mispredicts += 1;
                if TIMED {
                    self.pipeline.redirect(resolved);
                }
            }
        }
    }
}
