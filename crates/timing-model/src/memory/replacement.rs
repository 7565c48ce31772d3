//! Which line of a set leaves: one word of state per set.

use crate::cpu::Replacement;

/// A replacement policy over sets of up to 16 ways.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    kind: Replacement,
    ways: u32,
    /// Bits of the state to clear and to set at a hit of each way, where the policy is not LRU.
    clear: [u64; 16],
    set: [u64; 16],
}

impl Policy {
    pub(crate) fn new(kind: Replacement, ways: usize) -> Policy {
        let ways = ways.clamp(1, 16) as u32;
        let (mut clear, mut set) = ([0; 16], [0; 16]);
        for way in 0..ways {
            let (zeros, ones) = match kind {
                Replacement::Lru => (0, 0),
                Replacement::TreePlru => {
                    (!point_away(u64::MAX, way, ways), point_away(0, way, ways))
                }
                Replacement::Srrip => (3 << (2 * way), 0),
            };
            (clear[way as usize], set[way as usize]) = (zeros, ones);
        }
        Policy { kind, ways, clear, set }
    }

    /// State of a set before its first use.
    pub(crate) fn initial(&self) -> u64 {
        match self.kind {
            // Way numbers from most (lowest four bits) to least recently used.
            Replacement::Lru => (0..16).fold(0, |order, way| order | way << (4 * way)),
            Replacement::TreePlru => 0,
            // Two bits per way: 3 means that the line is not expected soon.
            Replacement::Srrip => u64::from(u32::MAX),
        }
    }

    /// State after a hit on `way`.
    #[inline(always)]
    pub(crate) fn hit(&self, state: u64, way: u32) -> u64 {
        if self.kind == Replacement::Lru {
            to_front(state, way)
        } else {
            let way = way as usize % 16;
            state & !self.clear[way] | self.set[way]
        }
    }

    /// State after `way` was filled with a new line.
    #[inline]
    pub(crate) fn filled(&self, state: u64, way: u32) -> u64 {
        match self.kind {
            Replacement::Lru | Replacement::TreePlru => self.hit(state, way),
            Replacement::Srrip => state & !(3 << (2 * way)) | 2 << (2 * way),
        }
    }

    /// The way whose line leaves, and the state while it does.
    #[inline]
    pub(crate) fn victim(&self, state: u64) -> (u32, u64) {
        match self.kind {
            Replacement::Lru => ((state >> (4 * (self.ways - 1)) & 15) as u32, state),
            Replacement::TreePlru => (pointed_at(state, self.ways), state),
            Replacement::Srrip => {
                let mut state = state;
                loop {
                    let distant = (0..self.ways).find(|way| state >> (2 * way) & 3 == 3);
                    if let Some(way) = distant {
                        return (way, state);
                    }
                    // Nobody is at 3, so adding one to each way overflows none.
                    for way in 0..self.ways {
                        state += 1 << (2 * way);
                    }
                }
            }
        }
    }
}

/// Move `way` to the front of an order of sixteen ways.
#[inline(always)]
fn to_front(order: u64, way: u32) -> u64 {
    if order & 15 == u64::from(way) {
        return order;
    }
    let repeated = u64::from(way) * 0x1111_1111_1111_1111;
    let difference = order ^ repeated;
    // The lowest nibble without a bit: where `way` stands.
    let empty =
        difference.wrapping_sub(0x1111_1111_1111_1111) & !difference & 0x8888_8888_8888_8888;
    let place = empty.trailing_zeros() & !3;
    let before = order & ((1 << place) - 1);
    let behind = if place == 60 { 0 } else { order >> (place + 4) << (place + 4) };
    behind | before << 4 | u64::from(way)
}

/// Set the tree's bits on the path to `way` so that they point elsewhere.
fn point_away(state: u64, way: u32, ways: u32) -> u64 {
    let leaves = ways.next_power_of_two();
    let mut state = state;
    let mut node = leaves + way;
    while node > 1 {
        let bit = 1 << (node >> 1);
        state = if node & 1 == 0 { state | bit } else { state & !bit };
        node >>= 1;
    }
    state
}

/// Follow the tree's bits; paths to ways that are not there turn the other way.
fn pointed_at(state: u64, ways: u32) -> u32 {
    let leaves = ways.next_power_of_two();
    let mut node = 1;
    while node < leaves {
        let right = (state >> node & 1) as u32;
        node = node * 2 + right;
        let height = leaves.trailing_zeros() - (31 - node.leading_zeros());
        if right == 1 && (node << height) - leaves >= ways {
            node -= 1;
        }
    }
    node - leaves
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lru_evicts_what_was_used_longest_ago(
            ways in 1_usize..=16, uses in prop::collection::vec(0_u32..16, 0..100)
        ) {
            let policy = Policy::new(Replacement::Lru, ways);
            let mut state = policy.initial();
            let mut order: Vec<u32> = (0..ways as u32).collect();
            for way in uses.into_iter().filter(|way| (*way as usize) < ways) {
                state = policy.hit(state, way);
                order.retain(|other| *other != way);
                order.insert(0, way);
                prop_assert_eq!(Some(&policy.victim(state).0), order.last());
            }
        }

        #[test]
        fn every_policy_names_a_way_that_is_there_and_spares_the_last_used(
            ways in 2_usize..=16, uses in prop::collection::vec(0_u32..16, 1..100)
        ) {
            for kind in [Replacement::Lru, Replacement::TreePlru, Replacement::Srrip] {
                let policy = Policy::new(kind, ways);
                let mut state = policy.initial();
                for &way in uses.iter().filter(|way| (**way as usize) < ways) {
                    state = policy.hit(state, way);
                    let (victim, after) = policy.victim(state);
                    prop_assert!((victim as usize) < ways);
                    prop_assert!(victim != way || kind == Replacement::Srrip);
                    state = policy.filled(after, victim);
                }
            }
        }
    }
}
