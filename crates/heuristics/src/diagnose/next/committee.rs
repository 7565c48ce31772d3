//! Query by committee.

use super::Asked;
use crate::Result;

/// How far what the models of a committee say that a program costs lies apart (Seung, Opper and Sompolinsky, COLT 1992;
/// of regressions: Krogh and Vedelsby, NIPS 1994).
pub(super) fn scores(asked: &Asked<'_>) -> Result<Vec<f64>> {
    let targets = asked.labeled.task.rows.iter().map(|row| row.costs[0].log2()).collect();
    let said = asked.committee(&[targets])?;
    let spread = |at: usize| {
        let mean = said.iter().map(|one| one[0][at]).sum::<f64>() / said.len() as f64;
        let squares = said.iter().map(|one| (one[0][at] - mean).powi(2)).sum::<f64>();
        (squares / said.len() as f64).sqrt()
    };
    Ok((0..asked.places.len()).map(spread).collect())
}
