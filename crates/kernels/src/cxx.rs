//! C++ in the spelling of C, as far as it has one.
//!
//! Free functions of C++ are often C but for some words. Those are respelled here: namespaces and blocks of linkage are
//! opened, named casts become C's, tags become types, words without a meaning in C go. All else stays as it is, for the
//! compiler to reject: templates, classes, references, lambdas. What has its name in common with another is left out, since
//! in C that name need not mean the same one: overloads, and what different namespaces define.

use crate::{chunks, enumeration};
use lexer::{Dialect, Kind, Token, tokens};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Names of `std` that OpenCL C has under the same name, with the same meaning where both operands have one type.
const STANDARD: [&str; 39] = [
    "size_t",
    "ptrdiff_t",
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    // What the preprocessor makes of them.
    "char",
    "short",
    "int",
    "long",
    "uchar",
    "ushort",
    "uint",
    "ulong",
    "intptr_t",
    "uintptr_t",
    "min",
    "max",
    "sqrt",
    "fabs",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "exp",
    "exp2",
    "log",
    "log2",
    "log10",
    "floor",
    "ceil",
    "cbrt",
    "trunc",
];
/// Types that are called to convert: `float(x)`.
const CONVERTING: [&str; 6] = ["bool", "char", "short", "int", "float", "double"];
const NAMED_CASTS: [&str; 3] = ["static_cast", "reinterpret_cast", "const_cast"];
/// What `auto` becomes: nothing of that name is there.
const NO_TYPE: &str = "cxx_auto";

/// Preprocessed C++ in C's spelling.
pub(crate) fn as_c(text: &str) -> String {
    let all: Vec<Token<'_>> = Dialect::CPP.tokens(text).collect();
    let mut respelling = Respelling {
        all: &all,
        own: own(&all),
        at: 0,
        open: Vec::new(),
        within: 0,
        out: String::with_capacity(text.len()),
    };
    while respelling.at < all.len() {
        respelling.step();
    }
    without_shared_names(&respelling.out)
}

/// Names of [`STANDARD`] that the text may declare as functions of its own: without `std::` they would be these.
fn own<'a>(all: &[Token<'a>]) -> HashSet<&'a str> {
    let is_type = |token: &Token<'_>| {
        token.kind == Kind::Word && !matches!(token.text, "return" | "else" | "do" | "case")
    };
    all.windows(3)
        .filter(|three| is_type(&three[0]) && three[2].is("("))
        .map(|three| three[1].text)
        .filter(|name| STANDARD.contains(name))
        .collect()
}

/// A bracket that is not closed yet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    /// Of a namespace or a block of linkage: neither end is written.
    Transparent,
    /// Of a cast: its end is written twice.
    Cast,
    Other,
}

struct Respelling<'a> {
    all: &'a [Token<'a>],
    own: HashSet<&'a str>,
    at: usize,
    open: Vec<Open>,
    /// How many of `open` are not transparent.
    within: usize,
    out: String,
}

impl<'a> Respelling<'a> {
    fn text(&self, at: usize) -> &'a str {
        self.all.get(at).map_or("", |token| token.text)
    }

    /// Whether these stand here.
    fn is(&self, wanted: &[&str]) -> bool {
        wanted.iter().enumerate().all(|(offset, text)| self.text(self.at + offset) == *text)
    }

    fn is_at_file_scope(&self) -> bool {
        self.within == 0
    }

    fn push(&mut self, open: Open) {
        self.within += usize::from(open != Open::Transparent);
        self.open.push(open);
    }

    fn pop(&mut self) -> Option<Open> {
        let open = self.open.pop()?;
        self.within -= usize::from(open != Open::Transparent);
        Some(open)
    }

    fn write(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push(' ');
    }

    fn step(&mut self) {
        let token = &self.all[self.at];
        if token.kind == Kind::Directive {
            self.out.push_str(&format!("\n{}\n", token.text));
            self.at += 1;
            return;
        }
        let is_done = self.opened() || self.left_out() || self.cast() || self.tag();
        if is_done {
            return;
        }
        match token.text {
            "{" | "(" | "[" => self.push(Open::Other),
            "}" | ")" | "]" => match self.pop() {
                Some(Open::Transparent) => {
                    self.at += 1;
                    return;
                }
                Some(Open::Cast) => self.write(")"),
                _ => {}
            },
            _ => {}
        }
        let text = match (token.kind, token.text) {
            (Kind::Word, "nullptr") => "0",
            (Kind::Word, "auto") => NO_TYPE,
            (Kind::Word, "constexpr") if self.is_before_function() => "",
            (Kind::Word, "constexpr") => "const",
            (Kind::Number, text) if text.contains('\'') => &text.replace('\'', ""),
            (_, text) => text,
        };
        self.write(text);
        self.at += 1;
    }

    /// `namespace a::b {`, `extern "C" {`: gone, with what closes them.
    fn opened(&mut self) -> bool {
        if !self.is_at_file_scope() {
            return false;
        }
        if self.is(&["extern", "\"C\""]) {
            self.at += 2;
            if self.text(self.at) == "{" {
                self.push(Open::Transparent);
                self.at += 1;
            } else {
                self.write("extern");
            }
            return true;
        }
        let first = self.at + usize::from(self.is(&["inline", "namespace"]));
        if self.text(first) != "namespace" {
            return false;
        }
        let is_name = |token: &&Token<'_>| {
            token.kind == Kind::Word && token.text != "namespace" || token.text == "::"
        };
        let names = self.all[first + 1..].iter().take_while(is_name).count();
        let brace = first + 1 + names;
        let is_block = self.text(brace) == "{";
        if is_block {
            self.push(Open::Transparent);
            self.at = brace + 1;
        }
        is_block
    }

    /// Words that C has no need of.
    fn left_out(&mut self) -> bool {
        let count = if self.is_standard(self.at) {
            2
        } else if self.is(&["using", "namespace"]) {
            let all = self.all[self.at..].iter();
            all.take_while(|token| token.text != ";").count() + 1
        } else if self.is(&["[", "["]) {
            let inside = self.all[self.at..].windows(2);
            inside.take_while(|pair| pair[0].text != "]" || pair[1].text != "]").count() + 2
        } else {
            let promises = self.is(&["noexcept"]) && self.text(self.at + 1) != "(";
            let leads = self.is(&["::"]) && !self.is_behind_a_name() && self.leads_to_no_value();
            usize::from(promises || leads)
        };
        self.at = (self.at + count).min(self.all.len());
        count > 0
    }

    /// Whether `std::` and a name that needs none stand there.
    fn is_standard(&self, at: usize) -> bool {
        let name = self.text(at + 2);
        self.text(at) == "std"
            && self.text(at + 1) == "::"
            && STANDARD.contains(&name)
            && !self.own.contains(name)
    }

    /// Whether the name behind what stands here is called, or is a type: a local variable of the name of another would
    /// hide that.
    fn leads_to_no_value(&self) -> bool {
        let behind = self.all.get(self.at + 2);
        behind.is_some_and(|token| token.is("(") || token.kind == Kind::Word)
    }

    fn is_behind_a_name(&self) -> bool {
        let before = self.at.checked_sub(1).map(|at| &self.all[at]);
        before.is_some_and(|token| {
            token.text == ">"
                || token.kind == Kind::Word && !matches!(token.text, "return" | "else" | "case")
        })
    }

    /// `static_cast<T>(x)` and `float(x)`: `((T)(x))`.
    fn cast(&mut self) -> bool {
        let text = self.text(self.at);
        let (of, paren) = if NAMED_CASTS.contains(&text) && self.text(self.at + 1) == "<" {
            let inside = self.all[self.at + 2..].iter().take(12);
            let count = inside.take_while(|token| token.text != ">").count();
            (self.at + 2..self.at + 2 + count, self.at + 3 + count)
        } else if CONVERTING.contains(&text) && self.is_operand() {
            (self.at..self.at + 1, self.at + 1)
        } else {
            return false;
        };
        if self.text(paren) != "(" || paren > self.at + 1 && self.text(paren - 1) != ">" {
            return false;
        }
        let (mut ty, mut at) = (String::new(), of.start);
        while at < of.end {
            at += if self.is_standard(at) { 2 } else { 0 };
            ty.push_str(self.text(at));
            ty.push(' ');
            at += 1;
        }
        self.write(&format!("( ( {ty}) ("));
        self.push(Open::Cast);
        self.at = paren + 1;
        true
    }

    /// Whether what stands here is a value and not the beginning of a declaration.
    fn is_operand(&self) -> bool {
        let before = self.at.checked_sub(1).map_or("", |at| self.text(at));
        let behind = self.text(self.at + 2);
        behind != "*"
            && behind != "&"
            && matches!(
                before,
                "=" | "("
                    | ","
                    | "return"
                    | "+"
                    | "-"
                    | "*"
                    | "/"
                    | "%"
                    | "<"
                    | ">"
                    | "<="
                    | ">="
                    | "=="
                    | "!="
                    | "?"
                    | ":"
                    | "&&"
                    | "||"
                    | "["
                    | "+="
                    | "-="
                    | "*="
                    | "/="
                    | "<<"
                    | ">>"
            )
    }

    /// `struct S {`: its name is a type, too.
    fn tag(&mut self) -> bool {
        let [word, name, brace] = [0, 1, 2].map(|offset| self.text(self.at + offset));
        let before = self.at.checked_sub(1).map_or("", |at| self.text(at));
        let is_first = matches!(before, "" | ";" | "}" | "{")
            || self.at > 0 && self.all[self.at - 1].kind == Kind::Directive;
        let is_tag = matches!(word, "struct" | "union" | "enum")
            && self.all.get(self.at + 1).is_some_and(|token| token.kind == Kind::Word)
            && brace == "{";
        if !(is_tag && is_first && self.is_at_file_scope()) {
            return false;
        }
        // OpenCL C knows no type of an enumeration before its values.
        if word == "enum" {
            let of = enumeration::type_of(&self.all[self.at + 2..]);
            self.write(&format!("typedef {of} {name} ;"));
        } else {
            self.write(&format!("typedef {word} {name} {name} ;"));
        }
        self.write(word);
        self.write(name);
        self.at += 2;
        true
    }

    /// Whether what follows up to the next body, value or end is a function's head.
    fn is_before_function(&self) -> bool {
        let goes_on = |token: &&Token<'_>| !matches!(token.text, "=" | ";" | "{" | "constexpr");
        self.all[self.at + 1..].iter().take_while(goes_on).any(|token| token.text == "(")
    }
}

/// What a text says of a name.
#[derive(Default)]
struct Said {
    definitions: usize,
    /// Lists of parameters of the function that it is.
    parameters: BTreeSet<String>,
}

/// The text without what defines or declares a name that may mean more than one thing. The compiler would reject the
/// second of them alone, and what needs that would get the first.
fn without_shared_names(text: &str) -> String {
    let chunks = chunks::cut(text);
    let mut names: Vec<Vec<String>> = Vec::with_capacity(chunks.len());
    let mut said: HashMap<String, Said> = HashMap::new();
    for chunk in &chunks {
        let all: Vec<Token<'_>> = tokens(&text[chunk.range.clone()]).collect();
        let these = match chunk.declared_function() {
            Some(name) => {
                let one = said.entry(name.to_owned()).or_default();
                one.definitions += usize::from(chunk.function().is_some());
                one.parameters.insert(parameters(&all, name));
                vec![name.to_owned()]
            }
            None => {
                let found: Vec<String> = defined(&all).into_iter().map(str::to_owned).collect();
                for name in &found {
                    said.entry(name.clone()).or_default().definitions += 1;
                }
                found
            }
        };
        names.push(these);
    }
    let is_one = |name: &String| said[name].definitions < 2 && said[name].parameters.len() < 2;
    let kept: Vec<usize> = (0..chunks.len()).filter(|at| names[*at].iter().all(&is_one)).collect();
    if kept.len() == chunks.len() { text.to_owned() } else { chunks::join(text, &chunks, &kept) }
}

/// The types of a function's parameters: what stands between the parentheses behind its name, without names of parameters.
fn parameters(all: &[Token<'_>], name: &str) -> String {
    let is_type = |word: &str| {
        matches!(
            word,
            "int" | "char" | "short" | "long" | "unsigned" | "signed" | "float" | "double"
        )
    };
    let begin = all.windows(2).position(|two| two[0].text == name && two[1].is("("));
    let (mut types, mut depth, mut words): (Vec<&str>, usize, usize) = Default::default();
    for (at, token) in all.iter().enumerate().skip(begin.map_or(all.len(), |at| at + 2)) {
        match token.text {
            "(" | "[" => depth += 1,
            ")" if depth == 0 => break,
            ")" | "]" => depth = depth.saturating_sub(1),
            "," if depth == 0 => words = 0,
            _ => {}
        }
        let ends = all.get(at + 1).is_some_and(|next| [",", ")", "["].contains(&next.text));
        let is_name = token.kind == Kind::Word && ends && words > 0 && depth == 0;
        if token.text != "," {
            words += 1;
        }
        if !is_name || is_type(token.text) {
            types.push(token.text);
        }
    }
    if types == ["void"] { String::new() } else { types.join(" ") }
}

/// What is defined by a declaration that is no function's: a type with its members, enumerators, variables with values.
fn defined<'a>(all: &[Token<'a>]) -> Vec<&'a str> {
    let text = |at: usize| all.get(at).map_or("", |token| token.text);
    let is_alias = text(0) == "typedef";
    let tag = usize::from(is_alias);
    let is_enum = text(tag) == "enum";
    let (mut names, mut depth, mut is_value) = (Vec::new(), 0_usize, false);
    // A variable whose value may follow.
    let mut variable = None;
    if matches!(text(tag), "struct" | "union" | "enum") && text(tag + 2) == "{" {
        names.push(text(tag + 1));
    }
    let has_body = all.iter().any(|token| token.is("{"));
    for (at, token) in all.iter().enumerate() {
        let before = at.checked_sub(1).map_or("", text);
        let is_word = token.kind == Kind::Word;
        match token.text {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth = depth.saturating_sub(1),
            "," if depth == 0 => (is_value, variable) = (false, None),
            "=" if depth == 0 => {
                names.extend(variable.take());
                is_value = true;
            }
            // An enumerator, or the name of a type that has none of its own.
            _ if is_word && is_enum && depth == 1 && matches!(before, "{" | ",") => {
                names.push(token.text);
            }
            _ if is_word && is_alias && has_body && depth == 0 && text(at + 1) == ";" => {
                names.push(token.text);
            }
            _ if is_word && depth == 0 && !is_value && matches!(text(at + 1), "=" | "[") => {
                variable = Some(token.text);
            }
            _ => {}
        }
    }
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> String {
        as_c(text).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn words_of_cxx_become_those_of_c() {
        for (text, wanted) in [
            ("namespace a::b { int x; namespace { int y; } }", "int x ; int y ;"),
            (
                "extern \"C\" { int x; } extern \"C\" int f(int a);",
                "int x ; extern int f ( int a ) ;",
            ),
            ("using namespace std; int x;", "int x ;"),
            (
                "int f(int a) { return static_cast<int>(a) + 1; }",
                "int f ( int a ) { return ( ( int ) ( a ) ) + 1 ; }",
            ),
            (
                "int f(float a) { return int(a * 2) + (int)a; }",
                "int f ( float a ) { return ( ( int ) ( a * 2 ) ) + ( int ) a ; }",
            ),
            ("int *p = nullptr; int n = 1'000;", "int * p = 0 ; int n = 1000 ;"),
            (
                "constexpr int n = 3; constexpr int f(int a) noexcept { return a; }",
                "const int n = 3 ; int f ( int a ) { return a ; }",
            ),
            (
                "[[nodiscard]] std::size_t f(std::uint8_t a) { return ::g(a); }",
                "size_t f ( uint8_t a ) { return g ( a ) ; }",
            ),
            (
                "int f(int a) { return static_cast<const std::size_t>(a); }",
                "int f ( int a ) { return ( ( const size_t ) ( a ) ) ; }",
            ),
            (
                "struct S { int a; }; int f(S s) { return s.a; }",
                "typedef struct S S ; struct S { int a ; } ; int f ( S s ) { return s . a ; }",
            ),
            (
                "enum E { A }; E f(E e) { return e; }",
                "typedef int E ; enum E { A } ; E f ( E e ) { return e ; }",
            ),
            (
                "enum E { A = 1u << 31, B }; E f() { return B; }",
                "typedef uint E ; enum E { A = 1u << 31 , B } ; E f ( ) { return B ; }",
            ),
            (
                "int f(int a) { auto b = a; return b; }",
                "int f ( int a ) { cxx_auto b = a ; return b ; }",
            ),
            // What C has no spelling of stays.
            (
                "int f(int a) { return std::abs(a); }",
                "int f ( int a ) { return std :: abs ( a ) ; }",
            ),
            ("int f(int n) { return ::n + n; }", "int f ( int n ) { return :: n + n ; }"),
            (
                "int max(int a, int b); int f(int a) { return std::max(a, 1); }",
                "int max ( int a , int b ) ; int f ( int a ) { return std :: max ( a , 1 ) ; }",
            ),
            (
                "int f(int a) { return static_cast<std::byte>(a); }",
                "int f ( int a ) { return ( ( std :: byte ) ( a ) ) ; }",
            ),
        ] {
            assert_eq!(words(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_name_that_is_defined_twice_is_left_out() {
        let text =
            "int f(int a) { return a; } float f(float a) { return a; } int g(int a) { return a; }";
        assert_eq!(words(text), "int g ( int a ) { return a ; }");
    }

    #[test]
    fn what_two_namespaces_define_is_left_out() {
        for (one, other) in [
            ("const int n = 1;", "const int n = 2;"),
            ("const int n[2] = {1, 2};", "const int n[] = {3};"),
            ("enum { n = 1 };", "enum { n, m };"),
            ("typedef struct { int a; } n;", "typedef struct { float a; } n;"),
            ("int n(int a) { return a; }", "int n(float a);"),
        ] {
            let text = format!("namespace a {{ {one} }} namespace b {{ {other} }} int x;");
            assert_eq!(words(&text), "int x ;", "{text}");
        }
        let declared = "int n(int a, float *b); int n(int, float *); \
                        int n(int x, float *y) { return x; }";
        let wanted = "int n ( int a , float * b ) ; int n ( int , float * ) ; \
                      int n ( int x , float * y ) { return x ; }";
        assert_eq!(words(declared), wanted);
    }

    #[test]
    fn what_ends_nothing_costs_no_look_at_all_that_follows() {
        for one in
            ["namespace ", "namespace a { ", "constexpr ", "[[ ", "static_cast<", ":: ", "enum { "]
        {
            let _ = as_c(&one.repeat(200_000));
        }
        let _ = as_c(&("int ".repeat(200_000) + &"{ } ".repeat(200_000)));
    }

    #[test]
    fn any_text_may_end_anywhere() {
        for text in [
            "static_cast<",
            "extern \"C\" {",
            "namespace",
            "struct S {",
            "[[",
            "float(",
            "using namespace",
        ] {
            let _ = as_c(text);
        }
    }
}
