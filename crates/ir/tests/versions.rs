//! Bitcode of many versions of LLVM is read, and what is of a later one is a verdict.
//!
//! In `versions` is one program as these versions wrote it (`llvm-3.bc` holds another, in the form of LLVM 3.3: without an
//! identification, with pointers that say where they point). No LLVM 23 was there: `llvm-23.bc` is 22's under its name, and
//! `llvm-23-epoch.bc` asks for a reader of another epoch besides, as a version does whose bitcode earlier ones cannot read.

#![expect(clippy::unwrap_used, reason = "what fails in set-up fails the test")]

use dataset::{
    Dataset,
    stage::{self, Context},
};
use stampmill_ir::{Extract, Module, Reader};
use std::{collections::BTreeMap, ffi::OsString, path::Path};

const VERSIONS: [u32; 13] = [4, 5, 6, 7, 8, 9, 10, 11, 14, 15, 20, 22, 23];

/// The rows of the modules in `versions`, by the names of their files.
fn rows() -> BTreeMap<String, Module> {
    let program = host::installed("stampmill").expect("run `cargo build --release --workspace`");
    let command: [OsString; 3] = [program.into(), "worker".into(), "ir".into()];
    let reader = Reader::new(&command, 2);
    let folder = tempfile::tempdir().unwrap();
    let inputs = [Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/versions")];
    let context = Context::new(folder.path().join("out"));
    stage::run(&Extract::new(&inputs, &reader, Vec::new()).unwrap(), &context).unwrap();
    let rows = Dataset::open(&context.out).unwrap().rows::<Module>().unwrap();
    rows.map(|row| row.map(|row| (row.path.clone(), row)).unwrap()).collect()
}

#[test]
fn bitcode_of_llvm_3_to_23_is_read_or_has_a_verdict() {
    let rows = rows();
    assert_eq!(rows.len(), VERSIONS.len() + 2);
    for version in VERSIONS {
        let row = &rows[&format!("llvm-{version}.bc")];
        let found = (row.verdict.as_str(), row.llvm, row.functions, row.instructions);
        assert_eq!(found, ("accepted", version, 2, 16), "{}", row.detail);
    }
    // It does not say who wrote it: none did before LLVM 3.8.
    let old = &rows["llvm-3.bc"];
    let found = (old.verdict.as_str(), old.llvm, old.functions, old.instructions);
    assert_eq!(found, ("accepted", 0, 1, 2), "{}", old.detail);
    let new = &rows["llvm-23-epoch.bc"];
    assert_eq!((new.verdict.as_str(), new.content.len()), ("llvm-too-new", 0), "{}", new.detail);
    assert!(new.detail.contains("LLVM23.1.0"), "{}", new.detail);
}

#[test]
fn a_program_is_one_structure_whatever_version_wrote_it() {
    let rows = rows();
    let of = |version: u32| &rows[&format!("llvm-{version}.bc")].structure;
    for version in VERSIONS {
        assert_eq!(of(version), of(22), "LLVM {version}");
    }
}
