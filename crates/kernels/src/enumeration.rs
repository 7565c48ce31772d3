//! The integer type of an enumeration of C++, by the values of its enumerators.

use lexer::{Kind, Token};
use std::collections::HashMap;

/// Parentheses and signs in each other, at most.
const DEEPEST: usize = 32;

/// OpenCL C's type for the values of an enumeration: what C++ promotes them to. `body` begins with its `{`. A value that its
/// tokens alone do not tell counts for one that an `int` holds.
pub(crate) fn type_of(body: &[Token<'_>]) -> &'static str {
    let mut known: HashMap<&str, Integer> = HashMap::new();
    let mut next = Integer::of(0);
    let (mut least, mut greatest) = (0_i128, 0_i128);
    let mut depth = 0_usize;
    let enumerators = inside(body).split(|token| {
        match token.text {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && token.is(",")
    });
    for enumerator in enumerators {
        let Some(name) = enumerator.iter().find(|token| token.kind == Kind::Word) else { continue };
        let value = match enumerator.iter().position(|token| token.is("=")) {
            Some(at) => value_of(&enumerator[at + 1..], &known),
            None => next,
        };
        if let Some(found) = value {
            least = least.min(found.value);
            greatest = greatest.max(found.value);
            known.insert(name.text, found);
        }
        next = value.and_then(Integer::next);
    }
    let holds = |width: &Width| width.holds(least) && width.holds(greatest);
    Width::ALL.into_iter().find(holds).unwrap_or(Width::UnsignedLong).name()
}

/// What stands between the braces, of which the first begins `body`.
fn inside<'t, 'a>(body: &'t [Token<'a>]) -> &'t [Token<'a>] {
    let mut depth = 0_usize;
    let end = body.iter().position(|token| {
        match token.text {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    });
    body.get(1..end.unwrap_or(body.len())).unwrap_or_default()
}

/// Integer types, narrow ones first: of two the later is what both are converted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Width {
    Int,
    Unsigned,
    Long,
    UnsignedLong,
}

impl Width {
    const ALL: [Width; 4] = [Width::Int, Width::Unsigned, Width::Long, Width::UnsignedLong];

    fn name(self) -> &'static str {
        match self {
            Width::Int => "int",
            Width::Unsigned => "uint",
            Width::Long => "long",
            Width::UnsignedLong => "ulong",
        }
    }

    fn is_unsigned(self) -> bool {
        matches!(self, Width::Unsigned | Width::UnsignedLong)
    }

    /// A value as this type has it.
    fn wrapped(self, value: i128) -> i128 {
        match self {
            Width::Int => i128::from(value as i32),
            Width::Unsigned => i128::from(value as u32),
            Width::Long => i128::from(value as i64),
            Width::UnsignedLong => i128::from(value as u64),
        }
    }

    fn holds(self, value: i128) -> bool {
        self.wrapped(value) == value
    }
}

/// A constant and its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Integer {
    value: i128,
    width: Width,
}

impl Integer {
    /// In the narrowest type that holds it, if any does.
    fn of(value: i128) -> Option<Integer> {
        let width = Width::ALL.into_iter().find(|width| width.holds(value))?;
        Some(Integer { value, width })
    }

    /// The one after it, of its type where that holds it.
    fn next(self) -> Option<Integer> {
        let value = self.value + 1;
        if self.width.holds(value) {
            return Some(Integer { value, ..self });
        }
        Integer::of(value)
    }

    /// A literal: its suffix says what type it has at least, and in base ten none is unsigned that does not say so.
    fn literal(text: &str) -> Option<Integer> {
        let text = text.replace('\'', "").to_lowercase();
        let digits = text.trim_end_matches(['u', 'l']);
        let suffix = &text[digits.len()..];
        let (is_unsigned, is_long) = (suffix.contains('u'), suffix.contains('l'));
        let (digits, radix) = match (digits.strip_prefix("0x"), digits.strip_prefix("0b")) {
            (Some(digits), _) => (digits, 16),
            (_, Some(digits)) => (digits, 2),
            _ if digits.starts_with('0') => (digits, 8),
            _ => (digits, 10),
        };
        let value = i128::from(u64::from_str_radix(digits, radix).ok()?);
        let may_be = |width: &Width| match width.is_unsigned() {
            true => is_unsigned || radix != 10,
            false => !is_unsigned,
        };
        let is_wide = |width: &Width| !is_long || *width >= Width::Long;
        let mut widths = Width::ALL.into_iter().filter(may_be).filter(is_wide);
        let width = widths.find(|width| width.holds(value))?;
        Some(Integer { value, width })
    }

    fn wrapped(width: Width, value: i128) -> Integer {
        Integer { value: width.wrapped(value), width }
    }

    fn combined(self, operator: &str, other: Integer) -> Option<Integer> {
        if matches!(operator, "<<" | ">>") {
            let by = u32::try_from(other.value).ok().filter(|by| *by < 64)?;
            let value = if operator == "<<" { self.value << by } else { self.value >> by };
            return Some(Integer::wrapped(self.width, value));
        }
        let width = self.width.max(other.width);
        let (one, other) = (width.wrapped(self.value), width.wrapped(other.value));
        let value = match operator {
            "+" => one + other,
            "-" => one - other,
            "*" => one.wrapping_mul(other),
            "/" => one.checked_div(other)?,
            "%" => one.checked_rem(other)?,
            "&" => one & other,
            "^" => one ^ other,
            "|" => one | other,
            _ => return None,
        };
        Some(Integer::wrapped(width, value))
    }
}

/// The value of a constant expression of literals and enumerators.
fn value_of(tokens: &[Token<'_>], known: &HashMap<&str, Integer>) -> Option<Integer> {
    let mut reader = Reader { tokens, at: 0, known };
    let value = reader.binary(0, 0)?;
    (reader.at == tokens.len()).then_some(value)
}

/// How tightly an operator of two values binds.
fn binds(operator: &str) -> Option<u8> {
    match operator {
        "|" => Some(0),
        "^" => Some(1),
        "&" => Some(2),
        "<<" | ">>" => Some(3),
        "+" | "-" => Some(4),
        "*" | "/" | "%" => Some(5),
        _ => None,
    }
}

struct Reader<'t, 'a> {
    tokens: &'t [Token<'a>],
    at: usize,
    known: &'t HashMap<&'t str, Integer>,
}

impl Reader<'_, '_> {
    /// Operators that bind at least so tightly.
    fn binary(&mut self, least: u8, depth: usize) -> Option<Integer> {
        let mut value = self.unary(depth)?;
        while let Some(token) = self.tokens.get(self.at)
            && let Some(tightness) = binds(token.text)
            && tightness >= least
        {
            self.at += 1;
            let other = self.binary(tightness + 1, depth + 1)?;
            value = value.combined(token.text, other)?;
        }
        Some(value)
    }

    fn unary(&mut self, depth: usize) -> Option<Integer> {
        let token = self.tokens.get(self.at).filter(|_| depth < DEEPEST)?;
        self.at += 1;
        match token.text {
            "+" => self.unary(depth + 1),
            "-" => {
                let of = self.unary(depth + 1)?;
                Some(Integer::wrapped(of.width, -of.value))
            }
            "~" => {
                let of = self.unary(depth + 1)?;
                Some(Integer::wrapped(of.width, !of.value))
            }
            "(" => {
                let value = self.binary(0, depth + 1)?;
                let closes = self.tokens.get(self.at).is_some_and(|token| token.is(")"));
                self.at += 1;
                closes.then_some(value)
            }
            text if token.kind == Kind::Number => Integer::literal(text),
            text => self.known.get(text).copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lexer::Dialect;

    fn of(text: &str) -> &'static str {
        type_of(&Dialect::CPP.tokens(text).collect::<Vec<_>>())
    }

    #[test]
    fn the_type_of_an_enumeration_holds_its_values() {
        for (body, wanted) in [
            ("{ A, B }", "int"),
            ("{ A = 0x7fffffff }", "int"),
            ("{ A = 0x7fffffff, B }", "uint"),
            ("{ A = 0x80000000, B = 1 }", "uint"),
            ("{ A = 2147483648 }", "uint"),
            ("{ A = 1u << 31, B = A | 1 }", "uint"),
            ("{ A = ~0u }", "uint"),
            ("{ A = 0u, B, C = ~B }", "uint"),
            ("{ A = 1, B = A << 31 }", "int"),
            ("{ A = -1, B = 0x80000000 }", "long"),
            ("{ A = 1ul << 40, }", "long"),
            ("{ A = 0x1'0000'0000 }", "long"),
            ("{ A = ~0ULL, B = (3 + 4) * 2 }", "ulong"),
            ("{ A = -2147483647 - 1 }", "int"),
            // What is not told by itself.
            ("{ A = sizeof(int), B, C = 0xffffffff } x = { 1 };", "uint"),
            ("{ A = f(1, 0xffffffff), B }", "int"),
            ("{ A = 1 / 0, B = 010, C = 1.5f, D = 1 <<", "int"),
        ] {
            assert_eq!(of(body), wanted, "{body}");
        }
    }

    #[test]
    fn values_of_any_depth_and_length_are_read() {
        assert_eq!(of(&format!("{{ A = {}1", "(".repeat(100_000))), "int");
        assert_eq!(of(&format!("{{ A = {}1 }}", "- ".repeat(100_000))), "int");
        assert_eq!(of(&format!("{{ A = {}0x80000000 }}", "1 | ".repeat(100_000))), "uint");
        assert_eq!(of(""), "int");
    }
}
