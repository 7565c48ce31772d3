/// What can go wrong with a preparation as a whole; what is wrong with a program is a verdict.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no compiler to ask.
    #[error(transparent)]
    Clang(#[from] clang::Error),
    /// There is no LLVM to read modules with.
    #[error(transparent)]
    Llvm(#[from] llvm::Error),
    /// A data set cannot be read or written.
    #[error(transparent)]
    Dataset(#[from] dataset::Error),
}
