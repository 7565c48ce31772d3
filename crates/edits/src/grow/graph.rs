//! Edges: what the graphs of samples are like, and others like them.

use super::{
    grammar::{Count, DataSet, Grammar, Item, Kind, Row, Slot},
    seen::{Seen, within},
};
use rand::{Rng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, BTreeSet};

/// Edges from which on they tell whether some come twice.
const TELLING: usize = 3;
/// Edges that are tried before a free one is looked for among all.
const TRIES: usize = 100;
/// Pairs of nodes at most among which free ones are looked for.
const PAIRS: usize = 1_000_000;

/// Two columns that index the same count: edges between so many nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Graph {
    pub(super) nodes: Slot,
    /// The number of rows.
    pub(super) edges: Count,
    base: i64,
    /// No edge leads to where it comes from, and none comes twice.
    pub(super) is_simple: bool,
    /// Graphs in all samples, and of these, connected ones.
    graphs: usize,
    connected: usize,
}

/// Numbers that two columns index and that count nothing else: how many nodes a graph has.
pub(super) fn nodes_of(
    grammar: &Grammar,
    all: &[&DataSet],
    counts: &BTreeSet<Slot>,
) -> BTreeSet<Slot> {
    let is_number = |slot: Slot| {
        let said = |set: &DataSet| matches!(set.get(&slot).map(Vec::as_slice), Some([_]));
        !counts.contains(&slot) && all.iter().copied().all(said)
    };
    let mut nodes = BTreeSet::new();
    for item in &grammar.items {
        let Item::Rows(_, Row::Fixed(tokens)) = item else { continue };
        let [(from, Kind::Int), (to, Kind::Int), ..] = tokens[..] else { continue };
        nodes.extend((0..from).filter(|number| {
            is_number(*number)
                && [1, 0].into_iter().any(|base| {
                    let both = [from, to].map(|column| within(column, *number, base, all));
                    let [Some((rows, one)), Some((_, other))] = both else { return false };
                    rows >= TELLING && one.max(other) >= 1.0
                })
        }));
    }
    nodes
}

/// The graphs of a grammar, by their first column.
pub(super) fn graphs(
    grammar: &Grammar,
    seen: &BTreeMap<Slot, Seen>,
    all: &[&DataSet],
) -> BTreeMap<Slot, Graph> {
    let mut graphs = BTreeMap::new();
    for item in &grammar.items {
        let Item::Rows(edges, Row::Fixed(tokens)) = item else { continue };
        let [(from, _), (to, _), ..] = tokens[..] else { continue };
        let (Some((count, base)), Some((other, from_base))) = (seen[&from].index, seen[&to].index)
        else {
            continue;
        };
        if count != other || base != from_base {
            continue;
        }
        let mut graph = Graph {
            nodes: count.slot,
            edges: *edges,
            base,
            is_simple: true,
            graphs: 0,
            connected: 0,
        };
        let mut rows = 0;
        for set in all {
            rows += graph.add(set, from, to).unwrap_or(0);
        }
        graph.is_simple &= rows >= TELLING;
        graphs.insert(from, graph);
    }
    graphs
}

impl Graph {
    /// Look at the graph of a data set; how many edges it has.
    fn add(&mut self, set: &DataSet, from: Slot, to: Slot) -> Option<usize> {
        let nodes: usize = set.get(&self.nodes)?.last()?.parse().ok()?;
        let mut known = BTreeSet::new();
        let (from, to) = (set.get(&from)?, set.get(&to)?);
        let mut edges = Vec::new();
        for (from, to) in from.iter().zip(to) {
            let edge: [i64; 2] = [from.parse().ok()?, to.parse().ok()?];
            self.is_simple &= edge[0] != edge[1] && known.insert(pair(edge));
            edges.push(edge);
        }
        self.graphs += 1;
        self.connected += usize::from(parts(nodes, &edges) == 1);
        Some(edges.len())
    }

    /// The most edges between so many nodes.
    pub(super) fn most(&self, nodes: i64) -> i64 {
        match self.is_simple {
            true => nodes.saturating_mul(nodes - 1) / 2,
            false => i64::MAX,
        }
    }

    /// So many edges of another graph: a connected one where the samples always are, and most times where there is but one of them.
    /// `None` where there are not so many, or too many.
    pub(super) fn draw(
        &self,
        nodes: usize,
        count: usize,
        rng: &mut ChaCha8Rng,
    ) -> Option<Vec<[i64; 2]>> {
        let is_connected = match self.graphs {
            graphs if graphs != self.connected => rng.random_bool(0.5),
            1 => rng.random_bool(0.75),
            _ => true,
        };
        let possible = nodes.checked_mul(nodes.saturating_sub(1))? / 2;
        if nodes == 0 || self.is_simple && count > possible {
            return None;
        }
        let mut edges: Vec<[i64; 2]> = match is_connected {
            true => tree(nodes, self.base, rng).into_iter().take(count).collect(),
            false => Vec::new(),
        };
        for edge in &mut edges {
            if rng.random_bool(0.5) {
                edge.reverse();
            }
        }
        let mut known: BTreeSet<[i64; 2]> = edges.iter().copied().map(pair).collect();
        while edges.len() < count {
            let another = (0..TRIES).find_map(|_| {
                let edge = [(); 2].map(|()| self.base + rng.random_range(0..nodes) as i64);
                let is_free = edge[0] != edge[1] && !known.contains(&pair(edge));
                (is_free || !self.is_simple).then_some(edge)
            });
            let Some(edge) = another else {
                edges.extend(self.free(nodes, &known, count - edges.len(), rng)?);
                break;
            };
            known.insert(pair(edge));
            edges.push(edge);
        }
        edges.shuffle(rng);
        Some(edges)
    }

    /// So many of the pairs of nodes that are not known.
    fn free(
        &self,
        nodes: usize,
        known: &BTreeSet<[i64; 2]>,
        count: usize,
        rng: &mut ChaCha8Rng,
    ) -> Option<Vec<[i64; 2]>> {
        if nodes.checked_mul(nodes)? > 2 * PAIRS {
            return None;
        }
        let mut free = Vec::new();
        for to in 0..nodes {
            let edges = (0..to).map(|from| [from, to].map(|node| self.base + node as i64));
            free.extend(edges.filter(|edge| !known.contains(edge)));
        }
        free.shuffle(rng);
        free.truncate(count);
        Some(free)
    }
}

/// The edges of a random tree, each from a node that is reached already.
pub(super) fn tree(nodes: usize, base: i64, rng: &mut ChaCha8Rng) -> Vec<[i64; 2]> {
    let mut names: Vec<i64> = (0..nodes as i64).map(|node| node + base).collect();
    if let Some(others) = names.get_mut(1..) {
        others.shuffle(rng);
    }
    let edge =
        |child: usize, rng: &mut ChaCha8Rng| [names[rng.random_range(0..child)], names[child]];
    (1..nodes).map(|child| edge(child, rng)).collect()
}

/// An edge without its direction.
fn pair([from, to]: [i64; 2]) -> [i64; 2] {
    [from.min(to), from.max(to)]
}

/// How many connected parts a graph has.
fn parts(nodes: usize, edges: &[[i64; 2]]) -> usize {
    let mut above: BTreeMap<i64, i64> = BTreeMap::new();
    let mut parts = nodes;
    for edge in edges {
        let [from, to] = edge.map(|mut node| {
            while let Some(next) = above.get(&node) {
                node = *next;
            }
            node
        });
        if from != to {
            above.insert(from, to);
            parts = parts.saturating_sub(1);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::super::{generate::Generator, grammar::infer};
    use super::*;
    use rand::SeedableRng;

    fn graph(samples: &[&str]) -> Graph {
        let generator = Generator::learn(infer(samples).unwrap(), samples);
        generator.graphs.values().next().unwrap().clone()
    }

    const CONNECTED: &str = "6 8\n1 2\n2 3\n4 3\n1 4\n5 4\n6 5\n1 6\n2 5\n";
    const APART: &str = "5 4\n1 2\n2 3\n4 5\n1 3\n";

    #[test]
    fn graphs_are_connected_where_those_of_the_samples_are() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut connected = |samples: &[&str]| {
            let graph = graph(samples);
            let drawn = (0..40).filter(|_| {
                let edges = graph.draw(30, 34, &mut rng).unwrap();
                assert_eq!(edges.len(), 34);
                parts(30, &edges) == 1
            });
            drawn.count()
        };
        assert_eq!(connected(&[CONNECTED, CONNECTED]), 40);
        let (alone, mixed) = (connected(&[CONNECTED]), connected(&[CONNECTED, APART]));
        assert!((21..40).contains(&alone), "{alone}");
        assert!((8..33).contains(&mixed), "{mixed}");
    }

    #[test]
    fn edges_come_once_where_those_of_the_samples_do() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let simple = graph(&[CONNECTED]);
        assert!(simple.is_simple);
        assert_eq!((simple.most(5), simple.draw(5, 11, &mut rng)), (10, None));
        let whole: BTreeSet<[i64; 2]> =
            simple.draw(5, 10, &mut rng).unwrap().into_iter().map(pair).collect();
        assert_eq!(whole.len(), 10);
        assert!(whole.iter().all(|[from, to]| 1 <= *from && from < to && *to <= 5));
        let twice = graph(&["4 5\n1 2\n2 1\n4 3\n1 4\n3 3\n"]);
        assert!(!twice.is_simple);
        assert_eq!(twice.draw(2, 9, &mut rng).unwrap().len(), 9);
    }
}
