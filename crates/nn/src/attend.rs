//! Attention of one query to what a sequence has read.
//!
//! Keys and values lie in panels, so that both products of attention are products of a few rows, the query
//! heads that share a key head, with a matrix.

use crate::{
    lanes::{Lanes, Work, exp},
    panels::{multiply, pack},
};

/// Positions that a slot grows by; whole panels.
const GROWTH: usize = 128;

/// What a model attends with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) lanes: Lanes,
    /// Layers.
    pub(crate) layers: usize,
    /// Query heads.
    pub(crate) heads: usize,
    /// Key and value heads.
    pub(crate) kv: usize,
    /// Width of a head.
    pub(crate) head: usize,
}

impl Shape {
    /// Panels of values side by side.
    fn panels(self) -> usize {
        self.head.div_ceil(self.lanes.columns())
    }
}

/// Keys and values of one sequence.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    shape: Shape,
    /// Positions read.
    pub(crate) length: usize,
    /// Positions there is room for; grown in steps.
    room: usize,
    /// `[layer][kv head][panel of positions][head][position]`.
    keys: Vec<f32>,
    /// `[layer][kv head][panel of the head][position][number]`.
    values: Vec<f32>,
}

impl Slot {
    /// One that has read nothing.
    pub(crate) fn new(shape: Shape) -> Slot {
        Slot { shape, length: 0, room: 0, keys: Vec::new(), values: Vec::new() }
    }

    /// Make room for this many positions, keeping those read.
    pub(crate) fn reserve(&mut self, length: usize) {
        if length <= self.room {
            return;
        }
        let room = length.next_multiple_of(GROWTH);
        let Shape { lanes, head, .. } = self.shape;
        let wide = self.shape.panels() * lanes.columns();
        let blocks = self.shape.layers * self.shape.kv;
        widen(&mut self.keys, blocks, self.room * head, room * head);
        let (old, new) = (self.room * lanes.columns(), room * lanes.columns());
        widen(&mut self.values, blocks * wide / lanes.columns(), old, new);
        self.room = room;
    }

    /// Hold the key and the value of a position; there must be room.
    pub(crate) fn put(&mut self, block: usize, place: usize, key: &[f32], value: &[f32]) {
        let (wide, head, panels) =
            (self.shape.lanes.columns(), self.shape.head, self.shape.panels());
        let first = (block * self.room + place / wide * wide) * head + place % wide;
        for (held, number) in self.keys[first..].iter_mut().step_by(wide).zip(key) {
            *held = *number;
        }
        for (panel, part) in value.chunks(wide).enumerate() {
            let from = ((block * panels + panel) * self.room + place) * wide;
            self.values[from..][..part.len()].copy_from_slice(part);
        }
    }

    /// Hold the keys and values of the next position in a layer, all heads of queries, keys and values side by
    /// side, and mix the values that each query attends to into `out`.
    pub(crate) fn attend(&mut self, layer: usize, all: &[f32], out: &mut [f32]) {
        let Shape { lanes, heads, kv, head, .. } = self.shape;
        let (wide, panels, share) = (lanes.columns(), self.shape.panels(), heads / kv);
        let (place, count) = (self.length, self.length + 1);
        let (queries, rest) = all.split_at(heads * head);
        let (keys, values) = rest.split_at(kv * head);
        let scale = 1.0 / (head as f32).sqrt();
        let mut packed = Vec::with_capacity(share * count.max(head));
        let mut part = vec![0.0; share * wide];
        let mut scores = vec![0.0; share * count];
        let mut sums = vec![0.0; share];
        for group in 0..kv {
            let block = layer * kv + group;
            self.put(block, place, &keys[group * head..][..head], &values[group * head..][..head]);
            packed.clear();
            pack(lanes, &queries[group * share * head..][..share * head], head, &mut packed);
            let held = self.keys[block * self.room * head..].chunks_exact(head * wide);
            for (from, panel) in (0..count).step_by(wide).zip(held) {
                multiply(lanes, &packed, head, panel, &mut part);
                let width = wide.min(count - from);
                for (scores, part) in scores.chunks_exact_mut(count).zip(part.chunks_exact(wide)) {
                    scores[from..from + width].copy_from_slice(&part[..width]);
                }
            }
            for (scores, sum) in scores.chunks_exact_mut(count).zip(&mut sums) {
                lanes.run(Powers { scores, scale, sum });
            }
            packed.clear();
            pack(lanes, &scores, count, &mut packed);
            for panel in 0..panels {
                let held = &self.values[(block * panels + panel) * self.room * wide..];
                multiply(lanes, &packed, count, &held[..count * wide], &mut part);
                let width = wide.min(head - panel * wide);
                for (at, (part, sum)) in part.chunks_exact(wide).zip(&sums).enumerate() {
                    let from = (group * share + at) * head + panel * wide;
                    for (out, number) in out[from..from + width].iter_mut().zip(part) {
                        *out = number / sum;
                    }
                }
            }
        }
    }
}

/// Give each block of so many numbers more room.
fn widen(held: &mut Vec<f32>, blocks: usize, old: usize, new: usize) {
    let mut fresh = vec![0.0; blocks * new];
    for block in 0..blocks {
        fresh[block * new..][..old].copy_from_slice(&held[block * old..][..old]);
    }
    *held = fresh;
}

/// Powers of e of scores, the highest 1, and their sum.
struct Powers<'a> {
    scores: &'a mut [f32],
    scale: f32,
    sum: &'a mut f32,
}

impl Work for Powers<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let higher = |a: f32, b: f32| if b > a { b } else { a };
        let (blocks, rest) = self.scores.as_chunks::<16>();
        let mut most = [f32::NEG_INFINITY; 16];
        for block in blocks {
            for (most, score) in most.iter_mut().zip(block) {
                *most = higher(*most, *score);
            }
        }
        let most = most.iter().chain(rest).copied().fold(f32::NEG_INFINITY, higher);
        for score in &mut *self.scores {
            *score = exp::<FUSED>((*score - most) * self.scale);
        }
        let (blocks, rest) = self.scores.as_chunks::<16>();
        let mut sums = [0.0_f32; 16];
        for block in blocks {
            for (sum, score) in sums.iter_mut().zip(block) {
                *sum += score;
            }
        }
        *self.sum = sums.iter().chain(rest).sum();
    }
}
