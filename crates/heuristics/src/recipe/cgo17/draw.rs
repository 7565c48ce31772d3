//! The results as pictures.

use super::{Results, data::SUITES};
use crate::{
    Result,
    picture::{Align, svg},
};

/// Without and with CLgen's kernels.
const SHADES: [(u8, u8, u8); 2] = [(150, 180, 210), (60, 100, 150)];

/// Table 1 as a map of shades, one per platform.
pub(super) fn table1(results: &Results) -> Result<String> {
    const CELL: i32 = 62;
    const LEFT: i32 = 90;
    let platform_width = LEFT + CELL * SUITES.len() as i32 + 20;
    let size = (2 * platform_width as u32, (80 + CELL * SUITES.len() as i32) as u32);
    svg("table 1", size, |canvas| {
        for (number, (platform, cells)) in results.table1.iter().enumerate() {
            let left = number as i32 * platform_width + LEFT;
            let title =
                format!("{platform}: % of the oracle, trained on the column, tested on the row");
            canvas.text(&title, (left, 20), 13, Align::Left)?;
            for (row, tested) in SUITES.into_iter().enumerate() {
                let y = 60 + row as i32 * CELL;
                canvas.text(tested, (left - 8, y + CELL / 2), 12, Align::Right)?;
                for (column, training) in SUITES.into_iter().enumerate() {
                    let x = left + column as i32 * CELL;
                    if row == 0 {
                        canvas.text(training, (x + CELL / 2, 48), 12, Align::Middle)?;
                    }
                    let value = cells[tested][training];
                    let dark = |full: f64| (255.0 - (255.0 - full) * value / 130.0) as u8;
                    canvas.fill(
                        [(x + 1, y + 1), (x + CELL - 1, y + CELL - 1)],
                        (dark(40.0), dark(110.0), dark(180.0)),
                    )?;
                    let middle = (x + CELL / 2, y + CELL / 2);
                    canvas.text(&format!("{value:.1}"), middle, 13, Align::Middle)?;
                }
            }
        }
        Ok(())
    })
}

/// Figure 7 as published beside Figure 7 the right way up.
pub(super) fn figure7(results: &Results) -> Result<String> {
    const BASE: i32 = 300;
    svg("figure 7", (860, 380), |canvas| {
        let titles = [
            "published formula: predicted / static, arithmetic mean",
            "right way up: static / predicted, geometric mean",
        ];
        for (side, title) in titles.into_iter().enumerate() {
            let left = 50 + side as i32 * 420;
            canvas.text(title, (left, 20), 13, Align::Left)?;
            let greatest = if side == 0 { 3.5 } else { 1.75 };
            let height = |value: f64| BASE - (value / greatest * f64::from(BASE - 50)) as i32;
            for (number, (platform, figure)) in results.figure7.iter().enumerate() {
                let x = left + 30 + number as i32 * 170;
                let right = &figure.right_orientation;
                let values = if side == 0 { figure.paper_formula } else { right.geomean };
                for (bar, (value, shade)) in values.into_iter().zip(SHADES).enumerate() {
                    let x = x + bar as i32 * 50;
                    canvas.fill([(x, height(value)), (x + 44, BASE)], shade)?;
                    let above = (x + 22, height(value) - 9);
                    canvas.text(&format!("{value:.2}"), above, 12, Align::Middle)?;
                }
                if side == 1 {
                    let y = height(right.oracle_geomean);
                    canvas.line([(x, y), (x + 94, y)])?;
                    canvas.text("oracle", (x + 98, y), 11, Align::Left)?;
                }
                canvas.text(platform, (x + 47, BASE + 14), 13, Align::Middle)?;
            }
            canvas.line([(left, BASE), (left + 370, BASE)])?;
            canvas.line([(left, height(1.0)), (left + 370, height(1.0))])?;
            canvas.text("1", (left - 6, height(1.0)), 12, Align::Right)?;
        }
        for (place, (name, shade)) in
            ["trained on the suites", "and on CLgen's kernels"].into_iter().zip(SHADES).enumerate()
        {
            let x = 80 + place as i32 * 220;
            canvas.fill([(x, 342), (x + 16, 358)], shade)?;
            canvas.text(name, (x + 24, 350), 12, Align::Left)?;
        }
        Ok(())
    })
}

/// Figure 8 as published beside Figure 8 the right way up.
pub(super) fn figure8(results: &Results) -> Result<String> {
    const BASE: i32 = 300;
    const PANELS: [(&str, f64); 2] = [
        ("published formula: new / old, arithmetic mean", 5.5),
        ("right way up: old / new, geometric mean", 1.25),
    ];
    svg("figure 8", (860, 330), |canvas| {
        for (side, (title, greatest)) in PANELS.into_iter().enumerate() {
            let left = 50 + side as i32 * 420;
            canvas.text(title, (left, 20), 13, Align::Left)?;
            let height = |value: f64| BASE - (value / greatest * f64::from(BASE - 50)) as i32;
            for (number, (platform, figure)) in results.figure8.iter().enumerate() {
                let x = left + 60 + number as i32 * 170;
                let right = &figure.right_orientation;
                let value = if side == 0 { figure.paper_formula } else { right.geomean };
                canvas.fill([(x, height(value)), (x + 60, BASE)], SHADES[1])?;
                let above = (x + 30, height(value) - 9);
                canvas.text(&format!("{value:.2}"), above, 12, Align::Middle)?;
                canvas.text(platform, (x + 30, BASE + 14), 13, Align::Middle)?;
            }
            canvas.line([(left, BASE), (left + 370, BASE)])?;
            canvas.line([(left, height(1.0)), (left + 370, height(1.0))])?;
            canvas.text("1", (left - 6, height(1.0)), 12, Align::Right)?;
        }
        Ok(())
    })
}
