//! A module but for the bodies of its functions.

use crate::{
    Body, Fate, Flat, Function, Kind, Span, Type, TypeId, Unread, Value, Variable,
    bits::{Entry, Place, Record, Stream},
    body::Decoder,
    constants, flow, types,
};
use std::collections::HashSet;

const BROKEN: Unread = Unread::Broken("the module");
/// Versions of LLVM whose bitcode is read; older ones have pointers that say where they point.
const VERSIONS: std::ops::RangeInclusive<u32> = 15..=LLVM;
/// The LLVM whose view of a module this reader gives.
pub const LLVM: u32 = 22;

/// A module that is read, one body after the other.
pub struct Reader<'a> {
    stream: Stream<'a>,
    flat: Flat,
    table: Vec<TypeId>,
    /// Functions with bodies, and where these are.
    bodies: Vec<(u32, Place)>,
    next: usize,
    /// Values that stand for others.
    aliases: Vec<(u32, u32)>,
    fates: Vec<Fate>,
    alloca_space: u32,
    source: Option<String>,
    record: Record,
    decoder: Decoder,
    flow: flow::Flow,
}

/// What stands at the top of a file.
#[derive(Default)]
struct Top<'a> {
    identified: bool,
    module: Option<Place>,
    names: &'a [u8],
}

/// What is gathered while the records of a module are read.
#[derive(Default)]
struct Gathered {
    version: u64,
    places: Vec<Place>,
}

impl<'a> Reader<'a> {
    /// Read all of a module but its bodies.
    ///
    /// # Errors
    /// Where LLVM is to be asked instead.
    pub fn open(content: &'a [u8]) -> Result<Reader<'a>, Unread> {
        let Some(rest) = content.strip_prefix(b"BC\xc0\xde") else {
            return Err(Unread::Unknown("no plain bitcode"));
        };
        if !content.len().is_multiple_of(4) || content.len() > 1 << 30 {
            return Err(BROKEN);
        }
        let mut stream = Stream::new(rest);
        let mut record = Record::default();
        let top = top(&mut stream, &mut record)?;
        let place = top.module.ok_or(BROKEN)?;
        let mut reader = Reader {
            stream,
            flat: Flat::default(),
            table: Vec::new(),
            bodies: Vec::new(),
            next: 0,
            aliases: Vec::new(),
            fates: Vec::new(),
            alloca_space: 0,
            source: None,
            record,
            decoder: Decoder::default(),
            flow: flow::Flow::default(),
        };
        reader.flat.text.extend_from_slice(top.names);
        reader.flat.most = content.len() / 2 + 4096;
        reader.stream.enter_at(place, 8)?;
        reader.module(top.names.len() as u64)?;
        Ok(reader)
    }

    /// The module but for its bodies, with the constants of the body that was read last.
    #[must_use]
    pub fn flat(&self) -> &Flat {
        &self.flat
    }

    /// The source file that it names, where it does.
    #[must_use]
    pub fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }

    /// Functions whose names begin with `llvm.`: of these [`Reader::decide`] must say what becomes of them.
    pub fn reserved(&self) -> impl Iterator<Item = u32> {
        let functions = self.flat.functions.iter().enumerate();
        let is_reserved =
            |function: &Function| self.flat.bytes(function.name).starts_with(b"llvm.");
        functions.filter(move |(_, function)| is_reserved(function)).map(|(at, _)| at as u32)
    }

    /// Say what becomes of the calls of a function.
    pub fn decide(&mut self, function: u32, fate: Fate) {
        self.fates[function as usize] = fate;
        self.flat.functions[function as usize].is_intrinsic = fate != Fate::Unknown;
    }

    /// The next body; false after the last. Constants of the one before are forgotten.
    ///
    /// # Errors
    /// Where LLVM is to be asked instead.
    pub fn body(&mut self, body: &mut Body) -> Result<bool, Unread> {
        let Some((function, place)) = self.bodies.get(self.next).copied() else { return Ok(false) };
        self.next += 1;
        body.begin(function);
        let Reader { stream, flat, table, fates, alloca_space, record, decoder, flow, .. } = self;
        stream.enter_at(place, 12)?;
        decoder.read(stream, flat, table, fates, *alloca_space, record, body)?;
        flow.check(flat, body)?;
        Ok(true)
    }

    fn module(&mut self, names: u64) -> Result<(), Unread> {
        let mut gathered = Gathered::default();
        let mut record = std::mem::take(&mut self.record);
        loop {
            match self.stream.entry()? {
                Entry::End => break,
                Entry::Block(0) => self.stream.describe()?,
                Entry::Block(11) => {
                    constants::read(&mut self.stream, &mut self.flat, &self.table, &mut record)?;
                }
                Entry::Block(12) => gathered.places.push(self.stream.skip()?),
                Entry::Block(17) if self.table.is_empty() => {
                    let Flat { types, most, .. } = &mut self.flat;
                    self.table = types::read(&mut self.stream, 17, types, &mut record, *most)?;
                }
                // Attributes, names, metadata, orders of uses, summaries, tags, scopes.
                Entry::Block(id @ (9 | 10 | 14 | 15 | 16 | 18 | 20 | 21 | 22 | 24 | 26)) => {
                    self.stream.walk(id, &mut record)?;
                }
                Entry::Block(_) => return Err(Unread::Unknown("a block of another kind")),
                Entry::Record(id) => {
                    self.stream.record(id, &mut record)?;
                    self.one(record.code, &record.values, names, &mut gathered)?;
                }
            }
        }
        self.record = record;
        self.finish(&gathered)
    }

    fn one(
        &mut self,
        code: u64,
        values: &[u64],
        names: u64,
        gathered: &mut Gathered,
    ) -> Result<(), Unread> {
        match code {
            1 => gathered.version = *values.first().ok_or(BROKEN)?,
            3 => self.alloca_space = alloca_space(&text(values)).ok_or(BROKEN)?,
            4 => {
                let mut assembly = text(values);
                if !assembly.is_empty() && !assembly.ends_with('\n') {
                    assembly.push('\n');
                }
                self.flat.assembly = assembly;
            }
            16 => self.source = Some(text(values)),
            // Triple, sections, libraries, collectors, groups, where names are, hash.
            2 | 5 | 6 | 11 | 12 | 13 | 17 => {}
            7 | 8 | 14 | 18 => {
                if gathered.version != 2 {
                    return Err(Unread::Unknown("names that stand elsewhere"));
                }
                let [start, length, values @ ..] = values else { return Err(BROKEN) };
                let end = start.checked_add(*length).filter(|end| *end <= names).ok_or(BROKEN)?;
                let name = Span { start: *start as u32, end: end as u32 };
                self.global(code, name, values)?;
            }
            _ => return Err(Unread::Unknown("a record of a module")),
        }
        Ok(())
    }

    fn global(&mut self, code: u64, name: Span, values: &[u64]) -> Result<(), Unread> {
        let at = |at: usize| values.get(at).copied().ok_or(BROKEN);
        let space = |value: u64| u32::try_from(value).map_err(|_| BROKEN);
        let content = types::of(&self.table, at(0)?)?;
        let flat = &mut self.flat;
        let (kind, space) = match code {
            7 => {
                at(5)?;
                if at(1)? & 2 == 0 {
                    return Err(Unread::Unknown("a global variable without its type"));
                }
                let initializer = at(2)?.checked_sub(1).map(u32::try_from).transpose();
                let initializer = initializer.map_err(|_| BROKEN)?;
                let is_constant = at(1)? & 1 == 1;
                require(initializer.is_some() || is_outside(at(3)?))?;
                flat.variables.push(Variable { name, ty: content, is_constant, initializer });
                (Kind::Variable(flat.variables.len() as u32 - 1), space(at(1)? >> 2)?)
            }
            8 => {
                if !matches!(flat.types.get(content), Type::Function { .. }) {
                    return Err(BROKEN);
                }
                let Some(space_of_it) = values.get(16) else {
                    return Err(Unread::Unknown("a function without its address space"));
                };
                let is_declaration = at(2)? != 0;
                require(!is_declaration || is_outside(at(3)?))?;
                flat.functions.push(Function {
                    name,
                    ty: content,
                    is_declaration,
                    is_intrinsic: false,
                });
                (Kind::Function(flat.functions.len() as u32 - 1), space(*space_of_it)?)
            }
            _ => {
                let aliasee = u32::try_from(at(2)?).map_err(|_| BROKEN)?;
                self.aliases.push((flat.values.len() as u32, aliasee));
                at(3)?;
                (Kind::Alias(name), space(at(1)?)?)
            }
        };
        let ty = flat.types.plain(Type::Pointer(space));
        flat.values.push(Value { ty, kind });
        Ok(())
    }

    /// What can be looked at only when all is there.
    fn finish(&mut self, gathered: &Gathered) -> Result<(), Unread> {
        let flat = &mut self.flat;
        for variable in &flat.variables {
            let Some(held) = variable.initializer else { continue };
            let held = flat.values.get(held as usize).ok_or(BROKEN)?;
            if held.ty != variable.ty {
                return Err(BROKEN);
            }
            // Of old these held pairs.
            let name = flat.bytes(variable.name);
            if name == b"llvm.global_ctors" || name == b"llvm.global_dtors" {
                let Type::Array(_, element) = flat.types.get(variable.ty) else {
                    return Err(BROKEN);
                };
                let fields = match flat.types.get(element) {
                    Type::Struct { fields, .. } => flat.types.parts(fields).len(),
                    _ => 0,
                };
                if fields != 3 {
                    return Err(Unread::Unknown("a list of constructors in pairs"));
                }
            }
        }
        for (alias, aliasee) in &self.aliases {
            let aliasee = flat.values.get(*aliasee as usize).ok_or(BROKEN)?;
            require(aliasee.ty == flat.values[*alias as usize].ty)?;
        }
        let mut seen = HashSet::new();
        let aliases = flat.values.iter().filter_map(|value| match value.kind {
            Kind::Alias(name) => Some(name),
            _ => None,
        });
        let functions = flat.functions.iter().map(|function| function.name);
        let variables = flat.variables.iter().map(|variable| variable.name);
        for name in functions.chain(variables).chain(aliases) {
            let name = flat.bytes(name);
            if !name.is_empty() && !seen.insert(name) {
                return Err(Unread::Broken("a name that two have"));
            }
            if name.starts_with(b"objc_") || name == b"clang.arc.use" {
                return Err(Unread::Unknown("counting references"));
            }
        }
        let functions = flat.functions.iter().enumerate();
        let defined = functions.filter(|(_, function)| !function.is_declaration);
        let defined: Vec<u32> = defined.map(|(at, _)| at as u32).collect();
        if defined.len() != gathered.places.len() {
            return Err(BROKEN);
        }
        self.bodies = defined.into_iter().zip(gathered.places.iter().copied()).collect();
        self.fates = vec![Fate::Unknown; flat.functions.len()];
        flat.share();
        Ok(())
    }
}

fn top<'a>(stream: &mut Stream<'a>, record: &mut Record) -> Result<Top<'a>, Unread> {
    let mut top = Top::default();
    while !stream.is_at_end() {
        match stream.entry()? {
            Entry::Block(13) if !top.identified => {
                identification(stream, record)?;
                top.identified = true;
            }
            Entry::Block(8) if top.identified && top.module.is_none() => {
                top.module = Some(stream.skip()?);
            }
            Entry::Block(23) if top.module.is_some() && top.names.is_empty() => {
                top.names = names(stream, record)?;
            }
            // What linkers ask for.
            Entry::Block(25) => {
                stream.skip()?;
            }
            _ => return Err(Unread::Unknown("something beside one module")),
        }
    }
    Ok(top)
}

fn identification(stream: &mut Stream<'_>, record: &mut Record) -> Result<(), Unread> {
    stream.enter(13)?;
    let mut is_known = false;
    loop {
        match stream.entry()? {
            Entry::End => break,
            Entry::Block(_) => return Err(BROKEN),
            Entry::Record(id) => stream.record(id, record)?,
        }
        match (record.code, record.values.first()) {
            (1, _) => {
                let producer = text(&record.values);
                let digits = producer.strip_prefix("LLVM").unwrap_or_default();
                let major = digits.split('.').next().unwrap_or_default().parse();
                is_known = major.is_ok_and(|major: u32| VERSIONS.contains(&major));
            }
            (2, Some(0)) => {}
            _ => return Err(Unread::Unknown("bitcode of another epoch")),
        }
    }
    match is_known {
        true => Ok(()),
        false => Err(Unread::Unknown("bitcode of another producer")),
    }
}

fn names<'a>(stream: &mut Stream<'a>, record: &mut Record) -> Result<&'a [u8], Unread> {
    stream.enter(23)?;
    let mut names: &[u8] = &[];
    loop {
        match stream.entry()? {
            Entry::End => return Ok(names),
            Entry::Block(_) => return Err(BROKEN),
            Entry::Record(id) => stream.record(id, record)?,
        }
        if let (1, Some(blob)) = (record.code, record.blob) {
            names = stream.bytes(blob).ok_or(BROKEN)?;
        }
    }
}

fn require(holds: bool) -> Result<(), Unread> {
    if holds { Ok(()) } else { Err(BROKEN) }
}

/// Whether what has this linkage may be in another module: external, imported, exported, external and weak.
fn is_outside(linkage: u64) -> bool {
    matches!(linkage, 0 | 5 | 6 | 7)
}

fn text(values: &[u64]) -> String {
    let bytes: Vec<u8> = values.iter().map(|letter| *letter as u8).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The address space of variables of functions, as a data layout says.
fn alloca_space(layout: &str) -> Option<u32> {
    let said = layout.split('-').find_map(|part| part.strip_prefix('A'));
    said.map_or(Some(0), |number| number.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_says_where_variables_of_functions_are() {
        assert_eq!(alloca_space("e-p:64:64-A5-G1"), Some(5));
        assert_eq!(alloca_space("e-m:e-i64:64"), Some(0));
        assert_eq!(alloca_space("e-Ax"), None);
    }
}
