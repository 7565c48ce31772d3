//! What a user of the crate can see.

#![expect(clippy::unwrap_used, reason = "tests")]

mod bad_input;
mod models;
mod published;
mod scores;

use stampmill_heuristics::{Row, Task};

/// A task of two choices from features, group and costs by row.
fn task(rows: &[(&[f64], &str, [f64; 2])]) -> Task {
    let width = rows.first().map_or(0, |row| row.0.len());
    Task {
        features: (0..width).map(|at| format!("feature {at}")).collect(),
        choices: vec!["CPU".to_owned(), "GPU".to_owned()],
        rows: rows
            .iter()
            .enumerate()
            .map(|(at, (features, group, costs))| Row {
                program: format!("program {at}"),
                variant: String::new(),
                group: (*group).to_owned(),
                features: features.to_vec(),
                costs: costs.to_vec(),
                label: usize::from(costs[1] < costs[0]),
            })
            .collect(),
    }
}
