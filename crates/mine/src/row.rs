use dataset::{Row, Verdict};
use serde::{Deserialize, Serialize};

/// One row of a raw data set: a content file that stands alone, or what became of something that is
/// none. Only rows of verdict `accepted` are programs.
///
/// | verdict | the row is |
/// |---|---|
/// | `accepted` | a content file, includes inlined |
/// | `too-large`, `not-utf8`, `empty`, `not-opencl`, `includes-too-large` | a file turned away; `text` is empty |
/// | `unreadable`, `not-a-file` | a file that could not be read, or a pipe, socket or device in its place |
/// | `licence-not-admitted` | a file the licence filter turned away; `text` is empty |
/// | `source-unavailable`, `partial-source`, `broken-archive`, `package-too-large`, `unsafe-path`, `too-deep` | news of a whole source |
/// | `licence-text` | the full text of a licence, stored once; its `id` is other rows' `licence_text` |
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentFile {
    /// Content hash of `text`.
    pub id: String,
    /// The content file with its includes inlined, UTF-8, lines ended by `\n`.
    pub text: String,
    /// `opencl`.
    pub language: String,
    /// `file` for a file as found, `embedded` for a string in another program, `licence`, `source`.
    pub kind: String,
    /// The source as it was asked for, for example `deb:hashcat`.
    pub source: String,
    /// Package name.
    pub package: String,
    /// Package version, commit, or empty.
    pub version: String,
    /// Path inside the package; an embedded kernel adds `#` and the line it begins on.
    pub path: String,
    /// SPDX expression, or empty.
    pub licence: String,
    /// `spdx-header`, `header-text`, `debian-copyright`, `licence-file`, `metadata`, or empty.
    pub licence_source: String,
    /// `id` of the row that holds the licence's text, or empty.
    pub licence_text: String,
    /// Id of the first member of the file's family of near-duplicates.
    pub family: String,
    /// Other files of the same text, removed.
    pub duplicates: u64,
    /// Kernels counted textually (heads `__kernel ... void name(`), included ones not counted.
    pub kernels: u64,
    /// Whether the text came out of a template whose holes were filled with the holes' names.
    pub template: bool,
    /// Compiler options found in the package that define a name this text uses: `-DNAME=VALUE`;
    /// a value that the host program computes is written `?`.
    pub defines: Vec<String>,
    /// Includes that nothing in the package answers to; their lines are gone from `text`,
    /// except in lists of data.
    pub missing_includes: Vec<String>,
    /// MinHash signature of the file's own tokens, includes not counted.
    pub signature: Vec<u32>,
    /// Why it was kept or turned away.
    pub verdict: String,
    /// What a person would ask next.
    pub detail: String,
}

impl Row for ContentFile {
    const SCHEMA: &'static str = "content-file";
    const VERSION: u32 = 1;
}

/// `kind` of a file found as it is.
pub(crate) const FILE: &str = "file";
/// `kind` of a string found in another program.
pub(crate) const EMBEDDED: &str = "embedded";
/// `kind` of news about a whole source.
pub(crate) const SOURCE: &str = "source";
/// `kind` and `verdict` of licence texts.
pub(crate) const LICENCE: &str = "licence";
pub(crate) const LICENCE_TEXT: &str = "licence-text";
pub(crate) const UNAVAILABLE: &str = "source-unavailable";

impl ContentFile {
    /// Whether the row stands for a content file, kept or turned away.
    #[must_use]
    pub fn is_file(&self) -> bool {
        self.kind == FILE || self.kind == EMBEDDED
    }

    /// Whether it is a usable program.
    #[must_use]
    pub fn is_accepted(&self) -> bool {
        self.verdict == Verdict::ACCEPTED
    }
}
