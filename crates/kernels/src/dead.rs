//! A program without its dead code: what goes leaves behind it what the optimizer makes of the program as it was, or is a loop
//! or branch with nothing in it, or a variable that nothing names.

use crate::parentheses;
use lexer::{Kind, Token, closing, tokens};
use std::ops::Range;

/// Most passes over a program. What goes in one may let more go in the next.
const PASSES: usize = 4;
/// What may stand between the names and numbers of a condition that changes nothing.
const VALUES: [&str; 26] = [
    "(", ")", "[", "]", "!", "~", "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "<", ">",
    "<=", ">=", "==", "!=", "&&", "||", "?", ":",
];

/// A statement, or a declarator or operand between commas, that a program may do without.
#[derive(Debug, Default)]
struct Piece {
    bytes: Range<usize>,
    /// Whether a program may lose it; else it is looked into alone.
    can_go: bool,
    /// Whether it is a loop or a branch with nothing in it, or a variable that nothing names.
    is_idle: bool,
    inside: Vec<Piece>,
}

/// `text` without parentheses that it does not need and without those statements within a range of bytes that are dead code: loops and branches with nothing in them,
/// variables that nothing names, and those without which `effect` of the program is the same, the last ones first, each
/// before what is inside it, as long as what is left may be. `None` where the program has no effect, because it does not compile.
pub(crate) fn removed(
    text: &str,
    within: &Range<usize>,
    effect: &dyn Fn(&str) -> Option<String>,
    may_be: &dyn Fn(&str) -> bool,
) -> Option<String> {
    let (mut text, mut within) = (text.to_owned(), within.clone());
    let mut last = effect(&text)?;
    let (plain, shorter) = parentheses::removed(&text, &within);
    if shorter > 0 && may_be(&plain) && effect(&plain).as_ref() == Some(&last) {
        within.end -= shorter;
        text = plain;
    }
    for _ in 0..PASSES {
        let mut gone = Vec::new();
        // Code may stand in another order where a loop or a branch is gone.
        remove(&pieces(&text), &text, &within, &|piece| piece.is_idle, &mut gone, &mut |left| {
            may_be(left)
                && effect(left).is_some_and(|effect| {
                    last = effect;
                    true
                })
        });
        let lost = gone.len();
        cut(&mut text, &mut within, &gone);
        gone.clear();
        remove(&pieces(&text), &text, &within, &|piece| piece.can_go, &mut gone, &mut |left| {
            may_be(left) && effect(left).as_ref() == Some(&last)
        });
        cut(&mut text, &mut within, &gone);
        if lost + gone.len() == 0 {
            break;
        }
    }
    Some(text)
}

fn cut(text: &mut String, within: &mut Range<usize>, gone: &[Range<usize>]) {
    *text = without(text, gone);
    within.end -= gone.iter().map(ExactSizeIterator::len).sum::<usize>();
}

fn remove(
    pieces: &[Piece],
    text: &str,
    within: &Range<usize>,
    may_go: &dyn Fn(&Piece) -> bool,
    gone: &mut Vec<Range<usize>>,
    goes: &mut dyn FnMut(&str) -> bool,
) {
    for piece in pieces.iter().rev() {
        let Range { start, end } = piece.bytes;
        if end <= within.start || start >= within.end {
            continue;
        }
        let mut more = gone.clone();
        more.retain(|other| other.end <= start || end <= other.start);
        more.push(start..end);
        // A comma that is gone already ended this part as well.
        let cuts = |other: &Range<usize>| {
            other.start < start && start < other.end || other.start < end && end < other.end
        };
        let is_whole = within.start <= start && end <= within.end && !gone.iter().any(cuts);
        if is_whole && may_go(piece) && goes(&without(text, &more)) {
            *gone = more;
        } else {
            remove(&piece.inside, text, within, may_go, gone, goes);
        }
    }
}

fn without(text: &str, gone: &[Range<usize>]) -> String {
    let mut gone: Vec<&Range<usize>> = gone.iter().collect();
    gone.sort_by_key(|bytes| bytes.start);
    let (mut left, mut from) = (String::with_capacity(text.len()), 0);
    for bytes in gone {
        left.push_str(&text[from..bytes.start]);
        from = bytes.end;
    }
    left + &text[from..]
}

/// A name, a keyword or a number.
fn is_plain(word: &str) -> bool {
    word.starts_with(|one: char| one == '_' || one.is_ascii_alphanumeric())
}

/// Whether these words compute a value and do nothing else. Of calls those that ask for a work-item's place change nothing.
fn is_value(words: &[&str]) -> bool {
    let asks = |two: &[&str]| two[1] != "(" || !is_plain(two[0]) || two[0].starts_with("get_");
    words.iter().all(|word| is_plain(word) || VALUES.contains(word)) && words.windows(2).all(asks)
}

/// The statements of all functions.
fn pieces(text: &str) -> Vec<Piece> {
    let reader = Reader { all: tokens(text).collect() };
    let (mut pieces, mut at) = (Vec::new(), 0);
    while at < reader.all.len() {
        if reader.all[at].is("{") {
            let is_body = at > 0 && reader.all[at - 1].is(")");
            let (list, next) = reader.list(at + 1);
            if is_body {
                pieces.extend(list);
            }
            at = next;
        } else {
            at += 1;
        }
    }
    pieces
}

struct Reader<'a> {
    all: Vec<Token<'a>>,
}

impl Reader<'_> {
    fn is(&self, at: usize, text: &str) -> bool {
        self.all.get(at).is_some_and(|token| token.is(text))
    }

    /// Bytes of the tokens from one up to another.
    fn bytes(&self, from: usize, to: usize) -> Range<usize> {
        match (self.all.get(from), to.checked_sub(1).and_then(|last| self.all.get(last))) {
            (Some(first), Some(last)) if from < to => first.begin..last.end(),
            _ => 0..0,
        }
    }

    /// Statements up to a brace that closes them, and the place behind it.
    fn list(&self, mut at: usize) -> (Vec<Piece>, usize) {
        let mut list = Vec::new();
        while at < self.all.len() && !self.is(at, "}") {
            let (piece, next) = self.statement(at);
            list.push(piece);
            at = next.max(at + 1);
        }
        (list, at + 1)
    }

    /// The statement that begins here, and the place behind it.
    fn statement(&self, from: usize) -> (Piece, usize) {
        let mut at = from;
        while self.all.get(at).is_some_and(|token| token.kind == Kind::Directive) {
            at += 1;
        }
        let (inside, next) = match self.all.get(at).map_or("", |token| token.text) {
            "{" => self.list(at + 1),
            "if" => {
                let (mut inside, mut next) = self.body(closing(&self.all, at) + 1);
                if self.is(next, "else") {
                    let (other, end) = self.body(next + 1);
                    let (bytes, is_idle) = (self.bytes(next, end), self.is_empty(next + 1, end));
                    inside.push(Piece { bytes, can_go: true, is_idle, inside: other });
                    next = end;
                }
                (inside, next)
            }
            "while" | "for" | "switch" => self.body(closing(&self.all, at) + 1),
            "do" => {
                let (inside, next) = self.body(at + 1);
                (inside, self.end(next))
            }
            "case" | "default" => {
                let colon = (at..self.all.len()).find(|at| self.is(*at, ":"));
                let next = colon.unwrap_or(self.all.len()) + 1;
                return (Piece { bytes: self.bytes(from, next), ..Piece::default() }, next);
            }
            _ => {
                let next = self.end(at);
                (self.parts(at, next), next)
            }
        };
        let is_idle = inside.is_empty() && (self.is_idle(at, next) || self.is_unused(at, next));
        (Piece { bytes: self.bytes(from, next), can_go: true, is_idle, inside }, next)
    }

    /// Whether this does nothing: a `for` that counts a variable of its own up or down to what does not change, an `if` that
    /// looks at values alone.
    fn is_idle(&self, at: usize, next: usize) -> bool {
        let close = closing(&self.all, at);
        let head = self.words(at + 2, close);
        if !self.is_empty(close + 1, next) {
            return false;
        }
        if self.is(at, "if") {
            return is_value(&head);
        }
        let parts: Vec<&[&str]> = head.split(|word| *word == ";").collect();
        let [[_, .., counter, "=", start], [compared, sign, bound @ ..], step] = parts[..] else {
            return false;
        };
        let signs = match step {
            [one, "++"] | ["++", one] if one == counter => ["<", "<="],
            [one, "--"] | ["--", one] if one == counter => [">", ">="],
            _ => return false,
        };
        let stays = |word: &&str| {
            word != counter && (is_plain(word) || ["+", "-", "*", "/", "(", ")"].contains(word))
        };
        self.is(at, "for")
            && is_plain(start)
            && compared == counter
            && signs.contains(sign)
            && bound.iter().all(stays)
            && is_value(bound)
    }

    /// Whether this declares a variable that nothing else names, and computes no more than a value.
    fn is_unused(&self, at: usize, next: usize) -> bool {
        let words = self.words(at, next.saturating_sub(1));
        let end = words.iter().position(|word| ["=", "["].contains(word)).unwrap_or(words.len());
        let [_, .., name] = words[..end] else { return false };
        let is_type = words[..end].iter().all(|word| is_plain(word) || *word == "*");
        let behind = match words[end..] {
            ["=", ref value @ ..] | ["[", _, "]", "=", ref value @ ..] => value,
            [] | ["[", _, "]"] => &[],
            _ => return false,
        };
        let is_braced = behind.first() == Some(&"{");
        is_type
            && is_plain(name)
            && !["return", "goto"].contains(&words[0])
            && !is_braced
            && is_value(behind)
            && self.all.iter().filter(|token| token.text == name).count() == 1
    }

    fn is_empty(&self, from: usize, to: usize) -> bool {
        [&["{", "}"][..], &[";"]].contains(&&self.words(from, to)[..])
    }

    fn words(&self, from: usize, to: usize) -> Vec<&str> {
        let words = self.all.get(from..to.min(self.all.len())).unwrap_or(&[]);
        words.iter().map(|token| token.text).collect()
    }

    /// What a branch or a loop does. A statement without braces cannot go alone.
    fn body(&self, at: usize) -> (Vec<Piece>, usize) {
        match self.is(at, "{") {
            true => self.list(at + 1),
            false => {
                let (piece, next) = self.statement(at);
                (piece.inside, next)
            }
        }
    }

    /// The place behind the semicolon of a statement, or before a brace that closes its list.
    fn end(&self, from: usize) -> usize {
        let mut depth = 0_usize;
        for (at, token) in self.all.iter().enumerate().skip(from) {
            match token.text {
                "(" | "[" | "{" => depth += 1,
                "}" if depth == 0 => return at,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                ";" if depth == 0 => return at + 1,
                _ => {}
            }
        }
        self.all.len()
    }

    /// The declarators of a declaration, or the operands between the commas of an expression, each with one comma.
    fn parts(&self, from: usize, to: usize) -> Vec<Piece> {
        let last = to.saturating_sub(1);
        let (mut commas, mut depth) = (Vec::new(), 0_usize);
        for at in from..last {
            match self.all[at].text {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                "," if depth == 0 => commas.push(at),
                _ => {}
            }
        }
        let Some(first) = commas.first() else { return Vec::new() };
        // Of a declaration the first one's name, which its type stands before.
        let is_word = |at: usize| self.all.get(at).is_some_and(|token| token.kind == Kind::Word);
        let ends = |at: &usize| ["=", "[", ","].iter().any(|sign| self.is(*at, sign));
        let begin = match is_word(from) && (is_word(from + 1) || self.is(from + 1, "*")) {
            true => (from..=*first).find(ends).map_or(from, |at| at.saturating_sub(1).max(from)),
            false => from,
        };
        let mut parts =
            vec![Piece { bytes: self.bytes(begin, first + 1), can_go: true, ..Piece::default() }];
        let ends = commas.iter().skip(1).copied().chain([last]);
        for (comma, end) in commas.iter().zip(ends) {
            parts.push(Piece { bytes: self.bytes(*comma, end), can_go: true, ..Piece::default() });
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left where a program needs the words that are given.
    fn left(text: &str, needed: &[&str]) -> String {
        let effect = |text: &str| {
            let words: Vec<&str> = tokens(text).map(|token| token.text).collect();
            let there = needed.iter().map(|word| words.contains(word));
            Some(format!("{:?}", there.collect::<Vec<_>>()))
        };
        let left = removed(text, &(0..text.len()), &effect, &|_| true).expect("it has an effect");
        left.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn statements_go_whole_and_else_part_by_part() {
        let text = "void f() { int a = 1; if (a) { b = 2; c = 3; } else d; for (;;) e; g = h; }";
        assert_eq!(left(text, &["g"]), "void f() { g = h; }");
        assert_eq!(left(text, &["c"]), "void f() { if (a) { c = 3; } }");
        assert_eq!(left(text, &["b", "d"]), "void f() { if (a) { b = 2; } else d; }");
        assert_eq!(left(text, &["e"]), "void f() { for (;;) e; }");
        assert_eq!(
            left("void f() { do { a; b; } while (c); d; }", &["a"]),
            "void f() { do { a; } while (c); }"
        );
        let text = "void f() { switch (a) { case 1: b; break; default: c; } }";
        assert_eq!(left(text, &["c"]), "void f() { switch (a) { case 1: default: c; } }");
    }

    #[test]
    fn declarators_and_operands_go_alone() {
        assert_eq!(
            left("void f() { int a, b = g(1, 2), c[3]; }", &["b"]),
            "void f() { int b = g(1, 2); }"
        );
        assert_eq!(left("void f() { int a, b, c; }", &["a", "c"]), "void f() { int a, c; }");
        assert_eq!(left("void f() { a[1] = b, c + 2, d; }", &["b"]), "void f() { a[1] = b; }");
        assert_eq!(left("void f() { a[1] = b, c + 2, d; }", &["d"]), "void f() { d; }");
    }

    #[test]
    fn a_pragma_goes_with_its_loop_and_nothing_goes_outside_of_the_range() {
        let text = "void f() {\n#pragma unroll\nfor (;;) a;\nb; }";
        assert_eq!(left(text, &["b"]), "void f() { b; }");
        let text = "void f() { a; b; c; }";
        let effect = |_: &str| Some(String::new());
        let left = |within| removed(text, &within, &effect, &|_| true).expect("it has an effect");
        assert_eq!(left(14..16), "void f() { a;  c; }");
        assert_eq!(left(0..0), text);
        assert_eq!(removed(text, &(0..text.len()), &|_| None, &|_| true), None);
    }

    #[test]
    fn a_loop_that_counts_goes_and_one_that_may_not_end_stays() {
        // Who looks at the loop alone sees it go.
        let needed = ["a", "b", "g", "h", "i", "for", "while", "if"];
        for counts in [
            "for (int i = 0; i < 5; i++) {}",
            "for (size_t i = a; i <= get_local_size(0) + c * (c - 1); ++i) ;",
            "for (int i = n; i > 0; i--) { }",
            "if (c < 2) {}",
            "if (c && get_local_id(0) == d[1]) ;",
            "if (c) {} else ;",
            "int i = d[2] / get_global_id(0);",
            "__local float i[3];",
            "__global int* i;",
        ] {
            assert_eq!(
                left(&format!("void f() {{ h; {counts} g; }}"), &needed),
                "void f() { h; g; }"
            );
        }
        for other in [
            "for (i = 0; i < 5; i++) {}",
            "for (int i = 0; i < 5; i--) {}",
            "for (int i = 0; i < i + 1; i++) {}",
            "for (int i = 0; i < f(2); i++) {}",
            "for (int i = 0; i < 5; j++) {}",
            "for (int i = 0; i < 5; i++) { b; }",
            "for (;;) {}",
            "if (a = 2) {}",
            "if (a++) {}",
            "if (f(a)) {}",
            "int i = f(2);",
            "int i = c++;",
            "return i;",
            "i = 2;",
            "while (a) {}",
        ] {
            let text = format!("void f() {{ h; {other} g; }}");
            assert_eq!(left(&text, &needed), text);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_ends(text in "[a-c(){}\\[\\];,=:#\n ]{0,60}|(if|else|for|do|while|switch|case|[(){};:, ]){0,30}") {
            let effect = |left: &str| Some((left.len() % 3).to_string());
            let left = removed(&text, &(0..text.len()), &effect, &|_| true).expect("it has an effect");
            proptest::prop_assert!(left.len() <= text.len());
        }
    }
}
