//! Edits that change how a kernel is written rather than what it does: most leave its vector as it is. The second phase of
//! a search under `--natural` draws from them; its first phase never does.

use super::{
    ANY, Edit, Entry, Rng, Zone, all,
    make::{declared, work_item},
    place, random_statement, random_value,
    site::random_point,
    value::is_plain,
};
use crate::program::{Expression, Node, Program, Statement, Ty};
use rand::{Rng as _, seq::IndexedRandom};

/// Operators whose operands may stand in either order.
const COMMUTATIVE: [&str; 7] = ["+", "*", "&", "|", "^", "==", "!="];

/// Edits of other families that often leave the vector.
const OTHERS: [&str; 9] = [
    "swap-operator",
    "swap-comparison",
    "change-literal",
    "swap-statements",
    "remove-cast",
    "remove-declaration",
    "remove-statement",
    "literal-instead",
    "parameter-instead",
];

/// Every edit of the second phase; those of places twice, since what they mend is what a search leaves most often.
pub(crate) fn natural() -> Vec<Edit> {
    let others = all().into_iter().filter(|edit| OTHERS.contains(&edit.name));
    own().chain(own_of(place::EDITS)).chain(others).collect()
}

/// Those that no other family has.
pub(super) fn own() -> impl Iterator<Item = Edit> {
    own_of(EDITS).chain(own_of(place::EDITS))
}

fn own_of(entries: &'static [Entry]) -> impl Iterator<Item = Edit> {
    entries.iter().map(|(name, _, apply)| Edit { name, zone: Zone::Any, apply: *apply })
}

/// Whether nothing behind it in its list is reached.
pub(crate) fn is_jump(statement: &Statement) -> bool {
    matches!(statement, Statement::Opaque(text) if ["return;", "break;", "continue;"].contains(&text.trim()))
}

/// A value becomes another that is made of it.
fn replaced(
    program: &mut Program,
    rng: &mut Rng,
    accept: impl Fn(&Expression) -> bool,
    other: impl FnOnce(Expression, &mut Rng) -> Option<Expression>,
) -> Option<()> {
    let mut drawn = random_value(program, Zone::Any, rng, accept)?;
    let other = other(drawn.value.take(), rng)?;
    drawn.replace(program, other);
    Some(())
}

/// The operands of an expression.
fn operands(expression: Expression) -> Vec<Expression> {
    match expression.node {
        Node::Binary(_, left, right) => vec![*left, *right],
        Node::Choice(_, yes, no) => vec![*yes, *no],
        Node::Unary(_, one) | Node::Cast(_, one) => vec![*one],
        Node::Call(_, values) => values,
        _ => Vec::new(),
    }
}

/// The values that a statement computes, the largest first, names and literals apart.
fn computed(statement: &mut Statement) -> Vec<Expression> {
    let mut found: Vec<Expression> = Vec::new();
    if matches!(statement, Statement::Declare { .. } | Statement::Evaluate(_)) {
        statement.each_expression(&mut |one| {
            let is_value = matches!(one.ty, Ty::Number(..))
                && !is_plain(one)
                && !matches!(one.node, Node::Assign(..) | Node::Postfix(..) | Node::Opaque(_));
            if is_value && !found.contains(one) {
                found.push(one.clone());
            }
        });
    }
    found
}

/// A value of a statement gets a name in front of it, for the rest of the list.
fn named_value(program: &mut Program, rng: &mut Rng) -> Option<()> {
    let point = random_statement(program, Zone::Any, rng, |statement| {
        matches!(statement, Statement::Declare { value: Some(_), .. } | Statement::Evaluate(_))
    })?;
    let name = program.fresh_name();
    let as_int = rng.random_bool(0.5);
    let mut done = None;
    point.change(program, |list, at| {
        let values = computed(&mut list[at]);
        let Some(value) = values.choose(rng) else { return };
        let ty = if as_int && value.ty == Ty::SIZE { Ty::INT } else { value.ty };
        for statement in &mut list[at..] {
            statement.each_expression(&mut |one| {
                if one == value {
                    *one = Expression::name(ty, &name);
                }
            });
        }
        list.insert(at, declared(ty, &name, value.clone()));
        done = Some(());
    });
    done
}

/// The work-item's own place gets a name in front of all.
fn named_place(program: &mut Program, rng: &mut Rng) -> Option<()> {
    let ty = if rng.random_bool(0.5) { Ty::INT } else { Ty::SIZE };
    let (name, value) = (program.fresh_name(), work_item("get_global_id", "0"));
    let mut times = 0;
    for statement in &mut program.body {
        statement.each_expression(&mut |one| {
            if one.node == value.node {
                *one = Expression::name(ty, &name);
                times += 1;
            }
        });
    }
    program.body.insert(0, declared(ty, &name, value));
    (times > 1).then_some(())
}

/// A variable gives way to its value.
fn unnamed_value(program: &mut Program, rng: &mut Rng) -> Option<()> {
    let point = random_statement(program, Zone::Any, rng, |statement| {
        matches!(statement, Statement::Declare { value: Some(_), .. })
    })?;
    point.change(program, |list, at| {
        let Statement::Declare { name, value: Some(mut value), .. } = list.remove(at) else {
            return;
        };
        let mut names_itself = false;
        value.each(&mut |one| {
            names_itself |= matches!(&one.node, Node::Name(known) if *known == name)
        });
        if names_itself {
            return;
        }
        for statement in &mut list[at..] {
            statement.each_expression(&mut |one| {
                if matches!(&one.node, Node::Name(known) if *known == name) {
                    *one = value.clone();
                }
            });
        }
    });
    Some(())
}

/// Two parameters of one type become one.
fn one_parameter(program: &mut Program, rng: &mut Rng) -> Option<()> {
    let count = program.parameters.len();
    if count < 2 {
        return None;
    }
    let gone = program.parameters.remove(rng.random_range(0..count));
    let others = program.parameters.iter().filter(|other| other.ty == gone.ty);
    let others: Vec<String> = others.map(|other| other.name.clone()).collect();
    let stays = others.choose(rng)?;
    for statement in &mut program.body {
        statement.each_expression(&mut |one| {
            if let Node::Name(name) = &mut one.node
                && *name == gone.name
            {
                name.clone_from(stays);
            }
        });
    }
    Some(())
}

/// `x = x + y` becomes `x += y`, and the other way round.
fn compound(program: &mut Program, rng: &mut Rng) -> Option<()> {
    let is_compound = |operator: &str| {
        operator.len() > 1
            && operator.ends_with('=')
            && !["==", "!=", "<=", ">="].contains(&operator)
    };
    let point = random_statement(program, Zone::Any, rng, |statement| match statement {
        Statement::Evaluate(Expression { node: Node::Assign(operator, left, right), .. }) => {
            is_compound(operator)
                || matches!(&right.node, Node::Binary(_, first, _) if first == left)
        }
        _ => false,
    })?;
    point.change(program, |list, at| {
        let Statement::Evaluate(all) = &mut list[at] else { return };
        let Node::Assign(operator, left, right) = &mut all.node else { return };
        if operator == "=" {
            let Node::Binary(own, _, second) = right.take().node else { return };
            *operator = format!("{own}=");
            *right = second;
        } else {
            let own = operator.trim_end_matches('=').to_owned();
            let ty = left.ty;
            **right = Expression::new(ty, Node::Binary(own, left.clone(), Box::new(right.take())));
            "=".clone_into(operator);
        }
    });
    Some(())
}

/// A statement moves to another place of its list.
fn moved(program: &mut Program, rng: &mut Rng) -> Option<()> {
    let point = random_point(program, Zone::Any, rng, |rest| rest.len() > 1)?;
    let far: f64 = rng.random();
    point.change(program, |list, at| {
        let behind = list.len() - at - 1;
        let to = at + 1 + ((behind as f64 * far) as usize).min(behind - 1);
        let statement = list.remove(at);
        list.insert(to, statement);
    });
    Some(())
}

const EDITS: &[Entry] = &[
    ("without-cast", ANY, |program, _, rng| {
        let is_cast = |value: &Expression| matches!(&value.node, Node::Cast(_, operand) if matches!(operand.ty, Ty::Number(..)));
        replaced(program, rng, is_cast, |value, _| operands(value).pop())
    }),
    ("operand-instead", ANY, |program, _, rng| {
        replaced(
            program,
            rng,
            |value| {
                matches!(
                    value.node,
                    Node::Binary(..) | Node::Choice(..) | Node::Unary(..) | Node::Call(..)
                )
            },
            |value, rng| {
                let ty = value.ty;
                let same: Vec<Expression> =
                    operands(value).into_iter().filter(|operand| operand.ty == ty).collect();
                same.choose(rng).cloned()
            },
        )
    }),
    ("known-instead", ANY, |program, _, rng| {
        let drawn = random_value(program, Zone::Any, rng, |value| value.ty.scalar().is_some())?;
        let (ty, scope) = (drawn.value.ty, drawn.scope.clone());
        let known = scope.variables.iter().filter(|one| one.ready && one.ty == ty);
        let known: Vec<&str> = known.map(|one| one.name.as_str()).collect();
        let name = known.choose(rng)?;
        drawn.replace(program, Expression::name(ty, *name));
        Some(())
    }),
    ("simple-literal", ANY, |program, _, rng| {
        let is_literal = |value: &Expression| {
            matches!(value.node, Node::Literal(_)) && value.ty.scalar().is_some()
        };
        replaced(program, rng, is_literal, |value, rng| {
            let float = value.ty.scalar().is_some_and(crate::program::Scalar::is_float);
            let text = match float {
                true => ["0.0f", "1.0f", "2.0f", "0.5f"].choose(rng)?,
                false => ["0", "1", "2", "4", "8", "16"].choose(rng)?,
            };
            Some(Expression::literal(value.ty, *text))
        })
    }),
    ("first-dimension", ANY, |program, _, rng| {
        let is_own = |value: &Expression| {
            matches!(&value.node, Node::Call(function, arguments)
                if function.starts_with("get_") && arguments.len() == 1)
        };
        replaced(program, rng, is_own, |value, rng| {
            let Node::Call(function, _) = value.node else { return None };
            let dimension = ["0", "0", "0", "1"].choose(rng)?;
            Some(Expression { ty: value.ty, ..work_item(&function, dimension) })
        })
    }),
    ("swap-operands", ANY, |program, _, rng| {
        let is_commutative = |value: &Expression| matches!(&value.node, Node::Binary(operator, ..) if COMMUTATIVE.contains(&operator.as_str()));
        replaced(program, rng, is_commutative, |value, _| {
            let Node::Binary(operator, left, right) = value.node else { return None };
            Some(Expression::new(value.ty, Node::Binary(operator, right, left)))
        })
    }),
    ("named-place", ANY, |program, _, rng| named_place(program, rng)),
    ("named-value", ANY, |program, _, rng| named_value(program, rng)),
    ("unnamed-value", ANY, |program, _, rng| unnamed_value(program, rng)),
    ("one-parameter", ANY, |program, _, rng| one_parameter(program, rng)),
    ("compound", ANY, |program, _, rng| compound(program, rng)),
    ("moved", ANY, |program, _, rng| moved(program, rng)),
    ("open-block", ANY, |program, zone, rng| {
        let point = random_statement(program, zone, rng, |statement| {
            matches!(statement, Statement::Block(_))
        })?;
        point.change(program, |list, at| {
            if let Statement::Block(inner) = list.remove(at) {
                list.splice(at..at, inner);
            }
        });
        Some(())
    }),
    ("drop-unreached", ANY, |program, zone, rng| {
        let point = random_point(program, zone, rng, |rest| rest.len() > 1 && is_jump(&rest[0]))?;
        point.change(program, |list, at| list.truncate(at + 1));
        Some(())
    }),
];
