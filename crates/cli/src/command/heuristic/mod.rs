//! `stampmill heuristic`: device-mapping heuristics, honestly scored.

mod arms;
mod crossval;
mod diagnose;
mod explain;
mod import;
mod next;
mod predict;
mod reproduce;
mod source;
mod targets;
mod train;

use super::commands;
use crate::{Global, output};
use heuristics::{Scores, Table, Task};
use std::{path::Path, process::ExitCode};

/// Import tasks, train, predict, cross-validate, explain, diagnose, reproduce published results
#[derive(clap::Args, Debug)]
#[command(after_help = help!("heuristic"))]
pub(crate) struct Heuristic {
    #[command(subcommand)]
    verb: Verb,
}

commands! {
    Verb {
        import::Import,
        train::Train,
        predict::Predict,
        crossval::Crossval,
        explain::Explain,
        diagnose::Diagnose,
        next::Next,
        arms::Arms,
        reproduce::Reproduce,
    }
}

impl Heuristic {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        self.verb.run(global)
    }
}

/// A task with one choice, whose cost is to be predicted; nothing of any other.
fn costs_of(path: &Path) -> anyhow::Result<Option<Table>> {
    if !Task::is_at(path) {
        return Ok(None);
    }
    let table = Table::load(path)?;
    Ok((table.task.choices.len() == 1).then_some(table))
}

/// A number of things of which there must be some.
fn count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("0 is none: 1 or more".to_owned()),
        Ok(count) => Ok(count),
        Err(_) => Err(format!("`{text}` is no number: 1 or more")),
    }
}

/// That rows were trained on, where some were: what is said of them is no estimate.
fn say_trained_on(rows: usize, all: usize) -> anyhow::Result<()> {
    match rows {
        0 => Ok(()),
        _ => output::line(&format!(
            "the model was trained on {rows} of these {all} rows, which says nothing of others: `heuristic crossval` and \
             `diagnose` score what was held out"
        )),
    }
}

const SCORES: [&str; 6] =
    ["model", "accuracy", "speedup", "95 % interval", "share of oracle", "over"];

/// A table of rows made by [`score_row`], and what the speedups in it mean.
fn print_scores(
    rows: impl IntoIterator<Item = Vec<String>>,
    meaning: Option<&Scores>,
) -> anyhow::Result<()> {
    output::print_table(&SCORES, rows)?;
    if let Some(scores) = meaning {
        output::line(&format!("speedup: {}; {}", scores.orientation, scores.mean))?;
        if let Some((choice, over)) = scores.cheapest() {
            output::line(&format!(
                "always {choice} is the cheapest single choice: over it {:.3} ({:.3} to {:.3}), and the oracle's {:.3}",
                over.geomean, over.interval[0], over.interval[1], over.oracle_geomean
            ))?;
        }
    }
    Ok(())
}

fn score_row(name: &str, scores: &Scores) -> Vec<String> {
    vec![
        name.to_owned(),
        format!("{:.3}", scores.accuracy),
        format!("{:.3}", scores.geomean_speedup),
        format!("{:.3} to {:.3}", scores.geomean_interval[0], scores.geomean_interval[1]),
        format!("{:.3}", scores.oracle_share),
        format!("always {}", scores.baseline),
    ]
}

/// Choices of a table that names them all.
const ALL_NAMED: usize = 8;

/// Precision, recall and specificity per choice; of many choices those that are best or predicted for some row.
fn recognition(scores: &Scores) -> comfy_table::Table {
    let share = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.3}"));
    let few = scores.choices.len() <= ALL_NAMED;
    let seen = scores.choices.iter().filter(|(_, seen)| few || seen.best > 0 || seen.predicted > 0);
    let rows = seen.map(|(choice, seen)| {
        vec![
            choice.clone(),
            seen.best.to_string(),
            seen.predicted.to_string(),
            share(seen.precision),
            share(seen.recall),
            share(seen.specificity),
        ]
    });
    output::table(&["choice", "best", "predicted", "precision", "recall", "specificity"], rows)
}

/// How often each choice is best; of many those that are, the most frequent first.
fn labels(task: &Task) -> String {
    let mut labels: Vec<(String, usize)> = task.labels().into_iter().collect();
    let all = labels.len();
    if all > ALL_NAMED {
        labels.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        labels.truncate(ALL_NAMED);
        labels.retain(|(_, count)| *count > 0);
    }
    let more = all - labels.len();
    let named = labels.into_iter().map(|(choice, count)| format!("{choice} best on {count}"));
    let mut named: Vec<String> = named.collect();
    named.extend((more > 0).then(|| format!("{more} other choices")));
    named.join(", ")
}
