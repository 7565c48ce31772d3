//! Samples of inputs, one behind each NUL: what is drawn from their grammar is read by it, and limits that the first states as a
//! description are of tokens that the second has.

pub fn run(data: &[u8]) {
    let Some(text) = crate::input::text(data) else { return };
    let samples: Vec<&str> = text.split('\0').collect();
    for (drawn, read) in edits::fuzz::drawn(&samples).unwrap_or_default() {
        assert!(read, "{samples:?} gave {drawn:?}");
    }
    if let [description, sample, ..] = samples[..] {
        let lines: Vec<usize> =
            sample.lines().map(|line| line.split_whitespace().count()).collect();
        for (line, token) in edits::fuzz::limits(description, sample) {
            assert!(token <= lines[line - 1], "line {line}, token {token}: {samples:?}");
        }
    }
}
