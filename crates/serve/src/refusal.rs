//! How requests are refused: a status and OpenAI's form of an error.

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use lm::Error;
use serde_json::{Value, json};

/// A request that gets no answer, in OpenAI's words.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    kind: &'static str,
    code: &'static str,
    message: String,
    parameter: Option<&'static str>,
    /// Seconds after which it may be asked again.
    retry: Option<u64>,
}

/// Longest part of a request that is repeated to who sent it.
const REPEATED: usize = 200;

impl Refusal {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: String) -> Refusal {
        let kind = match status {
            StatusCode::TOO_MANY_REQUESTS => "rate_limit_error",
            status if status.is_server_error() => "server_error",
            _ => "invalid_request_error",
        };
        let passes = [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE];
        let retry = passes.contains(&status).then_some(1);
        Refusal { status, kind, code, message, parameter: None, retry }
    }

    pub(crate) fn wrong(message: &str) -> Refusal {
        Refusal::new(StatusCode::BAD_REQUEST, "invalid_request", message.to_owned())
    }

    /// A parameter has a value that makes no sense.
    pub(crate) fn parameter(name: &'static str, why: &str) -> Refusal {
        let message = format!("`{name}` {why}");
        let refusal = Refusal::new(StatusCode::BAD_REQUEST, "invalid_value", message);
        Refusal { parameter: Some(name), ..refusal }
    }

    pub(crate) fn unknown(path: &str, addresses: &str) -> Refusal {
        let path: String = path.chars().take(REPEATED).collect();
        let message = format!("nothing is at {path}; there are {addresses}");
        Refusal::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    pub(crate) fn no_model(asked: &str, ours: &str) -> Refusal {
        let asked: String = asked.chars().take(REPEATED).collect();
        let message = format!("there is no model `{asked}` here, only `{ours}`");
        Refusal::new(StatusCode::NOT_FOUND, "model_not_found", message)
    }

    pub(crate) fn large(most: u64) -> Refusal {
        let message = format!("a request has at most {most} bytes here (--max-body)");
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "request_too_large", message)
    }

    pub(crate) fn busy(most: usize) -> Refusal {
        let message =
            format!("{most} requests are being answered or wait (--queue); try again later");
        Refusal::new(StatusCode::TOO_MANY_REQUESTS, "rate_limit_exceeded", message)
    }

    /// As many batches as there may be wait to be judged; one of them is done in about so many seconds.
    pub(crate) fn judges_busy(most: usize, seconds: u64) -> Refusal {
        let message =
            format!("{most} batches are being judged or wait (--queue); try again in {seconds} s");
        let refusal = Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "overloaded", message);
        Refusal { retry: Some(seconds), ..refusal }
    }

    pub(crate) fn no_token() -> Refusal {
        let message =
            "this server wants a token: send `authorization: Bearer TOKEN` (--token-file)"
                .to_owned();
        Refusal::new(StatusCode::UNAUTHORIZED, "no_token", message)
    }

    pub(crate) fn full(most: usize) -> Refusal {
        let message = format!("{most} connections are open (--max-connections); try again later");
        Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "overloaded", message)
    }

    pub(crate) fn late() -> Refusal {
        let message = "the answer took too long (--timeout)".to_owned();
        Refusal::new(StatusCode::GATEWAY_TIMEOUT, "timeout", message)
    }

    pub(crate) fn stopping() -> Refusal {
        let message = "the server is being stopped".to_owned();
        Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "stopping", message)
    }

    /// `{"error": {"message", "type", "param", "code"}}`.
    pub(crate) fn body(&self) -> Value {
        json!({"error": {
            "message": self.message, "type": self.kind, "param": self.parameter, "code": self.code,
        }})
    }

    /// The whole answer as it is sent where there is no request to answer yet.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let body = self.body().to_string();
        let retry = self.retry.map(|seconds| format!("retry-after: {seconds}\r\n"));
        let retry = retry.unwrap_or_default();
        format!(
            "HTTP/1.1 {}\r\ncontent-type: application/json\r\n{retry}connection: close\r\ncontent-length: {}\r\n\r\n{body}",
            self.status,
            body.len()
        )
        .into_bytes()
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = said(self.body().to_string());
        *response.status_mut() = self.status;
        if let Some(seconds) = self.retry {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        if self.status == StatusCode::UNAUTHORIZED {
            let bearer = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, bearer);
        }
        response
    }
}

/// A response of JSON.
pub(crate) fn said(json: String) -> Response {
    let mut response = Response::new(Body::from(json));
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

impl From<edits::Error> for Refusal {
    /// No verdict: what was found out before is kept, and the same request does the rest.
    fn from(error: edits::Error) -> Refusal {
        match error {
            edits::Error::Timing(timing::Error::Cancelled) => Refusal::stopping(),
            error => Refusal::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "machine_fault",
                format!("{error}; send the same request again"),
            ),
        }
    }
}

impl From<device::Error> for Refusal {
    /// No verdict: what was found out before is kept.
    fn from(error: device::Error) -> Refusal {
        let message = error.to_string();
        match error {
            device::Error::Stopped => Refusal::stopping(),
            device::Error::NoOpenCl(_) | device::Error::NoDevice { .. } => {
                Refusal::new(StatusCode::NOT_IMPLEMENTED, "no_device", message)
            }
            _ => Refusal::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "machine_fault",
                format!("{message}; send the same request again"),
            ),
        }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Refusal {
        let message = error.to_string();
        match error {
            Error::TooLong { .. } => {
                Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "context_length_exceeded", message)
            }
            Error::Prompt(_) => Refusal::new(StatusCode::BAD_REQUEST, "invalid_prompt", message),
            Error::Cancelled => Refusal::stopping(),
            _ => Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "server_error", message),
        }
    }
}
