//! Programs in Rust as modules of LLVM: rustc runs in the sandbox of compilers.

use crate::run::temporary;
use dataset::Verdict;
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};
use timing::{
    Error,
    compiler::{Call, RUST},
    recipe,
};

/// Flags of every program: a library without crates beside it, its checks those of a release build.
pub const FLAGS: [&str; 10] = [
    "--crate-name=program",
    "--edition=2021",
    "--cap-lints=allow",
    "--error-format=short",
    "-Cpanic=abort",
    "-Ccodegen-units=1",
    "-Cdebug-assertions=no",
    "-Coverflow-checks=no",
    "-Cembed-bitcode=no",
    // Else small functions that others can call are left for these to compile.
    "-Cincremental=incremental",
];

/// rustc of the toolchain that is used here.
#[derive(Clone, Debug)]
pub struct Rustc {
    compiler: PathBuf,
    sysroot: PathBuf,
}

impl Rustc {
    /// Find it: what lies on the search path may be rustup's, which asks the home what to start.
    ///
    /// # Errors
    /// When there is none.
    pub fn find() -> Result<Rustc, Error> {
        let missing = Error::Missing { tool: "rustc", install: "install Rust (https://rustup.rs)" };
        let Some(rustc) = host::on_path("rustc") else { return Err(missing) };
        let said = Command::new(rustc).args(["--print", "sysroot"]).output();
        let said = said.map(|said| String::from_utf8_lossy(&said.stdout).trim().to_owned());
        let sysroot = PathBuf::from(said.unwrap_or_default());
        let compiler = sysroot.join("bin/rustc");
        if compiler.is_file() { Ok(Rustc { compiler, sysroot }) } else { Err(missing) }
    }

    /// Its version.
    #[must_use]
    pub fn version(&self) -> String {
        recipe::version(self.compiler.as_os_str())
    }

    /// The module of a program at a level, or as rustc hands it to LLVM's passes (`front_end`).
    ///
    /// # Errors
    /// When the machine fails.
    pub fn module(
        &self,
        source: &str,
        level: u8,
        front_end: bool,
    ) -> Result<Result<Vec<u8>, Verdict>, Error> {
        let place = temporary()?;
        let mut call = self.call(source, "program.bc", place.path());
        let level = format!("-Copt-level={level}");
        call.flags.extend(["--crate-type=lib", "--emit=llvm-bc", &level].map(OsString::from));
        call.flags.extend(front_end.then(|| "-Cno-prepopulate-passes".into()));
        Ok(call.make()?.map_err(|refusal| refusal.verdict))
    }

    /// Put an archive of Rust's libraries into a folder, for programs that are linked elsewhere.
    pub(crate) fn libraries(&self, output: &str, folder: &Path) -> Result<(), Error> {
        let mut call = self.call("", output, folder);
        call.flags.push("--crate-type=staticlib".into());
        match call.make()? {
            Ok(_) => Ok(()),
            Err(refusal) => {
                let reason = refusal.verdict.to_string();
                Err(Error::Start { what: "rustc".to_owned(), reason })
            }
        }
    }

    fn call<'a>(&'a self, source: &'a str, output: &'a str, folder: &'a Path) -> Call<'a> {
        let mut flags = FLAGS.map(OsString::from).to_vec();
        flags.extend(["--sysroot".into(), self.sysroot.clone().into()]);
        Call {
            compiler: &self.compiler,
            flags,
            source: (RUST, source.as_bytes()),
            before: Vec::new(),
            behind: Vec::new(),
            output,
            folder,
            readable: vec![self.sysroot.clone()],
            libraries: Some(self.sysroot.join("lib")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rustc() -> Rustc {
        Rustc::find().expect("tests are compiled by it")
    }

    #[test]
    fn small_functions_are_in_a_module_too() {
        let module = |front_end| {
            let text = "pub fn twice(x: u32) -> u32 { x * 2 }";
            rustc().module(text, 2, front_end).expect("it runs").expect("it compiles")
        };
        for front_end in [false, true] {
            let module = module(front_end);
            let context = llvm::Context::new(llvm::Library::of_module(&module).expect("rustc's"));
            let module = context.parse("twice", &module).expect("it is valid");
            assert!(module.functions().any(|function| function.name().contains("twice")));
        }
    }

    #[test]
    fn what_does_not_compile_is_refused_with_the_first_diagnostic() {
        let refused = rustc().module("pub fn f() -> u32 { y }", 1, false).expect("it runs");
        let verdict = refused.expect_err("there is no y");
        assert_eq!(verdict.name, "does-not-compile");
        assert!(verdict.detail.starts_with("source.rs:1:21: error[E0425]"), "{}", verdict.detail);
    }
}
