//! What is compiled in-process is what the `clang-19` driver compiles, bit for bit.

use crate::support::{clang, start};
use clang::{Language, Options, Triple};
use std::{path::Path, process::Command};

/// Bitcode of the driver's own compile, `None` if it rejects the program.
fn driver(source: &str, file: &str, arguments: &[&str]) -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    std::fs::write(folder.path().join(file), source).expect("it can be written to");
    let status = Command::new("clang-19")
        .current_dir(folder.path())
        .args(arguments)
        .args(["-w", "-emit-llvm", "-c", file, "-o", "out.bc"])
        .stderr(std::process::Stdio::null())
        .status()
        .expect("scripts/setup.sh installs clang-19");
    status.success().then(|| std::fs::read(folder.path().join("out.bc")).expect("it was written"))
}

/// The readable form, without the two metadata strings that name the producer's folders.
fn disassemble(bitcode: &[u8]) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("module.bc");
    std::fs::write(&file, bitcode).expect("it can be written to");
    let output = Command::new(Path::new("/usr/lib/llvm-19/bin/llvm-dis"))
        .args(["-o", "-"])
        .arg(&file)
        .output()
        .expect("llvm-dis is beside the driver");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines()
        .filter(|line| !line.starts_with("; ModuleID"))
        .map(|line| format!("{line}\n"))
        .collect()
}

fn assert_same(source: &str, options: &Options, file: &str, arguments: &[&str]) -> bool {
    let ours = clang().compile(source, options).expect("no kernel here kills clang");
    let code = ours.code.map(|code| code.bitcode);
    let theirs = driver(source, file, arguments);
    assert_eq!(code.is_some(), theirs.is_some(), "one accepts what the other rejects:\n{source}");
    let (Some(ours), Some(theirs)) = (code, theirs) else { return false };
    if ours != theirs {
        assert_eq!(disassemble(&ours), disassemble(&theirs), "of\n{source}");
    }
    true
}

#[test]
fn real_kernels_have_the_drivers_ir() {
    let options = Options { optimisation: 1, ..Options::opencl() };
    let flags = [
        "-x",
        "cl",
        "-cl-std=CL2.0",
        "--target=nvptx64-nvidia-nvcl",
        "-O1",
        "-Xclang",
        "-finclude-default-header",
        "-Xclang",
        "-fdeclare-opencl-builtins",
    ];
    // Every fifteenth: the driver takes some forty times as long as we do.
    let compiled = trials::kernels()
        .iter()
        .step_by(15)
        .filter(|kernel| assert_same(kernel, &options, "program.cl", &flags))
        .count();
    assert!(compiled > 50, "only {compiled} compiled");
}

#[test]
fn every_triple_language_and_level_has_the_drivers_ir() {
    let opencl = "typedef struct { float4 p; int k; } S;\n\
        float sq(float x) { return x * x; }\n\
        kernel void A(global S* a, local float* t, constant int* c, read_only image2d_t i, sampler_t s) {\n\
          int g = get_global_id(0);\n\
          for (int k = 0; k < c[g]; k++) t[k] = sq(a[g].p.x) + read_imagef(i, s, (int2)(k, g)).x;\n\
          barrier(CLK_LOCAL_MEM_FENCE);\n\
          a[g].p.xyz = (float3)(t[0], t[1], sin(t[2]));\n\
          printf(\"%d\\n\", g);\n\
        }\n";
    let c = "static int f(int* a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }\n\
        int g(int* a) { return f(a, 100); }\n";
    let cxx = "template <class T> struct V { T* p; T& operator[](int i) { return p[i]; } };\n\
        int f(V<int> v, int n) { try { return v[n]; } catch (...) { throw; } }\n";
    for level in 0..=3 {
        let flag = format!("-O{level}");
        for (triple, name) in [
            (Triple::Nvptx64, "--target=nvptx64-nvidia-nvcl"),
            (Triple::Spir64, "--target=spir64-unknown-unknown"),
            (Triple::Host, "-fPIE"),
        ] {
            for standard in ["CL1.2", "CL2.0", "CL3.0"] {
                let options = Options {
                    optimisation: level,
                    triple,
                    standard: standard.into(),
                    ..Options::opencl()
                };
                let standard = format!("-cl-std={standard}");
                let flags = [
                    "-x",
                    "cl",
                    &standard,
                    name,
                    &flag,
                    "-Xclang",
                    "-finclude-default-header",
                    "-Xclang",
                    "-fdeclare-opencl-builtins",
                ];
                assert_same(opencl, &options, "program.cl", &flags);
            }
        }
        let host = Options {
            optimisation: level,
            triple: Triple::Host,
            standard: String::new(),
            ..Options::opencl()
        };
        let options = Options { language: Language::C, ..host.clone() };
        assert!(assert_same(c, &options, "program.c", &[&flag]));
        let options = Options { language: Language::Cxx, ..host };
        assert!(assert_same(cxx, &options, "program.cpp", &[&flag]));
    }
}

#[test]
fn a_program_has_the_same_ir_and_diagnostics_once_opencls_declarations_are_kept_precompiled() {
    let kernels = trials::kernels();
    let seasoned = start();
    for triple in [Triple::Nvptx64, Triple::Spir64] {
        let options = Options { optimisation: 1, triple, ..Options::opencl() };
        for _ in 0..8 {
            seasoned.compile("kernel void A() {}", &options).expect("it compiles");
        }
        let broken = [
            "kernel void A(global float* a) { a[0] = b; }",
            "kernel void A() { float4 x = 1; x.q = 2; }",
        ];
        let kernels = kernels.iter().step_by(72).map(String::as_str);
        for kernel in kernels.chain(broken) {
            let fresh = start().compile(kernel, &options);
            assert_eq!(seasoned.compile(kernel, &options), fresh, "{kernel}");
        }
    }
}

#[test]
fn a_program_has_the_same_ir_and_diagnostics_whatever_was_compiled_before_it() {
    let sources = [
        "kernel void A(global float* a, const int n) {\n\
           for (int i = 0; i < n; i++) a[i] = sqrt(a[i]) + get_local_id(0);\n}\n",
        "kernel void A(global int* a) { int unused; a[0] = \"text\"; }",
    ];
    let mut all = Vec::new();
    for level in 0..=3 {
        for triple in [Triple::Nvptx64, Triple::Spir64, Triple::Host] {
            for (standard, define) in [("CL1.2", "M=1"), ("CL2.0", "M=2"), ("CL2.0", "N=1")] {
                all.push(Options {
                    optimisation: level,
                    triple,
                    standard: standard.into(),
                    defines: vec![define.into()],
                    ..Options::opencl()
                });
            }
        }
    }
    let of_each = |clang: &clang::Clang, options: &Options| {
        sources.map(|source| clang.compile(source, options).expect("it survives"))
    };
    let fresh: Vec<_> = all.iter().map(|options| of_each(&start(), options)).collect();
    let seasoned = start();
    // More sets of arguments than machines and precompiled headers are kept of, there and back.
    let order = (0..all.len()).chain((0..all.len()).rev()).chain(0..all.len());
    for at in order {
        assert!(of_each(&seasoned, &all[at]) == fresh[at], "{:?}", all[at]);
    }
}

#[test]
fn an_ambiguous_call_of_a_builtin_has_the_same_diagnostics_in_every_process() {
    let kernel = "kernel void A(global ulong* a, ulong b) { a[1] = atom_xchg(a, b); }";
    let options = Options { triple: Triple::Nvptx64, ..Options::opencl() };
    for _ in 0..40 {
        let answer = start().compile(kernel, &options).expect("it is compiled");
        let kinds: Vec<_> = answer.diagnostics.iter().map(|one| one.kind.as_str()).collect();
        assert_eq!(kinds, ["err_ovl_ambiguous_call"]);
    }
}

#[test]
fn what_a_program_does_is_the_same_without_its_dead_code() {
    let effect = |body: &str| {
        let options = Options { optimisation: 2, effect: true, ..Options::opencl() };
        let text = format!("kernel void A(global int *a, global float *b, int n) {{ {body} }}");
        let answer = clang().compile(&text, &options).expect("no kernel here kills clang");
        answer.code.expect("it compiles").bitcode
    };
    let alone = "int i = get_global_id(0); int j = get_global_id(1); if (i > j) a[i] = j;";
    for dead in [
        // A loop that is not known to end, with calls in it.
        "float s = 0; for (int k = n; k < i; k += get_local_size(0)) s += sqrt(b[k]);",
        "while (n--) { }",
        // What it reads is said by attributes of the parameters.
        "float s = b[i] * 2;",
    ] {
        let (before, after) = alone.split_at(alone.find("if").expect("it is there"));
        assert_eq!(effect(alone), effect(&format!("{before}{dead} {after}")), "{dead}");
    }
    assert_ne!(effect(alone), effect(&alone.replace("a[i] = j", "a[i] = i")));
    assert_ne!(effect(alone), effect(&format!("{alone} b[i] = 1;")));
}
