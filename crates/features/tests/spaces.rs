//! What each space counts, form by form.

use dataset::{
    Code, Language, Program, Programs,
    stage::{Context as Run, run},
};
use stampmill_features::{ALL, Extractor, Features, ModuleReader, Options, Row, space, spaces};
use std::{collections::BTreeMap, fs};

fn extractor(list: &str) -> Extractor {
    let options = Options { reader: ModuleReader::InProcess, ..Options::default() };
    Extractor::new(spaces(list).expect("registered"), options)
}

fn programs(texts: &[String]) -> Vec<Program> {
    let program = |text: &String| Program {
        path: "it.cl".into(),
        name: "named".into(),
        language: Language::OpenCl,
        code: Code::Text(text.clone()),
        ..Program::default()
    };
    texts.iter().map(program).collect()
}

/// The vectors of the first function of each text.
fn vectors(name: &str, texts: &[String]) -> Vec<Vec<f64>> {
    let described = extractor(name).describe_many(&programs(texts)).expect("clang is here");
    let vector = |(rows, text): (&Vec<Row>, &String)| {
        let found = rows.first().and_then(|row| row.vectors.get(name));
        found.unwrap_or_else(|| panic!("{rows:?} of {text}")).clone()
    };
    described.iter().zip(texts).map(vector).collect()
}

/// Statements of a kernel in which `i` is the global id and `n` the same for all work items, the
/// accesses to global memory that they do, and how many of these are coalesced.
const ACCESSES: &[(&str, f64, f64)] = &[
    ("a[i] = 0;", 1.0, 1.0),
    ("a[i + 1] = 0;", 1.0, 1.0),
    ("a[1 + i] = 0;", 1.0, 1.0),
    ("a[i - 1] = 0;", 1.0, 1.0),
    ("a[i + i] = 0;", 1.0, 0.0),
    ("a[i - i] = 0;", 1.0, 1.0),
    ("a[3 * i - i] = 0;", 1.0, 0.0),
    ("a[-i] = 0;", 1.0, 1.0),
    ("a[-2 * i] = 0;", 1.0, 0.0),
    ("a[i * 2] = 0;", 1.0, 0.0),
    ("a[1 * i] = 0;", 1.0, 1.0),
    ("a[n * 2] = 0;", 1.0, 1.0),
    ("a[i * n] = 0;", 1.0, 0.0),
    ("a[i * i] = 0;", 1.0, 0.0),
    ("a[i << 1] = 0;", 1.0, 0.0),
    ("a[n << 1] = 0;", 1.0, 1.0),
    ("a[n << i] = 0;", 1.0, 0.0),
    ("a[(char)i] = 0;", 1.0, 1.0),
    ("a[(n, i)] = 0;", 1.0, 1.0),
    ("a[(i, n)] = 0;", 1.0, 1.0),
    ("a[get_global_id(0)] = 0;", 1.0, 1.0),
    ("a[get_local_id(0) + 1] = 0;", 1.0, 1.0),
    ("a[2 * get_local_id(0)] = 0;", 1.0, 0.0),
    ("a[2 * get_global_id(1)] = 0;", 1.0, 1.0),
    ("a[get_global_id(n)] = 0;", 1.0, 0.0),
    ("a[get_group_id(0)] = 0;", 1.0, 1.0),
    ("a[abs(n)] = 0;", 1.0, 1.0),
    ("a[abs(i)] = 0;", 1.0, 0.0),
    ("a[a[n]] = 0;", 2.0, 2.0),
    ("a[a[i]] = 0;", 2.0, 1.0),
    ("a[*a] = 0;", 2.0, 2.0),
    ("a[n ? n : 3] = 0;", 1.0, 1.0),
    ("a[n ? i : 3] = 0;", 1.0, 0.0),
    ("int j; j = i; a[j] = 0;", 1.0, 1.0),
    ("int j = 2 * i; a[j] = 0;", 1.0, 0.0),
    ("int j = i; j += 2; a[j] = 0;", 1.0, 1.0),
    ("int j = i; j -= n; a[j] = 0;", 1.0, 1.0),
    ("int j = i; j += i; a[j] = 0;", 1.0, 0.0),
    ("int j = n; j <<= 1; a[j] = 0;", 1.0, 1.0),
    ("int j = i; j <<= 1; a[j] = 0;", 1.0, 0.0),
    ("int j = n; j *= i; a[j] = 0;", 1.0, 0.0),
    ("int j = i; n = j == 4; n = j <= 4; a[j] = 0;", 1.0, 1.0),
    ("int j = n; j = i; a[j] = 0;", 1.0, 0.0),
    ("int j = i; j = i; a[j] = 0;", 1.0, 1.0),
    ("int j = n, q = n; for (int l = 0; l < 4; l++) { a[j] = 0; j = q; q = i; }", 1.0, 0.0),
];

#[test]
fn an_access_is_coalesced_where_neighbors_reach_neighbors() {
    let kernel = |(statements, ..): &(&str, f64, f64)| {
        let start = "kernel void A(__global int* a, int n) { int i = get_global_id(0);";
        format!("{start} {statements} }}")
    };
    let texts: Vec<String> = ACCESSES.iter().map(kernel).collect();
    for ((statements, mem, coalesced), found) in ACCESSES.iter().zip(vectors("grewe-fixed", &texts))
    {
        assert_eq!((found[2], found[4]), (*mem, *coalesced), "{statements}");
    }
}

#[test]
fn what_stands_before_all_functions_counts_for_none() {
    let text = "enum { X = 1 << 3, Y = 2 * 4 };
        kernel void A(__global float* a) { a[0] = exp(a[1]) + log(a[2]) * sqrt(a[3]); }";
    let plain = text.split_once(';').expect("an enumeration").1;
    let found = vectors("grewe", &[text.to_owned(), plain.to_owned()]);
    assert_eq!(found[0], found[1]);
}

#[test]
fn tokens_are_counted_by_kind() {
    let text = "int twice(int a) { return a + 1; } // of a\nkernel void A(global int* b) {}";
    // int, int, return, kernel, void, global, int; twice, a, a, A, b; 1.
    assert_eq!(vectors("tokens", &[text.to_owned()]), [[24.0, 7.0, 5.0, 1.0, 11.0]]);
}

#[test]
fn a_row_has_the_name_and_the_path_of_its_program() {
    for text in ["kernel void A(global int* a) { a[0] = 1; }", "kernel void A( {"] {
        let described = extractor("grewe").describe_many(&programs(&[text.to_owned()]));
        let rows = described.expect("clang is here").remove(0);
        assert_eq!((rows[0].name.as_str(), rows[0].path.as_str()), ("named", "it.cl"), "{rows:?}");
    }
}

#[test]
fn what_a_space_computes_anew_is_what_it_says_follows_from_the_rest() {
    for one in ALL {
        let names = one.dimensions();
        let said: Vec<&str> =
            names.iter().copied().filter(|name| one.follows().contains(name)).collect();
        assert_eq!(said.len(), one.follows().len(), "{}: {:?}", one.name(), one.follows());
        let before: Vec<f64> = (0..names.len()).map(|place| 1000.0 + place as f64).collect();
        let mut after = before.clone();
        one.complete(&mut after);
        let changed = names.iter().zip(before.iter().zip(&after)).filter(|(_, (a, b))| a != b);
        let mut changed: BTreeMap<&str, ()> = changed.map(|(name, _)| (*name, ())).collect();
        for (sum, parts) in one.sums() {
            assert!(names.contains(&sum) && parts.iter().all(|part| names.contains(part)));
            changed.remove(sum);
        }
        assert!(changed.keys().all(|name| said.contains(name)), "{}: {changed:?}", one.name());
    }
    assert_eq!(space("grewe").expect("it is there").follows().len(), 2);
    for name in ["grewe", "grewe-fixed"] {
        let one = space(name).expect("it is there");
        let names = one.dimensions();
        let place = |name: &str| names.iter().position(|one| *one == name).expect("a dimension");
        let mut vector = vec![0.0; names.len()];
        for (name, value) in [("comp", 10.0), ("mem", 4.0), ("coalesced", 2.0)] {
            vector[place(name)] = value;
        }
        one.complete(&mut vector);
        let ratios = (vector[place("F2:coalesced/mem")], vector[place("F4:comp/mem")]);
        assert_eq!(ratios, (0.5, 2.5), "{name}");
    }
}

#[test]
fn atomics_and_functions_count_as_what_they_do() {
    let kernel = |statement: &str| {
        format!(
            "kernel void A(__global int* a, float x) {{ int i = get_global_id(0); {statement} }}"
        )
    };
    let texts = ["atomic_add(a, 1);", "atom_inc(a);", "i = fma(x, x, x);", "i = exp(x);", ""];
    let found = vectors("grewe-fixed", &texts.map(kernel));
    let (comp, atomic) = (|at: usize| found[at][0] - found[4][0], |at: usize| found[at][5]);
    assert_eq!([atomic(0), atomic(1), atomic(2)], [1.0, 1.0, 0.0]);
    assert_eq!([comp(0), comp(1), comp(2)], [0.0, 0.0, 2.0]);
    assert!(comp(3) > comp(2), "{found:?}");
}

/// Statements of a kernel and what they add: operations, comparisons, accesses to global and to local memory,
/// coalesced ones, atomic operations.
const WORK: &[(&str, [f64; 6])] = &[
    ("", [0.0; 6]),
    ("n = n < 3 && n >= 2 || !n, n;", [0.0, 2.0, 0.0, 0.0, 0.0, 0.0]),
    ("n = n == 3 ? n != 2 : n > 1;", [0.0, 3.0, 0.0, 0.0, 0.0, 0.0]),
    ("++n; n--; n = ~n; n = -n; n = +n;", [4.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
    ("n += 2; n <<= 1; n = n ^ n;", [3.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
    // The operand of `&` is not accessed.
    ("__global int* p = &a[i];", [0.0; 6]),
    ("__global int* p = &(*a);", [0.0; 6]),
    ("*a = 1;", [0.0, 0.0, 1.0, 0.0, 1.0, 0.0]),
    ("a[i] += 1;", [1.0, 0.0, 1.0, 0.0, 1.0, 0.0]),
    ("l[0] = l[i];", [0.0, 0.0, 0.0, 2.0, 0.0, 0.0]),
    ("__local int t[4][4]; t[i][0] = *l;", [0.0, 0.0, 0.0, 2.0, 0.0, 0.0]),
    ("int own[4]; own[0] = n;", [0.0; 6]),
    ("float4 v = vload4(i, f);", [0.0, 0.0, 1.0, 0.0, 1.0, 0.0]),
    ("float4 v = vload4(2 * i, f);", [1.0, 0.0, 1.0, 0.0, 0.0, 0.0]),
    ("int2 v = vload2(i, l);", [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]),
    ("vstore2((float2)(x, x), i, f);", [0.0, 0.0, 1.0, 0.0, 1.0, 0.0]),
    ("vstore2((float2)(x, x), 3 * i, f);", [1.0, 0.0, 1.0, 0.0, 0.0, 0.0]),
    ("x = native_sin(x);", [15.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
    ("x = half_exp(x) + pow(x, x);", [31.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
    ("x = mad(x, x, x) + fabs(x);", [3.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
    ("atomic_inc(a); atom_add(a, 2);", [0.0, 0.0, 0.0, 0.0, 0.0, 2.0]),
    (
        "atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);",
        [0.0; 6],
    ),
    ("atomic_init(c, 2);", [0.0; 6]),
    ("atomic_store(c, 2);", [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]),
    ("x = twice(x) * twice(x);", [3.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
];

#[test]
fn each_statement_is_the_work_that_it_does() {
    let kernel = |(statements, _): &(&str, [f64; 6])| {
        format!(
            "float twice(float x) {{ return x + x; }}
            kernel void A(__global int* a, __global float* f, __local int* l, __global atomic_int* c, int n, float x) {{
            int i = get_global_id(0); {statements} }}"
        )
    };
    let texts: Vec<String> = WORK.iter().map(kernel).collect();
    for ((statements, wanted), found) in WORK.iter().zip(vectors("grewe-fixed", &texts)) {
        assert_eq!(found[..6], *wanted, "{statements}");
    }
}

#[test]
fn expressions_are_followed_two_hundred_levels_deep() {
    let nested = |before: &str, within: &str, after: &str, times: usize| {
        format!("a[{}{within}{}] = 0;", before.repeat(times), after.repeat(times))
    };
    let kernel = |statement: String| {
        format!(
            "kernel void A(__global int* a, uint n) {{ int i = get_global_id(0); {statement} }}"
        )
    };
    // The use of a variable is a conversion of it: within 199 brackets its name stands 200 levels deep.
    let texts = [
        nested("(", "i", ")", 199),
        nested("(", "i", ")", 200),
        nested("abs(", "n", ")", 199),
        nested("abs(", "n", ")", 200),
        nested("a[", "n", "]", 99),
        nested("a[", "n", "]", 100),
    ];
    let counts: Vec<(f64, f64)> = vectors("grewe-fixed", &texts.map(kernel))
        .into_iter()
        .map(|vector| (vector[2], vector[4]))
        .collect();
    let wanted = [(1.0, 1.0), (1.0, 0.0), (1.0, 1.0), (1.0, 0.0), (100.0, 100.0), (101.0, 100.0)];
    assert_eq!(counts, wanted);
}

#[test]
fn a_tree_has_a_depth_and_nodes() {
    for (text, wanted) in [
        ("int f(int a) { return a; }", [5.0, 6.0]),
        // What a loop lacks is no node.
        ("void f(void) { for (;;) { } }", [4.0, 4.0]),
        ("int a; int b; int f(void) { return 1; }", [4.0, 6.0]),
    ] {
        let program = Program {
            path: "it.c".into(),
            language: Language::C,
            code: Code::Text(text.into()),
            ..Program::default()
        };
        let rows = extractor("ast-depth").describe(&program).expect("clang is here");
        assert_eq!(rows[0].vectors["ast-depth"], wanted, "{text}");
    }
}

#[test]
fn what_only_an_old_compiler_accepts_has_a_tree_and_no_code() {
    let text = "helper(int a) { return a + 1; }
        kernel void A(__global int* a) { a[0] = helper(a[1]); }";
    let rows = extractor("grewe-fixed,instcount").describe(&programs(&[text.to_owned()])[0]);
    let rows = rows.expect("clang is here");
    let said = (rows[0].kernel.as_str(), rows[0].verdict.as_str(), rows[0].detail.as_str());
    assert_eq!(said, ("A", "accepted", "instcount: does-not-compile"));
    assert_eq!(rows[0].vectors["grewe-fixed"][..3], [1.0, 0.0, 2.0]);
    let rows = extractor("instcount").describe(&programs(&[text.to_owned()])[0]);
    assert_eq!(rows.expect("clang is here")[0].verdict, "does-not-compile");
}

#[test]
fn c_programs_see_the_headers_of_the_machine_and_say_why_they_do_not_compile() {
    let described = |text: &str| {
        let program = Program {
            path: "it.c".into(),
            language: Language::C,
            code: Code::Text(text.into()),
            ..Program::default()
        };
        extractor("instcount").describe(&program).expect("clang is here").remove(0)
    };
    let row = described("#include <stdlib.h>\nint f(int a) { return abs(a); }");
    assert_eq!((row.verdict.as_str(), row.detail.as_str()), ("accepted", ""));
    let row = described("int f(int a) { return missing; }");
    assert_eq!(row.verdict, "does-not-compile");
    assert!(row.detail.contains("missing"), "{}", row.detail);
}

#[test]
fn nothing_of_a_folder_of_programs_is_left_out() {
    let folder = tempfile::tempdir().expect("there is room");
    let sources = folder.path().join("sources");
    fs::create_dir(&sources).expect("there is room");
    fs::write(sources.join("a.cl"), "kernel void A() {}").expect("there is room");
    let all = Programs::open(&sources).expect("there is one");
    let stage = Features::new(extractor("tokens"), all, "sources").expect("they can be read");
    let done = run(&stage, &Run::new(folder.path().join("out"))).expect("a data set");
    assert_eq!((done.left_out, done.summary.rows), (BTreeMap::new(), 1));
}

#[test]
fn a_row_is_a_line_with_names_of_dimensions_and_nulls() {
    let shown = [space("tokens"), space("autophase")].map(|space| space.expect("registered"));
    let text = "kernel void A(global int* a) {}".to_owned();
    let row = extractor("tokens")
        .describe_many(&programs(&[text]))
        .expect("clang is here")
        .remove(0)
        .remove(0);
    let line = row.to_json(&shown);
    let heads = (&line["path"], &line["name"], &line["kernel"]);
    assert_eq!(heads, (&"it.cl".into(), &"named".into(), &"A".into()), "{line}");
    assert_eq!(
        (&line["tokens"]["keywords"], &line["tokens"]["literals"]),
        (&4.into(), &0.into()),
        "{line}"
    );
    assert!(line["autophase"].is_null() && line.get("verdict").is_none(), "{line}");
    let line = Row { name: String::new(), verdict: "empty".into(), ..row }.to_json(&shown);
    assert_eq!(line, serde_json::json!({"path": "it.cl", "verdict": "empty", "detail": ""}));
}
