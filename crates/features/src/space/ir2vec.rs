use super::{Extracted, FeatureSpace};
use crate::{Part, ProgramView};
use llvm::{Block, Function, Instruction, Opcode, TypeKind, Value, ValueKind};
use serde::Deserialize;
use std::{
    collections::{BTreeMap, HashSet},
    sync::LazyLock,
};

/// IR2Vec's symbolic embedding (VenkataKeerthy et al., TACO 17(4), 2020, section 4.2), as `llvm-ir2vec` of LLVM 22 computes
/// it with its vocabulary of 75 dimensions: an instruction is the vector of its opcode, half of that of its type and
/// 0.2 of those of its operands; a program the sum of its instructions, without those that no path reaches and without
/// debug intrinsics.
///
/// What the vocabulary has no vector for counts as zero: comparisons' predicates, arrays, opcodes that are rare. Case
/// values of a `switch` are no operands, whichever LLVM reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ir2Vec;

const DIMENSIONS: usize = 75;
/// Weights of the sections (section 4.2).
const TYPE: f64 = 0.5;
const OPERAND: f64 = 0.2;

type Embedding = Vec<f64>;

/// The vocabulary by section, and in it by LLVM's names.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Vocabulary {
    opcodes: BTreeMap<String, Embedding>,
    types: BTreeMap<String, Embedding>,
    arguments: BTreeMap<String, Embedding>,
}

static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(|| {
    let text = include_str!("../../data/ir2vec.json");
    serde_json::from_str(text).expect("a test reads it")
});

static NAMES: LazyLock<Vec<String>> =
    LazyLock::new(|| (0..DIMENSIONS).map(|place| format!("e{place}")).collect());

impl FeatureSpace for Ir2Vec {
    fn name(&self) -> &'static str {
        "ir2vec"
    }

    fn dimensions(&self) -> Vec<&'static str> {
        NAMES.iter().map(String::as_str).collect()
    }

    fn parts(&self) -> &'static [Part] {
        &[Part::Module]
    }

    fn extract(&self, program: &ProgramView<'_>) -> Option<Extracted> {
        let mut sum = vec![0.0; DIMENSIONS];
        for function in program.module?.functions() {
            for block in reachable(function) {
                block.instructions().for_each(|instruction| add(&mut sum, instruction));
            }
        }
        Some(Extracted::Whole(sum))
    }
}

/// Blocks that some path leads to; none of a declaration.
fn reachable(function: Function<'_>) -> Vec<Block<'_>> {
    let mut open: Vec<Block<'_>> = function.blocks().take(1).collect();
    let mut seen: HashSet<Block<'_>> = open.iter().copied().collect();
    let mut found = Vec::new();
    while let Some(block) = open.pop() {
        found.push(block);
        open.extend(block.successors().filter(|next| seen.insert(*next)));
    }
    found
}

fn add(sum: &mut [f64], instruction: Instruction<'_>) {
    if is_of_debugger(instruction) {
        return;
    }
    let Vocabulary { opcodes, types, arguments } = &*VOCABULARY;
    let opcode = instruction.opcode();
    scaled(sum, opcodes.get(opcode.name()), 1.0);
    scaled(sum, type_name(instruction).and_then(|name| types.get(name)), TYPE);
    for (at, operand) in instruction.operands().enumerate() {
        let is_case = opcode == Opcode::Switch && at > 0 && operand.kind() == ValueKind::Integer;
        if !is_case {
            scaled(sum, arguments.get(operand_name(operand)), OPERAND);
        }
    }
}

fn scaled(sum: &mut [f64], embedding: Option<&Embedding>, weight: f64) {
    let Some(embedding) = embedding else { return };
    sum.iter_mut().zip(embedding).for_each(|(sum, one)| *sum += one * weight);
}

fn is_of_debugger(instruction: Instruction<'_>) -> bool {
    let name = instruction.called_function().map(Function::name).unwrap_or_default();
    name.starts_with("llvm.dbg.") || name.starts_with("llvm.pseudoprobe")
}

fn type_name(instruction: Instruction<'_>) -> Option<&'static str> {
    Some(match instruction.ty().kind() {
        TypeKind::Void => "VoidTy",
        TypeKind::Float => "FloatTy",
        TypeKind::Integer => "IntegerTy",
        TypeKind::Struct => "StructTy",
        TypeKind::Pointer => "PointerTy",
        TypeKind::Vector => "VectorTy",
        TypeKind::Function | TypeKind::Array | TypeKind::Other => return None,
    })
}

fn operand_name(operand: Value<'_>) -> &'static str {
    if operand.kind() == ValueKind::Function {
        "Function"
    } else if operand.ty().kind() == TypeKind::Pointer {
        "Pointer"
    } else if operand.is_constant() {
        "Constant"
    } else {
        "Variable"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vocabulary_has_a_vector_for_each_name() {
        let Vocabulary { opcodes, types, arguments } = &*VOCABULARY;
        assert_eq!((opcodes.len(), types.len(), arguments.len()), (52, 6, 5));
        let all = opcodes.values().chain(types.values()).chain(arguments.values());
        assert!(all.clone().all(|one| one.len() == DIMENSIONS));
        let known: Vec<&str> = Opcode::ALL.iter().map(|opcode| opcode.name()).collect();
        assert!(opcodes.keys().all(|name| known.contains(&name.as_str())));
    }
}
