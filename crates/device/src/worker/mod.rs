//! The worker process that holds the drivers, and its client.

mod client;
mod protocol;
mod serve;

pub(crate) use client::{Client, Launch};
pub(crate) use protocol::{Answer, BuiltFacts, CellKey, Checked, Request};
pub use serve::serve_worker;
