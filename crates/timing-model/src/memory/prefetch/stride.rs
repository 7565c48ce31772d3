//! Strides: loads of one instruction at equal distances.

use super::Run;
use crate::cpu::Prefetch;

#[derive(Clone, Copy, Default)]
struct Entry {
    instruction: u64,
    last: u64,
    stride: i64,
    trust: u8,
}

/// A table of load instructions.
pub(crate) struct Strides {
    table: Vec<Entry>,
    rules: Prefetch,
}

/// Equal steps before a stride is believed.
const TRUSTED: u8 = 2;

impl Strides {
    pub(crate) fn new(rules: &Prefetch) -> Strides {
        Strides { table: vec![Entry::default(); rules.stride_entries], rules: rules.clone() }
    }

    /// Note a load; answers the lines to bring in.
    pub(crate) fn access(&mut self, instruction: u64, address: u64) -> Run {
        let index = (instruction ^ instruction >> 8) as usize & (self.table.len() - 1);
        let Some(entry) = self.table.get_mut(index) else { return Run::default() };
        if entry.instruction != instruction {
            *entry = Entry { instruction, last: address, stride: 0, trust: 0 };
            return Run::default();
        }
        let stride = address.wrapping_sub(entry.last) as i64;
        if stride == 0 {
            return Run::default();
        }
        entry.last = address;
        if stride != entry.stride {
            if entry.trust > 0 {
                entry.trust -= 1;
            } else {
                entry.stride = stride;
            }
            return Run::default();
        }
        entry.trust = (entry.trust + 1).min(3);
        if entry.trust < TRUSTED || stride.abs() > self.rules.stride_bytes {
            return Run::default();
        }
        let ahead = address.wrapping_add_signed(stride * self.rules.stride_distance as i64);
        if ahead >> 6 == address >> 6 {
            Run::default()
        } else {
            Run { first: ahead >> 6, step: 1, count: 1 }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cpu;

    #[test]
    fn learns_the_stride_of_each_instruction_apart() {
        let mut rules = Cpu::named("skylake").unwrap().prefetch;
        (rules.stride_distance, rules.stride_bytes) = (4, 2048);
        let mut strides = Strides::new(&rules);
        let mut last = Run::default();
        for step in 0..6 {
            last = strides.access(0x400_000, 0x10_0000 + step * 256);
            strides.access(0x400_010, 0x20_0000 + step * 4096);
        }
        assert_eq!(last, Run { first: (0x10_0000 + 9 * 256) >> 6, step: 1, count: 1 });
        assert_eq!(strides.access(0x400_010, 0x20_0000 + 6 * 4096).count, 0);
    }
}
