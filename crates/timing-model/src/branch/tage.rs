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
    value: [u32; TABLES],
    /// Where the oldest direction of each length leaves.
    leaves: [u32; TABLES],
}

impl Folded {
    fn new(bits: u32, lengths: &[u32; TABLES]) -> Folded {
        Folded { bits, value: [0; TABLES], leaves: lengths.map(|length| length % bits) }
    }

    /// Shift a direction in and the oldest ones out.
    #[inline(always)]
    fn push(&mut self, new: u32, old: &[u32; TABLES]) {
        let mask = (1 << self.bits) - 1;
        for ((value, old), leaves) in self.value.iter_mut().zip(old).zip(self.leaves) {
            let shifted = (*value << 1 | new) ^ old << leaves;
            *value = (shifted ^ shifted >> self.bits) & mask;
        }
    }
}

const TAG_BITS: u32 = 11;

/// A base predictor and tagged tables of growing history length.
pub(crate) struct Tage {
    base: Vec<u8>,
    tables: [Vec<Entry>; TABLES],
    lengths: [u32; TABLES],
    index: Folded,
    tag: Folded,
    other_tag: Folded,
    used: usize,
    table_bits: u32,
    history: Box<[u8; HISTORY]>,
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
        let used = history_lengths.len().min(TABLES);
        let table = |at: usize| vec![Entry::default(); if at < used { 1 << table_bits } else { 0 }];
        Tage {
            base: vec![1; 1 << base_bits],
            tables: std::array::from_fn(table),
            lengths,
            index: Folded::new(table_bits, &lengths),
            tag: Folded::new(TAG_BITS, &lengths),
            other_tag: Folded::new(TAG_BITS - 1, &lengths),
            used,
            table_bits,
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

    /// Whether the direction of the branch at `address` was foreseen; learns it.
    #[inline(never)]
    pub(crate) fn predict(&mut self, address: u64, taken: bool) -> bool {
        let pc = (address ^ address >> 17) as u32;
        let base = (pc ^ pc >> 13) as usize & (self.base.len() - 1);
        let mask = (1_u32 << self.table_bits) - 1;
        let mut index = [0_usize; TABLES];
        let mut tag = [0_u16; TABLES];
        let (mut provider, mut alternate) = (usize::MAX, usize::MAX);
        for at in 0..TABLES {
            index[at] = ((pc ^ pc >> (5 + at as u32) ^ self.index.value[at]) & mask) as usize;
            let mixed = pc ^ pc >> 7 ^ self.tag.value[at] ^ self.other_tag.value[at] << 1;
            tag[at] = (mixed & ((1 << TAG_BITS) - 1)) as u16 + 1;
        }
        for at in 0..self.used {
            if self.tables[at][index[at]].tag == tag[at] {
                alternate = provider;
                provider = at;
            }
        }
        let base_direction = self.base[base] >= 2;
        let direction_of = |tage: &Tage, table: usize| match table {
            usize::MAX => base_direction,
            _ => tage.tables[table][index[table]].counter >= 4,
        };
        let alternate_direction = direction_of(self, alternate);
        let mut predicted = base_direction;
        if provider != usize::MAX {
            let entry = self.tables[provider][index[provider]];
            let own = entry.counter >= 4;
            let new = entry.useful == 0 && (entry.counter == 3 || entry.counter == 4);
            predicted = if new && self.distrust_new >= 0 { alternate_direction } else { own };
            if new && own != alternate_direction {
                let worse = alternate_direction == taken;
                self.distrust_new = (self.distrust_new + if worse { 1 } else { -1 }).clamp(-8, 7);
            }
            let entry = &mut self.tables[provider][index[provider]];
            if own != alternate_direction {
                entry.useful = if own == taken {
                    (entry.useful + 1).min(3)
                } else {
                    entry.useful.saturating_sub(1)
                };
            }
            entry.counter = count(entry.counter, taken, 7);
            if entry.useful == 0 && alternate == usize::MAX {
                self.base[base] = count(self.base[base], taken, 3);
            }
        } else {
            self.base[base] = count(self.base[base], taken, 3);
        }
        if predicted != taken {
            let from = if provider == usize::MAX { 0 } else { provider + 1 };
            self.allocate(from, &index, &tag, taken);
        }
        self.push(taken);
        predicted == taken
    }

    /// Give a mispredicted branch an entry with longer history.
    fn allocate(&mut self, from: usize, index: &[usize; TABLES], tag: &[u16; TABLES], taken: bool) {
        let mut placed = 0;
        let mut at = from;
        while at < self.used && placed < 2 {
            let entry = &mut self.tables[at][index[at]];
            if entry.useful == 0 {
                *entry = Entry { tag: tag[at], counter: if taken { 4 } else { 3 }, useful: 0 };
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
            for entry in self.tables.iter_mut().flatten() {
                entry.useful >>= 1;
            }
        }
    }

    /// Add a direction to the history.
    #[inline(always)]
    pub(crate) fn push(&mut self, taken: bool) {
        let new = u32::from(taken);
        let position = self.position;
        self.history[position % HISTORY] = new as u8;
        let old = self.lengths.map(|length| {
            u32::from(self.history[position.wrapping_sub(length as usize) % HISTORY])
        });
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
        (0..rounds).filter(|at| !tage.predict(0x401_234, pattern(*at))).count()
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
