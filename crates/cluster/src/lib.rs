//! Stages on several machines, on Apache Ballista: what its three sides say to each other, and the client.
//!
//! A *scheduler* hands out *tasks*, *executors* do them; a task is one part of a stage's items, as `--part I/N` makes
//! it, in a process of its own. Ballista is in the program `stampmill-cluster` (`engines/cluster`), which is started
//! for each of the three sides; here is what is common to both:
//!
//! - [`About`]: version, build and tools of a machine, and how two of them differ;
//! - [`Address`]: where a scheduler is, and the token that it wants;
//! - [`Status`]: what a scheduler knows of its executors;
//! - [`Job`] and [`Event`]: what the client asks for, and what it hears; [`run`] is the client of a stage, whose rows
//!   are compared by [`OnExecutors`].
//!
//! ```
//! use stampmill_cluster::{About, tools_of};
//!
//! let here = About { version: "0.1.0".into(), build: "a".into(), tools: [("clang".into(), "19.1.7".into())].into() };
//! let mut there = here.clone();
//! assert!(here.differences(&there, tools_of("features").unwrap()).is_empty());
//! there.tools.clear();
//! let differences = here.differences(&there, tools_of("features").unwrap());
//! assert_eq!(differences, ["clang: 19.1.7 here, none there"]);
//! ```

mod about;
mod address;
mod client;
mod error;
mod job;

mod status;

pub use about::{About, STAGES, tools_of};
pub use address::{Address, Token, is_loopback};
pub use client::{Asked, OnExecutors, run, start};
pub use error::Error;
pub use job::{Event, ExecutorSettings, Job, Order, Role, Started};

pub use status::{Answer, Executor, Heartbeat, Status, beat, status};

/// Results of this crate.
pub type Result<T> = std::result::Result<T, Error>;
