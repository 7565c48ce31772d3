//! `benchstone serve`: a checkpoint behind an OpenAI-compatible API.

mod api;

use crate::{Global, interrupt, output};
use anyhow::{Context, bail};
use api::{Api, Refusal};
use lm::causal::{Causal, Job};
use serde_json::{Value, json};
use std::{
    io::Read,
    path::PathBuf,
    process::ExitCode,
    sync::{
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    time::Duration,
};
use tiny_http::{Header, Method, Request, Response, Server};

/// Serve a checkpoint by OpenAI's API: chat completions, completions, embeddings
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    benchstone serve model                              prints the address, until Ctrl-C\n  \
    benchstone serve model --listen 127.0.0.1:8000 --name mine\n  \
    benchstone edits propose pairs --method instruction --url http://127.0.0.1:8000/v1 --model mine --out a.jsonl\n  \
    curl http://127.0.0.1:8000/v1/chat/completions -d '{\"model\": \"mine\", \"messages\": [{\"role\": \"user\", \"content\": \"hi\"}]}'\n\n\
The checkpoint is one of `benchstone train` (infill, lstm), or any of the Llama family in Hugging Face's\n\
layout: config.json, model.safetensors or its shards, tokenizer.json and, for chats, the chat template of\n\
tokenizer_config.json or chat_template.jinja; without a template, messages stand one after the other.\n\
It runs on the CPU. There is no key and no encryption: listen on other than this machine's own address\n\
only where everyone who reaches it may use it.")]
pub(crate) struct Serve {
    /// The folder of a checkpoint
    checkpoint: PathBuf,
    /// Address and port; port 0 takes any free one
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0")]
    listen: String,
    /// The model's name in the API; the folder's name unless given
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Answers drawn side by side
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=1024))]
    slots: u16,
    /// Requests that may wait; more are told to come again (status 429)
    #[arg(long, value_name = "N", default_value_t = 256)]
    queue: u64,
}

/// How long to wait for a request before looking whether to stop.
const LOOK: Duration = Duration::from_millis(100);
/// Bytes of a request at most.
const LARGEST: u64 = 16 << 20;

/// What was done.
#[derive(Default)]
struct Counts {
    waiting: AtomicU64,
    requests: AtomicU64,
    refused: AtomicU64,
    prompt_tokens: AtomicU64,
    completion_tokens: AtomicU64,
}

impl Serve {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let causal = Causal::load(&self.checkpoint)?;
        let name = match self.name {
            Some(name) => name,
            None => {
                let folder = self.checkpoint.canonicalize().unwrap_or(self.checkpoint);
                folder.file_name().map_or("model".into(), |name| name.to_string_lossy().into())
            }
        };
        let server = match Server::http(&self.listen) {
            Ok(server) => server,
            Err(error) => bail!(
                "cannot listen on {}: {error}; name another address with --listen, port 0 takes any free one",
                self.listen
            ),
        };
        let stopped = interrupt::quiet_flag()?;
        let address = server.server_addr().to_ip().context("no address of the internet")?;
        let url = format!("http://{address}/v1");
        match global.json {
            true => output::json(&json!({
                "url": url, "model": name, "length": causal.length(), "pid": std::process::id(),
            }))?,
            false => output::line(&format!(
                "serving {name} at {url}, {} tokens with the answer; Ctrl-C ends it",
                causal.length()
            ))?,
        }
        let counts = Counts::default();
        let (sender, receiver) = mpsc::channel();
        let api = Api::new(name, &causal);
        std::thread::scope(|scope| {
            let (slots, model, flag) = (usize::from(self.slots), &causal, &stopped);
            scope.spawn(move || model.serve(slots, &receiver, flag));
            while !stopped.load(Ordering::SeqCst) {
                let Ok(Some(request)) = server.recv_timeout(LOOK) else { continue };
                if counts.waiting.fetch_add(1, Ordering::SeqCst) >= self.queue {
                    counts.waiting.fetch_sub(1, Ordering::SeqCst);
                    counts.refused.fetch_add(1, Ordering::Relaxed);
                    send(request, Err(Refusal::busy()), global);
                    continue;
                }
                let sender = sender.clone();
                let (api, counts) = (&api, &counts);
                scope.spawn(move || {
                    serve(request, api, &sender, counts, global);
                    counts.waiting.fetch_sub(1, Ordering::SeqCst);
                });
            }
            drop(sender);
        });
        if !global.json && !global.quiet {
            let count = |count: &AtomicU64| output::count(count.load(Ordering::Relaxed));
            output::line(&format!(
                "stopped: {} requests, {} of them refused; {} tokens asked, {} answered",
                count(&counts.requests),
                count(&counts.refused),
                count(&counts.prompt_tokens),
                count(&counts.completion_tokens)
            ))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Answer one request.
fn serve(
    mut request: Request,
    api: &Api<'_>,
    jobs: &mpsc::Sender<Job>,
    counts: &Counts,
    global: &Global,
) {
    let mut body = Vec::new();
    let read = request.as_reader().take(LARGEST + 1).read_to_end(&mut body);
    let path = request.url().split('?').next().unwrap_or_default().trim_end_matches('/').to_owned();
    let answer = match (request.method(), read) {
        (_, Err(error)) => Err(Refusal::wrong(&format!("the request broke off: {error}"))),
        (_, Ok(length)) if length as u64 > LARGEST => Err(Refusal::large(LARGEST)),
        (Method::Get | Method::Head, Ok(_)) => api.get(&path),
        (Method::Post, Ok(_)) => api.post(&path, &body, jobs),
        _ => Err(Refusal::method()),
    };
    counts.requests.fetch_add(1, Ordering::Relaxed);
    match &answer {
        Ok(answer) => {
            let tokens = |name: &str| answer["usage"][name].as_u64().unwrap_or(0);
            counts.prompt_tokens.fetch_add(tokens("prompt_tokens"), Ordering::Relaxed);
            counts.completion_tokens.fetch_add(tokens("completion_tokens"), Ordering::Relaxed);
        }
        Err(_) => {
            counts.refused.fetch_add(1, Ordering::Relaxed);
        }
    }
    send(request, answer, global);
}

fn send(request: Request, answer: Result<Value, Refusal>, global: &Global) {
    let (status, body) = match answer {
        Ok(body) => (200, body),
        Err(refusal) => (refusal.status, refusal.body()),
    };
    if global.verbose > 0 {
        eprintln!("{} {} {status}", request.method(), request.url());
    }
    let mut response = Response::from_string(body.to_string()).with_status_code(status);
    let mut header = |name: &str, value: &str| {
        if let Ok(header) = Header::from_bytes(name, value) {
            response.add_header(header);
        }
    };
    header("content-type", "application/json");
    if status == 429 {
        header("retry-after", "1");
    }
    // Who has gone away needs no answer.
    let _ = request.respond(response);
}
