//! LLVM's C API loaded at run time: modules, functions, instructions, types, passes.
//!
//! Nothing here is linked against LLVM: [`Library::newest`] finds the libraries of a machine (the
//! distribution's, rustc's own) and loads the newest, because a later LLVM reads what every earlier
//! one wrote. [`Library::nearest`] takes the one closest to a module's writer instead, which sees
//! the module as it was written. `STAMPMILL_LIBLLVM` overrides both.
//!
//! - [`Context`]: what modules live in, one per thread; reads bitcode and textual IR;
//! - [`Module`]: verify, print, write, run pass pipelines, and walk [`Function`]s, [`Block`]s,
//!   [`Instruction`]s, [`Value`]s and [`Type`]s. These are copyable handles that borrow the module:
//!   none outlives it, and none is held while passes change it;
//! - [`LoopNest`]: how many loops are around each block of a function; [`LoopHint`]: what passes are asked to do with loops;
//! - [`Watcher`]: is told of every pass before it runs, and looks at the module between passes;
//! - [`Probe`]: calls that are planted in a module, so that it tells what it does when it runs;
//! - [`Identification`]: which LLVM wrote a bitcode file, read without LLVM, so that a module that
//!   is too new is an error naming both versions.
//!
//! LLVM's messages come back in [`Error`]s and [`Context::diagnostics`]; nothing is printed.
//!
//! ```
//! use stampmill_llvm::{Context, Library, Opcode};
//!
//! let Ok(library) = Library::newest() else { return Ok(()) };
//! let context = Context::new(library);
//! let mut module = context.parse("sum", b"
//!     define i32 @sum(i32 %a, i32 %b) {
//!       %p = alloca i32
//!       store i32 %a, ptr %p
//!       %c = load i32, ptr %p
//!       %s = add i32 %c, %b
//!       ret i32 %s
//!     }")?;
//! module.run_passes("mem2reg")?;
//! let sum = module.function("sum").expect("it is defined above");
//! let opcodes: Vec<Opcode> =
//!     sum.blocks().flat_map(|block| block.instructions()).map(|i| i.opcode()).collect();
//! assert_eq!(opcodes, [Opcode::Add, Opcode::Ret]);
//! # Ok::<(), stampmill_llvm::Error>(())
//! ```

mod bitstream;
mod constant;
mod context;
mod detail;
mod discover;
mod error;
mod function;
mod hint;
mod library;
mod loops;
mod module;
mod opcode;
mod probe;
mod symbols;
mod target;
mod types;
mod value;
mod version;
mod watch;

pub use bitstream::Identification;
pub use context::Context;
pub use discover::{Candidate, EARLIEST, OVERRIDE, candidates};
pub use error::Error;
pub use function::{Block, Function, Global, Instruction};
pub use hint::LoopHint;
pub use library::Library;
pub use loops::{LoopNest, loop_weight};
pub use module::Module;
pub use opcode::Opcode;
pub use probe::{Probe, Told};
pub use types::{Type, TypeKind};
pub use value::{Value, ValueKind};
pub use version::Version;
pub use watch::Watcher;
