use serde::{Deserialize, Serialize};

/// How a worker or a foreign program came to a bad end. It is data about the program that was being
/// worked on, never an error of ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Death {
    /// It ran longer than its wall-clock limit.
    #[error("no answer within {0} ms")]
    Timeout(u64),
    /// It used more processor time than its limit.
    #[error("processor time limit exceeded")]
    Processor,
    /// It wanted more memory than its limit.
    #[error("memory limit exceeded")]
    Memory,
    /// It wrote more output than its limit.
    #[error("output limit exceeded")]
    Output,
    /// It had more processes than its limit.
    #[error("process limit exceeded")]
    Processes,
    /// A signal ended it: number, and the end of what it wrote to standard error.
    #[error("killed by signal {0}{detail}", detail = tail(.1))]
    Signal(i32, String),
    /// It left with a status it should not have: status, and the end of standard error.
    #[error("left with status {0}{detail}", detail = tail(.1))]
    Exit(i32, String),
    /// The user wants to know no more of it.
    #[error("stopped")]
    Stopped,
    /// It could not be started at all, which says nothing about it.
    #[error("cannot start: {0}")]
    Start(String),
    /// A fault of the machine ended it, which says nothing about it.
    #[error("the machine failed it: {0}")]
    Machine(String),
}

impl Death {
    /// One word for tables: `timeout`, `cpu-limit`, `memory-limit`, `output-limit`, `process-limit`,
    /// `crash`, `stopped`, `start`, `machine-fault`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Death::Timeout(_) => "timeout",
            Death::Processor => "cpu-limit",
            Death::Memory => "memory-limit",
            Death::Output => "output-limit",
            Death::Processes => "process-limit",
            Death::Signal(..) | Death::Exit(..) => "crash",
            Death::Stopped => "stopped",
            Death::Start(_) => "start",
            Death::Machine(_) => "machine-fault",
        }
    }

    /// Whether this is a fault of the machine or of ours: no verdict on a program, and not to be
    /// remembered as one.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        matches!(self, Death::Start(_) | Death::Machine(_))
    }
}

fn tail(text: &str) -> String {
    match text.trim().lines().last() {
        Some(line) => format!(": {line}"),
        None => String::new(),
    }
}

const SIGXCPU: i32 = 24;
const SIGXFSZ: i32 = 25;

/// What a process's exit status and last words say about its end; `None` for success.
pub(crate) fn from_status(status: std::process::ExitStatus, stderr: &[u8]) -> Option<Death> {
    use std::os::unix::process::ExitStatusExt;
    if status.success() {
        return None;
    }
    let words = String::from_utf8_lossy(stderr).into_owned();
    let starved = ["out of memory", "bad_alloc", "memory allocation of", "Cannot allocate memory"];
    if starved.iter().any(|hint| words.contains(hint)) {
        return Some(Death::Memory);
    }
    Some(match status.signal() {
        Some(SIGXCPU) => Death::Processor,
        Some(SIGXFSZ) => Death::Output,
        Some(signal) => Death::Signal(signal, words),
        None => Death::Exit(status.code().unwrap_or(-1), words),
    })
}
