//! Accesses as the pipeline sees them: caches, stores under way, and lines that are crossed.

use super::{Accesses, Pipeline, forwarding::StoreForwarding, tape::Answer};
use crate::{
    counters::Counters,
    decode::{Operation, flag},
    memory::Memory,
};

/// Whether an access goes on in the next line.
#[inline(always)]
pub(super) fn crosses(address: u64, bytes: u8) -> bool {
    (address & 63) + u64::from(bytes) > 64
}

/// When a load has its data that issues at `issued`, and at `second` to the next line where it crosses.
#[inline(always)]
pub(super) fn load(
    forwarding: &StoreForwarding,
    op: &Operation,
    at: Accesses<'_>,
    [issued, second]: [u64; 2],
    memory: &mut Memory,
    counters: &mut Counters,
) -> Answer {
    let mut done = memory.load::<true>(issued, at.load(), at.instruction, counters);
    if crosses(at.load(), op.bytes) {
        let end = at.load() + u64::from(op.bytes) - 1;
        done = done.max(memory.load::<true>(second, end, at.instruction, counters));
    }
    done += u64::from(op.load_extra);
    let cycle = forwarding.load(at.load(), op.bytes, issued, done);
    Answer { cycle, faults: memory.take_faults() }
}

/// When a store that retired is in the cache.
#[inline(always)]
fn write(
    op: &Operation,
    at: Accesses<'_>,
    retired: u64,
    memory: &mut Memory,
    counters: &mut Counters,
) -> u64 {
    let there = memory.store::<true>(retired, at.store(), at.instruction, counters);
    if crosses(at.store(), op.bytes) {
        let end = at.store() + u64::from(op.bytes) - 1;
        memory.store::<true>(retired, end, at.instruction, counters).max(there)
    } else {
        there
    }
}

impl Pipeline {
    /// When a store is written that retired at `retired` and whose data was there at `data`.
    #[inline(always)]
    pub(super) fn store(
        &mut self,
        op: &Operation,
        at: Accesses<'_>,
        [retired, data]: [u64; 2],
        memory: &mut Memory,
        counters: &mut Counters,
    ) -> Answer {
        let there = if op.flags & flag::STREAMING != 0 {
            memory.store_streaming::<true>(retired, at.store())
        } else {
            write(op, at, retired, memory, counters)
        };
        // After those before it.
        let written = there.max(self.written + 1);
        self.forwarding.store(at.store(), op.bytes, data, written);
        Answer { cycle: written, faults: memory.take_faults() }
    }
}
