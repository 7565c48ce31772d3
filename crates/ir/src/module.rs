use dataset::{Row, Verdict};
use serde::{Deserialize, Serialize};

/// One row of an IR data set: a module as the compiler first made it, or what became of a package
/// or file that gave none. Only rows of verdict `accepted` are modules.
///
/// The first six columns are ComPile's (Grossman et al., 2023, section 4), under its names.
///
/// | verdict | the row is |
/// |---|---|
/// | `accepted` | a module |
/// | `duplicate` | a module whose structure another one has; `content` is empty |
/// | `licence-not-admitted` | a module that the licence policy turned away; `content` is empty |
/// | `not-a-module`, `invalid-module`, `llvm-too-new`, `too-large`, `crash`, `timeout`, `memory-limit` | bitcode that could not be read |
/// | `does-not-build`, `no-modules`, `timeout`, `disk-limit`, `memory-limit`, `source-unavailable` | a whole package; `log` has its last words |
/// | `licence-text` | the text of a licence of the package; its `id` stands in `license_files` |
/// | `built` | a whole package; `detail` says how many modules it gave |
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Module {
    /// Bitcode, before any optimisation.
    #[serde(with = "serde_bytes")]
    pub content: Vec<u8>,
    /// SPDX expression, or empty.
    pub license_expression: String,
    /// What the expression was read from: `metadata`, `debian-copyright`, `licence-file`, or empty.
    pub license_source: String,
    /// Content hashes of the licence texts that the package holds.
    pub license_files: Vec<String>,
    /// The source it was built from, pinned: `crate:regex@1.11.1`.
    pub package_source: String,
    /// `c`, `c++`, `rust`, `fortran`, `d`, `zig`, `swift`, `julia`, or empty.
    pub language: String,
    /// Content hash of `content`.
    pub id: String,
    /// `module`, `package` for a row about a whole package, `licence-text` for a text in `content`.
    pub kind: String,
    /// Package name.
    pub package: String,
    /// Package version, or empty.
    pub version: String,
    /// The file it was compiled from: inside the tree that was built, else as the command names it.
    pub path: String,
    /// What it was compiled into: the object file, or the name and kind of a crate.
    pub target: String,
    /// The exact command as the build gave it, paths inside the build tree written from `[tree]`. Where it
    /// names gcc, clang ran in its place: `compiler` says so.
    pub command: Vec<String>,
    /// What wrote the bitcode, as its header says, for example `LLVM22.1.2-rust-1.95.0-stable`.
    pub compiler: String,
    /// Major version of the LLVM which wrote it; 0 where it does not say.
    pub llvm: u32,
    /// Hash over everything the preprocessor read: the source, each included file, the macros of
    /// the command line.
    pub source_hash: String,
    /// Bytes of `content`, also where it was dropped as a duplicate.
    pub bytes: u64,
    /// Functions with a body.
    pub functions: u64,
    /// Instructions in them.
    pub instructions: u64,
    /// Structural hash of the module: names, metadata and order do not matter.
    pub structure: String,
    /// Structural hashes of its functions, ascending.
    pub function_structures: Vec<u64>,
    /// MinHash signature of its instructions.
    pub signature: Vec<u32>,
    /// Least `id` of the modules near to it; one family is one split.
    pub family: String,
    /// Modules of the same structure that were dropped for this one.
    pub duplicates: u64,
    /// `train`, `validation`, `test`, or empty before `ir export`.
    pub split: String,
    /// Why it was kept or turned away.
    pub verdict: String,
    /// What a person would ask next.
    pub detail: String,
    /// The end of a failed package's output.
    pub log: String,
}

impl Row for Module {
    const SCHEMA: &'static str = "module";
    const VERSION: u32 = 1;
    const SHARD_ROWS: usize = 4096;
}

/// `kind` of a module.
pub(crate) const MODULE: &str = "module";
/// `kind` of a row about a whole package.
pub(crate) const PACKAGE: &str = "package";
/// `kind` and `verdict` of the text of a licence.
pub(crate) const LICENCE_TEXT: &str = "licence-text";
/// `verdict` of a package that was built.
pub(crate) const BUILT: &str = "built";
/// `verdict` of a module whose structure another one has.
pub(crate) const DUPLICATE: &str = "duplicate";

impl Module {
    /// Whether it is a usable module.
    #[must_use]
    pub fn is_accepted(&self) -> bool {
        self.verdict == Verdict::ACCEPTED
    }

    /// Whether the row is about a whole package.
    #[must_use]
    pub fn is_package(&self) -> bool {
        self.kind == PACKAGE
    }

    /// Take a verdict; the content of what is not accepted is not kept.
    #[must_use]
    pub fn turned_away(mut self, verdict: Verdict) -> Module {
        self.verdict = verdict.name.into_owned();
        self.detail = verdict.detail;
        self.content = Vec::new();
        self
    }
}
