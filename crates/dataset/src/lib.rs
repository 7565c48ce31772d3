//! Data sets: what every stage of Stampmill reads and writes.
//!
//! A data set is a folder of Parquet shards and one `_dataset.json` ([`Manifest`]): which schema in
//! which version, made from which inputs by which configuration, seed and tools, and how many rows
//! met which [`Verdict`]. It opens in pandas, DuckDB or Hugging Face `datasets` as it is; what
//! describes it to others is made by whom [`described_by`] names.
//!
//! - [`Row`] ties a Rust struct to a named, versioned schema; its columns are the struct's fields.
//! - [`Builder`] makes a data set whole or not at all, in parts, so that a killed run goes on where
//!   it was.
//! - [`Dataset`] opens one; [`Programs`] opens one *or* a plain folder or file of programs.
//!   Parts that are missing, cut off or too many are found when it is opened, [`check()`] looks at
//!   every byte.
//! - [`Verdict`] says why a program was kept, changed or rejected. It is data, never an error.
//! - A data set may also stand in an object store, named by [`Url`]; an [`ObjectStore`] brings it here and puts it there.
//! - [`families`] groups near-duplicates; [`Licenses`] decides by SPDX expression.
//!
//! ```
//! use stampmill_dataset::{Builder, Dataset, Notes, Row};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize, PartialEq, Debug)]
//! struct Count { word: String, times: u64 }
//! impl Row for Count {
//!     const SCHEMA: &'static str = "count";
//!     const VERSION: u32 = 1;
//! }
//!
//! let folder = tempfile::tempdir()?;
//! let out = folder.path().join("counts");
//! let builder = Builder::<Count>::create(&out, false, &"no settings")?;
//! builder.add("part a", [Count { word: "kernel".into(), times: 3 }])?;
//! let rows = builder.rows()?.collect::<Result<Vec<_>, _>>()?;
//! builder.finish(rows, Notes::default())?;
//! let read: Vec<Count> = Dataset::open(&out)?.rows()?.collect::<Result<_, _>>()?;
//! assert_eq!(read[0].times, 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alias;
mod builder;
mod check;
mod described;
mod detail;
mod error;
mod export;
mod family;
mod file;
mod flat;
mod folder;
mod hash;
mod license;
mod lineage;
mod lock;
mod manifest;
mod missing;
mod name;
mod notice;
mod place;
mod program;
mod progress;
mod protections;
mod provenance;
mod reader;
mod row;
mod shard;
pub mod stage;
mod staging;
mod store;
mod tally;
mod text;
mod unfinished;
mod verdict;

pub use builder::Builder;
pub use check::{Checked, Problem, check, verifies_all_hashes, verifies_hashes, verify_hashes};
pub use described::{Files, described_by};
pub use detail::without_chance;
pub use error::{Error, maker};
pub use export::{INDEX, new_file};
pub use family::{Alike, BANDS, FAMILY_THRESHOLD, Signature, Signatures, families};
pub use file::{is_machine_fault_at, open_file, read_file};
pub use flat::{Streamed, write_flat, write_stream};
pub use folder::FolderFile;
pub use hash::{content_hash, content_hash_of, content_hash_of_file};
pub use license::Licenses;
pub use lineage::{Lineage, Made};
pub use manifest::{Input, Manifest, Notes, Shard};
pub use missing::{is_unfinished, missing, near, refusal};
pub use name::{bytes_text, path_text};
pub use notice::on_notice;
pub use place::{PAGE_GENERATOR, is_part_name};
pub use program::{
    Code, Found, LARGEST_PROGRAM, Language, Placed, PlacedPrograms, Program, Programs, Rejected,
};
pub use progress::{Progress, Silent};
pub use protections::protections_from;
pub use provenance::Provenance;
pub use reader::Dataset;
pub use row::Row;
pub use shard::{
    batches as shard_batches, columns as shard_columns, schema_of as shard_schema,
    write as write_shard,
};
pub use staging::{abandon_folder, begin_folder, partial_folder, place_folder};
pub use store::{
    ObjectStore, Url, beside, file_beside, files, is_there, is_url, manifest_text, object_store,
    object_stores_by, put_into_place,
};
pub use text::{Decoded, decode};
pub use verdict::{UnknownWord, Verdict};

pub use arrow::datatypes::FieldRef;

/// Results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
