//! The judge of edits at an address: a batch of candidates in, rewards and verdicts out. Of programs here, of kernels in
//! `kernels`.

mod kernels;

use crate::{
    Error, Limits, Taken,
    gate::{Gate, work},
    refusal::{Refusal, said},
    wait_for,
};
use axum::{
    Router,
    extract::{Request, State},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use cluster::Token;
use edits::{Batch, Bench, CHEATS, Challenge, JudgeOptions, Judgement, Language, Test, unfenced};
pub use kernels::KernelSettings;
use kernels::{Kernels, Pairs};
use rayon::ThreadPool;
use serde::Deserialize;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::{
    sync::{Semaphore, oneshot},
    time::{Instant, timeout_at},
};

/// Tests of a problem at most, the hidden ones included.
const MOST_TESTS: usize = 1000;
/// Longest time, in seconds, that a client that finds all places taken is told to wait.
const LONGEST_WAIT: f64 = 60.0;
/// The share of the newest batch in the time that one takes, as it is told.
const NEWEST: f64 = 0.3;
const ADDRESSES: &str =
    "/v1/judge (GET: what it is, POST: a batch), /v1/judge/kernels (POST: a batch of kernels)";

/// How the judge is served.
#[derive(Clone, Debug)]
pub struct JudgeSettings {
    /// Host and port; port 0 takes any free one.
    pub listen: String,
    /// What clients must send, if anything.
    pub token: Option<Token>,
    /// How to judge programs.
    pub options: JudgeOptions,
    /// How to judge kernels.
    pub kernels: KernelSettings,
    /// Candidates of a batch at most.
    pub most: usize,
    /// Batches judged side by side.
    pub slots: usize,
    /// Threads that judge.
    pub jobs: usize,
    /// What a client may take.
    pub limits: Limits,
    /// How long batches that are being judged when the server is stopped may still take.
    pub grace: Duration,
}

/// What a judge has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// Requests that came.
    pub requests: u64,
    /// Those of them, and connections, that were refused.
    pub refused: u64,
    /// Candidates that were judged.
    pub candidates: u64,
    /// Those of them that were known.
    pub known: u64,
}

/// A judge that listens at an address.
pub struct JudgeServer {
    settings: JudgeSettings,
    bench: Bench,
    taken: Taken,
}

/// What all requests share.
struct Service {
    gate: Arc<Gate>,
    bench: Bench,
    kernels: Kernels,
    settings: JudgeSettings,
    pool: ThreadPool,
    /// Places of batches that wait or are being judged, and of the latter.
    queue: Arc<Semaphore>,
    slots: Arc<Semaphore>,
    /// Seconds that a batch takes, about.
    seconds: Mutex<f64>,
    candidates: AtomicU64,
    known: AtomicU64,
}

impl JudgeServer {
    /// Take the address. Clients that connect from here on are answered by [`JudgeServer::run`].
    ///
    /// # Errors
    /// When the address is not free; [`Error::Open`] when others can reach it and there is no token: candidates are
    /// programs, and whoever sends one uses this machine.
    pub fn bind(settings: JudgeSettings, bench: Bench) -> Result<JudgeServer, Error> {
        let taken = Taken::new(&settings.listen)?;
        let address = taken.address();
        if !address.ip().is_loopback() && settings.token.is_none() {
            return Err(Error::Open { address });
        }
        Ok(JudgeServer { settings, bench, taken })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.taken.address()
    }

    /// The address of its API.
    #[must_use]
    pub fn url(&self) -> String {
        self.taken.url()
    }

    /// Judge until `stop` is raised; batches that are being judged then have [`JudgeSettings::grace`] to end.
    ///
    /// # Errors
    /// When threads cannot be started.
    pub fn run(self, stop: &AtomicBool) -> Result<Judged, Error> {
        let JudgeServer { settings, bench, taken } = self;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(settings.jobs).build();
        let pool = pool.map_err(|error| Error::Start(std::io::Error::other(error)))?;
        let gate = Arc::new(Gate::new(settings.limits, settings.token.clone()));
        let grace = settings.grace;
        let service = Arc::new(Service {
            gate: Arc::clone(&gate),
            bench,
            kernels: Kernels::new(settings.kernels.clone()),
            pool,
            queue: Arc::new(Semaphore::new(settings.limits.queue)),
            slots: Arc::new(Semaphore::new(settings.slots)),
            seconds: Mutex::new(1.0),
            candidates: AtomicU64::new(0),
            known: AtomicU64::new(0),
            settings,
        });
        // Nothing but a stop ends it.
        let (_runs, ended) = oneshot::channel();
        let waited = wait_for(taken, router(Arc::clone(&service)), &gate, stop, ended, grace);
        service.kernels.stop();
        waited?;
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Ok(Judged {
            requests: count(&gate.requests),
            refused: count(&gate.refused),
            candidates: count(&service.candidates),
            known: count(&service.known),
        })
    }
}

impl std::fmt::Debug for JudgeServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JudgeServer").field("settings", &self.settings).finish_non_exhaustive()
    }
}

fn router(service: Arc<Service>) -> Router {
    let gate = Arc::clone(&service.gate);
    let router = Router::new()
        .route("/v1/judge", get(about).post(judge::<Batch>))
        .route("/v1/judge/kernels", post(judge::<Pairs>))
        .with_state(service);
    gate.guard(router, ADDRESSES)
}

async fn about(State(service): State<Arc<Service>>) -> Response {
    let Service { settings, bench, kernels, .. } = &*service;
    let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
    said(
        json!({
            "object": "judge", "bench": bench.identity(), "threshold": settings.options.threshold,
            "sanitize": settings.options.sanitize, "max_batch": settings.most,
            "max_body": settings.limits.body, "cheats": CHEATS, "candidates": count(&service.candidates),
            "known": count(&service.known), "runs": bench.runs(), "kernels": kernels.about(),
        })
        .to_string(),
    )
}

/// A batch that can be judged.
trait Judging: Sized + Send + Sync + 'static {
    /// What is asked, checked: at most so many candidates.
    fn read(body: &[u8], most: usize) -> Result<Self, Refusal>;

    /// What is answered about each candidate, in their order, and how many of them were known. `stop` is asked before each;
    /// what was found out is kept.
    fn judged(
        &self,
        service: &Service,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<(Vec<Value>, usize), Refusal>;
}

impl Judging for Batch {
    fn read(body: &[u8], most: usize) -> Result<Batch, Refusal> {
        batch(body, most)
    }

    fn judged(
        &self,
        service: &Service,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<(Vec<Value>, usize), Refusal> {
        let (rows, known) = self.judge(&service.bench, &service.settings.options, stop)?;
        Ok((rows.iter().map(told_of).collect(), known))
    }
}

async fn judge<B: Judging>(State(service): State<Arc<Service>>, request: Request) -> Response {
    answer::<B>(service, request).await.unwrap_or_else(IntoResponse::into_response)
}

async fn answer<B: Judging>(service: Arc<Service>, request: Request) -> Result<Response, Refusal> {
    let limits = service.gate.limits;
    let place = Arc::clone(&service.queue).try_acquire_owned();
    let place = place.map_err(|_| Refusal::judges_busy(limits.queue, service.wait()))?;
    let (body, _answering) = service.gate.body(request).await?;
    let deadline = Instant::now() + limits.answer;
    let batch = B::read(&body, service.settings.most)?;
    // Closed when the request is dropped: its client has gone, or it took too long.
    let (gone, _here) = oneshot::channel::<()>();
    let judging = Arc::clone(&service);
    let judged = work(&service.slots, deadline, move || {
        let _place = place;
        let begun = std::time::Instant::now();
        let stop = || gone.is_closed();
        let (data, known) = judging.pool.install(|| batch.judged(&judging, &stop))?;
        judging.took(begun.elapsed(), data.len(), known);
        Ok(told(data, known).to_string())
    });
    Ok(said(timeout_at(deadline, judged).await.map_err(|_| Refusal::late())??))
}

impl Service {
    /// Seconds until a place is free, about.
    fn wait(&self) -> u64 {
        let seconds = *self.seconds.lock().unwrap_or_else(PoisonError::into_inner);
        (seconds / self.settings.slots as f64).clamp(1.0, LONGEST_WAIT).ceil() as u64
    }

    fn took(&self, time: Duration, candidates: usize, known: usize) {
        self.candidates.fetch_add(candidates as u64, Ordering::Relaxed);
        self.known.fetch_add(known as u64, Ordering::Relaxed);
        let mut seconds = self.seconds.lock().unwrap_or_else(PoisonError::into_inner);
        *seconds += NEWEST * (time.as_secs_f64() - *seconds);
    }
}

/// A request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    problems: BTreeMap<String, Given>,
    candidates: Vec<Candidate>,
}

/// A problem: a slow program; tests are pairs of input and output.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    slow: String,
    #[serde(default)]
    language: String,
    tests: Vec<(String, String)>,
    #[serde(default)]
    hidden: Vec<(String, String)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Candidate {
    problem: String,
    code: String,
}

/// What is asked, checked.
fn batch(body: &[u8], most: usize) -> Result<Batch, Refusal> {
    let Asked { problems, candidates } =
        serde_json::from_slice(body).map_err(|error| Refusal::wrong(&error.to_string()))?;
    if candidates.len() > most {
        let why =
            format!("has {} programs; a batch has at most {most} (--max-batch)", candidates.len());
        return Err(Refusal::parameter("candidates", &why));
    }
    let mut places = BTreeMap::new();
    let mut challenges = Vec::new();
    for (name, Given { slow, language, tests, hidden }) in problems {
        let shown: String = name.chars().take(100).collect();
        if tests.len() + hidden.len() > MOST_TESTS {
            let why = format!("has more than {MOST_TESTS} tests for `{shown}`");
            return Err(Refusal::parameter("problems", &why));
        }
        let language = Language::parse(&language).ok_or_else(|| {
            Refusal::parameter("language", &format!("of `{shown}` is neither C nor C++"))
        })?;
        let (visible, hidden) = (numbered(tests), numbered(hidden));
        places.insert(name, challenges.len());
        challenges.push(Challenge { slow, language, visible, hidden });
    }
    let placed = candidates.into_iter().map(|Candidate { problem, code }| {
        let place = places.get(&problem).copied().ok_or_else(|| {
            let shown: String = problem.chars().take(100).collect();
            Refusal::parameter(
                "candidates",
                &format!("names `{shown}`, which is none of the problems"),
            )
        });
        Ok((place?, unfenced(&code)))
    });
    let candidates = placed.collect::<Result<_, Refusal>>()?;
    Ok(Batch { challenges, candidates })
}

fn numbered(tests: Vec<(String, String)>) -> Vec<Test> {
    let test = |(number, (input, output)): (u64, (String, String))| Test {
        number,
        input: input.into_bytes(),
        output: output.into_bytes(),
    };
    (0..).zip(tests).map(test).collect()
}

/// What is answered about a program.
fn told_of(row: &Judgement) -> Value {
    let verdict = row.verdict.as_str();
    let is_cheat = CHEATS.iter().any(|cheat| cheat.name() == verdict);
    one(verdict, is_cheat, row.ratio().filter(|_| row.is_accepted()), &row.detail)
}

/// What is answered about any candidate; `speedup` is that of an accepted one.
fn one(verdict: &str, is_cheat: bool, speedup: Option<f64>, detail: &str) -> Value {
    let speedup = speedup.map(digits);
    let reward = if is_cheat { -1.0 } else { speedup.unwrap_or(0.0) };
    json!({
        "reward": reward, "verdict": verdict, "is_cheat": is_cheat, "speedup": speedup, "detail": detail,
    })
}

/// The answer: a judgement for each candidate, in their order; cheats are counted apart.
fn told(data: Vec<Value>, known: usize) -> Value {
    let mut verdicts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut cheats: BTreeMap<&str, u64> = BTreeMap::new();
    for one in &data {
        let counts = if one["is_cheat"] == true { &mut cheats } else { &mut verdicts };
        *counts.entry(one["verdict"].as_str().unwrap_or_default()).or_default() += 1;
    }
    let rewards: Vec<&Value> = data.iter().map(|one| &one["reward"]).collect();
    json!({
        "object": "judgements", "rewards": rewards, "data": data, "verdicts": verdicts, "cheats": cheats,
        "known": known,
    })
}

/// Six digits behind the point: what was kept is read with less than all of them.
fn digits(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(body: &Value) -> String {
        let refusal = batch(body.to_string().as_bytes(), 2).map(|_| ()).expect_err("it is refused");
        refusal.body()["error"]["message"].as_str().unwrap_or_default().to_owned()
    }

    #[test]
    fn a_batch_that_makes_no_sense_is_refused_by_name() {
        let problem = json!({"slow": "int main() {}", "tests": [["1", "2"]]});
        let asked =
            |candidates: Value| json!({"problems": {"p": problem}, "candidates": candidates});
        let one = json!({"problem": "p", "code": ""});
        let good = batch(asked(json!([one])).to_string().as_bytes(), 2).expect("it is understood");
        assert_eq!(good.candidates, [(0, String::new())]);
        assert_eq!(good.challenges[0].visible[0].output, b"2");
        assert!(refused(&asked(json!([one, one, one]))).contains("--max-batch"));
        assert!(refused(&asked(json!([{"problem": "q", "code": ""}]))).contains("`q`"));
        assert!(refused(&asked(json!([{"problem": "p", "cod": ""}]))).contains("`cod`"));
        let many: Vec<[&str; 2]> = vec![["", ""]; MOST_TESTS + 1];
        let body = json!({"problems": {"p": {"slow": "", "tests": many}}, "candidates": []});
        assert!(refused(&body).contains("1000 tests"));
        let body = json!({"problems": {"p": {"slow": "", "tests": [], "language": "Rust"}}, "candidates": []});
        assert!(refused(&body).contains("neither C nor C++"));
    }

    #[test]
    fn cheats_are_counted_apart() {
        let row = |verdict: &str| Judgement { verdict: verdict.into(), ..Judgement::default() };
        let fast = Judgement { src_seconds: Some(3.0), seconds: Some(1.5), ..row("accepted") };
        let rows = [fast, row("answer-table"), row("crashes")];
        let told = told(rows.iter().map(told_of).collect(), 1);
        assert_eq!(told["rewards"], json!([2.0, -1.0, 0.0]));
        assert_eq!(told["cheats"], json!({"answer-table": 1}));
        assert_eq!(told["verdicts"], json!({"accepted": 1, "crashes": 1}));
        assert_eq!(told["data"][2]["speedup"], Value::Null);
    }
}
