//! The nearest slow programs, whose edits are shown as examples.

use crate::Result;

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

/// Vectors of known edits.
pub struct Index {
    vectors: Vec<Vec<f32>>,
}

impl Index {
    /// Index vectors; they are named by their place.
    #[must_use]
    pub fn new(vectors: Vec<Vec<f32>>) -> Index {
        Index { vectors }
    }

    /// The `k` nearest of those that `keep` wants, nearest first; ties in their order. All are looked at.
    #[must_use]
    pub fn nearest(&self, query: &[f32], k: usize, keep: impl Fn(usize) -> bool) -> Vec<usize> {
        let distance =
            |other: &[f32]| 1.0 - query.iter().zip(other).map(|(a, b)| a * b).sum::<f32>();
        let mut all: Vec<(f32, usize)> = (0..self.vectors.len())
            .filter(|at| keep(*at))
            .map(|at| (distance(&self.vectors[at]), at))
            .collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        all.into_iter().take(k).map(|(_, at)| at).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_that_are_wanted_come_first_and_ties_in_their_order() {
        let index =
            Index::new(vec![vec![1.0, 0.0], vec![0.0, 1.0], vec![1.0, 0.0], vec![0.6, 0.8]]);
        assert_eq!(index.nearest(&[1.0, 0.0], 3, |_| true), [0, 2, 3]);
        assert_eq!(index.nearest(&[1.0, 0.0], 2, |at| at != 0), [2, 3]);
        assert_eq!(index.nearest(&[1.0, 0.0], 9, |_| true).len(), 4);
    }
}
