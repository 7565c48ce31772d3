use serde::{Deserialize, Serialize};

/// Where a program comes from and under which license.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Provenance {
    /// The source as it was asked for, for example `deb:hashcat`.
    pub source: String,
    /// Package name.
    pub package: String,
    /// Package version, commit or empty.
    pub version: String,
    /// Path inside the package; a kernel embedded in another file adds `#` and its number.
    pub path: String,
    /// SPDX expression; empty if none was found.
    pub license: String,
    /// What the expression was read from: `spdx-header`, `debian-copyright`, `metadata`,
    /// `license-file`; empty if none was found.
    pub license_source: String,
}
