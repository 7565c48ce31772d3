//! Filtered sampling and search in feature spaces.
