//! Structure without LLVM's reader: bitcode that [`bitcode::Reader`] knows is walked as it is read.

use super::{Source, Structure, Walk, walked};
use bitcode::{Body, Fate, Flat, Reader, Unread};
use llvm::{Context, Library};
use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

/// Of so many of LLVM's own functions it is remembered what becomes of them.
const MOST_KNOWN: usize = 1 << 16;
/// A module that declares more of them that are new is not read here: LLVM is asked about each.
const MOST_NEW: usize = 2000;

/// Bytes of the name of one of LLVM's own functions.
const LONGEST: usize = 256;

/// What becomes of LLVM's own functions, by name and signature.
static FATES: Mutex<Option<HashMap<(String, String), Fate>>> = Mutex::new(None);

/// A module's structure, and the source file that it names, as `library` would have them.
///
/// # Errors
/// Where its reader is to be asked instead.
pub fn structure_of(
    library: &'static Library,
    content: &[u8],
) -> Result<(Structure, String), Unread> {
    if library.version().major != bitcode::LLVM {
        return Err(Unread::Unknown("what another LLVM makes of it"));
    }
    let mut reader = Reader::open(content)?;
    decide(library, &mut reader)?;
    let found = walked(&mut reader, Walk::new(None))?;
    let source = reader.source().ok_or(Unread::Unknown("a module without a source file"))?;
    Ok((found, source.to_owned()))
}

/// Read a module and do nothing with it: for the bench.
#[doc(hidden)]
pub fn read_alone(content: &[u8]) -> usize {
    let Ok(mut reader) = Reader::open(content) else { return 0 };
    for function in reader.reserved().collect::<Vec<u32>>() {
        reader.decide(function, Fate::Stays);
    }
    let mut body = Body::default();
    let mut instructions = 0;
    while let Ok(true) = reader.body(&mut body) {
        instructions += body.instructions.len();
    }
    instructions
}

impl Source for Reader<'_> {
    fn flat(&self) -> &Flat {
        Reader::flat(self)
    }

    fn body(&mut self, body: &mut Body) -> Result<bool, Unread> {
        Reader::body(self, body)
    }
}

/// Say what becomes of each of LLVM's own functions that the module declares.
fn decide(library: &'static Library, reader: &mut Reader<'_>) -> Result<(), Unread> {
    let reserved: Vec<u32> = reader.reserved().collect();
    let flat = reader.flat();
    let signature = |function: &u32| {
        let function = flat.functions[*function as usize];
        let name = flat.bytes(function.name);
        let name = (name.len() <= LONGEST).then(|| String::from_utf8_lossy(name).into_owned())?;
        flat.types.print(function.ty).map(|ty| (name, ty))
    };
    let signatures: Vec<Option<(String, String)>> = reserved.iter().map(signature).collect();
    let mut fates = FATES.lock().unwrap_or_else(PoisonError::into_inner);
    let fates = fates.get_or_insert_default();
    let new = signatures.iter().flatten().filter(|signature| !fates.contains_key(*signature));
    let new: Vec<(String, String)> = new.cloned().collect();
    if new.len() > MOST_NEW || fates.len() + new.len() > MOST_KNOWN {
        return Err(Unread::Unknown("many functions of LLVM's own"));
    }
    for signature in new {
        let fate = ask(library, &signature.0, &signature.1);
        fates.insert(signature, fate);
    }
    for (function, signature) in reserved.into_iter().zip(&signatures) {
        let fate = signature.as_ref().and_then(|signature| fates.get(signature)).copied();
        reader.decide(function, fate.unwrap_or_default());
    }
    Ok(())
}

/// Have LLVM read a declaration alone: what becomes of it becomes of it in any module.
fn ask(library: &'static Library, name: &str, ty: &str) -> Fate {
    let is_plain = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'.' || letter == b'_';
    let Some((returned, parameters)) = split(ty) else { return Fate::Unknown };
    if !name.bytes().all(is_plain) {
        return Fate::Unknown;
    }
    let context = Context::new(library);
    let text = format!("declare {returned} @{name}{parameters}\n");
    let Ok(module) = context.parse("declaration", text.as_bytes()) else { return Fate::Unknown };
    let read = module.function(name).filter(|read| read.function_type().print() == ty);
    if let Some(read) = read {
        return if read.is_intrinsic() { Fate::Stays } else { Fate::Unknown };
    }
    let is_gone = module.functions().next().is_none();
    match name.strip_prefix("llvm.") {
        Some("dbg.value" | "dbg.declare" | "dbg.assign" | "dbg.label" | "dbg.addr") if is_gone => {
            Fate::Goes
        }
        Some("lifetime.start.p0" | "lifetime.end.p0") if ty == "void (i64, ptr)" => Fate::Lifetime,
        Some(known) => {
            let now = module.function(name).map(|read| read.function_type().print());
            match known.split('.').take(2).collect::<Vec<_>>().as_slice() {
                ["masked", "load" | "gather"] if now == lacking(ty, 1) => Fate::Without(1),
                ["masked", "store" | "scatter"] if now == lacking(ty, 2) => Fate::Without(2),
                _ => Fate::Unknown,
            }
        }
        None => Fate::Unknown,
    }
}

/// A signature without the parameter of this number, which is an `i32`.
fn lacking(ty: &str, number: usize) -> Option<String> {
    let (returned, parameters) = split(ty)?;
    let mut parameters: Vec<&str> =
        parameters.strip_prefix('(')?.strip_suffix(')')?.split(", ").collect();
    let is_number = parameters.get(number) == Some(&"i32");
    is_number.then(|| {
        parameters.remove(number);
        format!("{returned} ({})", parameters.join(", "))
    })
}

/// A signature as what is returned and the list of parameters.
fn split(ty: &str) -> Option<(&str, &str)> {
    // What is returned may have parentheses of its own, but none before which a space stands alone.
    let mut depth = 0;
    let at = ty.char_indices().rev().find_map(|(at, letter)| {
        depth += match letter {
            ')' => 1,
            '(' => -1,
            _ => 0,
        };
        (depth == 0 && letter == '(').then_some(at)
    })?;
    Some((ty[..at].trim_end(), &ty[at..]))
}
