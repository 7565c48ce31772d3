//! The feature spaces. To add one, write a file beside these and name it in [`ALL`].

mod ast;
mod autophase;
mod dynamic;
mod grewe;
mod grewe_fixed;
mod instcount;
mod ir2vec;
mod joint;
mod loops;
mod opcodes;
mod stride;
mod tokens;

use crate::{Error, Part, ProgramView};
pub use joint::joint;
use serde::{Deserialize, Serialize};

/// A point of a feature space: one value per dimension.
pub type Vector = Vec<f64>;

/// What a space says of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Extracted {
    /// One vector for the program as a whole.
    Whole(Vector),
    /// One vector for each of these functions, by name, in source order; may be none.
    Functions(Vec<(String, Vector)>),
}

/// A feature space: how a program becomes a vector, and how far apart vectors are.
pub trait FeatureSpace: Send + Sync {
    /// The name in options, columns and files.
    fn name(&self) -> &'static str;

    /// The names of the dimensions, in order.
    fn dimensions(&self) -> Vec<&'static str>;

    /// The parts of a program it looks at.
    fn parts(&self) -> &'static [Part];

    /// Whether its vectors are of OpenCL kernels, so that a program in another language has none.
    fn is_of_kernels(&self) -> bool {
        false
    }

    /// The vectors of `program`; `None` where a part it looks at is absent.
    fn extract(&self, program: &ProgramView<'_>) -> Option<Extracted>;

    /// How far apart two points are; the Euclidean distance unless the space has its own.
    /// Both must have as many values as the space has dimensions.
    fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    }

    /// Dimensions that follow from the others (sums, ratios, one count under two names): whoever
    /// looks for a point need not look at them.
    fn follows(&self) -> &'static [&'static str] {
        &[]
    }

    /// Dimensions that are the sum of others in every program, and these.
    fn sums(&self) -> Vec<(&'static str, Vec<&'static str>)> {
        Vec::new()
    }

    /// Compute sums and ratios of other dimensions anew: values that were mixed and rounded
    /// contradict each other otherwise.
    fn complete(&self, vector: &mut [f64]) {
        let dimensions = self.dimensions();
        let place = |name: &str| dimensions.iter().position(|known| *known == name);
        for (whole, parts) in self.sums() {
            let sum = parts.into_iter().filter_map(place).map(|part| vector[part]).sum();
            if let Some(whole) = place(whole) {
                vector[whole] = sum;
            }
        }
    }

    /// The spaces that it joins, in the order of their dimensions; none for a space of its own.
    fn joined(&self) -> &'static [&'static dyn FeatureSpace] {
        &[]
    }

    /// Whether values are shown with their names (few dimensions) or as a list in order.
    fn is_named(&self) -> bool {
        self.dimensions().len() < 16
    }
}

/// All spaces, in the order in which their columns stand.
pub const ALL: [&dyn FeatureSpace; 10] = [
    &grewe::Grewe,
    &grewe_fixed::GreweFixed,
    &instcount::InstCount,
    &autophase::Autophase,
    &loops::Loops,
    &opcodes::Opcodes,
    &ir2vec::Ir2Vec,
    &tokens::Tokens,
    &ast::Ast,
    &dynamic::Dynamic,
];

/// The space of this name.
///
/// # Errors
/// [`Error::UnknownSpace`].
pub fn space(name: &str) -> Result<&'static dyn FeatureSpace, Error> {
    ALL.into_iter().find(|space| space.name().eq_ignore_ascii_case(name)).ok_or_else(|| {
        let near = dataset::near(name, ALL.map(|space| space.name()));
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        Error::UnknownSpace { name: name.to_owned(), near, known: known() }
    })
}

/// The spaces of a comma-separated list, each once.
///
/// # Errors
/// [`Error::UnknownSpace`], or [`Error::NoSpace`] for an empty list.
pub fn spaces(list: &str) -> Result<Vec<&'static dyn FeatureSpace>, Error> {
    let mut found: Vec<&'static dyn FeatureSpace> = Vec::new();
    for name in list.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        let space = space(name)?;
        if found.iter().all(|earlier| earlier.name() != space.name()) {
            found.push(space);
        }
    }
    if found.is_empty() { Err(Error::NoSpace { known: known() }) } else { Ok(found) }
}

fn known() -> String {
    ALL.map(|space| space.name()).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        for one in ALL {
            assert_eq!(space(one.name()).expect("registered").name(), one.name());
            let shouted = one.name().to_uppercase();
            assert_eq!(space(&shouted).expect("in either case").name(), one.name());
            let mut dimensions = one.dimensions();
            dimensions.sort_unstable();
            dimensions.dedup();
            assert_eq!(dimensions.len(), one.dimensions().len(), "{}", one.name());
        }
    }

    #[test]
    fn the_book_lists_every_dimension_of_every_space() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/spaces.md");
        let page = std::fs::read_to_string(page).expect("the book's page");
        for one in ALL {
            let names = one.dimensions();
            let numbered = names.iter().enumerate();
            let numbered: Vec<String> =
                numbered.map(|(at, name)| format!("{}&nbsp;`{name}`", at + 1)).collect();
            let line = format!("**{}** ({}): {}\n", one.name(), names.len(), numbered.join(", "));
            assert!(page.contains(&line), "docs/reference/spaces.md lacks:\n{line}");
        }
    }

    #[test]
    fn sums_and_ratios_are_computed_anew() {
        let mut counts = vec![4.0, 0.0, 3.0, 1.0, 2.0, 0.0, 9.0, 9.0];
        super::space("grewe").expect("registered").complete(&mut counts);
        assert_eq!(counts, [4.0, 0.0, 3.0, 1.0, 2.0, 0.0, 0.667, 1.33]);
        let instcount = super::space("instcount").expect("registered");
        let names = instcount.dimensions();
        let mut counts: Vec<f64> =
            names.iter().map(|name| f64::from(u8::from(["Ret", "Load"].contains(name)))).collect();
        instcount.complete(&mut counts);
        assert_eq!(counts[..3], [2.0, 1.0, 0.0]);
    }

    #[test]
    fn distances_are_euclidean() {
        let ast = super::space("ast-depth").expect("registered");
        assert_eq!(ast.distance(&[1.0, 5.0], &[4.0, 1.0]), 5.0);
        assert_eq!(ast.distance(&[2.0, 2.0], &[2.0, 2.0]), 0.0);
    }

    /// A space of so many dimensions.
    struct Wide(usize);

    impl FeatureSpace for Wide {
        fn name(&self) -> &'static str {
            "wide"
        }

        fn dimensions(&self) -> Vec<&'static str> {
            vec![""; self.0]
        }

        fn parts(&self) -> &'static [Part] {
            &[Part::Tree]
        }

        fn extract(&self, _: &ProgramView<'_>) -> Option<Extracted> {
            None
        }
    }

    #[test]
    fn fewer_than_sixteen_dimensions_have_names() {
        assert!(Wide(1).is_named() && Wide(15).is_named());
        assert!(!Wide(16).is_named() && !Wide(17).is_named());
    }

    #[test]
    fn of_every_sum_one_part_or_the_whole_follows() {
        for (name, sums) in [
            ("instcount", 2),
            ("autophase", 4),
            ("loops", 1),
            ("dynamic", 1),
            ("tokens", 0),
            ("grewe", 0),
        ] {
            let space = super::space(name).expect("registered");
            assert_eq!(space.sums().len(), sums, "{name}");
            for (whole, parts) in space.sums() {
                let follows = |one: &str| space.follows().contains(&one);
                assert!(follows(whole) || parts.into_iter().any(follows), "{name}: {whole}");
            }
        }
    }

    #[test]
    fn an_unknown_space_is_an_error_that_names_those_there_are() {
        let error = spaces("grewe,nonsense").err().expect("there is no such space").to_string();
        assert!(error.contains("nonsense") && error.contains("autophase"), "{error}");
        assert!(matches!(spaces(" , "), Err(Error::NoSpace { .. })));
    }

    #[test]
    fn a_list_keeps_its_order_and_drops_repetitions() {
        let names: Vec<_> = spaces("autophase, grewe,autophase")
            .expect("all known")
            .into_iter()
            .map(|space| space.name())
            .collect();
        assert_eq!(names, ["autophase", "grewe"]);
    }
}
