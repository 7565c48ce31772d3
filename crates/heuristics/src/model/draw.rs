//! The order in which scikit-learn's trees look at features, which decides between equal splits.

use rand_mt::Mt;

/// Draws features without replacement as scikit-learn's best splitter does (0.18 to 1.9, the same
/// numbers), so that a published `random_state` gives the published tree: a Mersenne Twister seeds
/// a xorshift generator; a node draws until it has seen every feature that is not constant in it,
/// and passes on to its children which are.
#[derive(Clone, Debug)]
pub(super) struct Draw {
    state: u32,
    features: Vec<usize>,
    constant: Vec<usize>,
}

/// Greatest number that the xorshift generator returns.
const GREATEST: u32 = 0x7fff_ffff;

/// One node's drawing.
#[derive(Debug)]
pub(super) struct Drawing<'a> {
    draw: &'a mut Draw,
    /// Features not looked at yet end here.
    end: usize,
    drawn_constants: usize,
    known_constants: usize,
    found_constants: usize,
}

impl Draw {
    pub(super) fn new(features: usize, seed: u32) -> Draw {
        let mut twister = Mt::new(seed);
        // `RandomState.randint(0, GREATEST)`: the low bits, again while they are out of range.
        let state = loop {
            let number = twister.next_u32() & GREATEST;
            if number < GREATEST {
                break number;
            }
        };
        Draw { state, features: (0..features).collect(), constant: vec![0; features] }
    }

    /// Begin a node whose first `known_constants` features (in the order left by its parent) do
    /// not vary.
    pub(super) fn node(&mut self, known_constants: usize) -> Drawing<'_> {
        let end = self.features.len();
        Drawing { draw: self, end, drawn_constants: 0, known_constants, found_constants: 0 }
    }

    fn next(&mut self, low: usize, high: usize) -> usize {
        if self.state == 0 {
            self.state = 1;
        }
        self.state ^= self.state << 13;
        self.state ^= self.state >> 17;
        self.state ^= self.state << 5;
        low + (self.state % (GREATEST + 1)) as usize % (high - low)
    }
}

impl Drawing<'_> {
    /// The next feature to look at; `varies` says whether it does in this node.
    pub(super) fn next(&mut self, varies: impl Fn(usize) -> bool) -> Option<usize> {
        while self.end > self.known_constants + self.found_constants {
            let at = self.draw.next(self.drawn_constants, self.end - self.found_constants);
            if at < self.known_constants {
                self.draw.features.swap(self.drawn_constants, at);
                self.drawn_constants += 1;
                continue;
            }
            let at = at + self.found_constants;
            let feature = self.draw.features[at];
            if varies(feature) {
                self.end -= 1;
                self.draw.features.swap(self.end, at);
                return Some(feature);
            }
            self.draw.features.swap(at, self.known_constants + self.found_constants);
            self.found_constants += 1;
        }
        None
    }

    /// End the node; the answer is the number of constant features its children begin with.
    pub(super) fn end(self) -> usize {
        let (known, found) = (self.known_constants, self.found_constants);
        let Draw { features, constant, .. } = self.draw;
        features[..known].copy_from_slice(&constant[..known]);
        constant[known..known + found].copy_from_slice(&features[known..known + found]);
        known + found
    }
}
