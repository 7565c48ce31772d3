//! Whether work-items of a kernel may race, whatever it is run with.

use crate::{Error, judge::STACK, program::Program};
use clang::{Clang, Options, Request};
use std::thread;

/// Finds kernels whose work-items access places of global memory that may be the same, as far as their text says so: what is
/// run finds races with the arguments that it is run with.
pub struct MayRace {
    clang: Clang,
}

impl MayRace {
    /// With so many workers.
    ///
    /// # Errors
    /// When clang's worker cannot be had.
    pub fn new(jobs: usize) -> Result<MayRace, Error> {
        Ok(MayRace { clang: Clang::start(jobs.max(1))? })
    }

    /// Whether two work-items of the kernel may access one element of a global buffer that one of them writes. Of what cannot
    /// be read, such as a text with several kernels, nothing is said.
    #[must_use]
    pub fn is_in(&self, text: &str) -> bool {
        // A sum of many terms is a tree as deep.
        let look = || self.read(text).is_some_and(|program| program.may_race());
        thread::scope(|scope| {
            let looking = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, look);
            looking.is_ok_and(|one| one.join().expect("looking at a program does not panic"))
        })
    }

    fn read(&self, text: &str) -> Option<Program> {
        let (source, options) = (text.to_owned(), Options::opencl());
        let answer = self.clang.ask(&Request::Parse { source, options, tree: true }).ok()?;
        if answer.first_error().is_some() {
            return None;
        }
        Program::read(text, answer.tree.as_ref()?)
    }
}
