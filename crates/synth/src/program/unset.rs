//! Whether work-items may read local memory that none of them has written, whatever a kernel is run with.

use super::{
    Expression, Node, Program, Statement, Ty,
    barrier::{Group, is_local},
};
use std::collections::HashSet;

impl Program {
    /// Whether local memory is read that is written under conditions alone which may be false where it is read: nothing is
    /// written by an unconditional statement before, nor by one under conditions that the reading has, too. One work-item of
    /// each group is taken to come behind `get_local_id(0) == 0`, and into a loop up to a number. Memory that pointer variables
    /// or helper functions reach is not looked at.
    pub(crate) fn may_read_unset(&self) -> bool {
        let mut reader = Reader::of(self);
        if reader.arrays.is_empty() && reader.scalars.is_empty() {
            return false;
        }
        reader.list(&self.body);
        reader.reads.iter().any(|read| {
            let mut own = reader.writes.iter().filter(|one| one.buffer == read.buffer).peekable();
            own.peek().is_some()
                && !reader.escaped.contains(&read.buffer)
                && !own.any(|write| write.is_done_at(read))
        })
    }
}

/// A condition, or the end of a loop, that something stands under.
#[derive(Clone)]
struct Condition {
    /// Which of all branches of the kernel it is.
    branch: usize,
    /// Its text, where that says the same everywhere.
    text: Option<String>,
    /// Whether it is the same for all work-items of a group.
    is_uniform: bool,
}

/// Local memory is read or written.
struct Access {
    buffer: String,
    place: String,
    conditions: Vec<Condition>,
    /// How many were before it.
    at: usize,
}

impl Access {
    /// Whether what it writes is written wherever `read` is come to.
    fn is_done_at(&self, read: &Access) -> bool {
        let is_met = |own: &Condition| {
            let is_same = |other: &Condition| {
                other.branch == own.branch || own.text.is_some() && other.text == own.text
            };
            (own.is_uniform || self.place == read.place) && read.conditions.iter().any(is_same)
        };
        self.at < read.at && self.conditions.iter().all(is_met)
    }
}

struct Reader {
    group: Group,
    /// Arrays in local memory, and pointers to it that are parameters.
    arrays: HashSet<String>,
    /// Single numbers there.
    scalars: HashSet<String>,
    /// Those of both that are reached in other ways, too.
    escaped: HashSet<String>,
    /// Names that are set after they were declared.
    set: HashSet<String>,
    /// Variables that hold the work-item's id in its group, and never anything else.
    ids: HashSet<String>,
    conditions: Vec<Condition>,
    branches: usize,
    reads: Vec<Access>,
    writes: Vec<Access>,
}

impl Reader {
    fn of(program: &Program) -> Reader {
        let arrays = program.parameters.iter().filter(|one| is_local(&one.text));
        let mut reader = Reader {
            group: Group::of(program),
            arrays: arrays.map(|one| one.name.clone()).collect(),
            scalars: HashSet::new(),
            escaped: HashSet::new(),
            set: HashSet::new(),
            ids: HashSet::new(),
            conditions: Vec::new(),
            branches: 0,
            reads: Vec::new(),
            writes: Vec::new(),
        };
        for statement in &mut program.body.clone() {
            statement.each(&mut |one| reader.declared(one));
            statement.each_expression(&mut |one| match &one.node {
                Node::Assign(_, left, _) | Node::Postfix(_, left) => reader.changed(left),
                Node::Unary(operator, left) if ["++", "--", "&"].contains(&operator.as_str()) => {
                    reader.changed(left);
                }
                _ => {}
            });
        }
        reader.ids.retain(|name| !reader.set.contains(name));
        reader
    }

    fn declared(&mut self, one: &Statement) {
        match one {
            Statement::Declare { name, value: Some(value), .. } if is_local_id(value) => {
                self.ids.insert(name.clone());
            }
            Statement::Declare { prefix, name, ty, value: None } if is_local(prefix) => {
                let mut before = lexer::tokens(prefix).take_while(|token| token.text != name);
                if matches!(ty, Ty::Number(..)) {
                    self.scalars.insert(name.clone());
                } else if !before.any(|token| token.text == "*") {
                    self.arrays.insert(name.clone());
                }
            }
            // Several arrays at once.
            Statement::Opaque(text) if is_local(text) => {
                let words: Vec<&str> = lexer::tokens(text).map(|token| token.text).collect();
                let arrays = words.windows(3).filter(|three| three[0] != "*" && three[2] == "[");
                self.arrays.extend(arrays.map(|three| three[1].to_owned()));
            }
            _ => {}
        }
    }

    fn changed(&mut self, left: &Expression) {
        match &left.node {
            Node::Name(name) => {
                self.set.insert(name.clone());
            }
            Node::Lanes(vector, _) => self.changed(vector),
            _ => {}
        }
    }

    /// Whether the text of a value says the same everywhere.
    fn is_constant(&self, value: &Expression) -> bool {
        let mut is_constant = true;
        value.clone().each(&mut |one| {
            is_constant &= match &one.node {
                Node::Name(name) => !self.set.contains(name) && !self.scalars.contains(name),
                Node::Unary(operator, _) => !["*", "&", "++", "--"].contains(&operator.as_str()),
                Node::Call(function, _) => function.starts_with("get_"),
                Node::Index(..) | Node::Assign(..) | Node::Postfix(..) | Node::Opaque(_) => false,
                _ => true,
            };
        });
        is_constant
    }

    /// Whether it holds for one work-item of each group, whatever the kernel is run with.
    fn holds_for_one(&self, condition: &Expression) -> bool {
        let is_id = |one: &Expression| match &one.node {
            Node::Name(name) => self.ids.contains(name),
            _ => is_local_id(one),
        };
        let is_zero = |one: &Expression| matches!(&one.node, Node::Literal(text) if text == "0");
        match &condition.node {
            Node::Unary(operator, operand) => operator == "!" && is_id(operand),
            Node::Binary(operator, left, right) => match operator.as_str() {
                "&&" => self.holds_for_one(left) && self.holds_for_one(right),
                "==" => is_id(left) && is_zero(right) || is_zero(left) && is_id(right),
                _ => false,
            },
            _ => false,
        }
    }

    fn list(&mut self, list: &[Statement]) {
        list.iter().for_each(|one| self.statement(one));
    }

    fn statement(&mut self, one: &Statement) {
        match one {
            Statement::Declare { value: Some(value), .. } => self.expression(value),
            Statement::Declare { prefix, name, value: None, .. } => {
                if !self.arrays.contains(name) {
                    self.escape(prefix);
                }
            }
            Statement::Evaluate(value) => self.expression(value),
            Statement::If { condition, then, otherwise } => {
                self.expression(condition);
                self.branch(condition, then, otherwise.as_deref().unwrap_or_default());
            }
            Statement::For { start, condition, step, body } => {
                if let Some(start) = start {
                    self.statement(start);
                }
                self.looped(condition.as_ref(), step.as_ref(), body);
            }
            Statement::While { condition, body } => self.looped(Some(condition), None, body),
            Statement::Do { body, condition } => {
                self.list(body);
                self.expression(condition);
            }
            Statement::Block(list) => self.list(list),
            Statement::Opaque(text) => self.text(text),
        }
    }

    fn branch(&mut self, condition: &Expression, then: &[Statement], otherwise: &[Statement]) {
        let from = self.writes.len();
        match self.holds_for_one(condition) {
            true => self.list(then),
            false => self.under(condition, condition.to_string(), |reader| reader.list(then)),
        }
        let middle = self.writes.len();
        self.under(condition, format!("!({condition})"), |reader| reader.list(otherwise));
        // What both write is written.
        let depth = self.conditions.len() + 1;
        let (then, otherwise) = self.writes[from..].split_at(middle - from);
        let is_direct = |one: &&Access| one.conditions.len() == depth;
        let both = then.iter().filter(is_direct).filter(|one| {
            otherwise.iter().filter(is_direct).any(|other| other.buffer == one.buffer)
        });
        let both: Vec<(String, String)> =
            both.map(|one| (one.buffer.clone(), one.place.clone())).collect();
        both.into_iter().for_each(|(buffer, place)| self.write(buffer, place));
    }

    fn looped(
        &mut self,
        condition: Option<&Expression>,
        step: Option<&Expression>,
        body: &[Statement],
    ) {
        let Some(condition) = condition else {
            self.list(body);
            return step.into_iter().for_each(|step| self.expression(step));
        };
        self.expression(condition);
        let turn = |reader: &mut Reader| {
            reader.list(body);
            step.into_iter().for_each(|step| reader.expression(step));
        };
        match &condition.node {
            // Loops with one end go round as often together, wherever each work-item begins.
            Node::Binary(operator, _, end)
                if ["<", "<=", ">", ">=", "!="].contains(&operator.as_str()) =>
            {
                match &end.node {
                    Node::Literal(text) if text != "0" => turn(self),
                    Node::Literal(_) => self.under(condition, condition.to_string(), turn),
                    _ => self.under(end, format!("{operator} {end}"), turn),
                }
            }
            _ => self.under(condition, condition.to_string(), turn),
        }
    }

    fn under(&mut self, condition: &Expression, text: String, body: impl FnOnce(&mut Reader)) {
        self.branches += 1;
        let under = Condition {
            branch: self.branches,
            text: Some(text).filter(|_| self.is_constant(condition)),
            is_uniform: self.group.is_uniform(condition),
        };
        self.conditions.push(under);
        body(self);
        self.conditions.pop();
    }

    /// A statement that is kept as text: what a `switch` writes is written under its condition.
    fn text(&mut self, text: &str) {
        let words: Vec<&str> = lexer::tokens(text).map(|token| token.text).collect();
        if words.first() != Some(&"switch") {
            if !is_local(text) {
                self.escape(text);
            }
            return;
        }
        let is_array = |word: &&&str| self.arrays.contains(**word) || self.scalars.contains(**word);
        let named: Vec<String> =
            words.iter().filter(is_array).map(|word| (*word).to_owned()).collect();
        self.branches += 1;
        let condition = Condition { branch: self.branches, text: None, is_uniform: false };
        self.conditions.push(condition);
        named.into_iter().for_each(|buffer| self.write(buffer, String::new()));
        self.conditions.pop();
    }

    /// What is named here is reached in a way that is not followed.
    fn escape(&mut self, text: &str) {
        let named = lexer::tokens(text).filter(|token| self.arrays.contains(token.text));
        let named: Vec<String> = named.map(|token| token.text.to_owned()).collect();
        self.escaped.extend(named);
    }

    fn expression(&mut self, one: &Expression) {
        if let Some(buffer) = self.buffer_of(one) {
            self.inside(one);
            return self.read(buffer, one.to_string());
        }
        match &one.node {
            Node::Name(name) => {
                if self.arrays.contains(name) {
                    self.escaped.insert(name.clone());
                }
            }
            Node::Literal(_) => {}
            Node::Opaque(text) => self.escape(text),
            Node::Assign(operator, left, right) => {
                self.expression(right);
                self.changes(left, operator != "=");
            }
            Node::Postfix(_, left) => self.changes(left, true),
            Node::Unary(operator, left) if operator == "++" || operator == "--" => {
                self.changes(left, true);
            }
            Node::Unary(_, operand) | Node::Cast(_, operand) | Node::Lanes(operand, _) => {
                self.expression(operand);
            }
            Node::Index(left, right) => {
                self.expression(left);
                self.expression(right);
            }
            Node::Binary(operator, left, right) => {
                self.expression(left);
                match operator.as_str() {
                    "&&" => self.under(left, left.to_string(), |reader| reader.expression(right)),
                    "||" => {
                        self.under(left, format!("!({left})"), |reader| reader.expression(right));
                    }
                    _ => self.expression(right),
                }
            }
            Node::Choice(condition, yes, no) => {
                self.expression(condition);
                self.under(condition, condition.to_string(), |reader| reader.expression(yes));
                self.under(condition, format!("!({condition})"), |reader| reader.expression(no));
            }
            Node::Call(function, arguments) => {
                arguments.iter().for_each(|one| self.argument(function, one));
            }
            Node::Vector(_, values) => values.iter().for_each(|one| self.expression(one)),
        }
    }

    fn argument(&mut self, function: &str, one: &Expression) {
        let is_element = matches!(one.node, Node::Index(..) | Node::Lanes(..));
        let Some(buffer) = self.named(one).filter(|_| !is_element) else {
            return self.expression(one);
        };
        self.inside(one);
        match function {
            _ if function.starts_with("vload") || function.starts_with("atom") => {
                self.read(buffer, one.to_string());
            }
            _ if function.starts_with("vstore") => self.write(buffer, one.to_string()),
            _ => {
                self.escaped.insert(buffer);
            }
        }
    }

    fn changes(&mut self, left: &Expression, reads: bool) {
        let Some(buffer) = self.buffer_of(left) else {
            return match &left.node {
                Node::Name(_) => {}
                _ => self.expression(left),
            };
        };
        self.inside(left);
        if reads {
            self.read(buffer.clone(), left.to_string());
        }
        self.write(buffer, left.to_string());
    }

    /// The local memory that an element lies in.
    fn buffer_of(&self, element: &Expression) -> Option<String> {
        match &element.node {
            Node::Index(pointer, _) => self.named(pointer),
            Node::Unary(operator, pointer) if operator == "*" => self.named(pointer),
            Node::Lanes(vector, _) => self.buffer_of(vector),
            Node::Name(name) => self.scalars.contains(name).then(|| name.clone()),
            _ => None,
        }
    }

    /// The local memory that a pointer names.
    fn named(&self, pointer: &Expression) -> Option<String> {
        match &pointer.node {
            Node::Name(name) => self.arrays.contains(name).then(|| name.clone()),
            Node::Index(of, _) | Node::Cast(_, of) => self.named(of),
            Node::Binary(_, left, right) => self.named(left).or_else(|| self.named(right)),
            Node::Unary(operator, element) if operator == "&" => self.buffer_of(element),
            _ => None,
        }
    }

    /// What is read to find an element of local memory.
    fn inside(&mut self, element: &Expression) {
        match &element.node {
            Node::Name(_) => {}
            Node::Index(pointer, at) => {
                self.inside(pointer);
                self.expression(at);
            }
            Node::Unary(_, of) | Node::Lanes(of, _) | Node::Cast(_, of) => self.inside(of),
            Node::Binary(_, left, right) => {
                for side in [left, right] {
                    match self.named(side) {
                        Some(_) => self.inside(side),
                        None => self.expression(side),
                    }
                }
            }
            _ => self.expression(element),
        }
    }

    fn access(&self, buffer: String, place: String) -> Access {
        let at = self.reads.len() + self.writes.len();
        Access { buffer, place, conditions: self.conditions.clone(), at }
    }

    fn read(&mut self, buffer: String, place: String) {
        let access = self.access(buffer, place);
        self.reads.push(access);
    }

    fn write(&mut self, buffer: String, place: String) {
        let access = self.access(buffer, place);
        self.writes.push(access);
    }
}

/// Whether a value is the work-item's id in its group.
fn is_local_id(value: &Expression) -> bool {
    match &value.node {
        Node::Cast(_, operand) => is_local_id(operand),
        Node::Call(function, _) => {
            ["get_local_id", "get_local_linear_id"].contains(&function.as_str())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::{Hazard, MayRace};

    #[test]
    fn local_memory_that_may_not_be_written_is_told_from_what_is() {
        let found = MayRace::new(1).unwrap_or_else(|error| panic!("{error}"));
        let head = "__global int* a, __global int* b, __local int* t, int n";
        let before = "int l = get_local_id(0); int i = get_global_id(0);";
        let barrier = "barrier(CLK_LOCAL_MEM_FENCE);";
        for (body, may) in [
            ("t[l] = b[i]; BARRIER a[i] = t[get_local_size(0) - 1 - l];", false),
            ("if (i < n) t[l] = b[i]; BARRIER a[i] = t[get_local_size(0) - 1 - l];", true),
            ("if (n > 4) t[l] = b[i]; BARRIER a[i] = t[0];", true),
            ("if (n > 4) { t[l] = b[i]; BARRIER a[i] = t[0]; }", false),
            ("if (n > 4) t[l] = b[i]; BARRIER if (n > 4) a[i] = t[0];", false),
            ("if (n > 4) t[l] = b[i]; BARRIER n = 9; if (n > 4) a[i] = t[0];", true),
            ("if (n > 4) t[l] = b[i]; else t[l] = 0; BARRIER a[i] = t[0];", false),
            ("t[l] = 0; if (n > 4) t[l] = b[i]; BARRIER a[i] = t[0];", false),
            ("if (n > 4) t[l] = b[i]; BARRIER a[i] = t[0]; BARRIER t[l] = 0;", true),
            ("if (i < n) t[l] = b[i]; BARRIER if (i < n) a[i] = t[l];", false),
            ("if (i < n) t[l] = b[i]; BARRIER if (i < n) a[i] = t[l + 1];", true),
            // One work-item of each group, and of all.
            ("if (l == 0) t[0] = b[i]; BARRIER a[i] = t[0];", false),
            ("if (i == 0) t[0] = b[i]; BARRIER a[i] = t[0];", true),
            ("__local int s; if (l == 0) s = n; BARRIER a[i] = s;", false),
            ("__local int s; if (n == 0) s = n; BARRIER a[i] = s;", true),
            // Loops, and what is changed.
            ("for (int j = 0; j < n; j++) { t[l] = b[j]; BARRIER a[i] += t[0]; BARRIER }", false),
            (
                "for (int j = l; j < n; j += 64) t[j] = b[j]; BARRIER for (int k = 0; k < n; k++) a[i] += t[k];",
                false,
            ),
            ("for (int j = 0; j < n; j++) t[l] = b[j]; BARRIER a[i] = t[0];", true),
            ("for (int j = 0; j < 4; j++) t[l] = b[j]; BARRIER a[i] = t[0];", false),
            ("if (i < n) t[l] += b[i]; BARRIER a[i] = 0;", true),
            ("switch (n) { case 1: t[l] = b[i]; break; } BARRIER a[i] = t[0];", true),
            // What is reached otherwise is for what executes the kernel.
            ("__local int* p = t; if (n > 4) t[l] = b[i]; BARRIER a[i] = t[0];", false),
            ("__local int u[4], v[4]; if (n > 4) u[l & 3] = 1; BARRIER a[i] = u[0];", true),
            ("__local int u[4][4]; if (n > 4) u[l & 3][0] = 1; BARRIER a[i] = u[0][0];", true),
        ] {
            let body = body.replace("BARRIER", barrier);
            let text = format!("__kernel void A({head}) {{\n  {before}\n  {body}\n}}\n");
            let said = found.hazard(&text).unwrap_or_else(|error| panic!("{error}"));
            let said = said.unwrap_or_else(|verdict| panic!("{verdict}: {text}"));
            assert_eq!(said == Some(Hazard::ReadsUnset), may, "{said:?}: {text}");
        }
    }
}
