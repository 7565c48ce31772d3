//! Kernels in texts of any kind, by their spelling.

use lexer::Finder;

/// Finds kernels by the macros of `whole`, in text that may be anything.
pub(crate) fn finder(whole: &str) -> Finder<'_> {
    Finder { amid_prose: true, in_macros: true, ..Finder::of(whole) }
}

/// Whether a string is the source of a kernel, or several.
pub(crate) fn holds_kernel(text: &str) -> bool {
    text.contains("kernel")
        && text.contains('{')
        && !is_metal(text)
        && !finder(text).signatures(text).is_empty()
}

/// Whether kernels in the text are Apple's Metal, which spells them alike.
pub(crate) fn is_metal(text: &str) -> bool {
    text.contains("metal_stdlib")
        || text.contains("[[buffer(")
        || text.contains("[[thread_position")
        || text.contains("[[ buffer(")
}
