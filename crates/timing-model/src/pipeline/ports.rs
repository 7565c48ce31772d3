//! Which execution port is busy in which cycle.

use crate::decode::PORT_SETS;

const RING: usize = 4096;
const RING_BITS: u32 = RING.ilog2();

/// Some ports, and a stretch of cycles without a free one among them: where to look first.
#[derive(Clone, Copy)]
struct Set {
    ports: u16,
    from: u64,
    to: u64,
}

/// Port slots by cycle. µops take them out of order: a µop whose operands come late leaves earlier
/// slots to those behind it.
pub(crate) struct Ports {
    /// For each cycle, which round of the ring it is in (16 bits of it) and which ports are taken.
    ring: Box<[(u16, u16); RING]>,
    sets: [Set; PORT_SETS],
}

impl Ports {
    pub(crate) fn new(sets: &[u16]) -> Ports {
        let mut all = [Set { ports: u16::MAX, from: 0, to: 0 }; PORT_SETS];
        for (slot, set) in all.iter_mut().zip(sets) {
            slot.ports = (*set).max(1);
        }
        Ports { ring: Box::new([(0, 0); RING]), sets: all }
    }

    /// Take a slot on one of the ports of `set`, at cycle `earliest` or later; answers the cycle.
    #[inline(always)]
    pub(crate) fn take(&mut self, set: u8, earliest: u64) -> u64 {
        let set = &mut self.sets[set as usize % PORT_SETS];
        let begin = if earliest >= set.from { earliest.max(set.to) } else { earliest };
        let mut at = begin;
        loop {
            let entry = &mut self.ring[at as usize % RING];
            let round = (at >> RING_BITS) as u16;
            let used = if entry.0 == round { entry.1 } else { 0 };
            let free = set.ports & !used;
            if free != 0 {
                let port = free & free.wrapping_neg();
                *entry = (round, used | port);
                let end = at + u64::from(free == port);
                if end > begin {
                    if begin >= set.from && begin <= set.to {
                        set.to = end.max(set.to);
                    } else {
                        (set.from, set.to) = (begin, end);
                    }
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
