use crate::{About, Address, Error, Result};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::time::Duration;

/// A scheduler answers at once or not at all.
const PATIENCE: Duration = Duration::from_secs(10);

/// What an executor says of itself, every few seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Heartbeat {
    /// Its identity, drawn when it starts.
    pub id: String,
    /// `HOST:PORT`.
    pub name: String,
    /// What it works with.
    pub about: About,
    /// Tasks that it does at a time.
    pub tasks: usize,
    /// Those that it is at, in words.
    pub running: Vec<String>,
    /// How many it did.
    pub done: u64,
    /// How often its machine failed.
    pub faults: u64,
    /// Why it leaves, if it does.
    pub leaving: Option<String>,
}

/// What it hears.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Jobs that go on: tasks of others are to end.
    pub jobs: Vec<String>,
}

/// An executor as the scheduler knows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Executor {
    /// What it said last.
    #[serde(flatten)]
    pub heartbeat: Heartbeat,
    /// `active`, `lost` (it fell silent) or `left`.
    pub state: String,
    /// Seconds since it was heard.
    pub silent_seconds: f64,
    /// How often it was silent for so long that its work was, or may have been, given to others.
    pub losses: u64,
}

/// What a scheduler knows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Its version of Stampmill.
    pub version: String,
    /// All executors that it ever heard.
    pub executors: Vec<Executor>,
    /// Jobs that go on.
    pub jobs: Vec<String>,
}

impl Status {
    /// Executors that work.
    pub fn active(&self) -> impl Iterator<Item = &Executor> {
        self.executors.iter().filter(|executor| executor.state == "active")
    }

    /// How many fell silent.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.executors.iter().filter(|executor| executor.state == "lost").count() as u64
    }
}

/// Ask a scheduler for its executors.
///
/// # Errors
/// When it is not there, wants another token, or is something else.
pub fn status(address: &Address) -> Result<Status> {
    ask(address, "status", None)
}

/// Say that an executor lives.
///
/// # Errors
/// As [`status`].
pub fn beat(address: &Address, heartbeat: &Heartbeat) -> Result<Answer> {
    let text = serde_json::to_string(heartbeat).expect("it has only names for keys");
    ask(address, "executors", Some(text))
}

fn ask<T: DeserializeOwned>(address: &Address, path: &str, body: Option<String>) -> Result<T> {
    let url = address.url().to_owned();
    let config = ureq::Agent::config_builder()
        .timeout_global(Some(PATIENCE))
        .http_status_as_error(false)
        .proxy(None);
    let agent: ureq::Agent = config.build().into();
    let at = format!("{url}/stampmill/{path}");
    let token = address.token.as_ref().map(|token| format!("Bearer {}", token.text()));
    let answer = match body {
        None => {
            let request = agent.get(&at);
            match token {
                Some(token) => request.header("authorization", token).call(),
                None => request.call(),
            }
        }
        Some(body) => {
            let request = agent.post(&at).header("content-type", "application/json");
            match token {
                Some(token) => request.header("authorization", token).send(body),
                None => request.send(body),
            }
        }
    };
    let no_scheduler = |why: String| Error::NoScheduler { url: url.clone(), why };
    let mut answer = answer.map_err(|error| no_scheduler(error.to_string()))?;
    let text = answer.body_mut().read_to_string();
    let text = text.map_err(|error| no_scheduler(error.to_string()))?;
    let said: String = text.trim().chars().take(300).collect();
    match answer.status().as_u16() {
        200 => serde_json::from_str(&text)
            .map_err(|error| Error::NotAScheduler { url, why: error.to_string() }),
        401 => Err(Error::Refused { url, why: said }),
        409 => Err(Error::Failed(said)),
        status => Err(Error::NotAScheduler { url, why: format!("{status} {said}") }),
    }
}
