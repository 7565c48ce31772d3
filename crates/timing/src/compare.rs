//! Two versions of the same programs, side by side.

use crate::{Error, Job, Options, Timer, TimingRow, suite::row};
use dataset::{Dataset, Verdict};
use serde::Serialize;
use statistics::geometric_mean;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

/// A change is one where the difference is beyond so many standard errors of sampling.
const SIGMAS: f64 = 1.96;

/// Characters of an output's hash that are shown.
const HASH_SHOWN: usize = 12;

/// Which seconds are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Seconds {
    /// From the first instruction to the last.
    Total,
    /// Less start-up.
    Net,
}

/// What became of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It was timed before and is not now.
    NowFails,
    /// It prints something else, or leaves with another status: the times do not compare.
    OtherOutput,
    /// It is in the first alone.
    Removed,
    /// It takes longer.
    Slower,
    /// It takes less.
    Faster,
    /// It takes as long, or the difference is within the error of sampled times or the intervals of measured ones.
    Unchanged,
    /// It is timed now and was not before.
    NowRuns,
    /// It is in the second alone.
    Added,
    /// It was timed in neither.
    StillFails,
}

impl Outcome {
    /// As it is printed: `now-fails`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Outcome::NowFails => "now-fails",
            Outcome::OtherOutput => "other-output",
            Outcome::Removed => "removed",
            Outcome::Slower => "slower",
            Outcome::Faster => "faster",
            Outcome::Unchanged => "unchanged",
            Outcome::NowRuns => "now-runs",
            Outcome::Added => "added",
            Outcome::StillFails => "still-fails",
        }
    }

    /// Whether it says that something broke, however long anything takes.
    #[must_use]
    pub fn is_broken(self) -> bool {
        matches!(self, Outcome::NowFails | Outcome::OtherOutput | Outcome::Removed)
    }
}

/// One program before and after.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The row's name in both.
    pub name: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Seconds before, where it was timed.
    pub before: Option<f64>,
    /// Seconds after, where it was timed.
    pub after: Option<f64>,
    /// `after / before - 1`, where both were timed and the first took any time: 0.02 is 2 % longer.
    pub change: Option<f64>,
    /// Verdicts before and after; empty where there is no row.
    pub verdicts: [String; 2],
    /// What is known of each beyond its verdict, such as the compiler's message; mostly empty.
    pub details: [String; 2],
}

impl Change {
    /// Whether it broke, or takes longer by more than this share of its time before.
    #[must_use]
    pub fn is_worse_than(&self, share: f64) -> bool {
        let slower = self.outcome == Outcome::Slower;
        self.outcome.is_broken() || slower && self.change.is_none_or(|change| change > share)
    }
}

/// All programs of two data sets.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// What was compared.
    pub seconds: Seconds,
    /// Which source measured both.
    pub source: String,
    /// Of which processor.
    pub cpu: String,
    /// How many met which outcome.
    pub outcomes: BTreeMap<&'static str, u64>,
    /// Geometric mean of `after / before` over programs that were timed in both with the same output: below 1 is
    /// faster. `None` where there is no such program.
    pub mean_ratio: Option<f64>,
    /// What broke first, then the largest change first.
    pub changes: Vec<Change>,
    /// Of two programs: whether one read its input to the end and was given none.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lacks_input: bool,
}

/// Compare what two data sets of `time --suite` hold, by name.
///
/// # Errors
/// When one is no such data set, holds a name twice, or was measured otherwise than the other.
pub fn compare(before: &Path, after: &Path, seconds: Seconds) -> Result<Comparison, Error> {
    let [before, after] = [before, after].map(|path| -> Result<Vec<TimingRow>, Error> {
        Ok(Dataset::open(path)?.rows()?.collect::<Result<_, _>>()?)
    });
    compare_rows(before?, after?, seconds)
}

/// Time two versions of a program on one input, and compare them.
///
/// # Errors
/// As [`crate::time`].
pub fn compare_programs(
    jobs: [&Job; 2],
    options: &Options,
    seconds: Seconds,
) -> Result<Comparison, Error> {
    let timer = Timer::open(options)?;
    let name = match jobs.map(|job| job.name.as_str()) {
        [before, after] if before == after => after.to_owned(),
        [before, after] => format!("{before} -> {after}"),
    };
    let [before, after] = jobs.map(|job| -> Result<TimingRow, Error> {
        let named = Job { name: name.clone(), ..job.clone() };
        Ok(row(&named, timer.time(job)?, options, timer.cpu_name()))
    });
    let rows = [before?, after?];
    let lacks_input = rows.iter().any(|row| jobs[0].lacks_input(row.input_ended));
    let [before, after] = rows.map(|row| vec![row]);
    Ok(Comparison { lacks_input, ..compare_rows(before, after, seconds)? })
}

fn compare_rows(
    before: Vec<TimingRow>,
    after: Vec<TimingRow>,
    seconds: Seconds,
) -> Result<Comparison, Error> {
    let conditions = |row: &TimingRow| (row.source.clone(), row.cpu.clone(), row.sample_rate);
    let timed = || before.iter().chain(&after).filter(|row| row.verdict == Verdict::ACCEPTED);
    let all: BTreeSet<_> = timed().map(conditions).collect();
    if all.len() > 1 {
        let said = |(source, cpu, rate): &(String, String, u64)| {
            format!("{source} on {cpu} at a sampling rate of 1/{rate}")
        };
        let said: Vec<String> = all.iter().map(said).collect();
        let reason = format!(
            "times of {} do not compare; time both with one --source, --cpu and --sample-rate",
            said.join(" and ")
        );
        return Err(Error::Option { option: "AFTER", reason });
    }
    let by_name = |rows: Vec<TimingRow>, option| -> Result<BTreeMap<String, TimingRow>, Error> {
        let mut named = BTreeMap::new();
        for row in rows {
            if let Some(twice) = named.insert(row.name.clone(), row) {
                let reason =
                    format!("`{}` has several rows, and rows are compared by name", twice.name);
                return Err(Error::Option { option, reason });
            }
        }
        Ok(named)
    };
    let (before, after) = (by_name(before, "BEFORE")?, by_name(after, "AFTER")?);
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let mut changes: Vec<Change> = names
        .into_iter()
        .map(|name| change(name, before.get(name), after.get(name), seconds))
        .collect();
    let size = |one: &Change| one.change.map_or(f64::INFINITY, f64::abs);
    changes.sort_by(|a, b| {
        let broken = b.outcome.is_broken().cmp(&a.outcome.is_broken());
        broken.then(size(b).total_cmp(&size(a))).then(a.name.cmp(&b.name))
    });
    let mut outcomes = BTreeMap::new();
    for one in &changes {
        *outcomes.entry(one.outcome.name()).or_insert(0) += 1;
    }
    let compared = changes.iter().filter(|one| one.outcome != Outcome::OtherOutput);
    let ratios: Vec<f64> =
        compared.filter_map(|one| Some(one.change? + 1.0)).filter(|ratio| *ratio > 0.0).collect();
    let mean_ratio = (!ratios.is_empty()).then(|| geometric_mean(ratios));
    let (source, cpu, _) = all.into_iter().next().unwrap_or_default();
    Ok(Comparison { seconds, source, cpu, outcomes, mean_ratio, changes, lacks_input: false })
}

fn change(
    name: &str,
    before: Option<&TimingRow>,
    after: Option<&TimingRow>,
    which: Seconds,
) -> Change {
    let timed = |row: Option<&TimingRow>| {
        row.filter(|row| row.verdict == Verdict::ACCEPTED).and_then(|row| match which {
            Seconds::Total => row.seconds_simulated,
            Seconds::Net => row.seconds_net,
        })
    };
    let (old, new) = (timed(before), timed(after));
    let outcome = match (before, after, old, new) {
        (None, ..) => Outcome::Added,
        (_, None, ..) => Outcome::Removed,
        (_, _, None, None) => Outcome::StillFails,
        (_, _, None, Some(_)) => Outcome::NowRuns,
        (_, _, Some(_), None) => Outcome::NowFails,
        (Some(a), Some(b), ..)
            if (&a.output_hash, a.exit_status) != (&b.output_hash, b.exit_status) =>
        {
            Outcome::OtherOutput
        }
        (Some(a), Some(b), Some(old), Some(new)) if old == new || is_within_error(a, b) => {
            Outcome::Unchanged
        }
        (_, _, Some(old), Some(new)) if new > old => Outcome::Slower,
        _ => Outcome::Faster,
    };
    let change = old.zip(new).filter(|(old, _)| *old > 0.0).map(|(old, new)| new / old - 1.0);
    let verdict = |row: Option<&TimingRow>| row.map_or(String::new(), |row| row.verdict.clone());
    let verdicts = [verdict(before), verdict(after)];
    let detail = |row: &TimingRow| match (outcome, row.exit_status) {
        (Outcome::OtherOutput, Some(status)) => {
            let hash = row.output_hash.get(..HASH_SHOWN).unwrap_or(&row.output_hash);
            format!("ends with status {status}, its output has the hash {hash}")
        }
        _ => row.detail.clone(),
    };
    let details = [before, after].map(|row| row.map_or(String::new(), detail));
    Change { name: name.to_owned(), outcome, before: old, after: new, change, verdicts, details }
}

/// Whether sampling, or the clock, explains the difference.
fn is_within_error(a: &TimingRow, b: &TimingRow) -> bool {
    let is_sampled = [a, b].iter().any(|row| row.sampling_error_cycles.is_some());
    if !is_sampled
        && let (Some(low_a), Some(high_a), Some(low_b), Some(high_b)) =
            (a.seconds_low, a.seconds_high, b.seconds_low, b.seconds_high)
    {
        return low_a <= high_b && low_b <= high_a;
    }
    let errors = [a, b].map(|row| row.sampling_error_cycles.unwrap_or(0) as f64);
    let error = errors[0].hypot(errors[1]);
    match (a.cycles, b.cycles) {
        (Some(a), Some(b)) => error > 0.0 && a.abs_diff(b) as f64 <= SIGMAS * error,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed(name: &str, seconds: f64) -> TimingRow {
        TimingRow {
            name: name.into(),
            verdict: Verdict::ACCEPTED.into(),
            source: "qemu".into(),
            cpu: "skylake".into(),
            sample_rate: 1,
            cycles: Some((seconds * 1e9) as u64),
            seconds_simulated: Some(seconds),
            seconds_net: Some(seconds - 0.25),
            ..TimingRow::default()
        }
    }

    fn failed(name: &str) -> TimingRow {
        TimingRow { name: name.into(), verdict: "crashes".into(), ..TimingRow::default() }
    }

    fn outcomes(before: &[TimingRow], after: &[TimingRow]) -> Vec<(String, Outcome)> {
        let found =
            compare_rows(before.to_vec(), after.to_vec(), Seconds::Total).expect("comparable");
        found.changes.into_iter().map(|one| (one.name, one.outcome)).collect()
    }

    #[test]
    fn what_broke_stands_first_then_the_largest_change() {
        let before = [
            timed("a", 1.0),
            timed("b", 1.0),
            timed("c", 1.0),
            timed("d", 1.0),
            timed("e", 1.0),
            failed("f"),
        ];
        let after = [
            timed("a", 1.0),
            timed("b", 1.1),
            timed("c", 0.5),
            failed("d"),
            timed("f", 1.0),
            timed("g", 1.0),
        ];
        let wanted = [
            ("d", Outcome::NowFails),
            ("e", Outcome::Removed),
            ("f", Outcome::NowRuns),
            ("g", Outcome::Added),
            ("c", Outcome::Faster),
            ("b", Outcome::Slower),
            ("a", Outcome::Unchanged),
        ];
        let wanted: Vec<(String, Outcome)> =
            wanted.map(|(name, outcome)| (name.to_owned(), outcome)).into();
        assert_eq!(outcomes(&before, &after), wanted);
        assert_eq!(outcomes(&[failed("a")], &[failed("a")])[0].1, Outcome::StillFails);
    }

    #[test]
    fn the_mean_is_of_what_was_timed_twice_and_prints_the_same() {
        let other = TimingRow { output_hash: "b".into(), ..timed("c", 9.0) };
        let before = vec![timed("a", 1.0), timed("b", 1.0), timed("c", 1.0), failed("d")];
        let after = vec![timed("a", 2.0), timed("b", 2.0), other, timed("d", 1.0)];
        let found = compare_rows(before, after, Seconds::Total).expect("comparable");
        assert!(found.mean_ratio.is_some_and(|mean| (mean - 2.0).abs() < 1e-12), "{found:?}");
        assert_eq!(found.outcomes["other-output"], 1);
        let none = compare_rows(vec![failed("a")], vec![timed("a", 1.0)], Seconds::Total);
        assert_eq!(none.expect("comparable").mean_ratio, None);
        let net = compare_rows(vec![timed("a", 0.5)], vec![timed("a", 0.75)], Seconds::Net);
        assert_eq!(net.expect("comparable").changes[0].change, Some(1.0));
    }

    #[test]
    fn a_limit_is_exceeded_by_what_is_slower_than_it_and_by_what_broke() {
        let worse = |after: TimingRow, share| {
            let found = compare_rows(vec![timed("a", 1.0)], vec![after], Seconds::Total);
            found.expect("comparable").changes[0].is_worse_than(share)
        };
        assert!(worse(timed("a", 1.03), 0.02) && !worse(timed("a", 1.01), 0.02));
        assert!(!worse(timed("a", 0.5), 0.02));
        assert!(worse(failed("a"), 10.0));
        assert!(worse(TimingRow { exit_status: Some(1), ..timed("a", 1.0) }, 10.0));
    }

    #[test]
    fn differences_within_the_error_are_none() {
        let sampled = |seconds, error| TimingRow {
            sampling_error_cycles: Some(error),
            ..timed("a", seconds)
        };
        assert_eq!(
            outcomes(&[sampled(1.0, 5_000_000)], &[sampled(1.01, 5_000_000)])[0].1,
            Outcome::Unchanged
        );
        assert_eq!(
            outcomes(&[sampled(1.0, 1_000_000)], &[sampled(1.01, 1_000_000)])[0].1,
            Outcome::Slower
        );
        let measured = |low, seconds: f64, high| TimingRow {
            seconds_low: Some(low),
            seconds_high: Some(high),
            ..timed("a", seconds)
        };
        assert_eq!(
            outcomes(&[measured(0.9, 1.0, 1.2)], &[measured(1.1, 1.15, 1.3)])[0].1,
            Outcome::Unchanged
        );
        assert_eq!(
            outcomes(&[measured(0.9, 1.0, 1.05)], &[measured(1.1, 1.15, 1.3)])[0].1,
            Outcome::Slower
        );
    }

    #[test]
    fn times_of_two_processors_do_not_compare_nor_rows_of_one_name() {
        let other = TimingRow { cpu: "zen4".into(), ..timed("a", 1.0) };
        let refused = compare_rows(vec![timed("a", 1.0)], vec![other], Seconds::Total);
        let said = refused.expect_err("two processors").to_string();
        let both =
            "qemu on skylake at a sampling rate of 1/1 and qemu on zen4 at a sampling rate of 1/1";
        assert!(said.contains(both), "{said}");
        let twice =
            compare_rows(vec![timed("a", 1.0), timed("a", 2.0)], Vec::new(), Seconds::Total);
        assert!(twice.expect_err("one name").to_string().contains("`a` has several rows"));
    }
}
