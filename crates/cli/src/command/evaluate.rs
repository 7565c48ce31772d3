//! `stampmill evaluate`: Table 1 of the BenchPress paper for a checkpoint.

mod bias;

use super::sample::DrawingFlags;
use crate::{Global, interrupt, output, progress::Bar, runs::Runs};
use bias::Bias;
use clang::Clang;
use dataset::stage::Cancel;
use lm::{Checkpoint, Entry, TrainingSet};
use rows::SampleVerdict;
use sampling::{
    Beside, CostBias, Evaluation, Likelihood, Sampler, Total,
    corpus::{self, Corpus},
};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Instant,
};

/// Say how good a language model's kernels are
#[derive(clap::Args, Debug)]
#[command(after_help = help!("evaluate"))]
pub(crate) struct Evaluate {
    #[command(flatten)]
    drawing: DrawingFlags,
    /// Count distinct feature vectors of the accepted kernels too, and say how far they spread
    #[arg(long, value_name = "SPACES")]
    space: Option<String>,
    /// Run the accepted kernels on the processor's device, and say how many pass `run`'s checker
    #[arg(long)]
    run: bool,
    /// Say of the kernels of this data set, folder or file too what -O2 leaves, and how far --cost is off on them
    #[arg(long, value_name = "DATASET")]
    beside: Option<PathBuf>,
    /// A model of costs that learned from kernels of people (models/cost): say how far it is off on the accepted kernels
    #[arg(long, value_name = "MODEL")]
    cost: Option<PathBuf>,
    /// Draw nothing: say by package how many bits a token the kernels of this data set, folder or file take to the model
    #[arg(long, value_name = "DATASET", conflicts_with_all = ["space", "run", "drawn", "beside", "cost"])]
    likelihood: Option<PathBuf>,
}

impl Evaluate {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let checkpoint = Checkpoint::load(&self.drawing.checkpoint)?;
        if let Some(path) = &self.likelihood {
            return likelihood(&checkpoint, path, global);
        }
        let settings = self.drawing.settings(false)?;
        let spaces = self.space.as_deref().map(features::spaces).transpose()?;
        let cancelled = interrupt::final_flag()?;
        let cancel = Cancel::from(Arc::clone(&cancelled));
        let size = 256_u64.next_multiple_of(self.drawing.group_items());
        let runs = self.run.then(|| Runs::new(&cancelled, "--run", &[size])).transpose()?;
        let beside = self.beside.as_deref().map(kernels).transpose()?;
        let bias =
            self.cost.as_deref().map(|path| Bias::load(path, global, &cancelled)).transpose()?;
        let sampler = Sampler::new(&checkpoint, settings, global.jobs(), &cancel)?;
        let sampler = super::sample::describing(sampler, global)?;
        let bar = Bar::new(global);
        let began = Instant::now();
        let rows = sampler.sample(&bar)?;
        let seconds = began.elapsed().as_secs_f64();
        drop(sampler);
        let extractor =
            spaces.map(|spaces| super::features::extractor(spaces, 1, global)).transpose()?;
        let clang = Clang::start(global.jobs())?;
        let kind = checkpoint.kind();
        let training = TrainingSet::read(checkpoint.folder())?;
        let (training, extractor) = (training.as_ref(), extractor.as_ref());
        let mut evaluation = sampling::evaluate(kind, &rows, seconds, &clang, training, extractor)?;
        let level =
            |level| super::features::extractor(features::spaces("instcount")?, level, global);
        let (plain, optimized) = (level(0)?, level(2)?);
        evaluation.optimize(&rows, [&plain, &optimized])?;
        if let Some(kernels) = &beside {
            let texts: Vec<&str> = kernels.iter().map(|kernel| kernel.text.as_str()).collect();
            let mut beside = Beside::of(&texts, [&plain, &optimized])?;
            beside.cost_bias = bias.as_ref().map_or(Ok(None), |bias| bias.of(&texts))?;
            evaluation.beside = Some(beside);
        }
        if let Some(bias) = &bias {
            let accepted = SampleVerdict::Accepted.name();
            let accepted = rows.iter().filter(|row| row.verdict == accepted);
            let texts: Vec<&str> = accepted.map(|row| row.text.as_str()).collect();
            evaluation.cost_bias = bias.of(&texts)?;
        }
        if let Some(runs) = &runs {
            let check = |text: &str| super::sample::unless_passed(runs.check(text)?);
            evaluation.run(&rows, &check).map_err(|reason| anyhow::anyhow!(reason))?;
        }
        drop(bar);
        output::report(global, &evaluation, || print(&evaluation))?;
        Ok(output::status(evaluation.compiling_unique > 0))
    }
}

/// The kernels at `path`, at least one.
fn kernels(path: &Path) -> anyhow::Result<Vec<Entry>> {
    let mut kernels = Corpus::default();
    corpus::read(&mut kernels, path)?;
    anyhow::ensure!(!kernels.entries.is_empty(), "{} has no accepted kernel", path.display());
    Ok(kernels.entries)
}

/// Say how likely the kernels at `path` are.
fn likelihood(checkpoint: &Checkpoint, path: &Path, global: &Global) -> anyhow::Result<ExitCode> {
    let kernels = kernels(path)?;
    let bar = Bar::new(global);
    let likelihood = sampling::likelihood(checkpoint, &kernels, &bar)?;
    drop(bar);
    output::report(global, &likelihood, || print_likelihood(&likelihood))?;
    Ok(output::status(likelihood.all.kernels > 0))
}

fn print_likelihood(likelihood: &Likelihood) -> anyhow::Result<()> {
    let row = |name: &str, total: &Total, held_back: &str| {
        let Total { kernels, too_long, tokens, bits_per_token, expected_per_token } = *total;
        let [bits, expected] = [bits_per_token, expected_per_token]
            .map(|bits| bits.map_or(String::new(), |bits| format!("{bits:.2}")));
        let [kernels, too_long, tokens] = [kernels, too_long, tokens].map(output::count);
        vec![name.to_owned(), kernels, too_long, tokens, bits, expected, held_back.to_owned()]
    };
    let packages = likelihood.packages.iter().map(|package| {
        let held_back = match package.held_back {
            Some(true) => "yes",
            Some(false) => "no",
            None => "unknown",
        };
        row(&package.package, &package.total, held_back)
    });
    let together =
        [row("all", &likelihood.all, ""), row("held back", &likelihood.held_back, "yes")];
    let header =
        ["package", "kernels", "too long", "tokens", "bits a token", "promised", "held back"];
    output::print_table(&header, packages.chain(together))
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// How far a model of costs is off, with the interval.
fn off(bias: &CostBias) -> String {
    let CostBias { kernels, value, interval: [low, high] } = bias;
    format!("{value:+.2} [{low:.2}, {high:.2}] of {} kernels", output::count(*kernels))
}

fn print(report: &Evaluation) -> anyhow::Result<()> {
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
            "near-duplicates of training kernels",
            report.near_memorised.map_or("unknown".to_owned(), percent),
        ),
        (
            "longest common run: median, 95 %, most",
            match (report.common_run_median, report.common_run_p95, report.common_run_max) {
                (Some(median), Some(p95), Some(most)) => format!("{median}, {p95}, {most}"),
                _ => "unknown".to_owned(),
            },
        ),
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
        ("instructions left by -O2", report.left_by_o2.map_or("unknown".to_owned(), percent)),
        ("force-closed", percent(report.closed)),
        ("milliseconds per sample", format!("{:.1}", report.milliseconds_per_sample)),
        ("compiling per second", format!("{:.1}", report.compiling_per_second)),
    ];
    if let Some(bias) = &report.cost_bias {
        rows.push(("predicted less true log2 of the cost", off(bias)));
    }
    if let Some(beside) = &report.beside {
        let left = beside.left_by_o2.map_or("unknown".to_owned(), percent);
        rows.push(("beside: kernels", output::count(beside.kernels)));
        rows.push(("beside: instructions, median", beside.instructions_median.to_string()));
        rows.push(("beside: instructions left by -O2", left));
        if let Some(bias) = &beside.cost_bias {
            rows.push(("beside: predicted less true log2 of the cost", off(bias)));
        }
    }
    for (space, count) in &report.distinct_vectors {
        let spread = report.spread.get(space).copied().unwrap_or_default();
        rows.push(("distinct vectors, spread", format!("{count}, {spread:.2} in {space}")));
    }
    if let Some(rate) = report.pass_rate {
        rows.push(("pass when they are run", percent(rate)));
    }
    for (outcome, count) in &report.outcomes {
        rows.push(("outcome", format!("{outcome} {count}")));
    }
    for (verdict, count) in &report.verdicts {
        rows.push(("verdict", format!("{verdict} {count}")));
    }
    let rows = rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]);
    output::print_table(&["", "value"], rows)
}
