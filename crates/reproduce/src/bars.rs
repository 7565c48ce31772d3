//! Bars side by side, as a picture.

use crate::plane::{COLORS, MARGIN, SIZE, frame, plain};
use std::fmt::Write;

/// Groups whose names have room below them; of more groups only every so many has one.
const NAMES: usize = 12;

/// Bars from 0 up, one of each series in every group.
pub(crate) struct Bars<'a> {
    /// What groups are, and what bars say.
    pub(crate) axes: [&'a str; 2],
    /// Names of the groups, from the left.
    pub(crate) groups: Vec<String>,
    /// The name of each series and its values, one for each group; where there is none, no bar.
    pub(crate) series: Vec<(String, Vec<Option<f64>>)>,
}

impl Bars<'_> {
    pub(crate) fn draw(&self) -> String {
        let [x_name, y_name] = self.axes;
        let values = self.series.iter().flat_map(|(_, values)| values.iter().flatten());
        let finite = values.filter(|value| value.is_finite());
        let most = match finite.fold(0.0, |most: f64, value| most.max(*value)) {
            most if most > 0.0 => most,
            _ => 1.0,
        };
        let (left, bottom) = (MARGIN, SIZE[1] - MARGIN);
        let y = |value: f64| bottom - value / most * (SIZE[1] - 2.0 * MARGIN);
        let group_width = (SIZE[0] - 2.0 * MARGIN) / self.groups.len().max(1) as f64;
        let bar_width = 0.8 * group_width / self.series.len().max(1) as f64;
        let mut svg = frame(&format!("{y_name} by {x_name}"), self.axes);
        let step = step(most);
        let digits = (-step.log10()).ceil().max(0.0) as usize;
        for tick in
            (0..=5).map(|at| f64::from(at) * step).take_while(|tick| *tick <= most * (1.0 + 1e-9))
        {
            // Writing to a string does not fail.
            let _ = write!(
                svg,
                "<text x=\"{}\" y=\"{:.0}\" text-anchor=\"end\">{tick:.digits$}</text>",
                left - 6.0,
                y(tick) + 4.0
            );
        }
        for (at, name) in
            self.groups.iter().enumerate().step_by(self.groups.len().div_ceil(NAMES).max(1))
        {
            let middle = left + (at as f64 + 0.5) * group_width;
            let short: String = name.chars().take(14).collect();
            let _ = write!(
                svg,
                "<text x=\"{middle:.1}\" y=\"{}\" text-anchor=\"middle\" font-size=\"10\">{}</text>",
                bottom + 16.0,
                plain(&short)
            );
        }
        for (number, (name, values)) in self.series.iter().enumerate() {
            let color = COLORS[number % COLORS.len()];
            let _ = write!(svg, "<g fill=\"{color}\">");
            for (at, value) in values.iter().enumerate() {
                let Some(value) = value.filter(|value| value.is_finite()) else { continue };
                let x = left + (at as f64 + 0.1) * group_width + number as f64 * bar_width;
                let _ = write!(
                    svg,
                    "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"{bar_width:.1}\" height=\"{:.1}\"/>",
                    y(value),
                    bottom - y(value)
                );
            }
            let row = 16.0 * (number + 1) as f64;
            let _ = write!(
                svg,
                "</g><circle cx=\"{}\" cy=\"{}\" r=\"4\" fill=\"{color}\"/><text x=\"{}\" y=\"{row}\">{}</text>",
                SIZE[0] / 2.0,
                row - 4.0,
                SIZE[0] / 2.0 + 10.0,
                plain(name)
            );
        }
        svg + "</svg>\n"
    }
}

/// The distance between ticks: five of them, or fewer, reach `most`, which is above 0.
fn step(most: f64) -> f64 {
    let unit = 10_f64.powf((most / 5.0).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * unit);
    steps.into_iter().find(|step| step * 5.0 >= most).unwrap_or(10.0 * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_stands_for_each_value_and_names_are_text() {
        let bars = Bars {
            axes: ["target", "proximity"],
            groups: vec!["a<b".to_owned(), "c".to_owned()],
            series: vec![
                ("one".to_owned(), vec![Some(0.5), None]),
                ("x&y".to_owned(), vec![Some(1.0), Some(0.0)]),
            ],
        };
        let svg = bars.draw();
        assert_eq!(svg.matches("<rect x=").count(), 3, "{svg}");
        assert!(svg.contains("a&lt;b") && svg.contains("x&amp;y") && !svg.contains("NaN"), "{svg}");
        // The greatest value reaches the top: 408 of 520 pixels.
        assert!(svg.contains("height=\"408.0\"") && svg.contains("height=\"204.0\""), "{svg}");
        assert!(svg.contains(">0.0</text>") && svg.contains(">1.0</text>"), "{svg}");
    }

    #[test]
    fn nothing_to_draw_is_an_empty_picture() {
        let svg = Bars { axes: ["x", "y"], groups: Vec::new(), series: Vec::new() }.draw();
        assert!(!svg.contains("NaN") && !svg.contains("inf") && svg.ends_with("</svg>\n"), "{svg}");
    }

    #[test]
    fn ticks_are_few_and_round() {
        for (most, wanted) in [(1.0, 0.2), (100.0, 20.0), (37.0, 10.0), (0.04, 0.01)] {
            assert!((step(most) - wanted).abs() < 1e-9, "{most}: {}", step(most));
        }
    }
}
