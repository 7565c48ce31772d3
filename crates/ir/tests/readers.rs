//! The reader of crate `bitcode` is held to LLVM's: where it reads a module, both find the same.

use llvm::{Context, Library, Version};
use stampmill_ir::{structure, structure_of};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

const PIPELINES: [&str; 4] = ["mem2reg,instcombine", "default<O1>", "default<O3>", "default<Oz>"];

/// The LLVM whose view the reader gives; rustc's own is of this version.
fn library() -> &'static Library {
    let version = Version { major: bitcode::LLVM, minor: 0, patch: 0 };
    let library = Library::nearest(version).expect("rustc brings its own LLVM");
    assert_eq!(library.version().major, bitcode::LLVM, "rustc's LLVM is of the reader's version");
    library
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/readers").join(name)
}

fn texts(name: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder(name)).expect("the folder ships with the sources");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("it is read").path()).collect();
    paths.sort();
    paths
}

fn bitcode_of(text: &Path) -> Vec<u8> {
    let context = Context::new(library());
    let module = context.parse("module", &fs::read(text).expect("it was listed"));
    let module = module.expect("it is IR");
    module.verify().expect("it obeys the rules");
    module.write()
}

/// Both read a module, as it is and after passes, and find the same.
fn agree(what: &str, content: &[u8]) {
    let context = Context::new(library());
    let module = context.parse("module", content).expect("LLVM reads it");
    let (found, source) =
        structure_of(library(), content).unwrap_or_else(|why| panic!("{what}: {why}"));
    assert_eq!(found, structure(&module), "{what}");
    assert_eq!(source, module.source_file_name(), "{what}");
    for pipeline in PIPELINES {
        let mut copy = module.clone();
        copy.run_passes(pipeline).expect("the passes exist");
        let content = copy.write();
        let context = Context::new(library());
        let module = context.parse("module", &content).expect("LLVM reads what it wrote");
        let found = structure_of(library(), &content);
        let (found, _) = found.unwrap_or_else(|why| panic!("{what} after {pipeline}: {why}"));
        assert_eq!(found, structure(&module), "{what} after {pipeline}");
    }
}

fn made(program: &str, words: &[&str], source: &str) -> Vec<u8> {
    let scratch = tempfile::tempdir().expect("there is room");
    let out = scratch.path().join("module.bc");
    let mut command = Command::new(program);
    command.args(words).arg(folder(source)).arg("-o").arg(&out);
    let output = command.output().expect("scripts/setup.sh installs it");
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    fs::read(out).expect("it was written")
}

#[test]
fn all_constants_and_instructions_are_read_alike() {
    for text in texts("read") {
        agree(&text.display().to_string(), &bitcode_of(&text));
    }
}

#[test]
fn what_is_not_known_is_left_to_llvm() {
    for text in texts("left") {
        let found = structure_of(library(), &bitcode_of(&text));
        assert!(found.is_err(), "{}", text.display());
    }
}

#[test]
fn modules_of_an_earlier_clang_are_read_alike() {
    for source in ["sample.c", "sample.cpp"] {
        for words in [
            ["-O0", "-g"],
            ["-O1", "-fno-exceptions"],
            ["-O2", "-g"],
            ["-O3", "-march=x86-64-v4"],
            ["-Os", "-ffast-math"],
            ["-O2", "-Xclang=-disable-llvm-passes"],
            ["-O1", "-fsanitize=address,undefined"],
        ] {
            if source == "sample.cpp" && words[1] == "-fno-exceptions" {
                continue;
            }
            let all = [&words[..], &["-w", "-c", "-emit-llvm"]].concat();
            agree(&format!("{source} {words:?}"), &made("clang-19", &all, source));
        }
    }
}

#[test]
fn modules_of_rustc_are_read_alike() {
    for level in ["0", "1", "3", "s"] {
        let level = format!("-Copt-level={level}");
        let words = ["--emit=llvm-bc", "--edition=2024", "-g", &level];
        agree(&format!("sample.rs {level}"), &made("rustc", &words, "sample.rs"));
    }
}

#[test]
fn modules_of_another_llvm_are_left_to_it() {
    let content = bitcode_of(&folder("read/instructions.ll"));
    for path in llvm::candidates().iter().map(|found| &found.path) {
        let Ok(library) = Library::load(path) else { continue };
        let is_ours = library.version().major == bitcode::LLVM;
        assert_eq!(structure_of(library, &content).is_ok(), is_ours, "{}", path.display());
    }
}

/// LLVM is not asked about these: it dies of some.
#[test]
fn broken_modules_are_survived() {
    for text in texts("read") {
        let content = bitcode_of(&text);
        let mut state = 1_u64;
        for _ in 0..3000 {
            let mut broken = content.clone();
            for _ in 0..2 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let at = (state >> 33) as usize % (broken.len() * 8);
                broken[at / 8] ^= 1 << (at % 8);
            }
            let _ = structure_of(library(), &broken);
        }
        for length in (0..content.len() / 2).step_by(4) {
            assert!(structure_of(library(), &content[..length]).is_err(), "{length} bytes");
        }
    }
}
