use super::{Task, Tools};
use crate::{
    Bench, Module, Result,
    bench::Costs,
    mca::{Mca, PROCESSOR},
};
use serde_json::{Value, json};

/// Cycles of a module's blocks by llvm-mca, each weighted by ten for every loop around it.
///
/// llvm-mca runs as the tool that is installed: LLVM's C API does not have it, and its C++ one would be a
/// second executable that links LLVM. A batch of programs shares a start.
pub(crate) struct Cycles;

impl Task for Cycles {
    fn name(&self) -> &'static str {
        "mca"
    }

    fn about(&self) -> &'static str {
        "cycles: sum over blocks of 10^(loop depth) times llvm-mca's reciprocal throughput, skylake, -O2"
    }

    fn settings(&self) -> Value {
        json!({ "processor": PROCESSOR })
    }

    fn tools(&self) -> Result<Vec<(String, String)>> {
        Ok(vec![("llvm-mca".to_owned(), Mca::version()?)])
    }

    fn label(&self, bench: &Bench, tools: &mut Tools, modules: &[Module]) -> Result<Vec<Costs>> {
        let texts: Vec<_> =
            modules.iter().map(|module| bench.assembly(module)).collect::<Result<_>>()?;
        let mca = match &mut tools.mca {
            Some(mca) => mca,
            slot => slot.insert(bench.mca()?),
        };
        let good: Vec<&str> = texts.iter().filter_map(|text| text.as_deref().ok()).collect();
        let mut cycles = mca.cycles(&good)?.into_iter();
        let label = |text: std::result::Result<String, _>| match text {
            Err(verdict) => Err(verdict),
            Ok(_) => {
                let found = cycles.next().expect("one for each text");
                found.map(|cycles| vec![Some(cycles)])
            }
        };
        Ok(texts.into_iter().map(label).collect())
    }
}
