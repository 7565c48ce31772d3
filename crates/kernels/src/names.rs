//! The names that a rewriter gives: short, in order, and never a word that means something.

/// Whether a lower-case word is taken: a keyword, a type or a builtin function of OpenCL C that is
/// spelled with lower-case letters alone and short enough to be reached by counting.
fn is_taken(word: &str) -> bool {
    const WORDS: [&str; 72] = [
        // Keywords and types.
        "as", "asm", "auto", "bool", "case", "char", "do", "else", "enum", "for", "goto", "half",
        "if", "int", "long", "main", "pipe", "quad", "uint", "void", "xor", "or", "and", "not",
        "true", "this", "new", "try", "bit", "near", "far", // Functions.
        "abs", "acos", "all", "any", "asin", "atan", "cbrt", "ceil", "clz", "cos", "cosh", "ctz",
        "dot", "erf", "erfc", "exp", "fabs", "fdim", "fma", "fmax", "fmin", "fmod", "log", "logb",
        "mad", "max", "min", "mix", "modf", "nan", "pow", "pown", "powr", "rint", "sign", "sin",
        "sinh", "sqrt", "step", "tan", "tanh",
    ];
    WORDS.contains(&word)
}

/// Whether an upper-case word is a macro of clang's OpenCL header.
fn is_macro(word: &str) -> bool {
    matches!(word, "NAN" | "NULL" | "EOF" | "INFINITY" | "MAXFLOAT")
}

/// The `at`th of `a, b, …, z, aa, ab, …`, without regard to words that are taken.
fn count(mut at: usize) -> String {
    let mut letters = Vec::new();
    loop {
        letters.push(b'a' + (at % 26) as u8);
        match (at / 26).checked_sub(1) {
            Some(next) => at = next,
            None => break,
        }
    }
    letters.reverse();
    String::from_utf8(letters).expect("letters of ASCII are UTF-8")
}

/// A series of names, one after the other.
#[derive(Clone, Debug)]
pub struct Series {
    at: usize,
    prefix: &'static str,
    upper: bool,
}

impl Series {
    /// `a, b, …, z, aa, …`: variables, parameters, fields.
    pub fn variables() -> Series {
        Series { at: 0, prefix: "", upper: false }
    }

    /// `A, B, …, Z, AA, …`: functions.
    pub fn functions() -> Series {
        Series { at: 0, prefix: "", upper: true }
    }

    /// `Ta, Tb, …`: structs, unions, enumerations and typedefs.
    pub fn types() -> Series {
        Series { at: 0, prefix: "T", upper: false }
    }

    /// `Ea, Eb, …`: enumerators.
    pub fn enumerators() -> Series {
        Series { at: 0, prefix: "E", upper: false }
    }

    /// `La, Lb, …`: labels.
    pub fn labels() -> Series {
        Series { at: 0, prefix: "L", upper: false }
    }

    /// The next name.
    pub fn draw(&mut self) -> String {
        loop {
            let word = count(self.at);
            self.at += 1;
            if self.upper {
                let word = word.to_ascii_uppercase();
                if !is_macro(&word) {
                    return word;
                }
            } else if !self.prefix.is_empty() || !is_taken(&word) {
                return format!("{}{word}", self.prefix);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counting_goes_on_after_z_and_passes_over_words() {
        let mut series = Series::variables();
        let names: Vec<String> = (0..30 + 26 * 26).map(|_| series.draw()).collect();
        assert_eq!(names[..3], ["a", "b", "c"]);
        assert_eq!(names[25..28], ["z", "aa", "ab"]);
        assert!(!names.contains(&"do".to_owned()) && !names.contains(&"if".to_owned()));
        assert_eq!(Series::types().draw(), "Ta");
    }

    #[test]
    fn functions_are_no_macros_and_prefixes_make_any_word_a_name() {
        let mut functions = Series::functions();
        let names: Vec<String> = (0..10_000).map(|_| functions.draw()).collect();
        assert_eq!((names[0].as_str(), names[26].as_str()), ("A", "AA"));
        assert!(names.contains(&"NAM".to_owned()));
        assert!(!names.contains(&"NAN".to_owned()) && !names.contains(&"EOF".to_owned()));
        for (mut series, first, later) in [
            (Series::types(), "Ta", "Tdo"),
            (Series::enumerators(), "Ea", "Edo"),
            (Series::labels(), "La", "Ldo"),
        ] {
            let names: Vec<String> = (0..200).map(|_| series.draw()).collect();
            assert_eq!(names[0], first);
            assert!(names.contains(&later.to_owned()), "{later}");
        }
    }
}
