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
use std::collections::HashSet;

/// The map of one space, as the page's script draws it.
#[derive(Debug, Serialize)]
pub(super) struct Map {
    space: &'static str,
    /// Names of its values, in order.
    dimensions: Vec<&'static str>,
    /// Shares of the variance along the axes.
    explained: [f64; 2],
    sets: Vec<Cloud>,
}

/// Some vectors of one kind on a map, by columns.
#[derive(Debug, Default, Serialize)]
struct Cloud {
    name: String,
    /// The data set, as a command in the folder names it.
    from: String,
    /// What SQL compares with `id`.
    key: &'static str,
    /// The level that its vectors were counted at, where that is another than `steer`'s.
    #[serde(skip_serializing_if = "Option::is_none")]
    opt: Option<u64>,
    x: Vec<f64>,
    y: Vec<f64>,
    /// What a pointer over each point shows.
    label: Vec<String>,
    /// Places in the list of programs; -1 for what is not on the page.
    program: Vec<i64>,
    /// What tells the point's row from others in its data set.
    id: Vec<String>,
    /// The values of a point: with commas, nothing for 0, as many as there are up to the last that is not 0; `0` where all are.
    /// Empty where they are not on the page.
    vector: Vec<String>,
    /// The votes' entropy where it was asked for one; empty where not.
    value: Vec<f64>,
    /// Points that are not drawn.
    left_out: usize,
}

/// Points of one cloud that are drawn at most.
const MOST: usize = 20_000;
/// Bytes of the vectors of one map at most; those of programs on the page come first.
const VECTORS: usize = 256 << 10;
/// Digits of an identity that tell it from others.
const DIGITS: usize = 12;
/// The level that `steer` counts at.
const LEVEL: u64 = 1;
/// How identities, and names of rows, are asked for.
const BY_ID: &str = "left(id, 12)";
const BY_PATH: &str = "path";

/// A vector on its way to a map.
struct Point {
    label: String,
    /// Identity of its program.
    id: String,
    /// What tells its row from others, by the cloud's key.
    row: String,
    vector: Vec<f64>,
    value: Option<f64>,
}

/// The points of one kind of one data set, on their way to a map.
struct Group {
    name: String,
    from: String,
    key: &'static str,
    opt: Option<u64>,
    points: Vec<Point>,
}

/// A map for each space with at least two vectors.
pub(super) fn maps(sets: &[Set], programs: &Programs, problems: &mut Vec<String>) -> Vec<Map> {
    let mut found: Vec<Vec<Group>> = ALL.iter().map(|_| Vec::new()).collect();
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
    for (space, groups) in ALL.into_iter().zip(found) {
        if groups.iter().map(|group| group.points.len()).sum::<usize>() < 2 {
            continue;
        }
        match map(space, groups, programs) {
            Ok(map) => maps.push(map),
            Err(error) => problems.push(error.to_string()),
        }
    }
    maps
}

type Found = [Vec<Group>];

fn described(set: &Set, found: &mut Found) -> dataset::Result<()> {
    let mut clouds: Vec<Vec<Point>> = ALL.iter().map(|_| Vec::new()).collect();
    for row in set.dataset.rows::<features::Row>()? {
        let mut row = row?;
        let name = if row.name.is_empty() { &row.kernel } else { &row.name };
        let label = label(name, &row.path);
        for (space, cloud) in ALL.iter().zip(&mut clouds) {
            if let Some(vector) = row.vectors.remove(space.name()) {
                let (label, id, row) = (label.clone(), row.id.clone(), start(&row.id));
                cloud.push(Point { label, id, row, vector, value: None });
            }
        }
    }
    for (at, cloud) in clouds.into_iter().enumerate() {
        push(found, Some(at), Group::of(set, set.name.clone(), BY_ID, cloud));
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
            row: row.path,
            vector: row.vector,
            value: None,
        });
    }
    push(found, space, Group::of(set, set.name.clone(), BY_PATH, points));
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
            let (id, path) = (id.clone(), row.path.clone());
            let value = Some(row.entropy);
            let point = Point { label, id, row: path, vector: row.target, value };
            add(format!("{}: asked in round {}", set.name, row.round), point);
        }
        let label = match made {
            true => format!("made in round {}, proximity {:.3}", row.round, row.proximity),
            false => format!("{} {}", row.role, row.path),
        };
        let kind = if made { "made" } else { row.role.as_str() };
        let name = format!("{}: {kind}", set.name);
        add(name, Point { label, id, row: row.path, vector: row.vector, value: None });
    }
    for (name, points) in clouds {
        push(found, space, Group::of(set, name, BY_PATH, points));
    }
    Ok(())
}

impl Group {
    fn of(set: &Set, name: String, key: &'static str, points: Vec<Point>) -> Group {
        let level = set.dataset.manifest().notes.configuration["level"].as_u64();
        let opt = level.filter(|level| *level != LEVEL);
        Group { name, from: set.path.clone(), key, opt, points }
    }
}

/// The first digits of an identity.
fn start(id: &str) -> String {
    id.chars().take(DIGITS).collect()
}

fn place(name: &str) -> Option<usize> {
    ALL.iter().position(|space| space.name() == name)
}

fn push(found: &mut Found, space: Option<usize>, group: Group) {
    if let (Some(space), false) = (space, group.points.is_empty()) {
        found[space].push(group);
    }
}

fn label(kernel: &str, path: &str) -> String {
    if kernel.is_empty() { path.to_owned() } else { format!("{kernel}, {path}") }
}

fn map(
    space: &'static dyn FeatureSpace,
    groups: Vec<Group>,
    programs: &Programs,
) -> Result<Map, features::Error> {
    let points: Vec<Points> = groups
        .iter()
        .map(|group| Points {
            name: group.name.clone(),
            vectors: group.points.iter().map(|point| point.vector.clone()).collect(),
            without: 0,
        })
        .collect();
    let projection = project(space, &points, None, CELLS)?;
    let sets = groups.into_iter().zip(projection.places()).map(|(group, places)| {
        let Group { name, from, key, opt, points } = group;
        let left_out = points.len().saturating_sub(MOST);
        let mut cloud = Cloud { name, from, key, opt, left_out, ..Cloud::default() };
        let placed: Vec<(Point, &[f64; 2])> = points.into_iter().zip(places).collect();
        for (point, place) in spread(placed, MOST) {
            cloud.x.push(round(place[0]));
            cloud.y.push(round(place[1]));
            cloud.label.push(point.label);
            let program = programs.place(&point.id).and_then(|place| i64::try_from(place).ok());
            cloud.program.push(program.unwrap_or(-1));
            cloud.value.extend(point.value);
            cloud.id.push(point.row);
            cloud.vector.push(packed(&point.vector));
        }
        cloud
    });
    let mut sets: Vec<Cloud> = sets.collect();
    keep_vectors(&mut sets);
    let (space, dimensions) = (space.name(), space.dimensions());
    Ok(Map { space, dimensions, sets, explained: projection.report().explained_variance })
}

/// Values as the page has them.
fn packed(vector: &[f64]) -> String {
    let value = |value: &f64| if *value == 0.0 { String::new() } else { value.to_string() };
    let text = vector.iter().map(value).collect::<Vec<String>>().join(",");
    match text.trim_end_matches(',') {
        "" => "0".to_owned(),
        text => text.to_owned(),
    }
}

/// Drop vectors of a map until they have room on the page: an even choice stays, and of programs on the page first.
fn keep_vectors(sets: &mut [Cloud]) {
    let mut room = VECTORS;
    for shown in [true, false] {
        let places: Vec<(usize, usize)> = (0..sets.len())
            .flat_map(|set| (0..sets[set].vector.len()).map(move |point| (set, point)))
            .filter(|(set, point)| (sets[*set].program[*point] >= 0) == shown)
            .collect();
        let bytes: usize = places.iter().map(|(set, point)| sets[*set].vector[*point].len()).sum();
        let fit = if bytes <= room { places.len() } else { places.len() * room / bytes };
        let kept: HashSet<(usize, usize)> = spread(places.clone(), fit).collect();
        for (set, point) in places {
            let vector = &mut sets[set].vector[point];
            match kept.contains(&(set, point)) {
                true => room = room.saturating_sub(vector.len()),
                false => vector.clear(),
            }
        }
    }
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
            "legend shows and hides. " b { "Lasso" } " and " b { "box" } " select what is dragged around (with "
            kbd { "Shift" } " a box at any time). By keyboard, on the map: arrows and " kbd { "+" } " " kbd { "-" } ", "
            kbd { "B" } " for a box in its middle, " kbd { "[" } " and " kbd { "]" } " for its size, "
            kbd { "Enter" } " selects, " kbd { "Esc" } " gives up."
        }
        div.map #map {
            div.canvas {
                div.controls {
                    span.spaces role="group" aria-label="feature space" {
                        @for (at, map) in maps.iter().enumerate() {
                            button type="button" data-map=(at) { (map.space) }
                        }
                    }
                    span.tools role="group" aria-label="what dragging does" {
                        @for tool in ["move", "lasso", "box"] {
                            button type="button" data-tool=(tool) aria-pressed=(tool == "move") { (tool) }
                        }
                    }
                    span.zoom {
                        button #closer type="button" aria-label="zoom in" { "+" }
                        button #farther type="button" aria-label="zoom out" { "−" }
                        button #whole type="button" { "whole" }
                    }
                }
                canvas #plane tabindex="0" role="application" aria-label="feature map" aria-describedby="chosen" {}
                div #tip hidden {}
                div.legend #clouds {}
                p.note #axes {}
                p #chosen role="status" {}
                div #selection hidden {}
            }
            div.reader #pinned {}
        }
        noscript { p.problem { "The maps and the programs need JavaScript." } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_short_and_of_no_length_that_matters() {
        assert_eq!(packed(&[0.0, 3.0, 0.0, 0.667, 0.0, 0.0]), ",3,,0.667");
        assert_eq!(packed(&[0.0, 0.0]), "0");
        assert_eq!(packed(&[-1.0]), "-1");
    }

    #[test]
    fn vectors_of_programs_on_the_page_stay_before_others() {
        let long = "1,".repeat(VECTORS / 8);
        let cloud = |program: &[i64]| Cloud {
            program: program.to_vec(),
            vector: vec![long.clone(); program.len()],
            ..Cloud::default()
        };
        let mut sets = [cloud(&[-1, 0, -1]), cloud(&[1, 2, -1, -1])];
        keep_vectors(&mut sets);
        let kept: Vec<Vec<bool>> =
            sets.iter().map(|set| set.vector.iter().map(|one| !one.is_empty()).collect()).collect();
        assert_eq!(kept[0][1..2], [true]);
        assert_eq!(kept[1][..2], [true, true]);
        let all: usize = kept.iter().flatten().filter(|kept| **kept).count();
        assert_eq!(all, 4, "{kept:?}");
    }
}
