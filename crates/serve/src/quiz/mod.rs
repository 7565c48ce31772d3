//! Human or machine: the double-blind test of CLgen (CGO'17, section 6.1) as a page.
//!
//! What a player is asked depends on the seed and the player's random name alone, so that a server that was killed knows
//! from the answers on disk where each player was.

mod deck;
mod score;

use crate::{
    Error, Limits, Taken,
    gate::{Gate, knows, work},
    page::{self, HTML, text},
    refusal::{Refusal, said},
    wait_for,
};
use axum::{
    Router,
    body::Bytes,
    extract::{Request, State},
    http::{HeaderValue, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use cluster::Token;
use dataset::{Builder, Dataset, Input, Notes};
use deck::Deck;
pub use deck::{Kind, Source};
use rows::AnswerRow;
pub use score::score;
use serde::Deserialize;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{
    sync::{Semaphore, oneshot},
    time::Instant,
};

/// Players of one run: whoever reaches the page can begin anew as often as they like.
const MOST_PLAYERS: usize = 10_000;
const ADDRESSES: &str = "/, /quiz.css, /quiz.js, /players, /next, /answers (POST)";
/// Only what this server has is loaded, only it is asked, and nobody shows the page in theirs.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'";

/// How a quiz is served.
#[derive(Debug)]
pub struct QuizSettings {
    /// Data sets of both sides.
    pub sources: Vec<Source>,
    /// Questions of a player, an even number.
    pub questions: usize,
    /// Same seed and player, same questions.
    pub seed: u64,
    /// The data set of answers to be.
    pub out: PathBuf,
    /// Whether it may replace another.
    pub force: bool,
    /// Host and port; port 0 takes any free one.
    pub listen: String,
    /// What players must know, if anything.
    pub token: Option<Token>,
    /// What a client may take.
    pub limits: Limits,
    /// How long requests that are being answered when the server is stopped may still take.
    pub grace: Duration,
}

/// What came of a quiz.
#[derive(Debug)]
pub struct Quizzed {
    /// Requests that came.
    pub requests: u64,
    /// Players who answered.
    pub players: u64,
    /// As [`score()`] says it of all answers.
    pub score: Value,
    /// The answers; `None` where nobody gave one.
    pub dataset: Option<Dataset>,
}

/// A quiz that listens at an address.
#[derive(Debug)]
pub struct QuizServer {
    quiz: Quiz,
    taken: Taken,
    token: Option<Token>,
    limits: Limits,
    grace: Duration,
}

/// What is asked, and what was answered.
#[derive(Debug)]
struct Quiz {
    deck: Deck,
    configuration: Value,
    state: Mutex<Answers>,
}

#[derive(Debug)]
struct Answers {
    /// Gone once the server is stopped.
    builder: Option<Builder<AnswerRow>>,
    players: BTreeMap<u64, Player>,
}

#[derive(Debug)]
struct Player {
    deck: Vec<(usize, usize)>,
    answers: Vec<AnswerRow>,
}

struct Service {
    gate: Arc<Gate>,
    quiz: Arc<Quiz>,
    token: Option<Token>,
    /// Answers are written one after the other.
    writer: Arc<Semaphore>,
}

impl QuizServer {
    /// Take the address, and begin the data set of answers or go on with it.
    ///
    /// # Errors
    /// When a side has too few kernels, the address is not free, or the data set cannot be begun.
    pub fn bind(settings: QuizSettings) -> Result<QuizServer, Error> {
        let QuizSettings { sources, questions, seed, out, force, listen, token, limits, grace } =
            settings;
        let asked: Vec<Value> = sources
            .iter()
            .map(|source| json!({ "kind": source.kind().word(), "name": source.name() }))
            .collect();
        let configuration = json!({ "sources": asked, "questions": questions, "seed": seed });
        let deck = Deck::new(sources, questions, seed)?;
        let taken = Taken::new(&listen)?;
        let builder = Builder::create_from(&out, force, &configuration, &inputs(&deck))?;
        let mut players: BTreeMap<u64, Player> = BTreeMap::new();
        for answer in builder.rows()? {
            let answer: AnswerRow = answer?;
            let Ok(name) = u64::from_str_radix(&answer.player, 16) else { continue };
            let new = || Player { deck: deck.drawn(name), answers: Vec::new() };
            players.entry(name).or_insert_with(new).answers.push(answer);
        }
        for player in players.values_mut() {
            player.answers.sort_by_key(|answer| answer.number);
        }
        let state = Mutex::new(Answers { builder: Some(builder), players });
        Ok(QuizServer { quiz: Quiz { deck, configuration, state }, taken, token, limits, grace })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.taken.address()
    }

    /// Players whose answers were there already.
    #[must_use]
    pub fn resumed(&self) -> usize {
        self.quiz.state().players.len()
    }

    /// Ask until `stop` is raised, then make the data set of all answers.
    ///
    /// # Errors
    /// When threads cannot be started or the data set cannot be written; the answers stay for another try.
    pub fn run(self, stop: &AtomicBool) -> Result<Quizzed, Error> {
        let QuizServer { quiz, taken, token, limits, grace } = self;
        // The page itself is for everyone: it asks for the token.
        let gate = Arc::new(Gate::new(limits, None));
        let is_local = taken.address().ip().is_loopback();
        let quiz = Arc::new(quiz);
        let service = Arc::new(Service {
            gate: Arc::clone(&gate),
            quiz: Arc::clone(&quiz),
            token,
            writer: Arc::new(Semaphore::new(1)),
        });
        // Nothing but a stop ends it.
        let (_runs, ended) = oneshot::channel();
        wait_for(taken, router(service, is_local), &gate, stop, ended, grace)?;
        quiz.finish(gate.requests.load(Ordering::Relaxed))
    }
}

fn inputs(deck: &Deck) -> Vec<Input> {
    let input = |source: &Source| Input { name: source.name(), hash: source.identity().to_owned() };
    deck.sources.iter().map(input).collect()
}

/// What a page sends.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    player: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answered {
    player: String,
    number: u32,
    answer: String,
    milliseconds: u32,
}

impl Quiz {
    fn state(&self) -> MutexGuard<'_, Answers> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new player's first question.
    fn begin(&self) -> Result<Value, Refusal> {
        let mut state = self.state();
        if state.players.len() >= MOST_PLAYERS {
            let why = format!("{MOST_PLAYERS} players have begun; another run takes more");
            return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "overloaded", why));
        }
        let name: u64 = rand::random();
        let new = || Player { deck: self.deck.drawn(name), answers: Vec::new() };
        Ok(self.next(name, state.players.entry(name).or_insert_with(new)))
    }

    /// The question that a player has not answered yet, or the score.
    fn go_on(&self, body: &[u8]) -> Result<Value, Refusal> {
        let Named { player } = parsed(body)?;
        let mut state = self.state();
        let (name, player) = known(&mut state.players, &player)?;
        Ok(self.next(name, player))
    }

    /// Keep an answer; of two to one question the first.
    fn answer(&self, body: &[u8]) -> Result<Value, Refusal> {
        let Answered { player, number, answer, milliseconds } = parsed(body)?;
        let says: Kind =
            answer.parse().map_err(|why: String| Refusal::wrong(&format!("answer: {why}")))?;
        let mut state = self.state();
        let Answers { builder, players } = &mut *state;
        let (name, player) = known(players, &player)?;
        let expected = player.answers.len() + 1;
        if number as usize == expected && expected <= player.deck.len() {
            let (source, kernel) = self.deck.kernel(player.deck[expected - 1]);
            let row = AnswerRow {
                player: shown(name),
                number,
                source: source.name(),
                kind: source.kind().word().to_owned(),
                program: kernel.id.clone(),
                answer: says.word().to_owned(),
                right: says == source.kind(),
                milliseconds,
            };
            let Some(builder) = builder else { return Err(Refusal::stopping()) };
            let kept = builder.add(&format!("{} {number}", row.player), [row.clone()]);
            kept.map_err(|error| {
                let why = format!("the answer is not kept: {error}; answer again");
                Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "machine_fault", why)
            })?;
            player.answers.push(row);
        } else if number == 0 || number as usize > expected {
            return Err(Refusal::parameter("number", "is of no question that was asked"));
        }
        Ok(self.next(name, player))
    }

    fn next(&self, name: u64, player: &Player) -> Value {
        let (done, of) = (player.answers.len(), player.deck.len());
        match player.deck.get(done) {
            Some(place) => {
                let text = &self.deck.kernel(*place).1.text;
                json!({ "player": shown(name), "number": done + 1, "of": of, "program": text })
            }
            // Only here a source is named.
            None => {
                let answers: Vec<Value> = player
                    .answers
                    .iter()
                    .map(
                        |row| json!({ "kind": row.kind, "answer": row.answer, "right": row.right }),
                    )
                    .collect();
                let score = score(&player.answers);
                json!({ "player": shown(name), "of": of, "score": score, "answers": answers })
            }
        }
    }

    fn finish(&self, requests: u64) -> Result<Quizzed, Error> {
        let (builder, players) = {
            let mut state = self.state();
            (state.builder.take(), std::mem::take(&mut state.players))
        };
        let rows: Vec<AnswerRow> =
            players.into_values().flat_map(|player| player.answers).collect();
        let names: std::collections::BTreeSet<&str> =
            rows.iter().map(|row| row.player.as_str()).collect();
        let players = names.len() as u64;
        let score = score(&rows);
        let mut summary = score.clone();
        summary["players"] = players.into();
        let notes = Notes {
            inputs: inputs(&self.deck),
            configuration: self.configuration.clone(),
            seed: self.deck.seed(),
            summary,
            ..Notes::default()
        };
        let dataset = match builder {
            Some(builder) if rows.is_empty() => {
                builder.discard_if_empty();
                None
            }
            Some(builder) => Some(builder.finish(rows, notes)?),
            None => None,
        };
        Ok(Quizzed { requests, players, score, dataset })
    }
}

fn known<'a>(
    players: &'a mut BTreeMap<u64, Player>,
    name: &str,
) -> Result<(u64, &'a mut Player), Refusal> {
    let number = u64::from_str_radix(name, 16).ok();
    let found = number.and_then(|number| Some((number, players.get_mut(&number)?)));
    found.ok_or_else(|| {
        let why = "this quiz does not know the player: POST /players begins anew".to_owned();
        Refusal::new(StatusCode::NOT_FOUND, "unknown_player", why)
    })
}

fn shown(player: u64) -> String {
    format!("{player:016x}")
}

fn parsed<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Refusal> {
    serde_json::from_slice(body).map_err(|error| Refusal::wrong(&error.to_string()))
}

fn router(service: Arc<Service>, is_local: bool) -> Router {
    let gate = Arc::clone(&service.gate);
    let router = Router::new()
        .route("/players", post(begin))
        .route("/next", post(go_on))
        .route("/answers", post(answer))
        .layer(middleware::from_fn_with_state(Arc::clone(&service), knowing))
        .route("/", get(shell))
        .route("/quiz.css", get(|| async { text("text/css", include_str!("quiz.css")) }))
        .route("/quiz.js", get(|| async { text("text/javascript", include_str!("quiz.js")) }))
        .with_state(service);
    gate.guard(page::at_home(router, is_local), ADDRESSES)
}

/// Before all addresses but those of the page itself, which holds nothing of a data set.
async fn knowing(State(service): State<Arc<Service>>, request: Request, next: Next) -> Response {
    match service.token.as_ref().is_none_or(|token| knows(request.headers(), token)) {
        true => next.run(request).await,
        false => Refusal::no_token().into_response(),
    }
}

async fn shell() -> Response {
    let mut response = text(HTML, include_str!("quiz.html"));
    let policy = HeaderValue::from_static(POLICY);
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    response
}

async fn begin(State(service): State<Arc<Service>>, request: Request) -> Response {
    respond(service, request, |quiz, _| quiz.begin()).await
}

async fn go_on(State(service): State<Arc<Service>>, request: Request) -> Response {
    respond(service, request, |quiz, body| quiz.go_on(body)).await
}

async fn answer(State(service): State<Arc<Service>>, request: Request) -> Response {
    respond(service, request, |quiz, body| quiz.answer(body)).await
}

async fn respond(
    service: Arc<Service>,
    request: Request,
    answer: impl FnOnce(&Quiz, &Bytes) -> Result<Value, Refusal> + Send + 'static,
) -> Response {
    let answered = async {
        let (body, _answering) = service.gate.body(request).await?;
        let deadline = Instant::now() + service.gate.limits.answer;
        let quiz = Arc::clone(&service.quiz);
        work(&service.writer, deadline, move || answer(&quiz, &body)).await
    };
    match answered.await {
        Ok(answer) => said(answer.to_string()),
        Err(refusal) => refusal.into_response(),
    }
}
