//! Bounded worker processes.
//!
//! A program under study never runs in our own process: whatever it does to its worker (a crash, a
//! hang, a gigabyte of memory) costs one [`Death`], not the run. There are three ways to use it:
//!
//! - [`Worker`]: a long-lived process that answers framed messages, restricted by the [`Profile`] it
//!   enters before it reads the first one ([`serve()`] is its side of the pipe);
//! - [`Pool`]: several of them, fed from many threads, each respawned when it dies;
//! - [`run`]: one foreign program from start to end, with its output, time and memory; [`Series`]: the
//!   same program several times.
//!
//! ```no_run
//! use stampmill_sandbox::{Profile, Pool};
//! use std::{process::Command, time::Duration};
//!
//! let profile = Profile::clang();
//! let pool = Pool::new(2, profile, || Command::new("stampmill-clang"));
//! match pool.call(b"a request", Duration::from_secs(10)) {
//!     Ok(answer) => println!("{} bytes", answer.len()),
//!     Err(death) => println!("the program killed its worker: {death}"),
//! }
//! ```

mod calls;
mod control;
mod death;
mod files;
mod frame;
mod held;
mod isolate;
mod launcher;
mod limits;
mod patience;
mod pool;
mod profile;
mod program;
mod serve;
mod start;
#[expect(
    unsafe_code,
    reason = "fork, clone3, wait4, mount_setattr, close_range and dup2 have no safe form"
)]
mod system;
mod temporary;
mod tools;
mod watch;
mod words;
mod worker;

pub use death::Death;
pub use frame::{read_frame, write_frame};
pub use held::{Held, allow_weak, is_weak_allowed, protections};
pub use launcher::launch;
pub use limits::enter;
pub use pool::Pool;
pub use profile::{Calls, Cover, Memory, Profile};
pub use program::{Finished, Program, Series, run};
pub use serve::{serve, serve_over};
pub use start::{is_stopped, stop_all};
pub use temporary::Temporary;
pub use tools::{fetch_environment, rustup, tool_folders};
pub use watch::processor_time;
pub use worker::{Bounds, Worker};
