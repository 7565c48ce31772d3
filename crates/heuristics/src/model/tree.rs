//! A decision tree with exact best splits.
//!
//! smartcore 0.7 and linfa-trees 0.8 miss 3 and 6 of the 21 cells of the CLgen paper's Table 1
//! that do not depend on ties: smartcore never tries a threshold after equal values of mixed
//! classes, linfa counts in `f32`. Hence a tree of our own.

use super::{
    Learner, Model, Sample, Setting, Settings, draw::Draw, from_state, greatest, to_state,
};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// `tree`: CART with entropy, as scikit-learn fits it (`criterion="entropy"`, `splitter="best"`).
pub(super) struct DecisionTree;

impl Learner for DecisionTree {
    fn name(&self) -> &'static str {
        "tree"
    }

    fn describe(&self) -> &'static str {
        "decision tree: entropy, exact best splits; the model of Grewe, Wang and O'Boyle (CGO 2013)"
    }

    fn settings(&self) -> &'static [Setting] {
        const SETTINGS: [Setting; 4] = [
            Setting { name: "max_depth", default: 0.0, meaning: "0 for no limit" },
            Setting { name: "min_split", default: 2.0, meaning: "least rows of a node to split" },
            Setting { name: "min_leaf", default: 1.0, meaning: "least rows of a leaf" },
            Setting {
                name: "random_ties",
                default: 0.0,
                meaning: "equal splits: 0 first feature and lowest threshold, 1 by the seed, as \
                          scikit-learn",
            },
        ];
        &SETTINGS
    }

    fn fit(&self, sample: &Sample<'_>, settings: &Settings, seed: u32) -> Result<Box<dyn Model>> {
        let draw = (settings.get("random_ties") > 0.0).then(|| Draw::new(sample.width(), seed));
        let limits = Limits {
            depth: match settings.count("max_depth") {
                0 => usize::MAX,
                depth => depth,
            },
            split: settings.count("min_split").max(2),
            leaf: settings.count("min_leaf").max(1),
        };
        Ok(Box::new(Grower::new(sample, limits, draw).grow()))
    }

    fn restore(&self, state: Value) -> Result<Box<dyn Model>> {
        let tree = from_state::<Tree>("tree", state)?;
        // A file may hold anything: children must come after their parents, so that walks end.
        let sound = tree.nodes.iter().enumerate().all(|(at, node)| match node.split {
            Some(split) => {
                at < split.low.min(split.high) && split.low.max(split.high) < tree.nodes.len()
            }
            None => !node.counts.is_empty(),
        });
        if tree.nodes.is_empty() || !sound {
            return Err(Error::fit("tree", "its nodes do not form a tree"));
        }
        Ok(Box::new(tree))
    }
}

/// A fitted tree. Features are compared as `f32`, as in scikit-learn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tree {
    /// The nodes; the root is the first.
    pub nodes: Vec<Node>,
}

/// One node of a tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Training rows per choice that reached it.
    pub counts: Vec<usize>,
    /// How it splits; leaves do not.
    pub split: Option<Split>,
}

/// How a node splits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Split {
    /// The feature looked at.
    pub feature: usize,
    /// Rows up to and including it go to `low`.
    pub threshold: f64,
    /// Node of the rows up to the threshold.
    pub low: usize,
    /// Node of the rows above it.
    pub high: usize,
}

impl Node {
    /// What it would predict as a leaf: the most frequent choice, the first of equals.
    #[must_use]
    pub fn choice(&self) -> usize {
        greatest(&self.counts)
    }
}

impl Tree {
    /// Length of the longest way from the root to a leaf.
    #[must_use]
    pub fn depth(&self) -> usize {
        let mut depths = vec![0; self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate() {
            if let Some(split) = node.split {
                depths[split.low] = depths[at] + 1;
                depths[split.high] = depths[at] + 1;
            }
        }
        depths.into_iter().max().unwrap_or(0)
    }

    /// Number of leaves.
    #[must_use]
    pub fn leaves(&self) -> usize {
        self.nodes.iter().filter(|node| node.split.is_none()).count()
    }
}

impl Model for Tree {
    fn predict(&self, features: &[f64]) -> usize {
        let mut node = &self.nodes[0];
        while let Some(split) = node.split {
            let below = f64::from(features[split.feature] as f32) <= split.threshold;
            node = &self.nodes[if below { split.low } else { split.high }];
        }
        node.choice()
    }

    fn state(&self) -> Result<Value> {
        to_state("tree", self)
    }

    fn tree(&self) -> Option<&Tree> {
        Some(self)
    }
}

#[derive(Clone, Copy, Debug)]
struct Limits {
    depth: usize,
    split: usize,
    leaf: usize,
}

/// Values this near to each other count as equal, as in scikit-learn.
const NEAR: f32 = 1e-7;

/// Grows a tree. Each feature's rows are sorted once; a node owns one range in all the orders, and
/// splitting it partitions that range stably.
struct Grower<'a> {
    labels: &'a [usize],
    choices: usize,
    limits: Limits,
    /// Values by feature and row.
    values: Vec<Vec<f32>>,
    /// Rows by feature, ascending within each node's range.
    orders: Vec<Vec<u32>>,
    /// For each row, whether the split at hand sends it low.
    low: Vec<bool>,
    spare: Vec<u32>,
    draw: Option<Draw>,
    nodes: Vec<Node>,
}

/// A node to be grown.
struct Open {
    node: usize,
    start: usize,
    end: usize,
    depth: usize,
    constants: usize,
}

struct Best {
    score: f64,
    feature: usize,
    threshold: f64,
    /// Rows that go low.
    rows: usize,
}

impl<'a> Grower<'a> {
    fn new(sample: &'a Sample<'_>, limits: Limits, draw: Option<Draw>) -> Grower<'a> {
        let rows = sample.labels.len();
        let values: Vec<Vec<f32>> = (0..sample.width())
            .map(|feature| sample.features.iter().map(|row| row[feature] as f32).collect())
            .collect();
        let orders = values.iter().map(|values| {
            let mut order: Vec<u32> = (0..rows as u32).collect();
            order.sort_by(|&a, &b| values[a as usize].total_cmp(&values[b as usize]));
            order
        });
        Grower {
            labels: &sample.labels,
            choices: sample.choices,
            limits,
            orders: orders.collect(),
            values,
            low: vec![false; rows],
            spare: Vec::with_capacity(rows),
            draw,
            nodes: Vec::new(),
        }
    }

    fn grow(mut self) -> Tree {
        let rows = self.labels.len();
        let root = self.add(0, rows);
        let mut open = vec![Open { node: root, start: 0, end: rows, depth: 0, constants: 0 }];
        // Depth first, low side first: the order in which scikit-learn draws features.
        while let Some(Open { node, start, end, depth, constants }) = open.pop() {
            let counts = self.nodes[node].counts.clone();
            let rows = end - start;
            let stop = depth >= self.limits.depth
                || rows < self.limits.split
                || rows < 2 * self.limits.leaf
                || entropy(&counts) <= f64::EPSILON;
            if stop {
                continue;
            }
            let (best, constants) = self.best(start, end, &counts, constants);
            let Some(best) = best else { continue };
            self.partition(start, end, &best);
            let middle = start + best.rows;
            let low = self.add(start, middle);
            let high = self.add(middle, end);
            let (feature, threshold) = (best.feature, best.threshold);
            self.nodes[node].split = Some(Split { feature, threshold, low, high });
            let depth = depth + 1;
            open.push(Open { node: high, start: middle, end, depth, constants });
            open.push(Open { node: low, start, end: middle, depth, constants });
        }
        Tree { nodes: self.nodes }
    }

    /// The best split of a node, and the number of features that are constant in it.
    fn best(
        &mut self,
        start: usize,
        end: usize,
        counts: &[usize],
        constants: usize,
    ) -> (Option<Best>, usize) {
        let mut best = None;
        let Some(mut draw) = self.draw.take() else {
            for feature in 0..self.values.len() {
                self.split(feature, start, end, counts, &mut best);
            }
            return (best, 0);
        };
        let mut drawing = draw.node(constants);
        while let Some(feature) = drawing.next(|feature| self.varies(feature, start, end)) {
            self.split(feature, start, end, counts, &mut best);
        }
        let constants = drawing.end();
        self.draw = Some(draw);
        (best, constants)
    }

    fn varies(&self, feature: usize, start: usize, end: usize) -> bool {
        let value = |at: usize| self.values[feature][self.orders[feature][at] as usize];
        value(end - 1) > value(start) + NEAR
    }

    /// Try every threshold of a feature; a later one must be truly better.
    fn split(
        &self,
        feature: usize,
        start: usize,
        end: usize,
        counts: &[usize],
        best: &mut Option<Best>,
    ) {
        let values = &self.values[feature];
        let order = &self.orders[feature][start..end];
        let mut low = vec![0; self.choices];
        let mut high = counts.to_vec();
        for (at, pair) in order.windows(2).enumerate() {
            let label = self.labels[pair[0] as usize];
            low[label] += 1;
            high[label] -= 1;
            let (below, above) = (values[pair[0] as usize], values[pair[1] as usize]);
            let rows = at + 1;
            let small = rows.min(order.len() - rows) < self.limits.leaf;
            if above <= below + NEAR || small {
                continue;
            }
            let score =
                -((order.len() - rows) as f64) * entropy(&high) - rows as f64 * entropy(&low);
            if best.as_ref().is_none_or(|best| score > best.score) {
                // The sum of halves, in f64, of f32 values: never below `below`.
                let threshold = f64::from(below) / 2.0 + f64::from(above) / 2.0;
                *best = Some(Best { score, feature, threshold, rows });
            }
        }
    }

    fn partition(&mut self, start: usize, end: usize, best: &Best) {
        for (at, &row) in self.orders[best.feature][start..end].iter().enumerate() {
            self.low[row as usize] = at < best.rows;
        }
        for order in &mut self.orders {
            let order = &mut order[start..end];
            self.spare.clear();
            let mut kept = 0;
            for at in 0..order.len() {
                let row = order[at];
                if self.low[row as usize] {
                    order[kept] = row;
                    kept += 1;
                } else {
                    self.spare.push(row);
                }
            }
            order[kept..].copy_from_slice(&self.spare);
        }
    }

    fn add(&mut self, start: usize, end: usize) -> usize {
        let mut counts = vec![0; self.choices];
        for &row in &self.orders[0][start..end] {
            counts[self.labels[row as usize]] += 1;
        }
        self.nodes.push(Node { counts, split: None });
        self.nodes.len() - 1
    }
}

/// Entropy of a distribution, in bits, in the order of operations of scikit-learn: near-ties
/// between splits are decided by the last bit.
fn entropy(counts: &[usize]) -> f64 {
    let rows = counts.iter().sum::<usize>() as f64;
    let mut sum = 0.0;
    for &count in counts.iter().filter(|&&count| count > 0) {
        let share = count as f64 / rows;
        sum -= share * (share.ln() / std::f64::consts::LN_2);
    }
    sum
}
