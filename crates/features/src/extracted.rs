//! What the spaces said of a program, as rows.

use crate::{Extracted, FeatureSpace, Part, Row, space::Vector};
use dataset::Verdict;
use rows::FeaturesVerdict;
use std::{borrow::Cow, collections::BTreeMap};

/// Why a program has no vector in a space.
pub(crate) type Reason = &'static str;

/// The input has nothing this space could look at: a bitcode file has no syntax tree.
pub(crate) const NO_EXTRACTOR: Reason = FeaturesVerdict::NoExtractor.name();
/// clang refuses it, by the first diagnostic.
pub(crate) const DOES_NOT_COMPILE: Reason = FeaturesVerdict::DoesNotCompile.name();
/// The space tells functions apart and has nothing to say of this one.
const NO_VECTOR: Reason = FeaturesVerdict::NoVector.name();
/// What is said of a program in which a space of kernels finds none.
const NO_KERNEL: &str = "it has no kernel";

/// What the spaces said of a program, or why none was asked.
pub(crate) type Found = Result<ExtractedProgram, Verdict>;

pub(crate) struct ExtractedProgram {
    pub(crate) spaces: Vec<(&'static dyn FeatureSpace, Option<Extracted>)>,
    pub(crate) kernels: Vec<String>,
    /// Why spaces said nothing.
    pub(crate) absent: Reason,
    /// Why kernels did not run, by their names; of no name: why none did.
    pub(crate) idle: Vec<(String, Verdict)>,
}

impl ExtractedProgram {
    /// Where some space tells functions apart, those it has something to say of and then the other
    /// kernels; else the program's only kernel, or the nameless whole.
    pub(crate) fn functions(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let apart = self.spaces.iter().filter_map(|(_, extracted)| match extracted {
            Some(Extracted::Functions(functions)) => Some(functions),
            _ => None,
        });
        for functions in apart {
            for name in functions.iter().map(|(name, _)| name).chain(&self.kernels) {
                if !names.contains(name) {
                    names.push(name.clone());
                }
            }
        }
        match (names.as_slice(), self.kernels.as_slice()) {
            ([], [kernel]) => vec![kernel.clone()],
            ([], _) => vec![String::new()],
            _ => names,
        }
    }

    pub(crate) fn row(&self, row: Row, function: &str) -> Row {
        let mut vectors: BTreeMap<String, Vector> = BTreeMap::new();
        let mut lacking = Vec::new();
        for (space, extracted) in &self.spaces {
            let vector = match extracted {
                None => Err(self.why(*space, "", self.absent, "")),
                Some(Extracted::Whole(vector)) => Ok(vector),
                Some(Extracted::Functions(functions)) => functions
                    .iter()
                    .find_map(|(name, vector)| (name == function).then_some(vector))
                    .ok_or_else(|| {
                        let is_empty = functions.is_empty() && self.kernels.is_empty();
                        let detail = if is_empty { NO_KERNEL } else { "" };
                        self.why(*space, function, NO_VECTOR, detail)
                    }),
            };
            match vector {
                Ok(vector) => {
                    vectors.insert(space.name().to_owned(), vector.clone());
                }
                Err(reason) => lacking.push((space.name(), reason)),
            }
        }
        let verdict = match lacking.first() {
            Some((_, reason)) if vectors.is_empty() => reason.name.clone().into_owned(),
            _ => Verdict::ACCEPTED.to_owned(),
        };
        let detail = match lacking.as_slice() {
            [(_, reason)] if vectors.is_empty() && !reason.detail.is_empty() => {
                reason.detail.clone()
            }
            lacking => lacking.iter().map(said).collect::<Vec<_>>().join("; "),
        };
        Row { kernel: function.to_owned(), verdict, detail, vectors, ..row }
    }

    /// Why a space has no vector of a function, or of none (of no name); where nothing is known of a run, `otherwise`.
    fn why(
        &self,
        space: &dyn FeatureSpace,
        function: &str,
        otherwise: Reason,
        detail: &str,
    ) -> Verdict {
        let otherwise = || Verdict { name: Cow::Borrowed(otherwise), detail: detail.to_owned() };
        let idle = || {
            let known = self.idle.iter().find(|(name, _)| name.is_empty() || name == function);
            known.map(|(_, verdict)| verdict.clone())
        };
        space.parts().contains(&Part::Run).then(idle).flatten().unwrap_or_else(otherwise)
    }
}

/// A reason among others: its words hold none of the signs that part them.
fn said((space, reason): &(&str, Verdict)) -> String {
    match reason.detail.replace("; ", ", ") {
        detail if detail.is_empty() => format!("{space}: {}", reason.name),
        detail => format!("{space}: {} ({detail})", reason.name),
    }
}
