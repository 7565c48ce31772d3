use crate::{About, Address, Result, Token};
use dataset::{Url, stage::Question};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, path::PathBuf};

/// What a task is told: the part's number comes beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The client's machine: an executor that differs refuses.
    pub about: About,
    /// The stage.
    pub stage: String,
    /// Its command line, less what says where and how it runs.
    pub arguments: Vec<String>,
    /// The client's working folder, which relative paths are of.
    pub folder: PathBuf,
    /// The folder of the parts, or its URL.
    pub parts: PathBuf,
    /// How the parts' names begin: the job's hash.
    pub name: String,
    /// How many parts there are.
    pub count: u32,
}

impl Order {
    /// Where a part comes to be, and stands once it is whole.
    #[must_use]
    pub fn part(&self, index: u32) -> PathBuf {
        self.parts.join(dataset::stage::share_name(&self.name, index, self.count))
    }

    /// Which of these parts are whole, at a glance.
    ///
    /// # Errors
    /// When an object store does not say what it holds.
    pub fn made(&self, parts: &[u32]) -> Result<Vec<u32>> {
        let Some(url) = Url::of(&self.parts)? else {
            let is_there = |part: &u32| dataset::Dataset::is_at(&self.part(*part));
            return Ok(parts.iter().copied().filter(is_there).collect());
        };
        let store = dataset::object_store()?;
        // One question for all tells which are begun.
        let begun: BTreeSet<String> = store.names(&url)?.into_iter().collect();
        let mut made = Vec::new();
        for part in parts {
            let name = dataset::stage::share_name(&self.name, *part, self.count);
            if begun.contains(&name) && store.has(&url.join(&name))? {
                made.push(*part);
            }
        }
        Ok(made)
    }
}

/// What the client asks the engine for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// The scheduler.
    pub address: Address,
    /// What each task does.
    pub order: Order,
    /// The parts that are to be made.
    pub missing: Vec<u32>,
}

/// What the client hears of its job, one JSON object a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// How it stands.
    Told {
        /// Parts that are whole.
        done: u64,
        /// Tasks that are being done.
        running: u64,
        /// Executors that work.
        executors: u64,
        /// Executors that fell silent since the job began.
        lost: u64,
        /// Tasks that were begun again.
        repeated: u64,
    },
    /// Something a person wants to know, once.
    Said(String),
    /// All parts are there.
    Done,
    /// It came to nothing.
    Failed(String),
}

/// Which side the engine is to be, and its settings.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Hands out tasks.
    Scheduler {
        /// Host to listen at.
        host: String,
        /// Port to listen at; 0: a free one.
        port: u16,
        /// What whoever speaks to it must know.
        token: Option<Token>,
        /// Seconds of silence after which an executor counts as lost.
        silence: u64,
    },
    /// Does tasks.
    Executor(ExecutorSettings),
    /// Runs a stage.
    Client(Job),
    /// Answers a query: rows go to standard output as Arrow's IPC format has them.
    Query {
        /// The scheduler.
        address: Address,
        /// One SELECT.
        sql: String,
        /// Tables: names, and the Parquet files of each.
        tables: Vec<(String, Vec<PathBuf>)>,
    },
    /// Finds what can be said of rows only when all are looked at.
    Find {
        /// The scheduler.
        address: Address,
        /// What is asked of which files.
        question: Question,
        /// The Parquet file to make.
        out: PathBuf,
    },
}

impl Role {
    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Role::Scheduler { .. } => "scheduler",
            Role::Executor(_) => "executor",
            Role::Client(_) => "client",
            Role::Query { .. } => "query",
            Role::Find { .. } => "find",
        }
    }
}

/// How an executor works.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExecutorSettings {
    /// The scheduler.
    pub address: Address,
    /// The host that it listens at, and that others reach it by.
    pub host: String,
    /// Tasks at a time.
    pub tasks: usize,
    /// Threads of each.
    pub jobs: usize,
    /// Bytes that what it sorts and groups by itself takes in memory; the rest goes to disk.
    pub memory: u64,
    /// Nothing outside of these folders, and below these URLs of object stores, is named by what it is told to do.
    pub roots: Vec<PathBuf>,
    /// What its machine works with.
    pub about: About,
    /// Whether programs may run in a weak sandbox.
    pub allow_weak_sandbox: bool,
}

/// The line that a scheduler or an executor prints once it works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    /// Its address, or its name.
    pub url: String,
    /// Its process.
    pub pid: u32,
}
