pub use rows::{About, Outcome};
use serde::{Deserialize, Serialize};

/// An [`Outcome`] and what a person would ask next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// How it ended.
    pub outcome: Outcome,
    /// The argument, the limit, the compiler's first error; may be empty.
    pub detail: String,
}

impl Finding {
    pub(crate) fn new(outcome: Outcome, detail: impl Into<String>) -> Finding {
        Finding { outcome, detail: dataset::without_chance(&detail.into()) }
    }
}
