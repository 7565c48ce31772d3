//! `stampmill serve`: a checkpoint behind an OpenAI-compatible API.

use crate::{Global, duration, interrupt, output, size};
use serde_json::json;
use serve::{Limits, Options, Server};
use std::{path::PathBuf, process::ExitCode, time::Duration};

/// Serve a checkpoint with an OpenAI-compatible API: chat completions, completions, embeddings
#[derive(clap::Args, Debug)]
#[command(after_help = help!("serve"))]
pub(crate) struct Serve {
    /// The folder of a checkpoint
    checkpoint: PathBuf,
    /// Address and port; port 0: any free port
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0")]
    listen: String,
    /// The model's name in the API [default: the folder's name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Answers generated in parallel (one batch)
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=1024))]
    slots: u16,
    /// Requests waiting or in progress; more get status 429
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u16).range(1..))]
    queue: u16,
    /// Open connections; beyond that the oldest idle one is closed, or new ones get status 503
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u16).range(1..))]
    max_connections: u16,
    /// Size limit of a request's body; a larger one gets status 413
    #[arg(long, value_name = "SIZE", default_value = "1MiB", value_parser = size::size)]
    max_body: u64,
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
}

impl Serve {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let server = Server::bind(Options {
            checkpoint: self.checkpoint,
            listen: self.listen,
            name: self.name,
            slots: usize::from(self.slots),
            most_tokens: usize::try_from(self.max_tokens).unwrap_or(usize::MAX),
            limits: Limits {
                body: self.max_body,
                connections: usize::from(self.max_connections),
                queue: usize::from(self.queue),
                read: self.read_timeout,
                answer: self.timeout,
            },
            grace: self.grace,
            verbose: global.verbose > 0,
        })?;
        let stop = interrupt::quiet_flag()?;
        let address = server.address();
        if !address.ip().is_loopback() && !global.is_quiet() {
            eprintln!(
                "note: everyone who can reach {address} can use this model: there is no authentication and no encryption"
            );
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
