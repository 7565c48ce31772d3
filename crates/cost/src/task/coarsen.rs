use super::cost::Set;
use crate::reader::Choice::{Coarsen, Default};

/// Work-items that are done as one (thread coarsening; Magni, Dubach and O'Boyle, PACT 2014): neighbors in the first
/// dimension, one behind the other, so that what they share outside of loops is computed once.
pub(crate) const COARSEN: Set = Set {
    name: "coarsen",
    about: "cycles of a work-item as `cost` has them, so many neighbors in the first dimension done as one",
    choices: &[("1", Default), ("2", Coarsen(2)), ("4", Coarsen(4)), ("8", Coarsen(8))],
};
