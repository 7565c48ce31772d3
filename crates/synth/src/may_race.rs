//! What the text of a kernel lets go wrong with some arguments: races, divergent barriers, reading what is not written.

use crate::{Error, judge::STACK, program::Program};
use clang::{Answer, Clang, Options, Request};
use dataset::Verdict;
use rows::FeaturesVerdict;
use sandbox::Death;
use std::thread;

/// What goes wrong with some arguments, if not with those that a kernel is run with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hazard {
    /// Two work-items may access one element of a global buffer that one of them writes.
    MayRace,
    /// Some work-items of a group may come to a barrier that others do not come to.
    DivergentBarrier,
    /// Local memory may be read that nothing has written.
    ReadsUnset,
}

impl Hazard {
    /// In a word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Hazard::MayRace => "may-race",
            Hazard::DivergentBarrier => "divergent-barrier",
            Hazard::ReadsUnset => "reads-unset",
        }
    }

    fn of(program: &Program) -> Option<Hazard> {
        if program.has_divergent_barrier() {
            Some(Hazard::DivergentBarrier)
        } else if program.may_race() {
            Some(Hazard::MayRace)
        } else {
            program.may_read_unset().then_some(Hazard::ReadsUnset)
        }
    }
}

/// Finds each [`Hazard`] of a kernel, as far as its text says so: what is run finds those of the arguments that it is run with.
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

    /// The first of what may go wrong in the kernel, divergent barriers first; `None` where nothing is found. Or why that cannot
    /// be told, with a word of [`FeaturesVerdict`]: it does not compile, brings clang down, or is not one kernel that can be
    /// read.
    ///
    /// # Errors
    /// When clang does not work or no thread can be started, and when the user has stopped the run.
    pub fn hazard(&self, text: &str) -> Result<Result<Option<Hazard>, Verdict>, Error> {
        self.look(text, Hazard::of)
    }

    /// Whether two work-items may race, whatever else goes wrong.
    #[cfg(test)]
    pub(crate) fn is_in(&self, text: &str) -> Result<Result<bool, Verdict>, Error> {
        self.look(text, Program::may_race)
    }

    fn look<R: Send>(
        &self,
        text: &str,
        found: fn(&Program) -> R,
    ) -> Result<Result<R, Verdict>, Error> {
        // A sum of many terms is a tree as deep.
        let look = || self.read(text).map(|read| read.map(|program| found(&program)));
        thread::scope(|scope| {
            let looking = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, look);
            looking.map_err(Error::Thread)?.join().expect("looking at a program does not panic")
        })
    }

    fn read(&self, text: &str) -> Result<Result<Program, Verdict>, Error> {
        let (source, options) = (text.to_owned(), Options::opencl());
        let answer = self.clang.ask(&Request::Parse { source, options, tree: true });
        self.program_of(text, answer)
    }

    fn program_of(
        &self,
        text: &str,
        answer: Result<Answer, Death>,
    ) -> Result<Result<Program, Verdict>, Error> {
        let answer = match answer {
            Ok(answer) => answer,
            Err(Death::Stopped) => return Err(Error::Stopped),
            Err(death) if death.is_ours() => {
                let worker = self.clang.worker().to_owned();
                return Err(clang::Error::CannotStart { worker, death }.into());
            }
            Err(death) => return Ok(Err(Verdict::new(death.name(), death.to_string()))),
        };
        if let Some(error) = answer.first_error() {
            return Ok(Err(Verdict::new(FeaturesVerdict::DoesNotCompile, error.message.as_str())));
        }
        let program = answer.tree.as_ref().and_then(|tree| Program::read(text, tree));
        let unread =
            "only a text of one kernel, written without macros, can be looked at for races";
        Ok(program.ok_or_else(|| Verdict::new(FeaturesVerdict::Unsupported, unread)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_not_taken_for_free_of_races() {
        let found = MayRace::new(1).unwrap_or_else(|error| panic!("{error}"));
        let kernel = "kernel void A(global int* a) { a[get_global_id(0)] = 1; }\n";
        let other = kernel.replace('A', "B");
        let hidden = kernel.replace("kernel", "KERNEL");
        for (text, wanted) in [
            (kernel.to_owned(), Ok(false)),
            (format!("{kernel}{other}"), Err("unsupported")),
            (format!("#define KERNEL __kernel\n{hidden}"), Err("unsupported")),
            ("int f(int a) { return a; }\n".to_owned(), Err("unsupported")),
            (kernel.replace("= 1", "= missing"), Err("does-not-compile")),
        ] {
            let said = found.is_in(&text).unwrap_or_else(|error| panic!("{error}"));
            let word = said.as_ref().copied().map_err(|verdict| &*verdict.name);
            assert_eq!(word, wanted, "{text}: {said:?}");
        }
    }

    #[test]
    fn each_hazard_has_its_word() {
        let found = MayRace::new(1).unwrap_or_else(|error| panic!("{error}"));
        let local = "if (n > 4) t[0] = n; a[get_global_id(0)] = t[0];";
        for (body, word) in [
            ("a[get_global_id(0)] = n;", None),
            ("a[n] = 1;", Some("may-race")),
            ("if (get_global_id(0) < n) barrier(CLK_LOCAL_MEM_FENCE);", Some("divergent-barrier")),
            (local, Some("reads-unset")),
        ] {
            let text = format!("kernel void A(global int* a, local int* t, int n) {{ {body} }}");
            let said = found.hazard(&text).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(said.map(|one| one.map(Hazard::name)), Ok(word), "{body}");
        }
    }

    #[test]
    fn the_death_of_clang_is_a_verdict_and_a_fault_of_the_machine_an_error() {
        let found = MayRace::new(1).unwrap_or_else(|error| panic!("{error}"));
        let of = |death: Death| found.program_of("", Err(death));
        for (death, word) in [
            (Death::Timeout(7), FeaturesVerdict::Timeout),
            (Death::Signal(11, String::new()), FeaturesVerdict::Crash),
        ] {
            let verdict = of(death).expect("no fault").expect_err("nothing was read");
            assert_eq!(verdict.name, word.name());
        }
        assert!(matches!(of(Death::Stopped), Err(Error::Stopped)));
        let fault = of(Death::Machine("no room".into())).expect_err("a fault");
        assert!(fault.is_fault() && fault.to_string().contains("no room"), "{fault}");
    }
}
