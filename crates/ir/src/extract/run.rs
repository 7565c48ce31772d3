use super::{
    commands,
    container::{
        COMMAND, Container, FILE, LARGE, MEMBER, NAMED, RECORD, ROWS, STRANGE, UNREAD, list,
    },
    corpus, embedded, parquet,
};
use crate::{
    Error, Look, Module, Reader, Record, Report, Store, extract::Embedded, module::MODULE,
};
use dataset::{
    Input, Verdict, content_hash,
    stage::{Finish, Items, Stage, Units, Worked},
};
use rayon::prelude::*;
use rows::ModuleVerdict;
use serde_json::Value;
use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

/// Takes modules from what others left.
#[derive(Debug)]
pub struct Extract<'a> {
    reader: &'a Reader,
    wrapper: Vec<OsString>,
    containers: Vec<Container>,
    inputs: Vec<Input>,
}

impl<'a> Extract<'a> {
    /// From `inputs`: stores of wrapped compilers, corpora, ComPile's Parquet, objects, archives, compilation databases,
    /// bitcode, textual IR, or folders of these. `wrapper` is the command line that stands before a
    /// compiler's to wrap it.
    ///
    /// # Errors
    /// When an input is not there.
    pub fn new(
        inputs: &[PathBuf],
        reader: &'a Reader,
        wrapper: Vec<OsString>,
    ) -> Result<Extract<'a>, Error> {
        let (containers, inputs) = list(inputs)?;
        Ok(Extract { reader, wrapper, containers, inputs })
    }

    fn modules(&self, container: &Container) -> Result<Vec<Module>, Error> {
        let Container { name, text, .. } = container;
        let unreadable = |error| Error::format(container.path(), error);
        match container.kind.as_str() {
            FILE | NAMED => self.of_file(container),
            MEMBER => self.of_member(container),
            COMMAND => {
                let entry = serde_json::from_str(text).map_err(unreadable)?;
                self.of_command(name, &entry)
            }
            RECORD => {
                let record = serde_json::from_str(text).map_err(unreadable)?;
                let store = Store::existing(container.path())?;
                Ok(vec![of_record(self.reader, &store, &record, &Module::default())?])
            }
            ROWS => {
                let piece = serde_json::from_str(text).map_err(unreadable)?;
                let rows = parquet::read(container.path(), name, &piece)?;
                rows.into_iter().map(|row| self.of_row(row)).collect()
            }
            STRANGE => Ok(vec![strange(name.clone(), text.clone(), &Module::default())]),
            UNREAD => Ok(vec![unread(name, ModuleVerdict::Unreadable.name(), text)]),
            LARGE => Ok(vec![unread(name, ModuleVerdict::TooLarge.name(), text)]),
            other => Err(Error::format(container.path(), format!("`{other}` holds no modules"))),
        }
    }

    fn of_file(&self, container: &Container) -> Result<Vec<Module>, Error> {
        let (name, path) = (&container.name, container.path());
        let content = match fs::read(path) {
            Ok(content) => content,
            // One that was there a moment ago, or whose folder has gone, says nothing of what was in it.
            Err(error)
                if !container.hash.is_empty() || !path.parent().is_some_and(Path::exists) =>
            {
                return Err(Error::file("read", path)(error));
            }
            Err(error) => {
                let verdict = ModuleVerdict::Unreadable.name();
                return Ok(vec![unread(name, verdict, &error.to_string())]);
            }
        };
        let ends_in = |wanted: &str| path.extension().is_some_and(|ending| ending == wanted);
        let mut found = embedded(&content);
        if found.is_empty() && (ends_in("ll") || ends_in("bc")) {
            found.push(Embedded { bitcode: content, ..Embedded::default() });
        }
        if found.is_empty() && container.kind == NAMED {
            let reason = "it has no section .llvmbc, and is no .bc, no .ll, no .parquet and no compile_commands.json";
            return Ok(vec![unread(name, "no-bitcode", reason)]);
        }
        found.into_iter().map(|module| self.one(name, module)).collect()
    }

    fn of_member(&self, container: &Container) -> Result<Vec<Module>, Error> {
        let (name, path) = (&container.name, container.path());
        if !container.text.is_empty() {
            return Ok(vec![unread(name, "not-a-module", &container.text)]);
        }
        match fs::read(path) {
            Ok(bitcode) => {
                let command = corpus::command(path);
                let module = Embedded { bitcode, command, ..Embedded::default() };
                Ok(vec![self.one(name, module)?])
            }
            Err(error) if container.hash.is_empty() => {
                Ok(vec![unread(name, "not-a-module", &error.to_string())])
            }
            Err(error) => Err(Error::file("read", path)(error)),
        }
    }

    fn of_command(&self, name: &str, entry: &commands::Entry) -> Result<Vec<Module>, Error> {
        let made = entry.object().and_then(|path| fs::read(path).ok());
        let found = made.map(|content| embedded(&content)).unwrap_or_default();
        if !found.is_empty() {
            let words = entry.words();
            let with = |module| Embedded { command: words.clone(), ..module };
            return found.into_iter().map(|module| self.one(name, with(module))).collect();
        }
        let scratch = tempfile::tempdir().map_err(Error::file("create", &std::env::temp_dir()))?;
        let scratch_path =
            scratch.path().canonicalize().map_err(Error::file("find", scratch.path()))?;
        let compiled = entry.compile(&self.wrapper, &scratch_path)?;
        // A source that has gone meanwhile says nothing about what was in it.
        if entry.was_there {
            let source = entry.source();
            fs::metadata(&source).map_err(Error::file("read", &source))?;
        }
        match compiled {
            Ok(store) => of_store(self.reader, &store, &Module::default()),
            Err(reason) => Ok(vec![unread(name, "does-not-compile", &reason)]),
        }
    }

    fn of_row(&self, mut row: Module) -> Result<Module, Error> {
        let content = std::mem::take(&mut row.content);
        if content.is_empty() {
            let row = Module { kind: MODULE.to_owned(), ..row };
            return Ok(row.turned_away(Verdict::new(ModuleVerdict::NoBitcode, "content is empty")));
        }
        filled(self.reader, row, content)
    }

    fn one(&self, name: &str, module: Embedded) -> Result<Module, Error> {
        let path = match module.member.as_str() {
            "" => name.to_owned(),
            member => format!("{name}({member})"),
        };
        let row = Module {
            language: language_of(&module.command, &path).to_owned(),
            path: path.clone(),
            target: path,
            command: module.command,
            ..Module::default()
        };
        filled(self.reader, row, module.bitcode)
    }
}

impl Stage for Extract<'_> {
    const NAME: &'static str = "ir extract";
    const UNITS: &'static str = "files";
    type Item = Container;
    type Row = Module;
    type Facts = ();
    type Summary = Report;
    type Worker = ();
    type Error = Error;

    fn settings(&self) -> Value {
        Value::Null
    }

    fn inputs(&self) -> Result<Vec<Input>, Error> {
        Ok(self.inputs.clone())
    }

    fn inputs_in_detail(&self) -> Result<Vec<Input>, Error> {
        let input = |one: &Container| Input { name: one.name.clone(), hash: one.hash.clone() };
        Ok(self.containers.iter().map(input).collect())
    }

    fn items(&self) -> Result<Items<'_, Self>, Error> {
        let all = Box::new(self.containers.iter().cloned().map(Ok));
        Ok(Items { total: Some(self.containers.len() as u64), all })
    }

    fn key(&self, Container { kind, name, hash, occurrence, .. }: &Container) -> String {
        format!("{kind} {hash} {occurrence} {name}")
    }

    /// Most files of a folder hold nothing; compilers are slow, and rows of a table many.
    fn batch_size(&self) -> usize {
        let is_large = |one: &Container| one.kind == COMMAND || one.kind == ROWS;
        if self.containers.iter().any(is_large) { 1 } else { 16 }
    }

    fn worker(&self) -> Result<(), Error> {
        Ok(())
    }

    fn work(&self, (): &mut (), items: &[Container]) -> Result<Vec<Worked<Module>>, Error> {
        items.iter().map(|item| self.modules(item).map(Worked::Rows)).collect()
    }

    fn is_fault(error: &Error) -> bool {
        error.is_fault()
    }

    fn tools(&self) -> BTreeMap<String, String> {
        tools()
    }

    fn finish<'a>(
        _: &'a Value,
        (): (),
        units: &'a Units<Module>,
    ) -> Result<Finish<'a, Module, Report>, Error> {
        Report::finish(units)
    }
}

pub(crate) fn tools() -> BTreeMap<String, String> {
    let library = llvm::Library::newest().map(|library| library.version().to_string());
    library.map(|version| ("llvm".to_owned(), version)).into_iter().collect()
}

/// The modules of a store, as rows like `like`.
pub(crate) fn of_store(
    reader: &Reader,
    store: &Store,
    like: &Module,
) -> Result<Vec<Module>, Error> {
    let found = store.found()?;
    let strange = found.strange.into_iter().map(|(name, reason)| Ok(strange(name, reason, like)));
    let strange: Vec<_> = strange.collect();
    let records = found.records.into_par_iter();
    records.map(|record| of_record(reader, store, &record, like)).chain(strange).collect()
}

fn of_record(
    reader: &Reader,
    store: &Store,
    record: &Record,
    like: &Module,
) -> Result<Module, Error> {
    let row = row_of(record, like);
    if record.bitcode.is_empty() {
        return Ok(row.turned_away(Verdict::new(ModuleVerdict::NoBitcode, record.trouble.clone())));
    }
    match store.bitcode(record) {
        Ok(bitcode) => filled(reader, row, bitcode),
        Err(error) => {
            store.still()?;
            Ok(row.turned_away(Verdict::new(ModuleVerdict::NoBitcode, error.to_string())))
        }
    }
}

fn strange(name: String, reason: String, like: &Module) -> Module {
    let row = Module { path: name, kind: MODULE.to_owned(), ..like.clone() };
    row.turned_away(Verdict::new(ModuleVerdict::NoRecord, reason))
}

fn row_of(record: &Record, like: &Module) -> Module {
    let or =
        |own: &str, other: &str| if own.is_empty() { other.to_owned() } else { own.to_owned() };
    Module {
        package: or(&like.package, &record.package),
        version: or(&like.version, &record.version),
        path: record.source.clone(),
        target: record.target.clone(),
        language: record.language.clone(),
        command: record.command.clone(),
        source_hash: record.source_hash.clone(),
        kind: MODULE.to_owned(),
        ..like.clone()
    }
}

/// A row with what a look at its bitcode finds.
pub(crate) fn filled(reader: &Reader, row: Module, content: Vec<u8>) -> Result<Module, Error> {
    let look = reader.look(&row.path, &content)?;
    // Textual IR is kept as bitcode too.
    let content = look.as_ref().ok().and_then(|look| look.bitcode.clone()).unwrap_or(content);
    let id = content_hash(&content);
    let row = Module { id, kind: MODULE.to_owned(), bytes: content.len() as u64, ..row };
    Ok(match look {
        Ok(look) => described(row, look, content),
        Err(verdict) => row.turned_away(verdict),
    })
}

/// An accepted row with what was found of its bitcode.
pub(crate) fn described(row: Module, look: Look, content: Vec<u8>) -> Module {
    let structure = look.structure;
    Module {
        content,
        language: match row.language.as_str() {
            "" => language_of(&[], &look.source).to_owned(),
            language => language.to_owned(),
        },
        compiler: look.producer,
        llvm: look.llvm,
        functions: structure.functions.len() as u64,
        instructions: structure.instructions,
        structure: format!("{:016x}", structure.module),
        function_structures: structure.functions,
        signature: structure.signature,
        verdict: Verdict::ACCEPTED.to_owned(),
        ..row
    }
}

fn unread(name: &str, verdict: &'static str, reason: &str) -> Module {
    let row = Module { path: name.to_owned(), kind: MODULE.to_owned(), ..Module::default() };
    row.turned_away(Verdict::new(verdict, reason))
}

/// The language of a module by its command line, else by its source's name; empty where neither
/// tells.
fn language_of(command: &[String], source: &str) -> &'static str {
    let forced = command.iter().position(|word| word == "-x").and_then(|at| command.get(at + 1));
    if let Some(language) = forced {
        match language.as_str() {
            "c" | "cpp-output" => return "c",
            "c++" | "c++-cpp-output" => return "c++",
            "cl" | "clcpp" => return "opencl",
            "cuda" => return "cuda",
            "hip" => return "hip",
            _ => {}
        }
    }
    let named = command.iter().position(|word| word == "-main-file-name");
    let source = named.and_then(|at| command.get(at + 1)).map_or(source, String::as_str);
    // rustc names a module by its unit: `regex.1a2b-cgu.0`.
    if source.contains("-cgu.") {
        return "rust";
    }
    match Path::new(source).extension().and_then(|ending| ending.to_str()) {
        Some("c") => "c",
        Some("cc" | "cpp" | "cxx" | "C" | "c++") => "c++",
        Some("rs") => "rust",
        Some("f" | "f90" | "F90" | "f95" | "F" | "f77" | "f03" | "f08") => "fortran",
        Some("cl" | "clcpp") => "opencl",
        Some("cu") => "cuda",
        Some("hip") => "hip",
        Some("d") => "d",
        Some("zig") => "zig",
        Some("swift") => "swift",
        Some("jl") => "julia",
        _ => "",
    }
}
