//! Shared by the tests of the worker: one pool of workers, and the reference kernels.

use clang::{Clang, Includes};
use std::{env, fs, path::PathBuf, process::Command, sync::LazyLock};

/// The worker built with these tests.
pub(crate) const WORKER: &str = env!("CARGO_BIN_EXE_stampmill-clang");

/// One worker for all tests of a process.
pub(crate) fn clang() -> &'static Clang {
    static CLANG: LazyLock<Clang> = LazyLock::new(start);
    &CLANG
}

/// One worker of its own for a test.
pub(crate) fn start() -> Clang {
    Clang::start_at(WORKER.as_ref(), 1, Includes::Own).expect("the worker was just built")
}

/// Sources of the reference kernels in `file`; says so where they are absent.
pub(crate) fn kernels(file: &str) -> Option<Vec<String>> {
    let root = env::var_os("STAMPMILL_REFERENCE")
        .map_or_else(|| PathBuf::from("../../../shared/data"), PathBuf::from);
    let path = root.join("kernels").join(file);
    let Ok(text) = fs::read_to_string(&path) else {
        eprintln!("skipped: no reference data at {}", path.display());
        return None;
    };
    let sources = text.lines().map(|line| {
        let row: serde_json::Value = serde_json::from_str(line).expect("one JSON object per line");
        row["src"].as_str().expect("every row has a source").to_owned()
    });
    Some(sources.collect())
}

/// Whether there is no `clang-19` driver to compare with; says so.
pub(crate) fn worker_missing_driver() -> bool {
    let missing = Command::new("clang-19").arg("--version").output().is_err();
    if missing {
        eprintln!("skipped: no clang-19 driver to compare with");
    }
    missing
}
