//! Connections: how many there may be, which must make room, how each is served and ended.

use crate::{Limits, refusal::Refusal};
use axum::{Router, body::Body};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::{Semaphore, watch},
    task::JoinHandle,
    time::timeout,
};
use tower::ServiceExt;

/// Bytes of a request's head, and its header lines, at most.
const HEAD: usize = 32 << 10;
const HEADERS: usize = 100;
/// What a connection reads ahead.
const BUFFER: usize = 64 << 10;
/// Connections that are told side by side that there are too many.
const TOLD: usize = 64;
/// How much of what a client still sends, and how long, is read so that it gets to read its answer.
const REST: (u64, Duration) = (16 << 20, Duration::from_secs(2));
/// How long a connection on which nothing is asked may take to end; it may be sending the end of an answer.
const IDLE: Duration = Duration::from_secs(1);

/// Whether a request of a connection is being answered, and until when at the latest.
#[derive(Debug, Default)]
pub(crate) struct Line(Mutex<Option<Instant>>);

/// As long as this lives, a connection is not idle.
pub(crate) struct Answering(Arc<Line>);

impl Line {
    fn set(&self, until: Option<Instant>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }

    fn is_idle(&self) -> bool {
        let until = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_none_or(|until| until < Instant::now())
    }

    /// Not idle for so long at most: a client that does not read its answer becomes idle then.
    pub(crate) fn answering(self: Arc<Self>, most: Duration) -> Answering {
        self.set(Some(Instant::now() + most));
        Answering(self)
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.set(None);
    }
}

/// One open connection.
struct Open {
    line: Arc<Line>,
    task: JoinHandle<()>,
}

/// All open connections, the oldest first.
pub(crate) struct Connections {
    open: VecDeque<Open>,
    limits: Limits,
    router: Router,
    stop: watch::Sender<bool>,
    told: Arc<Semaphore>,
}

impl Connections {
    pub(crate) fn new(router: Router, limits: Limits) -> Connections {
        let told = Arc::new(Semaphore::new(TOLD));
        Connections { open: VecDeque::new(), limits, router, stop: watch::Sender::new(false), told }
    }

    /// Serve one more. Where there are too many, the oldest that waits for a request, or for the rest of one,
    /// makes room: who opens connections and says nothing shuts nobody out. False where none could.
    pub(crate) fn add(&mut self, stream: TcpStream) -> bool {
        self.open.retain(|open| !open.task.is_finished());
        if self.open.len() >= self.limits.connections {
            let idle = self.open.iter().position(|open| open.line.is_idle());
            let Some(oldest) = idle.and_then(|at| self.open.remove(at)) else {
                let most = self.limits.connections;
                if let Ok(place) = Arc::clone(&self.told).try_acquire_owned() {
                    tokio::spawn(async move {
                        refuse(stream, &Refusal::full(most)).await;
                        drop(place);
                    });
                }
                return false;
            };
            oldest.task.abort();
        }
        let line = Arc::new(Line::default());
        let served = serve(
            stream,
            Arc::clone(&line),
            self.router.clone(),
            self.limits,
            self.stop.subscribe(),
        );
        self.open.push_back(Open { line, task: tokio::spawn(served) });
        true
    }

    /// Take no more requests; what is being answered may be answered for so long.
    pub(crate) async fn end(self, grace: Duration) {
        self.stop.send_replace(true);
        let deadline = tokio::time::Instant::now() + grace;
        let soon = deadline.min(tokio::time::Instant::now() + IDLE);
        for mut open in self.open {
            let until = if open.line.is_idle() { soon } else { deadline };
            if tokio::time::timeout_at(until, &mut open.task).await.is_err() {
                open.task.abort();
            }
        }
    }
}

/// HTTP as it is spoken here. What is none gets a status without a body from hyper: 400, 414 or 431.
fn http(limits: Limits) -> http1::Builder {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.read)
        .max_headers(HEADERS)
        .max_header_size(HEAD)
        .max_buf_size(BUFFER);
    http
}

/// For the fuzzer: what is answered to these bytes and their end.
pub(crate) async fn answered(router: &Router, limits: Limits, asked: &[u8]) -> Vec<u8> {
    let (mut client, server) = tokio::io::duplex(BUFFER);
    let router = router.clone();
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        Box::pin(router.clone().oneshot(request.map(Body::new)))
    });
    // The client's end is no reason to leave it without an answer here.
    let connection = http(limits).half_close(true).serve_connection(TokioIo::new(server), service);
    let talk = async {
        let mut answer = Vec::new();
        let (mut read, mut write) = tokio::io::split(&mut client);
        let send = async {
            // A server need not read all.
            let _ = write.write_all(asked).await;
            let _ = write.shutdown().await;
        };
        let _ = tokio::join!(send, read.read_to_end(&mut answer));
        answer
    };
    tokio::join!(connection, talk).1
}

/// Serve one connection until it ends, or, once it is stopped, until what it was asked is answered.
async fn serve(
    stream: TcpStream,
    line: Arc<Line>,
    router: Router,
    limits: Limits,
    mut stop: watch::Receiver<bool>,
) {
    // Pieces of answers are small and wanted at once; without this they come later.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(Arc::clone(&line));
        Box::pin(router.clone().oneshot(request))
    });
    let mut connection = http(limits).serve_connection(TokioIo::new(stream), service);
    let mut stopped = false;
    loop {
        tokio::select! {
            // How it ended makes no difference to the others.
            _ = poll_fn(|context| connection.poll_without_shutdown(context)) => break,
            _ = stop.wait_for(|stop| *stop), if !stopped => {
                stopped = true;
                std::pin::Pin::new(&mut connection).graceful_shutdown();
            }
        }
    }
    linger(connection.into_parts().io.into_inner()).await;
}

async fn refuse(mut stream: TcpStream, refusal: &Refusal) {
    let written = timeout(REST.1, stream.write_all(&refusal.bytes())).await;
    if let Ok(Ok(())) = written {
        linger(stream).await;
    }
}

/// Close a connection so that its client gets to read what was written: what comes in unread at the end would make
/// the system throw that away.
async fn linger(mut stream: TcpStream) {
    if stream.shutdown().await.is_err() {
        return;
    }
    let rest = async {
        let mut buffer = vec![0; 16 << 10];
        let mut read = 0;
        while read < REST.0 {
            match stream.read(&mut buffer).await {
                Ok(0) | Err(_) => return,
                Ok(more) => read += more as u64,
            }
        }
    };
    // Longer is not waited for.
    let _ = timeout(REST.1, rest).await;
}
