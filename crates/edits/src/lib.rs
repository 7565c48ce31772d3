//! Performance edits: pairs of slow and improved programs, and what proposes, judges and scores them.
//!
//! The method is that of PIE (Shypula et al., *Learning Performance-Improving Code Edits*, ICLR 2024), with
//! the holes in its scoring closed: outputs with extra lines fail, tests are large enough that time is not
//! start-up, some tests are hidden, and times do not depend on the machine.
//!
//! - [`Submissions`] are read from CodeNet's folders or JSON lines; the stage [`MakePairs`] turns
//!   chronological ones into [`Pair`]s, timed, labelled and split by problem. [`schema`] describes every form of lines.
//! - The stage [`MakeTests`] makes tests of samples: inputs of the same grammar, larger and larger, on which all
//!   accepted programs agree. A [`TestSet`] reads them, and folders in PIE's layout as well.
//! - The stage [`Judge`] builds, checks and times [`Candidates`] on a [`Bench`]; what they do wrong is a verdict.
//! - The stage [`Certify`] compares an edit with the slow program on all small inputs, and on others grown by coverage.
//! - [`score()`] computes %Opt, Speedup, Correct and Best@k as PIE defines them, and what they leave out;
//!   [`score_kernels()`] computes them of judged kernels.
//! - [`search()`] proposes without a model: rewrites of clang's syntax tree ([`Rewriter`]) combined by
//!   evolution under the judge. [`propose`] asks a served model, with examples found by retrieval.
//! - [`self_play()`] has a model invent programs and make them faster, and keeps what holds up.
//! - [`pair_history()`] makes pairs of OpenCL kernels of what commits change, [`pair_variants()`] of what macros tune.
//! - [`export()`] writes pairs as data to fine-tune on.
//!
//! ```no_run
//! use dataset::stage::{Context, run};
//! use stampmill_edits::{Bench, Candidates, Judge, Limits, Pairs, Store, TestSet, Tests};
//! use std::path::Path;
//!
//! let pairs = Pairs::read(Path::new("pairs"), Default::default())?.pairs;
//! let tests = Tests { visible: TestSet::visible(Path::new("tests"))?, hidden: None };
//! let bench = Bench::open(&timing::Options::default(), Limits::default(), &Store::of_user())?;
//! let human = Candidates::same_human(&pairs);
//! let judge = Judge::new(pairs, &human, tests, &bench, Default::default(), &dataset::Silent)?;
//! run(&judge, &Context::new("judged"))?;
//! # Ok::<(), stampmill_edits::Error>(())
//! ```

mod bench;
mod candidates;
mod certify;
mod compare;
mod constraints;
mod each;
mod error;
mod execute;
mod export;
mod files;
#[doc(hidden)]
pub mod fuzz;
mod grow;
mod judge;
mod kernel_pairs;
mod label;
mod model;
mod own_io;
mod pair;
mod pairs;
mod problems;
mod rules;
pub mod schema;
mod score;
mod search;
mod self_play;
mod stopwatch;
mod store;
mod submissions;
mod suite;
mod token;
mod toolchain;

pub use bench::{Bench, Times, Trial};
pub use candidates::Candidates;
pub use certify::{Certify, CertifyItem, CertifyOptions, CertifyReport};
pub use compare::{TOLERANCE, compare};
pub use error::{Error, Result};
pub use execute::Limits;
pub use export::{ExportFormat, ExportMethod, export};
pub use grow::{GrowOptions, MakeTests, TestsItem, TestsReport};
pub use judge::{
    Batch, CHEATS, Challenge, Judge, JudgeFacts, JudgeItem, JudgeOptions, JudgeReport, Judgement,
    Sanitize, Tests,
};
pub use kernel_pairs::{KernelPairsReport, pair_history, pair_variants, read_variants};
pub use label::{Change, Label, label};
pub use model::{
    Client, Completion, Encoder, Endpoint, EndpointEncoder, Example, Index, METHODS, Message,
    Prompt, ProposeOptions, ProposeReport, Shown, StrategyEncoder, TokenEncoder, Usage, propose,
    unfenced,
};
pub use pair::{Language, Pair, Pairs, Submission, TestTime, write_lines};
pub use pairs::{MakePairs, PairFacts, PairItem, PairOptions, PairReport};
pub use problems::{Limit, Problem, Sample};
pub use rules::{
    Edit, KernelCandidate, KernelProposals, KernelRewriter, Rewriter, kernel_rule_names,
    propose_kernels, rule_names,
};
pub use score::{Best, FAST_P, FastP, KernelScores, Scores, fast_p_picture, score, score_kernels};
pub use search::{SearchOptions, SearchReport, search};
pub use self_play::{SelfPlayOptions, SelfPlayReport, self_play};
pub use stopwatch::{Stopwatch, Time};
pub use store::Store;
pub use submissions::Submissions;
pub use suite::{Test, TestFolder, TestSet};
pub use toolchain::{Build, Executable, Toolchain};

/// Do something with at most `jobs` programs at once.
pub fn with_jobs<T: Send>(jobs: usize, work: impl FnOnce() -> T + Send) -> T {
    match rayon::ThreadPoolBuilder::new().num_threads(jobs).build() {
        Ok(pool) => pool.install(work),
        // Threads that cannot be made here are those of the whole process.
        Err(_) => work(),
    }
}
