//! What a macro of the host program makes of its arguments, where that is a string.

use super::{
    Lexer,
    c::C,
    token::{Kind, Lexed},
};

/// Macros that use macros.
const DEPTH: u32 = 4;
/// A longer body is no stringifying macro's.
const BODY: usize = 1 << 12;

/// The string that `name` or `name(arguments)` stands for; `None` where it is no string, or not
/// known to be one.
pub(super) fn string(lexed: &Lexed<'_>, name: &str, arguments: Option<&str>) -> Option<String> {
    let value = expand(lexed, name, arguments, DEPTH)?;
    value.is_string.then_some(value.text)
}

struct Value {
    text: String,
    is_string: bool,
}

fn expand(lexed: &Lexed<'_>, name: &str, arguments: Option<&str>, depth: u32) -> Option<Value> {
    let known = lexed.macros.get(name).filter(|known| known.body.len() <= BODY)?;
    let depth = depth.checked_sub(1)?;
    let given: Vec<(&str, &str)> = match (&known.parameters, arguments) {
        (None, None) => Vec::new(),
        (Some(parameters), Some(arguments)) => bind(parameters, arguments),
        _ => return None,
    };
    let argument =
        |word: &str| given.iter().find(|(name, _)| *name == word).map(|(_, value)| *value);
    let body = C.lex(known.body);
    let (mut text, mut is_string) = (String::new(), false);
    let mut at = 0;
    while let Some(token) = body.tokens.get(at) {
        at += 1;
        match &token.kind {
            Kind::Text(value) => {
                text.push_str(value);
                is_string = true;
            }
            // `#parameter`.
            Kind::Mark(b'#') => {
                text.push_str(argument(body.word(known.body, at)?)?.trim());
                is_string = true;
                at += 1;
            }
            // The lexer takes a `#` that begins the body for a directive: `#__VA_ARGS__`.
            Kind::Word => {
                let word = &known.body[token.from..token.to];
                if body.is(at, b'(') {
                    let close = body.closing(at)?;
                    let inner = &known.body[body.tokens[at].to..body.tokens[close].from];
                    // An argument that is itself a macro is expanded before it is passed on.
                    let passed = argument(inner.trim()).unwrap_or(inner);
                    let passed = match expand(lexed, passed.trim(), None, depth) {
                        Some(value) => value.text,
                        None => passed.to_owned(),
                    };
                    let value = expand(lexed, word, Some(&passed), depth)?;
                    text.push_str(&value.text);
                    is_string |= value.is_string;
                    at = close + 1;
                } else if let Some(value) = expand(lexed, word, None, depth) {
                    text.push_str(&value.text);
                    is_string |= value.is_string;
                } else if word.starts_with(|c: char| c.is_ascii_digit()) {
                    text.push_str(word);
                } else {
                    return None;
                }
            }
            _ => return None,
        }
    }
    // A body of one stringified parameter reads like a directive, which leaves no token.
    if body.tokens.is_empty() {
        let parameter = known.body.trim().strip_prefix('#')?.trim();
        return Some(Value { text: argument(parameter)?.trim().to_owned(), is_string: true });
    }
    Some(Value { text, is_string })
}

/// Arguments by their parameters' names; the last takes all the rest where it is `...`, and also
/// where there are more arguments than parameters, as kernels are full of commas.
fn bind<'a>(parameters: &[&'a str], arguments: &'a str) -> Vec<(&'a str, &'a str)> {
    let mut bound = Vec::new();
    let mut rest = arguments;
    for (at, parameter) in parameters.iter().enumerate() {
        let last = at + 1 == parameters.len();
        let value = match split(rest).filter(|_| !last) {
            Some((value, behind)) => {
                rest = behind;
                value
            }
            None => std::mem::take(&mut rest),
        };
        let name =
            if *parameter == "..." { "__VA_ARGS__" } else { parameter.trim_end_matches("...") };
        bound.push((name, value));
    }
    bound
}

/// At the first comma outside all brackets.
fn split(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_i32;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b',' if depth == 0 => return Some((&text[..at], &text[at + 1..])),
            _ => {}
        }
    }
    None
}
