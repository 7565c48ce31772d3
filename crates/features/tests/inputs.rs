//! Rows of all kinds of input.

use dataset::{
    Code, Dataset, Language, Program, Programs, Silent,
    stage::{Context as Run, Share, merge, run},
};
use llvm::{Context, Library};
use stampmill_features::{
    Extractor, Features, ModuleReader, Options, Points, Row, project, space, spaces,
};
use std::fs;

fn extractor(list: &str) -> Extractor {
    let options = Options { reader: ModuleReader::InProcess, ..Options::default() };
    Extractor::new(spaces(list).expect("registered"), options)
}

fn program(path: &str, language: Language, text: &str) -> Program {
    let code = Code::Text(text.into());
    Program { path: path.into(), language, code, ..Program::default() }
}

fn describe(list: &str, language: Language, text: &str) -> Vec<Row> {
    let described = extractor(list).describe(&program("it", language, text));
    described.unwrap_or_else(|error| panic!("{error}"))
}

/// The grewe vectors of an OpenCL source by function.
fn grewe(text: &str) -> Vec<(String, Vec<f64>)> {
    let rows = describe("grewe", Language::OpenCl, text);
    let vectors = rows.into_iter().map(|mut row| {
        let vector = row
            .vectors
            .remove("grewe")
            .unwrap_or_else(|| panic!("{}: {}", row.verdict, row.detail));
        (row.kernel, vector[..6].to_vec())
    });
    vectors.collect()
}

#[test]
fn a_call_adds_what_was_seen_of_the_callee_so_far_and_helpers_have_rows() {
    let text = "float later(float x);
        float square(float x) { return x * x; }
        void help(__global float* p) { p[0] = later(square(p[1])); }
        float later(float x) { return x + x + x; }
        kernel void A(__global float* a) { help(a); a[0] = later(a[2]); }";
    let found = grewe(text);
    // help: one `*` by way of square, nothing for later, which is not defined yet.
    assert_eq!(found[0], ("help".into(), vec![1.0, 0.0, 2.0, 0.0, 2.0, 0.0]));
    assert_eq!(found[1], ("A".into(), vec![3.0, 0.0, 5.0, 0.0, 4.0, 0.0]));
}

#[test]
fn a_prototype_inside_a_body_takes_the_counts_that_follow() {
    let text = "kernel void A(__global int* a) { a[0] = a[1] + 1; int g(int x); a[2] = a[3] * 3; }";
    let found = grewe(text);
    assert_eq!(found, [("A".into(), vec![1.0, 0.0, 2.0, 0.0, 2.0, 0.0])]);
}

#[test]
fn what_stands_behind_a_function_at_file_scope_counts_for_it() {
    let text = "kernel void A(__global int* a) { a[0] = 1; }
        enum { X = 1 << 3, Y = 2 * 4 };
        __constant int table[2 + 2] = { 1 + 1, 2 };";
    let found = grewe(text);
    // Two enumerators, the length, and the list's sum twice.
    assert_eq!(found, [("A".into(), vec![5.0, 0.0, 1.0, 0.0, 1.0, 0.0])]);
}

#[test]
fn initializer_lists_are_visited_twice_at_every_level() {
    let text = "kernel void A(__global float* a) {
            float4 v = (float4)(a[0], a[1] * 2, 1, 2);
            float m[2][2] = { { a[0], 1 }, { 2, 3 } };
            a[0] = v.x + m[0][0];
        }";
    let found = grewe(text);
    // 2 × `*`, the last `+`; a: 2 × 2 in the vector, 4 × 1 in the matrix, 1 at the end.
    assert_eq!(found, [("A".into(), vec![3.0, 0.0, 9.0, 0.0, 9.0, 0.0])]);
}

#[test]
fn an_index_is_coalesced_by_its_form() {
    let text = "kernel void A(__global int* a, __local int* b, int i, uint u) {
            __local int t[4];
            a[i] = 0; a[i + 1] = 0; a[1 * i] = 0; a[3 + 4] = 0; a[(i + 7)] = 0; a[a[i + 7]] = 0;
            a[i + 7] = 0; a[u + 1] = 0; a[i << 1] = 0; a[get_global_id(0)] = 0;
            b[i] = 0; t[i] = 0; (a + 1)[i] = 0;
        }";
    let found = grewe(text);
    assert_eq!(found[0].1, [9.0, 0.0, 14.0, 2.0, 6.0, 0.0]);
}

#[test]
fn a_typedef_hides_the_address_space_from_the_original() {
    let text = "typedef __global float* pointer;
        kernel void A(pointer a, __global int* b) { a[0] = b[0]; }";
    let found = grewe(text);
    assert_eq!(found, [("A".into(), vec![0.0, 0.0, 1.0, 0.0, 1.0, 0.0])]);
}

#[test]
fn the_fixed_space_sees_through_typedefs_pointers_and_order_of_definition() {
    let text = "typedef __global float* pointer;
        float later(float x);
        kernel void A(pointer a, int n) {
            int i = get_global_id(0);
            int row = i * n;
            pointer p = a + 4;
            p[i] += later(a[row]) + a[i * 2] + *p;
            a[2 * i - i] = 0;
        }
        float later(float x) { return -x; }";
    let rows = describe("grewe-fixed", Language::OpenCl, text);
    // Operators: i * n, a + 4, +=, two +, i * 2, 2 * i - i, and later's minus.
    // Accesses: p[i], a[row], a[i * 2], *p, a[2 * i - i]; of these the first, and the last two.
    let vector = &rows[0].vectors["grewe-fixed"];
    assert_eq!(vector[..6], [9.0, 0.0, 5.0, 0.0, 3.0, 0.0], "{rows:?}");
}

#[test]
fn kernels_of_one_file_have_a_row_each_and_share_the_module() {
    let text = "kernel void A(__global int* a) { a[0] = a[1] * 2; }
        kernel void B(__global int* a) { a[0] = 1; }";
    let rows = describe("grewe,instcount", Language::OpenCl, text);
    let kernels: Vec<&str> = rows.iter().map(|row| row.kernel.as_str()).collect();
    assert_eq!(kernels, ["A", "B"]);
    assert_eq!(rows[0].vectors["instcount"], rows[1].vectors["instcount"]);
    assert_eq!(rows[0].vectors["instcount"][2], 2.0);
    assert_ne!(rows[0].vectors["grewe"], rows[1].vectors["grewe"]);
}

#[test]
fn a_kernel_without_global_pointers_keeps_its_other_vectors() {
    let rows = describe("grewe,instcount", Language::OpenCl, "kernel void A(int a) {}");
    assert_eq!((rows[0].verdict.as_str(), rows[0].kernel.as_str()), ("accepted", "A"));
    assert_eq!(rows[0].detail, "grewe: no-vector");
    assert!(rows[0].vectors.contains_key("instcount"));
}

#[test]
fn c_and_cxx_programs_have_vectors_of_all_spaces_but_grewe() {
    let names = "instcount,autophase,opcodes,tokens,ast-depth";
    for (language, text) in [
        (Language::C, "int twice(int a) { return a + a; }"),
        (
            Language::Cxx,
            "template <class T> T twice(T a) { return a + a; } int f(int a) { return twice(a); }",
        ),
    ] {
        let rows = describe(names, language, text);
        assert_eq!(rows[0].verdict, "accepted", "{rows:?}");
        assert_eq!(rows[0].vectors.len(), 5);
        let shares: f64 = rows[0].vectors["opcodes"].iter().sum();
        assert!((shares - 1.0).abs() < 1e-9);
    }
}

#[test]
fn a_space_of_kernels_says_that_a_program_has_none() {
    for language in [Language::C, Language::OpenCl] {
        let text = "int twice(int a) { return a + a; }";
        for name in ["grewe", "grewe-fixed"] {
            let rows = describe(name, language, text);
            assert_eq!((&*rows[0].verdict, &*rows[0].detail), ("no-vector", "it has no kernel"));
        }
        let rows = describe("grewe,instcount", language, text);
        assert_eq!(rows[0].verdict, "accepted", "{rows:?}");
        assert_eq!(rows[0].detail, "grewe: no-vector (it has no kernel)");
    }
    let of_kernels = stampmill_features::ALL.into_iter().filter(|space| space.is_of_kernels());
    let names: Vec<&str> = of_kernels.map(|space| space.name()).collect();
    assert_eq!(names, ["grewe", "grewe-fixed", "dynamic"]);
}

#[test]
fn textual_ir_and_bitcode_have_equal_vectors_and_no_grewe() {
    let library = Library::newest().expect("scripts/setup.sh installs LLVM");
    let text = "define i32 @f(i32 %a) { %b = add i32 %a, 1\n ret i32 %b }";
    let context = Context::new(library);
    let bitcode = context.parse("f", text.as_bytes()).expect("it is valid").write();
    let all = extractor("grewe,instcount,autophase");
    let from_text = all.describe(&program("f.ll", Language::LlvmIr, text)).expect("LLVM is here");
    let code = Code::Bytes(bitcode);
    let from_bitcode = Program { code, ..program("f.ll", Language::Bitcode, "") };
    let mut from_bitcode = all.describe(&from_bitcode).expect("LLVM is here");
    // The content is another; everything else is the same.
    assert_eq!(from_text.len(), 1);
    assert_ne!(from_text[0].id, from_bitcode[0].id);
    from_bitcode[0].id.clone_from(&from_text[0].id);
    assert_eq!(from_text, from_bitcode);
    assert_eq!(from_text[0].detail, "grewe: no-extractor");
    let alone = extractor("grewe")
        .describe(&program("f.ll", Language::LlvmIr, text))
        .expect("LLVM is here");
    assert_eq!(alone[0].verdict, "no-extractor");
}

#[test]
fn bad_programs_have_rows_with_verdicts() {
    let library = Library::newest().expect("scripts/setup.sh installs LLVM");
    let context = Context::new(library);
    let whole = context.parse("f", b"define void @f() { ret void }").expect("it is valid").write();
    let bytes = |content: &[u8]| Program {
        code: Code::Bytes(content.to_vec()),
        ..program("it.bc", Language::Bitcode, "")
    };
    let all = extractor("instcount");
    let verdict =
        |program: &Program| all.describe(program).expect("it has a row")[0].verdict.clone();
    assert_eq!(verdict(&bytes(b"")), "empty");
    assert_eq!(verdict(&bytes(b"\x00\x01garbage")), "not-a-module");
    assert_eq!(verdict(&bytes(&whole[..whole.len() / 2])), "not-a-module");
    let circular = "define void @f() { %a = add i32 %a, 1\n ret void }";
    assert_eq!(verdict(&program("it.ll", Language::LlvmIr, circular)), "invalid-module");
    assert_eq!(verdict(&program("it.cl", Language::OpenCl, "  \n")), "empty");
    let refused = verdict(&program("it.cl", Language::OpenCl, "kernel void A( {"));
    assert_eq!(refused, "does-not-compile");
}

#[test]
fn what_cannot_be_read_has_a_row_and_ends_nothing() {
    let folder = tempfile::tempdir().expect("there is room");
    let sources = folder.path().join("sources");
    fs::create_dir(&sources).expect("there is room");
    fs::write(sources.join("a.cl"), " ").expect("there is room");
    fs::write(sources.join("b.cl"), " ").expect("there is room");
    std::os::unix::fs::symlink("/etc/passwd", sources.join("c.cl")).expect("there is room");
    let sparse = fs::File::create(sources.join("d.cl")).expect("there is room");
    sparse.set_len(3 << 30).expect("a sparse file takes none");
    let all = extractor("grewe");
    let programs = Programs::open(&sources).expect("there are some");
    // It was there when names were read.
    fs::remove_file(sources.join("b.cl")).expect("it is ours");
    let out = folder.path().join("features");
    let stage = Features::new(all, programs, "sources").expect("they can be read");
    let report = run(&stage, &Run::new(&out)).expect("a data set").summary;
    assert_eq!((report.programs, report.rows), (4, 4));
    let rows: Vec<Row> =
        Dataset::open(&out).and_then(|dataset| dataset.rows()?.collect()).expect("four rows");
    let verdicts: Vec<(&str, &str)> =
        rows.iter().map(|row| (row.path.as_str(), row.verdict.as_str())).collect();
    let wanted =
        [("a.cl", "empty"), ("b.cl", "unreadable"), ("c.cl", "unsafe-path"), ("d.cl", "too-large")];
    assert_eq!(verdicts, wanted);
    assert!(dataset::check(&out).expect("a data set").is_whole());
}

#[test]
fn a_folder_becomes_a_data_set_of_features_that_is_projected() {
    let folder = tempfile::tempdir().expect("there is room");
    let sources = folder.path().join("sources");
    fs::create_dir(&sources).expect("there is room");
    for index in 0..5 {
        let body = "a[0] += a[1] * 2;".repeat(index);
        let text = format!("kernel void A(global int* a) {{ {body} }}");
        fs::write(sources.join(format!("{index}.cl")), text).expect("there is room");
    }
    fs::write(sources.join("broken.cl"), "kernel void A( {").expect("there is room");
    let out = folder.path().join("features");
    let all = extractor("grewe,instcount,autophase");
    let programs = Programs::open(&sources).expect("there are some");
    let stage = Features::new(all, programs, "sources").expect("they can be read");
    let report = run(&stage, &Run::new(&out)).expect("it is written").summary;
    let all = extractor("grewe,instcount,autophase");
    assert_eq!((report.programs, report.rows, report.verdicts["accepted"]), (6, 6, 5));
    assert_eq!(report.verdicts["does-not-compile"], 1);
    let rows: Vec<Row> = Dataset::open(&out)
        .and_then(|dataset| dataset.rows()?.collect())
        .expect("it was just written");
    assert_eq!(rows.len(), 6);
    let instcount = space("instcount").expect("registered");
    let written =
        Points::load("features", &out, instcount, &all, &Silent).expect("there are vectors");
    let fresh =
        Points::load("features", &sources, instcount, &all, &Silent).expect("there are vectors");
    assert_eq!(written, fresh);
    assert_eq!((written.vectors.len(), written.without), (5, 1));
    let projection = project(instcount, &[written], Some(&fresh), 8).expect("five vectors");
    assert_eq!(projection.report().targets_matched, projection.report().distinct);
}

#[test]
fn three_parts_merged_are_the_whole_and_equal_programs_have_a_row_each() {
    let folder = tempfile::tempdir().expect("there is room");
    let sources = folder.path().join("sources");
    fs::create_dir(&sources).expect("there is room");
    for index in 0..40 {
        let text = format!("define i32 @f{0}(i32 %a) {{ ret i32 %a }}", index % 3);
        fs::write(sources.join(format!("{index:02}.ll")), text).expect("there is room");
    }
    std::os::unix::fs::symlink("/etc/passwd", sources.join("link.ll")).expect("there is room");
    let programs = Programs::open(&sources).expect("there are some");
    let stage = Features::new(extractor("instcount"), programs, "sources").expect("readable");
    let whole = Run::new(folder.path().join("whole"));
    let done = run(&stage, &whole).expect("a data set");
    assert_eq!((done.summary.programs, done.summary.rows), (41, 41));
    let shares = [1, 2, 3].map(|index| {
        let share = Some(Share { index, count: 3 });
        let context = Run { share, ..Run::new(folder.path().join(index.to_string())) };
        run(&stage, &context).expect("a data set");
        context.out
    });
    let merged = Run::new(folder.path().join("merged"));
    let joined = merge::<Features>(&shares, &merged).expect("merged");
    assert_eq!(joined.summary, done.summary);
    let identity = |context: &Run<'_>| {
        Dataset::open(&context.out).expect("a data set").manifest().identity.clone()
    };
    assert_eq!(identity(&merged), identity(&whole));
}
