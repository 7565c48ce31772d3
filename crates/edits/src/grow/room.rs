//! How much programs have room for: the lengths of their arrays.

use crate::token::{Kind, Token, statements, tokens};
use std::collections::BTreeMap;

/// Tokens of a length, or of what stands in angle brackets, at most.
const TOKENS: usize = 64;

/// The largest count that all programs with arrays have room for, without what people add to be on the safe side. Arrays that are
/// too short for `least` are none of those that hold an input.
pub(super) fn room<'a>(programs: impl Iterator<Item = &'a str>, least: i64) -> Option<i64> {
    let all = programs.filter_map(|code| lengths(code).into_iter().max());
    all.filter(|largest| *largest >= least).min().map(|room| round(room).max(least))
}

/// The lengths of arrays and vectors that a program declares with a constant.
fn lengths(code: &str) -> Vec<i64> {
    let all = tokens(code);
    let constants = constants(&all);
    let mut found = Vec::new();
    for at in 0..all.len() {
        let names = |at: usize| all.get(at).is_some_and(|token| token.kind == Kind::Word);
        let is = |at: usize, text: &str| all.get(at).is_some_and(|token| token.text == text);
        if is(at + 1, "[") && (names(at) || is(at, "]")) {
            let length = inside(&all[at + 2..], "[", &["]"]);
            // A table says nothing about inputs.
            let behind = at + 2 + length.len() + 1;
            if !is(behind, "=") && !is(behind, "{") {
                found.extend(value(length, &constants));
            }
        } else if is(at, "vector") && is(at + 1, "<") {
            let name = at + 2 + type_length(&all[at + 2..]) + 1;
            if names(name) && is(name + 1, "(") {
                found.extend(value(inside(&all[name + 2..], "(", &[")", ","]), &constants));
            }
        }
    }
    found
}

/// The tokens up to the one that closes the angle bracket before them.
fn type_length(tokens: &[Token<'_>]) -> usize {
    let mut depth = 1;
    let closes = |token: &Token<'_>| {
        depth += match token.text {
            "<" => 1,
            ">" => -1,
            ">>" => -2,
            _ => 0,
        };
        depth <= 0
    };
    tokens.iter().take(TOKENS).position(closes).unwrap_or(tokens.len())
}

/// The tokens up to the first that closes what was opened before them.
fn inside<'t, 'a>(tokens: &'t [Token<'a>], open: &str, close: &[&str]) -> &'t [Token<'a>] {
    let tokens = &tokens[..tokens.len().min(TOKENS)];
    let mut depth = 0_u32;
    for (at, token) in tokens.iter().enumerate() {
        if token.text == open {
            depth += 1;
        } else if close.contains(&token.text) {
            match depth {
                0 => return &tokens[..at],
                _ => depth -= 1,
            }
        }
    }
    tokens
}

/// Names of constants and of macros that are numbers.
fn constants<'a>(all: &[Token<'a>]) -> BTreeMap<&'a str, i64> {
    let mut constants = BTreeMap::new();
    for statement in statements(all) {
        if let [Token { kind: Kind::Directive, text, .. }] = statement[..] {
            let define = text.trim_start_matches('#').trim_start().strip_prefix("define");
            let parts = define.and_then(|rest| rest.trim().split_once(char::is_whitespace));
            if let Some((name, text)) = parts
                && let Some(value) = value(&tokens(text), &constants)
            {
                constants.insert(name, value);
            }
        } else if statement.iter().any(|token| matches!(token.text, "const" | "constexpr")) {
            for at in 1..statement.len() {
                let rest = &statement[at + 1..];
                let end = rest.iter().position(|token| matches!(token.text, "," | ";"));
                if statement[at].text == "="
                    && let Some(value) = value(&rest[..end.unwrap_or(rest.len())], &constants)
                {
                    constants.insert(statement[at - 1].text, value);
                }
            }
        }
    }
    constants
}

/// The value of sums, products and shifts of numbers and constants.
fn value(tokens: &[Token<'_>], constants: &BTreeMap<&str, i64>) -> Option<i64> {
    if let [token] = tokens {
        return match token.kind {
            Kind::Word => constants.get(token.text).copied(),
            Kind::Number => number(token.text),
            _ => None,
        };
    }
    if tokens.len() > TOKENS {
        return None;
    }
    if let [open, inner @ .., close] = tokens
        && (open.text, close.text) == ("(", ")")
    {
        return value(inner, constants);
    }
    for operators in [&["<<"][..], &["+", "-"], &["*", "/"]] {
        let at = tokens.iter().rposition(|token| operators.contains(&token.text));
        let Some(at) = at else { continue };
        let left = value(&tokens[..at], constants)?;
        let right = value(&tokens[at + 1..], constants)?;
        return match tokens[at].text {
            "+" => left.checked_add(right),
            "-" => left.checked_sub(right),
            "*" => left.checked_mul(right),
            "/" => left.checked_div(right),
            _ => left.checked_mul(1_i64.checked_shl(u32::try_from(right).ok()?)?),
        };
    }
    None
}

fn number(text: &str) -> Option<i64> {
    let text = text.replace('\'', "");
    let digits = text.trim_end_matches(['u', 'l', 'U', 'L']);
    if let Some(digits) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        return i64::from_str_radix(digits, 16).ok();
    }
    // `1e5` is a number of C++ that ends up as a length, too.
    let number = digits.parse::<f64>().ok()?;
    (number.abs() <= 1e15).then_some(number as i64)
}

/// Without what is added to a round length: of 100005 the 100000, of 1024 the 1000, of 128 the 120.
fn round(length: i64) -> i64 {
    let mut unit = 1;
    while length / unit >= 10 {
        unit *= 10;
    }
    let one_digit = length / unit * unit;
    if (length - one_digit) * 10 <= length || unit == 1 {
        return one_digit;
    }
    length / (unit / 10) * (unit / 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_told_from_declarations() {
        let program = "#define MAX 100005\n#define SQUARE(x) ((x) * (x))\nconst int M = 1e3 + 10, K = M * 2;\n\
                       int a[MAX], b[M][K + 1]; long long c[1 << 20]; int way[4] = {1, 0, -1, 0};\n\
                       int main() { vector<pair<int, int>> v(3 * 50, 0); vector<int> w(n); a[i] = b[0][i]; }";
        assert_eq!(lengths(program), [100_005, 1010, 2021, 1 << 20, 150, 0]);
        assert_eq!(
            lengths("char s[0x10]; int t[10000u]; int u[n + 1]; int v[(1 + 2)];"),
            [16, 10_000, 3]
        );
    }

    #[test]
    fn room_is_what_the_tightest_program_has() {
        let all =
            ["int a[100005];", "int a[200000];", "int main() { vector<int> a(n); }", "int w[8];"];
        assert_eq!(room(all.into_iter(), 10), Some(100_000));
        assert_eq!(room(all[2..].iter().copied(), 10), None);
        let round = [100, 101, 110, 128, 1024, 2005, 150_000, 21, 25, 7].map(round);
        assert_eq!(round, [100, 100, 100, 120, 1000, 2000, 150_000, 20, 25, 7]);
        // Of a sample that needs more, no less.
        assert_eq!(room(["int a[21];"].into_iter(), 21), Some(21));
    }
}
