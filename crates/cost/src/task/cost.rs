use super::{Task, Tools};
use crate::{
    Bench, Module, Result,
    bench::Costs,
    native::{self, Clock, Parts},
    reader::Choice,
};
use dataset::{Language, Verdict};
use serde_json::Value;
use std::collections::BTreeSet;

/// Cycles of a kernel's work-item, or of a call of a C or C++ function, on a model of a processor, the same on every
/// x86-64 machine, by each choice of what is done with it.
///
/// It runs as a native program, a loop over the work-items of a group or as many calls, with every size the same for
/// every program: otherwise the trip counts of a few rule the error, and what is learned is the payload.
pub(crate) struct Cost {
    set: &'static Set,
    parts: Parts,
}

/// The choices of a task, the compiler's own first.
pub(crate) struct Set {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) choices: &'static [(&'static str, Choice)],
}

/// No choice: the cost is to be predicted.
pub(crate) const COST: Set = Set {
    name: "cost",
    about: "cycles of a work-item or call by `time`'s model (skylake), -O2, 64 of them in a loop, sizes of 64",
    choices: &[("cost", Choice::Default)],
};

impl Cost {
    pub(crate) fn new(set: &'static Set) -> Cost {
        Cost { set, parts: Parts::default() }
    }
}

impl Task for Cost {
    fn name(&self) -> &'static str {
        self.set.name
    }

    fn about(&self) -> &'static str {
        self.set.about
    }

    fn choices(&self) -> Vec<String> {
        self.set.choices.iter().map(|(name, _)| (*name).to_owned()).collect()
    }

    fn settings(&self) -> Value {
        native::settings()
    }

    fn tools(&self) -> Result<Vec<(String, String)>> {
        native::tools()
    }

    fn module(
        &self,
        bench: &Bench,
        name: &str,
        language: Language,
        content: &[u8],
    ) -> Result<std::result::Result<Module, Verdict>> {
        let copies: BTreeSet<u32> =
            self.set.choices.iter().map(|(_, choice)| choice.copies()).collect();
        bench.group(name, language, content, &copies)
    }

    fn label(&self, bench: &Bench, tools: &mut Tools, modules: &[Module]) -> Result<Vec<Costs>> {
        let clock = match &mut tools.clock {
            Some(clock) => clock,
            slot => slot.insert(Clock::open()?),
        };
        let choices: Vec<Choice> = self.set.choices.iter().map(|(_, choice)| *choice).collect();
        modules.iter().map(|module| clock.costs(bench, &self.parts, module, &choices)).collect()
    }
}
