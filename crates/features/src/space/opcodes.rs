use super::{Extracted, FeatureSpace};
use crate::{Part, ProgramView};
use llvm::Opcode;

/// The IR opcode histogram: each opcode's share of all instructions, so that programs of any size
/// compare. The shares of a program with instructions sum to 1 (less where it uses opcodes later
/// than LLVM 10's).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opcodes;

impl FeatureSpace for Opcodes {
    fn name(&self) -> &'static str {
        "opcodes"
    }

    fn dimensions(&self) -> Vec<&'static str> {
        Opcode::ALL.iter().map(|opcode| opcode.name()).collect()
    }

    fn parts(&self) -> &'static [Part] {
        &[Part::Module]
    }

    fn extract(&self, program: &ProgramView<'_>) -> Option<Extracted> {
        let mut counts = [0_u32; Opcode::ALL.len()];
        let mut all = 0_u32;
        for function in program.module?.functions() {
            for instruction in function.blocks().flat_map(|block| block.instructions()) {
                all += 1;
                if let Some(index) = instruction.opcode().index() {
                    counts[index] += 1;
                }
            }
        }
        let all = f64::from(all.max(1));
        Some(Extracted::Whole(counts.iter().map(|count| f64::from(*count) / all).collect()))
    }
}
