//! Debian's indices: `.dsc`, apt's answers, lists of sources. What is read cannot lead out of its folder or line.

pub fn run(data: &[u8]) {
    let Some(text) = crate::input::text(data) else { return };
    let (_, lists) = mine::fuzz::debian(text);
    for line in lists.lines() {
        assert!(line.starts_with("deb-src "), "{line:?}");
    }
}
