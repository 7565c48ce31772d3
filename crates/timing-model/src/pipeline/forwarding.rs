//! Stores whose data a later load takes before it reaches the cache.

use crate::cpu::Forwarding;

const ENTRIES: usize = 1024;

#[derive(Clone, Copy)]
struct Entry {
    /// Aligned 8 bytes of memory.
    granule: u64,
    /// When the data is there.
    data: u64,
    /// Which of the 8 bytes.
    bytes: u8,
}

/// The youngest store to each 8 bytes of memory, direct mapped, and the one before it where that one
/// wrote other bytes of them: two neighbouring `int`s in turns.
pub(crate) struct StoreForwarding {
    entries: [Entry; ENTRIES],
    /// When each is in the cache. Apart, since all that most loads look at is that this is past.
    written: [u64; ENTRIES],
    before: [Entry; ENTRIES],
    before_written: [u64; ENTRIES],
    rules: Forwarding,
}

/// The bytes of its first granule that an access touches.
#[inline(always)]
fn bytes_of(address: u64, bytes: u8) -> u8 {
    let width = if bytes >= 8 { 0xff } else { (1_u8 << bytes).wrapping_sub(1) };
    width << (address & 7)
}

impl StoreForwarding {
    pub(crate) fn new(rules: &Forwarding) -> StoreForwarding {
        let empty = Entry { granule: u64::MAX, data: 0, bytes: 0 };
        StoreForwarding {
            entries: [empty; ENTRIES],
            written: [0; ENTRIES],
            before: [empty; ENTRIES],
            before_written: [0; ENTRIES],
            rules: rules.clone(),
        }
    }

    /// Note a store whose data is there at `data` and in the cache at `written`.
    #[inline(always)]
    pub(crate) fn store(&mut self, address: u64, bytes: u8, data: u64, written: u64) {
        let granule = address >> 3;
        let first = bytes_of(address, bytes);
        self.note(Entry { granule, data, bytes: first }, written);
        if (address & 7) + u64::from(bytes) > 8 {
            self.store_rest(address, bytes, data, written);
        }
    }

    fn store_rest(&mut self, address: u64, bytes: u8, data: u64, written: u64) {
        let last = (address + u64::from(bytes) - 1) >> 3;
        for granule in (address >> 3) + 1..=last {
            let rest = (address + u64::from(bytes) - granule * 8).min(8) as u8;
            self.note(Entry { granule, data, bytes: bytes_of(0, rest) }, written);
        }
    }

    #[inline(always)]
    fn note(&mut self, entry: Entry, written: u64) {
        let at = entry.granule as usize % ENTRIES;
        let youngest = self.entries[at];
        if youngest.granule == entry.granule && youngest.bytes & !entry.bytes != 0 {
            self.before[at] = youngest;
            self.before_written[at] = self.written[at];
        }
        self.entries[at] = entry;
        self.written[at] = written;
    }

    /// When a load has its data that issues at `issued` and has it at `done` by way of the cache.
    #[inline(always)]
    pub(crate) fn load(&self, address: u64, bytes: u8, issued: u64, done: u64) -> u64 {
        let at = (address >> 3) as usize % ENTRIES;
        let written = self.written[at];
        // Nearly all entries are of stores long since written.
        if written <= issued {
            return done;
        }
        let entry = &self.entries[at];
        if entry.granule != address >> 3 {
            return done;
        }
        let wanted = bytes_of(address, bytes);
        if entry.bytes & wanted != 0 {
            return self.taken(entry, written, wanted, issued, done);
        }
        let (entry, written) = (&self.before[at], self.before_written[at]);
        if entry.granule != address >> 3 || entry.bytes & wanted == 0 || written <= issued {
            return done;
        }
        self.taken(entry, written, wanted, issued, done)
    }

    /// When a load has its data of a store that some of the wanted bytes are from.
    #[inline(always)]
    fn taken(&self, entry: &Entry, written: u64, wanted: u8, issued: u64, done: u64) -> u64 {
        if entry.bytes & wanted == wanted {
            // The data comes from the store queue, wherever the line is.
            (entry.data + self.rules.latency).max(issued + self.rules.least)
        } else {
            done.max(written + self.rules.blocked)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit() -> StoreForwarding {
        StoreForwarding::new(&Forwarding { latency: 4, least: 4, blocked: 12 })
    }

    #[test]
    fn load_inside_a_store_takes_its_data() {
        let mut unit = unit();
        unit.store(0x1000, 8, 50, 200);
        assert_eq!(unit.load(0x1004, 4, 20, 24), 54);
        assert_eq!(unit.load(0x1000, 8, 100, 104), 104);
    }

    #[test]
    fn load_wider_than_the_store_waits_for_the_cache() {
        let mut unit = unit();
        unit.store(0x1000, 4, 50, 200);
        assert_eq!(unit.load(0x1000, 8, 20, 24), 212);
    }

    #[test]
    fn store_across_granules_is_seen_in_both() {
        let mut unit = unit();
        unit.store(0x1004, 16, 50, 200);
        assert_eq!(unit.load(0x1008, 8, 20, 24), 54);
        assert_eq!(unit.load(0x1010, 4, 20, 24), 54);
        assert_eq!(unit.load(0x1014, 4, 20, 24), 24);
    }

    #[test]
    fn a_store_beside_it_hides_no_store() {
        let mut unit = unit();
        unit.store(0x1000, 4, 50, 200);
        unit.store(0x1004, 4, 30, 201);
        assert_eq!(unit.load(0x1000, 4, 20, 24), 54);
        assert_eq!(unit.load(0x1004, 4, 20, 24), 34);
        // Parts of both.
        assert_eq!(unit.load(0x1000, 8, 20, 24), 213);
        unit.store(0x1004, 4, 90, 202);
        assert_eq!(unit.load(0x1000, 4, 20, 24), 54);
        unit.store(0x1000, 8, 70, 203);
        assert_eq!(unit.load(0x1000, 4, 20, 24), 74);
    }
}
