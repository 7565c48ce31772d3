//! The loop: train, ask, make, label, add.

use crate::{
    Error, LearnedRow, Plan, Strategy,
    kernels::{self, described, made_at},
    labels::{Labeler, Task},
    remote::{Remote, Waiting, import, is_begun, parts, unmeasured, write_kernels},
    strategy::choose,
};
use dataset::{Builder, Notes, Progress};
use heuristics::Scores;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use synth::{Corpus, Judge, Search, Settings};

/// What is to be learned and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// What is chosen.
    pub task: Task,
    /// Who votes.
    pub committee: Plan,
    /// How points are chosen.
    pub strategy: Strategy,
    /// Rounds.
    pub rounds: u32,
    /// Kernels made in a round.
    pub batch: usize,
    /// Work-items of every execution.
    pub global_size: u64,
    /// Time to measure one kernel at one choice.
    pub measuring: Duration,
    /// How kernels are searched for; only those that run are of use.
    pub search: Settings,
    /// The random seed.
    pub seed: u64,
    /// The data set of schema `learned`.
    pub out: PathBuf,
    /// Replace what is there.
    pub force: bool,
}

/// After some round.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Round {
    /// 0: before anything was made.
    pub round: u32,
    /// Labelled kernels trained on.
    pub labelled: usize,
    /// Kernels that were given or made to be trained on and got no label: they do not run, or not
    /// at every choice.
    pub unlabelled: usize,
    /// Share of the test kernels for which the better choice is predicted.
    pub accuracy: f64,
    /// Geometric-mean speedup over the better static choice on the test kernels.
    pub geomean_speedup: f64,
    /// Its 95 % bootstrap interval.
    pub geomean_interval: [f64; 2],
    /// Share of the oracle's.
    pub oracle_share: f64,
    /// The static choice: the one most often better on the test kernels.
    pub baseline: String,
}

/// What learning came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Rounds made.
    pub rounds: u32,
    /// Labelled kernels trained on in the end.
    pub labelled: usize,
    /// As in the last of `history`.
    pub accuracy: f64,
    /// As in the last of `history`.
    pub geomean_speedup: f64,
    /// As in the last of `history`.
    pub geomean_interval: [f64; 2],
    /// How `geomean_speedup` is oriented.
    pub orientation: &'static str,
    /// After every round.
    pub history: Vec<Round>,
}

/// How far learning came.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// All rounds, or as many as there were when the stop flag was raised.
    Learned(Report),
    /// Kernels wait for their measurement on another machine.
    Waiting(Waiting),
    /// What was imported is labelled, and the next kernels are to be made.
    Imported {
        /// The last round that is labelled; 0: the kernels to begin with.
        round: u32,
        /// Labelled kernels to train on.
        labelled: usize,
    },
}

/// Labelled rows needed to begin with.
pub(crate) const LEAST: usize = 8;

/// Learn, round after round, until all are made, kernels are to be measured elsewhere or `stop` is
/// raised. A run that ended before is resumed: the kernels of every round, unmeasured and
/// measured, are parts of the unfinished data set.
///
/// # Errors
/// When kernels cannot be judged or run at all, there are too few to begin with, or what is imported
/// is not what waits.
pub fn learn(
    options: &Options,
    remote: &Remote,
    judge: &Judge,
    (train, test): (&[String], &[String]),
    progress: &dyn Progress,
    stop: &Arc<AtomicBool>,
) -> Result<State, Error> {
    if let Some(out) = remote.export.as_ref().filter(|out| out.exists() && !options.force) {
        return Err(Error::Exported(out.clone()));
    }
    if remote.import.is_some() && !is_begun(&options.out) {
        return Err(Error::NothingWaits(options.out.clone()));
    }
    if remote.export.is_none() && remote.import.is_none() {
        // Better now than when all of them were measured.
        for (role, given) in [("train", train), ("test", test)] {
            enough(role, given.len(), LEAST)?;
        }
    }
    // Where costs come from and what is replaced is no part of what is learned.
    let settings = (format!("{:?}", Options { force: false, ..options.clone() }), train, test);
    let builder = Builder::<LearnedRow>::create(&options.out, options.force, &settings)?;
    if let Some(runs) = &remote.import {
        import(options, &builder, runs)?;
    }
    let Options { task, global_size, measuring, .. } = options;
    let labeler = Labeler { task, global_size: *global_size, measuring: *measuring, stop };
    let corpus = Corpus::default();
    progress.begin("rounds", u64::from(options.rounds));
    let mut rows = Vec::new();
    let mut history: Vec<Round> = Vec::new();
    'rounds: for round in 0..=options.rounds {
        let mut waiting = Vec::new();
        for part in parts(round).iter().filter(|part| !builder.has(part)) {
            let made = unmeasured(part);
            if !builder.has(&made) {
                if remote.import.is_some() && remote.export.is_none() {
                    let (round, labelled) =
                        (round.saturating_sub(1), labelled(&rows, "train").count());
                    return Ok(State::Imported { round, labelled });
                }
                let kernels = match part.as_str() {
                    "train" => described(judge, part, train)?,
                    "test" => described(judge, part, test)?,
                    _ if stop.load(Ordering::Relaxed) => break 'rounds,
                    _ => one_round(options, judge, &corpus, &rows, round, stop)?,
                };
                // What a search found that was stopped is not all.
                if stop.load(Ordering::Relaxed) {
                    break 'rounds;
                }
                builder.add(&made, kernels)?;
            }
            waiting.extend(builder.rows_of(&made).collect::<Result<Vec<_>, _>>()?);
        }
        if let Some(exported) = remote.export.as_ref().filter(|_| !waiting.is_empty()) {
            let kernels = write_kernels(&waiting, exported, options.force)?;
            return Ok(State::Waiting(Waiting { round, kernels, exported: exported.clone() }));
        }
        for part in parts(round) {
            if !builder.has(&part) {
                let kernels = builder.rows_of(&unmeasured(&part)).collect::<Result<_, _>>()?;
                builder.add(&part, labeler.labelled(&builder, &part, kernels)?)?;
            }
            rows.extend(builder.rows_of(&part).collect::<Result<Vec<_>, _>>()?);
        }
        for role in ["train", "test"] {
            let found = labelled(&rows, role).count();
            enough(role, found, LEAST)?;
        }
        history.push(score(options, judge, &rows, round)?);
        progress.advance(u64::from(round > 0));
    }
    let last = history.last().ok_or(Error::Stopped)?.clone();
    let report = Report {
        rounds: last.round,
        labelled: last.labelled,
        accuracy: last.accuracy,
        geomean_speedup: last.geomean_speedup,
        geomean_interval: last.geomean_interval,
        orientation: heuristics::ORIENTATION,
        history,
    };
    if last.round == options.rounds {
        let summary = serde_json::to_value(&report).unwrap_or_default();
        let configuration = serde_json::json!({
            "choices": options.task.choices(),
            "space": judge.space().name(),
            "strategy": options.strategy,
            "batch": options.batch,
            "global_size": options.global_size,
        });
        let notes = Notes { configuration, seed: options.seed, summary, ..Notes::default() };
        builder.finish(rows, notes)?;
    }
    Ok(State::Learned(report))
}

/// # Errors
/// When there are too few kernels of this role to begin with.
pub(crate) fn enough(role: &'static str, found: usize, wanted: usize) -> Result<(), Error> {
    if found < wanted { Err(Error::TooFew { role, found, wanted }) } else { Ok(()) }
}

fn labelled<'a>(
    rows: &'a [LearnedRow],
    role: &'a str,
) -> impl Iterator<Item = &'a LearnedRow> + 'a {
    let is_test = role == "test";
    rows.iter().filter(move |row| (row.role == "test") == is_test && !row.costs.is_empty())
}

fn task_of(options: &Options, judge: &Judge, rows: &[LearnedRow], role: &str) -> heuristics::Task {
    kernels::task_of(judge, options.task.choices(), labelled(rows, role))
}

fn score(
    options: &Options,
    judge: &Judge,
    rows: &[LearnedRow],
    round: u32,
) -> Result<Round, Error> {
    let train = task_of(options, judge, rows, "train");
    let test = task_of(options, judge, rows, "test");
    let committee = options.committee.fit(&train, options.seed)?;
    let predictions: Vec<usize> =
        test.rows.iter().map(|row| committee.predict(&row.features)).collect();
    let scores: Scores = heuristics::score(&test, &predictions, options.seed)?;
    Ok(Round {
        round,
        labelled: train.rows.len(),
        unlabelled: rows.iter().filter(|row| row.role != "test" && row.costs.is_empty()).count(),
        accuracy: scores.accuracy,
        geomean_speedup: scores.geomean_speedup,
        geomean_interval: scores.geomean_interval,
        oracle_share: scores.oracle_share,
        baseline: scores.baseline,
    })
}

/// The kernels of a round, at the points that its committee asks for.
fn one_round(
    options: &Options,
    judge: &Judge,
    corpus: &Corpus,
    rows: &[LearnedRow],
    round: u32,
    stop: &AtomicBool,
) -> Result<Vec<LearnedRow>, Error> {
    let train = task_of(options, judge, rows, "train");
    let seed = options.seed.wrapping_add(u64::from(round));
    let committee = options.committee.fit(&train, seed)?;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    // Test kernels are for testing: nothing is learned of where they lie.
    let complete = |point: &mut [f64]| judge.space().complete(point);
    let points = choose(options.strategy, &committee, &train, options.batch, &complete, &mut rng)?;
    let settings = Settings { seed, ..options.search.clone() };
    let mut search = Search::new(judge, corpus, settings)?;
    let mut made = Vec::new();
    for (place, point) in points.into_iter().enumerate() {
        let at = (format!("round {round}, {place}"), point);
        let like = LearnedRow { role: "round".to_owned(), round, ..LearnedRow::default() };
        made.extend(made_at(&mut search, &committee, at, like, stop)?);
    }
    Ok(made)
}
