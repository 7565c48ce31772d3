//! A program without what says nothing of the way it computes: macros and constants are put in, and functions that
//! nothing calls and loops that only fill arrays are taken out.

use crate::token::{Kind, Token, statements, tokens};
use std::collections::BTreeMap;

/// The tokens of that program. In one without `main` any function may be called from elsewhere, and all stay.
pub(super) fn normal<'a>(program: &[Token<'a>]) -> Vec<Token<'a>> {
    let tokens = expanded(program);
    let has_main = tokens.iter().any(|token| token.text == "main");
    without_fills(&if has_main { without_unused(tokens) } else { tokens })
}

/// A macro or a constant: its parameters, and what stands for it.
struct Macro<'a> {
    parameters: Option<Vec<&'a str>>,
    body: Vec<Token<'a>>,
}

/// What a program may grow to by its macros, in tokens.
const EXPANDED: usize = 100_000;

/// A program with what its macros and constants stand for in their places.
fn expanded<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    let macros = macros(tokens);
    let mut tokens = tokens.to_vec();
    // Macros in macros; more are rare.
    for _ in 0..4 {
        let mut next = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            if next.len() > EXPANDED {
                return tokens;
            }
            let token = tokens[at];
            at += 1;
            let Some(found) = macros.get(token.text) else {
                next.push(token);
                continue;
            };
            let Some(parameters) = &found.parameters else {
                next.extend(&found.body);
                continue;
            };
            let call = tokens.get(at).is_some_and(|token| token.text == "(");
            let Some(end) = closing(&tokens, at).filter(|_| call) else {
                next.push(token);
                continue;
            };
            let given = arguments(&tokens[at + 1..end]);
            at = end + 1;
            for token in &found.body {
                match parameters.iter().position(|name| *name == token.text) {
                    Some(place) => next.extend(given.get(place).copied().unwrap_or_default()),
                    None => next.push(*token),
                }
            }
        }
        tokens = next;
    }
    tokens
}

fn macros<'a>(program: &[Token<'a>]) -> BTreeMap<&'a str, Macro<'a>> {
    let mut macros = BTreeMap::new();
    for token in program.iter().filter(|token| token.kind == Kind::Directive) {
        let text = token.text.trim_start_matches('#').trim_start();
        let Some(text) = text.strip_prefix("define").map(str::trim_start) else { continue };
        let mut body = tokens(text);
        body.retain(|token| token.text != "\\");
        let Some(name) = body.first().copied() else { continue };
        let mut parameters = None;
        let mut from = 1;
        if text[name.end()..].starts_with('(')
            && let Some(end) = closing(&body, 1)
        {
            let names = body[2..end].iter().filter(|token| token.kind == Kind::Word);
            parameters = Some(names.map(|token| token.text).collect());
            from = end + 1;
        }
        body.drain(..from);
        if body.iter().any(|token| token.text == name.text || token.text.starts_with('#')) {
            continue;
        }
        macros.insert(name.text, Macro { parameters, body });
    }
    for statement in statements(program) {
        let is_constant = statement.iter().any(|t| matches!(t.text, "const" | "constexpr"));
        let set = statement.iter().position(|token| token.text == "=");
        if let Some(set) = set
            && is_constant
            && set > 0
            && let Some(value) = statement.get(set + 1..statement.len() - 1)
            && value.iter().all(|token| {
                token.kind == Kind::Number || matches!(token.text, "+" | "-" | "*" | "<<")
            })
        {
            macros
                .insert(statement[set - 1].text, Macro { parameters: None, body: value.to_vec() });
        }
    }
    macros
}

/// Where the bracket that opens at `at` closes.
fn closing(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let (open, close) = match tokens.get(at)?.text {
        "(" => ("(", ")"),
        "{" => ("{", "}"),
        "[" => ("[", "]"),
        _ => return None,
    };
    let mut depth = 0_usize;
    let end = tokens[at..].iter().position(|token| {
        if token.text == open {
            depth += 1;
        } else if token.text == close {
            depth -= 1;
        }
        depth == 0
    });
    end.map(|end| at + end)
}

/// What commas part.
fn arguments<'s, 'a>(tokens: &'s [Token<'a>]) -> Vec<&'s [Token<'a>]> {
    let mut depth = 0_usize;
    let parts = tokens.split(|token| {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        token.text == "," && depth == 0
    });
    parts.collect()
}

/// A function: its name, and where it, its body and what follows begin.
pub(super) struct Function<'a> {
    pub(super) name: &'a str,
    from: usize,
    pub(super) body: usize,
    pub(super) to: usize,
}

pub(super) fn functions<'a>(tokens: &[Token<'a>]) -> Vec<Function<'a>> {
    let mut found = Vec::new();
    let mut from = 0;
    for (at, token) in tokens.iter().enumerate() {
        if matches!(token.text, ";" | "{" | "}" | ":") || token.kind == Kind::Directive {
            from = at + 1;
        }
        let Some(before) = at.checked_sub(1).map(|before| tokens[before]) else { continue };
        let typed = before.kind == Kind::Word && !matches!(before.text, "else" | "return")
            || matches!(before.text, ">" | "*" | "&");
        let is_keyword = matches!(token.text, "for" | "if" | "switch" | "while");
        if token.kind != Kind::Word || is_keyword || !typed || at == from {
            continue;
        }
        let is_call = tokens.get(at + 1).is_some_and(|token| token.text == "(");
        let Some(end) = closing(tokens, at + 1).filter(|_| is_call) else { continue };
        let body = end + 1 + usize::from(tokens.get(end + 1).is_some_and(|t| t.text == "const"));
        if tokens.get(body).is_some_and(|token| token.text == "{")
            && let Some(to) = closing(tokens, body)
        {
            found.push(Function { name: token.text, from, body, to: to + 1 });
        }
    }
    found
}

/// A program without the functions that nothing else names.
fn without_unused(mut tokens: Vec<Token<'_>>) -> Vec<Token<'_>> {
    loop {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for token in &tokens {
            *counts.entry(token.text).or_default() += 1;
        }
        let is_unused = |one: &Function<'_>| {
            let inside = tokens[one.from..one.to].iter().filter(|t| t.text == one.name).count();
            one.name != "main" && counts.get(one.name) == Some(&inside)
        };
        let mut unused = functions(&tokens);
        unused.retain(is_unused);
        if unused.is_empty() {
            return tokens;
        }
        let mut at = 0;
        tokens.retain(|_| {
            at += 1;
            !unused.iter().any(|one| (one.from..one.to).contains(&(at - 1)))
        });
    }
}

/// A program without the loops that set elements of arrays to one value, as `memset` does.
fn without_fills<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if let Some(end) = fill(tokens, at, NESTED) {
            at = end;
        } else {
            kept.push(tokens[at]);
            at += 1;
        }
    }
    kept
}

/// Loops in loops, at most.
const NESTED: usize = 8;

/// Where such a loop ends.
fn fill(tokens: &[Token<'_>], at: usize, depth: usize) -> Option<usize> {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text);
    if text(at) != "for" || depth == 0 {
        return None;
    }
    let end = closing(tokens, at + 1)?;
    if !tokens[at..end].iter().any(|token| token.text == "++") {
        return None;
    }
    let block = text(end + 1) == "{";
    let mut at = end + 1 + usize::from(block);
    loop {
        at = fill(tokens, at, depth - 1).or_else(|| set(tokens, at))?;
        if !block || text(at) == "}" {
            return Some(at + usize::from(block));
        }
    }
}

/// Where `name[i]… = value;` ends.
fn set(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text);
    let mut at = at + 1;
    while text(at) == "[" && text(at + 2) == "]" {
        at += 3;
    }
    if text(at) != "=" || text(at - 1) != "]" {
        return None;
    }
    let at = at + 1 + usize::from(text(at + 1) == "-");
    (text(at + 1) == ";").then_some(at + 2)
}
