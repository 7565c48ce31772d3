//! Bytes that cross the pipe in one piece; serde takes a list of numbers one after another. What is
//! written is the same.

use serde::{
    Deserializer, Serializer,
    de::{SeqAccess, Visitor},
};
use std::fmt;

pub(crate) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_bytes(bytes)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    from.deserialize_byte_buf(Bytes)
}

struct Bytes;

impl<'de> Visitor<'de> for Bytes {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }

    /// Formats of text have lists of numbers for them.
    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Vec<u8>, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = from.next_element()? {
            bytes.push(byte);
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Code, FunctionSize};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bytes_in_one_piece_are_written_as_a_list_of_them(bitcode: Vec<u8>) {
            let size = FunctionSize { name: "A".into(), kernel: true, instructions: 3 };
            let code = Code { bitcode: bitcode.clone(), functions: vec![size] };
            let written = postcard::to_stdvec(&code).expect("plain data");
            let list = postcard::to_stdvec(&(bitcode, &code.functions)).expect("plain data");
            prop_assert_eq!(&written, &list);
            prop_assert_eq!(postcard::from_bytes::<Code>(&written), Ok(code));
        }
    }
}
