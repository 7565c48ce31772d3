//! Pipelines of passes, and the sets of them that ship.

use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, path::Path, sync::LazyLock};

/// A list of passes for LLVM's new pass manager.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pipeline {
    /// Its name: that of its choice in a task.
    pub name: String,
    /// Whether functions ask to be small first (`optsize`, `minsize`), as clang's `-Oz` has them.
    pub minsize: bool,
    /// As `opt -passes` takes them.
    pub passes: String,
}

impl Pipeline {
    /// The pipelines of a text: a line each, `NAME ATTRIBUTES PASSES`, where the attributes are `minsize`
    /// or `-`; blank lines and lines with `#` at their beginning are skipped.
    ///
    /// # Errors
    /// For a line that is not like that, a name that is there twice, and a text without pipelines.
    fn parse(text: &str) -> std::result::Result<Vec<Pipeline>, String> {
        let mut all: Vec<Pipeline> = Vec::new();
        let mut names = BTreeSet::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let bad = |why: &str| Err(format!("line {}: {why}", number + 1));
            let mut words = line.split_whitespace();
            let (Some(name), Some(attributes), Some(passes), None) =
                (words.next(), words.next(), words.next(), words.next())
            else {
                return bad("not three words");
            };
            let minsize = match attributes {
                "minsize" => true,
                "-" => false,
                other => return bad(&format!("`{other}` is neither `minsize` nor `-`")),
            };
            if !names.insert(name.to_owned()) {
                return bad(&format!("`{name}` is there twice"));
            }
            all.push(Pipeline { name: name.to_owned(), minsize, passes: passes.to_owned() });
        }
        if all.len() < 2 {
            return Err(format!("{} pipelines, where a choice needs two or more", all.len()));
        }
        Ok(all)
    }

    /// The pipelines of a file.
    ///
    /// # Errors
    /// When it cannot be read or holds other things.
    pub fn read(path: &Path) -> Result<Vec<Pipeline>> {
        let failed = |source| Error::File { action: "read", path: path.to_owned(), source };
        let text = std::fs::read_to_string(path).map_err(failed)?;
        Pipeline::parse(&text).map_err(|reason| Error::Pipelines { path: path.to_owned(), reason })
    }
}

static CORESET: LazyLock<Vec<Pipeline>> =
    LazyLock::new(|| shipped("coreset", include_str!("../pipelines/coreset.txt")));
static FIXED: LazyLock<Vec<Pipeline>> =
    LazyLock::new(|| shipped("fixed", include_str!("../pipelines/fixed.txt")));

/// The pipelines that the task `passes` compares: clang's levels, and sequences that did best on programs
/// of the packages to train on (`scripts/pipelines.sh`).
#[must_use]
pub fn coreset() -> &'static [Pipeline] {
    &CORESET
}

/// The few of [`coreset`] that together are smallest on those programs; `oz`, what clang's `-Oz` does, is
/// the first.
#[must_use]
pub fn fixed_set() -> &'static [Pipeline] {
    &FIXED
}

fn shipped(name: &str, text: &str) -> Vec<Pipeline> {
    Pipeline::parse(text).unwrap_or_else(|reason| panic!("pipelines/{name}.txt: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_pipelines_and_remarks_are_not() {
        let text = "# a set\n\noz minsize default<Oz>\n  a - function(sroa,adce)\n";
        let found = Pipeline::parse(text).expect("two lines");
        assert_eq!(found.len(), 2);
        assert!(found[0].minsize && !found[1].minsize);
        assert_eq!(found[1].passes, "function(sroa,adce)");
    }

    #[test]
    fn what_is_no_pipeline_is_refused_by_its_line() {
        for (text, why) in [
            ("", "0 pipelines"),
            ("a - sroa", "1 pipelines"),
            ("a - sroa\nb sroa", "line 2: not three words"),
            ("a - sroa\nb big sroa", "line 2: `big`"),
            ("a - sroa\na - adce", "line 2: `a` is there twice"),
        ] {
            let said = Pipeline::parse(text).expect_err(text);
            assert!(said.contains(why), "{text}: {said}");
        }
    }

    #[test]
    fn the_sets_that_ship_begin_with_what_clang_does() {
        for set in [coreset(), fixed_set()] {
            assert_eq!((set[0].name.as_str(), set[0].minsize), ("oz", true));
            assert_eq!(set[0].passes, "default<Oz>");
        }
        assert!(fixed_set().iter().all(|pipeline| coreset().contains(pipeline)));
    }
}
