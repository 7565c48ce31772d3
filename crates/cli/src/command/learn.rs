//! `benchstone learn`: which points of a feature space matter.

use crate::{Global, duration::duration, interrupt, output, progress::Bar, target};
use anyhow::bail;
use dataset::{Code, Language, Programs};
use learn::{Options, Plan, Report, Strategy, Task};
use std::{path::PathBuf, process::ExitCode, time::Duration};
use synth::{Budget, Judge, Settings};

/// Make the kernels that a heuristic learns most from: query by committee, round after round
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    benchstone learn --task local-size:8,256 --train kernels --rounds 5 --batch 8 --out learned\n  \
    benchstone learn --task cpu-gpu --train kernels --committee mlp:7,knn:7,forest:7 --out learned\n  \
    benchstone learn --task local-size:8,256 --train kernels --strategy passive --out baseline\n\n\
Without --test, a third of the training kernels (drawn by the seed) is kept for testing; these are\n\
never trained on nor steered to. A run that was stopped goes on where it was when the same command is\n\
given again.")]
pub(crate) struct Learn {
    /// cpu-gpu, or local-size:A,B (which group size is faster on the processor; needs no GPU)
    #[arg(long, value_parser = task)]
    task: Task,
    /// Kernels to begin with: a data set, folder or file of programs
    #[arg(long, value_name = "DATASET")]
    train: PathBuf,
    /// Kernels to score on
    #[arg(long, value_name = "DATASET")]
    test: Option<PathBuf>,
    /// At most so many kernels of --train and of --test
    #[arg(long, default_value_t = 300, value_name = "N")]
    limit: usize,
    /// The feature space
    #[arg(long, default_value = "grewe")]
    space: String,
    /// Who votes: METHOD:COUNT with commas
    #[arg(long, default_value = "mlp:7,knn:7,forest:7")]
    committee: String,
    /// active (where votes differ most) or passive (at random)
    #[arg(long, default_value = "active", value_parser = strategy)]
    strategy: Strategy,
    /// Rounds
    #[arg(long, default_value_t = 10)]
    rounds: u32,
    /// Kernels made in a round
    #[arg(long, default_value_t = 8)]
    batch: usize,
    /// Candidates of the search for each kernel
    #[arg(long, default_value_t = 2000)]
    candidates: u64,
    /// Work-items of every execution
    #[arg(long, default_value_t = 1 << 14)]
    global_size: u64,
    /// Time to measure one kernel at one choice
    #[arg(long, default_value = "50ms", value_parser = duration)]
    measuring: Duration,
    /// Seed of all chance
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    target: target::Target,
}

impl Learn {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let devices = device::devices()?;
        let wanted = if self.task == Task::CpuGpu { "cpu,gpu" } else { "cpu" };
        device::select(&devices, wanted)?;
        let judge = Judge::new(features::space(&self.space)?, global.jobs())?;
        let mut train = texts(&self.train, self.seed)?;
        let test = match &self.test {
            Some(path) => texts(path, self.seed)?,
            None => train.split_off(train.len() - train.len() / 3),
        };
        let (train, test) = (first(train, self.limit), first(test, self.limit));
        if test.iter().any(|text| train.contains(text)) {
            bail!("a kernel stands in both --train and --test: nothing learned could be scored");
        }
        let mut search =
            Settings { budget: Budget::Candidates(self.candidates), ..Settings::default() };
        search.proposers.retain(|name| name != "nearest");
        let options = Options {
            task: self.task,
            committee: Plan::parse(&self.committee)?,
            strategy: self.strategy,
            rounds: self.rounds,
            batch: self.batch,
            global_size: self.global_size,
            measuring: self.measuring,
            search,
            seed: self.seed,
            out: self.target.out.clone(),
            force: self.target.force,
        };
        let bar = Bar::new(global);
        let stop = interrupt::flag()?;
        let report = learn::learn(&options, &judge, &train, &test, &bar, &stop)?;
        drop(bar);
        if report.rounds < self.rounds {
            bail!("stopped after round {}; the same command goes on from there", report.rounds);
        }
        if global.json {
            output::json(&report)?;
        } else {
            print(&report)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn print(report: &Report) -> anyhow::Result<()> {
    let rows = report.history.iter().map(|round| {
        vec![
            round.round.to_string(),
            output::count(round.labelled as u64),
            format!("{:.3}", round.accuracy),
            format!("{:.3}", round.geomean_speedup),
            format!("{:.3} to {:.3}", round.geomean_interval[0], round.geomean_interval[1]),
            format!("{:.3}", round.oracle_share),
        ]
    });
    let header =
        ["round", "labelled", "accuracy", "speedup (geomean)", "95 % interval", "oracle's share"];
    output::line(&output::table(&header, rows).to_string())?;
    output::line(&format!("speedup: {}", report.orientation))
}

/// The kernels at `path`, in an order drawn by the seed.
fn texts(path: &std::path::Path, seed: u64) -> anyhow::Result<Vec<String>> {
    let mut texts = Vec::new();
    for program in Programs::open(path)?.iter()? {
        let program = program?;
        if let (Language::OpenCl, Code::Text(text)) = (program.language, program.code) {
            texts.push(text);
        }
    }
    texts.sort_by_cached_key(|text| dataset::content_hash(format!("{seed} {text}").as_bytes()));
    texts.dedup();
    Ok(texts)
}

fn first(mut texts: Vec<String>, limit: usize) -> Vec<String> {
    texts.truncate(limit);
    texts
}

fn task(text: &str) -> Result<Task, String> {
    let wrong = || format!("`{text}` is no task: write cpu-gpu, or local-size:8,256");
    if text == "cpu-gpu" {
        return Ok(Task::CpuGpu);
    }
    let sizes = text.strip_prefix("local-size:").ok_or_else(wrong)?;
    let (one, other) = sizes.split_once(',').ok_or_else(wrong)?;
    match (one.parse(), other.parse()) {
        (Ok(one), Ok(other)) if one != other && one > 0 && other > 0 => {
            Ok(Task::LocalSize(one, other))
        }
        _ => Err(wrong()),
    }
}

fn strategy(text: &str) -> Result<Strategy, String> {
    match text {
        "active" => Ok(Strategy::Active),
        "passive" => Ok(Strategy::Passive),
        _ => Err(format!("`{text}` is no strategy: active or passive")),
    }
}
