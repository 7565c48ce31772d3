//! For `fuzz/` alone: what is read of foreign executables and of tools that ran them.

use crate::{elf::Image, source::logs};
use std::sync::LazyLock;
use timing_model::{Architecture, Cpu};

/// A processor of each instruction set.
static CPUS: LazyLock<Vec<Cpu>> = LazyLock::new(|| {
    Architecture::ALL.into_iter().filter_map(|one| Cpu::named(Cpu::of(one))).collect()
});

/// The addresses of `main` and of the end of an executable that can be timed on a built-in processor.
#[must_use]
pub fn executable(bytes: &[u8]) -> Option<(u64, u64)> {
    let image = CPUS.iter().find_map(|cpu| Image::read(bytes, cpu).ok())?;
    Some((image.main, image.end))
}

/// Whether one of the tools may have written this.
#[must_use]
pub fn tool_said(text: &str) -> bool {
    logs(text)
}
