//! Arguments of builtin functions that signatures say little about.

use super::types::{Handle, Scalar, Shape, Space, Target, Type};

/// Whether arguments that signatures say little about go together; `chosen`: the type that an overload was chosen by.
pub(super) fn consistent(name: &str, types: &[Type], chosen: Option<&Type>) -> bool {
    let target = |at: usize| types.get(at).and_then(Type::target);
    let lanes = chosen.map_or(1, Type::lanes);
    match name {
        "dot" | "distance" | "fast_distance" | "length" | "fast_length" | "normalize"
        | "fast_normalize" => lanes <= 4,
        "cross" => matches!(lanes, 3 | 4),
        "fract" | "modf" | "sincos" => chosen.is_none_or(|ty| holds(&types[1], ty)),
        "frexp" | "lgamma_r" | "remquo" => {
            holds(&types[types.len() - 1], &Type::of(Scalar::Int, lanes))
        }
        "select" => chosen.is_none_or(|ty| masks(ty, &types[2])),
        "wait_group_events" => {
            types[1] == Type::Unknown
                || target(1).is_some_and(|target| target.ty == Type::Opaque(Handle::Event))
        }
        "nan" => {
            types[0] == Type::Unknown
                || matches!(types[0].element(), Some(Scalar::Ushort | Scalar::Uint | Scalar::Ulong))
        }
        "ldexp" | "pown" | "rootn" => match &types[1] {
            Type::Vector(scalar, own) => *scalar == Scalar::Int && *own == lanes,
            _ => true,
        },
        "prefetch" => {
            types[0] == Type::Unknown
                || target(0).is_some_and(|target| target.space == Space::Global)
        }
        "shuffle" | "shuffle2" => shuffled(types),
        "upsample" => match (&types[0], &types[1]) {
            (Type::Unknown, _) | (_, Type::Unknown) => true,
            (high, low) => {
                let size = |ty: &Type| ty.element().filter(|one| !one.is_float()).map(Scalar::size);
                size(high).is_some()
                    && high.lanes() == low.lanes()
                    && size(high) == size(low)
                    && size(high) < Some(8)
            }
        },
        "printf" => target(0).is_some_and(|target| target.space == Space::Constant),
        _ if name.starts_with("vload") || name.starts_with("vstore") => moved(name, types),
        _ if name.starts_with("async_work_group") => match (target(0), target(1)) {
            (Some(to), Some(from)) => {
                let spaces = [to.space, from.space];
                let named = spaces.contains(&Space::Local) && spaces.contains(&Space::Global);
                named && to.ty == from.ty && to.ty.is_arithmetic() && !to.constant
            }
            _ => types[0] == Type::Unknown || types[1] == Type::Unknown,
        },
        _ if name.starts_with("read_image") || name.starts_with("write_image") => {
            image_access(name, types)
        }
        _ if name.starts_with("atomic_") || name.starts_with("atom_") => atomic(name, types),
        _ => true,
    }
}

/// Whether something of a type can be stored through a pointer.
fn holds(pointer: &Type, ty: &Type) -> bool {
    *pointer == Type::Unknown
        || pointer.target().is_some_and(|target| {
            !target.constant
                && target.space != Space::Constant
                && (target.ty == *ty || target.ty == Type::Unknown)
        })
}

/// Whether the last argument of `select` is a mask for values of a type.
fn masks(ty: &Type, mask: &Type) -> bool {
    if *mask == Type::Unknown {
        return true;
    }
    let (Some(scalar), Some(own)) = (ty.element(), mask.element()) else { return false };
    // Smaller integers have overloads of their own.
    let promoted = scalar.size() == 4 && ty.lanes() == 1 && own == Scalar::Bool;
    mask.lanes() == ty.lanes() && !own.is_float() && (own.size() == scalar.size() || promoted)
}

/// Whether vectors and their mask can be shuffled.
fn shuffled(types: &[Type]) -> bool {
    let mask = &types[types.len() - 1];
    let vector = |ty: &Type| matches!(ty, Type::Vector(_, 2 | 4 | 8 | 16));
    let places = match (types[0].element(), mask.element()) {
        (Some(own), Some(mask)) => {
            own.size() == mask.size() && !mask.is_float() && mask.mask() != mask
        }
        _ => false,
    };
    let alike = types.len() == 2 || types[0] == types[1];
    types.contains(&Type::Unknown) || vector(&types[0]) && vector(mask) && places && alike
}

/// Whether a vector can be loaded or stored through a pointer.
fn moved(name: &str, types: &[Type]) -> bool {
    let target = |at: usize| types.get(at).and_then(Type::target);
    let half = name.contains("half");
    match name.strip_prefix("vstore") {
        None if half => {
            types[1] == Type::Unknown
                || target(1).is_some_and(|target| target.ty == Type::Scalar(Scalar::Half))
        }
        None => {
            let held = |target: &Target| {
                target.ty == Type::Unknown
                    || target.ty.is_arithmetic() && target.ty != Type::Scalar(Scalar::Bool)
            };
            types[1] == Type::Unknown || target(1).is_some_and(held)
        }
        Some(_) if half => {
            types[0] == Type::Unknown
                || types[0].element().is_some_and(|scalar| scalar >= Scalar::Float)
                    && holds(&types[2], &Type::Scalar(Scalar::Half))
        }
        Some(lanes) => match &types[0] {
            Type::Unknown => true,
            // The vector decides on the overload; of another pointer clang only warns.
            Type::Vector(_, own) => {
                let written = target(2).is_some_and(|target| {
                    !target.constant
                        && target.space != Space::Constant
                        && (target.ty.is_arithmetic() || target.ty == Type::Unknown)
                });
                lanes.parse() == Ok(*own) && (written || types[2] == Type::Unknown)
            }
            _ => false,
        },
    }
}

/// Whether coordinates and colors are those of an image.
fn image_access(name: &str, types: &[Type]) -> bool {
    let Type::Image { shape, writes, .. } = types[0] else { return true };
    if shape == Shape::Other {
        return true;
    }
    let lanes = shape.lanes();
    let sampled = name.starts_with("read_") && types.len() == 3;
    if sampled && (writes || shape == Shape::Buffer) {
        return false;
    }
    let coordinate = &types[if sampled { 2 } else { 1 }];
    let whole = |ty: &Type| *ty == Type::of(Scalar::Int, lanes);
    let placed = match coordinate {
        Type::Unknown => true,
        Type::Scalar(scalar) if lanes == 1 => {
            !sampled || *scalar <= Scalar::Int || *scalar == Scalar::Float
        }
        ty => whole(ty) || sampled && *ty == Type::of(Scalar::Float, lanes),
    };
    if name.starts_with("read_") {
        return placed
            && (!sampled || matches!(types[1], Type::Sampler | Type::Unknown | Type::Scalar(_)));
    }
    let scalar = match name {
        "write_imagef" => Scalar::Float,
        "write_imagei" => Scalar::Int,
        "write_imageui" => Scalar::Uint,
        _ => Scalar::Half,
    };
    let color = &types[2];
    types.len() == 3
        && placed
        && (*color == Type::Unknown
            || *color == Type::Vector(scalar, 4)
            || matches!(color, Type::Scalar(_)))
}

/// Whether an atomic function has such a pointer and such values.
fn atomic(name: &str, types: &[Type]) -> bool {
    let rest = name.trim_start_matches("atomic_").trim_start_matches("atom_");
    let Some(target) = types.first().and_then(Type::target) else {
        return types.first() == Some(&Type::Unknown);
    };
    let newer = ["init", "store", "load", "exchange", "fetch", "compare", "flag", "work"];
    if newer.iter().any(|begin| rest.starts_with(begin)) {
        return target.ty == Type::Unknown;
    }
    let held = match target.ty {
        Type::Scalar(Scalar::Int | Scalar::Uint) | Type::Unknown => true,
        Type::Scalar(Scalar::Long | Scalar::Ulong) => name.starts_with("atom_"),
        Type::Scalar(Scalar::Float) if rest == "xchg" && name.starts_with("atomic_") => true,
        // The value decides on the overload; of another pointer clang only warns.
        Type::Scalar(_) => {
            let alike = |value: &Scalar| {
                types[1..].iter().all(|ty| *ty == Type::Scalar(*value)) && types.len() > 1
            };
            name.starts_with("atomic_") && [Scalar::Int, Scalar::Uint].iter().any(alike)
        }
        _ => false,
    };
    let values = types[1..].iter().all(|ty| matches!(ty, Type::Scalar(_) | Type::Unknown));
    held && values && !target.constant && matches!(target.space, Space::Global | Space::Local)
}
