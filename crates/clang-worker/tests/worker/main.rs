//! The worker, asked over its pipe as every client asks it.

mod canonical;
mod diagnostics;
mod driver;
mod facts;
mod flow;
mod format;
mod hostile;
mod preprocess;
mod support;
mod tree;
