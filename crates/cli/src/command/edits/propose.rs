//! `stampmill edits propose`: candidates from rules or from a model.

use super::{Asking, Conditions, Reading};
use crate::{Global, choice::choice, destination, interrupt, output, progress::Bar};
use anyhow::{Context, bail};
use edits::{
    Candidates, Encoder, EndpointEncoder, Pair, ProposeOptions, Rewriter, SearchOptions, Shown,
    StrategyEncoder, TestSet, TokenEncoder, propose, search, write_lines,
};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Propose faster versions: by rewrite rules, or by a language model
#[derive(clap::Args, Debug)]
#[command(mut_arg(
    "out",
    destination::file("The file to write: JSON lines for `edits judge --candidates`", "FILE")
))]
#[command(after_help = help!("edits-propose"))]
pub(crate) struct Propose {
    /// Pairs whose slow programs are to be improved
    pairs: PathBuf,
    /// Method of proposing
    #[arg(long, default_value = "rules", value_parser = METHODS)]
    method: String,
    #[command(flatten)]
    output: destination::Output,
    /// Candidates per slow program
    #[arg(long, value_name = "N", default_value_t = 8)]
    samples: usize,
    /// Random seed of search and sampling
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// rules: tests that the search uses, as those of `edits judge`
    #[arg(long, value_name = "TESTS", required_if_eq("method", "rules"))]
    tests: Option<PathBuf>,
    /// rules: candidates judged per slow program
    #[arg(long, value_name = "N", default_value_t = 16)]
    budget: usize,
    /// rules: leave out edits that change only input and output
    #[arg(long)]
    no_io: bool,
    /// Models: pairs to show as examples; cot and perf-conditioned ask without them, too
    #[arg(long, value_name = "PAIRS")]
    known: Option<PathBuf>,
    /// Models: examples shown
    #[arg(long, value_name = "K", default_value_t = 2)]
    k: usize,
    /// Models: which examples: those of the nearest slow programs, drawn by the seed for each program, or the same ones of
    /// highest speedup for all [default: nearest; few-shot and cot: fastest]
    #[arg(long, value_parser = choice(SHOWN))]
    examples: Option<Shown>,
    /// perf-conditioned: the tag to ask for, 1 to 10: how near to the problem's fastest program [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10))]
    tag: Option<u32>,
    /// Models: how similarity of programs is measured: by their tokens, by what an edit improves (strategy), or by
    /// the endpoint's embeddings
    #[arg(long, default_value = "tokens", value_parser = ["tokens", "strategy", "endpoint"])]
    encoder: String,
    /// Models: a prompt file that replaces the method's own
    #[arg(long, value_name = "FILE")]
    prompt: Option<PathBuf>,
    /// Models: sampling temperature
    #[arg(long, value_name = "T", default_value_t = 0.7)]
    temperature: f64,
    /// Models: token limit of an answer
    #[arg(long, value_name = "N", default_value_t = 2048)]
    max_tokens: u32,
    /// Models: the model's name at the endpoint
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Models: the embedding model's name, for --encoder endpoint
    #[arg(long, value_name = "NAME")]
    embedding_model: Option<String>,
    #[command(flatten)]
    asking: Asking,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    conditions: Conditions,
}

const METHODS: [&str; 6] =
    ["rules", "instruction", "few-shot", "cot", "retrieval", "perf-conditioned"];

/// Methods that ask without examples where none are given.
const WITHOUT_EXAMPLES: [&str; 2] = ["cot", "perf-conditioned"];

const SHOWN: &[(&str, Shown)] =
    &[("nearest", Shown::Nearest), ("random", Shown::Random), ("fastest", Shown::Fastest)];

impl Propose {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        self.output.is_free_file()?;
        let pairs = self.reading.pairs(&self.pairs, global)?.pairs;
        match self.method.as_str() {
            "rules" => self.rules(&pairs, global),
            method => self.model(method, &pairs, global),
        }
    }

    fn rules(&self, pairs: &[Pair], global: &Global) -> anyhow::Result<ExitCode> {
        let tests = TestSet::visible(self.tests.as_deref().unwrap_or(Path::new("tests")))?;
        let bench = self.conditions.bench()?;
        let rewriter = Rewriter::start(global.jobs())?;
        let options = SearchOptions {
            budget: self.budget,
            samples: self.samples,
            without_io: self.no_io,
            seed: self.seed,
        };
        let bar = Bar::new(global);
        let (candidates, report) = edits::with_jobs(global.jobs(), || {
            search(pairs, &tests, &bench, &rewriter, &options, &bar)
        })?;
        drop(bar);
        self.write(&candidates)?;
        output::report(global, &report, || {
            output::print_counts(["rule", "in the fastest of"], &report.rules)?;
            output::line(&format!(
                "{} of {} changed, {} of them improved by 10 % or more, no edit for {}, {} could not be judged; {} tried, {} ({:.1} s)",
                report.changed,
                output::some(report.programs, "slow program"),
                report.improved,
                report.without_edits,
                report.unjudged.values().sum::<u64>(),
                output::some(report.evaluations, "candidate"),
                self.output.out.display(),
                report.seconds
            ))
        })?;
        Ok(output::status(report.changed > 0))
    }

    /// Write the file of candidates.
    fn write(&self, candidates: &[Candidates]) -> anyhow::Result<u64> {
        let lines: Vec<_> = candidates.iter().map(Candidates::to_line).collect();
        Ok(write_lines(&self.output.out, &lines)?)
    }

    fn model(&self, method: &str, pairs: &[Pair], global: &Global) -> anyhow::Result<ExitCode> {
        let model = self.model.clone().context("--model: name the model that is asked")?;
        let mut prompt = super::prompt(self.prompt.as_deref(), method)?;
        if let Some(tag) = self.tag {
            if !prompt.has_tag() {
                bail!(
                    "--tag: the prompt asks for no tag: `{{score}}` is not in its part `--- user`, as it is in that of --method perf-conditioned"
                );
            }
            prompt = prompt.with_tag(tag);
        }
        let known = match &self.known {
            Some(path) => edits::Pairs::read(path, self.reading.on_broken.into())?.pairs,
            None if prompt.has_examples() && !WITHOUT_EXAMPLES.contains(&method) => {
                bail!("--known: name pairs to show as examples for --method {method}")
            }
            None => Vec::new(),
        };
        let client = |model: String| self.asking.client(model, self.conditions.store());
        let embedder = client(self.embedding_model.clone().unwrap_or_else(|| model.clone()));
        let encoder: Box<dyn Encoder + '_> = match self.encoder.as_str() {
            "strategy" => Box::new(StrategyEncoder),
            "endpoint" => Box::new(EndpointEncoder { client: &embedder }),
            _ => Box::new(TokenEncoder),
        };
        let options = ProposeOptions {
            method: method.to_owned(),
            k: self.k,
            samples: self.samples as u64,
            temperature: self.temperature,
            most_tokens: self.max_tokens,
            shown: self.examples.unwrap_or(match method {
                "few-shot" | "cot" => Shown::Fastest,
                _ => Shown::Nearest,
            }),
            seed: self.seed,
        };
        let client = client(model);
        interrupt::flag()?;
        let bar = Bar::new(global);
        let (candidates, report) = edits::with_jobs(global.jobs(), || {
            propose(pairs, &known, &client, &prompt, encoder.as_ref(), &options, &bar)
        })?;
        drop(bar);
        self.write(&candidates)?;
        output::report(global, &report, || {
            output::line(&format!(
                "{} for {}, {} without a program, {} failed; {} ({:.1} s)",
                output::some(report.answers, "answer"),
                output::some(report.programs, "program"),
                report.without_program,
                report.failed,
                self.output.out.display(),
                report.seconds
            ))?;
            let usage = report.usage;
            output::line(&format!(
                "{}, {} from the cache, {} repeated; {} prompt tokens, {} completion tokens, cost {:.4}",
                output::some(usage.requests, "request"),
                usage.cached,
                usage.retries,
                output::count(usage.prompt_tokens),
                output::count(usage.completion_tokens),
                usage.cost
            ))?;
            if !report.failure.is_empty() {
                output::line(&format!("the last failure: {}", report.failure))?;
            }
            Ok(())
        })?;
        Ok(output::status(report.failed == 0))
    }
}
