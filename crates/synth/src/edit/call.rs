//! Edits of calls. What a call counts for is what it returns and whether it is the first of its
//! function: that one brings a declaration into the module, which Autophase counts as a function.

use super::{
    ALL_VALUES, ANY, Entry, Rng, STATEMENTS, VALUES, Zone,
    make::{Maker, zero},
    memory::insert,
    random_statement, random_value,
    site::{is_float, is_integer},
    value::{is_plain, wrap},
};
use crate::program::{Expression, Node, Program, Scalar, Statement, Ty};
use rand::seq::IndexedRandom;
use std::collections::BTreeMap;

/// Functions of numbers of one type, by how many they take.
type Functions = [&'static [&'static str]; 3];

const OF_FLOATS: Functions = [
    &["sqrt", "exp", "log", "sin", "cos", "floor", "tan", "cbrt"],
    &["pow", "fmod", "atan2", "hypot"],
    &["mad", "fma"],
];
const OF_INTEGERS: Functions =
    [&["popcount", "clz"], &["max", "min", "mul_hi", "rotate", "hadd", "add_sat"], &["mad_hi"]];
/// Functions that take as many numbers of one type.
const GROUPS: [&[&str]; 6] =
    [OF_FLOATS[0], OF_FLOATS[1], OF_FLOATS[2], OF_INTEGERS[0], OF_INTEGERS[1], OF_INTEGERS[2]];
const OF_WORK_ITEMS: [&str; 6] = [
    "get_global_id",
    "get_local_id",
    "get_group_id",
    "get_local_size",
    "get_global_size",
    "get_num_groups",
];
const FENCES: [&str; 3] = ["mem_fence", "read_mem_fence", "write_mem_fence"];
const BARRIERS: [&str; 2] = ["barrier", "work_group_barrier"];

/// Which of a set of functions an edit calls.
#[derive(Clone, Copy, PartialEq)]
enum Callee {
    /// One that the kernel calls already.
    Known,
    /// One that it does not call yet.
    New,
}

/// Calls of the kernel's statements, by function.
fn calls(program: &mut Program) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for statement in &mut program.body {
        statement.each_expression(&mut |value| {
            if let Node::Call(function, _) = &value.node {
                *counts.entry(function.clone()).or_default() += 1;
            }
        });
    }
    counts
}

impl Callee {
    fn draw(
        self,
        functions: &[&'static str],
        counts: &BTreeMap<String, usize>,
        rng: &mut Rng,
    ) -> Option<&'static str> {
        let fits = |name: &&&str| counts.contains_key(**name) == (self == Callee::Known);
        let fitting: Vec<&'static str> = functions.iter().filter(fits).copied().collect();
        fitting.choose(rng).copied()
    }
}

/// `value` becomes `function(value, leaf, ...)`.
fn called(
    program: &mut Program,
    zone: Zone,
    rng: &mut Rng,
    accept: fn(&Expression) -> bool,
    functions: &Functions,
    callee: Callee,
) -> Option<()> {
    let flat: Vec<&'static str> = functions.iter().copied().flatten().copied().collect();
    let function = callee.draw(&flat, &calls(program), rng)?;
    let others = functions.iter().position(|group| group.contains(&function))?;
    wrap(program, zone, rng, accept, |make, value| {
        let ty = value.ty;
        let mut arguments = vec![value];
        arguments.extend(std::iter::repeat_with(|| make.leaf(ty)).take(others));
        Expression::call(ty, function, arguments)
    })
}

/// `function(value, ...)` becomes `value`; the function's last call, or one of several.
fn uncalled(
    program: &mut Program,
    zone: Zone,
    rng: &mut Rng,
    accept: fn(&Expression) -> bool,
    last: bool,
) -> Option<()> {
    let counts = calls(program);
    let mut drawn = random_value(program, zone, rng, |value| {
        accept(value)
            && matches!(&value.node, Node::Call(function, arguments)
                if counts.get(function).is_some_and(|count| (*count == 1) == last)
                    && arguments.first().is_some_and(|first| first.ty == value.ty)
                    && arguments.iter().skip(1).all(is_plain))
    })?;
    let Node::Call(_, arguments) = drawn.value.take().node else { return None };
    drawn.replace(program, arguments.into_iter().next()?);
    Some(())
}

/// A call becomes one of another function that takes as many.
fn other_function(
    program: &mut Program,
    zone: Zone,
    rng: &mut Rng,
    groups: &[&[&'static str]],
    callee: Callee,
) -> Option<()> {
    let counts = calls(program);
    let group_of = |name: &str| groups.iter().find(|group| group.contains(&name));
    // The first call of a new function in place of the only one of an old one changes nothing.
    let alone = callee == Callee::Known;
    let mut drawn = random_value(program, zone, rng, |value| {
        matches!(&value.node, Node::Call(function, _)
            if group_of(function).is_some() && (counts.get(function) == Some(&1)) == alone)
    })?;
    let ty = drawn.value.ty;
    let Node::Call(function, arguments) = drawn.value.take().node else { return None };
    let others: Vec<&'static str> =
        group_of(&function)?.iter().copied().filter(|name| *name != function).collect();
    let other = callee.draw(&others, &counts, rng)?;
    drawn.replace(program, Expression::call(ty, other, arguments));
    Some(())
}

fn is_place(value: &Expression) -> bool {
    value.ty == Ty::SIZE && is_plain(value)
}

fn is_narrow(value: &Expression) -> bool {
    is_integer(value)
        && value.ty.scalar().is_some_and(|scalar| scalar.bits() == 32)
        && is_plain(value)
}

/// Something plain becomes what a work-item function says of a dimension nobody knows.
fn placed(
    program: &mut Program,
    zone: Zone,
    rng: &mut Rng,
    accept: fn(&Expression) -> bool,
    callee: Callee,
) -> Option<()> {
    let function = callee.draw(&OF_WORK_ITEMS, &calls(program), rng)?;
    wrap(program, zone, rng, accept, |make, value| {
        let dimension = match callee {
            // What is known of dimension 0 is computed once.
            Callee::Known => make.leaf(Ty::Number(Scalar::U32, 1)),
            Callee::New => zero(),
        };
        let call = Expression::call(Ty::SIZE, function, vec![dimension]);
        if value.ty == Ty::SIZE { call } else { Expression::cast(value.ty, call) }
    })
}

/// A work-item function's call becomes something the compiler knows nothing of.
fn unplaced(program: &mut Program, zone: Zone, rng: &mut Rng, last: bool) -> Option<()> {
    let counts = calls(program);
    let drawn = random_value(program, zone, rng, |value| {
        matches!(&value.node, Node::Call(function, _)
            if OF_WORK_ITEMS.contains(&function.as_str())
                && counts.get(function).is_some_and(|count| (*count == 1) == last))
    })?;
    let ty = drawn.value.ty;
    let leaf = Maker { program, scope: &drawn.scope, rng }.leaf(ty);
    drawn.replace(program, leaf);
    Some(())
}

/// A work-item function is asked about another dimension.
fn dimension(program: &mut Program, zone: Zone, rng: &mut Rng, number: &str) -> Option<()> {
    let mut drawn = random_value(program, zone, rng, |value| {
        matches!(&value.node, Node::Call(function, arguments)
            if OF_WORK_ITEMS.contains(&function.as_str())
                && !matches!(arguments.as_slice(),
                    [Expression { node: Node::Literal(text), .. }] if text == number))
    })?;
    let mut call = drawn.value.take();
    if let Node::Call(_, arguments) = &mut call.node {
        *arguments = vec![Expression::literal(Ty::INT, number)];
    }
    drawn.replace(program, call);
    Some(())
}

/// A fence or barrier for a memory.
pub(super) fn fence(function: &str, memory: &str) -> Statement {
    Statement::Evaluate(Expression::call(Ty::Other, function, vec![memory_of(memory)]))
}

/// A constant, 1 for local and 2 for global, by its name; of no type that edits know.
fn memory_of(name: &str) -> Expression {
    Expression::literal(Ty::Other, name)
}

/// Where the fence or barrier that a statement is says which memory it is for.
fn fenced_memory(statement: &Statement) -> Option<&Expression> {
    match statement {
        Statement::Evaluate(Expression { node: Node::Call(function, arguments), .. })
            if FENCES.iter().chain(&BARRIERS).any(|known| known == function) =>
        {
            arguments.first()
        }
        _ => None,
    }
}

/// A fence or barrier is for another memory.
fn fence_for(program: &mut Program, zone: Zone, rng: &mut Rng, memory: &str) -> Option<()> {
    let wanted = memory_of(memory);
    let point = random_statement(program, zone, rng, |statement| {
        fenced_memory(statement).is_some_and(|known| known.node != wanted.node)
    })?;
    point.change(program, |list, at| {
        if let Statement::Evaluate(Expression { node: Node::Call(_, arguments), .. }) =
            &mut list[at]
        {
            arguments[0] = wanted;
        }
    });
    Some(())
}

/// Takes a fence or barrier away.
fn unfenced(program: &mut Program, zone: Zone, rng: &mut Rng) -> Option<()> {
    let point =
        random_statement(program, zone, rng, |statement| fenced_memory(statement).is_some())?;
    point.change(program, |list, at| {
        list.remove(at);
    });
    Some(())
}

fn fenced(program: &mut Program, zone: Zone, rng: &mut Rng, callee: Callee) -> Option<()> {
    let function = callee.draw(&FENCES, &calls(program), rng)?;
    insert(program, zone, rng, |_| vec![fence(function, "CLK_GLOBAL_MEM_FENCE")])
}

/// The entry of an edit that differs by what is given to `work` behind program, zone and rng.
macro_rules! entry {
    ($name:literal, $zones:expr, $work:ident($($given:expr),*)) => {
        ($name, $zones, |program, zone, rng| $work(program, zone, rng, $($given),*))
    };
}

pub(super) const EDITS: &[Entry] = &[
    entry!("call-float", VALUES, called(is_float, &OF_FLOATS, Callee::Known)),
    entry!("call-float-first", VALUES, called(is_float, &OF_FLOATS, Callee::New)),
    entry!("call-integer", VALUES, called(is_integer, &OF_INTEGERS, Callee::Known)),
    entry!("call-integer-first", VALUES, called(is_integer, &OF_INTEGERS, Callee::New)),
    entry!("uncall-float", VALUES, uncalled(is_float, false)),
    entry!("uncall-float-last", VALUES, uncalled(is_float, true)),
    entry!("uncall-integer", VALUES, uncalled(is_integer, false)),
    entry!("uncall-integer-last", VALUES, uncalled(is_integer, true)),
    entry!("other-function", VALUES, other_function(&GROUPS, Callee::Known)),
    entry!("other-function-first", VALUES, other_function(&GROUPS, Callee::New)),
    entry!("work-item", ALL_VALUES, placed(is_place, Callee::Known)),
    entry!("work-item-first", ALL_VALUES, placed(is_place, Callee::New)),
    entry!("work-item-narrowed", ALL_VALUES, placed(is_narrow, Callee::Known)),
    entry!("work-item-narrowed-first", ALL_VALUES, placed(is_narrow, Callee::New)),
    entry!("without-work-item", ALL_VALUES, unplaced(false)),
    entry!("without-work-item-last", ALL_VALUES, unplaced(true)),
    entry!("other-work-item", ALL_VALUES, other_function(&[&OF_WORK_ITEMS], Callee::Known)),
    entry!("other-work-item-first", ALL_VALUES, other_function(&[&OF_WORK_ITEMS], Callee::New)),
    entry!("dimension-zero", ALL_VALUES, dimension("0")),
    entry!("dimension-one", ALL_VALUES, dimension("1")),
    entry!("dimension-other", ALL_VALUES, dimension("2")),
    entry!("fence", STATEMENTS, fenced(Callee::Known)),
    entry!("fence-first", STATEMENTS, fenced(Callee::New)),
    entry!("fence-local", ANY, fence_for("CLK_LOCAL_MEM_FENCE")),
    entry!("fence-global", ANY, fence_for("CLK_GLOBAL_MEM_FENCE")),
    entry!("unfence", STATEMENTS, unfenced()),
];
