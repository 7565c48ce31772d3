//! Who may speak to a scheduler or an executor.

use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, Response, StatusCode, header},
    middleware::Next,
};
use ballista_core::{
    extension::{EndpointOverrideFn, SessionConfigExt},
    utils::{GrpcClientConfig, create_grpc_client_endpoint},
};
use cluster::{Address, Token};
use datafusion::prelude::SessionConfig;
use std::{sync::Arc, time::Duration};
use tonic::transport::{Channel, Endpoint};

/// Before the token in the one header that all clients of Ballista send as they are told.
const AGENT: &str = "stampmill-token/";
/// Silence after which a connection is given up.
const KEEPALIVE: Duration = Duration::from_secs(5);

/// Let through who sends the token; all, where there is none.
pub(crate) async fn check(
    State(token): State<Option<Token>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let Some(token) = token else { return next.run(request).await };
    let sent = sent(request.headers());
    if sent.is_some_and(|sent| token.is(sent)) {
        return next.run(request).await;
    }
    let why = match sent {
        Some(_) => "another token",
        None => "no token",
    };
    let is_grpc = request
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc"));
    if is_grpc {
        return tonic::Status::unauthenticated(why).into_http();
    }
    let mut refused = Response::new(Body::from(why));
    *refused.status_mut() = StatusCode::UNAUTHORIZED;
    refused
}

fn sent(headers: &HeaderMap) -> Option<&str> {
    let text = |name| headers.get(name)?.to_str().ok();
    let bearer = text(header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
    bearer.or_else(|| {
        let agent = text(header::USER_AGENT)?;
        agent.split(' ').find_map(|word| word.strip_prefix(AGENT))
    })
}

/// Send the token with every call of an endpoint, and notice soon when its other side is gone.
pub(crate) fn on_endpoints(token: Option<Token>) -> EndpointOverrideFn {
    Arc::new(move |endpoint: Endpoint| {
        let endpoint = endpoint.http2_keep_alive_interval(KEEPALIVE).keep_alive_timeout(KEEPALIVE);
        match &token {
            None => Ok(endpoint),
            Some(token) => Ok(endpoint.user_agent(format!("{AGENT}{}", token.text()))?),
        }
    })
}

/// A connection to the scheduler, made when it is first used.
pub(crate) fn channel(address: &Address) -> Result<Channel, crate::Error> {
    let config = GrpcClientConfig::default();
    let endpoint = create_grpc_client_endpoint(address.url().to_owned(), Some(&config))
        .map_err(|error| crate::Error::Failed(error.to_string()))?;
    let endpoint = on_endpoints(address.token.clone())(endpoint)
        .map_err(|error| crate::Error::Failed(error.to_string()))?;
    Ok(endpoint.connect_lazy())
}

/// Settings of a session whose calls send the token.
pub(crate) fn session(token: Option<Token>) -> SessionConfig {
    SessionConfig::new_with_ballista()
        .with_ballista_override_create_grpc_client_endpoint(on_endpoints(token))
}
