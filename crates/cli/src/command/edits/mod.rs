//! `stampmill edits`: performance edits.

mod export;
mod judge;
mod pairs;
mod propose;
mod score;
mod self_play;
mod tests;
mod validate;

pub(super) use judge::show as show_judge;
pub(super) use pairs::show as show_pairs;
pub(super) use tests::show as show_tests;

use crate::{Global, duration::limit, interrupt};
use edits::{Bench, Client, Endpoint, Limits, Store};
use std::{
    path::PathBuf,
    process::ExitCode,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

/// Pairs of slow and improved programs: make, check, judge, score
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    stampmill edits validate pairs.jsonl\n  \
    stampmill edits tests problems.jsonl --pairs pairs.jsonl --out tests\n  \
    stampmill edits pairs submissions --tests tests --out pairs\n  \
    stampmill edits propose pairs --method rules --tests tests --out rules.jsonl\n  \
    stampmill edits judge pairs --candidates rules.jsonl --tests tests --hidden tests --out judged\n  \
    stampmill edits score judged\n\n\
Times are those of a simulated CPU, the same on every host. Programs run in a sandbox with limits on\n\
time and memory; how they fail is a verdict.")]
pub(crate) struct Edits {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand, Debug)]
enum Verb {
    Pairs(pairs::Pairs),
    Validate(validate::Validate),
    Tests(tests::Tests),
    Judge(judge::Judge),
    Score(score::Score),
    Propose(Box<propose::Propose>),
    SelfPlay(Box<self_play::SelfPlay>),
    Export(export::Export),
}

impl Edits {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        match self.verb {
            Verb::Pairs(verb) => verb.run(global),
            Verb::Validate(verb) => verb.run(global),
            Verb::Tests(verb) => verb.run(global),
            Verb::Judge(verb) => verb.run(global),
            Verb::Score(verb) => verb.run(global),
            Verb::Propose(verb) => verb.run(global),
            Verb::SelfPlay(verb) => verb.run(global),
            Verb::Export(verb) => verb.run(global),
        }
    }
}

/// What programs are timed with and what they may use.
#[derive(clap::Args, Debug, Clone)]
struct Conditions {
    /// CPU to simulate: skylake, zen4 or a CPU file (.toml)
    #[arg(long, value_name = "NAME", default_value = "skylake")]
    cpu: String,
    /// What measures times: qemu, gem5, cachegrind or wall
    #[arg(long, value_name = "SOURCE", default_value = "qemu")]
    source: String,
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
    fn store(&self) -> Store {
        self.cache.as_deref().map_or_else(Store::of_user, Store::at)
    }

    /// Ctrl-C ends the programs that it runs, from now on.
    fn bench(&self) -> anyhow::Result<Bench> {
        Ok(self.bench_and_flag()?.0)
    }

    /// The same, and the flag that Ctrl-C raises.
    fn bench_and_flag(&self) -> anyhow::Result<(Bench, Arc<AtomicBool>)> {
        let cancelled = interrupt::ending_programs()?;
        let timing = timing::Options {
            cpu: self.cpu.clone(),
            source: timing::SourceKind::parse(&self.source)?,
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
    price: Price,
}

impl Asking {
    fn client(&self, model: String, store: Store) -> Client {
        let endpoint = Endpoint {
            base_url: self.url.clone(),
            model,
            key_variable: self.key_variable.clone(),
            timeout: self.timeout,
            tries: self.tries.max(1),
            requests_per_minute: self.requests_per_minute,
            price: self.price.0,
            ..Endpoint::default()
        };
        Client::new(endpoint, store)
    }
}

#[derive(Clone, Copy, Debug)]
struct Price([f64; 2]);

fn price(text: &str) -> Result<Price, String> {
    let wrong = || format!("`{text}` is no price; write two numbers, as 0.5,1.5");
    let (asked, answered) = text.split_once(',').ok_or_else(wrong)?;
    let number =
        |text: &str| text.trim().parse::<f64>().ok().filter(|n| *n >= 0.0).ok_or_else(wrong);
    Ok(Price([number(asked)?, number(answered)?]))
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

/// Name the lines that were skipped.
fn tell_broken(path: &std::path::Path, broken: &[edits::schema::Broken], global: &Global) {
    if global.quiet {
        return;
    }
    for line in broken {
        eprintln!(
            "{}, line {}, field `{}`: {}",
            path.display(),
            line.line,
            line.field,
            line.reason
        );
    }
}
