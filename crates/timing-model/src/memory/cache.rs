//! A set-associative cache whose lines know when they arrive.

use super::replacement::Policy;
use crate::cpu::{CacheShape, Replacement};

const EMPTY: u64 = u64::MAX;
const HINTS: usize = 1024;
const WAY_BITS: u32 = 4;

/// Facts about a line, in the low bits of its arrival word.
pub(crate) const DIRTY: u64 = 1;
/// Asked for by a prefetcher and not used yet.
pub(crate) const PREFETCHED: u64 = 2;
const FACTS: u32 = 2;

/// A line that had to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Evicted {
    pub(crate) line: u64,
    pub(crate) dirty: bool,
}

/// Lines by address, each with the cycle at which it is (or will be) there.
pub(crate) struct Cache {
    lines: Vec<u64>,
    /// Cycle of arrival above [`FACTS`] bits.
    arrivals: Vec<u64>,
    order: Vec<u64>,
    /// Where a line was found last, by its low bits: place above four bits of the way. Nearly all hits
    /// are found there.
    hints: Box<[u32; HINTS]>,
    ways: usize,
    /// Sets less one; sets are a power of two.
    mask: u64,
    policy: Policy,
}

impl Cache {
    pub(crate) fn new(shape: &CacheShape) -> Cache {
        Cache::with(shape.size_kib * 16, shape.ways, shape.replacement)
    }

    /// A cache of `entries` in sets of `ways`.
    pub(crate) fn with(entries: usize, ways: usize, replacement: Replacement) -> Cache {
        let ways = ways.clamp(1, 16);
        let sets = (entries / ways).max(1);
        let sets = (sets.next_power_of_two() >> usize::from(!sets.is_power_of_two())).max(1);
        let policy = Policy::new(replacement, ways);
        Cache {
            lines: vec![EMPTY; sets * ways],
            arrivals: vec![0; sets * ways],
            order: vec![policy.initial(); sets],
            hints: Box::new([0; HINTS]),
            ways,
            mask: sets as u64 - 1,
            policy,
        }
    }

    #[inline(always)]
    fn set(&self, line: u64) -> usize {
        (line & self.mask) as usize
    }

    /// Find a line and note its use; answers where it is.
    #[inline(always)]
    pub(crate) fn find(&mut self, line: u64) -> Option<usize> {
        let hint = self.hints[line as usize % HINTS];
        let place = (hint >> WAY_BITS) as usize;
        if self.lines[place] == line {
            let set = self.set(line);
            let order = &mut self.order[set];
            *order = self.policy.hit(*order, hint & ((1 << WAY_BITS) - 1));
            return Some(place);
        }
        self.search(line)
    }

    #[inline(never)]
    fn search(&mut self, line: u64) -> Option<usize> {
        let set = self.set(line);
        let first = set * self.ways;
        let way = self.lines[first..first + self.ways].iter().position(|held| *held == line)?;
        self.order[set] = self.policy.hit(self.order[set], way as u32);
        self.hint(line, first + way, way as u32);
        Some(first + way)
    }

    #[inline(always)]
    fn hint(&mut self, line: u64, place: usize, way: u32) {
        self.hints[line as usize % HINTS] = (place as u32) << WAY_BITS | way;
    }

    /// Whether a line is there, without using it.
    pub(crate) fn holds(&self, line: u64) -> bool {
        let first = self.set(line) * self.ways;
        self.lines[first..first + self.ways].contains(&line)
    }

    /// Cycle of arrival, and facts, of the line at `place`.
    #[inline(always)]
    pub(crate) fn arrival(&self, place: usize) -> (u64, u64) {
        let word = self.arrivals[place];
        (word >> FACTS, word & ((1 << FACTS) - 1))
    }

    /// Note that the line at `place` is written.
    #[inline(always)]
    pub(crate) fn dirty(&mut self, place: usize) {
        self.arrivals[place] |= DIRTY;
    }

    /// Note that the line at `place` was used after its prefetch.
    #[inline(always)]
    pub(crate) fn used(&mut self, place: usize) {
        self.arrivals[place] &= !PREFETCHED;
    }

    /// Bring in a line that is not there.
    pub(crate) fn insert(&mut self, line: u64, arrival: u64, facts: u64) -> Option<Evicted> {
        let set = self.set(line);
        let (way, order) = self.policy.victim(self.order[set]);
        self.order[set] = self.policy.filled(order, way);
        let place = set * self.ways + way as usize;
        let old = std::mem::replace(&mut self.lines[place], line);
        let word = std::mem::replace(&mut self.arrivals[place], arrival << FACTS | facts);
        self.hint(line, place, way);
        (old != EMPTY).then_some(Evicted { line: old, dirty: word & DIRTY != 0 })
    }

    /// Take a line out; answers whether it was there and dirty.
    pub(crate) fn remove(&mut self, line: u64) -> Option<bool> {
        let first = self.set(line) * self.ways;
        let way = self.lines[first..first + self.ways].iter().position(|held| *held == line)?;
        self.lines[first + way] = EMPTY;
        Some(self.arrivals[first + way] & DIRTY != 0)
    }

    /// Forget everything.
    pub(crate) fn clear(&mut self) {
        self.lines.fill(EMPTY);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn evicts_within_its_set_and_tells_what_was_dirty() {
        let mut cache = Cache::with(8, 2, Replacement::Lru);
        assert_eq!(cache.insert(0, 0, 0), None);
        assert_eq!(cache.insert(4, 0, 0), None);
        let place = cache.find(0).unwrap();
        cache.dirty(place);
        assert_eq!(cache.insert(8, 0, 0), Some(Evicted { line: 4, dirty: false }));
        assert_eq!(cache.insert(12, 0, 0), Some(Evicted { line: 0, dirty: true }));
        assert!(cache.holds(8) && cache.holds(12) && !cache.holds(0));
    }

    proptest! {
        #[test]
        fn lru_cache_behaves_as_a_list_of_recent_lines(
            lines in prop::collection::vec(0_u64..64, 1..300), ways in 1_usize..=8
        ) {
            let mut cache = Cache::with(4 * ways, ways, Replacement::Lru);
            let mut sets: Vec<Vec<u64>> = vec![Vec::new(); 4];
            for line in lines {
                let set = &mut sets[(line % 4) as usize];
                let hit = set.contains(&line);
                prop_assert_eq!(cache.find(line).is_some(), hit);
                if !hit {
                    cache.insert(line, 0, 0);
                }
                set.retain(|other| *other != line);
                set.insert(0, line);
                set.truncate(ways);
            }
        }
    }
}
