//! Caches, translation, prefetching and main memory: when a load's data is there.
//!
//! Lines are brought in at once and know the cycle at which they arrive, so a second access to a
//! line under way waits for it, and a prefetch that is late helps in part. Each level has a limit of
//! outstanding misses and a channel of limited bandwidth.

mod cache;
mod channel;
mod journal;
mod mshr;
mod pages;
mod prefetch;
mod replacement;
mod tlb;

use crate::{counters::Counters, cpu::Cpu};
use cache::{Cache, DIRTY, Evicted, PREFETCHED};
use channel::Channel;
use journal::Journal;
use mshr::Misses;
use pages::Pages;
use prefetch::{Run, Streams, Strides};
use tlb::{Buffers, Translation};

const LINE: u32 = 6;
const PAGE: u32 = 12;
const LINES_PER_PAGE: u64 = 64;
/// No more than there are sets in a first-level cache.
const RECENT: usize = 64;
/// Page tables live where no program has its data.
const TABLES: u64 = 1 << 52;

/// The memory system of one core.
pub(crate) struct Memory {
    l1i: Cache,
    l1d: Cache,
    l2: Cache,
    l3: Cache,
    l1_misses: Misses,
    l2_misses: Misses,
    walkers: Misses,
    l2_channel: Channel,
    l3_channel: Channel,
    dram: Channel,
    buffers: Buffers,
    streams: Streams,
    strides: Strides,
    pages: Pages,
    /// Lines that were accessed without time last, by their low bits, and whether they are known to be
    /// dirty: a second access changes nothing.
    recent: [u64; RECENT],
    journal: Journal,
    rules: Cpu,
    /// Addresses below are pages of the program's file.
    image_end: u64,
    /// Cycles of page faults not yet charged.
    faults: u64,
}

impl Memory {
    pub(crate) fn new(cpu: &Cpu, image_end: u64) -> Memory {
        Memory {
            l1i: Cache::new(&cpu.l1i),
            l1d: Cache::new(&cpu.l1d),
            l2: Cache::new(&cpu.l2),
            l3: Cache::new(&cpu.l3),
            l1_misses: Misses::new(cpu.l1d.misses),
            l2_misses: Misses::new(cpu.l2.misses),
            walkers: Misses::new(cpu.tlb.walkers),
            l2_channel: Channel::new(cpu.l2.cycles_per_line),
            l3_channel: Channel::new(cpu.l3.cycles_per_line),
            dram: Channel::new(cpu.dram.cycles_per_line),
            buffers: Buffers::new(&cpu.tlb),
            streams: Streams::new(&cpu.prefetch),
            strides: Strides::new(&cpu.prefetch),
            pages: Pages::default(),
            recent: [u64::MAX; RECENT],
            journal: Journal::new(),
            rules: cpu.clone(),
            image_end,
            faults: 0,
        }
    }

    /// Cycles of page faults since the last call.
    #[inline(always)]
    pub(crate) fn take_faults(&mut self) -> u64 {
        std::mem::take(&mut self.faults)
    }

    /// When a load that issues at `cycle` has its data. Where `TIMED` is false nothing waits: only
    /// the contents of caches and buffers follow.
    #[inline(always)]
    pub(crate) fn load<const TIMED: bool>(
        &mut self,
        cycle: u64,
        address: u64,
        instruction: u64,
        counters: &mut Counters,
    ) -> u64 {
        let cycle = match self.buffers.look(address >> PAGE) {
            Translation::First => cycle,
            other => self.translate::<TIMED>(cycle, address >> PAGE, other, counters),
        };
        let line = address >> LINE;
        if let Some(place) = self.l1d.find(line) {
            let (arrival, facts) = self.l1d.arrival(place);
            if facts & PREFETCHED != 0 {
                self.l1d.used(place);
                self.train::<TIMED>(cycle, address, instruction);
            }
            return (cycle + self.rules.l1d.latency).max(arrival);
        }
        counters.l1d_misses += 1;
        let done = self.fetch::<TIMED>(cycle, line, 0, counters);
        self.train::<TIMED>(cycle, address, instruction);
        done
    }

    /// When a store that leaves the store queue at `cycle` is in the cache.
    #[inline(always)]
    pub(crate) fn store<const TIMED: bool>(
        &mut self,
        cycle: u64,
        address: u64,
        instruction: u64,
        counters: &mut Counters,
    ) -> u64 {
        let cycle = match self.buffers.look(address >> PAGE) {
            Translation::First => cycle,
            other => self.translate::<TIMED>(cycle, address >> PAGE, other, counters),
        };
        let line = address >> LINE;
        if let Some(place) = self.l1d.find(line) {
            let (arrival, facts) = self.l1d.arrival(place);
            self.l1d.dirty(place);
            if facts & PREFETCHED != 0 {
                self.l1d.used(place);
                self.train::<TIMED>(cycle, address, instruction);
            }
            return arrival.max(cycle);
        }
        counters.l1d_misses += 1;
        let done = self.fetch::<TIMED>(cycle, line, DIRTY, counters);
        self.train::<TIMED>(cycle, address, instruction);
        done
    }

    /// Whether an access without time can change nothing, since the last one among its neighbours
    /// was to the same line.
    #[inline(always)]
    pub(crate) fn is_recent(&self, address: u64, store: bool) -> bool {
        let line = address >> LINE;
        let word = self.recent[line as usize % RECENT];
        word == line << 1 | 1 || word == line << 1 && !store
    }

    /// Let caches and buffers follow an access without time.
    pub(crate) fn follow(
        &mut self,
        address: u64,
        store: bool,
        instruction: u64,
        counters: &mut Counters,
    ) {
        let line = address >> LINE;
        self.recent[line as usize % RECENT] = line << 1 | u64::from(store);
        if store {
            self.store::<false>(0, address, instruction, counters);
        } else {
            self.load::<false>(0, address, instruction, counters);
        }
    }

    /// Accesses with time, or releases of memory, come between those without.
    fn forget_recent(&mut self) {
        self.recent = [u64::MAX; RECENT];
    }

    /// When a store past the caches has left the core.
    pub(crate) fn store_streaming<const TIMED: bool>(&mut self, cycle: u64, address: u64) -> u64 {
        if self.pages.touch(address >> PAGE) {
            self.faults += self.rules.kernel.page_fault;
        }
        // Write-combining buffers send one transfer for each full line.
        if TIMED && address & 63 < 16 { self.dram.take(cycle) } else { cycle }
    }

    /// Cycles that fetching a line of code takes beyond a hit.
    pub(crate) fn code<const TIMED: bool>(
        &mut self,
        cycle: u64,
        line: u64,
        counters: &mut Counters,
    ) -> u64 {
        if self.l1i.find(line).is_some() {
            return 0;
        }
        if self.pages.touch(line / LINES_PER_PAGE) {
            self.fault(line / LINES_PER_PAGE);
        }
        let arrival = self.below::<TIMED>(cycle, line, counters);
        for next in [line, line + 1] {
            if !self.l1i.holds(next) {
                self.l1i.insert(next, 0, 0);
            }
        }
        arrival.saturating_sub(cycle)
    }

    /// The program gave back pages.
    pub(crate) fn release(&mut self, address: u64, bytes: u64) {
        self.pages.release(address >> PAGE, bytes.div_ceil(1 << PAGE));
        self.buffers.clear();
        self.forget_recent();
        self.journal.release();
    }

    /// A miss of the first data cache: bring `line` in, answer when it is there.
    #[inline(never)]
    fn fetch<const TIMED: bool>(
        &mut self,
        cycle: u64,
        line: u64,
        facts: u64,
        counters: &mut Counters,
    ) -> u64 {
        let (register, start) = if TIMED { self.l1_misses.free(cycle) } else { (0, cycle) };
        let done = self.below::<TIMED>(start, line, counters);
        if TIMED {
            self.l1_misses.occupy(register, done);
        }
        self.fill_first(line, if TIMED { done } else { 0 }, facts, cycle);
        done
    }

    /// When the second level, or what is below it, delivers a line.
    fn below<const TIMED: bool>(&mut self, cycle: u64, line: u64, counters: &mut Counters) -> u64 {
        if let Some(place) = self.l2.find(line) {
            let (arrival, facts) = self.l2.arrival(place);
            if facts & PREFETCHED != 0 {
                self.l2.used(place);
            }
            let at = if TIMED { self.l2_channel.take(cycle) } else { cycle };
            return (at + self.rules.l2.latency).max(arrival);
        }
        counters.l2_misses += 1;
        let (register, start) = if TIMED { self.l2_misses.free(cycle) } else { (0, cycle) };
        let (done, from_memory) = self.beyond::<TIMED>(start, line);
        counters.l3_misses += u64::from(from_memory);
        if TIMED {
            self.l2_misses.occupy(register, done);
        }
        self.fill_second(line, if TIMED { done } else { 0 }, 0, cycle);
        done
    }

    /// When the last level or memory delivers a line, and whether memory did.
    fn beyond<const TIMED: bool>(&mut self, cycle: u64, line: u64) -> (u64, bool) {
        if let Some(place) = self.l3.find(line) {
            let (arrival, facts) = self.l3.arrival(place);
            let at = if TIMED { self.l3_channel.take(cycle) } else { cycle };
            let done = (at + self.rules.l3.latency).max(arrival);
            if self.rules.l3.victim && facts & DIRTY == 0 {
                self.l3.remove(line);
            }
            return (done, false);
        }
        let at = if TIMED { self.dram.take(cycle) } else { cycle };
        let done = at + self.rules.dram.latency;
        if !self.rules.l3.victim {
            self.fill_last(line, if TIMED { done } else { 0 }, 0, cycle);
        }
        (done, true)
    }

    fn fill_first(&mut self, line: u64, arrival: u64, facts: u64, cycle: u64) {
        if let Some(Evicted { line, dirty: true }) = self.l1d.insert(line, arrival, facts) {
            match self.l2.find(line) {
                Some(place) => self.l2.dirty(place),
                None => self.fill_second(line, 0, DIRTY, cycle),
            }
        }
    }

    fn fill_second(&mut self, line: u64, arrival: u64, facts: u64, cycle: u64) {
        if let Some(Evicted { line, dirty }) = self.l2.insert(line, arrival, facts)
            && (dirty || self.rules.l3.victim)
        {
            match self.l3.find(line) {
                Some(place) if dirty => self.l3.dirty(place),
                Some(_) => {}
                None => self.fill_last(line, 0, if dirty { DIRTY } else { 0 }, cycle),
            }
        }
    }

    fn fill_last(&mut self, line: u64, arrival: u64, facts: u64, cycle: u64) {
        if let Some(Evicted { dirty: true, .. }) = self.l3.insert(line, arrival, facts) {
            self.dram.take(cycle);
        }
    }

    /// Let the prefetchers see an access that the first level did not simply hit.
    #[inline(never)]
    fn train<const TIMED: bool>(&mut self, cycle: u64, address: u64, instruction: u64) {
        let line = address >> LINE;
        let run = self.streams.access(line);
        self.prefetch::<TIMED>(cycle, run, false);
        if run.count > 0 {
            // A followed stream reaches the first level as well, one step ahead.
            let next = line.wrapping_add_signed(run.step);
            self.prefetch::<TIMED>(cycle, Run { first: next, step: 1, count: 1 }, true);
        } else if self.rules.prefetch.next_line && !(line + 1).is_multiple_of(LINES_PER_PAGE) {
            self.prefetch::<TIMED>(cycle, Run { first: line + 1, step: 1, count: 1 }, true);
        }
        if self.rules.prefetch.stride_distance > 0 {
            let run = self.strides.access(instruction, address);
            self.prefetch::<TIMED>(cycle, run, true);
        }
        if self.rules.prefetch.adjacent_line {
            self.prefetch::<TIMED>(cycle, Run { first: line ^ 1, step: 1, count: 1 }, false);
        }
    }

    /// Bring a run of lines into the second level, and into the first where asked.
    fn prefetch<const TIMED: bool>(&mut self, cycle: u64, run: Run, first: bool) {
        for step in 0..run.count {
            let line = run.first.wrapping_add_signed(run.step * step as i64);
            if first && self.l1d.holds(line) {
                continue;
            }
            let arrival = if let Some(place) = self.l2.find(line) {
                self.l2.arrival(place).0.max(cycle + self.rules.l2.latency)
            } else {
                let (register, start) = if TIMED { self.l2_misses.free(cycle) } else { (0, cycle) };
                if start > cycle {
                    // Prefetchers give way when all registers are taken.
                    return;
                }
                let (done, _) = self.beyond::<TIMED>(cycle, line);
                if TIMED {
                    self.l2_misses.occupy(register, done);
                }
                self.fill_second(line, if TIMED { done } else { 0 }, PREFETCHED, cycle);
                done
            };
            if first {
                self.fill_first(line, if TIMED { arrival } else { 0 }, PREFETCHED, cycle);
            }
        }
    }

    /// A translation that the first buffer does not hold; answers when the access can go on.
    #[inline(never)]
    fn translate<const TIMED: bool>(
        &mut self,
        cycle: u64,
        page: u64,
        found: Translation,
        counters: &mut Counters,
    ) -> u64 {
        let cycle = cycle + self.rules.tlb.l2_latency;
        if found == Translation::Second {
            return cycle;
        }
        counters.tlb_misses += 1;
        if self.pages.touch(page) {
            counters.page_faults += 1;
            self.fault(page);
        }
        let (walker, start) = if TIMED { self.walkers.free(cycle) } else { (0, cycle) };
        // The walk's last entry: eight of them share a line. The levels above are in their own caches.
        let entry = self.below::<TIMED>(start, TABLES | page >> 3, &mut Counters::default());
        let done = entry + self.rules.tlb.walk;
        if TIMED {
            self.walkers.occupy(walker, done);
        }
        done
    }

    /// The first touch of a page.
    fn fault(&mut self, page: u64) {
        self.faults += self.rules.kernel.page_fault;
        if page << PAGE < self.image_end {
            let around = self.rules.kernel.fault_around;
            for neighbour in page / around * around..(page / around + 1) * around {
                self.pages.touch(neighbour);
            }
        } else {
            // The kernel has just cleared it: its lines are near.
            for line in page * LINES_PER_PAGE..(page + 1) * LINES_PER_PAGE {
                if self.l2.find(line).is_none() {
                    self.fill_second(line, 0, DIRTY, 0);
                }
            }
        }
    }
}
