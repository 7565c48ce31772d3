use crate::{
    KernelRow, MINIMUM_INSTRUCTIONS,
    compiler::{Compiler, DOES_NOT_COMPILE, reaching},
    dead,
    file::{self, Source, TOO_SMALL},
    setting::{STANDARDS, alone},
};
use clang::{Clang, Options};
use dataset::{Language, Verdict};
use rows::KernelVerdict;
use std::ops::Range;

/// The rejection filter for programs that stand alone: what a model or a person wrote, with nothing
/// added to make it compile.
#[derive(Debug)]
pub struct Judge {
    compiler: Compiler,
}

/// A program that passed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// Its last kernel.
    pub kernel: String,
    /// The `-cl-std` it compiles with, the usual one first.
    pub standard: String,
    /// IR instructions of that kernel at -O0.
    pub instructions: u32,
}

impl Judge {
    /// A filter that asks this clang.
    #[must_use]
    pub fn new(clang: Clang) -> Judge {
        Judge { compiler: Compiler::new(clang) }
    }

    /// Whether a program compiles, holds a kernel, and does something in it.
    ///
    /// # Errors
    /// Why it does not pass: `does-not-compile`, `no-kernel`, `too-small`, how it reaches out of
    /// itself, or what it did to clang. Ask [`Judge::works`] before any of it is kept.
    pub fn check(&self, text: &str) -> Result<Judged, Verdict> {
        let mut first = None;
        for standard in STANDARDS {
            let (facts, code) = match self.compiler.compile(text, alone(standard)) {
                Ok(compiled) => compiled,
                Err(verdict) if verdict.name == DOES_NOT_COMPILE => {
                    first.get_or_insert(verdict);
                    continue;
                }
                Err(verdict) => return Err(verdict),
            };
            if let Some(verdict) = reaching(&facts) {
                return Err(verdict);
            }
            let Some(kernel) = facts.kernels.last() else {
                return Err(Verdict::new(KernelVerdict::NoKernel, ""));
            };
            let size = code.functions.iter().find(|function| function.name == kernel.name);
            let instructions = size.map_or(0, |function| function.instructions);
            if instructions < MINIMUM_INSTRUCTIONS {
                return Err(Verdict::new(TOO_SMALL, format!("{instructions} instructions")));
            }
            let (kernel, standard) = (kernel.name.clone(), standard.to_owned());
            return Ok(Judged { kernel, standard, instructions });
        }
        Err(first.unwrap_or_else(|| Verdict::new(DOES_NOT_COMPILE, "no standard was tried")))
    }

    /// The hash of what -O2 leaves of a program, where loops without an effect go; nothing where it compiles with no standard. Two programs whose functions
    /// have the same names and that have the same hash do the same.
    #[must_use]
    pub fn effect(&self, text: &str) -> Option<String> {
        STANDARDS.iter().find_map(|standard| self.effect_under(text, standard))
    }

    /// The same with one standard.
    fn effect_under(&self, text: &str, standard: &str) -> Option<String> {
        let options = Options { optimisation: 2, effect: true, ..alone(standard) };
        let bitcode = self.compiler.bitcode(text, options).ok()?;
        Some(dataset::content_hash(&bitcode))
    }

    /// A program without its dead code: statements that lie in a range of its bytes and that -O2 makes the same of the program
    /// without, loops and branches with nothing in them, and variables that nothing names; what is left has to be what `may_be` says
    /// that it may. `None` where it compiles with no standard.
    ///
    /// ```no_run
    /// # let judge = stampmill_kernels::Judge::new(clang::Clang::start(1)?);
    /// let text = "kernel void A(global int* a) { int b = 2; b += a[1]; a[0] = 1; }";
    /// let left = judge.without_dead_code(text, 0..text.len(), &|_| true).expect("it compiles");
    /// assert_eq!(left.split_whitespace().collect::<Vec<_>>().join(" "), "kernel void A(global int* a) { a[0] = 1; }");
    /// # Ok::<(), clang::Error>(())
    /// ```
    #[must_use]
    pub fn without_dead_code(
        &self,
        text: &str,
        within: Range<usize>,
        may_be: &dyn Fn(&str) -> bool,
    ) -> Option<String> {
        STANDARDS.iter().find_map(|standard| {
            dead::removed(text, &within, &|left| self.effect_under(left, standard), may_be)
        })
    }

    /// # Errors
    /// That the machine failed clang since this was last asked: what was said in between is about no program.
    pub fn works(&self) -> Result<(), clang::Error> {
        self.compiler.works()
    }

    /// The rows of a content file's kernels, and of what was rejected, as [`Prepare`](crate::Prepare) makes them before it
    /// compares files. Ask [`Judge::works`] before any of it is kept.
    #[must_use]
    pub fn rows(&self, source: &Source) -> Vec<KernelRow> {
        file::rows(&self.compiler, source, Language::OpenCl)
    }

    /// The row of a program's last kernel, isolated and in normal form, as
    /// [`Prepare`](crate::Prepare) makes it.
    #[must_use]
    pub fn normalise(&self, text: &str) -> Option<KernelRow> {
        let id = dataset::content_hash(text.as_bytes());
        let source = Source { id, text: Some(text.to_owned()), ..Source::default() };
        let rows = file::of_opencl(&self.compiler, &source, text);
        rows.into_iter().rfind(KernelRow::is_kernel)
    }
}
