use crate::without_chance;
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, fmt};

/// Why a program was kept, changed or turned away: a kebab-case word and what a person would ask
/// next. Stages store the two as columns `verdict` and `detail`, and count the words.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Verdict {
    /// For example `accepted`, `does-not-compile`, `timeout`.
    pub name: Cow<'static, str>,
    /// The first diagnostic, the missing file, the limit; may be empty.
    pub detail: String,
}

impl Verdict {
    /// The word of programs that passed a stage.
    pub const ACCEPTED: &'static str = "accepted";

    /// A verdict with its detail, less what differs from run to run: see [`without_chance`].
    pub fn new(name: &'static str, detail: impl Into<String>) -> Verdict {
        Verdict { name: Cow::Borrowed(name), detail: without_chance(&detail.into()) }
    }

    /// The verdict of programs that passed.
    #[must_use]
    pub fn accepted() -> Verdict {
        Verdict::new(Verdict::ACCEPTED, "")
    }

    /// Whether this program passed.
    #[must_use]
    pub fn is_accepted(&self) -> bool {
        self.name == Verdict::ACCEPTED
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.detail.as_str() {
            "" => f.write_str(&self.name),
            detail => write!(f, "{}: {detail}", self.name),
        }
    }
}
