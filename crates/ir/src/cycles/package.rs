//! What programs of a package may be linked with beside their own modules: its modules without a `main`, as an archive
//! would hold them. Of objects that a build links later no data set says which belong together; their symbols do.

use super::symbols::{self, Part};
use crate::{Error, Module, Reader, input::Modules};
use dataset::Verdict;
use object::{File, Object, ObjectSymbol};
use rows::ModuleOrigin;
use std::{
    collections::{BTreeSet, HashMap, HashSet},
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};

/// Numbers of its parts begin here: those of a program's own modules are below.
const FIRST: usize = 1 << 32;

/// The packages of a data set, of which the last that was asked for is kept.
#[derive(Default)]
pub(super) struct Packages {
    last: Mutex<Option<(Name, Arc<Package>)>>,
}

type Name = [String; 3];

/// The parts of a package that are no programs.
pub(super) struct Package {
    parts: Vec<Part>,
    /// Which part defines a symbol: the first of several.
    definer: HashMap<String, usize>,
}

impl Packages {
    /// What the package of `module` holds.
    ///
    /// # Errors
    /// When the data set cannot be read, or modules cannot at all.
    pub(super) fn of(
        &self,
        module: &Module,
        modules: &Modules,
        reader: &Reader,
    ) -> Result<Arc<Package>, Error> {
        let Module { package_source, package, version, .. } = module;
        let name = [package_source, package, version].map(Clone::clone);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, package)) = &*last
            && *known == name
        {
            return Ok(Arc::clone(package));
        }
        let package = Arc::new(Package::read(&name, modules, reader)?);
        *last = Some((name, Arc::clone(&package)));
        Ok(package)
    }
}

impl Package {
    fn read(name: &Name, modules: &Modules, reader: &Reader) -> Result<Package, Error> {
        let (mut parts, mut definer) = (Vec::new(), HashMap::new());
        for module in modules.dataset().rows_in::<Module>(rows_of(name, modules)?)? {
            let module = module?;
            let of = [&module.package_source, &module.package, &module.version];
            if module.verdict != Verdict::ACCEPTED || of != name.each_ref() {
                continue;
            }
            let Ok(functions) = reader.functions(&module.path, &module.content)? else { continue };
            if functions.contains_key("main") {
                continue;
            }
            let number = FIRST + parts.len();
            let source = symbols::source(number);
            let Ok(object) = reader.object(&module.path, &module.content, source)? else {
                continue;
            };
            for symbol in Globals::of(&object).defined {
                definer.entry(symbol).or_insert(parts.len());
            }
            // Its bitcode is of no use any more.
            let module = Module { content: Default::default(), ..module };
            parts.push(Part { number, module, functions, object });
        }
        Ok(Package { parts, definer })
    }

    /// The parts that others need, and those that these need: what defines a symbol that nothing before defines.
    pub(super) fn needed_by(&self, others: &[&Part]) -> Vec<&Part> {
        let (mut known, mut open) = (HashSet::new(), BTreeSet::new());
        for part in others {
            let globals = Globals::of(&part.object);
            known.extend(globals.defined);
            open.extend(globals.undefined);
        }
        let (mut taken, mut needed) = (HashSet::new(), Vec::new());
        while let Some(symbol) = open.pop_first() {
            let Some(&at) = self.definer.get(&symbol) else { continue };
            if known.contains(&symbol) || !taken.insert(at) {
                continue;
            }
            let globals = Globals::of(&self.parts[at].object);
            known.extend(globals.defined);
            open.extend(globals.undefined.into_iter().filter(|symbol| !known.contains(symbol)));
            needed.push(&self.parts[at]);
        }
        needed
    }
}

/// The rows between which those of a package lie.
fn rows_of(name: &Name, modules: &Modules) -> Result<Range<u64>, Error> {
    let (mut first, mut end) = (None, 0);
    for (row, origin) in (0..).zip(modules.dataset().rows::<ModuleOrigin>()?) {
        let origin = origin?;
        if [&origin.package_source, &origin.package, &origin.version] == name.each_ref() {
            first.get_or_insert(row);
            end = row + 1;
        }
    }
    Ok(first.unwrap_or(0)..end)
}

/// The symbols of an object that others see, or that it wants of others.
#[derive(Default)]
struct Globals {
    defined: Vec<String>,
    undefined: Vec<String>,
}

impl Globals {
    fn of(object: &[u8]) -> Globals {
        let mut found = Globals::default();
        let Ok(file) = File::parse(object) else { return found };
        for symbol in file.symbols() {
            let Ok(name) = symbol.name() else { continue };
            if name.is_empty() || symbol.is_local() {
                continue;
            }
            match symbol.is_undefined() {
                true => found.undefined.push(name.to_owned()),
                false => found.defined.push(name.to_owned()),
            }
        }
        found
    }
}
