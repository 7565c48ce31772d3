//! Edits of how memory is reached: pointers that are followed or kept in variables, and `__local`
//! buffers. What they compute stays; where from and where to changes.

use super::{
    ALL_VALUES, ANY, Entry, Rng, STATEMENTS, TOP, Zone,
    call::fence,
    make::{Maker, assignment, work_item},
    memory::insert,
    random_statement, random_value,
    site::is_arithmetic,
    value::{is_leaf, wrap},
};
use crate::program::{
    Expression, Node, Parameter, Program, Scalar, Space, Statement, Ty, Variable,
};
use rand::{Rng as _, seq::IndexedRandom};
use std::collections::BTreeMap;

/// Elements that are stored where a pointer to them is declared.
const FILLED: usize = 4;

fn global(scalar: Scalar) -> Ty {
    Ty::Pointer { space: Space::Global, scalar, lanes: 1, constant: false }
}

fn local(scalar: Scalar) -> Ty {
    Ty::Pointer { space: Space::Local, scalar, lanes: 1, constant: false }
}

/// `*pointer`.
fn followed(element: Ty, pointer: Expression) -> Expression {
    Expression::new(element, Node::Unary("*".into(), Box::new(pointer)))
}

/// The element that a `__local` buffer of this type has there.
fn local_element(make: &mut Maker<'_>, element: Ty, at: Expression) -> Expression {
    let Some(scalar) = element.scalar() else { return at };
    let buffer = make.leaf(local(scalar));
    Expression::index(element, buffer, at)
}

/// A variable in reach that points to global memory and is no parameter.
fn kept_pointer(make: &mut Maker<'_>, element: Option<Ty>) -> Option<Variable> {
    let known: Vec<&Variable> = make
        .scope
        .variables
        .iter()
        .filter(|variable| {
            let fits = match (variable.ty, element) {
                (Ty::Pointer { space: Space::Global, scalar, lanes: 1, .. }, Some(element)) => {
                    element == Ty::Number(scalar, 1)
                }
                (Ty::Pointer { space: Space::Global, lanes: 1, constant, .. }, None) => !constant,
                _ => false,
            };
            fits && make.program.parameters.iter().all(|one| one.name != variable.name)
        })
        .collect();
    known.choose(make.rng).map(|variable| (*variable).clone())
}

/// `pointer[at]`, the pointer a variable in reach.
fn through_kept(make: &mut Maker<'_>, element: Option<Ty>) -> Option<Expression> {
    let pointer = kept_pointer(make, element)?;
    let Ty::Pointer { scalar, .. } = pointer.ty else { return None };
    let at = if make.rng.random_bool(0.5) {
        make.leaf(Ty::INT)
    } else {
        let index = make.rng.random_range(0..8_u32).to_string();
        Expression::literal(Ty::INT, index)
    };
    Some(Expression::index(Ty::Number(scalar, 1), Expression::name(pointer.ty, pointer.name), at))
}

/// `__global TYPE* name = parameter;`, and the name.
fn declared(make: &mut Maker<'_>, element: Ty) -> (Statement, Expression) {
    let ty = global(element.scalar().unwrap_or(Scalar::F32));
    let buffer = make.program.add_parameter(ty);
    let name = make.program.fresh_name();
    let pointer = Expression::name(ty, name.clone());
    (super::make::declared(ty, &name, buffer), pointer)
}

/// Puts `*pointer` or an element in a leaf's place.
fn instead(
    program: &mut Program,
    zone: Zone,
    rng: &mut Rng,
    make: impl FnOnce(&mut Maker<'_>, Ty) -> Expression,
) -> Option<()> {
    let plain = |value: &Expression| {
        is_arithmetic(value) && matches!(value.node, Node::Name(_) | Node::Literal(_))
    };
    let drawn = random_value(program, zone, rng, plain)?;
    let ty = drawn.value.ty;
    let value = make(&mut Maker { program, scope: &drawn.scope, rng }, ty);
    drawn.replace(program, value);
    Some(())
}

/// Moves the buffer of an access into another address space.
fn moved(program: &mut Program, zone: Zone, rng: &mut Rng, from: Space, to: Space) -> Option<()> {
    let mut drawn = random_value(program, zone, rng, |value| {
        matches!(&value.node, Node::Index(pointer, _)
            if matches!((&pointer.node, pointer.ty),
                (Node::Name(_), Ty::Pointer { space, lanes: 1, .. }) if space == from))
    })?;
    let mut access = drawn.value.take();
    if let Node::Index(pointer, _) = &mut access.node
        && let Ty::Pointer { scalar, lanes, .. } = pointer.ty
    {
        let ty = Ty::Pointer { space: to, scalar, lanes, constant: false };
        **pointer = Maker { program, scope: &drawn.scope, rng }.leaf(ty);
    }
    drawn.replace(program, access);
    Some(())
}

/// Elements of one integer type, of all global buffers, become those of another. Of one buffer alone
/// they would bring a conversion between what is read and what is stored.
fn with_elements(program: &mut Program, rng: &mut Rng, to: Scalar) -> Option<()> {
    let accessed = |access: &Expression| match &access.node {
        Node::Index(pointer, _) => match (&pointer.node, pointer.ty) {
            (Node::Name(name), Ty::Pointer { space: Space::Global, scalar, lanes: 1, .. })
                if !scalar.is_float() && scalar != to =>
            {
                Some((name.clone(), scalar))
            }
            _ => None,
        },
        _ => None,
    };
    let mut found = Vec::new();
    for statement in &mut program.body {
        statement.each_expression(&mut |value| found.extend(accessed(value)));
    }
    let from = found.choose(rng)?.1;
    let mut buffers = BTreeMap::new();
    for (name, _) in found.into_iter().filter(|(_, scalar)| *scalar == from) {
        buffers.entry(name).or_insert_with(|| program.add_parameter(global(to)));
    }
    for statement in &mut program.body {
        statement.each_expression(&mut |value| {
            let Some(buffer) = accessed(value).and_then(|(name, _)| buffers.get(&name)) else {
                return;
            };
            value.ty = Ty::Number(to, 1);
            if let Node::Index(pointer, _) = &mut value.node {
                **pointer = buffer.clone();
            }
        });
    }
    Some(())
}

/// What a statement assigns to.
fn assigned(statement: &Statement) -> Option<&Expression> {
    match statement {
        Statement::Evaluate(Expression { node: Node::Assign(_, target, _), .. }) => Some(target),
        _ => None,
    }
}

/// Whether it is an element of a buffer that a parameter points to.
fn is_from_parameter(access: &Expression, parameters: &[Parameter]) -> bool {
    matches!(&access.node, Node::Index(pointer, _)
        if matches!((&pointer.node, pointer.ty),
            (Node::Name(name), Ty::Pointer { space: Space::Global, lanes: 1, .. })
                if parameters.iter().any(|one| one.name == *name)))
}

/// Puts a variable that points to the same type in the place of an access's parameter.
fn by_variable(access: &mut Expression, make: &mut Maker<'_>) -> Option<()> {
    let kept = kept_pointer(make, Some(access.ty))?;
    let Node::Index(pointer, _) = &mut access.node else { return None };
    **pointer = Expression::name(kept.ty, kept.name);
    Some(())
}

/// The name and type of a pointer to global memory that a statement declares and sets.
fn declared_pointer(statement: &Statement) -> Option<(&str, Ty)> {
    match statement {
        Statement::Declare {
            prefix,
            name,
            ty: ty @ Ty::Pointer { space: Space::Global, lanes: 1, .. },
            ..
        } if prefix.contains('=') => Some((name, *ty)),
        _ => None,
    }
}

/// `buffer[plain]` becomes `*buffer`: memory is reached as before, but no longer by a subscript.
fn follow(access: &mut Expression) -> Option<()> {
    let Node::Index(pointer, at) = &mut access.node else { return None };
    if !matches!(pointer.node, Node::Name(_)) || !is_leaf(at) {
        return None;
    }
    *access = followed(access.ty, pointer.take());
    Some(())
}

/// Whether it is `buffer[plain]` for one that is global.
fn is_followable(access: &Expression) -> bool {
    matches!(&access.node, Node::Index(pointer, at)
        if is_leaf(at) && matches!(access.ty, Ty::Number(..))
            && matches!((&pointer.node, pointer.ty),
                (Node::Name(_), Ty::Pointer { space: Space::Global, .. })))
}

/// A work-group reads its part of a buffer together, and each work-item stores what another has read.
pub(super) fn tile(make: &mut Maker<'_>, own: Expression) -> Vec<Statement> {
    let (ty, place) = (make.number(), make.local_place());
    let is_crowded = make.program.parameters.len() >= make.program.style.parameters;
    let Some(scalar) = ty.scalar().filter(|_| !is_crowded) else { return Vec::new() };
    // One that is there may still be read by others.
    let buffer = make.program.add_parameter(local(scalar));
    let tile = Expression::index(ty, buffer.clone(), place.clone());
    let last = Expression::binary(
        Ty::SIZE,
        "-",
        work_item("get_local_size", "0"),
        Expression::literal(Ty::INT, "1"),
    );
    let opposite = Expression::binary(Ty::SIZE, "-", last, place);
    let opposite = Expression::index(ty, buffer, opposite);
    let (source, target) = (make.element(ty, own.clone()), make.element(ty, own));
    vec![
        assignment(tile, source),
        fence("barrier", "CLK_LOCAL_MEM_FENCE"),
        assignment(target, opposite),
    ]
}

pub(super) const EDITS: &[Entry] = &[
    ("index-to-follow", ALL_VALUES, |program, zone, rng| {
        let mut drawn = random_value(program, zone, rng, is_followable)?;
        let mut access = drawn.value.take();
        follow(&mut access)?;
        drawn.replace(program, access);
        Some(())
    }),
    ("store-to-follow", STATEMENTS, |program, zone, rng| {
        let point = random_statement(program, zone, rng, |statement| {
            assigned(statement).is_some_and(is_followable)
        })?;
        let mut made = None;
        point.change(program, |list, at| {
            if let Statement::Evaluate(Expression { node: Node::Assign(_, target, _), .. }) =
                &mut list[at]
            {
                made = follow(target);
            }
        });
        made
    }),
    // A store that reaches memory by a variable, and its value, go.
    ("unstore-by-variable", STATEMENTS, |program, zone, rng| {
        let parameters = program.parameters.clone();
        let point = random_statement(program, zone, rng, |statement| match statement {
            Statement::Evaluate(Expression {
                node: Node::Assign(operator, target, value), ..
            }) => {
                let is_plain = |node: &Node| matches!(node, Node::Name(_) | Node::Literal(_));
                operator == "="
                    && is_plain(&value.node)
                    && is_followable(target)
                    && !is_from_parameter(target, &parameters)
            }
            _ => false,
        })?;
        point.change(program, |list, at| {
            list.remove(at);
        });
        Some(())
    }),
    // One pointer variable less: what it reached is reached by another.
    ("share-pointer", ANY, |program, zone, rng| {
        // The first of a kernel has none to share with.
        let (point, old, other) = (0..4).find_map(|_| {
            let point = random_statement(program, zone, rng, |statement| {
                declared_pointer(statement).is_some()
            })?;
            let mut old = None;
            point.clone().change(program, |list, at| {
                old = declared_pointer(&list[at]).map(|(name, ty)| (name.to_owned(), ty));
            });
            let (old, Ty::Pointer { scalar, .. }) = old? else { return None };
            let mut make = Maker { program, scope: &point.scope, rng };
            let other = kept_pointer(&mut make, Some(Ty::Number(scalar, 1)))?;
            Some((point, old, other))
        })?;
        point.change(program, |list, at| {
            list.remove(at);
            for statement in &mut list[at..] {
                statement.each_expression(&mut |value| match &mut value.node {
                    Node::Name(name) if *name == old => name.clone_from(&other.name),
                    _ => {}
                });
            }
        });
        Some(())
    }),
    ("by-variable", ALL_VALUES, |program, zone, rng| {
        let parameters = program.parameters.clone();
        let mut drawn =
            random_value(program, zone, rng, |value| is_from_parameter(value, &parameters))?;
        let mut access = drawn.value.take();
        by_variable(&mut access, &mut Maker { program, scope: &drawn.scope, rng })?;
        drawn.replace(program, access);
        Some(())
    }),
    ("store-by-variable", STATEMENTS, |program, zone, rng| {
        let parameters = program.parameters.clone();
        let point = random_statement(program, zone, rng, |statement| {
            assigned(statement).is_some_and(|target| is_from_parameter(target, &parameters))
        })?;
        let mut target = None;
        point.clone().change(program, |list, at| target = assigned(&list[at]).cloned());
        let mut target = target?;
        by_variable(&mut target, &mut Maker { program, scope: &point.scope, rng })?;
        point.change(program, |list, at| {
            if let Statement::Evaluate(Expression { node: Node::Assign(_, old, _), .. }) =
                &mut list[at]
            {
                **old = target;
            }
        });
        Some(())
    }),
    ("store-through", STATEMENTS, |program, zone, rng| {
        insert(program, zone, rng, |make| {
            let ty = make.number();
            let value = make.leaf(ty);
            let buffer = make.buffer(ty);
            vec![assignment(followed(ty, buffer), value)]
        })
    }),
    ("store-behind", STATEMENTS, |program, zone, rng| {
        insert(program, zone, rng, |make| {
            let ty = make.number();
            let (value, by) = (make.leaf(ty), make.leaf(Ty::INT));
            let buffer = make.buffer(ty);
            let place = Expression::binary(buffer.ty, "+", buffer, by);
            vec![assignment(followed(ty, place), value)]
        })
    }),
    ("follow-instead", ALL_VALUES, |program, zone, rng| {
        instead(program, zone, rng, |make, ty| {
            let buffer = make.buffer(ty);
            followed(ty, buffer)
        })
    }),
    ("declare-pointer", TOP, |program, zone, rng| {
        insert(program, zone, rng, |make| {
            let element = make.number();
            vec![declared(make, element).0]
        })
    }),
    ("store-by-pointer", STATEMENTS, |program, zone, rng| {
        let mut made = false;
        insert(program, zone, rng, |make| {
            let Some(target) = through_kept(make, None) else { return Vec::new() };
            made = true;
            let value = make.leaf(target.ty);
            vec![assignment(target, value)]
        })?;
        made.then_some(())
    }),
    ("declare-and-fill", STATEMENTS, |program, zone, rng| {
        insert(program, zone, rng, |make| {
            let element = make.number();
            let (declare, pointer) = declared(make, element);
            let stores = (0..FILLED).map(|place| {
                let at = Expression::literal(Ty::INT, place.to_string());
                let target = Expression::index(element, pointer.clone(), at);
                let value = make.leaf(element);
                assignment(target, value)
            });
            std::iter::once(declare).chain(stores.collect::<Vec<_>>()).collect()
        })
    }),
    ("load-by-pointer", ALL_VALUES, |program, zone, rng| {
        let mut made = false;
        instead(program, zone, rng, |make, ty| match through_kept(make, Some(ty)) {
            Some(element) => {
                made = true;
                element
            }
            None => make.leaf(ty),
        })?;
        made.then_some(())
    }),
    ("store-local", STATEMENTS, |program, zone, rng| {
        insert(program, zone, rng, |make| {
            let ty = make.number();
            let (value, at) = (make.leaf(ty), make.local_place());
            let target = local_element(make, ty, at);
            vec![assignment(target, value)]
        })
    }),
    ("local-instead", ALL_VALUES, |program, zone, rng| {
        instead(program, zone, rng, |make, ty| {
            let at = make.local_place();
            local_element(make, ty, at)
        })
    }),
    ("through-tile", TOP, |program, zone, rng| {
        insert(program, zone, rng, |make| {
            let own = make.own_place();
            tile(make, own)
        })
    }),
    ("elements-char", ANY, |program, _, rng| with_elements(program, rng, Scalar::I8)),
    ("elements-short", ANY, |program, _, rng| with_elements(program, rng, Scalar::I16)),
    ("elements-int", ANY, |program, _, rng| with_elements(program, rng, Scalar::I32)),
    ("elements-long", ANY, |program, _, rng| with_elements(program, rng, Scalar::I64)),
    ("to-local", ALL_VALUES, |program, zone, rng| {
        moved(program, zone, rng, Space::Global, Space::Local)
    }),
    ("to-global", ALL_VALUES, |program, zone, rng| {
        moved(program, zone, rng, Space::Local, Space::Global)
    }),
    ("index-strided", &[Zone::Index], |program, zone, rng| {
        wrap(
            program,
            zone,
            rng,
            |value| matches!(value.node, Node::Name(_)) && value.ty == Ty::INT,
            |make, value| {
                let by = make.leaf(Ty::INT);
                Expression::binary(Ty::INT, "*", value, by)
            },
        )
    }),
];
