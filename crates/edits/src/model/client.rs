//! An endpoint that speaks OpenAI's chat completions.
//!
//! The key comes from an environment variable and goes nowhere but into the request's header: not into
//! messages, results or the cache. Answers are kept by request; an answer that was paid for is not asked
//! for again.

use crate::{Error, Result, store::Store};
use dataset::content_hash;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// Where a model is served and how it is to be asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Endpoint {
    /// Address up to and without `/chat/completions`, for example `http://localhost:8000/v1`.
    pub base_url: String,
    /// The model's name.
    pub model: String,
    /// Environment variable that holds the key; a variable that is not set means no key.
    pub key_variable: String,
    /// Limit of one request, its answer included.
    pub timeout: Duration,
    /// Times that a request is made before giving up.
    pub tries: u32,
    /// Pause after the first failure; doubled after each further one. A server that says how long to wait
    /// is obeyed, up to a minute.
    pub pause: Duration,
    /// Requests per minute at most; 0: no limit.
    pub requests_per_minute: u32,
    /// Price of a million tokens asked and answered, in any currency.
    pub price: [f64; 2],
    /// Answers are drawn from the likeliest tokens that hold this share; `None`: as the endpoint does by itself.
    pub top_p: Option<f64>,
}

impl Default for Endpoint {
    fn default() -> Endpoint {
        Endpoint {
            base_url: "http://localhost:8000/v1".into(),
            model: String::new(),
            key_variable: "OPENAI_API_KEY".into(),
            timeout: Duration::from_secs(120),
            tries: 5,
            pause: Duration::from_secs(1),
            requests_per_minute: 0,
            price: [0.0, 0.0],
            top_p: None,
        }
    }
}

/// One message of a chat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// `system`, `user` or `assistant`.
    pub role: String,
    /// What is said.
    pub content: String,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    /// What the model said.
    pub text: String,
    /// Tokens asked; 0 where the server does not count.
    pub prompt_tokens: u64,
    /// Tokens answered.
    pub completion_tokens: u64,
}

/// What was used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Usage {
    /// Requests made.
    pub requests: u64,
    /// Answers that were kept already.
    pub cached: u64,
    /// Requests made again after a failure.
    pub retries: u64,
    /// Tokens asked.
    pub prompt_tokens: u64,
    /// Tokens answered.
    pub completion_tokens: u64,
    /// What these cost by the endpoint's price.
    pub cost: f64,
}

impl std::ops::Add for Usage {
    type Output = Usage;

    /// Of two endpoints together.
    fn add(self, other: Usage) -> Usage {
        Usage {
            requests: self.requests + other.requests,
            cached: self.cached + other.cached,
            retries: self.retries + other.retries,
            prompt_tokens: self.prompt_tokens + other.prompt_tokens,
            completion_tokens: self.completion_tokens + other.completion_tokens,
            cost: self.cost + other.cost,
        }
    }
}

/// Shows itself to nobody.
struct Key(String);

/// Asks an endpoint.
pub struct Client {
    endpoint: Endpoint,
    key: Option<Key>,
    agent: ureq::Agent,
    store: Store,
    next: Mutex<Instant>,
    counts: [AtomicU64; 5],
}

const REQUESTS: usize = 0;
const CACHED: usize = 1;
const RETRIES: usize = 2;
const ASKED: usize = 3;
const ANSWERED: usize = 4;
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
const LARGEST_ANSWER: u64 = 16 << 20;

/// What a try came to.
enum Failure {
    /// Worth another try, after as long as the server says.
    Again(String, Option<Duration>),
    /// Any request would fail again.
    Final(String),
    /// This request would fail again, others need not.
    Refused(String),
}

impl Client {
    /// A client; the key is read from the environment now.
    #[must_use]
    pub fn new(endpoint: Endpoint, store: Store) -> Client {
        let key = std::env::var(&endpoint.key_variable).ok().filter(|key| !key.is_empty());
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(endpoint.timeout))
            .user_agent(concat!("stampmill/", env!("CARGO_PKG_VERSION")))
            .build()
            .new_agent();
        Client {
            key: key.map(|key| Key(key.trim().to_owned())),
            endpoint,
            agent,
            store,
            next: Mutex::new(Instant::now()),
            counts: Default::default(),
        }
    }

    /// Where it asks.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// What was used so far.
    #[must_use]
    pub fn usage(&self) -> Usage {
        let count = |at: usize| self.counts[at].load(Ordering::Relaxed);
        let [asked, answered] = self.endpoint.price;
        Usage {
            requests: count(REQUESTS),
            cached: count(CACHED),
            retries: count(RETRIES),
            prompt_tokens: count(ASKED),
            completion_tokens: count(ANSWERED),
            cost: (count(ASKED) as f64 * asked + count(ANSWERED) as f64 * answered) / 1e6,
        }
    }

    /// The model's answer to `messages`. `sample` tells draws of the same prompt apart.
    ///
    /// # Errors
    /// When there is no usable answer after all tries.
    pub fn complete(
        &self,
        messages: &[Message],
        temperature: f64,
        most_tokens: u32,
        sample: u64,
    ) -> Result<Completion> {
        let mut body = json!({
            "model": self.endpoint.model, "messages": messages, "temperature": temperature,
            "max_tokens": most_tokens, "seed": sample,
        });
        if let Some(share) = self.endpoint.top_p {
            body["top_p"] = share.into();
        }
        self.kept("chat/completions", &body, |answer| {
            let text = answer["choices"][0]["message"]["content"].as_str()?.to_owned();
            let tokens = |name: &str| answer["usage"][name].as_u64().unwrap_or(0);
            Some(Completion {
                text,
                prompt_tokens: tokens("prompt_tokens"),
                completion_tokens: tokens("completion_tokens"),
            })
        })
    }

    /// The embedding of a text.
    ///
    /// # Errors
    /// When there is no usable answer after all tries.
    pub fn embed(&self, text: &str) -> Result<Vec<f32>> {
        let body = json!({"model": self.endpoint.model, "input": text});
        self.kept("embeddings", &body, |answer| {
            let numbers = answer["data"][0]["embedding"].as_array()?;
            numbers.iter().map(|n| n.as_f64().map(|n| n as f32)).collect()
        })
    }

    fn kept<T: Serialize + serde::de::DeserializeOwned>(
        &self,
        path: &str,
        body: &Value,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<T> {
        let request = body.to_string();
        let url = format!("{}/{path}", self.endpoint.base_url.trim_end_matches('/'));
        let key = content_hash(format!("{url}\n{request}").as_bytes());
        let kept =
            self.store.get("answers", &key).or_else(|| self.store.get_plain("answers", &key));
        if let Some(answer) = kept.and_then(|answer| serde_json::from_slice(&answer).ok()) {
            self.count(CACHED, 1);
            tracing::debug!(path, key, "the answer was kept");
            return Ok(answer);
        }
        let answer = self.ask(&url, &request, read)?;
        if let Ok(text) = serde_json::to_vec(&answer) {
            self.store.put("answers", &key, &text);
        }
        Ok(answer)
    }

    fn ask<T>(&self, url: &str, request: &str, read: impl Fn(&Value) -> Option<T>) -> Result<T> {
        let mut pause = self.endpoint.pause;
        let mut tries = 0;
        loop {
            tries += 1;
            let endpoint = || {
                let endpoint = self.endpoint.base_url.split('?').next().unwrap_or_default();
                without_user(endpoint)
            };
            let (reason, wait) = match self.try_once(url, request, &read) {
                Ok(answer) => return Ok(answer),
                Err(Failure::Refused(reason)) => {
                    let reason = self.without_key(&reason);
                    return Err(Error::Refused { endpoint: endpoint(), reason });
                }
                Err(Failure::Final(reason)) => (reason, None),
                Err(Failure::Again(reason, asked)) => (reason, Some(asked.unwrap_or(pause))),
            };
            let Some(wait) = wait.filter(|_| tries < self.endpoint.tries) else {
                return Err(Error::Endpoint {
                    endpoint: endpoint(),
                    tries,
                    reason: self.without_key(&reason),
                });
            };
            self.count(RETRIES, 1);
            tracing::info!(endpoint = %endpoint(), tries, reason = %self.without_key(&reason), seconds = wait.as_secs_f64(), "asked again after a pause");
            std::thread::sleep(wait.min(LONGEST_PAUSE));
            pause *= 2;
        }
    }

    fn try_once<T>(
        &self,
        url: &str,
        request: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> std::result::Result<T, Failure> {
        self.wait_for_turn();
        self.count(REQUESTS, 1);
        let mut call = self.agent.post(url).header("content-type", "application/json");
        if let Some(key) = &self.key {
            call = call.header("authorization", format!("Bearer {}", key.0));
        }
        let mut response =
            call.send(request).map_err(|error| Failure::Again(error.to_string(), None))?;
        let status = response.status().as_u16();
        let asked = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
        let asked = asked.and_then(|value| value.trim().parse().ok()).map(Duration::from_secs);
        let body = response.body_mut().with_config().limit(LARGEST_ANSWER).read_to_vec();
        let body = body.map_err(|error| Failure::Again(error.to_string(), None))?;
        let said = || {
            let text = String::from_utf8_lossy(&body);
            let text = text.trim();
            text.char_indices()
                .nth(200)
                .map_or(text.to_owned(), |(at, _)| format!("{}...", &text[..at]))
        };
        match status {
            200 => {}
            429 => return Err(Failure::Again("status 429: too many requests".into(), asked)),
            408 | 500..=599 => {
                return Err(Failure::Again(format!("status {status}: {}", said()), asked));
            }
            401 | 403 => {
                let hint = format!(
                    "status {status}: set {} to a key that it knows",
                    self.endpoint.key_variable
                );
                return Err(Failure::Final(hint));
            }
            400 | 413 | 422 => {
                return Err(Failure::Refused(format!("status {status}: {}", said())));
            }
            _ => return Err(Failure::Final(format!("status {status}: {}", said()))),
        }
        let answer: Value = serde_json::from_slice(&body)
            .map_err(|_| Failure::Again(format!("no JSON: {}", said()), None))?;
        let read = read(&answer).ok_or_else(|| {
            Failure::Again(format!("an answer without content: {}", said()), None)
        })?;
        let tokens = |name: &str| answer["usage"][name].as_u64().unwrap_or(0);
        self.count(ASKED, tokens("prompt_tokens"));
        self.count(ANSWERED, tokens("completion_tokens"));
        Ok(read)
    }

    fn count(&self, what: usize, by: u64) {
        self.counts[what].fetch_add(by, Ordering::Relaxed);
    }

    /// Keep to the number of requests per minute.
    fn wait_for_turn(&self) {
        if self.endpoint.requests_per_minute == 0 {
            return;
        }
        let apart = Duration::from_secs(60) / self.endpoint.requests_per_minute;
        let turn = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let turn = (*next).max(Instant::now());
            *next = turn + apart;
            turn
        };
        std::thread::sleep(turn.saturating_duration_since(Instant::now()));
    }

    /// A server may repeat what it was sent.
    fn without_key(&self, text: &str) -> String {
        match &self.key {
            Some(key) => text.replace(&key.0, "[key]"),
            None => text.to_owned(),
        }
    }
}

/// An address without `user:password@`.
fn without_user(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_once('/').map_or((rest, None), |(h, p)| (h, Some(p)));
            let host = host.rsplit('@').next().unwrap_or(host);
            path.map_or(format!("{scheme}://{host}"), |path| format!("{scheme}://{host}/{path}"))
        }
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize},
    };

    /// A server that gives `answers` in turn, and whether all requests had the key.
    fn served(answers: Vec<(u16, String)>) -> (String, Arc<AtomicUsize>, Arc<AtomicBool>) {
        let asked = Arc::new(AtomicUsize::new(0));
        let keyed = Arc::new(AtomicBool::new(true));
        let (count, all) = (Arc::clone(&asked), Arc::clone(&keyed));
        let mut answers = answers.into_iter();
        let address = stand_in::serve(move |request| {
            // Whoever asks when there are no more never hears back.
            let (status, body) = answers.next()?;
            count.fetch_add(1, Ordering::SeqCst);
            if request.header("authorization") != Some("Bearer secret-4711") {
                all.store(false, Ordering::SeqCst);
            }
            Some(stand_in::Response::new(body).status(status))
        });
        (format!("http://{}/v1", address.unwrap()), asked, keyed)
    }

    fn good(text: &str) -> (u16, String) {
        let answer = json!({"choices": [{"message": {"role": "assistant", "content": text}}],
                            "usage": {"prompt_tokens": 100, "completion_tokens": 20}});
        (200, answer.to_string())
    }

    fn client(url: &str, tries: u32, folder: &std::path::Path) -> Client {
        let endpoint = Endpoint {
            base_url: url.into(),
            model: "m".into(),
            key_variable: "EDITS_TEST_NO_SUCH_KEY".into(),
            timeout: Duration::from_millis(400),
            tries,
            pause: Duration::from_millis(1),
            price: [1.0, 2.0],
            ..Endpoint::default()
        };
        let mut client = Client::new(endpoint, Store::at(folder));
        client.key = Some(Key("secret-4711".into()));
        client
    }

    fn ask(client: &Client, sample: u64) -> Result<Completion> {
        let message = Message { role: "user".into(), content: "faster".into() };
        client.complete(&[message], 0.7, 100, sample)
    }

    #[test]
    fn trouble_is_tried_again_and_answers_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (url, asked, keyed) = served(vec![
            (429, "slow down".into()),
            (500, "oops".into()),
            (200, "<html>".into()),
            (200, "{\"choices\": []}".into()),
            good("int main() {}"),
            good("other"),
        ]);
        let client = client(&url, 6, folder.path());
        assert_eq!(ask(&client, 0).unwrap().text, "int main() {}");
        assert_eq!(asked.load(Ordering::SeqCst), 5);
        assert_eq!(ask(&client, 0).unwrap().text, "int main() {}");
        assert_eq!(asked.load(Ordering::SeqCst), 5, "the second is from the cache");
        assert_eq!(ask(&client, 1).unwrap().text, "other");
        let usage = client.usage();
        assert_eq!((usage.requests, usage.retries, usage.cached), (6, 4, 1));
        assert_eq!((usage.prompt_tokens, usage.completion_tokens), (200, 40));
        assert!((usage.cost - 280e-6).abs() < 1e-12);
        assert!(keyed.load(Ordering::SeqCst));
    }

    #[test]
    fn an_endpoint_that_never_answers_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let (url, ..) = served(Vec::new());
        let error = ask(&client(&url, 2, folder.path()), 0).unwrap_err().to_string();
        assert!(error.contains("no answer in 2 tries") && error.contains("timeout"), "{error}");
    }

    #[test]
    fn a_share_of_the_likeliest_is_sent_where_one_is_wanted() {
        let folder = tempfile::tempdir().unwrap();
        let (send, sent) = std::sync::mpsc::channel();
        let address = stand_in::serve(move |request| {
            let body: Value = serde_json::from_slice(&request.body).unwrap();
            send.send(body["top_p"].as_f64()).unwrap();
            Some(stand_in::Response::new(good("faster").1))
        });
        let url = format!("http://{}/v1", address.unwrap());
        let mut client = client(&url, 1, folder.path());
        for share in [None, Some(0.9)] {
            client.endpoint.top_p = share;
            ask(&client, 0).unwrap();
            assert_eq!(sent.recv().unwrap(), share, "and what was kept is another answer");
        }
    }

    #[test]
    fn keys_are_in_no_message_and_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let (url, asked, _) = served(vec![
            (400, "I do not know Bearer secret-4711".into()),
            (401, "wrong key secret-4711".into()),
            good("x"),
        ]);
        let client = client(&url, 5, folder.path());
        for _ in 0..2 {
            let error = ask(&client, 0).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("4711"), "{error}");
        }
        assert_eq!(asked.load(Ordering::SeqCst), 2, "what is refused is not asked again");
        ask(&client, 0).unwrap();
        let mut files = vec![folder.path().to_owned()];
        while let Some(path) = files.pop() {
            if path.is_dir() {
                files.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            } else {
                assert!(!String::from_utf8_lossy(&std::fs::read(&path).unwrap()).contains("4711"));
            }
        }
        assert_eq!(without_user("https://me:4711@host/v1"), "https://host/v1");
    }
}
