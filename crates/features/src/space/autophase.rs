use super::{Extracted, FeatureSpace};
use crate::{Part, ProgramView};
use llvm::{Block, Function, Instruction, Opcode, Type, TypeKind};
use std::collections::HashMap;

/// The 56 features of Autophase (Huang et al., FCCM 2019) in CompilerGym's order and with its
/// definitions, which are those of an LLVM pass that visits every function of a module.
///
/// What its names do not tell:
/// - `TotalFuncs` counts declarations too; [`InstCount`](super::instcount::InstCount)'s does not;
/// - predecessors are edges, so a block that a conditional branch reaches both ways has two, and an
///   edge is critical where its source has several successors and its target several edges in;
/// - constants are integer operands of a scalar type, in every instruction: the array size of an
///   `alloca`, the indices of a `getelementptr`, the cases of a `switch`. `true` is a one;
/// - `returnInt` counts direct calls of functions that return an integer;
/// - `BeginPhi` counts blocks that begin with a phi, `testUnary` casts, loads, `alloca`, `fneg`,
///   `va_arg` and `extractvalue`, but no `freeze`.
///
/// The constants depend on how an LLVM version stores a module, and references are of the version
/// that wrote it: read modules with [`llvm::Library::nearest`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Autophase;

const DIMENSIONS: [&str; 56] = [
    "BBNumArgsHi",
    "BBNumArgsLo",
    "onePred",
    "onePredOneSuc",
    "onePredTwoSuc",
    "oneSuccessor",
    "twoPred",
    "twoPredOneSuc",
    "twoEach",
    "twoSuccessor",
    "morePreds",
    "BB03Phi",
    "BBHiPhi",
    "BBNoPhi",
    "BeginPhi",
    "BranchCount",
    "returnInt",
    "CriticalCount",
    "NumEdges",
    "const32Bit",
    "const64Bit",
    "numConstZeroes",
    "numConstOnes",
    "UncondBranches",
    "binaryConstArg",
    "NumAShrInst",
    "NumAddInst",
    "NumAllocaInst",
    "NumAndInst",
    "BlockMid",
    "BlockLow",
    "NumBitCastInst",
    "NumBrInst",
    "NumCallInst",
    "NumGetElementPtrInst",
    "NumICmpInst",
    "NumLShrInst",
    "NumLoadInst",
    "NumMulInst",
    "NumOrInst",
    "NumPHIInst",
    "NumRetInst",
    "NumSExtInst",
    "NumSelectInst",
    "NumShlInst",
    "NumStoreInst",
    "NumSubInst",
    "NumTruncInst",
    "NumXorInst",
    "NumZExtInst",
    "TotalBlocks",
    "TotalInsts",
    "TotalMemInst",
    "TotalFuncs",
    "ArgsPhi",
    "testUnary",
];

/// Dimensions that are sums of others.
const SUMS: [(&str, &[&str]); 4] = [
    ("BeginPhi", &["BB03Phi", "BBHiPhi"]),
    ("TotalBlocks", &["BBNoPhi", "BB03Phi", "BBHiPhi"]),
    ("BranchCount", &["NumBrInst"]),
    (
        "TotalMemInst",
        &["NumGetElementPtrInst", "NumLoadInst", "NumStoreInst", "NumCallInst", "NumAllocaInst"],
    ),
];

impl FeatureSpace for Autophase {
    fn name(&self) -> &'static str {
        "autophase"
    }

    fn dimensions(&self) -> Vec<&'static str> {
        DIMENSIONS.to_vec()
    }

    fn follows(&self) -> &'static [&'static str] {
        &[
            "oneSuccessor",
            "BeginPhi",
            "BranchCount",
            "BBNoPhi",
            "BlockLow",
            "NumEdges",
            "TotalMemInst",
        ]
    }

    fn sums(&self) -> Vec<(&'static str, Vec<&'static str>)> {
        SUMS.iter().map(|(whole, parts)| (*whole, parts.to_vec())).collect()
    }

    fn parts(&self) -> &'static [Part] {
        &[Part::Module]
    }

    fn extract(&self, program: &ProgramView<'_>) -> Option<Extracted> {
        let mut counts = Counts::default();
        for function in program.module?.functions() {
            counts.functions += 1;
            counts.add_function(function);
        }
        Some(Extracted::Whole(counts.vector()))
    }
}

#[derive(Default)]
struct Counts {
    functions: u32,
    blocks: u32,
    instructions: u32,
    opcodes: OpcodeCounts,
    memory: u32,
    /// Blocks by number of edges in (0, 1, 2, more) and out (0, 1, 2, more).
    shapes: [[u32; 4]; 4],
    edges: u32,
    critical: u32,
    branches: u32,
    unconditional: u32,
    constants_32: u32,
    constants_64: u32,
    zeroes: u32,
    ones: u32,
    integer_calls: u32,
    unary: u32,
    binary_with_constant: u32,
    begin_phi: u32,
    phi_arguments: u32,
    /// Blocks with no phi, up to three, more.
    phis: [u32; 3],
    few_arguments: u32,
    many_arguments: u32,
    small_blocks: u32,
    middle_blocks: u32,
}

struct OpcodeCounts([u32; Opcode::ALL.len()]);

impl Default for OpcodeCounts {
    fn default() -> Self {
        OpcodeCounts([0; Opcode::ALL.len()])
    }
}

/// Of a block.
#[derive(Default)]
struct Phis {
    count: usize,
    arguments: u32,
}

impl Counts {
    fn add_function(&mut self, function: Function<'_>) {
        let mut edges_in: HashMap<Block<'_>, usize> = HashMap::new();
        for target in function.blocks().flat_map(Block::successors) {
            *edges_in.entry(target).or_default() += 1;
        }
        let edges_into = |block| edges_in.get(&block).copied().unwrap_or(0);
        for block in function.blocks() {
            self.blocks += 1;
            let mut successors = 0;
            let mut crowded = 0;
            for target in block.successors() {
                successors += 1;
                crowded += u32::from(edges_into(target) > 1);
            }
            self.edges += successors;
            if successors > 1 {
                self.critical += crowded;
            }
            self.shapes[edges_into(block).min(3)][successors.min(3) as usize] += 1;
            self.add_block(block);
        }
    }

    fn add_block(&mut self, block: Block<'_>) {
        let mut size = 0;
        let mut phis = Phis::default();
        for instruction in block.instructions() {
            if size == 0 && instruction.opcode() == Opcode::Phi {
                self.begin_phi += 1;
            }
            size += 1;
            self.add_instruction(instruction, &mut phis);
        }
        self.instructions += size;
        self.phis[match phis.count {
            0 => 0,
            1..=3 => 1,
            _ => 2,
        }] += 1;
        match phis.arguments {
            0 => {}
            1..=5 => self.few_arguments += 1,
            _ => self.many_arguments += 1,
        }
        match size {
            0..=14 => self.small_blocks += 1,
            15..=500 => self.middle_blocks += 1,
            _ => {}
        }
    }

    fn add_instruction(&mut self, instruction: Instruction<'_>, phis: &mut Phis) {
        let opcode = instruction.opcode();
        if let Some(index) = opcode.index() {
            self.opcodes.0[index] += 1;
        }
        let mut constants = [false; 2];
        for (place, value) in instruction.operands().chain(instruction.detached_cases()).enumerate()
        {
            if opcode.is_binary() && place < 2 {
                constants[place] = value.is_constant();
            }
            if let Some((width, value)) = value.integer() {
                self.constants_32 += u32::from(width == 32);
                self.constants_64 += u32::from(width == 64);
                self.ones += u32::from(value == 1);
                self.zeroes += u32::from(value == 0);
            }
        }
        self.binary_with_constant += u32::from(constants != [false; 2]);
        match opcode {
            Opcode::Br => {
                self.branches += 1;
                self.unconditional += u32::from(instruction.operands().count() == 1);
            }
            Opcode::Call => {
                let returns =
                    instruction.called_function().and_then(|f| f.function_type().returns());
                let integer = returns.map(Type::kind) == Some(TypeKind::Integer);
                self.integer_calls += u32::from(integer);
            }
            Opcode::Phi => {
                phis.count += 1;
                let incoming = u32::try_from(instruction.incoming_count()).unwrap_or(u32::MAX);
                phis.arguments += incoming;
                self.phi_arguments += incoming;
            }
            _ => {}
        }
        self.memory += u32::from(matches!(
            opcode,
            Opcode::GetElementPtr
                | Opcode::Load
                | Opcode::Store
                | Opcode::Call
                | Opcode::Invoke
                | Opcode::Alloca
        ));
        self.unary += u32::from(
            opcode.is_cast()
                || matches!(
                    opcode,
                    Opcode::FNeg
                        | Opcode::Alloca
                        | Opcode::Load
                        | Opcode::VAArg
                        | Opcode::ExtractValue
                ),
        );
    }

    fn vector(&self) -> Vec<f64> {
        let of = |opcode: Opcode| opcode.index().map_or(0, |index| self.opcodes.0[index]);
        let edges_in = |count: usize| self.shapes[count].iter().sum::<u32>();
        let edges_out = |count: usize| self.shapes.iter().map(|row| row[count]).sum::<u32>();
        let counts: [u32; 56] = [
            self.many_arguments,
            self.few_arguments,
            edges_in(1),
            self.shapes[1][1],
            self.shapes[1][2],
            edges_out(1),
            edges_in(2),
            self.shapes[2][1],
            self.shapes[2][2],
            edges_out(2),
            edges_in(3),
            self.phis[1],
            self.phis[2],
            self.phis[0],
            self.begin_phi,
            self.branches,
            self.integer_calls,
            self.critical,
            self.edges,
            self.constants_32,
            self.constants_64,
            self.zeroes,
            self.ones,
            self.unconditional,
            self.binary_with_constant,
            of(Opcode::AShr),
            of(Opcode::Add),
            of(Opcode::Alloca),
            of(Opcode::And),
            self.middle_blocks,
            self.small_blocks,
            of(Opcode::BitCast),
            of(Opcode::Br),
            of(Opcode::Call),
            of(Opcode::GetElementPtr),
            of(Opcode::ICmp),
            of(Opcode::LShr),
            of(Opcode::Load),
            of(Opcode::Mul),
            of(Opcode::Or),
            of(Opcode::Phi),
            of(Opcode::Ret),
            of(Opcode::SExt),
            of(Opcode::Select),
            of(Opcode::Shl),
            of(Opcode::Store),
            of(Opcode::Sub),
            of(Opcode::Trunc),
            of(Opcode::Xor),
            of(Opcode::ZExt),
            self.blocks,
            self.instructions,
            self.memory,
            self.functions,
            self.phi_arguments,
            self.unary,
        ];
        counts.map(f64::from).to_vec()
    }
}
