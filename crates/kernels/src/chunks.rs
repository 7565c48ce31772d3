//! Preprocessed text cut at file scope: one chunk per declaration or definition.

use crate::repair::is_assembly;
use lexer::{Kind, Token, is_word_byte, kernel_names, tokens};
use std::{collections::HashMap, ops::Range};

/// One piece of file scope: a function, a type, variables, or a stray directive.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    /// Where it stands in the text.
    pub(crate) range: Range<usize>,
    /// Whether it is a function with a body that carries the word `kernel`; then its name.
    pub(crate) kernel: Option<String>,
    /// Names it may declare; more than it does where only meaning could tell.
    names: Vec<String>,
    /// Whether nobody need name it: a directive (`#pragma`), or assembly.
    unnamed: bool,
    /// Whether it defines a function, and whether it declares one and nothing else.
    function: (bool, bool),
    /// Whether a bracket in it is never closed.
    pub(crate) is_open: bool,
}

impl Chunk {
    /// The function that it defines.
    pub(crate) fn function(&self) -> Option<&str> {
        self.names.first().filter(|_| self.function.0).map(String::as_str)
    }

    /// The function that it defines, or declares and nothing else.
    pub(crate) fn declared_function(&self) -> Option<&str> {
        self.names.first().filter(|_| self.declares_function()).map(String::as_str)
    }

    /// Whether it defines or declares a function and nothing else.
    pub(crate) fn declares_function(&self) -> bool {
        self.function.0 || self.function.1
    }
}

/// Cut preprocessed text. Chunks are disjoint, in order, and hold every token. A kernel never begins within another: what is
/// open where one does ends there.
pub(crate) fn cut(text: &str) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let mut cutter = Cutter::default();
    let mut all = tokens(text).peekable();
    while let Some(token) = all.next() {
        let is_head = matches!(token.text, "__kernel" | "kernel")
            && all.peek().is_some_and(|next| next.is("void"));
        if is_head && cutter.depth > 0 {
            chunks.extend(cutter.finish_open(text));
        }
        if token.kind == Kind::Directive && cutter.depth == 0 {
            if cutter.current.is_empty() {
                let range = token.begin..token.end();
                chunks.push(Chunk {
                    range,
                    kernel: None,
                    names: Vec::new(),
                    unnamed: true,
                    function: (false, false),
                    is_open: false,
                });
            }
            // One in the middle of a declaration stays with it.
            continue;
        }
        if let Some(chunk) = cutter.push(token) {
            chunks.push(chunk);
        }
    }
    chunks.extend(match cutter.depth {
        0 => cutter.finish(),
        _ => cutter.finish_open(text),
    });
    chunks
}

#[derive(Default)]
struct Cutter<'a> {
    current: Vec<Token<'a>>,
    depth: usize,
    /// Index in `current` of the `{` that opened a body, at depth 0.
    body: Option<usize>,
    /// Whether it is a function's.
    is_of_function: bool,
}

impl<'a> Cutter<'a> {
    fn push(&mut self, token: Token<'a>) -> Option<Chunk> {
        if token.is("{") && self.depth == 0 && self.body.is_none() {
            self.body = Some(self.current.len());
            self.is_of_function = self.is_function(self.current.len());
        }
        match token.text {
            "{" | "(" | "[" => self.depth += 1,
            "}" | ")" | "]" => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.current.push(token);
        let closed = self.depth == 0 && (token.is(";") || (token.is("}") && self.is_of_function));
        if closed { self.finish() } else { None }
    }

    /// Whether the tokens before a body are a function's head: a parameter list is the last thing
    /// before it but attributes, and no `=` or tag keyword says otherwise.
    fn is_function(&self, body: usize) -> bool {
        let head = &self.current[..body];
        let mut depth = 0;
        let mut has_list = false;
        for token in head {
            match token.text {
                "(" => {
                    has_list |= depth == 0;
                    depth += 1;
                }
                ")" => depth -= 1,
                "=" if depth == 0 => return false,
                _ => {}
            }
        }
        has_list && self.function_name(body).is_some()
    }

    /// The word before the parameter list: the last list of file scope that follows a word which is
    /// no attribute.
    fn function_name(&self, body: usize) -> Option<&'a str> {
        let head = &self.current[..body];
        let mut depth = 0;
        let mut name = None;
        for (at, token) in head.iter().enumerate() {
            if token.is("(") {
                if depth == 0
                    && at > 0
                    && head[at - 1].kind == Kind::Word
                    && !matches!(head[at - 1].text, "__attribute__" | "__attribute" | "__declspec")
                {
                    let tag = at > 1 && matches!(head[at - 2].text, "struct" | "union" | "enum");
                    if !tag {
                        name = Some(head[at - 1].text);
                    }
                }
                depth += 1;
            } else if token.is(")") {
                depth -= 1;
            }
        }
        name
    }

    /// What is never closed; a kernel where its head is whole or not.
    fn finish_open(&mut self, text: &str) -> Option<Chunk> {
        let chunk = self.finish()?;
        let names = kernel_names(&text[chunk.range.clone()]);
        let kernel = names.first().map(|name| (*name).to_owned());
        Some(Chunk { kernel, is_open: true, ..chunk })
    }

    fn finish(&mut self) -> Option<Chunk> {
        let (first, last) = (self.current.first()?, self.current.last()?);
        let range = first.begin..last.end();
        let function = self.body.filter(|body| self.is_function(*body));
        let prototype = if function.is_none() { self.prototype() } else { None };
        let defines = (function.is_some(), prototype.is_some());
        let mut kernel = None;
        let names = match function {
            Some(body) => {
                let name = self.function_name(body).unwrap_or_default().to_owned();
                let head = &self.current[..body];
                if head.iter().any(|token| matches!(token.text, "__kernel" | "kernel")) {
                    kernel = Some(name.clone());
                }
                vec![name]
            }
            None => prototype.map_or_else(|| self.declared(), |name| vec![name.to_owned()]),
        };
        let empty = self.current.iter().all(|token| token.is(";"));
        let unnamed = is_assembly(first.text);
        self.current.clear();
        self.depth = 0;
        self.body = None;
        self.is_of_function = false;
        let (function, is_open) = (defines, false);
        (!empty).then_some(Chunk { range, kernel, names, unnamed, function, is_open })
    }

    /// The function that a declaration without a body declares, and nothing else with it.
    fn prototype(&self) -> Option<&'a str> {
        let tokens = &self.current;
        let mut depth = 0;
        for token in tokens {
            match token.text {
                "(" | "[" => depth += 1,
                ")" | "]" => depth -= 1,
                "=" | "," | "{" if depth == 0 => return None,
                "typedef" => return None,
                _ => {}
            }
        }
        let name = self.function_name(tokens.len())?;
        let at = tokens.iter().position(|token| token.text == name)?;
        let typed = at > 0 && (tokens[at - 1].kind == Kind::Word || tokens[at - 1].is("*"));
        (typed && tokens.get(at + 1)?.is("(")).then_some(name)
    }

    /// What a declaration that is no function may declare: every word outside initialisers, so
    /// struct members too, which costs a little too much text kept and nothing else.
    fn declared(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut initialiser = false;
        let mut depth = 0;
        for token in &self.current {
            match token.text {
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth -= 1,
                "=" if depth == 0 => initialiser = true,
                "," if depth == 0 => initialiser = false,
                _ if token.kind == Kind::Word && !initialiser && !is_common(token.text) => {
                    names.push(token.text.to_owned());
                }
                _ => {}
            }
        }
        names.sort();
        names.dedup();
        names
    }
}

/// Words that declare nothing but stand in most declarations.
fn is_common(word: &str) -> bool {
    matches!(
        word,
        "typedef"
            | "struct"
            | "union"
            | "enum"
            | "const"
            | "static"
            | "inline"
            | "extern"
            | "void"
            | "__constant"
            | "constant"
            | "__global"
            | "global"
            | "__local"
            | "local"
            | "__private"
            | "private"
            | "volatile"
            | "restrict"
            | "__attribute__"
            | "packed"
            | "aligned"
            | "int"
            | "uint"
            | "unsigned"
            | "signed"
            | "char"
            | "uchar"
            | "short"
            | "ushort"
            | "long"
            | "ulong"
            | "float"
            | "double"
            | "half"
            | "bool"
            | "size_t"
    )
}

/// Which chunks a set of them may need, by the words they hold: a superset of what they do need.
/// Directives are always in, and so is assembly.
pub(crate) struct Uses {
    by_name: HashMap<String, Vec<usize>>,
}

impl Uses {
    pub(crate) fn of(chunks: &[Chunk]) -> Uses {
        let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, chunk) in chunks.iter().enumerate() {
            for name in &chunk.names {
                by_name.entry(name.clone()).or_default().push(at);
            }
        }
        Uses { by_name }
    }

    /// The chunks among `allowed` that `roots` may need, `roots` included, in order.
    pub(crate) fn closure(
        &self,
        text: &str,
        chunks: &[Chunk],
        roots: impl IntoIterator<Item = usize>,
        allowed: impl Fn(usize) -> bool,
    ) -> Vec<usize> {
        let mut taken = vec![false; chunks.len()];
        let mut waiting: Vec<usize> = roots.into_iter().filter(|at| allowed(*at)).collect();
        waiting.iter().for_each(|at| taken[*at] = true);
        while let Some(at) = waiting.pop() {
            for token in tokens(&text[chunks[at].range.clone()]) {
                if token.kind != Kind::Word {
                    continue;
                }
                for &other in self.by_name.get(token.text).into_iter().flatten() {
                    if !taken[other] && allowed(other) {
                        taken[other] = true;
                        waiting.push(other);
                    }
                }
            }
        }
        (0..chunks.len()).filter(|at| taken[*at] || chunks[*at].unnamed && allowed(*at)).collect()
    }
}

/// The text of some chunks, in order, each on lines of its own.
pub(crate) fn join(text: &str, chunks: &[Chunk], which: &[usize]) -> String {
    let mut joined = String::new();
    for &at in which {
        joined.push_str(&text[chunks[at].range.clone()]);
        joined.push('\n');
    }
    joined
}

/// The number of kernel signatures in a text as found.
pub(crate) fn count_heads(text: &str) -> u64 {
    kernel_names(text).len() as u64
}

/// Whether `word` stands in `text` as a whole word.
pub(crate) fn has_word(text: &str, word: &str) -> bool {
    let bytes = text.as_bytes();
    text.match_indices(word).any(|(at, _)| {
        let before = at.checked_sub(1).is_none_or(|at| !is_word_byte(bytes[at]));
        let after = bytes.get(at + word.len()).is_none_or(|byte| !is_word_byte(*byte));
        before && after
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "typedef struct { int x; } P; __constant float T[2] = { Q(1), 2 };
        float f(float a) { return a * T[0]; } int g(void); struct S { int y; } s;
        __attribute__((always_inline)) void h(P p) { } ;
        __kernel __attribute__((reqd_work_group_size(8, 1, 1))) void k(__global P* p) { f(1); }";

    #[test]
    fn every_declaration_is_a_chunk() {
        let chunks = cut(TEXT);
        let names: Vec<String> = chunks.iter().map(|chunk| chunk.names.join(" ")).collect();
        assert_eq!(names, ["P x", "T", "f", "g", "S s y", "h", "k"]);
        assert_eq!(chunks[6].kernel.as_deref(), Some("k"));
    }

    #[test]
    fn a_prototype_declares_its_function_alone() {
        let chunks = cut(
            "static int f(int a, T b) __attribute__((pure)); int g(int), h; typedef int (*P)(int a);",
        );
        assert_eq!(chunks[0].names, ["f"]);
        assert!(chunks[1].names.contains(&"h".to_owned()));
        assert!(chunks[2].names.contains(&"P".to_owned()));
    }

    #[test]
    fn a_kernel_takes_what_it_names() {
        let chunks = cut(TEXT);
        let taken = Uses::of(&chunks).closure(TEXT, &chunks, [6], |_| true);
        assert_eq!(taken, [0, 1, 2, 6]);
    }

    #[test]
    fn functions_are_told_from_what_looks_like_them() {
        for (text, function, declares) in [
            ("int f(int a) { return a; }", Some("f"), true),
            ("f(int a) { }", Some("f"), true),
            ("int f() { return 1; }", Some("f"), true),
            ("__attribute__((availability(x, introduced=1))) int f(int a) { }", Some("f"), true),
            ("struct S f(int a) { }", Some("f"), true),
            ("__attribute__((pure)) int f(int a) { }", Some("f"), true),
            ("int f(int a) __attribute__((pure)) { }", Some("f"), true),
            ("void f(int (*g)(int), int a[2]) { }", Some("f"), true),
            ("int f(int a);", None, true),
            ("int* f(int a[2], int b);", None, true),
            ("inline float f(void) __attribute__((pure));", None, true),
            ("f(3);", None, false),
            ("- f(3);", None, false),
            ("(f)(3);", None, false),
            ("struct f f(int a);", None, false),
            ("struct S { int x; };", None, false),
            ("struct T(x) { int y; };", None, false),
            ("enum E { X = 1 };", None, false),
            ("int t[2] = { f(1), 2 };", None, false),
            ("int x = f(3);", None, false),
            ("int (^b)(int) = ^(int x) { return x; };", None, false),
            ("typedef int (*P)(int a);", None, false),
            ("int g(int), h;", None, false),
            ("int x;", None, false),
        ] {
            let chunks = cut(text);
            assert_eq!(chunks.len(), 1, "{text}");
            assert_eq!(chunks[0].range, 0..text.len(), "{text}");
            assert_eq!(chunks[0].function(), function, "{text}");
            assert_eq!(chunks[0].declares_function(), declares, "{text}");
        }
    }

    #[test]
    fn a_declaration_may_declare_every_word_outside_of_its_values() {
        let names = |text: &str| cut(text)[0].names.clone();
        let text = "const struct S { int x, y; } s = { Q }, *t = T(1, v), u[N];";
        assert_eq!(names(text), ["N", "S", "s", "t", "u", "x", "y"]);
        assert_eq!(names("int a = f(1, b), c;"), ["a", "c"]);
        assert_eq!(names("enum { A = 1, B };"), ["A", "B"]);
        assert_eq!(names("int f(int a, T b);"), ["f"]);
    }

    #[test]
    fn directives_of_file_scope_stand_alone_and_others_stay_where_they_are() {
        let text =
            "#pragma A\nint f(int a) {\n#pragma B\nreturn a; }\n#pragma C\nint\n#pragma D\nx;";
        let chunks = cut(text);
        let texts: Vec<&str> = chunks.iter().map(|chunk| &text[chunk.range.clone()]).collect();
        assert_eq!(
            texts,
            [
                "#pragma A",
                "int f(int a) {\n#pragma B\nreturn a; }",
                "#pragma C",
                "int\n#pragma D\nx;"
            ]
        );
        assert_eq!(join(text, &chunks, &[2, 0]), "#pragma C\n#pragma A\n");
    }

    #[test]
    fn needs_are_followed_among_what_is_allowed() {
        let text = "#pragma A\nint f(int a) { }\nint g(int a) { f(a); }\nint h(int a) { }\nkernel void k(int f) { g(1); }";
        let chunks = cut(text);
        let uses = Uses::of(&chunks);
        let needs = |roots: &[usize], without: usize| {
            uses.closure(text, &chunks, roots.iter().copied(), |at| at != without)
        };
        assert_eq!(needs(&[4], 9), [0, 1, 2, 4]);
        assert_eq!(needs(&[2], 9), [0, 1, 2]);
        assert_eq!(needs(&[4], 0), [1, 2, 4]);
        assert_eq!(needs(&[2, 3], 1), [0, 2, 3]);
        assert_eq!(needs(&[4], 4), [0]);
    }

    #[test]
    fn words_are_whole_and_heads_are_counted() {
        for (text, found) in [
            ("a foo b", true),
            ("foo", true),
            ("xfoo foo", true),
            ("foo2", false),
            ("_foo", false),
            ("fo", false),
        ] {
            assert_eq!(has_word(text, "foo"), found, "{text}");
        }
        assert_eq!(count_heads("kernel void a() { } __kernel void b() { } void c() { }"), 2);
    }
}
