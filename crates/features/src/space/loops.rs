use super::{Extracted, FeatureSpace};
use crate::{Part, ProgramView};
use llvm::{Instruction, Opcode, Type, TypeKind, loop_weight};
use std::sync::LazyLock;

/// What a module's instructions would cost if every loop ran ten times: the counts of
/// [`InstCount`](super::instcount::InstCount), each instruction weighted by 10 to the number of loops
/// around it ([`llvm::loop_weight`]), and the same by kind of operation and type of operand.
///
/// A cost model that sees how often each operation stands in the text, and not how deep, cannot tell a
/// kernel's loop from its prologue. Static estimates of frequency by loop depth are those of Wagner et
/// al. (PLDI 1994) and of LLVM's `BlockFrequencyInfo` without profile.
///
/// - `Loops`, `Depth`: natural loops, and how deep the deepest lies;
/// - `InstsAt0` to `InstsAt3`: instructions (not weighted) within so many loops, the last of three or more;
/// - `Weighted` and an opcode's name, `Insts`, `Blocks`, `Lanes` (lanes of vectors that are operands);
/// - `Weighted`, a kind of operation (`Add`, `Logic`, `Mul`, `Div`, `Compare`, `Cast`, `Load`, `Store`,
///   `Call`) and the type it works on: integers of up to 8, 16, 32 and more bits (`I8` to `I64`),
///   floating-point numbers of up to 16, 32 and more bits (`F16` to `F64`), `Pointer`, `Vector`. Of a
///   comparison or cast that is the type of what is compared or cast, of a store of what is stored, of a
///   call of what it returns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loops;

const HEAD: [&str; 9] = [
    "Loops",
    "Depth",
    "InstsAt0",
    "InstsAt1",
    "InstsAt2",
    "InstsAt3",
    "WeightedInsts",
    "WeightedBlocks",
    "WeightedLanes",
];
const KINDS: [&str; 9] = ["Add", "Logic", "Mul", "Div", "Compare", "Cast", "Load", "Store", "Call"];
const TYPES: [&str; 9] = ["I8", "I16", "I32", "I64", "F16", "F32", "F64", "Pointer", "Vector"];

/// Places in [`HEAD`].
const DEPTH: usize = 1;
const AT: usize = 2;
const INSTS: usize = 6;
const BLOCKS: usize = 7;
const LANES: usize = 8;
/// Where the opcodes begin, and where the kinds do.
const OPCODES: usize = HEAD.len();
const BY_TYPE: usize = OPCODES + Opcode::ALL.len();

static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let head = HEAD.iter().map(|name| (*name).to_owned());
    let opcodes = Opcode::ALL.iter().map(|opcode| format!("Weighted{}", opcode.name()));
    let by_type =
        KINDS.iter().flat_map(|kind| TYPES.iter().map(move |ty| format!("Weighted{kind}{ty}")));
    head.chain(opcodes).chain(by_type).collect()
});

impl FeatureSpace for Loops {
    fn name(&self) -> &'static str {
        "loops"
    }

    fn dimensions(&self) -> Vec<&'static str> {
        NAMES.iter().map(String::as_str).collect()
    }

    fn parts(&self) -> &'static [Part] {
        &[Part::Module]
    }

    fn follows(&self) -> &'static [&'static str] {
        &["WeightedInsts"]
    }

    fn sums(&self) -> Vec<(&'static str, Vec<&'static str>)> {
        let opcodes = NAMES[OPCODES..BY_TYPE].iter().map(String::as_str).collect();
        vec![("WeightedInsts", opcodes)]
    }

    fn extract(&self, program: &ProgramView<'_>) -> Option<Extracted> {
        let mut counts = vec![0.0; NAMES.len()];
        for function in program.module?.functions() {
            let nest = function.loop_nest();
            counts[0] += nest.latches.len() as f64;
            counts[DEPTH] = f64::from(nest.deepest()).max(counts[DEPTH]);
            for (block, &depth) in function.blocks().zip(&nest.depths) {
                let weight = loop_weight(depth);
                counts[BLOCKS] += weight;
                for instruction in block.instructions() {
                    counts[AT + depth.min(3) as usize] += 1.0;
                    count(&mut counts, instruction, weight);
                }
            }
        }
        Some(Extracted::Whole(counts))
    }
}

fn count(counts: &mut [f64], instruction: Instruction<'_>, weight: f64) {
    let opcode = instruction.opcode();
    counts[INSTS] += weight;
    if let Some(index) = opcode.index() {
        counts[OPCODES + index] += weight;
    }
    let Some((kind, ty)) = work_of(instruction) else { return };
    if ty.kind() == TypeKind::Vector {
        counts[LANES] += weight * ty.length() as f64;
    }
    if let Some(ty) = place_of(ty) {
        counts[BY_TYPE + kind * TYPES.len() + ty] += weight;
    }
}

/// The kind of an operation, as a place in [`KINDS`], and the type that it works on.
fn work_of<'m>(instruction: Instruction<'m>) -> Option<(usize, Type<'m>)> {
    let of_operand = |kind| Some((kind, instruction.operands().next()?.ty()));
    let own = |kind| Some((kind, instruction.ty()));
    match instruction.opcode() {
        Opcode::Add | Opcode::Sub | Opcode::FAdd | Opcode::FSub | Opcode::FNeg => own(0),
        Opcode::Shl | Opcode::LShr | Opcode::AShr | Opcode::And | Opcode::Or | Opcode::Xor => {
            own(1)
        }
        Opcode::Mul | Opcode::FMul => own(2),
        Opcode::UDiv | Opcode::SDiv | Opcode::FDiv | Opcode::URem | Opcode::SRem | Opcode::FRem => {
            own(3)
        }
        Opcode::ICmp | Opcode::FCmp => of_operand(4),
        opcode if opcode.is_cast() => of_operand(5),
        Opcode::Load => own(6),
        Opcode::Store => of_operand(7),
        Opcode::Call => own(8),
        _ => None,
    }
}

/// A place in [`TYPES`]; `None` for `void`, structs and arrays.
fn place_of(ty: Type<'_>) -> Option<usize> {
    Some(match (ty.kind(), ty.integer_width().or_else(|| ty.float_width())) {
        (TypeKind::Integer, Some(0..=8)) => 0,
        (TypeKind::Integer, Some(9..=16)) => 1,
        (TypeKind::Integer, Some(17..=32)) => 2,
        (TypeKind::Integer, _) => 3,
        (TypeKind::Float, Some(0..=16)) => 4,
        (TypeKind::Float, Some(17..=32)) => 5,
        (TypeKind::Float, _) => 6,
        (TypeKind::Pointer, _) => 7,
        (TypeKind::Vector, _) => 8,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use llvm::{Context, Library};
    use std::collections::BTreeMap;

    /// The dimensions that are not zero.
    fn counts(text: &str) -> BTreeMap<&'static str, f64> {
        let library = Library::newest().expect("scripts/setup.sh installs LLVM");
        let context = Context::new(library);
        let module = context.parse("test", text.as_bytes()).expect("it is valid");
        let view = ProgramView { module: Some(&module), ..ProgramView::default() };
        let Some(Extracted::Whole(vector)) = Loops.extract(&view) else { panic!("it is a module") };
        let named = Loops.dimensions().into_iter().zip(vector);
        named.filter(|(_, count)| *count != 0.0).collect()
    }

    /// A loop in a loop, counted by hand: 2 instructions before, 5 in the outer loop alone (a phi, an
    /// add, a comparison and two jumps), 10 in the inner one, 1 behind.
    const NEST: &str = "
        declare void @outside()
        define void @nest(ptr %p, double %x, <4 x float> %v) {
        entry:
          call void @outside()
          br label %outer
        outer:
          %i = phi i32 [ 0, %entry ], [ %i1, %latch ]
          br label %inner
        inner:
          %j = phi i64 [ 0, %outer ], [ %j1, %inner ]
          %q = getelementptr half, ptr %p, i64 %j
          %h = load half, ptr %q
          %d = fpext half %h to double
          %m = fmul double %d, %x
          %w = fadd <4 x float> %v, %v
          store double %m, ptr %p
          %j1 = add i64 %j, 1
          %t = icmp eq i64 %j1, 64
          br i1 %t, label %latch, label %inner
        latch:
          %i1 = add i32 %i, 1
          %u = icmp eq i32 %i1, 8
          br i1 %u, label %out, label %outer
        out:
          ret void
        }";

    #[test]
    fn what_stands_in_loops_is_weighted_as_by_hand() {
        let mut wanted: BTreeMap<&str, f64> = BTreeMap::from([
            ("Loops", 2.0),
            ("Depth", 2.0),
            ("InstsAt0", 3.0),
            ("InstsAt1", 5.0),
            ("InstsAt2", 10.0),
            ("WeightedInsts", 1053.0),
            // entry and out, outer and latch, inner.
            ("WeightedBlocks", 122.0),
            ("WeightedLanes", 400.0),
            // By opcode: jumps in entry, outer, latch, inner.
            ("WeightedBr", 121.0),
            ("WeightedRet", 1.0),
            ("WeightedCall", 1.0),
            ("WeightedPHI", 110.0),
            ("WeightedAdd", 110.0),
            ("WeightedICmp", 110.0),
        ]);
        for inner in ["GetElementPtr", "Load", "FPExt", "FMul", "FAdd", "Store"] {
            let name = NAMES.iter().find(|name| **name == format!("Weighted{inner}"));
            wanted.insert(name.expect("it is a dimension"), 100.0);
        }
        // By kind and type.
        wanted.extend([
            ("WeightedAddI32", 10.0),
            ("WeightedAddI64", 100.0),
            ("WeightedAddVector", 100.0),
            ("WeightedCompareI32", 10.0),
            ("WeightedCompareI64", 100.0),
            ("WeightedLoadF16", 100.0),
            ("WeightedCastF16", 100.0),
            ("WeightedMulF64", 100.0),
            ("WeightedStoreF64", 100.0),
        ]);
        assert_eq!(counts(NEST), wanted);
    }

    #[test]
    fn without_loops_weights_are_counts() {
        let found =
            counts("define i8 @f(i8 %a) { %b = sdiv i8 %a, 3\n %c = or i8 %b, %a\n ret i8 %c }");
        let wanted = [
            ("InstsAt0", 3.0),
            ("WeightedBlocks", 1.0),
            ("WeightedDivI8", 1.0),
            ("WeightedInsts", 3.0),
            ("WeightedLogicI8", 1.0),
            ("WeightedOr", 1.0),
            ("WeightedRet", 1.0),
            ("WeightedSDiv", 1.0),
        ];
        assert_eq!(found, BTreeMap::from(wanted));
    }

    #[test]
    fn declarations_alone_have_no_work() {
        assert_eq!(counts("declare i32 @f(i32)"), BTreeMap::new());
    }

    #[test]
    fn operations_count_by_kind_and_the_type_they_work_on() {
        for (instruction, wanted) in [
            ("%x = sub i8 %a, 1", "AddI8"),
            ("%x = fneg half %h", "AddF16"),
            ("%x = shl i16 %b, 1", "LogicI16"),
            ("%x = xor i32 %c, 1", "LogicI32"),
            ("%x = mul i64 %d, 3", "MulI64"),
            ("%x = fmul float %f, %f", "MulF32"),
            ("%x = udiv i9 %n, 3", "DivI16"),
            ("%x = srem i17 %m, 3", "DivI32"),
            ("%x = fdiv double %g, %g", "DivF64"),
            ("%x = icmp eq ptr %p, null", "ComparePointer"),
            ("%x = fcmp oeq float %f, %f", "CompareF32"),
            ("%x = trunc i64 %d to i8", "CastI64"),
            ("%x = sext i8 %a to i64", "CastI8"),
            ("%x = load ptr, ptr %p", "LoadPointer"),
            ("%x = load i33, ptr %p", "LoadI64"),
            ("%x = load <2 x i8>, ptr %p", "LoadVector"),
            ("store float %f, ptr %p", "StoreF32"),
            ("%x = call fp128 @wide()", "CallF64"),
            ("%x = call bfloat @narrow()", "CallF16"),
            ("%x = load [2 x i32], ptr %p", ""),
            ("%x = select i1 true, i32 %c, i32 1", ""),
            ("%x = getelementptr i8, ptr %p, i64 1", ""),
        ] {
            let text = format!(
                "declare fp128 @wide()\ndeclare bfloat @narrow()\n\
                 define void @f(i8 %a, i16 %b, i32 %c, i64 %d, i9 %n, i17 %m, half %h, float %f, double %g, ptr %p) {{\n\
                 {instruction}\nret void }}"
            );
            let by_type: Vec<&str> = counts(&text)
                .into_keys()
                .filter_map(|name| name.strip_prefix("Weighted"))
                .filter(|name| NAMES[BY_TYPE..].contains(&format!("Weighted{name}")))
                .collect();
            let wanted: Vec<&str> = [wanted].into_iter().filter(|name| !name.is_empty()).collect();
            assert_eq!(by_type, wanted, "{instruction}");
        }
    }

    #[test]
    fn lanes_count_for_operands_that_are_vectors() {
        let text = "define void @f(<8 x i16> %v, ptr %p) { store <8 x i16> %v, ptr %p\n%x = load i16, ptr %p\nret void }";
        assert_eq!(counts(text)["WeightedLanes"], 8.0);
    }
}
