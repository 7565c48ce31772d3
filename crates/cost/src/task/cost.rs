use super::{Task, Tools};
use crate::{
    Bench, Module, Result,
    bench::Costs,
    native::{self, Clock, Parts},
};
use dataset::{Language, Verdict};
use serde_json::Value;

/// Cycles of a kernel's work-item on a model of a processor, the same on every x86-64 machine.
///
/// The kernel runs as a native program, a loop over the work-items of a group, with every size the same for every
/// kernel: otherwise the trip counts of a few programs rule the error, and what is learned is the payload.
#[derive(Default)]
pub(crate) struct Cost {
    parts: Parts,
}

impl Task for Cost {
    fn name(&self) -> &'static str {
        "cost"
    }

    fn about(&self) -> &'static str {
        "cycles of a work-item by `time`'s model (skylake), -O2, 64 work-items in a loop, sizes of 64"
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
        modules.iter().map(|module| clock.cycles(bench, &self.parts, module)).collect()
    }
}
