//! What a kernel does, less the ways of saying it that make no other kernel: which elements next to each other it uses, how
//! it names its work-item, what stands first in a sum.

use super::{NAME, NUMBER};
use std::mem::take;

/// Numbers of these types are alike.
const TYPES: [&str; 14] = [
    "int", "uint", "float", "size_t", "ulong", "long", "double", "half", "char", "uchar", "short",
    "ushort", "unsigned", "bool",
];

/// Binary operators, those that bind least first.
const OPERATORS: [&[&str]; 12] = [
    &[","],
    &["=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^="],
    &["?", ":"],
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", ">", "<=", ">=", "<<", ">>"],
    SUM,
    PRODUCT,
];
const SUM: &[&str] = &["+", "-"];
const PRODUCT: &[&str] = &["*", "/", "%"];
const COMMUTATIVE: [&str; 7] = ["||", "&&", "|", "^", "&", "==", "!="];

/// Parentheses within each other that are looked into: programs of others may have any number.
const DEEPEST: usize = 48;

/// A work-item's place.
const PLACE: &str = "place";

type Tokens<'a> = Vec<&'a str>;

/// Of a program whose names are one and whose numbers are one: its statements without types and casts, without what variables
/// that hold the work-item's place are declared by, accesses and branches without where and when they are but for what else
/// they read, operands in one order.
pub(super) fn canonical<'a>(plain: &[&'a str]) -> Tokens<'a> {
    let begin = plain.iter().position(|token| *token == "{").unwrap_or(0);
    let tokens = accesses(&without_types(&with_places(&plain[begin..])), 0);
    let is_end = |token: &&str| ["{", "}", ";"].contains(token);
    let mut all = Vec::new();
    for part in tokens.split_inclusive(is_end) {
        let end = part.len() - usize::from(part.last().is_some_and(is_end));
        all.extend(ordered(&part[..end], 0));
        all.extend(&part[end..]);
    }
    // A number may be given as a parameter.
    all.into_iter().map(|token| if token == NUMBER { NAME } else { token }).collect()
}

/// `get_global_id(0)` and its like become one word.
fn with_places<'a>(tokens: &[&'a str]) -> Tokens<'a> {
    let mut all = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let is_place = matches!(tokens[at..], [call, "(", _, ")", ..] if call.starts_with("get_"));
        all.push(if is_place { PLACE } else { tokens[at] });
        at += if is_place { 4 } else { 1 };
    }
    all
}

/// Without casts, with one type of numbers, and places as names.
fn without_types<'a>(tokens: &[&'a str]) -> Tokens<'a> {
    let is_type = |word: &str| TYPES.contains(&word);
    let mut all = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        at += match tokens[at..] {
            ["const", ..] => 1,
            ["(", ty, ")", ..] if is_type(ty) => 3,
            [ty, NAME, "=", PLACE, ";", ..] if is_type(ty) => 5,
            [ty, NAME, "=", "(", cast, ")", PLACE, ";", ..] if is_type(ty) && is_type(cast) => 8,
            [one, ..] => {
                all.push(match one {
                    PLACE => NAME,
                    _ if is_type(one) => TYPES[0],
                    _ => one,
                });
                1
            }
            [] => break,
        };
    }
    all
}

/// Where the bracket that opens at `at` closes.
fn closing(tokens: &[&str], at: usize) -> usize {
    let mut depth = 0_usize;
    for (place, token) in tokens.iter().enumerate().skip(at) {
        match *token {
            "(" | "[" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return place;
        }
    }
    tokens.len()
}

/// What says where a buffer is accessed, or whether something is done, gives way to the accesses in it.
fn accesses<'a>(tokens: &[&'a str], depth: usize) -> Tokens<'a> {
    let mut all = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let is_left_out = match tokens[at..] {
            [_, "[", ..] | ["if" | "while", "(", ..] => depth < DEEPEST,
            _ => false,
        };
        if depth == 0 || is_left_out {
            all.push(tokens[at]);
        }
        at += 1;
        if is_left_out {
            let close = closing(tokens, at);
            all.push(tokens[at]);
            all.extend(accesses(&tokens[at + 1..close], depth + 1));
            all.extend(tokens.get(close));
            at = close + 1;
        }
    }
    all
}

/// The operands of these operators at the top of an expression, each with the operator in front of it; the first has none.
fn operands<'a>(tokens: &[&'a str], operators: &[&str]) -> Vec<(&'a str, Tokens<'a>)> {
    let mut all = Vec::new();
    let (mut operator, mut operand) = ("", Vec::new());
    let mut depth = 0_usize;
    for token in tokens.iter().copied() {
        match token {
            "(" | "[" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            _ => {}
        }
        let is_behind_value =
            operand.last().is_some_and(|last: &&str| [")", "]"].contains(last) || is_word(last));
        if depth == 0 && is_behind_value && operators.contains(&token) {
            all.push((operator, take(&mut operand)));
            operator = token;
        } else {
            operand.push(token);
        }
    }
    all.push((operator, operand));
    all
}

/// An expression with its operands in one order, `a -= b` as `a = a - b`, sums without numbers.
fn ordered<'a>(tokens: &[&'a str], depth: usize) -> Tokens<'a> {
    for operators in OPERATORS {
        let parts = operands(tokens, operators);
        if let [(_, target), (operator, value)] = &parts[..]
            && let Some(operator @ ("+" | "-" | "*" | "/" | "%" | "&" | "|" | "^" | "<<" | ">>")) =
                operator.strip_suffix('=')
        {
            let mut all = target.clone();
            all.push("=");
            all.extend(target);
            all.extend([operator, "("]);
            all.extend(value);
            all.push(")");
            return ordered(&all, depth);
        }
        if parts.len() > 1 {
            return joined(parts, operators, depth);
        }
    }
    inside(tokens, depth)
}

/// Operands and their operators, in one order where any will do.
fn joined<'a>(parts: Vec<(&'a str, Tokens<'a>)>, operators: &[&str], depth: usize) -> Tokens<'a> {
    let mut parts: Vec<(&str, Tokens<'_>)> = if operators == SUM || operators == PRODUCT {
        let first = operators[0];
        let flat = parts.into_iter().flat_map(|part| flattened(part, operators));
        flat.map(|(operator, operand)| match operator {
            "" if first == "+" => ("+", operand),
            "" => ("*", operand),
            _ => (operator, operand),
        })
        .collect()
    } else {
        parts
    };
    for (_, operand) in &mut parts {
        *operand = ordered(operand, depth);
    }
    if operators == SUM {
        parts.retain(|(_, operand)| operand[..] != [NUMBER]);
    }
    if operators == SUM || operators == PRODUCT {
        parts.sort();
    } else if parts.iter().skip(1).all(|(operator, _)| COMMUTATIVE.contains(operator)) {
        parts.sort_by(|(_, one), (_, other)| one.cmp(other));
        // The first has no operator.
        let first = parts.iter().position(|(operator, _)| operator.is_empty()).unwrap_or(0);
        let operator = parts[0].0;
        parts[first].0 = operator;
        parts[0].0 = "";
    }
    let all = parts.into_iter().flat_map(|(operator, operand)| {
        std::iter::once(operator).filter(|one| !one.is_empty()).chain(operand)
    });
    all.collect()
}

/// An operand of a sum or product without parentheses that need not be; a sum in a sum, and a product in a product, are several.
fn flattened<'a>(part: (&'a str, Tokens<'a>), operators: &[&str]) -> Vec<(&'a str, Tokens<'a>)> {
    let (mut flat, mut rest, mut opened) = (Vec::new(), vec![part], 0);
    while let Some((operator, operand)) = rest.pop() {
        let inner = if opened < DEEPEST { opened_up(operator, &operand, operators) } else { None };
        match inner {
            Some(inner) => {
                rest.extend(inner);
                opened += 1;
            }
            None => flat.push((operator, operand)),
        }
    }
    flat
}

/// The operands in the parentheses of one.
fn opened_up<'a>(
    operator: &'a str,
    operand: &[&'a str],
    operators: &[&str],
) -> Option<Vec<(&'a str, Tokens<'a>)>> {
    let ["(", inner @ .., ")"] = operand else { return None };
    let mut looser = OPERATORS.iter().take_while(|one| **one != operators);
    let is_whole = closing(operand, 0) + 1 == operand.len();
    if !is_whole || looser.any(|one| operands(inner, one).len() > 1) {
        return None;
    }
    let mut parts = operands(inner, operators);
    let is_open = parts.len() == 1 || ["+", "*", ""].contains(&operator);
    parts[0].0 = operator;
    is_open.then_some(parts)
}

/// What stands in parentheses and brackets, each in order; none around a single word.
fn inside<'a>(tokens: &[&'a str], depth: usize) -> Tokens<'a> {
    let mut all = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if !["(", "["].contains(&tokens[at]) {
            all.push(tokens[at]);
            at += 1;
            continue;
        }
        let close = closing(tokens, at);
        if close == tokens.len() || depth == DEEPEST {
            all.extend(&tokens[at..]);
            break;
        }
        let inner = ordered(&tokens[at + 1..close], depth + 1);
        let is_bare =
            tokens[at] == "(" && inner.len() == 1 && (at == 0 || !is_word(tokens[at - 1]));
        if is_bare {
            all.extend(inner);
        } else {
            all.push(tokens[at]);
            all.extend(inner);
            all.push(tokens[close]);
        }
        at = close + 1;
    }
    all
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}
