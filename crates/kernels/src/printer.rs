//! What the leak rule compares, of programs as they are found.

use crate::{
    KernelRow, Result, Source,
    compiler::Compiler,
    file,
    setting::{STANDARDS, alone},
};
use clang::{Clang, Options, Request};
use leak::Print;
use llvm::{Context, Library, Version};
use std::sync::Arc;

/// Makes [`Print`]s: prepares a file as [`Prepare`](crate::Prepare) does, and looks at each of its kernels by itself.
/// Shared by any number of threads.
#[derive(Debug)]
pub struct Printer {
    clang: Arc<Clang>,
}

/// A kernel of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Printed {
    /// Its name in the file; empty where the file holds none that can be told from the rest.
    pub name: String,
    /// What it is.
    pub print: Print,
}

impl Printer {
    /// With so many workers.
    ///
    /// # Errors
    /// When there is no clang worker, or no LLVM to read its modules with: the rule is not weakened in silence.
    pub fn start(workers: usize) -> Result<Printer> {
        let clang = Clang::start(workers.max(1))?;
        Library::as_new_as(Version::OF_CLANG)?;
        Ok(Printer { clang: Arc::new(clang) })
    }

    /// Every kernel of a file, isolated. Of a file that clang does not accept even when it is repaired, the whole
    /// text is taken for one kernel.
    ///
    /// # Errors
    /// When clang cannot be asked any more.
    pub fn file(&self, text: &str) -> Result<Vec<Printed>> {
        let compiler = Compiler::new(Arc::clone(&self.clang));
        let id = dataset::content_hash(text.as_bytes());
        let source = Source { id, text: Some(text.to_owned()), ..Source::default() };
        let rows = file::rows(&compiler, &source, dataset::Language::OpenCl);
        compiler.works()?;
        let kernels: Vec<&KernelRow> = rows.iter().filter(|row| row.is_kernel()).collect();
        if kernels.is_empty() {
            let name = lexer::kernel_names(text).first().map(|name| (*name).to_owned());
            let print = self.isolated(text)?;
            return Ok(vec![Printed { name: name.unwrap_or_default(), print }]);
        }
        let printed = |row: &KernelRow| -> Result<Printed> {
            let print = self.isolated(&row.text)?;
            Ok(Printed { name: row.original_name.clone(), print })
        };
        kernels.into_iter().map(printed).collect()
    }

    /// Every kernel of a program that may be isolated already: then it is taken as it is.
    ///
    /// # Errors
    /// When clang cannot be asked any more.
    pub fn kernels(&self, text: &str) -> Result<Vec<Printed>> {
        let names = lexer::kernel_names(text);
        let is_plain = |line: &str| {
            let line = line.trim_start();
            !line.starts_with('#') || line[1..].trim_start().starts_with("pragma")
        };
        if names.len() <= 1 && text.lines().all(is_plain) {
            let print = self.isolated(text)?;
            if print.ir.size() > 0 {
                let name = names.first().copied().unwrap_or_default().to_owned();
                return Ok(vec![Printed { name, print }]);
            }
        }
        self.file(text)
    }

    /// A program of one kernel, with nothing that the kernel does not need; its text alone where it does not compile.
    ///
    /// # Errors
    /// When clang cannot be asked any more: a text alone is a weaker print.
    pub fn isolated(&self, text: &str) -> Result<Print> {
        let kernel = lexer::kernel_names(text).last().copied().unwrap_or_default().to_owned();
        let mut bitcode = None;
        for standard in STANDARDS {
            bitcode = self.compile(text, standard)?;
            if bitcode.is_some() {
                break;
            }
        }
        let print = bitcode.and_then(|bitcode| {
            let context = Context::new(Library::of_module(&bitcode).ok()?);
            let module = context.parse("kernel", &bitcode).ok()?;
            Some(Print::of(text, &module, &kernel))
        });
        Ok(print.unwrap_or_else(|| Print::of_text(text)))
    }

    /// Versions of what prints come from.
    #[must_use]
    pub fn versions(&self) -> String {
        let library = Library::as_new_as(Version::OF_CLANG).map(Library::version).ok();
        format!("{:?} {library:?} leak {}", self.clang.version(), leak::VERSION)
    }

    /// The optimised bitcode of what clang accepts.
    fn compile(&self, text: &str, standard: &str) -> Result<Option<Vec<u8>>> {
        let options = Options { optimisation: 2, ..alone(standard) };
        let request = Request::Compile {
            source: text.to_owned(),
            options,
            facts: false,
            tree: false,
            bitcode: true,
        };
        let answer = match self.clang.ask(&request) {
            Ok(answer) => answer,
            Err(death) if death.is_ours() => {
                let worker = self.clang.worker().to_owned();
                return Err(clang::Error::CannotStart { worker, death }.into());
            }
            Err(_) => return Ok(None),
        };
        if answer.first_error().is_some() {
            return Ok(None);
        }
        Ok(answer.code.map(|code| code.bitcode))
    }
}
