//! What all pages that are served have in common.

use crate::refusal::Refusal;
use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use std::net::IpAddr;

pub(crate) const HTML: &str = "text/html; charset=utf-8";

/// A response of this type.
pub(crate) fn text(kind: &'static str, text: impl Into<Body>) -> Response {
    let mut response = Response::new(text.into());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// Put in front of the addresses of a page, which may be of this machine alone.
pub(crate) fn at_home(router: Router, is_local: bool) -> Router {
    router.layer(middleware::from_fn_with_state(is_local, own))
}

/// A page elsewhere may give a name of its own to this machine's address, and would read what we answer: at an address
/// of this machine alone only its own names are answered.
async fn own(State(is_local): State<bool>, request: Request, next: Next) -> Response {
    if is_local && !is_own_name(request.headers()) {
        let why = "this page is of this machine alone: ask it by 127.0.0.1 or localhost".to_owned();
        return Refusal::new(StatusCode::MISDIRECTED_REQUEST, "other_host", why).into_response();
    }
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

fn is_own_name(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(header::HOST).and_then(|host| host.to_str().ok()) else {
        return false;
    };
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_its_own() {
        let own = |host: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().expect("a header"));
            is_own_name(&headers)
        };
        for host in ["127.0.0.1:8000", "localhost", "LOCALHOST:1", "[::1]:80", "127.0.0.2"] {
            assert!(own(host), "{host}");
        }
        for host in
            ["evil.example:8000", "localhost.evil.example", "10.0.0.1", "127.0.0.1.evil.example"]
        {
            assert!(!own(host), "{host}");
        }
        assert!(!is_own_name(&HeaderMap::new()));
    }
}
