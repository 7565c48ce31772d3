//! Figure 9: how many generated kernels have exactly the features of a benchmark.

use super::data::table_at;
use crate::{Result, table::Table};
use serde::Serialize;
use std::{collections::BTreeSet, path::Path};

/// The static features compared, of the space `grewe`.
pub const COMPARED: [&str; 4] = ["comp", "mem", "localmem", "coalesced"];

/// The values of [`COMPARED`] of the kernels of the CLgen paper.
#[derive(Clone, Debug, Default)]
pub struct PublishedVectors {
    /// Of the benchmarks of the seven suites.
    pub benchmarks: Vec<[f64; 4]>,
    /// Of kernels by their source: `clgen`, `clsmith`, and `github`, which the paper's figure has not.
    pub kernels: Vec<(&'static str, Vec<[f64; 4]>)>,
}

/// Read them from the folder of the published data.
///
/// # Errors
/// When a file is not there or lacks a column.
pub fn published_vectors(folder: &Path) -> Result<PublishedVectors> {
    let of = |name: &'static str| -> Result<(&'static str, Vec<[f64; 4]>)> {
        Ok((name, vectors(&table_at(folder, &format!("{name}-features.csv")))?))
    };
    Ok(PublishedVectors {
        benchmarks: vectors(&table_at(folder, "amd-benchmarks.csv"))?,
        kernels: vec![of("clgen")?, of("clsmith")?, of("github")?],
    })
}

/// Shares of kernels whose four static features equal a benchmark's, 0 to 1.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Figure9 {
    pub(super) clgen: f64,
    pub(super) clsmith: f64,
    /// Mined kernels, not in the paper's figure.
    pub(super) github: f64,
}

impl Figure9 {
    pub(super) fn compute(folder: &Path) -> Result<Figure9> {
        let published = published_vectors(folder)?;
        let bits = |vector: &[f64; 4]| vector.map(f64::to_bits);
        let benchmarks: BTreeSet<[u64; 4]> = published.benchmarks.iter().map(bits).collect();
        let share = |name: &str| {
            let found = published.kernels.iter().find(|(source, _)| *source == name);
            let kernels = found.map_or(&[][..], |(_, kernels)| kernels);
            let matched = kernels.iter().filter(|kernel| benchmarks.contains(&bits(kernel)));
            matched.count() as f64 / kernels.len().max(1) as f64
        };
        Ok(Figure9 { clgen: share("clgen"), clsmith: share("clsmith"), github: share("github") })
    }
}

fn vectors(path: &Path) -> Result<Vec<[f64; 4]>> {
    let table = Table::read(path)?;
    let mut columns = [0; 4];
    for (column, name) in columns.iter_mut().zip(COMPARED) {
        *column = table.column(name)?;
    }
    Ok((0..table.rows()).map(|row| columns.map(|column| table.number(row, column))).collect())
}
