//! Words that OpenCL C spells in several ways.

use crate::tokens;

/// The spelling that normal form has for a word that OpenCL C spells in several ways; any other word is its own.
#[must_use]
pub fn spelling(word: &str) -> &str {
    match word {
        "kernel" => "__kernel",
        "global" => "__global",
        "local" => "__local",
        "constant" => "__constant",
        "private" => "__private",
        "read_only" => "__read_only",
        "write_only" => "__write_only",
        "read_write" => "__read_write",
        "__const" => "const",
        "__inline" | "__inline__" => "inline",
        "__restrict" | "__restrict__" => "restrict",
        "__volatile__" | "__volatile" => "volatile",
        "__attribute" => "__attribute__",
        "__signed" | "__signed__" => "signed",
        word => word,
    }
}

/// A text with the words of normal form: `kernel void A(global int* a)` is `__kernel void A(__global int* a)`.
#[must_use]
pub fn respelled(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for token in tokens(text) {
        out.push_str(&text[from..token.begin]);
        out.push_str(spelling(token.text));
        from = token.end();
    }
    out + &text[from..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_one_spelling() {
        for (word, wanted) in [
            ("kernel", "__kernel"),
            ("global", "__global"),
            ("local", "__local"),
            ("constant", "__constant"),
            ("private", "__private"),
            ("read_only", "__read_only"),
            ("write_only", "__write_only"),
            ("read_write", "__read_write"),
            ("__const", "const"),
            ("__inline__", "inline"),
            ("__restrict", "restrict"),
            ("__volatile", "volatile"),
            ("__attribute", "__attribute__"),
            ("__signed__", "signed"),
            ("static", "static"),
        ] {
            assert_eq!(spelling(word), wanted, "{word}");
        }
    }

    #[test]
    fn what_is_no_word_stays() {
        let text = "kernel  void A(global /* local */ int* a) {\n  // kernel\n  a[0] = 1;";
        let wanted = "__kernel  void A(__global /* local */ int* a) {\n  // kernel\n  a[0] = 1;";
        assert_eq!(respelled(text), wanted);
        assert_eq!(respelled(" \n"), " \n");
    }
}
