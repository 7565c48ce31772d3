//! Language models of programs: tokenizers, model kinds, training, constrained sampling.
