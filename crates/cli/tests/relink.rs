//! A module that is taken out, optimised and linked behaves as the original build: programs with
//! input of their own, `-O2` by clang against `default<O2>` by the LLVM that reads modules here.
//!
//! `STAMPMILL_RELINK=40` tries so many programs instead of three.

use ir::Module;
use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

const COMPILER: &str = "clang++-19";

fn run(program: &mut Command) -> Output {
    let output = program.output().unwrap_or_else(|error| panic!("{program:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program:?}: {said}");
    output
}

/// What a program prints on its input, and how it ends.
fn behaviour(program: &Path, input: &Path) -> (Vec<u8>, Option<i32>) {
    let stdin = if input.is_file() {
        Stdio::from(File::open(input).expect("its input is there"))
    } else {
        Stdio::null()
    };
    let output = Command::new(program).stdin(stdin).output().expect("it starts");
    (output.stdout, output.status.code())
}

/// Programs whose input has the same name.
fn programs() -> Vec<PathBuf> {
    let count = std::env::var("STAMPMILL_RELINK").ok().and_then(|text| text.parse().ok());
    let folder = fs::read_dir("../timing/programs").expect("they come with the sources");
    let mut all: Vec<PathBuf> = folder
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.to_string_lossy().ends_with(".fast.cpp"))
        .collect();
    all.sort();
    all.truncate(count.unwrap_or(3));
    all
}

#[test]
fn modules_optimised_and_linked_again_behave_as_the_original() {
    let here = tempfile::tempdir().expect("a folder");
    let here = here.path();
    let library = llvm::Library::newest().expect("scripts/setup.sh installs LLVM");
    let programs = programs();
    for program in &programs {
        let name = program.file_stem().expect("it has a name").to_string_lossy();
        let object = here.join(format!("{name}.o"));
        let stampmill = env!("CARGO_BIN_EXE_stampmill");
        let store = here.join(format!("{name}.store"));
        run(Command::new(stampmill)
            .args(["ir", "wrap", "--store"])
            .arg(&store)
            .args(["--", COMPILER, "-O2", "-std=gnu++17", "-c"])
            .arg(program)
            .arg("-o")
            .arg(&object));
        let original = here.join("original");
        run(Command::new(COMPILER).arg(&object).arg("-o").arg(&original));
        let modules = here.join(format!("{name}.modules"));
        run(Command::new(stampmill)
            .args(["ir", "extract", "--quiet"])
            .arg(&store)
            .arg("--out")
            .arg(&modules));

        let rows = dataset::Dataset::open(&modules).expect("it is one").rows::<Module>();
        let rows: Vec<Module> =
            rows.expect("of modules").collect::<Result<_, _>>().expect("they can be read");
        let [row] = rows.as_slice() else { panic!("{name}: {} rows", rows.len()) };
        let context = llvm::Context::new(library);
        let mut module = context.parse(&name, &row.content).expect("it is valid");
        let before = ir::structure(&module).module;
        module.run_passes("default<O2>").expect("they run");
        assert!(ir::structure(&module).module != before, "{name}: nothing was optimised");
        fs::write(&object, module.emit_object().expect("there is a back end")).expect("written");
        let again = here.join("again");
        run(Command::new(COMPILER).arg("-no-pie").arg(&object).arg("-o").arg(&again));

        let input = program.with_extension("in");
        let (wanted, found) = (behaviour(&original, &input), behaviour(&again, &input));
        assert!(!wanted.0.is_empty(), "{name} prints nothing");
        assert!(wanted == found, "{name} behaves differently");
    }
    println!("{} programs behave as before", programs.len());
}
