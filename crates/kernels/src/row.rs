use crate::lexer::tokens;
use dataset::{Row, Verdict};
use serde::{Deserialize, Serialize};

/// How much help a kernel needed to compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// None: the content file, its package's `-D` options where their values are known.
    Plain,
    /// The shim's definitions.
    Shim,
    /// Definitions inferred from use.
    Repaired,
}

impl Status {
    /// The word in the `status` column.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Status::Plain => "plain",
            Status::Shim => "shim",
            Status::Repaired => "repaired",
        }
    }
}

/// One row of a kernel data set: a kernel, or a content file or kernel that was turned away. Of C
/// programs: a function in the place of the kernel, without arguments and dimensions.
///
/// | verdict | the row is |
/// |---|---|
/// | `accepted` | a kernel; its text is met here for the first time |
/// | `rewrite-changed-ir` | a kernel whose rewritten form was not proved equal; isolated, not rewritten |
/// | `duplicate` | a kernel whose text another row holds: `detail` is that row's `id` |
/// | `does-not-compile` | a kernel or file that clang rejects; `detail` is the first diagnostic |
/// | `too-small` | a kernel of fewer than [`MINIMUM_INSTRUCTIONS`](crate::MINIMUM_INSTRUCTIONS) |
/// | `not-defined` | a kernel or function that needs what its program does not define; `detail` names it |
/// | `inline-assembly`, `indirect-call`, `linker-attribute` | a kernel that could reach out of the process that runs it |
/// | `too-many-kernels` | a kernel or function behind the first 4,096 of its file |
/// | `too-long` | a function that is longer than kernels are, with all that it needs |
/// | `inactive` | a kernel that conditional compilation leaves out |
/// | `no-kernel`, `no-function` | a content file without any |
/// | `empty`, `not-utf8`, `too-large` | a content file that was not tried |
/// | `timeout` | also: a kernel whose file took thirty times the limit of one question |
/// | `timeout`, `cpu-limit`, `memory-limit`, `output-limit`, `crash` | what it did to clang |
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelRow {
    /// Content hash of `text`; of a row without text, of what it is about.
    pub id: String,
    /// The kernel's program: itself and what it needs.
    pub text: String,
    /// The kernel's name in `text`.
    pub name: String,
    /// The kernel's name in its content file.
    pub original_name: String,
    /// Id of the content file.
    pub content_id: String,
    /// The source as it was asked for.
    pub source: String,
    /// Package name.
    pub package: String,
    /// Package version.
    pub version: String,
    /// Path of the content file in the package.
    pub path: String,
    /// SPDX expression, or empty.
    pub licence: String,
    /// What the expression was read from, or empty.
    pub licence_source: String,
    /// `plain`, `shim` or `repaired`; empty where nothing compiled.
    pub status: String,
    /// What was defined to make it compile, one definition each.
    pub inferred: Vec<String>,
    /// The `-cl-std` it compiles with.
    pub standard: String,
    /// Whether `text` is in the normalised form.
    pub rewritten: bool,
    /// Whether its canonical IR was compared with the content file's and is equal.
    pub identical_ir: bool,
    /// JSON of `Vec<clang::Argument>`, names and types as in `text`.
    pub arguments: String,
    /// Dimensions of the index space that it asks for: 1 to 3, 0 if unknown.
    pub dimensions: u8,
    /// `reqd_work_group_size`, empty if it has none.
    pub required_group_size: Vec<u32>,
    /// IR instructions of the kernel itself at -O0.
    pub instructions: u32,
    /// Tokens of `text`.
    pub tokens: u32,
    /// Lines of `text`.
    pub lines: u32,
    /// Id of the first member of its family of near-duplicates.
    pub family: String,
    /// Other kernels of the same text.
    pub duplicates: u32,
    /// Why it was kept or turned away.
    pub verdict: String,
    /// What a person would ask next.
    pub detail: String,
}

impl Row for KernelRow {
    const SCHEMA: &'static str = "kernel";
    const VERSION: u32 = 1;
}

/// The verdict of kernels that are kept as isolated, because rewriting was not proved harmless.
pub(crate) const REWRITE_CHANGED_IR: &str = "rewrite-changed-ir";
/// The verdict of kernels whose text another row holds.
pub(crate) const DUPLICATE: &str = "duplicate";

impl KernelRow {
    /// Whether the row holds a usable kernel, duplicates included.
    pub(crate) fn is_kernel(&self) -> bool {
        !self.text.is_empty()
    }

    /// Its text in normal form, and what follows from it: a usable row.
    pub(crate) fn accept(&mut self, text: String) {
        self.id = dataset::content_hash(text.as_bytes());
        self.tokens = tokens(&text).count() as u32;
        self.lines = text.lines().count() as u32;
        self.text = text;
        self.judge(&Verdict::accepted());
    }

    pub(crate) fn judge(&mut self, verdict: &Verdict) {
        self.verdict = verdict.name.clone().into_owned();
        self.detail.clone_from(&verdict.detail);
    }
}
