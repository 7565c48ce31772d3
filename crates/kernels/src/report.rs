use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The funnel from content files to unique kernels.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Content files read.
    pub files: u64,
    /// Content files of different text.
    pub unique_files: u64,
    /// Files that gave a kernel as they are.
    pub compiled_plain: u64,
    /// Files that gave one with the shim.
    pub compiled_shim: u64,
    /// Files that gave one with inferred definitions.
    pub compiled_repaired: u64,
    /// Kernels accepted, equal ones counted each time.
    pub kernels: u64,
    /// Kernels of different text.
    pub unique_kernels: u64,
    /// How many kernels are proved equal to their originals, by how much help their files needed
    /// ([`crate::Status`]): for repaired files the original is the file with the inferred definitions.
    /// Those that are too small or reach out of the program are not counted: they are rejected for that.
    pub same_ir: BTreeMap<String, SameIr>,
    /// Rows rejected, by verdict.
    pub rejected: BTreeMap<String, u64>,
    /// Of these rows, those of files that were rejected before, by `mine` or because they could not
    /// be read.
    pub rejected_before: u64,
    /// Different tokens in the content files that gave a kernel.
    pub vocabulary_before: u64,
    /// Different tokens in the unique kernels.
    pub vocabulary_after: u64,
    /// Lines of the content files that gave a kernel, their includes inlined.
    pub lines_before: u64,
    /// Lines of the unique kernels.
    pub lines_after: u64,
    /// Kernel heads counted in the content files' text.
    pub textual_kernels: u64,
    /// Families of near-duplicates among the unique kernels.
    pub families: u64,
    /// Each package, by name.
    pub packages: Vec<PackageReport>,
    /// Unique kernels by license expression; the empty one is unknown.
    pub licenses: BTreeMap<String, u64>,
}

/// Of what clang accepts in its own file, what is proved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SameIr {
    /// Kernels that clang accepts in their own files and that are no smaller than
    /// [`crate::MINIMUM_INSTRUCTIONS`], equal ones counted each time.
    pub kernels: u64,
    /// Of these, kernels whose normal form has the canonical IR of the file's own kernel.
    pub proved: u64,
}

/// One package's part of a [`Report`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PackageReport {
    /// Its name.
    pub package: String,
    /// Content files read.
    pub files: u64,
    /// Kernel heads counted in their text.
    pub textual_kernels: u64,
    /// Kernels accepted.
    pub kernels: u64,
    /// Kernels whose text no earlier package holds.
    pub unique: u64,
    /// Families among those.
    pub families: u64,
    /// Rows rejected, by verdict.
    pub rejected: BTreeMap<String, u64>,
}
