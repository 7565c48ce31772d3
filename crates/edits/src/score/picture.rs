use super::FastP;
use crate::{Error, Result};
use plotters::prelude::{
    BLACK, ChartBuilder, IntoDrawingArea, IntoLogRange, LineSeries, RGBColor, SVGBackend, WHITE,
};

/// The fast_p curve as SVG: share of programs that are right and at least *p* times as fast, over *p*.
///
/// # Errors
/// When it cannot be drawn.
pub fn fast_p_picture(curve: &[FastP]) -> Result<String> {
    let mut text = String::new();
    draw(curve, &mut text).map_err(|reason| Error::Picture { what: "the fast_p curve", reason })?;
    Ok(text)
}

fn draw(curve: &[FastP], text: &mut String) -> std::result::Result<(), String> {
    let say = |error: &dyn std::fmt::Display| error.to_string();
    let area = SVGBackend::with_string(text, (640, 400)).into_drawing_area();
    area.fill(&WHITE).map_err(|e| say(&e))?;
    let mut chart = ChartBuilder::on(&area)
        .margin(16)
        .x_label_area_size(40)
        .y_label_area_size(56)
        .build_cartesian_2d((1.0..10.0).log_scale(), 0.0..1.0)
        .map_err(|e| say(&e))?;
    chart
        .configure_mesh()
        .x_desc("p: slow / candidate")
        .y_desc("share right and at least p times as fast")
        .axis_style(BLACK)
        .draw()
        .map_err(|e| say(&e))?;
    let points = curve.iter().map(|point| (point.p, point.share));
    chart.draw_series(LineSeries::new(points, &RGBColor(0x1f, 0x77, 0xb4))).map_err(|e| say(&e))?;
    area.present().map_err(|e| say(&e))
}
