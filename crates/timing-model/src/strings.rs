//! Repeated string instructions, which the emulator runs one element at a time.

use crate::{
    counters::Counters,
    cpu::Strings,
    decode::{Operation, flag},
    memory::Memory,
    pipeline::{Accesses, Pipeline},
};

/// No address was reported: the count was zero.
pub(crate) const UNTOUCHED: u64 = u64::MAX;

/// The instruction under way and how far it is.
pub(crate) struct Repeats {
    rules: Strings,
    instruction: u64,
    line: u64,
    /// Bytes moved but not yet charged.
    bytes: u64,
}

impl Repeats {
    pub(crate) fn new(rules: &Strings) -> Repeats {
        Repeats { rules: rules.clone(), instruction: 0, line: u64::MAX, bytes: 0 }
    }

    /// Whether this element continues the last one's instruction.
    pub(crate) fn continues(&self, instruction: u64) -> bool {
        self.instruction == instruction
    }

    /// An element that nothing but the journal sees.
    pub(crate) fn skip(&mut self, instruction: u64) {
        if self.instruction != instruction {
            self.begin(instruction);
        }
    }

    fn begin(&mut self, instruction: u64) {
        self.instruction = instruction;
        self.line = u64::MAX;
        self.bytes = 0;
    }

    /// Another instruction comes next.
    pub(crate) fn end(&mut self) {
        self.instruction = 0;
    }

    /// Move one element; one access per line goes through the pipeline, as the microcode moves
    /// whole lines. Where `timed` is false only the caches follow.
    pub(crate) fn element(
        &mut self,
        operation: &Operation,
        at: Accesses<'_>,
        timed: bool,
        pipeline: &mut Pipeline,
        memory: &mut Memory,
        counters: &mut Counters,
    ) {
        if self.instruction != at.instruction {
            self.begin(at.instruction);
            if timed {
                pipeline.pause(self.rules.startup);
            }
        }
        if at.store() == UNTOUCHED {
            return;
        }
        self.bytes += u64::from(operation.bytes);
        if self.bytes >= self.rules.bytes_per_cycle {
            if timed {
                pipeline.pause(self.bytes / self.rules.bytes_per_cycle);
            }
            self.bytes %= self.rules.bytes_per_cycle;
        }
        if self.line != at.store() >> 6 {
            self.line = at.store() >> 6;
            if timed {
                pipeline.execute(operation, at, memory, counters);
            } else {
                if operation.flags & flag::LOAD != 0 {
                    memory.load::<false>(0, at.load(), at.instruction, counters);
                }
                memory.store::<false>(0, at.store(), at.instruction, counters);
                let faults = memory.take_faults();
                if faults > 0 {
                    pipeline.stall(faults);
                }
            }
        }
    }
}
