//! How good the kernels of a model are: Table 1 of the BenchPress paper (PACT'22).

use crate::{Result, SampleRow, Summary, corpus::program, sampler::Check, summary::is_accepted};
use clang::{Clang, Options, Request, Tree};
use dataset::Program;
use features::Extractor;
use leak::{Known, Print};
use lm::TrainingSet;
use rayon::prelude::*;
use rows::SampleVerdict;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Longer samples than this are looked at by themselves.
const LONG: u32 = 200;

/// How good samples are.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Evaluation {
    /// Kind of the model.
    pub model: String,
    /// Samples.
    pub samples: u64,
    /// Different texts.
    pub unique: u64,
    /// Share of these.
    pub unique_rate: f64,
    /// Share that clang accepts as it is; duplicates, what is too small, and what is not as asked compile too.
    pub compile_rate: f64,
    /// The same of samples of more than 200 tokens.
    pub compile_rate_long: f64,
    /// How many these are.
    pub long: u64,
    /// Accepted samples: different, compiling, large enough.
    pub compiling_unique: u64,
    /// Share of the compiling samples that the training corpus holds.
    pub memorised: f64,
    /// Share of the compiling samples that are copies of a training kernel, or hold one or a part of one, by the text of
    /// the leak rule; `None` where the training set is not known.
    pub near_memorised: Option<f64>,
    /// Lexemes of the longest run that a compiling sample has in common with a training kernel: the median.
    pub common_run_median: Option<u32>,
    /// What 95 % of them have at most.
    pub common_run_p95: Option<u32>,
    /// The longest.
    pub common_run_max: Option<u32>,
    /// Median share of a sample's lexemes that its longest run is.
    pub common_run_share_median: Option<f64>,
    /// Median tokens of compiling samples.
    pub tokens_median: u32,
    /// What 95 % of them have at most.
    pub tokens_p95: u32,
    /// Most tokens.
    pub tokens_max: u32,
    /// Median IR instructions of compiling samples at -O0.
    pub instructions_median: u32,
    /// Most instructions.
    pub instructions_max: u32,
    /// Median of the nodes in the longest chain of the syntax trees of compiling samples.
    pub depth_median: u32,
    /// What 95 % of them have at most.
    pub depth_p95: u32,
    /// Most nodes.
    pub depth_max: u32,
    /// Share of the instructions at -O0 of accepted samples that -O2 leaves; `None` where none was described.
    pub left_by_o2: Option<f64>,
    /// How far a model of costs is off on accepted samples, where one was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_bias: Option<CostBias>,
    /// The same of kernels of people, where some were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beside: Option<Beside>,
    /// Accepted samples that were run, by what it came to.
    pub outcomes: BTreeMap<String, u64>,
    /// Share of these that pass; `None` where none was run.
    pub pass_rate: Option<f64>,
    /// Different feature vectors of the accepted samples, by feature space.
    pub distinct_vectors: BTreeMap<String, u64>,
    /// Root mean square distance of ln(1 + vector) from its mean, by feature space.
    pub spread: BTreeMap<String, f64>,
    /// Share of samples that were force-closed for want of room.
    pub closed: f64,
    /// Draws that the constraint refused, for each sample.
    pub refused_per_sample: f64,
    /// Samples per verdict.
    pub verdicts: BTreeMap<String, u64>,
    /// Time to draw and judge them.
    pub seconds: f64,
    /// The same for each sample.
    pub milliseconds_per_sample: f64,
    /// Compiling samples in a second.
    pub compiling_per_second: f64,
}

/// How far a model of costs that learned from kernels of people is off on other kernels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CostBias {
    /// Kernels whose cost is known.
    pub kernels: u64,
    /// Predicted less true log2 of the cost, the mean: above zero they cost less than kernels of equal features that the
    /// model learned from.
    pub value: f64,
    /// Its 95 % interval, by the bootstrap over kernels.
    pub interval: [f64; 2],
}

/// Kernels that samples are compared with.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Beside {
    /// Those that were described at -O0 and at -O2.
    pub kernels: u64,
    /// The median of their instructions at -O0.
    pub instructions_median: u32,
    /// Share of their instructions at -O0 that -O2 leaves; `None` where none was described.
    pub left_by_o2: Option<f64>,
    /// How far a model of costs is off on them, where one was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_bias: Option<CostBias>,
}

impl Beside {
    /// Of the kernels of these texts; the extractors count InstCount at -O0 and at -O2.
    ///
    /// # Errors
    /// When kernels cannot be described at all.
    pub fn of(texts: &[&str], levels: [&Extractor; 2]) -> Result<Beside> {
        let counts = instructions(texts, levels)?;
        Ok(Beside {
            kernels: counts.len() as u64,
            instructions_median: quantile(
                counts.iter().map(|[before, _]| *before as u32).collect(),
                0.5,
            ),
            left_by_o2: left(&counts),
            cost_bias: None,
        })
    }
}

/// Evaluate samples of a model of this kind that were drawn and judged in `seconds`, duplicates
/// marked. With a training set, compiling ones are compared with it; with an extractor, accepted ones are described in
/// its spaces.
///
/// # Errors
/// When samples cannot be described at all.
pub fn evaluate(
    kind: lm::Kind,
    rows: &[SampleRow],
    seconds: f64,
    clang: &Clang,
    training: Option<&TrainingSet>,
    extractor: Option<&Extractor>,
) -> Result<Evaluation> {
    let mut evaluation = summary(rows, seconds);
    if let Some(training) = training.filter(|training| !training.is_empty()) {
        compare(&mut evaluation, rows, training);
    }
    evaluation.model = kind.name().to_owned();
    let depths = depths(rows, clang);
    evaluation.depth_median = quantile(depths.clone(), 0.5);
    evaluation.depth_p95 = quantile(depths.clone(), 0.95);
    evaluation.depth_max = quantile(depths, 1.0);
    if let Some(extractor) = extractor {
        for (space, vectors) in vectors(rows, extractor)? {
            let distinct: BTreeSet<String> =
                vectors.iter().map(|vector| format!("{vector:?}")).collect();
            evaluation.distinct_vectors.insert(space.clone(), distinct.len() as u64);
            evaluation.spread.insert(space, spread(&vectors));
        }
    }
    Ok(evaluation)
}

impl Evaluation {
    /// Count what running the accepted samples comes to.
    ///
    /// # Errors
    /// Of the machine, as the check says them.
    pub fn run(&mut self, rows: &[SampleRow], check: Check<'_>) -> std::result::Result<(), String> {
        let accepted: Vec<&SampleRow> = rows.iter().filter(|row| is_accepted(row)).collect();
        let outcomes = accepted.par_iter().map(|row| check(&row.text));
        let outcomes = outcomes.collect::<std::result::Result<Vec<_>, _>>()?;
        let passed = outcomes.iter().filter(|outcome| outcome.is_none()).count();
        self.pass_rate = (!outcomes.is_empty()).then(|| share(passed, outcomes.len()));
        for outcome in outcomes {
            let name = outcome.unwrap_or_else(|| "pass".to_owned());
            *self.outcomes.entry(name).or_default() += 1;
        }
        Ok(())
    }

    /// Count what an optimizer leaves of the accepted samples; the extractors count InstCount at -O0 and at -O2.
    ///
    /// # Errors
    /// When samples cannot be described at all.
    pub fn optimize(&mut self, rows: &[SampleRow], levels: [&Extractor; 2]) -> Result<()> {
        let accepted = rows.iter().filter(|row| is_accepted(row));
        let texts: Vec<&str> = accepted.map(|row| row.text.as_str()).collect();
        self.left_by_o2 = left(&instructions(&texts, levels)?);
        Ok(())
    }
}

/// Instructions of kernels at two levels of optimization, of those that are described at both.
fn instructions(texts: &[&str], levels: [&Extractor; 2]) -> Result<Vec<[f64; 2]>> {
    let named = texts.iter().enumerate();
    let programs: Vec<Program> = named.map(|(at, text)| program(&at.to_string(), text)).collect();
    let counts = |extractor: &Extractor| -> Result<Vec<Option<f64>>> {
        let described = extractor.describe_many(&programs)?;
        // The first of InstCount's is of all instructions.
        let all = |rows: &Vec<features::Row>| {
            rows.last()?.vectors.values().next().and_then(|vector| vector.first().copied())
        };
        Ok(described.iter().map(all).collect())
    };
    let [before, after] = levels.map(counts);
    let both = before?.into_iter().zip(after?);
    Ok(both.filter_map(|(before, after)| Some([before?, after?])).collect())
}

/// The share of instructions that is left.
fn left(counts: &[[f64; 2]]) -> Option<f64> {
    let sum = |level: usize| counts.iter().map(|count| count[level]).sum::<f64>();
    (sum(0) > 0.0).then(|| sum(1) / sum(0))
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

/// Whether clang accepts it; what is too small, not what was asked for, or undefined, compiles too.
fn compiles(row: &&SampleRow) -> bool {
    [
        SampleVerdict::Accepted,
        SampleVerdict::Duplicate,
        SampleVerdict::TooSmall,
        SampleVerdict::NotAsAsked,
        SampleVerdict::NoEffect,
        SampleVerdict::Undefined,
    ]
    .iter()
    .any(|verdict| row.verdict == verdict.name())
}

fn summary(rows: &[SampleRow], seconds: f64) -> Evaluation {
    let Summary { samples, unique, compiling_unique, verdicts, .. } = Summary::of(rows);
    let compiling: Vec<&SampleRow> = rows.iter().filter(compiles).collect();
    let long: Vec<&SampleRow> = rows.iter().filter(|row| row.tokens > LONG).collect();
    let tokens = || compiling.iter().map(|row| row.tokens).collect();
    let instructions = || compiling.iter().map(|row| row.instructions).collect();
    Evaluation {
        samples,
        unique,
        unique_rate: share(unique as usize, rows.len()),
        compile_rate: share(compiling.len(), rows.len()),
        compile_rate_long: share(long.iter().copied().filter(compiles).count(), long.len()),
        long: long.len() as u64,
        compiling_unique,
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
        ..Evaluation::default()
    }
}

/// The kernels that a model learned from, to find near-duplicates of.
pub(crate) fn learned(training: &TrainingSet) -> Known {
    let mut known = Known::default();
    for (name, text) in training.kernels() {
        known.add(name, Print { text: text.clone(), ..Print::default() });
    }
    known
}

/// What the compiling samples have in common with what was learned.
fn compare(evaluation: &mut Evaluation, rows: &[SampleRow], training: &TrainingSet) {
    let known = learned(training);
    let compiling: Vec<&SampleRow> = rows.iter().filter(compiles).collect();
    let is_near = |row: &&&SampleRow| known.copied(&Print::of_text(&row.text)).is_some();
    let near = compiling.par_iter().filter(is_near).count();
    let runs: Vec<u32> =
        compiling.par_iter().map(|row| training.longest_run(&row.text) as u32).collect();
    let shares = runs.iter().zip(&compiling);
    // In thousandths, as quantiles are of whole numbers.
    let shares = shares.map(|(run, row)| 1000 * run / row.tokens.max(1)).collect();
    evaluation.near_memorised = Some(share(near, compiling.len()));
    evaluation.common_run_median = Some(quantile(runs.clone(), 0.5));
    evaluation.common_run_p95 = Some(quantile(runs.clone(), 0.95));
    evaluation.common_run_max = Some(quantile(runs, 1.0));
    evaluation.common_run_share_median = Some(f64::from(quantile(shares, 0.5)) / 1000.0);
}

/// How deep the syntax trees of the compiling samples are.
fn depths(rows: &[SampleRow], clang: &Clang) -> Vec<u32> {
    let compiling: Vec<&SampleRow> = rows.iter().filter(compiles).collect();
    let depth = |row: &&SampleRow| {
        let (source, options) = (row.text.clone(), Options::opencl());
        // What clang dies of or reads only as an older OpenCL has no depth here.
        let answer = clang.ask(&Request::Parse { source, options, tree: true }).ok()?;
        if answer.first_error().is_some() { None } else { answer.tree.map(|tree| depth(&tree)) }
    };
    compiling.par_iter().filter_map(depth).collect()
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
fn vectors(rows: &[SampleRow], extractor: &Extractor) -> Result<BTreeMap<String, Vec<Vec<f64>>>> {
    let accepted = rows.iter().filter(|row| is_accepted(row));
    let programs: Vec<Program> =
        accepted.map(|row| program(&row.number.to_string(), &row.text)).collect();
    let described = extractor.describe_many(&programs)?;
    let of = |space: &str| {
        let last = described.iter().filter_map(|rows| rows.last());
        last.filter_map(|row| row.vectors.get(space).cloned()).collect()
    };
    let names = extractor.spaces().iter().map(|space| space.name());
    Ok(names.map(|name| (name.to_owned(), of(name))).collect())
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
    fn what_has_other_arguments_than_asked_for_compiles() {
        let row = |verdict: &str, number: u64| SampleRow {
            number,
            text: number.to_string(),
            verdict: verdict.to_string(),
            ..SampleRow::default()
        };
        let all = ["accepted", "not-as-asked", "no-effect", "does-not-compile"];
        let rows: Vec<SampleRow> = all.into_iter().zip(0..).map(|(one, at)| row(one, at)).collect();
        let told = summary(&rows, 1.0);
        assert_eq!((told.compile_rate, told.compiling_unique), (0.75, 1));
        assert!(compiles(&&row("undefined", 4)) && !compiles(&&row("does-not-compile", 4)));
    }

    #[test]
    fn what_is_left_is_of_all_kernels_together() {
        assert_eq!(left(&[[30.0, 10.0], [10.0, 10.0]]), Some(0.5));
        assert_eq!(left(&[]), None);
    }

    #[test]
    fn the_spread_is_in_all_dimensions_together() {
        let e = std::f64::consts::E;
        let vectors = [vec![0.0, 0.0], vec![e - 1.0, e * e - 1.0]];
        assert!((spread(&vectors) - 1.25_f64.sqrt()).abs() < 1e-12);
        assert_eq!(spread(&[]), 0.0);
    }
}
