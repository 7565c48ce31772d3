//! Tasks with exact labels: what a program costs by each of some choices. To add one, write a file beside
//! these and name it in [`task()`].

mod coarsen;
mod cost;
mod mca;
mod passes;
mod size;
mod unroll;
mod vectorize;

use self::cost::Cost;
use crate::{Bench, Error, Module, Pipeline, Result, bench::Costs, mca::Mca, native::Clock};
use dataset::{Language, Verdict};
use serde_json::Value;

/// The names of all tasks.
pub const NAMES: [&str; 7] = ["size", "mca", "cost", "unroll", "vectorize", "coarsen", "passes"];

/// What one thread keeps from program to program.
#[derive(Default)]
pub struct Tools {
    pub(crate) mca: Option<Mca>,
    pub(crate) clock: Option<Clock>,
}

/// A question about programs whose answer can be computed. With one choice its cost is to be
/// predicted (a regression), with several the cheapest.
pub trait Task: Send + Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// What its costs are, with their unit.
    fn about(&self) -> &'static str;

    /// The names of its choices.
    fn choices(&self) -> Vec<String> {
        vec![self.name().to_owned()]
    }

    /// What shapes its labels beyond its name.
    fn settings(&self) -> Value {
        Value::Null
    }

    /// Versions of tools that it alone uses.
    ///
    /// # Errors
    /// When one is missing.
    fn tools(&self) -> Result<Vec<(String, String)>> {
        Ok(Vec::new())
    }

    /// What of a program it looks at: the module as clang hands it to LLVM's passes, unless a task says otherwise.
    ///
    /// # Errors
    /// When the machine fails.
    fn module(
        &self,
        bench: &Bench,
        name: &str,
        language: Language,
        content: &[u8],
    ) -> Result<std::result::Result<Module, Verdict>> {
        bench.module(name, language, content)
    }

    /// What each module costs by each choice, or why there is no label.
    ///
    /// # Errors
    /// When the machine fails.
    fn label(&self, bench: &Bench, tools: &mut Tools, modules: &[Module]) -> Result<Vec<Costs>>;
}

/// The task of this name; `pipelines` are those that `passes` compares in the place of its own.
///
/// # Errors
/// [`Error::UnknownTask`]; [`Error::NoPipelines`] where others than `passes` are given some.
pub fn task(name: &str, pipelines: Option<Vec<Pipeline>>) -> Result<Box<dyn Task>> {
    if NAMES.contains(&name) && name != "passes" && pipelines.is_some() {
        return Err(Error::NoPipelines(name.to_owned()));
    }
    Ok(match name {
        "size" => Box::new(size::Size),
        "mca" => Box::new(mca::Cycles),
        "cost" => Box::new(Cost::new(&cost::COST)),
        "unroll" => Box::new(Cost::new(&unroll::UNROLL)),
        "vectorize" => Box::new(Cost::new(&vectorize::VECTORIZE)),
        "coarsen" => Box::new(Cost::new(&coarsen::COARSEN)),
        "passes" => Box::new(passes::Passes::new(pipelines)),
        _ => return Err(Error::UnknownTask { name: name.to_owned(), known: NAMES.join(", ") }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_found_by_their_names_and_have_choices_of_different_names() {
        for name in NAMES {
            let found = task(name, None).expect("it is in the list");
            assert_eq!(found.name(), name);
            let mut choices = found.choices();
            let count = choices.len();
            choices.sort();
            choices.dedup();
            assert_eq!(choices.len(), count);
        }
        let said = task("speed", None).err().expect("there is none").to_string();
        assert!(said.contains("size, mca, cost, unroll, vectorize, coarsen, passes"), "{said}");
        let said = task("size", Some(Vec::new())).err().expect("it has none").to_string();
        assert!(said.contains("--pipelines"), "{said}");
    }
}
