//! Distances between rows: of the logarithms of their features, each scaled to its spread.

use crate::Task;

/// What features are scaled by.
#[derive(Clone, Debug)]
pub(super) struct Space {
    /// Features that differ: place, mean and spread of the logarithm.
    scales: Vec<(usize, f64, f64)>,
    points: Vec<Vec<f32>>,
}

fn log(value: f64) -> f64 {
    value.signum() * value.abs().ln_1p()
}

impl Space {
    pub(super) fn of(task: &Task) -> Space {
        let count = task.rows.len() as f64;
        let scale = |place: usize| {
            let values = || task.rows.iter().map(|row| log(row.features[place]));
            let mean = values().sum::<f64>() / count;
            let spread = (values().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
            (spread > 1e-9).then_some((place, mean, spread))
        };
        let scales = (0..task.features.len()).filter_map(scale).collect();
        let mut space = Space { scales, points: Vec::new() };
        space.points = task.rows.iter().map(|row| space.point(&row.features)).collect();
        space
    }

    /// Features that differ from row to row.
    pub(super) fn width(&self) -> usize {
        self.scales.len()
    }

    pub(super) fn point(&self, features: &[f64]) -> Vec<f32> {
        let scaled = |(place, mean, spread): &(usize, f64, f64)| {
            ((log(features[*place]) - mean) / spread) as f32
        };
        self.scales.iter().map(scaled).collect()
    }

    /// The place of each dimension of a point in the features.
    pub(super) fn places(&self) -> impl Iterator<Item = usize> {
        self.scales.iter().map(|(place, _, _)| *place)
    }

    pub(super) fn of_row(&self, row: usize) -> &[f32] {
        &self.points[row]
    }
}

/// Per feature, so that spaces of many features compare with those of few.
pub(super) fn distance(a: &[f32], b: &[f32]) -> f32 {
    let sum: f32 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
    (sum / a.len().max(1) as f32).sqrt()
}
