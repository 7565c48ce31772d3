//! Trees as text and as pictures.

use crate::{
    Result,
    model::{Node, Tree},
    picture::{Align, svg},
};

/// A tree as indented text, `depth` levels of it.
#[must_use]
pub fn tree_text(tree: &Tree, features: &[String], choices: &[String], depth: usize) -> String {
    let mut text = String::new();
    let mut open = vec![(0, 0, String::new())];
    while let Some((at, level, condition)) = open.pop() {
        let node = &tree.nodes[at];
        let indent = "  ".repeat(level);
        text += &format!("{indent}{condition}{}", verdict(node, choices));
        match node.split {
            Some(split) if level < depth => {
                let name = &features[split.feature];
                let next = level + 1;
                open.push((split.high, next, format!("{name} > {}: ", short(split.threshold))));
                open.push((split.low, next, format!("{name} <= {}: ", short(split.threshold))));
            }
            Some(_) => text += &format!(", {} more leaves", leaves(tree, at)),
            None => {}
        }
        text.push('\n');
    }
    text
}

/// A tree as SVG, `depth` levels of it.
///
/// # Errors
/// When it cannot be drawn.
pub fn tree_svg(
    tree: &Tree,
    features: &[String],
    choices: &[String],
    depth: usize,
) -> Result<String> {
    const WIDTH: i32 = 190;
    const LEVEL: i32 = 84;
    const MARGIN: i32 = 10;
    let places = places(tree, depth);
    let columns = places.iter().map(|place| place.column).fold(0.0, f64::max);
    let levels = places.iter().map(|place| place.level).max().unwrap_or(0) as i32;
    let size = (
        ((columns + 1.0) * f64::from(WIDTH)) as u32 + 2 * MARGIN as u32,
        (levels * LEVEL + 60 + 2 * MARGIN) as u32,
    );
    svg("the tree", size, |canvas| {
        let at = |place: &Place| {
            let x = MARGIN + ((place.column + 0.5) * f64::from(WIDTH)) as i32;
            (x, MARGIN + 30 + place.level as i32 * LEVEL)
        };
        for place in &places {
            if let Some(parent) = place.parent {
                canvas.line([at(&places[parent]), at(place)])?;
            }
        }
        for place in &places {
            let node = &tree.nodes[place.node];
            let (x, y) = at(place);
            canvas.fill([(x - 88, y - 26), (x + 88, y + 26)], shade(node))?;
            let rule = match node.split {
                Some(split) if place.level < depth => {
                    format!("{} <= {}", features[split.feature], short(split.threshold))
                }
                Some(_) => format!("{} more leaves", leaves(tree, place.node)),
                None => String::new(),
            };
            canvas.text(&rule, (x, y - 12), 11, Align::Middle)?;
            canvas.text(&verdict(node, choices), (x, y + 10), 11, Align::Middle)?;
        }
        Ok(())
    })
}

/// Where a node is drawn.
struct Place {
    node: usize,
    parent: Option<usize>,
    level: usize,
    /// Leaves are at whole numbers, others in the middle of their children.
    column: f64,
}

fn places(tree: &Tree, depth: usize) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    let mut open = vec![(0, None, 0)];
    let mut next = 0.0;
    while let Some((node, parent, level)) = open.pop() {
        let at = places.len();
        places.push(Place { node, parent, level, column: -1.0 });
        match tree.nodes[node].split {
            Some(split) if level < depth => {
                open.push((split.high, Some(at), level + 1));
                open.push((split.low, Some(at), level + 1));
            }
            _ => {
                places[at].column = next;
                next += 1.0;
            }
        }
    }
    // Parents come before their children, so backwards every child is placed before its parent.
    for at in (0..places.len()).rev() {
        let Some(parent) = places[at].parent else { continue };
        let column = places[at].column;
        let above = &mut places[parent].column;
        *above = if *above < 0.0 { column } else { (*above + column) / 2.0 };
    }
    places
}

fn leaves(tree: &Tree, root: usize) -> usize {
    let mut open = vec![root];
    let mut count = 0;
    while let Some(at) = open.pop() {
        match tree.nodes[at].split {
            Some(split) => open.extend([split.low, split.high]),
            None => count += 1,
        }
    }
    count
}

fn verdict(node: &Node, choices: &[String]) -> String {
    let counts: Vec<String> = node
        .counts
        .iter()
        .zip(choices)
        .filter(|(count, _)| **count > 0)
        .map(|(count, name)| format!("{count} {name}"))
        .collect();
    format!("{} ({})", choices[node.choice()], counts.join(", "))
}

/// Blue for the first choice, orange for the others, paler the more mixed.
fn shade(node: &Node) -> (u8, u8, u8) {
    let rows = node.counts.iter().sum::<usize>().max(1) as f64;
    let share = node.counts[node.choice()] as f64 / rows;
    let pale = |full: f64| (255.0 - (255.0 - full) * (0.15 + 0.6 * share)) as u8;
    if node.choice() == 0 { (pale(90.0), pale(150.0), 255) } else { (255, pale(160.0), pale(70.0)) }
}

fn short(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude != 0.0 && !(1e-3..1e6).contains(&magnitude) {
        return format!("{value:.3e}");
    }
    let digits = format!("{value:.3}");
    digits.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Split;

    #[test]
    fn a_node_stands_in_the_middle_of_its_children() {
        let split = |low, high| Some(Split { feature: 0, threshold: 1.0, low, high });
        let splits = [split(1, 2), split(3, 4), None, None, None];
        let nodes = splits.into_iter().map(|split| Node { counts: vec![1], split }).collect();
        let found = places(&Tree { nodes }, 9);
        let columns: Vec<(usize, f64)> =
            found.iter().map(|place| (place.node, place.column)).collect();
        assert_eq!(columns, [(0, 1.25), (1, 0.5), (3, 0.0), (4, 1.0), (2, 2.0)]);
    }
}
