//! A Llama of random weights, and a server of it.

mod llama;
mod started;

pub(crate) use llama::llama;

use started::started;
use std::{
    path::Path,
    process::{Child, Command, Stdio},
};

/// The program, to be run in a folder.
pub(crate) fn stampmill(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stampmill"));
    command.current_dir(home).stdin(Stdio::null());
    command
}

/// A server that is killed when the test ends.
pub(crate) struct Server {
    pub(crate) child: Child,
    /// The address of its API.
    pub(crate) url: String,
}

impl Server {
    /// A server that listens.
    pub(crate) fn start(home: &Path, checkpoint: &str, flags: &[&str]) -> Server {
        let mut command = stampmill(home);
        command.args(["serve", checkpoint, "--json", "--name", "mine"]).args(flags);
        let (child, url) = started(command);
        Server { child, url }
    }

    /// Send a signal (`INT`, `TERM`), and how it ended.
    pub(crate) fn stop(mut self, signal: &str) -> Option<i32> {
        // The shell's own: a small machine has no program `kill`.
        let kill = format!("kill -{signal} {}", self.child.id());
        Command::new("sh").args(["-c", &kill]).status().expect("a signal");
        self.child.wait().expect("it ends").code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
