use std::path::PathBuf;

/// Why there is no page, or a data set is not shown on it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A data set could not be read.
    #[error(transparent)]
    Dataset(#[from] dataset::Error),
    /// A task could not be read.
    #[error(transparent)]
    Task(#[from] heuristics::Error),
    /// A row has values that no text can show.
    #[error("cannot show {set}: {source}")]
    Shown {
        /// The data set's name on the page.
        set: String,
        /// Why not.
        source: arrow::error::ArrowError,
    },
    /// What the page's script reads could not be written as JSON.
    #[error("cannot write the page's data: {0}")]
    Data(#[from] serde_json::Error),
    /// The folder does not exist.
    #[error("{}", no_folder(.0))]
    NoFolder(PathBuf),
    /// The folder holds no data set.
    #[error(
        "{} holds no data set: neither it nor a folder in it has a _dataset.json; name what a command made with --out",
        .0.display()
    )]
    NoDataset(PathBuf),
    /// None of the folder's data sets can be opened.
    #[error("no data set of {} can be shown: {}", folder.display(), problems.join("; "))]
    NoneRead {
        /// The folder.
        folder: PathBuf,
        /// What is wrong with each.
        problems: Vec<String>,
    },
    /// A file could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The page could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The page's file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
}

fn no_folder(path: &std::path::Path) -> String {
    match path.exists() {
        true => format!(
            "{} is a file: a page is of a data set, or of a folder with data sets",
            path.display()
        ),
        false => dataset::missing(path),
    }
}
