//! What is counted of a kernel's code, and the calls that count it, planted after LLVM's passes.

use dataset::Verdict;
use llvm::{
    Context, Function, Global, Instruction, Library, Module, Opcode, Probe, Told, Type, TypeKind,
};
use rows::FeaturesVerdict;
use serde::{Deserialize, Serialize};

macro_rules! kinds {
    ($($kind:ident)*) => {
        /// What an instruction does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Kind { $($kind,)* }

        /// The names of the kinds, in order.
        pub(crate) const KINDS: [&str; [$(Kind::$kind),*].len()] = [$(stringify!($kind)),*];
    };
}

kinds! {
    IntAdd IntMul IntDiv Logic IntCompare FloatAdd FloatMul FloatMulAdd FloatDiv FloatCompare Cast Address Select
    Vector Load Store Atomic Branch Jump Phi Place Barrier Builtin Call Other
}

/// The function that calls kernels.
pub(crate) const ENTRY: &str = "stampmill_item";
const NO_BACK_END: &str = "LLVM makes no code of it";

/// Code that counts, and what its counts are of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plan {
    #[serde(with = "serde_bytes")]
    pub(crate) object: Vec<u8>,
    pub(crate) blocks: Vec<Counted>,
    pub(crate) branches: Vec<Branch>,
    /// Places that access memory.
    pub(crate) sites: u64,
    pub(crate) loops: Vec<Loop>,
}

/// The instructions of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counted {
    /// By the places of [`KINDS`].
    pub(crate) kinds: [u32; KINDS.len()],
    /// Lanes of what is a vector.
    pub(crate) lanes: u64,
    /// Floating-point operations.
    pub(crate) operations: u64,
}

/// What chooses between ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Branch {
    /// By a condition.
    Condition,
    /// By a number.
    Switch,
}

/// A natural loop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Loop {
    /// The block that every run of its body begins with.
    pub(crate) header: usize,
    /// The ways back to it.
    pub(crate) back: Vec<Back>,
}

/// A way from a block back to the header of a loop: how often it is taken is known by these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Back {
    /// Whenever this block ends. A `switch` is taken to go nowhere else.
    Always(usize),
    /// Where the condition of this branch holds.
    Holds(usize),
    /// Where it does not.
    Fails(usize),
}

/// Optimise a module in which [`ENTRY`] calls kernels, at a level of clang's, and have it count what it does.
pub(crate) fn plan(
    name: &str,
    content: &[u8],
    level: u8,
) -> Result<Result<Plan, Verdict>, llvm::Error> {
    let context = Context::new(Library::of_module(content)?);
    let mut module = match context.parse(name, content) {
        Ok(module) => module,
        Err(error) => return Ok(Err(crate::module_verdict(&error))),
    };
    let is_entry = |function: Function<'_>| function.name() == ENTRY;
    module.internalise(is_entry);
    // Of variables that work-items share a pass may think that nobody else changes them.
    let own = |global: Global<'_>| global.initializer().is_some();
    let of_function = |global: Global<'_>| global.name().contains('.') && !global.is_constant();
    module.share(|global| own(global) && of_function(global));
    let callees: Vec<String> = module
        .functions()
        .filter(|function| is_entry(*function))
        .flat_map(Function::blocks)
        .flat_map(llvm::Block::instructions)
        .filter_map(|instruction| Some(instruction.called_function()?.name()))
        .collect();
    let apart = module.keep_apart(|function| callees.contains(&function.name()));
    if let Err(error) = module.run_scalar_passes(&format!("default<O{level}>")) {
        return Ok(Err(crate::module_verdict(&error)));
    }
    module.place(|global| match global {
        global if !own(global) => None,
        global if global.is_constant() => Some("stampmill_constant"),
        global => of_function(global).then_some("stampmill_shared"),
    });
    let mut plan = Plan::default();
    let planted = module.plant(|module| {
        let mut probes = Vec::new();
        for function in module.functions().filter(|one| !one.is_declaration() && !is_entry(*one)) {
            plan.add(module, function, &mut probes);
        }
        probes
    });
    let none = || Verdict::new(FeaturesVerdict::Unsupported, NO_BACK_END);
    if apart.and(planted).is_none() {
        return Ok(Err(none()));
    }
    // Nearly all of the time is the compiler's and not the code's.
    Ok(module.emit_object_quickly().map(|object| Plan { object, ..plan }).ok_or_else(none))
}

impl Plan {
    fn add<'m>(
        &mut self,
        module: &'m Module<'_>,
        function: Function<'m>,
        probes: &mut Vec<Probe<'m>>,
    ) {
        let first = self.blocks.len();
        let blocks: Vec<_> = function.blocks().collect();
        let mut branch_of = vec![None; blocks.len()];
        for (place, block) in blocks.iter().enumerate() {
            let mut counted = Counted::default();
            let counting = probes.len();
            for instruction in block.instructions() {
                let Some(kind) = kind_of(instruction) else { continue };
                counted.kinds[kind as usize] += 1;
                let lanes = lanes_of(instruction);
                counted.lanes += lanes;
                counted.operations += operations(kind) * lanes.max(1);
                for Access { pointer, index, scale, bytes, how } in
                    accesses(module, instruction, kind)
                {
                    let arguments = vec![
                        Told::Number(self.sites),
                        pointer,
                        index,
                        Told::Number(scale),
                        bytes,
                        Told::Number(how),
                    ];
                    probes.push(Probe {
                        before: instruction,
                        function: "stampmill_access",
                        arguments,
                    });
                    self.sites += 1;
                }
                if kind == Kind::Branch
                    && let Some(on) = instruction.operands().next()
                {
                    branch_of[place] = Some(self.branches.len());
                    let arguments = vec![Told::Number(self.branches.len() as u64), Told::Value(on)];
                    probes.push(Probe {
                        before: instruction,
                        function: "stampmill_branch",
                        arguments,
                    });
                    self.branches.push(match instruction.opcode() {
                        Opcode::Switch => Branch::Switch,
                        _ => Branch::Condition,
                    });
                }
            }
            let number = Told::Number((first + place) as u64);
            let instructions =
                Told::Number(counted.kinds.iter().map(|count| u64::from(*count)).sum());
            let mut all = block.instructions();
            if let Some(before) = all.find(|one| one.opcode() != Opcode::Phi) {
                let arguments = vec![number, instructions];
                probes.insert(counting, Probe { before, function: "stampmill_block", arguments });
            }
            self.blocks.push(counted);
        }
        let nest = function.loop_nest();
        for (header, latches) in nest.headers.into_iter().zip(nest.latches) {
            let back = latches.into_iter().map(|latch| {
                let to: Vec<bool> =
                    blocks[latch].successors().map(|to| to == blocks[header]).collect();
                match (branch_of[latch], to.as_slice()) {
                    (Some(branch), [true, false]) => Back::Holds(branch),
                    (Some(branch), [false, true]) => Back::Fails(branch),
                    _ => Back::Always(first + latch),
                }
            });
            self.loops.push(Loop { header: first + header, back: back.collect() });
        }
    }
}

/// An access of memory: its address is `pointer` and `index` times `scale`; `how` 1 loads, 2 stores, 3 does both.
struct Access<'m> {
    pointer: Told<'m>,
    index: Told<'m>,
    scale: u64,
    bytes: Told<'m>,
    how: u64,
}

fn accesses<'m>(module: &Module<'_>, instruction: Instruction<'m>, kind: Kind) -> Vec<Access<'m>> {
    const NONE: Told<'_> = Told::Number(0);
    let operand = |place| instruction.operands().nth(place);
    let plain = |at: usize, of: Option<Type<'_>>, how: u64| {
        let pointer = Told::Value(operand(at).filter(|one| one.ty().address_space() == Some(0))?);
        let bytes = Told::Number(module.store_size(of?)?);
        Some(Access { pointer, index: NONE, scale: 0, bytes, how })
    };
    let of = |at| operand(at).map(llvm::Value::ty);
    match instruction.opcode() {
        Opcode::Load => plain(0, Some(instruction.ty()), 1).into_iter().collect(),
        Opcode::Store => plain(1, of(0), 2).into_iter().collect(),
        Opcode::AtomicRMW | Opcode::AtomicCmpXchg => plain(0, of(1), 3).into_iter().collect(),
        Opcode::Call => {
            let name = instruction.called_function().map(|one| one.name()).unwrap_or_default();
            if kind == Kind::Atomic {
                return plain(0, Some(instruction.ty()), 3).into_iter().collect();
            }
            if let Some((lanes, bytes)) = vector_in_memory(&name) {
                // The last two arguments are the place and the pointer.
                let last = instruction.argument_count();
                let (Some(index), Some(pointer)) =
                    (last.checked_sub(2).and_then(operand), last.checked_sub(1).and_then(operand))
                else {
                    return Vec::new();
                };
                let how = if kind == Kind::Store { 2 } else { 1 };
                let (pointer, index) = (Told::Value(pointer), Told::Value(index));
                let size = lanes * bytes;
                return vec![Access {
                    pointer,
                    index,
                    scale: size,
                    bytes: Told::Number(size),
                    how,
                }];
            }
            let block = |at: usize, how| {
                let (pointer, bytes) = (Told::Value(operand(at)?), Told::Value(operand(2)?));
                Some(Access { pointer, index: NONE, scale: 0, bytes, how })
            };
            let moves = ["llvm.memcpy.", "llvm.memmove."].iter().any(|one| name.starts_with(one));
            let sets = name.starts_with("llvm.memset.");
            let load = moves.then(|| block(1, 1)).flatten();
            let store = (moves || sets).then(|| block(0, 2)).flatten();
            load.into_iter().chain(store).collect()
        }
        _ => Vec::new(),
    }
}

/// Of `vloadN` and `vstoreN`, by their mangled names: lanes, and bytes of one.
fn vector_in_memory(name: &str) -> Option<(u64, u64)> {
    let base = plain_name(name);
    let lanes = base.strip_prefix("vload").or_else(|| base.strip_prefix("vstore"))?.parse().ok()?;
    let bytes = match name.chars().last()? {
        'c' | 'h' => 1,
        's' | 't' => 2,
        'i' | 'j' | 'f' => 4,
        'l' | 'm' | 'd' => 8,
        _ => return None,
    };
    Some((lanes, bytes))
}

/// The name of a function as its program has it.
fn plain_name(name: &str) -> &str {
    let Some(rest) = name.strip_prefix("_Z") else { return name };
    let digits = rest.len() - rest.trim_start_matches(|one: char| one.is_ascii_digit()).len();
    let length = rest[..digits].parse::<usize>().ok();
    let end = length.and_then(|length| digits.checked_add(length));
    end.and_then(|end| rest.get(digits..end)).unwrap_or(name)
}

/// `None` for what is no instruction of a processor: remarks to LLVM and debuggers.
fn kind_of(instruction: Instruction<'_>) -> Option<Kind> {
    use Kind::*;
    Some(match instruction.opcode() {
        Opcode::Add | Opcode::Sub => IntAdd,
        Opcode::Mul => IntMul,
        Opcode::UDiv | Opcode::SDiv | Opcode::URem | Opcode::SRem => IntDiv,
        Opcode::Shl | Opcode::LShr | Opcode::AShr | Opcode::And | Opcode::Or | Opcode::Xor => Logic,
        Opcode::ICmp => IntCompare,
        Opcode::FAdd | Opcode::FSub | Opcode::FNeg => FloatAdd,
        Opcode::FMul => FloatMul,
        Opcode::FDiv | Opcode::FRem => FloatDiv,
        Opcode::FCmp => FloatCompare,
        Opcode::GetElementPtr => Address,
        Opcode::Select => Select,
        Opcode::ExtractElement | Opcode::InsertElement | Opcode::ShuffleVector => Vector,
        Opcode::Load => Load,
        Opcode::Store => Store,
        Opcode::AtomicRMW | Opcode::AtomicCmpXchg => Atomic,
        Opcode::Br if instruction.operands().count() == 1 => Jump,
        Opcode::Br | Opcode::Switch => Branch,
        Opcode::Phi => Phi,
        opcode if opcode.is_cast() => Cast,
        Opcode::Call => return kind_of_call(instruction),
        _ => Other,
    })
}

fn kind_of_call(instruction: Instruction<'_>) -> Option<Kind> {
    const REMARKS: [&str; 6] =
        ["dbg.", "lifetime.", "assume", "invariant.", "experimental.noalias", "annotation"];
    const MULTIPLY_ADD: [&str; 2] = ["fma", "mad"];
    let Some(function) = instruction.called_function() else { return Some(Kind::Other) };
    let name = function.name();
    if let Some(own) = name.strip_prefix("llvm.") {
        let is_remark = REMARKS.iter().any(|remark| own.starts_with(remark));
        let fused = ["fmuladd.", "fma."].iter().any(|one| own.starts_with(one));
        return (!is_remark).then_some(if fused { Kind::FloatMulAdd } else { Kind::Builtin });
    }
    if !function.is_declaration() {
        return Some(Kind::Call);
    }
    let base = plain_name(&name);
    let starts = |one: &str| base.starts_with(one);
    let known = vector_in_memory(&name).is_some();
    Some(match () {
        () if starts("get_") => Kind::Place,
        () if base == "barrier" || base == "work_group_barrier" => Kind::Barrier,
        () if starts("atomic_") || starts("atom_") => Kind::Atomic,
        () if known && starts("vload") => Kind::Load,
        () if known => Kind::Store,
        () if MULTIPLY_ADD.contains(&base) => Kind::FloatMulAdd,
        () => Kind::Builtin,
    })
}

/// Floating-point operations of an instruction, for each lane.
fn operations(kind: Kind) -> u64 {
    match kind {
        Kind::FloatAdd | Kind::FloatMul | Kind::FloatDiv => 1,
        Kind::FloatMulAdd => 2,
        _ => 0,
    }
}

/// The lanes of what an instruction gives, or of what it works on where that is a vector.
fn lanes_of(instruction: Instruction<'_>) -> u64 {
    let own = std::iter::once(instruction.ty());
    let mut all = own.chain(instruction.operands().map(llvm::Value::ty));
    all.find(|ty| ty.kind() == TypeKind::Vector).map_or(0, Type::length)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &str = "target triple = \"x86_64-unknown-linux-gnu\"
        @A.tile = internal global [64 x i32] undef
        declare i64 @_Z13get_global_idj(i32)
        declare void @_Z7barrierj(i32)
        declare <4 x float> @_Z6vload4mPKf(i64, ptr)
        declare i32 @_Z10atomic_addPVii(ptr, i32)
        define void @A(ptr %p, i32 %n) {
        entry:
          %id = call i64 @_Z13get_global_idj(i32 0)
          %own = getelementptr i32, ptr @A.tile, i64 %id
          store i32 %n, ptr %own
          call void @_Z7barrierj(i32 1)
          %v = call <4 x float> @_Z6vload4mPKf(i64 %id, ptr %p)
          %w = fadd <4 x float> %v, %v
          store <4 x float> %w, ptr %p
          br label %loop
        loop:
          %i = phi i32 [ 0, %entry ], [ %j, %loop ]
          %old = call i32 @_Z10atomic_addPVii(ptr %p, i32 %i)
          %j = add i32 %i, 1
          %t = icmp slt i32 %j, %n
          br i1 %t, label %loop, label %out
        out:
          ret void
        }
        define void @stampmill_item(i64 %k, ptr %a) {
          %p = load ptr, ptr %a
          call void @A(ptr %p, i32 7)
          ret void
        }";

    #[test]
    fn every_block_branch_and_access_of_a_kernel_counts_and_none_of_its_caller() {
        let plan = plan("m", KERNEL.as_bytes(), 0).expect("a library").expect("it is valid");
        assert_eq!((plan.blocks.len(), plan.sites), (3, 4));
        assert_eq!(plan.branches, [Branch::Condition]);
        assert_eq!(plan.loops, [Loop { header: 1, back: vec![Back::Holds(0)] }]);
        let count = |block: usize, kind: Kind| plan.blocks[block].kinds[kind as usize];
        for (block, kind, wanted) in [
            (0, Kind::Place, 1),
            (0, Kind::Barrier, 1),
            (0, Kind::Load, 1),
            (0, Kind::Store, 2),
            (0, Kind::FloatAdd, 1),
            (0, Kind::Jump, 1),
            (1, Kind::Atomic, 1),
            (1, Kind::Branch, 1),
            (1, Kind::Phi, 1),
            (2, Kind::Other, 1),
        ] {
            assert_eq!(count(block, kind), wanted, "{kind:?} of {block}");
        }
        assert_eq!(plan.blocks[0].lanes, 12);
        let operations: Vec<u64> = plan.blocks.iter().map(|block| block.operations).collect();
        assert_eq!(operations, [4, 0, 0]);
        for call in ["stampmill_block", "stampmill_branch", "stampmill_access"] {
            assert!(names(&plan, call), "{call}");
        }
        assert!(names(&plan, "stampmill_shared"));
    }

    #[test]
    fn a_kernel_is_not_put_into_its_caller() {
        let plan = plan("m", KERNEL.as_bytes(), 2).expect("a library").expect("it is valid");
        assert!(!plan.blocks.is_empty() && names(&plan, "A"));
    }

    /// Whether the object has a symbol or a section of this name.
    fn names(plan: &Plan, name: &str) -> bool {
        let name = [&[0], name.as_bytes(), &[0]].concat();
        plan.object.windows(name.len()).any(|part| part == name)
    }

    #[test]
    fn names_are_those_of_the_program() {
        assert_eq!(plain_name("_Z13get_global_idj"), "get_global_id");
        assert_eq!(plain_name("_Z"), "_Z");
        assert_eq!((plain_name("printf"), plain_name("_Z99x")), ("printf", "_Z99x"));
        assert_eq!(vector_in_memory("_Z6vload4mPKf"), Some((4, 4)));
        assert_eq!(vector_in_memory("_Z8vstore16Dv16_tmPt"), Some((16, 2)));
        assert_eq!(vector_in_memory("_Z10vload_halfmPKDh"), None);
    }
}
