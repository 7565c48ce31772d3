//! Operators: what they make of their operands.

use super::{
    call,
    operand::Operand,
    types::{Handle, Scalar, Space, Type, assignable, combined, overlapping},
};

/// Binary operators that ask for the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Binary {
    Multiply,
    Remainder,
    Add,
    Subtract,
    Shift,
    Order,
    Equal,
    Bits,
    Both,
    /// `=`.
    Assign,
    /// `+=` and its like, by the operator.
    Update(u8),
}

/// Operators that wait for their right operand.
#[derive(Clone, Debug, PartialEq, Hash)]
pub(super) enum Operator {
    Sign,
    Not,
    Invert,
    Follow,
    Address,
    Step,
    Cast(Type),
    Size,
    Binary(Binary, u8),
    /// `?` behind a condition, waiting for its middle.
    Question(Operand),
    /// `:`, with the condition and the middle.
    Colon(Operand, Operand),
}

pub(super) const ASSIGNMENT: u8 = 1;
pub(super) const TERNARY: u8 = 2;
pub(super) const SHIFTS: u8 = 10;

/// A binary operator and how tightly it binds.
pub(super) fn binary(text: &str) -> Option<(Binary, u8)> {
    Some(match text {
        "*" | "/" => (Binary::Multiply, 12),
        "%" => (Binary::Remainder, 12),
        "+" => (Binary::Add, 11),
        "-" => (Binary::Subtract, 11),
        "<<" | ">>" => (Binary::Shift, SHIFTS),
        "<" | ">" | "<=" | ">=" => (Binary::Order, 9),
        "==" | "!=" => (Binary::Equal, 8),
        "&" => (Binary::Bits, 7),
        "^" => (Binary::Bits, 6),
        "|" => (Binary::Bits, 5),
        "&&" => (Binary::Both, 4),
        "||" => (Binary::Both, 3),
        "=" => (Binary::Assign, ASSIGNMENT),
        "+=" | "-=" | "*=" | "/=" | "%=" | "&=" | "|=" | "^=" | "<<=" | ">>=" => {
            (Binary::Update(text.as_bytes()[0]), ASSIGNMENT)
        }
        _ => return None,
    })
}

/// What postfix operators can make of an operand, in this many steps.
pub(super) fn reachable(operand: &Operand, steps: u32) -> Vec<Operand> {
    let mut all = vec![operand.clone()];
    if steps == 0 {
        return all;
    }
    let part = |ty: Type| Operand { ty, ..operand.clone() };
    match &operand.ty {
        Type::Vector(scalar, _) => {
            all.push(part(Type::Scalar(*scalar)));
            all.extend([2, 3, 4, 8].map(|lanes| part(Type::Vector(*scalar, lanes))));
        }
        Type::Pointer(target) | Type::Array(target) => {
            let held = Operand::at(target.ty.clone(), target.constant, target.space);
            all.extend(reachable(&held, steps - 1));
        }
        Type::Function(function) => {
            all.extend(reachable(&Operand::value(function.result.clone()), steps - 1));
        }
        Type::Overloads(functions) => {
            let results = functions.iter().map(|(one, _)| Operand::value(one.result.clone()));
            all.extend(results.flat_map(|result| reachable(&result, steps - 1)));
        }
        Type::Builtin(name) => {
            let results = call::results(name).into_iter().map(Operand::value);
            all.extend(results.flat_map(|result| reachable(&result, steps - 1)));
        }
        Type::Struct(_) => all.push(Operand::at(Type::Unknown, false, Space::Private)),
        _ => {}
    }
    all
}

pub(super) fn apply_unary(operator: &Operator, x: &Operand) -> Option<Operand> {
    let ty = x.ty.decayed();
    let literal = |ty: Type| Operand { fixed: x.is_known(), ..Operand::value(ty) };
    if ty == Type::Unknown && !matches!(operator, Operator::Cast(_)) {
        let place = *operator == Operator::Follow;
        return Some(Operand { ty, place, ..x.clone() });
    }
    Some(match operator {
        Operator::Sign => match &ty {
            Type::Scalar(scalar) => literal(Type::Scalar((*scalar).max(Scalar::Int))),
            Type::Vector(..) => literal(ty),
            _ => return None,
        },
        Operator::Not => match &ty {
            Type::Scalar(_) | Type::Pointer(_) => literal(Type::Scalar(Scalar::Int)),
            Type::Vector(scalar, lanes) => literal(Type::Vector(scalar.mask(), *lanes)),
            _ => return None,
        },
        Operator::Invert if ty.is_integer() => match &ty {
            Type::Scalar(scalar) => literal(Type::Scalar((*scalar).max(Scalar::Int))),
            _ => literal(ty),
        },
        Operator::Follow => {
            let target = ty.target()?;
            if target.ty == Type::Void {
                return None;
            }
            let anchored = x.is_known();
            Operand { anchored, ..Operand::at(target.ty.clone(), target.constant, target.space) }
        }
        Operator::Address if x.place && !x.part && ty.is_housed() => Operand {
            fixed: x.anchored,
            ..Operand::value(Type::pointer(x.ty.clone(), x.constant, x.space))
        },
        Operator::Step if x.is_assignable() => match &ty {
            Type::Scalar(_) | Type::Pointer(_) => Operand::value(ty),
            Type::Vector(scalar, _) if !scalar.is_float() => Operand::value(ty),
            _ => return None,
        },
        Operator::Size => Operand::literal(Type::Scalar(Scalar::Ulong)),
        Operator::Cast(to) => {
            let null = x.zero && matches!(to, Type::Opaque(_)) && assignable(to, &ty, true);
            if !null && !castable(to, &ty) {
                return None;
            }
            // An address is cut off where it is not known yet.
            let address = matches!(ty, Type::Pointer(_));
            let whole =
                |to: &Type| !matches!(to, Type::Scalar(s) if s.size() < 8 && *s != Scalar::Bool);
            let fixed = x.is_known() && (!address || whole(to));
            let zero = x.zero && matches!(to, Type::Pointer(_));
            Operand { zero, fixed, ..Operand::value(to.clone()) }
        }
        _ => return None,
    })
}

fn castable(to: &Type, from: &Type) -> bool {
    match (to, from) {
        (Type::Unknown | Type::Void, _) | (_, Type::Unknown) => true,
        (Type::Scalar(_), Type::Scalar(_)) => true,
        (Type::Scalar(s), Type::Pointer(_)) => !s.is_float(),
        (Type::Pointer(_), Type::Scalar(s)) => !s.is_float(),
        (Type::Pointer(to), Type::Pointer(from)) => overlapping(to.space, from.space),
        (Type::Vector(..), Type::Scalar(_)) => true,
        (Type::Vector(a, n), Type::Vector(b, m)) => a == b && n == m,
        (Type::Opaque(to), Type::Opaque(from)) => to == from,
        (a, b) => a == b,
    }
}

/// What a binary operator makes of its operands; `new`: only in OpenCL C 2.0.
pub(super) fn apply_binary(
    kind: Binary,
    left: &Operand,
    right: &Operand,
    new: bool,
) -> Option<Operand> {
    let (a, b) = (left.ty.decayed(), right.ty.decayed());
    let fixed = left.is_known() && right.is_known();
    let make = |ty: Type| Some(Operand { fixed, ..Operand::value(ty) });
    if a.is_code() || b.is_code() || a == Type::Void || b == Type::Void {
        return None;
    }
    let unknown = a == Type::Unknown || b == Type::Unknown;
    let integers = || a.is_integer() && b.is_integer();
    match kind {
        Binary::Assign => {
            // An event can begin as 0, but not become it.
            let zero = right.zero && left.ty != Type::Opaque(Handle::Event);
            let fits = left.ty == Type::Unknown || assignable(&left.ty, &b, zero);
            fits.then(|| Operand::value(left.ty.clone()))
        }
        Binary::Update(operator) => {
            let kind = match operator {
                b'*' | b'/' => Binary::Multiply,
                b'%' => Binary::Remainder,
                b'+' => Binary::Add,
                b'-' => Binary::Subtract,
                b'<' | b'>' => Binary::Shift,
                _ => Binary::Bits,
            };
            let result = apply_binary(kind, left, right, new)?;
            assignable(&left.ty, &result.ty, false).then(|| Operand::value(left.ty.clone()))
        }
        _ if unknown => make(Type::Unknown),
        Binary::Multiply => make(mixed(left, right, new)?),
        Binary::Remainder | Binary::Bits => make(integers().then(|| combined(&a, &b)).flatten()?),
        Binary::Shift => {
            if !integers() || b.lanes() > 1 && b.lanes() != a.lanes() {
                return None;
            }
            make(match &a {
                Type::Scalar(scalar) => Type::Scalar((*scalar).max(Scalar::Int)),
                _ => a,
            })
        }
        Binary::Add | Binary::Subtract => match (&a, &b) {
            (Type::Pointer(_), Type::Scalar(s)) if !s.is_float() => make(a),
            (Type::Scalar(s), Type::Pointer(_)) if !s.is_float() && kind == Binary::Add => make(b),
            (Type::Pointer(x), Type::Pointer(y)) if kind == Binary::Subtract && x.ty == y.ty => {
                overlapping(x.space, y.space).then(|| make(Type::Scalar(Scalar::Long)))?
            }
            _ => make(mixed(left, right, new)?),
        },
        Binary::Order | Binary::Equal => match (&a, &b) {
            (Type::Pointer(x), Type::Pointer(y)) => {
                let fits = overlapping(x.space, y.space) || left.zero || right.zero;
                fits.then(|| make(Type::Scalar(Scalar::Int)))?
            }
            // clang only warns of these.
            (Type::Pointer(_), Type::Scalar(s)) | (Type::Scalar(s), Type::Pointer(_)) => {
                (!s.is_float()).then(|| make(Type::Scalar(Scalar::Int)))?
            }
            _ => make(truth(&mixed(left, right, new)?)),
        },
        Binary::Both => match (&a, &b) {
            (Type::Scalar(_) | Type::Pointer(_), Type::Scalar(_) | Type::Pointer(_)) => {
                make(Type::Scalar(Scalar::Int))
            }
            _ => make(truth(&combined(&a, &b)?)),
        },
    }
}

/// The type of an arithmetic operator's result. In OpenCL C 1.1, which is tried too, `2.0` is a float and is
/// spread with vectors of them.
fn mixed(left: &Operand, right: &Operand, new: bool) -> Option<Type> {
    let (a, b) = (left.ty.decayed(), right.ty.decayed());
    let is_short = |one: &Operand| !new && is_shortened(one);
    match (&a, &b) {
        (Type::Vector(Scalar::Float, _), _) if is_short(right) => Some(a),
        (_, Type::Vector(Scalar::Float, _)) if is_short(left) => Some(b),
        _ => combined(&a, &b),
    }
}

/// Whether it is what OpenCL C 1.1 takes for a float.
pub(super) fn is_shortened(operand: &Operand) -> bool {
    operand.fixed && operand.ty == Type::Scalar(Scalar::Double)
}

/// The type of a comparison of values of this type.
fn truth(ty: &Type) -> Type {
    match ty {
        Type::Vector(scalar, lanes) => Type::Vector(scalar.mask(), *lanes),
        Type::Scalar(_) => Type::Scalar(Scalar::Int),
        _ => Type::Unknown,
    }
}

/// The result of `condition ? middle : right` (OpenCL C 2.0, section 6.3.i).
pub(super) fn choose(condition: &Operand, middle: &Operand, right: &Operand) -> Option<Operand> {
    let (a, b) = (middle.ty.decayed(), right.ty.decayed());
    let fixed = condition.is_known() && middle.is_known() && right.is_known();
    let ty = match (&a, &b) {
        (Type::Unknown, _) | (_, Type::Unknown) => Type::Unknown,
        (Type::Pointer(_), Type::Scalar(_)) if right.zero => a,
        (Type::Scalar(_), Type::Pointer(_)) if middle.zero => b,
        (Type::Pointer(x), Type::Pointer(y)) => {
            if !overlapping(x.space, y.space) && !middle.zero && !right.zero {
                return None;
            }
            a
        }
        _ if a == b => a,
        _ => combined(&a, &b)?,
    };
    let ty = match (&condition.ty, ty) {
        (Type::Vector(_, lanes), Type::Scalar(scalar)) => Type::Vector(scalar, *lanes),
        (Type::Vector(mask, lanes), Type::Vector(scalar, own)) => {
            if own != *lanes || mask.size() != scalar.size() {
                return None;
            }
            Type::Vector(scalar, own)
        }
        (Type::Vector(..), Type::Unknown) => Type::Unknown,
        (Type::Vector(..), _) => return None,
        (_, ty) => ty,
    };
    Some(Operand { fixed, ..Operand::value(ty) })
}
