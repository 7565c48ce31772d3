//! What every request must pass before it is answered, whatever is served.

use crate::{
    Limits,
    connection::{Answering, Line},
    refusal::Refusal,
};
use axum::{
    Router,
    body::{Bytes, HttpBody, to_bytes},
    extract::{Request, State},
    http::{HeaderMap, StatusCode, Uri, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use cluster::Token;
use std::{
    error::Error as _,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};
use tokio::{
    sync::Semaphore,
    time::{Instant, timeout, timeout_at},
};

/// Longest address of a request.
const LONGEST_ADDRESS: usize = 8 << 10;

/// Limits, the token that clients must know, and counts.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    pub(crate) limits: Limits,
    pub(crate) token: Option<Token>,
    pub(crate) requests: AtomicU64,
    pub(crate) refused: AtomicU64,
}

impl Gate {
    pub(crate) fn new(limits: Limits, token: Option<Token>) -> Gate {
        Gate { limits, token, ..Gate::default() }
    }

    /// Put in front of all addresses of a router; `addresses` names them.
    pub(crate) fn guard(self: &Arc<Gate>, router: Router, addresses: &'static str) -> Router {
        router
            .fallback(move |uri: Uri| async move { Refusal::unknown(uri.path(), addresses) })
            .method_not_allowed_fallback(method)
            .layer(middleware::from_fn_with_state(Arc::clone(self), around))
    }

    fn head(&self, request: &Request) -> Result<(), Refusal> {
        if request.uri().to_string().len() > LONGEST_ADDRESS {
            let why = format!("an address has at most {LONGEST_ADDRESS} bytes");
            return Err(Refusal::new(StatusCode::URI_TOO_LONG, "address_too_long", why));
        }
        if !self.token.as_ref().is_none_or(|token| knows(request.headers(), token)) {
            return Err(Refusal::no_token());
        }
        if request.body().size_hint().lower() > self.limits.body {
            return Err(Refusal::large(self.limits.body));
        }
        Ok(())
    }

    /// The whole body of a request, and a sign that its connection is busy from here on.
    pub(crate) async fn body(&self, request: Request) -> Result<(Bytes, Answering), Refusal> {
        let (parts, body) = request.into_parts();
        if !is_json(&parts.headers) {
            let why = "a body is JSON here: send `content-type: application/json`".to_owned();
            return Err(Refusal::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "unsupported_media_type",
                why,
            ));
        }
        let Limits { body: most, read, answer, .. } = self.limits;
        let body = match timeout(read, to_bytes(body, usize::try_from(most).unwrap_or(usize::MAX)))
            .await
        {
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
}

/// Of every request: what is refused by its head alone; counting and telling.
async fn around(State(gate): State<Arc<Gate>>, request: Request, next: Next) -> Response {
    let (method, address) = (request.method().clone(), request.uri().clone());
    gate.requests.fetch_add(1, Ordering::Relaxed);
    let response = match gate.head(&request) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    if !response.status().is_success() {
        gate.refused.fetch_add(1, Ordering::Relaxed);
    }
    let status = response.status().as_u16();
    tracing::info!(%method, path = address.path(), status, "a request was answered");
    response
}

async fn method() -> Refusal {
    let why = "this address takes another method; the header `allow` names it".to_owned();
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", why)
}

/// Whether a request is of one who knows the token: `authorization: Bearer TOKEN`.
pub(crate) fn knows(headers: &HeaderMap, token: &Token) -> bool {
    let sent = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let sent = sent.and_then(|sent| sent.split_once(' '));
    sent.is_some_and(|(kind, sent)| kind.eq_ignore_ascii_case("bearer") && token.is(sent.trim()))
}

/// Do something long beside the connections, when there is a place for it.
pub(crate) async fn work<T: Send + 'static>(
    places: &Arc<Semaphore>,
    deadline: Instant,
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let place = timeout_at(deadline, Arc::clone(places).acquire_owned()).await;
    let place = place.map_err(|_| Refusal::late())?.map_err(|_| Refusal::stopping())?;
    let task = tokio::task::spawn_blocking(move || {
        let _place = place;
        work()
    });
    task.await.unwrap_or_else(|error| {
        let why = format!("a fault of the server: {error}");
        Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "server_error", why))
    })
}

/// Whether a body is said to be JSON. A page in a browser can send other types, and none at all, to any address of this
/// machine without asking.
fn is_json(headers: &HeaderMap) -> bool {
    let Some(kind) = headers.get(header::CONTENT_TYPE) else { return false };
    let kind = kind.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}
