//! What blocks did to states of the pipeline.
//!
//! A node is a state ([`super::snapshot`]). From it leads a leg for each block that met it, by how its branch was
//! predicted: the block's accesses in order, with the answers that they got. Where an answer was another one the leg
//! forks. It ends in another node.

use super::tape::{Kind, Step};

/// Words of states, and steps, beyond which all is forgotten.
const MOST_WORDS: usize = 12 << 20;
const MOST_STEPS: usize = 1 << 20;
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
    leg: u32,
}

struct Leg {
    key: Key,
    step: u32,
    next: u32,
}

/// What a block left, in cycles from its begin, and the state.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub(super) node: u32,
    pub(super) cycles: u32,
    pub(super) retired: i32,
    pub(super) fetch: i32,
    pub(super) used: u32,
    pub(super) begun: u32,
    /// Where the words are that tell which ports were taken in each of its cycles.
    pub(super) taken: u32,
}

/// All that was learned.
pub(super) struct Memo {
    /// Of nodes and ends.
    words: Vec<u16>,
    nodes: Vec<Node>,
    legs: Vec<Leg>,
    pub(super) steps: Vec<Step>,
    pub(super) ends: Vec<End>,
    /// Nodes by the hash of their words.
    table: Vec<u32>,
}

impl Memo {
    pub(super) fn new() -> Memo {
        Memo {
            words: Vec::new(),
            nodes: Vec::new(),
            legs: Vec::new(),
            steps: Vec::new(),
            ends: Vec::new(),
            table: vec![NONE; 1024],
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.words.len() > MOST_WORDS || self.steps.len() > MOST_STEPS
    }

    /// Forget everything.
    pub(super) fn clear(&mut self) {
        self.words.clear();
        self.nodes.clear();
        self.legs.clear();
        self.steps.clear();
        self.ends.clear();
        self.table.fill(NONE);
    }

    /// The words of a node's state.
    pub(super) fn state(&self, node: u32) -> &[u16] {
        let Node { words, length, .. } = self.nodes[node as usize];
        &self.words[words as usize..][..length as usize]
    }

    /// The ports that were taken in each cycle of the block that ended so.
    pub(super) fn taken(&self, end: &End) -> &[u16] {
        &self.words[end.taken as usize..][..end.cycles as usize]
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
        self.nodes.push(Node { hash, words, length: state.len() as u32, leg: NONE });
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

    /// The first step of the leg from a node.
    #[inline(always)]
    pub(super) fn leg(&self, node: u32, key: Key) -> Option<u32> {
        let mut at = self.nodes[node as usize].leg;
        while at != NONE {
            let leg = &self.legs[at as usize];
            if leg.key == key {
                return Some(leg.step);
            }
            at = leg.next;
        }
        None
    }

    /// The first step from `at` on among those that stand for each other.
    #[inline(always)]
    pub(super) fn find(&self, at: u32, is: impl Fn(&Step) -> bool) -> Option<u32> {
        let mut at = at;
        loop {
            let step = &self.steps[at as usize];
            if is(step) {
                return Some(at);
            }
            if step.other == 0 || step.kind == Kind::End {
                return None;
            }
            at = step.other;
        }
    }

    /// Learn that a block took these steps from a node.
    pub(super) fn learn(&mut self, node: u32, key: Key, steps: &[Step], end: End) {
        let Some(mut at) = self.leg(node, key) else {
            let step = self.append(steps, end);
            let node = &mut self.nodes[node as usize];
            self.legs.push(Leg { key, step, next: node.leg });
            node.leg = self.legs.len() as u32 - 1;
            return;
        };
        for (done, step) in steps.iter().enumerate() {
            let same = |known: &Step| known.kind == step.kind && known.result == step.result;
            if let Some(found) = self.find(at, same) {
                at = found + 1;
                continue;
            }
            while self.steps[at as usize].other != 0 {
                at = self.steps[at as usize].other;
            }
            let fork = self.append(&steps[done..], end);
            self.steps[at as usize].other = fork;
            return;
        }
    }

    fn append(&mut self, steps: &[Step], end: End) -> u32 {
        let begin = self.steps.len() as u32;
        self.steps.extend(steps);
        let other = self.ends.len() as u32;
        self.steps.push(Step {
            kind: Kind::End,
            operation: 0,
            issue: 0,
            second: 0,
            result: 0,
            other,
        });
        self.ends.push(end);
        begin
    }
}

/// Four sums side by side, so that none waits for another.
fn hash(words: &[u16]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |sum: u64, word: u64| (sum.rotate_left(23) ^ word).wrapping_mul(FACTOR);
    let word = |four: &[u16]| four.iter().fold(0, |all, one| all << 16 | u64::from(*one));
    let mut sums = [words.len() as u64, 1, 2, 3];
    let sixteens = words.chunks_exact(16);
    let rest = sixteens.remainder();
    for sixteen in sixteens {
        for (sum, four) in sums.iter_mut().zip(sixteen.chunks_exact(4)) {
            *sum = mix(*sum, word(four));
        }
    }
    rest.iter().for_each(|one| sums[0] = mix(sums[0], u64::from(*one)));
    let all = sums.into_iter().fold(0, mix);
    all ^ all >> 32
}
