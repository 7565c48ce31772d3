//! What blocks did to states of the pipeline.
//!
//! A node is a state ([`super::snapshot`]). From it leads a leg for each block that met it, by how its branch was
//! predicted: the block's accesses in order, with the answers that they got. Where an answer was another one the leg
//! forks. It ends in another node.

use super::tape::Step;

/// Words of states, and entries of legs, beyond which all is forgotten.
const MOST_WORDS: usize = 4 << 20;
const MOST_ENTRIES: usize = 1 << 19;
const NONE: u32 = u32::MAX;

/// A block, and how its branch was predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) block: u32,
    pub(super) outcome: u32,
}

struct Node {
    hash: u64,
    words: u32,
    length: u32,
}

/// What a block left, in cycles from its begin.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub(super) cycles: u16,
    pub(super) retired: i16,
    pub(super) fetch: i16,
    pub(super) used: u16,
    pub(super) begun: u16,
}

/// Part of a leg: one behind the other, so that they are near.
#[derive(Clone, Copy, Debug)]
pub(super) enum Entry {
    /// A leg begins; another one from the same node does at `next`.
    Leg { key: Key, next: u32 },
    /// An access, and where it goes on if the access or its answer is another one; 0: nowhere.
    Step { step: Step, other: u32 },
    /// The leg ends in another node.
    End { node: u32, end: End },
    /// Behind an end: where the words are that tell which ports were taken in each of its cycles.
    Taken { words: u32 },
}

// Four of them share a cache line.
const _: () = assert!(size_of::<Entry>() == 16);

/// The first leg from a node, read before it is needed, so that nothing has to wait for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct First {
    at: u32,
    key: Key,
    next: u32,
}

/// All that was learned.
pub(super) struct Memo {
    /// Of nodes and ends.
    words: Vec<u16>,
    nodes: Vec<Node>,
    /// The first leg from each node.
    legs: Vec<u32>,
    pub(super) entries: Vec<Entry>,
    /// Nodes by the hash of their words.
    table: Vec<u32>,
}

impl Memo {
    pub(super) fn new() -> Memo {
        Memo {
            words: Vec::new(),
            nodes: Vec::new(),
            legs: Vec::new(),
            entries: Vec::new(),
            table: vec![NONE; 1024],
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.words.len() > MOST_WORDS || self.entries.len() > MOST_ENTRIES
    }

    /// Forget everything.
    pub(super) fn clear(&mut self) {
        self.words.clear();
        self.nodes.clear();
        self.legs.clear();
        self.entries.clear();
        self.table.fill(NONE);
    }

    /// The words of a node's state.
    pub(super) fn state(&self, node: u32) -> &[u16] {
        let Node { words, length, .. } = self.nodes[node as usize];
        &self.words[words as usize..][..length as usize]
    }

    /// The ports that were taken in each cycle of the block that ended at entry `end`.
    pub(super) fn taken(&self, end: u32, cycles: u16) -> &[u16] {
        match self.entries.get(end as usize + 1) {
            Some(Entry::Taken { words }) => &self.words[*words as usize..][..usize::from(cycles)],
            _ => &[],
        }
    }

    /// The node of a state.
    pub(super) fn node(&mut self, state: &[u16]) -> u32 {
        let hash = hash(state);
        let mut at = hash as usize & (self.table.len() - 1);
        while self.table[at] != NONE {
            let number = self.table[at];
            if self.nodes[number as usize].hash == hash && self.state(number) == state {
                return number;
            }
            at = (at + 1) & (self.table.len() - 1);
        }
        let number = self.nodes.len() as u32;
        let words = self.keep(state.iter().copied());
        self.nodes.push(Node { hash, words, length: state.len() as u32 });
        self.legs.push(NONE);
        self.table[at] = number;
        if self.nodes.len() * 2 > self.table.len() {
            self.grow();
        }
        number
    }

    fn grow(&mut self) {
        let size = self.table.len() * 2;
        self.table.clear();
        self.table.resize(size, NONE);
        for (number, node) in self.nodes.iter().enumerate() {
            let mut at = node.hash as usize & (size - 1);
            while self.table[at] != NONE {
                at = (at + 1) & (size - 1);
            }
            self.table[at] = number as u32;
        }
    }

    /// Keep some words; answers where.
    pub(super) fn keep(&mut self, words: impl Iterator<Item = u16>) -> u32 {
        let begin = self.words.len() as u32;
        self.words.extend(words);
        begin
    }

    /// The first leg from a node.
    #[inline(always)]
    pub(super) fn first(&self, node: u32) -> First {
        let at = self.legs[node as usize];
        match self.entries.get(at as usize) {
            Some(Entry::Leg { key, next }) => First { at, key: *key, next: *next },
            _ => First { at: NONE, key: Key { block: NONE, outcome: 0 }, next: NONE },
        }
    }

    /// The first entry of a leg behind its head.
    #[inline(always)]
    pub(super) fn leg(&self, first: First, key: Key) -> Option<u32> {
        if first.key == key {
            return Some(first.at + 1);
        }
        let mut at = first.next;
        while let Some(Entry::Leg { key: found, next }) = self.entries.get(at as usize) {
            if *found == key {
                return Some(at + 1);
            }
            at = *next;
        }
        None
    }

    /// The first step from entry `at` on among those that stand for each other.
    #[inline(always)]
    pub(super) fn find(&self, at: u32, is: impl Fn(&Step) -> bool) -> Option<u32> {
        let mut at = at;
        while let Entry::Step { step, other } = &self.entries[at as usize] {
            if is(step) {
                return Some(at);
            }
            if *other == 0 {
                break;
            }
            at = *other;
        }
        None
    }

    /// Learn that a block took these steps from a node.
    pub(super) fn learn(
        &mut self,
        node: u32,
        key: Key,
        steps: &[Step],
        end: (u32, End),
        taken: u32,
    ) {
        let Some(mut at) = self.leg(self.first(node), key) else {
            let next = self.legs[node as usize];
            self.legs[node as usize] = self.entries.len() as u32;
            self.entries.push(Entry::Leg { key, next });
            return self.append(steps, end, taken);
        };
        for (done, step) in steps.iter().enumerate() {
            let same = |known: &Step| known.kind() == step.kind() && known.result == step.result;
            if let Some(found) = self.find(at, same) {
                at = found + 1;
                continue;
            }
            let new = self.entries.len() as u32;
            while let Entry::Step { other, .. } = &mut self.entries[at as usize] {
                if *other == 0 {
                    *other = new;
                    break;
                }
                at = *other;
            }
            return self.append(&steps[done..], end, taken);
        }
    }

    fn append(&mut self, steps: &[Step], end: (u32, End), taken: u32) {
        self.entries.extend(steps.iter().map(|step| Entry::Step { step: *step, other: 0 }));
        let (node, end) = end;
        self.entries.extend([Entry::End { node, end }, Entry::Taken { words: taken }]);
    }
}

/// Four sums side by side, so that none waits for another.
fn hash(words: &[u16]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |sum: u64, word: u64| (sum.rotate_left(23) ^ word).wrapping_mul(FACTOR);
    let mut sums = [words.len() as u64, 1, 2, 3];
    let (sixteens, rest) = words.as_chunks::<16>();
    for sixteen in sixteens {
        for (sum, four) in sums.iter_mut().zip(sixteen.as_chunks::<4>().0) {
            let [a, b, c, d] = four.map(u64::from);
            *sum = mix(*sum, a | b << 16 | c << 32 | d << 48);
        }
    }
    rest.iter().for_each(|one| sums[0] = mix(sums[0], u64::from(*one)));
    let all = sums.into_iter().fold(0, mix);
    all ^ all >> 32
}
