//! The only tensor library: engines, weights, layers.
