//! Kernels in the strings of host programs, read as each language.

pub fn run(data: &[u8]) {
    let Some(text) = crate::input::text(data) else { return };
    let lines = text.split('\n').count();
    for found in mine::fuzz::literals(text) {
        assert!(found.line >= 1 && found.line as usize <= lines, "line {} of {lines}", found.line);
        // An escape gives less than it takes; joined macros and templates name each hole once.
        assert!(found.text.len() <= 64 * text.len() + 4096, "{} bytes", found.text.len());
    }
}
