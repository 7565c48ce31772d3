//! What of OpenAI's API is spoken: requests as they are read, and answers as they are written.

use crate::refusal::Refusal;
use lm::{
    Choice,
    causal::{Answer, Causal, End, Message, Question},
};
use serde_json::{Value, json};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

/// Answers of one request at most.
const MOST_ANSWERS: usize = 128;
/// Texts of a request for embeddings at most.
const MOST_INPUTS: usize = 1024;
/// Tokens of a completion that does not say how many, as in OpenAI's API.
const COMPLETION_TOKENS: usize = 16;
/// Stop texts at most, and bytes of each.
const STOPS: (usize, usize) = (16, 256);

/// What kind of answer is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Chat,
    Completion,
}

impl Kind {
    fn prefix(self) -> &'static str {
        match self {
            Kind::Chat => "chatcmpl",
            Kind::Completion => "cmpl",
        }
    }
}

/// A request for answers, checked.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) kind: Kind,
    /// One question for each answer, in order.
    pub(crate) questions: Vec<Question>,
    /// Tokens of all prompts, each counted once.
    pub(crate) prompt_tokens: usize,
    /// Whether text is sent as it is drawn.
    pub(crate) stream: bool,
    /// Whether a stream ends with the number of tokens.
    pub(crate) usage: bool,
}

/// A request for embeddings, checked.
#[derive(Debug)]
pub(crate) struct Inputs {
    pub(crate) texts: Vec<Vec<u32>>,
    /// Whether numbers are sent as base64 of 32-bit floats.
    pub(crate) base64: bool,
}

/// A model behind the API.
#[derive(Debug)]
pub(crate) struct Api {
    pub(crate) name: String,
    pub(crate) causal: Arc<Causal>,
    /// Tokens that a request may bring and ask for in all.
    pub(crate) most_tokens: usize,
    began: u64,
    count: AtomicU64,
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

impl Api {
    pub(crate) fn new(name: String, causal: Arc<Causal>, most_tokens: usize) -> Api {
        Api { name, causal, most_tokens, began: now(), count: AtomicU64::new(0) }
    }

    /// The model as `/v1/models` tells of it.
    pub(crate) fn model(&self) -> Value {
        json!({"id": self.name, "object": "model", "created": self.began,
               "owned_by": "stampmill", "max_model_len": self.causal.length()})
    }

    /// The object in a body, which must name this model.
    fn object(&self, body: &[u8]) -> Result<Value, Refusal> {
        let body: Value = serde_json::from_slice(body)
            .map_err(|error| Refusal::wrong(&format!("the body is no JSON: {error}")))?;
        if !body.is_object() {
            return Err(Refusal::wrong("the body is no JSON object"));
        }
        match body["model"].as_str() {
            None => Err(Refusal::parameter("model", "must name a model")),
            Some(name) if name != self.name => Err(Refusal::no_model(name, &self.name)),
            Some(_) => Ok(body),
        }
    }

    /// Read a request for answers. It may take a while: texts are spelled in tokens.
    pub(crate) fn asked(&self, kind: Kind, body: &[u8]) -> Result<Asked, Refusal> {
        let body = self.object(body)?;
        let drawing = Sampling::read(&body)?;
        let prompts = match kind {
            Kind::Chat => vec![self.causal.chat(&messages(&body["messages"])?)?],
            Kind::Completion => {
                let texts = texts("prompt", &body["prompt"], MOST_ANSWERS)?;
                texts.iter().map(|text| self.causal.prompt(text)).collect::<lm::Result<Vec<_>>>()?
            }
        };
        let answers = prompts.len() * drawing.answers;
        if answers > MOST_ANSWERS {
            let why = format!(
                "times the number of prompts is {answers}; a request gets at most {MOST_ANSWERS} answers"
            );
            return Err(Refusal::parameter("n", &why));
        }
        let prompt_tokens = prompts.iter().map(Vec::len).sum();
        let most = self.budget(kind, &prompts, &drawing, prompt_tokens)?;
        let mut questions = Vec::with_capacity(answers);
        for tokens in prompts {
            let tokens: Arc<[u32]> = tokens.into();
            for _ in 0..drawing.answers {
                let number = questions.len() as u64;
                questions.push(Question {
                    tokens: Arc::clone(&tokens),
                    most,
                    choice: drawing.choice,
                    // Draws of one request differ, and the same request draws the same.
                    seed: drawing.seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
                    stop: drawing.stop.clone(),
                });
            }
        }
        let (stream, usage) = (drawing.stream, drawing.usage);
        Ok(Asked { kind, questions, prompt_tokens, stream, usage })
    }

    /// Tokens that each answer may have.
    fn budget(
        &self,
        kind: Kind,
        prompts: &[Vec<u32>],
        drawing: &Sampling,
        prompt_tokens: usize,
    ) -> Result<usize, Refusal> {
        for tokens in prompts {
            self.causal.fits(tokens.len())?;
        }
        let answers = prompts.len() * drawing.answers;
        let usual = (kind == Kind::Completion).then_some(COMPLETION_TOKENS);
        // More than the model has room for is never drawn.
        let room = prompts.iter().map(|tokens| self.causal.length() - tokens.len()).max();
        let wanted = drawing.most.or(usual).map(|most| most.min(room.unwrap_or(0)));
        let left = self.most_tokens.saturating_sub(prompt_tokens);
        // Who does not say how many gets as many as there may be.
        let most = wanted.unwrap_or(left / answers.max(1));
        if most == 0 || most.saturating_mul(answers) > left {
            let why = format!(
                "{most} for each of {answers} answers and {prompt_tokens} of the prompts are too many; a request may \
                 bring and draw {} tokens in all (--max-tokens)",
                self.most_tokens
            );
            return Err(Refusal::parameter("max_tokens", &why));
        }
        Ok(most)
    }

    /// Read a request for embeddings.
    pub(crate) fn inputs(&self, body: &[u8]) -> Result<Inputs, Refusal> {
        let body = self.object(body)?;
        let base64 = match &body["encoding_format"] {
            Value::Null => false,
            format if format == "float" => false,
            format if format == "base64" => true,
            _ => return Err(Refusal::parameter("encoding_format", "must be float or base64")),
        };
        let mut all = Vec::new();
        let mut asked = 0;
        for text in texts("input", &body["input"], MOST_INPUTS)? {
            let tokens = self.causal.prompt(&text)?;
            if tokens.len() > self.causal.length() || tokens.is_empty() {
                self.causal.fits(tokens.len())?;
            }
            asked += tokens.len();
            all.push(tokens);
        }
        if asked > self.most_tokens {
            let why = format!(
                "has {asked} tokens; a request may bring {} in all (--max-tokens)",
                self.most_tokens
            );
            return Err(Refusal::parameter("input", &why));
        }
        Ok(Inputs { texts: all, base64 })
    }

    /// What stands at the head of every answer to one request.
    pub(crate) fn head(&self, kind: Kind, stream: bool) -> Head {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        Head {
            kind,
            stream,
            id: format!("{}-{}-{number}", kind.prefix(), self.began),
            created: now(),
            model: self.name.clone(),
        }
    }
}

/// What all parts of the answer to one request begin with.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    kind: Kind,
    stream: bool,
    id: String,
    created: u64,
    model: String,
}

impl Head {
    fn object(&self, choices: Vec<Value>) -> Value {
        let object = match (self.kind, self.stream) {
            (Kind::Chat, false) => "chat.completion",
            (Kind::Chat, true) => "chat.completion.chunk",
            (Kind::Completion, _) => "text_completion",
        };
        json!({"id": self.id, "object": object, "created": self.created, "model": self.model,
               "choices": choices})
    }

    /// All answers at once.
    pub(crate) fn whole(&self, answers: &[Answer], prompt_tokens: usize) -> Value {
        let choices = answers.iter().enumerate().map(|(index, answer)| match self.kind {
            Kind::Chat => json!({
                "index": index, "message": {"role": "assistant", "content": answer.text},
                "logprobs": null, "finish_reason": answer.end}),
            Kind::Completion => json!({
                "index": index, "text": answer.text, "logprobs": null, "finish_reason": answer.end}),
        });
        let mut whole = self.object(choices.collect());
        let answered = answers.iter().map(|answer| answer.tokens).sum();
        whole["usage"] = usage(prompt_tokens, answered);
        whole
    }

    /// The beginning of one answer of a stream; only chats have one.
    pub(crate) fn first(&self, index: usize) -> Option<Value> {
        (self.kind == Kind::Chat)
            .then(|| self.part(index, json!({"role": "assistant", "content": ""}), None))
    }

    /// A piece of one answer of a stream.
    pub(crate) fn piece(&self, index: usize, text: &str) -> Value {
        match self.kind {
            Kind::Chat => self.part(index, json!({"content": text}), None),
            Kind::Completion => self.part(index, json!(text), None),
        }
    }

    /// The end of one answer of a stream.
    pub(crate) fn last(&self, index: usize, end: End) -> Value {
        match self.kind {
            Kind::Chat => self.part(index, json!({}), Some(end)),
            Kind::Completion => self.part(index, json!(""), Some(end)),
        }
    }

    fn part(&self, index: usize, content: Value, end: Option<End>) -> Value {
        let name = if self.kind == Kind::Chat { "delta" } else { "text" };
        self.object(vec![
            json!({"index": index, name: content, "logprobs": null, "finish_reason": end}),
        ])
    }

    /// The last part of a stream that was asked for the number of tokens.
    pub(crate) fn counted(&self, prompt_tokens: usize, answered: usize) -> Value {
        let mut part = self.object(Vec::new());
        part["usage"] = usage(prompt_tokens, answered);
        part
    }
}

fn usage(asked: usize, answered: usize) -> Value {
    json!({"prompt_tokens": asked, "completion_tokens": answered, "total_tokens": asked + answered})
}

/// How answers are drawn.
struct Sampling {
    most: Option<usize>,
    answers: usize,
    choice: Choice,
    seed: u64,
    stop: Vec<String>,
    stream: bool,
    usage: bool,
}

impl Sampling {
    fn read(body: &Value) -> Result<Sampling, Refusal> {
        if body["tools"].as_array().is_some_and(|tools| !tools.is_empty()) {
            return Err(Refusal::parameter("tools", "are not spoken here; leave them out"));
        }
        let whole = |name: &'static str, most: u64| match &body[name] {
            Value::Null => Ok(None),
            value => match value.as_u64().filter(|n| (1..=most).contains(n)) {
                Some(number) => Ok(Some(number as usize)),
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
            Value::Array(none) if none.is_empty() => Vec::new(),
            stop => texts("stop", stop, STOPS.0)?,
        };
        if stop.iter().any(|text| text.is_empty() || text.len() > STOPS.1) {
            let why = format!("must have from 1 to {} bytes each", STOPS.1);
            return Err(Refusal::parameter("stop", &why));
        }
        let stream = flag("stream", &body["stream"])?;
        Ok(Sampling {
            most: tokens,
            answers: whole("n", MOST_ANSWERS as u64)?.unwrap_or(1),
            choice: Choice {
                temperature: real("temperature", 0.0..=2.0, 1.0)?,
                top_p: real("top_p", 0.0..=1.0, 1.0)?,
            },
            seed,
            stop,
            stream,
            usage: flag("stream_options", &body["stream_options"]["include_usage"])?,
        })
    }
}

fn flag(name: &'static str, value: &Value) -> Result<bool, Refusal> {
    match value {
        Value::Null => Ok(false),
        Value::Bool(flag) => Ok(*flag),
        _ => Err(Refusal::parameter(name, "must be true or false")),
    }
}

/// One text or a list of at most so many.
fn texts(name: &'static str, value: &Value, most: usize) -> Result<Vec<String>, Refusal> {
    let wrong = || Refusal::parameter(name, "must be a text or a list of texts");
    match value {
        Value::String(text) => Ok(vec![text.clone()]),
        Value::Array(list) if list.len() > most => {
            let why = format!("has {} texts; a request has at most {most}", list.len());
            Err(Refusal::parameter(name, &why))
        }
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
