//! A kernel in a branch, or in a loop.

use super::{end_reached, is_outermost};
use crate::{
    edit::Rng,
    program::{Expression, Node, Parameter, Program, Statement, Ty},
};
use rand::{Rng as _, seq::IndexedRandom};
use std::collections::HashSet;

impl Program {
    /// A kernel that does what this one does, or else what `other` does. `None` where work-items wait for each other in
    /// either: not all of them may come there.
    pub(super) fn branching_to(
        &self,
        other: &Program,
        is_fixed: bool,
        rng: &mut Rng,
    ) -> Option<Program> {
        if self.waits() || other.waits() {
            return None;
        }
        let mut joined = self.clone();
        let fitted = joined.fitted(other)?;
        joined.take_in(other, &fitted);
        let condition = joined.condition(is_fixed, &fitted.words, rng);
        let (mut body, mut then): (Vec<Statement>, Vec<Statement>) =
            std::mem::take(&mut joined.body).into_iter().partition(is_outermost);
        end_reached(&mut then);
        body.extend(fitted.shared);
        body.push(Statement::If { condition, then, otherwise: Some(fitted.body) });
        joined.body = body;
        Some(joined)
    }

    /// A kernel that does what this one does, and then what `other` does, as often as a parameter says. `None` where
    /// work-items wait for each other in `other`, or there is no such parameter and none may be added.
    pub(super) fn repeating(
        &self,
        other: &Program,
        is_fixed: bool,
        rng: &mut Rng,
    ) -> Option<Program> {
        if other.waits() {
            return None;
        }
        let mut joined = self.clone();
        let mut fitted = joined.fitted(other)?;
        joined.take_in(other, &fitted);
        let bound = joined.whole_number(&mut fitted.body, is_fixed, &fitted.words, rng)?;
        let ty = bound.ty;
        let name = joined.name_beside(&fitted.words);
        let counter = Expression::name(ty, &*name);
        let start = Statement::Declare {
            prefix: format!("{ty} {name} = "),
            name,
            ty,
            value: Some(Expression::literal(ty, "0")),
        };
        end_reached(&mut joined.body);
        joined.body.extend(fitted.shared);
        joined.body.push(Statement::For {
            start: Some(Box::new(start)),
            condition: Some(Expression::binary(Ty::INT, "<", counter.clone(), bound)),
            step: Some(Expression::new(ty, Node::Postfix("++".to_owned(), Box::new(counter)))),
            body: fitted.body,
        });
        Some(joined)
    }

    /// Whether work-items wait for each other in it, or do together what none of them does alone.
    pub(super) fn waits(&self) -> bool {
        let text = self.to_string();
        lexer::tokens(&text).any(|token| {
            token.text.ends_with("barrier")
                || token.text.contains("work_group_")
                || token.text.contains("sub_group_")
                || token.is("wait_group_events")
        })
    }

    /// Something that a parameter or the work-item's place decides.
    fn condition(&mut self, is_fixed: bool, words: &HashSet<String>, rng: &mut Rng) -> Expression {
        let place = Program::own_place_call();
        let zero = Expression::literal(Ty::INT, "0");
        let is_by_number = rng.random_bool(0.75);
        let number =
            if is_by_number { self.whole_number(&mut [], is_fixed, words, rng) } else { None };
        match number {
            Some(number) if rng.random_bool(0.5) => Expression::binary(Ty::INT, ">", number, zero),
            Some(number) => Expression::binary(Ty::INT, "<", place, number),
            None => {
                let two = Expression::literal(Ty::INT, "2");
                let rest = Expression::binary(Ty::SIZE, "%", place, two);
                Expression::binary(Ty::INT, "==", rest, zero)
            }
        }
    }

    /// A parameter that is a whole number and that `body` leaves as it is, so that a loop up to it ends; a new one where there
    /// is none, and others may come to those that there are.
    fn whole_number(
        &mut self,
        body: &mut [Statement],
        is_fixed: bool,
        words: &HashSet<String>,
        rng: &mut Rng,
    ) -> Option<Expression> {
        let is_whole =
            |ty: Ty| ty.scalar().is_some_and(|scalar| !scalar.is_float() && scalar.bits() >= 32);
        let known: Vec<&Parameter> = self
            .parameters
            .iter()
            .filter(|one| is_whole(one.ty) && !is_changed(body, &one.name))
            .collect();
        if let Some(one) = known.choose(rng) {
            return Some(Expression::name(one.ty, &*one.name));
        }
        if is_fixed {
            return None;
        }
        let (ty, name) = (Ty::INT, self.name_beside(words));
        self.parameters.push(Parameter { text: format!("{ty} {name}"), name: name.clone(), ty });
        Some(Expression::name(ty, name))
    }
}

/// Whether these statements may change a variable: they do, have its address, or name it in a text that is not taken apart.
fn is_changed(list: &mut [Statement], name: &str) -> bool {
    let is_named = |one: &Expression| matches!(&one.node, Node::Name(own) if own == name);
    let names = |text: &str| lexer::tokens(text).any(|token| token.text == name);
    let mut is_changed = false;
    for statement in list {
        statement.each_expression(&mut |one| {
            is_changed |= match &one.node {
                Node::Assign(_, left, _) | Node::Postfix(_, left) => is_named(left),
                Node::Unary(operator, left) => {
                    ["++", "--", "&"].contains(&operator.as_str()) && is_named(left)
                }
                Node::Opaque(text) => names(text),
                _ => false,
            };
        });
        statement.each(&mut |one| {
            is_changed |= match one {
                Statement::Declare { prefix: text, .. } | Statement::Opaque(text) => names(text),
                _ => false,
            };
        });
    }
    is_changed
}

#[cfg(test)]
mod tests {
    use super::super::tests::{FIRST, SECOND, joined, judge, read};
    use super::*;
    use crate::program::Join;
    use rand::SeedableRng;

    #[test]
    fn a_branch_does_one_or_the_other() {
        let judge = judge();
        let mut conditions = HashSet::new();
        for seed in 0..40 {
            let text = joined(&judge, &[FIRST, SECOND], Join::Branch, "", seed).expect("they fit");
            for part in ["} else {", "a[c] = a[c] * 2.0f;", "local float "] {
                assert!(text.contains(part), "{part}: {text}");
            }
            assert!(!text.contains("return;"), "{text}");
            let before = text.split("else").next().expect("one at least");
            assert!(before.contains("local float "), "it stands outside of the branch: {text}");
            let condition = text.split("if (").nth(1).expect("a branch");
            conditions.insert(condition.split(") {").next().expect("one").to_owned());
        }
        for one in ["b > 0", "get_global_id(0) < b", "get_global_id(0) % 2 == 0"] {
            assert!(conditions.contains(one), "{one}: {conditions:?}");
        }
    }

    #[test]
    fn a_loop_goes_up_to_a_parameter_that_is_left_as_it_is() {
        let judge = judge();
        let plain = "kernel void B(global float* a, global float* c) {\n  a[1] = c[0];\n}\n";
        let text = joined(&judge, &[FIRST, plain], Join::Loop, "", 1).expect("they fit");
        let head = text.split("for (int ").nth(1).expect("a loop around it");
        let counter = head.split(" = 0; ").next().expect("one");
        assert!(
            head.starts_with(&format!("{counter} = 0; {counter} < b; {counter}++) {{")),
            "{text}"
        );
        // A parameter that is counted down is no bound: there is a new one.
        let down = "kernel void B(global float* a, int n) {\n  for (; n > 0; n--) {\n    a[n] = 1.0f;\n  }\n}\n";
        let text = joined(&judge, &[down, down], Join::Loop, "", 1).expect("they fit");
        let bound = text.split(" < ").nth(1).and_then(|rest| rest.split(';').next());
        assert_eq!(bound, Some("n"), "the first one's is not changed in the loop: {text}");
        let none = "kernel void B(global float* a) {\n  a[0] = 1.0f;\n}\n";
        let text = joined(&judge, &[none, down], Join::Loop, "", 1).expect("they fit");
        let bound = text.split(" < ").nth(1).and_then(|rest| rest.split(';').next());
        let bound = bound.expect("a bound");
        assert!(text.contains(&format!(", int {bound}) {{")), "{text}");
    }

    #[test]
    fn what_waits_for_others_stands_in_no_branch_and_no_loop() {
        let judge = judge();
        let waits = "kernel void B(global float* a, local float* b) {\n  int c = get_local_id(0);\n  b[c] = a[c];\n  \
                     barrier(CLK_LOCAL_MEM_FENCE);\n  a[c] = b[c + 1];\n}\n";
        assert!(read(&judge, waits).waits() && !read(&judge, FIRST).waits());
        let sequence = joined(&judge, &[FIRST, waits], Join::Sequence, "", 1);
        for join in [Join::Branch, Join::Loop, Join::Helper] {
            assert_eq!(joined(&judge, &[FIRST, waits], join, "", 1), sequence, "{join:?}");
        }
        let sequence = joined(&judge, &[waits, FIRST], Join::Sequence, "", 1);
        assert_eq!(joined(&judge, &[waits, FIRST], Join::Branch, "", 1), sequence);
        assert_ne!(joined(&judge, &[waits, FIRST], Join::Loop, "", 1), sequence);
    }

    #[test]
    fn changes_of_a_variable_are_seen() {
        let judge = judge();
        for (body, changed) in [
            ("a[n] = n;", false),
            ("n += 2;", true),
            ("for (; n > 1; n--) a[n] = 1;", true),
            ("int* p = &n; *p = 3;", true),
            ("switch (n) { case 0: n = 2; break; }", true),
        ] {
            let text = format!("kernel void A(global int* a, int n) {{ {body} }}");
            assert_eq!(is_changed(&mut read(&judge, &text).body, "n"), changed, "{body}");
        }
    }

    #[test]
    fn the_same_random_numbers_draw_the_same_joins() {
        let drawn = |seed| {
            let mut rng = Rng::seed_from_u64(seed);
            (0..64).map(|_| Join::drawn(&mut rng)).collect::<Vec<_>>()
        };
        assert_eq!(drawn(3), drawn(3));
        for join in [Join::Sequence, Join::Branch, Join::Loop, Join::Helper] {
            assert!(drawn(3).contains(&join), "{join:?}");
        }
    }
}
