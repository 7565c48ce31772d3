//! Where a command that can be stopped and repeated puts its data set.

use std::path::PathBuf;

/// The flags of every command that makes a data set in parts.
#[derive(clap::Args, Debug)]
pub(crate) struct Target {
    /// The data set to make
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Replace what is at --out
    #[arg(long)]
    pub(crate) force: bool,
    /// Go on with an unfinished run (the default when the command is the same)
    #[arg(long)]
    pub(crate) resume: bool,
}
