use serde::{Deserialize, Serialize};

/// The language of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PairLanguage {
    /// C, compiled as GNU C17.
    C,
    /// C++, compiled as C++17.
    #[default]
    Cpp,
}

impl PairLanguage {
    /// As data sets name it; CodeNet's `C++14 (GCC 5.4.1)` and the like count as C++.
    #[must_use]
    pub fn parse(name: &str) -> Option<PairLanguage> {
        let name = name.trim();
        match name {
            "" | "cpp" | "cxx" | "cc" => Some(PairLanguage::Cpp),
            "c" => Some(PairLanguage::C),
            _ if name.starts_with("C++") => Some(PairLanguage::Cpp),
            _ if name == "C" || name.starts_with("C (") => Some(PairLanguage::C),
            _ => None,
        }
    }

    /// Its name in data sets.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            PairLanguage::C => "C",
            PairLanguage::Cpp => "C++",
        }
    }
}

/// The time of one test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestTime {
    /// Number N of `input.N.txt`.
    pub test: u64,
    /// Seconds; `None`: it failed or was not run.
    pub seconds: Option<f64>,
}

schema! {
    /// A slow and an improved version of one program. Times are seconds of the simulated processor,
    /// start-up included, summed over the tests, as PIE's are.
    #[derive(Default)]
    pub struct Pair = "edit-pair", 1 {
        /// The problem both solve.
        pub problem_id: String,
        /// Submission of the slow program.
        pub src_id: String,
        /// Submission of the improved program.
        pub tgt_id: String,
        /// Author of both; empty where unknown.
        pub user_id: String,
        /// `C` or `C++`.
        pub language: String,
        /// The slow program.
        pub src_code: String,
        /// The improved program.
        pub tgt_code: String,
        /// Seconds of the slow program.
        pub src_agg_runtime: Option<f64>,
        /// Seconds of the improved program.
        pub tgt_agg_runtime: Option<f64>,
        /// `src_agg_runtime / tgt_agg_runtime`: above 1 is faster.
        pub speedup: Option<f64>,
        /// The same without what an empty program takes.
        pub speedup_net: Option<f64>,
        /// Seconds of the problem's fastest known program.
        pub fastest_agg_runtime: Option<f64>,
        /// `fastest / tgt`.
        pub tgt_reward: Option<f64>,
        /// `fastest / src`.
        pub src_reward: Option<f64>,
        /// Decile of the improved program within its problem, 10 the fastest.
        pub tgt_decile: Option<u32>,
        /// Decile of the slow program within its problem.
        pub src_decile: Option<u32>,
        /// Numbers of the tests.
        pub tests: Vec<u64>,
        /// Seconds of each test, slow program.
        pub src_times: Vec<TestTime>,
        /// Seconds of each test, improved program.
        pub tgt_times: Vec<TestTime>,
        /// `train`, `val` or `test`; one per problem.
        pub split: String,
        /// Share of tests on which the improved program is faster by the threshold.
        pub confidence: Option<f64>,
        /// `algorithm`, `data-structure`, `I/O`, `other`, or `nothing` where no statement differs.
        pub label: String,
        /// Whether nothing but input and output changed.
        pub io_only: bool,
        /// Whether an array became shorter.
        pub array_shrunk: bool,
        /// Whether the gain is gone without what is before and after `main`.
        pub startup_only: bool,
        /// `accepted`, or why the pair does not hold up.
        pub verdict: String,
        /// What a person would ask next.
        pub detail: String,
        /// Fields of the line it was read from that no form knows, as JSON.
        pub extra: String,
    }
}

impl Pair {
    /// Names it in results.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}/{}>{}", self.problem_id, self.src_id, self.tgt_id)
    }

    /// Its programs' language; C++ where the data says nothing that is known.
    #[must_use]
    pub fn language(&self) -> PairLanguage {
        PairLanguage::parse(&self.language).unwrap_or_default()
    }
}
