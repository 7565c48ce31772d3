//! One code style, reached in one step.

use crate::support::clang;
use clang::Language;
use proptest::prelude::*;

fn format(source: &str) -> String {
    let answer = clang().format(source, Language::OpenCl).expect("the worker survives");
    answer.text.expect("formatting answers with text")
}

#[test]
fn lays_out_in_the_one_style() {
    let source = "__kernel void A(__global float *a,const int b){int c=get_global_id(0);if(c<b)a[c]=1;\n\n\n\nfor(;;){}}\
                  typedef struct{int a;float4 b;}C;";
    assert_eq!(
        format(source),
        "__kernel void A(__global float* a, const int b) {\n  int c = get_global_id(0);\n  if (c < b)\n    a[c] = 1;\n\n  \
         for (;;) {}\n}\n\ntypedef struct {\n  int a;\n  float4 b;\n} C;\n"
    );
}

#[test]
fn formatting_real_kernels_twice_changes_nothing() {
    for kernel in trials::kernels().iter().step_by(15) {
        // What ships is laid out already.
        let once = format(&kernel.replace(' ', "  ").replace('\n', "\n \n"));
        assert_eq!(format(&once), once);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn formatting_is_idempotent(parts in proptest::collection::vec(prop_oneof![
        Just("if (a) "), Just("{"), Just("}"), Just("\n"), Just("x = y + z;"), Just("// c\n"), Just("/* d */"),
        Just("kernel void k("), Just(")"), Just("int a, *b;"), Just("#define M(x) \\\n  x\n"), Just("struct S { int x; };"),
        Just("do { } while (0);"), Just("else"), Just("(float4)(1, 2, 3, 4)"), Just(","), Just("very_long_name_that_fills_the_line_up_to_its_limit("),
        Just("case 1:"), Just("label:"), Just("__attribute__((aligned(4)))"), Just("\"string\""),
    ], 0..40)) {
        let once = format(&parts.concat());
        prop_assert_eq!(format(&once), once);
    }
}
