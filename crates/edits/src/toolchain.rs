//! Programs become executables, once per content.
//!
//! Three builds of a program are of use: the one that is run and timed, by the recipe of `timing` (static, pinned
//! instruction set, deterministic answers linked in) at PIE's `-O3 -std=c++17`; one with the address
//! and undefined-behaviour sanitizers; and the first with each basic block traced and our server of inputs around it. A program that is
//! timed on a processor of another instruction set is built for it as well: it is tested here and timed there. Most of a compile is the standard library's headers. The
//! `#include` lines that sources begin with are therefore precompiled once enough of them begin alike,
//! and put before them again: all of a source's lines, or the first of them, which others share. The
//! executable is the same to the byte.

use crate::{Error, Result, pair::Language, store::Store};
use dataset::{Verdict, content_hash, content_hash_of, content_hash_of_file};
use rows::EditVerdict;
use sandbox::Temporary;
use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};
use timing::compiler::{Call, Refusal};

/// Why a program is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Build {
    /// To be run and, on a processor of this machine's instruction set, timed.
    Timed,
    /// To be timed on a processor of another instruction set.
    Foreign,
    /// To be watched by the sanitizers.
    Sanitized,
    /// To be run on many inputs by one process, which tells the basic blocks that each reaches.
    Traced,
}

/// Version of what is a verdict about a program: unfinished runs of other versions are not resumed.
const RULES: &str = "3";
const CPP: &str = "-std=c++17";
const C: &str = "-std=gnu17";
const SANITIZED: [&str; 6] = [
    "-O1",
    "-g1",
    "-w",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
];
/// A call of the tracer in each basic block, none of which is made a jump, and `main` called by the server.
const TRACED: [&str; 3] =
    ["-fsanitize-coverage=trace-pc", "-fno-optimize-sibling-calls", "-Wl,--wrap=main"];
/// Runs a traced program on many inputs.
const SERVER: &str = include_str!("certify/server.c");
/// Automatic variables that are not set hold a pattern: what is read before it is written shows. GCC has it from version 12 on.
const FILLED: (u32, &str) = (12, "-ftrivial-auto-var-init=pattern");
/// Bytes of precompiled headers that are kept; each has 20 to 100 MB.
const HEADERS_BYTES: u64 = 4 << 30;
/// Sources that have to begin with the same `#include` lines before these are precompiled: making a
/// precompiled header costs 2.5 to 4 times what it saves one compile.
const WANTED: u32 = 4;

/// An executable in the store.
#[derive(Clone, Debug)]
pub struct Executable {
    /// Where it is.
    pub path: PathBuf,
    /// Identity of its bytes.
    pub hash: String,
    /// The same program for the processor that it is timed on, where that is of another instruction set.
    pub foreign: Option<Box<Executable>>,
}

impl Executable {
    /// What is timed of it.
    pub(crate) fn timed(&self) -> &Executable {
        self.foreign.as_deref().unwrap_or(self)
    }
}

/// A precompiled header that there may be.
#[derive(Clone, Default)]
struct Wanted {
    times: u32,
    /// How often it is known to be wanted yet.
    to_come: u32,
    /// Held while it is made; whether that failed.
    failed: Arc<Mutex<bool>>,
}

/// Compilers for another instruction set.
struct Foreign {
    target: &'static timing::Target,
    cpp: PathBuf,
    c: PathBuf,
}

/// The compilers and what they made.
pub struct Toolchain {
    cpp: PathBuf,
    c: PathBuf,
    foreign: Option<Foreign>,
    identity: String,
    fills_stack: bool,
    store: Store,
    /// How often each precompiled header was wanted.
    wanted: Mutex<BTreeMap<String, Wanted>>,
    /// Precompiled headers that are as they were made: they are too large to look at each time.
    sound: Mutex<BTreeSet<String>>,
}

impl Toolchain {
    /// Find `g++` and `gcc`, and those of the instruction set that programs are timed in.
    ///
    /// # Errors
    /// When one of them is missing.
    pub fn find(store: Store, target: &'static timing::Target) -> Result<Toolchain> {
        let foreign = match target.architecture {
            timing::Architecture::X86_64 => None,
            _ => Some(Foreign {
                target,
                cpp: target.compiler(timing::Compiler::Gcc, false)?,
                c: target.compiler(timing::Compiler::Gcc, true)?,
            }),
        };
        let cpp = timing::recipe::compiler(timing::Compiler::Gcc, false)?;
        let c = timing::recipe::compiler(timing::Compiler::Gcc, true)?;
        let version = Command::new(&cpp).arg("--version").output();
        let version = version
            .map_err(|error| Error::Start { what: "g++".into(), reason: error.to_string() })?;
        let flags = format!("{CPP} {C} {:?} {SANITIZED:?} {FILLED:?}", timing::recipe::FLAGS);
        let determinism = timing::recipe::DETERMINISM.as_bytes();
        let mut identity =
            content_hash_of([RULES.as_bytes(), &version.stdout, flags.as_bytes(), determinism]);
        if let Some(Foreign { target, cpp, .. }) = &foreign {
            let version = timing::recipe::version(cpp.as_os_str());
            let flags = target.flags.join(" ");
            identity = content_hash_of([&identity, &version, &flags].map(|part| part.as_bytes()));
        }
        let major =
            Command::new(&cpp).arg("-dumpversion").output().map(|said| as_text(said.stdout));
        let major = major.ok().and_then(|said| said.trim().split('.').next()?.parse::<u32>().ok());
        let fills_stack = major.is_some_and(|major| major >= FILLED.0);
        let (wanted, sound) = (Mutex::default(), Mutex::default());
        Ok(Toolchain { cpp, c, foreign, identity, fills_stack, store, wanted, sound })
    }

    /// Identity of compilers and flags.
    #[must_use]
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// These programs are to be timed: what enough of them begin with is precompiled at the first one.
    pub fn expect<'a>(&self, programs: impl IntoIterator<Item = (&'a str, Language)>) {
        for (code, language) in programs {
            if self.kept(&self.key(code, language, Build::Timed)).is_some() {
                continue;
            }
            let includes = leading_includes(code, language);
            let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
            for lines in beginnings(&includes) {
                wanted.entry(self.header_key(lines, Build::Timed)).or_default().to_come += 1;
            }
        }
    }

    /// Build a program, or find that it was built before. A verdict when it does not compile.
    ///
    /// # Errors
    /// When the compiler cannot be run or the store cannot be written.
    pub fn build(
        &self,
        code: &str,
        language: Language,
        build: Build,
    ) -> Result<std::result::Result<Executable, Verdict>> {
        let mut own = match self.build_once(code, language, build)? {
            Ok(own) => own,
            Err(verdict) => return Ok(Err(verdict)),
        };
        if build == Build::Timed && self.foreign.is_some() {
            match self.build_once(code, language, Build::Foreign)? {
                Ok(foreign) => own.foreign = Some(Box::new(foreign)),
                Err(verdict) => return Ok(Err(verdict)),
            }
        }
        Ok(Ok(own))
    }

    fn build_once(
        &self,
        code: &str,
        language: Language,
        build: Build,
    ) -> Result<std::result::Result<Executable, Verdict>> {
        let key = self.key(code, language, build);
        if let Some(executable) = self.kept(&key) {
            return Ok(Ok(executable));
        }
        if let Some(detail) = self.store.get("rejected", &key) {
            let detail = String::from_utf8_lossy(&detail).into_owned();
            return Ok(Err(Verdict::new(EditVerdict::DoesNotCompile, detail)));
        }
        let folder = temporary()?;
        let name = if language == Language::C { "source.c" } else { "source.cpp" };
        let flags = self.flags(language, build);
        let mut call = self.call((language, build), flags, (name, code), "program", folder.path());
        if build != Build::Foreign
            && let Some(header) = self.header(code, language, build)?
        {
            call.readable.extend([header.clone(), compiled_form(&header)]);
            call.before.extend(["-include".into(), header.into_os_string()]);
        }
        let mut objects = Vec::new();
        if build != Build::Sanitized {
            objects.push(self.determinism(language, build)?);
        }
        if build == Build::Traced {
            objects.push(self.object((Language::C, Build::Timed), ("server.c", SERVER))?);
        }
        for object in objects {
            call.readable.push(object.clone());
            call.behind.push(object.into_os_string());
        }
        // Programs in C++ have it from their compiler.
        if language == Language::C {
            call.behind.push(timing::recipe::MATHEMATICS.into());
        }
        match call.make()? {
            Err(Refusal { verdict, lasting }) => {
                if lasting {
                    self.store.put("rejected", &key, verdict.detail.as_bytes());
                }
                Ok(Err(verdict))
            }
            Ok(bytes) => {
                let path = self.store.path("programs", &key);
                let parent = path.parent().unwrap_or(Path::new("/"));
                std::fs::create_dir_all(parent).map_err(Error::file("create", parent))?;
                host::write_executable(&path, &bytes).map_err(Error::file("write", &path))?;
                let hash = content_hash(&bytes);
                self.store.put("hashes", &key, hash.as_bytes());
                Ok(Ok(Executable { path, hash, foreign: None }))
            }
        }
    }

    /// Identity of a program and of how it is built.
    fn key(&self, code: &str, language: Language, build: Build) -> String {
        let build = match build {
            Build::Traced => format!("{build:?} {TRACED:?} {SERVER}"),
            _ => format!("{build:?}"),
        };
        let libraries = if language == Language::C { timing::recipe::MATHEMATICS } else { "" };
        let pieces = [&self.identity, language.name(), libraries, &build, code];
        let pieces = pieces.into_iter().filter(|piece| !piece.is_empty());
        content_hash_of(pieces.map(str::as_bytes))
    }

    /// Identity of a precompiled header.
    fn header_key(&self, lines: &str, build: Build) -> String {
        let build = format!("{build:?}");
        content_hash_of([&self.identity, build.as_str(), lines].map(str::as_bytes))
    }

    fn kept(&self, key: &str) -> Option<Executable> {
        let hash = String::from_utf8(self.store.get("hashes", key)?).ok()?;
        let path = self.store.path("programs", key);
        is_sound(&path, &hash).then_some(Executable { path, hash, foreign: None })
    }

    /// `determinism.c` of `timing`, compiled once per language and instruction set.
    fn determinism(&self, language: Language, build: Build) -> Result<PathBuf> {
        let build = if build == Build::Foreign { build } else { Build::Timed };
        let name = if language == Language::C { "determinism.c" } else { "determinism.cpp" };
        self.object((language, build), (name, timing::recipe::DETERMINISM))
    }

    /// The object of a source of ours, compiled once.
    fn object(
        &self,
        (language, build): (Language, Build),
        source: (&str, &str),
    ) -> Result<PathBuf> {
        let of = if build == Build::Foreign { "foreign" } else { "" };
        let pieces = [&self.identity, language.name(), of, source.0, source.1];
        let key = content_hash_of(pieces.map(str::as_bytes));
        let path = self.store.path("objects", &key).with_extension("o");
        if self.store.get("hashes", &key).is_some_and(|hash| is_sound(&path, &as_text(hash))) {
            return Ok(path);
        }
        let parent = path.parent().unwrap_or(Path::new("/"));
        std::fs::create_dir_all(parent).map_err(Error::file("create", parent))?;
        let folder = temporary()?;
        let mut flags = self.flags_of_compiling(language, build);
        flags.push("-c".into());
        let call = self.call((language, build), flags, source, "object.o", folder.path());
        let bytes = match call.make()? {
            Ok(bytes) => bytes,
            Err(Refusal { verdict, .. }) => {
                return Err(Error::Start { what: "gcc".into(), reason: verdict.to_string() });
            }
        };
        crate::pair::write_whole(&path, &bytes)?;
        self.store.put("hashes", &key, content_hash(&bytes).as_bytes());
        Ok(path)
    }

    /// The precompiled header for the includes that `code` begins with, or for as many of the first as
    /// there is one for; `None` where there is none yet.
    fn header(&self, code: &str, language: Language, build: Build) -> Result<Option<PathBuf>> {
        let includes = leading_includes(code, language);
        let beginnings = beginnings(&includes);
        let keys: Vec<String> =
            beginnings.iter().map(|lines| self.header_key(lines, build)).collect();
        let wanted: Vec<Wanted> = {
            let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
            keys.iter()
                .map(|key| {
                    let entry = wanted.entry(key.clone()).or_default();
                    entry.times += 1;
                    entry.to_come = entry.to_come.saturating_sub(1);
                    entry.clone()
                })
                .collect()
        };
        let folder = self.store.folder("headers");
        for ((key, lines), wanted) in keys.iter().zip(beginnings).zip(wanted).rev() {
            let path = folder.join(format!("{key}.h"));
            let compiled = compiled_form(&path);
            if self.is_kept(key, &compiled) {
                return Ok(Some(path));
            }
            if wanted.times + wanted.to_come < WANTED {
                continue;
            }
            // What another thread is making is not waited for.
            let Ok(mut failed) = wanted.failed.try_lock() else { continue };
            if !*failed {
                *failed = !self.is_kept(key, &compiled)
                    && !self.precompile((key, lines), language, build, &path)?;
            }
            if !*failed {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    /// Whether there is a precompiled header as it was made; notes that it is used.
    fn is_kept(&self, key: &str, compiled: &Path) -> bool {
        if !is_used(compiled) {
            return false;
        }
        let mut sound = self.sound.lock().unwrap_or_else(PoisonError::into_inner);
        if !sound.contains(key) {
            let hash = self.store.get("header-hashes", key);
            if !hash.is_some_and(|hash| is_sound(compiled, &as_text(hash))) {
                return false;
            }
            sound.insert(key.to_owned());
        }
        true
    }

    /// Precompile `#include` lines, named by a key; false where they do not compile: the source will be told so.
    fn precompile(
        &self,
        (key, lines): (&str, &str),
        language: Language,
        build: Build,
        path: &Path,
    ) -> Result<bool> {
        let folder = temporary()?;
        let (source, made) = (("headers.h", lines), "headers.h.gch");
        let flags = self.flags_of_compiling(language, build);
        let mut call = self.call((language, build), flags, source, made, folder.path());
        call.before = ["-x", "c++-header"].map(OsString::from).into();
        let Ok(bytes) = call.make()? else { return Ok(false) };
        let headers = self.store.folder("headers");
        std::fs::create_dir_all(&headers).map_err(Error::file("create", &headers))?;
        forget_oldest(&headers, bytes.len() as u64);
        crate::pair::write_whole(path, lines.as_bytes())?;
        crate::pair::write_whole(&compiled_form(path), &bytes)?;
        self.store.put("header-hashes", key, content_hash(&bytes).as_bytes());
        Ok(true)
    }

    /// Flags without those that link.
    fn flags_of_compiling(&self, language: Language, build: Build) -> Vec<OsString> {
        let mut flags = self.flags(language, build);
        flags.retain(|flag| flag != "-static" && !flag.to_string_lossy().starts_with("-Wl"));
        flags
    }

    fn flags(&self, language: Language, build: Build) -> Vec<OsString> {
        let standard = if language == Language::C { C } else { CPP };
        let flags: &[&str] = match build {
            Build::Timed | Build::Traced => &timing::recipe::FLAGS,
            Build::Foreign => self.foreign.as_ref().map_or(&[], |foreign| foreign.target.flags),
            Build::Sanitized => &SANITIZED,
        };
        let more: &[&str] = match build {
            Build::Sanitized if self.fills_stack => &[FILLED.1],
            Build::Traced => &TRACED,
            _ => &[],
        };
        std::iter::once(&standard).chain(flags).chain(more).map(OsString::from).collect()
    }

    /// A call that makes `output` of `source`.
    fn call<'a>(
        &'a self,
        (language, build): (Language, Build),
        flags: Vec<OsString>,
        source: (&'a str, &'a str),
        output: &'a str,
        folder: &'a Path,
    ) -> Call<'a> {
        let (cpp, c) = match &self.foreign {
            Some(foreign) if build == Build::Foreign => (&foreign.cpp, &foreign.c),
            _ => (&self.cpp, &self.c),
        };
        let compiler = if language == Language::C { c } else { cpp };
        let (before, behind, readable) = (Vec::new(), Vec::new(), Vec::new());
        let source = (source.0, source.1.as_bytes());
        Call { compiler, flags, source, before, behind, output, folder, readable, libraries: None }
    }
}

fn temporary() -> Result<Temporary> {
    Temporary::new("stampmill-build").map_err(Error::file("create", &std::env::temp_dir()))
}

/// Where the precompiled form of a header is looked for by the compiler.
fn compiled_form(header: &Path) -> PathBuf {
    header.with_added_extension("gch")
}

fn as_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_default()
}

/// Whether a file is there as it was made.
fn is_sound(path: &Path, hash: &str) -> bool {
    content_hash_of_file(path).is_ok_and(|(_, found)| found == hash)
}

/// The lines `#include <...>` that a source begins with, before anything else but blank lines and line
/// comments. None of C: its headers are short.
fn leading_includes(code: &str, language: Language) -> String {
    let mut includes = String::new();
    if language == Language::C {
        return includes;
    }
    for line in code.lines().map(str::trim) {
        let include = line.strip_prefix('#').map(str::trim_start);
        let include = include.and_then(|rest| rest.strip_prefix("include")).map(str::trim);
        match include {
            Some(name) if name.starts_with('<') && name.contains('>') => {
                let name = name.split('>').next().unwrap_or(name);
                includes.push_str(&format!("#include {name}>\n"));
            }
            _ if line.is_empty() || line.starts_with("//") => {}
            _ => break,
        }
    }
    includes
}

/// The first line of some, the first two, and so on to all of them.
fn beginnings(lines: &str) -> Vec<&str> {
    lines.match_indices('\n').map(|(at, _)| &lines[..=at]).collect()
}

/// Whether there is a precompiled header; notes that it is used.
fn is_used(compiled: &Path) -> bool {
    // Its age decides which one goes; where that cannot be set, the first made is the first to go.
    std::fs::File::open(compiled)
        .map(|file| {
            let _ = file.set_modified(SystemTime::now());
        })
        .is_ok()
}

/// Make room for one more precompiled header of so many bytes: those go that were not used for longest.
fn forget_oldest(headers: &Path, bytes: u64) {
    let mut found: Vec<(SystemTime, PathBuf, u64)> = std::fs::read_dir(headers)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|e| e == "gch"))
        .filter_map(|entry| {
            let metadata = entry.metadata().ok()?;
            Some((metadata.modified().ok()?, entry.path(), metadata.len()))
        })
        .collect();
    found.sort();
    let mut total = bytes + found.iter().map(|(_, _, bytes)| bytes).sum::<u64>();
    for (_, path, bytes) in found {
        if total <= HEADERS_BYTES {
            break;
        }
        // Another run may have been faster. A compiler that has it open keeps it.
        let _ = std::fs::remove_file(path);
        total -= bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leading_includes_end_where_something_else_begins() {
        let includes = |code: &str| leading_includes(code, Language::Cpp);
        let code = "// x\n# include <map>  // y\n\n#include<set>\n#define A\n#include <cmath>\n";
        assert_eq!(includes(code), "#include <map>\n#include <set>\n");
        assert_eq!(includes("#define int long\n#include <map>\n"), "");
        assert_eq!(includes("#include \"mine.h\"\n#include <map>\n"), "");
        assert_eq!(leading_includes("#include <stdio.h>\n", Language::C), "");
        assert_eq!(beginnings("a\nb\n"), ["a\n", "a\nb\n"]);
    }

    #[test]
    fn programs_in_c_have_the_functions_of_mathematics() {
        let folder = tempfile::tempdir().unwrap();
        let target = timing::Target::of(timing::Architecture::X86_64);
        let toolchain = Toolchain::find(Store::at(folder.path()), target).unwrap();
        let code = "#include <math.h>\n#include <stdio.h>\n\
                    int main(void) { double x; scanf(\"%lf\", &x); printf(\"%f\", pow(x, sin(x))); return 0; }";
        for build in [Build::Timed, Build::Sanitized, Build::Traced] {
            let built = toolchain.build(code, Language::C, build).unwrap();
            assert!(built.is_ok(), "{build:?}: {:?}", built.err());
        }
    }

    #[test]
    fn an_executable_is_the_same_with_a_precompiled_header() {
        let folder = tempfile::tempdir().unwrap();
        let toolchain = {
            let target = timing::Target::of(timing::Architecture::X86_64);
            Toolchain::find(Store::at(folder.path()), target).unwrap()
        };
        let code = |includes: &str, n: u32| {
            format!(
                "{includes}int main() {{ std::vector<int> v({n}); std::printf(\"%zu\", v.size()); }}"
            )
        };
        let build =
            |code: &str| toolchain.build(code, Language::Cpp, Build::Timed).unwrap().unwrap();
        let headers = || {
            let found = std::fs::read_dir(folder.path().join("headers"));
            found.map_or(0, |found| found.flatten().count())
        };
        let two = "#include <cstdio>\n#include <vector>\n";
        let three = format!("{two}#include <algorithm>\n");
        let plain = build(&code(two, 1));
        let plain_of_three = build(&code(&three, 1));
        assert_eq!(headers(), 0);
        let _ = build(&code(two, 2));
        let _ = build(&code(two, 3));
        assert_eq!(headers(), 2, "a header and its precompiled form");
        std::fs::remove_dir_all(folder.path().join("programs")).unwrap();
        assert_eq!(plain.hash, build(&code(two, 1)).hash);
        // Its first two lines are there.
        assert_eq!(plain_of_three.hash, build(&code(&three, 1)).hash);
        assert_eq!(headers(), 2);
        // Where enough are to come, the first one has it made.
        let coming: Vec<String> = (5..9).map(|n| code(&three, n)).collect();
        toolchain.expect(coming.iter().map(|code| (code.as_str(), Language::Cpp)));
        let _ = build(&coming[0]);
        assert_eq!(headers(), 4);
        let verdict =
            toolchain.build("int main() { return x; }", Language::Cpp, Build::Timed).unwrap();
        assert!(verdict.unwrap_err().detail.contains("'x' was not declared"));
    }
}
