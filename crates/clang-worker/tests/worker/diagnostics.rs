//! What the compiler says is data: kind, place, subject.

use crate::support::clang;
use clang::{Options, Severity};

const KINDS: &[(&str, &str, Option<&str>, Option<&str>)] = &[
    (
        "kernel void k(global int* a) { a[0] = oops; }",
        "err_undeclared_var_use",
        Some("oops"),
        Some("oops"),
    ),
    ("kernel void k(global FLOAT* a) {}", "err_unknown_typename", Some("FLOAT"), Some("FLOAT")),
    ("#include \"nope.h\"\n", "err_pp_file_not_found", Some("nope.h"), Some("\"nope.h\"")),
    (
        "struct S { int x; }; kernel void k(global struct S* s) { s->y = 1; }",
        "err_no_member",
        Some("y"),
        Some("y ="),
    ),
    (
        "kernel void k(global int* a) { a[0] = f(1); }",
        "err_undeclared_var_use",
        Some("f"),
        Some("f("),
    ),
    ("kernel void k(global int* a) { a[0] = 1 }", "err_expected_semi_after_expr", None, None),
    ("#error no\n", "err_pp_hash_error", None, Some("error")),
    ("kernel int k(void) { return 1; }", "err_expected_kernel_void_return_type", None, None),
];

#[test]
fn errors_carry_clangs_name_their_place_and_their_subject() {
    for (source, kind, subject, at) in KINDS {
        let answer = clang().compile(source, &Options::opencl()).expect("the worker survives");
        let error = answer.first_error().unwrap_or_else(|| panic!("{source} is rejected"));
        assert_eq!(error.kind, *kind, "{}", error.message);
        if subject.is_some() {
            assert_eq!(error.subject.as_deref(), *subject, "{kind}");
        }
        let offset = error.offset.expect("it is about the source") as usize;
        if let Some(at) = at {
            assert!(source[offset..].starts_with(at), "{kind} at {:?}", &source[offset..]);
        }
        assert_eq!(error.line, Some(1));
        assert_eq!(answer.code, None);
    }
}

#[test]
fn a_flood_of_warnings_hides_no_error() {
    let warnings: String = (0..50).map(|i| format!("int f{i}(void) {{ }}\n")).collect();
    let source = format!("{warnings}kernel void k(void) {{ oops; }}\n");
    let options = Options { diagnostics: 5, ..Options::opencl() };
    let answer = clang().compile(&source, &options).expect("the worker survives");
    let of = |severity| answer.diagnostics.iter().filter(|d| d.severity == severity).count();
    assert!(of(Severity::Warning) <= 5);
    assert_eq!(answer.first_error().expect("an error").subject.as_deref(), Some("oops"));
}

#[test]
fn an_error_in_a_header_has_no_place_in_the_source() {
    let options =
        Options { headers: vec![("h.h".into(), "nonsense\n".into())], ..Options::opencl() };
    let answer =
        clang().compile("#include \"h.h\"\nint x;\n", &options).expect("the worker survives");
    let error = answer.first_error().expect("an error");
    assert_eq!((error.offset, error.line), (None, None));
}
