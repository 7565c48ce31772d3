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
    /// What families are found by cannot be kept.
    #[error(
        "cannot keep the signatures of kernels in a temporary file: {0}; TMPDIR says where it is"
    )]
    Signatures(std::io::Error),
}
