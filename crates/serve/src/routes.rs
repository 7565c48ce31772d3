//! What is at which address of a model's server.

use crate::{
    answer::Drawn,
    api::{Api, Inputs, Kind},
    gate::{Gate, work},
    refusal::{Refusal, said},
};
use axum::{
    Router,
    body::Body,
    extract::{Path, Request, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use lm::causal::{Causal, Job};
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};
use tokio::{
    sync::{Semaphore, mpsc, oneshot},
    time::{Instant, timeout_at},
};

/// Requests whose texts are spelled in tokens side by side: a request of a megabyte takes 40 MB meanwhile.
const READERS: usize = 2;

/// What all requests share.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) api: Api,
    pub(crate) gate: Arc<Gate>,
    pub(crate) prompt_tokens: AtomicU64,
    pub(crate) completion_tokens: AtomicU64,
    pub(crate) jobs: mpsc::Sender<Job>,
    /// Places of requests that wait or are being answered.
    queue: Arc<Semaphore>,
    readers: Arc<Semaphore>,
    /// Embeddings are made one request after the other.
    embedder: Arc<Semaphore>,
}

impl Service {
    pub(crate) fn new(api: Api, gate: Arc<Gate>, jobs: mpsc::Sender<Job>) -> Service {
        let queue = Arc::new(Semaphore::new(gate.limits.queue));
        Service {
            api,
            gate,
            prompt_tokens: AtomicU64::default(),
            completion_tokens: AtomicU64::default(),
            jobs,
            queue,
            readers: Arc::new(Semaphore::new(READERS)),
            embedder: Arc::new(Semaphore::new(1)),
        }
    }
}

pub(crate) fn router(service: Arc<Service>) -> Router {
    let gate = Arc::clone(&service.gate);
    let router = Router::new()
        .route("/v1/models", get(models))
        .route("/v1/models/{*name}", get(model))
        .route("/v1/chat/completions", post(chat))
        .route("/v1/completions", post(complete))
        .route("/v1/embeddings", post(embed))
        .with_state(service);
    gate.guard(router, "/v1/models, /v1/chat/completions, /v1/completions, /v1/embeddings")
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
    let (body, answering) = service.gate.body(request).await?;
    let deadline = Instant::now() + service.gate.limits.answer;
    let place = Arc::clone(&service.queue).try_acquire_owned();
    let place = place.map_err(|_| Refusal::busy(service.gate.limits.queue))?;
    let reader = Arc::clone(&service);
    let asked = work(&service.readers, deadline, move || reader.api.asked(kind, &body)).await?;
    let stream = asked.stream;
    service.prompt_tokens.fetch_add(asked.prompt_tokens as u64, Ordering::Relaxed);
    let drawn = Drawn::begin(service, asked, place, answering, deadline);
    match stream {
        true => Ok(drawn.events()),
        false => Ok(said(drawn.whole().await?.to_string())),
    }
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
    let (body, _answering) = service.gate.body(request).await?;
    let deadline = Instant::now() + service.gate.limits.answer;
    let place = Arc::clone(&service.queue).try_acquire_owned();
    let place = place.map_err(|_| Refusal::busy(service.gate.limits.queue))?;
    let reader = Arc::clone(&service);
    let inputs = work(&service.readers, deadline, move || reader.api.inputs(&body)).await?;
    // Closed when the request is dropped: its client has gone, or it took too long.
    let (gone, _here) = oneshot::channel::<()>();
    let embedder = Arc::clone(&service);
    let made = work(&service.embedder, deadline, move || {
        let _place = place;
        vectors(&embedder.api, inputs, || gone.is_closed())
    });
    let made = timeout_at(deadline, made).await.map_err(|_| Refusal::late())??;
    let tokens = made.usage["prompt_tokens"].as_u64().unwrap_or(0);
    service.prompt_tokens.fetch_add(tokens, Ordering::Relaxed);
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
