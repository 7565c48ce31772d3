//! A compiler in a compiler's place: `stampmill ir wrap -- clang -c a.c -o a.o` does what
//! `clang -c a.c -o a.o` does, and keeps the bitcode before any optimisation beside it.
//!
//! Each [`Compiler`] of the family says how: with a flag more in the same pass (clang, rustc, zig), in a pass before, from whose
//! bitcode the compiler goes on (flang), or in a second pass that optimises nothing (ldc2, swiftc, `zig build`). What comes from standard input is put into a file, since
//! it may be read more than once. A build must not notice: whatever goes
//! wrong with the bitcode is a record without one, the exit status is the compiler's own.

mod clang;
mod command;
mod cover;
mod flang;
mod julia;
mod ldc;
mod rustc;
mod stand_in;
mod swift;
mod zig;

use crate::{Error, Record, Store};
pub(crate) use command::split;
use command::{Line, find, is_probe};
pub use stand_in::stand_ins;
pub(crate) use stand_in::{STAND_IN, stand_ins_of_build};
use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
};

/// Where wrapped compilers put what they keep.
pub const STORE: &str = "STAMPMILL_IR_STORE";
/// The package that is being built.
pub(crate) const PACKAGE: &str = "STAMPMILL_IR_PACKAGE";
/// Its version.
pub(crate) const VERSION: &str = "STAMPMILL_IR_VERSION";
/// With cargo: keep the modules of this package alone, not of what it depends on.
pub(crate) const ONLY: &str = "STAMPMILL_IR_ONLY";
/// The folder of the build, which records and bitcode name `[tree]` or nothing.
pub(crate) const TREE: &str = "STAMPMILL_IR_TREE";
/// Units rustc may split a crate into.
pub(crate) const CODEGEN_UNITS: &str = "STAMPMILL_IR_CODEGEN_UNITS";

/// How one command of a compiler gives bitcode.
#[derive(Debug, Default)]
struct Plan {
    /// What runs before: it writes bitcode, from which `command` goes on.
    before: Option<Vec<OsString>>,
    /// The command that makes what was asked for, perhaps with flags more.
    command: Vec<OsString>,
    /// Environment it needs besides.
    environment: Vec<(&'static str, OsString)>,
    /// What runs where one of these fails: the compiler the build asked for, as it asked.
    otherwise: Option<Vec<OsString>>,
    modules: Vec<Wanted>,
    /// Which module a line is about that `command` writes to standard error, where it compiles within itself.
    told: Option<Told>,
}

/// The module that a line is about: the line, how many modules there were before, and a folder for files.
type Told = fn(&str, usize, &Path) -> Option<Wanted>;

/// One module a command gives.
#[derive(Debug, Default)]
struct Wanted {
    source: String,
    target: String,
    language: &'static str,
    /// A command run first for this module alone.
    second: Option<Vec<OsString>>,
    /// The file that holds what the build gives on standard input, where that is the source.
    input: Option<PathBuf>,
    place: Place,
    /// Files of the compiler's that list what it read: one path a line, or a make rule.
    read: Option<PathBuf>,
    /// What of the command line the preprocessor sees.
    macros: Vec<String>,
}

/// Where bitcode is found after the compiler ran.
#[derive(Debug, Default)]
enum Place {
    #[default]
    Nowhere,
    /// Section `.llvmbc` of an object file; or bitcode, or an archive of it. The file stays.
    Section(PathBuf),
    /// A file of its own, to be removed.
    File(PathBuf),
    /// IR as text, which this clang makes bitcode of; a name that is the same in every build goes in the place of its own.
    Text { file: PathBuf, name: String, clang: PathBuf },
    /// Files that begin and end so; they are removed, with all others that begin so and hold
    /// `.rcgu.`, unless the last field is set: then those stay.
    Files { folder: PathBuf, prefix: String, ending: &'static str, keep: bool },
}

/// A compiler that can be stood in for.
trait Compiler: Sync {
    /// Whether a program of this file name is it.
    fn is(&self, program: &str) -> bool;
    /// How this command gives bitcode; `None` where it compiles nothing.
    fn plan(&self, line: &Line, scratch: &Path) -> Option<Plan>;
}

/// Environment variable of wrappers for wrappers.
const DEPTH: &str = "STAMPMILL_IR_DEPTH";
/// Deeper than any build goes.
const DEEPEST: u32 = 5;

const FAMILY: &[&dyn Compiler] = &[
    &clang::Clang,
    &rustc::Rustc,
    &flang::Flang,
    &ldc::Ldc,
    &zig::Zig,
    &swift::Swift,
    &julia::Julia,
];

/// Whether a program, named or by its path, is a compiler that [`wrap()`] can take bitcode from.
#[must_use]
pub fn is_compiler(program: &OsStr) -> bool {
    let name = Path::new(program).file_name().unwrap_or_default().to_string_lossy();
    FAMILY.iter().any(|compiler| compiler.is(&name))
}

/// Run a compiler's command and keep the bitcode; returns the compiler's exit status, and why not even
/// a record could be kept, where that is so.
///
/// # Errors
/// When no compiler is named or it cannot be started; what goes wrong with the bitcode is a record
/// with [`Record::trouble`].
pub fn wrap(command: &[OsString], store: &Store) -> Result<(ExitStatus, Option<Error>), Error> {
    let line = Line::of(command).ok_or(Error::NoCompiler)?;
    if depth() >= DEEPEST {
        return Err(Error::WrapsItself { program: line.name });
    }
    let scratch = tempfile::tempdir().map_err(Error::file("create", &std::env::temp_dir()))?;
    let compiler = FAMILY.iter().find(|compiler| compiler.is(&line.name));
    let compiler = compiler.filter(|_| !is_dependency());
    let plan = compiler.and_then(|compiler| compiler.plan(&line, scratch.path()));
    let Some(mut plan) = plan else { return Ok((run(&line.command(), &[], None)?, None)) };
    let input = plan.modules.iter().find_map(|wanted| wanted.input.clone());
    let input = input.as_deref();
    if let Some(path) = input {
        let refused = Error::file("write", path);
        File::create(path)
            .and_then(|mut file| io::copy(&mut io::stdin(), &mut file))
            .map_err(refused)?;
    }
    let status = match plan.told {
        Some(told) => listened(&plan.command, told, scratch.path(), &mut plan.modules)?,
        None => match plan.before.as_deref().map(run_before).transpose()? {
            Some(status) if !status.success() => status,
            _ => run(&plan.command, &plan.environment, input)?,
        },
    };
    let mut lost = None;
    if !status.success() {
        let Some(otherwise) = &plan.otherwise else { return Ok((status, None)) };
        let status = run(otherwise, &[], input)?;
        // A command that fails either way is the build's own affair.
        if status.success() {
            let name = plan_name(&plan.command);
            let reason = format!("{name} fails on this command with the flags that keep bitcode");
            for wanted in &plan.modules {
                lost = note(store, &line, wanted, &reason).err().or(lost);
            }
        }
        return Ok((status, lost));
    }
    for wanted in &plan.modules {
        if let Err(reason) = keep(store, &line, wanted) {
            lost = note(store, &line, wanted, &reason).err().or(lost);
        }
    }
    Ok((status, lost))
}

/// How many wrappers this one runs inside of: a compiler's linker is one, a script around `ir wrap` that
/// is taken for a compiler would be one without end.
fn depth() -> u32 {
    std::env::var(DEPTH).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Whether cargo builds another package now than the one whose modules are wanted.
fn is_dependency() -> bool {
    let variable = |name: &str| std::env::var(name).ok();
    matches!((variable(ONLY), variable("CARGO_PKG_NAME")), (Some(only), Some(now)) if only != now)
}

fn plan_name(command: &[OsString]) -> String {
    let name = command.first().and_then(|path| Path::new(path).file_name());
    name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// `input`: the file that is its standard input; ours, without one.
fn run(
    words: &[OsString],
    environment: &[(&'static str, OsString)],
    input: Option<&Path>,
) -> Result<ExitStatus, Error> {
    let mut command = command_of(words)?;
    if let Some(path) = input {
        command.stdin(File::open(path).map_err(Error::file("open", path))?);
    }
    command.envs(environment.iter().map(|(name, value)| (name, value)));
    command.status().map_err(not_started(words))
}

/// How the lines begin in which LLVM says each pass that is turned off.
const TURNED_OFF: &[u8] = b"BISECT: ";

/// Run what comes before a compiler. Of one that fails nothing is said: the compiler as it was asked for says it again.
fn run_before(words: &[OsString]) -> Result<ExitStatus, Error> {
    let mut command = command_of(words)?;
    let output = command.stdin(Stdio::null()).output().map_err(not_started(words))?;
    if output.status.success() {
        let lines = output.stderr.split_inclusive(|letter| *letter == b'\n');
        let said: Vec<&[u8]> = lines.filter(|line| !line.starts_with(TURNED_OFF)).collect();
        // Nobody may be listening any more.
        let _ = io::stdout().write_all(&output.stdout);
        let _ = io::stderr().write_all(&said.concat());
    }
    Ok(output.status)
}

/// Run a command that says what it compiles; the rest of what it says goes where ours does.
fn listened(
    words: &[OsString],
    told: Told,
    scratch: &Path,
    modules: &mut Vec<Wanted>,
) -> Result<ExitStatus, Error> {
    let mut command = command_of(words)?;
    let mut child = command.stderr(Stdio::piped()).spawn().map_err(not_started(words))?;
    let lines = child.stderr.take().into_iter().flat_map(|said| BufReader::new(said).split(b'\n'));
    for line in lines.map_while(Result::ok) {
        match told(&String::from_utf8_lossy(&line), modules.len(), scratch) {
            Some(wanted) => modules.push(wanted),
            // Nobody may be listening any more.
            None => drop(io::stderr().write_all(&[&line[..], b"\n"].concat())),
        }
    }
    child.wait().map_err(not_started(words))
}

fn command_of(words: &[OsString]) -> Result<Command, Error> {
    let (program, arguments) = words.split_first().ok_or(Error::NoCompiler)?;
    let mut command = Command::new(program);
    command.args(arguments).env(DEPTH, (depth() + 1).to_string());
    Ok(command)
}

fn not_started(words: &[OsString]) -> impl Fn(io::Error) -> Error {
    let program = words.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    move |error| Error::Start { program: program.clone(), reason: error.to_string() }
}

/// Store what one module's place holds.
fn keep(store: &Store, line: &Line, wanted: &Wanted) -> Result<(), String> {
    if let Some(second) = &wanted.second {
        let mut second = command_of(second).map_err(|error| error.to_string())?;
        if let Some(path) = &wanted.input {
            second.stdin(File::open(path).map_err(|e| e.to_string())?);
        }
        let output = second.output().map_err(|e| e.to_string())?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let said = said.lines().find(|line| line.contains("error")).unwrap_or("no message");
            return Err(format!("the pass for bitcode failed: {said}"));
        }
    }
    let found = modules_at(&wanted.place)?;
    if found.is_empty() {
        return Err("the compiler left no bitcode".to_owned());
    }
    let record = record(line, wanted);
    for bitcode in found {
        store.put(record.clone(), &bitcode).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn note(store: &Store, line: &Line, wanted: &Wanted, reason: &str) -> Result<(), Error> {
    store.note(&Record { trouble: reason.to_owned(), ..record(line, wanted) })
}

fn modules_at(place: &Place) -> Result<Vec<Vec<u8>>, String> {
    let read =
        |path: &Path| std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
    match place {
        Place::Nowhere => Ok(Vec::new()),
        Place::Section(path) => Ok(crate::extract::embedded(&read(path)?)
            .into_iter()
            .map(|found| found.bitcode)
            .collect()),
        Place::File(path) => {
            let bytes = read(path)?;
            // It is ours; one that stays costs room, nothing else.
            let _ = std::fs::remove_file(path);
            Ok(vec![bytes])
        }
        Place::Text { file, name, clang } => {
            assembled(file, name, clang).map(|bitcode| vec![bitcode])
        }
        Place::Files { folder, prefix, ending, keep } => {
            let mut names: Vec<PathBuf> = std::fs::read_dir(folder)
                .map_err(|error| format!("{}: {error}", folder.display()))?
                .flatten()
                .map(|entry| entry.path())
                .filter(|path| {
                    path.file_name().is_some_and(|name| {
                        let name = name.to_string_lossy();
                        name.starts_with(prefix.as_str()) && name.contains(".rcgu.")
                    })
                })
                .collect();
            names.sort();
            let mut found = Vec::new();
            for path in names {
                if path.to_string_lossy().ends_with(ending) {
                    found.push(read(&path)?);
                }
                if !keep {
                    let _ = std::fs::remove_file(&path);
                }
            }
            Ok(found)
        }
    }
}

/// The bitcode of a module that is there as text.
fn assembled(text: &Path, name: &str, clang: &Path) -> Result<Vec<u8>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", text.display());
    let written = std::fs::read_to_string(text).map_err(failed)?;
    let named = written.lines().map(|line| match line.starts_with("source_filename = ") {
        true => format!("source_filename = {name:?}\n"),
        false => format!("{line}\n"),
    });
    std::fs::write(text, named.collect::<String>()).map_err(failed)?;
    let bitcode = text.with_extension("bc");
    let mut command = Command::new(clang);
    command.args(["-x", "ir", "-w", "-c", "-emit-llvm", "-Xclang", "-disable-llvm-passes"]);
    command.arg(text).arg("-o").arg(&bitcode).env(DEPTH, (depth() + 1).to_string());
    let output = command.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let said = said.lines().find(|line| line.contains("error")).unwrap_or("no message");
        return Err(format!("clang does not read its IR: {said}"));
    }
    std::fs::read(&bitcode).map_err(failed)
}

fn record(line: &Line, wanted: &Wanted) -> Record {
    let tree = std::env::var(TREE).unwrap_or_default();
    let tame = |text: &str| match tree.as_str() {
        "" => text.to_owned(),
        tree => text.replace(tree, "[tree]"),
    };
    let variable = |names: [&str; 2]| names.iter().find_map(|name| std::env::var(name).ok());
    let spec = std::env::var("SPACK_SHORT_SPEC").unwrap_or_default();
    let (spack_name, spack_version) = named_by_spack(&spec);
    Record {
        package: variable([PACKAGE, "CARGO_PKG_NAME"]).unwrap_or(spack_name),
        version: variable([VERSION, "CARGO_PKG_VERSION"]).unwrap_or(spack_version),
        // Below the tree a path says more than the name that a command gives it there.
        source: match line.directory.join(&wanted.source).strip_prefix(&tree) {
            Ok(inside) if !tree.is_empty() => inside.to_string_lossy().into_owned(),
            _ => tame(&wanted.source),
        },
        target: tame(&wanted.target),
        language: wanted.language.to_owned(),
        directory: tame(&line.directory.to_string_lossy()),
        command: line.words.iter().map(|word| tame(word)).collect(),
        source_hash: source_hash(&line.directory, wanted),
        bitcode: String::new(),
        trouble: String::new(),
    }
}

/// The name and the version that Spack's builds have in their environment: `bzip2@1.0.8+shared platform=linux`.
fn named_by_spack(spec: &str) -> (String, String) {
    let (name, rest) = spec.split_once('@').unwrap_or_default();
    let is_version = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '=');
    let end = rest.find(|c: char| !is_version(c)).unwrap_or(rest.len());
    (name.to_owned(), rest[..end].to_owned())
}

/// Hash over the source, all that it included and the macros it was compiled with.
fn source_hash(directory: &Path, wanted: &Wanted) -> String {
    let listed = wanted.read.as_ref().and_then(|path| std::fs::read_to_string(path).ok());
    let source = wanted.input.as_ref().map(|path| path.to_string_lossy().into_owned());
    let mut paths = vec![source.unwrap_or_else(|| wanted.source.clone())];
    paths.extend(listed.iter().flat_map(|text| command::paths_in(text)));
    let mut pieces: Vec<Vec<u8>> =
        wanted.macros.iter().map(|option| option.clone().into_bytes()).collect();
    let mut any = false;
    for path in paths {
        if let Ok(content) = std::fs::read(directory.join(path)) {
            any = true;
            pieces.push(dataset::content_hash(&content).into_bytes());
        }
    }
    match any {
        true => dataset::content_hash_of(pieces.iter().map(Vec::as_slice)),
        false => String::new(),
    }
}

/// The program a stand-in stands for: the first of these names on the search path that is no stand-in.
pub(crate) fn real(names: &[&str]) -> Option<OsString> {
    names.iter().find_map(|name| find(name)).map(PathBuf::into_os_string)
}

#[cfg(test)]
mod tests {
    use super::named_by_spack;

    #[test]
    fn a_package_of_spack_is_named_by_its_spec() {
        let named = |spec| {
            let (name, version) = named_by_spack(spec);
            format!("{name} {version}")
        };
        assert_eq!(named("bzip2@1.0.8~debug+shared platform=linux/ak65tmo"), "bzip2 1.0.8");
        assert_eq!(named("argtable@2-13 build_system=generic"), "argtable 2-13");
        assert_eq!(named(""), " ");
    }
}
