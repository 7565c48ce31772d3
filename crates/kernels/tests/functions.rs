//! C programs, as `mine` finds them, give functions in normal form.

#![expect(clippy::unwrap_used, reason = "what fails in set-up fails the test")]

use dataset::{
    Builder, Dataset, Notes,
    stage::{Context, run},
};
use mine::ContentFile;
use stampmill_kernels::{KernelRow, Options, Prepare};

/// The rows that a C program gives; `None` where there is no clang.
fn functions(text: &str) -> Vec<KernelRow> {
    let scratch = tempfile::tempdir().unwrap();
    let (raw, out) = (scratch.path().join("raw"), scratch.path().join("functions"));
    let file = ContentFile {
        id: dataset::content_hash(text.as_bytes()),
        text: text.to_owned(),
        language: "c".to_owned(),
        kind: "file".to_owned(),
        package: "p".to_owned(),
        path: "a.c".to_owned(),
        license: "MIT".to_owned(),
        verdict: "accepted".to_owned(),
        ..ContentFile::default()
    };
    Builder::create(&raw, false, &()).unwrap().finish([file], Notes::default()).unwrap();
    let context = Context { jobs: 1, ..Context::new(&out) };
    Prepare::new(&Options::new(&raw))
        .and_then(|stage| run(&stage, &context))
        .unwrap_or_else(|error| panic!("{error}"));
    Dataset::open(&out).unwrap().rows().unwrap().map(|row| row.unwrap()).collect()
}

fn find<'a>(rows: &'a [KernelRow], name: &str) -> &'a KernelRow {
    rows.iter().find(|row| row.original_name == name).unwrap()
}

#[test]
fn a_function_comes_with_what_it_needs_in_normal_form() {
    let text = "#include <stdint.h>\ntypedef struct { const uint8_t *at; long long left; } Reader;
        /* The next byte, or none. */
        static inline int next(Reader *local) { return local->left-- > 0 ? *local->at++ : -1; }
        extern unsigned long sum(Reader *r)
        {
            register unsigned long all = 0; int c;
            while ((c = next(r)) >= 0) all = all * 31 + (unsigned char)c;
            return all;
        }\n";
    let rows = functions(text);
    let row = find(&rows, "sum");
    assert_eq!((row.verdict.as_str(), row.identical_ir), ("accepted", true), "{}", row.detail);
    assert_eq!((row.license.as_str(), row.package.as_str()), ("MIT", "p"));
    assert_eq!(
        row.text,
        "typedef struct {\n  const uchar* a;\n  long b;\n} Ta;\n\nint A(Ta* a) {\n  return a->b-- > 0 ? *a->a++ : -1;\n}\n\nulong B(Ta* a) {\n  ulong b = 0;\n  int c;\n  while ((c = A(a)) >= 0)\n    b = b * 31 + (uchar)c;\n  return b;\n}\n"
    );
    assert_eq!(find(&rows, "next").verdict, "accepted");
}

#[test]
fn names_of_scalar_types_become_what_they_stand_for() {
    let text = "typedef double real; typedef float small; typedef unsigned long long int word; typedef real weight;
        typedef signed char tiny; typedef unsigned short int port; typedef size_t extent; typedef _Bool flag;
        real mixed(real x, small y, word w, weight v) { x += y * v; return x > 1 ? x / w : v - x; }
        extent narrow(tiny t, port p, extent e) { e += t * p; if (e > 9) e -= p; return e / 3 + t; }\n";
    let rows = functions(text);
    let text_of = |name: &str| {
        let row = find(&rows, name);
        assert_eq!(row.verdict, "accepted", "{}", row.detail);
        row.text.clone()
    };
    let mixed = text_of("mixed");
    assert!(mixed.starts_with("double A(double a, float b, ulong c, double d) {"), "{mixed}");
    let narrow = text_of("narrow");
    assert!(narrow.starts_with("size_t A(char a, ushort b, size_t c) {"), "{narrow}");
}

#[test]
fn what_is_no_opencl_c_or_not_there_is_a_verdict() {
    let text = "struct T { int (*call)(int); int x; };
        int calls(struct T *t) { return t->call(t->x) + t->x * 2; }
        int elsewhere(int);
        int needs(int x) { return elsewhere(x) * x + elsewhere(x + 1); }
        extern int table[];
        int reads(int x) { return table[x] * x + table[x + 1] - table[x - 1]; }
        int calls_c(int x) { return rand() * x + x * x; }
        int get(int x) { return x; }
        long fine(int x) { int y = x * x; if (y > 7) y -= x; return y / 3 + x; }\n";
    let rows = functions(text);
    let verdict = |name: &str| find(&rows, name).verdict.clone();
    assert_eq!(verdict("calls"), "does-not-compile");
    assert_eq!(verdict("needs"), "not-defined");
    assert_eq!(find(&rows, "needs").detail, "elsewhere");
    assert_eq!(verdict("reads"), "not-defined");
    assert_eq!(verdict("calls_c"), "does-not-compile");
    assert_eq!(verdict("get"), "too-small");
    assert_eq!(verdict("fine"), "accepted");
}
