//! Rows of raw data sets, under the names that this crate uses.

pub use rows::ContentFile;
use rows::ContentVerdict;
pub(crate) use rows::content_kind::{EMBEDDED, FILE, LICENSE, SOURCE};

pub(crate) const LICENSE_TEXT: &str = ContentVerdict::LicenseText.name();
pub(crate) const UNAVAILABLE: &str = ContentVerdict::SourceUnavailable.name();
