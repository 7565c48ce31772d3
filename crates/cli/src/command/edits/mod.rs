//! `stampmill edits`: performance edits.

mod certify;
mod export;
pub(crate) mod judge;
pub(crate) mod judge_kernels;
mod label;
mod pair_kernels;
mod pairs;
mod propose;
mod propose_kernels;
mod score;
mod self_play;
mod tests;
mod validate;

use super::commands;
use crate::{Global, choice::choice, command::time::SOURCES, duration::limit, interrupt};
use anyhow::Context;
use edits::{Bench, Client, Endpoint, Limits, Prompt, Store, schema::Broken};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};
use timing::SourceKind;

/// Pairs of slow and improved programs: make, check, judge, score
#[derive(clap::Args, Debug)]
#[command(after_help = help!("edits"))]
pub(crate) struct Edits {
    #[command(subcommand)]
    verb: Verb,
}

commands! {
    Verb {
        pairs::Pairs,
        validate::Validate,
        label::Label,
        tests::Tests,
        judge::Judge,
        judge_kernels::JudgeKernels,
        certify::Certify,
        score::Score,
        propose::Propose,
        propose_kernels::ProposeKernels,
        pair_kernels::PairKernels,
        self_play::SelfPlay,
        export::Export,
    }
}

impl Edits {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        self.verb.run(global)
    }
}

/// What programs are timed with and what they may use.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct Conditions {
    /// CPU to simulate: skylake, zen4, neoverse-n1, sifive-p550 or a CPU file (.toml)
    #[arg(long, value_name = "NAME", default_value = "skylake")]
    cpu: String,
    /// What measures times
    #[arg(long, default_value = "qemu", value_parser = choice(SOURCES))]
    source: SourceKind,
    /// Wall-clock limit of one native run
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = limit)]
    limit: Duration,
    /// Memory limit of one run, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 1024)]
    memory: u64,
    /// Instruction limit of a timed run; 0: none
    #[arg(long, value_name = "N", default_value_t = 400_000_000)]
    max_instructions: u64,
    /// Cache of executables and results [default: ~/.cache/stampmill/edits]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
}

impl Conditions {
    /// Where executables and results are kept.
    pub(crate) fn store(&self) -> Store {
        self.cache.as_deref().map_or_else(Store::of_user, Store::at)
    }

    /// Ctrl-C ends the programs that it runs, from now on.
    pub(crate) fn bench(&self) -> anyhow::Result<Bench> {
        Ok(self.bench_and_flag()?.0)
    }

    /// The same, and the flag that Ctrl-C raises.
    fn bench_and_flag(&self) -> anyhow::Result<(Bench, Arc<AtomicBool>)> {
        let cancelled = interrupt::flag()?;
        let timing = timing::Options {
            cpu: self.cpu.clone(),
            source: self.source,
            max_instructions: self.max_instructions,
            net: true,
            ..timing::Options::default()
        };
        let limits =
            Limits { wall: self.limit, memory_bytes: self.memory << 20, ..Limits::default() };
        Ok((Bench::open(&timing, limits, &self.store())?, cancelled))
    }
}

/// How a model's endpoint is asked.
#[derive(clap::Args, Debug, Clone)]
struct Asking {
    /// Models: base URL of an OpenAI-compatible API
    #[arg(long, value_name = "URL", default_value = "http://localhost:8000/v1")]
    url: String,
    /// Models: environment variable with the API key
    #[arg(long, value_name = "NAME", default_value = "OPENAI_API_KEY")]
    key_variable: String,
    /// Models: time limit of one request
    #[arg(long, value_name = "TIME", default_value = "120s", value_parser = limit)]
    timeout: Duration,
    /// Models: attempts per request
    #[arg(long, value_name = "N", default_value_t = 5)]
    tries: u32,
    /// Models: limit of requests per minute; 0: none
    #[arg(long, value_name = "N", default_value_t = 0)]
    requests_per_minute: u32,
    /// Models: price of a million prompt tokens and completion tokens
    #[arg(long, value_name = "IN,OUT", default_value = "0,0", value_parser = price)]
    price: [f64; 2],
    /// Models: draw from the likeliest tokens that hold this share [default: the endpoint's own]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    top_p: Option<f64>,
}

impl Asking {
    /// How another endpoint is asked: what `other` does not say is as here. The key of this one goes to no other address.
    fn of(&self, other: &Editor) -> Asking {
        let key_variable = match (&other.editor_key_variable, &other.editor_url) {
            (Some(name), _) => name.clone(),
            (None, Some(_)) => EDITOR_KEY.to_owned(),
            (None, None) => self.key_variable.clone(),
        };
        Asking {
            url: other.editor_url.clone().unwrap_or_else(|| self.url.clone()),
            key_variable,
            price: other.editor_price.unwrap_or(self.price),
            ..self.clone()
        }
    }

    fn client(&self, model: String, store: Store) -> Client {
        let endpoint = Endpoint {
            base_url: self.url.clone(),
            model,
            key_variable: self.key_variable.clone(),
            timeout: self.timeout,
            tries: self.tries.max(1),
            requests_per_minute: self.requests_per_minute,
            price: self.price,
            top_p: self.top_p,
            ..Endpoint::default()
        };
        Client::new(endpoint, store)
    }
}

/// The variable with the key of an editor that has an address of its own.
const EDITOR_KEY: &str = "EDITOR_API_KEY";

/// A second model, which makes programs faster that the first writes.
#[derive(clap::Args, Debug, Clone)]
struct Editor {
    /// Name of the model that makes the new programs faster [default: that of --model]
    #[arg(long, value_name = "NAME")]
    editor: Option<String>,
    /// Editor: base URL of its API [default: that of --url]
    #[arg(long, value_name = "URL", requires = "editor")]
    editor_url: Option<String>,
    /// Editor: environment variable with its API key [default: that of --key-variable; with --editor-url EDITOR_API_KEY]
    #[arg(long, value_name = "NAME", requires = "editor")]
    editor_key_variable: Option<String>,
    /// Editor: price of a million prompt tokens and completion tokens [default: that of --price]
    #[arg(long, value_name = "IN,OUT", requires = "editor", value_parser = price)]
    editor_price: Option<[f64; 2]>,
}

/// Numbers with commas, none of them negative; else `wrong` says what to write.
fn numbers<const N: usize>(text: &str, wrong: &str) -> Result<[f64; N], String> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| *number >= 0.0);
    let numbers: Option<Vec<f64>> = text.split(',').map(number).collect();
    let numbers = numbers.and_then(|numbers| <[f64; N]>::try_from(numbers).ok());
    numbers.ok_or_else(|| format!("`{text}` is no {wrong}"))
}

fn price(text: &str) -> Result<[f64; 2], String> {
    numbers(text, "price; write two numbers, as 0.5,1.5")
}

fn share(text: &str) -> Result<f64, String> {
    let wrong = || format!("`{text}` is no share; write a number above 0 and at most 1");
    text.parse().ok().filter(|value: &f64| *value > 0.0 && *value <= 1.0).ok_or_else(wrong)
}

/// What to do about lines that cannot be read.
#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum OnBroken {
    /// Stop at the first, naming line and field
    Stop,
    /// Skip and count them
    Skip,
}

impl From<OnBroken> for edits::schema::OnBroken {
    fn from(what: OnBroken) -> edits::schema::OnBroken {
        match what {
            OnBroken::Stop => edits::schema::OnBroken::Stop,
            OnBroken::Skip => edits::schema::OnBroken::Skip,
        }
    }
}

/// How pairs are read.
#[derive(clap::Args, Debug, Clone)]
struct Reading {
    /// Only pairs of this split: train, val or test
    #[arg(long, value_name = "PART")]
    split: Option<String>,
    /// On a line that cannot be read: stop, or skip and count it
    #[arg(long, value_enum, default_value = "stop")]
    on_broken: OnBroken,
}

impl Reading {
    /// Pairs of the split, and which lines were skipped.
    fn pairs(&self, path: &Path, global: &Global) -> anyhow::Result<edits::Pairs> {
        let mut read = edits::Pairs::read(path, self.on_broken.into())?;
        tell_broken(path, &read.broken, global);
        if let Some(part) = &self.split {
            read.pairs.retain(|pair| pair.split == *part);
        }
        Ok(read)
    }
}

/// The prompt of a file, or that of a method.
fn prompt(file: Option<&Path>, method: &str) -> anyhow::Result<Prompt> {
    match file {
        Some(path) => Ok(Prompt::read(path)?),
        None => Prompt::of_method(method).context("the method has no prompt"),
    }
}

/// Name the lines that were skipped.
fn tell_broken(path: &Path, broken: &[edits::schema::Broken], global: &Global) {
    for Broken { line, field, reason } in broken.iter().filter(|_| !global.is_quiet()) {
        eprintln!("{}, line {line}, field `{field}`: {reason}", path.display());
    }
}
