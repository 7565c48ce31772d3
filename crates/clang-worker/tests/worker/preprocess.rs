//! Preprocessed text is what the parser would have seen.

use crate::support::clang;
use clang::{Options, TokenKind};

fn preprocess(source: &str, options: &Options) -> String {
    let answer = clang().preprocess(source, options).expect("the worker survives");
    assert_eq!(answer.first_error(), None, "in\n{source}");
    answer.text.expect("preprocessing answers with text")
}

#[test]
fn macros_conditionals_and_comments_are_gone() {
    let source = "// first\n#define N 4\n#define F(x) ((x)*N)\n#if N > 3\nint a = F(b); /* in */ int c;\n#else\nint d;\n#endif\n\
                  int e = -N - -1, f = N+ +1;\n";
    assert_eq!(
        preprocess(source, &Options::opencl()),
        "int a = ((b)*4); int c;\nint e = -4 - -1, f = 4 + +1;\n"
    );
}

#[test]
fn tokens_that_would_melt_together_stay_apart() {
    let source =
        "#define MINUS -\n#define EMPTY\nint a = -MINUS 1; int b = 1 +EMPTY+ 2; int EMPTY c;\n";
    assert_eq!(preprocess(source, &Options::opencl()), "int a = - - 1; int b = 1 + + 2; int c;\n");
}

#[test]
fn defines_and_virtual_headers_are_seen_and_builtin_ones_are_not_printed() {
    let options = Options {
        defines: vec!["WIDTH=8".into(), "FLAG".into()],
        headers: vec![
            ("inc/a.h".into(), "#pragma once\n#include \"b.h\"\nint from_a;\n".into()),
            ("inc/b.h".into(), "typedef int T;\n".into()),
            ("../up.h".into(), "int up;\n".into()),
            ("shim.h".into(), "int shim;\n".into()),
        ],
        prelude: vec!["shim.h".into()],
        ..Options::opencl()
    };
    let source = "#include \"inc/a.h\"\n#include <inc/a.h>\n#include \"../up.h\"\n#include <stdint.h>\n\
                  #ifdef FLAG\nT w[WIDTH] = { INT_MAX };\n#endif\n";
    assert_eq!(
        preprocess(source, &options),
        "int shim;\ntypedef int T;\nint from_a;\nint up;\nT w[8] = { 2147483647 };\n"
    );
}

#[test]
fn pragmas_of_the_compiler_proper_are_kept() {
    let source = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\nkernel void k(global int* a) {\n#pragma unroll 4\n\
                  for (int i = 0; i < 8; i++) a[i] = i;\n_Pragma(\"OPENCL FP_CONTRACT OFF\")\n}\n";
    assert_eq!(
        preprocess(source, &Options::opencl()),
        "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\nkernel void k(global int* a) {\n#pragma unroll 4\n\
         for (int i = 0; i < 8; i++) a[i] = i;\n#pragma OPENCL FP_CONTRACT OFF\n}\n"
    );
}

#[test]
fn line_markers_in_a_program_hide_nothing() {
    let source =
        "# 1 \"/builtin/include/opencl-c-base.h\"\nint a;\n#line 7 \"x.cl\"\nint b = __LINE__;\n";
    assert_eq!(preprocess(source, &Options::opencl()), "int a;\nint b = 7;\n");
}

#[test]
fn raw_tokens_cover_the_text() {
    let source = "kernel void k(global float4* a) { a[0].xy *= 0x1p3f; } // \u{fc}\n\"s\" 'c' @\n";
    let tokens = clang().tokens(source, &Options::opencl()).expect("the worker survives").tokens;
    for token in &tokens {
        assert!(source[token.offset as usize..].starts_with(&token.text), "{token:?}");
    }
    let of = |kind| -> Vec<&str> {
        tokens.iter().filter(|t| t.kind == kind).map(|t| t.text.as_str()).collect()
    };
    assert_eq!(of(TokenKind::Keyword), ["kernel", "void", "global"]);
    assert_eq!(of(TokenKind::Identifier), ["k", "float4", "a", "a", "xy"]);
    assert_eq!(of(TokenKind::Literal), ["0", "0x1p3f", "\"s\"", "'c'"]);
    assert_eq!(of(TokenKind::Comment), ["// \u{fc}"]);
    let rest: String = source.chars().filter(|c| !c.is_whitespace()).collect();
    let text: String = tokens.iter().map(|t| t.text.replace(' ', "")).collect();
    assert_eq!(text, rest);
}
