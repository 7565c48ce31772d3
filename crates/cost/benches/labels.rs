//! Labels of each task by real kernels, against the obvious script, in one run.
//!
//! `cargo bench --bench labels` prints labels per second and core for both and their ratio. Time is processor
//! time of this process and all that it starts. The script starts a process for each step: `clang-19 -O2 -c` and
//! `llvm-size-19` for `size`; `clang-19 -O2 -S` and `llvm-mca-19` for `mca`; `clang-19` for the code before passes
//! and `opt-19` for each pipeline of `passes`. For `cost` it compiles the kernel by `clang-19 -O2 -c` and has a loop over 64
//! work-items in C, the least that could stand for the kernel, timed by `stampmill time` twice, as it would be with one
//! group and with three; for `unroll` and `vectorize` the same for each choice, with LLVM's option for all loops; for `coarsen` for each factor. Where both have a `size` it must be the same.

use dataset::{
    Code, Program,
    stage::{Context, run},
};
use rows::Grouping;
use stampmill_cost::{Bench, Label, LabelRow, NAMES, Options, coreset, task};
use std::{
    error::Error,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Arc, atomic::AtomicBool},
};

/// Kernels that are labelled, and of these how many by the script.
const KERNELS: usize = 300;
const SCRIPTED: usize = 30;
/// Labels of `cost` run two programs each, those of choices as many for each.
const TIMED: usize = 60;
/// What a script has timed.
const LOOP: &str = "#include <stdio.h>\nstatic float a[64];\nint main(void) { int n = getchar() - '0'; \
                    while (n-- > 0) for (int i = 0; i < 64; i++) a[i] = a[i] * 2 + i; return a[3] < 0; }\n";
const CLANG: [&str; 9] = [
    "-x",
    "cl",
    "-cl-std=CL2.0",
    "--target=x86_64-unknown-linux-gnu",
    "-fPIC",
    "-Xclang",
    "-finclude-default-header",
    "-Xclang",
    "-fdeclare-opencl-builtins",
];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let kernels: Vec<Program> = kernels()?;
    let worker = host::installed("stampmill").ok_or("build the workspace first")?;
    let label =
        |name: &str, source: &Path, out: PathBuf| -> Result<(f64, Vec<LabelRow>), Box<dyn Error>> {
            let bench = Bench::new(Options {
                shim: None,
                jobs: 1,
                reader: (worker.clone(), vec!["worker".into(), "costs".into()]),
                cancelled: Arc::new(AtomicBool::new(false)),
            });
            let programs = (dataset::Programs::open(source)?, "kernels");
            let label = Label::new(task(name, None)?, bench, programs, None, Grouping::Path)?;
            let before = sandbox::processor_time();
            run(&label, &Context { jobs: 1, ..Context::new(&out) })?;
            let seconds = (sandbox::processor_time() - before).as_secs_f64();
            Ok((seconds, dataset::Dataset::open(&out)?.rows()?.collect::<dataset::Result<_>>()?))
        };
    for name in NAMES {
        let few = matches!(name, "cost" | "unroll" | "vectorize" | "coarsen");
        let loops = matches!(name, "unroll" | "vectorize");
        let wanted = |text: &str| !loops || (text.contains("for (") && !text.contains("barrier("));
        let tried = folder.path().join(format!("{name}-tried"));
        std::fs::create_dir(&tried)?;
        let texts = kernels.iter().filter_map(|kernel| match &kernel.code {
            Code::Text(text) if wanted(text) => Some(text),
            _ => None,
        });
        for (at, text) in texts.take(if few { TIMED } else { KERNELS }).enumerate() {
            std::fs::write(tried.join(format!("{at:04}.cl")), text)?;
        }
        let is_labeled = |row: &&LabelRow| row.head.label.is_some();
        // Both get what has a label.
        let (_, first) = label(name, &tried, folder.path().join(format!("{name}-first")))?;
        let source = folder.path().join(format!("{name}-labeled"));
        std::fs::create_dir(&source)?;
        for row in first.iter().filter(is_labeled) {
            std::fs::copy(tried.join(&row.head.path), source.join(&row.head.path))?;
        }
        let (seconds, rows) = label(name, &source, folder.path().join(name))?;
        let labelled: Vec<&LabelRow> = rows.iter().filter(is_labeled).collect();
        let ours = labelled.len() as f64 / seconds;
        let before = sandbox::processor_time();
        let (mut scripted, mut equal, mut compared) = (0, 0, 0);
        // An even choice, as the kernels are.
        for row in labelled.iter().step_by((labelled.len() / SCRIPTED).max(1)) {
            let Some(cost) = script(name, &source.join(&row.head.path), folder.path())? else {
                continue;
            };
            scripted += 1;
            if name == "size" {
                compared += 1;
                equal += usize::from(row.head.costs[0] == Some(cost));
            }
        }
        let theirs = f64::from(scripted) / (sandbox::processor_time() - before).as_secs_f64();
        println!("{name}: {ours:.1} labels per second and core, of {} programs", labelled.len());
        println!("{name}: {theirs:.2} by a script, of {scripted}; ratio {:.1}", ours / theirs);
        if name == "size" {
            println!("size: {equal} of {compared} equal what llvm-size says of clang's object");
        }
    }
    Ok(())
}

/// An even choice of those that ship.
fn kernels() -> Result<Vec<Program>, Box<dyn Error>> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets/device-mapping-h200/kernels");
    let all: Vec<Program> =
        dataset::Programs::open(&path)?.iter()?.collect::<dataset::Result<_>>()?;
    let step = (all.len() / KERNELS).max(1);
    Ok(all.into_iter().step_by(step).take(KERNELS).collect())
}

/// `time` of the loop, of one group and of three.
fn time_loop(folder: &Path) -> Result<(), Box<dyn Error>> {
    let source = folder.join("loop.c");
    std::fs::write(&source, LOOP)?;
    for times in ["1", "3"] {
        let input = folder.join("times");
        std::fs::write(&input, times)?;
        let program = host::installed("stampmill").ok_or("build the workspace first")?;
        let mut time = Command::new(program);
        time.arg("time").arg(source.as_os_str()).arg("--stdin").arg(input);
        time.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    }
    Ok(())
}

/// What the script finds; `None` where clang refuses.
fn script(name: &str, source: &Path, folder: &Path) -> Result<Option<f64>, Box<dyn Error>> {
    let out = |name: &str| folder.join(name);
    let clang = |arguments: &[&str], to: &PathBuf| {
        let mut command = Command::new("clang-19");
        command.args(CLANG).args(arguments).arg(source).arg("-o").arg(to);
        command.stderr(Stdio::null()).status().map(|status| status.success())
    };
    match name {
        "size" => {
            let object = out("a.o");
            if !clang(&["-O2", "-c"], &object)? {
                return Ok(None);
            }
            let said = Command::new("llvm-size-19").args(["-A"]).arg(&object).output()?;
            let text = String::from_utf8_lossy(&said.stdout).into_owned();
            let sizes = text.lines().filter(|line| line.starts_with(".text"));
            let sizes =
                sizes.filter_map(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
            Ok(Some(sizes.sum()))
        }
        "cost" | "unroll" | "vectorize" | "coarsen" => {
            let option = match name {
                "unroll" => Some("-unroll-count"),
                "vectorize" => Some("-force-vector-width"),
                _ => None,
            };
            for choice in task(name, None)?.choices() {
                let forced = option.map(|option| format!("{option}={choice}"));
                let forced = match (choice.parse::<u32>(), &forced) {
                    (Ok(_), Some(forced)) => vec!["-O2", "-c", "-mllvm", forced],
                    _ => vec!["-O2", "-c"],
                };
                if !clang(&forced, &out("a.o"))? {
                    return Ok(None);
                }
                time_loop(folder)?;
            }
            Ok(Some(0.0))
        }
        "mca" => {
            let assembly = out("a.s");
            if !clang(&["-O2", "-S"], &assembly)? {
                return Ok(None);
            }
            let mut mca = Command::new("llvm-mca-19");
            mca.args(["-mcpu=skylake", "-iterations=1"]).arg(&assembly);
            mca.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
            Ok(Some(0.0))
        }
        _ => {
            let bitcode = out("a.bc");
            let before = ["-O2", "-emit-llvm", "-c", "-Xclang", "-disable-llvm-passes"];
            if !clang(&before, &bitcode)? {
                return Ok(None);
            }
            for pipeline in coreset() {
                let passes = format!("-passes={}", pipeline.passes);
                let mut opt = Command::new("opt-19");
                opt.args([&passes, "-S", "-o"]).arg(out("a.ll")).arg(&bitcode);
                opt.stderr(Stdio::null()).status()?;
            }
            Ok(Some(0.0))
        }
    }
}
