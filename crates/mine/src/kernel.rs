//! Tokens of OpenCL text, and the heads of kernels in it: a count by the eye, not by a compiler.

use std::collections::HashSet;

/// The tokens of a text, comments left out: words, literals, and single bytes of punctuation.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let byte = *bytes.get(at)?;
            let from = at;
            match byte {
                b'/' if bytes.get(at + 1) == Some(&b'/') => {
                    at = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |n| at + n);
                }
                b'/' if bytes.get(at + 1) == Some(&b'*') => {
                    let found = memchr::memmem::find(&bytes[at + 2..], b"*/");
                    at = found.map_or(bytes.len(), |n| at + n + 4);
                }
                b'"' => {
                    at += 1;
                    while let Some(byte) = bytes.get(at).filter(|byte| **byte != b'\n') {
                        at += if *byte == b'\\' { 2 } else { 1 };
                        if *byte == b'"' {
                            break;
                        }
                    }
                    at = at.min(bytes.len());
                    while !text.is_char_boundary(at) {
                        at += 1;
                    }
                    return Some(&text[from..at]);
                }
                _ if is_word(byte) => {
                    while bytes.get(at).is_some_and(|byte| is_word(*byte)) {
                        at += 1;
                    }
                    return Some(&text[from..at]);
                }
                _ => {
                    at += 1;
                    while !text.is_char_boundary(at) {
                        at += 1;
                    }
                    if !byte.is_ascii_whitespace() {
                        return Some(&text[from..at]);
                    }
                }
            }
        }
    })
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Tokens between `__kernel` and the kernel's name at most: attributes and macros.
const HEAD: usize = 48;

/// Names of macros that stand for `__kernel`: hashcat's kernels begin with `KERNEL_FQ`.
pub(crate) fn kernel_macros(text: &str) -> HashSet<&str> {
    let defines = text.lines().filter_map(|line| {
        let line = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("define")?;
        let (name, body) = line.trim_start().split_once(char::is_whitespace)?;
        let mut words = tokens(body).take(HEAD);
        let kernel =
            words.any(|word| word == "__kernel" || word == "kernel") && !body.contains("void");
        (kernel && name.bytes().all(is_word)).then_some(name)
    });
    defines.filter(|name| *name != "__kernel" && *name != "kernel").collect()
}

/// Names of the kernels whose heads stand in `text`, where `macros` stand for `__kernel`.
pub(crate) fn kernel_heads<'a>(text: &'a str, macros: &HashSet<&str>) -> Vec<&'a str> {
    let tokens: Vec<&str> = tokens(text).collect();
    let mut heads = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let word = tokens[at];
        at += 1;
        let next = tokens.get(at).copied().unwrap_or_default();
        let begins = match word {
            "__kernel" => true,
            "kernel" => matches!(next, "void" | "__attribute__"),
            _ => macros.contains(word),
        };
        if begins && let Some((name, behind)) = head(&tokens, at) {
            heads.push(name);
            at = behind;
        }
    }
    heads
}

/// The kernel's name behind `__kernel`: the word before the first bracket that is none of an
/// attribute's, once `void` has come.
fn head<'a>(tokens: &[&'a str], from: usize) -> Option<(&'a str, usize)> {
    let mut at = from;
    let mut void = false;
    let mut name = None;
    while at < tokens.len().min(from + HEAD) {
        match tokens[at] {
            "void" => void = true,
            "(" if void && name.is_some_and(|name| !is_attribute(name)) => {
                return name.map(|name| (name, at));
            }
            "(" => {
                at = closing(tokens, at)?;
                name = None;
            }
            // A conditional between `__kernel` and the name.
            "#" | "\\" => {}
            word if word.starts_with(|c: char| c.is_ascii_digit()) => {}
            word if word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') => {
                name = Some(word)
            }
            _ => return None,
        }
        at += 1;
    }
    None
}

fn is_attribute(name: &str) -> bool {
    matches!(
        name,
        "__attribute__" | "reqd_work_group_size" | "work_group_size_hint" | "vec_type_hint"
    )
}

fn closing(tokens: &[&str], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open).take(HEAD) {
        match *token {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Whether a string is the source of a kernel, or several.
pub(crate) fn holds_kernel(text: &str) -> bool {
    text.contains("kernel")
        && text.contains('{')
        && !is_metal(text)
        && !kernel_heads(text, &kernel_macros(text)).is_empty()
}

/// Whether kernels in the text are Apple's Metal, which spells them alike.
pub(crate) fn is_metal(text: &str) -> bool {
    text.contains("metal_stdlib")
        || text.contains("[[buffer(")
        || text.contains("[[thread_position")
        || text.contains("[[ buffer(")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heads(text: &str) -> Vec<&str> {
        kernel_heads(text, &kernel_macros(text))
    }

    #[test]
    fn heads_are_found_behind_attributes_and_macros() {
        assert_eq!(heads("__kernel void a(int x) {} kernel void b() {}"), ["a", "b"]);
        assert_eq!(
            heads("__kernel __attribute__((reqd_work_group_size(8, 8, 1))) void c(void)"),
            ["c"]
        );
        assert_eq!(heads("__kernel void __attribute__((vec_type_hint(int))) d(int y)"), ["d"]);
        assert_eq!(heads("#define KERNEL_FQ __kernel\nKERNEL_FQ KERNEL_FA void m0 (X ())"), ["m0"]);
        assert_eq!(heads("// __kernel void no()\n/* kernel void no() */ int kernel;"), [""; 0]);
    }

    #[test]
    fn tokens_of_any_text_end() {
        assert_eq!(
            tokens("a/*b*/c\"d\\\"e\"+é").collect::<Vec<_>>(),
            ["a", "c", "\"d\\\"e\"", "+", "é"]
        );
        assert_eq!(tokens("/*").count() + tokens("\"\\").count(), 1);
    }
}
