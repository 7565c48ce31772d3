//! Candidates judged: compiled, and described in the space of the search.

use crate::{Error, halt::Halt, program::Program};
use clang::{Clang, Options, Request, Triple};
use dataset::{Code, Language, Notes};
use features::{CompileConfigs, Extractor, FeatureSpace};
use lexer::kernel_names;
use rayon::{ThreadPool, prelude::*};
use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

/// Bytes of a thread's stack: a sum of as many terms as the largest candidate has is a tree as deep.
pub(crate) const STACK: usize = 256 << 20;

/// A kernel's name, and where it lies.
pub type Named = (String, Vec<f64>);

/// Compiles candidates on all cores and says where they lie; shared by any number of threads.
pub struct Judge {
    space: &'static dyn FeatureSpace,
    extractor: Extractor,
    clang: Clang,
    threads: Option<ThreadPool>,
    judged: AtomicU64,
    halt: Halt,
}

/// Where a candidate lies.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Location {
    /// It lies here.
    At(Vec<f64>),
    /// It does not compile, or has no vector.
    Nowhere,
    /// It was not looked at: the search is being cut short.
    Unknown,
}

impl Judge {
    /// For this space, with so many workers.
    ///
    /// Candidates are compiled in one way, as OpenCL C 2.0 for `nvptx64-nvidia-nvcl` at -O1: how the
    /// published vectors were made.
    ///
    /// # Errors
    /// When clang's worker cannot be had.
    pub fn new(space: &'static dyn FeatureSpace, jobs: usize) -> Result<Judge, Error> {
        let jobs = jobs.max(1);
        let configs = CompileConfigs {
            opencl: vec![options()],
            c: Vec::new(),
            cxx: Vec::new(),
            cuda: Vec::new(),
        };
        let halt = Halt::default();
        let cancelled = halt.abortion();
        let settings =
            features::Options { configs, jobs, cancelled, ..features::Options::default() };
        let threads =
            rayon::ThreadPoolBuilder::new().num_threads(jobs).stack_size(STACK).build().ok();
        Ok(Judge {
            space,
            extractor: Extractor::new(vec![space], settings),
            clang: Clang::start(jobs)?.with_stop(halt.abortion()),
            threads,
            judged: AtomicU64::new(0),
            halt,
        })
    }

    /// The space of the search.
    #[must_use]
    pub fn space(&self) -> &'static dyn FeatureSpace {
        self.space
    }

    /// Versions of the compiler and the reader that vectors come from.
    pub(crate) fn versions(&self) -> String {
        format!("{:?} {:?}", self.clang.version(), self.extractor.llvm())
    }

    /// The same by their names.
    pub(crate) fn tools(&self) -> BTreeMap<String, String> {
        let version = |version: Option<String>| version.unwrap_or_else(|| "unknown".to_owned());
        let clang = ("clang".to_owned(), version(self.clang.version()));
        let llvm = self.extractor.llvm().map(|version| ("llvm".to_owned(), version));
        [clang].into_iter().chain(llvm).collect()
    }

    /// Whether a data set of `features` that says this of its making has the vectors that are found
    /// here; or why not.
    pub(crate) fn agrees_with(&self, made: &Notes) -> Result<(), String> {
        // The first that a program compiles in counts, and what is mined compiles in the first.
        if made.configuration["opencl"][0] != features::flags(&options()) {
            return Err("compiled in another way, or for another target".to_owned());
        }
        let has =
            |space: &dyn FeatureSpace| made.configuration["spaces"].get(space.name()).is_some();
        let has = match self.space.joined() {
            [] => has(self.space),
            several => several.iter().all(|space| has(*space)),
        };
        if !has {
            return Err(format!("none of {}", self.space.name()));
        }
        match self.other_tool(made) {
            None => Ok(()),
            Some((tool, version)) => Err(format!("made by another {tool} than {version}")),
        }
    }

    /// Whether a data set of kernels in this space that says this of its making has the vectors that are found here.
    pub(crate) fn has_made(&self, made: &Notes) -> bool {
        made.configuration["space"] == self.space.name() && self.other_tool(made).is_none()
    }

    /// Whether what was read as a vector may be one in this space.
    pub(crate) fn is_vector(&self, read: &[f64]) -> bool {
        read.len() == self.space.dimensions().len() && read.iter().all(|value| value.is_finite())
    }

    /// The first tool that a data set was made by another version of, and the version here.
    fn other_tool(&self, made: &Notes) -> Option<(String, String)> {
        let differs = |(tool, version): &(String, String)| made.tools.get(tool) != Some(version);
        self.tools().into_iter().find(differs)
    }

    /// Texts judged so far.
    #[must_use]
    pub fn judged(&self) -> u64 {
        self.judged.load(Ordering::Relaxed)
    }

    /// The vector of each text, in order; `None` for one that clang rejects or that the space
    /// has no vector of.
    ///
    /// # Errors
    /// When there is no LLVM to read modules with.
    pub fn judge<T: AsRef<str> + Sync>(&self, texts: &[T]) -> Result<Vec<Option<Vec<f64>>>, Error> {
        let judged = self.in_parallel(texts, |text| {
            self.judged.fetch_add(1, Ordering::Relaxed);
            self.one(text.as_ref())
        });
        judged.into_iter().collect()
    }

    /// The same, as far as the search that asks is not being cut short.
    pub(crate) fn locate<T: AsRef<str> + Sync>(&self, texts: &[T]) -> Result<Vec<Location>, Error> {
        let any = AtomicBool::new(false);
        let locate = |text: &T| {
            let enough = self.halt.is_aborted() || any.load(Ordering::Relaxed);
            if self.halt.is_cut() && enough {
                return Ok(Location::Unknown);
            }
            let location = match self.one(text.as_ref()) {
                Ok(Some(vector)) => Location::At(vector),
                Ok(None) => Location::Nowhere,
                Err(Error::Features(features::Error::Cancelled { .. })) => {
                    return Ok(Location::Unknown);
                }
                Err(error) => return Err(error),
            };
            self.judged.fetch_add(1, Ordering::Relaxed);
            any.store(true, Ordering::Relaxed);
            Ok(location)
        };
        self.in_parallel(texts, locate).into_iter().collect()
    }

    /// What cuts work with it short.
    pub(crate) fn halt(&self) -> &Halt {
        &self.halt
    }

    /// Counts texts as they are judged.
    pub(crate) fn counter(&self) -> &AtomicU64 {
        &self.judged
    }

    /// `work` done with each item by all threads, in the items' order.
    pub(crate) fn in_parallel<T: Sync, R: Send>(
        &self,
        items: &[T],
        work: impl Fn(&T) -> R + Sync + Send,
    ) -> Vec<R> {
        match &self.threads {
            Some(threads) => threads.install(|| items.par_iter().map(work).collect()),
            None => items.iter().map(work).collect(),
        }
    }

    fn one(&self, text: &str) -> Result<Option<Vec<f64>>, Error> {
        // Where a space tells functions apart the kernel comes last: it calls the others.
        Ok(self.functions(text)?.pop().map(|(_, vector)| vector))
    }

    /// The vectors of each text's kernels by their names, in order; of one without a name where the
    /// space tells none apart, none where there is no vector.
    ///
    /// # Errors
    /// When there is no LLVM to read modules with.
    pub fn kernels<T: AsRef<str> + Sync>(&self, texts: &[T]) -> Result<Vec<Vec<Named>>, Error> {
        let kernels = self.in_parallel(texts, |text| {
            let names = kernel_names(text.as_ref());
            let mut all = self.functions(text.as_ref())?;
            match all.iter().any(|(name, _)| names.contains(&name.as_str())) {
                true => all.retain(|(name, _)| names.contains(&name.as_str())),
                false => drop(all.drain(..all.len().saturating_sub(1))),
            }
            Ok(all)
        });
        kernels.into_iter().collect()
    }

    /// What the space says of a text: a vector for every function that it tells apart, or one.
    fn functions(&self, text: &str) -> Result<Vec<Named>, Error> {
        let program = dataset::Program {
            language: Language::OpenCl,
            code: Code::Text(text.to_owned()),
            ..dataset::Program::default()
        };
        let rows = self.extractor.describe(&program)?;
        let vector = |mut row: features::Row| {
            row.vectors.remove(self.space.name()).map(|vector| (row.kernel, vector))
        };
        Ok(rows.into_iter().filter_map(vector).collect())
    }

    /// The trees of programs that edits can be made of, in order; `None` for a program of more
    /// kernels than one, or one that clang rejects.
    #[must_use]
    pub fn read<T: AsRef<str> + Sync>(&self, texts: &[T]) -> Vec<Option<Program>> {
        self.in_parallel(texts, |text| self.read_one(text.as_ref()))
    }

    /// The same of one, by the thread that asks: it may hold what the others wait for.
    pub(crate) fn read_one(&self, text: &str) -> Option<Program> {
        let source = text.to_owned();
        let request = Request::Parse { source, options: options(), tree: true };
        let answer = self.clang.ask(&request).ok()?;
        if answer.first_error().is_some() {
            return None;
        }
        Program::read(text, answer.tree.as_ref()?)
    }

    /// The first error of a text that does not compile.
    pub(crate) fn first_error(&self, text: &str) -> Option<String> {
        let source = text.to_owned();
        let answer = self.clang.ask(&Request::Parse { source, options: options(), tree: false });
        let answer = answer.ok()?;
        let error = answer.first_error()?;
        let place = error.line.map(|line| format!("line {line}: ")).unwrap_or_default();
        Some(place + &error.message)
    }

    /// The text in the project's one layout.
    #[must_use]
    pub fn layout(&self, text: &str) -> String {
        let answer = self.clang.format(text, clang::Language::OpenCl).ok();
        answer.and_then(|answer| answer.text).unwrap_or_else(|| text.to_owned())
    }
}

/// The level that kernels are compiled at for their vectors.
pub(crate) const LEVEL: u8 = 1;

fn options() -> Options {
    Options { triple: Triple::Nvptx64, optimisation: LEVEL, ..Options::opencl() }
}
