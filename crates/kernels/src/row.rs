use dataset::Verdict;
use lexer::tokens;
pub use rows::KernelRow;
use rows::KernelVerdict;
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

/// The verdict of kernels that are kept as isolated, because rewriting was not proved harmless.
pub(crate) const REWRITE_CHANGED_IR: &str = KernelVerdict::RewriteChangedIr.name();
/// The verdict of kernels that are kept as isolated, because that was not proved harmless either.
pub(crate) const ISOLATION_CHANGED_IR: &str = KernelVerdict::IsolationChangedIr.name();
/// The verdict of kernels that compile in their file alone.
pub(crate) const ISOLATION_FAILED: &str = KernelVerdict::IsolationFailed.name();
/// The verdict of kernels whose text another row holds.
pub(crate) const DUPLICATE: &str = KernelVerdict::Duplicate.name();

/// What stages that judge kernels do to their rows.
pub(crate) trait RowExt {
    /// Its text in normal form, and what follows from it: a usable row.
    fn accept(&mut self, text: String);

    /// Take a verdict.
    fn judge(&mut self, verdict: &Verdict);
}

impl RowExt for KernelRow {
    fn accept(&mut self, text: String) {
        self.id = dataset::content_hash(text.as_bytes());
        self.tokens = tokens(&text).count() as u32;
        self.lines = text.lines().count() as u32;
        self.text = text;
        self.judge(&Verdict::accepted());
    }

    fn judge(&mut self, verdict: &Verdict) {
        self.verdict = verdict.name.clone().into_owned();
        self.detail.clone_from(&verdict.detail);
    }
}
