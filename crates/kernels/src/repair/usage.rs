//! How a name is used, and what that says about its type.

use super::builtin;
use lexer::{Kind, Token, tokens};
use std::collections::{BTreeMap, HashMap};

/// A program's tokens with what its own declarations say about variables.
pub(super) struct Usage<'a> {
    pub(super) tokens: Vec<Token<'a>>,
    /// Declarations of variables and parameters of builtin types by name: place, type, pointers.
    declared: BTreeMap<&'a str, Vec<(usize, &'a str)>>,
    /// For each token its enclosing opening bracket, and for each opening one its closing one.
    enclosing: Vec<Option<usize>>,
    closing: Vec<usize>,
    /// Places of every word.
    words: HashMap<&'a str, Vec<usize>>,
}

/// Evidence for an integer and for a floating-point number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Votes {
    pub(super) integer: u32,
    pub(super) float: u32,
    /// Evidence for a vector, and its lanes.
    pub(super) lanes: u32,
}

impl Votes {
    fn add(&mut self, other: Votes) {
        self.integer += other.integer;
        self.float += other.float;
        self.lanes = self.lanes.max(other.lanes);
    }

    const INTEGER: Votes = Votes { integer: 2, float: 0, lanes: 0 };
    const FLOAT: Votes = Votes { integer: 0, float: 2, lanes: 0 };
    const WEAK_INTEGER: Votes = Votes { integer: 1, float: 0, lanes: 0 };
    const WEAK_FLOAT: Votes = Votes { integer: 0, float: 1, lanes: 0 };
    const NONE: Votes = Votes { integer: 0, float: 0, lanes: 0 };
}

impl<'a> Usage<'a> {
    pub(super) fn of(text: &'a str) -> Usage<'a> {
        let tokens: Vec<Token<'a>> = tokens(text).collect();
        let mut enclosing = vec![None; tokens.len()];
        let mut closing = vec![tokens.len(); tokens.len()];
        let mut open: Vec<usize> = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            if token.kind != Kind::Punctuation {
                enclosing[at] = open.last().copied();
                continue;
            }
            match token.text {
                "(" | "[" | "{" => {
                    enclosing[at] = open.last().copied();
                    open.push(at);
                }
                ")" | "]" | "}" => {
                    if let Some(begin) = open.pop() {
                        closing[begin] = at;
                    }
                    enclosing[at] = open.last().copied();
                }
                _ => enclosing[at] = open.last().copied(),
            }
        }
        let mut words: HashMap<&'a str, Vec<usize>> = HashMap::new();
        for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == Kind::Word) {
            words.entry(token.text).or_default().push(at);
        }
        let mut usage = Usage { tokens, declared: BTreeMap::new(), enclosing, closing, words };
        usage.collect_declared();
        usage
    }

    fn collect_declared(&mut self) {
        let mut current: Option<&'a str> = None;
        for at in 0..self.tokens.len() {
            let token = self.tokens[at];
            if token.kind == Kind::Word && builtin::is_type(token.text) {
                current = Some(token.text);
            } else if let Some(type_name) = current {
                match token.kind {
                    Kind::Word if builtin::is_qualifier(token.text) => {}
                    Kind::Word => {
                        self.declared.entry(token.text).or_default().push((at, type_name));
                        // `float a, b` goes on; `float a = x, b` and a parameter list do not.
                        let next = (self.text(at + 1), self.tokens.get(at + 2));
                        let goes_on = next.0 == ","
                            && next.1.is_some_and(|t| {
                                t.kind == Kind::Word && !builtin::is_type(t.text) || t.is("*")
                            });
                        current = if goes_on { current } else { None };
                    }
                    Kind::Punctuation if token.text == "*" || token.text == "," => {}
                    _ => current = None,
                }
            }
        }
    }

    /// The text of a token, empty beyond the ends.
    pub(super) fn text(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |token| token.text)
    }

    pub(super) fn before(&self, at: usize) -> &'a str {
        at.checked_sub(1).map_or("", |at| self.text(at))
    }

    pub(super) fn kind(&self, at: usize) -> Option<Kind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    pub(super) fn is_word(&self, at: usize) -> bool {
        self.kind(at) == Some(Kind::Word)
    }

    /// Where a bracket closes; beyond the end if nowhere.
    pub(super) fn closing(&self, open: usize) -> usize {
        self.closing.get(open).copied().unwrap_or(self.tokens.len())
    }

    pub(super) fn enclosing(&self, at: usize) -> Option<usize> {
        self.enclosing.get(at).copied().flatten()
    }

    /// Places of a word that are no member names.
    pub(super) fn places(&self, name: &str) -> Vec<usize> {
        let places = self.words.get(name).map_or(&[][..], Vec::as_slice);
        places.iter().copied().filter(|at| !matches!(self.before(*at), "." | "->")).collect()
    }

    /// The builtin type that the variable was declared with last before `at`.
    pub(super) fn type_of(&self, name: &str, at: usize) -> Option<&'a str> {
        let declarations = self.declared.get(name)?;
        declarations.iter().rev().find(|(place, _)| *place < at).map(|(_, type_name)| *type_name)
    }

    /// One past the postfix operators after a name: `name[i].x` ends after `x`.
    pub(super) fn postfix_end(&self, name: usize) -> usize {
        let mut end = name + 1;
        loop {
            match self.text(end) {
                "[" => end = self.closing(end) + 1,
                "." | "->" if self.is_word(end + 1) => end += 2,
                _ => return end.min(self.tokens.len()),
            }
        }
    }

    /// What the surroundings of the operand `begin..end` say about its type.
    pub(super) fn votes(&self, begin: usize, end: usize) -> Votes {
        let mut votes = Votes::default();
        votes.add(self.operator(self.before(begin), begin.checked_sub(2), false));
        votes.add(self.operator(self.text(end), Some(end + 1), true));
        if let Some(open) = self.enclosing(begin) {
            votes.add(self.bracket(open, begin));
        }
        if self.before(begin) == "return" {
            votes.add(self.result(begin));
        }
        if self.before(begin) == "case" {
            votes.add(Votes::INTEGER);
        }
        votes
    }

    /// Evidence from the operator beside an operand and the operand beyond it.
    fn operator(&self, operator: &str, other: Option<usize>, right: bool) -> Votes {
        match operator {
            // An address, whatever of.
            "&" if !right && other.is_none_or(|at| !self.ends_operand(at)) => Votes::NONE,
            "%" | "<<" | ">>" | "&" | "|" | "^" | "~" | "%=" | "<<=" | ">>=" | "&=" | "|="
            | "^=" | "++" | "--" => Votes::INTEGER,
            "&&" | "||" | "!" => Votes::WEAK_INTEGER,
            "=" | "+=" | "-=" | "*=" | "/=" if right => {
                other.map_or(Votes::NONE, |begin| self.assigned(begin))
            }
            "+" | "-" | "*" | "/" | "<" | ">" | "<=" | ">=" | "==" | "!=" | "=" | "+=" | "-="
            | "*=" | "/=" | "?" | ":" => {
                let Some(other) = other else { return Votes::NONE };
                if right { self.operand_after(other) } else { self.operand_before(other) }
            }
            _ => Votes::NONE,
        }
    }

    /// Evidence from what is assigned: its first operand, or any that is a floating-point number.
    fn assigned(&self, begin: usize) -> Votes {
        let first = self.operand_after(begin);
        if first.float > first.integer {
            return first;
        }
        self.float_operand(begin).unwrap_or(first)
    }

    /// A floating-point operand of the arithmetic that begins at a place, whose result is one, too; `None` where there is none, or
    /// where it is not arithmetic alone: what is compared, chosen or indexed says nothing.
    fn float_operand(&self, begin: usize) -> Option<Votes> {
        let (mut at, mut depth, mut found) = (begin, 0, None::<Votes>);
        while at < self.tokens.len() {
            let (votes, next) = match self.text(at) {
                ";" | "," | "]" | "}" => break,
                "(" if builtin::is_type(self.text(at + 1)) => {
                    let (close, is_pointer) = (self.closing(at), self.text(at + 2) == "*");
                    let votes = if is_pointer { Votes::NONE } else { of_type(self.text(at + 1)) };
                    (votes, self.operand_end(close + 1))
                }
                "(" => {
                    depth += 1;
                    (Votes::NONE, at + 1)
                }
                ")" if depth == 0 => break,
                ")" => {
                    depth -= 1;
                    (Votes::NONE, at + 1)
                }
                "." if self.is_word(at + 1) => (Votes::NONE, at + 2),
                "[" => (Votes::NONE, self.closing(at) + 1),
                "+" | "-" | "*" | "/" => (Votes::NONE, at + 1),
                _ if self.is_operand(at) => (self.operand(at), self.operand_end(at)),
                _ => return None,
            };
            if votes.float > votes.integer {
                let lanes = found.map_or(0, |found| found.lanes).max(votes.lanes);
                found = Some(Votes { integer: 0, float: votes.float, lanes });
            }
            at = next;
        }
        found
    }

    /// Whether a token is a name, a number or a literal.
    fn is_operand(&self, at: usize) -> bool {
        matches!(self.kind(at), Some(Kind::Word | Kind::Number | Kind::Literal))
    }

    /// One past an operand with its signs, its brackets and what is asked of it.
    fn operand_end(&self, mut at: usize) -> usize {
        while matches!(self.text(at), "-" | "+" | "*") {
            at += 1;
        }
        if self.text(at + 1) == "(" && self.is_word(at) {
            at += 1;
        }
        match self.text(at) {
            "(" => self.postfix_end(self.closing(at)),
            _ => self.postfix_end(at),
        }
    }

    /// Whether an operand may end with a token, so that an operator behind it has two.
    fn ends_operand(&self, at: usize) -> bool {
        match self.kind(at) {
            Some(Kind::Word) => !builtin::is_statement(self.text(at)),
            Some(Kind::Number | Kind::Literal) => true,
            _ => matches!(self.text(at), ")" | "]"),
        }
    }

    fn operand_after(&self, mut at: usize) -> Votes {
        while matches!(self.text(at), "(" | "-" | "+") {
            at += 1;
        }
        if self.is_word(at) && builtin::is_type(self.text(at)) {
            return of_type(self.text(at));
        }
        self.operand(at)
    }

    fn operand_before(&self, mut at: usize) -> Votes {
        // Back over `]` and `)` to the name they belong to.
        while matches!(self.text(at), "]" | ")") {
            let open = (0..at).rev().find(|open| self.closing(*open) == at);
            let Some(name) = open.and_then(|open| open.checked_sub(1)) else { return Votes::NONE };
            if self.text(at) == ")" && !self.is_word(name) {
                // A parenthesised expression: its first operand stands for it.
                return self.operand_after(name + 2);
            }
            at = name;
        }
        self.operand(at)
    }

    fn operand(&self, at: usize) -> Votes {
        let text = self.text(at);
        match self.kind(at) {
            Some(Kind::Number) if is_float(text) => Votes::FLOAT,
            Some(Kind::Number) => Votes::WEAK_INTEGER,
            Some(Kind::Literal) => Votes::INTEGER,
            Some(Kind::Word) => {
                if self.text(at + 1) == "(" {
                    return self.result_of(at).map_or(Votes::NONE, of_type);
                }
                let end = self.postfix_end(at);
                let member = end > at + 1 && matches!(self.text(end - 2), "." | "->");
                let mut votes = self.type_of(text, at).map_or(Votes::NONE, of_type);
                if member {
                    votes.lanes = 0;
                }
                votes
            }
            _ => Votes::NONE,
        }
    }

    /// The type that a call gives. clang's headers make `__builtin_astype((x), TYPE)` of `as_TYPE(x)`.
    fn result_of(&self, call: usize) -> Option<&'a str> {
        match self.text(call) {
            "__builtin_astype" => {
                let type_name = self.before(self.closing(call + 1));
                builtin::is_type(type_name).then_some(type_name)
            }
            function => builtin::result(function),
        }
    }

    /// Evidence from the bracket that encloses an operand.
    fn bracket(&self, open: usize, operand: usize) -> Votes {
        match self.text(open) {
            "[" => Votes::INTEGER,
            "(" => {
                let head = self.before(open);
                let Some(at) = open.checked_sub(1) else { return Votes::NONE };
                match head {
                    "switch" => Votes::INTEGER,
                    "for" | "while" | "if" => Votes::WEAK_INTEGER,
                    "reqd_work_group_size"
                    | "work_group_size_hint"
                    | "aligned"
                    | "opencl_unroll_hint" => Votes::INTEGER,
                    _ if self.is_word(at) => {
                        // A conversion keeps the lanes, and takes elements of any kind.
                        if let Some(lanes) = converted_lanes(head) {
                            return Votes { lanes, ..Votes::NONE };
                        }
                        let nth = self.argument(open, operand);
                        builtin::parameter(head, nth)
                            .map_or_else(|| self.own_parameter(head, nth), of_type)
                    }
                    // Brackets of an expression: what is around them counts.
                    _ => {
                        let outer = self.votes(open, self.closing(open) + 1);
                        Votes { integer: outer.integer.min(1), float: outer.float.min(1), lanes: 0 }
                    }
                }
            }
            _ => Votes::NONE,
        }
    }

    /// Which argument of the list that `open` begins holds `operand`.
    pub(super) fn argument(&self, open: usize, operand: usize) -> usize {
        (open + 1..operand)
            .filter(|at| self.text(*at) == "," && self.enclosing(*at) == Some(open))
            .count()
    }

    /// The type of a parameter of one of the program's own functions.
    fn own_parameter(&self, function: &str, nth: usize) -> Votes {
        for at in self.places(function) {
            let open = at + 1;
            if self.text(open) != "("
                || !(self.is_word(at.wrapping_sub(1)) || self.before(at) == "*")
            {
                continue;
            }
            let close = self.closing(open);
            let mut comma = 0;
            let mut found = None;
            for place in open + 1..close {
                if self.text(place) == "," && self.enclosing(place) == Some(open) {
                    comma += 1;
                } else if comma == nth && builtin::is_type(self.text(place)) {
                    found = Some(self.text(place));
                }
            }
            if let Some(type_name) = found {
                return of_type(type_name);
            }
        }
        Votes::NONE
    }

    /// The type that the function around `at` returns.
    fn result(&self, at: usize) -> Votes {
        let mut outer = self.enclosing(at);
        while let Some(open) = outer {
            match self.enclosing(open) {
                Some(next) => outer = Some(next),
                None => {
                    let from = open.saturating_sub(64);
                    let start = (from..open)
                        .rev()
                        .find(|at| matches!(self.text(*at), ";" | "}"))
                        .map_or(from, |at| at + 1);
                    let found = (start..open).find(|at| builtin::is_type(self.text(*at)));
                    return found.map_or(Votes::NONE, |at| of_type(self.text(at)));
                }
            }
        }
        Votes::NONE
    }

    /// Votes of all uses of the variables in `names`, each counted from its place to the end of the
    /// outermost bracket that holds it.
    pub(super) fn votes_of_variable(&self, name: &str, from: usize, to: usize) -> Votes {
        let mut votes = Votes::default();
        for at in (from..to.min(self.tokens.len()))
            .filter(|at| self.is_word(*at) && self.text(*at) == name)
        {
            if matches!(self.before(at), "." | "->") {
                continue;
            }
            votes.add(self.votes(at, self.postfix_end(at)));
        }
        votes
    }

    /// Where what holds `at` ends: the closing bracket of the outermost block around it, or, for a
    /// parameter, of the body that follows its list.
    pub(super) fn scope_end(&self, at: usize) -> usize {
        let mut outermost = None;
        let mut outer = self.enclosing(at);
        while let Some(open) = outer {
            outermost = Some(open);
            outer = self.enclosing(open);
        }
        match outermost {
            None => self.tokens.len(),
            Some(open) if self.text(open) == "(" => {
                let body = (self.closing(open)..self.tokens.len())
                    .find(|at| matches!(self.text(*at), "{" | ";"));
                body.map_or(self.tokens.len(), |body| {
                    if self.text(body) == "{" { self.closing(body) } else { body }
                })
            }
            Some(open) => self.closing(open),
        }
    }
}

/// Whether a number literal is a floating-point one.
pub(super) fn is_float(number: &str) -> bool {
    let hexadecimal = number.starts_with("0x") || number.starts_with("0X");
    number.contains('.')
        || (!hexadecimal && number.contains(['e', 'E', 'f', 'F']))
        || (hexadecimal && number.contains(['p', 'P']))
}

/// The lanes of the vector that a function converts into another one.
fn converted_lanes(function: &str) -> Option<u32> {
    let (_, lanes) = builtin::split_lanes(builtin::converted(function)?);
    (lanes > 1).then_some(lanes)
}

fn of_type(type_name: &str) -> Votes {
    let (base, lanes) = builtin::split_lanes(type_name);
    let mut votes = match base {
        "float" | "double" | "half" => Votes::FLOAT,
        "void" => Votes::NONE,
        _ => Votes::INTEGER,
    };
    votes.lanes = lanes;
    if lanes > 1 {
        // An operand beside a vector may be a scalar; the element's kind is what counts.
        votes = Votes {
            lanes,
            ..if votes.float > 0 { Votes::WEAK_FLOAT } else { Votes::WEAK_INTEGER }
        };
    }
    votes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the surroundings of the first `X` say, in a function with these variables: for an integer, for a
    /// floating-point number, and the lanes.
    fn votes(statement: &str) -> (u32, u32, u32) {
        let text = format!(
            "void g(float first, int second) {{ }}\n\
             void f(float x, int n, float4 v, int4 w, float* p) {{ {statement} }}"
        );
        let usage = Usage::of(&text);
        let at = usage.places("X")[0];
        let votes = usage.votes(at, usage.postfix_end(at));
        (votes.integer, votes.float, votes.lanes)
    }

    #[test]
    fn operators_of_integers_say_integer() {
        for operator in ["%", "<<", ">>", "&", "|", "^", "%=", "<<=", ">>=", "&=", "|=", "^="] {
            assert_eq!(votes(&format!("X {operator} q;")), (2, 0, 0), "{operator}");
        }
        for statement in ["q % X;", "~X;", "X++;", "--X;", "q & X;", "p[n] & X;", "2 & X;"] {
            assert_eq!(votes(statement), (2, 0, 0), "{statement}");
        }
        for statement in ["q = &X;", "q = n + *&X;", "h(&X);", "return &X;"] {
            assert_eq!(votes(statement).0, 0, "{statement}");
        }
        for statement in ["X && q;", "q || X;", "!X;"] {
            assert_eq!(votes(statement), (1, 0, 0), "{statement}");
        }
    }

    #[test]
    fn operands_of_arithmetic_say_what_they_are() {
        for (statement, wanted) in [
            ("q + X;", (0, 0, 0)),
            ("X + 1;", (1, 0, 0)),
            ("X + 1.5f;", (0, 2, 0)),
            ("X + 'a';", (2, 0, 0)),
            ("X - -2.0f;", (0, 2, 0)),
            ("X * (2.0f + q);", (0, 2, 0)),
            ("X = x;", (0, 2, 1)),
            ("n < X;", (2, 0, 1)),
            ("X += (float)q;", (0, 2, 1)),
            ("X = q * x;", (0, 2, 1)),
            ("X += q[n].y * 0.5f;", (0, 2, 0)),
            ("X -= n * (q + v);", (0, 1, 4)),
            ("X = -q + (float)n * q;", (0, 2, 1)),
            ("X = n * unknown(x);", (2, 0, 1)),
            ("X = (int)(x * 2.0f);", (2, 0, 1)),
            ("X = (int)(x * 2.0f) + 0.5f;", (0, 2, 0)),
            ("X = q < 0.5f;", (0, 0, 0)),
            ("X = q ? 0.5f : x;", (0, 0, 0)),
            ("X = n << 2 * x;", (2, 0, 1)),
            ("X = &x;", (0, 0, 0)),
            ("X = __builtin_astype((x), int);", (2, 0, 1)),
            ("X = __builtin_astype((q), float4);", (0, 1, 4)),
            ("X = q * __builtin_astype((n), float);", (0, 2, 1)),
            ("X = __builtin_astype((x), thing);", (0, 0, 0)),
            ("X * v;", (0, 1, 4)),
            ("X - w;", (1, 0, 4)),
            ("X / v.x;", (0, 1, 0)),
            ("X * p[n];", (0, 2, 1)),
            ("X * sqrt(q);", (0, 2, 1)),
            ("X + get_global_id(0);", (2, 0, 1)),
            ("X + unknown(1.0f);", (0, 0, 0)),
            ("sqrt(q) * X;", (0, 2, 1)),
            ("p[q] * X;", (0, 2, 1)),
            ("(x + q) * X;", (0, 2, 1)),
            ("((x)) * X;", (0, 2, 1)),
            ("1.0f / X;", (0, 2, 0)),
            ("X[n].y * 2.0f;", (0, 2, 0)),
            ("q ? X : x;", (0, 2, 1)),
            ("n ? q : X;", (0, 0, 0)),
            ("n = (float)q; q * X;", (0, 0, 0)),
            ("void* r; r = X;", (0, 0, 1)),
        ] {
            assert_eq!(votes(statement), wanted, "{statement}");
        }
    }

    #[test]
    fn brackets_say_what_stands_in_them() {
        for (statement, wanted) in [
            ("q[X];", (2, 0, 0)),
            ("switch (X) { }", (2, 0, 0)),
            ("if (X) q;", (1, 0, 0)),
            ("while (X) q;", (1, 0, 0)),
            ("for (X; ; ) q;", (1, 0, 0)),
            ("int a __attribute__((aligned(X)));", (2, 0, 0)),
            ("sqrt(X);", (0, 2, 1)),
            ("pown(X, q);", (0, 2, 1)),
            ("pown(q, X);", (2, 0, 1)),
            ("vload4(X, q);", (2, 0, 1)),
            ("barrier(X);", (2, 0, 1)),
            ("max(X, q);", (0, 0, 0)),
            ("convert_uchar4(X);", (0, 0, 4)),
            ("convert_float2_rte(X * 0.5f);", (0, 2, 2)),
            ("X = convert_float4(q);", (0, 1, 4)),
            ("X + convert_uchar(q);", (2, 0, 1)),
            // The program's own function, and one that calls it.
            ("g(X, q);", (0, 2, 1)),
            ("g(q, X);", (2, 0, 1)),
            ("g(max(q, q), X);", (2, 0, 1)),
            ("h(X);", (0, 0, 0)),
            ("q = h((float)q); h(X);", (0, 0, 0)),
            // An expression's brackets: what is around them.
            ("(X) * x;", (0, 1, 0)),
            ("x * (X);", (0, 1, 0)),
            ("(X) % q;", (1, 0, 0)),
            ("switch (q) { case X: q; }", (2, 0, 0)),
        ] {
            assert_eq!(votes(statement), wanted, "{statement}");
        }
    }

    #[test]
    fn a_result_has_the_type_of_its_function() {
        for (text, wanted) in [
            ("int q; float f(int a) { return X; }", (0, 2)),
            ("float q(int a) { return 1; } int f(float a) { if (a) { return X; } }", (2, 0)),
            ("thing f(int a[4]) { return X; }", (2, 0)),
            ("return X;", (0, 0)),
        ] {
            let usage = Usage::of(text);
            let votes = usage.votes(usage.places("X")[0], usage.places("X")[0] + 1);
            assert_eq!((votes.integer, votes.float), wanted, "{text}");
        }
    }

    #[test]
    fn a_variable_has_the_type_of_its_last_declaration() {
        let text = "float a, *b, c = 1, d; int e; const uint4 h, k; void f(char l, m) { int a; a; } a; half const o";
        let usage = Usage::of(text);
        let type_of = |name: &str, at: usize| usage.type_of(name, at);
        let end = usage.tokens.len();
        for (name, wanted) in [
            ("b", Some("float")),
            ("c", Some("float")),
            ("d", None),
            ("e", Some("int")),
            ("h", Some("uint4")),
            ("k", Some("uint4")),
            ("l", Some("char")),
            ("o", Some("half")),
            ("q", None),
        ] {
            assert_eq!(type_of(name, end), wanted, "{name}");
        }
        let places = usage.places("a");
        assert_eq!(
            places.iter().map(|at| type_of("a", *at)).collect::<Vec<_>>(),
            [None, Some("float"), Some("int"), Some("int")]
        );
    }

    #[test]
    fn a_name_is_known_to_the_end_of_what_holds_it() {
        let text = "int t; void p(int a); void f(float b) { { int c; } } void g() { }";
        let usage = Usage::of(text);
        let end = |name: &str| usage.scope_end(usage.places(name)[0]);
        assert_eq!(end("t"), usage.tokens.len());
        assert_eq!(usage.text(end("a")), ";");
        assert_eq!((end("b"), usage.text(end("b") + 1)), (end("c"), "void"));
        let open = (0..usage.tokens.len()).find(|at| usage.text(*at) == "{").expect("a body");
        assert_eq!(usage.closing(open), end("b"));
        assert_eq!(usage.closing(usage.tokens.len()), usage.tokens.len());
    }

    #[test]
    fn all_uses_of_a_variable_count_and_members_of_its_name_do_not() {
        let text = "X % 2; s.X * 1.0f; s->X * 1.0f; X = 3.0f; X % 2;";
        let usage = Usage::of(text);
        let last = usage.places("X")[2];
        let votes = usage.votes_of_variable("X", 0, last);
        assert_eq!((votes.integer, votes.float), (2, 2));
        assert_eq!(usage.votes_of_variable("X", 0, usage.tokens.len() + 5).integer, 4);
        assert_eq!(usage.places("X").len(), 3);
    }

    #[test]
    fn arguments_are_counted_in_their_own_list() {
        let usage = Usage::of("h(g(1, 2), a[3, 4], X, 5)");
        assert_eq!(usage.argument(1, usage.places("X")[0]), 2);
        assert_eq!(usage.argument(1, 2), 0);
    }

    #[test]
    fn numbers_of_floating_point_have_a_point_or_an_exponent_or_say_so() {
        for number in ["1.0", "1.", "1e5", "2E3", "1f", "2F", "0x1p3", "0X1P-3", "0x1.8p1"] {
            assert!(is_float(number), "{number}");
        }
        for number in ["1", "10u", "0x1F", "0XE", "0xefU", "7L"] {
            assert!(!is_float(number), "{number}");
        }
    }
}
