//! Samples of inputs, one behind each NUL: what is drawn from their grammar is read by it.

pub fn run(data: &[u8]) {
    let Some(text) = crate::input::text(data) else { return };
    let samples: Vec<&str> = text.split('\0').collect();
    for (drawn, read) in edits::fuzz::drawn(&samples).unwrap_or_default() {
        assert!(read, "{samples:?} gave {drawn:?}");
    }
}
