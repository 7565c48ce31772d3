//! Shared by the tests of the worker: one pool of workers.

use clang::{Clang, Includes};
use std::sync::LazyLock;

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
