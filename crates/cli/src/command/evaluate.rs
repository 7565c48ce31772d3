//! `benchstone evaluate`: Table 1 of the BenchPress paper for a checkpoint.

use super::sample::{DrawingFlags, SampleRow};
use crate::{Global, output, progress::Bar};
use dataset::{Code, Language, Program, Verdict};
use lm::Checkpoint;
use serde::Serialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    process::ExitCode,
    time::Instant,
};

/// Say how good a language model's kernels are
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    benchstone evaluate models/infill --n 1000 --json\n  \
    benchstone evaluate models/infill --n 1000 --unconstrained\n\n\
Columns as in Table 1 of BenchPress (PACT'22): all kinds start from `kernel void [HOLE]`. A sample\n\
counts as compiling if clang accepts it as it is, duplicates and kernels of less than three\n\
instructions included; `unique and compile` leaves both out. Memorised is the share of compiling\n\
samples whose text, laid out or renamed, is in the training corpus.")]
pub(crate) struct Evaluate {
    #[command(flatten)]
    drawing: DrawingFlags,
    /// Count distinct feature vectors of the compiling kernels too
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
    distinct_vectors: BTreeMap<String, u64>,
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
        if let Some(spaces) = &self.space {
            report.distinct_vectors = distinct(&rows, spaces, global)?;
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

fn summary(rows: &[SampleRow], seconds: f64) -> Report {
    /// Longer samples than this are looked at by themselves.
    const LONG: u32 = 200;
    // Too small a kernel compiles too.
    let compiles = |row: &&SampleRow| {
        [Verdict::ACCEPTED, "duplicate", "too-small"].contains(&row.verdict.as_str())
    };
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
        model: String::new(),
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
        distinct_vectors: BTreeMap::new(),
        closed: share(rows.iter().filter(|row| row.closed).count(), rows.len()),
        refused_per_sample: rows.iter().map(|row| row.refused).sum::<u64>() as f64
            / rows.len().max(1) as f64,
        verdicts,
        seconds,
        milliseconds_per_sample: 1e3 * seconds / rows.len().max(1) as f64,
        compiling_per_second: compiling.len() as f64 / seconds.max(1e-9),
    }
}

fn distinct(
    rows: &[SampleRow],
    spaces: &str,
    global: &Global,
) -> anyhow::Result<BTreeMap<String, u64>> {
    let spaces = features::spaces(spaces)?;
    let extractor = super::features::extractor(spaces.clone(), 1, global)?;
    let programs: Vec<Program> = rows
        .iter()
        .filter(|row| row.verdict == Verdict::ACCEPTED)
        .map(|row| Program {
            path: row.number.to_string(),
            name: String::new(),
            language: Language::OpenCl,
            code: Code::Text(row.text.clone()),
        })
        .collect();
    let described = extractor.describe_many(&programs)?;
    let mut counts = BTreeMap::new();
    for space in spaces {
        let vectors = described.iter().filter_map(|rows| rows.last()?.vectors.get(space.name()));
        let distinct: BTreeSet<String> = vectors.map(|vector| format!("{vector:?}")).collect();
        counts.insert(space.name().to_owned(), distinct.len() as u64);
    }
    Ok(counts)
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
        ("steered to an end", percent(report.closed)),
        ("milliseconds per sample", format!("{:.1}", report.milliseconds_per_sample)),
        ("compiling per second", format!("{:.1}", report.compiling_per_second)),
    ];
    for (space, count) in &report.distinct_vectors {
        rows.push(("distinct vectors", format!("{count} in {space}")));
    }
    for (verdict, count) in &report.verdicts {
        rows.push(("verdict", format!("{verdict} {count}")));
    }
    let rows = rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]);
    output::line(&output::table(&["", "value"], rows).to_string())
}
