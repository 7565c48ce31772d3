//! Compilation databases and recorded command lines.

pub fn run(data: &[u8]) {
    let _ = ir::fuzz::commands(data);
    let Some(text) = crate::input::text(data) else { return };
    let letters: usize = ir::fuzz::words(text).iter().map(String::len).sum();
    assert!(letters <= text.len());
}
