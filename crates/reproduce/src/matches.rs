//! Figure 9 of the CLgen paper: kernels with exactly the features of a benchmark, over the number of kernels.
//!
//! The paper draws kernels in the order they were made in; which that was is not published. Here a curve is the mean over all
//! orders, which is exact: of N of M kernels N/M of those that match are among them, and a benchmark's point that m of the M
//! kernels lie at is among the points of N with probability 1 − C(M − m, N) / C(M, N).

use crate::{Error, Set, plane};
use dataset::Row as _;
use heuristics::COMPARED;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    path::Path,
};

/// Moments of a curve, apart by equal factors.
const MOMENTS: u32 = 32;
/// The space whose dimensions are compared.
const SPACE: &str = "grewe";

type Point = [u64; 4];

/// A source of kernels, and after how many of them how many match.
pub(crate) struct Figure {
    pub(crate) text: String,
    pub(crate) csv: String,
    pub(crate) svg: String,
    /// By source: kernels, matches, and benchmarks' points matched.
    pub(crate) curves: BTreeMap<String, Vec<[f64; 3]>>,
}

pub(crate) fn figure(folder: &Path, sets: &[Set]) -> Result<Figure, Error> {
    let published = heuristics::published_vectors(folder)?;
    let bits = |vector: &[f64; 4]| vector.map(f64::to_bits);
    let benchmarks: BTreeSet<Point> = published.benchmarks.iter().map(bits).collect();
    let mut sources: Vec<(String, &str, Vec<Point>)> = published
        .kernels
        .iter()
        .map(|(name, vectors)| {
            ((*name).to_owned(), "published", vectors.iter().map(bits).collect())
        })
        .collect();
    for set in sets.iter().filter(|set| set.is(features::Row::SCHEMA)) {
        let vectors = own(set)?;
        if !vectors.is_empty() {
            sources.push((set.name.clone(), "made here", vectors));
        }
    }
    let mut figure = Figure {
        text: String::from(
            "\n## Figure 9 over the number of kernels\n\nThe mean over all orders of the kernels. A point: the four static features of one benchmark or more.\n\n\
             | source | kernels | matches | share | benchmarks' points matched | after 100 kernels | after 1000 | from |\n|---|---|---|---|---|---|---|---|\n",
        ),
        csv: String::from("source,kernels,matches,points matched,points\n"),
        svg: String::new(),
        curves: BTreeMap::new(),
    };
    let mut lines = Vec::new();
    for (name, from, vectors) in &sources {
        let curve = Curve::of(vectors, &benchmarks);
        let at: Vec<[f64; 3]> = curve.moments().into_iter().map(|n| curve.after(n)).collect();
        for [kernels, matches, points] in &at {
            // Writing to a string does not fail.
            let _ = writeln!(
                figure.csv,
                "{},{kernels},{matches:.2},{points:.2},{}",
                name.replace(',', " "),
                benchmarks.len()
            );
        }
        let after = |n: u64| match n <= curve.kernels {
            true => format!("{:.1}", curve.after(n)[1]),
            false => "–".to_owned(),
        };
        let [kernels, matches, points] = curve.after(curve.kernels);
        let _ = writeln!(
            figure.text,
            "| {} | {kernels} | {matches:.0} | {:.2} % | {points:.0} of {} | {} | {} | {from} |",
            name.replace('|', "\\|"),
            100.0 * matches / kernels.max(1.0),
            benchmarks.len(),
            after(100),
            after(1000),
        );
        lines.push((name.clone(), at.iter().map(|[n, matches, _]| [*n, *matches]).collect()));
        figure.curves.insert(name.clone(), at);
    }
    figure.text += "\n![matches over the number of kernels](figure9.svg)\n";
    figure.svg = plane::lines("kernels", "kernels with the features of a benchmark", &lines);
    Ok(figure)
}

/// The compared values of a data set's kernels.
fn own(set: &Set) -> Result<Vec<Point>, Error> {
    let Some(space) = features::ALL.into_iter().find(|space| space.name() == SPACE) else {
        return Ok(Vec::new());
    };
    let names = space.dimensions();
    let places = COMPARED.map(|name| names.iter().position(|known| *known == name));
    let mut points = Vec::new();
    for row in set.dataset.rows::<features::Row>()? {
        if let Some(vector) = row?.vectors.get(SPACE) {
            points.push(places.map(|place| place.map_or(0.0, |place| vector[place]).to_bits()));
        }
    }
    Ok(points)
}

/// What is known of a source.
struct Curve {
    kernels: u64,
    matches: u64,
    /// Kernels at each benchmark's point that has any.
    at: Vec<u64>,
}

impl Curve {
    fn of(vectors: &[Point], benchmarks: &BTreeSet<Point>) -> Curve {
        let mut at: BTreeMap<&Point, u64> = BTreeMap::new();
        for vector in vectors.iter().filter(|vector| benchmarks.contains(*vector)) {
            *at.entry(vector).or_default() += 1;
        }
        let at: Vec<u64> = at.into_values().collect();
        Curve { kernels: vectors.len() as u64, matches: at.iter().sum(), at }
    }

    /// Numbers of kernels from 1 to all.
    fn moments(&self) -> Vec<u64> {
        let last = self.kernels as f64;
        let moment = |step: u32| last.powf(f64::from(step) / f64::from(MOMENTS)).round() as u64;
        let mut moments: Vec<u64> = (0..=MOMENTS).map(moment).collect();
        moments.dedup();
        moments.retain(|moment| (1..=self.kernels).contains(moment));
        moments
    }

    /// Kernels, the mean number of matches among them, and of benchmarks' points that these lie at.
    fn after(&self, n: u64) -> [f64; 3] {
        let (all, taken) = (self.kernels as f64, n as f64);
        // None of m kernels is among those taken: each is left among those that are left.
        let missed = |m: u64| {
            (0..m).map(|i| ((all - taken - i as f64) / (all - i as f64)).max(0.0)).product::<f64>()
        };
        // A sum of nothing would be −0.
        let points = self.at.iter().fold(0.0, |sum, m| sum + 1.0 - missed(*m));
        [taken, self.matches as f64 * taken / all.max(1.0), points]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_the_mean_over_all_orders() {
        let benchmarks: BTreeSet<Point> = [[1; 4], [2; 4], [3; 4]].into();
        // Two kernels at the first point, one at the second, one at none.
        let curve = Curve::of(&[[1; 4], [1; 4], [2; 4], [9; 4]], &benchmarks);
        assert_eq!(curve.after(4), [4.0, 3.0, 2.0]);
        let [_, matches, points] = curve.after(1);
        assert!((matches - 0.75).abs() < 1e-12 && (points - 0.75).abs() < 1e-12);
        // Of the six pairs one has neither of the first two, three have the third.
        let [_, matches, points] = curve.after(2);
        assert!((matches - 1.5).abs() < 1e-12 && (points - (5.0 / 6.0 + 0.5)).abs() < 1e-12);
        assert_eq!(curve.moments(), [1, 2, 3, 4]);
        let none = Curve::of(&[], &benchmarks);
        assert_eq!((none.moments().len(), none.after(0)), (0, [0.0, 0.0, 0.0]));
    }
}
