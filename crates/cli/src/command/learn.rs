//! `stampmill learn`: which points of a feature space matter.

use crate::{Global, destination::Output, duration::duration, interrupt, output, progress::Bar};
use anyhow::bail;
use learn::{
    Commands, Design, Findings, Options, Plan, Remote, Report, Split, State, Strategy, Task,
    Waiting,
};
use serde_json::json;
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    str::FromStr,
    time::Duration,
};
use synth::{Budget, Judge, Settings};

/// Make the kernels that a heuristic learns most from: query by committee, round after round
#[derive(clap::Args, Debug)]
#[command(after_help = help!("learn"))]
pub(crate) struct Learn {
    /// cpu-gpu, or local-size:A,B (which group size is faster on the processor; needs no GPU)
    #[arg(long, value_parser = Task::from_str)]
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
    /// active (where votes differ most), expected-error (what is expected to leave the least error) or
    /// passive (at random)
    #[arg(long, default_value = "active", value_parser = Strategy::from_str)]
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
    /// Random seed
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Write the kernels that wait for measurement as a data set for `run` on another machine, and stop
    #[arg(long, value_name = "DIR", conflicts_with = "experiment")]
    export_round: Option<PathBuf>,
    /// Take the costs of the kernels that wait from what `run` made there
    #[arg(long, value_name = "DIR", conflicts_with = "experiment")]
    import_runs: Option<PathBuf>,
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
    target: Output,
}

impl Learn {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let remote = Remote { export: self.export_round.clone(), import: self.import_runs.clone() };
        if !remote.is_used() {
            device::select(&device::devices()?, self.task.devices())?;
        }
        let needed: [&Path; 2] = [&self.target.out, &self.train];
        remote.check(&[&needed, self.test.as_deref().as_slice()].concat())?;
        let judge = Judge::new(features::space(&self.space)?, global.jobs())?;
        let split = Split::read(&self.train, self.test.as_deref(), self.limit, self.seed)?;
        if split.excluded > 0 && !global.is_quiet() {
            eprintln!(
                "{} of {} kernels of --train are near-duplicates of one to test on and left out",
                split.excluded, split.given
            );
        }
        split.check()?;
        // Kernels are made from nothing: mined ones are what is trained on.
        let search = Settings {
            budget: Budget::Candidates(self.candidates),
            proposers: synth::default_proposers(false),
            readable: false,
            ..Settings::default()
        };
        if self.experiment {
            return self.compare(global, &judge, &split, search);
        }
        let options = Options {
            task: self.task.clone(),
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
        let given = (split.train.as_slice(), split.test.as_slice());
        let state = learn::learn(&options, &remote, &judge, given, &bar, &stop)?;
        drop(bar);
        match state {
            State::Learned(report) if report.rounds < self.rounds => {
                bail!("stopped after round {}; repeat the command to resume", report.rounds);
            }
            State::Learned(report) if global.json => output::json(&report)?,
            State::Learned(report) => print(&report)?,
            State::Waiting(waiting) => self.print_waiting(&waiting, global)?,
            state @ State::Imported { .. } if global.json => output::json(&state)?,
            State::Imported { round, labelled } => output::line(&format!(
                "round {round} of {} is labelled, {labelled} kernels to train on; the same command with \
                 --export-round DIR in the place of --import-runs makes the next kernels, without both it \
                 measures them here",
                self.rounds
            ))?,
        }
        Ok(ExitCode::SUCCESS)
    }

    /// What is to be done on the other machine, and then here.
    fn print_waiting(&self, waiting: &Waiting, global: &Global) -> anyhow::Result<()> {
        let arguments = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
        let measured = (self.global_size, self.measuring);
        let Commands { run, resume } = Commands::new(waiting, &self.task, measured, arguments);
        if global.json {
            return output::json(&json!({ "waiting": waiting, "run": run, "go_on": resume }));
        }
        output::line(&format!(
            "round {} of {}: {} kernels wait for measurement, written to {}\n\
             on the machine that has the devices:\n  {run}\nand then, with what it made, here:\n  {resume}",
            waiting.round,
            self.rounds,
            output::count(waiting.kernels),
            waiting.exported.display()
        ))?;
        match waiting.round < self.rounds {
            true => output::line(
                "with --export-round DIR added, that makes the next round's kernels and writes them",
            ),
            false => Ok(()),
        }
    }

    fn compare(
        self,
        global: &Global,
        judge: &Judge,
        split: &Split,
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
        let findings = learn::experiment(&design, judge, &split.train, &split.test, &bar, &stop)?;
        drop(bar);
        output::report(global, &findings, || print_findings(&findings))?;
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
    output::print_table(&header, rows)?;
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
            output::count(round.unlabelled as u64),
            format!("{:.3}", round.accuracy),
            format!("{:.3}", round.geomean_speedup),
            format!("{:.3} to {:.3}", round.geomean_interval[0], round.geomean_interval[1]),
            format!("{:.3}", round.oracle_share),
        ]
    });
    let header = [
        "round",
        "labelled",
        "without a label",
        "accuracy",
        "speedup (geomean)",
        "95 % interval",
        "oracle's share",
    ];
    output::print_table(&header, rows)?;
    let baseline = report.history.last().map_or("", |round| round.baseline.as_str());
    output::line(&format!(
        "speedup: {}; the baseline is always {baseline}, the better choice for most test kernels",
        report.orientation
    ))
}
