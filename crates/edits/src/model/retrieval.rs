//! The nearest slow programs, whose edits are shown as examples.

use crate::Result;
use instant_distance::{Builder, HnswMap, Point, Search};

/// Makes vectors of programs.
pub trait Encoder: Sync {
    /// Its name in results.
    fn name(&self) -> &'static str;

    /// The vector of a slow program that is asked for; of length 1 or all zeros.
    ///
    /// # Errors
    /// When an endpoint that is asked does not answer.
    fn encode(&self, program: &str) -> Result<Vec<f32>>;

    /// The vector of a known edit; that of its slow program unless the encoder knows better.
    ///
    /// # Errors
    /// As [`Encoder::encode`].
    fn encode_edit(&self, slow: &str, _fast: &str) -> Result<Vec<f32>> {
        self.encode(slow)
    }
}

/// How nearest vectors are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IndexKind {
    /// By looking at all of them.
    #[default]
    Exact,
    /// By a hierarchical navigable small world graph (Malkov and Yashunin, 2018): nearly always the same.
    Hnsw,
}

#[derive(Clone, Debug)]
struct Vector(Vec<f32>);

impl Point for Vector {
    fn distance(&self, other: &Vector) -> f32 {
        1.0 - self.0.iter().zip(&other.0).map(|(a, b)| a * b).sum::<f32>()
    }
}

/// Vectors of known edits.
pub struct Index {
    vectors: Vec<Vector>,
    graph: Option<HnswMap<Vector, usize>>,
}

impl Index {
    /// Index vectors; they are named by their place. The same vectors and `seed` give the same graph.
    #[must_use]
    pub fn build(vectors: Vec<Vec<f32>>, kind: IndexKind, seed: u64) -> Index {
        let vectors: Vec<Vector> = vectors.into_iter().map(Vector).collect();
        let graph = (kind == IndexKind::Hnsw && !vectors.is_empty()).then(|| {
            let names = (0..vectors.len()).collect();
            Builder::default().seed(seed).build(vectors.clone(), names)
        });
        Index { vectors, graph }
    }

    /// The `k` nearest of those that `keep` wants, nearest first; ties in their order.
    #[must_use]
    pub fn nearest(&self, query: &[f32], k: usize, keep: impl Fn(usize) -> bool) -> Vec<usize> {
        let query = Vector(query.to_vec());
        if let Some(graph) = &self.graph {
            let mut search = Search::default();
            let found = graph.search(&query, &mut search).map(|item| *item.value);
            let found: Vec<usize> = found.filter(|at| keep(*at)).take(k).collect();
            if found.len() == k {
                return found;
            }
            // The graph looks at a hundred; where fewer than k of them are wanted, all are looked at.
        }
        let mut all: Vec<(f32, usize)> = (0..self.vectors.len())
            .filter(|at| keep(*at))
            .map(|at| (query.distance(&self.vectors[at]), at))
            .collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        all.into_iter().take(k).map(|(_, at)| at).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn the_graph_finds_what_looking_at_all_finds() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let vectors: Vec<Vec<f32>> = (0..300)
            .map(|_| {
                let v: Vec<f32> = (0..16).map(|_| rng.random_range(-1.0..1.0)).collect();
                let length = v.iter().map(|x| x * x).sum::<f32>().sqrt();
                v.into_iter().map(|x| x / length).collect()
            })
            .collect();
        let exact = Index::build(vectors.clone(), IndexKind::Exact, 0);
        let graph = Index::build(vectors.clone(), IndexKind::Hnsw, 0);
        let agree = vectors
            .iter()
            .filter(|v| exact.nearest(v, 3, |_| true) == graph.nearest(v, 3, |_| true))
            .count();
        assert!(agree >= 290, "{agree} of 300");
        assert_eq!(exact.nearest(&vectors[7], 1, |at| at != 7).len(), 1);
        assert_eq!(graph.nearest(&vectors[7], 1, |_| true), [7]);
    }
}
