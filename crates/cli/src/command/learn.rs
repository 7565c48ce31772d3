//! `benchstone learn`: which points of a feature space matter.

use crate::{Global, duration::duration, interrupt, output, progress::Bar, target};
use anyhow::bail;
use dataset::{Code, Language, Programs};
use learn::{Design, Findings, Options, Plan, Report, Strategy, Task};
use std::{path::PathBuf, process::ExitCode, time::Duration};
use synth::{Budget, Exclusion, Judge, Settings};

/// Make the kernels that a heuristic learns most from: query by committee, round after round
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    benchstone learn --task local-size:8,256 --train kernels --rounds 5 --batch 8 --out learned\n  \
    benchstone learn --task cpu-gpu --train kernels --committee mlp:7,knn:7,forest:7 --out learned\n  \
    benchstone learn --task local-size:8,256 --train kernels --strategy passive --out baseline\n  \
    benchstone learn --experiment --task local-size:8,256 --train kernels --test suites --out compared\n\n\
Without --test, a third of the training kernels (drawn by the seed) is kept for testing; these are\n\
never trained on nor steered to. Near-duplicates of a test kernel are never trained on.\n\n\
--experiment compares training on mined kernels alone with adding equally many more of them,\n\
undirected samples, kernels at points chosen at random, and at points chosen by the committee.\n\
Unit of all statistics: the test program. A run that was stopped goes on where it was when the same command is\n\
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
    #[arg(long, default_value_t = 2500)]
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
    /// Compare kinds of training kernels instead of learning
    #[arg(long)]
    experiment: bool,
    /// Experiment: sizes of executions, of which that with the most balanced labels is taken
    #[arg(long, default_value = "2^10,2^12,2^14", value_name = "SIZES")]
    global_sizes: String,
    /// Experiment: mined kernels of a training set
    #[arg(long, default_value_t = 60, value_name = "N")]
    base: usize,
    /// Experiment: kernels added to it
    #[arg(long, default_value_t = 60, value_name = "N")]
    added: usize,
    /// Experiment: training sets of each kind
    #[arg(long, default_value_t = 4, value_name = "N")]
    replicates: u32,
    /// Experiment: models of each kind
    #[arg(long, default_value_t = 20, value_name = "N")]
    seeds: u32,
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
        let test = first(test, self.limit);
        // Near-duplicates of a test kernel would give its answer away.
        let mut exclusion = Exclusion::default();
        test.iter().for_each(|text| exclusion.add_program(text));
        train.retain(|text| !exclusion.holds("", text));
        let train = first(train, self.limit);
        if train.is_empty() || test.is_empty() {
            bail!(
                "no kernel is left to {}",
                if test.is_empty() { "score on" } else { "learn from" }
            );
        }
        let mut search =
            Settings { budget: Budget::Candidates(self.candidates), ..Settings::default() };
        search.proposers.retain(|name| name != "nearest");
        if self.experiment {
            return self.compare(global, &judge, &train, &test, search);
        }
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

    fn compare(
        self,
        global: &Global,
        judge: &Judge,
        train: &[String],
        test: &[String],
        search: Settings,
    ) -> anyhow::Result<ExitCode> {
        let design = Design {
            task: self.task,
            committee: Plan::parse(&self.committee)?,
            global_sizes: device::sizes(&self.global_sizes)?,
            measuring: self.measuring,
            search,
            base: self.base.max(1),
            added: self.added.max(1),
            rounds: self.rounds.max(1),
            replicates: self.replicates.max(1),
            seeds: self.seeds.max(1),
            seed: self.seed,
            out: self.target.out.clone(),
            force: self.target.force,
        };
        let bar = Bar::new(global);
        let stop = interrupt::flag()?;
        let findings = learn::experiment(&design, judge, train, test, &bar, &stop)?;
        drop(bar);
        if global.json {
            output::json(&findings)?;
        } else {
            print_findings(&findings)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn print_findings(findings: &Findings) -> anyhow::Result<()> {
    for (size, labels) in &findings.pilot {
        output::line(&format!("pilot at {size} work-items: {labels:?}"))?;
    }
    output::line(&format!("at {} work-items: mined {:?}", findings.global_size, findings.mined))?;
    output::line(&format!("test {:?}", findings.test))?;
    for (arm, [made, labelled]) in &findings.made {
        output::line(&format!("{arm}: {made} made, {labelled} of them run and were added"))?;
    }
    let rows = findings.arms.iter().map(|arm| {
        let [low, high] = arm.scores.geomean_interval;
        let against = arm.against_mined.as_ref();
        vec![
            arm.arm.clone(),
            output::count(arm.labelled as u64),
            format!("{:.3}", arm.scores.accuracy),
            format!("{:.3} ({low:.3} to {high:.3})", arm.scores.geomean_speedup),
            format!("{:.3}", arm.scores.oracle_share),
            against.map_or(String::new(), |paired| {
                let [low, high] = paired.interval;
                format!("{:.3} ({low:.3} to {high:.3})", paired.geomean)
            }),
            against.map_or(String::new(), |paired| format!("{:.3}", paired.p_value)),
            arm.gap_closed.map_or(String::new(), |gap| format!("{:.0} %", 100.0 * gap)),
        ]
    });
    let header = [
        "added",
        "labelled",
        "accuracy",
        "speedup (95 % interval)",
        "oracle's share",
        "against mined (95 %)",
        "p",
        "gap closed",
    ];
    output::line(&output::table(&header, rows).to_string())?;
    output::line(&format!(
        "speedup over always {}: {}; {}",
        findings.arms.first().map_or("", |arm| arm.scores.baseline.as_str()),
        heuristics::ORIENTATION,
        heuristics::MEAN
    ))
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
