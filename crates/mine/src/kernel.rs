//! Kernels in texts of any kind, by their spelling.

use dataset::Language;
use lexer::Finder;

/// What a kernel in CUDA or HIP begins with.
pub(crate) const GLOBAL: &str = "__global__";

/// Finds kernels in `language` by the macros of `whole`, in text that may be anything.
pub(crate) fn finder(whole: &str, language: Language) -> Finder<'_> {
    let of = match language {
        Language::Cuda => Finder { macros: [GLOBAL].into(), ..Finder::default() },
        _ => Finder::of(whole),
    };
    Finder { amid_prose: true, in_macros: true, ..of }
}

/// Whether a string is the source of a kernel, or several.
pub(crate) fn holds_kernel(text: &str, language: Language) -> bool {
    let word = if language == Language::Cuda { GLOBAL } else { "kernel" };
    text.contains(word)
        && text.contains('{')
        && !is_metal(text)
        && !finder(text, language).signatures(text).is_empty()
}

/// Whether kernels in the text are Apple's Metal, which spells them alike.
pub(crate) fn is_metal(text: &str) -> bool {
    text.contains("metal_stdlib")
        || text.contains("[[buffer(")
        || text.contains("[[thread_position")
        || text.contains("[[ buffer(")
}
