//! Programs that stand alone: what passes, what is made of it, and what the leak rule sees of it.

use clang::Clang;
use stampmill_kernels::{Judge, Printer};

const GOOD: &str = "kernel void first(global int* a) { a[get_global_id(0)] += 2; }
kernel void last(global float* a) { a[get_global_id(0)] *= 0.5f; }";

fn judge() -> Judge {
    Judge::new(Clang::start(1).expect("the clang worker is built with the workspace"))
}

#[test]
fn a_program_that_does_something_passes_with_its_last_kernel() {
    let passed = judge().check(GOOD).expect("it is good");
    assert_eq!((passed.kernel.as_str(), passed.standard.as_str()), ("last", "CL2.0"));
    assert!(passed.instructions > 3, "{passed:?}");
    let least = judge().check("kernel void k(global int* a) { }").expect("it is large enough");
    assert_eq!(least.instructions, stampmill_kernels::MINIMUM_INSTRUCTIONS);
    // Pipes are none of the words of 1.2.
    let old = judge().check("kernel void k(global int* a) { int pipe = a[0]; a[1] = pipe + 2; }");
    assert_eq!(old.expect("an older standard accepts it").standard, "CL1.2");
}

#[test]
fn a_program_that_does_not_pass_has_the_first_reason() {
    let judge = judge();
    for (text, verdict, detail) in [
        ("kernel void k(global int* a) { a[0] = missing; }", "does-not-compile", "missing"),
        ("int f(int x) { return x * 3; }", "no-kernel", ""),
        ("kernel void k(void) { }", "too-small", "instructions"),
        ("int f(int x);\nkernel void k(global int* a) { a[0] = f(3); }", "not-defined", "f"),
    ] {
        let refused = judge.check(text).expect_err(text);
        assert_eq!(refused.name, verdict, "{text}");
        assert!(refused.detail.contains(detail), "{}", refused.detail);
    }
}

#[test]
fn a_program_is_normalised_to_its_last_kernel() {
    let row = judge().normalise(GOOD).expect("it has kernels");
    assert_eq!((row.original_name.as_str(), row.name.as_str()), ("last", "A"));
    assert_eq!(row.content_id, dataset::content_hash(GOOD.as_bytes()));
    assert_eq!(
        row.text,
        "__kernel void A(__global float* a) {\n  a[get_global_id(0)] *= 0.5f;\n}\n"
    );
    assert_eq!(judge().normalise("int x;"), None);
}

#[test]
fn each_kernel_of_a_file_is_looked_at_by_itself() {
    let printer = Printer::start(1).expect("clang and LLVM are here");
    let names = |text: &str| {
        let printed = printer.file(text).expect("clang is there");
        printed.into_iter().map(|kernel| kernel.name).collect::<Vec<_>>()
    };
    assert_eq!(names(GOOD), ["first", "last"]);
    let printed = printer.file(GOOD).expect("clang is there");
    assert!(printed.iter().all(|kernel| kernel.print.ir.size() > 0));
    assert_ne!(printed[0].print, printed[1].print);
    // Beyond repair: the text counts as one kernel, by its first name.
    assert_eq!(names("kernel void broken(global int* a) { a[0] = ; }"), ["broken"]);
    assert_eq!(names("nothing of a kernel"), [""]);
}

#[test]
fn a_kernel_by_itself_is_taken_as_it_is_and_others_are_isolated() {
    let printer = Printer::start(1).expect("clang and LLVM are here");
    let alone = "kernel void k(global int* a) {
        for (int i = 0; i < 8; i++) a[get_global_id(0) + i] += a[i] * 2;
    }\n";
    let kernels = |text: &str| printer.kernels(text).expect("clang is there");
    let as_it_is = kernels(alone);
    assert_eq!((as_it_is.len(), as_it_is[0].name.as_str()), (1, "k"));
    assert_eq!(as_it_is[0].print, printer.isolated(alone).expect("clang is there"));
    // Pragmas change nothing; what nobody calls is no part of a kernel in a file with macros.
    assert_eq!(
        kernels(&format!("  # pragma OPENCL FP_CONTRACT ON\n{alone}"))[0].print.ir,
        as_it_is[0].print.ir
    );
    let unused = "int unused(int x) { return x * 3 + x / 7; }\n";
    let plain = kernels(&format!("{unused}{alone}"));
    assert_ne!(plain[0].print.text, as_it_is[0].print.text, "it is taken whole");
    let isolated = kernels(&format!("#define M 1\n{unused}{alone}"));
    assert_eq!(
        isolated[0].print.text.size(),
        printer.file(alone).expect("clang")[0].print.text.size()
    );
    assert_eq!(kernels(GOOD).len(), 2);
    // What optimization removes is no part of its IR, and what is missing is inferred.
    let idle = alone.replace("for", "int idle = a[1] * 7;\nfor");
    assert_eq!(kernels(&idle)[0].print.ir, as_it_is[0].print.ir);
    assert!(kernels(&alone.replace("int*", "real*"))[0].print.ir.size() > 0);
}

#[test]
fn dead_code_goes_and_the_code_is_the_same() {
    let judge = judge();
    let text = "kernel void A(global float* a, global int* b, int c) {
  int d, e = get_global_id(0), f = c * 3;
  float g = 2.0f;
  for (int h = 0; h < 5; h++) {
    g += 1.0f;
  }
  if (e < c) {
    int i = b[e];
    f += i;
    a[e] = b[e] * 2.0f, g * 3.0f;
  } else {
    f = e;
  }
  for (int h = 0; h < c; h++) a[e] += h;
  d = b[0];
}";
    let left = judge.without_dead_code(text, 0..text.len(), &|_| true).expect("it compiles");
    let lines: Vec<&str> = left.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(
        lines,
        [
            "kernel void A(global float* a, global int* b, int c) {",
            "int  e = get_global_id(0);",
            "if (e < c) {",
            "a[e] = b[e] * 2.0f;",
            "}",
            "for (int h = 0; h < c; h++) a[e] += h;",
            "}",
        ]
    );
    judge.check(&left).expect("it compiles");
    let head = text.find("if").expect("there is one");
    let left = judge.without_dead_code(text, head..text.len(), &|_| true).expect("it compiles");
    assert!(left.starts_with(&text[..head]), "{left}");
    let kept = judge.without_dead_code(text, head..text.len(), &|_| false).expect("it compiles");
    assert_eq!(kept, text, "nothing that is left may be");
    assert_eq!(judge.without_dead_code("kernel void A() { missing(); }", 0..9, &|_| true), None);
}

#[test]
fn what_does_not_compile_is_compared_by_its_text_alone() {
    let printer = Printer::start(0).expect("one worker at least");
    let broken = "kernel void k(global int* a) { a[0] = missing + 3; }";
    let isolated = |text: &str| printer.isolated(text).expect("clang is there");
    let print = isolated(broken);
    assert_eq!((print.ir.size(), print.text.size() > 0), (0, true));
    let old = "kernel void k(global int* a) { int pipe = a[0]; a[1] = pipe + 2; }";
    assert!(isolated(old).ir.size() > 0, "an older standard accepts it");
    let versions = printer.versions();
    assert!(versions.contains(&format!("leak {}", leak::VERSION)), "{versions}");
    assert!(versions.contains("19"), "{versions}");
}
