//! For `fuzz/` alone: what is read of foreign executables and of tools that ran them.

use crate::{elf::Image, source::logs};

/// The addresses of `main` and of the end of an executable that can be timed.
#[must_use]
pub fn executable(bytes: &[u8]) -> Option<(u64, u64)> {
    Image::read(bytes).ok().map(|image| (image.main, image.end))
}

/// Whether one of the tools may have written this.
#[must_use]
pub fn tool_said(text: &str) -> bool {
    logs(text)
}
