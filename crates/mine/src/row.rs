//! Rows of raw data sets, under the names that this crate uses.

pub use rows::ContentFile;
use rows::ContentVerdict;
pub(crate) use rows::content_kind::{EMBEDDED, FILE, LICENCE, SOURCE};

pub(crate) const LICENCE_TEXT: &str = ContentVerdict::LicenceText.name();
pub(crate) const UNAVAILABLE: &str = ContentVerdict::SourceUnavailable.name();
