//! Figure 9: how many generated kernels have exactly the features of a benchmark.

use super::data::table_at;
use crate::{Result, table::Table};
use serde::Serialize;
use std::{collections::BTreeSet, path::Path};

/// The static features compared.
const FEATURES: [&str; 4] = ["comp", "mem", "localmem", "coalesced"];

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
        let benchmarks: BTreeSet<_> =
            vectors(&table_at(folder, "amd-benchmarks.csv"))?.into_iter().collect();
        let share = |name: &str| -> Result<f64> {
            let kernels = vectors(&table_at(folder, &format!("{name}-features.csv")))?;
            let matched = kernels.iter().filter(|kernel| benchmarks.contains(*kernel)).count();
            Ok(matched as f64 / kernels.len().max(1) as f64)
        };
        Ok(Figure9 { clgen: share("clgen")?, clsmith: share("clsmith")?, github: share("github")? })
    }
}

fn vectors(path: &Path) -> Result<Vec<[u64; 4]>> {
    let table = Table::read(path)?;
    let mut columns = [0; 4];
    for (column, name) in columns.iter_mut().zip(FEATURES) {
        *column = table.column(name)?;
    }
    let vector = |row| columns.map(|column| table.number(row, column).to_bits());
    Ok((0..table.rows()).map(vector).collect())
}
