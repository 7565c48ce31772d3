//! Which execution port is busy in which cycle.

use crate::decode::PORT_SETS;

const RING: usize = 4096;
/// Bits of a ring entry that hold the ports; the cycle is above them.
const PORTS: u32 = 16;

/// Port slots by cycle. µops take them out of order: a µop whose operands come late leaves earlier
/// slots to those behind it.
pub(crate) struct Ports {
    ring: Box<[u64; RING]>,
    sets: [u16; PORT_SETS],
    /// For each set of ports, a stretch of cycles without a free one: where to look first.
    full: [(u64, u64); PORT_SETS],
}

impl Ports {
    pub(crate) fn new(sets: &[u16]) -> Ports {
        let mut all = [u16::MAX; PORT_SETS];
        for (slot, set) in all.iter_mut().zip(sets) {
            *slot = (*set).max(1);
        }
        Ports { ring: Box::new([0; RING]), sets: all, full: [(0, 0); PORT_SETS] }
    }

    /// Take a slot on one of the ports of `set`, at cycle `earliest` or later; answers the cycle.
    #[inline(always)]
    pub(crate) fn take(&mut self, set: u8, earliest: u64) -> u64 {
        let set = set as usize % PORT_SETS;
        let mask = self.sets[set];
        let (from, to) = self.full[set];
        let begin = if earliest >= from && earliest < to { to } else { earliest };
        let mut at = begin;
        loop {
            let entry = &mut self.ring[at as usize % RING];
            let used = if *entry >> PORTS == at { *entry as u16 } else { 0 };
            let free = mask & !used;
            if free != 0 {
                let port = free & free.wrapping_neg();
                *entry = at << PORTS | u64::from(used | port);
                let end = at + u64::from(free == port);
                if end > begin {
                    self.full[set] = if begin >= from && begin <= to {
                        (from, end.max(to))
                    } else {
                        (begin, end)
                    };
                }
                return at;
            }
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_cycle_serves_more_than_its_ports(
            wants in prop::collection::vec((0_u64..200, 0_usize..3), 1..400)
        ) {
            let sets = [0b0111_u16, 0b0010, 0b1100];
            let mut ports = Ports::new(&sets);
            let mut taken = std::collections::BTreeMap::<u64, Vec<usize>>::new();
            for (earliest, set) in wants {
                let at = ports.take(set as u8, earliest);
                prop_assert!(at >= earliest);
                taken.entry(at).or_default().push(set);
            }
            for users in taken.values() {
                prop_assert!(users.len() <= 4);
                prop_assert!(users.iter().filter(|set| **set == 1).count() <= 1);
                prop_assert!(users.iter().filter(|set| **set == 2).count() <= 2);
            }
        }
    }

    #[test]
    fn late_users_leave_earlier_slots_free() {
        let mut ports = Ports::new(&[1]);
        assert_eq!(ports.take(0, 100), 100);
        assert_eq!(ports.take(0, 5), 5);
        assert_eq!(ports.take(0, 5), 6);
        assert_eq!(ports.take(0, 100), 101);
    }
}
