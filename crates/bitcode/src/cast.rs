//! Which conversions there are.

use crate::{Type, TypeId, Types};

/// Opcodes of conversions in LLVM's C API, by their numbers in bitcode.
pub(crate) const OPCODES: [u32; 13] = [30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 60];

fn float_bits(name: &str) -> u32 {
    match name {
        "half" | "bfloat" => 16,
        "float" => 32,
        "double" => 64,
        "x86_fp80" => 80,
        _ => 128,
    }
}

fn bits(types: &Types, id: TypeId) -> Option<u64> {
    let of_lane = match types.lane(id) {
        Type::Integer(width) => width,
        Type::Float(name) => float_bits(name),
        _ => return None,
    };
    match types.get(id) {
        Type::Vector { lanes, scalable: false, .. } => Some(u64::from(lanes) * u64::from(of_lane)),
        Type::Vector { .. } => None,
        _ => Some(of_lane.into()),
    }
}

/// Whether LLVM takes this conversion as it stands; false for a few odd ones too.
pub(crate) fn is_valid(types: &Types, opcode: u32, from: TypeId, to: TypeId) -> bool {
    let shape = |id| match types.get(id) {
        Type::Vector { lanes, scalable, .. } => Some((lanes, scalable)),
        _ => None,
    };
    let alike = shape(from) == shape(to);
    match (opcode, types.lane(from), types.lane(to)) {
        (30, Type::Integer(from), Type::Integer(to)) => alike && from > to,
        (31 | 32, Type::Integer(from), Type::Integer(to)) => alike && from < to,
        (33 | 34, Type::Float(_), Type::Integer(_)) => alike,
        (35 | 36, Type::Integer(_), Type::Float(_)) => alike,
        (37, Type::Float(from), Type::Float(to)) => alike && float_bits(from) > float_bits(to),
        (38, Type::Float(from), Type::Float(to)) => alike && float_bits(from) < float_bits(to),
        (39, Type::Pointer(_), Type::Integer(_)) => alike,
        (40, Type::Integer(_), Type::Pointer(_)) => alike,
        (41, Type::Pointer(from), Type::Pointer(to)) => alike && from == to,
        (41, ..) => bits(types, from).is_some() && bits(types, from) == bits(types, to),
        (60, Type::Pointer(from), Type::Pointer(to)) => alike && from != to,
        _ => false,
    }
}
