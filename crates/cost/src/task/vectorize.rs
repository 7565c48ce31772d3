use super::cost::Set;
use crate::reader::Choice::{Default, Vectorize};

/// How many iterations of every loop of a kernel are done at a time: as the compiler decides, one, or as many as is said
/// where the loop allows it at all.
pub(crate) const VECTORIZE: Set = Set {
    name: "vectorize",
    about: "cycles of a work-item as `cost` has them, every loop of the kernel with this `vectorize_width`",
    choices: &[("default", Default), ("1", Vectorize(1)), ("4", Vectorize(4)), ("8", Vectorize(8))],
};
