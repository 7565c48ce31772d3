//! Assignments to variables that nothing reads behind them.

use crate::program::{Expression, Node, Statement};

/// What happens to a variable.
enum Event {
    Read(String),
    /// By which assignment.
    Written(String, usize),
}

/// How many assignments nothing reads, in the text's order, with what a loop does twice. What a variable gets of itself is no
/// reading.
pub(super) fn unread(body: &[Statement]) -> usize {
    let mut walk = Walk { events: Vec::new(), writes: 0 };
    walk.list(body);
    let Walk { events, writes } = walk;
    let is_read = |write: usize| {
        let mut name = None;
        events.iter().any(|event| match event {
            Event::Written(own, of) => {
                if *of == write {
                    name = Some(own);
                }
                false
            }
            Event::Read(read) => name == Some(read),
        })
    };
    (0..writes).filter(|write| !is_read(*write)).count()
}

struct Walk {
    events: Vec<Event>,
    writes: usize,
}

impl Walk {
    fn list(&mut self, list: &[Statement]) {
        list.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Declare { value: Some(value), .. } => self.reads(value, None),
            Statement::Declare { value: None, .. } => {}
            Statement::Evaluate(value) => self.effect(value),
            Statement::If { condition, then, otherwise } => {
                self.reads(condition, None);
                self.list(then);
                self.list(otherwise.as_deref().unwrap_or_default());
            }
            Statement::For { start, condition, step, body } => {
                if let Some(start) = start {
                    self.statement(start);
                }
                self.twice(|walk| {
                    if let Some(condition) = condition {
                        walk.reads(condition, None);
                    }
                    walk.list(body);
                    if let Some(step) = step {
                        walk.effect(step);
                    }
                });
            }
            Statement::While { condition, body } | Statement::Do { body, condition } => {
                self.twice(|walk| {
                    walk.reads(condition, None);
                    walk.list(body);
                });
            }
            Statement::Block(list) => self.list(list),
            Statement::Opaque(text) => {
                let names = lexer::tokens(text).map(|token| Event::Read(token.text.to_owned()));
                self.events.extend(names);
            }
        }
    }

    /// Both times the same assignments.
    fn twice(&mut self, body: impl Fn(&mut Walk)) {
        let before = self.writes;
        body(self);
        let after = std::mem::replace(&mut self.writes, before);
        body(self);
        self.writes = after;
    }

    fn effect(&mut self, value: &Expression) {
        let (place, of) = match &value.node {
            Node::Assign(_, place, of) => (place, Some(of)),
            Node::Postfix(_, place) => (place, None),
            Node::Unary(operator, place) if operator == "++" || operator == "--" => (place, None),
            _ => return self.reads(value, None),
        };
        let Node::Name(name) = &place.node else { return self.reads(value, None) };
        if let Some(of) = of {
            self.reads(of, Some(name));
        }
        self.events.push(Event::Written(name.clone(), self.writes));
        self.writes += 1;
    }

    fn reads(&mut self, value: &Expression, except: Option<&str>) {
        value.clone().each(&mut |one| {
            if let Node::Name(name) = &one.node
                && except != Some(name)
            {
                self.events.push(Event::Read(name.clone()));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Judge;

    #[test]
    fn sums_that_nothing_reads_are_counted() {
        let judge = Judge::new(features::space("grewe").expect("registered"), 1)
            .unwrap_or_else(|error| panic!("{error}"));
        let count = |body: &str| {
            let text = format!(
                "__kernel void A(__global float* a, __global float* b, int c, float d) {{ {body} }}"
            );
            unread(&judge.read_one(&text).expect("a kernel").body)
        };
        let sum = "for (int e = 0; e < c; e++) { d += b[e]; }";
        assert_eq!(count(sum), 1);
        assert_eq!(count(&format!("{sum} a[get_global_id(0)] = d;")), 0);
        assert_eq!(count(&format!("a[get_global_id(0)] = d; {sum}")), 1);
        assert_eq!(count(&format!("{sum} a[get_global_id(0)] = d; {sum}")), 1);
        assert_eq!(count(&format!("{sum} d = d * d;")), 2);
        // The next round of the loop reads it.
        assert_eq!(count("for (int e = 0; e < c; e++) { a[e] = d; d += b[e]; }"), 0);
        assert_eq!(count("if (c > 1) { d = 2.0f; } a[get_global_id(0)] = d;"), 0);
    }
}
