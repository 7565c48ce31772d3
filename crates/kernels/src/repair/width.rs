//! Names of integer types that say how many bits they have.

/// The type that a name says: `uint64_t`, `u32`, `S16`, `i8_t`, `word64`. A word is unsigned.
pub(super) fn integer(name: &str) -> Option<&'static str> {
    let lower = name.to_ascii_lowercase();
    let stem = lower.trim_start_matches('_');
    let stem = stem.strip_suffix("_t").or_else(|| stem.strip_suffix("_type")).unwrap_or(stem);
    let word = stem.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_unsigned = match word.trim_end_matches('_') {
        "i" | "int" | "s" | "si" | "sint" => false,
        "u" | "ui" | "uint" | "u_int" | "unsigned" | "word" | "uword" => true,
        _ => return None,
    };
    Some(match (&stem[word.len()..], is_unsigned) {
        ("8", false) => "char",
        ("8", true) => "uchar",
        ("16", false) => "short",
        ("16", true) => "ushort",
        ("32", false) => "int",
        ("32", true) => "uint",
        ("64", false) => "long",
        ("64", true) => "ulong",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_width_and_sign() {
        for (name, wanted) in [
            ("u64_t", Some("ulong")),
            ("u64", Some("ulong")),
            ("uint64", Some("ulong")),
            ("UInt64_t", Some("ulong")),
            ("i64", Some("long")),
            ("i32_t", Some("int")),
            ("int32_type", Some("int")),
            ("U32", Some("uint")),
            ("__u32", Some("uint")),
            ("uint_32", Some("uint")),
            ("s16", Some("short")),
            ("u16_t", Some("ushort")),
            ("int8_t", Some("char")),
            ("u_int8_t", Some("uchar")),
            ("word64", Some("ulong")),
            ("WORD8", Some("uchar")),
            ("int4", None),
            ("u128", None),
            ("f32", None),
            ("hash16", None),
            ("x64", None),
            ("u", None),
            ("64", None),
            ("_t", None),
            ("", None),
        ] {
            assert_eq!(integer(name), wanted, "{name}");
        }
    }
}
