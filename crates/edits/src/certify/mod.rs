//! How far it is certain that an edit computes what the slow program does.
//!
//! Tests show that two programs agree where somebody looked. Here one looks everywhere within a bound: all inputs of the samples'
//! grammar that are small enough are run, which is bounded exhaustive testing (Sullivan et al., *Software Assurance by Bounded
//! Exhaustive Testing*, ISSTA 2004). Then inputs are grown that reach basic blocks which none before them did, as AFL and libFuzzer
//! do. A difference counts where the slow program does nothing undefined.

mod difference;
mod growth;
mod server;
mod stage;

use crate::{
    Result, bench::Bench, compare::compare, grow::Inputs, model::NO_PROGRAM, pair::Language,
    problems::Sample, suite::Test,
};
use dataset::{Verdict, content_hash};
use difference::{Difference, Habits};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rows::{Certificate, EditCertificate, EditVerdict};
use serde::Serialize;
use server::{Outcome, Subject};
pub use stage::{Certify, CertifyItem, CertifyReport};
use std::collections::BTreeSet;

/// How edits are certified.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CertifyOptions {
    /// Inputs within the bounds, per edit, at most: a bound with more is not tried.
    pub inputs: usize,
    /// Inputs grown by coverage, per edit, at most.
    pub draws: usize,
    /// Growing ends when so many inputs in a row reached no new block.
    pub patience: usize,
    /// Basic blocks executed by both programs, per edit, at which no further bound is begun and growing ends.
    pub steps: u64,
    /// Random seed of what is grown.
    pub seed: u64,
}

impl Default for CertifyOptions {
    fn default() -> CertifyOptions {
        CertifyOptions { inputs: 10_000, draws: 1000, patience: 200, steps: 1_000_000_000, seed: 0 }
    }
}

/// The least bound whose inputs are worth the name: there is one input of size 1, mostly.
const LEAST_BOUND: u32 = 2;
/// The least number of inputs within it.
const LEAST_INPUTS: u64 = 10;
/// Inputs that are compared before it is asked whether to go on.
const BATCH: usize = 1024;
/// Differences that are looked at closely, at most.
const DIFFERENCES: u32 = 16;

/// The edit of a pair, and what is known of its problem.
struct Edit<'a> {
    problem_id: &'a str,
    slow: &'a str,
    code: &'a str,
    language: Language,
    samples: &'a [Sample],
}

/// How an input came to be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Enumeration,
    Growth,
}

/// The search for an input on which an edit differs.
struct Search<'a> {
    edit: Edit<'a>,
    bench: &'a Bench,
    options: &'a CertifyOptions,
    slow: Subject<'a>,
    fast: Subject<'a>,
    inputs: Option<Inputs>,
    samples: Vec<Test>,
    /// Once it was asked for.
    habits: Option<Habits>,
    /// Content hashes of what was tried.
    known: BTreeSet<String>,
    /// Inputs that reached a new block, in order; the samples before them.
    corpus: Vec<String>,
    /// Blocks reached, a bit each: the slow program's and the edit's.
    reached: [Vec<u8>; 2],
    looked_at: u32,
    row: EditCertificate,
}

/// Certify an edit: its row but for who it is.
fn certify(edit: Edit<'_>, bench: &Bench, options: &CertifyOptions) -> Result<EditCertificate> {
    let mut row = EditCertificate {
        certificate: Certificate::None.to_string(),
        verdict: Verdict::ACCEPTED.into(),
        ..EditCertificate::default()
    };
    match Search::begin(edit, bench, options, row.clone())? {
        Ok(search) => search.run(),
        Err(verdict) => {
            row.verdict = verdict.name.into_owned();
            row.detail = verdict.detail;
            Ok(row)
        }
    }
}

impl<'a> Search<'a> {
    /// Build both programs and run the samples; a verdict where nothing can be compared.
    fn begin(
        edit: Edit<'a>,
        bench: &'a Bench,
        options: &'a CertifyOptions,
        row: EditCertificate,
    ) -> Result<std::result::Result<Search<'a>, Verdict>> {
        let samples: Vec<Test> = edit
            .samples
            .iter()
            .zip(0..)
            .map(|(Sample { input, output }, number)| Test {
                number,
                input: input.clone().into_bytes(),
                output: output.clone().into_bytes(),
            })
            .collect();
        if samples.is_empty() {
            let detail = format!("none for {}", edit.problem_id);
            return Ok(Err(Verdict::new(EditVerdict::NoTests, detail)));
        }
        if edit.code.trim().is_empty() {
            let detail = NO_PROGRAM;
            return Ok(Err(Verdict::new(EditVerdict::NoProgram, detail)));
        }
        let fails = |verdict: Verdict| Verdict::new(EditVerdict::SourceFails, verdict.to_string());
        let slow = match Subject::build(bench, edit.slow, edit.language)? {
            Ok(slow) => slow,
            Err(verdict) => return Ok(Err(fails(verdict))),
        };
        if let Some((_, verdict)) = bench.try_tests(&slow.program, &samples)?.failure {
            return Ok(Err(fails(verdict)));
        }
        let fast = match Subject::build(bench, edit.code, edit.language)? {
            Ok(fast) => fast,
            Err(verdict) => return Ok(Err(verdict)),
        };
        if let Some((number, verdict)) = bench.try_tests(&fast.program, &samples)?.failure {
            let detail = format!("sample {number}: {}", verdict.detail);
            return Ok(Err(Verdict { detail, ..verdict }));
        }
        let texts: Vec<&str> = edit.samples.iter().map(|sample| sample.input.as_str()).collect();
        let inputs = Inputs::learn(&texts);
        let grammar = inputs.as_ref().map(Inputs::describe).unwrap_or_default();
        Ok(Ok(Search {
            edit,
            bench,
            options,
            slow,
            fast,
            inputs,
            samples,
            habits: None,
            known: BTreeSet::new(),
            corpus: Vec::new(),
            reached: Default::default(),
            looked_at: 0,
            row: EditCertificate { grammar, ..row },
        }))
    }

    fn run(mut self) -> Result<EditCertificate> {
        let samples: Vec<String> =
            self.edit.samples.iter().map(|sample| sample.input.clone()).collect();
        let _ = self.compare_all(samples, By::Growth)?;
        for (data_sets, share) in self.shares() {
            if self.is_to_go_on() {
                self.enumerate(data_sets, share)?;
            }
        }
        let has_grown = self.is_to_go_on() && self.grow()?;
        let bound = self.row.bound;
        let certificate = match self.row.counterexample.is_empty() {
            false if self.row.verdict == Verdict::ACCEPTED => Certificate::Doubtful,
            false => Certificate::Counterexample,
            true if self.looked_at >= DIFFERENCES => {
                self.row.detail = format!(
                    "the slow program is undefined on {DIFFERENCES} inputs on which the two differ"
                );
                Certificate::None
            }
            true if self.row.inputs == 0 => Certificate::None,
            true if bound >= LEAST_BOUND && self.row.enumerated >= LEAST_INPUTS => {
                Certificate::Exhaustive
            }
            true if has_grown => Certificate::Covered,
            true => Certificate::None,
        };
        self.row.certificate = certificate.to_string();
        self.row.blocks = u64::from(self.slow.blocks) + u64::from(self.fast.blocks);
        let bits = |of: &Vec<u8>| of.iter().map(|byte| u64::from(byte.count_ones())).sum::<u64>();
        self.row.reached = self.reached.iter().map(bits).sum();
        Ok(self.row)
    }

    /// Numbers of data sets, and how many of the inputs each may have.
    fn shares(&self) -> Vec<(usize, usize)> {
        let inputs = self.options.inputs;
        match &self.inputs {
            None => Vec::new(),
            Some(known) if known.repeat() => vec![(1, inputs / 2), (2, inputs - inputs / 2)],
            Some(_) => vec![(1, inputs)],
        }
    }

    /// Compare all inputs of so many data sets, up to the largest bound that has no more than `most`.
    fn enumerate(&mut self, data_sets: usize, most: usize) -> Result<()> {
        let mut size = 1_u32;
        while size as usize <= most {
            let Some(inputs) = &self.inputs else { return Ok(()) };
            let Some(all) = inputs.all(size, data_sets, most) else { return Ok(()) };
            if !self.compare_all(all, By::Enumeration)? {
                return Ok(());
            }
            match data_sets {
                1 => self.row.bound = size,
                _ => self.row.bound_of_two = size,
            }
            size += (size / 3).max(1);
        }
        Ok(())
    }

    /// Compare both programs on inputs that were not tried; false where the search is over before their end.
    fn compare_all(&mut self, texts: Vec<String>, by: By) -> Result<bool> {
        let fresh: Vec<String> = texts
            .into_iter()
            .filter(|text| self.known.insert(content_hash(text.as_bytes())))
            .collect();
        for batch in fresh.chunks(BATCH) {
            if !self.is_to_go_on() {
                return Ok(false);
            }
            let inputs: Vec<&[u8]> = batch.iter().map(|text| text.as_bytes()).collect();
            let slow = self.slow.run_all(&inputs)?;
            self.row.steps += slow.iter().map(|outcome| outcome.steps).sum::<u64>();
            let (good, wanted): (Vec<usize>, Vec<Outcome>) =
                slow.into_iter().enumerate().filter(|(_, outcome)| is_good(outcome)).unzip();
            self.row.left_out += (batch.len() - good.len()) as u64;
            let inputs: Vec<&[u8]> = good.iter().map(|at| inputs[*at]).collect();
            let fast = self.fast.run_all(&inputs)?;
            self.row.steps += fast.iter().map(|outcome| outcome.steps).sum::<u64>();
            for ((at, wanted), found) in good.into_iter().zip(wanted).zip(fast) {
                self.compare_one(&batch[at], wanted, found, by)?;
                if !self.is_to_go_on() {
                    return Ok(false);
                }
            }
        }
        Ok(self.is_to_go_on())
    }

    fn compare_one(&mut self, text: &str, wanted: Outcome, found: Outcome, by: By) -> Result<()> {
        let Ok(printed) = &wanted.printed else { return Ok(()) };
        let is_equal = found
            .printed
            .as_ref()
            .is_ok_and(|found| found == printed || compare(printed, found).is_ok());
        if !is_equal {
            match self.difference(text, printed)? {
                Difference::None => {}
                Difference::Undefined => {
                    self.row.left_out += 1;
                    return Ok(());
                }
                Difference::Found { detail, is_certain } => {
                    self.note(text, printed, detail, is_certain, by);
                }
            }
        }
        self.row.inputs += 1;
        self.row.enumerated += u64::from(by == By::Enumeration);
        let of_slow = add(&mut self.reached[0], &wanted.reached);
        let of_fast = add(&mut self.reached[1], &found.reached);
        if of_slow || of_fast {
            self.row.kept += 1;
            self.corpus.push(text.to_owned());
        }
        Ok(())
    }

    /// Keep the first difference, and the first that is certain in its place.
    fn note(&mut self, text: &str, wanted: &[u8], detail: String, is_certain: bool, by: By) {
        let is_new = self.row.counterexample.is_empty() || is_certain;
        if !is_new {
            return;
        }
        self.row.counterexample = text.as_bytes().to_vec();
        self.row.wanted = wanted.to_vec();
        self.row.detail = detail;
        self.row.found_by = match by {
            By::Enumeration => "enumeration".into(),
            By::Growth => "growth".into(),
        };
        if is_certain {
            self.row.verdict = EditVerdict::FailsHiddenTests.to_string();
        }
    }

    /// Whether there is no counterexample yet, and time for more.
    fn is_to_go_on(&self) -> bool {
        self.row.verdict == Verdict::ACCEPTED
            && self.looked_at < DIFFERENCES
            && self.row.steps < self.options.steps
    }

    /// The random numbers of this edit, the same in any order of work.
    fn rng(&self) -> ChaCha8Rng {
        let all = [self.edit.problem_id, self.edit.slow, self.edit.code].map(str::as_bytes);
        let hash = dataset::content_hash_of(all);
        let seed = u64::from_str_radix(&hash[..8], 16).unwrap_or(0) ^ self.options.seed;
        ChaCha8Rng::seed_from_u64(seed)
    }
}

/// Whether a slow program printed something.
fn is_good(outcome: &Outcome) -> bool {
    outcome.printed.as_ref().is_ok_and(|text| !text.iter().all(u8::is_ascii_whitespace))
}

/// Add bits to others; whether one of them is new.
fn add(all: &mut Vec<u8>, more: &[u8]) -> bool {
    if all.len() < more.len() {
        all.resize(more.len(), 0);
    }
    let mut is_new = false;
    for (known, bits) in all.iter_mut().zip(more) {
        is_new |= bits & !*known != 0;
        *known |= bits;
    }
    is_new
}
