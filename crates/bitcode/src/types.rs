//! The table of types.

use crate::{
    Type, TypeId, Types, Unread,
    bits::{Entry, Record, Stream},
};

const BROKEN: Unread = Unread::Broken("the table of types");

/// The table whose entry was just read: what each of its numbers means.
pub(crate) fn read(
    stream: &mut Stream<'_>,
    id: u64,
    types: &mut Types,
    record: &mut Record,
    most: usize,
) -> Result<Vec<TypeId>, Unread> {
    stream.enter(id)?;
    let mut table = Vec::new();
    let mut parts = Vec::new();
    loop {
        match stream.entry()? {
            Entry::End => return Ok(table),
            Entry::Block(_) => return Err(BROKEN),
            Entry::Record(id) => stream.record(id, record)?,
        }
        let values = record.values.as_slice();
        let one = |at: usize| values.get(at).copied().ok_or(BROKEN);
        let number = |at: usize| u32::try_from(one(at)?).map_err(|_| BROKEN);
        let part = |at: usize| of(&table, one(at)?);
        let mut list = |from: usize| {
            parts.clear();
            for value in values.get(from..).ok_or(BROKEN)? {
                parts.push(of(&table, *value)?);
            }
            Ok::<_, Unread>(())
        };
        let found = match record.code {
            // How many there are, and the name of the next struct.
            1 | 19 => continue,
            2 => types.plain(Type::Void),
            3 => types.plain(Type::Float("float")),
            4 => types.plain(Type::Float("double")),
            5 => types.plain(Type::Other("label")),
            6 => types.named(false, &[]),
            7 => match number(0)? {
                width @ 1..=0x0080_0000 => types.plain(Type::Integer(width)),
                _ => return Err(BROKEN),
            },
            8 | 9 => return Err(Unread::Unknown("pointers that say where they point")),
            10 => types.plain(Type::Float("half")),
            11 => {
                let element = part(1)?;
                let holds = !matches!(
                    types.get(element),
                    Type::Void | Type::Other(_) | Type::Function { .. }
                );
                if !holds {
                    return Err(BROKEN);
                }
                types.plain(Type::Array(one(0)?, element))
            }
            12 => {
                let element = part(1)?;
                let holds = matches!(
                    types.get(element),
                    Type::Integer(_) | Type::Float(_) | Type::Pointer(_)
                );
                let lanes = number(0)?;
                if !holds || lanes == 0 {
                    return Err(BROKEN);
                }
                let scalable = values.get(2).is_some_and(|scalable| *scalable != 0);
                types.plain(Type::Vector { lanes, element, scalable })
            }
            13 => types.plain(Type::Float("x86_fp80")),
            14 => types.plain(Type::Float("fp128")),
            15 => types.plain(Type::Float("ppc_fp128")),
            16 => types.plain(Type::Other("metadata")),
            18 => {
                list(1)?;
                types.literal(one(0)? != 0, &parts)
            }
            20 => {
                list(1)?;
                types.named(one(0)? != 0, &parts)
            }
            21 => {
                list(1)?;
                let (returned, parameters) = parts.split_first().ok_or(BROKEN)?;
                let returns = !matches!(
                    types.get(*returned),
                    Type::Function { .. } | Type::Other("label" | "metadata")
                );
                let takes = parameters.iter().all(|part| {
                    !matches!(
                        types.get(*part),
                        Type::Void | Type::Function { .. } | Type::Other("label")
                    )
                });
                if !returns || !takes {
                    return Err(BROKEN);
                }
                types.function(one(0)? != 0, &parts)
            }
            22 => types.plain(Type::Other("token")),
            23 => types.plain(Type::Float("bfloat")),
            24 => types.plain(Type::Other("x86_amx")),
            25 => types.plain(Type::Pointer(number(0)?)),
            _ => return Err(Unread::Unknown("a type of a target")),
        };
        table.push(found);
        if table.len() > most {
            return Err(Unread::Unknown("more types than bytes"));
        }
    }
}

/// The type of a number; what a type is made of stands before it, as LLVM writes it.
pub(crate) fn of(table: &[TypeId], number: u64) -> Result<TypeId, Unread> {
    usize::try_from(number).ok().and_then(|at| table.get(at).copied()).ok_or(BROKEN)
}
