use super::Projection;
use crate::Error;
use plotters::{
    chart::{ChartBuilder, SeriesLabelPosition},
    coord::Shift,
    drawing::{DrawingArea, IntoDrawingArea},
    element::{Circle, Cross, EmptyElement},
    prelude::{BitMapBackend, DrawingBackend, SVGBackend},
    style::{BLACK, Color, FontStyle, IntoFont, RGBColor, WHITE, register_font},
};
use std::{path::Path, sync::Once};

const SIZE: (u32, u32) = (1000, 760);
const FONT: &str = "sans-serif";

/// Okabe and Ito's colours, which people with any colour vision tell apart; black is the targets'.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(230, 159, 0),
    RGBColor(0, 158, 115),
    RGBColor(213, 94, 0),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(240, 228, 66),
];

pub(super) fn draw(projection: &Projection, path: &Path) -> Result<(), Error> {
    // A picture must not depend on which fonts a machine has.
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        // The font is built in and sound; were it not, drawing would say so.
        let _ = register_font(FONT, FontStyle::Normal, dejavu::sans::regular());
    });
    let drawn = if path.extension().is_some_and(|extension| extension == "svg") {
        scatter(projection, &SVGBackend::new(path, SIZE).into_drawing_area())
    } else {
        scatter(projection, &BitMapBackend::new(path, SIZE).into_drawing_area())
    };
    drawn.map_err(|reason| Error::Draw { path: path.to_owned(), reason })
}

fn scatter<B: DrawingBackend>(
    projection: &Projection,
    area: &DrawingArea<B, Shift>,
) -> Result<(), String> {
    let said = |error: &dyn std::fmt::Display| error.to_string();
    area.fill(&WHITE).map_err(|error| said(&error))?;
    let report = projection.report();
    let [first, second] = report.explained_variance.map(|share| share * 100.0);
    let title =
        format!("{}: {} vectors, {} distinct", report.space, report.vectors, report.distinct);
    let mut chart = ChartBuilder::on(area)
        .margin(16)
        .caption(title, (FONT, 22).into_font())
        .x_label_area_size(44)
        .y_label_area_size(56)
        .build_cartesian_2d(range(projection, 0), range(projection, 1))
        .map_err(|error| said(&error))?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .x_desc(format!("first component, {first:.1} % of the variance"))
        .y_desc(format!("second component, {second:.1} % of the variance"))
        .label_style((FONT, 14).into_font())
        .draw()
        .map_err(|error| said(&error))?;
    let sets = report.sets.len();
    for (index, (name, places)) in projection.names.iter().zip(&projection.places).enumerate() {
        let label = format!("{name} ({})", places.len());
        let places = places.iter().map(|place| (place[0], place[1]));
        if index < sets {
            let style = COLOURS[index % COLOURS.len()].mix(0.55).filled();
            let dots = places.map(|at| Circle::new(at, 3, style));
            let legend = chart.draw_series(dots).map_err(|error| said(&error))?;
            legend.label(label).legend(move |at| Circle::new(at, 4, style));
        } else {
            let crosses = places
                .map(|at| EmptyElement::at(at) + Cross::new((0, 0), 4, BLACK.stroke_width(1)));
            let legend = chart.draw_series(crosses).map_err(|error| said(&error))?;
            legend.label(label).legend(|at| Cross::new(at, 4, BLACK.stroke_width(1)));
        }
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.3))
        .label_font((FONT, 15).into_font())
        .draw()
        .map_err(|error| said(&error))?;
    area.present().map_err(|error| said(&error))
}

/// The extent of all places along an axis, with a margin.
fn range(projection: &Projection, axis: usize) -> std::ops::Range<f64> {
    let values = projection.places.iter().flatten().map(|place| place[axis]);
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    let margin = ((high - low) * 0.05).max(0.5);
    low - margin..high + margin
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Points, project::project, space::space};

    fn projection() -> Projection {
        let set = |name: &str, vectors: &[[f64; 2]]| Points {
            name: name.to_owned(),
            vectors: vectors.iter().map(|vector| vector.to_vec()).collect(),
            without: 0,
        };
        let sets: Vec<Points> = (0..9)
            .map(|at| set(&format!("set {at}"), &[[f64::from(at), 0.0], [0.0, 1.0]]))
            .collect();
        let targets = set("wanted", &[[3.0, 4.0], [5.0, 4.0]]);
        project(space("ast-depth").expect("registered"), &sets, Some(&targets), 4).expect("sound")
    }

    #[test]
    fn an_axis_is_a_twentieth_longer_at_both_ends_than_what_lies_on_it() {
        let mut projection = projection();
        projection.places = vec![vec![[1.0, -2.0], [3.0, 38.0]], vec![[2.0, 0.0]]];
        // Of a short axis it is a half.
        assert_eq!(range(&projection, 0), 0.5..3.5);
        assert_eq!(range(&projection, 1), -4.0..40.0);
    }

    #[test]
    fn sets_are_dots_in_their_colors_and_targets_are_black_crosses() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("map.svg");
        draw(&projection(), &path).expect("it is drawn");
        let text = std::fs::read_to_string(&path).expect("it was written");
        // Two of each set, and one in the legend.
        assert_eq!(text.matches("<circle").count(), 9 * 3);
        let of = |color: &RGBColor| {
            text.matches(&format!("fill=\"#{:02X}{:02X}{:02X}\"", color.0, color.1, color.2))
                .count()
        };
        // Of nine sets the last two begin the colors again.
        let counts: Vec<usize> = COLOURS.iter().map(of).collect();
        assert_eq!(counts, [6, 6, 3, 3, 3, 3, 3]);
        for label in ["set 0 (2)", "set 8 (2)", "wanted (2)"] {
            assert!(text.contains(label), "{label}");
        }
    }
}
