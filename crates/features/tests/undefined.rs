//! What OpenCL leaves undefined in a run, form by form.

use stampmill_features::{Extractor, ModuleReader, Options, Undefined, spaces};

/// The body of a kernel in which `i` is the global id and `l` the local one; races of global and of local memory, and
/// reads of local memory that is not set, of two groups of 64, which run four times.
const BODIES: &[(&str, [u64; 3])] = &[
    ("x[i] = x[i] * f;", [0, 0, 0]),
    // Each group but the first work-item of all of them, which nobody was before.
    ("x[0] = f;", [508, 0, 0]),
    ("x[0] += f;", [1016, 0, 0]),
    ("x[l] = f;", [256, 0, 0]),
    ("x[i] = x[i + 1];", [508, 0, 0]),
    ("if (i == 0) x[0] = f; x[n + i] = x[i];", [0, 0, 0]),
    ("x[i] = y[i % 4] + y[0];", [0, 0, 0]),
    ("atomic_add((global int *)x, 1);", [0, 0, 0]),
    ("atomic_add((global int *)x, 1); x[i + 1] = f;", [0, 0, 0]),
    // All but the first work-item change what it writes.
    ("atomic_add((global int *)x, 1); x[i] = f;", [508, 0, 0]),
    ("((global char *)x)[i] = i;", [0, 0, 0]),
    ("vstore4(vload4(i, y), i, x);", [0, 0, 0]),
    ("vstore4(vload4(0, y), i / 2, x);", [256, 0, 0]),
    ("tile[l] = y[i]; barrier(CLK_LOCAL_MEM_FENCE); x[i] = tile[63 - l];", [0, 0, 0]),
    ("tile[l] = y[i]; x[i] = tile[l];", [0, 0, 0]),
    ("tile[l] = y[i]; if (l > 0) x[i] = tile[l - 1];", [0, 504, 0]),
    ("x[i] = given[l];", [0, 0, 512]),
    // In one of the four runs, and in two.
    ("if (f < g) x[i / 2] = f;", [64, 0, 0]),
    ("if (f > g) x[i / 2] = f;", [64, 0, 0]),
    ("if (f == g) x[i / 2] = f;", [128, 0, 0]),
    ("if (f != g) x[i / 2] = f;", [128, 0, 0]),
    // In the one in which a number is a fraction.
    ("x[(int)(i * min(f, 1.0f))] = f;", [96, 0, 0]),
    ("if (l < 32) given[l] = f; barrier(CLK_LOCAL_MEM_FENCE); x[i] = given[l];", [0, 0, 256]),
    // What the group before has left is not set.
    ("if (i < 64) given[l] = f; barrier(CLK_LOCAL_MEM_FENCE); x[i] = given[l];", [0, 0, 256]),
    ("given[0] = f; barrier(CLK_LOCAL_MEM_FENCE); x[i] = given[0];", [0, 504, 0]),
];

#[test]
fn each_body_leaves_undefined_what_it_says() {
    let options = Options { reader: ModuleReader::InProcess, ..Options::default() };
    let extractor = Extractor::new(spaces("dynamic").expect("registered"), options);
    for (body, [global_races, local_races, unset_local_reads]) in BODIES {
        let found = extractor.undefined(&format!(
            "kernel void A(global float *x, global const float *y, local float *given, int n, float f, float g) {{\n\
             local float tile[64]; size_t i = get_global_id(0), l = get_local_id(0); {body} }}"
        ));
        let wanted = Undefined {
            global_races: *global_races,
            local_races: *local_races,
            unset_local_reads: *unset_local_reads,
        };
        assert_eq!(found.expect("clang, LLVM and gcc are here"), Ok(wanted), "{body}");
    }
}

#[test]
fn of_what_does_not_run_nothing_is_told() {
    let options = Options { reader: ModuleReader::InProcess, ..Options::default() };
    let extractor = Extractor::new(spaces("dynamic").expect("registered"), options);
    for (text, wanted) in [
        ("kernel void A(global float *x) { x[0] = ; }", "does-not-compile"),
        ("kernel void A(global float *x, sampler_t s) { x[0] = 1; }", "unsupported"),
        (
            "kernel void A(global int *x) { while (x[get_global_id(0)] >= 0) x[0] = 1; }",
            "instruction-limit",
        ),
        // Calls that do not come to it are fine, and say nothing of it.
        (
            "kernel void A(int a, int b, global int *x) { int i = get_global_id(0); if (a == b) x[i] = 3 / i; else x[i] = 1; }",
            "crashes",
        ),
        (
            "kernel void A(int a, global int *x) { int i = get_global_id(0); if (4 == a) x[i] = 8 % i; else x[i] = a; }",
            "crashes",
        ),
    ] {
        let found = extractor.undefined(text).expect("clang, LLVM and gcc are here");
        assert_eq!(found.expect_err(text).name, wanted, "{text}");
    }
}
