//! Kernels on their way to a labelled row: described, measured, made at a point, learned from.

use crate::{Committee, Error, LearnedRow};
use dataset::{Verdict, content_hash};
use rows::LearnedVerdict;
use std::sync::atomic::AtomicBool;
use synth::{Judge, Search, Target};

/// Kernels that were there, with their vectors; what has none is left out.
pub(crate) fn described(
    judge: &Judge,
    role: &str,
    texts: &[String],
) -> Result<Vec<LearnedRow>, Error> {
    let vectors = judge.judge(texts)?;
    let rows = texts.iter().zip(vectors).filter_map(|(text, vector)| {
        Some(LearnedRow {
            role: role.to_owned(),
            path: content_hash(text.as_bytes()),
            text: text.clone(),
            vector: vector?,
            ..LearnedRow::default()
        })
    });
    Ok(rows.collect())
}

/// Rows with the costs that were measured of their texts, by identity, and the verdict that follows.
pub(crate) fn with_costs(
    mut rows: Vec<LearnedRow>,
    mut costs_of: impl FnMut(&str) -> Option<Vec<f64>>,
) -> Vec<LearnedRow> {
    for row in &mut rows {
        row.verdict = match costs_of(&row.path) {
            Some(costs) => {
                row.costs = costs;
                Verdict::ACCEPTED.to_owned()
            }
            None => LearnedVerdict::DoesNotRun.to_string(),
        };
    }
    rows
}

/// A kernel made at a point, as a row like `like`; none where the search found nothing.
pub(crate) fn made_at(
    search: &mut Search<'_>,
    committee: &Committee,
    (name, point): (String, Vec<f64>),
    like: LearnedRow,
    stop: &AtomicBool,
) -> Result<Option<LearnedRow>, Error> {
    let found = search.find(&Target::point(name, &point), stop)?;
    let kernel = found.kernels.into_iter().find(|kernel| !kernel.text.is_empty());
    Ok(kernel.map(|kernel| LearnedRow {
        entropy: committee.entropy(&point),
        target: point,
        proximity: kernel.proximity,
        path: content_hash(kernel.text.as_bytes()),
        text: kernel.text,
        vector: kernel.vector,
        ..like
    }))
}

/// Rows with costs, as a heuristic learns from them.
pub(crate) fn task_of<'a>(
    judge: &Judge,
    choices: Vec<String>,
    rows: impl Iterator<Item = &'a LearnedRow>,
) -> heuristics::Task {
    let rows = rows.filter(|row| !row.costs.is_empty()).map(|row| heuristics::Row {
        program: row.path.clone(),
        variant: String::new(),
        group: row.path.clone(),
        features: row.vector.clone(),
        costs: row.costs.clone(),
        label: usize::from(row.costs[1] < row.costs[0]),
    });
    heuristics::Task {
        features: judge.space().dimensions().into_iter().map(str::to_owned).collect(),
        choices,
        rows: rows.collect(),
    }
}
