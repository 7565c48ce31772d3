//! Numbers in places, added up; loops whose step changes nothing.

use super::{Expression, Node, Program, Statement, Ty};

/// Operators that change nothing with 0, and with 1.
const WITH_ZERO: [&str; 6] = ["+=", "-=", "<<=", ">>=", "|=", "^="];
const WITH_ONE: [&str; 2] = ["*=", "/="];

impl Program {
    /// The same program where the numbers of a sum that says where a buffer is accessed are one number. `None` where no place
    /// has several.
    pub(crate) fn folded(&self) -> Option<Program> {
        let mut program = self.clone();
        let mut times = 0;
        for statement in &mut program.body {
            statement.each_expression(&mut |one| {
                if let Node::Index(_, at) = &mut one.node
                    && let Some(sum) = folded(at)
                {
                    **at = sum;
                    times += 1;
                }
            });
        }
        (times > 0).then_some(program)
    }

    /// Whether a loop's step leaves what it counts with as it is, as `i >>= 0` does: it never ends.
    pub(crate) fn stands_still(&self) -> bool {
        let mut stands = false;
        for statement in &self.body {
            statement.each(&mut |one| {
                stands |= match one {
                    Statement::For { step: Some(step), .. } => changes_nothing(step),
                    Statement::While { body, .. } | Statement::Do { body, .. } => {
                        body.iter().any(|one| match one {
                            Statement::Evaluate(value) => changes_nothing(value),
                            _ => false,
                        })
                    }
                    _ => false,
                };
            });
        }
        stands
    }
}

fn folded(at: &Expression) -> Option<Expression> {
    let mut sum = Sum { terms: Vec::new(), number: 0, numbers: 0 };
    sum.add(at, at.ty);
    if sum.numbers < 2 {
        return None;
    }
    let number = Expression::literal(Ty::INT, sum.number.abs().to_string());
    let terms = sum.terms.into_iter();
    let terms = terms.reduce(|left, right| Expression::binary(at.ty, "+", left, right));
    match (terms, sum.number) {
        (Some(terms), 0) => Some(terms),
        (Some(terms), 1..) => Some(Expression::binary(at.ty, "+", terms, number)),
        (Some(terms), _) => Some(Expression::binary(at.ty, "-", terms, number)),
        (None, 0..) => Some(number),
        (None, _) => None,
    }
}

/// A sum taken apart.
struct Sum {
    terms: Vec<Expression>,
    number: i64,
    /// How many numbers it had.
    numbers: usize,
}

impl Sum {
    /// Parts of another type than the whole may overflow by themselves, and stay.
    fn add(&mut self, one: &Expression, ty: Ty) {
        if let Some((number, numbers)) = number(one) {
            self.number += number;
            self.numbers += numbers;
            return;
        }
        match &one.node {
            Node::Binary(operator, left, right) if operator == "+" && one.ty == ty => {
                self.add(left, ty);
                self.add(right, ty);
            }
            Node::Binary(operator, left, right) if operator == "-" && one.ty == ty => {
                match number(right) {
                    Some((number, numbers)) => {
                        self.add(left, ty);
                        self.number -= number;
                        self.numbers += numbers;
                    }
                    None => self.terms.push(one.clone()),
                }
            }
            _ => self.terms.push(one.clone()),
        }
    }
}

/// What a sum of numbers alone comes to, and how many they are.
fn number(one: &Expression) -> Option<(i64, usize)> {
    match &one.node {
        Node::Literal(text) => Some((i64::from(text.parse::<i16>().ok()?), 1)),
        Node::Binary(operator, left, right) if operator == "+" || operator == "-" => {
            let ((left, some), (right, more)) = (number(left)?, number(right)?);
            let all = if operator == "+" { left + right } else { left - right };
            Some((all, some + more))
        }
        _ => None,
    }
}

fn changes_nothing(step: &Expression) -> bool {
    let Node::Assign(operator, left, right) = &step.node else { return false };
    let Node::Literal(text) = &right.node else { return false };
    let number = text.trim_end_matches(|end: char| end.is_ascii_alphabetic());
    let operators: &[&str] = match number {
        "0" => &WITH_ZERO,
        "1" => &WITH_ONE,
        _ => return false,
    };
    matches!(left.node, Node::Name(_)) && operators.contains(&operator.as_str())
}

#[cfg(test)]
mod tests {
    use crate::{Judge, program::Program};

    fn read(body: &str) -> Program {
        let judge = Judge::new(features::space("grewe").expect("registered"), 1)
            .unwrap_or_else(|error| panic!("{error}"));
        let text = format!("__kernel void A(__global int* a, int n) {{\n  {body}\n}}\n");
        judge.read(&[text]).pop().flatten().expect("a kernel")
    }

    #[test]
    fn numbers_of_a_place_are_added_up() {
        for (body, other) in [
            ("a[n + 3 + 1 + (1 + 3) + 1] = 2;", Some("a[n + 9] = 2;")),
            ("a[1 + n + 3 - 6] = 2;", Some("a[n - 2] = 2;")),
            ("a[2 + n - 2] = 2;", Some("a[n] = 2;")),
            ("a[n + 3] = 1 + 2;", None),
        ] {
            let folded = read(body).folded().map(|program| program.to_string());
            assert_eq!(folded, other.map(|other| read(other).to_string()), "{body}");
        }
    }

    #[test]
    fn a_step_that_changes_nothing_is_seen() {
        for (body, stands) in [
            ("for (int f = n; f <= 1; f >>= 0) a[f] = 1;", true),
            ("int i = n; while (i > 0) { a[i] = 1; i *= 1; }", true),
            ("for (int f = n; f > 1; f >>= 1) a[f] = 1;", false),
            ("int i = n; while (i > 0) { a[i] += 0; i--; }", false),
        ] {
            assert_eq!(read(body).stands_still(), stands, "{body}");
        }
    }
}
