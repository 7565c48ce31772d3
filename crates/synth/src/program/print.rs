//! Trees as text.

use super::{Expression, Node, Program, Statement};
use std::{
    collections::{HashMap, HashSet},
    fmt::{self, Write},
};

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.head)?;
        for (index, parameter) in self.parameters.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            f.write_str(&parameter.text)?;
        }
        f.write_str(") {\n")?;
        statements(f, &self.body, 1)?;
        f.write_str("}")?;
        f.write_str(&self.tail)
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        bare(f, self)
    }
}

/// The text with the names that edits gave (`p48213`) numbered in the order of their appearance.
pub(crate) fn renumbered(text: &str) -> String {
    renamed(text, |number| format!("p{number}"))
}

/// The text with the names that mined kernels have, `a` to `z`, `aa` and so on, in the place of `p12` and its like, in the
/// order of their appearance. Names that are there already stay.
pub(crate) fn as_mined(text: &str) -> String {
    let mut taken: HashSet<&str> = lexer::tokens(text).map(|token| token.text).collect();
    taken.extend(["do", "if"]);
    let mut names = (0..).map(letters).filter(|name| !taken.contains(name.as_str()));
    renamed(text, |_| names.next().expect("names do not end"))
}

/// The name of this number: `a`, `b`, ..., `z`, `aa`, `ab`, ...
fn letters(number: usize) -> String {
    let last = char::from(b'a' + u8::try_from(number % 26).expect("it is below 26"));
    match number / 26 {
        0 => last.to_string(),
        more => letters(more - 1) + &last.to_string(),
    }
}

/// The text with other names for `p12` and its like; `name` is asked with 0, 1, 2 as they appear.
fn renamed(text: &str, mut name: impl FnMut(usize) -> String) -> String {
    let mut names: HashMap<String, String> = HashMap::new();
    let mut plain = String::with_capacity(text.len());
    let mut before = ' ';
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let digits = rest.get(1..).unwrap_or("");
        let count = digits.chars().take_while(char::is_ascii_digit).count();
        if first == 'p' && count > 0 && !is_word(before) {
            let next = names.len();
            plain.push_str(names.entry(digits[..count].to_owned()).or_insert_with(|| name(next)));
            rest = &digits[count..];
            before = '0';
        } else {
            plain.push(first);
            rest = &rest[first.len_utf8()..];
            before = first;
        }
    }
    plain
}

fn statements(f: &mut fmt::Formatter<'_>, list: &[Statement], depth: usize) -> fmt::Result {
    list.iter().try_for_each(|statement| one(f, statement, depth))
}

fn indent(f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
    (0..depth).try_for_each(|_| f.write_str("  "))
}

fn block(f: &mut fmt::Formatter<'_>, list: &[Statement], depth: usize) -> fmt::Result {
    f.write_str("{\n")?;
    statements(f, list, depth + 1)?;
    indent(f, depth)?;
    f.write_char('}')
}

fn one(f: &mut fmt::Formatter<'_>, statement: &Statement, depth: usize) -> fmt::Result {
    indent(f, depth)?;
    match statement {
        Statement::Declare { prefix, value, .. } => {
            write!(f, "{prefix}")?;
            if let Some(value) = value {
                expression(f, value, 2)?;
            }
            f.write_str(";\n")
        }
        Statement::Evaluate(value) => {
            expression(f, value, 0)?;
            f.write_str(";\n")
        }
        Statement::If { condition, then, otherwise } => {
            f.write_str("if (")?;
            expression(f, condition, 0)?;
            f.write_str(") ")?;
            block(f, then, depth)?;
            if let Some(otherwise) = otherwise {
                f.write_str(" else ")?;
                block(f, otherwise, depth)?;
            }
            f.write_char('\n')
        }
        Statement::For { start, condition, step, body } => {
            f.write_str("for (")?;
            match start.as_deref() {
                Some(Statement::Declare { prefix, value, .. }) => {
                    f.write_str(prefix)?;
                    if let Some(value) = value {
                        expression(f, value, 2)?;
                    }
                    f.write_char(';')?;
                }
                Some(Statement::Evaluate(value)) => {
                    expression(f, value, 0)?;
                    f.write_char(';')?;
                }
                Some(Statement::Opaque(text)) => f.write_str(text)?,
                _ => f.write_char(';')?,
            }
            if let Some(condition) = condition {
                f.write_char(' ')?;
                expression(f, condition, 0)?;
            }
            f.write_char(';')?;
            if let Some(step) = step {
                f.write_char(' ')?;
                expression(f, step, 0)?;
            }
            f.write_str(") ")?;
            block(f, body, depth)?;
            f.write_char('\n')
        }
        Statement::While { condition, body } => {
            f.write_str("while (")?;
            expression(f, condition, 0)?;
            f.write_str(") ")?;
            block(f, body, depth)?;
            f.write_char('\n')
        }
        Statement::Do { body, condition } => {
            f.write_str("do ")?;
            block(f, body, depth)?;
            f.write_str(" while (")?;
            expression(f, condition, 0)?;
            f.write_str(");\n")
        }
        Statement::Block(list) => {
            block(f, list, depth)?;
            f.write_char('\n')
        }
        Statement::Opaque(text) => writeln!(f, "{text}"),
    }
}

/// How tightly an operator binds: 0 the comma, 1 assignments, 2 the choice, then binary operators.
fn binding(operator: &str) -> u8 {
    match operator {
        "," => 0,
        "||" => 3,
        "&&" => 4,
        "|" => 5,
        "^" => 6,
        "&" => 7,
        "==" | "!=" => 8,
        "<" | ">" | "<=" | ">=" => 9,
        "<<" | ">>" => 10,
        "+" | "-" => 11,
        _ => 12,
    }
}

const UNARY: u8 = 13;
const POSTFIX: u8 = 14;
const PRIMARY: u8 = 15;

impl Expression {
    fn binding(&self) -> u8 {
        match &self.node {
            Node::Name(_) => PRIMARY,
            // A literal may have a sign, and opaque text may be anything.
            Node::Literal(text) if !text.starts_with('-') => PRIMARY,
            Node::Literal(_) => UNARY,
            Node::Opaque(_) => 0,
            Node::Binary(operator, ..) => binding(operator),
            Node::Assign(..) => 1,
            Node::Choice(..) => 2,
            Node::Unary(..) | Node::Cast(..) | Node::Vector(..) => UNARY,
            Node::Postfix(..) | Node::Call(..) | Node::Index(..) | Node::Lanes(..) => POSTFIX,
        }
    }
}

/// Writes `value` where something that binds at least as tightly as `least` has to stand.
fn expression(f: &mut fmt::Formatter<'_>, value: &Expression, least: u8) -> fmt::Result {
    if value.binding() < least {
        f.write_char('(')?;
        bare(f, value)?;
        return f.write_char(')');
    }
    bare(f, value)
}

fn list(f: &mut fmt::Formatter<'_>, values: &[Expression]) -> fmt::Result {
    f.write_char('(')?;
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        expression(f, value, 1)?;
    }
    f.write_char(')')
}

fn bare(f: &mut fmt::Formatter<'_>, value: &Expression) -> fmt::Result {
    match &value.node {
        Node::Name(text) | Node::Literal(text) | Node::Opaque(text) => f.write_str(text),
        Node::Binary(operator, left, right) => {
            let own = binding(operator);
            expression(f, left, own)?;
            write!(f, " {operator} ")?;
            expression(f, right, own + 1)
        }
        Node::Assign(operator, left, right) => {
            expression(f, left, UNARY)?;
            write!(f, " {operator} ")?;
            expression(f, right, 1)
        }
        Node::Unary(operator, operand) => {
            f.write_str(operator)?;
            // `- -a` must not become `--a`.
            expression(f, operand, POSTFIX)
        }
        Node::Postfix(operator, operand) => {
            expression(f, operand, POSTFIX)?;
            f.write_str(operator)
        }
        Node::Cast(name, operand) => {
            write!(f, "({name})")?;
            expression(f, operand, POSTFIX)
        }
        Node::Call(function, arguments) => {
            f.write_str(function)?;
            list(f, arguments)
        }
        Node::Index(pointer, at) => {
            expression(f, pointer, POSTFIX)?;
            f.write_char('[')?;
            expression(f, at, 0)?;
            f.write_char(']')
        }
        Node::Choice(condition, yes, no) => {
            expression(f, condition, 3)?;
            f.write_str(" ? ")?;
            expression(f, yes, 2)?;
            f.write_str(" : ")?;
            expression(f, no, 2)
        }
        Node::Lanes(vector, lanes) => {
            expression(f, vector, POSTFIX)?;
            write!(f, ".{lanes}")
        }
        Node::Vector(name, values) => {
            write!(f, "({name})")?;
            list(f, values)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{as_mined, renumbered};

    #[test]
    fn names_are_numbered_as_they_appear() {
        let text = "int p907 = p12s + 0x1p3 + up5 + p907; pq(p12);";
        assert_eq!(renumbered(text), "int p0 = p1s + 0x1p3 + up5 + p0; pq(p1);");
    }

    #[test]
    fn names_of_mined_kernels_are_letters_that_are_free() {
        assert_eq!(as_mined("int p7 = a + p12 + p7; float c;"), "int b = a + d + b; float c;");
        let many: String = (0..28).map(|at| format!("p{at};")).collect();
        assert!(as_mined(&many).ends_with("z;aa;ab;"));
    }
}
