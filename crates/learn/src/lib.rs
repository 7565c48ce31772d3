//! Active learning: which points of a feature space matter.
