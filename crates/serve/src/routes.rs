//! What is at which address, and what every request must pass before it is answered.

use crate::{
    Limits,
    answer::Drawn,
    api::{Api, Inputs, Kind},
    connection::{Answering, Line},
    refusal::{Refusal, said},
};
use axum::{
    Router,
    body::{Body, Bytes, HttpBody, to_bytes},
    extract::{Path, Request, State},
    http::{HeaderMap, StatusCode, Uri, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use lm::causal::{Causal, Job};
use serde::Serialize;
use serde_json::{Value, json};
use std::{
    error::Error as _,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};
use tokio::{
    sync::{Semaphore, mpsc, oneshot},
    time::{Instant, timeout, timeout_at},
};

/// Longest address of a request.
const LONGEST_ADDRESS: usize = 8 << 10;
/// Requests whose texts are spelled in tokens side by side: a request of a megabyte takes 40 MB meanwhile.
const READERS: usize = 2;

/// What was done.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) requests: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) prompt_tokens: AtomicU64,
    pub(crate) completion_tokens: AtomicU64,
}

/// What all requests share.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) api: Api,
    pub(crate) limits: Limits,
    pub(crate) counts: Counts,
    pub(crate) jobs: mpsc::Sender<Job>,
    /// Places of requests that wait or are being answered.
    queue: Arc<Semaphore>,
    readers: Arc<Semaphore>,
    /// Embeddings are made one request after the other.
    embedder: Arc<Semaphore>,
    verbose: bool,
}

impl Service {
    pub(crate) fn new(api: Api, limits: Limits, jobs: mpsc::Sender<Job>, verbose: bool) -> Service {
        Service {
            api,
            limits,
            counts: Counts::default(),
            jobs,
            queue: Arc::new(Semaphore::new(limits.queue)),
            readers: Arc::new(Semaphore::new(READERS)),
            embedder: Arc::new(Semaphore::new(1)),
            verbose,
        }
    }

    /// Do something long beside the connections, when there is a place for it.
    async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        places: &Arc<Semaphore>,
        deadline: Instant,
        work: impl FnOnce(&Service) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let place = timeout_at(deadline, Arc::clone(places).acquire_owned()).await;
        let place = place.map_err(|_| Refusal::late())?.map_err(|_| Refusal::stopping())?;
        let service = Arc::clone(self);
        let task = tokio::task::spawn_blocking(move || {
            let _place = place;
            work(&service)
        });
        task.await.unwrap_or_else(|error| {
            let why = format!("a fault of the server: {error}");
            Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "server_error", why))
        })
    }
}

pub(crate) fn router(service: Arc<Service>) -> Router {
    Router::new()
        .route("/v1/models", get(models))
        .route("/v1/models/{*name}", get(model))
        .route("/v1/chat/completions", post(chat))
        .route("/v1/completions", post(complete))
        .route("/v1/embeddings", post(embed))
        .fallback(async |uri: Uri| Refusal::unknown(uri.path()))
        .method_not_allowed_fallback(method)
        .layer(middleware::from_fn_with_state(Arc::clone(&service), around))
        .with_state(service)
}

/// Of every request: what is refused by its head alone; counting and telling.
async fn around(State(service): State<Arc<Service>>, request: Request, next: Next) -> Response {
    let line = service.verbose.then(|| format!("{} {}", request.method(), request.uri().path()));
    service.counts.requests.fetch_add(1, Ordering::Relaxed);
    let response = match head(&service, &request) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    if !response.status().is_success() {
        service.counts.refused.fetch_add(1, Ordering::Relaxed);
    }
    if let Some(line) = line {
        eprintln!("{} {}", line.escape_debug(), response.status().as_u16());
    }
    response
}

fn head(service: &Service, request: &Request) -> Result<(), Refusal> {
    if request.uri().to_string().len() > LONGEST_ADDRESS {
        let why = format!("an address has at most {LONGEST_ADDRESS} bytes");
        return Err(Refusal::new(StatusCode::URI_TOO_LONG, "address_too_long", why));
    }
    if request.body().size_hint().lower() > service.limits.body {
        return Err(Refusal::large(service.limits.body));
    }
    Ok(())
}

async fn method() -> Refusal {
    let why = "this address takes another method; the header `allow` names it".to_owned();
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", why)
}

async fn models(State(service): State<Arc<Service>>) -> Response {
    said(json!({"object": "list", "data": [service.api.model()]}).to_string())
}

async fn model(State(service): State<Arc<Service>>, Path(name): Path<String>) -> Response {
    match name == service.api.name {
        true => said(service.api.model().to_string()),
        false => Refusal::no_model(&name, &service.api.name).into_response(),
    }
}

async fn chat(State(service): State<Arc<Service>>, request: Request) -> Response {
    let answer = answer(service, Kind::Chat, request).await;
    answer.unwrap_or_else(IntoResponse::into_response)
}

async fn complete(State(service): State<Arc<Service>>, request: Request) -> Response {
    let answer = answer(service, Kind::Completion, request).await;
    answer.unwrap_or_else(IntoResponse::into_response)
}

async fn answer(service: Arc<Service>, kind: Kind, request: Request) -> Result<Response, Refusal> {
    let (body, answering) = body(&service, request).await?;
    let deadline = Instant::now() + service.limits.answer;
    let place = Arc::clone(&service.queue).try_acquire_owned();
    let place = place.map_err(|_| Refusal::busy(service.limits.queue))?;
    let asked =
        service.work(&service.readers, deadline, move |service| service.api.asked(kind, &body));
    let asked = asked.await?;
    let stream = asked.stream;
    service.counts.prompt_tokens.fetch_add(asked.prompt_tokens as u64, Ordering::Relaxed);
    let drawn = Drawn::begin(service, asked, place, answering, deadline);
    match stream {
        true => Ok(drawn.events()),
        false => Ok(said(drawn.whole().await?.to_string())),
    }
}

/// The whole body of a request, and a sign that its connection is busy from here on.
async fn body(service: &Service, request: Request) -> Result<(Bytes, Answering), Refusal> {
    let (parts, body) = request.into_parts();
    if !is_json(&parts.headers) {
        let why = "a body is JSON here: send `content-type: application/json`".to_owned();
        return Err(Refusal::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported_media_type",
            why,
        ));
    }
    let Limits { body: most, read, answer, .. } = service.limits;
    let body =
        match timeout(read, to_bytes(body, usize::try_from(most).unwrap_or(usize::MAX))).await {
            Ok(Ok(body)) => body,
            Ok(Err(error)) => {
                let limited = |error: &(dyn std::error::Error + 'static)| {
                    error.is::<http_body_util::LengthLimitError>()
                };
                return Err(match error.source().is_some_and(limited) {
                    true => Refusal::large(most),
                    false => Refusal::wrong("the request broke off"),
                });
            }
            Err(_) => {
                let why = "the request did not come in time (--read-timeout)".to_owned();
                return Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, "request_timeout", why));
            }
        };
    let line = parts.extensions.get::<Arc<Line>>().cloned().unwrap_or_default();
    Ok((body, line.answering(answer)))
}

/// Whether a body is said to be JSON, or nothing is said. A page in a browser can send other types to any
/// address of this machine without asking.
fn is_json(headers: &HeaderMap) -> bool {
    let Some(kind) = headers.get(header::CONTENT_TYPE) else { return true };
    let kind = kind.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

/// A vector as it is sent.
#[derive(Serialize)]
#[serde(untagged)]
enum Numbers {
    Plain(Vec<f32>),
    /// 32-bit floats, the lowest byte first.
    Base64(String),
}

#[derive(Serialize)]
struct Embedding {
    object: &'static str,
    index: usize,
    embedding: Numbers,
}

#[derive(Serialize)]
struct Embeddings {
    object: &'static str,
    data: Vec<Embedding>,
    model: String,
    usage: Value,
}

async fn embed(State(service): State<Arc<Service>>, request: Request) -> Response {
    embeddings(service, request).await.unwrap_or_else(IntoResponse::into_response)
}

async fn embeddings(service: Arc<Service>, request: Request) -> Result<Response, Refusal> {
    let (body, _answering) = body(&service, request).await?;
    let deadline = Instant::now() + service.limits.answer;
    let place = Arc::clone(&service.queue).try_acquire_owned();
    let place = place.map_err(|_| Refusal::busy(service.limits.queue))?;
    let inputs = service.work(&service.readers, deadline, move |service| service.api.inputs(&body));
    let inputs = inputs.await?;
    // Closed when the request is dropped: its client has gone, or it took too long.
    let (gone, _here) = oneshot::channel::<()>();
    let made = service.work(&service.embedder, deadline, move |service| {
        let _place = place;
        vectors(&service.api, inputs, || gone.is_closed())
    });
    let made = timeout_at(deadline, made).await.map_err(|_| Refusal::late())??;
    let tokens = made.usage["prompt_tokens"].as_u64().unwrap_or(0);
    service.counts.prompt_tokens.fetch_add(tokens, Ordering::Relaxed);
    match serde_json::to_vec(&made) {
        Ok(text) => Ok(said_bytes(text)),
        Err(error) => Err(Refusal::wrong(&format!("the vectors cannot be written: {error}"))),
    }
}

fn said_bytes(json: Vec<u8>) -> Response {
    let mut response = said(String::new());
    *response.body_mut() = Body::from(json);
    response
}

fn vectors(api: &Api, inputs: Inputs, gone: impl Fn() -> bool) -> Result<Embeddings, Refusal> {
    let causal: &Causal = &api.causal;
    let (mut data, mut asked) = (Vec::new(), 0);
    for (index, tokens) in inputs.texts.iter().enumerate() {
        if gone() {
            return Err(Refusal::stopping());
        }
        asked += tokens.len();
        let vector = causal.embedding(tokens)?.ok_or_else(|| {
            let why = "this model has no embeddings".to_owned();
            Refusal::new(StatusCode::NOT_FOUND, "not_found", why)
        })?;
        let embedding = match inputs.base64 {
            false => Numbers::Plain(vector),
            true => {
                let bytes: Vec<u8> =
                    vector.iter().flat_map(|number| number.to_le_bytes()).collect();
                Numbers::Base64(BASE64_STANDARD.encode(bytes))
            }
        };
        data.push(Embedding { object: "embedding", index, embedding });
    }
    let usage = json!({"prompt_tokens": asked, "total_tokens": asked});
    Ok(Embeddings { object: "list", data, model: api.name.clone(), usage })
}
