use crate::Ran;
use clang::{Token, Tree};
use llvm::Module;

/// What there is to see of one program. Absent parts were not asked for or do not exist: a bitcode
/// file has no syntax tree.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProgramView<'a> {
    /// The syntax tree of the source.
    pub tree: Option<&'a Tree>,
    /// The tokens of the source, comments included.
    pub tokens: Option<&'a [Token]>,
    /// The compiled module.
    pub module: Option<&'a Module<'a>>,
    /// How its kernels ran.
    pub run: Option<&'a Ran>,
    /// Names of the OpenCL kernels with a body, in source order.
    pub kernels: &'a [String],
}

/// Which part of a [`ProgramView`] a space looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// [`ProgramView::tree`].
    Tree,
    /// [`ProgramView::tokens`].
    Tokens,
    /// [`ProgramView::module`].
    Module,
    /// [`ProgramView::run`].
    Run,
}
