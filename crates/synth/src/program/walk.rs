//! Going through a program: every place a value stands at, every place a statement can go to, and
//! the variables that are known there.

use super::{Expression, Node, Program, Space, Statement, Ty};
use std::ops::ControlFlow;

/// A variable that can be named.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) ty: Ty,
    /// Whether it surely has a value: a parameter, or initialised where it is declared.
    pub(crate) ready: bool,
}

/// What is known at a place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    pub(crate) variables: Vec<Variable>,
    /// Loops around it.
    pub(crate) loops: usize,
    /// Blocks around it, the kernel's own not counted.
    pub(crate) depth: usize,
}

/// What a value is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Place {
    /// Stored, an operand or an argument of what is.
    Value,
    /// Part of an address.
    Index,
    /// Decides a branch.
    Condition,
}

/// Gets to see each place; may change it, and then has to break off.
pub(crate) trait Visitor {
    /// A value (never what is assigned to).
    fn value(&mut self, _: &mut Expression, _: Place, _: &Scope) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Between the statements of a list: in front of the one at this position, or behind the last.
    fn point(&mut self, _: &mut Vec<Statement>, _: usize, _: &Scope) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl Program {
    /// Shows every place of the kernel to `visitor`, in the text's order.
    pub(crate) fn walk(&mut self, visitor: &mut dyn Visitor) {
        let variables = self.parameters.iter().map(|parameter| Variable {
            name: parameter.name.clone(),
            ty: parameter.ty,
            ready: true,
        });
        let scope = Scope { variables: variables.collect(), loops: 0, depth: 0 };
        let mut walk = Walk { visitor, scope, sparing: self.style.sparing };
        // Breaking off is how a visitor ends; there is nothing to tell of it.
        let _ = walk.list(&mut self.body);
    }
}

struct Walk<'v> {
    visitor: &'v mut dyn Visitor,
    scope: Scope,
    /// Whether a variable that holds a work-item's place is part of an address.
    sparing: bool,
}

impl Walk<'_> {
    fn list(&mut self, list: &mut Vec<Statement>) -> ControlFlow<()> {
        let known = self.scope.variables.len();
        let mut at = 0;
        while at < list.len() {
            self.visitor.point(list, at, &self.scope)?;
            self.statement(&mut list[at])?;
            at += 1;
        }
        self.visitor.point(list, at, &self.scope)?;
        self.scope.variables.truncate(known);
        ControlFlow::Continue(())
    }

    fn block(&mut self, list: &mut Vec<Statement>, loops: usize) -> ControlFlow<()> {
        self.scope.depth += 1;
        self.scope.loops += loops;
        self.list(list)?;
        self.scope.depth -= 1;
        self.scope.loops -= loops;
        ControlFlow::Continue(())
    }

    fn statement(&mut self, statement: &mut Statement) -> ControlFlow<()> {
        match statement {
            Statement::Declare { name, ty, value, .. } => {
                if let Some(value) = value {
                    let is_place =
                        matches!(&value.node, Node::Call(name, _) if name.starts_with("get_"));
                    let place = if self.sparing && is_place { Place::Index } else { Place::Value };
                    self.value(value, place)?;
                }
                let ready = value.is_some() || matches!(ty, Ty::Pointer { .. });
                self.scope.variables.push(Variable { name: name.clone(), ty: *ty, ready });
            }
            Statement::Evaluate(value) => self.effect(value)?,
            Statement::If { condition, then, otherwise } => {
                self.value(condition, Place::Condition)?;
                self.block(then, 0)?;
                if let Some(otherwise) = otherwise {
                    self.block(otherwise, 0)?;
                }
            }
            Statement::For { start, condition, step, body } => {
                let known = self.scope.variables.len();
                if let Some(start) = start {
                    self.statement(start)?;
                }
                if let Some(condition) = condition {
                    self.value(condition, Place::Condition)?;
                }
                self.block(body, 1)?;
                if let Some(step) = step {
                    self.effect(step)?;
                }
                self.scope.variables.truncate(known);
            }
            Statement::While { condition, body } => {
                self.value(condition, Place::Condition)?;
                self.block(body, 1)?;
            }
            Statement::Do { body, condition } => {
                self.block(body, 1)?;
                self.value(condition, Place::Condition)?;
            }
            Statement::Block(list) => self.block(list, 0)?,
            Statement::Opaque(_) => {}
        }
        ControlFlow::Continue(())
    }

    /// An expression evaluated for what it does.
    fn effect(&mut self, expression: &mut Expression) -> ControlFlow<()> {
        match &mut expression.node {
            // Which memory a fence is for is for edits of fences.
            Node::Call(function, _) if is_fence(function) => ControlFlow::Continue(()),
            Node::Assign(_, left, right) => {
                self.target(left)?;
                self.value(right, Place::Value)
            }
            Node::Unary(operator, operand) if *operator == "++" || *operator == "--" => {
                self.target(operand)
            }
            Node::Postfix(_, operand) => self.target(operand),
            Node::Call(_, arguments) => {
                arguments.iter_mut().try_for_each(|argument| self.value(argument, Place::Value))
            }
            Node::Binary(operator, left, right) if *operator == "," => {
                self.effect(left)?;
                self.effect(right)
            }
            _ => self.inside(expression, Place::Value),
        }
    }

    /// What is assigned to: only the values that say where.
    fn target(&mut self, expression: &mut Expression) -> ControlFlow<()> {
        match &mut expression.node {
            Node::Index(pointer, at) => self.index(pointer, at),
            Node::Lanes(vector, _) => self.target(vector),
            _ => ControlFlow::Continue(()),
        }
    }

    /// What says where an array is accessed. What keeps the place within an array of the kernel's own, a mask or a number,
    /// is no value that may become another.
    fn index(&mut self, pointer: &mut Expression, at: &mut Expression) -> ControlFlow<()> {
        self.target(pointer)?;
        let is_own = matches!(pointer.ty, Ty::Pointer { space: Space::Private, .. });
        match &mut at.node {
            Node::Binary(operator, inner, mask)
                if is_own && operator == "&" && matches!(mask.node, Node::Literal(_)) =>
            {
                self.value(inner, Place::Index)
            }
            Node::Literal(_) if is_own => ControlFlow::Continue(()),
            _ => self.value(at, Place::Index),
        }
    }

    fn value(&mut self, expression: &mut Expression, place: Place) -> ControlFlow<()> {
        if matches!(expression.ty, Ty::Number(..)) {
            self.visitor.value(expression, place, &self.scope)?;
        }
        self.inside(expression, place)
    }

    fn inside(&mut self, expression: &mut Expression, place: Place) -> ControlFlow<()> {
        match &mut expression.node {
            Node::Name(_) | Node::Literal(_) | Node::Opaque(_) => ControlFlow::Continue(()),
            Node::Binary(_, left, right) => {
                self.value(left, place)?;
                self.value(right, place)
            }
            Node::Assign(..) | Node::Postfix(..) => self.effect(expression),
            Node::Unary(operator, operand) => match operator.as_str() {
                "++" | "--" | "&" => self.target(operand),
                _ => self.value(operand, place),
            },
            Node::Cast(_, operand) | Node::Lanes(operand, _) => self.value(operand, place),
            // Which dimension a work-item is asked about is for edits of the call.
            Node::Call(function, _) if function.starts_with("get_") => ControlFlow::Continue(()),
            Node::Call(_, values) | Node::Vector(_, values) => {
                values.iter_mut().try_for_each(|value| self.value(value, place))
            }
            Node::Index(pointer, at) => self.index(pointer, at),
            Node::Choice(condition, yes, no) => {
                self.value(condition, Place::Condition)?;
                self.value(yes, place)?;
                self.value(no, place)
            }
        }
    }
}

/// Whether a function of this name waits for other work-items, or for memory.
fn is_fence(function: &str) -> bool {
    function.ends_with("barrier") || function.ends_with("mem_fence")
}

/// Whether one of these statements declares `name`, at any depth.
pub(crate) fn declares(list: &[Statement], name: &str) -> bool {
    let mut is_declared = false;
    for statement in list {
        statement.each(&mut |one| {
            is_declared |= match one {
                Statement::Declare { name: own, .. } => own == name,
                Statement::Opaque(text) => text.contains(name),
                _ => false,
            };
        });
    }
    is_declared
}

impl Statement {
    /// The lists of statements that it has.
    pub(crate) fn lists(&self) -> impl Iterator<Item = &[Statement]> {
        let (first, second) = match self {
            Statement::If { then, otherwise, .. } => (Some(then), otherwise.as_ref()),
            Statement::For { body, .. }
            | Statement::While { body, .. }
            | Statement::Do { body, .. }
            | Statement::Block(body) => (Some(body), None),
            Statement::Declare { .. } | Statement::Evaluate(_) | Statement::Opaque(_) => {
                (None, None)
            }
        };
        first.into_iter().chain(second).map(Vec::as_slice)
    }

    /// Shows it to `visit`, and every statement that it has.
    pub(crate) fn each(&self, visit: &mut dyn FnMut(&Statement)) {
        visit(self);
        if let Statement::For { start: Some(start), .. } = self {
            start.each(visit);
        }
        self.lists().flatten().for_each(|one| one.each(visit));
    }

    /// Shows every expression to `visit`, what is assigned to included.
    pub(crate) fn each_expression(&mut self, visit: &mut dyn FnMut(&mut Expression)) {
        let mut lists: Vec<&mut Vec<Statement>> = Vec::new();
        match self {
            Statement::Declare { value, .. } => {
                if let Some(value) = value {
                    value.each(visit);
                }
            }
            Statement::Evaluate(value) => value.each(visit),
            Statement::If { condition, then, otherwise } => {
                condition.each(visit);
                lists.push(then);
                lists.extend(otherwise);
            }
            Statement::For { start, condition, step, body } => {
                if let Some(start) = start {
                    start.each_expression(visit);
                }
                condition.iter_mut().chain(step).for_each(|part| part.each(visit));
                lists.push(body);
            }
            Statement::While { condition, body } | Statement::Do { body, condition } => {
                condition.each(visit);
                lists.push(body);
            }
            Statement::Block(list) => lists.push(list),
            Statement::Opaque(_) => {}
        }
        for statement in lists.into_iter().flatten() {
            statement.each_expression(visit);
        }
    }
}

impl Expression {
    pub(crate) fn each(&mut self, visit: &mut dyn FnMut(&mut Expression)) {
        visit(self);
        match &mut self.node {
            Node::Name(_) | Node::Literal(_) | Node::Opaque(_) => {}
            Node::Binary(_, left, right)
            | Node::Assign(_, left, right)
            | Node::Index(left, right) => {
                left.each(visit);
                right.each(visit);
            }
            Node::Unary(_, operand)
            | Node::Postfix(_, operand)
            | Node::Cast(_, operand)
            | Node::Lanes(operand, _) => operand.each(visit),
            Node::Call(_, values) | Node::Vector(_, values) => {
                values.iter_mut().for_each(|value| value.each(visit));
            }
            Node::Choice(condition, yes, no) => {
                condition.each(visit);
                yes.each(visit);
                no.each(visit);
            }
        }
    }
}
