//! Targets that lie far out of what programs were ever seen at.

use crate::{Corpus, Target, target::number};
use features::FeatureSpace;

/// The most of each dimension over mined kernels: lines SPACE DIMENSION VALUE.
const MINED: &str = include_str!("reach.txt");
/// How often the most that was seen lies near enough.
const FAR: f64 = 2.0;
/// Dimensions, and targets, that are named.
const NAMED: usize = 3;

/// Which targets want far more of a dimension than any seed has (without seeds, or where some of them wait to be described: than any of the mined kernels that
/// were looked at when this was written), and how much that is: a search comes no nearer to these than programs of
/// that size are.
#[must_use]
pub fn far_out(targets: &[Target], space: &dyn FeatureSpace, seeds: &Corpus) -> Vec<String> {
    // What some of the seeds have says little of what the others do.
    let seeds = Some(seeds).filter(|seeds| !seeds.is_empty() && seeds.left() == 0);
    let most = most(space, seeds);
    let of = match seeds {
        None => "mined kernels known to this version".to_owned(),
        Some(seeds) => format!("the {} seeds", seeds.len()),
    };
    let far = |target: &Target| {
        let dimensions = space.dimensions().into_iter().zip(&target.constraints).zip(&most);
        let mut beyond: Vec<(f64, String)> = dimensions
            .filter_map(|((name, wanted), most)| {
                let (least, most) = (wanted.as_ref()?.least, (*most)?);
                let text =
                    format!("{name} = {} (the most of {of}: {})", number(least), number(most));
                (least > FAR * most.max(1.0)).then(|| (least / most.max(1.0), text))
            })
            .collect();
        beyond.sort_by(|a, b| b.0.total_cmp(&a.0));
        let named: Vec<String> = beyond.into_iter().take(NAMED).map(|(_, text)| text).collect();
        (!named.is_empty()).then(|| {
            let name = &target.name;
            let what =
                if seeds.is_none() { "what was ever reached" } else { "what the seeds have" };
            format!("target '{name}' is far out of {what}: {}", named.join(", "))
        })
    };
    let mut all: Vec<String> = targets.iter().filter_map(far).collect();
    if all.len() > NAMED {
        let more = all.len() - NAMED;
        all.truncate(NAMED);
        all.push(format!("{more} more targets are as far out"));
    }
    all
}

fn most(space: &dyn FeatureSpace, seeds: Option<&Corpus>) -> Vec<Option<f64>> {
    let dimensions = space.dimensions();
    let Some(seeds) = seeds else {
        let known = |name: &&str| {
            let (space, name) = match space.joined() {
                [] => (space.name(), *name),
                _ => name.split_once('.')?,
            };
            MINED.lines().find_map(|line| match *line.split(' ').collect::<Vec<_>>() {
                [of, dimension, value] if of == space && dimension == name => value.parse().ok(),
                _ => None,
            })
        };
        return dimensions.iter().map(known).collect();
    };
    let over =
        |at: usize| seeds.vectors().map(|vector| vector[at]).fold(f64::NEG_INFINITY, f64::max);
    (0..dimensions.len()).map(|at| Some(over(at))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_far_out_is_named_and_what_was_seen_is_not() {
        let space = features::space("instcount").expect("registered");
        let target = |text: &str| Target::parse(text, space).expect("well-formed");
        let all = [target("Load=2000,FMul=900"), target("Load=12,FMul=8"), target("FRem=1")];
        let said = far_out(&all, space, &Corpus::default());
        let [one] = said.as_slice() else { panic!("{said:?}") };
        assert!(one.contains("FMul = 900 (the most of") && !one.contains("Load = "), "{one}");
        let said = far_out(&[target("Load=1e300")], space, &Corpus::default());
        assert!(said[0].contains("Load = 1e300 (the most of"), "{said:?}");
        let many = vec![target("Load=200000"); 9];
        let said = far_out(&many, space, &Corpus::default());
        assert_eq!(said.len(), NAMED + 1);
        assert!(said[NAMED].starts_with("6 more"), "{said:?}");
    }

    #[test]
    fn every_line_of_the_table_is_a_dimension() {
        for line in MINED.lines().filter(|line| !line.starts_with('#')) {
            let words: Vec<&str> = line.split(' ').collect();
            let space = features::space(words[0]).expect("a space");
            assert!(space.dimensions().contains(&words[1]), "{line}");
            assert!(words[2].parse::<f64>().is_ok_and(|value| value >= 0.0), "{line}");
        }
    }
}
