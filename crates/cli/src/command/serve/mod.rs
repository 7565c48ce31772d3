//! `stampmill serve`: a checkpoint behind an OpenAI-compatible API.
//!
//! `connection` holds what connections may take, `routes` what requests may, `api` what is understood of them,
//! `answer` how they are answered, `refusal` how not. The model runs in a thread of its own.

mod answer;
mod api;
mod connection;
mod refusal;
mod routes;

use crate::{Global, duration, interrupt, output, size};
use anyhow::{Context, bail};
use api::Api;
use connection::Connections;
use lm::causal::{Causal, Job, Turn};
use routes::{Limits, Service};
use serde_json::json;
use std::{
    net::TcpListener,
    path::PathBuf,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::sync::{
    mpsc::{self, error::TryRecvError},
    oneshot,
};

/// Serve a checkpoint by OpenAI's API: chat completions, completions, embeddings
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    stampmill serve model                              prints the address, until Ctrl-C\n  \
    stampmill serve model --listen 127.0.0.1:8000 --name mine\n  \
    stampmill edits propose pairs --method instruction --url http://127.0.0.1:8000/v1 --model mine --out a.jsonl\n  \
    curl http://127.0.0.1:8000/v1/chat/completions -H 'content-type: application/json' \\\n    \
    -d '{\"model\": \"mine\", \"messages\": [{\"role\": \"user\", \"content\": \"hi\"}]}'\n\n\
The checkpoint is one of `stampmill train` (infill, lstm), or any of the Llama family in Hugging Face's\n\
layout: config.json, model.safetensors or its shards, tokenizer.json and, for chats, the chat template of\n\
tokenizer_config.json or chat_template.jinja; without a template, messages stand one after the other.\n\
It runs on the CPU. Ctrl-C ends it: what is being answered is answered, then it exits with status 0.\n\
There is no key and no encryption: listen on other than this machine's own address only where everyone who\n\
reaches it may use it. What a client may take is bounded by the limits above; whose client leaves gets nothing\n\
more drawn.")]
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
    /// Requests that may wait or be answered; more are told to come again (status 429)
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u16).range(1..))]
    queue: u16,
    /// Connections that may be open; of more, the oldest idle one is closed, or they are told to come again (503)
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u16).range(1..))]
    max_connections: u16,
    /// Bytes of a request's body; a larger one is refused (413)
    #[arg(long, value_name = "SIZE", default_value = "1MiB", value_parser = size::size)]
    max_body: u64,
    /// Tokens of a request in all: its prompts, and for each answer what it asks for at most (400)
    #[arg(long, value_name = "N", default_value = "2^18", value_parser = size::count)]
    max_tokens: u64,
    /// How long a request's head, and then its body, may take to arrive (408)
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration::limit)]
    read_timeout: Duration,
    /// How long a request may wait and be answered (504)
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration::limit)]
    timeout: Duration,
    /// How long Ctrl-C waits for what is being answered
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration::duration)]
    grace: Duration,
}

/// How often to look whether to stop, and how long to pause where the system gives no more connections.
const LOOK: Duration = Duration::from_millis(100);

impl Serve {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let causal = Arc::new(Causal::load(&self.checkpoint)?);
        let name = match &self.name {
            Some(name) => name.clone(),
            None => {
                let folder = self.checkpoint.canonicalize();
                let folder = folder.unwrap_or_else(|_| self.checkpoint.clone());
                folder.file_name().map_or("model".into(), |name| name.to_string_lossy().into())
            }
        };
        let listener = TcpListener::bind(&self.listen).with_context(|| {
            format!(
                "cannot listen on {}; name another address with --listen, port 0 takes any free one",
                self.listen
            )
        })?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let stopped = interrupt::quiet_flag()?;
        let limits = self.limits();
        let (jobs, waiting) = mpsc::channel(usize::from(self.slots));
        let most_tokens = usize::try_from(self.max_tokens).unwrap_or(usize::MAX);
        let api = Api::new(name.clone(), Arc::clone(&causal), most_tokens);
        let service = Arc::new(Service::new(api, limits, jobs, global.verbose > 0));
        let length = causal.length();
        let engine = start(causal, usize::from(self.slots), waiting)?;

        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(8)
            .enable_all()
            .build()
            .context("cannot start the server")?;
        if !address.ip().is_loopback() && !global.quiet {
            eprintln!(
                "note: everyone who reaches {address} can use this model; there is no key and no encryption"
            );
        }
        let url = format!("http://{address}/v1");
        match global.json {
            true => output::json(&json!({
                "url": url, "model": name, "length": length, "pid": std::process::id(),
            }))?,
            false => output::line(&format!(
                "serving {name} at {url}, {length} tokens with the answer; Ctrl-C ends it"
            ))?,
        }
        runtime.block_on(listen(listener, &service, &stopped, engine, self.grace))?;
        // Reading a prompt or making a vector may take long; nobody waits for it any more.
        runtime.shutdown_background();
        if !global.json && !global.quiet {
            let counts = &service.counts;
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

    fn limits(&self) -> Limits {
        Limits {
            body: self.max_body,
            connections: usize::from(self.max_connections),
            queue: usize::from(self.queue),
            read: self.read_timeout,
            answer: self.timeout,
        }
    }
}

/// Run the model in a thread of its own. What is returned is closed when that thread ends, which it does not do
/// by itself.
fn start(
    causal: Arc<Causal>,
    slots: usize,
    mut waiting: mpsc::Receiver<Job>,
) -> anyhow::Result<oneshot::Receiver<()>> {
    let (running, engine) = oneshot::channel::<()>();
    let draw = move || {
        causal.serve(slots, |wait| match wait {
            true => waiting.blocking_recv().map_or(Turn::Over, Turn::Job),
            false => match waiting.try_recv() {
                Ok(job) => Turn::Job(job),
                Err(TryRecvError::Empty) => Turn::Nothing,
                Err(TryRecvError::Disconnected) => Turn::Over,
            },
        });
        drop(running);
    };
    // It ends with the process: what it still draws then nobody waits for.
    let thread = std::thread::Builder::new().name("model".into()).spawn(draw);
    thread.context("cannot start a thread for the model")?;
    Ok(engine)
}

/// Take connections until `stopped` is raised, then end them.
async fn listen(
    listener: TcpListener,
    service: &Arc<Service>,
    stopped: &AtomicBool,
    mut engine: oneshot::Receiver<()>,
    grace: Duration,
) -> anyhow::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let mut connections = Connections::new(routes::router(Arc::clone(service)), service.limits);
    let mut look = tokio::time::interval(LOOK);
    while !stopped.load(Ordering::SeqCst) {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    if !connections.add(stream) {
                        service.counts.refused.fetch_add(1, Ordering::Relaxed);
                    }
                }
                // A client that left at once, or no more files: neither ends a server.
                Err(_) => tokio::time::sleep(LOOK).await,
            },
            _ = look.tick() => {}
            _ = &mut engine => bail!("the model's thread has ended; this is a fault of the program"),
        }
    }
    drop(listener);
    connections.end(grace).await;
    Ok(())
}
