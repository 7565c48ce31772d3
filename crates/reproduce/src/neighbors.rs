//! Figure 3 of the CLgen paper: the programs of Parboil on a plane, each predicted by what was learned from the others, and again
//! with neighbors of those that were predicted wrongly.

use crate::Error;
use features::Plane;
use heuristics::{CrossvalOptions, Row, Task, crossval, published_benchmarks};
use serde_json::{Map, Value, json};
use std::{collections::BTreeSet, fmt::Write, path::Path};

const PLATFORMS: [&str; 2] = ["amd", "nvidia"];
/// How the names of the suite's programs begin.
const SUITE: &str = "parboil-";
/// Grewe's model; of equally good splits the first.
const MODEL: &str = "tree";

/// The figure in all of its forms.
pub(crate) struct Figure {
    pub(crate) text: String,
    pub(crate) csv: String,
    pub(crate) svg: String,
    /// By platform.
    pub(crate) numbers: Value,
}

pub(crate) fn figure(folder: &Path) -> Result<Figure, Error> {
    let mut figure = Figure {
        text: String::from(
            "\n## Figure 3: Parboil, learned from the rest of it, and with neighbors\n\nThe plane of the first two principal components of Grewe's four ratios, \
             as logarithms that are brought to mean 0 and standard deviation 1 over all suites. Each program of Parboil is predicted by a tree that learned from its other \
             programs (a), and by one that learned from these and from neighbors (b): of each observation that (a) predicts wrongly the nearest one of another suite. \
             Which neighbors the paper adds is not in the published data; this rule is ours.\n\n\
             | platform | observations | wrong in (a) | neighbors | wrong in (a), right in (b) | right in (a), wrong in (b) | wrong in (b) | wrong with all other suites |\n\
             |---|---:|---:|---:|---:|---:|---:|---:|\n",
        ),
        csv: String::from(
            "platform,what,program,data set,x,y,best,predicted in a,predicted in b\n",
        ),
        svg: String::new(),
        numbers: Value::Null,
    };
    let mut numbers = Map::new();
    let mut charts = Vec::new();
    for platform in PLATFORMS {
        let chart = Chart::of(platform, &published_benchmarks(folder, platform)?)?;
        chart.tell(&mut figure);
        numbers.insert(platform.to_owned(), chart.numbers());
        charts.push(chart);
    }
    figure.text += "\n![Parboil on a plane, predicted rightly and wrongly](figure3.svg)\n";
    figure.svg = draw(&charts);
    figure.numbers = Value::Object(numbers);
    Ok(figure)
}

/// The figure of one platform.
struct Chart {
    platform: &'static str,
    choices: Vec<String>,
    /// Shares of the variance along the axes.
    explained: [f64; 2],
    points: Vec<Point>,
    /// Of other suites.
    neighbors: Vec<Point>,
    /// Points that are predicted wrongly by what learned from all other suites, too.
    wrong_with_all: usize,
}

/// An observation.
struct Point {
    program: String,
    variant: String,
    at: [f64; 2],
    best: usize,
    /// In (a) and in (b); what is best for a neighbor.
    predicted: [usize; 2],
}

impl Point {
    fn of(row: &Row, plane: &Plane, predicted: [usize; 2]) -> Point {
        Point {
            program: row.program.clone(),
            variant: row.variant.clone(),
            at: plane.place(&row.features),
            best: row.label,
            predicted,
        }
    }

    /// Whether it is predicted rightly, in (a) and in (b).
    fn is_right(&self) -> [bool; 2] {
        self.predicted.map(|choice| choice == self.best)
    }
}

impl Chart {
    fn of(platform: &'static str, all: &Task) -> Result<Chart, Error> {
        let suite = all.filter(|row| row.program.starts_with(SUITE));
        let others = all.filter(|row| !row.program.starts_with(SUITE));
        let vectors: Vec<&[f64]> = all.rows.iter().map(|row| row.features.as_slice()).collect();
        let plane = Plane::fit(&vectors)?;
        let alone = predictions(&suite, None)?;
        let wrong = suite.rows.iter().zip(&alone).filter(|(row, choice)| row.label != **choice);
        let near: BTreeSet<usize> =
            wrong.filter_map(|(row, _)| nearest(&plane, row, &others)).collect();
        let rows: Vec<Row> = near.into_iter().map(|at| others.rows[at].clone()).collect();
        let neighbors = rows.iter().map(|row| Point::of(row, &plane, [row.label; 2])).collect();
        let added =
            Task { features: others.features.clone(), choices: others.choices.clone(), rows };
        let with = predictions(&suite, Some(&added))?;
        let with_all = predictions(&suite, Some(&others))?;
        let predicted = alone.into_iter().zip(with).map(|(one, other)| [one, other]);
        let points = suite.rows.iter().zip(predicted);
        let is_wrong = |(row, choice): &(&Row, &usize)| row.label != **choice;
        Ok(Chart {
            platform,
            choices: suite.choices.clone(),
            explained: plane.explained,
            points: points.map(|(row, both)| Point::of(row, &plane, both)).collect(),
            neighbors,
            wrong_with_all: suite.rows.iter().zip(&with_all).filter(is_wrong).count(),
        })
    }

    /// Points that are right or wrong so in (a) and in (b).
    fn count(&self, is_right: [bool; 2]) -> usize {
        self.points.iter().filter(|point| point.is_right() == is_right).count()
    }

    /// Points that are predicted wrongly in (a) and in (b).
    fn wrong(&self) -> [usize; 2] {
        [0, 1].map(|side| self.points.iter().filter(|point| !point.is_right()[side]).count())
    }

    fn tell(&self, figure: &mut Figure) {
        let [a, b] = self.wrong();
        // Writing to a string does not fail.
        let _ = writeln!(
            figure.text,
            "| {} | {} | {a} | {} | {} | {} | {b} | {} |",
            self.platform,
            self.points.len(),
            self.neighbors.len(),
            self.count([false, true]),
            self.count([true, false]),
            self.wrong_with_all
        );
        let name = |choice: usize| self.choices.get(choice).map_or("", String::as_str);
        let plain = |text: &str| text.replace(',', " ");
        for (what, points) in [("Parboil", &self.points), ("neighbor", &self.neighbors)] {
            for point in points {
                let [x, y] = point.at;
                let [one, other] = match what {
                    "Parboil" => point.predicted.map(name),
                    _ => [""; 2],
                };
                let _ = writeln!(
                    figure.csv,
                    "{},{what},{},{},{x:.4},{y:.4},{},{one},{other}",
                    self.platform,
                    plain(&point.program),
                    plain(&point.variant),
                    name(point.best)
                );
            }
        }
    }

    fn numbers(&self) -> Value {
        let [wrong_alone, wrong_with_neighbors] = self.wrong();
        let neighbors: Vec<Value> = self
            .neighbors
            .iter()
            .map(|point| json!({"program": point.program, "variant": point.variant}))
            .collect();
        json!({
            "observations": self.points.len(),
            "wrong_alone": wrong_alone,
            "neighbors": neighbors,
            "corrected": self.count([false, true]),
            "spoiled": self.count([true, false]),
            "wrong_with_neighbors": wrong_with_neighbors,
            "wrong_with_all": self.wrong_with_all,
            "explained_variance": self.explained,
        })
    }
}

/// What a model chooses for each row that learned from the other programs of the task, and from `extra`.
fn predictions(task: &Task, extra: Option<&Task>) -> Result<Vec<usize>, Error> {
    let (models, extra) = (vec![MODEL.to_owned()], extra.cloned());
    let report = crossval(task, &CrossvalOptions { models, folds: 0, extra, seed: 0 })?;
    let predictions = report.models.into_iter().map(|model| match model.with_extra {
        Some(with) => with.predictions,
        None => model.predictions,
    });
    Ok(predictions.flatten().collect())
}

/// The place of the row that is nearest to another, the first of equals.
fn nearest(plane: &Plane, row: &Row, others: &Task) -> Option<usize> {
    let from = plane.standard(&row.features);
    let distance = |other: &Row| -> f64 {
        let to = plane.standard(&other.features);
        from.iter().zip(&to).map(|(a, b)| (a - b).powi(2)).sum()
    };
    let distances: Vec<f64> = others.rows.iter().map(distance).collect();
    (0..distances.len()).min_by(|one, other| distances[*one].total_cmp(&distances[*other]))
}

/// Width and height of one of the four pictures, and what is left free in it.
const SIZE: [f64; 2] = [450.0, 330.0];
const MARGIN: f64 = 40.0;
/// Half of a mark's width.
const MARK: f64 = 4.0;
const COLORS: [&str; 3] = ["#2ca02c", "#d62728", "#1f77b4"];

/// A row a platform: (a) to the left, (b) to the right.
fn draw(charts: &[Chart]) -> String {
    let [width, height] = [2.0 * SIZE[0], charts.len() as f64 * SIZE[1] + MARGIN];
    // Writing to a string does not fail.
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\" role=\"img\">\
         <title>Parboil on a plane</title><rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>"
    );
    for (row, chart) in charts.iter().enumerate() {
        for side in [0, 1] {
            panel(&mut svg, chart, side, [side as f64 * SIZE[0], row as f64 * SIZE[1]]);
        }
    }
    let words = ["predicted rightly", "predicted wrongly", "neighbor of another suite"];
    for (kind, word) in words.into_iter().enumerate() {
        let (x, y) = (MARGIN + 220.0 * kind as f64, height - MARGIN / 2.0);
        mark(&mut svg, kind, [x, y]);
        let _ = write!(svg, "<text x=\"{}\" y=\"{}\">{word}</text>", x + 12.0, y + 4.0);
    }
    svg + "</svg>\n"
}

fn panel(svg: &mut String, chart: &Chart, side: usize, corner: [f64; 2]) {
    let all = || chart.points.iter().chain(&chart.neighbors).map(|point| point.at);
    let range = |axis: usize| {
        let values = || all().map(move |at| at[axis]);
        let [low, high] =
            [values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max)];
        let pad = (0.06 * (high - low)).max(0.1);
        [low - pad, high + pad]
    };
    let ranges = [range(0), range(1)];
    let along = |axis: usize, value: f64| {
        let [low, high] = ranges[axis];
        (value - low) / (high - low) * (SIZE[axis] - 2.0 * MARGIN)
    };
    let place = |[x, y]: [f64; 2]| {
        [corner[0] + MARGIN + along(0, x), corner[1] + SIZE[1] - MARGIN - along(1, y)]
    };
    let [left, top] = [corner[0] + MARGIN, corner[1] + MARGIN];
    let [right, bottom] = [corner[0] + SIZE[0] - MARGIN, corner[1] + SIZE[1] - MARGIN];
    let learned = ["its other programs", "these and neighbors"][side];
    let shares = chart.explained.map(|share| 100.0 * share);
    let _ = write!(
        svg,
        "<text x=\"{left}\" y=\"{}\">({}) {}, learned from {learned}: {} of {} wrong</text>\
         <path d=\"M{left} {top}V{bottom}H{right}\" fill=\"none\" stroke=\"#000\"/>\
         <text x=\"{right}\" y=\"{}\" text-anchor=\"end\">first component, {:.0} % of the variance; upwards the second, {:.0} %</text>",
        top - 14.0,
        ["a", "b"][side],
        chart.platform,
        chart.wrong()[side],
        chart.points.len(),
        bottom + 18.0,
        shares[0],
        shares[1]
    );
    if side == 1 {
        chart.neighbors.iter().for_each(|point| mark(svg, 2, place(point.at)));
    }
    // What is wrong lies on top.
    for kind in [0, 1] {
        let of_kind = chart.points.iter().filter(|point| point.is_right()[side] == (kind == 0));
        of_kind.for_each(|point| mark(svg, kind, place(point.at)));
    }
}

/// A disc for what is right, a cross for what is wrong, a square for a neighbor.
fn mark(svg: &mut String, kind: usize, [x, y]: [f64; 2]) {
    let color = COLORS[kind];
    let (left, top) = (x - MARK, y - MARK);
    let (right, bottom) = (x + MARK, y + MARK);
    let _ = match kind {
        0 => write!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{MARK}\" fill=\"{color}\" fill-opacity=\"0.6\"/>"
        ),
        1 => write!(
            svg,
            "<path d=\"M{left:.1} {top:.1}L{right:.1} {bottom:.1}M{left:.1} {bottom:.1}L{right:.1} {top:.1}\" stroke=\"{color}\" stroke-width=\"2\"/>"
        ),
        _ => write!(
            svg,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{0}\" height=\"{0}\" fill=\"{color}\" fill-opacity=\"0.6\"/>",
            2.0 * MARK
        ),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(program: &str, value: f64, label: usize) -> Row {
        let costs = if label == 0 { vec![1.0, 2.0] } else { vec![2.0, 1.0] };
        Row {
            program: program.to_owned(),
            variant: "a,b".to_owned(),
            group: program.to_owned(),
            features: vec![value, 1.0],
            costs,
            label,
        }
    }

    /// The fifth program of the suite is far from the others, and unlike those that are nearest.
    fn task() -> Task {
        Task {
            features: vec!["size".to_owned(), "same".to_owned()],
            choices: vec!["CPU".to_owned(), "GPU".to_owned()],
            rows: vec![
                row("parboil-0.2-a", 1.0, 0),
                row("parboil-0.2-b", 2.0, 0),
                row("parboil-0.2-c", 8.0, 1),
                row("parboil-0.2-d", 9.0, 1),
                row("parboil-0.2-e", 100.0, 0),
                row("npb-1-near", 99.0, 0),
                row("npb-1-far", 1.5, 0),
            ],
        }
    }

    #[test]
    fn what_is_far_from_all_is_right_once_a_neighbor_is_known() {
        let chart = Chart::of("amd", &task()).expect("two classes");
        assert_eq!((chart.points.len(), chart.wrong()), (5, [1, 0]));
        assert_eq!((chart.count([false, true]), chart.count([true, false])), (1, 0));
        assert_eq!(chart.points[4].is_right(), [false, true]);
        let neighbors: Vec<&str> =
            chart.neighbors.iter().map(|point| point.program.as_str()).collect();
        assert_eq!(neighbors, ["npb-1-near"]);
        assert_eq!(chart.numbers()["corrected"], 1);
        assert!((chart.explained[0] - 1.0).abs() < 1e-6, "{:?}", chart.explained);
    }

    #[test]
    fn each_observation_is_a_row_and_a_mark() {
        let charts = [Chart::of("amd", &task()).expect("two classes")];
        let (text, csv, svg) = (String::new(), String::new(), draw(&charts));
        let mut figure = Figure { text, csv, svg, numbers: Value::Null };
        charts[0].tell(&mut figure);
        assert_eq!(figure.text, "| amd | 5 | 1 | 1 | 1 | 0 | 0 | 0 |\n");
        assert_eq!(figure.csv.lines().count(), 6);
        assert!(figure.csv.contains("amd,Parboil,parboil-0.2-e,a b,"), "{}", figure.csv);
        assert!(figure.csv.lines().all(|line| line.split(',').count() == 9), "{}", figure.csv);
        assert!(figure.csv.ends_with(",CPU,,\n"), "{}", figure.csv);
        let count = |part: &str| figure.svg.matches(part).count();
        // Four and five right, a neighbor; and each once in the legend.
        assert_eq!((count("<circle"), count("stroke-width=\"2\""), count("<rect x")), (10, 2, 2));
        assert!(!figure.svg.contains("NaN") && !figure.svg.contains("inf"), "{}", figure.svg);
    }
}
