//! The compiler, asked over a pipe.
//!
//! clang is linked by one executable alone, the worker `stampmill-clang` (crate `clang-worker`). It
//! keeps clang in-process, so that a compile costs about a millisecond and a half and not the
//! thirty-five of a new process, and runs in a sandbox, so that a program that crashes, hangs or
//! bloats clang costs one worker and not the run. This crate is the other end:
//!
//! - [`Clang`] starts workers and asks them; from any number of threads, each worker serves one
//!   request at a time;
//! - [`Request`] and [`Answer`] are all that can be asked and answered: diagnostics, declarations
//!   and references by byte offset, kernels with their arguments' types, syntax trees, bitcode,
//!   canonical IR, preprocessed and formatted text;
//! - a program that is rejected is an [`Answer`] with an error among its diagnostics; one that
//!   kills its worker is a [`sandbox::Death`]; [`Error`] is for a worker that cannot be had at all.
//!
//! A program sees an in-memory file system that holds itself, the virtual headers of its
//! [`Options`] and clang's own headers; no file of the machine.
//!
//! ```no_run
//! use stampmill_clang::{Clang, Options};
//!
//! let clang = Clang::start(1)?;
//! let source = "kernel void A(global float* a) { a[get_global_id(0)] = 1.0f; }";
//! match clang.compile(source, &Options::opencl()) {
//!     Ok(answer) => match answer.first_error() {
//!         None => println!("{} bytes of bitcode", answer.code.unwrap_or_default().bitcode.len()),
//!         Some(error) => println!("rejected: {}", error.message),
//!     },
//!     Err(death) => println!("clang did not survive it: {death}"),
//! }
//! # Ok::<(), stampmill_clang::Error>(())
//! ```

mod client;
mod protocol;

pub use client::{Clang, Error, Includes, WORKER_VARIABLE, find_worker, version_of};
pub use protocol::{
    AddressSpace, Answer, Argument, CUDA_HEADER, CUDA_HEADER_NAME, Code, Declaration,
    DeclarationKind, Diagnostic, Facts, Field, FunctionSize, Hazard, HazardKind, Kernel, Language,
    Node, Options, Reference, Request, Scalar, Severity, Token, TokenKind, Tree, Triple, Type,
};
