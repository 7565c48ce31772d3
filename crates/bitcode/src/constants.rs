//! Blocks of constants.

use crate::{
    Constant, Flat, Kind, Span, Type, TypeId, Unread, ValueId,
    bits::{Entry, Record, Stream},
    cast, number, types,
};

const BROKEN: Unread = Unread::Broken("constants");
const GET_ELEMENT_POINTER: u32 = 29;
const INTEGER_TO_POINTER: u32 = 40;

/// The constants of the block whose entry was just read, at the end of [`Flat::values`].
pub(crate) fn read(
    stream: &mut Stream<'_>,
    flat: &mut Flat,
    table: &[TypeId],
    record: &mut Record,
) -> Result<(), Unread> {
    stream.enter(11)?;
    let first = flat.values.len();
    let mut ty = flat.types.plain(Type::Integer(32));
    loop {
        match stream.entry()? {
            Entry::End => break,
            Entry::Block(_) => return Err(BROKEN),
            Entry::Record(id) => stream.record(id, record)?,
        }
        if record.code == 1 {
            ty = types::of(table, *record.values.first().ok_or(BROKEN)?)?;
            if matches!(flat.types.get(ty), Type::Void | Type::Function { .. }) {
                return Err(BROKEN);
            }
            continue;
        }
        let constant = one(flat, table, ty, record.code, &record.values)?;
        flat.add(ty, constant);
        if flat.is_swollen() {
            return Err(Unread::Unknown("more constants than bytes"));
        }
    }
    for value in first..flat.values.len() {
        resolve(flat, value as ValueId)?;
    }
    Ok(())
}

/// A value as it is written with its sign in the lowest bit.
pub(crate) fn signed(value: u64) -> u64 {
    match (value & 1, value) {
        (0, _) => value >> 1,
        (_, 1) => 1 << 63,
        _ => (value >> 1).wrapping_neg(),
    }
}

fn one(
    flat: &mut Flat,
    table: &[TypeId],
    ty: TypeId,
    code: u64,
    values: &[u64],
) -> Result<Constant, Unread> {
    let first = || values.first().copied().ok_or(BROKEN);
    Ok(match (code, flat.types.get(ty)) {
        (2, _) => zero(flat, ty),
        (3 | 26, _) => Constant::Undefined,
        (4, Type::Integer(width @ ..=64)) => {
            Constant::Integer(signed(first()?) & u64::MAX >> (64 - width))
        }
        (5, Type::Integer(width)) => {
            first()?;
            let words: Vec<u64> = values.iter().map(|value| signed(*value)).collect();
            wide(flat, &words, width)
        }
        (6, Type::Float(name)) => {
            let second = values.get(1).copied();
            let pair = second.map(|second| u128::from(second) << 64 | u128::from(values[0]));
            match (name, first()?, second) {
                ("half", bits, _) => Constant::Float(number::half(bits & 0xffff)),
                ("bfloat", bits, _) => Constant::Float(number::bfloat(bits & 0xffff)),
                ("float", bits, _) => Constant::Float(number::single(bits & 0xffff_ffff)),
                ("double", bits, _) => Constant::Float(f64::from_bits(bits)),
                ("x86_fp80", high, Some(low)) => {
                    let found = number::extended(low & 0xffff | high << 16, high >> 48);
                    found.map_or(Constant::Unknown("a number that x87 has not"), Constant::Float)
                }
                ("fp128", ..) => Constant::Float(number::quad(pair.ok_or(BROKEN)?)),
                _ => Constant::Unknown("a pair of doubles"),
            }
        }
        (7, Type::Struct { .. } | Type::Array(..) | Type::Vector { .. }) => {
            first()?;
            Constant::Aggregate(list(flat, values.iter().copied())?)
        }
        (8 | 9, Type::Array(length, element)) => {
            let ends = usize::from(code == 9);
            let is_text = flat.types.get(element) == Type::Integer(8);
            if values.is_empty() || !is_text || length != (values.len() + ends) as u64 {
                return Err(BROKEN);
            }
            let start = flat.text.len() as u32;
            flat.text.extend(values.iter().map(|value| *value as u8));
            flat.text.extend(&[0][..ends]);
            data(flat, start)
        }
        (22, Type::Array(length, element)) => plain(flat, length, element, values)?,
        (22, Type::Vector { lanes, element, scalable: false }) => {
            plain(flat, lanes.into(), element, values)?
        }
        (10, _) => match values {
            [operation @ (0 | 1 | 12), left, right, ..] => {
                let opcode = match *operation {
                    0 => 8,
                    1 => 10,
                    _ => 25,
                };
                Constant::Expression(opcode, list(flat, [*left, *right].into_iter())?)
            }
            _ => Constant::Unknown("an expression that LLVM has no more"),
        },
        (11, _) => match values {
            [operation, from, operand, ..] => {
                types::of(table, *from)?;
                let opcode = cast::OPCODES.get(*operation as usize).copied();
                match opcode {
                    Some(opcode @ (30 | 39 | 40 | 60)) => {
                        Constant::Expression(opcode, list(flat, [*operand].into_iter())?)
                    }
                    _ => Constant::Unknown("an expression that LLVM has no more"),
                }
            }
            _ => return Err(BROKEN),
        },
        (12 | 20 | 24 | 31 | 32, _) => element_pointer(flat, table, code, values)?,
        (30, Type::Pointer(0)) => assembly(flat, table, values)?,
        (21, _) => Constant::Unknown("the address of a block"),
        _ => Constant::Unknown("a constant of another kind"),
    })
}

fn wide(flat: &mut Flat, words: &[u64], width: u32) -> Constant {
    // Decimal takes the square of the width in time.
    if width > 4096 {
        return Constant::Unknown("an integer of many bits");
    }
    match width {
        ..=64 => Constant::Integer(words.first().copied().unwrap_or(0) & u64::MAX >> (64 - width)),
        _ => {
            let text = format!("i{width} {}", number::decimal(words, width));
            Constant::Wide(flat.keep(text.as_bytes()))
        }
    }
}

fn zero(flat: &mut Flat, ty: TypeId) -> Constant {
    match flat.types.get(ty) {
        Type::Integer(width) => wide(flat, &[0], width),
        Type::Float("ppc_fp128") => Constant::Unknown("a pair of doubles"),
        Type::Float(_) => Constant::Float(0.0),
        Type::Other("token") => Constant::Other,
        Type::Pointer(_) | Type::Struct { .. } | Type::Array(..) | Type::Vector { .. } => {
            Constant::Zero
        }
        _ => Constant::Unknown("a zero of another kind"),
    }
}

fn list(flat: &mut Flat, values: impl Iterator<Item = u64>) -> Result<Span, Unread> {
    let start = flat.parts.len() as u32;
    for value in values {
        flat.parts.push(u32::try_from(value).map_err(|_| BROKEN)?);
    }
    Ok(Span { start, end: flat.parts.len() as u32 })
}

/// Bytes an element takes in an array or vector of plain numbers.
fn plain_size(ty: Type) -> Option<usize> {
    Some(match ty {
        Type::Integer(8) => 1,
        Type::Integer(16) | Type::Float("half" | "bfloat") => 2,
        Type::Integer(32) | Type::Float("float") => 4,
        Type::Integer(64) | Type::Float("double") => 8,
        _ => return None,
    })
}

fn plain(
    flat: &mut Flat,
    length: u64,
    element: TypeId,
    values: &[u64],
) -> Result<Constant, Unread> {
    let size = plain_size(flat.types.get(element)).ok_or(BROKEN)?;
    if values.is_empty() || values.len() as u64 != length {
        return Err(BROKEN);
    }
    let start = flat.text.len() as u32;
    match size {
        1 => flat.text.extend(values.iter().map(|value| *value as u8)),
        _ => values.iter().for_each(|value| flat.text.extend(&value.to_le_bytes()[..size])),
    }
    Ok(data(flat, start))
}

fn data(flat: &Flat, start: u32) -> Constant {
    let span = Span { start, end: flat.text.len() as u32 };
    match flat.bytes(span).iter().all(|byte| *byte == 0) {
        true => Constant::Zero,
        false => Constant::Data(span),
    }
}

fn element_pointer(
    flat: &mut Flat,
    table: &[TypeId],
    code: u64,
    values: &[u64],
) -> Result<Constant, Unread> {
    let head = match code {
        12 | 20 if values.len() % 2 == 1 => 1,
        12 | 20 => {
            return Ok(Constant::Unknown("an address without the type that it steps through"));
        }
        31 => match values.get(2) {
            Some(..=64) => 5,
            _ => return Ok(Constant::Unknown("a wide range of an address")),
        },
        _ => 2,
    };
    types::of(table, *values.first().ok_or(BROKEN)?)?;
    let pairs = values.get(head..).ok_or(BROKEN)?;
    if pairs.len() < 2 || pairs.len() % 2 == 1 {
        return Err(BROKEN);
    }
    for pair in pairs.chunks_exact(2) {
        types::of(table, pair[0])?;
    }
    let operands = list(flat, pairs.chunks_exact(2).map(|pair| pair[1]))?;
    // A range is kept where all indices are zero; without one LLVM takes the pointer alone.
    flat.parts.push(u32::from(code == 31));
    Ok(Constant::Expression(GET_ELEMENT_POINTER, operands))
}

fn assembly(flat: &mut Flat, table: &[TypeId], values: &[u64]) -> Result<Constant, Unread> {
    let [signature, flags, rest @ ..] = values else { return Err(BROKEN) };
    let signature = types::of(table, *signature)?;
    if !matches!(flat.types.get(signature), Type::Function { .. }) {
        return Err(BROKEN);
    }
    let (code, rest) = string(rest)?;
    let (constraints, _) = string(rest)?;
    if code.starts_with(b"mov\tfp") {
        return Ok(Constant::Unknown("assembly that LLVM writes otherwise"));
    }
    let mut text = b"ptr asm ".to_vec();
    for (bit, word) in ["sideeffect ", "alignstack ", "inteldialect ", "unwind "].iter().enumerate()
    {
        if flags >> bit & 1 == 1 {
            text.extend(word.as_bytes());
        }
    }
    text.push(b'"');
    escape(&code, &mut text);
    text.extend(b"\", \"");
    escape(&constraints, &mut text);
    text.push(b'"');
    Ok(Constant::Code(flat.keep(&text)))
}

fn string(values: &[u64]) -> Result<(Vec<u8>, &[u64]), Unread> {
    let (length, rest) = values.split_first().ok_or(BROKEN)?;
    let length = usize::try_from(*length).map_err(|_| BROKEN)?;
    let (letters, rest) = rest.split_at_checked(length).ok_or(BROKEN)?;
    Ok((letters.iter().map(|letter| *letter as u8).collect(), rest))
}

fn escape(bytes: &[u8], text: &mut Vec<u8>) {
    for byte in bytes {
        match byte {
            b'\\' => text.extend(b"\\\\"),
            b'"' | ..=0x1f | 0x7f.. => text.extend(format!("\\{byte:02X}").as_bytes()),
            plain => text.push(*plain),
        }
    }
}

/// Look at what a constant is made of, which may come after it: whether LLVM would keep it as it is.
fn resolve(flat: &mut Flat, value: ValueId) -> Result<(), Unread> {
    let Kind::Constant(place) = flat.values[value as usize].kind else { return Ok(()) };
    let ty = flat.values[value as usize].ty;
    let kept = match flat.constants[place as usize] {
        Constant::Aggregate(parts) => is_aggregate(flat, ty, parts)?,
        Constant::Expression(opcode, parts) => is_expression(flat, ty, opcode, parts)?,
        _ => true,
    };
    if !kept {
        flat.constants[place as usize] = Constant::Unknown("a constant that LLVM would fold");
    }
    Ok(())
}

fn part(flat: &Flat, part: ValueId) -> Result<(TypeId, Option<Constant>), Unread> {
    let value = flat.values.get(part as usize).ok_or(BROKEN)?;
    match value.kind {
        Kind::Constant(place) => Ok((value.ty, Some(flat.constants[place as usize]))),
        Kind::Local => Err(BROKEN),
        _ => Ok((value.ty, None)),
    }
}

fn is_zero(constant: Option<Constant>) -> bool {
    match constant {
        Some(Constant::Float(value)) => value.to_bits() == 0,
        Some(constant) => matches!(constant, Constant::Zero | Constant::Integer(0)),
        None => false,
    }
}

fn is_aggregate(flat: &Flat, ty: TypeId, parts: Span) -> Result<bool, Unread> {
    let ids = flat.parts(parts);
    let expected = |at: usize| match flat.types.get(ty) {
        Type::Struct { fields, .. } => flat.types.parts(fields).get(at).copied(),
        Type::Array(_, element) | Type::Vector { element, .. } => Some(element),
        _ => None,
    };
    let length = match flat.types.get(ty) {
        Type::Struct { fields, .. } => flat.types.parts(fields).len() as u64,
        Type::Array(length, _) => length,
        Type::Vector { lanes, scalable: false, .. } => lanes.into(),
        _ => return Err(BROKEN),
    };
    if ids.len() as u64 != length {
        return Err(BROKEN);
    }
    let is_struct = matches!(flat.types.get(ty), Type::Struct { .. });
    let element = expected(0).map(|element| flat.types.get(element));
    let mut plain = !is_struct && element.is_some_and(|element| plain_size(element).is_some());
    let (mut zeros, mut undefined) = (true, true);
    for (at, id) in ids.iter().enumerate() {
        let (found, constant) = part(flat, *id)?;
        if Some(found) != expected(at) {
            return Err(BROKEN);
        }
        zeros &= is_zero(constant);
        undefined &= constant == Some(Constant::Undefined);
        plain &= matches!(constant, Some(Constant::Integer(_) | Constant::Float(_)));
    }
    Ok(!zeros && !undefined && !plain)
}

/// Whether LLVM keeps an expression: those are kept here of which it is known.
fn is_expression(flat: &mut Flat, ty: TypeId, opcode: u32, parts: Span) -> Result<bool, Unread> {
    let ranged = opcode == GET_ELEMENT_POINTER && flat.parts[parts.end as usize] == 1;
    let flat = &*flat;
    let ids = flat.parts(parts);
    let (first, constant) = part(flat, ids[0])?;
    let opcode_of = |constant: Option<Constant>| match constant {
        Some(Constant::Expression(opcode, _)) => Some(opcode),
        _ => None,
    };
    let address = constant.is_none();
    let inner = opcode_of(constant);
    let of = |id: TypeId| flat.types.get(id);
    Ok(match (opcode, of(first), of(ty)) {
        // Of an address, or of what was reckoned from one.
        (39, Type::Pointer(_), Type::Integer(_)) => {
            address || matches!(inner, Some(GET_ELEMENT_POINTER | INTEGER_TO_POINTER))
        }
        (30, Type::Integer(from), Type::Integer(to)) => {
            from > to && matches!(inner, Some(8 | 10 | 25))
        }
        (INTEGER_TO_POINTER, Type::Integer(_), Type::Pointer(_)) => {
            matches!(constant, Some(Constant::Integer(1..))) || matches!(inner, Some(8 | 10 | 25))
        }
        (60, Type::Pointer(from), Type::Pointer(to)) => {
            from != to && (address || inner == Some(GET_ELEMENT_POINTER))
        }
        (8 | 10 | 25, Type::Integer(_), Type::Integer(_)) => {
            let (second, right) = part(flat, ids[1])?;
            if first != ty || second != ty {
                return Err(BROKEN);
            }
            let right_is_number = matches!(right, Some(Constant::Integer(1..)));
            let right_is_expression = opcode_of(right).is_some();
            let regroups = opcode != 10 && inner == Some(opcode);
            inner.is_some() && !regroups && (right_is_number || right_is_expression)
                || opcode == 10
                    && right_is_expression
                    && matches!(constant, Some(Constant::Integer(_)))
        }
        (GET_ELEMENT_POINTER, Type::Pointer(_), Type::Pointer(_)) => {
            if first != ty {
                return Err(BROKEN);
            }
            let mut zeros = !ranged;
            let mut known = !matches!(constant, Some(Constant::Undefined | Constant::Unknown(_)));
            for id in &ids[1..] {
                let (index, constant) = part(flat, *id)?;
                if !matches!(of(index), Type::Integer(_)) {
                    return Ok(false);
                }
                zeros &= is_zero(constant);
                known &= matches!(constant, Some(Constant::Integer(_) | Constant::Expression(..)));
            }
            ids.len() > 1 && !zeros && known
        }
        _ => false,
    })
}
