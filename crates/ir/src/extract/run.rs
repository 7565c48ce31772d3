use super::{commands, corpus, embedded};
use crate::{Error, Module, Reader, Record, Report, Store, extract::Embedded, module::MODULE};
use dataset::{Builder, Input, Notes, Progress, Verdict, content_hash};
use rayon::prelude::*;
use rows::ModuleVerdict;
use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::Instant,
};

/// Files looked at in one part of the unfinished data set.
const CHUNK: usize = 64;
/// Larger files are no objects of anybody's.
const FILE_LIMIT: u64 = 1 << 30;

/// What to take modules from, and how.
#[derive(Debug)]
pub struct Extract<'a> {
    /// Stores of wrapped compilers, corpora, objects, archives, compilation databases, bitcode,
    /// textual IR, or folders of these.
    pub inputs: Vec<PathBuf>,
    /// Folder of the data set.
    pub out: PathBuf,
    /// Replace what is there.
    pub force: bool,
    /// Threads and workers.
    pub jobs: usize,
    /// Reads modules.
    pub reader: &'a Reader,
    /// The command line that stands before a compiler's to wrap it.
    pub wrapper: Vec<OsString>,
    /// Set it to stop.
    pub cancelled: &'a AtomicBool,
}

/// One thing that may hold modules.
enum Job {
    /// A file of a folder: most hold no modules, and nobody expects any.
    File(PathBuf),
    /// A file that the user named.
    Named(PathBuf),
    Member(corpus::Member),
    Command(commands::Entry),
    Store(PathBuf),
}

/// Make a data set of the modules in `options.inputs`.
///
/// # Errors
/// When an input is not there, or the data set cannot be written; what is wrong with a module is
/// in its row.
pub fn extract(options: &Extract<'_>, progress: &dyn Progress) -> Result<Report, Error> {
    let started = Instant::now();
    let builder = Builder::<Module>::create(&options.out, options.force, &options.inputs)?;
    let mut jobs: Vec<(String, Job)> = Vec::new();
    for input in &options.inputs {
        list(input, &mut jobs)?;
    }
    progress.begin("files", jobs.len() as u64);
    let threads = rayon::ThreadPoolBuilder::new()
        .num_threads(options.jobs.max(1))
        .build()
        .map_err(|error| Error::Worker(error.to_string()))?;
    let mut keys = Vec::new();
    for (number, chunk) in jobs.chunks(CHUNK).enumerate() {
        let key = format!("{number} {}", chunk[0].0);
        if !builder.has(&key) {
            if options.cancelled.load(Ordering::Relaxed) {
                return Err(Error::Cancelled);
            }
            let rows = threads.install(|| {
                chunk
                    .par_iter()
                    .map(|(name, job)| modules(options, name, job))
                    .collect::<Result<Vec<_>, _>>()
            })?;
            builder.add(&key, rows.into_iter().flatten())?;
        }
        keys.push(key);
        progress.advance(chunk.len() as u64);
    }
    let inputs: Vec<Input> = options
        .inputs
        .iter()
        .map(|path| Input { name: path.display().to_string(), hash: String::new() })
        .collect();
    finish(builder, &keys, inputs, serde_json::Value::Null, started)
}

/// Write the parts `keys` of a data set of modules, in this order.
pub(crate) fn finish(
    builder: Builder<Module>,
    keys: &[String],
    inputs: Vec<Input>,
    configuration: serde_json::Value,
    started: Instant,
) -> Result<Report, Error> {
    let mut report = Report::default();
    for key in keys {
        for row in builder.rows_of(key) {
            report.add(&row?);
        }
    }
    report.seconds = started.elapsed().as_secs_f64();
    let notes = Notes {
        inputs,
        configuration,
        tools: tools(),
        verdicts: report.verdicts.clone(),
        // Times differ from run to run; the data set does not.
        summary: serde_json::to_value(Report { seconds: 0.0, ..report.clone() })
            .unwrap_or_default(),
        ..Notes::default()
    };
    let rows: Vec<_> = keys.iter().map(|key| builder.rows_of(key)).collect();
    builder.finish_with(rows.into_iter().flatten(), notes)?;
    Ok(report)
}

pub(crate) fn tools() -> std::collections::BTreeMap<String, String> {
    let library = llvm::Library::newest().map(|library| library.version().to_string());
    library.map(|version| ("llvm".to_owned(), version)).into_iter().collect()
}

fn list(input: &Path, jobs: &mut Vec<(String, Job)>) -> Result<(), Error> {
    let metadata = fs::metadata(input).map_err(Error::file("read", input))?;
    if input.file_name().is_some_and(|name| name == commands::FILE) {
        let entries = commands::read(input)?;
        jobs.extend(entries.into_iter().map(|entry| (entry.file.clone(), Job::Command(entry))));
        return Ok(());
    }
    let folder = match metadata.is_dir() {
        true => input,
        false if input.file_name().is_some_and(|name| name == corpus::FILE) => {
            input.parent().unwrap_or(Path::new("."))
        }
        false => {
            let name = input.file_name().unwrap_or_default().to_string_lossy().into_owned();
            jobs.push((name, Job::Named(input.to_owned())));
            return Ok(());
        }
    };
    if Store::is_at(folder) {
        let name = folder.to_string_lossy().into_owned();
        jobs.push((name, Job::Store(folder.to_owned())));
        return Ok(());
    }
    if folder.join(corpus::FILE).is_file() {
        let members = corpus::read(folder)?;
        jobs.extend(members.into_iter().map(|member| (member.name.clone(), Job::Member(member))));
        return Ok(());
    }
    for entry in walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().flatten() {
        if entry.file_type().is_file() && entry.metadata().is_ok_and(|m| m.len() <= FILE_LIMIT) {
            let name = entry.path().strip_prefix(folder).unwrap_or(entry.path());
            jobs.push((name.to_string_lossy().into_owned(), Job::File(entry.into_path())));
        }
    }
    Ok(())
}

fn modules(options: &Extract<'_>, name: &str, job: &Job) -> Result<Vec<Module>, Error> {
    match job {
        Job::File(path) | Job::Named(path) => {
            let content = match fs::read(path) {
                Ok(content) => content,
                Err(error) if !path.parent().is_some_and(Path::exists) => {
                    return Err(Error::file("read", path)(error));
                }
                Err(error) => return Ok(vec![unread(name, "unreadable", &error.to_string())]),
            };
            let is_text = path.extension().is_some_and(|ending| ending == "ll");
            let is_bitcode = path.extension().is_some_and(|ending| ending == "bc");
            let mut found = embedded(&content);
            if found.is_empty() && (is_text || is_bitcode) {
                found.push(Embedded { bitcode: content, ..Embedded::default() });
            }
            if found.is_empty() && matches!(job, Job::Named(_)) {
                let reason =
                    "it has no section .llvmbc, and is no .bc, no .ll and no compile_commands.json";
                return Ok(vec![unread(name, "no-bitcode", reason)]);
            }
            found.into_iter().map(|module| one(options, name, module)).collect()
        }
        Job::Member(member) => match &member.bitcode {
            Ok(bitcode) => {
                let (bitcode, command) = (bitcode.clone(), member.command.clone());
                one(options, name, Embedded { bitcode, command, ..Embedded::default() })
                    .map(|row| vec![row])
            }
            Err(reason) => Ok(vec![unread(name, "not-a-module", reason)]),
        },
        Job::Command(entry) => of_command(options, name, entry),
        Job::Store(path) => of_store(options.reader, &Store::existing(path)?, &Module::default()),
    }
}

fn one(options: &Extract<'_>, name: &str, module: Embedded) -> Result<Module, Error> {
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
    filled(options.reader, row, module.bitcode)
}

fn of_command(
    options: &Extract<'_>,
    name: &str,
    entry: &commands::Entry,
) -> Result<Vec<Module>, Error> {
    let made = entry.object().and_then(|path| fs::read(path).ok());
    let found = made.map(|content| embedded(&content)).unwrap_or_default();
    if !found.is_empty() {
        let words = entry.words();
        let with = |module| Embedded { command: words.clone(), ..module };
        return found.into_iter().map(|module| one(options, name, with(module))).collect();
    }
    let scratch = tempfile::tempdir().map_err(Error::file("create", &std::env::temp_dir()))?;
    let scratch_path =
        scratch.path().canonicalize().map_err(Error::file("find", scratch.path()))?;
    let compiled = entry.compile(&options.wrapper, &scratch_path);
    // A source that has gone meanwhile says nothing about what was in it.
    if entry.was_there {
        let source = entry.source();
        fs::metadata(&source).map_err(Error::file("read", &source))?;
    }
    match compiled {
        Ok(store) => of_store(options.reader, &store, &Module::default()),
        Err(reason) => Ok(vec![unread(name, "does-not-compile", &reason)]),
    }
}

/// The modules of a store, as rows like `like`.
pub(crate) fn of_store(
    reader: &Reader,
    store: &Store,
    like: &Module,
) -> Result<Vec<Module>, Error> {
    let found = store.found()?;
    let strange = found.strange.into_iter().map(|(name, reason)| {
        let row = Module { path: name, kind: MODULE.to_owned(), ..like.clone() };
        Ok(row.turned_away(Verdict::new(ModuleVerdict::NoRecord, reason)))
    });
    let strange: Vec<_> = strange.collect();
    let records = found.records.into_par_iter().map(|record| {
        let row = row_of(&record, like);
        if record.bitcode.is_empty() {
            return Ok(row.turned_away(Verdict::new(ModuleVerdict::NoBitcode, record.trouble)));
        }
        match store.bitcode(&record) {
            Ok(bitcode) => filled(reader, row, bitcode),
            Err(error) => {
                store.still()?;
                Ok(row.turned_away(Verdict::new(ModuleVerdict::NoBitcode, error.to_string())))
            }
        }
    });
    records.chain(strange).collect()
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
    let look = match look {
        Ok(look) => look,
        Err(verdict) => return Ok(row.turned_away(verdict)),
    };
    let structure = look.structure;
    Ok(Module {
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
    })
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
        Some("d") => "d",
        Some("zig") => "zig",
        Some("swift") => "swift",
        Some("jl") => "julia",
        _ => "",
    }
}
