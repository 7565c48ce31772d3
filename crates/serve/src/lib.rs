//! Servers: a checkpoint behind an OpenAI-compatible API (chat completions, completions, embeddings), and the judge of
//! edits as a reward function, a report of a folder that shows what is there by now, and a quiz: human or machine.
//!
//! [`Server::bind`] loads the model and takes the address, [`Server::run`] answers until it is told to
//! stop; [`JudgeServer`], [`LiveServer`] and [`QuizServer`] are the same for the judge, the report and the quiz. `connection` holds what connections may take, `gate` what requests
//! may; `routes` has the model's addresses, `api` what is understood there, `answer` how it is answered, `judge` all of
//! the judge, `refusal` how requests are refused. The model runs in a thread of its own. There is no encryption.
//!
//! ```no_run
//! use std::sync::atomic::AtomicBool;
//! use stampmill_serve::{Options, Server};
//!
//! let server = Server::bind(Options::new("model"))?;
//! println!("{}", server.url());
//! let served = server.run(&AtomicBool::new(false))?;
//! println!("{} requests", served.requests);
//! # Ok::<(), stampmill_serve::Error>(())
//! ```

mod answer;
mod api;
mod connection;
mod error;
#[doc(hidden)]
pub mod fuzz;
mod gate;
mod judge;
mod live;
mod page;
mod quiz;
mod refusal;
mod routes;

use api::Api;
use axum::Router;
use cluster::Token;
use connection::Connections;
pub use error::Error;
use gate::Gate;
pub use judge::{JudgeServer, JudgeSettings, Judged, KernelSettings};
pub use live::{LiveServer, LiveSettings};
use lm::{
    Remote,
    causal::{Causal, Job, Turn},
};
pub use quiz::{Kind, QuizServer, QuizSettings, Quizzed, Source, score};
use routes::Service;
use std::{
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
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

/// How a checkpoint is served.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder of a checkpoint.
    pub checkpoint: PathBuf,
    /// Host and port; port 0 takes any free one.
    pub listen: String,
    /// The model's name in the API; the folder's name where there is none.
    pub name: Option<String>,
    /// What clients must send, if anything.
    pub token: Option<Token>,
    /// Answers drawn side by side.
    pub slots: usize,
    /// Where the libtorch engine runs the model (`cpu`, `cuda`); `None`: this process does.
    pub device: Option<String>,
    /// Tokens that a request may bring and ask for in all.
    pub most_tokens: usize,
    /// What a client may take.
    pub limits: Limits,
    /// How long requests that are being answered when the server is stopped may still take.
    pub grace: Duration,
}

impl Options {
    /// The usual options for a checkpoint.
    pub fn new(checkpoint: impl Into<PathBuf>) -> Options {
        Options {
            checkpoint: checkpoint.into(),
            listen: "127.0.0.1:0".to_owned(),
            name: None,
            token: None,
            slots: 8,
            device: None,
            most_tokens: 1 << 18,
            limits: Limits::default(),
            grace: Duration::from_secs(30),
        }
    }
}

/// What a client may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of a request's body.
    pub body: u64,
    /// Connections that may be open.
    pub connections: usize,
    /// Requests that may wait or be answered.
    pub queue: usize,
    /// How long a request's head, and then its body, may take to arrive.
    pub read: Duration,
    /// How long a request may wait and be answered.
    pub answer: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            body: 1 << 20,
            connections: 512,
            queue: 256,
            read: Duration::from_secs(10),
            answer: Duration::from_secs(600),
        }
    }
}

/// What a server has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Requests that came.
    pub requests: u64,
    /// Those of them, and connections, that were refused.
    pub refused: u64,
    /// Tokens of prompts and texts.
    pub prompt_tokens: u64,
    /// Tokens of answers.
    pub completion_tokens: u64,
}

/// A model that listens at an address.
#[derive(Debug)]
pub struct Server {
    options: Options,
    name: String,
    causal: Arc<Causal>,
    remote: Option<Remote>,
    taken: Taken,
}

/// An address that is taken.
#[derive(Debug)]
pub(crate) struct Taken {
    listener: TcpListener,
    address: SocketAddr,
}

impl Taken {
    pub(crate) fn new(listen: &str) -> Result<Taken, Error> {
        let failed = |source| Error::Listen { address: listen.to_owned(), source };
        let listener = TcpListener::bind(listen).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Taken { listener, address })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }
}

/// How often to look whether to stop, and how long to pause where the system gives no more connections.
const LOOK: Duration = Duration::from_millis(100);
/// Threads for what takes long, at most.
const BLOCKING: usize = 64;

impl Server {
    /// Load the checkpoint, start the engine where there is one, and take the address. Clients that connect from here on are answered by
    /// [`Server::run`].
    ///
    /// # Errors
    /// When the checkpoint cannot be loaded, the engine cannot be started, or the address is not free.
    pub fn bind(options: Options) -> Result<Server, Error> {
        let causal = Arc::new(Causal::load(&options.checkpoint)?);
        let name = options.name.clone().unwrap_or_else(|| named(&options.checkpoint));
        let remote =
            options.device.as_deref().map(|device| causal.elsewhere(options.slots, device));
        let remote = remote.transpose()?;
        let taken = Taken::new(&options.listen)?;
        Ok(Server { options, name, causal, remote, taken })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.taken.address()
    }

    /// The address of its API.
    pub fn url(&self) -> String {
        self.taken.url()
    }

    /// The model's name in the API.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Tokens of a prompt with its answer, at most.
    pub fn length(&self) -> usize {
        self.causal.length()
    }

    /// Answer until `stop` is raised; what is being answered then has [`Options::grace`] to end.
    ///
    /// # Errors
    /// When threads cannot be started, or the model's thread ends by a fault of the program.
    pub fn run(self, stop: &AtomicBool) -> Result<Served, Error> {
        let Options { slots, most_tokens, limits, grace, token, .. } = self.options;
        let (jobs, waiting) = mpsc::channel(slots);
        let api = Api::new(self.name, Arc::clone(&self.causal), most_tokens);
        let gate = Arc::new(Gate::new(limits, token));
        let service = Arc::new(Service::new(api, Arc::clone(&gate), jobs));
        let engine = start(self.causal, slots, self.remote, waiting)?;
        let router = routes::router(Arc::clone(&service));
        wait_for(self.taken, router, &gate, stop, engine, grace)?;
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Ok(Served {
            requests: count(&gate.requests),
            refused: count(&gate.refused),
            prompt_tokens: count(&service.prompt_tokens),
            completion_tokens: count(&service.completion_tokens),
        })
    }
}

/// Answer at the address until `stop` is raised or what answers has `ended`.
pub(crate) fn wait_for(
    taken: Taken,
    router: Router,
    gate: &Gate,
    stop: &AtomicBool,
    ended: oneshot::Receiver<()>,
    grace: Duration,
) -> Result<(), Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(BLOCKING)
        .enable_all()
        .build()
        .map_err(Error::Start)?;
    runtime.block_on(listen(taken.listener, router, gate, stop, ended, grace))?;
    // Reading a prompt, making a vector or judging may take long; nobody waits for it any more.
    runtime.shutdown_background();
    Ok(())
}

/// The name of a checkpoint's folder, `.` too.
fn named(checkpoint: &Path) -> String {
    let folder = checkpoint.canonicalize().unwrap_or_else(|_| checkpoint.to_owned());
    folder.file_name().map_or("model".into(), |name| name.to_string_lossy().into())
}

/// Run the model in a thread of its own. What is returned is closed when that thread ends, which it does not do
/// by itself.
fn start(
    causal: Arc<Causal>,
    slots: usize,
    remote: Option<Remote>,
    mut waiting: mpsc::Receiver<Job>,
) -> Result<oneshot::Receiver<()>, Error> {
    let (running, engine) = oneshot::channel::<()>();
    let draw = move || {
        causal.serve(slots, remote, |wait| match wait {
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
    std::thread::Builder::new().name("model".into()).spawn(draw).map_err(Error::Start)?;
    Ok(engine)
}

/// Take connections until `stop` is raised, then end them.
async fn listen(
    listener: TcpListener,
    router: Router,
    gate: &Gate,
    stop: &AtomicBool,
    mut engine: oneshot::Receiver<()>,
    grace: Duration,
) -> Result<(), Error> {
    let listener = tokio::net::TcpListener::from_std(listener).map_err(Error::Start)?;
    let mut connections = Connections::new(router, gate.limits);
    let mut look = tokio::time::interval(LOOK);
    while !stop.load(Ordering::SeqCst) {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    if !connections.add(stream) {
                        gate.refused.fetch_add(1, Ordering::Relaxed);
                    }
                }
                // A client that left at once, or no more files: neither ends a server.
                Err(_) => tokio::time::sleep(LOOK).await,
            },
            _ = look.tick() => {}
            _ = &mut engine => return Err(Error::Engine),
        }
    }
    drop(listener);
    connections.end(grace).await;
    Ok(())
}
