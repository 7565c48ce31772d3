//! Pictures as SVG text, drawn in pixels.

use crate::{Error, Result};
use plotters::{
    coord::Shift,
    prelude::{
        Color, DrawingArea, IntoDrawingArea, PathElement, RGBColor, Rectangle, SVGBackend, Text,
    },
    style::{
        BLACK, IntoFont, WHITE,
        text_anchor::{HPos, Pos, VPos},
    },
};

/// Where a text stands relative to its point, left to right.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Align {
    Left,
    Middle,
    Right,
}

/// Draw a picture of `size` pixels.
pub(crate) fn svg(
    what: &str,
    size: (u32, u32),
    draw: impl FnOnce(&Canvas<'_>) -> std::result::Result<(), String>,
) -> Result<String> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        let canvas = Canvas { area };
        let drawn = canvas
            .area
            .fill(&WHITE)
            .map_err(|error| error.to_string())
            .and_then(|()| draw(&canvas))
            .and_then(|()| canvas.area.present().map_err(|error| error.to_string()));
        drawn.map_err(|reason| Error::Picture { what: what.to_owned(), reason })?;
    }
    Ok(text)
}

/// A picture being drawn.
pub(crate) struct Canvas<'a> {
    area: DrawingArea<SVGBackend<'a>, Shift>,
}

impl Canvas<'_> {
    /// A filled rectangle between two corners.
    pub(crate) fn fill(
        &self,
        corners: [(i32, i32); 2],
        colour: (u8, u8, u8),
    ) -> std::result::Result<(), String> {
        let style = RGBColor(colour.0, colour.1, colour.2).filled();
        self.area.draw(&Rectangle::new(corners, style)).map_err(|error| error.to_string())
    }

    /// A line of one pixel.
    pub(crate) fn line(&self, ends: [(i32, i32); 2]) -> std::result::Result<(), String> {
        self.area.draw(&PathElement::new(ends.to_vec(), BLACK)).map_err(|error| error.to_string())
    }

    /// A text whose vertical middle is at the point.
    pub(crate) fn text(
        &self,
        text: &str,
        at: (i32, i32),
        size: u32,
        align: Align,
    ) -> std::result::Result<(), String> {
        let side = match align {
            Align::Left => HPos::Left,
            Align::Middle => HPos::Center,
            Align::Right => HPos::Right,
        };
        let style =
            ("sans-serif", size).into_font().color(&BLACK).pos(Pos::new(side, VPos::Center));
        self.area.draw(&Text::new(text.to_owned(), at, style)).map_err(|error| error.to_string())
    }
}
