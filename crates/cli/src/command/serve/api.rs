//! What of OpenAI's API is spoken, and how requests are refused.

use lm::{
    Choice, Error,
    causal::{Answer, Causal, Job, Message, Question},
};
use serde_json::{Value, json};
use std::{
    sync::{
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    time::{SystemTime, UNIX_EPOCH},
};

/// Answers of one request at most.
const MOST_ANSWERS: u64 = 128;
/// Tokens of a completion that does not say how many, as in OpenAI's API.
const COMPLETION_TOKENS: u64 = 16;

/// A request that gets no answer, in OpenAI's words.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: u16,
    kind: &'static str,
    code: &'static str,
    message: String,
    parameter: Option<&'static str>,
}

impl Refusal {
    fn new(status: u16, code: &'static str, message: String) -> Refusal {
        let kind = if status >= 500 { "server_error" } else { "invalid_request_error" };
        Refusal { status, kind, code, message, parameter: None }
    }

    pub(super) fn wrong(message: &str) -> Refusal {
        Refusal::new(400, "invalid_request", message.to_owned())
    }

    /// A parameter has a value that makes no sense.
    fn parameter(name: &'static str, why: &str) -> Refusal {
        let mut refusal = Refusal::new(400, "invalid_value", format!("`{name}` {why}"));
        refusal.parameter = Some(name);
        refusal
    }

    pub(super) fn large(most: u64) -> Refusal {
        Refusal::new(413, "request_too_large", format!("a request has at most {most} bytes"))
    }

    pub(super) fn method() -> Refusal {
        Refusal::new(405, "method_not_allowed", "this address takes GET or POST".to_owned())
    }

    pub(super) fn busy() -> Refusal {
        let message = "too many requests wait; try again later".to_owned();
        Refusal { kind: "rate_limit_error", ..Refusal::new(429, "rate_limit_exceeded", message) }
    }

    /// `{"error": {"message", "type", "param", "code"}}`.
    pub(super) fn body(&self) -> Value {
        json!({"error": {
            "message": self.message, "type": self.kind, "param": self.parameter, "code": self.code,
        }})
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Refusal {
        let message = error.to_string();
        match error {
            Error::TooLong { .. } => Refusal::new(413, "context_length_exceeded", message),
            Error::Prompt(_) => Refusal::new(400, "invalid_prompt", message),
            Error::Cancelled => {
                Refusal::new(503, "stopping", "the server is being stopped".to_owned())
            }
            _ => Refusal::new(500, "server_error", message),
        }
    }
}

/// A model behind the API.
pub(super) struct Api<'a> {
    name: String,
    causal: &'a Causal,
    began: u64,
    count: AtomicU64,
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// How answers are drawn.
struct Drawing {
    most: Option<u64>,
    answers: u64,
    choice: Choice,
    seed: u64,
    stop: Vec<String>,
}

impl<'a> Api<'a> {
    pub(super) fn new(name: String, causal: &'a Causal) -> Api<'a> {
        Api { name, causal, began: now(), count: AtomicU64::new(0) }
    }

    fn unknown(path: &str) -> Refusal {
        let message = format!(
            "nothing is at {path}; there are /v1/models, /v1/chat/completions, /v1/completions, /v1/embeddings"
        );
        Refusal::new(404, "not_found", message)
    }

    pub(super) fn get(&self, path: &str) -> Result<Value, Refusal> {
        let model = || {
            json!({"id": self.name, "object": "model", "created": self.began,
                   "owned_by": "benchstone", "max_model_len": self.causal.length()})
        };
        match path.strip_prefix("/v1/models") {
            Some("") => Ok(json!({"object": "list", "data": [model()]})),
            Some(rest) if rest.strip_prefix('/') == Some(&self.name) => Ok(model()),
            Some(rest) if rest.starts_with('/') => Err(self.no_model(&rest[1..])),
            _ => Err(Api::unknown(path)),
        }
    }

    fn no_model(&self, name: &str) -> Refusal {
        let message = format!("there is no model `{name}` here, only `{}`", self.name);
        Refusal::new(404, "model_not_found", message)
    }

    pub(super) fn post(
        &self,
        path: &str,
        body: &[u8],
        jobs: &mpsc::Sender<Job>,
    ) -> Result<Value, Refusal> {
        let known = ["/v1/chat/completions", "/v1/completions", "/v1/embeddings"];
        if !known.contains(&path) {
            return Err(Api::unknown(path));
        }
        let body: Value = serde_json::from_slice(body)
            .map_err(|error| Refusal::wrong(&format!("the body is no JSON: {error}")))?;
        if !body.is_object() {
            return Err(Refusal::wrong("the body is no JSON object"));
        }
        match body["model"].as_str() {
            None => return Err(Refusal::parameter("model", "must name a model")),
            Some(name) if name != self.name => return Err(self.no_model(name)),
            Some(_) => {}
        }
        match path {
            "/v1/chat/completions" => self.chat(&body, jobs),
            "/v1/completions" => self.complete(&body, jobs),
            _ => self.embed(&body),
        }
    }

    fn chat(&self, body: &Value, jobs: &mpsc::Sender<Job>) -> Result<Value, Refusal> {
        let drawing = Drawing::read(body)?;
        let tokens = self.causal.chat(&messages(&body["messages"])?)?;
        let asked = tokens.len();
        let answers = self.draw(&[tokens], &drawing, None, jobs)?;
        let choices: Vec<Value> = answers
            .iter()
            .enumerate()
            .map(|(index, answer)| {
                json!({"index": index, "message": {"role": "assistant", "content": answer.text},
                       "logprobs": null, "finish_reason": answer.end})
            })
            .collect();
        Ok(self.done("chatcmpl", "chat.completion", choices, asked, &answers))
    }

    fn complete(&self, body: &Value, jobs: &mpsc::Sender<Job>) -> Result<Value, Refusal> {
        let drawing = Drawing::read(body)?;
        let texts = texts("prompt", &body["prompt"])?;
        let prompts =
            texts.iter().map(|text| self.causal.prompt(text)).collect::<lm::Result<Vec<_>>>()?;
        let asked = prompts.iter().map(Vec::len).sum();
        let answers = self.draw(&prompts, &drawing, Some(COMPLETION_TOKENS), jobs)?;
        let choices: Vec<Value> = answers
            .iter()
            .enumerate()
            .map(|(index, answer)| {
                json!({"index": index, "text": answer.text, "logprobs": null, "finish_reason": answer.end})
            })
            .collect();
        Ok(self.done("cmpl", "text_completion", choices, asked, &answers))
    }

    fn embed(&self, body: &Value) -> Result<Value, Refusal> {
        match body["encoding_format"].as_str() {
            None | Some("float") => {}
            Some(other) => {
                return Err(Refusal::parameter(
                    "encoding_format",
                    &format!("{other} is not spoken; float is"),
                ));
            }
        }
        let (mut data, mut asked) = (Vec::new(), 0);
        for (index, text) in texts("input", &body["input"])?.iter().enumerate() {
            let tokens = self.causal.prompt(text)?;
            if tokens.len() > self.causal.length() || tokens.is_empty() {
                self.causal.fits(tokens.len())?;
            }
            asked += tokens.len();
            let vector = self.causal.embedding(&tokens)?.ok_or_else(|| {
                Refusal::new(404, "not_found", "this model has no embeddings".to_owned())
            })?;
            data.push(json!({"object": "embedding", "index": index, "embedding": vector}));
        }
        Ok(json!({"object": "list", "data": data, "model": self.name,
                  "usage": {"prompt_tokens": asked, "total_tokens": asked}}))
    }

    /// The answers to all prompts, `answers` for each, in order.
    fn draw(
        &self,
        prompts: &[Vec<u32>],
        drawing: &Drawing,
        usual: Option<u64>,
        jobs: &mpsc::Sender<Job>,
    ) -> Result<Vec<Answer>, Refusal> {
        let (tell, told) = mpsc::channel();
        let mut asked = 0;
        for tokens in prompts {
            self.causal.fits(tokens.len())?;
        }
        for tokens in prompts {
            for _ in 0..drawing.answers {
                let question = Question {
                    tokens: tokens.clone(),
                    most: drawing.most.or(usual).map_or(usize::MAX, |n| n as usize),
                    choice: drawing.choice,
                    // Draws of one request differ, and the same request draws the same.
                    seed: drawing.seed.wrapping_add(asked as u64 * 0x9e37_79b9_7f4a_7c15),
                    stop: drawing.stop.clone(),
                };
                let (tell, place) = (tell.clone(), asked);
                let done = Box::new(move |answer| {
                    // Who asked waits below, or has been refused already.
                    let _ = tell.send((place, answer));
                });
                jobs.send(Job { question, done }).map_err(|_| Error::Cancelled)?;
                asked += 1;
            }
        }
        drop(tell);
        let mut answers: Vec<Option<Answer>> = vec![None; asked];
        for (place, answer) in told {
            answers[place] = Some(answer?);
        }
        answers.into_iter().collect::<Option<Vec<_>>>().ok_or_else(|| Error::Cancelled.into())
    }

    fn done(
        &self,
        prefix: &str,
        object: &str,
        choices: Vec<Value>,
        asked: usize,
        answers: &[Answer],
    ) -> Value {
        let answered: usize = answers.iter().map(|answer| answer.tokens).sum();
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        json!({
            "id": format!("{prefix}-{}-{number}", self.began), "object": object, "created": now(),
            "model": self.name, "choices": choices,
            "usage": {"prompt_tokens": asked, "completion_tokens": answered,
                      "total_tokens": asked + answered},
        })
    }
}

impl Drawing {
    fn read(body: &Value) -> Result<Drawing, Refusal> {
        if body["stream"] == true {
            return Err(Refusal::parameter("stream", "is not spoken here; leave it out"));
        }
        if !body["tools"].is_null() {
            return Err(Refusal::parameter("tools", "are not spoken here; leave them out"));
        }
        let whole = |name: &'static str, most: u64| match &body[name] {
            Value::Null => Ok(None),
            value => match value.as_u64().filter(|n| (1..=most).contains(n)) {
                Some(number) => Ok(Some(number)),
                None => Err(Refusal::parameter(
                    name,
                    &format!("must be a whole number from 1 to {most}"),
                )),
            },
        };
        let real = |name: &'static str, range: std::ops::RangeInclusive<f64>, usual: f64| {
            match &body[name] {
                Value::Null => Ok(usual as f32),
                value => match value.as_f64().filter(|n| range.contains(n)) {
                    Some(number) => Ok(number as f32),
                    None => Err(Refusal::parameter(
                        name,
                        &format!("must be a number from {} to {}", range.start(), range.end()),
                    )),
                },
            }
        };
        let most = u64::from(u32::MAX);
        let tokens = match whole("max_completion_tokens", most)? {
            Some(tokens) => Some(tokens),
            None => whole("max_tokens", most)?,
        };
        let seed = match &body["seed"] {
            Value::Null => 0,
            value => value
                .as_u64()
                .or_else(|| value.as_i64().map(i64::cast_unsigned))
                .ok_or_else(|| Refusal::parameter("seed", "must be a whole number"))?,
        };
        let stop = match &body["stop"] {
            Value::Null => Vec::new(),
            stop => texts("stop", stop)?,
        };
        if stop.iter().any(String::is_empty) {
            return Err(Refusal::parameter("stop", "must not be empty"));
        }
        Ok(Drawing {
            most: tokens,
            answers: whole("n", MOST_ANSWERS)?.unwrap_or(1),
            choice: Choice {
                temperature: real("temperature", 0.0..=2.0, 1.0)?,
                top_p: real("top_p", 0.0..=1.0, 1.0)?,
            },
            seed,
            stop,
        })
    }
}

/// One text or a list of them.
fn texts(name: &'static str, value: &Value) -> Result<Vec<String>, Refusal> {
    let wrong = || Refusal::parameter(name, "must be a text or a list of texts");
    match value {
        Value::String(text) => Ok(vec![text.clone()]),
        Value::Array(list) if !list.is_empty() => {
            list.iter().map(|text| text.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
        }
        _ => Err(wrong()),
    }
}

fn messages(value: &Value) -> Result<Vec<Message>, Refusal> {
    let wrong = |why: &str| Refusal::parameter("messages", why);
    let list = value.as_array().filter(|list| !list.is_empty());
    let list = list.ok_or_else(|| wrong("must be a list of messages"))?;
    list.iter()
        .map(|message| {
            let role = message["role"].as_str().ok_or_else(|| wrong("must each have a `role`"))?;
            let content = match &message["content"] {
                Value::String(text) => text.clone(),
                // Parts, all of them text.
                Value::Array(parts) => parts
                    .iter()
                    .map(|part| part["text"].as_str())
                    .collect::<Option<String>>()
                    .ok_or_else(|| wrong("may hold text only"))?,
                _ => return Err(wrong("must each have a text as `content`")),
            };
            Ok(Message { role: role.to_owned(), content })
        })
        .collect()
}
