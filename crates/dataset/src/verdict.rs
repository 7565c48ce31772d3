use crate::without_chance;
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, fmt};

/// Why a program was kept, changed or rejected: a kebab-case word and what a person would ask
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
    pub fn new(name: impl Into<&'static str>, detail: impl Into<String>) -> Verdict {
        Verdict { name: Cow::Borrowed(name.into()), detail: without_chance(&detail.into()) }
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

/// A word that should name one of a closed list and names none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is no {kind}")]
pub struct UnknownWord {
    /// What the list is of, for example `language`.
    pub kind: &'static str,
    /// The word.
    pub word: String,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.detail.as_str() {
            "" => f.write_str(&self.name),
            detail => write!(f, "{}: {detail}", self.name),
        }
    }
}
