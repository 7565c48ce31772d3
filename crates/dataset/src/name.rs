use std::{fmt::Write, os::unix::ffi::OsStrExt, path::Path};

/// A path as text, in which no two paths are equal: bytes that are no UTF-8 are written `\xNN`, and
/// so is a backslash that would read like one of these.
#[must_use]
pub fn path_text(path: &Path) -> String {
    bytes_text(path.as_os_str().as_bytes())
}

/// As [`path_text`], of a path as an archive holds it.
#[must_use]
pub fn bytes_text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        let valid = chunk.valid();
        for (at, c) in valid.char_indices() {
            let rest = &valid.as_bytes()[at..];
            let looks_escaped = matches!(rest, [b'\\', b'x', a, b, ..]
                if a.is_ascii_hexdigit() && b.is_ascii_hexdigit());
            match looks_escaped {
                true => text.push_str("\\x5c"),
                false => text.push(c),
            }
        }
        for byte in chunk.invalid() {
            write!(text, "\\x{byte:02x}").expect("text grows");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn back(text: &str) -> Vec<u8> {
        let bytes = text.as_bytes();
        let (mut out, mut at) = (Vec::new(), 0);
        while at < bytes.len() {
            let hex = text.get(at + 2..at + 4).filter(|_| bytes[at..].starts_with(b"\\x"));
            let hex = hex.filter(|hex| hex.bytes().all(|digit| digit.is_ascii_hexdigit()));
            match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
                Some(byte) => (out.push(byte), at += 4).0,
                None => (out.push(bytes[at]), at += 1).0,
            }
        }
        out
    }

    #[test]
    fn names_that_are_text_stay_as_they_are() {
        assert_eq!(bytes_text("k\u{e9} \\ \\xz.cl".as_bytes()), "k\u{e9} \\ \\xz.cl");
        assert_eq!(bytes_text(b"k\xe9.cl"), "k\\xe9.cl");
        assert_eq!(bytes_text(b"k\\xe9.cl"), "k\\x5cxe9.cl");
    }

    proptest! {
        #[test]
        fn every_name_can_be_had_back(
            name in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'\\'), Just(b'x'), Just(b'5')], 0..24)
        ) {
            prop_assert_eq!(back(&bytes_text(&name)), name);
        }
    }
}
