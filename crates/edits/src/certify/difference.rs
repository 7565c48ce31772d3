//! Whether two programs really differ on an input, and whether that says something about the edit.

use super::Search;
use crate::{Result, compare::compare, suite::Test};
use std::time::Duration;

/// What is behind two outputs that are not the same.
pub(super) enum Difference {
    /// As they are judged, the programs print the same.
    None,
    /// The slow program does nothing that is defined.
    Undefined,
    /// They differ.
    Found {
        /// How.
        detail: String,
        /// Whether the input looks like the samples, so that it must be within the problem's limits as far as those tell.
        is_certain: bool,
    },
}

/// What a slow program does on the samples, and may do elsewhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct Habits {
    /// The sanitizers find nothing, so that a finding elsewhere tells something.
    is_clean: bool,
    /// It reads on at the end of an input.
    reads_all: bool,
}

/// Where a run is stopped.
const LONGEST: Duration = Duration::from_secs(2);

impl Search<'_> {
    fn habits(&mut self) -> Result<Habits> {
        if let Some(habits) = self.habits {
            return Ok(habits);
        }
        let found = self.bench.sanitize(self.edit.slow, self.edit.language, &self.samples)?;
        let mut reads_all = false;
        for test in &self.samples {
            let time = self.bench.stopwatch.time(&self.slow.program, &test.input)?;
            reads_all |= time.is_ok_and(|time| time.input_ended);
        }
        Ok(*self.habits.insert(Habits { is_clean: found.is_none(), reads_all }))
    }

    /// Look closely at an input on which the slow program printed `wanted` and the edit did something else.
    pub(super) fn difference(&mut self, text: &str, wanted: &[u8]) -> Result<Difference> {
        let is_like_samples =
            self.inputs.as_ref().is_some_and(|inputs| inputs.is_like_samples(text));
        if !is_like_samples && !self.row.counterexample.is_empty() {
            // One that is doubtful is known.
            return Ok(Difference::Found { detail: String::new(), is_certain: false });
        }
        self.looked_at += 1;
        let input = text.as_bytes();
        let slow = self.bench.output_within(&self.slow.program, input, LONGEST)?;
        if !slow.is_ok_and(|ran| compare(wanted, &ran.stdout).is_ok()) {
            return Ok(Difference::Undefined);
        }
        let detail = match self.bench.output_within(&self.fast.program, input, LONGEST)? {
            Ok(ran) => match compare(wanted, &ran.stdout) {
                Ok(()) => return Ok(Difference::None),
                Err(detail) => detail,
            },
            Err(verdict) => verdict.to_string(),
        };
        let Habits { is_clean, reads_all } = self.habits()?;
        if is_clean {
            let test = Test { number: 0, input: input.to_vec(), output: wanted.to_vec() };
            let tests = std::slice::from_ref(&test);
            if self.bench.sanitize(self.edit.slow, self.edit.language, tests)?.is_some() {
                return Ok(Difference::Undefined);
            }
        }
        match self.bench.stopwatch.time(&self.slow.program, input)? {
            Ok(time) if !time.input_ended || reads_all => {
                Ok(Difference::Found { detail, is_certain: is_like_samples })
            }
            // It reads past the end of its input, or does what no timed program may.
            _ => Ok(Difference::Undefined),
        }
    }
}
