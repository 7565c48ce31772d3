//! Edits: small changes of a kernel that stay OpenCL C, that nothing optimises away, and whose
//! effect on a feature vector is nearly the same wherever they are made.
//!
//! An edit adds operands from what is there to be named, else from fresh kernel parameters: those
//! are opaque to the compiler and cost no instruction. What a kernel computes more of, it stores
//! more of. Each family of edits is a file; [`all`] lists every edit in every [`Zone`] that it can be
//! made in, because that is what its effect depends on most.

mod call;
mod control;
mod exchange;
mod flow;
mod helper;
mod invariant;
mod make;
mod memory;
mod named;
mod natural;
mod place;
mod plain;
mod pointer;
mod removal;
mod shape;
mod site;
mod undo;
mod value;

use crate::program::Program;
use rand_chacha::ChaCha8Rng;

pub(crate) use natural::{is_jump, natural};
pub(crate) use plain::is_plain;
pub(crate) use site::{random_point, random_statement, random_value};

/// The random numbers of a search.
pub(crate) type Rng = ChaCha8Rng;

/// The kind of place an edit is made at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Zone {
    /// A value that is computed with.
    Value,
    /// A value that is part of an address.
    Index,
    /// A value that decides a branch.
    Condition,
    /// Statements of the kernel's own list.
    Top,
    /// Statements of a branch outside of loops.
    Branch,
    /// Statements inside a loop.
    Loop,
    /// Wherever.
    Any,
}

/// Values, and parts of addresses.
const VALUES: &[Zone] = &[Zone::Value, Zone::Index];
const CONDITIONS: &[Zone] = &[Zone::Condition];
const ALL_VALUES: &[Zone] = &[Zone::Value, Zone::Index, Zone::Condition];
const STATEMENTS: &[Zone] = &[Zone::Top, Zone::Branch, Zone::Loop];
const TOP: &[Zone] = &[Zone::Top];
const ANY: &[Zone] = &[Zone::Any];

/// How an edit is made; `None` where the program has no place for it.
type Apply = fn(&mut Program, Zone, &mut Rng) -> Option<()>;

/// A family member: its name, its zones, its work.
type Entry = (&'static str, &'static [Zone], Apply);

/// An edit in a zone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edit {
    pub(crate) name: &'static str,
    pub(crate) zone: Zone,
    apply: Apply,
}

impl Edit {
    /// Make it at a random place of its zone.
    pub(crate) fn apply(&self, program: &mut Program, rng: &mut Rng) -> Option<()> {
        (self.apply)(program, self.zone, rng)
    }
}

/// Every edit in each of its zones, in an order that never changes within a build.
pub(crate) fn all() -> Vec<Edit> {
    let families = [
        value::EDITS,
        call::EDITS,
        memory::EDITS,
        named::EDITS,
        pointer::EDITS,
        control::EDITS,
        flow::EDITS,
        shape::EDITS,
        removal::EDITS,
        undo::EDITS,
        exchange::EDITS,
        helper::EDITS,
        invariant::EDITS,
    ];
    families
        .into_iter()
        .flatten()
        .flat_map(|(name, zones, apply)| {
            zones.iter().map(|zone| Edit { name, zone: *zone, apply: *apply })
        })
        .collect()
}

/// Those after which work-items do not, as a rule, write one place together or read local memory that nothing has written.
pub(crate) fn defined() -> Vec<Edit> {
    let undefined = [
        "store",
        "store-constant",
        "store-at",
        "store-at-wide",
        "store-vector-two",
        "store-vector-four",
        "store-splat",
        "store-through",
        "store-behind",
        "declare-and-fill",
        "copy",
        "copy-at",
        "for-store",
        "local-instead",
        "to-local",
    ];
    all().into_iter().filter(|edit| !undefined.contains(&edit.name)).collect()
}

/// The edits in the manner of SRCIROR (Hariri and Shi, ASE 2018): they change what is there, they
/// do not aim.
pub(crate) fn mutations() -> Vec<Edit> {
    let undirected = [
        "swap-operator",
        "swap-comparison",
        "change-literal",
        "remove-statement",
        "duplicate-statement",
        "swap-statements",
    ];
    all().into_iter().filter(|edit| undirected.contains(&edit.name)).collect()
}

#[cfg(test)]
mod tests;
