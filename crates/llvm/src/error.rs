use crate::Version;
use std::path::PathBuf;

/// What can go wrong with LLVM and its modules.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No library of LLVM 14 or later on this machine.
    #[error(
        "no LLVM library found (14 or later); install one (`apt install libllvm19`, or a Rust \
         toolchain by rustup) or name its file in STAMPMILL_LIBLLVM"
    )]
    NoLibrary,
    /// All libraries of this machine are older than what they are to read.
    #[error(
        "the newest LLVM library found is {library}, and LLVM {writer} is needed to read what clang {writer} \
         writes; install one (`apt install libllvm{writer}`) or name its file in STAMPMILL_LIBLLVM"
    )]
    TooOld {
        /// The newest library.
        library: Version,
        /// The major version that is needed.
        writer: u32,
    },
    /// The file could not be loaded.
    #[error("cannot load LLVM from {}: {reason}", path.display())]
    Load {
        /// The library.
        path: PathBuf,
        /// The loader's message.
        reason: String,
    },
    /// The file is a library, but lacks a function of LLVM's C API.
    #[error("{} has no function `{symbol}`: not LLVM 14 or later", path.display())]
    MissingSymbol {
        /// The library.
        path: PathBuf,
        /// The function.
        symbol: &'static str,
    },
    /// The module was written by a later LLVM than the one that should read it.
    #[error(
        "{name}: written by {producer}, too new for LLVM {library}; \
         name a newer library in STAMPMILL_LIBLLVM"
    )]
    TooNew {
        /// The module.
        name: String,
        /// What wrote it, as it says in its header, for example `LLVM22.1.2-rust-1.95.0-stable`.
        producer: String,
        /// The version that tried to read it.
        library: Version,
    },
    /// Neither bitcode nor textual IR, or broken.
    #[error("{name}: {message}")]
    Parse {
        /// The module.
        name: String,
        /// LLVM's message.
        message: String,
    },
    /// The module breaks a rule of the IR.
    #[error("{name}: invalid module: {message}")]
    Invalid {
        /// The module.
        name: String,
        /// The verifier's message.
        message: String,
    },
    /// Passes could not be run.
    #[error("pipeline `{pipeline}`: {message}")]
    Pipeline {
        /// The pipeline as given.
        pipeline: String,
        /// LLVM's message.
        message: String,
    },
    /// The passes of this library cannot be watched.
    #[error(
        "passes of LLVM {library} cannot be watched; name a library of LLVM 19 or later in STAMPMILL_LIBLLVM"
    )]
    CannotWatch {
        /// The library's version.
        library: Version,
    },
}
