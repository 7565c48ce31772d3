//! Lines that were accessed while caches did not follow, so that they can catch up.
//!
//! A line is noted once, however often it is accessed, with when that was last; a line that must make room goes to the
//! caches at once. What a cache holds depends on little else than the order of the last accesses, so that all lines in
//! that order leave the caches nearly as if they had followed all along. First touches of pages are not put off.

use super::{DIRTY, LINE, LINES_PER_PAGE, Memory, TABLES, Translation};
use crate::counters::Counters;

/// Lines that are noted at most, in pairs of places.
const LINES: usize = 1 << 16;
/// Accesses are told apart by their order to so many steps; what is older is older.
const AGES: usize = 256;
const RECENT: usize = 64;
/// Pages that are known to have been touched, by their low bits.
const PAGES: usize = 256;
const NONE: u64 = u64::MAX;
/// Set in the number of a line that was fetched as code.
const CODE: u64 = 1 << 60;

/// A line that was accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Touched {
    line: u64,
    /// When, as [`Journal::now`].
    at: u32,
    store: bool,
}

const EMPTY: Touched = Touched { line: NONE, at: 0, store: false };

/// The lines, as a table.
pub(super) struct Journal {
    /// Empty until the first line is noted.
    places: Vec<Touched>,
    used: Vec<u32>,
    /// Lines that were noted last, by their low bits, and whether as stores: noting them again changes nothing.
    recent: [u64; RECENT],
    pages: [u64; PAGES],
    now: u32,
    /// When memory was given back last: pages of lines that were noted before may have to be touched anew.
    released: u32,
}

impl Journal {
    pub(super) fn new() -> Journal {
        Journal {
            places: Vec::new(),
            used: Vec::new(),
            recent: [NONE; RECENT],
            pages: [NONE; PAGES],
            now: 1,
            released: 0,
        }
    }

    #[inline(always)]
    fn is_recent(&self, line: u64, store: bool) -> bool {
        let word = self.recent[line as usize % RECENT];
        word == line << 1 | 1 || word == line << 1 && !store
    }

    /// Note a line; answers whether its page is to be looked at, and the line that made room.
    fn put(&mut self, line: u64, store: bool) -> (bool, Option<Touched>) {
        if self.places.is_empty() {
            self.places = vec![EMPTY; LINES];
        }
        self.recent[line as usize % RECENT] = line << 1 | u64::from(store);
        let hash = line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48;
        let first = (hash as usize % LINES) & !1;
        for place in &mut self.places[first..first + 2] {
            if place.line == line {
                let is_old = place.at <= self.released;
                place.at = self.now;
                place.store |= store;
                return (is_old, None);
            }
        }
        let at = first + usize::from(self.places[first + 1].at < self.places[first].at);
        let new = Touched { line, at: self.now, store };
        let old = std::mem::replace(&mut self.places[at], new);
        if old == EMPTY {
            self.used.push(at as u32);
            return (true, None);
        }
        (true, Some(old))
    }

    /// Take all lines out, in the order of their last accesses.
    fn take(&mut self) -> Vec<Touched> {
        let age = |touched: &Touched| ((self.now - touched.at) as usize).min(AGES - 1);
        let mut counts = [0; AGES];
        for at in &self.used {
            counts[age(&self.places[*at as usize])] += 1;
        }
        let mut next = [0; AGES];
        let mut before = 0;
        for (next, count) in next.iter_mut().zip(counts).rev() {
            *next = before;
            before += count;
        }
        let mut all = vec![EMPTY; self.used.len()];
        for at in &self.used {
            let touched = std::mem::replace(&mut self.places[*at as usize], EMPTY);
            let next = &mut next[age(&touched)];
            all[*next] = touched;
            *next += 1;
        }
        self.used.clear();
        all
    }

    /// From now on accesses are later ones.
    pub(super) fn advance(&mut self) {
        self.now += 1;
        self.recent = [NONE; RECENT];
    }

    /// Memory was given back.
    pub(super) fn release(&mut self) {
        self.released = self.now;
        self.recent = [NONE; RECENT];
        self.pages = [NONE; PAGES];
    }
}

impl Memory {
    /// Note an access that caches do not follow; only its page is touched.
    #[inline(always)]
    pub(crate) fn note(&mut self, address: u64, store: bool, counters: &mut Counters) {
        let line = address >> LINE;
        if !self.journal.is_recent(line, store) {
            self.note_line(line, store, counters);
        }
    }

    #[inline(never)]
    fn note_line(&mut self, line: u64, store: bool, counters: &mut Counters) {
        let (is_new, old) = self.journal.put(line, store);
        if is_new && self.is_first_touch(line) {
            counters.page_faults += 1;
            self.fault(line / LINES_PER_PAGE);
        }
        if let Some(old) = old {
            self.follow_line(old);
        }
    }

    /// Note that a line of code is fetched.
    pub(crate) fn note_code(&mut self, line: u64) {
        if self.journal.is_recent(line | CODE, false) {
            return;
        }
        let (is_new, old) = self.journal.put(line | CODE, false);
        if is_new && self.is_first_touch(line) {
            self.fault(line / LINES_PER_PAGE);
        }
        if let Some(old) = old {
            self.follow_line(old);
        }
    }

    fn is_first_touch(&mut self, line: u64) -> bool {
        let page = line / LINES_PER_PAGE;
        let known = &mut self.journal.pages[page as usize % PAGES];
        std::mem::replace(known, page) != page && self.pages.touch(page)
    }

    /// Let caches and buffers follow all that was noted.
    pub(crate) fn catch_up(&mut self) {
        for touched in self.journal.take() {
            self.follow_line(touched);
        }
    }

    /// Accesses that come are later than those before.
    pub(crate) fn advance(&mut self) {
        self.journal.advance();
        self.forget_recent();
    }

    /// Caches and buffers follow, prefetchers do not: they would see another order than the program's.
    fn follow_line(&mut self, touched: Touched) {
        let uncounted = &mut Counters::default();
        let line = touched.line & !CODE;
        if touched.line != line {
            self.code::<false>(0, line, uncounted);
            return;
        }
        let page = line / LINES_PER_PAGE;
        if self.buffers.look(page) == Translation::Walk {
            self.below::<false>(0, TABLES | page >> 3, uncounted);
        }
        let facts = if touched.store { DIRTY } else { 0 };
        if let Some(place) = self.l1d.find(line) {
            self.l1d.used(place);
            if touched.store {
                self.l1d.dirty(place);
            }
        } else {
            self.fetch::<false>(0, line, facts, uncounted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cpu, Replacement};

    #[test]
    fn lines_come_out_once_in_the_order_of_their_last_accesses() {
        let mut journal = Journal::new();
        for lines in [&[1_u64, 2, 3][..], &[2], &[4, 1]] {
            for line in lines {
                journal.put(*line, *line == 3);
            }
            journal.advance();
        }
        let taken: Vec<_> = journal.take().iter().map(|one| (one.line, one.store)).collect();
        assert_eq!(taken, [(3, true), (2, false), (1, false), (4, false)]);
        assert!(journal.take().is_empty());
    }

    #[test]
    fn what_makes_room_is_not_lost() {
        let mut journal = Journal::new();
        let count = 4 * LINES as u64;
        let mut seen: Vec<u64> = (0..count)
            .filter_map(|line| journal.put(line, false).1)
            .map(|touched| touched.line)
            .collect();
        seen.extend(journal.take().iter().map(|touched| touched.line));
        seen.sort_unstable();
        assert_eq!(seen, (0..count).collect::<Vec<_>>());
    }

    /// Random accesses to twice the size of the first cache: of what it holds when it followed all of them, it holds
    /// nearly all when it caught up.
    #[test]
    fn caches_that_catch_up_hold_what_they_would() {
        let mut cpu = Cpu::named("skylake").unwrap();
        cpu.l1d.replacement = Replacement::Lru;
        let prefetch = &mut cpu.prefetch;
        (prefetch.next_line, prefetch.adjacent_line) = (false, false);
        (prefetch.stream_distance, prefetch.stride_distance) = (0, 0);
        let (mut one, mut other) = (Memory::new(&cpu, 0), Memory::new(&cpu, 0));
        let mut counters = [Counters::default(); 2];
        let mut random = 7_u64;
        let lines = 1024;
        for step in 0..40_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let line = (random >> 33) % lines;
            if step % 200 == 0 {
                other.advance();
            }
            one.follow(line << LINE, false, 0x400, &mut counters[0]);
            other.note(line << LINE, false, &mut counters[1]);
        }
        other.catch_up();
        assert_eq!(counters[0].page_faults, counters[1].page_faults);
        assert_eq!(one.take_faults(), other.take_faults());
        let held = (0..lines).filter(|line| one.l1d.holds(*line)).count();
        let both = (0..lines).filter(|line| one.l1d.holds(*line) && other.l1d.holds(*line)).count();
        assert!(both * 4 > held * 3, "{both} of {held}");
        assert!((0..lines).all(|line| other.l2.holds(line)));
    }

    #[test]
    fn pages_that_were_given_back_fault_anew() {
        let mut memory = Memory::new(&Cpu::named("zen4").unwrap(), 0);
        let mut counters = Counters::default();
        for _ in 0..3 {
            memory.note(0x10_0000, true, &mut counters);
        }
        assert_eq!(counters.page_faults, 1);
        memory.release(0x10_0000, 4096);
        memory.note(0x10_0000, true, &mut counters);
        assert_eq!(counters.page_faults, 2);
    }
}
