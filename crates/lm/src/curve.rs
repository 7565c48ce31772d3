//! How training went, as a picture.

use crate::Metric;
use std::fmt::Write;

/// The curve of losses over tokens as a picture.
pub(crate) fn curve(metrics: &[Metric]) -> String {
    const WIDTH: f64 = 640.0;
    const HEIGHT: f64 = 360.0;
    const MARGIN: f64 = 48.0;
    let last = metrics.last().map_or(1.0, |metric| metric.tokens as f64).max(1.0);
    let top = metrics.iter().map(|metric| metric.loss).fold(0.1, f64::max);
    let point = |tokens: u64, loss: f64| {
        let x = MARGIN + tokens as f64 / last * (WIDTH - 2.0 * MARGIN);
        let y = HEIGHT - MARGIN - loss / top * (HEIGHT - 2.0 * MARGIN);
        format!("{x:.1},{y:.1} ")
    };
    let line = |points: String, color: &str| {
        format!("<polyline fill=\"none\" stroke=\"{color}\" points=\"{}\"/>\n", points.trim_end())
    };
    let training: String = metrics.iter().map(|m| point(m.tokens, m.loss)).collect();
    let validation: String = metrics
        .iter()
        .filter_map(|m| m.validation_loss.map(|loss| point(m.tokens, loss)))
        .collect();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" \
         fill=\"white\"/>\n"
    );
    svg += &line(training, "#8899aa");
    svg += &line(validation, "#cc3311");
    let (bottom, right) = (HEIGHT - MARGIN, WIDTH - MARGIN);
    // Writing to a string does not fail.
    let _ = write!(
        svg,
        "<path d=\"M{MARGIN} {MARGIN}V{bottom}H{right}\" fill=\"none\" stroke=\"black\"/>\n\
         <text x=\"{MARGIN}\" y=\"{:.0}\">loss of training (grey) and validation (red) in nats; top {top:.2}</text>\n\
         <text x=\"{right}\" y=\"{:.0}\" text-anchor=\"end\">{:.1} million tokens</text>\n</svg>\n",
        MARGIN - 12.0,
        HEIGHT - MARGIN + 20.0,
        last / 1e6,
    );
    svg
}
