//! Hardware prefetchers. Each watches accesses and names lines; `memory` brings them in.

mod stream;
mod stride;

pub(crate) use stream::Streams;
pub(crate) use stride::Strides;

/// A run of lines to bring in: `first`, `first + step`, ..., `count` of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) first: u64,
    pub(crate) step: i64,
    pub(crate) count: u64,
}
