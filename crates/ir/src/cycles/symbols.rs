//! Which code of an executable is of which function of which module.

use crate::{Module, diff::Functions};
use object::{File, Object, ObjectSymbol, SymbolKind};
use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

/// What object files are said to be made from, before the module's number. Symbols that are an object's alone
/// stand in an executable behind the name of its source.
const SOURCE: &str = "stampmill-module-";

/// A module of a program, compiled.
pub(super) struct Part {
    /// A number that no other part of the program has.
    pub(super) number: usize,
    pub(super) module: Module,
    pub(super) functions: Functions,
    pub(super) object: Vec<u8>,
}

/// The code of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Code {
    /// Its module's place among the parts.
    pub(super) module: usize,
    /// Its name in the module.
    pub(super) function: String,
    /// Instructions of its IR.
    pub(super) ir_instructions: u64,
    /// Addresses.
    pub(super) range: Range<u64>,
}

/// What the object of a module says that it is made from.
pub(super) fn source(module: usize) -> String {
    format!("{SOURCE}{module}")
}

/// Functions by the names of their symbols: those of one source, and those that all see.
#[derive(Default)]
struct Symbols<'data> {
    local: HashMap<(usize, &'data str), Range<u64>>,
    global: HashMap<&'data str, Range<u64>>,
}

impl<'data> Symbols<'data> {
    fn read(bytes: &'data [u8]) -> Symbols<'data> {
        let mut found = Symbols::default();
        let Ok(file) = File::parse(bytes) else { return found };
        let mut module = None;
        for symbol in file.symbols() {
            let Ok(name) = symbol.name() else { continue };
            let range = symbol.address()..symbol.address().saturating_add(symbol.size());
            match (symbol.kind(), module) {
                (SymbolKind::File, _) => {
                    module = name.strip_prefix(SOURCE).and_then(|number| number.parse().ok());
                }
                _ if symbol.is_undefined() || range.is_empty() => {}
                (SymbolKind::Text, Some(module)) if symbol.is_local() => {
                    found.local.insert((module, name), range);
                }
                (SymbolKind::Text, _) if !symbol.is_local() => {
                    found.global.insert(name, range);
                }
                _ => {}
            }
        }
        found
    }
}

/// The functions of modules that are in the executable which was linked of their objects. Of a function that several
/// modules define, the first module's was taken, and is told; one that a library has in its place is not there.
pub(super) fn functions(executable: &[u8], parts: &[&Part]) -> Vec<Code> {
    let linked = Symbols::read(executable);
    let mut known = HashSet::new();
    let mut all = Vec::new();
    for (module, part) in parts.iter().enumerate() {
        let own = Symbols::read(&part.object);
        for (function, shape) in &part.functions {
            // This stands before names that are not to be changed for the target.
            let name = function.trim_start_matches('\u{1}');
            let size = |range: &Range<u64>| range.end - range.start;
            let range = match (own.local.get(&(part.number, name)), own.global.get(name)) {
                (Some(_), _) => linked.local.get(&(part.number, name)),
                (None, Some(own)) => {
                    linked.global.get(name).filter(|found| size(found) == size(own))
                }
                (None, None) => None,
            };
            if let Some(range) = range.filter(|range| known.insert(range.start)) {
                all.push(Code {
                    module,
                    function: function.clone(),
                    ir_instructions: shape.instructions,
                    range: range.clone(),
                });
            }
        }
    }
    all
}
