//! Preprocessed C++ cut at the scopes of namespaces: one piece per declaration or definition.

use lexer::{Dialect, Kind as Token_, Token};
use std::{collections::HashMap, ops::Range, rc::Rc};

/// Scopes within scopes that are looked into: clang reads no more.
const DEEPEST: usize = 256;
/// Tokens of a head that are read for what it declares.
const LONGEST_HEAD: usize = 512;

/// What a piece is good for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Defines a kernel of this name.
    Kernel(String),
    /// Defines or declares a function for the host alone.
    Host,
    /// Declares anything else.
    Device,
    /// Says something for the rest of the program.
    Always,
}

/// A declaration of namespace scope.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) range: Range<usize>,
    /// The innermost scope around it.
    scope: Option<Rc<Scope>>,
    pub(super) role: Role,
    /// Names that it declares.
    pub(super) names: Vec<String>,
    /// The parameters of its template, between the brackets.
    pub(super) template: Option<Range<usize>>,
    /// Whether it is `template void f<int>();`.
    pub(super) instantiates: bool,
}

/// A scope of a file.
#[derive(Debug)]
struct Scope {
    /// What opens it: `namespace a`, `extern "C"`.
    opens: String,
    outer: Option<Rc<Scope>>,
    /// How many there are with those around it.
    depth: usize,
}

impl Piece {
    /// What opens the scopes around it, outermost first.
    pub(super) fn scopes(&self) -> Vec<&str> {
        let innermost = std::iter::successors(self.scope.as_deref(), |one| one.outer.as_deref());
        let mut scopes: Vec<&str> = innermost.map(|one| one.opens.as_str()).collect();
        scopes.reverse();
        scopes
    }
}

/// Cut preprocessed text into the tokens that it has in C++. Pieces are disjoint and in order.
pub(super) fn cut(text: &str, tokens: &[Token<'_>]) -> Vec<Piece> {
    let mut cutter = Cutter { text, tokens, at: 0, scope: None, pieces: Vec::new() };
    while cutter.at < tokens.len() {
        cutter.step();
    }
    cutter.pieces
}

struct Cutter<'a> {
    text: &'a str,
    tokens: &'a [Token<'a>],
    at: usize,
    scope: Option<Rc<Scope>>,
    pieces: Vec<Piece>,
}

impl<'a> Cutter<'a> {
    fn is(&self, at: usize, text: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(text))
    }

    fn step(&mut self) {
        let begin = self.at;
        let token = &self.tokens[begin];
        if token.kind == Token_::Directive || token.is(";") {
            self.at += 1;
            if token.kind == Token_::Directive {
                let range = token.begin..token.end();
                self.push(range, Role::Always, Vec::new(), None, false);
            }
        } else if token.is("}") {
            self.scope = self.scope.take().and_then(|scope| scope.outer.clone());
            self.at += 1;
        } else if let Some(open) = self.opens_scope(begin) {
            let words = &self.text[token.begin..self.tokens[open].begin];
            let opens = words.split_whitespace().collect::<Vec<_>>().join(" ");
            let depth = self.depth() + 1;
            let outer = self.scope.take();
            self.scope = Some(Rc::new(Scope { opens, outer, depth }));
            self.at = open + 1;
        } else {
            self.declaration(begin);
        }
    }

    fn depth(&self) -> usize {
        self.scope.as_ref().map_or(0, |scope| scope.depth)
    }

    /// The brace of a scope that begins here.
    fn opens_scope(&self, begin: usize) -> Option<usize> {
        if self.depth() >= DEEPEST {
            return None;
        }
        let mut at = begin;
        if self.is(at, "extern") && self.tokens.get(at + 1)?.kind == Token_::Literal {
            return self.is(at + 2, "{").then_some(at + 2);
        }
        if self.is(at, "inline") {
            at += 1;
        }
        if !self.is(at, "namespace") {
            return None;
        }
        at += 1;
        // An alias has no brace before its end.
        while !self.is(at, "{") {
            let ends = [";", "=", "}"].iter().any(|end| self.is(at, end));
            if at >= self.tokens.len() || ends {
                return None;
            }
            at += 1;
        }
        Some(at)
    }

    /// Past the bracket that closes the one of a template at `open`.
    fn behind_angles(&self, open: usize) -> usize {
        let (mut depth, mut round, mut at) = (0_usize, 0_usize, open);
        while at < self.tokens.len() {
            match self.tokens[at].text {
                "(" | "[" | "{" => round += 1,
                ")" | "]" | "}" => round = round.saturating_sub(1),
                "<" if round == 0 => depth += 1,
                ">" if round == 0 => depth = depth.saturating_sub(1),
                ">>" if round == 0 => depth = depth.saturating_sub(2),
                ";" if round == 0 => return at,
                _ => {}
            }
            at += 1;
            if depth == 0 {
                break;
            }
        }
        at
    }

    fn declaration(&mut self, begin: usize) {
        let (mut at, mut template, mut instantiates) = (begin, None, false);
        while self.is(at, "template") {
            if !self.is(at + 1, "<") {
                instantiates = true;
                at += 1;
                break;
            }
            let behind = self.behind_angles(at + 1);
            let first = self.tokens[at + 1].end();
            let last = self.tokens.get(behind.saturating_sub(1)).map_or(first, |token| token.begin);
            template.get_or_insert(first..last.max(first));
            at = behind;
        }
        let head = at;
        // The end: a semicolon, or the brace of a function's body.
        let (mut depth, mut body, mut end) = (0_usize, None, None);
        let mut is_function = false;
        while at < self.tokens.len() {
            let token = &self.tokens[at];
            if token.kind == Token_::Directive {
                at += 1;
                continue;
            }
            if token.is("{") && depth == 0 && body.is_none() {
                body = Some(at);
                is_function = self.function(head, at).is_some();
            }
            match token.text {
                "{" | "(" | "[" => depth += 1,
                "}" if depth == 0 => break,
                "}" | ")" | "]" => depth = depth.saturating_sub(1),
                _ => {}
            }
            at += 1;
            if depth == 0 && (token.is(";") || token.is("}") && is_function) {
                end = Some(at);
                break;
            }
        }
        let stop = end.unwrap_or(at).max(begin + 1);
        self.at = stop;
        let Some(last) = self.tokens.get(stop - 1) else { return };
        let range = self.tokens[begin].begin..last.end();
        let head_end = body.unwrap_or(stop);
        let words = &self.tokens[head..head_end.max(head)];
        let has = |word: &str| words.iter().any(|token| token.is(word));
        let function = self.function(head, head_end);
        if has("using") && has("namespace") {
            return self.push(range, Role::Always, Vec::new(), None, false);
        }
        let (role, names) = match function {
            Some(name) if has("__global__") && body.is_some() => {
                (Role::Kernel(name.to_owned()), vec![name.to_owned()])
            }
            Some(name) => {
                let device = has("__device__") || has("__global__") || has("constexpr");
                (if device { Role::Device } else { Role::Host }, vec![name.to_owned()])
            }
            None => (Role::Device, self.declared(head, stop)),
        };
        self.push(range, role, names, template, instantiates);
    }

    /// The function that a head declares: its list of parameters follows its name, and nothing says that it is a type
    /// or a value.
    fn function(&self, head: usize, end: usize) -> Option<&'a str> {
        let (mut depth, mut angles, mut name) = (0_usize, 0_usize, None);
        // Of each record and each specialization what stands around it is read once more.
        let end = end.min(self.tokens.len()).min(head + LONGEST_HEAD);
        for at in head..end {
            let token = &self.tokens[at];
            let before = at.checked_sub(1).filter(|at| *at >= head).map(|at| &self.tokens[at]);
            if depth == 0 && token.is("operator") {
                return Some("operator");
            }
            if depth == 0
                && angles == 0
                && (token.is("=") || token.is("typedef") || token.is("using") || token.is(":"))
            {
                return name;
            }
            if depth == 0
                && (token.is("struct")
                    || token.is("class")
                    || token.is("union")
                    || token.is("enum"))
                && name.is_none()
                && !self.returns_record(at, end)
            {
                return None;
            }
            match token.text {
                "(" => {
                    if depth == 0
                        && angles == 0
                        && name.is_none()
                        && let Some(before) = before.filter(|before| before.kind == Token_::Word)
                        && !is_attribute(before.text)
                    {
                        name = Some(before.text);
                    } else if depth == 0
                        && name.is_none()
                        && before.is_some_and(|before| before.is(">") || before.is(">>"))
                    {
                        // A specialization: `f<int>(`.
                        name = self.word_before_angles(head, at - 1);
                    }
                    depth += 1;
                }
                "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                "<" if depth == 0 => angles += 1,
                ">" if depth == 0 => angles = angles.saturating_sub(1),
                ">>" if depth == 0 => angles = angles.saturating_sub(2),
                _ => {}
            }
        }
        name
    }

    /// Whether a record is named here as the type of a function, not defined.
    fn returns_record(&self, tag: usize, end: usize) -> bool {
        let mut at = tag + 1;
        while at < end.min(self.tokens.len()) && self.tokens[at].kind == Token_::Word {
            at += 1;
        }
        at > tag + 2 || self.is(at, "*") || self.is(at, "&")
    }

    fn word_before_angles(&self, head: usize, close: usize) -> Option<&'a str> {
        let (mut depth, mut at) = (0_usize, close);
        loop {
            match self.tokens[at].text {
                ">" => depth += 1,
                ">>" => depth += 2,
                "<" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if at == head {
                return None;
            }
            at -= 1;
            if depth == 0 {
                let token = &self.tokens[at];
                return (token.kind == Token_::Word).then_some(token.text);
            }
        }
    }

    /// What a declaration that is no function declares: the words outside of bodies and values, and of an enumeration
    /// those in it.
    fn declared(&self, head: usize, end: usize) -> Vec<String> {
        let (mut depth, mut value, mut names) = (0_usize, false, Vec::new());
        let is_enum = self.is(head, "enum") || self.is(head + 1, "enum");
        for token in &self.tokens[head..end] {
            match token.text {
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth = depth.saturating_sub(1),
                "=" if depth == 0 => value = true,
                "," | ";" if depth == 0 => value = false,
                word if token.kind == Token_::Word
                    && !value
                    && (depth == 0 || is_enum)
                    && !is_common(word) =>
                {
                    names.push(word.to_owned());
                }
                _ => {}
            }
        }
        names.sort();
        names.dedup();
        names
    }

    fn push(
        &mut self,
        range: Range<usize>,
        role: Role,
        names: Vec<String>,
        template: Option<Range<usize>>,
        instantiates: bool,
    ) {
        let scope = self.scope.clone();
        self.pieces.push(Piece { range, scope, role, names, template, instantiates });
    }
}

fn is_attribute(word: &str) -> bool {
    matches!(
        word,
        "__attribute__"
            | "__launch_bounds__"
            | "__maxnreg__"
            | "__cluster_dims__"
            | "__align__"
            | "__builtin_align__"
            | "__declspec"
            | "alignas"
            | "decltype"
            | "noexcept"
            | "explicit"
    )
}

/// Words that declare nothing but stand in most declarations.
fn is_common(word: &str) -> bool {
    matches!(
        word,
        "typedef"
            | "using"
            | "struct"
            | "class"
            | "union"
            | "enum"
            | "const"
            | "constexpr"
            | "static"
            | "inline"
            | "extern"
            | "volatile"
            | "typename"
            | "__constant__"
            | "__device__"
            | "__host__"
            | "__shared__"
            | "__align__"
            | "alignas"
            | "__attribute__"
            | "void"
            | "auto"
    ) || is_scalar_word(word)
}

/// Words of which the names of C++'s arithmetic types are made, and values.
pub(super) fn is_scalar_word(word: &str) -> bool {
    matches!(
        word,
        "unsigned"
            | "signed"
            | "char"
            | "short"
            | "int"
            | "long"
            | "float"
            | "double"
            | "bool"
            | "true"
            | "false"
            | "size_t"
            | "int8_t"
            | "uint8_t"
            | "int16_t"
            | "uint16_t"
            | "int32_t"
            | "uint32_t"
            | "int64_t"
            | "uint64_t"
            | "float2"
            | "float3"
            | "float4"
            | "double2"
            | "int2"
            | "int4"
            | "uint2"
            | "uint4"
            | "uchar"
            | "uint"
            | "ulong"
            | "ushort"
    )
}

/// Pieces by the names that they declare.
pub(super) struct Names<'a> {
    by_name: HashMap<&'a str, Vec<usize>>,
}

impl<'a> Names<'a> {
    pub(super) fn of(pieces: &'a [Piece]) -> Names<'a> {
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, piece) in pieces.iter().enumerate() {
            if !piece.instantiates {
                for name in &piece.names {
                    by_name.entry(name).or_default().push(at);
                }
            }
        }
        Names { by_name }
    }

    /// Whether something for devices is called so.
    pub(super) fn has(&self, word: &str, pieces: &[Piece]) -> bool {
        let named = self.by_name.get(word).into_iter().flatten();
        named.into_iter().any(|at| pieces[*at].role == Role::Device)
    }

    /// The pieces among `allowed` that `roots` and the words of `more` may need, in order.
    pub(super) fn closure(
        &self,
        text: &str,
        pieces: &[Piece],
        roots: &[usize],
        more: &str,
        allowed: impl Fn(usize) -> bool,
    ) -> Vec<usize> {
        let mut taken = vec![false; pieces.len()];
        let mut waiting: Vec<usize> = roots.to_vec();
        waiting.iter().for_each(|at| taken[*at] = true);
        let mut words: Vec<&str> = vec![more];
        while let Some(words_of) =
            words.pop().or_else(|| Some(&text[pieces[waiting.pop()?].range.clone()]))
        {
            for token in Dialect::CPP.tokens(words_of).filter(|token| token.kind == Token_::Word) {
                for &other in self.by_name.get(token.text).into_iter().flatten() {
                    if !taken[other] && allowed(other) {
                        taken[other] = true;
                        waiting.push(other);
                    }
                }
            }
        }
        let always = |at: usize| pieces[at].role == Role::Always && allowed(at);
        (0..pieces.len()).filter(|at| taken[*at] || always(*at)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "namespace a { namespace { template <typename T, int N = (4 > 3)> struct P { T x; int y() { return N; } };
        enum E { one, two }; __device__ float f(float x) { return x; } float host(float x) { return f(x); } } }
        extern \"C\" { __global__ void k(float *p) { p[0] = a::f(p[1]); } }
        using namespace a; static const int M = 3, L[2] = { M, 4 };
        template <> __device__ int g<int>(int x);
        template <class T> __global__ void __launch_bounds__(256) t(T *p) { P<T> q; }
        template __global__ void t<float>(float *);
        __device__ P<int> operator+(P<int> a, P<int> b) { return a; }";

    fn pieces(text: &str) -> Vec<Piece> {
        cut(text, &Dialect::CPP.tokens(text).collect::<Vec<_>>())
    }

    #[test]
    fn what_ends_nothing_costs_no_look_at_all_that_follows() {
        let many = |one: &str| one.repeat(200_000);
        for (text, count) in [
            (many("namespace a } "), 200_000),
            (many("struct s "), 1),
            (many("a<1>() "), 1),
            (many("int ") + &many("{ } "), 1),
            (many("template < "), 1),
        ] {
            assert_eq!(pieces(&text).len(), count, "{}", &text[..20]);
        }
        let found = pieces(&"namespace a { int x; ".repeat(100_000));
        assert_eq!((found.len(), found[255].scopes().len()), (257, 256));
    }

    #[test]
    fn every_declaration_is_a_piece_in_its_scopes() {
        let pieces = pieces(TEXT);
        let said: Vec<String> = pieces
            .iter()
            .map(|one| {
                format!("{:?} {} in {}", one.role, one.names.join(" "), one.scopes().join(", "))
            })
            .collect();
        let wanted = [
            "Device P in namespace a, namespace",
            "Device E one two in namespace a, namespace",
            "Device f in namespace a, namespace",
            "Host host in namespace a, namespace",
            "Kernel(\"k\") k in extern \"C\"",
            "Always  in ",
            "Device L M in ",
            "Device g in ",
            "Kernel(\"t\") t in ",
            "Device t in ",
            "Device operator in ",
        ];
        assert_eq!(said, wanted);
        assert_eq!(
            pieces[0].template.clone().map(|range| &TEXT[range]),
            Some("typename T, int N = (4 > 3)")
        );
        assert!(pieces[9].instantiates);
    }
}
