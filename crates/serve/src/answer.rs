//! From a checked request to what is sent: all answers at once, or piece by piece.

use crate::{
    api::{Asked, Head},
    connection::Answering,
    refusal::Refusal,
    routes::Service,
};
use axum::{
    body::{Body, Bytes},
    http::{HeaderValue, header},
    response::Response,
};
use lm::{
    Result,
    causal::{Answer, Job, Listener},
};
use serde_json::Value;
use std::{collections::VecDeque, convert::Infallible, sync::Arc, sync::atomic::Ordering};
use tokio::{
    sync::{OwnedSemaphorePermit, mpsc},
    task::JoinSet,
    time::Instant,
};

/// What is heard of an answer.
enum Heard {
    Piece(String),
    Done(Result<Answer>),
}

/// Who waits for one answer of a request; once the request is dropped, nobody does.
struct Asker {
    index: usize,
    streams: bool,
    tell: mpsc::UnboundedSender<(usize, Heard)>,
    /// The request counts as waiting as long as the model holds one of its questions.
    _place: Arc<OwnedSemaphorePermit>,
}

impl Listener for Asker {
    fn listens(&self) -> bool {
        !self.tell.is_closed()
    }

    fn streams(&self) -> bool {
        self.streams
    }

    // Who has gone away needs no answer.
    fn piece(&mut self, text: &str) {
        let _ = self.tell.send((self.index, Heard::Piece(text.to_owned())));
    }

    fn done(self: Box<Self>, answer: Result<Answer>) {
        let _ = self.tell.send((self.index, Heard::Done(answer)));
    }
}

/// A request whose answers are being drawn. Dropping it ends that.
pub(crate) struct Drawn {
    service: Arc<Service>,
    head: Head,
    prompt_tokens: usize,
    usage: bool,
    deadline: Instant,
    /// What was told comes here: bounded, as the tokens of a request are.
    told: mpsc::UnboundedReceiver<(usize, Heard)>,
    /// Hands the questions on, one after the other, so that other requests get their turns.
    _asking: JoinSet<()>,
    /// Answers that are not done.
    open: usize,
    answered: usize,
    /// What is to be sent before anything else is waited for.
    ready: VecDeque<Bytes>,
    /// Says of the connection that it is not idle.
    _answering: Answering,
}

impl Drawn {
    pub(crate) fn begin(
        service: Arc<Service>,
        asked: Asked,
        place: OwnedSemaphorePermit,
        answering: Answering,
        deadline: Instant,
    ) -> Drawn {
        let (tell, told) = mpsc::unbounded_channel();
        let place = Arc::new(place);
        let head = service.api.head(asked.kind, asked.stream);
        let open = asked.questions.len();
        let jobs = service.jobs.clone();
        let streams = asked.stream;
        let mut asking = JoinSet::new();
        asking.spawn(async move {
            for (index, question) in asked.questions.into_iter().enumerate() {
                let (tell, place) = (tell.clone(), Arc::clone(&place));
                let listener = Box::new(Asker { index, streams, tell, _place: place });
                if jobs.send(Job { question, listener }).await.is_err() {
                    return;
                }
            }
        });
        Drawn {
            service,
            head,
            prompt_tokens: asked.prompt_tokens,
            usage: asked.usage,
            deadline,
            told,
            _asking: asking,
            open,
            answered: 0,
            ready: VecDeque::new(),
            _answering: answering,
        }
    }

    async fn hear(&mut self) -> std::result::Result<(usize, Heard), Refusal> {
        let heard = tokio::time::timeout_at(self.deadline, self.told.recv()).await;
        let (index, heard) = heard.map_err(|_| Refusal::late())?.ok_or_else(Refusal::stopping)?;
        if let Heard::Done(_) = heard {
            self.open -= 1;
        }
        Ok((index, heard))
    }

    fn count(&mut self, answer: &Answer) {
        self.answered += answer.tokens;
        self.service.completion_tokens.fetch_add(answer.tokens as u64, Ordering::Relaxed);
    }

    /// All answers, in order.
    pub(crate) async fn whole(mut self) -> std::result::Result<Value, Refusal> {
        let mut answers: Vec<Option<Answer>> = vec![None; self.open];
        while self.open > 0 {
            if let (index, Heard::Done(answer)) = self.hear().await? {
                let answer = answer?;
                self.count(&answer);
                answers[index] = Some(answer);
            }
        }
        let answers: Option<Vec<Answer>> = answers.into_iter().collect();
        let answers = answers.ok_or_else(Refusal::stopping)?;
        Ok(self.head.whole(&answers, self.prompt_tokens))
    }

    /// A stream of server-sent events.
    pub(crate) fn events(mut self) -> Response {
        for index in 0..self.open {
            let first = self.head.first(index);
            self.ready.extend(first.map(|part| event(&part)));
        }
        let events = futures_util::stream::unfold(self, |mut drawn| async move {
            drawn.next().await.map(|event| (Ok::<Bytes, Infallible>(event), drawn))
        });
        let mut response = Response::new(Body::from_stream(events));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        response
    }

    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if self.open == 0 {
                return None;
            }
            match self.hear().await {
                Ok((index, Heard::Piece(text))) => {
                    self.ready.push_back(event(&self.head.piece(index, &text)));
                }
                Ok((index, Heard::Done(Ok(answer)))) => {
                    self.count(&answer);
                    self.ready.push_back(event(&self.head.last(index, answer.end)));
                    if self.open == 0 {
                        if self.usage {
                            let counted = self.head.counted(self.prompt_tokens, self.answered);
                            self.ready.push_back(event(&counted));
                        }
                        self.ready.push_back(Bytes::from_static(b"data: [DONE]\n\n"));
                    }
                }
                Ok((_, Heard::Done(Err(error)))) => self.fail(&error.into()),
                Err(refusal) => self.fail(&refusal),
            }
        }
    }

    /// A stream has begun with status 200; what ends it too early is an event.
    fn fail(&mut self, refusal: &Refusal) {
        self.open = 0;
        self.told.close();
        self.ready.push_back(event(&refusal.body()));
    }
}

fn event(part: &Value) -> Bytes {
    Bytes::from(format!("data: {part}\n\n"))
}
