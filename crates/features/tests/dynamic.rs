//! What kernels do when they run, form by form.

use dataset::{Code, Language, Program};
use stampmill_features::{CompileConfigs, Extractor, ModuleReader, Options, Row, space, spaces};

fn describe(text: &str) -> Vec<Row> {
    at_level(1, text)
}

fn at_level(level: u8, text: &str) -> Vec<Row> {
    let configs = CompileConfigs::default().at_level(level);
    let options = Options { configs, reader: ModuleReader::InProcess, ..Options::default() };
    let extractor = Extractor::new(spaces("dynamic").expect("registered"), options);
    let (language, code) = (Language::OpenCl, Code::Text(text.to_owned()));
    let program = Program { path: "it.cl".into(), language, code, ..Program::default() };
    extractor.describe(&program).expect("clang, LLVM and gcc are here")
}

/// The body of a kernel in which `i` is the global id, and what it comes to.
const BODIES: &[(&str, &[(&str, f64)])] = &[
    (
        "x[i] = x[i] * f;",
        &[
            ("WorkItems", 64.0),
            ("Insts", 6.0),
            ("InstsMost", 6.0),
            ("Place", 1.0),
            ("Address", 1.0),
            ("FloatMul", 1.0),
            ("GlobalLoads", 1.0),
            ("GlobalStoreBytes", 4.0),
            ("GlobalAccesses", 2.0),
            ("LinesPerAccess", 1.0),
            ("Coalesced", 1.0),
            ("UnitStride", 1.0),
        ],
    ),
    ("x[32 * i] = f;", &[("LinesPerAccess", 32.0), ("Coalesced", 1.0 / 32.0), ("UnitStride", 0.0)]),
    ("x[i] = x[0];", &[("LinesPerAccess", 1.0), ("SameAddress", 0.5), ("UnitStride", 0.5)]),
    (
        "if (i % 2) x[i] = f;",
        &[("BranchesTaken", 0.5), ("DivergentBranches", 1.0), ("GlobalStores", 0.5)],
    ),
    ("if (n < 70) x[i] = f;", &[("DivergentBranches", 0.0), ("GlobalStores", 1.0)]),
    (
        "float s = 0; for (int k = 0; k < n; k++) s += x[k]; x[i + n] = s;",
        &[
            ("LoopEntries", 1.0),
            ("LoopTrips", 64.0),
            ("LoopTripsMost", 64.0),
            ("GlobalLoadBytes", 256.0),
        ],
    ),
    (
        "float s = 0; for (int k = 0; k < i + 1; k++) s += x[k]; x[i + n] = s;",
        &[("LoopTrips", 32.5), ("GlobalLoads", 32.5), ("DivergentBranches", 63.0 / 65.0)],
    ),
    (
        "tile[i] = x[i]; barrier(CLK_LOCAL_MEM_FENCE); x[i] = tile[63 - i];",
        &[("Barrier", 1.0), ("LocalLoads", 1.0), ("LocalStoreBytes", 4.0), ("PrivateLoads", 0.0)],
    ),
    ("x[i] = table[i % 4];", &[("ConstantLoadBytes", 4.0), ("GlobalLoads", 0.0)]),
    (
        "atomic_add((global int *)x, 1);",
        &[("Atomic", 1.0), ("GlobalLoads", 1.0), ("GlobalStores", 1.0), ("SameAddress", 1.0)],
    ),
    (
        "vstore4(vload4(i, x), i, x);",
        &[("GlobalLoadBytes", 16.0), ("LinesPerAccess", 4.0), ("Coalesced", 1.0)],
    ),
    ("x[i] = sin(mad(f, x[i], f));", &[("Builtin", 1.0), ("FloatMulAdd", 1.0)]),
    ("x[i] = twice(x[i]);", &[("Call", 1.0), ("FloatAdd", 1.0)]),
];

#[test]
fn each_body_does_what_it_says() {
    let dynamic = space("dynamic").expect("registered");
    let names = dynamic.dimensions();
    for (body, wanted) in BODIES {
        let rows = describe(&format!(
            "constant float table[4] = {{1, 2, 3, 4}};\n\
             __attribute__((noinline)) float twice(float a) {{ return a + a; }}\n\
             kernel void A(global float *x, int n, float f) {{\n\
             local float tile[64]; size_t i = get_global_id(0); {body} }}"
        ));
        assert_eq!(
            (rows.len(), rows[0].verdict.as_str()),
            (1, "accepted"),
            "{body}: {}",
            rows[0].detail
        );
        let vector = &rows[0].vectors["dynamic"];
        for (name, value) in *wanted {
            let found = vector[names.iter().position(|one| one == name).expect("a dimension")];
            assert_eq!(found, *value, "{name} of `{body}`: {vector:?}");
        }
        let mut complete = vector.clone();
        dynamic.complete(&mut complete);
        assert!(complete.iter().zip(vector).all(|(a, b)| (a - b).abs() < 1e-9), "{body}");
    }
}

#[test]
fn inline_functions_are_there_without_optimization() {
    let text = "inline int twice(int x) { return 2 * x; } kernel void A(global int *x) { x[0] = twice(x[1]); }";
    let rows = at_level(0, text);
    assert_eq!(rows[0].verdict, "accepted", "{}", rows[0].detail);
}

#[test]
fn two_runs_count_the_same() {
    let text = "kernel void A(global int *x) { if (x[get_global_id(0)] & 1) atomic_inc(x); }";
    assert_eq!(describe(text), describe(text));
}
