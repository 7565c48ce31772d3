//! A large content file without what none of its kernels can reach.
//!
//! Packages that inline their whole library into every file have a hundred lines of kernel behind
//! megabytes of functions; repair asks clang about a file again and again. What is left out here is
//! found by words alone, before anything is expanded.

use lexer::{Kind, Token, tokens};
use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

/// Files below this many bytes are not worth it.
const WORTH_BYTES: usize = 256 << 10;

/// A content file with line feeds in place of what no kernel reaches, so that lines keep their
/// numbers.
#[derive(Debug)]
pub(crate) struct Reduced {
    pub(crate) text: String,
    /// Names of the functions that were left out.
    pub(crate) unreached: Vec<String>,
}

/// A definition of file scope that may be left out.
struct Piece<'a> {
    name: &'a str,
    range: Range<usize>,
    tokens: Range<usize>,
    function: bool,
    /// Words before its name: one of them may mean `__kernel`.
    head: Range<usize>,
}

impl Reduced {
    /// `None` where that would not at least halve the file.
    pub(crate) fn of(text: &str) -> Option<Reduced> {
        if text.len() < WORTH_BYTES {
            return None;
        }
        let reduced = reduce(text);
        (reduced.text.len() < text.len() / 2).then_some(reduced)
    }

    /// The whole file `original` with those lines blank that were blanked in its reduced text.
    pub(crate) fn whole(&self, original: &str, repaired: &str) -> String {
        if repaired == self.text {
            return original.to_owned();
        }
        let mut whole = String::with_capacity(original.len());
        let lines = original.lines().zip(self.text.lines().zip(repaired.lines()));
        for (line, (before, after)) in lines {
            whole.push_str(if before == after { line } else { "" });
            whole.push('\n');
        }
        whole
    }
}

fn reduce(text: &str) -> Reduced {
    let all: Vec<Token<'_>> = tokens(text).collect();
    let macros = macros(&all);
    let kernel_words = kernel_words(&macros);
    let pieces: Vec<Piece<'_>> = pieces(&all)
        .into_iter()
        .filter(|piece| {
            !macros.contains_key(piece.name)
                && !all[piece.head.clone()].iter().any(|word| kernel_words.contains(word.text))
        })
        .collect();
    let reached = reach(&all, &pieces, &macros);
    let mut left = String::new();
    let mut from = 0;
    for (piece, reached) in pieces.iter().zip(&reached) {
        if !reached {
            left.push_str(&text[from..piece.range.start]);
            let lines = text[piece.range.clone()].bytes().filter(|byte| *byte == b'\n').count();
            left.extend(std::iter::repeat_n('\n', lines));
            from = piece.range.end;
        }
    }
    left.push_str(&text[from..]);
    let by_reach = |wanted: bool| {
        let found = pieces.iter().zip(&reached).filter(move |(_, reached)| **reached == wanted);
        found.filter(|(piece, _)| piece.function).map(|(piece, _)| piece.name)
    };
    let kept: HashSet<&str> = by_reach(true).collect();
    let mut unreached: Vec<String> =
        by_reach(false).filter(|name| !kept.contains(name)).map(str::to_owned).collect();
    unreached.sort();
    unreached.dedup();
    Reduced { text: left, unreached }
}

/// Every macro with the words of its definitions.
fn macros<'a>(all: &[Token<'a>]) -> HashMap<&'a str, Vec<&'a str>> {
    let mut macros: HashMap<&str, Vec<&str>> = HashMap::new();
    for token in all.iter().filter(|token| token.kind == Kind::Directive) {
        let body = token.text.trim_start_matches('#').trim_start();
        let Some(rest) = body.strip_prefix("define") else { continue };
        let mut words = tokens(rest).filter(|token| token.kind == Kind::Word);
        let Some(name) = words.next() else { continue };
        macros.entry(name.text).or_default().extend(words.map(|word| word.text));
    }
    macros
}

/// The words that may mean `__kernel`.
fn kernel_words<'a>(macros: &HashMap<&'a str, Vec<&'a str>>) -> HashSet<&'a str> {
    let mut words = HashSet::from(["kernel", "__kernel"]);
    loop {
        let more: Vec<&str> = macros
            .iter()
            .filter(|(name, body)| {
                !words.contains(*name) && body.iter().any(|word| words.contains(word))
            })
            .map(|(name, _)| *name)
            .collect();
        if more.is_empty() {
            return words;
        }
        words.extend(more);
    }
}

/// Functions, prototypes and arrays of file scope that end at one place whatever conditional
/// compilation leaves of them.
fn pieces<'a>(all: &[Token<'a>]) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    let mut begin = 0;
    let (mut depth, mut body, mut directive) = (0_usize, None, false);
    let mut open: Vec<usize> = Vec::new();
    for (at, token) in all.iter().enumerate() {
        match token.kind {
            Kind::Directive if begin == at => {
                begin = at + 1;
                continue;
            }
            // Whichever way its conditions go, a piece of which every branch closes its brackets
            // ends where it ends here.
            Kind::Directive => {
                let word = token.text.trim_start_matches('#').trim_start();
                match word.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default() {
                    "if" | "ifdef" | "ifndef" => open.push(depth),
                    "elif" | "else" => directive |= open.last() != Some(&depth),
                    "endif" => directive |= open.pop() != Some(depth),
                    _ => directive = true,
                }
            }
            Kind::Punctuation => match token.text {
                "{" | "(" | "[" => {
                    if token.text == "{" && depth == 0 && body.is_none() {
                        body = Some(at);
                    }
                    depth += 1;
                }
                "}" | ")" | "]" => depth = depth.saturating_sub(1),
                _ => {}
            },
            _ => {}
        }
        let ends = depth == 0
            && (token.is(";")
                || token.is("}") && body.is_some_and(|body| body > begin && all[body - 1].is(")")));
        if ends {
            if !directive && open.is_empty() {
                // A prototype ends where a body would begin.
                let head = body.unwrap_or(at);
                pieces.extend((head > begin).then(|| piece(all, begin..at + 1, head)).flatten());
            }
            (begin, body, directive) = (at + 1, None, false);
            open.clear();
        }
    }
    pieces
}

/// The definition in `range`, whose first brace is at `body`, if it is a function or an array; or
/// the prototype that ends at `body`.
fn piece<'a>(all: &[Token<'a>], range: Range<usize>, body: usize) -> Option<Piece<'a>> {
    let function = all[body - 1].is(")");
    let mut name = None;
    let mut depth = 0_usize;
    for at in range.start..body {
        let token = &all[at];
        match token.text {
            "(" | "[" => {
                let before = at.checked_sub(1).filter(|before| *before >= range.start)?;
                let attribute = matches!(all[before].text, "__attribute__" | "__attribute");
                if depth == 0 && !attribute {
                    let expected = if function { "(" } else { "[" };
                    let further = !function && name.is_some();
                    if token.text != expected || all[before].kind != Kind::Word && !further {
                        return None;
                    }
                    if function && name.is_some() {
                        return None;
                    }
                    name = name.or(Some(before));
                }
                depth += 1;
            }
            ")" | "]" => depth = depth.checked_sub(1)?,
            "=" if depth == 0 && !function && at + 1 == body => {}
            "*" => {}
            _ if depth > 0 || token.kind == Kind::Word => {}
            _ => return None,
        }
    }
    let name = name.filter(|name| *name > range.start)?;
    let text = all[range.start].begin..all[range.end - 1].end();
    let function = function && all[body].is("{");
    Some(Piece {
        name: all[name].text,
        range: text,
        head: range.start..name,
        tokens: range,
        function,
    })
}

/// For each piece whether what is no piece reaches it, by the words it holds.
fn reach(all: &[Token<'_>], pieces: &[Piece<'_>], macros: &HashMap<&str, Vec<&str>>) -> Vec<bool> {
    let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, piece) in pieces.iter().enumerate() {
        by_name.entry(piece.name).or_default().push(at);
    }
    let mut reached = vec![false; pieces.len()];
    let mut waiting = Vec::new();
    let mut seen: HashSet<&str> = HashSet::new();
    let mut words = Vec::new();
    let mut from = 0;
    for piece in pieces {
        words.extend(word_texts(&all[from..piece.tokens.start]));
        from = piece.tokens.end;
    }
    words.extend(word_texts(&all[from..]));
    loop {
        while let Some(word) = words.pop() {
            for &at in by_name.get(word).into_iter().flatten() {
                if !reached[at] {
                    reached[at] = true;
                    waiting.push(at);
                }
            }
            if let Some(body) = macros.get(word)
                && seen.insert(word)
            {
                words.extend(body);
            }
        }
        let Some(at) = waiting.pop() else { return reached };
        words.extend(word_texts(&all[pieces[at].tokens.clone()]));
    }
}

fn word_texts<'a>(tokens: &[Token<'a>]) -> impl Iterator<Item = &'a str> {
    tokens.iter().filter(|token| token.kind == Kind::Word).map(|token| token.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_kernel_reaches_becomes_line_feeds() {
        let text = "#define FQ __kernel\n#define CALL(x) viaMacro (x)\nvoid lost (int a);\nvoid lost (int a)\n{ used (a); }\n\
            int viaMacro (int a) { return T[a]; }\nint used(int a) {\n#if X\nif (a) { a = 2; }\n#else\na = 3;\n#endif\nreturn 1; }\n\
            __constant int T[2] = { 1, 2 };\n__constant int L[1][2] = {\n{ 1, 2 } };\n\
            #ifdef X\nint two(int a) {\n#else\nint two(long a) {\n#endif\nreturn 1; }\n\
            FQ void k(__global int* a) { *a = CALL(1); }\n";
        let reduced = reduce(text);
        assert_eq!(reduced.unreached, ["lost", "used"]);
        assert_eq!(reduced.text.lines().count(), text.lines().count());
        assert!(!reduced.text.lines().any(|line| line == ";"), "they are left out whole");
        for (word, kept) in [
            ("lost", false),
            ("L[", false),
            ("viaMacro (int", true),
            ("T[2]", true),
            ("two(int", true),
        ] {
            assert_eq!(reduced.text.contains(word), kept, "{word}");
        }
    }

    #[test]
    fn a_line_blanked_by_repair_is_blank_in_the_whole() {
        let reduced = Reduced { text: "\n#error x\na".into(), unreached: Vec::new() };
        assert_eq!(reduced.whole("int f;\n#error x\na", "\n        \na"), "int f;\n\na\n");
    }

    #[test]
    fn functions_prototypes_and_arrays_may_be_left_out() {
        for (text, wanted) in [
            ("int f(int a) { return a; }", Some(("f", true))),
            ("int* f(int a[2]) { return a; }", Some(("f", true))),
            ("int f(int a) __attribute__((pure)) { }", Some(("f", true))),
            ("__attribute__((pure)) int f(int a) { }", Some(("f", true))),
            ("int f(int a);", Some(("f", false))),
            ("__constant int T[2] = { 1, 2 };", Some(("T", false))),
            ("__constant int T[1][2] = { { 1, 2 } };", Some(("T", false))),
            ("#include <a>\nint f(int a) { }", Some(("f", true))),
            (
                "int f(int a) {\n#if X\na = 1;\n#else\na = 2;\n#endif\nreturn a; }",
                Some(("f", true)),
            ),
            ("void f(int (*g)(int)) { }", Some(("f", true))),
            ("f(int a) { }", None),
            ("{ int x; }", None),
            (";", None),
            ("int x;", None),
            ("int x = 3;", None),
            ("int x = f(3);", None),
            ("int t(3)[2] = { 1 };", None),
            ("int t[2] = x[3];", None),
            ("int t[2];", Some(("t", false))),
            ("int t[2], u[3];", None),
            ("int t[2] = f(3);", None),
            ("int f(int a), g(int b);", None),
            ("struct S { int x; };", None),
            ("typedef int (*P)(int a);", None),
            ("int f(int a)(int b) { }", None),
            ("int f(int a) {\n#pragma unroll\nreturn a; }", None),
            ("int f(int a) {\n#if X\nif (a) {\n#else\n{\n#endif\n} }", None),
            ("int f(int a) {\n#if X\n} }\n#endif\n", None),
            ("int f(int a) {\n#if X\nif (a) {\n#else\n}\n#endif\nreturn a; }", None),
            ("int f(int a) {\n#if X\nif (a) {\n#endif\n} }", None),
        ] {
            let all: Vec<Token<'_>> = tokens(text).collect();
            let found: Vec<(&str, bool)> =
                pieces(&all).iter().map(|piece| (piece.name, piece.function)).collect();
            assert_eq!(found, Vec::from_iter(wanted), "{text}");
        }
    }

    #[test]
    fn what_may_be_a_kernel_stays_and_so_does_what_a_macro_names() {
        let text = "#define K kernel\n#define K2 K\n#define named int\n\
            K2 void k(int a) { }\nnamed f(int a) { }\nint named(int a) { }\nint g(int a);\n";
        let reduced = reduce(text);
        assert_eq!(reduced.unreached, ["f"]);
        assert!(reduced.text.contains("void k") && reduced.text.contains("named(int"));
        assert!(!reduced.text.contains("int g"));
    }

    #[test]
    fn only_large_files_that_lose_half_are_reduced() {
        let function = |bytes: usize| {
            let text = "int f(int a) { }";
            text.replace(") {", &format!("){}{{", " ".repeat(bytes - text.len() + 1)))
        };
        let kernel = |bytes: usize| function(bytes).replace("int f", "kernel void k");
        let of = |lost: usize, kept: usize| {
            let kept = kept.checked_sub("kernel void k".len() - "int f".len());
            Reduced::of(&(function(lost) + &kernel(kept.expect("there is room"))))
        };
        assert!(of(WORTH_BYTES - 100, 100).is_some());
        assert!(of(WORTH_BYTES - 101, 100).is_none());
        assert!(of(WORTH_BYTES, WORTH_BYTES).is_none());
        assert!(of(WORTH_BYTES + 2, WORTH_BYTES).is_some());
        assert!(of(100, WORTH_BYTES).is_none());
        let reduced = of(WORTH_BYTES, 100).expect("it is large");
        assert_eq!(reduced.whole("original", &reduced.text), "original");
    }
}
