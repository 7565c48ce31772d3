//! Several spaces as one.

use super::{Extracted, FeatureSpace, Vector, spaces};
use crate::{Error, Part, ProgramView};

/// A program's vector in each of some spaces, one behind the other. Dimensions are called `SPACE.DIMENSION`.
struct Joint {
    name: &'static str,
    spaces: &'static [&'static dyn FeatureSpace],
    parts: &'static [Part],
    dimensions: Vec<&'static str>,
    follows: &'static [&'static str],
}

/// The space of this name or, of a comma-separated list, these spaces as one.
///
/// # Errors
/// [`Error::UnknownSpace`], [`Error::NoSpace`], and [`Error::NotJoined`] for one whose programs are run.
pub fn joint(list: &str) -> Result<&'static dyn FeatureSpace, Error> {
    let spaces = spaces(list)?;
    if let [space] = spaces[..] {
        return Ok(space);
    }
    if let Some(run) = spaces.iter().find(|space| space.parts().contains(&Part::Run)) {
        return Err(Error::NotJoined { name: run.name().to_owned() });
    }
    let names: Vec<&str> = spaces.iter().map(|space| space.name()).collect();
    let mut parts: Vec<Part> = spaces.iter().flat_map(|space| space.parts()).copied().collect();
    parts.sort_unstable();
    parts.dedup();
    let all = |of: fn(&'static dyn FeatureSpace) -> Vec<&'static str>| {
        let named = spaces.iter().flat_map(|space| {
            of(*space).into_iter().map(|name| format!("{}.{name}", space.name()))
        });
        // A command works in one space, which lives as long as it does.
        named.map(|name| &*name.leak()).collect::<Vec<&'static str>>()
    };
    Ok(Box::leak(Box::new(Joint {
        name: names.join(",").leak(),
        dimensions: all(|space| space.dimensions()),
        follows: all(|space| space.follows().to_vec()).leak(),
        parts: parts.leak(),
        spaces: spaces.leak(),
    })))
}

impl FeatureSpace for Joint {
    fn name(&self) -> &'static str {
        self.name
    }

    fn dimensions(&self) -> Vec<&'static str> {
        self.dimensions.clone()
    }

    fn parts(&self) -> &'static [Part] {
        self.parts
    }

    fn is_of_kernels(&self) -> bool {
        self.spaces.iter().any(|space| space.is_of_kernels())
    }

    fn extract(&self, program: &ProgramView<'_>) -> Option<Extracted> {
        let all = self.spaces.iter().map(|space| space.extract(program));
        all.collect::<Option<Vec<_>>>()?.into_iter().reduce(both)
    }

    fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        let mut at = 0;
        let squares = self.spaces.iter().map(|space| {
            let range = at..at + space.dimensions().len();
            at = range.end;
            space.distance(&a[range.clone()], &b[range]).powi(2)
        });
        squares.sum::<f64>().sqrt()
    }

    fn follows(&self) -> &'static [&'static str] {
        self.follows
    }

    fn sums(&self) -> Vec<(&'static str, Vec<&'static str>)> {
        let mut known = self.dimensions.iter();
        let mut all = Vec::new();
        for space in self.spaces {
            let dimensions = space.dimensions();
            let own: Vec<&'static str> = known.by_ref().take(dimensions.len()).copied().collect();
            let name = |name: &str| {
                let at = dimensions.iter().position(|dimension| *dimension == name);
                own[at.expect("a sum is of the space's own dimensions")]
            };
            let sums = space.sums().into_iter();
            all.extend(
                sums.map(|(whole, parts)| (name(whole), parts.into_iter().map(name).collect())),
            );
        }
        all
    }

    fn complete(&self, vector: &mut [f64]) {
        let mut rest = vector;
        for space in self.spaces {
            let (own, others) = rest.split_at_mut(space.dimensions().len());
            space.complete(own);
            rest = others;
        }
    }

    fn joined(&self) -> &'static [&'static dyn FeatureSpace] {
        self.spaces
    }
}

/// One vector behind the other, of each function that both tell apart.
fn both(first: Extracted, second: Extracted) -> Extracted {
    let joined = |a: &Vector, b: &Vector| a.iter().chain(b).copied().collect::<Vector>();
    match (first, second) {
        (Extracted::Whole(a), Extracted::Whole(b)) => Extracted::Whole(joined(&a, &b)),
        (Extracted::Functions(all), Extracted::Whole(b)) => {
            Extracted::Functions(all.into_iter().map(|(name, a)| (name, joined(&a, &b))).collect())
        }
        (Extracted::Whole(a), Extracted::Functions(all)) => {
            Extracted::Functions(all.into_iter().map(|(name, b)| (name, joined(&a, &b))).collect())
        }
        (Extracted::Functions(all), Extracted::Functions(others)) => {
            let of = |(name, a): (String, Vector)| {
                let (_, b) = others.iter().find(|(other, _)| *other == name)?;
                Some((name, joined(&a, b)))
            };
            Extracted::Functions(all.into_iter().filter_map(of).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_sums_and_distances_are_those_of_each_space() {
        let space = joint("grewe, instcount").expect("both are registered");
        assert_eq!((space.name(), space.joined().len()), ("grewe,instcount", 2));
        let dimensions = space.dimensions();
        assert_eq!((dimensions[0], dimensions.len()), ("grewe.comp", 8 + 70));
        assert!(space.follows().contains(&"instcount.TotalInsts"), "{:?}", space.follows());
        let (whole, parts) = &space.sums()[0];
        assert!(dimensions.contains(whole) && parts.iter().all(|part| dimensions.contains(part)));
        let mut counts = vec![0.0; 78];
        (counts[0], counts[2], counts[8 + 3]) = (4.0, 2.0, 1.0);
        space.complete(&mut counts);
        assert_eq!((counts[7], counts[8]), (2.0, 1.0), "a ratio of one space, a sum of the other");
        let mut other = counts.clone();
        (other[0], other[77]) = (7.0, 4.0);
        assert_eq!(space.distance(&counts, &other), 5.0);
    }

    #[test]
    fn one_space_is_itself_and_one_that_runs_is_refused() {
        assert_eq!(joint("grewe").expect("registered").name(), "grewe");
        let error = joint("instcount,dynamic").err().expect("refused").to_string();
        assert!(error.starts_with("`dynamic` cannot be joined"), "{error}");
        assert!(joint("grewe,nosuch").is_err() && joint("").is_err());
    }

    #[test]
    fn functions_that_both_tell_apart_have_both_vectors() {
        let functions = |names: &[&str]| {
            Extracted::Functions(names.iter().map(|name| ((*name).to_owned(), vec![1.0])).collect())
        };
        let whole = Extracted::Whole(vec![2.0, 3.0]);
        assert_eq!(
            both(functions(&["a", "b"]), whole.clone()),
            Extracted::Functions(vec![
                ("a".to_owned(), vec![1.0, 2.0, 3.0]),
                ("b".to_owned(), vec![1.0, 2.0, 3.0])
            ])
        );
        let Extracted::Functions(all) = both(functions(&["a", "b"]), functions(&["b", "c"])) else {
            panic!("functions")
        };
        assert_eq!(all, [("b".to_owned(), vec![1.0, 1.0])]);
        assert_eq!(both(whole.clone(), whole), Extracted::Whole(vec![2.0, 3.0, 2.0, 3.0]));
    }
}
