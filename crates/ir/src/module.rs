//! Rows of IR data sets, under the names that this crate uses.

pub use rows::Module;
use rows::ModuleVerdict;
pub(crate) use rows::module_kind::{LICENSE_TEXT, MODULE, PACKAGE};

pub(crate) const BUILT: &str = ModuleVerdict::Built.name();
pub(crate) const DUPLICATE: &str = ModuleVerdict::Duplicate.name();
