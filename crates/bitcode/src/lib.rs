//! A reader of LLVM's bitcode that needs no LLVM, for what asks only of structure: types, constants, instructions.
//!
//! Bitcode changes little from one LLVM to the next, but what LLVM makes of it while it reads changes much. This reader gives
//! what LLVM 22 would have in memory, or says [`Unread`]: of a module of another kind or age, of anything that LLVM would
//! upgrade, fold or refuse, LLVM is to be asked instead. Names of blocks and values, metadata, debug information,
//! attributes and orders of uses are passed over.
//!
//! - [`Reader`] opens a module and reads one [`Body`] after the other;
//! - [`Flat`] is the rest of the module: [`Types`], constants, functions, global variables, in arrays. Memory goes with the
//!   bytes of the module, and with the largest body;
//! - [`Fate`]: what becomes of calls of LLVM's own functions, which only an LLVM can say.
//!
//! ```
//! use stampmill_bitcode::{Reader, Unread};
//!
//! let found = Reader::open(b"BC\xc0\xde and no more of it");
//! assert!(matches!(found, Err(Unread::Broken(_))));
//! ```

mod bits;
mod body;
mod cast;
mod constants;
mod flat;
mod flow;
mod module;
mod number;
mod types;
mod upgrade;

pub use flat::{
    Body, Constant, Flat, Function, Instruction, Kind, Operand, Span, Successors, Type, TypeId,
    Types, Value, ValueId, Variable,
};
pub use module::{LLVM, Reader};
pub use upgrade::Fate;

use std::fmt;

/// Why a module is not read by this reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// It is broken here.
    Broken(&'static str),
    /// It has something that this reader does not know.
    Unknown(&'static str),
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unread::Broken(what) => write!(f, "broken: {what}"),
            Unread::Unknown(what) => write!(f, "not known here: {what}"),
        }
    }
}

impl std::error::Error for Unread {}
