//! Floating-point operations of launches.

use stampmill_features::{Extractor, Launch, ModuleReader, Options, spaces};

/// The body of a kernel in which `i` is the global id and `n` is 100, and the operations of a work-item.
const BODIES: &[(&str, f64)] = &[
    ("y[i] = x[i];", 0.0),
    ("y[i] = x[i] + f;", 1.0),
    ("y[i] = fma(x[i], f, f);", 2.0),
    ("y[i] = x[i] * f + f;", 2.0),
    ("vstore4(vload4(i, x) / f, i, y);", 4.0),
    ("for (int k = 0; k < n; k++) y[i] += x[k];", 100.0),
    ("y[i] = x[i] * get_num_groups(0); if (get_global_size(0) == 1024) y[i] += f;", 2.0),
    ("y[i] = i + n;", 0.0),
];

fn operations(text: &str, kernel: &str) -> Result<f64, dataset::Verdict> {
    let options = Options { reader: ModuleReader::InProcess, ..Options::default() };
    let extractor = Extractor::new(spaces("dynamic").expect("registered"), options);
    let launch = Launch {
        kernel: kernel.to_owned(),
        global: [1024, 1, 1],
        local: [128, 1, 1],
        integers: vec![0, 0, 100, 0],
    };
    extractor.operations(text, &[launch]).expect("clang, LLVM and gcc are here")
}

#[test]
fn each_body_has_the_operations_that_it_says() {
    for (body, each) in BODIES {
        let text = format!(
            "kernel void A(global float *y, global const float *x, int n, float f) {{ size_t i = get_global_id(0); {body} }}"
        );
        assert_eq!(operations(&text, "A"), Ok(1024.0 * each), "{body}");
    }
}

#[test]
fn what_does_not_run_has_none() {
    for (text, kernel, wanted) in [
        ("kernel void A(global float *y) { y[0] = 1; }", "B", "unsupported"),
        ("kernel void A(global float *y) { y[0] = ; }", "A", "does-not-compile"),
        (
            "kernel void A(global float *y) { for (int k = 0; k < 100000000; k++) y[0] = y[0] * 0.5f + k; }",
            "A",
            "instruction-limit",
        ),
    ] {
        let verdict = operations(text, kernel).expect_err("it does not run");
        assert_eq!(verdict.name, wanted, "{text}");
    }
}
