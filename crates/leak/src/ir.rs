//! A kernel's optimised IR as trees of what each instruction is computed from.

use crate::shingles::{Shingles, hash, join, short};
use llvm::{Function, Instruction, Module, Opcode, TypeKind, Value, ValueKind};
use std::collections::{HashMap, HashSet};

/// Levels of a tree above its leaves.
const DEPTH: u8 = 3;
/// Conversions and the like between a value and its use, at most.
const LONGEST: usize = 32;

/// The trees of all that `kernel` reaches; of the whole module where there is no such function.
pub(crate) fn shingles(module: &Module<'_>, kernel: &str) -> Shingles {
    let mut waiting: Vec<Function<'_>> = module.function(kernel).into_iter().collect();
    if waiting.is_empty() {
        waiting.extend(module.functions());
    }
    let mut seen = HashSet::new();
    let mut trees = Trees::default();
    let mut hashes = Vec::new();
    while let Some(function) = waiting.pop() {
        if function.is_declaration() || !seen.insert(function.value()) {
            continue;
        }
        for instruction in function.blocks().flat_map(|block| block.instructions()) {
            waiting.extend(instruction.called_function());
            if says_something(instruction) {
                hashes.push(short(trees.of_instruction(instruction, DEPTH)));
            }
        }
    }
    Shingles::of(hashes)
}

/// What only moves values, or ends a block whatever they are, is in every program.
fn says_something(instruction: Instruction<'_>) -> bool {
    match instruction.opcode() {
        Opcode::Ret | Opcode::Unreachable => false,
        Opcode::Br => instruction.operands().any(|operand| operand.kind() != ValueKind::Block),
        Opcode::Call => !is_note(&callee(instruction)),
        _ => passed(instruction).is_none(),
    }
}

/// The operand that an instruction passes on: of conversions, and of what packs vectors.
fn passed(instruction: Instruction<'_>) -> Option<Value<'_>> {
    let place = match instruction.opcode() {
        Opcode::Freeze | Opcode::ExtractElement | Opcode::ShuffleVector => 0,
        Opcode::Trunc
        | Opcode::ZExt
        | Opcode::SExt
        | Opcode::FPTrunc
        | Opcode::FPExt
        | Opcode::PtrToInt
        | Opcode::IntToPtr
        | Opcode::BitCast
        | Opcode::AddrSpaceCast => 0,
        Opcode::InsertElement => 1,
        _ => return None,
    };
    instruction.operands().nth(place)
}

/// Name of what a call calls, without types.
fn callee(instruction: Instruction<'_>) -> String {
    let Some(function) = instruction.called_function() else { return "indirect".to_owned() };
    let name = function.name();
    if let Some(mangled) = name.strip_prefix("_Z") {
        let digits = mangled.bytes().take_while(u8::is_ascii_digit).count();
        let length = mangled[..digits].parse().unwrap_or(0);
        return mangled.get(digits..digits + length).unwrap_or(mangled).to_owned();
    }
    match name.strip_prefix("llvm.") {
        Some(intrinsic) => {
            let is_type = |part: &&str| {
                part.starts_with(['v', 'f', 'i', 'p'])
                    && part[1..].starts_with(|c: char| c.is_ascii_digit())
            };
            let parts: Vec<&str> = intrinsic.split('.').filter(|part| !is_type(part)).collect();
            format!("llvm.{}", parts.join("."))
        }
        None if function.is_declaration() => name,
        None => "own".to_owned(),
    }
}

/// Whether an intrinsic only tells the compiler something.
fn is_note(name: &str) -> bool {
    ["llvm.lifetime", "llvm.assume", "llvm.dbg", "llvm.experimental.noalias"]
        .iter()
        .any(|note| name.starts_with(note))
}

#[derive(Default)]
struct Trees<'m> {
    known: HashMap<(Value<'m>, u8), u64>,
}

impl<'m> Trees<'m> {
    fn of_instruction(&mut self, instruction: Instruction<'m>, depth: u8) -> u64 {
        let opcode = instruction.opcode();
        let mut label = opcode.name().to_owned();
        let mut operands: Vec<Value<'m>> = instruction.operands().collect();
        match opcode {
            Opcode::Call => {
                operands.truncate(instruction.argument_count());
                label += &callee(instruction);
            }
            // Which way round a comparison stands is a matter of form, and of signs.
            Opcode::ICmp if matches!(instruction.predicate(), 32 | 33) => label += "eq",
            Opcode::FCmp if matches!(instruction.predicate(), 1 | 6 | 9 | 14) => label += "eq",
            _ => {}
        }
        if depth == 0 {
            return hash(label.as_bytes());
        }
        let is_value = |operand: &Value<'m>| operand.kind() != ValueKind::Block;
        let operands: Vec<Value<'m>> = operands.into_iter().filter(is_value).collect();
        let mut below: Vec<u64> =
            operands.into_iter().map(|operand| self.of_value(operand, depth - 1)).collect();
        below.sort_unstable();
        below.push(hash(label.as_bytes()));
        join(&below)
    }

    fn of_value(&mut self, value: Value<'m>, depth: u8) -> u64 {
        let mut value = value;
        for _ in 0..LONGEST {
            match value.as_instruction().and_then(passed) {
                Some(inner) => value = inner,
                None => break,
            }
        }
        if let Some(known) = self.known.get(&(value, depth)) {
            return *known;
        }
        let label = match value.as_instruction() {
            // A loop's value is its own: what goes round is not followed.
            Some(instruction) if instruction.opcode() == Opcode::Phi => hash(b"phi"),
            Some(instruction) => self.of_instruction(instruction, depth),
            None => hash(leaf(value).as_bytes()),
        };
        self.known.insert((value, depth), label);
        label
    }
}

/// What is no instruction.
fn leaf(value: Value<'_>) -> String {
    match value.kind() {
        ValueKind::Argument if value.ty().kind() == TypeKind::Pointer => "pointer".to_owned(),
        ValueKind::Argument => "value".to_owned(),
        ValueKind::Integer => value.integer().map_or_else(
            || "#".to_owned(),
            |(width, bits)| {
                let unused = 64 - width.clamp(1, 64);
                format!("#{}", ((bits << unused).cast_signed() >> unused) as f64)
            },
        ),
        ValueKind::Float => value.real().map_or_else(|| "#".to_owned(), |real| format!("#{real}")),
        ValueKind::Zero => "#0".to_owned(),
        ValueKind::Global | ValueKind::Function | ValueKind::Expression => "@".to_owned(),
        _ => "?".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use llvm::{Context, Library};

    fn trees(text: &str) -> Shingles {
        let context = Context::new(Library::newest().expect("setup.sh installs an LLVM"));
        let module = context.parse("test", text.as_bytes()).expect("well-formed");
        shingles(&module, "k")
    }

    #[test]
    fn order_names_and_widths_do_not_matter() {
        let one = trees(
            "define void @k(ptr %a, i32 %n) {\n %x = load i32, ptr %a\n %y = add i32 %x, %n\n\
             %z = mul i32 %n, 3\n %s = xor i32 %y, %z\n store i32 %s, ptr %a\n ret void }",
        );
        let two = trees(
            "define i64 @other() { ret i64 7 }\n\
             define void @k(i64 %m, ptr %p) {\n %z = mul i64 3, %m\n %x = load i64, ptr %p\n\
             %y = add i64 %m, %x\n %w = trunc i64 %z to i8\n %v = sext i8 %w to i64\n\
             %s = xor i64 %v, %y\n store i64 %s, ptr %p\n ret void }",
        );
        assert_eq!(one.size(), 5);
        assert_eq!(one, two);
    }

    #[test]
    fn a_parameter_is_a_value_and_what_is_undefined_is_none() {
        let text = |what: &str| {
            format!("define void @k(ptr %a, i32 %n) {{\n store i32 {what}, ptr %a\n ret void }}")
        };
        assert_ne!(trees(&text("%n")), trees(&text("undef")));
    }

    #[test]
    fn another_constant_is_another_tree() {
        let text = |number: u32| {
            format!("define void @k(ptr %a) {{\n store i32 {number}, ptr %a\n ret void }}")
        };
        assert_ne!(trees(&text(1)), trees(&text(2)));
    }

    /// Whether two bodies of one kernel have the same trees, and how many.
    fn alike(one: &str, two: &str) -> bool {
        const HEAD: &str = "declare float @_Z3sinf(float)\n declare float @_Z3cosf(float)\n\
            declare float @_Z4sinff(float)\n declare float @plain(float)\n\
            declare float @_Z3sinDv4_f(float)\n\
            declare float @llvm.fma.f32(float, float, float)\n\
            declare double @llvm.fma.f64(double, double, double)\n\
            declare void @llvm.assume(i1)\n\
            define float @mine(float %x) { ret float %x }\n\
            define float @other(float %x) { ret float %x }\n\
            define void @k(ptr %a, float %f, double %d, i32 %n, <4 x float> %v, i1 %c) {\n";
        let whole = |body: &str| trees(&format!("{HEAD}{body}\n ret void }}"));
        whole(one) == whole(two)
    }

    #[test]
    fn what_a_value_passes_through_is_not_seen() {
        let packed = "%x = fadd float %f, 2.0\n %w = insertelement <4 x float> %v, float %x, i32 0\n\
            %e = extractelement <4 x float> %w, i32 1\n store float %e, ptr %a";
        let plain = "%x = fadd float %f, 2.0\n store float %x, ptr %a";
        assert!(alike(packed, plain));
        for cast in
            ["trunc i32 %x to i8", "zext i32 %x to i64", "sext i32 %x to i64", "freeze i32 %x"]
        {
            let to = cast.rsplit(' ').next().filter(|to| to.starts_with('i')).unwrap_or("i32");
            let cast = format!("%x = add i32 %n, 1\n %y = {cast}\n store {to} %y, ptr %a");
            assert!(alike(&cast, "%x = add i32 %n, 1\n store i32 %x, ptr %a"), "{cast}");
        }
        assert!(alike(
            "%x = fptrunc double %d to float\n store float %x, ptr %a",
            "store float %f, ptr %a"
        ));
    }

    #[test]
    fn functions_are_told_by_name_without_types() {
        let call =
            |name: &str| format!("%x = call float @{name}(float %f)\n store float %x, ptr %a");
        assert!(alike(&call("_Z3sinf"), &call("_Z3sinDv4_f")));
        assert!(!alike(&call("_Z3sinf"), &call("_Z3cosf")));
        assert!(!alike(&call("_Z3sinf"), &call("_Z4sinff")));
        assert!(!alike(&call("_Z3sinf"), &call("plain")));
        assert!(alike(&call("mine"), &call("other")));
        assert!(!alike(&call("mine"), &call("plain")));
        let fma = |name: &str, t: &str, v: &str| {
            format!(
                "%x = call {t} @llvm.fma.{name}({t} {v}, {t} {v}, {t} {v})\n store {t} %x, ptr %a"
            )
        };
        assert!(alike(&fma("f32", "float", "%f"), &fma("f64", "double", "%d")));
        let noted = "call void @llvm.assume(i1 %c)\n store float %f, ptr %a";
        assert!(alike(noted, "store float %f, ptr %a"));
    }

    #[test]
    fn constants_are_told_by_value_and_not_by_width() {
        let store = |value: &str| format!("store {value}, ptr %a");
        assert!(alike(&store("i32 -1"), &store("i8 -1")));
        assert!(!alike(&store("i32 -1"), &store("i32 255")));
        assert!(alike(&store("float 2.0"), &store("double 2.0")));
        assert!(!alike(&store("float 2.0"), &store("float 3.0")));
        assert!(alike(&store("i32 0"), &store("ptr null")));
        assert!(!alike(&store("i32 %n"), &store("ptr %a")));
        assert!(!alike(&store("ptr %a"), &store("ptr @mine")));
    }

    #[test]
    fn equality_has_no_direction_and_no_sign() {
        let compare =
            |how: &str| format!("%c1 = {how}\n %s = zext i1 %c1 to i32\n store i32 %s, ptr %a");
        assert!(alike(&compare("icmp eq i32 %n, 5"), &compare("icmp ne i32 %n, 5")));
        assert!(alike(&compare("icmp slt i32 %n, 5"), &compare("icmp ugt i32 %n, 5")));
        assert!(!alike(&compare("icmp eq i32 %n, 5"), &compare("icmp slt i32 %n, 5")));
        assert!(!alike(&compare("fcmp oeq float %f, 5.0"), &compare("fcmp olt float %f, 5.0")));
        assert!(alike(&compare("fcmp une float %f, 5.0"), &compare("fcmp oeq float %f, 5.0")));
    }

    #[test]
    fn trees_are_three_levels_deep_and_loops_end_them() {
        let chain = |first: &str| {
            format!(
                "%p = {first} i32 %n, 7\n %q = mul i32 %p, 3\n %r = add i32 %q, 1\n\
                 %s = xor i32 %r, 9\n %t = or i32 %s, 2\n store i32 %t, ptr %a"
            )
        };
        let module =
            |body: &str| trees(&format!("define void @k(ptr %a, i32 %n) {{\n{body}\n ret void }}"));
        let (one, two) = (module(&chain("add")), module(&chain("sub")));
        // The first instruction, and the three that see it; the fifth and the store see other things.
        assert_eq!(one.overlap(&two).containment, 2.0 / 6.0);
        let turning = |start: u32| {
            trees(&format!(
                "define void @k(ptr %a, i32 %n) {{\ne:\n br label %l\nl:\n\
                 %i = phi i32 [ {start}, %e ], [ %j, %l ]\n %j = add i32 %i, 1\n store i32 %j, ptr %a\n\
                 %c = icmp ult i32 %j, %n\n br i1 %c, label %l, label %x\nx:\n ret void }}"
            ))
        };
        // What the loop starts from is in the tree of its own value alone; a jump says nothing.
        let overlap = turning(0).overlap(&turning(5));
        assert_eq!((overlap.smaller, overlap.containment), (5, 4.0 / 5.0));
    }
}
