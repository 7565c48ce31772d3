//! Targets of indirect branches, by the path that led to them (a two-table ITTAGE: Seznec, CBP-3 2011).

#[derive(Clone, Copy, Default)]
struct Entry {
    branch: u64,
    target: u64,
    trust: u8,
}

/// A table of targets by address and one by address and history; the latter is asked first.
pub(crate) struct IndirectTargets {
    plain: Vec<u64>,
    history: Vec<Entry>,
}

impl IndirectTargets {
    pub(crate) fn new(bits: u32) -> IndirectTargets {
        IndirectTargets { plain: vec![0; 1 << bits], history: vec![Entry::default(); 1 << bits] }
    }

    /// Whether the target of the branch at `address` was foreseen; learns it.
    pub(crate) fn predict(&mut self, address: u64, path: u64, target: u64) -> bool {
        let mask = self.plain.len() - 1;
        let plain = &mut self.plain[(address ^ address >> 11) as usize & mask];
        let mixed = (address ^ address >> 9 ^ path).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let entry = &mut self.history[(mixed >> 40) as usize & mask];
        let known = entry.branch == address;
        let predicted = if known { entry.target } else { *plain };
        if !known {
            if *plain != target {
                *entry = Entry { branch: address, target, trust: 0 };
            }
        } else if entry.target == target {
            entry.trust = (entry.trust + 1).min(3);
        } else if entry.trust > 0 {
            entry.trust -= 1;
        } else {
            entry.target = target;
        }
        *plain = target;
        predicted == target
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn learns_targets_that_follow_the_path() {
        let mut targets = IndirectTargets::new(10);
        let wrong = (0..1000_u64)
            .filter(|step| !targets.predict(0x400_100, step % 3 + 7, 0x500_000 + step % 3 * 64))
            .count();
        assert!(wrong < 10, "{wrong} of 1000 were wrong");
    }
}
