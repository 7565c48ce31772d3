//! Direction of conditional branches: TAGE (Seznec and Michaud, JILP 2006; Seznec, CBP-4 2014).

const TABLES: usize = 8;
const HISTORY: usize = 1024;

#[derive(Clone, Copy, Default)]
struct Entry {
    tag: u16,
    /// 0 to 7; taken from 4 on.
    counter: u8,
    useful: u8,
}

/// Histories of all lengths, each folded to so many bits; the loops over the tables run side by side.
#[derive(Clone, Copy)]
struct Folded {
    bits: u32,
    value: [u16; TABLES],
    /// The bit at which the oldest direction of each length leaves.
    leaves: [u16; TABLES],
}

impl Folded {
    fn new(bits: u32, lengths: &[u32; TABLES]) -> Folded {
        Folded { bits, value: [0; TABLES], leaves: lengths.map(|length| 1 << (length % bits)) }
    }

    /// Shift a direction in and the oldest ones out; these are all ones where they were taken.
    #[inline(always)]
    fn push(&mut self, new: u16, old: &[u16; TABLES]) {
        let highest = self.bits - 1;
        let mask = u16::MAX >> (15 - highest);
        for ((value, old), leaves) in self.value.iter_mut().zip(old).zip(self.leaves) {
            *value = (*value << 1 & mask) ^ *value >> highest ^ new ^ old & leaves;
        }
    }
}

const TAG_BITS: u32 = 11;

/// What a branch's address adds to the indices and tags of its entries.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hashes {
    base: u32,
    index: [u16; TABLES],
    tag: u16,
}

impl Hashes {
    pub(crate) fn of(address: u64) -> Hashes {
        let pc = (address ^ address >> 17) as u32;
        Hashes {
            base: pc ^ pc >> 13,
            index: std::array::from_fn(|at| (pc ^ pc >> (5 + at as u32)) as u16),
            tag: (pc ^ pc >> 7) as u16,
        }
    }
}

/// A base predictor and tagged tables of growing history length.
pub(crate) struct Tage {
    base: Vec<u8>,
    /// All tables: their entries of one index side by side.
    entries: Vec<[Entry; TABLES]>,
    lengths: [u32; TABLES],
    index: Folded,
    tag: Folded,
    other_tag: Folded,
    used: usize,
    table_mask: u16,
    /// All ones for taken.
    history: Box<[u16; HISTORY]>,
    position: usize,
    /// The last 64 directions.
    recent: u64,
    /// Whether new entries are worse than the longest match before them, -8 to 7.
    distrust_new: i8,
    /// Allocations that found no place, less those that did.
    pressure: i16,
}

impl Tage {
    pub(crate) fn new(base_bits: u32, table_bits: u32, history_lengths: &[u32]) -> Tage {
        let mut lengths = [1; TABLES];
        for (slot, length) in lengths.iter_mut().zip(history_lengths) {
            *slot = (*length).clamp(1, HISTORY as u32 - 1);
        }
        Tage {
            base: vec![1; 1 << base_bits],
            entries: vec![[Entry::default(); TABLES]; 1 << table_bits],
            lengths,
            index: Folded::new(table_bits, &lengths),
            tag: Folded::new(TAG_BITS, &lengths),
            other_tag: Folded::new(TAG_BITS - 1, &lengths),
            used: history_lengths.len().min(TABLES),
            table_mask: u16::MAX >> (16 - table_bits),
            history: Box::new([0; HISTORY]),
            position: 0,
            recent: 0,
            distrust_new: 0,
            pressure: 0,
        }
    }

    /// The path of the last branches, for the prediction of indirect targets.
    #[inline(always)]
    pub(crate) fn path(&self) -> u64 {
        self.recent & 0xffff
    }

    /// Whether the direction of the branch of these hashes was foreseen; learns it.
    #[inline(never)]
    pub(crate) fn predict(&mut self, hashes: &Hashes, taken: bool) -> bool {
        let base = hashes.base as usize & (self.base.len() - 1);
        let mut index = [0_u16; TABLES];
        let mut tag = [0_u16; TABLES];
        for at in 0..TABLES {
            index[at] = (hashes.index[at] ^ self.index.value[at]) & self.table_mask;
            let mixed = hashes.tag ^ self.tag.value[at] ^ self.other_tag.value[at] << 1;
            tag[at] = (mixed & ((1 << TAG_BITS) - 1)) + 1;
        }
        let held: [u16; TABLES] =
            std::array::from_fn(|at| self.entries[usize::from(index[at])][at].tag);
        // A byte for each table.
        let hits: [u8; TABLES] =
            std::array::from_fn(|at| if held[at] == tag[at] { u8::MAX } else { 0 });
        let hits = u64::from_le_bytes(hits);
        // Tables that are not used are never filled, so nothing is found there.
        let longest = |hits: u64| hits.checked_ilog2().map(|bit| bit as usize / 8 % TABLES);
        let provider = longest(hits);
        let alternate = provider.and_then(|at| longest(hits & !(0xff << (8 * at))));
        let base_direction = self.base[base] >= 2;
        let mut predicted = base_direction;
        if let Some(provider) = provider {
            let alternate_direction = alternate
                .map_or(base_direction, |at| self.entries[usize::from(index[at])][at].counter >= 4);
            let entry = &mut self.entries[usize::from(index[provider])][provider];
            let own = entry.counter >= 4;
            let new = entry.useful == 0 && (entry.counter == 3 || entry.counter == 4);
            predicted = if new && self.distrust_new >= 0 { alternate_direction } else { own };
            if own != alternate_direction {
                if new {
                    let step = if alternate_direction == taken { 1 } else { -1 };
                    self.distrust_new = (self.distrust_new + step).clamp(-8, 7);
                }
                entry.useful = if own == taken {
                    (entry.useful + 1).min(3)
                } else {
                    entry.useful.saturating_sub(1)
                };
            }
            entry.counter = count(entry.counter, taken, 7);
            if entry.useful == 0 && alternate.is_none() {
                self.base[base] = count(self.base[base], taken, 3);
            }
        } else {
            self.base[base] = count(self.base[base], taken, 3);
        }
        if predicted != taken {
            self.allocate(provider.map_or(0, |at| at + 1), &index, &tag, taken);
        }
        self.push(taken);
        predicted == taken
    }

    /// Give a mispredicted branch an entry with longer history.
    #[inline(never)]
    fn allocate(&mut self, from: usize, index: &[u16; TABLES], tag: &[u16; TABLES], taken: bool) {
        let mut placed = 0;
        let mut at = from;
        while at < self.used && placed < 2 {
            let entry = &mut self.entries[usize::from(index[at])][at];
            if entry.useful == 0 {
                let counter = if taken { 4 } else { 3 };
                *entry = Entry { tag: tag[at], counter, useful: 0 };
                placed += 1;
                at += 1;
                self.pressure = (self.pressure - 1).max(0);
            } else {
                self.pressure += 1;
            }
            at += 1;
        }
        if self.pressure > 1024 {
            self.pressure = 0;
            for entry in self.entries.as_flattened_mut() {
                entry.useful >>= 1;
            }
        }
    }

    /// Add a direction to the history.
    #[inline(always)]
    pub(crate) fn push(&mut self, taken: bool) {
        let new = u16::from(taken);
        let position = self.position;
        self.history[position % HISTORY] = 0_u16.wrapping_sub(new);
        let old = self
            .lengths
            .map(|length| self.history[position.wrapping_sub(length as usize) % HISTORY]);
        self.index.push(new, &old);
        self.tag.push(new, &old);
        self.other_tag.push(new, &old);
        self.position = position.wrapping_add(1);
        self.recent = self.recent << 1 | u64::from(taken);
    }
}

#[inline(always)]
fn count(counter: u8, up: bool, most: u8) -> u8 {
    if up { (counter + 1).min(most) } else { counter.saturating_sub(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(pattern: impl Fn(usize) -> bool, rounds: usize) -> usize {
        let mut tage = Tage::new(14, 11, &[4, 9, 20, 44, 96, 210]);
        (0..rounds).filter(|at| !tage.predict(&Hashes::of(0x401_234), pattern(*at))).count()
    }

    #[test]
    fn learns_loops_and_periods() {
        assert!(wrong(|_| true, 10_000) < 5);
        assert!(wrong(|at| at % 17 != 16, 10_000) < 400);
        assert!(wrong(|at| [true, true, false, true, false][at % 5], 10_000) < 100);
    }

    #[test]
    fn cannot_learn_chance() {
        // The finalizer of splitmix64: its bits pass every test of randomness.
        let random = |at: usize| {
            let mut x = (at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            (x ^ x >> 31) & 1 == 1
        };
        let wrong = wrong(random, 10_000);
        assert!((3_500..6_500).contains(&wrong), "{wrong}");
    }
}
