//! Shypula et al.: Learning Performance-Improving Code Edits (ICLR 2024).

use crate::{
    Error, Options, Set,
    page::{Page, percent},
};
use dataset::Row as _;
use edits::score;
use lexer::Dialect;
use lm::tokenizer::Counter;
use rows::{Judgement, Pair};
use statistics::median;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const SCORES: [&str; 8] =
    ["answers", "programs", "k", "%Opt", "speedup", "geometric mean", "correct", "cheats"];
pub(crate) const TABLE5: [&str; 3] = ["outcome", "answers of", "share"];
pub(crate) const DATA: [&str; 4] = ["pairs of", "split", "pairs", "problems"];
pub(crate) const TABLE8: [&str; 7] =
    ["pairs of", "split", "tokens", "mean slow", "mean improved", "median slow", "median improved"];
/// PIE's threshold of an improvement.
const THRESHOLD: f64 = 1.1;
const SEED: u64 = 0;

pub(crate) fn make(sets: &[Set], options: &Options, page: &mut Page) -> Result<(), Error> {
    let (mut scores, mut verdicts, mut failures) = (Vec::new(), Vec::new(), Vec::new());
    for set in sets.iter().filter(|set| set.is(Judgement::SCHEMA)) {
        let rows: Vec<Judgement> = set.dataset.rows()?.collect::<dataset::Result<_>>()?;
        let all = score(&rows, THRESHOLD, SEED);
        failures.extend(failed(&set.name, &rows));
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
            page.table(
                "scores",
                "Tables 1 to 4: %Opt, Speedup, Correct, Best@k",
                &SCORES,
                scores,
                note,
            );
            let note = "Of the answers that are no improvement. As fast: to two digits of the ratio. Judging ends with the first test that an answer fails: ours do not say how many it would have failed.";
            page.table(
                "table5",
                "Table 5: why answers are no improvement",
                &TABLE5,
                failures,
                note,
            );
            page.table(
                "verdicts",
                "Verdicts",
                &["answers", "verdict", "count", "share"],
                verdicts,
                "",
            );
        }
    }
    let mut units = vec![Unit { name: "C++".into(), counter: None }];
    if let Some(path) = &options.tokenizer {
        let counter = Some(Counter::read(path)?);
        units.push(Unit { name: path.display().to_string(), counter });
    }
    let (mut data, mut table8) = (Vec::new(), Vec::new());
    for set in sets.iter().filter(|set| set.is(Pair::SCHEMA)) {
        for (name, split) in splits(set, &units)? {
            let (pairs, problems) = (split.pairs.to_string(), split.problems.len().to_string());
            data.push(vec![set.name.clone(), name.clone(), pairs, problems]);
            for (unit, lengths) in units.iter().zip(split.lengths) {
                let mean =
                    |all: &[f64]| format!("{:.2}", all.iter().sum::<f64>() / all.len() as f64);
                let middle = |all: Vec<f64>| median(all).unwrap_or_default().to_string();
                let means = lengths.each_ref().map(|all| mean(all));
                let names = [set.name.clone(), name.clone(), unit.name.clone()];
                table8.push(names.into_iter().chain(means).chain(lengths.map(middle)).collect());
            }
        }
    }
    match data.is_empty() {
        true => page.lacks("the data set's splits and lengths", "a data set of `edits pairs`"),
        false => {
            page.table("data", "Tables 6 and 7: problems and pairs", &DATA, data, "");
            let note = "Tokens of C++ are those of a lexer, a directive being one. `--tokenizer FILE` counts those of a model as well: with GPT-2's as the paper does.";
            page.table("table8", "Table 8: lengths of programs", &TABLE8, table8, note);
        }
    }
    Ok(())
}

/// What the lengths of programs are counted in.
struct Unit {
    name: String,
    /// Of a model; `None`: tokens of C++.
    counter: Option<Counter>,
}

impl Unit {
    fn length(&self, program: &str) -> Result<f64, Error> {
        let tokens = match &self.counter {
            Some(counter) => counter.count(program)?,
            None => Dialect::CPP.tokens(program).count(),
        };
        Ok(tokens as f64)
    }
}

/// A part of a data set of pairs.
#[derive(Default)]
struct Split {
    pairs: u64,
    problems: BTreeSet<String>,
    /// For each unit the lengths of the slow and of the improved programs.
    lengths: Vec<[Vec<f64>; 2]>,
}

fn splits(set: &Set, units: &[Unit]) -> Result<BTreeMap<String, Split>, Error> {
    let mut splits: BTreeMap<String, Split> = BTreeMap::new();
    for row in set.dataset.rows::<Pair>()? {
        let row = row?;
        let split = splits.entry(row.split).or_default();
        split.pairs += 1;
        split.problems.insert(row.problem_id);
        split.lengths.resize_with(units.len(), Default::default);
        for (unit, [slow, improved]) in units.iter().zip(&mut split.lengths) {
            slow.push(unit.length(&row.src_code)?);
            improved.push(unit.length(&row.tgt_code)?);
        }
    }
    Ok(splits)
}

/// What became of the answers that are no improvement, in the order of the paper's Table 5.
fn failed(name: &str, rows: &[Judgement]) -> Vec<Vec<String>> {
    const OUTCOMES: [&str; 7] = [
        "does not compile",
        "wrong on a test",
        "ended by a limit, or crashes",
        "another verdict: a cheat, say",
        "right, and slower",
        "right, and as fast",
        "right, and faster by less than 1.1",
    ];
    let mut counts = [0_u64; OUTCOMES.len()];
    for row in rows {
        let place = match row.verdict.as_str() {
            "accepted" => match row.ratio() {
                Some(gain) if gain >= THRESHOLD => continue,
                Some(gain) if gain < 0.995 => 4,
                Some(gain) if gain < 1.005 => 5,
                Some(_) => 6,
                None => 3,
            },
            "does-not-compile" | "no-program" => 0,
            "wrong-output" | "fails-hidden-tests" => 1,
            "crashes" | "timeout" | "cpu-limit" | "memory-limit" | "output-limit"
            | "process-limit" | "instruction-limit" => 2,
            _ => 3,
        };
        counts[place] += 1;
    }
    let all = counts.iter().sum();
    let row = |(outcome, count): (&str, u64)| {
        vec![outcome.to_owned(), name.to_owned(), percent(count, all)]
    };
    if all == 0 { Vec::new() } else { OUTCOMES.into_iter().zip(counts).map(row).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_that_are_no_improvement_are_told_apart() {
        let row = |verdict: &str, seconds: Option<f64>| Judgement {
            verdict: verdict.into(),
            src_seconds: Some(1.1),
            seconds,
            ..Judgement::default()
        };
        let rows = [
            row("accepted", Some(1.0)),
            row("accepted", Some(1.05)),
            row("accepted", Some(1.101)),
            row("accepted", Some(1.2)),
            row("does-not-compile", None),
            row("fails-hidden-tests", None),
            row("timeout", None),
            row("answer-table", None),
        ];
        let shares: Vec<String> =
            failed("mine", &rows).into_iter().map(|row| row[2].clone()).collect();
        assert_eq!(shares, ["14.3 %"; 7]);
        assert!(failed("mine", &rows[..1]).is_empty());
    }
}
