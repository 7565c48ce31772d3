//! All three published spaces over 10,000 kernels, against a process per kernel, in one run.
//!
//! `cargo bench -p stampmill-features` prints kernels per second and core for both and their ratio. Time is
//! processor time of this process and all its children, so that a busy machine does not matter.
//! The other side starts `clang-19` and then an extractor for each kernel (this program again, for
//! the two spaces of bitcode alone: it is spared the second parse that Grewe's features take).

use dataset::{Code, Language, Program};
use llvm::{Context, Library, Version};
use stampmill_features::{Extractor, Options, space, spaces};
use std::{error::Error, path::Path, process::Command};

const KERNELS: usize = 10_000;
const PROCESSES: usize = 100;
const CHILD: &str = "--describe-bitcode";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, flag, path] = arguments.as_slice()
        && flag == CHILD
    {
        return describe_bitcode(Path::new(path));
    }
    let kernels: Vec<Program> = (0..KERNELS).map(kernel).collect();
    for jobs in [1, Options::default().jobs] {
        let extractor = Extractor::new(
            spaces("grewe,instcount,autophase")?,
            Options { jobs, ..Options::default() },
        );
        extractor.describe_many(&kernels[..100])?;
        let before = sandbox::processor_time();
        let started = std::time::Instant::now();
        let rows = extractor.describe_many(&kernels)?;
        let wall = started.elapsed().as_secs_f64();
        assert!(
            rows.iter().flatten().all(|row| row.vectors.len() == 3),
            "every kernel has all vectors"
        );
        let ours = KERNELS as f64 / (sandbox::processor_time() - before).as_secs_f64();
        println!(
            "{jobs} jobs: {ours:.0} kernels per second and core, {:.0} per second",
            KERNELS as f64 / wall
        );
        if jobs == 1 {
            let theirs = process_per_kernel(&kernels[..PROCESSES])?;
            println!("a process per kernel: {theirs:.1} kernels per second and core");
            println!("ratio (ours / process per kernel): {:.1}", ours / theirs);
        }
    }
    Ok(())
}

fn process_per_kernel(kernels: &[Program]) -> Result<f64, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let (source, bitcode) = (folder.path().join("a.cl"), folder.path().join("a.bc"));
    let own = std::env::current_exe()?;
    let before = sandbox::processor_time();
    for kernel in kernels {
        let Code::Text(text) = &kernel.code else { continue };
        std::fs::write(&source, text)?;
        let compiled = Command::new("clang-19")
            .args([
                "-x",
                "cl",
                "-cl-std=CL2.0",
                "--target=nvptx64-nvidia-nvcl",
                "-O1",
                "-emit-llvm",
                "-c",
            ])
            .args(["-Xclang", "-finclude-default-header", "-Xclang", "-fdeclare-opencl-builtins"])
            .arg(&source)
            .arg("-o")
            .arg(&bitcode)
            .status()?;
        let described = Command::new(&own).arg(CHILD).arg(&bitcode).status()?;
        if !compiled.success() || !described.success() {
            return Err("clang-19 or the extractor failed".into());
        }
    }
    Ok(kernels.len() as f64 / (sandbox::processor_time() - before).as_secs_f64())
}

fn describe_bitcode(path: &Path) -> Result<(), Box<dyn Error>> {
    let context = Context::new(Library::nearest(Version { major: 19, minor: 0, patch: 0 })?);
    let module = context.parse("module", &std::fs::read(path)?)?;
    let view = stampmill_features::ProgramView { module: Some(&module), ..Default::default() };
    for name in ["instcount", "autophase"] {
        if space(name)?.extract(&view).is_none() {
            return Err("no vector".into());
        }
    }
    Ok(())
}

/// A small kernel in CLgen's manner, different for every `index`.
fn kernel(index: usize) -> Program {
    let (a, b, c) = (index % 7, index % 11, index % 13);
    let operator = ["+", "-", "*", "/"][index % 4];
    let text = format!(
        "__kernel void A(__global float* a, __global float* b, __global float* c, const int d) {{\n\
           int e = get_global_id(0);\n\
           if (e >= d - {a}) return;\n\
           float f = a[e] {operator} {index}.0f;\n\
           for (int g = 0; g < {b}; g++) {{ f += b[e + g] * sqrt(a[g * {c}]); }}\n\
           c[e] = f;\n\
         }}\n"
    );
    let path = format!("{index}.cl");
    let code = Code::Text(text);
    Program { path, language: Language::OpenCl, code, ..Program::default() }
}
