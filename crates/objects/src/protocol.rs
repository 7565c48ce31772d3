//! What the client and the program say to each other: one JSON object a line, an answer for each request.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The bucket.
    pub bucket: String,
    /// The object's key; of [`Action::List`], what the keys begin with before a `/`.
    pub key: String,
    /// What is to be done.
    pub action: Action,
}

/// What is to be done with an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Write its bytes to a file.
    Get(PathBuf),
    /// Write those of its bytes to a file that begin at the first number and end before the second.
    Piece(PathBuf, u64, u64),
    /// Say how large it is.
    Size,
    /// Make it of the bytes of a file.
    Put(PathBuf, When),
    /// Say what stands right below.
    List,
    /// Remove it.
    Delete,
}

/// Under which condition an object is put.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// In any case.
    Always,
    /// There is none.
    New,
    /// There is the one of this tag.
    Still(String),
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// It is there, or was put there.
    Is {
        /// Its size in bytes.
        bytes: u64,
        /// Its tag, which is another once it is replaced; empty where the store has none.
        tag: String,
    },
    /// It is not there.
    Missing,
    /// It was not put: the condition does not hold.
    Unmet,
    /// Names of what stands right below, sorted.
    Names(Vec<String>),
    /// It was not done.
    Failed(String),
}
