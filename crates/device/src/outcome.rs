use serde::{Deserialize, Serialize};
use std::fmt;

/// How the execution of a kernel at one size on one device ended: a verdict about a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Outcome {
    /// It ran, and does predictable work that depends on its input.
    Pass,
    /// The device's compiler refuses the program.
    BuildFailure,
    /// It reaches out of itself (assembly, calls of what it does not define): no driver is given it.
    Refused,
    /// The program holds no kernel.
    NoKernel,
    /// The kernel takes nothing and so can give nothing.
    NoArguments,
    /// An argument is of a type no payload is made for.
    UnsupportedArgument,
    /// The size asked for does not fit the kernel or the device.
    InvalidSize,
    /// The device had not enough memory, registers or the like.
    OutOfResources,
    /// It brought the driver down.
    Crash,
    /// It ran into its wall-clock limit.
    Timeout,
    /// It leaves every buffer as it was.
    NoOutput,
    /// Two different inputs give the same output.
    InputInsensitive,
    /// Two equal inputs give different outputs.
    NonDeterministic,
    /// It reads or writes outside of its buffers.
    OutOfBounds,
    /// Two work-items race for a place in memory.
    Race,
}

/// Whom an [`Outcome`] tells something about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum About {
    /// The kernel itself.
    Kernel,
    /// The way it was driven: an unsupported argument, a size of our choice, a guess that was
    /// wrong about what an index may be.
    Us,
}

impl Outcome {
    /// All of them, as tables list them.
    pub const ALL: [Outcome; 15] = [
        Outcome::Pass,
        Outcome::BuildFailure,
        Outcome::Refused,
        Outcome::NoKernel,
        Outcome::NoArguments,
        Outcome::UnsupportedArgument,
        Outcome::InvalidSize,
        Outcome::OutOfResources,
        Outcome::Crash,
        Outcome::Timeout,
        Outcome::NoOutput,
        Outcome::InputInsensitive,
        Outcome::NonDeterministic,
        Outcome::OutOfBounds,
        Outcome::Race,
    ];

    /// Its word in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Pass => "pass",
            Outcome::BuildFailure => "build-failure",
            Outcome::Refused => "refused",
            Outcome::NoKernel => "no-kernel",
            Outcome::NoArguments => "no-arguments",
            Outcome::UnsupportedArgument => "unsupported-argument",
            Outcome::InvalidSize => "invalid-size",
            Outcome::OutOfResources => "out-of-resources",
            Outcome::Crash => "crash",
            Outcome::Timeout => "timeout",
            Outcome::NoOutput => "no-output",
            Outcome::InputInsensitive => "input-insensitive",
            Outcome::NonDeterministic => "non-deterministic",
            Outcome::OutOfBounds => "out-of-bounds",
            Outcome::Race => "race",
        }
    }

    /// The outcome of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Outcome> {
        Outcome::ALL.into_iter().find(|outcome| outcome.name() == name)
    }

    /// Whom it is about. `compiled`: a reference compiler had accepted the program, so that a
    /// device's compiler that refuses it is merely another one. `guessed`: the kernel computes
    /// addresses from the contents of its buffers, which are of our making.
    #[must_use]
    pub fn about(self, compiled: bool, guessed: bool) -> About {
        match self {
            Outcome::UnsupportedArgument | Outcome::InvalidSize | Outcome::OutOfResources => {
                About::Us
            }
            Outcome::BuildFailure if compiled => About::Us,
            Outcome::Crash | Outcome::OutOfBounds if guessed => About::Us,
            _ => About::Kernel,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl About {
    /// Its word in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            About::Kernel => "kernel",
            About::Us => "us",
        }
    }
}

/// An [`Outcome`] and what a person would ask next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// How it ended.
    pub outcome: Outcome,
    /// The argument, the limit, the compiler's first error; may be empty.
    pub detail: String,
}

impl Finding {
    pub(crate) fn new(outcome: Outcome, detail: impl Into<String>) -> Finding {
        Finding { outcome, detail: dataset::without_chance(&detail.into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_is_found_by_its_name() {
        for outcome in Outcome::ALL {
            assert_eq!(Outcome::named(outcome.name()), Some(outcome));
        }
        assert_eq!(Outcome::named("fine"), None);
    }

    #[test]
    fn a_build_failure_is_about_us_only_where_another_compiler_took_the_program() {
        assert_eq!(Outcome::BuildFailure.about(true, false), About::Us);
        assert_eq!(Outcome::BuildFailure.about(false, false), About::Kernel);
        assert_eq!(Outcome::Crash.about(true, true), About::Us);
        assert_eq!(Outcome::Crash.about(true, false), About::Kernel);
        assert_eq!(Outcome::NoOutput.about(true, true), About::Kernel);
    }
}
