/// The text of a file, however it was encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The text, without a byte order mark.
    pub text: String,
    /// Whether its bytes were taken for Latin-1.
    pub latin1: bool,
}

/// Read bytes as text; `None` for binary ones.
///
/// Bytes that are no UTF-8 are nearly always comments with an author's name in Latin-1, in code
/// that is fine: they are read as that. A file with control characters is no text at all.
#[must_use]
pub fn decode(bytes: &[u8]) -> Option<Decoded> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.iter().any(|byte| *byte < b' ' && !b"\t\n\r\x0b\x0c\x1b".contains(byte)) {
        return None;
    }
    Some(match std::str::from_utf8(bytes) {
        Ok(text) => Decoded { text: text.to_owned(), latin1: false },
        Err(_) => {
            Decoded { text: bytes.iter().map(|byte| char::from(*byte)).collect(), latin1: true }
        }
    })
}
