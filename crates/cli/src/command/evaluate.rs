//! `stampmill evaluate`: Table 1 of the BenchPress paper for a checkpoint.

use super::sample::{DrawingFlags, SampleRow};
use crate::{Global, output, progress::Bar};
use clang::{Clang, Options, Request, Tree};
use dataset::{Code, Language, Program, Verdict};
use lm::Checkpoint;
use rayon::prelude::*;
use serde::Serialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    process::ExitCode,
    time::Instant,
};

/// Say how good a language model's kernels are
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    stampmill evaluate models/infill --n 1000 --json\n  \
    stampmill evaluate models/infill --n 1000 --unconstrained\n\n\
Columns as in Table 1 of BenchPress (PACT'22): all kinds start from `kernel void [HOLE]`. A sample\n\
counts as compiling if clang accepts it as it is, duplicates and kernels of less than three\n\
instructions included; `unique and compile` leaves both out. Memorised is the share of compiling\n\
samples whose text, laid out or renamed, is in the training corpus. Depth is the longest chain of\n\
nodes in clang's syntax tree, implicit casts included. The spread of a feature space is the root mean\n\
square distance of ln(1 + vector) from its mean, over the accepted kernels.")]
pub(crate) struct Evaluate {
    #[command(flatten)]
    drawing: DrawingFlags,
    /// Count distinct feature vectors of the accepted kernels too, and say how far they spread
    #[arg(long, value_name = "SPACES")]
    space: Option<String>,
}

/// `--json` of `evaluate`.
#[derive(Debug, Default, Serialize)]
struct Report {
    model: String,
    samples: u64,
    unique: u64,
    unique_rate: f64,
    compile_rate: f64,
    /// Of samples of more than 200 tokens, and how many these are.
    compile_rate_long: f64,
    long: u64,
    compiling_unique: u64,
    memorised: f64,
    tokens_median: u32,
    tokens_p95: u32,
    tokens_max: u32,
    instructions_median: u32,
    instructions_max: u32,
    /// Nodes in the longest chain of the syntax trees of compiling samples.
    depth_median: u32,
    depth_p95: u32,
    depth_max: u32,
    distinct_vectors: BTreeMap<String, u64>,
    /// Root mean square distance of ln(1 + vector) from its mean, by feature space.
    spread: BTreeMap<String, f64>,
    /// Samples that were steered to their end for want of room.
    closed: f64,
    /// Draws that the constraint refused, for each sample.
    refused_per_sample: f64,
    verdicts: BTreeMap<String, u64>,
    seconds: f64,
    milliseconds_per_sample: f64,
    compiling_per_second: f64,
}

impl Evaluate {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let checkpoint = Checkpoint::load(&self.drawing.checkpoint)?;
        let bar = Bar::new(global);
        let began = Instant::now();
        let rows = self.drawing.judged(&checkpoint, global, &bar, false)?;
        let seconds = began.elapsed().as_secs_f64();
        let mut report = summary(&rows, seconds);
        report.model = checkpoint.kind().name().to_owned();
        let depths = depths(&rows, global)?;
        report.depth_median = quantile(depths.clone(), 0.5);
        report.depth_p95 = quantile(depths.clone(), 0.95);
        report.depth_max = quantile(depths, 1.0);
        if let Some(spaces) = &self.space {
            for (space, vectors) in vectors(&rows, spaces, global)? {
                let distinct: BTreeSet<String> =
                    vectors.iter().map(|vector| format!("{vector:?}")).collect();
                report.distinct_vectors.insert(space.clone(), distinct.len() as u64);
                report.spread.insert(space, spread(&vectors));
            }
        }
        drop(bar);
        match global.json {
            true => output::json(&report)?,
            false => print(&report)?,
        }
        Ok(if report.compiling_unique > 0 { ExitCode::SUCCESS } else { output::NEGATIVE })
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The value that `part` of the sorted values are below.
fn quantile(mut values: Vec<u32>, part: f64) -> u32 {
    values.sort_unstable();
    let at = ((values.len() as f64 - 1.0).max(0.0) * part).round() as usize;
    values.get(at).copied().unwrap_or(0)
}

/// Whether clang accepts it; too small a kernel compiles too.
fn compiles(row: &&SampleRow) -> bool {
    [Verdict::ACCEPTED, "duplicate", "too-small"].contains(&row.verdict.as_str())
}

fn summary(rows: &[SampleRow], seconds: f64) -> Report {
    /// Longer samples than this are looked at by themselves.
    const LONG: u32 = 200;
    let compiling: Vec<&SampleRow> = rows.iter().filter(compiles).collect();
    let long: Vec<&SampleRow> = rows.iter().filter(|row| row.tokens > LONG).collect();
    let unique = rows.iter().map(|row| &row.text).collect::<BTreeSet<_>>().len();
    let accepted = rows.iter().filter(|row| row.verdict == Verdict::ACCEPTED).count();
    let tokens = || compiling.iter().map(|row| row.tokens).collect();
    let instructions = || compiling.iter().map(|row| row.instructions).collect();
    let mut verdicts = BTreeMap::new();
    for row in rows {
        *verdicts.entry(row.verdict.clone()).or_insert(0) += 1;
    }
    Report {
        samples: rows.len() as u64,
        unique: unique as u64,
        unique_rate: share(unique, rows.len()),
        compile_rate: share(compiling.len(), rows.len()),
        compile_rate_long: share(long.iter().copied().filter(compiles).count(), long.len()),
        long: long.len() as u64,
        compiling_unique: accepted as u64,
        memorised: share(compiling.iter().filter(|row| row.memorised).count(), compiling.len()),
        tokens_median: quantile(tokens(), 0.5),
        tokens_p95: quantile(tokens(), 0.95),
        tokens_max: quantile(tokens(), 1.0),
        instructions_median: quantile(instructions(), 0.5),
        instructions_max: quantile(instructions(), 1.0),
        closed: share(rows.iter().filter(|row| row.closed).count(), rows.len()),
        refused_per_sample: rows.iter().map(|row| row.refused).sum::<u64>() as f64
            / rows.len().max(1) as f64,
        verdicts,
        seconds,
        milliseconds_per_sample: 1e3 * seconds / rows.len().max(1) as f64,
        compiling_per_second: compiling.len() as f64 / seconds.max(1e-9),
        ..Report::default()
    }
}

/// How deep the syntax trees of the compiling samples are.
fn depths(rows: &[SampleRow], global: &Global) -> anyhow::Result<Vec<u32>> {
    let clang = Clang::start(global.jobs())?;
    let compiling: Vec<&SampleRow> = rows.iter().filter(compiles).collect();
    let depth = |row: &&SampleRow| {
        let (source, options) = (row.text.clone(), Options::opencl());
        // What clang dies of or reads only as an older OpenCL has no depth here.
        let answer = clang.ask(&Request::Parse { source, options, tree: true }).ok()?;
        if answer.first_error().is_some() { None } else { answer.tree.map(|tree| depth(&tree)) }
    };
    Ok(compiling.par_iter().filter_map(depth).collect())
}

/// Nodes in the longest chain of a tree.
fn depth(tree: &Tree) -> u32 {
    // Where the subtrees end that the node is in.
    let mut open: Vec<usize> = Vec::new();
    let mut most = 0;
    for (at, node) in tree.nodes.iter().enumerate() {
        open.retain(|end| *end > at);
        open.push(at + node.size as usize);
        most = most.max(open.len());
    }
    most as u32
}

/// The vectors of the accepted samples, by name of their space.
fn vectors(
    rows: &[SampleRow],
    spaces: &str,
    global: &Global,
) -> anyhow::Result<BTreeMap<String, Vec<Vec<f64>>>> {
    let spaces = features::spaces(spaces)?;
    let extractor = super::features::extractor(spaces.clone(), 1, global)?;
    let programs: Vec<Program> = rows
        .iter()
        .filter(|row| row.verdict == Verdict::ACCEPTED)
        .map(|row| Program {
            path: row.number.to_string(),
            language: Language::OpenCl,
            code: Code::Text(row.text.clone()),
            ..Program::default()
        })
        .collect();
    let described = extractor.describe_many(&programs)?;
    let of = |space: &str| {
        let last = described.iter().filter_map(|rows| rows.last());
        last.filter_map(|row| row.vectors.get(space).cloned()).collect()
    };
    Ok(spaces.iter().map(|space| (space.name().to_owned(), of(space.name()))).collect())
}

/// Root mean square distance of ln(1 + vector) from its mean.
fn spread(vectors: &[Vec<f64>]) -> f64 {
    let Some(first) = vectors.first() else { return 0.0 };
    let count = vectors.len() as f64;
    let variance = |at: usize| {
        let values: Vec<f64> = vectors.iter().map(|vector| vector[at].ln_1p()).collect();
        let mean = values.iter().sum::<f64>() / count;
        values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count
    };
    (0..first.len()).map(variance).sum::<f64>().sqrt()
}

fn print(report: &Report) -> anyhow::Result<()> {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let mut rows = vec![
        ("model", report.model.clone()),
        ("samples", output::count(report.samples)),
        ("unique", percent(report.unique_rate)),
        ("compile", percent(report.compile_rate)),
        (
            "compile, over 200 tokens",
            format!("{} of {}", percent(report.compile_rate_long), report.long),
        ),
        ("unique and compile", output::count(report.compiling_unique)),
        ("memorised", percent(report.memorised)),
        (
            "tokens: median, 95 %, most",
            format!("{}, {}, {}", report.tokens_median, report.tokens_p95, report.tokens_max),
        ),
        (
            "instructions: median, most",
            format!("{}, {}", report.instructions_median, report.instructions_max),
        ),
        (
            "depth: median, 95 %, most",
            format!("{}, {}, {}", report.depth_median, report.depth_p95, report.depth_max),
        ),
        ("steered to an end", percent(report.closed)),
        ("milliseconds per sample", format!("{:.1}", report.milliseconds_per_sample)),
        ("compiling per second", format!("{:.1}", report.compiling_per_second)),
    ];
    for (space, count) in &report.distinct_vectors {
        let spread = report.spread.get(space).copied().unwrap_or_default();
        rows.push(("distinct vectors, spread", format!("{count}, {spread:.2} in {space}")));
    }
    for (verdict, count) in &report.verdicts {
        rows.push(("verdict", format!("{verdict} {count}")));
    }
    let rows = rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]);
    output::line(&output::table(&["", "value"], rows).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clang::Node;

    #[test]
    fn the_longest_chain_of_a_tree_is_its_depth() {
        let node =
            |size| Node { kind: 0, type_name: 0, text: 0, declaration: 0, begin: 0, end: 0, size };
        // Two declarations: a leaf, and one with a leaf and a chain of two below it.
        let nodes = [1, 4, 1, 2, 1].map(node).to_vec();
        assert_eq!(depth(&Tree { strings: Vec::new(), nodes }), 3);
        assert_eq!(depth(&Tree::default()), 0);
    }

    #[test]
    fn the_spread_is_in_all_dimensions_together() {
        let e = std::f64::consts::E;
        let vectors = [vec![0.0, 0.0], vec![e - 1.0, e * e - 1.0]];
        assert!((spread(&vectors) - 1.25_f64.sqrt()).abs() < 1e-12);
        assert_eq!(spread(&[]), 0.0);
    }
}
