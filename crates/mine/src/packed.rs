//! Rows of a package whose texts are kept compressed: with their includes inlined they repeat each other,
//! and all of them may be larger than memory.

use crate::row::ContentFile;

/// Texts below this are kept as they are.
const SMALL: usize = 4096;
/// The level of zstd: includes that repeat shrink by it as well as by a slower one.
const LEVEL: i32 = 1;

/// A row without its text, and the text.
pub(crate) struct Packed {
    row: ContentFile,
    /// Bytes of the text.
    length: usize,
    text: Text,
}

enum Text {
    Plain(String),
    Zstd(Box<[u8]>),
}

impl Packed {
    pub(crate) fn of(mut row: ContentFile) -> Packed {
        let text = std::mem::take(&mut row.text);
        let length = text.len();
        let packed = (length >= SMALL).then(|| zstd::bulk::compress(text.as_bytes(), LEVEL).ok());
        // The buffer is as large as the text until it is boxed.
        let text = packed
            .flatten()
            .map_or_else(|| Text::Plain(text), |bytes| Text::Zstd(bytes.into_boxed_slice()));
        Packed { row, length, text }
    }

    /// All of the row but its text.
    pub(crate) fn row(&self) -> &ContentFile {
        &self.row
    }

    /// Bytes of the text, and of what it takes here.
    pub(crate) fn sizes(&self) -> (u64, u64) {
        let taken = match &self.text {
            Text::Plain(text) => text.len(),
            Text::Zstd(bytes) => bytes.len(),
        };
        (self.length as u64, taken as u64)
    }

    /// The row without a text for good.
    pub(crate) fn drop_text(self) -> ContentFile {
        self.row
    }

    pub(crate) fn unpack(self) -> ContentFile {
        let text = match self.text {
            Text::Plain(text) => text,
            Text::Zstd(bytes) => unpacked(&bytes, self.length),
        };
        ContentFile { text, ..self.row }
    }
}

/// # Panics
/// Never: it was text and was compressed here.
fn unpacked(bytes: &[u8], length: usize) -> String {
    let bytes = zstd::bulk::decompress(bytes, length).expect("compressed by Packed::of");
    String::from_utf8(bytes).expect("it was a String")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_as_they_went_in() {
        for text in [String::new(), "kernel".to_owned(), "é\n".repeat(9000)] {
            let packed = Packed::of(ContentFile { text: text.clone(), ..ContentFile::default() });
            let (length, taken) = packed.sizes();
            assert_eq!(length, text.len() as u64);
            assert!(text.len() < SMALL && taken == length || taken < length / 10, "{taken}");
            assert!(packed.row().text.is_empty());
            assert_eq!(packed.unpack().text, text);
        }
    }
}
