//! Figures 2 and 9 of BenchPress: kernels on the plane of two counters, on raw axes.

use crate::{Set, page::Page};
use dataset::Row as _;
use plotters::prelude::*;
use std::collections::BTreeMap;

/// The counters of the plane, of the space `grewe`.
const AXES: [&str; 2] = ["comp", "mem"];
/// Both axes are logarithmic from 1; 0 is drawn at this value.
const NOTHING: f64 = 0.5;
const COLORS: [RGBColor; 6] = [
    RGBColor(31, 119, 180),
    RGBColor(214, 39, 40),
    RGBColor(44, 160, 44),
    RGBColor(255, 127, 14),
    RGBColor(148, 103, 189),
    RGBColor(90, 90, 90),
];

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
    if let Some(svg) = draw(&clouds) {
        page.picture("plane", "comp and mem, both logarithmic", svg);
    }
    Ok(())
}

/// `None` where it cannot be drawn: the numbers are in the file.
fn draw(clouds: &[(String, BTreeMap<[u64; 2], u64>)]) -> Option<String> {
    let mut text = String::new();
    let most = |at: usize| {
        let all = clouds.iter().flat_map(|(_, cloud)| cloud.keys().map(move |point| point[at]));
        all.max().unwrap_or(1) as f64 * 1.5 + 2.0
    };
    {
        let area = SVGBackend::with_string(&mut text, (760, 520)).into_drawing_area();
        area.fill(&WHITE).ok()?;
        let mut chart = ChartBuilder::on(&area)
            .margin(16)
            .x_label_area_size(40)
            .y_label_area_size(56)
            .build_cartesian_2d((NOTHING..most(0)).log_scale(), (NOTHING..most(1)).log_scale())
            .ok()?;
        chart.configure_mesh().disable_mesh().x_desc(AXES[0]).y_desc(AXES[1]).draw().ok()?;
        for (at, (name, cloud)) in clouds.iter().enumerate() {
            let color = COLORS[at % COLORS.len()];
            let place = |value: u64| (value as f64).max(NOTHING);
            let points = cloud
                .keys()
                .map(|[x, y]| Circle::new((place(*x), place(*y)), 3, color.mix(0.5).filled()));
            let drawn = chart.draw_series(points).ok()?;
            drawn
                .label(name.as_str())
                .legend(move |(x, y)| Circle::new((x + 8, y), 4, color.filled()));
        }
        chart
            .configure_series_labels()
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK.mix(0.3))
            .draw()
            .ok()?;
        area.present().ok()?;
    }
    Some(text)
}
