//! Feature maps: the vectors of all data sets of the folder in each space, on the plane that
//! `project` puts them on.

use crate::{
    Set,
    programs::{Programs, spread},
};
use dataset::Row as _;
use features::{ALL, CELLS, FeatureSpace, Points, project};
use maud::{Markup, html};
use rows::LearnedRow;
use rows::SteeredRow;
use serde::Serialize;

/// The map of one space, as the page's script draws it.
#[derive(Debug, Serialize)]
pub(super) struct Map {
    space: &'static str,
    /// Shares of the variance along the axes.
    explained: [f64; 2],
    sets: Vec<Cloud>,
}

/// Some vectors of one kind on a map, by columns.
#[derive(Debug, Default, Serialize)]
struct Cloud {
    name: String,
    x: Vec<f64>,
    y: Vec<f64>,
    /// What a pointer over each point shows.
    label: Vec<String>,
    /// Places in the list of programs; -1 for what is not on the page.
    program: Vec<i64>,
    /// The votes' entropy where it was asked for one; empty where not.
    value: Vec<f64>,
    /// Points that are not drawn.
    left_out: usize,
}

/// Points of one cloud that are drawn at most.
const MOST: usize = 20_000;

/// A vector on its way to a map.
struct Point {
    label: String,
    /// Identity of its program.
    id: String,
    vector: Vec<f64>,
    value: Option<f64>,
}

/// A map for each space with at least two vectors.
pub(super) fn maps(sets: &[Set], programs: &Programs, problems: &mut Vec<String>) -> Vec<Map> {
    let mut found: Vec<Vec<(String, Vec<Point>)>> = ALL.iter().map(|_| Vec::new()).collect();
    for set in sets {
        let read = match set.dataset.manifest().schema.as_str() {
            features::Row::SCHEMA => described(set, &mut found),
            SteeredRow::SCHEMA => steered(set, &mut found),
            LearnedRow::SCHEMA => learned(set, &mut found),
            _ => Ok(()),
        };
        if let Err(error) = read {
            problems.push(error.to_string());
        }
    }
    let mut maps = Vec::new();
    for (space, clouds) in ALL.into_iter().zip(found) {
        if clouds.iter().map(|(_, points)| points.len()).sum::<usize>() < 2 {
            continue;
        }
        match map(space, clouds, programs) {
            Ok(map) => maps.push(map),
            Err(error) => problems.push(error.to_string()),
        }
    }
    maps
}

type Found = [Vec<(String, Vec<Point>)>];

fn described(set: &Set, found: &mut Found) -> dataset::Result<()> {
    let mut clouds: Vec<Vec<Point>> = ALL.iter().map(|_| Vec::new()).collect();
    for row in set.dataset.rows::<features::Row>()? {
        let mut row = row?;
        let label = label(&row.kernel, &row.path);
        for (space, cloud) in ALL.iter().zip(&mut clouds) {
            if let Some(vector) = row.vectors.remove(space.name()) {
                let (label, id) = (label.clone(), row.id.clone());
                cloud.push(Point { label, id, vector, value: None });
            }
        }
    }
    for (at, cloud) in clouds.into_iter().enumerate() {
        push(found, Some(at), set.name.clone(), cloud);
    }
    Ok(())
}

fn steered(set: &Set, found: &mut Found) -> dataset::Result<()> {
    let mut points = Vec::new();
    let mut space = None;
    for row in set.dataset.rows::<SteeredRow>()? {
        let row = row?;
        if row.text.is_empty() {
            continue;
        }
        space = space.or_else(|| place(&row.space));
        points.push(Point {
            label: format!("{}, proximity {:.3}", row.path, row.proximity),
            id: dataset::content_hash(row.text.as_bytes()),
            vector: row.vector,
            value: None,
        });
    }
    push(found, space, set.name.clone(), points);
    Ok(())
}

fn learned(set: &Set, found: &mut Found) -> dataset::Result<()> {
    // Data sets whose maker did not say which space: only some have that many dimensions.
    let named = set.dataset.manifest().notes.configuration["space"].as_str().and_then(place);
    let mut space = named;
    let mut clouds: Vec<(String, Vec<Point>)> = Vec::new();
    for row in set.dataset.rows::<LearnedRow>()? {
        let row = row?;
        let fits = |at: usize| ALL[at].dimensions().len() == row.vector.len();
        space = space.or_else(|| (0..ALL.len()).find(|at| fits(*at)));
        let id = dataset::content_hash(row.text.as_bytes());
        let made = row.role == "round";
        let mut add = |name: String, point: Point| match clouds
            .iter_mut()
            .find(|(other, _)| *other == name)
        {
            Some((_, points)) => points.push(point),
            None => clouds.push((name, vec![point])),
        };
        if made {
            let label = format!("asked in round {}: {:.3} bits", row.round, row.entropy);
            let point =
                Point { label, id: id.clone(), vector: row.target, value: Some(row.entropy) };
            add(format!("{}: asked in round {}", set.name, row.round), point);
        }
        let label = match made {
            true => format!("made in round {}, proximity {:.3}", row.round, row.proximity),
            false => format!("{} {}", row.role, row.path),
        };
        let kind = if made { "made" } else { row.role.as_str() };
        let name = format!("{}: {kind}", set.name);
        add(name, Point { label, id, vector: row.vector, value: None });
    }
    for (name, points) in clouds {
        push(found, space, name, points);
    }
    Ok(())
}

fn place(name: &str) -> Option<usize> {
    ALL.iter().position(|space| space.name() == name)
}

fn push(found: &mut Found, space: Option<usize>, name: String, points: Vec<Point>) {
    if let (Some(space), false) = (space, points.is_empty()) {
        found[space].push((name, points));
    }
}

fn label(kernel: &str, path: &str) -> String {
    if kernel.is_empty() { path.to_owned() } else { format!("{kernel}, {path}") }
}

fn map(
    space: &'static dyn FeatureSpace,
    clouds: Vec<(String, Vec<Point>)>,
    programs: &Programs,
) -> Result<Map, features::Error> {
    let points: Vec<Points> = clouds
        .iter()
        .map(|(name, points)| Points {
            name: name.clone(),
            vectors: points.iter().map(|point| point.vector.clone()).collect(),
            without: 0,
        })
        .collect();
    let projection = project(space, &points, None, CELLS)?;
    let sets = clouds.into_iter().zip(projection.places()).map(|((name, points), places)| {
        let mut cloud =
            Cloud { name, left_out: points.len().saturating_sub(MOST), ..Cloud::default() };
        let placed: Vec<(Point, &[f64; 2])> = points.into_iter().zip(places).collect();
        for (point, place) in spread(placed, MOST) {
            cloud.x.push(round(place[0]));
            cloud.y.push(round(place[1]));
            cloud.label.push(point.label);
            let program = programs.place(&point.id).and_then(|place| i64::try_from(place).ok());
            cloud.program.push(program.unwrap_or(-1));
            cloud.value.extend(point.value);
        }
        cloud
    });
    let sets = sets.collect();
    Ok(Map { space: space.name(), explained: projection.report().explained_variance, sets })
}

fn round(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

/// The part of the page that the script fills.
pub(super) fn body(maps: &[Map]) -> Markup {
    html! {
        p.note {
            "The plane of the first two principal components of ln(1 + |x|), each dimension brought "
            "to mean 0 and standard deviation 1 (as " code { "stampmill project" } " draws it). "
            "Wheel or buttons zoom, dragging moves, a click keeps a program beside the map, the "
            "legend shows and hides."
        }
        div.map #map {
            div.canvas {
                div.controls {
                    span.spaces role="group" aria-label="feature space" {
                        @for (at, map) in maps.iter().enumerate() {
                            button type="button" data-map=(at) { (map.space) }
                        }
                    }
                    span.zoom {
                        button #closer type="button" aria-label="zoom in" { "+" }
                        button #farther type="button" aria-label="zoom out" { "−" }
                        button #whole type="button" { "whole" }
                    }
                }
                canvas #plane tabindex="0" aria-label="feature map" {}
                div #tip hidden {}
                div.legend #clouds {}
                p.note #axes {}
            }
            div.reader #pinned {}
        }
        noscript { p.problem { "The maps and the programs need JavaScript." } }
    }
}
