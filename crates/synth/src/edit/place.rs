//! Edits of how a kernel says where its work-item is and which elements it uses: a search finds ways that nobody writes. For
//! its second phase, as those of [`natural`](mod@super::natural).

use super::{
    ANY, Entry, Rng, Zone,
    make::{declared, work_item},
    random_value,
};
use crate::program::{Expression, Node, Program, Space, Statement, Ty};
use rand::{Rng as _, seq::IndexedRandom};

/// A variable of the kernel's own list that is declared as something of the work-item, and where.
struct Place {
    at: usize,
    name: String,
    ty: Ty,
    call: Expression,
}

/// Those of a kernel, in order.
fn places(program: &Program) -> Vec<Place> {
    let all = program.body.iter().enumerate();
    all.filter_map(|(at, statement)| match statement {
        Statement::Declare { name, ty, value: Some(value), .. } => {
            let call = match &value.node {
                Node::Cast(_, operand) => &**operand,
                _ => value,
            };
            let place = Place { at, name: name.clone(), ty: *ty, call: call.clone() };
            call.is_of_work_item().then_some(place)
        }
        _ => None,
    })
    .collect()
}

/// The statements name a variable of this type where they named `old`.
fn rename(list: &mut [Statement], old: &str, name: &str, ty: Ty) {
    for statement in list {
        statement.each_expression(&mut |one| {
            if matches!(&one.node, Node::Name(known) if known == old) {
                *one = Expression::name(ty, name);
            }
        });
    }
}

/// What is read of an element that was named before becomes an element of another buffer: the compiler reads an element once
/// where it knows that two names are of one place.
fn read_apart(program: &mut Program, rng: &mut Rng) {
    let mut body = program.body.clone();
    let mut seen: Vec<(Expression, Expression)> = Vec::new();
    let mut is_next_written = false;
    for statement in &mut body {
        statement.each_expression(&mut |one| {
            let is_assignment = matches!(one.node, Node::Assign(..));
            let is_written = std::mem::replace(&mut is_next_written, is_assignment);
            let Node::Index(buffer, at) = &mut one.node else { return };
            let ty = buffer.ty;
            let is_known = |buffer: &Expression| {
                seen.iter().any(|(known, place)| known == buffer && *place == **at)
            };
            let is_global = matches!(ty, Ty::Pointer { space: Space::Global, .. });
            if is_global && !is_written && is_known(buffer) {
                let all = program.parameters.iter().map(|one| Expression::name(one.ty, &*one.name));
                let others: Vec<Expression> =
                    all.filter(|other| other.ty == ty && !is_known(other)).collect();
                let other = others.choose(rng).cloned();
                **buffer = other.unwrap_or_else(|| program.add_parameter(ty));
            }
            seen.push((Expression::clone(buffer), Expression::clone(at)));
        });
    }
    program.body = body;
}

/// Two variables that hold the same of the work-item become one, of the type of either.
fn one_place(program: &mut Program, rng: &mut Rng) -> Option<()> {
    let all = places(program);
    let pairs = all.iter().enumerate().flat_map(|(at, first)| {
        let is_same = move |second: &&Place| second.call.node == first.call.node;
        let same = all[at + 1..].iter().filter(is_same);
        same.map(move |second| (first, second))
    });
    let pairs: Vec<(&Place, &Place)> = pairs.collect();
    let (first, second) = pairs.choose(rng)?;
    let ty = if rng.random_bool(0.5) { first.ty } else { second.ty };
    program.body.remove(second.at);
    program.body[first.at] = declared(ty, &first.name, first.call.clone());
    for old in [&first.name, &second.name] {
        rename(&mut program.body[first.at + 1..], old, &first.name, ty);
    }
    if rng.random_bool(0.5) {
        read_apart(program, rng);
    }
    Some(())
}

/// Calls behind a variable that holds the same become the variable: one of them, or all.
fn by_name(program: &mut Program, rng: &mut Rng) -> Option<()> {
    let all = places(program);
    let Place { at, name, ty, call } = all.choose(rng)?;
    let rest = &mut program.body[at + 1..];
    let mut count = 0;
    for statement in rest.iter_mut() {
        statement.each_expression(&mut |one| count += usize::from(one.node == call.node));
    }
    if count == 0 {
        return None;
    }
    let only = rng.random_bool(0.5).then(|| rng.random_range(0..count));
    let mut nth = 0;
    for statement in rest {
        statement.each_expression(&mut |one| {
            if one.node == call.node {
                if only.is_none_or(|only| only == nth) {
                    *one = Expression::name(*ty, name);
                }
                nth += 1;
            }
        });
    }
    if rng.random_bool(0.5) {
        read_apart(program, rng);
    }
    Some(())
}

/// A variable that holds something of the work-item is declared `int` or `size_t`.
fn of_other_type(program: &mut Program, rng: &mut Rng) -> Option<()> {
    let all = places(program);
    let Place { at, name, ty, call } = all.choose(rng)?;
    let ty = if *ty == Ty::INT { Ty::SIZE } else { Ty::INT };
    program.body[*at] = declared(ty, name, call.clone());
    rename(&mut program.body[at + 1..], name, name, ty);
    Some(())
}

/// `x << 3` becomes `x * 8`, and `x >> 1` becomes `x / 2`.
fn without_shift(program: &mut Program, rng: &mut Rng) -> Option<()> {
    let is_shift = |value: &Expression| {
        matches!(&value.node, Node::Binary(operator, _, by)
            if (operator == "<<" || operator == ">>") && factor(by).is_some())
    };
    let mut drawn = random_value(program, Zone::Any, rng, is_shift)?;
    let value = drawn.value.take();
    let Node::Binary(operator, left, by) = value.node else { return None };
    let operator = if operator == "<<" { "*" } else { "/" };
    let by = Expression::literal(Ty::INT, factor(&by)?.to_string());
    drawn.replace(program, Expression::binary(value.ty, operator, *left, by));
    Some(())
}

/// What a shift by so much multiplies with.
fn factor(by: &Expression) -> Option<u32> {
    let Node::Literal(text) = &by.node else { return None };
    let by: u32 = text.parse().ok()?;
    (1..=16).contains(&by).then(|| 1 << by)
}

/// Another buffer of the same type is read.
fn of_other_buffer(program: &mut Program, rng: &mut Rng) -> Option<()> {
    let is_access = |value: &Expression| match &value.node {
        Node::Index(buffer, _) => matches!(buffer.node, Node::Name(_)),
        _ => false,
    };
    let mut drawn = random_value(program, Zone::Any, rng, is_access)?;
    let mut value = drawn.value.take();
    let Node::Index(buffer, _) = &mut value.node else { return None };
    let others = program.parameters.iter().map(|one| Expression::name(one.ty, &*one.name));
    let others: Vec<Expression> =
        others.filter(|other| other.ty == buffer.ty && *other != **buffer).collect();
    **buffer = others.choose(rng)?.clone();
    drawn.replace(program, value);
    Some(())
}

/// Where a buffer is accessed becomes the work-item's own place: a variable that holds it, or the call.
fn own_instead(program: &mut Program, rng: &mut Rng) -> Option<()> {
    let drawn = random_value(program, Zone::Index, rng, |value| value.ty.scalar().is_some())?;
    let own = work_item("get_global_id", "0");
    let known: Vec<Place> =
        places(program).into_iter().filter(|one| one.call.node == own.node).collect();
    let place = known.choose(rng).map(|one| Expression::name(one.ty, &*one.name));
    drawn.replace(program, place.unwrap_or(own));
    Some(())
}

pub(super) const EDITS: &[Entry] = &[
    ("own-place-instead", ANY, |program, _, rng| own_instead(program, rng)),
    ("one-place", ANY, |program, _, rng| one_place(program, rng)),
    ("place-by-name", ANY, |program, _, rng| by_name(program, rng)),
    ("place-of-other-type", ANY, |program, _, rng| of_other_type(program, rng)),
    ("without-shift", ANY, |program, _, rng| without_shift(program, rng)),
    ("read-other-buffer", ANY, |program, _, rng| of_other_buffer(program, rng)),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Judge;
    use rand::SeedableRng;
    use std::collections::BTreeSet;

    /// What each edit makes of a kernel, by any of many seeds.
    fn made(name: &str, body: &str) -> BTreeSet<String> {
        let judge = Judge::new(features::space("grewe").expect("registered"), 1)
            .unwrap_or_else(|error| panic!("{error}"));
        let head = "__kernel void A(__global int* a, __global int* b, int c)";
        let text = format!("{head} {{ {body} }}");
        let program = judge.read_one(&text).expect("a kernel");
        let (_, _, apply) = EDITS.iter().find(|edit| edit.0 == name).expect("it is there");
        let one = |seed| {
            let mut edited = program.clone();
            apply(&mut edited, Zone::Any, &mut Rng::seed_from_u64(seed))?;
            let text = edited.to_string();
            let (_, body) = text.split_once('{').expect("a body");
            let body: Vec<&str> = body.split_whitespace().collect();
            Some(body.join(" ").trim_end_matches('}').trim().to_owned())
        };
        (0..40).filter_map(one).collect()
    }

    fn assert_made(name: &str, body: &str, expected: &[&str]) {
        let expected: BTreeSet<String> = expected.iter().map(|one| (*one).to_owned()).collect();
        assert_eq!(made(name, body), expected, "{name}: {body}");
    }

    #[test]
    fn two_variables_that_hold_one_place_become_one() {
        let two =
            "int d = get_global_id(0); a[d] = 1; ulong e = get_global_id(0); b[d] = a[e + 1];";
        let one = [
            "int d = get_global_id(0); a[d] = 1; b[d] = a[d + 1];",
            "size_t d = get_global_id(0); a[d] = 1; b[d] = a[d + 1];",
        ];
        assert_made("one-place", two, &one);
        let other = "int d = get_global_id(0); int e = get_global_id(1); b[d] = a[e];";
        assert_made("one-place", other, &[]);
        // One element would be read once.
        let product = "int d = get_global_id(0); int e = get_global_id(0); b[d] = a[d] * a[e];";
        let one = [
            "int d = get_global_id(0); b[d] = a[d] * a[d];",
            "int d = get_global_id(0); b[d] = a[d] * p3[d];",
        ];
        assert_made("one-place", product, &one);
    }

    #[test]
    fn what_a_variable_holds_is_named() {
        let asked = "int d = get_global_id(0); a[get_global_id(0)] = b[get_global_id(0)];";
        let named = [
            "int d = get_global_id(0); a[d] = b[d];",
            "int d = get_global_id(0); a[d] = b[get_global_id(0)];",
            "int d = get_global_id(0); a[get_global_id(0)] = b[d];",
        ];
        assert_made("place-by-name", asked, &named);
        let instead = "int d = get_global_id(0); a[d] = b[c * 2];";
        let own = ["c * 2", "c", "2"].map(|old| {
            let new = "c * 2".replacen(old, "d", 1);
            format!("int d = get_global_id(0); a[d] = b[{new}];")
        });
        let own: Vec<&str> = own.iter().map(String::as_str).chain([instead]).collect();
        let found = made("own-place-instead", instead);
        assert!(found.iter().all(|one| own.contains(&one.as_str())), "{found:?}");
        assert!(found.contains("int d = get_global_id(0); a[d] = b[d];"), "{found:?}");
    }

    #[test]
    fn a_place_has_the_other_type() {
        let int = "int d = get_global_id(0); a[d] = b[d];";
        let size = "size_t d = get_global_id(0); a[d] = b[d];";
        assert_made("place-of-other-type", int, &[size]);
        assert_made("place-of-other-type", size, &[int]);
        assert_made("place-of-other-type", "int d = c; a[d] = 1;", &[]);
    }

    #[test]
    fn shifts_by_numbers_become_products() {
        let shifts = "int d = get_global_id(0); a[d << 3] = b[d >> 1] << c;";
        let products = [
            "int d = get_global_id(0); a[d * 8] = b[d >> 1] << c;",
            "int d = get_global_id(0); a[d << 3] = b[d / 2] << c;",
        ];
        assert_made("without-shift", shifts, &products);
    }

    #[test]
    fn another_buffer_of_the_type_is_read() {
        let first = "a[get_global_id(0)] = a[c];";
        assert_made("read-other-buffer", first, &["a[get_global_id(0)] = b[c];"]);
    }
}
