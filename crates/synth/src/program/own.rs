//! Which places of global memory work-items write: each its own, or all of them the same ones.

use super::{Expression, Node, Program, Space, Statement, Ty};
use std::collections::HashSet;

/// What tells work-items apart.
const WHICH: [&str; 5] = [
    "get_global_id",
    "get_local_id",
    "get_group_id",
    "get_global_linear_id",
    "get_local_linear_id",
];

impl Program {
    /// Whether some element of a global buffer is written whose place has nothing of the work-item in it: all of them write
    /// that, if they come to it. Atomic accesses do not count, nor what stands behind `get_global_id(0) == 0` and its like.
    pub(crate) fn writes_for_all(&self) -> bool {
        View::of(self).list(&self.body)
    }

    /// Places written other than beside the work-item's own, and integers divided by what may be 0: the fewer, the likelier a
    /// kernel does with all arguments what it does with those that were tried.
    pub(crate) fn doubts(&self) -> usize {
        let mut program = self.clone();
        let places = program.own_places();
        let mut doubts = 0;
        for statement in &mut program.body {
            statement.each_expression(&mut |one| {
                let is_doubt = match &one.node {
                    Node::Assign(operator, left, right) => {
                        let is_division = operator == "/=" || operator == "%=";
                        doubts += usize::from(is_division && may_be_zero(right));
                        is_far(left, &places)
                    }
                    Node::Postfix(_, left) => is_far(left, &places),
                    Node::Unary(operator, left) if operator == "++" || operator == "--" => {
                        is_far(left, &places)
                    }
                    Node::Binary(operator, _, right) if operator == "/" || operator == "%" => {
                        may_be_zero(right)
                    }
                    _ => false,
                };
                doubts += usize::from(is_doubt);
            });
        }
        doubts
    }
}

/// What is known of a kernel.
pub(super) struct View {
    /// Variables that have something of the work-item in them.
    own: HashSet<String>,
    /// Parameters that point to global memory.
    buffers: HashSet<String>,
}

impl View {
    pub(super) fn of(program: &Program) -> View {
        let buffers = program.parameters.iter().filter(|one| is_global(one.ty));
        let buffers = buffers.map(|one| one.name.clone()).collect();
        let mut view = View { own: HashSet::new(), buffers };
        let mut body = program.body.clone();
        loop {
            let before = view.own.len();
            for statement in &mut body {
                statement.each(&mut |one| view.declared(one));
                statement.each_expression(&mut |one| {
                    if let Node::Assign(_, left, right) = &one.node
                        && view.has_own(right)
                        && let Some(name) = variable(left)
                    {
                        view.own.insert(name.to_owned());
                    }
                });
            }
            if view.own.len() == before {
                return view;
            }
        }
    }

    fn declared(&mut self, statement: &Statement) {
        match statement {
            // Of a pointer what it points to stands in the text.
            Statement::Declare { prefix, name, value, .. }
                if value.as_ref().is_some_and(|value| self.has_own(value))
                    || self.names_own(prefix) =>
            {
                self.own.insert(name.clone());
            }
            // Each variable that such a text sets may hold it.
            Statement::Opaque(text) if self.names_own(text) => {
                let words: Vec<&str> = lexer::tokens(text).map(|token| token.text).collect();
                for pair in words.windows(2) {
                    let is_name = pair[0]
                        .starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
                    let is_set =
                        pair[1].ends_with('=') && !["==", "!=", "<=", ">="].contains(&pair[1]);
                    if is_name && is_set {
                        self.own.insert(pair[0].to_owned());
                    }
                }
            }
            _ => {}
        }
    }

    pub(super) fn has_own(&self, value: &Expression) -> bool {
        let mut has = false;
        value.clone().each(&mut |one| {
            has |= match &one.node {
                Node::Name(name) => self.own.contains(name),
                Node::Call(function, _) => tells_apart(function),
                Node::Opaque(text) => self.names_own(text),
                _ => false,
            };
        });
        has
    }

    pub(super) fn is_buffer(&self, name: &str) -> bool {
        self.buffers.contains(name)
    }

    fn names_own(&self, text: &str) -> bool {
        lexer::tokens(text).any(|token| self.is_own(token.text))
    }

    fn is_own(&self, word: &str) -> bool {
        self.own.contains(word) || tells_apart(word)
    }

    fn list(&self, list: &[Statement]) -> bool {
        list.iter().any(|one| self.statement(one))
    }

    fn statement(&self, statement: &Statement) -> bool {
        match statement {
            Statement::Declare { value, .. } => value.as_ref().is_some_and(|one| self.stores(one)),
            Statement::Evaluate(value) => self.stores(value),
            Statement::If { condition, then, otherwise } => {
                self.stores(condition)
                    || !self.is_of_one(condition) && self.list(then)
                    || otherwise.as_ref().is_some_and(|list| self.list(list))
            }
            Statement::For { start, condition, step, body } => {
                start.as_deref().is_some_and(|one| self.statement(one))
                    || condition.iter().chain(step).any(|one| self.stores(one))
                    || self.list(body)
            }
            Statement::While { condition, body } | Statement::Do { body, condition } => {
                self.stores(condition) || self.list(body)
            }
            Statement::Block(list) => self.list(list),
            Statement::Opaque(text) => self.text_stores(text),
        }
    }

    /// Whether an expression writes a place that has nothing of the work-item in it.
    fn stores(&self, value: &Expression) -> bool {
        let mut stores = false;
        value.clone().each(&mut |one| {
            stores |= match &one.node {
                Node::Assign(_, left, _) | Node::Postfix(_, left) => self.is_for_all(left),
                Node::Unary(operator, left) if operator == "++" || operator == "--" => {
                    self.is_for_all(left)
                }
                Node::Call(function, arguments) if function.starts_with("vstore") => {
                    arguments.last().is_some_and(|pointer| is_global(pointer.ty))
                        && !arguments.iter().skip(1).any(|one| self.has_own(one))
                }
                _ => false,
            };
        });
        stores
    }

    fn is_for_all(&self, left: &Expression) -> bool {
        written(left).is_some_and(|place| !self.has_own(place))
    }

    /// The same of a statement that is kept as text.
    fn text_stores(&self, text: &str) -> bool {
        let words: Vec<&str> = lexer::tokens(text).map(|token| token.text).collect();
        (0..words.len()).any(|at| {
            if !self.buffers.contains(words[at]) || words.get(at + 1) != Some(&"[") {
                return false;
            }
            let Some(end) = words[at..].iter().position(|word| *word == "]") else { return false };
            words.get(at + end + 1) == Some(&"=")
                && !words[at..at + end].iter().any(|word| self.is_own(word))
        })
    }

    /// Whether one work-item alone, of all or of its group, is meant.
    fn is_of_one(&self, condition: &Expression) -> bool {
        match &condition.node {
            Node::Binary(operator, left, right) if operator == "&&" => {
                self.is_of_one(left) || self.is_of_one(right)
            }
            Node::Binary(operator, left, right) if operator == "==" => {
                self.is_which(left) || self.is_which(right)
            }
            _ => false,
        }
    }

    pub(super) fn is_which(&self, value: &Expression) -> bool {
        match &value.node {
            Node::Name(name) => self.own.contains(name),
            Node::Call(function, _) => WHICH.contains(&function.as_str()),
            Node::Cast(_, operand) => self.is_which(operand),
            _ => false,
        }
    }
}

/// Whether what it gives differs between work-items.
fn tells_apart(function: &str) -> bool {
    WHICH.contains(&function) || function.starts_with("atom")
}

fn is_global(ty: Ty) -> bool {
    matches!(ty, Ty::Pointer { space: Space::Global, .. })
}

/// The element of a global buffer that is written where this is assigned to.
fn written(left: &Expression) -> Option<&Expression> {
    match &left.node {
        Node::Lanes(vector, _) => written(vector),
        Node::Index(buffer, _) => is_global(buffer.ty).then_some(left),
        Node::Unary(operator, pointer) if operator == "*" => is_global(pointer.ty).then_some(left),
        _ => None,
    }
}

/// The variable that has what is assigned to this in it; buffers are none.
fn variable(left: &Expression) -> Option<&str> {
    match &left.node {
        Node::Name(name) => Some(name),
        Node::Lanes(vector, _) => variable(vector),
        Node::Index(buffer, _) if !is_global(buffer.ty) => variable(buffer),
        _ => None,
    }
}

/// Whether what is written lies elsewhere in a global buffer than beside the work-item's own place.
fn is_far(left: &Expression, places: &[String]) -> bool {
    written(left).is_some_and(|place| match &place.node {
        Node::Index(_, at) => !is_near(at, places),
        _ => true,
    })
}

fn is_near(at: &Expression, places: &[String]) -> bool {
    let is_literal = |one: &Expression| matches!(one.node, Node::Literal(_));
    match &at.node {
        Node::Name(name) => places.contains(name),
        Node::Call(function, _) => WHICH.contains(&function.as_str()),
        Node::Cast(_, operand) => is_near(operand, places),
        Node::Binary(operator, left, right) if operator == "+" || operator == "-" => {
            is_literal(right) && is_near(left, places)
                || operator == "+" && is_literal(left) && is_near(right, places)
        }
        _ => false,
    }
}

/// Whether an integer that is divided by may be 0.
fn may_be_zero(divisor: &Expression) -> bool {
    if matches!(divisor.ty, Ty::Number(scalar, _) if scalar.is_float()) {
        return false;
    }
    let is_some = |one: &Expression| match &one.node {
        Node::Literal(text) => {
            let number = text.trim_end_matches(|end: char| end.is_ascii_alphabetic());
            number.parse().is_ok_and(|number: u64| number > 0)
        }
        _ => false,
    };
    match &divisor.node {
        Node::Literal(_) => !is_some(divisor),
        Node::Cast(_, operand) => may_be_zero(operand),
        Node::Binary(operator, left, right) if operator == "|" => !is_some(left) && !is_some(right),
        Node::Call(function, _) => {
            !(function.starts_with("get_") && function.ends_with("_size"))
                && function != "get_num_groups"
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use crate::{Judge, program::Program};

    fn read(body: &str) -> Program {
        let judge = Judge::new(features::space("grewe").expect("registered"), 1)
            .unwrap_or_else(|error| panic!("{error}"));
        let text =
            format!("__kernel void A(__global int* a, __global int* b, int n) {{\n{body}\n}}\n");
        judge.read(&[text]).pop().flatten().expect("a kernel")
    }

    #[test]
    fn what_all_write_is_told_from_what_each_writes() {
        for (body, is_for_all) in [
            ("a[get_global_id(0)] = 1;", false),
            ("int i = get_global_id(0); int j = i * n; a[j + 1] = b[3];", false),
            ("for (int i = get_local_id(0); i < n; i += 64) a[i] = 1;", false),
            ("int i; i = n; i += get_group_id(0); a[i]++;", false),
            ("__global int* c = a + get_global_id(0); *c = 1; c[2] = 1;", false),
            ("if (get_global_id(0) == 0) a[n] = 1;", false),
            ("atomic_add(&a[0], 1); int i = atomic_inc(b); a[i] = 1;", false),
            ("int i = 37 - n; while (i > 0) { a[i] = n; i >>= 1; b[n] = i; }", true),
            ("a[get_global_id(0)] = 1; b[n] = 1;", true),
            ("b[get_global_id(0)] = n; a[b[3]] = 1;", true),
            ("if (get_global_id(0) > 1) a[n]++;", true),
            ("switch (n) { case 0: a[0] = 1; break; }", true),
            ("*a = 1;", true),
        ] {
            assert_eq!(read(body).writes_for_all(), is_for_all, "{body}");
        }
    }

    #[test]
    fn doubtful_places_and_divisors_are_counted() {
        for (body, doubts) in [
            ("int i = get_global_id(0); a[i + 3] = b[i] / 3 + b[i] % (n | 1);", 0),
            ("a[get_global_id(0)] = n / get_local_size(0);", 0),
            ("a[get_global_id(0)] = 1 / ((n | 1) % b[0]);", 2),
            ("a[(long)get_global_id(0) % n] += 1;", 2),
            ("a[get_global_id(0)] /= n;", 1),
        ] {
            assert_eq!(read(body).doubts(), doubts, "{body}");
        }
    }
}
