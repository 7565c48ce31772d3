//! How sources become programs whose time depends on nothing but themselves: static, for a pinned
//! instruction set, with pinned flags, and linked with answers that stay the same where the system's
//! would not (`determinism.c`).

use crate::{
    Compiler, Error,
    compiler::Call,
    elf::Image,
    options::{Code, Options, SOURCE_C, SOURCE_CPP},
    place::{PROGRAM, Place},
    target::Target,
};
use dataset::Verdict;
use std::{
    ffi::{OsStr, OsString},
    path::PathBuf,
    process::Command,
};
use timing_model::{Architecture, Cpu};

/// Linked into every program that is timed, so that what differs from run to run answers the same.
pub const DETERMINISM: &str = include_str!("determinism.c");

/// Linked into every program in C behind all else: those in C++ have it from their compiler.
pub const MATHEMATICS: &str = "-lm";

/// Flags of every build for x86-64, in order; [`Target::flags`] has those of others. The instruction set has SSE4.2 and no fused multiply-add, so
/// results are those of any x86-64 build; PIE compiles with `-O3`.
pub const FLAGS: [&str; 8] = [
    "-O3",
    "-march=x86-64-v2",
    "-mtune=generic",
    "-static",
    "-no-pie",
    "-fno-pie",
    "-w",
    "-Wl,--build-id=none",
];

/// Identity of the recipe: results of two recipes do not mix.
pub(crate) fn identity(target: &Target) -> String {
    dataset::content_hash_of([DETERMINISM.as_bytes(), target.flags.join(" ").as_bytes()])
}

/// Put a job's program in its place, built for a processor where it is a source.
pub(crate) fn build(
    code: &Code,
    cpu: &Cpu,
    options: &Options,
    place: &Place,
) -> Result<Result<Image, Verdict>, Error> {
    build_with(code, cpu, options, place, true)
}

/// Build a program of our own without `determinism.c`.
pub(crate) fn build_plain(
    code: &Code,
    cpu: &Cpu,
    options: &Options,
    place: &Place,
) -> Result<Result<Image, Verdict>, Error> {
    build_with(code, cpu, options, place, false)
}

fn build_with(
    code: &Code,
    cpu: &Cpu,
    options: &Options,
    place: &Place,
    deterministic: bool,
) -> Result<Result<Image, Verdict>, Error> {
    let program = place.program();
    let (name, text, standard) = match code {
        Code::Elf(bytes) => {
            host::write_executable(&program, bytes).map_err(Error::file("write", &program))?;
            return Ok(Image::read(bytes, cpu));
        }
        Code::C(text) => (SOURCE_C, text, "-std=gnu17"),
        Code::Cpp(text) => (SOURCE_CPP, text, "-std=gnu++17"),
    };
    place.put("determinism.c", DETERMINISM.as_bytes())?;
    let target = Target::of(cpu.architecture);
    let compiler = target.compiler(options.compiler, name == SOURCE_C)?;
    let mut flags: Vec<OsString> = vec![standard.into()];
    flags.extend(target.flags_of(options.compiler).map(OsString::from));
    flags.extend(options.flags.iter().map(OsString::from));
    let mut behind: Vec<OsString> = Vec::new();
    if deterministic {
        behind.push("determinism.c".into());
    }
    if name == SOURCE_C {
        behind.push(MATHEMATICS.into());
    }
    let call = Call {
        compiler: &compiler,
        flags,
        source: (name, text.as_bytes()),
        before: Vec::new(),
        behind,
        output: PROGRAM,
        folder: place.path(),
        readable: named_paths(&options.flags),
        libraries: None,
    };
    match call.make()? {
        Err(refusal) => Ok(Err(refusal.verdict)),
        Ok(bytes) => Ok(Image::read(&bytes, cpu)),
    }
}

/// Link object files, whatever they were written in, to an executable that can be timed; a verdict where they do not link.
///
/// # Errors
/// When there is no clang, or the machine failed.
pub fn link(objects: &[&[u8]]) -> Result<Result<Vec<u8>, Verdict>, Error> {
    let place = Place::new()?;
    let mut behind = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        let name = format!("{number}.o");
        place.put(&name, object)?;
        behind.push(name.into());
    }
    let call = Call {
        // Its library of C++ is there for who asks for it; programs in C are the same with it.
        compiler: &compiler(Compiler::Clang, false)?,
        flags: FLAGS.iter().map(OsString::from).collect(),
        source: ("determinism.c", DETERMINISM.as_bytes()),
        before: Vec::new(),
        behind,
        output: PROGRAM,
        folder: place.path(),
        readable: Vec::new(),
        libraries: None,
    };
    Ok(call.make()?.map_err(|refusal| refusal.verdict))
}

/// What a user's flags name is for the compiler to read: folders of headers and libraries, files of flags.
fn named_paths(flags: &[String]) -> Vec<PathBuf> {
    let named = flags.iter().filter_map(|flag| Some(PathBuf::from(&flag[flag.find('/')?..])));
    named.filter(|path| path.exists()).collect()
}

/// This machine's compiler of C, or of C++, on the search path.
///
/// # Errors
/// [`Error::Missing`], which says how to install it.
pub fn compiler(kind: Compiler, c: bool) -> Result<PathBuf, Error> {
    Target::of(Architecture::X86_64).compiler(kind, c)
}

/// This machine's compiler of sources of these languages, and its version.
///
/// # Errors
/// As [`compiler`].
pub fn compiler_version(kind: Compiler, c: bool) -> Result<(String, String), Error> {
    Target::of(Architecture::X86_64).compiler_version(kind, c)
}

/// What a tool says first when asked for its version.
#[must_use]
pub fn version(tool: &OsStr) -> String {
    let said = Command::new(tool).arg("--version").output().map(|output| output.stdout);
    let said = said.unwrap_or_default();
    String::from_utf8_lossy(&said).lines().next().unwrap_or_default().trim().to_owned()
}

/// The headers that a source includes, in order, as an empty program that includes them as well;
/// `None` for executables.
pub(crate) fn empty_program(code: &Code) -> Option<Code> {
    let headers = |text: &str| -> String {
        let includes = text.lines().filter_map(|line| {
            let rest = line.trim_start().strip_prefix('#')?.trim_start();
            let name = rest.strip_prefix("include")?.trim();
            // Only the system's headers: those beside a source are not there.
            name.starts_with('<').then(|| {
                format!("#include {}\n", name.split('>').next().unwrap_or(name).to_owned() + ">")
            })
        });
        includes.collect::<String>() + "int main(void) { return 0; }\n"
    };
    match code {
        Code::C(text) => Some(Code::C(headers(text))),
        Code::Cpp(text) => Some(Code::Cpp(headers(text))),
        Code::Elf(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_program_keeps_the_system_headers_in_order() {
        let code = Code::Cpp(
            "  # include<map> // x\n#include \"mine.h\"\n#include <cmath>\nint x;".into(),
        );
        let empty = "#include <map>\n#include <cmath>\nint main(void) { return 0; }\n";
        assert_eq!(empty_program(&code), Some(Code::Cpp(empty.into())));
        assert_eq!(empty_program(&Code::Elf(Vec::new())), None);
    }

    #[test]
    fn what_flags_of_the_user_name_can_be_read() {
        let flags =
            ["-O2", "-I/usr/include", "@/etc/hostname", "-I/no/such/folder"].map(String::from);
        let named = named_paths(&flags);
        assert_eq!(named, [PathBuf::from("/usr/include"), PathBuf::from("/etc/hostname")]);
    }
}
