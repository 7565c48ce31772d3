//! Cummins, Petoumenos, Wang and Leather: Synthesizing Benchmarks for Predictive Modeling (CGO
//! 2017), the CLgen paper: Table 1 and Figures 7, 8 and 9.

mod data;
mod draw;
mod figure7;
mod figure8;
mod figure9;
mod table1;
mod text;

pub use data::published_benchmarks;
pub use figure9::{COMPARED, PublishedVectors, published_vectors};

use super::{Recipe, ReproduceOptions, Reproduction};
use crate::Result;
use data::Platform;
use figure7::Figure7;
use figure8::Figure8;
use figure9::Figure9;
use serde::Serialize;
use std::collections::BTreeMap;
use table1::Table1;

/// The recipe `cgo17`.
pub(super) struct Cgo17;

/// The published code's `random_state`.
const PUBLISHED_SEED: u32 = 204;

/// Why the published figures and ours differ.
const REASON: &str = "The published code computes `p_speedup = runtime_predicted / \
    runtime_static` for Figure 7 and `runtime_new_model / runtime_old_model` for Figure 8: the \
    ratio upside down, so that slower predictions count as higher speedups; it then takes the \
    arithmetic mean of group means, which a few large ratios dominate. With the ratio the right \
    way up (static / predicted) and the geometric mean, training on CLgen's kernels besides the \
    suites lowers accuracy and speedup on both platforms, the speedup with every seed tried, and \
    the extended model is slower than the original one. Permutation tests over whole programs \
    (`p_value`) do not tell these losses from chance; that the kernels help is what the numbers \
    do not show.";

impl Recipe for Cgo17 {
    fn name(&self) -> &'static str {
        "cgo17"
    }

    fn describe(&self) -> &'static str {
        "CLgen (CGO 2017): Table 1, Figures 7, 8 and 9, as published and the right way up"
    }

    fn reproduce(&self, options: &ReproduceOptions) -> Result<Reproduction> {
        let mut results = Results::default();
        for name in ["amd", "nvidia"] {
            let platform = Platform::read(&options.data, name)?;
            let table = Table1::compute(&platform, options.seeds)?;
            results.table1.insert(name, table.cells);
            results.table1_range.insert(name, table.ranges);
            results.figure7.insert(name, Figure7::compute(&platform, options.seeds)?);
            results.figure8.insert(name, Figure8::compute(&platform)?);
            results.rows.insert(name, platform.verdicts);
        }
        results.figure9 = Figure9::compute(&options.data)?;
        let pictures = vec![
            ("table1.svg".to_owned(), draw::table1(&results)?),
            ("figure7.svg".to_owned(), draw::figure7(&results)?),
            ("figure8.svg".to_owned(), draw::figure8(&results)?),
        ];
        let tables = vec![
            ("figure7.csv".to_owned(), text::figure7_csv(&results)),
            ("figure8.csv".to_owned(), text::figure8_csv(&results)),
        ];
        let numbers =
            serde_json::to_value(&results).map_err(|error| crate::Error::fit("cgo17", error))?;
        Ok(Reproduction { numbers, text: text::markdown(&results), pictures, tables })
    }
}

/// By test suite, then by training suite.
type Cells<T> = BTreeMap<&'static str, BTreeMap<&'static str, T>>;

/// Everything recomputed, by platform.
#[derive(Debug, Serialize)]
struct Results {
    recipe: &'static str,
    /// Per cent of the oracle's performance, ties between equal splits broken in fixed order.
    table1: BTreeMap<&'static str, Cells<f64>>,
    /// Least and greatest over the seeds; equal where ties do not matter.
    table1_range: BTreeMap<&'static str, Cells<[f64; 2]>>,
    figure7: BTreeMap<&'static str, Figure7>,
    figure8: BTreeMap<&'static str, Figure8>,
    figure9: Figure9,
    reason: &'static str,
    orientation: &'static str,
    mean: &'static str,
    /// Rows per verdict by file.
    rows: BTreeMap<&'static str, BTreeMap<String, BTreeMap<String, u64>>>,
}

impl Default for Results {
    fn default() -> Results {
        Results {
            recipe: "cgo17",
            table1: BTreeMap::new(),
            table1_range: BTreeMap::new(),
            figure7: BTreeMap::new(),
            figure8: BTreeMap::new(),
            figure9: Figure9::default(),
            reason: REASON,
            orientation: "right_orientation is static / predicted: above 1 the prediction is \
                          faster; paper_formula is its inverse",
            mean: "right_orientation: geometric over rows; paper_formula: arithmetic over the \
                   arithmetic means of groups",
            rows: BTreeMap::new(),
        }
    }
}
