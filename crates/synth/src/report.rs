//! What a run over many targets came to.

use rows::SteeredHead;
use serde::Serialize;
use statistics::median;
use std::collections::BTreeMap;

/// Of some targets.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Share {
    /// Targets.
    pub targets: u64,
    /// Of these, hit exactly by a kernel that was made.
    pub exact: u64,
    /// Median proximity of the nearest kernel that was made.
    pub proximity_median: f64,
}

/// In `detail` of the last kernel of a target: how many of how many were found, and why.
pub(crate) const ASKED_FOR: &str = " kernels asked for";

/// A target for which fewer kernels were found than were asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Fewer {
    /// Kernels that were found.
    pub kernels: u64,
    /// Why there are no more.
    pub why: String,
}

/// What became of candidates whose one edit was known to lead away from the target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Predictions {
    /// Those that were not judged.
    pub skipped: u64,
    /// Those that were judged all the same, one of sixteen.
    pub checked: u64,
    /// Of these, those that have another vector than was predicted, or none.
    pub wrong: u64,
    /// The share of the wrong among the checked; 0 where none was checked.
    pub wrong_share: f64,
}

impl Predictions {
    /// Of the first row of each target; `None` where nothing was predicted.
    fn of(first: &[&SteeredHead]) -> Option<Predictions> {
        let sum = |count: fn(&SteeredHead) -> u64| first.iter().map(|row| count(row)).sum::<u64>();
        let [skipped, checked, wrong] =
            [sum(|row| row.skipped), sum(|row| row.checked), sum(|row| row.mispredicted)];
        let wrong_share = if checked > 0 { wrong as f64 / checked as f64 } else { 0.0 };
        let predicted = Predictions { skipped, checked, wrong, wrong_share };
        (skipped + checked > 0).then_some(predicted)
    }
}

/// What `steer` prints.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// Targets, impossible ones included.
    pub targets: u64,
    /// Targets hit exactly by a kernel that was made.
    pub exact: u64,
    /// Targets at which a mined kernel lies already; not counted in `exact` unless another was made.
    pub exact_mined: u64,
    /// Targets that no program can have.
    pub impossible: u64,
    /// Possible targets that no kernel was found for.
    pub nothing_found: u64,
    /// Median over the possible targets of 1 − distance / norm.
    pub proximity_median: f64,
    /// The same of the nearest mined kernels.
    pub mined_proximity_median: f64,
    /// Kernels asked for, for each target.
    pub wanted: u64,
    /// Kernels that were found, for all targets.
    pub kernels: u64,
    /// Possible targets for which fewer were found than were asked for.
    pub fewer: BTreeMap<String, Fewer>,
    /// Mined kernels to start from.
    pub seeds: u64,
    /// Mined kernels that there was no time to describe, and that nothing was started from for that.
    pub seeds_left: u64,
    /// Of these, those that the target with the fewest, and the one with the most, could start from: what would give a target
    /// away is no seed for it.
    pub seeds_per_target: [u64; 2],
    /// Mined kernels that are excluded: they might give an answer away.
    pub kept_out: u64,
    /// Candidates judged.
    pub candidates: u64,
    /// Of these, those that were judged before for the same target, under other names.
    #[serde(skip_serializing_if = "is_none_of")]
    pub known: u64,
    /// Candidates beside these whose one edit was known to lead away, where there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicted: Option<Predictions>,
    /// Seconds of all searches, of the clock or of processors as the budget is; 0 where it counts
    /// candidates.
    pub search_seconds: f64,
    /// The constraint that each impossible target breaks.
    pub constraints: BTreeMap<String, String>,
    /// By the instructions of the target, where the space counts them.
    pub by_size: BTreeMap<String, Share>,
    /// By suite: the first part of the target's name.
    pub by_suite: BTreeMap<String, Share>,
    /// With `--natural`, medians over the kernels: bits when they were found, bits as they are written, and these per token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bits_median: Option<[f64; 3]>,
    /// With `--natural` and a checkpoint that has a discriminator, medians over the kernels: the probability that a person wrote them
    /// as they were found, and as they are written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub human_median: Option<[f64; 2]>,
}

impl Report {
    /// Of the rows of targets, for each of which so many kernels were asked for; `sizes` are the targets' instructions by name.
    #[must_use]
    pub fn of(rows: &[SteeredHead], wanted: u64, sizes: &BTreeMap<String, f64>) -> Report {
        let first: Vec<&SteeredHead> = rows.iter().filter(|row| row.rank == 1).collect();
        let possible: Vec<&SteeredHead> =
            first.iter().copied().filter(|row| row.verdict != "impossible").collect();
        let mut by_size: BTreeMap<String, Vec<&SteeredHead>> = BTreeMap::new();
        let mut by_suite: BTreeMap<String, Vec<&SteeredHead>> = BTreeMap::new();
        for row in &possible {
            if let Some(size) = sizes.get(&row.target) {
                let group = match *size {
                    size if size < 50.0 => "1: under 50 instructions",
                    size if size < 100.0 => "2: 50 to 99",
                    size if size < 200.0 => "3: 100 to 199",
                    _ => "4: 200 and more",
                };
                by_size.entry(group.to_owned()).or_default().push(row);
            }
            if let Some((suite, _)) = row.target.split_once('/') {
                by_suite.entry(suite.to_owned()).or_default().push(row);
            }
        }
        let shares = |groups: BTreeMap<String, Vec<&SteeredHead>>| {
            groups.into_iter().map(|(name, rows)| (name, share(&rows))).collect()
        };
        let whole = share(&possible);
        Report {
            targets: first.len() as u64,
            exact: whole.exact,
            exact_mined: possible.iter().filter(|row| row.mined_exact > 0).count() as u64,
            impossible: (first.len() - possible.len()) as u64,
            nothing_found: possible.iter().filter(|row| is_nothing(row)).count() as u64,
            proximity_median: whole.proximity_median,
            wanted,
            kernels: rows.iter().filter(|row| is_kernel(row)).count() as u64,
            fewer: fewer(rows, wanted),
            mined_proximity_median: median(possible.iter().map(|row| row.mined_proximity))
                .unwrap_or(0.0),
            seeds_per_target: {
                let seeds = || possible.iter().map(|row| u64::from(row.seeds));
                [seeds().min().unwrap_or(0), seeds().max().unwrap_or(0)]
            },
            candidates: first.iter().map(|row| row.candidates).sum(),
            known: first.iter().map(|row| row.known).sum(),
            predicted: Predictions::of(&first),
            search_seconds: first.iter().map(|row| row.seconds).sum(),
            constraints: first
                .iter()
                .filter(|row| row.verdict == rows::SteeredVerdict::Impossible.name())
                .map(|row| (row.target.clone(), row.detail.clone()))
                .collect(),
            by_size: shares(by_size),
            by_suite: shares(by_suite),
            bits_median: bits_median(rows),
            human_median: human_median(rows),
            ..Report::default()
        }
    }
}

fn is_none_of(count: &u64) -> bool {
    *count == 0
}

fn is_kernel(row: &SteeredHead) -> bool {
    row.verdict == rows::SteeredVerdict::Accepted.name()
}

/// The targets with fewer kernels than were asked for.
fn fewer(rows: &[SteeredHead], wanted: u64) -> BTreeMap<String, Fewer> {
    let mut fewer: BTreeMap<String, Fewer> = BTreeMap::new();
    let possible = rows.iter().filter(|row| is_kernel(row) || is_nothing(row));
    for row in possible {
        let of_target = fewer.entry(row.target.clone()).or_default();
        of_target.kernels += u64::from(is_kernel(row));
        let why = match is_nothing(row) {
            true => Some(row.detail.as_str()),
            false => row.detail.split("; ").find(|said| said.contains(ASKED_FOR)),
        };
        if let Some(why) = why {
            why.clone_into(&mut of_target.why);
        }
    }
    fewer.retain(|_, of_target| of_target.kernels < wanted);
    fewer
}

fn is_nothing(row: &SteeredHead) -> bool {
    row.verdict == rows::SteeredVerdict::NothingFound.name()
}

fn bits_median(rows: &[SteeredHead]) -> Option<[f64; 3]> {
    let of = |bits: fn(&SteeredHead) -> Option<f64>| median(rows.iter().filter_map(bits));
    Some([of(|row| row.bits_before)?, of(|row| row.bits)?, of(|row| row.bits_per_token)?])
}

fn human_median(rows: &[SteeredHead]) -> Option<[f64; 2]> {
    let of = |human: fn(&SteeredHead) -> Option<f64>| median(rows.iter().filter_map(human));
    Some([of(|row| row.human_before)?, of(|row| row.human)?])
}

fn share(rows: &[&SteeredHead]) -> Share {
    Share {
        targets: rows.len() as u64,
        exact: rows.iter().filter(|row| row.exact).count() as u64,
        proximity_median: median(rows.iter().map(|row| row.proximity)).unwrap_or(0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_discriminator_says_is_summed_up_where_there_is_one() {
        let row = |before, after| SteeredHead {
            human_before: before,
            human: after,
            ..SteeredHead::default()
        };
        let of = |rows: &[SteeredHead]| Report::of(rows, 1, &BTreeMap::new()).human_median;
        assert_eq!(of(&[row(None, None)]), None);
        let rows = [
            row(Some(0.1), Some(0.5)),
            row(None, None),
            row(Some(0.2), Some(0.4)),
            row(Some(0.3), Some(0.9)),
        ];
        assert_eq!(of(&rows), Some([0.2, 0.5]));
    }

    #[test]
    fn predictions_are_summed_over_targets_and_left_out_where_there_are_none() {
        let row = |rank: u32, known: u64, [skipped, checked, mispredicted]: [u64; 3]| SteeredHead {
            rank,
            known,
            skipped,
            checked,
            mispredicted,
            ..SteeredHead::default()
        };
        let rows = [row(1, 3, [30, 3, 1]), row(2, 3, [30, 3, 1]), row(1, 4, [15, 1, 0])];
        let report = Report::of(&rows, 2, &BTreeMap::new());
        let predicted = Predictions { skipped: 45, checked: 4, wrong: 1, wrong_share: 0.25 };
        assert_eq!((report.known, report.predicted), (7, Some(predicted)));
        let json = |rows: &[SteeredHead]| {
            serde_json::to_value(Report::of(rows, 1, &BTreeMap::new())).expect("plain data")
        };
        assert_eq!(json(&rows)["predicted"]["wrong_share"], 0.25);
        let none = json(&[row(1, 0, [0; 3])]);
        assert!(none.get("known").is_none() && none.get("predicted").is_none(), "{none}");
    }

    #[test]
    fn targets_with_fewer_kernels_than_asked_for_say_why() {
        let row = |target: &str, verdict: &str, detail: &str| SteeredHead {
            target: target.to_owned(),
            verdict: verdict.to_owned(),
            detail: detail.to_owned(),
            ..SteeredHead::default()
        };
        let why = "2 of 3 kernels asked for (of others 1 race): more time";
        let rows = [
            row("two", "accepted", ""),
            row("two", "accepted", &format!("has Load 3 for 2; {why}")),
            row("three", "accepted", ""),
            row("three", "accepted", ""),
            row("three", "accepted", ""),
            row("none", "nothing-found", "none of 5; none"),
            row("never", "impossible", "Ret = 0"),
        ];
        let report = Report::of(&rows, 3, &BTreeMap::new());
        assert_eq!((report.wanted, report.kernels), (3, 5));
        let fewer = |kernels, why: &str| Fewer { kernels, why: why.to_owned() };
        let expected = [("none", fewer(0, "none of 5; none")), ("two", fewer(2, why))];
        let expected = BTreeMap::from(expected.map(|(name, why)| (name.to_owned(), why)));
        assert_eq!(report.fewer, expected);
    }
}
