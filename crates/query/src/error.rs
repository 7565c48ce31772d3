use arrow::error::ArrowError;

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Two tables of one name.
    #[error("two tables are called `{0}`; write NAME=DATASET")]
    Twice(String),
    /// A query where a table should be.
    #[error("the query comes first, then data sets: stampmill query SQL NAME=DATASET")]
    Order,
    /// No table is given and none is named.
    #[error(
        "the query names no data set of the current folder{}; give each as NAME=DATASET: stampmill query SQL NAME=DATASET",
        there(.known, .meant.as_ref())
    )]
    NoTable {
        /// Data sets of the folder.
        known: Vec<String>,
        /// What stands in the place of a table, and the data set that is called nearly so.
        meant: Option<(String, String)>,
    },
    /// The program that answers is not here.
    #[error(transparent)]
    NoProgram(#[from] host::Missing),
    /// The machine refused.
    #[error("cannot {action}: {source}")]
    Machine {
        /// What was tried.
        action: String,
        /// Why not.
        source: std::io::Error,
    },
    /// The stream of rows broke off.
    #[error("the rows of stampmill-query broke off: {0}")]
    Broken(ArrowError),
    /// What the program says of the query, or how it ended.
    #[error("{0}")]
    Failed(String),
    /// It was asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The rows are more than may be held at once.
    #[error(
        "the rows are more than {} MiB; narrow the query, print them as they are found with --format csv \
         or jsonl, or hold more with --memory",
        bytes >> 20
    )]
    TooMany {
        /// Bytes that may be held.
        bytes: u64,
    },
    /// Rows have values that no text can show.
    #[error("cannot print rows: {0}")]
    Unprintable(#[from] ArrowError),
    /// JSON that arrow wrote could not be read.
    #[error("cannot print rows: {0}")]
    Json(#[from] serde_json::Error),
    /// Whoever takes the rows cannot.
    #[error("cannot write to standard output: {0}")]
    Output(std::io::Error),
    /// A data set cannot be read or made.
    #[error(transparent)]
    Dataset(#[from] dataset::Error),
}

/// Data sets that may be meant.
fn there(names: &[String], meant: Option<&(String, String)>) -> String {
    if let Some((wanted, name)) = meant {
        return format!(" (did you mean `{name}` for `{wanted}`?)");
    }
    match names {
        [] => String::new(),
        some => format!(", which holds {}", some.join(", ")),
    }
}
