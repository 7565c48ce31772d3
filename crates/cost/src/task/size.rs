use super::{Task, Tools};
use crate::{Bench, Module, Result, bench::Costs};

/// Bytes of machine code for x86-64 after clang's -O2.
pub(crate) struct Size;

impl Task for Size {
    fn name(&self) -> &'static str {
        "size"
    }

    fn about(&self) -> &'static str {
        "bytes of the sections of machine code, x86-64, -O2"
    }

    fn label(&self, bench: &Bench, _: &mut Tools, modules: &[Module]) -> Result<Vec<Costs>> {
        modules.iter().map(|module| bench.code_size(module)).collect()
    }
}
