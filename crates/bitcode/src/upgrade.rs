//! What LLVM makes of calls of its own functions while it reads a module that an earlier one wrote.

/// What becomes of the calls of a function whose name begins with `llvm.`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    /// They stay as they are.
    Stays,
    /// They go: debug information that is no instruction any more.
    Goes,
    /// The mark of a variable's lifetime: since LLVM 22 the variable is its only argument, and other marks go.
    Lifetime,
    /// They stay without the argument of this number: alignment, which is an attribute since LLVM 22.
    Without(u8),
    /// Nobody said.
    #[default]
    Unknown,
}
