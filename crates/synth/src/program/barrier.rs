//! Whether all work-items of a group come to each barrier, whatever a kernel is run with.

use super::{Expression, Node, Program, Statement, Ty};
use std::collections::HashSet;

/// What all work-items of a group are told alike.
const OF_GROUP: [&str; 7] = [
    "get_work_dim",
    "get_global_size",
    "get_global_offset",
    "get_group_id",
    "get_local_size",
    "get_enqueued_local_size",
    "get_num_groups",
];

/// Built-in functions whose value follows from their arguments.
const OF_ARGUMENTS: [&str; 20] = [
    "abs", "abs_diff", "ceil", "clamp", "clz", "fabs", "floor", "fma", "fmax", "fmin", "mad",
    "mad24", "max", "min", "mul24", "mul_hi", "popcount", "rotate", "select", "sqrt",
];

/// Words by which a macro leaves what stands around its name.
const LEAVING: [&str; 6] = ["return", "break", "continue", "goto", "switch", "case"];

impl Program {
    /// Whether work-items of a group may come to a barrier that others of it do not come to, or not as often: one under a
    /// condition, in a loop or behind a conditional `return`, `break` or `continue` that may differ between them. What the
    /// text does not tell differs: what is read from memory, barriers of helper functions and in statements that are kept as
    /// text, labels.
    pub(crate) fn has_divergent_barrier(&self) -> bool {
        let waits_in = |text: &str| lexer::tokens(text).any(|token| waits(token.text));
        if waits_in(&self.head) || waits_in(&self.tail) {
            return true;
        }
        if !waits_in(&self.to_string()) {
            return false;
        }
        leaves_by_macro(&self.head) || Group::of(self).is_divergent
    }
}

/// Whether a name is that of a function that all work-items of a group have to call, or of a macro of one.
fn waits(word: &str) -> bool {
    word.contains("barrier")
        || ["work_group_", "sub_group_", "async_work_group_"]
            .iter()
            .any(|beginning| word.starts_with(beginning))
        || word == "wait_group_events"
}

/// Whether a macro of this text may hold what leaves a loop or the kernel.
fn leaves_by_macro(head: &str) -> bool {
    lexer::tokens(head).any(|token| {
        let line = token.text.strip_prefix('#').map(str::trim_start);
        let body = line.and_then(|line| line.strip_prefix("define"));
        body.is_some_and(|body| lexer::tokens(body).any(|word| LEAVING.contains(&word.text)))
    })
}

/// How some work-items of a group, and not others, may have left what comes next.
#[derive(Clone, Copy, Default)]
struct Left {
    returned: bool,
    broke: bool,
    continued: bool,
}

impl Left {
    fn and(self, other: Left) -> Left {
        Left {
            returned: self.returned || other.returned,
            broke: self.broke || other.broke,
            continued: self.continued || other.continued,
        }
    }

    fn is_some(self) -> bool {
        self.returned || self.broke || self.continued
    }
}

/// What is the same for all work-items of a group.
pub(super) struct Group {
    /// Names of numbers, parameters among them.
    numbers: HashSet<String>,
    /// Those of them that may differ between work-items.
    varying: HashSet<String>,
    /// Words around the kernel: functions of these names may be the program's own.
    around: HashSet<String>,
    is_divergent: bool,
}

impl Group {
    pub(super) fn of(program: &Program) -> Group {
        let parameters = program.parameters.iter().map(|one| (&one.name, one.ty));
        let is_number = |ty: Ty| matches!(ty, Ty::Number(..));
        let numbers = parameters.filter(|(_, ty)| is_number(*ty)).map(|(name, _)| name.clone());
        let around = [&program.head, &program.tail].into_iter();
        let around = around.flat_map(|text| lexer::tokens(text));
        let mut group = Group {
            numbers: numbers.collect(),
            varying: HashSet::new(),
            around: around.map(|token| token.text.to_owned()).collect(),
            is_divergent: false,
        };
        for statement in &program.body {
            statement.each(&mut |one| {
                if let Statement::Declare { prefix, name, ty, .. } = one
                    && is_number(*ty)
                {
                    group.numbers.insert(name.clone());
                    if is_local(prefix) {
                        group.varying.insert(name.clone());
                    }
                }
            });
        }
        // What is set to what varies further down, in a loop, is known the next time.
        loop {
            let before = group.varying.len();
            group.list(&program.body, false);
            if group.varying.len() == before {
                return group;
            }
        }
    }

    /// Whether a value is the same for all work-items of a group that come to it together.
    pub(super) fn is_uniform(&self, value: &Expression) -> bool {
        let all = |values: &[Expression]| values.iter().all(|value| self.is_uniform(value));
        match &value.node {
            Node::Literal(_) => true,
            Node::Name(name) => self.numbers.contains(name) && !self.varying.contains(name),
            Node::Binary(_, left, right) | Node::Assign(_, left, right) => {
                self.is_uniform(left) && self.is_uniform(right)
            }
            Node::Unary(operator, operand) => {
                !["*", "&"].contains(&operator.as_str()) && self.is_uniform(operand)
            }
            Node::Postfix(_, operand) | Node::Cast(_, operand) | Node::Lanes(operand, _) => {
                self.is_uniform(operand)
            }
            Node::Choice(condition, yes, no) => {
                [condition, yes, no].iter().all(|one| self.is_uniform(one))
            }
            Node::Vector(_, values) => all(values),
            Node::Call(function, arguments) => self.is_known(function) && all(arguments),
            Node::Opaque(text) => text.starts_with("sizeof"),
            Node::Index(..) => false,
        }
    }

    /// Whether a function gives all work-items the same for the same arguments.
    fn is_known(&self, function: &str) -> bool {
        let function_of = OF_ARGUMENTS.contains(&function) || function.starts_with("convert_");
        OF_GROUP.contains(&function) || function_of && !self.around.contains(function)
    }

    /// `apart`: some work-items of the group may not come to it.
    fn list(&mut self, list: &[Statement], apart: bool) -> Left {
        list.iter().fold(Left::default(), |left, one| {
            left.and(self.statement(one, apart || left.is_some()))
        })
    }

    fn statement(&mut self, one: &Statement, apart: bool) -> Left {
        match one {
            Statement::Declare { name, value: Some(value), .. } => {
                self.expression(value, apart);
                if apart || !self.is_uniform(value) {
                    self.varying.insert(name.clone());
                }
                Left::default()
            }
            // Arrays and pointers: what they are set to stands in the text.
            Statement::Declare { prefix, value: None, .. } => {
                self.words(prefix);
                Left::default()
            }
            Statement::Evaluate(value) => {
                self.expression(value, apart);
                Left::default()
            }
            Statement::If { condition, then, otherwise } => {
                self.expression(condition, apart);
                let apart = apart || !self.is_uniform(condition);
                let left = self.list(then, apart);
                left.and(self.list(otherwise.as_deref().unwrap_or_default(), apart))
            }
            Statement::For { start, condition, step, body } => {
                let left = start.as_deref().map(|start| self.statement(start, apart));
                let looped = self.looped(condition.as_ref(), step.as_ref(), body, apart);
                left.unwrap_or_default().and(looped)
            }
            Statement::While { condition, body } | Statement::Do { body, condition } => {
                self.looped(Some(condition), None, body, apart)
            }
            Statement::Block(list) => self.list(list, apart),
            Statement::Opaque(text) => self.text(text, apart),
        }
    }

    fn looped(
        &mut self,
        condition: Option<&Expression>,
        step: Option<&Expression>,
        body: &[Statement],
        apart: bool,
    ) -> Left {
        let mut apart = apart || condition.is_some_and(|one| !self.is_uniform(one));
        let mut left = self.list(body, apart);
        // Who has left does not come round again.
        if !apart && (left.broke || left.returned) {
            apart = true;
            left = self.list(body, apart);
        }
        condition.into_iter().chain(step).for_each(|one| self.expression(one, apart));
        Left { returned: left.returned, ..Left::default() }
    }

    /// A statement that is kept as text: a jump, several declarations, or one whose conditions are not read, such as `switch`.
    fn text(&mut self, text: &str, apart: bool) -> Left {
        let words = self.words(text);
        let (first, second) = (words.first().copied(), words.get(1).copied());
        let is_unread = |word: &&str| ["goto", "asm", "__asm", "__asm__"].contains(word);
        if words.iter().any(is_unread) || second == Some(":") {
            self.is_divergent = true;
        }
        let left = |word: &str| words.contains(&word) && (apart || first != Some(word));
        Left {
            returned: left("return"),
            broke: left("break") && first != Some("switch"),
            continued: left("continue"),
        }
    }

    /// What a text sets may differ afterwards, and whether all come to a barrier in it is not known.
    fn words<'t>(&mut self, text: &'t str) -> Vec<&'t str> {
        let words: Vec<&str> = lexer::tokens(text).map(|token| token.text).collect();
        self.is_divergent |= words.iter().any(|word| waits(word));
        for pair in words.windows(2) {
            let is_set = pair[1].ends_with('=') && !["==", "!=", "<=", ">="].contains(&pair[1]);
            if is_set || ["++", "--"].contains(&pair[1]) {
                self.varying.insert(pair[0].to_owned());
            }
            if ["++", "--", "&"].contains(&pair[0]) {
                self.varying.insert(pair[1].to_owned());
            }
        }
        words
    }

    fn expression(&mut self, one: &Expression, apart: bool) {
        match &one.node {
            Node::Name(_) | Node::Literal(_) => {}
            Node::Opaque(text) => drop(self.words(text)),
            Node::Assign(_, left, right) => {
                self.expression(left, apart);
                self.expression(right, apart);
                if apart || !self.is_uniform(right) {
                    self.set(left);
                }
            }
            Node::Postfix(_, left) => {
                self.expression(left, apart);
                if apart {
                    self.set(left);
                }
            }
            Node::Unary(operator, left) => {
                self.expression(left, apart);
                // What an address is given to may set what is there.
                if operator == "&" || apart && ["++", "--"].contains(&operator.as_str()) {
                    self.set(left);
                }
            }
            Node::Cast(_, operand) | Node::Lanes(operand, _) => self.expression(operand, apart),
            Node::Index(pointer, at) => {
                self.expression(pointer, apart);
                self.expression(at, apart);
            }
            Node::Binary(operator, left, right) => {
                self.expression(left, apart);
                let decides = ["&&", "||"].contains(&operator.as_str());
                let apart = apart || decides && !self.is_uniform(left);
                self.expression(right, apart);
            }
            Node::Choice(condition, yes, no) => {
                self.expression(condition, apart);
                let apart = apart || !self.is_uniform(condition);
                self.expression(yes, apart);
                self.expression(no, apart);
            }
            Node::Call(function, arguments) => {
                self.is_divergent |= apart && waits(function);
                arguments.iter().for_each(|one| self.expression(one, apart));
            }
            Node::Vector(_, values) => values.iter().for_each(|one| self.expression(one, apart)),
        }
    }

    fn set(&mut self, left: &Expression) {
        match &left.node {
            Node::Name(name) => {
                self.varying.insert(name.clone());
            }
            Node::Lanes(vector, _) => self.set(vector),
            // What is read from memory differs anyway.
            _ => {}
        }
    }
}

/// Whether what is declared so lies in local memory, or points there.
pub(super) fn is_local(prefix: &str) -> bool {
    lexer::tokens(prefix).any(|token| ["local", "__local"].contains(&token.text))
}

#[cfg(test)]
mod tests {
    use crate::{Hazard, MayRace};

    #[test]
    fn barriers_that_some_of_a_group_may_not_come_to_are_told_from_others() {
        let found = MayRace::new(1).unwrap_or_else(|error| panic!("{error}"));
        let head = "__global float* a, __global int* b, __local float* t, int n, float f";
        let check = |text: &str, may: bool| {
            let said = found.hazard(text).unwrap_or_else(|error| panic!("{error}"));
            let said = said.unwrap_or_else(|verdict| panic!("{verdict}: {text}"));
            assert_eq!(said == Some(Hazard::DivergentBarrier), may, "{said:?}: {text}");
        };
        let barrier = "barrier(CLK_LOCAL_MEM_FENCE);";
        for (body, may) in [
            // By no condition, and by what is the same for all of a group.
            ("t[get_local_id(0)] = f; BARRIER a[get_global_id(0)] = t[0];", false),
            ("if (n > 3) { BARRIER }", false),
            ("if (n > 3) return; BARRIER", false),
            ("if (get_group_id(0) < get_num_groups(0) - 1 && f > 0.5f) { BARRIER }", false),
            ("if (get_local_id(0) == 0) t[0] = f; BARRIER", false),
            ("for (int i = 0; i < n; i++) { BARRIER }", false),
            ("for (int i = get_local_size(0) / 2; i > 0; i >>= 1) { BARRIER }", false),
            ("int m = min(n, 64); while (m > 0) { m--; BARRIER }", false),
            ("for (int i = 0; i < n; i++) { if (i > 4) break; BARRIER }", false),
            ("for (int i = 0; i < n; i++) { BARRIER if (b[i] > 4) continue; t[i] = f; }", false),
            // By the work-item.
            ("if (get_global_id(0) >= n) { return; } BARRIER", true),
            ("int i = get_global_id(0); if (i >= n) return; BARRIER", true),
            ("if (get_global_id(0) < n) { t[get_local_id(0)] = f; BARRIER }", true),
            ("if (get_local_id(0) < 4) { } else { BARRIER }", true),
            ("if (get_local_id(0) < 4) work_group_barrier(CLK_LOCAL_MEM_FENCE);", true),
            ("for (int i = get_local_id(0); i < n; i += 64) { BARRIER }", true),
            ("for (int i = 0; i < n; i++) { BARRIER if (i > get_local_id(0)) break; }", true),
            ("for (int i = 0; i < n; i++) { if (get_local_id(0)) continue; BARRIER }", true),
            ("for (int i = 0; i < n; i++) { if (i < get_local_id(0)) return; } BARRIER", true),
            ("int m = 0; if (get_local_id(0) > 2) m = 1; if (m) { BARRIER }", true),
            ("int m = 0; while (m < get_local_id(0)) m++; if (m > n) { BARRIER }", true),
            ("int m = 0; do { m += get_local_id(0); BARRIER } while (m < n);", true),
            ("n = get_local_id(0) ? n : 0; if (n > 3) { BARRIER }", true),
            ("int m = n; int* p = &m; if (m > 3) { BARRIER }", true),
            // By what is read from memory.
            ("if (b[0] > 3) { BARRIER }", true),
            ("int m = *b; if (m > 3) { BARRIER }", true),
            ("__local int m; if (m > 3) { BARRIER }", true),
            ("for (int i = 0; i < b[n]; i++) { BARRIER }", true),
            ("if (atomic_inc(b) > 3) { BARRIER }", true),
            // What is not read.
            ("switch (n) { case 1: BARRIER break; }", true),
            ("switch (n) { case 1: return; } BARRIER", true),
            ("again: n--; if (n > 3) goto again; BARRIER", true),
            // Without a barrier there is nothing to come to.
            ("if (get_global_id(0) >= n) { return; } a[get_global_id(0)] = f;", false),
        ] {
            let body = body.replace("BARRIER", barrier);
            check(&format!("__kernel void A({head}) {{\n  {body}\n}}\n"), may);
        }
        let kernel = |before: &str, body: &str| {
            format!("{before}\n__kernel void A({head}) {{\n  {body}\n}}\n")
        };
        check(&kernel("void wait(void) { barrier(1); }", "if (get_local_id(0)) wait();"), true);
        let own = "int least(int a) { return get_local_id(0) < a; }";
        check(&kernel(own, "if (least(n)) barrier(1);"), true);
        // A macro may hide the kernel's text as a whole.
        let leaves =
            kernel("#define UNLESS(c) if (c) return", "UNLESS(get_local_id(0)); barrier(1);");
        assert_ne!(found.hazard(&leaves).unwrap_or_else(|error| panic!("{error}")), Ok(None));
    }
}
