//! Programs of assembly, linked with objects that are made once, and images of kernels, linked against a program that is.

use crate::Rustc;
use dataset::Verdict;
use object::{Object as _, ObjectSymbol as _};
use rows::FeaturesVerdict;
use sandbox::Temporary;
use std::{
    collections::BTreeSet,
    ffi::OsString,
    path::{Path, PathBuf},
};
use timing::{Compiler, Error, compiler::Call, recipe};

/// Links programs of assembly, by the recipe of `time`, with objects of our own.
#[derive(Debug)]
pub struct Linker {
    folder: Temporary,
    gcc: PathBuf,
    objects: Vec<String>,
    libraries: &'static [&'static str],
}

impl Linker {
    /// With the objects of these sources: their names, which end in `.c` or `.s`, and texts.
    ///
    /// # Errors
    /// When there is no compiler, or it refuses a source.
    pub fn new(sources: &[(&str, &str)]) -> Result<Linker, Error> {
        let (folder, gcc) = (temporary()?, recipe::compiler(Compiler::Gcc, true)?);
        let mut linker = Linker { folder, gcc, objects: Vec::new(), libraries: &["-lm"] };
        for source in sources {
            linker.add(*source)?;
        }
        Ok(linker)
    }

    /// With the object of this source, too.
    fn add(&mut self, (name, text): (&str, &str)) -> Result<(), Error> {
        let object = format!("{name}.o");
        let mut call = self.call((name, text.as_bytes()), &object, self.folder.path());
        call.flags.push("-c".into());
        made(name, &call)?;
        self.objects.push(object);
        Ok(())
    }

    /// The program of the objects alone, with what they need of the C library.
    fn join(&self, program: &str) -> Result<(), Error> {
        let mut call = self.call(("empty.c", b""), program, self.folder.path());
        call.behind = self.objects.iter().map(OsString::from).collect();
        call.behind.extend(self.libraries.iter().map(OsString::from));
        made(program, &call)
    }

    /// The same with Rust's libraries: of these a program gets what it uses.
    ///
    /// # Errors
    /// As [`Linker::new`].
    pub fn with_rust(mut self, rustc: &Rustc) -> Result<Linker, Error> {
        const LIBRARIES: &str = "librust.a";
        rustc.libraries(LIBRARIES, self.folder.path())?;
        self.objects.push(LIBRARIES.to_owned());
        // They are one object each.
        self.libraries = &["-lm", "-Wl,--gc-sections", "-Wl,--strip-debug"];
        Ok(self)
    }

    fn call<'a>(
        &'a self,
        source: (&'a str, &'a [u8]),
        output: &'a str,
        folder: &'a std::path::Path,
    ) -> Call<'a> {
        Call {
            compiler: &self.gcc,
            flags: recipe::FLAGS.map(OsString::from).to_vec(),
            source,
            before: Vec::new(),
            behind: Vec::new(),
            output,
            folder,
            readable: vec![self.folder.path().to_owned()],
            libraries: None,
        }
    }

    /// The program of this assembly, or what it lacks: a function of OpenCL C that is not built here, images, what a
    /// program declares and leaves to others.
    ///
    /// # Errors
    /// When the machine fails.
    pub fn link(&self, assembly: &str) -> Result<Result<Vec<u8>, Verdict>, Error> {
        let place = temporary()?;
        let mut call = self.call(("source.s", assembly.as_bytes()), "program", place.path());
        let objects =
            self.objects.iter().map(|name| self.folder.path().join(name).into_os_string());
        call.behind = objects.chain(self.libraries.iter().map(OsString::from)).collect();
        Ok(call.make()?.map_err(|refusal| unsupported(refusal.verdict.detail)))
    }
}

/// Make what is ours: that it is refused is a fault of the machine.
fn made(name: &str, call: &Call<'_>) -> Result<(), Error> {
    match call.make()? {
        Ok(_) => Ok(()),
        Err(refusal) => {
            let reason = format!("{name}: {}", refusal.verdict);
            Err(Error::Start { what: "gcc".to_owned(), reason })
        }
    }
}

/// A program that runs kernels, and what links kernels' images against it: the program, with its part of the C library and all
/// built-in functions, is linked once.
#[derive(Debug)]
pub(crate) struct Images {
    linker: Linker,
    program: PathBuf,
}

/// Where images lie: within reach of calls of the program, which has its own data below 200 MiB, and its heap at most 1 GiB behind
/// that: where it begins is random.
const BASE: &str = "0x70000000";
const RUNTIME: &str = "runtime";
/// What an image begins with, as `runtime.c` reads it.
const TABLE: &str = "
.section .stampmill_table, \"a\"
.globl stampmill_table
.weak __start_stampmill_shared, __stop_stampmill_shared, __start_stampmill_constant, __stop_stampmill_constant
.balign 8
stampmill_table:
.quad stampmill_item
.quad __start_stampmill_shared, __stop_stampmill_shared
.quad __start_stampmill_constant, __stop_stampmill_constant
.section .note.GNU-stack, \"\", @progbits
";
const FLAGS_FILE: &str = "image.flags";

impl Images {
    /// Of the program that these objects make.
    pub(crate) fn new(mut linker: Linker) -> Result<Images, Error> {
        let folder = linker.folder.path().to_owned();
        let program = folder.join(RUNTIME);
        linker.join(RUNTIME)?;
        let read = std::fs::read(&program).map_err(|source| Error::File {
            action: "read",
            path: program.clone(),
            source,
        })?;
        // The C library picks some functions for the processor when a program begins. Another program cannot name what it
        // picked, but what calls it.
        let picked = picked(&read)?;
        let calls =
            picked.iter().map(|name| format!(".globl __wrap_{name}\n__wrap_{name}: jmp {name}\n"));
        let calls = format!(
            ".text\n{}.section .note.GNU-stack, \"\", @progbits\n",
            calls.collect::<String>()
        );
        linker.add(("calls.s", &calls))?;
        linker.join(RUNTIME)?;
        linker.objects.clear();
        linker.add(("table.s", TABLE))?;
        let wraps = picked.iter().map(|name| format!("-Wl,--wrap={name}\n"));
        let flags = format!(
            "-nostdlib\n-Wl,-Ttext-segment={BASE}\n-Wl,-e,stampmill_table\n{}",
            wraps.collect::<String>()
        );
        let path = folder.join(FLAGS_FILE);
        std::fs::write(&path, flags).map_err(|source| Error::File {
            action: "write",
            path,
            source,
        })?;
        Ok(Images { linker, program })
    }

    /// The program that runs a kernel whose image it is given.
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// The image of this object, or what it lacks.
    ///
    /// # Errors
    /// When the machine fails.
    pub(crate) fn link(&self, object: &[u8]) -> Result<Result<Vec<u8>, Verdict>, Error> {
        let place = temporary()?;
        let mut call = self.linker.call(("source.o", object), "image", place.path());
        let folder = self.linker.folder.path();
        let objects = self.linker.objects.iter().map(|name| folder.join(name).into_os_string());
        call.behind = objects.collect();
        call.behind.extend(["-Xlinker", "-R", "-Xlinker"].map(OsString::from));
        call.behind.push(self.program.clone().into());
        let mut flags = OsString::from("@");
        flags.push(folder.join(FLAGS_FILE));
        call.behind.push(flags);
        Ok(call.make()?.map_err(|refusal| unsupported(refusal.verdict.detail)))
    }
}

/// Names of a program's functions of which the one that is called is picked when a program begins.
fn picked(program: &[u8]) -> Result<BTreeSet<String>, Error> {
    let broken =
        |error: object::Error| Error::Start { what: "gcc".to_owned(), reason: error.to_string() };
    let file = object::File::parse(program).map_err(broken)?;
    let is_picked = |symbol: &object::Symbol<'_, '_>| match symbol.flags() {
        object::SymbolFlags::Elf { st_info, .. } => {
            st_info.st_type() == object::elf::STT_GNU_IFUNC && symbol.is_global()
        }
        _ => false,
    };
    file.symbols()
        .filter(is_picked)
        .map(|symbol| symbol.name().map(str::to_owned).map_err(broken))
        .collect()
}

fn unsupported(detail: String) -> Verdict {
    Verdict::new(FeaturesVerdict::Unsupported, detail)
}

pub(crate) fn temporary() -> Result<Temporary, Error> {
    let file =
        |source| Error::File { action: "make a folder in", path: std::env::temp_dir(), source };
    Temporary::new("stampmill-link").map_err(file)
}
