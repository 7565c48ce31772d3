//! Rows in the formats that others share: CSV, JSON Lines, Parquet of anybody, folders from Hugging Face, trees of programs.
//!
//! - [`export_rows`] writes the rows of a data set as CSV or JSON Lines. In CSV a vector is a column a dimension, named
//!   `SPACE.DIMENSION`; other lists are JSON in a cell.
//! - [`import()`] reads these back, and what others have with the columns of one of our schemas, into a data set. Columns are
//!   held to the schema; what does not fit is an [`Error`] with file, line and column.
//!
//! ```
//! use stampmill_interchange::{Format, Import, export_rows, import};
//! use std::sync::atomic::AtomicBool;
//!
//! let home = tempfile::tempdir()?;
//! let file = home.path().join("kernels.csv");
//! std::fs::write(&file, "path,text\na.cl,kernel void a() {}\n")?;
//! let out = home.path().join("raw");
//! let asked = Import { schema: Some("content-file".into()), fill: true, ..Import::new(&file, &out) };
//! let stop = AtomicBool::new(false);
//! let imported = import(&asked, &stop)?;
//! assert_eq!((imported.rows, imported.format), (1, "csv"));
//! let rows = dataset::Dataset::open(&out)?;
//! let lines = home.path().join("rows.jsonl");
//! assert_eq!(export_rows(&rows, Format::Jsonl, &lines, u64::MAX, &stop)?, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cell;
mod decode;
mod error;
mod export;
mod import;
mod lines;
mod parquet;
mod shape;
mod table;
mod tree;

pub use error::{Error, Result};
pub use export::{Format, export_rows};
pub use import::{Import, Imported, import};
