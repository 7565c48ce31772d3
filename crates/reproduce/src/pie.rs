//! Shypula et al.: Learning Performance-Improving Code Edits (ICLR 2024).

use crate::{
    Set,
    page::{Page, percent},
};
use dataset::Row as _;
use edits::score;
use rows::{Judgement, Pair};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const SCORES: [&str; 8] =
    ["answers", "programs", "k", "%Opt", "speedup", "geometric mean", "correct", "cheats"];
/// PIE's threshold of an improvement.
const THRESHOLD: f64 = 1.1;
const SEED: u64 = 0;

pub(crate) fn make(sets: &[Set], page: &mut Page) -> dataset::Result<()> {
    let (mut scores, mut verdicts) = (Vec::new(), Vec::new());
    for set in sets.iter().filter(|set| set.is(Judgement::SCHEMA)) {
        let rows: Vec<Judgement> = set.dataset.rows()?.collect::<dataset::Result<_>>()?;
        let all = score(&rows, THRESHOLD, SEED);
        let is_cheat = |verdict: &str| edits::CHEATS.iter().any(|cheat| cheat.name() == verdict);
        let cheats: u64 =
            all.verdicts.iter().filter(|(name, _)| is_cheat(name)).map(|(_, n)| n).sum();
        for (k, best) in &all.best_k {
            scores.push(vec![
                set.name.clone(),
                all.pairs.to_string(),
                k.to_string(),
                format!("{:.1} %", 100.0 * best.opt),
                format!("{:.2}", best.speedup),
                format!("{:.2}", best.geomean),
                format!("{:.1} %", 100.0 * best.correct),
                cheats.to_string(),
            ]);
        }
        for (verdict, count) in &all.verdicts {
            verdicts.push(vec![
                set.name.clone(),
                verdict.clone(),
                count.to_string(),
                percent(*count, all.candidates),
            ]);
        }
    }
    match scores.is_empty() {
        true => page.lacks("scores", "a data set of `edits judge`"),
        false => {
            let note = "Speedup: arithmetic mean of slow / best of the first k answers that are right, each at least 1, by simulated time; %Opt counts 1.1 and more. Cheats count as wrong.";
            page.table("scores", "%Opt, Speedup, Correct, Best@k", &SCORES, scores, note);
            page.table(
                "verdicts",
                "Verdicts",
                &["answers", "verdict", "count", "share"],
                verdicts,
                "",
            );
        }
    }
    let mut data = Vec::new();
    for set in sets.iter().filter(|set| set.is(Pair::SCHEMA)) {
        let mut splits: BTreeMap<String, (u64, BTreeSet<String>)> = BTreeMap::new();
        for row in set.dataset.rows::<Pair>()? {
            let row = row?;
            let (pairs, problems) = splits.entry(row.split).or_default();
            *pairs += 1;
            problems.insert(row.problem_id);
        }
        data.extend(splits.into_iter().map(|(split, (pairs, problems))| {
            vec![set.name.clone(), split, pairs.to_string(), problems.len().to_string()]
        }));
    }
    match data.is_empty() {
        true => page.lacks("the data set's splits", "a data set of `edits pairs`"),
        false => page.table(
            "data",
            "The data set",
            &["pairs of", "split", "pairs", "problems"],
            data,
            "",
        ),
    }
    page.lacks(
        "Tables 4 to 6",
        "answers of the paper's models: hand them to `edits judge`, and put its data set here",
    );
    Ok(())
}
