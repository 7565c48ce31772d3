//! Figures 2 and 9 of BenchPress: kernels on the plane of two counters, on raw axes.

use crate::{Set, page::Page};
use dataset::Row as _;
use std::{collections::BTreeMap, fmt::Write};

/// The counters of the plane, of the space `grewe`.
const AXES: [&str; 2] = ["comp", "mem"];
/// Both axes are logarithmic from 1; 0 is drawn at this value.
const NOTHING: f64 = 0.5;
pub(crate) const COLORS: [&str; 6] =
    ["#1f77b4", "#d62728", "#2ca02c", "#ff7f0e", "#9467bd", "#5a5a5a"];

pub(crate) fn make(sets: &[Set], page: &mut Page) -> dataset::Result<()> {
    let Some(space) = features::ALL.into_iter().find(|space| space.name() == "grewe") else {
        return Ok(());
    };
    let names = space.dimensions();
    let places = AXES.map(|axis| names.iter().position(|name| *name == axis));
    let [Some(first), Some(second)] = places else { return Ok(()) };
    let mut clouds: Vec<(String, BTreeMap<[u64; 2], u64>)> = Vec::new();
    for set in sets.iter().filter(|set| set.is(features::Row::SCHEMA)) {
        let mut cloud: BTreeMap<[u64; 2], u64> = BTreeMap::new();
        for row in set.dataset.rows::<features::Row>()? {
            if let Some(vector) = row?.vectors.get("grewe") {
                *cloud.entry([vector[first] as u64, vector[second] as u64]).or_default() += 1;
            }
        }
        if !cloud.is_empty() {
            clouds.push((set.name.clone(), cloud));
        }
    }
    if clouds.is_empty() {
        page.lacks("Figures 2 and 9", "data sets of `features --space grewe`");
        return Ok(());
    }
    let counts = clouds.iter().map(|(name, cloud)| {
        let all: u64 = cloud.values().sum();
        let range = |at: usize| cloud.keys().map(|point| point[at]).max().unwrap_or(0).to_string();
        vec![name.clone(), all.to_string(), cloud.len().to_string(), range(0), range(1)]
    });
    let header = ["data set", "kernels", "different points", "most comp", "most mem"];
    page.table(
        "figure2",
        "Figures 2 and 9: computation and memory accesses",
        &header,
        counts.collect(),
        "",
    );
    let rows: Vec<Vec<String>> = clouds
        .iter()
        .flat_map(|(name, cloud)| {
            cloud.iter().map(move |([x, y], n)| {
                vec![name.clone(), x.to_string(), y.to_string(), n.to_string()]
            })
        })
        .collect();
    page.csv("figure2-points", &["data set", "comp", "mem", "kernels"], rows.iter());
    page.picture("plane", "comp and mem, both logarithmic", draw(&clouds));
    Ok(())
}

/// Width and height of the picture, and what is left free for the axes' names.
pub(crate) const SIZE: [f64; 2] = [760.0, 520.0];
pub(crate) const MARGIN: f64 = 56.0;

/// The picture: a point for each pair of values, a color for each data set.
fn draw(clouds: &[(String, BTreeMap<[u64; 2], u64>)]) -> String {
    let most = |at: usize| {
        let all = clouds.iter().flat_map(|(_, cloud)| cloud.keys().map(move |point| point[at]));
        all.max().unwrap_or(1).max(10) as f64
    };
    let most = [most(0), most(1)];
    // From the left and from below, in pixels.
    let along = |at: usize, value: u64| {
        let value = (value as f64).max(NOTHING);
        (value / NOTHING).ln() / (most[at] / NOTHING).ln() * (SIZE[at] - 2.0 * MARGIN)
    };
    let x = |value: u64| MARGIN + along(0, value);
    let y = |value: u64| SIZE[1] - MARGIN - along(1, value);
    let (left, bottom) = (MARGIN, SIZE[1] - MARGIN);
    let mut svg = frame(&format!("Kernels by {} and {}", AXES[0], AXES[1]), AXES);
    // Writing to a string does not fail.
    for tick in [0, 1, 10, 100, 1_000, 10_000, 100_000_u64] {
        if tick as f64 <= most[0] {
            let _ = write!(
                svg,
                "<text x=\"{:.0}\" y=\"{}\" text-anchor=\"middle\">{tick}</text>",
                x(tick),
                bottom + 18.0
            );
        }
        if tick as f64 <= most[1] {
            let _ = write!(
                svg,
                "<text x=\"{}\" y=\"{:.0}\" text-anchor=\"end\">{tick}</text>",
                left - 6.0,
                y(tick) + 4.0
            );
        }
    }
    for (at, (name, cloud)) in clouds.iter().enumerate() {
        let color = COLORS[at % COLORS.len()];
        let _ = write!(svg, "<g fill=\"{color}\" fill-opacity=\"0.5\">");
        for [comp, mem] in cloud.keys() {
            let _ = write!(svg, "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\"/>", x(*comp), y(*mem));
        }
        let row = MARGIN + 16.0 * at as f64;
        let _ = write!(
            svg,
            "</g><circle cx=\"{}\" cy=\"{}\" r=\"4\" fill=\"{color}\"/><text x=\"{}\" y=\"{}\">{}</text>",
            left + 12.0,
            row - 4.0,
            left + 22.0,
            row,
            plain(name)
        );
    }
    svg + "</svg>\n"
}

/// A picture of lines, both axes logarithmic from 1: values below 1 are not drawn.
pub(crate) fn lines(x_name: &str, y_name: &str, lines: &[(String, Vec<[f64; 2]>)]) -> String {
    let most = |at: usize| {
        let all = lines.iter().flat_map(|(_, points)| points.iter().map(move |point| point[at]));
        all.fold(10.0, f64::max)
    };
    let most = [most(0), most(1)];
    let along = |at: usize, value: f64| value.ln() / most[at].ln() * (SIZE[at] - 2.0 * MARGIN);
    let x = |value: f64| MARGIN + along(0, value);
    let y = |value: f64| SIZE[1] - MARGIN - along(1, value);
    let (left, bottom) = (MARGIN, SIZE[1] - MARGIN);
    let mut svg = frame(&format!("{y_name} over {x_name}"), [x_name, y_name]);
    for tick in (0..13).map(|power| 10_f64.powi(power)) {
        let label = if tick < 1e6 { tick.to_string() } else { format!("{tick:e}") };
        // Writing to a string does not fail.
        if tick <= most[0] {
            let _ = write!(
                svg,
                "<text x=\"{:.0}\" y=\"{}\" text-anchor=\"middle\">{label}</text>",
                x(tick),
                bottom + 18.0
            );
        }
        if tick <= most[1] {
            let _ = write!(
                svg,
                "<text x=\"{}\" y=\"{:.0}\" text-anchor=\"end\">{label}</text>",
                left - 6.0,
                y(tick) + 4.0
            );
        }
    }
    for (at, (name, points)) in lines.iter().enumerate() {
        let color = COLORS[at % COLORS.len()];
        let places: Vec<String> = points
            .iter()
            .filter(|point| point[1] >= 1.0)
            .map(|point| format!("{:.1},{:.1}", x(point[0]), y(point[1])))
            .collect();
        let row = MARGIN + 16.0 * at as f64;
        let _ = write!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"/>\
             <circle cx=\"{}\" cy=\"{}\" r=\"4\" fill=\"{color}\"/><text x=\"{}\" y=\"{row}\">{}</text>",
            places.join(" "),
            left + 12.0,
            row - 4.0,
            left + 22.0,
            plain(name)
        );
    }
    svg + "</svg>\n"
}

/// The beginning of a picture: its title, and its axes with their names.
pub(crate) fn frame(title: &str, [x_name, y_name]: [&str; 2]) -> String {
    let [width, height] = SIZE;
    let (left, bottom) = (MARGIN, height - MARGIN);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\" role=\"img\">\
         <title>{title}</title><rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\
         <path d=\"M{left} {MARGIN}V{bottom}H{}\" fill=\"none\" stroke=\"#000\"/>\
         <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{x_name}</text><text x=\"8\" y=\"{}\">{y_name}</text>",
        width - MARGIN,
        width / 2.0,
        height - 12.0,
        MARGIN - 16.0
    )
}

/// A data set's name as text of XML.
pub(crate) fn plain(name: &str) -> String {
    name.replace('&', "&amp;").replace('<', "&lt;").replace(|c: char| c.is_control(), " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_begin_where_there_is_a_match() {
        let svg =
            lines("n", "m", &[("a<b".to_owned(), vec![[1.0, 0.1], [10.0, 1.0], [100.0, 10.0]])]);
        assert!(svg.contains("a&lt;b") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        assert!(svg.contains("points=\"380.0,464.0 704.0,56.0\""), "{svg}");
    }

    #[test]
    fn a_picture_has_a_point_for_each_pair_of_values_and_no_markup_of_names() {
        let cloud: BTreeMap<[u64; 2], u64> = [([0, 0], 3), ([100, 5], 1)].into();
        let svg = draw(&[("a<b&\u{7}".to_owned(), cloud)]);
        assert_eq!(svg.matches("r=\"3\"").count(), 2);
        assert!(svg.contains("a&lt;b&amp; </text>") && !svg.contains("NaN"), "{svg}");
        // The least value stands in the corner, the greatest at the end of its axis.
        assert!(svg.contains("cx=\"56.0\" cy=\"464.0\"") && svg.contains("cx=\"704.0\""), "{svg}");
    }
}
