use dataset::Verdict;

schema! {
    /// One row of a raw data set: a content file that stands alone, or what became of something that is
    /// none. Only rows of verdict `accepted` are programs.
    #[derive(Default, Eq)]
    pub struct ContentFile = "content-file", 2 {
        /// Content hash of `text`.
        pub id: String,
        /// The content file with its includes inlined, between `#line` directives that say which lines of which file follow;
        /// UTF-8, lines ended by `\n`.
        pub text: String,
        /// `opencl`, `cuda`, `c` or `rust`.
        pub language: String,
        /// `file` for a file as found, `embedded` for a string in another program, `license`, `source`.
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
        pub license: String,
        /// `spdx-header`, `header-text`, `debian-copyright`, `license-file`, `metadata`, or empty.
        pub license_source: String,
        /// `id` of the row that holds the license's text, or empty.
        pub license_text: String,
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
        /// Why it was kept or rejected.
        pub verdict: String,
        /// What a person would ask next.
        pub detail: String,
    }
}

/// `kind` of a file found as it is.
pub const FILE: &str = "file";
/// `kind` of a string found in another program.
pub const EMBEDDED: &str = "embedded";
/// `kind` of news about a whole source.
pub const SOURCE: &str = "source";
/// `kind` of license texts.
pub const LICENSE: &str = "license";

impl ContentFile {
    /// Whether the row stands for a content file, kept or rejected.
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

view! {
    /// What a content file is prepared from.
    pub struct ContentText of ContentFile {
        pub id: String,
        pub text: String,
        pub language: String,
        pub kind: String,
        pub source: String,
        pub package: String,
        pub version: String,
        pub path: String,
        pub license: String,
        pub license_source: String,
        pub kernels: u64,
        pub defines: Vec<String>,
        pub verdict: String,
        pub detail: String,
    }
}

view! {
    /// A content file's text, as a page shows it beside what was made of it.
    pub struct ContentSource of ContentFile {
        pub id: String,
        pub text: String,
    }
}

view! {
    /// What tells a content file from others, and where it is from.
    pub struct ContentOrigin of ContentFile {
        pub id: String,
        pub kind: String,
        pub source: String,
        pub package: String,
        pub version: String,
        pub path: String,
        pub verdict: String,
        pub detail: String,
    }
}

words! {
    /// Verdicts of `mine`, in schema `content-file`.
    pub enum ContentVerdict, "verdict on a content file" {
        Accepted "accepted" Program "a content file, its includes inlined";
        TooLarge "too-large" Program "larger than any program";
        NotUtf8 "not-utf8" Program "binary";
        Empty "empty" Program "nothing in it";
        NotOpenCl "not-opencl" Program "another language with the same extension";
        NoKernel "no-kernel" Program "a file of CUDA or HIP that holds host code alone";
        IncludesTooLarge "includes-too-large" Program "larger than any program once its includes are inlined";
        LicenseNotAdmitted "license-not-admitted" Us "the license filter does not admit it";
        Unreadable "unreadable" Machine "a file that this machine could not read";
        NotAFile "not-a-file" Program "a pipe, socket, device or broken link in the place of a file";
        UnsafePath "unsafe-path" Program "a link or path that leads out of its folder";
        TooDeep "too-deep" Program "folders deeper than any program needs";
        SourceUnavailable "source-unavailable" Machine "a whole source that could not be fetched";
        PartialSource "partial-source" Machine "a source of which a part could not be fetched";
        BrokenArchive "broken-archive" Program "an archive that cannot be unpacked to its end";
        PackageTooLarge "package-too-large" Us "more files or bytes than a package may have";
        LicenseText "license-text" Program "no program: the text of a license, stored once";
    }
}
