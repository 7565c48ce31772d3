//! Candidates judged: compiled, and described in the space of the search.

use crate::{Error, program::Program};
use clang::{Clang, Options, Request, Triple};
use dataset::{Code, Language};
use features::{Extractor, FeatureSpace, Ways};
use rayon::{ThreadPool, prelude::*};
use std::sync::atomic::{AtomicU64, Ordering};

/// Compiles candidates on all cores and says where they lie; shared by any number of threads.
pub struct Judge {
    space: &'static dyn FeatureSpace,
    extractor: Extractor,
    clang: Clang,
    threads: Option<ThreadPool>,
    judged: AtomicU64,
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
        let ways = Ways { opencl: vec![options()], c: Vec::new(), cxx: Vec::new() };
        let settings = features::Options { ways, jobs, ..features::Options::default() };
        let threads = rayon::ThreadPoolBuilder::new().num_threads(jobs).build().ok();
        Ok(Judge {
            space,
            extractor: Extractor::new(vec![space], settings),
            clang: Clang::start(jobs)?,
            threads,
            judged: AtomicU64::new(0),
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

    /// Texts judged so far.
    #[must_use]
    pub fn judged(&self) -> u64 {
        self.judged.load(Ordering::Relaxed)
    }

    /// The vector of each text, in order; `None` for one that clang turns away or that the space
    /// has no vector of.
    ///
    /// # Errors
    /// When there is no LLVM to read modules with.
    pub fn judge<T: AsRef<str> + Sync>(&self, texts: &[T]) -> Result<Vec<Option<Vec<f64>>>, Error> {
        self.judged.fetch_add(texts.len() as u64, Ordering::Relaxed);
        self.in_parallel(texts, |text| self.one(text.as_ref())).into_iter().collect()
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
        let program = dataset::Program {
            path: String::new(),
            name: String::new(),
            language: Language::OpenCl,
            code: Code::Text(text.to_owned()),
        };
        let rows = self.extractor.describe(&program)?;
        // Where a space tells functions apart the kernel comes last: it calls the others.
        Ok(rows.into_iter().rev().find_map(|mut row| row.vectors.remove(self.space.name())))
    }

    /// The trees of programs that edits can be made of, in order; `None` for a program of more
    /// kernels than one, or one that clang turns away.
    #[must_use]
    pub fn read<T: AsRef<str> + Sync>(&self, texts: &[T]) -> Vec<Option<Program>> {
        self.in_parallel(texts, |text| {
            let source = text.as_ref().to_owned();
            let request = Request::Parse { source, options: options(), tree: true };
            let answer = self.clang.ask(&request).ok()?;
            if answer.first_error().is_some() {
                return None;
            }
            Program::read(text.as_ref(), answer.tree.as_ref()?)
        })
    }

    /// The text in the project's one layout.
    #[must_use]
    pub fn layout(&self, text: &str) -> String {
        let answer = self.clang.format(text, clang::Language::OpenCl).ok();
        answer.and_then(|answer| answer.text).unwrap_or_else(|| text.to_owned())
    }
}

fn options() -> Options {
    Options { triple: Triple::Nvptx64, optimisation: 1, ..Options::opencl() }
}
