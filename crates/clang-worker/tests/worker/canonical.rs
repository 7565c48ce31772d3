//! Canonical IR: equal for programs that differ in spelling alone, different for others.

use crate::support::clang;
use clang::{Options, Request};

fn hash(source: &str, kernel: &str) -> String {
    let answer =
        clang().canonical_ir(source, &Options::opencl(), kernel).expect("the worker survives");
    assert_eq!(answer.first_error(), None, "in\n{source}");
    answer.hash.expect("an accepted program has a hash")
}

const ONE: &str = "typedef struct { int n; float v; } Pair; constant int weights[2] = { 1, 2 }; struct Never { int x; };\n\
    int elsewhere(int x); int dead(void) { return 7; }\n\
    float scale(Pair p, float by) { return p.v * by + elsewhere(p.n); }\n\
    kernel void other(global int* a) { a[0] = dead(); }\n\
    kernel void sum(global Pair* pairs, global float* out) { local int scratch[4]; int at = get_global_id(0);\n\
      scratch[at & 3] = weights[at & 1]; out[at] = scale(pairs[at], 2.0f) + scratch[0]; }";

const SAME: &str = "int C(int);\n\n /* moved, renamed, dead code gone */ constant int t[2] = { 1, 2 };\n\
    struct A { int a; float b; }; typedef struct A B; float D(B a, float b) { return a.b * b + C(a.a); }\n\
    kernel void A(global B* a, global float* b) { local int e[4]; int c = get_global_id(0);\n\
      e[c & 3] = t[c & 1]; b[c] = D(a[c], 2.0f) + e[0]; }";

#[test]
fn names_order_dead_code_and_comments_do_not_matter() {
    assert_eq!(hash(ONE, "sum"), hash(SAME, "A"));
}

#[test]
fn several_kernels_of_one_compile_hash_as_each_does_alone() {
    let request = Request::CanonicalIrs {
        source: ONE.into(),
        options: Options::opencl(),
        kernels: ["sum", "nowhere", "other", "sum"].map(String::from).to_vec(),
        unreached: Vec::new(),
    };
    let answer = clang().ask(&request).expect("the worker survives");
    let alone = |kernel: &str| (kernel.to_owned(), hash(ONE, kernel));
    assert_eq!(answer.hashes, [alone("sum"), alone("other"), alone("sum")]);
}

#[test]
fn a_body_passed_over_matters_to_those_who_reach_it_alone() {
    let source = "int f(int x) { return x + 1; } int g(int x) { return x; }\n\
        kernel void one(global int* a) { a[0] = f(1); } kernel void two(global int* a) { a[0] = g(1); }";
    let request = Request::CanonicalIrs {
        source: source.into(),
        options: Options::opencl(),
        kernels: vec!["one".into(), "two".into()],
        unreached: vec!["f".into()],
    };
    let answer = clang().ask(&request).expect("the worker survives");
    assert_ne!(answer.hashes[0].1, hash(source, "one"));
    assert_eq!(answer.hashes[1].1, hash(source, "two"));
}

#[test]
fn several_kernels_hash_as_each_does_alone_whatever_they_hold() {
    let mut different = Vec::new();
    for body in [
        "a[i] = a[i] * 2.0f + 1.0f;",
        "float4 v = (float4)(a[i], 1.0f, 2.0f, 3.0f); a[i] = dot(v, v.wzyx);",
        "for (int j = 0; j < n; ++j) a[i] += a[j];",
        "local float l[8]; l[i & 7] = a[i]; barrier(CLK_LOCAL_MEM_FENCE); a[i] = l[n & 7];",
        "const float t[3] = { 1, 2, 3 }; a[i] = t[n % 3];",
        "float t[3] = { 1, 2, 3 }; a[i] = t[n % 3];",
        "switch (n) { case 1: a[i] = 1; break; case 2: a[i] = 2; break; default: a[i] = 3; }",
        "switch (n) { case 0: a[i] = 1; break; case 1: a[i] = 2; break; case 2: if (i) a[i] = 3; }\n\
         if (n) a[i] = 1; else if (n > 1) a[i] = 4;",
        "printf(\"%f\", a[i]);",
        "a[i] = hypot(a[i], 2.0f) + pow(a[i], 3.0f);",
        "a[i] = fmax(a[i], 1.0f) / 3.0f;",
        "if (a[i] < 0.0f) a[i] = 0.0f; if (a[i] > 1.0f) a[i] = 1.0f; else a[i] *= a[i];",
        "float v = a[i]; v = fabs(v); v = fabs(v - n); float4 w = v; a[i] = (w * (1.0f - v)).x;",
    ] {
        let source = format!(
            "kernel void before(global int* a) {{ a[0] = 1; }}\n\
             kernel void it(global float* a, int n) {{ int i = get_global_id(0); {body} }}\n"
        );
        let request = Request::CanonicalIrs {
            source: source.clone(),
            options: Options::opencl(),
            kernels: vec!["before".into(), "it".into()],
            unreached: Vec::new(),
        };
        let answer = clang().ask(&request).expect("the worker survives");
        let alone = |kernel: &str| (kernel.to_owned(), hash(&source, kernel));
        if answer.hashes != [alone("before"), alone("it")] {
            different.push(body);
        }
    }
    assert!(different.is_empty(), "{different:#?}");
}

#[test]
fn behaviour_does_matter() {
    let original = hash(ONE, "sum");
    for (from, to) in [
        ("2.0f", "3.0f"),
        ("{ 1, 2 }", "{ 1, 3 }"),
        ("p.v * by", "p.v / by"),
        ("int n; float v;", "float v; int n;"),
        ("get_global_id(0)", "get_global_id(1)"),
        ("get_global_id", "get_local_id"),
        ("scratch[4]", "scratch[5]"),
        ("kernel void sum", "kernel __attribute__((reqd_work_group_size(8, 1, 1))) void sum"),
    ] {
        assert_ne!(hash(&ONE.replace(from, to), "sum"), original, "{from} -> {to}");
    }
}

#[test]
fn text_holds_nothing_of_the_sources_names() {
    let answer = clang().canonical_ir(ONE, &Options::opencl(), "sum").expect("the worker survives");
    let text = answer.text.expect("text was asked for");
    for name in
        ["Pair", "weights", "elsewhere", "dead", "scale", "sum", "scratch", "program", "Never"]
    {
        assert!(!text.contains(name), "{name} in\n{text}");
    }
    assert!(text.contains("get_global_id"), "builtins keep their names:\n{text}");
}

#[test]
fn a_kernel_that_is_not_there_is_a_diagnostic() {
    let answer =
        clang().canonical_ir(ONE, &Options::opencl(), "nowhere").expect("the worker survives");
    assert_eq!(answer.hash, None);
    assert_eq!(answer.first_error().expect("an error").subject.as_deref(), Some("nowhere"));
}

/// `source` with every name that has a place changed, and the new name of the function `kernel`.
fn rename(source: &str, kernel: &str) -> (String, String) {
    let facts = clang().parse(source, &Options::opencl()).expect("the worker survives").facts;
    let facts = facts.expect("a parse answers with facts");
    let mut places: Vec<(u32, usize, u32)> = facts
        .declarations
        .iter()
        .filter_map(|d| d.name_offset.map(|at| (at, d.name.len(), d.canonical)))
        .chain(facts.references.iter().map(|r| (r.offset, r.length as usize, r.declaration)))
        .collect();
    places.sort_unstable();
    let mut renamed = source.to_owned();
    for (at, length, declaration) in places.into_iter().rev() {
        renamed.replace_range(at as usize..at as usize + length, &format!("renamed_{declaration}"));
    }
    let of = facts.declarations.iter().find(|d| d.name == kernel).expect("it is declared");
    (renamed, format!("renamed_{}", of.canonical))
}

#[test]
fn renaming_at_every_reported_place_keeps_the_canonical_ir() {
    let mut proved = 0;
    for source in trials::kernels().iter().step_by(6) {
        let answer = clang().parse(source, &Options::opencl()).expect("the worker survives");
        // Some of the kernels need what a shim declares.
        if answer.first_error().is_some() {
            continue;
        }
        let text =
            clang().preprocess(source, &Options::opencl()).expect("the worker survives").text;
        let text = text.expect("preprocessing answers with text");
        for kernel in answer.facts.expect("a parse answers with facts").kernels {
            let (renamed, name) = rename(&text, &kernel.name);
            assert_eq!(hash(&renamed, &name), hash(source, &kernel.name), "{source}\n{renamed}");
            proved += 1;
        }
    }
    assert!(proved > 200, "only {proved} kernels");
}
