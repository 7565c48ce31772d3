//! Pass pipelines on modules: what each pass does to each function, and the IR after any of them.

mod optimize;
mod recorder;
mod report;
mod stage;

pub use optimize::Optimize;
pub(crate) use recorder::Recorder;
pub use report::{PassSums, PassesReport};
pub use stage::Passes;

use crate::{Error, Reader};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// Where a pipeline stops.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stop {
    /// After the first runs of passes on a module, so many; no optional pass runs after these.
    After(u64),
    /// Each function after so many runs of this pass on it: no optional pass runs on it any more. Passes on the whole
    /// module end with the first function that stops.
    Each {
        /// The pass, as pipelines name it.
        pass: String,
        /// Which run of it, from 1.
        occurrence: u64,
    },
}

impl FromStr for Stop {
    type Err = String;

    fn from_str(text: &str) -> Result<Stop, String> {
        let number = |text: &str| match text.parse() {
            Ok(0) | Err(_) => Err(format!("`{text}` is no number from 1")),
            Ok(number) => Ok(number),
        };
        if text.starts_with(|first: char| first.is_ascii_digit()) {
            return number(text).map(Stop::After);
        }
        let (pass, occurrence) = match text.split_once(':') {
            Some((pass, occurrence)) => (pass, number(occurrence)?),
            None => (text, 1),
        };
        if pass.is_empty() {
            return Err("no pass is named; possible are N, PASS, PASS:K".to_owned());
        }
        Ok(Stop::Each { pass: pass.to_owned(), occurrence })
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::After(runs) => write!(f, "{runs}"),
            Stop::Each { pass, occurrence } => write!(f, "{pass}:{occurrence}"),
        }
    }
}

/// A pipeline, and where it stops.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Passes, as LLVM's `opt -passes` takes them.
    pub pipeline: String,
    /// `None`: it runs to its end.
    pub stop: Option<Stop>,
}

impl Plan {
    /// Have LLVM look whether it knows the passes.
    pub(crate) fn check(&self, reader: &Reader) -> Result<(), Error> {
        reader.check_pipeline(&self.pipeline)?;
        match &self.stop {
            Some(Stop::Each { pass, .. }) => reader.check_pipeline(pass),
            _ => Ok(()),
        }
    }
}

/// What passes did to a module.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Trace {
    /// Names of passes.
    pub(crate) passes: Vec<String>,
    /// Names of functions.
    pub(crate) functions: Vec<String>,
    /// In the order in which they ran.
    pub(crate) runs: Vec<Run>,
}

/// One run of a pass.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) pass: u32,
    pub(crate) unit: Unit,
    pub(crate) seconds: f64,
    pub(crate) touched: Vec<Touched>,
}

/// A function that a pass ran on: instructions before and after, `None` where it was not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Touched {
    pub(crate) function: u32,
    pub(crate) before: Option<u64>,
    pub(crate) after: Option<u64>,
    pub(crate) changed: bool,
}

/// What a pass ran on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Unit {
    #[default]
    Module,
    Functions,
    Function,
    Loop,
}

impl Unit {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Unit::Module => "module",
            Unit::Functions => "functions",
            Unit::Function => "function",
            Unit::Loop => "loop",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stops_are_read_and_written() {
        for text in ["17", "sroa:1", "loop-rotate:3"] {
            assert_eq!(text.parse::<Stop>().unwrap().to_string(), text);
        }
        assert_eq!("sroa".parse(), Ok(Stop::Each { pass: "sroa".to_owned(), occurrence: 1 }));
        for text in ["", "0", "7x", "sroa:", "sroa:0", ":1"] {
            assert!(text.parse::<Stop>().is_err(), "{text}");
        }
    }
}
