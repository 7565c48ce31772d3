use super::{Task, Tools};
use crate::{
    Bench, Module, Result,
    bench::Costs,
    native::{self, Clock, Parts},
    reader::Hint,
};
use dataset::{Language, Verdict};
use serde_json::Value;

/// Cycles of a kernel's work-item on a model of a processor, the same on every x86-64 machine, by each choice of what
/// is done with the kernel's loops.
///
/// The kernel runs as a native program, a loop over the work-items of a group, with every size the same for every
/// kernel: otherwise the trip counts of a few programs rule the error, and what is learned is the payload.
pub(crate) struct Cost {
    set: &'static Set,
    parts: Parts,
}

/// The choices of a task, the compiler's own first.
pub(crate) struct Set {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) choices: &'static [(&'static str, Option<Hint>)],
}

/// No choice: the cost is to be predicted.
pub(crate) const COST: Set = Set {
    name: "cost",
    about: "cycles of a work-item by `time`'s model (skylake), -O2, 64 work-items in a loop, sizes of 64",
    choices: &[("cost", None)],
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
        bench.group(name, language, content)
    }

    fn label(&self, bench: &Bench, tools: &mut Tools, modules: &[Module]) -> Result<Vec<Costs>> {
        let clock = match &mut tools.clock {
            Some(clock) => clock,
            slot => slot.insert(Clock::open()?),
        };
        let hints: Vec<Option<Hint>> = self.set.choices.iter().map(|(_, hint)| *hint).collect();
        modules.iter().map(|module| clock.costs(bench, &self.parts, module, &hints)).collect()
    }
}
