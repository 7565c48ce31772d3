//! Data sets in object stores.
//!
//! The HTTP client is in the program `stampmill-objects`; here is who asks it ([`Objects`], a
//! [`dataset::ObjectStore`]; [`Pieces`], who reads some bytes of an object), and what is said ([`Request`], [`Answer`]).
//!
//! A data set at `s3://BUCKET/KEY` is `KEY/_dataset.json`, byte by byte as in a folder, and for each of its Parquet
//! files `KEY/part-NNNNN-HASH.parquet`, by its content. So a file never changes once it is there, one that is put
//! twice is the same, and the manifest, which is put last and under a condition, decides which of them make the
//! data set. What is read is kept in the cache by its content.
//!
//! ```
//! use stampmill_objects::object_name;
//!
//! let name = object_name("part-00000.parquet", "0123456789abcdef0123456789abcdef");
//! assert_eq!(name, "part-00000-0123456789abcdef.parquet");
//! ```

mod ask;
mod cache;
mod pieces;
mod protocol;
mod sets;

pub use pieces::Pieces;
pub use protocol::{Action, Answer, Request, When};
pub use sets::{Objects, object_name};
