//! Tsimpourlas et al.: BenchPress (PACT 2022).

use crate::{
    Error, Options, Set,
    bars::Bars,
    page::{Page, percent},
    plane,
};
use dataset::Row as _;
use rows::{LearnedRow, SampleRow, SteeredHead, SteeredRow};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const TABLE1: [&str; 7] = [
    "source",
    "samples",
    "compile",
    "compile and unique",
    "memorised",
    "most tokens",
    "most instructions",
];
pub(crate) const FIGURE8: [&str; 6] =
    ["source", "targets", "exact", "exact mined", "median proximity", "candidates"];
pub(crate) const TABLE2: [&str; 8] = [
    "training set",
    "experiment",
    "labelled",
    "accuracy",
    "speedup",
    "95 % interval",
    "share of the oracle's",
    "gap closed",
];
/// Lexemes, and instructions, of a bar of Figure 6.
const BAR: u32 = 50;

pub(crate) fn make(sets: &[Set], _: &Options, page: &mut Page) -> Result<(), Error> {
    let (mut table1, mut bars) = (Vec::new(), Vec::new());
    for set in sets.iter().filter(|set| set.is(SampleRow::SCHEMA)) {
        samples(set, &mut table1, &mut bars)?;
    }
    match table1.is_empty() {
        true => page.lacks("Table 1, Figure 6", "a data set of `sample`"),
        false => {
            let note = "Tokens and instructions are of samples that compile; ours are lexemes, theirs tokens of their vocabulary.";
            page.table("table1", "Table 1: samples that compile", &names(TABLE1), table1, note);
            let pictures =
                ["tokens", "instructions"].map(|measure| (measure, lengths(measure, &bars)));
            page.table(
                "figure6",
                "Figure 6: how long they are",
                &["samples", "measure", "from", "count"],
                bars,
                "",
            );
            for (measure, picture) in pictures {
                let title = format!("Figure 6: {measure} of samples that compile");
                page.picture(&format!("figure6-{measure}"), &title, picture);
            }
        }
    }
    let mut figure8 = Vec::new();
    let mut each = Vec::new();
    for set in sets.iter().filter(|set| set.is(SteeredRow::SCHEMA)) {
        steered(set, &mut figure8, &mut each)?;
    }
    match figure8.is_empty() {
        true => page.lacks("Figure 8", "a data set of `steer`"),
        false => {
            let note = "Exact: a kernel right at the target, those that were mined not counted. Their suite is another: these rows say what each found of its own targets.";
            page.table("figure8", "Figure 8: kernels at targets", &names(FIGURE8), figure8, note);
            let header =
                ["source", "target", "exact", "proximity", "mined proximity", "candidates"];
            page.csv("figure8-targets", &header, each.iter());
            let title = "Figure 8: how near each target";
            page.picture("figure8-proximity", title, targets(&each));
        }
    }
    plane::make(sets, page)?;
    let experiments = sets.iter().filter(|set| set.is(LearnedRow::SCHEMA));
    let table2: Vec<Vec<String>> = experiments.flat_map(arms).collect();
    match table2.is_empty() {
        true => page.lacks("Table 2", "a data set of `learn --experiment`"),
        false => {
            let note = "A heuristic (processor or GPU) trained on what was mined, and on this with kernels added: at points chosen by a committee (active), at random ones (passive), made without a point (undirected), or more mined ones. \
                Speedup: geometric mean of the better single choice / predicted; gap closed: the part of what the oracle has over the mined ones alone. The paper's own numbers are not in this build.";
            page.table(
                "table2",
                "Table 2: does a heuristic learn more from chosen points",
                &TABLE2,
                table2,
                note,
            );
        }
    }
    Ok(())
}

/// Figure 6 as a picture: which share of a data set's samples that compile is how long. `rows` are those of its table.
fn lengths(measure: &str, rows: &[Vec<String>]) -> String {
    let mut sets: BTreeMap<&str, BTreeMap<u32, f64>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row[1] == measure) {
        let [from, count] = [2, 3].map(|at: usize| row[at].parse::<u32>().unwrap_or_default());
        sets.entry(&row[0]).or_default().insert(from, f64::from(count));
    }
    let all: BTreeSet<u32> = sets.values().flat_map(|counts| counts.keys().copied()).collect();
    let series = sets.iter().map(|(name, counts)| {
        let sum: f64 = counts.values().sum();
        let share = |from: &u32| counts.get(from).map(|count| 100.0 * count / sum);
        ((*name).to_owned(), all.iter().map(share).collect::<Vec<_>>())
    });
    let series = series.collect();
    let groups = all.iter().map(u32::to_string).collect();
    let from = format!("{measure}, from");
    Bars { axes: [&from, "samples that compile, %"], groups, series }.draw()
}

/// Figure 8 as a picture: how near the best kernel of each data set is to each target, and the nearest mined one where there are any.
/// `rows` are those of `figure8-targets`.
fn targets(rows: &[Vec<String>]) -> String {
    let groups: BTreeSet<&String> = rows.iter().map(|row| &row[1]).collect();
    let sets: BTreeSet<&String> = rows.iter().map(|row| &row[0]).collect();
    let mut series: Vec<(String, Vec<Option<f64>>)> = Vec::new();
    for set in sets {
        for (at, name) in [(3, set.clone()), (4, format!("nearest mined one of {set}"))] {
            let near: BTreeMap<&String, f64> = rows
                .iter()
                .filter(|row| row[0] == *set)
                .map(|row| (&row[1], row[at].parse().unwrap_or_default()))
                .collect();
            // A run without mined kernels has none that is near.
            if at == 3 || near.values().any(|value| *value > 0.0) {
                series.push((name, groups.iter().map(|group| near.get(group).copied()).collect()));
            }
        }
    }
    let groups = groups.into_iter().cloned().collect();
    Bars { axes: ["target", "proximity of the best kernel"], groups, series }.draw()
}

/// What an experiment of `learn` found of each training set; nothing where the data set is of another run.
fn arms(set: &Set) -> Vec<Vec<String>> {
    let summary = &set.dataset.manifest().notes.summary;
    let number = |value: &Value, digits: usize| {
        value.as_f64().map_or_else(String::new, |value| format!("{value:.digits$}"))
    };
    let share = |value: &Value| {
        value.as_f64().map_or_else(String::new, |value| format!("{:.1} %", 100.0 * value))
    };
    let row = |arm: &Value| {
        let scores = &arm["scores"];
        let interval = &scores["geomean_interval"];
        vec![
            arm["arm"].as_str().unwrap_or_default().to_owned(),
            set.name.clone(),
            arm["labelled"].as_u64().map_or_else(String::new, |count| count.to_string()),
            share(&scores["accuracy"]),
            number(&scores["geomean_speedup"], 3),
            format!("{} to {}", number(&interval[0], 3), number(&interval[1], 3)),
            share(&scores["oracle_share"]),
            share(&arm["gap_closed"]),
        ]
    };
    summary["arms"].as_array().into_iter().flatten().map(row).collect()
}

/// The first column is the row's name, whatever it is called in the last.
fn names<const N: usize>(header: [&'static str; N]) -> [&'static str; N] {
    let mut header = header;
    header[0] = "data set";
    header
}

fn samples(
    set: &Set,
    table: &mut Vec<Vec<String>>,
    bars: &mut Vec<Vec<String>>,
) -> dataset::Result<()> {
    let (mut all, mut compile, mut unique, mut memorised) = (0, 0, 0, 0);
    let (mut tokens, mut instructions) = (BTreeMap::new(), BTreeMap::new());
    let mut most = [0, 0];
    let mut compiling: BTreeSet<u64> = BTreeSet::new();
    for row in set.dataset.rows::<SampleRow>()? {
        let row = row?;
        all += 1;
        // A duplicate compiles where that does which has its text.
        let compiles = match row.verdict.as_str() {
            "accepted" | "too-small" | "not-as-asked" | "no-effect" | "undefined" => true,
            "duplicate" => row.detail.parse().is_ok_and(|first| compiling.contains(&first)),
            _ => false,
        };
        if !compiles {
            continue;
        }
        compiling.insert(row.number);
        compile += 1;
        unique += u64::from(row.verdict == "accepted");
        memorised += u64::from(row.memorised);
        most = [most[0].max(row.tokens), most[1].max(row.instructions)];
        *tokens.entry(row.tokens / BAR * BAR).or_insert(0) += 1;
        *instructions.entry(row.instructions / BAR * BAR).or_insert(0) += 1;
    }
    let shares = [percent(compile, all), percent(unique, all), percent(memorised, all)];
    let cells = [
        vec![set.name.clone(), all.to_string()],
        shares.to_vec(),
        most.map(|n| n.to_string()).to_vec(),
    ];
    table.push(cells.concat());
    for (measure, counts) in [("tokens", tokens), ("instructions", instructions)] {
        let bar = |(from, count): (u32, i32)| {
            vec![set.name.clone(), measure.to_owned(), from.to_string(), count.to_string()]
        };
        bars.extend(counts.into_iter().map(bar));
    }
    Ok(())
}

fn steered(
    set: &Set,
    table: &mut Vec<Vec<String>>,
    each: &mut Vec<Vec<String>>,
) -> dataset::Result<()> {
    let mut near: BTreeMap<String, SteeredHead> = BTreeMap::new();
    for row in set.dataset.rows::<SteeredHead>()? {
        let row = row?;
        let best = near.get(&row.target).is_none_or(|known| row.rank < known.rank);
        if best && row.verdict != "impossible" {
            near.insert(row.target.clone(), row);
        }
    }
    let mut proximities: Vec<f64> = near.values().map(|row| row.proximity).collect();
    proximities.sort_by(f64::total_cmp);
    let median = match proximities.len() {
        0 => return Ok(()),
        n => (proximities[(n - 1) / 2] + proximities[n / 2]) / 2.0,
    };
    let space = set.dataset.manifest().notes.configuration["space"]
        .as_str()
        .unwrap_or("its space")
        .to_owned();
    let count =
        |is: fn(&SteeredHead) -> bool| near.values().filter(|row| is(row)).count().to_string();
    table.push(vec![
        format!("{} in {space}", set.name),
        near.len().to_string(),
        count(|row| row.exact),
        count(|row| row.mined_exact > 0),
        format!("{median:.3}"),
        near.values().map(|row| row.candidates).sum::<u64>().to_string(),
    ]);
    each.extend(near.into_iter().map(|(target, row)| {
        let proximity = |value: f64| format!("{value:.4}");
        vec![
            set.name.clone(),
            target,
            row.exact.to_string(),
            proximity(row.proximity),
            proximity(row.mined_proximity),
            row.candidates.to_string(),
        ]
    }));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dataset::{Builder, Dataset, Notes};
    use serde_json::json;
    use std::path::Path;

    #[test]
    fn arms_of_an_experiment_are_rows_of_table_2() {
        let home = tempfile::tempdir().expect("a folder");
        let set = |name: &str, summary: Value| {
            let out = home.path().join(name);
            let builder =
                Builder::<LearnedRow>::create(&out, false, &"test").expect("a new folder");
            builder.finish(Vec::new(), Notes { summary, ..Notes::default() }).expect("room");
            Set { name: name.to_owned(), dataset: Dataset::open(&out).expect("just made") }
        };
        let scores = json!({
            "accuracy": 0.713, "geomean_speedup": 0.998, "geomean_interval": [0.949, 1.048], "oracle_share": 0.647,
        });
        let arm = |name: &str, gap: Value| json!({ "arm": name, "labelled": 56, "scores": scores, "gap_closed": gap });
        let experiment = set(
            "learned",
            json!({ "arms": [arm("mined", Value::Null), arm("active", json!(-0.003))] }),
        );
        let rows = arms(&experiment);
        assert_eq!(rows[0][7], "");
        let wanted =
            ["active", "learned", "56", "71.3 %", "0.998", "0.949 to 1.048", "64.7 %", "-0.3 %"];
        assert_eq!(rows[1], wanted);
        assert!(arms(&set("rounds", json!({ "history": [] }))).is_empty());
        let mut page = Page::new("benchpress", "BenchPress");
        let options = Options::new("benchpress", Path::new("learned"));
        make(&[experiment], &options, &mut page).expect("a page");
        let made = page.finish();
        assert!(made.files.iter().any(|(name, _)| name == "table2.csv"));
        assert!(!made.text.contains("- Table 2"), "{}", made.text);
    }

    fn cells<const N: usize>(row: [&str; N]) -> Vec<String> {
        row.map(str::to_owned).to_vec()
    }

    #[test]
    fn lengths_are_shares_of_each_data_set() {
        let rows = [
            ["a", "tokens", "0", "3"],
            ["a", "tokens", "50", "1"],
            ["b", "tokens", "50", "7"],
            ["a", "instructions", "0", "9"],
        ];
        let svg = lengths("tokens", &rows.map(cells));
        // Of `a` three quarters and one, of `b` all.
        assert_eq!(svg.matches("<rect x=").count(), 3, "{svg}");
        for height in ["306.0", "102.0", "408.0"] {
            assert!(svg.contains(&format!("height=\"{height}\"")), "{height}: {svg}");
        }
    }

    #[test]
    fn targets_show_the_nearest_mined_kernel_where_there_is_one() {
        let rows = [
            ["seeded", "t1", "true", "1.0000", "0.5000", "9"],
            ["bare", "t1", "false", "0.5000", "0.0000", "9"],
            ["bare", "t2", "false", "0.2500", "0.0000", "9"],
        ];
        let svg = targets(&rows.map(cells));
        assert_eq!(svg.matches("<rect x=").count(), 4, "{svg}");
        assert!(svg.contains("nearest mined one of seeded"), "{svg}");
        assert!(!svg.contains("nearest mined one of bare"), "{svg}");
    }
}
