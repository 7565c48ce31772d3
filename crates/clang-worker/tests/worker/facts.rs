//! Declarations and references are complete: whoever changes the name at each of their places gets
//! the same program under other names.

use crate::support::clang;
use clang::{Declaration, DeclarationKind, Facts, Options};

fn facts(source: &str) -> Facts {
    let answer = clang().parse(source, &Options::opencl()).expect("the worker survives");
    if let Some(error) = answer.first_error() {
        panic!("{} ({}) in\n{source}", error.message, error.kind);
    }
    answer.facts.expect("a parse answers with facts")
}

/// `source` with `@` put behind every name that a fact gives the place of.
fn mark(source: &str, facts: &Facts) -> String {
    let mut ends: Vec<usize> = facts
        .declarations
        .iter()
        .filter_map(|d| d.name_offset.map(|at| at as usize + d.name.len()))
        .chain(facts.references.iter().map(|r| (r.offset + r.length) as usize))
        .collect();
    ends.sort_unstable();
    let unique = ends.windows(2).all(|pair| pair[0] < pair[1]);
    assert!(unique, "two facts about one place in\n{source}");
    let mut marked = source.to_owned();
    for end in ends.into_iter().rev() {
        marked.insert(end, '@');
    }
    marked
}

/// Each text names every place that can be renamed; without its marks it is the program.
const PLACES: &[(&str, &str)] = &[
    (
        "functions, parameters, variables and builtins",
        "float sq@(float x@) { return x@ * x@; }\n\
      kernel void k@(global float* a@, const int n@) { int i@ = get_global_id(0); if (i@ < n@) a@[i@] = sq@(fabs(a@[i@])); }",
    ),
    (
        "a prototype without a name for its parameter",
        "int f@(int, float b@); kernel void k@(global int* a@) { a@[0] = f@(1, 2.0f); } int f@(int a@, float b@) { return a@ + b@; }",
    ),
    (
        "fields, member accesses and swizzles",
        "struct P@ { float4 pos@; struct { int w@, h@; } size@; };\n\
      kernel void k@(global struct P@* p@) { struct P@ q@ = p@[0]; q@.pos@.xy = q@.pos@.s01 + q@.size@.w@; p@->size@.h@ = q@.size@.h@; p@[0] = q@; }",
    ),
    (
        "unnamed members of a struct",
        "typedef struct { union { int i@; float f@; }; int j@; } U@; kernel void k@(global U@* u@) { u@->i@ = u@->j@; u@->f@ += 1.0f; }",
    ),
    (
        "designated initialisers and offsetof",
        "typedef struct S@ { int a@; int b@[3]; } S@; constant S@ c@ = { .b@ = { [1] = 2 }, .a@ = 1 }; constant S@ d@ = { a@: 3 };\n\
      kernel void k@(global int* o@) { o@[0] = c@.a@ + c@.b@[1] + d@.a@ + __builtin_offsetof(S@, a@) + __builtin_offsetof(S@, b@[1]); }",
    ),
    (
        "typedefs, tags and enumerators wherever a type stands",
        "typedef float real@; enum E@ { ONE@ = 1, TWO@ = ONE@ + 1 }; typedef enum E@ E2@; struct S@; struct S@ { real@ r@; struct S@* next@; };\n\
      real@ f@(real@ x@) { return (real@)sizeof(real@) + sizeof(struct S@) + (enum E@)TWO@ + x@; }\n\
      kernel void k@(global real@* a@, local struct S@* s@) { E2@ e@ = ONE@; a@[e@] = f@((real@)1) + ((real@[2]){ 1, 2 })[0] + s@->r@; }",
    ),
    (
        "labels",
        "kernel void k@(global int* a@) { int i@ = 0; again@: a@[i@]++; if (++i@ < 4) goto again@; goto end@; end@: ; }",
    ),
    (
        "several declarators in one declaration",
        "int a@ (int), b@(int); typedef int t@, *tp@; int a@(int x@) { t@ u@ = x@, *v@ = &u@, w@[2] = { u@, *v@ }; tp@ p@ = w@; return *p@; } int b@(int y@) { return a@(y@); }\n\
      kernel void k@(global t@* o@) { o@[0] = b@(1); }",
    ),
    (
        "scopes that hide names",
        "kernel void k@(global int* a@) { int x@ = 1; { float x@ = 2; a@[0] = x@; } for (int x@ = 3; x@ < 4; ++x@) a@[1] = x@; a@[2] = x@; }",
    ),
    (
        "attributes",
        "typedef struct __attribute__((packed)) { char c@; int i@ __attribute__((aligned(2))); } Q@;\n\
      __attribute__((always_inline)) static int f@(int n@) { return n@; }\n\
      __kernel __attribute__((reqd_work_group_size(8, 1, 1))) __attribute__((vec_type_hint(float4))) void k@(__global Q@* restrict q@) { q@->i@ = f@(q@->c@); }",
    ),
    (
        "array sizes and case labels",
        "enum { N@ = 4, M@ = N@ * 2 }; typedef struct { int a@[N@]; } B@; constant int t@[M@] = { [N@] = 1 };\n\
      kernel void k@(global int* a@, global B@* b@) { local int l@[N@][M@]; switch (a@[0]) { case N@: l@[1][2] = 1; break; case M@ ... 10: b@->a@[0] = t@[N@]; } a@[1] = l@[1][2]; }",
    ),
    (
        "function-scope types and typeof",
        "kernel void k@(global int* a@) { struct L@ { int m@; } l@ = { 1 }; typedef struct L@ T@; T@ t@ = l@; __typeof__(t@.m@) z@ = t@.m@; a@[0] = z@; }",
    ),
    (
        "names spelt in arguments of macros",
        "#define ADD(x, y) ((x) + (y))\n#define DECL(t, n) t n\nkernel void k@(global int* a@) { DECL(int, q@) = ADD(a@[0], 2); a@[0] = q@; }",
    ),
    (
        "casts to vectors, conversions and reinterpretations",
        "typedef float4 V@; kernel void k@(global V@* a@, global int4* b@) { V@ v@ = (V@)(1.0f, 2.0f, 3.0f, a@[0].w); b@[0] = convert_int4(v@) + as_int4(a@[1]); }",
    ),
    (
        "samplers whose names clang forgets",
        "constant sampler_t s@ = CLK_FILTER_NEAREST; typedef struct { int s@; } S@;\n\
      kernel void j@(read_only image2d_t i@, global float4* o@, sampler_t t@) { const sampler_t s@ = CLK_FILTER_LINEAR; o@[0] = read_imagef(i@, s@, (int2)(0, 0)); o@[1] = read_imagef(i@, t@, (int2)(0, 0)); }\n\
      kernel void k@(read_only image2d_t i@, global float4* o@) { S@ u@ = { 1 }; o@[u@.s@] = read_imagef(i@, s@, (int2)(0, 0)); }",
    ),
    (
        "program-scope variables and sampler constants",
        "constant sampler_t smp@ = CLK_FILTER_NEAREST; global int counter@ = 3; constant float tab@[] = { 1, 2 };\n\
      kernel void k@(read_only image2d_t im@, global float4* o@) { o@[counter@] = read_imagef(im@, smp@, (int2)(0, 0)) * tab@[1]; }",
    ),
];

#[test]
fn every_place_of_a_name_is_reported() {
    for (what, marked) in PLACES {
        let source = marked.replace('@', "");
        assert_eq!(&mark(&source, &facts(&source)), marked, "{what}");
    }
}

#[test]
fn every_place_of_a_c_name_is_reported() {
    let marked = "int f@(a@, b@) int a@; float b@; { return a@ + b@; }\n\
        static void done@(int* p@) { *p@ = 0; }\n\
        int g@(void) { __attribute__((cleanup(done@))) int x@ = 1; void* l@ = &&out@; goto *l@; out@: return f@(x@, 2.0); }\n";
    let source = marked.replace('@', "");
    let options = Options {
        language: clang::Language::C,
        standard: "gnu11".into(),
        triple: clang::Triple::Host,
        ..Options::opencl()
    };
    let answer = clang().parse(&source, &options).expect("the worker survives");
    assert_eq!(answer.first_error(), None);
    assert_eq!(mark(&source, &answer.facts.expect("a parse answers with facts")), marked);
}

#[test]
fn a_builtin_that_the_program_merely_declares_again_is_left_alone() {
    let source = "int printf(const char* format, ...); int main(void) { return printf(\"x\"); }";
    let options = Options {
        language: clang::Language::C,
        standard: String::new(),
        triple: clang::Triple::Host,
        ..Options::opencl()
    };
    let facts = clang().parse(source, &options).expect("the worker survives").facts;
    let names: Vec<_> = facts.expect("facts").declarations.into_iter().map(|d| d.name).collect();
    assert!(!names.contains(&"printf".to_owned()), "{names:?}");
}

fn text<'a>(source: &'a str, d: &Declaration) -> &'a str {
    &source[d.begin as usize..d.end as usize]
}

fn find<'a>(facts: &'a Facts, name: &str) -> &'a Declaration {
    facts
        .declarations
        .iter()
        .find(|d| d.name == name)
        .unwrap_or_else(|| panic!("{name} is declared"))
}

/// Program and, for each of some names, the text its declaration extends over.
const EXTENTS: &[(&str, &[(&str, &str)])] = &[
    (
        "typedef struct { int x; } T; kernel void k(global T* a) {}",
        &[
            ("T", "typedef struct { int x; } T;"),
            ("", "struct { int x; }"),
            ("x", "int x"),
            ("k", "kernel void k(global T* a) {}"),
            ("a", "global T* a"),
        ],
    ),
    (
        "constant int a = 1, b[2] = { 1, 2 };\nstruct S { int x; } ;\nstruct S f(void);",
        &[
            ("a", "constant int a = 1, b[2] = { 1, 2 };"),
            ("b", "constant int a = 1, b[2] = { 1, 2 };"),
            ("S", "struct S { int x; } ;"),
            ("f", "struct S f(void);"),
        ],
    ),
    (
        "constant struct P { int x; } p = { 1 };",
        &[("P", "struct P { int x; }"), ("p", "constant struct P { int x; } p = { 1 };")],
    ),
    (
        "__attribute__((always_inline)) static int f(int a) { return a; }\nstatic __attribute__((noinline)) int g(void) __attribute__((pure));",
        &[
            ("f", "__attribute__((always_inline)) static int f(int a) { return a; }"),
            ("g", "static __attribute__((noinline)) int g(void) __attribute__((pure));"),
        ],
    ),
    (
        "__attribute__((reqd_work_group_size(1, 1, 1)))\n__kernel void k(void) {}\nenum E { A, B = 2 };",
        &[
            ("k", "__attribute__((reqd_work_group_size(1, 1, 1)))\n__kernel void k(void) {}"),
            ("E", "enum E { A, B = 2 };"),
            ("B", "B = 2"),
        ],
    ),
    (
        "int typedef unsigned u; extern inline int f(int x); constant float t[2] = {\n1, 2\n} ;",
        &[
            ("u", "int typedef unsigned u;"),
            ("f", "extern inline int f(int x);"),
            ("t", "constant float t[2] = {\n1, 2\n} ;"),
        ],
    ),
];

#[test]
fn declarations_extend_over_their_whole_text() {
    for (source, expected) in EXTENTS {
        let facts = facts(source);
        for (name, extent) in *expected {
            assert_eq!(text(source, find(&facts, name)), *extent, "{name:?} in\n{source}");
        }
    }
}

#[test]
fn redeclarations_share_the_first_as_canonical() {
    let source = "int f(int); struct S; typedef struct S T; struct S { int x; }; int f(int a) { return a; }\n\
                  kernel void k(global T* t) { t->x = f(1); }";
    let facts = facts(source);
    let of = |name: &str| -> Vec<(u32, bool)> {
        facts
            .declarations
            .iter()
            .filter(|d| d.name == name)
            .map(|d| (d.canonical, d.definition))
            .collect()
    };
    let index =
        |name: &str| facts.declarations.iter().position(|d| d.name == name).map(|i| i as u32);
    let (f, s) = (index("f").expect("declared"), index("S").expect("declared"));
    assert_eq!(of("f"), [(f, false), (f, true)]);
    assert_eq!(of("S"), [(s, false), (s, true)]);
    let call = source.rfind("f(1)").expect("it is there") as u32;
    assert!(facts.references.iter().any(|r| r.offset == call && r.declaration == f));
}

#[test]
fn parents_are_functions_records_and_enumerations() {
    let source = "struct S { int x; }; enum E { A }; kernel void k(global int* p) { int v; struct L { int y; } l; m: ; }";
    let facts = facts(source);
    let parent = |name: &str| {
        find(&facts, name)
            .parent
            .map(|i| facts.declarations[i as usize].name.clone())
            .unwrap_or_default()
    };
    let parents = ["S", "x", "A", "p", "v", "L", "y", "m"].map(parent);
    assert_eq!(parents, ["", "S", "E", "k", "k", "k", "L", "k"]);
    assert_eq!(find(&facts, "m").kind, DeclarationKind::Label);
    assert_eq!(find(&facts, "k").kind, DeclarationKind::Kernel);
}

#[test]
fn what_virtual_headers_declare_is_no_fact_of_the_program() {
    let options = Options {
        headers: vec![("shim.h".into(), "typedef float real; int helper(int x);".into())],
        prelude: vec!["shim.h".into()],
        ..Options::opencl()
    };
    let source = "kernel void k(global real* a) { a[0] = helper(1); }";
    let answer = clang().parse(source, &options).expect("the worker survives");
    assert_eq!(answer.first_error(), None);
    let facts = answer.facts.expect("a parse answers with facts");
    let names: Vec<_> = facts.declarations.iter().map(|d| d.name.as_str()).collect();
    assert_eq!(names, ["k", "a"]);
}

#[test]
fn what_reaches_out_of_a_program_is_named_with_its_place() {
    let source = "extern int f(int x);\nint g(int x) { __asm__(\"nop\"); return x; }\n\
        __asm__(\"nop\");\nkernel void k(global int* a) { a[0] = f(a[1]) + g(a[2]); }\n";
    let facts = facts(source);
    let found: Vec<(&str, &str, Option<&str>)> = facts
        .hazards
        .iter()
        .map(|hazard| {
            let of = hazard.declaration.map(|at| facts.declarations[at as usize].name.as_str());
            (hazard.kind.name(), hazard.detail.as_str(), of)
        })
        .collect();
    assert_eq!(
        found,
        [
            ("inline-assembly", "line 2", Some("g")),
            ("inline-assembly", "at file scope, line 3", None),
            ("not-defined", "f", Some("k")),
        ]
    );
}

#[test]
fn calls_of_what_c_libraries_define_are_no_hazard_in_c() {
    let options =
        Options { language: clang::Language::C, standard: "c11".into(), ..Options::opencl() };
    let source = "int puts(const char *s); int main(void) { return puts(\"a\"); }";
    let answer = clang().parse(source, &options).expect("the worker survives");
    assert_eq!(answer.facts.expect("facts").hazards, []);
}

#[test]
fn functions_of_c_and_cxx_that_other_files_can_call_are_told_and_kernels_are_none() {
    let told = |source: &str, language| {
        let standard = if language == clang::Language::C { "c11" } else { "c++17" };
        let options = Options { language, standard: standard.into(), ..Options::opencl() };
        let answer = clang().parse(source, &options).expect("the worker survives");
        let facts = answer.facts.expect("a parse answers with facts");
        assert!(facts.kernels.is_empty());
        let name =
            |function: &clang::Kernel| format!("{}/{}", function.name, function.arguments.len());
        facts.functions.iter().map(name).collect::<Vec<_>>().join(" ")
    };
    let c = "int a(int x, const float *y) { return x; } static int b(void) { return 1; } int c(int x, ...) { return b(); } int d(void);";
    assert_eq!(told(c, clang::Language::C), "a/2");
    let cxx = "int a(int x) { return x; } namespace n { int b() { return 1; } } struct S { int c(); }; int S::c() { return 1; }\n\
        template <class T> T d(T x) { return x; } extern \"C\" int e(double x) { return d(1); }";
    assert_eq!(told(cxx, clang::Language::Cxx), "a/1 e/1");
    assert!(
        facts("int f(int x) { return x; } kernel void k(global int *a) { a[0] = f(1); }")
            .functions
            .is_empty()
    );
}
