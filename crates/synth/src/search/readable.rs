//! What makes a kernel hard to read, counted without a model: casts, a dozen parameters, work-items that do not write their own
//! elements, operators between equal operands.

mod index;

use super::{
    rewrite::{Limits, Measure},
    unread::unread,
};
use crate::{
    Error, edit,
    program::{Expression, Node, Program, Scalar, Space, Statement, Ty, as_mined},
};
use std::collections::{HashMap, HashSet};

/// Candidates without a more readable one after which the phase ends.
const PATIENCE: u64 = 480;
/// Bytes of candidates that it takes at most, and candidates whatever their size: some seconds.
const BYTES: usize = 1_200_000;
const CANDIDATES: std::ops::RangeInclusive<usize> = 48..=2_400;

/// Parameters that nobody minds.
const PARAMETERS: usize = 4;

/// For each token that was not there before, or is no longer: what need not change stays as it is. Of a kernel made from
/// nothing, for each token.
const CHANGE: f64 = 0.05;
const PER_PARAMETER: f64 = 3.0;
const CAST: f64 = 4.0;
const SMALL_TYPE: f64 = 1.0;
const ELEMENT_OF_NOBODY: f64 = 5.0;
const INDIRECT: f64 = 6.0;
const FURTHER_DIMENSION: f64 = 1.0;
const ODD_DIMENSION: f64 = 10.0;
const ODD_NUMBER: f64 = 1.0;
const TRIVIAL: f64 = 4.0;
const CONSTANT: f64 = 20.0;
const NO_COMPARISON: f64 = 10.0;
const UNREACHED: f64 = 10.0;
const EMPTY: f64 = 10.0;
const BARE_BLOCK: f64 = 5.0;
const UNUSED: f64 = 5.0;
const UNREAD: f64 = 5.0;
/// For each operation that says where a loop begins, and for a number that is not 0 or 1.
const COMPUTED_START: f64 = 2.0;
/// For a loop that ends where its counter differs from nothing else than one number.
const ENDS_AT_ONE: f64 = 1.0;
const SAME_AGAIN: f64 = 10.0;
const ALIAS: f64 = 2.0;
const NO_WORK_ITEM: f64 = 15.0;
const ASKED_AGAIN: f64 = 0.5;
/// The same, where a variable holds it.
const KNOWN_ASKED_AGAIN: f64 = 2.0;
/// For each further variable that holds the same of the work-item.
const SAME_PLACE: f64 = 6.0;
const ALWAYS: f64 = 10.0;
const SHIFT_BY_VALUE: f64 = 1.0;

/// Numbers that need no reason.
const PLAIN: [&str; 14] =
    ["0", "1", "2", "3", "4", "8", "16", "32", "64", "0.0f", "0.5f", "1.0f", "2.0f", "255"];

/// Readable shape, and likeness to what was found, or else shortness.
pub(super) struct Readable {
    found: Option<HashMap<String, usize>>,
}

impl Readable {
    /// Of kernels that were made from nothing.
    pub(super) fn short() -> Readable {
        Readable { found: None }
    }

    /// Of kernels that are written in the place of this one.
    pub(super) fn than(found: &str) -> Readable {
        let mut counts = HashMap::new();
        for token in lexer::tokens(&as_mined(found)) {
            *counts.entry(token.text.to_owned()).or_insert(0) += 1;
        }
        Readable { found: Some(counts) }
    }

    /// Tokens that a text has and the found one has not, and the other way round; or all.
    fn changes(&self, text: &str) -> usize {
        let Some(mut left) = self.found.clone() else { return lexer::tokens(text).count() };
        let named = as_mined(text);
        let mut added = 0;
        for token in lexer::tokens(&named) {
            match left.get_mut(token.text).filter(|count| **count > 0) {
                Some(count) => *count -= 1,
                None => added += 1,
            }
        }
        added + left.values().sum::<usize>()
    }
}

impl Measure for Readable {
    type Of = f64;

    fn of(&self, program: &Program, text: &str) -> Result<Option<f64>, Error> {
        Ok(Some(cost(program, text) + self.changes(text) as f64 * CHANGE))
    }

    fn cost(of: &f64) -> f64 {
        *of
    }

    fn limits(&self, text: &str) -> Limits {
        let most = (BYTES / text.len().max(1)).clamp(*CANDIDATES.start(), *CANDIDATES.end());
        Limits { patience: PATIENCE, candidates: most as u64, asks_each: false }
    }

    fn told(_: &f64) -> String {
        "written more readably".to_owned()
    }
}

/// How odd a kernel looks and how long it is, from 0.
pub(super) fn oddness(program: &Program, text: &str) -> f64 {
    cost(program, text) + lexer::tokens(text).count() as f64 * CHANGE
}

/// How odd a kernel looks, from 0.
fn cost(program: &Program, text: &str) -> f64 {
    let mut cost = program.parameters.len().saturating_sub(PARAMETERS) as f64 * PER_PARAMETER;
    let is_small = |ty: Ty| {
        ty.scalar()
            .is_some_and(|scalar| scalar.bits() < 32 || !scalar.is_signed() && !scalar.is_float())
    };
    let small = program.parameters.iter().filter(|parameter| is_small(parameter.ty)).count();
    cost += small as f64 * SMALL_TYPE + unused(program, text) as f64 * UNUSED + list(&program.body);
    cost += (unread(&program.body) + only_written(program, text)) as f64 * UNREAD;
    let mut view = View {
        parameters: program.parameters.iter().map(|parameter| parameter.name.clone()).collect(),
        ..View::default()
    };
    for statement in &program.body {
        statement.each(&mut |one| {
            cost += of_statement(one) + one.lists().map(list).sum::<f64>();
        });
        cost += view.declared(statement);
        statement.clone().each_expression(&mut |one| cost += view.of(one));
    }
    if view.work_items == 0 {
        cost += NO_WORK_ITEM;
    }
    cost + view.work_items.saturating_sub(1) as f64 * ASKED_AGAIN + view.again()
}

/// What was seen of a kernel so far.
#[derive(Default)]
struct View {
    parameters: HashSet<String>,
    /// Variables that hold what was read of a buffer.
    loaded: HashSet<String>,
    /// Variables that were declared with a number.
    numbers: HashSet<String>,
    /// Variables that hold the work-item's number among all.
    places: HashSet<String>,
    /// Calls that say which work-item this is.
    work_items: usize,
    /// What is asked about the work-item, as often as it is.
    asked: Vec<Node>,
    /// The same of what variables hold.
    held: Vec<Node>,
}

impl View {
    /// What a declaration adds, its value apart.
    fn declared(&mut self, statement: &Statement) -> f64 {
        let Statement::Declare { name, value: Some(value), .. } = statement else { return 0.0 };
        if self.is_loaded(value) {
            self.loaded.insert(name.clone());
        }
        if is_literal(value) {
            self.numbers.insert(name.clone());
        }
        if is_global_id(value) {
            self.places.insert(name.clone());
        }
        if value.is_of_work_item() {
            self.held.push(value.node.clone());
        }
        if matches!(value.node, Node::Name(_)) { ALIAS } else { 0.0 }
    }

    /// What one node adds, its operands apart.
    fn of(&mut self, expression: &Expression) -> f64 {
        match &expression.node {
            Node::Cast(name, operand) if operand.is_of_work_item() && name == "int" => 0.0,
            Node::Cast(..) => CAST,
            Node::Index(buffer, at) => self.index(at) + self.of_group(buffer, at),
            Node::Call(function, arguments) if function.starts_with("get_") => {
                self.asked.push(expression.node.clone());
                let is_own =
                    ["get_global_id", "get_local_id", "get_group_id"].contains(&function.as_str());
                self.work_items += usize::from(is_own);
                arguments.iter().map(dimension).sum()
            }
            Node::Literal(text) if !PLAIN.contains(&text.as_str()) => ODD_NUMBER,
            Node::Binary(operator, left, right) if operator != "," => {
                let is_shift = operator == "<<" || operator == ">>";
                let by_value = if is_shift && !is_literal(right) { SHIFT_BY_VALUE } else { 0.0 };
                trivial(operator, left, right) + always(operator, left, right) + by_value
            }
            Node::Assign(operator, left, right) if operator == "=" && left == right => SAME_AGAIN,
            Node::Choice(condition, yes, no) if yes == no || is_literal(condition) => TRIVIAL,
            _ => 0.0,
        }
    }

    /// What is asked about the work-item that a variable holds, and what several hold.
    fn again(&self) -> f64 {
        let mut cost = 0.0;
        for (at, node) in self.held.iter().enumerate() {
            if self.held[..at].contains(node) {
                cost += SAME_PLACE;
                continue;
            }
            let count = |all: &[Node]| all.iter().filter(|one| *one == node).count();
            let again = count(&self.asked).saturating_sub(count(&self.held));
            cost += again as f64 * KNOWN_ASKED_AGAIN;
        }
        cost
    }

    /// Where a buffer is read or written.
    fn index(&self, at: &Expression) -> f64 {
        index::index(at, &self.parameters) + self.element(at)
    }

    /// Which element of a buffer it is.
    fn element(&self, at: &Expression) -> f64 {
        match &at.node {
            Node::Literal(_) => ELEMENT_OF_NOBODY,
            Node::Name(name) if self.parameters.contains(name) => ELEMENT_OF_NOBODY / 2.0,
            Node::Name(name) if self.numbers.contains(name) => ELEMENT_OF_NOBODY,
            _ if self.is_loaded(at) => INDIRECT,
            _ => 0.0,
        }
    }

    /// Where memory of a group is read or written: its elements are fewer than all work-items.
    fn of_group(&self, buffer: &Expression, at: &Expression) -> f64 {
        let mut is_global = false;
        at.clone().each(&mut |one| {
            is_global |= match &one.node {
                Node::Name(name) => self.places.contains(name),
                _ => is_global_id(one),
            };
        });
        let is_local = matches!(buffer.ty, Ty::Pointer { space: Space::Local, .. });
        if is_local && is_global { ELEMENT_OF_NOBODY } else { 0.0 }
    }

    /// Whether a value has anything that was read of a buffer.
    fn is_loaded(&self, value: &Expression) -> bool {
        let mut is_loaded = false;
        value.clone().each(&mut |one| {
            is_loaded |= match &one.node {
                Node::Index(..) => true,
                Node::Name(name) => self.loaded.contains(name),
                _ => false,
            };
        });
        is_loaded
    }
}

/// Variables that stand nowhere but where they are declared.
fn unused(program: &Program, text: &str) -> usize {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for token in lexer::tokens(text) {
        *counts.entry(token.text).or_default() += 1;
    }
    let mut unused = 0;
    for statement in &program.body {
        statement.each(&mut |one| {
            if let Statement::Declare { name, .. } = one {
                unused += usize::from(counts.get(name.as_str()) == Some(&1));
            }
        });
    }
    unused
}

/// Buffers of a group that are written alone.
fn only_written(program: &Program, text: &str) -> usize {
    let is_local = |ty: Ty| matches!(ty, Ty::Pointer { space: Space::Local, .. });
    let mut only = 0;
    for buffer in program.parameters.iter().filter(|one| is_local(one.ty)) {
        let mut written = 0;
        for statement in &program.body {
            statement.clone().each_expression(&mut |one| {
                let place = match &one.node {
                    Node::Assign(operator, place, _) if operator == "=" => name_of(place),
                    _ => None,
                };
                written += usize::from(place.as_ref() == Some(&buffer.name));
            });
        }
        let named = lexer::tokens(text).filter(|token| token.text == buffer.name).count();
        only += usize::from(written > 0 && named == written + 1);
    }
    only
}

/// What a list of statements adds, theirs apart: nothing in it, or some behind one that leaves it.
fn list(list: &[Statement]) -> f64 {
    let behind = list.iter().position(edit::is_jump).map_or(0, |at| list.len() - at - 1);
    behind as f64 * UNREACHED + if list.is_empty() { EMPTY } else { 0.0 }
}

/// What one statement adds, those in it and its values apart: a list without need, a condition that nothing changes, a loop
/// that compares nothing.
fn of_statement(statement: &Statement) -> f64 {
    let (condition, is_constant) = match statement {
        Statement::If { condition, .. } => {
            return if is_literal(condition) { CONSTANT } else { 0.0 };
        }
        Statement::While { condition, body } | Statement::Do { body, condition } => {
            (condition, is_endless(condition, None, body))
        }
        Statement::For { start, condition: Some(condition), step, body } => {
            if is_never_run(start.as_deref(), condition, step.as_ref()) {
                return CONSTANT;
            }
            (condition, is_endless(condition, step.as_ref(), body))
        }
        Statement::Block(_) => return BARE_BLOCK,
        _ => return 0.0,
    };
    let compares = matches!(&condition.node, Node::Binary(operator, ..)
        if ["<", ">", "<=", ">=", "==", "!=", "&&", "||"].contains(&operator.as_str()));
    let constant = if is_constant { CONSTANT } else { 0.0 };
    let start = match statement {
        Statement::For { start: Some(start), .. } => computed(start) as f64 * COMPUTED_START,
        _ => 0.0,
    };
    let ends_at_one = match (statement, &condition.node) {
        (Statement::For { .. }, Node::Binary(operator, ..)) => {
            ["==", "!="].contains(&operator.as_str())
        }
        _ => false,
    };
    let end = if ends_at_one { ENDS_AT_ONE } else { 0.0 };
    start + end + constant + if compares { 0.0 } else { NO_COMPARISON }
}

/// Operations of what a variable begins with, and numbers but for 0 and 1.
fn computed(statement: &Statement) -> usize {
    let mut count = 0;
    statement.clone().each_expression(&mut |one| {
        count += usize::from(match &one.node {
            Node::Binary(..) => true,
            Node::Literal(text) => text != "0" && text != "1",
            _ => false,
        });
    });
    count
}

/// Whether a loop begins where it ends, or counts away from where it ends.
fn is_never_run(
    start: Option<&Statement>,
    condition: &Expression,
    step: Option<&Expression>,
) -> bool {
    let (Some(Statement::Declare { value: Some(first), .. }), Node::Binary(operator, _, last)) =
        (start, &condition.node)
    else {
        return false;
    };
    let counts_up = step.is_some_and(|step| match &step.node {
        Node::Postfix(word, _) | Node::Unary(word, _) => word == "++",
        _ => false,
    });
    let number = |one: &Expression| match &one.node {
        Node::Literal(text) => text.parse::<i64>().ok(),
        _ => None,
    };
    let is_behind = number(first).zip(number(last)).is_some_and(|(first, last)| first >= last);
    *first == **last
        || counts_up && [">", ">=", "=="].contains(&operator.as_str())
        || is_behind && operator == "<"
}

/// Whether a loop's condition names nothing that the loop writes, and reads no buffer that another work-item may write.
fn is_endless(condition: &Expression, step: Option<&Expression>, body: &[Statement]) -> bool {
    let mut written = HashSet::new();
    let mut write = |one: &mut Expression| match &one.node {
        Node::Assign(_, place, _) | Node::Postfix(_, place) => written.extend(name_of(place)),
        Node::Unary(operator, place) if operator == "++" || operator == "--" => {
            written.extend(name_of(place));
        }
        _ => {}
    };
    if let Some(step) = step {
        step.clone().each(&mut write);
    }
    body.iter().for_each(|statement| statement.clone().each_expression(&mut write));
    let mut is_endless = true;
    condition.clone().each(&mut |one| {
        is_endless &= match &one.node {
            Node::Name(name) => !written.contains(name),
            Node::Index(..) | Node::Opaque(_) | Node::Assign(..) | Node::Postfix(..) => false,
            _ => true,
        };
    });
    is_endless
}

/// The variable that is written where this is assigned to.
fn name_of(place: &Expression) -> Option<String> {
    match &place.node {
        Node::Name(name) => Some(name.clone()),
        Node::Lanes(of, _) | Node::Index(of, _) => name_of(of),
        _ => None,
    }
}

/// Which dimension of work-items is asked for.
fn dimension(argument: &Expression) -> f64 {
    match &argument.node {
        Node::Literal(text) if text == "0" => 0.0,
        Node::Literal(text) if text == "1" || text == "2" => FURTHER_DIMENSION,
        _ => ODD_DIMENSION,
    }
}

/// What a comparison adds that comes out one way: of what has no sign with 0.
fn always(operator: &str, left: &Expression, right: &Expression) -> f64 {
    let has_no_sign = |one: &Expression| {
        one.ty.scalar().is_some_and(|scalar| !scalar.is_signed() && !scalar.is_float())
    };
    let is_zero = |one: &Expression| matches!(&one.node, Node::Literal(text) if text == "0");
    let is_one_way = match operator {
        ">=" | "<" => has_no_sign(left) && is_zero(right),
        "<=" | ">" => is_zero(left) && has_no_sign(right),
        _ => false,
    };
    if is_one_way { ALWAYS } else { 0.0 }
}

/// What an operator adds that people leave out.
fn trivial(operator: &str, left: &Expression, right: &Expression) -> f64 {
    let is = |one: &Expression, text: &str| matches!(&one.node, Node::Literal(own) if own == text);
    let any = |text: &str| is(left, text) || is(right, text);
    let is_neutral = match operator {
        "+" | "|" | "^" | "&" => any("0") || any("0.0f"),
        "-" | "<<" | ">>" => is(right, "0") || is(right, "0.0f") || is(left, "0"),
        "*" => ["0", "1", "0.0f", "1.0f"].into_iter().any(any),
        "/" | "%" => {
            ["0", "0.0f", "1", "1.0f"].into_iter().any(|one| is(right, one)) || is(left, "0")
        }
        _ => false,
    };
    let mut times = usize::from(is_neutral);
    if operator == "+" || operator == "-" {
        // `x + 2 - y + 16 - x` is one operation with one number and `y`.
        let mut terms = Vec::new();
        signed(left, true, &mut terms);
        signed(right, operator == "+", &mut terms);
        let (numbers, others): (Vec<_>, Vec<_>) =
            terms.into_iter().partition(|(_, term)| is_literal(term));
        times += numbers.len().saturating_sub(1);
        let is_known = |at: &usize| others[..*at].iter().any(|(_, term)| *term == others[*at].1);
        times += (1..others.len()).filter(is_known).count();
    } else if ["*", "&", "|", "^"].contains(&operator) {
        // `x ^ 2 ^ y ^ 16 ^ x` is one operation with one number and `y`.
        let mut terms = Vec::new();
        flatten(operator, left, &mut terms);
        flatten(operator, right, &mut terms);
        let (numbers, others): (Vec<_>, Vec<_>) =
            terms.into_iter().partition(|one| is_literal(one));
        times += numbers.len().saturating_sub(1);
        let is_power = operator == "*" && left.ty.scalar().is_some_and(Scalar::is_float);
        if !is_power {
            times += (1..others.len()).filter(|at| others[..*at].contains(&others[*at])).count();
        }
    } else {
        times += usize::from(left == right || is_literal(left) && is_literal(right));
    }
    // `x / 2.0f / 0.5f` is one operation with one number.
    let is_scaled = |one: &Expression| {
        matches!(&one.node, Node::Binary(own, _, by)
            if is_literal(by) && (own == "/" || own == "*" && operator == "/"))
    };
    let is_of_factors = ["*", "/"].contains(&operator) && is_literal(right) && is_scaled(left);
    let is_float = left.ty.scalar().is_some_and(Scalar::is_float);
    times += usize::from(is_float && is_of_factors);
    times as f64 * TRIVIAL
}

/// The operands of an operator that may be put in any order.
fn flatten<'a>(operator: &str, value: &'a Expression, terms: &mut Vec<&'a Expression>) {
    match &value.node {
        Node::Binary(own, left, right) if own == operator => {
            flatten(operator, left, terms);
            flatten(operator, right, terms);
        }
        _ => terms.push(value),
    }
}

/// The terms of a sum, and whether each is added.
fn signed<'a>(value: &'a Expression, is_added: bool, terms: &mut Vec<(bool, &'a Expression)>) {
    match &value.node {
        Node::Binary(own, left, right) if own == "+" || own == "-" => {
            signed(left, is_added, terms);
            signed(right, is_added == (own == "+"), terms);
        }
        _ => terms.push((is_added, value)),
    }
}

fn is_literal(expression: &Expression) -> bool {
    matches!(expression.node, Node::Literal(_))
}

fn is_global_id(expression: &Expression) -> bool {
    matches!(&expression.node, Node::Call(function, _) if function == "get_global_id")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Judge;

    #[test]
    fn what_people_hardly_write_costs_more() {
        let judge = Judge::new(features::space("grewe").expect("registered"), 1)
            .unwrap_or_else(|error| panic!("{error}"));
        let cost = |head: &str, body: &str| {
            let text = format!("__kernel void A({head}) {{ {body} }}");
            cost(&judge.read_one(&text).expect("a kernel"), &text)
        };
        let head = "__global int* a, __global int* b, int c, float d";
        let plain = cost(head, "a[get_global_id(0)] = b[get_global_id(0)] + c;");
        for odd in [
            "a[7] = b[get_global_id(0)] + c;",
            "a[get_global_id(0)] = b[b[c]] + c;",
            "a[get_global_id(0)] = b[get_global_id(37)] + c;",
            "a[get_global_id(0)] = (int)d + b[c];",
            "a[get_global_id(0)] = b[c] + 0 + c;",
            "a[get_global_id(0)] = b[c] + (c - c);",
            "a[get_global_id(0)] = b[c] + (c > 1 ? c : c);",
            "a[c] = b[c + 1] + c + b[c] * c + a[c];",
            "int e = c; a[get_global_id(0)] = b[get_global_id(0)] + e;",
            "while (0) { a[get_global_id(0)] = b[c]; }",
            "for (int e = 0; c < 8; e++) { a[e] = b[e]; }",
            "for (int e = c; e; e++) { a[get_global_id(0)] = b[e] + c; }",
            "for (int e = c; e < c; e++) { a[get_global_id(0)] = b[e] + c; }",
            "for (int e = 0; e > c; e++) { a[get_global_id(0)] = b[e] + c; }",
            "if (c > 1) { } a[get_global_id(0)] = b[get_global_id(0)] + c;",
            "{ a[get_global_id(0)] = b[get_global_id(0)] + c; }",
            "int e = c + 3; a[get_global_id(0)] = b[get_global_id(0)] + c;",
            "a[get_global_id(0)] = c - (b[get_global_id(0)] + c);",
            "a[get_global_id(0)] = (b[get_global_id(0)] ^ 2) ^ 16;",
            "a[get_global_id(0)] = b[get_global_id(0)] ^ c ^ 2 ^ c;",
            "int e = 4; a[e] = b[get_global_id(0)] + c;",
            "int e = b[c]; a[e] = b[get_global_id(0)] + c;",
            "a[get_global_id(0)] = b[get_global_id(0)] + c; b[get_global_id(0)] = b[get_global_id(0)];",
            "a[get_global_id(0)] = b[get_global_id(0)] + c; return; a[get_global_id(0)] = c;",
            "a[get_global_id(0)] = b[get_global_id(0)] + c; c += b[get_global_id(0)];",
            "for (int e = 4 & c; e < c; e++) { a[get_global_id(0)] += b[e]; }",
            "for (int e = 255; e < c; e++) { a[get_global_id(0)] += b[e]; }",
            "for (int e = 4; e < 2; ++e) { a[get_global_id(0)] += b[e]; }",
            "int e = get_global_id(0); size_t f = get_global_id(0); a[e] = b[f] + c;",
            "int e = get_global_id(0); a[e] = b[get_global_id(0)] + c;",
            "a[get_global_id(0)] = b[get_global_id(0) << 3] + c;",
            "a[get_global_id(0)] = b[get_global_id(0) & c] + c;",
            "a[get_global_id(0)] = b[get_global_id(0) + 255] + c;",
            "a[get_global_id(0)] = b[get_local_size(0) - 1] + c;",
            "a[get_global_id(0)] = (ulong)get_global_id(0) + c;",
            "a[get_global_id(0)] = get_global_id(0) >= 0 ? b[get_global_id(0)] : c;",
            "a[get_global_id(0)] = d / 2.0f / 0.5f;",
        ] {
            assert!(cost(head, odd) > plain + 1.0, "{odd}");
        }
        let of_group = |at: &str| {
            let body = format!("a[{at}] = b[0]; barrier(1); b[get_global_id(0)] = a[{at}] + 1;");
            cost("__local int* a, __global int* b", &body)
        };
        assert!(of_group("get_global_id(0)") > of_group("get_local_id(0)") + 1.0);
        let tile = |read: &str| {
            let body = format!("a[get_local_id(0)] = 1; barrier(1); b[get_global_id(0)] = {read};");
            cost("__local int* a, __global int* b, int c", &body)
        };
        assert!(tile("c") > tile("a[get_local_id(0)]") + 1.0);
        let many = cost(
            "__global int* a, __global int* b, int c, float d, int e, int f",
            "a[get_global_id(0)] = b[get_global_id(0)] + c;",
        );
        assert!(many >= plain + 2.0 * PER_PARAMETER);
    }
}
