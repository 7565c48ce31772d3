//! Curves as SVG: no script is needed to see them, and colours follow the page's theme.

use crate::facts::brief;
use maud::{Markup, html};

/// One line, staircase or cloud of a chart.
pub(super) struct Series {
    pub(super) name: String,
    pub(super) shape: Shape,
    pub(super) points: Vec<[f64; 2]>,
    /// What a pointer over each point shows; empty for none.
    pub(super) notes: Vec<String>,
    /// Lower and upper end at each point's x; empty for none.
    pub(super) band: Vec<[f64; 2]>,
}

/// How points are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Joined, with dots that have notes.
    Line,
    /// A value holds until the next one.
    Steps,
    /// Each by itself.
    Dots,
}

/// How one direction is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    Linear,
    /// In powers of ten; values of 0 and less are left out.
    Logarithmic,
}

/// A chart.
pub(super) struct Chart<'a> {
    pub(super) title: &'a str,
    pub(super) x: (&'a str, Scale),
    pub(super) y: &'a str,
    pub(super) series: Vec<Series>,
}

const SIZE: [f64; 2] = [560.0, 300.0];
/// Left, top, right, bottom.
const MARGIN: [f64; 4] = [56.0, 12.0, 14.0, 44.0];
/// Colours in the style sheet.
const COLOURS: usize = 7;

impl Series {
    pub(super) fn new(name: impl Into<String>, shape: Shape, points: Vec<[f64; 2]>) -> Series {
        Series { name: name.into(), shape, points, notes: Vec::new(), band: Vec::new() }
    }

    /// Steps: at each value, the share of the values that are no larger.
    pub(super) fn shares(name: impl Into<String>, mut values: Vec<f64>) -> Series {
        values.sort_by(f64::total_cmp);
        let count = values.len() as f64;
        let points = values.iter().enumerate().map(|(at, value)| [*value, (at + 1) as f64 / count]);
        Series::new(name, Shape::Steps, points.collect())
    }
}

/// Values to places along one direction.
struct Axis {
    from: f64,
    to: f64,
    scale: Scale,
    start: f64,
    length: f64,
}

impl Axis {
    fn over(values: impl Iterator<Item = f64>, scale: Scale, start: f64, length: f64) -> Axis {
        let values = values.filter(|value| fits(*value, scale)).map(|value| scaled(value, scale));
        let (mut from, mut to) = values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(from, to), value| {
                (from.min(value), to.max(value))
            });
        if from > to {
            (from, to) = (0.0, 1.0);
        }
        if to - from < 1e-9 {
            (from, to) = (from - 0.5, to + 0.5);
        }
        Axis { from, to, scale, start, length }
    }

    fn place(&self, value: f64) -> f64 {
        let share = (scaled(value, self.scale) - self.from) / (self.to - self.from);
        self.start + self.length * share.clamp(0.0, 1.0)
    }

    /// Round values with their labels.
    fn ticks(&self) -> Vec<(f64, String)> {
        if self.scale == Scale::Logarithmic && self.to - self.from >= 1.0 {
            let factors: &[f64] = if self.to - self.from < 3.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
            let powers = self.from.floor() as i32..=self.to.floor() as i32;
            return powers
                .flat_map(|power| factors.iter().map(move |factor| factor * 10_f64.powi(power)))
                .filter(|value| (self.from - 1e-9..=self.to + 1e-9).contains(&value.log10()))
                .map(|value| (value, brief(value)))
                .collect();
        }
        let raw = (self.to - self.from) / 5.0;
        let unit = 10_f64.powf(raw.log10().floor());
        let step =
            [1.0, 2.0, 5.0, 10.0].map(|factor| factor * unit).into_iter().find(|s| *s >= raw);
        let step = step.unwrap_or(raw);
        let first = (self.from / step).ceil() as i64;
        let last = (self.to / step + 1e-9).floor() as i64;
        let values = (first..=last).map(|at| at as f64 * step);
        values
            .map(|value| match self.scale {
                Scale::Linear => (value, brief(value)),
                Scale::Logarithmic => (10_f64.powf(value), brief(10_f64.powf(value))),
            })
            .collect()
    }
}

fn fits(value: f64, scale: Scale) -> bool {
    value.is_finite() && (scale == Scale::Linear || value > 0.0)
}

fn scaled(value: f64, scale: Scale) -> f64 {
    if scale == Scale::Logarithmic { value.log10() } else { value }
}

impl Chart<'_> {
    /// It as a figure with a legend; nothing where no series has a point.
    pub(super) fn draw(&self) -> Markup {
        let fit = |point: &&[f64; 2]| fits(point[0], self.x.1) && point[1].is_finite();
        let points = || self.series.iter().flat_map(|series| &series.points).filter(fit);
        if points().next().is_none() {
            return html! {};
        }
        if !self.says_more_than_points(fit) {
            return self.told(fit);
        }
        let [left, top, right, bottom] = MARGIN;
        let (width, height) = (SIZE[0] - left - right, SIZE[1] - top - bottom);
        let x = Axis::over(points().map(|point| point[0]), self.x.1, left, width);
        let bands = self.series.iter().flat_map(|series| series.band.iter().flatten().copied());
        let values = points().map(|point| point[1]).chain(bands);
        let y = Axis::over(values, Scale::Linear, top + height, -height);
        html! {
            figure.chart {
                figcaption { (self.title) }
                svg viewBox={ "0 0 " (SIZE[0]) " " (SIZE[1]) } role="img" aria-label=(self.title) {
                    @for (value, label) in y.ticks() {
                        line.grid x1=(left) x2=(left + width)
                            y1=(round(y.place(value))) y2=(round(y.place(value))) {}
                        text.tick x=(left - 6.0) y=(round(y.place(value) + 4.0))
                            text-anchor="end" { (label) }
                    }
                    @for (value, label) in x.ticks() {
                        line.grid x1=(round(x.place(value))) x2=(round(x.place(value)))
                            y1=(top) y2=(top + height) {}
                        text.tick x=(round(x.place(value))) y=(top + height + 17.0)
                            text-anchor="middle" { (label) }
                    }
                    text.label x=(left + width / 2.0) y=(SIZE[1] - 6.0)
                        text-anchor="middle" { (self.x.0) }
                    text.label transform={ "translate(13 " (top + height / 2.0) ") rotate(-90)" }
                        text-anchor="middle" { (self.y) }
                    @for (at, series) in self.series.iter().enumerate() {
                        (self.one(series, at, &x, &y))
                    }
                }
                @if self.series.len() > 1 {
                    div.legend {
                        @for (at, series) in self.series.iter().enumerate() {
                            span.key { i class={ "c" (at % COLOURS) } {} (series.name) }
                        }
                    }
                }
            }
        }
    }

    /// Whether there is more to see than one point of each line.
    fn says_more_than_points(&self, fit: impl Fn(&&[f64; 2]) -> bool) -> bool {
        self.series.iter().any(|series| {
            let mut points = series.points.iter().filter(&fit);
            let first = points.next();
            first.is_some_and(|first| points.any(|point| point != first))
        })
    }

    /// The points in words, where a chart of them would show nothing.
    fn told(&self, fit: impl Fn(&&[f64; 2]) -> bool) -> Markup {
        let points =
            self.series.iter().filter_map(|one| Some((one, one.points.iter().find(&fit)?)));
        let points: Vec<(&Series, &[f64; 2])> = points.collect();
        html! {
            div {
                h4 { (self.title) }
                dl.figures {
                    @for (series, [x, y]) in points {
                        div { dt { (series.name) } dd { (brief(*y)) " at " (brief(*x)) " (" (self.x.0) ")" } }
                    }
                }
            }
        }
    }

    fn one(&self, series: &Series, at: usize, x: &Axis, y: &Axis) -> Markup {
        let places: Vec<(usize, f64, f64)> = series
            .points
            .iter()
            .enumerate()
            .filter(|(_, point)| fits(point[0], self.x.1) && point[1].is_finite())
            .map(|(index, point)| (index, round(x.place(point[0])), round(y.place(point[1]))))
            .collect();
        let mut path = String::new();
        for (step, (_, x, y)) in places.iter().enumerate() {
            let part = match (step, series.shape) {
                (0, _) => format!("M{x} {y}"),
                (_, Shape::Steps) => format!("H{x}V{y}"),
                _ => format!("L{x} {y}"),
            };
            path.push_str(&part);
        }
        let mut band = String::new();
        if series.band.len() == series.points.len() && !series.band.is_empty() {
            let edge = |(index, x, _): &(usize, f64, f64), side: usize| {
                format!("{x},{} ", round(y.place(series.band[*index][side])))
            };
            band.extend(places.iter().map(|place| edge(place, 0)));
            band.extend(places.iter().rev().map(|place| edge(place, 1)));
        }
        html! {
            g class={ "series c" (at % COLOURS) } {
                @if !band.is_empty() { polygon.band points=(band.trim_end()) {} }
                @if series.shape != Shape::Dots { path.line d=(path) {} }
                @if series.shape != Shape::Steps {
                    @for (index, x, y) in &places {
                        circle cx=(x) cy=(y) r="3.5" {
                            title {
                                (series.notes.get(*index).cloned().unwrap_or_else(|| format!(
                                    "{}: {}, {}",
                                    series.name,
                                    brief(series.points[*index][0]),
                                    brief(series.points[*index][1])
                                )))
                            }
                        }
                    }
                }
            }
        }
    }
}

fn round(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within_the_axis() {
        let axis = Axis::over([0.0, 0.93].into_iter(), Scale::Linear, 0.0, 100.0);
        let labels: Vec<String> = axis.ticks().into_iter().map(|(_, label)| label).collect();
        assert_eq!(labels, ["0", "0.2", "0.4", "0.6", "0.8"]);
        let axis = Axis::over([0.5, 2000.0].into_iter(), Scale::Logarithmic, 0.0, 100.0);
        let labels: Vec<String> = axis.ticks().into_iter().map(|(_, label)| label).collect();
        assert_eq!(labels, ["1", "10", "100", "1000"]);
        assert!((axis.place(0.5)).abs() < 1e-9 && (axis.place(2000.0) - 100.0).abs() < 1e-9);
    }

    #[test]
    fn values_that_cannot_be_drawn_are_left_out() {
        let points = vec![[0.0, 1.0], [f64::NAN, 2.0], [10.0, 3.0], [100.0, f64::INFINITY]];
        let chart = Chart {
            title: "<t>",
            x: ("time", Scale::Logarithmic),
            y: "value",
            series: vec![Series::new("s", Shape::Line, [points, vec![[20.0, 4.0]]].concat())],
        };
        let html = chart.draw().into_string();
        assert_eq!(html.matches("<circle").count(), 2, "{html}");
        assert!(html.contains("&lt;t&gt;") && !html.contains("NaN"));
        let point = |name: &str| Series::new(name, Shape::Steps, vec![[2.0, 0.5], [2.0, 0.5]]);
        let series = vec![point("one"), point("other")];
        let told = Chart { title: "t", x: ("seconds", Scale::Linear), y: "y", series }.draw();
        let told = told.into_string();
        assert!(!told.contains("<svg") && told.contains("0.5 at 2 (seconds)"), "{told}");
        let empty = Chart { title: "t", x: ("x", Scale::Linear), y: "y", series: vec![] };
        assert_eq!(empty.draw().into_string(), "");
    }
}
