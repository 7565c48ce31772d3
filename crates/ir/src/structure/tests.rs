use super::*;
use llvm::{Context, Library};

fn look(text: &str) -> Structure {
    let context = Context::new(Library::newest().expect("scripts/setup.sh installs LLVM"));
    let module = context.parse("test", text.as_bytes()).unwrap();
    module.verify().unwrap();
    structure(&module)
}

const BASE: &str = "
@s = private constant [3 x i8] c\"ab\\00\"
@t = global i32 4
declare i32 @puts(ptr)
declare void @llvm.assume(i1)
define i32 @f(i32 %a, i32 %b) {
  %c = icmp sgt i32 %a, %b
  br i1 %c, label %yes, label %no
yes:
  %x = add i32 %a, 3
  br label %end
no:
  %y = call i32 @g(i32 %b)
  br label %end
end:
  %r = phi i32 [ %x, %yes ], [ %y, %no ]
  %z = call i32 @puts(ptr @s)
  ret i32 %r
}
define internal i32 @g(i32 %v) {
  %w = load i32, ptr @t
  %q = mul i32 %w, %v
  ret i32 %q
}
";

/// BASE with other names, metadata, order of functions, layout of blocks.
const SAME: &str = "
source_filename = \"other.c\"
@other = global i32 4
@.str.9 = private constant [3 x i8] c\"ab\\00\"
define internal i32 @helper(i32 %one) {
  %two = load i32, ptr @other, !note !0
  %three = mul i32 %two, %one
  ret i32 %three
}
define i32 @renamed(i32 %m, i32 %n) !note !0 {
  %o = icmp sgt i32 %m, %n
  br i1 %o, label %first, label %second
third:
  %u = phi i32 [ %p, %first ], [ %q, %second ]
  %v = call i32 @puts(ptr @.str.9)
  ret i32 %u
first:
  %p = add i32 %m, 3
  br label %third
second:
  %q = call i32 @helper(i32 %n)
  br label %third
}
declare void @unused()
declare i32 @puts(ptr)
!0 = !{!\"a note\"}
";

#[test]
fn names_metadata_and_order_do_not_matter() {
    let one = look(BASE);
    let other = look(SAME);
    assert_eq!(one.module, other.module);
    assert_eq!(one.functions, other.functions);
    let equal = one.signature.iter().zip(&other.signature).filter(|(a, b)| a == b).count();
    assert!(equal > WIDTH / 2, "{equal}");
}

#[test]
fn types_opcodes_constants_and_control_flow_do() {
    let one = look(BASE);
    for (from, to) in [
        ("add i32 %a, 3", "add i32 %a, 4"),
        ("add i32 %a, 3", "sub i32 %a, 3"),
        ("add i32 %a, 3", "add i32 %b, 3"),
        ("icmp sgt", "icmp slt"),
        ("label %yes, label %no", "label %no, label %yes"),
        ("c\"ab\\00\"", "c\"ac\\00\""),
        ("@t = global i32 4", "@t = global i32 5"),
        ("load i32, ptr @t", "load volatile i32, ptr @t"),
        ("[ %x, %yes ], [ %y, %no ]", "[ 1, %yes ], [ %y, %no ]"),
        ("mul i32 %w, %v", "mul i32 %v, %w"),
        ("@puts", "@putsx"),
    ] {
        let other = look(&BASE.replace(from, to));
        assert_ne!(one.module, other.module, "{from} -> {to}");
    }
}

#[test]
fn a_caller_is_known_by_what_it_calls() {
    let two = |body: &str| {
        format!(
            "define internal i32 @a() {{ ret i32 1 }}\ndefine internal i32 @b() {{ ret i32 2 }}\n\
             define i32 @f() {{ %r = call i32 @{body}()\n ret i32 %r }}"
        )
    };
    let (a, b) = (look(&two("a")), look(&two("b")));
    assert_ne!(a.module, b.module);
    assert_eq!(a.functions, b.functions);
}

#[test]
fn counts_are_of_what_is_there() {
    let one = look(BASE);
    assert_eq!((one.functions.len(), one.instructions, one.blocks), (2, 12, 5));
    assert_eq!(one.declarations, 1);
    assert_eq!(one.calls, [2, 0, 0, 0]);
    assert_eq!(one.data_bytes, 3);
    assert_eq!(one.opcodes.iter().sum::<u64>(), one.instructions);
}

#[test]
fn an_empty_module_has_a_structure() {
    let one = look("; nothing");
    assert!(one.functions.is_empty() && one.signature.len() == WIDTH);
}

#[test]
fn a_small_change_keeps_most_of_the_signature() {
    let function = |number: usize, constant: usize| {
        format!(
            "define i32 @f{number}(i32 %a, i64 %b) {{\n %x = add i32 %a, {constant}\n %y = mul i32 %x, %a\n \
             %t = trunc i64 %b to i32\n %z = {} i32 %y, %t\n ret i32 %z }}\n",
            ["and", "or", "xor", "shl", "lshr", "ashr", "sub", "udiv", "sdiv", "urem"][number % 10]
        )
    };
    let text: String = (0..10).map(|n| function(n, 7)).collect();
    let changed: String = (0..10).map(|n| function(n, if n == 3 { 8 } else { 7 })).collect();
    let (a, b) = (look(&text), look(&changed));
    assert_ne!(a.module, b.module);
    let equal = a.signature.iter().zip(&b.signature).filter(|(a, b)| a == b).count();
    assert!(equal * 10 >= WIDTH * 7, "{equal}");
}
