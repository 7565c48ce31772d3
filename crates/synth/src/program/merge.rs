//! Two changed versions of one program made into one that has both changes.

use super::{Expression, Node, Parameter, Program, Statement};
use std::{
    hash::{DefaultHasher, Hash, Hasher},
    mem::discriminant,
};

/// Pairs of statements compared at most to find out what changed.
const COMPARED: usize = 4_000_000;

impl Program {
    /// What `one` and `other`, both made from `base`, have changed, in one program; `None` where they
    /// change the same thing.
    pub(crate) fn merge(base: &Program, one: &Program, other: &Program) -> Option<Program> {
        let (added, strange) = parameters(base, one, other)?;
        let mut ancestors = one.ancestors.clone();
        ancestors.add(&other.ancestors);
        let mut merged = Program {
            head: pick(&base.head, &one.head, &other.head)?,
            parameters: one.parameters.iter().chain(added).cloned().collect(),
            body: list(&base.body, &one.body, &other.body)?,
            tail: pick(&base.tail, &one.tail, &other.tail)?,
            next: one.next.max(other.next),
            style: one.style,
            ancestors,
        };
        if !strange.is_empty() {
            let text = merged.to_string();
            let named = strange.into_iter().filter(|strange| text.contains(&strange.name));
            merged.parameters.extend(named.cloned());
        }
        Some(merged)
    }
}

/// The one that changed; `None` where both did.
fn pick<T: PartialEq + Clone>(base: &T, one: &T, other: &T) -> Option<T> {
    if one == base {
        return Some(other.clone());
    }
    (other == base).then(|| one.clone())
}

/// Parameters that `one` lacks: those that `other` added, and those that `base` has already, which are needed
/// only by what names them. Edits do nothing but add some; `None` where both added one of the same name.
fn parameters<'a>(
    base: &Program,
    one: &Program,
    other: &'a Program,
) -> Option<(Vec<&'a Parameter>, Vec<&'a Parameter>)> {
    let has = |program: &Program, name: &str| program.parameters.iter().any(|one| one.name == name);
    let (mut added, mut strange) = (Vec::new(), Vec::new());
    for parameter in &other.parameters {
        match (has(one, &parameter.name), has(base, &parameter.name)) {
            (true, true) => {}
            (true, false) => return None,
            (false, false) => added.push(parameter),
            (false, true) => strange.push(parameter),
        }
    }
    Some((added, strange))
}

/// Statements of both, by what stands between those that neither changed (diff3: Khanna, Kunal and
/// Pierce, FSTTCS 2007).
fn list(base: &[Statement], one: &[Statement], other: &[Statement]) -> Option<Vec<Statement>> {
    if one == base {
        return Some(other.to_vec());
    }
    if other == base {
        return Some(one.to_vec());
    }
    let (in_one, in_other) = (matches(base, one)?, matches(base, other)?);
    let mut merged = Vec::new();
    let mut from = (0, 0, 0);
    loop {
        let stable =
            (from.0..base.len()).find_map(|index| Some((index, in_one[index]?, in_other[index]?)));
        let to = stable.unwrap_or((base.len(), one.len(), other.len()));
        merged.extend(segment(&base[from.0..to.0], &one[from.1..to.1], &other[from.2..to.2])?);
        if stable.is_none() {
            return Some(merged);
        }
        merged.push(base[to.0].clone());
        from = (to.0 + 1, to.1 + 1, to.2 + 1);
    }
}

fn segment(base: &[Statement], one: &[Statement], other: &[Statement]) -> Option<Vec<Statement>> {
    if one == base {
        return Some(other.to_vec());
    }
    if other == base {
        return Some(one.to_vec());
    }
    if base.is_empty() {
        return Some(one.iter().chain(other).cloned().collect());
    }
    if base.len() == one.len() && base.len() == other.len() {
        let each = base.iter().zip(one.iter().zip(other));
        let each = each.map(|(base, (one, other))| statement(base, one, other));
        if let Some(merged) = each.collect::<Option<Vec<_>>>() {
            return Some(merged);
        }
    }
    // One put the statements into a branch or loop, or others beside them.
    for (outer, inner) in [(one, other), (other, one)] {
        let mut outer = outer.to_vec();
        if embed(&mut outer, base, inner) {
            return Some(outer);
        }
    }
    // The first statement by itself, where it is still one of its kind in both.
    let ([base, behind @ ..], [one, one_behind @ ..], [other, other_behind @ ..]) =
        (base, one, other)
    else {
        return None;
    };
    if discriminant(base) != discriminant(one) || discriminant(base) != discriminant(other) {
        return None;
    }
    let mut merged = vec![statement(base, one, other)?];
    merged.extend(segment(behind, one_behind, other_behind)?);
    Some(merged)
}

/// Puts `by` in the place of the first run of statements that equals `wanted`, at any depth.
fn embed(list: &mut Vec<Statement>, wanted: &[Statement], by: &[Statement]) -> bool {
    if let Some(at) = list.windows(wanted.len()).position(|run| run == wanted) {
        list.splice(at..at + wanted.len(), by.iter().cloned());
        return true;
    }
    list.iter_mut().any(|statement| match statement {
        Statement::If { then, otherwise, .. } => {
            embed(then, wanted, by)
                || otherwise.as_mut().is_some_and(|list| embed(list, wanted, by))
        }
        Statement::For { body, .. }
        | Statement::While { body, .. }
        | Statement::Do { body, .. }
        | Statement::Block(body) => embed(body, wanted, by),
        Statement::Declare { .. } | Statement::Evaluate(_) | Statement::Opaque(_) => false,
    })
}

fn statement(base: &Statement, one: &Statement, other: &Statement) -> Option<Statement> {
    use Statement::{Block, Declare, Do, Evaluate, For, If, While};
    if let Some(picked) = pick(base, one, other) {
        return Some(picked);
    }
    Some(match (base, one, other) {
        (
            Declare { prefix: p, name: n, ty: t, value: v },
            Declare { prefix: p1, name: n1, ty: t1, value: v1 },
            Declare { prefix: p2, name: n2, ty: t2, value: v2 },
        ) => Declare {
            prefix: pick(p, p1, p2)?,
            name: pick(n, n1, n2)?,
            ty: pick(t, t1, t2)?,
            value: perhaps(v.as_ref(), v1.as_ref(), v2.as_ref(), expression)?,
        },
        (Evaluate(base), Evaluate(one), Evaluate(other)) => Evaluate(expression(base, one, other)?),
        (
            If { condition: c, then: t, otherwise: o },
            If { condition: c1, then: t1, otherwise: o1 },
            If { condition: c2, then: t2, otherwise: o2 },
        ) => If {
            condition: expression(c, c1, c2)?,
            then: list(t, t1, t2)?,
            otherwise: perhaps(o.as_ref(), o1.as_ref(), o2.as_ref(), |o, o1, o2| list(o, o1, o2))?,
        },
        (
            For { start: s, condition: c, step: n, body: b },
            For { start: s1, condition: c1, step: n1, body: b1 },
            For { start: s2, condition: c2, step: n2, body: b2 },
        ) => For {
            start: perhaps(s.as_ref(), s1.as_ref(), s2.as_ref(), |s, s1, s2| {
                statement(s, s1, s2).map(Box::new)
            })?,
            condition: perhaps(c.as_ref(), c1.as_ref(), c2.as_ref(), expression)?,
            step: perhaps(n.as_ref(), n1.as_ref(), n2.as_ref(), expression)?,
            body: list(b, b1, b2)?,
        },
        (
            While { condition: c, body: b },
            While { condition: c1, body: b1 },
            While { condition: c2, body: b2 },
        ) => While { condition: expression(c, c1, c2)?, body: list(b, b1, b2)? },
        (
            Do { condition: c, body: b },
            Do { condition: c1, body: b1 },
            Do { condition: c2, body: b2 },
        ) => Do { condition: expression(c, c1, c2)?, body: list(b, b1, b2)? },
        (Block(base), Block(one), Block(other)) => Block(list(base, one, other)?),
        _ => return None,
    })
}

/// Of parts that may be absent: merged where all are there.
fn perhaps<T: PartialEq + Clone>(
    base: Option<&T>,
    one: Option<&T>,
    other: Option<&T>,
    merge: impl Fn(&T, &T, &T) -> Option<T>,
) -> Option<Option<T>> {
    if let Some(picked) = pick(&base, &one, &other) {
        return Some(picked.cloned());
    }
    merge(base?, one?, other?).map(Some)
}

fn expression(base: &Expression, one: &Expression, other: &Expression) -> Option<Expression> {
    if let Some(picked) = pick(base, one, other) {
        return Some(picked);
    }
    if let (Some(ty), Some(node)) =
        (pick(&base.ty, &one.ty, &other.ty), node(&base.node, &one.node, &other.node))
    {
        return Some(Expression { ty, node });
    }
    // One made the old value an operand of something: the other's goes there.
    for (outer, inner) in [(one, other), (other, one)] {
        let mut outer = outer.clone();
        let mut done = false;
        outer.each(&mut |part: &mut Expression| {
            if !done && part == base {
                *part = inner.clone();
                done = true;
            }
        });
        if done {
            return Some(outer);
        }
    }
    None
}

fn node(base: &Node, one: &Node, other: &Node) -> Option<Node> {
    use Node::{Assign, Binary, Call, Cast, Choice, Index, Lanes, Postfix, Unary, Vector};
    let boxed = |base: &Expression, one: &Expression, other: &Expression| {
        expression(base, one, other).map(Box::new)
    };
    let all = |base: &[Expression], one: &[Expression], other: &[Expression]| {
        if base.len() != one.len() || base.len() != other.len() {
            return None;
        }
        let each = base.iter().zip(one.iter().zip(other));
        each.map(|(base, (one, other))| expression(base, one, other)).collect::<Option<Vec<_>>>()
    };
    Some(match (base, one, other) {
        (Binary(o, l, r), Binary(o1, l1, r1), Binary(o2, l2, r2)) => {
            Binary(pick(o, o1, o2)?, boxed(l, l1, l2)?, boxed(r, r1, r2)?)
        }
        (Assign(o, l, r), Assign(o1, l1, r1), Assign(o2, l2, r2)) => {
            Assign(pick(o, o1, o2)?, boxed(l, l1, l2)?, boxed(r, r1, r2)?)
        }
        (Unary(o, v), Unary(o1, v1), Unary(o2, v2)) => Unary(pick(o, o1, o2)?, boxed(v, v1, v2)?),
        (Postfix(o, v), Postfix(o1, v1), Postfix(o2, v2)) => {
            Postfix(pick(o, o1, o2)?, boxed(v, v1, v2)?)
        }
        (Cast(o, v), Cast(o1, v1), Cast(o2, v2)) => Cast(pick(o, o1, o2)?, boxed(v, v1, v2)?),
        (Call(o, v), Call(o1, v1), Call(o2, v2)) => Call(pick(o, o1, o2)?, all(v, v1, v2)?),
        (Vector(o, v), Vector(o1, v1), Vector(o2, v2)) => Vector(pick(o, o1, o2)?, all(v, v1, v2)?),
        (Index(p, at), Index(p1, at1), Index(p2, at2)) => {
            Index(boxed(p, p1, p2)?, boxed(at, at1, at2)?)
        }
        (Choice(c, y, n), Choice(c1, y1, n1), Choice(c2, y2, n2)) => {
            Choice(boxed(c, c1, c2)?, boxed(y, y1, y2)?, boxed(n, n1, n2)?)
        }
        (Lanes(v, o), Lanes(v1, o1), Lanes(v2, o2)) => Lanes(boxed(v, v1, v2)?, pick(o, o1, o2)?),
        _ => return None,
    })
}

/// For every statement of `base` its place in `changed`, by a longest common subsequence; `None` where
/// too much differs to look for one.
fn matches(base: &[Statement], changed: &[Statement]) -> Option<Vec<Option<usize>>> {
    let hashes = |list: &[Statement]| -> Vec<u64> {
        let hash = |statement: &Statement| {
            let mut hasher = DefaultHasher::new();
            statement.hash(&mut hasher);
            hasher.finish()
        };
        list.iter().map(hash).collect()
    };
    let (left, right) = (hashes(base), hashes(changed));
    let front = left.iter().zip(&right).take_while(|(a, b)| a == b).count();
    let rest = left.len().min(right.len()) - front;
    let back = left.iter().rev().zip(right.iter().rev()).take(rest).take_while(|(a, b)| a == b);
    let back = back.count();
    let mut indices: Vec<Option<usize>> = vec![None; left.len()];
    for (index, slot) in indices.iter_mut().enumerate().take(front) {
        *slot = Some(index);
    }
    for index in 0..back {
        indices[left.len() - 1 - index] = Some(right.len() - 1 - index);
    }
    let (middle, other) = (&left[front..left.len() - back], &right[front..right.len() - back]);
    if middle.len().saturating_mul(other.len()) > COMPARED {
        return None;
    }
    // Lengths of the longest common subsequences of what is left of both.
    let width = other.len() + 1;
    let mut longest = vec![0_u32; (middle.len() + 1) * width];
    for one in (0..middle.len()).rev() {
        for two in (0..other.len()).rev() {
            longest[one * width + two] = if middle[one] == other[two] {
                longest[(one + 1) * width + two + 1] + 1
            } else {
                longest[(one + 1) * width + two].max(longest[one * width + two + 1])
            };
        }
    }
    let (mut one, mut two) = (0, 0);
    while one < middle.len() && two < other.len() {
        if middle[one] == other[two] {
            indices[front + one] = Some(front + two);
            (one, two) = (one + 1, two + 1);
        } else if longest[(one + 1) * width + two] >= longest[one * width + two + 1] {
            one += 1;
        } else {
            two += 1;
        }
    }
    Some(indices)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Ty;

    fn name(text: &str) -> Expression {
        Expression::name(Ty::INT, text)
    }

    fn set(target: &str, value: Expression) -> Statement {
        Statement::Evaluate(Expression::assign(name(target), value))
    }

    fn sum(left: Expression, right: &str) -> Expression {
        Expression::binary(Ty::INT, "+", left, name(right))
    }

    fn of(body: Vec<Statement>) -> Program {
        Program { body, ..Program::empty() }
    }

    fn guarded(then: Vec<Statement>) -> Statement {
        Statement::If { condition: name("c"), then, otherwise: None }
    }

    #[test]
    fn changes_of_different_places_are_both_made() {
        let base = of(vec![set("a", name("x")), set("b", name("y")), set("c", name("z"))]);
        let mut one = base.clone();
        one.body[0] = set("a", sum(name("x"), "p"));
        one.add_parameter(Ty::INT);
        let mut other = base.clone();
        other.body.insert(2, set("d", name("w")));
        other.next = 7;
        other.add_parameter(Ty::FLOAT);
        let merged = Program::merge(&base, &one, &other).expect("no conflict");
        let text = merged.to_string();
        for part in ["int p0, float p7", "a = x + p;", "b = y;\n  d = w;\n  c = z;"] {
            assert!(text.contains(part), "{text}");
        }
        let third =
            of(vec![set("a", name("x")), guarded(vec![set("b", name("y"))]), set("c", name("z"))]);
        let text = Program::merge(&base, &merged, &third).expect("no conflict").to_string();
        assert!(text.contains("if (c) {\n    b = y;\n  }\n  d = w;"), "{text}");
    }

    #[test]
    fn a_change_inside_of_what_the_other_wraps_is_kept() {
        let base = of(vec![set("a", sum(name("x"), "y"))]);
        let wrapped = of(vec![guarded(vec![set("a", sum(name("x"), "y"))])]);
        let changed = of(vec![set("a", sum(sum(name("x"), "q"), "y"))]);
        let text = Program::merge(&base, &wrapped, &changed).expect("no conflict").to_string();
        assert!(text.contains("if (c) {\n    a = x + q + y;"), "{text}");
        let outer = of(vec![set("a", sum(sum(name("x"), "y"), "r"))]);
        let text = Program::merge(&base, &outer, &changed).expect("no conflict").to_string();
        assert!(text.contains("a = x + q + y + r;"), "{text}");
    }

    #[test]
    fn changes_of_the_same_thing_are_not_merged() {
        let base = of(vec![set("a", name("x"))]);
        let one = of(vec![set("a", name("y"))]);
        let other = of(vec![set("a", name("z"))]);
        assert_eq!(Program::merge(&base, &one, &other), None);
        assert_eq!(Program::merge(&base, &one, &one), None);
        assert_eq!(Program::merge(&base, &one, &base), Some(one));
    }
}
