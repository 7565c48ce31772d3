//! Which execution port is busy in which cycle.

use crate::decode::PORT_SETS;

pub(super) const RING: usize = 4096;
/// Cycles that are cleared at once.
const STRIDE: u64 = 256;

/// Some ports, and a stretch of cycles without a free one among them: where to look first.
#[derive(Clone, Copy)]
struct Set {
    from: u64,
    to: u64,
    ports: u16,
}

/// Port slots by cycle. µops take them out of order: a µop whose operands come late leaves earlier
/// slots to those behind it.
pub(crate) struct Ports {
    /// For each cycle from `floor` on, which ports are taken.
    ring: [u16; RING],
    sets: [Set; PORT_SETS],
    used_sets: usize,
    /// The last cycle in which one is taken.
    top: u64,
    /// No µop asks for an earlier cycle any more.
    floor: u64,
}

impl Ports {
    pub(crate) fn new(sets: &[u16]) -> Ports {
        let mut all = [Set { ports: u16::MAX, from: 0, to: 0 }; PORT_SETS];
        for (slot, set) in all.iter_mut().zip(sets) {
            slot.ports = (*set).max(1);
        }
        Ports { ring: [0; RING], sets: all, used_sets: sets.len().min(PORT_SETS), top: 0, floor: 0 }
    }

    /// From now on no µop asks for a cycle before `cycle`.
    #[inline(always)]
    pub(crate) fn advance(&mut self, cycle: u64) {
        if cycle >= self.floor + STRIDE {
            self.clear(cycle);
        }
    }

    #[inline(never)]
    fn clear(&mut self, cycle: u64) {
        let floor = cycle / STRIDE * STRIDE;
        if floor - self.floor >= RING as u64 {
            self.ring.fill(0);
        } else {
            for begin in (self.floor..floor).step_by(STRIDE as usize) {
                let begin = begin as usize % RING;
                self.ring[begin..begin + STRIDE as usize].fill(0);
            }
        }
        self.floor = floor;
    }

    /// The last cycle in which a port is taken.
    pub(super) fn top(&self) -> u64 {
        self.top
    }

    /// The cycle before which nothing is known any more.
    pub(super) fn floor(&self) -> u64 {
        self.floor
    }

    /// The ports that are taken in a cycle.
    pub(super) fn taken(&self, cycle: u64) -> u16 {
        self.ring[cycle as usize % RING]
    }

    /// Free all ports after `cycle`, which is not before [`Ports::floor`].
    pub(super) fn free_after(&mut self, cycle: u64) {
        for cycle in cycle + 1..=self.top {
            self.ring[cycle as usize % RING] = 0;
        }
        self.top = cycle;
        for set in &mut self.sets[..self.used_sets] {
            (set.from, set.to) = (0, 0);
        }
    }

    /// Take just these ports in a cycle.
    pub(super) fn put(&mut self, cycle: u64, ports: u16) {
        self.ring[cycle as usize % RING] = ports;
        self.top = self.top.max(cycle);
    }

    /// Take a slot on one of the ports of `set`, at cycle `earliest` or later; answers the cycle.
    #[inline(always)]
    pub(crate) fn take(&mut self, set: u8, earliest: u64) -> u64 {
        let set = &mut self.sets[set as usize % PORT_SETS];
        let begin = if earliest >= set.from { earliest.max(set.to) } else { earliest };
        let mut at = begin;
        loop {
            let used = &mut self.ring[at as usize % RING];
            let free = set.ports & !*used;
            if free != 0 {
                let port = free & free.wrapping_neg();
                let last = free == port;
                // So far ahead of everything else that whoever is there too hardly matters.
                if at >= self.floor + RING as u64 {
                    return at;
                }
                *used |= port;
                self.top = self.top.max(at);
                if last || at > begin {
                    set.note(begin, at + u64::from(last));
                }
                return at;
            }
            at += 1;
        }
    }
}

impl Set {
    /// No port is free from `begin` to before `end`.
    #[inline(always)]
    fn note(&mut self, begin: u64, end: u64) {
        if begin >= self.from && begin <= self.to {
            self.to = end.max(self.to);
        } else {
            (self.from, self.to) = (begin, end);
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
