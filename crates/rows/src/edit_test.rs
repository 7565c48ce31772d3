use serde::{Deserialize, Serialize};

/// What [`EditTest::source`] holds: the test was given.
pub const SAMPLE: &str = "sample";
/// Its input was drawn from the grammar of the samples.
pub const GRAMMAR: &str = "grammar";
/// Its input is a changed sample: no grammar fits.
pub const MUTATION: &str = "mutation";

/// Inputs that became no test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectedInputs {
    /// Why: `too-large`, `too-slow`, `bad-end`, `disagree`, `no-output`, `undefined-behaviour`,
    /// `reads-past-input`, `not-read` (not to its end) or `cannot-be-timed`.
    pub reason: String,
    /// How many.
    pub count: u64,
}

schema! {
    /// A test of a problem; of a problem that has none, one row without a test. From `mostly_startup` on the columns
    /// are about the problem. Times are those of its first accepted program, which is a slow one, on the simulated processor.
    #[derive(Default)]
    pub struct EditTest = "edit-test", 2, shard_rows 256 {
        /// The problem.
        pub problem_id: String,
        /// Whether it is held back, so that no candidate can be made for it; candidates are timed on the others.
        pub hidden: bool,
        /// Its number among the hidden ones or the others, N of PIE's `input.N.txt`; null in a row without a test.
        pub number: Option<u64>,
        /// What a program reads.
        #[serde(with = "serde_bytes")]
        pub input: Vec<u8>,
        /// What it must print.
        #[serde(with = "serde_bytes")]
        pub output: Vec<u8>,
        /// `sample`, `grammar` (drawn from the grammar of the samples) or `mutation` (a changed sample).
        pub source: String,
        /// What is special about an input that was drawn for correctness: values are `any` up to the limits, all `least` or all `most`,
        /// `ends` (of both), all of a list `equal`, `few` different ones, `bits`, or `ascending` or `descending`; empty for others.
        #[serde(default)]
        pub shape: String,
        /// Instructions executed; null where it cannot be timed.
        pub instructions: Option<u64>,
        /// Seconds from the first instruction to the last.
        pub seconds: Option<f64>,
        /// The share of these before and after `main`.
        pub startup_share: Option<f64>,
        /// Whether at least half of the time on the problem's slowest visible test is start-up: gains on its tests tell little about
        /// inputs of real size.
        #[serde(default)]
        pub mostly_startup: bool,
        /// Programs that agree on all tests.
        pub programs: u64,
        /// `accepted`, or why there are no tests but samples, or none.
        pub verdict: String,
        /// What is behind it: of `no-program-passes` what became of the first of its programs.
        #[serde(default)]
        pub detail: String,
        /// The grammar of the samples; empty where none fits.
        pub grammar: String,
        /// Inputs drawn.
        pub drawn: u64,
        /// Of these, inputs that were rejected, by reason.
        pub rejected: Vec<RejectedInputs>,
    }
}

view! {
    /// A test.
    pub struct EditTestText of EditTest {
        pub problem_id: String,
        pub hidden: bool,
        pub number: Option<u64>,
        #[serde(with = "serde_bytes")]
        pub input: Vec<u8>,
        #[serde(with = "serde_bytes")]
        pub output: Vec<u8>,
    }
}

view! {
    /// What is counted of tests.
    pub struct EditTestSummary of EditTest {
        pub problem_id: String,
        pub hidden: bool,
        pub number: Option<u64>,
        pub source: String,
        pub instructions: Option<u64>,
        pub seconds: Option<f64>,
        pub startup_share: Option<f64>,
        pub verdict: String,
        pub grammar: String,
    }
}
