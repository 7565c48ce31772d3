//! The experiment: do chosen points help a heuristic more than other programs do?
//!
//! The analysis is fixed here, before anything runs. Of the mined kernels that run a *base* is drawn
//! for every replicate, and to each base equally many labelled kernels are added: none (`mined`), more
//! mined ones (`more-mined`), undirected samples (`undirected`), kernels at points chosen at random
//! (`passive`), and kernels at points that a committee fitted to what is labelled so far disagrees
//! about (`active`). Every training set is learned with several seeds and scored on the same test
//! kernels. The unit is the test program: intervals draw programs, all seeds of one together, and the
//! test of a difference swaps whole programs.

use crate::{
    Error, LearnedRow, Plan, Strategy,
    kernels::{self, described, made_at},
    labels::{Labeler, Task},
    rounds::{LEAST, enough},
    strategy::choose,
};
use dataset::{Builder, Notes, Progress};
use heuristics::{Paired, Scores};
use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde::Serialize;
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use synth::{Corpus, Judge, Search, Settings};

/// What training sets hold beyond their base.
pub const ARMS: [&str; 5] = ["mined", "more-mined", "undirected", "passive", "active"];
/// Arms of which kernels are made.
const MADE: [&str; 3] = ["undirected", "passive", "active"];
/// Kernels of the pilot.
const PILOT: usize = 60;
/// Kernels made for each one that is wanted: not all of them run.
const SPARE: usize = 3;

/// What is compared and how much of it.
#[derive(Clone, Debug)]
pub struct Design {
    /// What is chosen.
    pub task: Task,
    /// Who votes and who is scored: the committee's majority.
    pub committee: Plan,
    /// Work-items of every execution: of these sizes the pilot takes that whose labels are most
    /// balanced.
    pub global_sizes: Vec<u64>,
    /// Time to measure one kernel at one choice.
    pub measuring: Duration,
    /// How kernels are searched for.
    pub search: Settings,
    /// Labelled mined kernels of a base.
    pub base: usize,
    /// Labelled kernels added to it.
    pub added: usize,
    /// Rounds in which they are added.
    pub rounds: u32,
    /// Bases, each with additions of its own.
    pub replicates: u32,
    /// Models fitted for each arm, over all bases.
    pub seeds: u32,
    /// The random seed.
    pub seed: u64,
    /// The data set of schema `learned`.
    pub out: PathBuf,
    /// Replace what is there.
    pub force: bool,
}

/// How an arm did on the test kernels, over all seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Arm {
    /// Its name, of [`ARMS`].
    pub arm: String,
    /// Labelled kernels trained on, the least of all replicates.
    pub labelled: usize,
    /// Of these, with the first choice's label, on average.
    pub first_choice_share: f64,
    /// Its scores.
    pub scores: Scores,
    /// It against the base alone.
    pub against_mined: Option<Paired>,
    /// ln(its speedup / the base's) over ln(the oracle's / the base's): the part of the remaining
    /// gap that it closes.
    pub gap_closed: Option<f64>,
    /// The same of the ends of the interval of `against_mined`.
    pub gap_interval: Option<[f64; 2]>,
}

/// What the experiment came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Findings {
    /// Labels of the pilot at each size of executions.
    pub pilot: BTreeMap<u64, BTreeMap<String, usize>>,
    /// The size that was taken.
    pub global_size: u64,
    /// Mined kernels that run, by label.
    pub mined: BTreeMap<String, usize>,
    /// Test kernels that run, by label.
    pub test: BTreeMap<String, usize>,
    /// Made kernels by arm: made, and of these labelled.
    pub made: BTreeMap<String, [usize; 2]>,
    /// Median proximity of the steered kernels to their points, by arm.
    pub proximity: BTreeMap<String, f64>,
    /// Every arm.
    pub arms: Vec<Arm>,
}

/// Runs the experiment, or resumes one that was stopped.
///
/// # Errors
/// When kernels cannot be judged or run at all, when there are too few, and when it was stopped.
pub fn experiment(
    design: &Design,
    judge: &Judge,
    mined: &[String],
    test: &[String],
    progress: &dyn Progress,
    stop: &Arc<AtomicBool>,
) -> Result<Findings, Error> {
    let settings = (format!("{design:?}"), mined, test);
    let builder = Builder::<LearnedRow>::create(&design.out, design.force, &settings)?;
    let labeler = |global_size| Labeler {
        task: &design.task,
        global_size,
        measuring: design.measuring,
        stop,
    };
    let stopped = || if stop.load(Ordering::Relaxed) { Err(Error::Stopped) } else { Ok(()) };
    progress.begin("experiment", u64::from(design.rounds) + 3);
    for size in &design.global_sizes {
        stopped()?;
        let key = format!("pilot {size}");
        if !builder.has(&key) {
            let some = &mined[..PILOT.min(mined.len())];
            let kernels = described(judge, "pilot", some)?;
            builder.add(&key, labeler(*size).labelled(&builder, &key, kernels)?)?;
        }
    }
    progress.advance(1);
    let mut pilot = BTreeMap::new();
    for size in &design.global_sizes {
        let rows: Vec<LearnedRow> =
            builder.rows_of(&format!("pilot {size}")).collect::<Result<_, _>>()?;
        pilot.insert(*size, task_of(design, judge, rows.iter()).labels());
    }
    let global_size =
        most_balanced(&pilot).ok_or(Error::TooFew { role: "train", found: 0, wanted: LEAST })?;
    let mut rows = Vec::new();
    for (role, texts) in [("train", mined), ("test", test)] {
        stopped()?;
        if !builder.has(role) {
            let kernels = described(judge, role, texts)?;
            builder.add(role, labeler(global_size).labelled(&builder, role, kernels)?)?;
        }
        rows.extend(builder.rows_of(role).collect::<Result<Vec<_>, _>>()?);
        progress.advance(1);
    }
    let found = of_role(&rows, "train").count();
    let wanted = design.base + design.added;
    enough("train", found, wanted.max(LEAST))?;
    enough("test", of_role(&rows, "test").count(), LEAST)?;
    for round in 1..=design.rounds {
        let key = format!("round {round}");
        if !builder.has(&key) {
            let unmeasured = format!("made {round}");
            if !builder.has(&unmeasured) {
                let made = one_round(design, judge, &rows, round, stop)?;
                stopped()?;
                builder.add(&unmeasured, made)?;
            }
            let made = builder.rows_of(&unmeasured).collect::<Result<Vec<_>, _>>()?;
            let mut made = labeler(global_size).labelled(&builder, &key, made)?;
            drop_surplus(&mut made, until(design, round) - until(design, round - 1));
            builder.add(&key, made)?;
        }
        rows.extend(builder.rows_of(&key).collect::<Result<Vec<_>, _>>()?);
        progress.advance(1);
    }
    let findings = analyse(design, judge, &rows, pilot, global_size)?;
    let configuration = serde_json::json!({
        "choices": design.task.choices(),
        "space": judge.space().name(),
        "base": design.base,
        "added": design.added,
        "rounds": design.rounds,
        "replicates": design.replicates,
        "seeds": design.seeds,
        "global_sizes": design.global_sizes,
    });
    let summary = serde_json::to_value(&findings).unwrap_or_default();
    builder
        .finish(rows, Notes { configuration, seed: design.seed, summary, ..Notes::default() })?;
    Ok(findings)
}

/// The size whose rarer label has the greatest share.
fn most_balanced(pilot: &BTreeMap<u64, BTreeMap<String, usize>>) -> Option<u64> {
    let balance = |labels: &BTreeMap<String, usize>| {
        let all: usize = labels.values().sum();
        let least = labels.values().min().copied().unwrap_or(0);
        least as f64 / all.max(1) as f64
    };
    let sizes = pilot.iter().map(|(size, labels)| (*size, balance(labels)));
    sizes.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(size, _)| size)
}

fn of_role<'a>(rows: &'a [LearnedRow], role: &'a str) -> impl Iterator<Item = &'a LearnedRow> {
    rows.iter().filter(move |row| row.role == role && !row.costs.is_empty())
}

/// The mined kernels of a replicate, drawn by its number: a base, and behind it as many as are added.
fn drawn<'a>(design: &Design, rows: &'a [LearnedRow], replicate: u32) -> Vec<&'a LearnedRow> {
    let mut all: Vec<&LearnedRow> = of_role(rows, "train").collect();
    let mut rng = ChaCha8Rng::seed_from_u64(design.seed ^ (u64::from(replicate) << 32));
    all.shuffle(&mut rng);
    all.truncate(design.base + design.added);
    all
}

/// The labelled kernels of an arm and replicate, at most `count`.
fn training<'a>(
    design: &Design,
    rows: &'a [LearnedRow],
    arm: &str,
    replicate: u32,
    count: usize,
) -> Vec<&'a LearnedRow> {
    let all = drawn(design, rows, replicate);
    let (base, more) = all.split_at(design.base);
    let mut kept = base.to_vec();
    if arm == "more-mined" {
        kept.extend(more.iter().take(count));
    }
    let made = rows
        .iter()
        .filter(|row| row.role == arm && row.replicate == replicate && !row.costs.is_empty());
    kept.extend(made.take(count));
    kept
}

/// How many are to be labelled once a round is over.
fn until(design: &Design, round: u32) -> usize {
    (design.added * round as usize).div_ceil(design.rounds.max(1) as usize)
}

/// Of the kernels of every arm and replicate that run, only as many as are wanted stay: those made
/// first.
fn drop_surplus(made: &mut Vec<LearnedRow>, wanted: usize) {
    let mut counts: BTreeMap<(String, u32), usize> = BTreeMap::new();
    made.retain(|row| {
        let count = counts.entry((row.role.clone(), row.replicate)).or_default();
        *count += usize::from(!row.costs.is_empty());
        row.costs.is_empty() || *count <= wanted
    });
}

/// Kernels for every arm and replicate; each has a search of its own, so that they go side by side.
fn one_round(
    design: &Design,
    judge: &Judge,
    rows: &[LearnedRow],
    round: u32,
    stop: &AtomicBool,
) -> Result<Vec<LearnedRow>, Error> {
    let sets: Vec<(u32, usize)> = (0..design.replicates)
        .flat_map(|replicate| (0..MADE.len()).map(move |arm| (replicate, arm)))
        .collect();
    let made: Result<Vec<Vec<LearnedRow>>, Error> = sets
        .into_par_iter()
        .map(|(replicate, arm)| one_set(design, judge, rows, (round, replicate, arm), stop))
        .collect();
    Ok(made?.into_iter().flatten().collect())
}

fn one_set(
    design: &Design,
    judge: &Judge,
    rows: &[LearnedRow],
    (round, replicate, place): (u32, u32, usize),
    stop: &AtomicBool,
) -> Result<Vec<LearnedRow>, Error> {
    let arm = MADE[place];
    let known = training(design, rows, arm, replicate, usize::MAX);
    let count = (until(design, round) - until(design, round - 1)) * SPARE;
    let seed = design
        .seed
        .wrapping_add(u64::from(round) * 1_000_003 + u64::from(replicate) * 1009 + place as u64);
    let new = LearnedRow { role: arm.to_owned(), round, replicate, ..LearnedRow::default() };
    if arm == "undirected" {
        let samples = synth::samples(judge, count, seed)?.into_iter();
        return Ok(samples
            .map(|(text, vector)| {
                let path = dataset::content_hash(text.as_bytes());
                LearnedRow { path, text, vector, ..new.clone() }
            })
            .collect());
    }
    let corpus = Corpus::default();
    let mut search = Search::new(judge, &corpus, design.search.clone())?;
    let task = task_of(design, judge, known.iter().copied());
    let committee = design.committee.fit(&task, seed)?;
    let strategy = if arm == "active" { Strategy::Active } else { Strategy::Passive };
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let complete = |point: &mut [f64]| judge.space().complete(point);
    let points = choose(strategy, &committee, &task, count, &complete, &mut rng)?;
    let mut made = Vec::new();
    for (place, point) in points.into_iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let name = format!("{arm} {replicate} {round} {place}");
        made.extend(made_at(&mut search, &committee, (name, point), new.clone(), stop)?);
    }
    Ok(made)
}

fn task_of<'a>(
    design: &Design,
    judge: &Judge,
    rows: impl Iterator<Item = &'a LearnedRow>,
) -> heuristics::Task {
    kernels::task_of(judge, design.task.choices(), rows)
}

fn analyse(
    design: &Design,
    judge: &Judge,
    rows: &[LearnedRow],
    pilot: BTreeMap<u64, BTreeMap<String, usize>>,
    global_size: u64,
) -> Result<Findings, Error> {
    let test = task_of(design, judge, of_role(rows, "test"));
    // One row for each seed, all of a program in one group.
    let mut all = test.filter(|_| false);
    for seed in 0..design.seeds {
        all.rows.extend(
            test.rows
                .iter()
                .map(|row| heuristics::Row { variant: seed.to_string(), ..row.clone() }),
        );
    }
    let mut arms = Vec::new();
    let mut mined: Option<(Vec<usize>, f64, f64)> = None;
    for arm in ARMS {
        let mut predictions = Vec::new();
        let (mut labelled, mut first, mut models) = (usize::MAX, 0.0, 0.0);
        for seed in 0..design.seeds {
            let known = training(design, rows, arm, seed % design.replicates.max(1), design.added);
            let task = task_of(design, judge, known.iter().copied());
            let committee = design.committee.fit(&task, design.seed ^ u64::from(seed))?;
            predictions.extend(test.rows.iter().map(|row| committee.predict(&row.features)));
            labelled = labelled.min(task.rows.len());
            let share = task.rows.iter().filter(|row| row.label == 0).count() as f64;
            first += share / task.rows.len() as f64;
            models += 1.0;
        }
        let scores = heuristics::score(&all, &predictions, design.seed)?;
        let mut arm = Arm {
            arm: arm.to_owned(),
            labelled,
            first_choice_share: first / models,
            against_mined: None,
            gap_closed: None,
            gap_interval: None,
            scores,
        };
        if let Some((base, speedup, oracle)) = &mined {
            let paired = heuristics::compare(&all, base, &predictions, design.seed)?;
            let gap = (oracle / speedup).ln();
            arm.gap_closed = Some(paired.geomean.ln() / gap);
            arm.gap_interval = Some(paired.interval.map(|end| end.ln() / gap));
            arm.against_mined = Some(paired);
        } else {
            let scores = &arm.scores;
            let oracle = scores.geomean_speedup / scores.oracle_share;
            mined = Some((predictions, scores.geomean_speedup, oracle));
        }
        arms.push(arm);
    }
    let of_arm = |arm: &'static str| rows.iter().filter(move |row| row.role == arm);
    let made = MADE.map(|arm| {
        let labelled = of_arm(arm).filter(|row| !row.costs.is_empty()).count();
        (arm.to_owned(), [of_arm(arm).count(), labelled])
    });
    let proximity = ["passive", "active"].map(|arm| {
        let mut all: Vec<f64> = of_arm(arm).map(|row| row.proximity).collect();
        all.sort_by(f64::total_cmp);
        (arm.to_owned(), all.get(all.len() / 2).copied().unwrap_or(0.0))
    });
    Ok(Findings {
        pilot,
        global_size,
        mined: task_of(design, judge, of_role(rows, "train")).labels(),
        test: test.labels(),
        made: made.into_iter().collect(),
        proximity: proximity.into_iter().collect(),
        arms,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pilot_takes_the_size_with_the_most_balanced_labels() {
        let labels = |one: usize, other: usize| {
            BTreeMap::from([("a".to_owned(), one), ("b".to_owned(), other)])
        };
        let pilot =
            BTreeMap::from([(64, labels(0, 30)), (256, labels(9, 11)), (1024, labels(5, 25))]);
        assert_eq!(most_balanced(&pilot), Some(256));
        assert_eq!(most_balanced(&BTreeMap::new()), None);
    }

    #[test]
    fn every_arm_gets_equally_many_labelled_kernels() {
        let row = |arm: &str, replicate, runs: bool| LearnedRow {
            role: arm.to_owned(),
            replicate,
            costs: if runs { vec![1.0, 2.0] } else { Vec::new() },
            ..LearnedRow::default()
        };
        let mut made: Vec<LearnedRow> = (0..6).map(|at| row("active", 0, at != 1)).collect();
        made.extend([row("active", 1, true), row("passive", 0, true)]);
        drop_surplus(&mut made, 2);
        let runs: Vec<bool> = made.iter().map(|row| !row.costs.is_empty()).collect();
        assert_eq!(runs, [true, false, true, true, true]);
    }
}
