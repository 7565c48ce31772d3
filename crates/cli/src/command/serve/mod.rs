//! `stampmill serve`: a checkpoint behind an OpenAI-compatible API, the judge of edits, a live report, or a quiz.

mod judge;
mod live;
mod quiz;

use super::sample::DEVICES;
use crate::{Global, choice::choice, duration, interrupt, output, size};
use cluster::Token;
use serde_json::json;
use serve::{Kind, Limits, Options, Server};
use std::{path::PathBuf, process::ExitCode, time::Duration};

/// Serve a checkpoint with an OpenAI-compatible API, the judge of edits, a live report, or a quiz
#[derive(clap::Args, Debug)]
#[command(after_help = help!("serve"))]
pub(crate) struct Serve {
    /// The folder of a checkpoint: chat completions, completions, embeddings
    #[arg(required_unless_present_any = ["judge", "report", "quiz"], conflicts_with_all = ["judge", "report", "quiz"])]
    checkpoint: Option<PathBuf>,
    /// Serve the judge of edits: a batch of candidates in, rewards and verdicts out
    #[arg(long)]
    judge: bool,
    /// Serve the report of a folder, which shows new data sets and unfinished ones as they come
    #[arg(long, value_name = "DIR", conflicts_with_all = ["judge", "token_file"])]
    report: Option<PathBuf>,
    /// Serve a quiz, who wrote a kernel: `human=DATASET` or `machine=DATASET`, of `prepare`, `sample` or `steer`; several times
    #[arg(long, value_name = "KIND=DATASET", value_parser = quiz::side, requires = "out", conflicts_with_all = ["judge", "report"])]
    quiz: Vec<(Kind, PathBuf)>,
    /// Address and port; port 0: any free port
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0")]
    listen: String,
    /// A file with a token that clients must send; with --judge needed off loopback
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// The model's name in the API [default: the folder's name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Where the model runs: `cpu` here, `cuda` or `cpu-torch` in the libtorch engine (a checkout's `make torch` builds it)
    #[arg(long, default_value = "cpu", value_parser = choice(DEVICES), conflicts_with_all = ["judge", "report", "quiz"])]
    device: &'static str,
    /// Answers generated in parallel, as one batch; batches judged side by side [default: 8, of a judge 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    slots: Option<u16>,
    /// Requests waiting or in progress; more get status 429, of a judge 503 [default: 256, of a judge 32]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    queue: Option<u16>,
    /// Open connections; beyond that the oldest idle one is closed, or new ones get status 503
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u16).range(1..))]
    max_connections: u16,
    /// Size limit of a request's body; a larger one gets status 413 [default: 1MiB, of a judge 16MiB]
    #[arg(long, value_name = "SIZE", value_parser = size::size)]
    max_body: Option<u64>,
    /// Token limit of a request: prompts plus the requested maximum of every answer; beyond it status 400
    #[arg(long, value_name = "N", default_value = "2^18", value_parser = size::count)]
    max_tokens: u64,
    /// Time limit for receiving the header, and then the body, of a request (408)
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration::limit)]
    read_timeout: Duration,
    /// Time limit of a request, waiting included (504)
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration::limit)]
    timeout: Duration,
    /// How long to wait for requests in progress after Ctrl-C
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration::duration)]
    grace: Duration,
    #[command(flatten, next_help_heading = "Judge")]
    judging: judge::Judging,
    #[command(flatten, next_help_heading = "Quiz")]
    asking: quiz::Asking,
}

impl Serve {
    fn limits(&self, queue: u16, body: u64) -> Limits {
        Limits {
            body: self.max_body.unwrap_or(body),
            connections: usize::from(self.max_connections),
            queue: usize::from(self.queue.unwrap_or(queue)),
            read: self.read_timeout,
            answer: self.timeout,
        }
    }

    fn token(&self) -> anyhow::Result<Option<Token>> {
        Ok(self.token_file.as_deref().map(Token::read).transpose()?)
    }

    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        if self.report.is_some() {
            return self.live(global);
        }
        if !self.quiz.is_empty() {
            return self.quiz(global);
        }
        let Some(checkpoint) = self.checkpoint.clone() else { return self.judge(global) };
        let (limits, token) = (self.limits(256, 1 << 20), self.token()?);
        let is_open = token.is_none();
        let server = Server::bind(Options {
            checkpoint,
            listen: self.listen,
            name: self.name,
            token,
            slots: usize::from(self.slots.unwrap_or(8)),
            device: Some(self.device.to_owned()).filter(|device| !device.is_empty()),
            most_tokens: usize::try_from(self.max_tokens).unwrap_or(usize::MAX),
            limits,
            grace: self.grace,
        })?;
        let stop = interrupt::quiet_flag()?;
        let address = server.address();
        if !address.ip().is_loopback() && !global.is_quiet() {
            let who = match is_open {
                true => {
                    "everyone who can reach it can use this model: name a token with --token-file;"
                }
                false => "",
            };
            eprintln!("note: {address} is not of this machine alone: {who} there is no encryption");
        }
        let (url, name, length) = (server.url(), server.name(), server.length());
        let started =
            json!({ "url": url, "model": name, "length": length, "pid": std::process::id() });
        output::report(global, &started, || {
            output::line(&format!(
                "serving {name} at {url}, context of {length} tokens; Ctrl-C stops it"
            ))
        })?;
        let served = server.run(&stop)?;
        if !global.json && !global.is_quiet() {
            output::line(&format!(
                "stopped: {} requests, {} of them refused; {} prompt tokens, {} completion tokens",
                output::count(served.requests),
                output::count(served.refused),
                output::count(served.prompt_tokens),
                output::count(served.completion_tokens)
            ))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
