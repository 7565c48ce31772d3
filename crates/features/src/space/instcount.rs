use super::{Extracted, FeatureSpace};
use crate::{Part, ProgramView};
use llvm::Opcode;

/// LLVM's `-instcount` pass as CompilerGym exposes it (Cummins et al., CGO 2022, section 4.1): all
/// instructions, blocks and functions, then the instructions of each opcode in the order of LLVM
/// 10's `Instruction.def`, the two opcodes nobody uses included.
///
/// `TotalFuncs` counts definitions here. CompilerGym's own build visits declarations as well, so
/// its value is higher by their number; [`Autophase`](super::autophase::Autophase)'s does that.
/// An opcode that LLVM 10 did not know counts in `TotalInsts` alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InstCount;

/// Opcodes of which every block has one.
const TERMINATORS: [&str; 7] =
    ["Ret", "Br", "Switch", "IndirectBr", "Invoke", "Resume", "Unreachable"];

impl FeatureSpace for InstCount {
    fn name(&self) -> &'static str {
        "instcount"
    }

    fn dimensions(&self) -> Vec<&'static str> {
        let totals = ["TotalInsts", "TotalBlocks", "TotalFuncs"];
        totals.into_iter().chain(Opcode::ALL.iter().map(|opcode| opcode.name())).collect()
    }

    fn follows(&self) -> &'static [&'static str] {
        &["TotalInsts", "TotalBlocks"]
    }

    fn sums(&self) -> Vec<(&'static str, Vec<&'static str>)> {
        let opcodes = Opcode::ALL.iter().map(|opcode| opcode.name()).collect();
        vec![("TotalInsts", opcodes), ("TotalBlocks", TERMINATORS.to_vec())]
    }

    fn parts(&self) -> &'static [Part] {
        &[Part::Module]
    }

    fn extract(&self, program: &ProgramView<'_>) -> Option<Extracted> {
        let module = program.module?;
        let mut counts = [0_u32; 3 + Opcode::ALL.len()];
        for function in module.functions().filter(|function| !function.is_declaration()) {
            counts[2] += 1;
            for block in function.blocks() {
                counts[1] += 1;
                for instruction in block.instructions() {
                    counts[0] += 1;
                    if let Some(index) = instruction.opcode().index() {
                        counts[3 + index] += 1;
                    }
                }
            }
        }
        Some(Extracted::Whole(counts.iter().copied().map(f64::from).collect()))
    }
}
