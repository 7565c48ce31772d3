//! Programs of assembly, linked with objects that are made once.

use crate::Rustc;
use dataset::Verdict;
use rows::FeaturesVerdict;
use sandbox::Temporary;
use std::{ffi::OsString, path::PathBuf, process::Command};
use timing::{Compiler, Error, compiler::Call, recipe};

/// Links programs of assembly, by the recipe of `time`, with objects of our own.
#[derive(Debug)]
pub struct Linker {
    folder: Temporary,
    gcc: PathBuf,
    objects: Vec<String>,
    libraries: &'static [&'static str],
}

/// What every program begins and ends with, in the order of linking: objects of the C library and the compiler around ours.
const BEGIN: [&str; 3] = ["crt1.o", "crti.o", "crtbeginT.o"];
const LIBRARIES: [&str; 6] =
    ["-lm", "-Wl,--start-group", "-lgcc", "-lgcc_eh", "-lc", "-Wl,--end-group"];
const END: [&str; 2] = ["crtend.o", "crtn.o"];

impl Linker {
    /// With the objects of these sources: their names, which end in `.c` or `.s`, and texts.
    ///
    /// # Errors
    /// When there is no compiler, or it refuses a source.
    pub fn new(sources: &[(&str, &str)]) -> Result<Linker, Error> {
        let (folder, gcc) = (temporary()?, recipe::compiler(Compiler::Gcc, true)?);
        let mut linker = Linker { folder, gcc, objects: Vec::new(), libraries: &["-lm"] };
        for (name, text) in sources {
            let object = format!("{name}.o");
            let mut call = linker.call((name, text), &object, linker.folder.path());
            call.flags.push("-c".into());
            if let Err(refusal) = call.make()? {
                let reason = format!("{name}: {}", refusal.verdict);
                return Err(Error::Start { what: "gcc".to_owned(), reason });
            }
            linker.objects.push(object);
        }
        Ok(linker)
    }

    /// The same with its objects and what they need of the C library in one, so that a link takes a third of the time. Other
    /// functions of the C library a program then does not find.
    ///
    /// # Errors
    /// As [`Linker::new`].
    pub fn join(mut self) -> Result<Linker, Error> {
        const JOINED: &str = "joined.o";
        let name = |name: &str| OsString::from(format!("-print-file-name={name}"));
        let found = |one: &&str| -> OsString {
            let said = Command::new(&self.gcc).arg(name(one)).output();
            let said = said.map(|said| String::from_utf8_lossy(&said.stdout).trim().to_owned());
            said.unwrap_or_else(|_| (*one).to_owned()).into()
        };
        let mut call = self.call(("empty.c", ""), JOINED, self.folder.path());
        call.flags.extend(["-r", "-nostdlib"].map(OsString::from));
        call.behind = BEGIN.iter().map(found).collect();
        call.behind.extend(self.objects.iter().map(OsString::from));
        call.behind.extend(LIBRARIES.map(OsString::from));
        call.behind.extend(END.iter().map(found));
        if let Err(refusal) = call.make()? {
            let reason = format!("{JOINED}: {}", refusal.verdict);
            return Err(Error::Start { what: "gcc".to_owned(), reason });
        }
        (self.objects, self.libraries) = (vec![JOINED.to_owned()], &["-nostdlib"]);
        Ok(self)
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
        source: (&'a str, &'a str),
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
        let mut call = self.call(("source.s", assembly), "program", place.path());
        let objects =
            self.objects.iter().map(|name| self.folder.path().join(name).into_os_string());
        call.behind = objects.chain(self.libraries.iter().map(OsString::from)).collect();
        let unsupported = |detail: String| Verdict::new(FeaturesVerdict::Unsupported, detail);
        Ok(call.make()?.map_err(|refusal| unsupported(refusal.verdict.detail)))
    }
}

pub(crate) fn temporary() -> Result<Temporary, Error> {
    let file =
        |source| Error::File { action: "make a folder in", path: std::env::temp_dir(), source };
    Temporary::new("stampmill-link").map_err(file)
}
