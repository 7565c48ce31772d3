//! The forms that pairs, submissions and candidates are written in, as data: every field with its
//! kind, whether it must be there, and what it means. `edits validate` prints and checks them.
//!
//! PIE's two forms are those of its published files (Shypula et al., ICLR 2024): one for training,
//! with rewards and deciles, one for testing, with the tests and the time of each.

/// Which form a line has and what its fields are called.
pub mod form;
mod lines;

pub use form::{FORMS, Field, Form, Kind};
pub(crate) use lines::read_values;
pub use lines::{Broken, Lines, OnBroken, read_lines};
