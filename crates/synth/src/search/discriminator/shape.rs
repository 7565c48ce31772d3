//! The shape of a kernel, by its tokens alone. `scripts/shape.py` measures the same.

use lexer::{Kind, Token};
use std::collections::{HashMap, HashSet};

/// What is measured, in this order: shares and numbers for each statement, so that kernels of any length compare.
pub(super) const NAMES: [&str; 33] = [
    "tokens",
    "uses",
    "unused",
    "once",
    "parameters",
    "buffers",
    "numbers",
    "odd numbers",
    "fractions",
    "casts",
    "work-items",
    "operators",
    "comparisons",
    "logic",
    "compound",
    "steps",
    "indexes",
    "fixed indexes",
    "nested indexes",
    "nesting",
    "parentheses",
    "conditions",
    "else",
    "loops",
    "declarations",
    "calls",
    "empty",
    "vectors",
    "unsigned",
    "barriers",
    "lanes",
    "repeated",
    "idle",
];

const TYPES: [&str; 16] = [
    "bool", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double",
    "half", "size_t", "void", "unsigned", "signed",
];
const UNSIGNED: [&str; 6] = ["uchar", "ushort", "uint", "ulong", "unsigned", "size_t"];
const PLAIN: [&str; 10] = ["0", "1", "2", "3", "4", "8", "16", "32", "64", "255"];
const OPERATORS: [&str; 11] = ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "~"];
const COMPARISONS: [&str; 6] = ["<", ">", "<=", ">=", "==", "!="];
const LOGIC: [&str; 4] = ["&&", "||", "!", "?"];
const COMPOUND: [&str; 10] = ["+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="];
const WORDS: [&str; 9] =
    ["if", "for", "while", "switch", "return", "sizeof", "else", "do", "__attribute__"];

/// The shape of a kernel whose variables have the names that mined kernels have.
pub(super) fn shape(text: &str) -> [f64; NAMES.len()] {
    let tokens: Vec<Token<'_>> =
        lexer::tokens(text).filter(|token| token.kind != Kind::Directive).collect();
    let spelled: Vec<&str> = tokens.iter().map(|token| token.text).collect();
    let at = |place: usize| spelled.get(place).copied().unwrap_or("");
    let before = |place: usize| place.checked_sub(1).map_or("", at);
    let is_number = |place: usize| tokens.get(place).is_some_and(|one| one.kind == Kind::Number);
    let places =
        |test: &dyn Fn(usize) -> bool| (0..spelled.len()).filter(|one| test(*one)).count() as f64;
    let any = |words: &[&str]| places(&|one| words.contains(&at(one)));

    let all = spelled.len().max(1) as f64;
    let statements = any(&[";"]).max(1.0);
    let numbers = places(&is_number);
    let indexes = any(&["["]);
    let mut uses: HashMap<&str, usize> = HashMap::new();
    // What stands behind a point is a lane.
    for one in (0..spelled.len()).filter(|one| is_variable(at(*one)) && before(*one) != ".") {
        *uses.entry(at(one)).or_default() += 1;
    }
    let variables = uses.len().max(1) as f64;
    let used = |times: usize| uses.values().filter(|one| **one == times).count() as f64;
    let (parameters, buffers) = signature(&spelled);
    let compound = any(&COMPOUND);
    let depths = Depths::of(&spelled);
    let is_call = |one: usize| {
        at(one + 1) == "("
            && tokens[one].kind == Kind::Word
            && !WORDS.contains(&at(one))
            && !is_type(at(one))
            && !at(one).starts_with("get_")
    };
    let is_cast = |one: usize| {
        at(one) == "(" && is_type(at(one + 1)) && at(one + 2) == ")" && before(one) != "sizeof"
    };
    let is_declared = |one: usize| {
        let name = if at(one + 1) == "*" { at(one + 2) } else { at(one + 1) };
        is_type(at(one)) && is_variable(name)
    };
    // `a - a`, `a + 0`.
    let is_idle = |one: usize| {
        let (left, right) = (before(one), at(one + 1));
        OPERATORS.contains(&at(one))
            && !left.is_empty()
            && (left == right || left == "0" || right == "0")
    };
    [
        all / statements,
        uses.values().sum::<usize>() as f64 / variables,
        used(1) / variables,
        used(2) / variables,
        (1.0 + parameters).log2(),
        buffers / parameters.max(1.0),
        numbers / all,
        places(&|one| is_number(one) && !PLAIN.contains(&at(one))) / numbers.max(1.0),
        places(&|one| is_number(one) && at(one).contains('.')) / numbers.max(1.0),
        places(&is_cast) / statements,
        places(&|one| at(one).starts_with("get_")) / statements,
        any(&OPERATORS) / statements,
        any(&COMPARISONS) / statements,
        any(&LOGIC) / statements,
        compound / (compound + any(&["="])).max(1.0),
        any(&["++", "--"]) / statements,
        indexes / statements,
        places(&|one| at(one) == "[" && is_number(one + 1) && at(one + 2) == "]")
            / indexes.max(1.0),
        depths.nested / indexes.max(1.0),
        depths.nesting / all,
        depths.parentheses,
        any(&["if"]) / statements,
        any(&["else"]) / statements,
        any(&["for", "while", "do"]) / statements,
        places(&is_declared) / statements,
        places(&is_call) / statements,
        places(&|one| at(one) == "{" && at(one + 1) == "}") / statements,
        places(&|one| is_type(at(one)) && at(one).ends_with(|c: char| c.is_ascii_digit())) / all,
        places(&|one| UNSIGNED.contains(&base(at(one)))) / all,
        any(&["barrier"]) / statements,
        any(&["."]) / statements,
        repeated(&tokens),
        places(&is_idle) / statements,
    ]
}

/// A type without its lanes.
fn base(word: &str) -> &str {
    word.trim_end_matches(|c: char| c.is_ascii_digit())
}

fn is_type(word: &str) -> bool {
    TYPES.contains(&base(word))
}

/// Whether it is a name as mined kernels have them.
fn is_variable(word: &str) -> bool {
    let is_short = word.len() == 1 || word.len() == 2 && word != "do" && word != "if";
    is_short && word.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// The parameters of the first kernel, and how many of these are pointers.
fn signature(spelled: &[&str]) -> (f64, f64) {
    let kernel = spelled.iter().position(|word| ["__kernel", "kernel"].contains(word));
    let Some(kernel) = kernel else { return (0.0, 0.0) };
    let Some(open) = spelled[kernel..].iter().position(|word| *word == "(") else {
        return (0.0, 0.0);
    };
    let (mut depth, mut commas, mut pointers, mut held) = (0_u32, 0_u32, 0_u32, 0_u32);
    for word in &spelled[kernel + open..] {
        match *word {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            "," if depth == 1 => commas += 1,
            "*" => pointers += 1,
            _ => held += 1,
        }
        if depth == 0 {
            break;
        }
    }
    let parameters = if held == 0 { 0 } else { commas + 1 };
    (f64::from(parameters), f64::from(pointers))
}

/// How deep things stand in others.
#[derive(Default)]
struct Depths {
    /// Braces around each token, added up.
    nesting: f64,
    /// The most parentheses and brackets around a token.
    parentheses: f64,
    /// Brackets in brackets.
    nested: f64,
}

impl Depths {
    fn of(spelled: &[&str]) -> Depths {
        let mut found = Depths::default();
        let (mut braces, mut parentheses, mut brackets) = (0_u32, 0_u32, 0_u32);
        for word in spelled {
            match *word {
                "{" => braces += 1,
                "}" => braces = braces.saturating_sub(1),
                "(" => parentheses += 1,
                ")" => parentheses = parentheses.saturating_sub(1),
                "[" => {
                    found.nested += f64::from(u8::from(brackets > 0));
                    brackets += 1;
                }
                "]" => brackets = brackets.saturating_sub(1),
                _ => {}
            }
            found.nesting += f64::from(braces);
            found.parentheses = found.parentheses.max(f64::from(parentheses + brackets));
        }
        found
    }
}

/// The share of statements that another one before was like, names and numbers apart.
fn repeated(tokens: &[Token<'_>]) -> f64 {
    let (mut seen, mut again, mut all) = (HashSet::new(), 0.0_f64, 0.0_f64);
    let mut statement = String::new();
    for token in tokens {
        match token.text {
            ";" | "{" | "}" => {
                if !statement.is_empty() {
                    all += 1.0;
                    again += f64::from(u8::from(!seen.insert(std::mem::take(&mut statement))));
                }
            }
            text => {
                statement.push(' ');
                statement.push_str(match token.kind {
                    Kind::Number => "0",
                    _ if is_variable(text) => "a",
                    _ => text,
                });
            }
        }
    }
    again / all.max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is measured under this name.
    fn measured(name: &str, text: &str) -> f64 {
        let at = NAMES.iter().position(|one| *one == name).expect("it is measured");
        shape(text)[at]
    }

    #[test]
    fn each_measure_counts_what_its_name_says() {
        let text = "#define N 1\n__kernel void A(__global int* a, uint b, float4 c) { // a note\n  \
                    size_t d = get_global_id(0);\n  if (d < 7) { a[a[0]] += (int)b - b; } else { }\n  \
                    a[d] = foo(c.x * 1.5f);\n  a[b] = foo(c.y * 2.5f);\n}";
        for (name, value) in [
            ("uses", 15.0 / 4.0),
            ("unused", 0.0),
            ("once", 0.0),
            ("parameters", 2.0),
            ("buffers", 1.0 / 3.0),
            ("odd numbers", 3.0 / 5.0),
            ("fractions", 2.0 / 5.0),
            ("casts", 1.0 / 4.0),
            ("work-items", 1.0 / 4.0),
            ("operators", 4.0 / 4.0),
            ("comparisons", 1.0 / 4.0),
            ("logic", 0.0),
            ("compound", 1.0 / 4.0),
            ("steps", 0.0),
            ("indexes", 4.0 / 4.0),
            ("fixed indexes", 1.0 / 4.0),
            ("nested indexes", 1.0 / 4.0),
            ("parentheses", 2.0),
            ("conditions", 1.0 / 4.0),
            ("else", 1.0 / 4.0),
            ("loops", 0.0),
            ("declarations", 4.0 / 4.0),
            ("calls", 3.0 / 4.0),
            ("empty", 1.0 / 4.0),
            ("barriers", 0.0),
            ("lanes", 2.0 / 4.0),
            ("idle", 1.0 / 4.0),
        ] {
            let found = measured(name, text);
            assert!((found - value).abs() < 1e-12, "{name}: {found} for {value}");
        }
    }

    #[test]
    fn statements_that_differ_in_names_and_numbers_are_repeated() {
        let of = |body: &str| measured("repeated", &format!("kernel void A(int a) {{ {body} }}"));
        assert_eq!(of("a = a + 1; a = a * 2;"), 0.0);
        // With the head three of them.
        assert!((of("a = b + 1; c = d + 2;") - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn any_text_has_a_shape() {
        for text in ["", ")", "]]", "kernel", "kernel void A(", "void f() {}", "[[[((("] {
            assert!(shape(text).iter().all(|value| value.is_finite()), "{text}");
        }
    }
}
