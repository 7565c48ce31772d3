//! `stampmill-cluster`: stages and queries on several machines, the only user of Ballista.
//!
//! `stampmill` starts it. Its role ([`cluster::Role`]) is the first line of its standard input, in JSON; where that
//! input ends, it ends. A scheduler and an executor print one line once they work ([`cluster::Started`]), a client its
//! events ([`cluster::Event`]), a query its rows as Arrow's IPC format has them. What went wrong goes to standard
//! error, with exit status 2.

mod client;
mod codec;
mod error;
mod executor;
mod families;
mod find;
mod guard;
mod losses;
mod query;
mod runner;
mod scheduler;
mod scratch;
mod stage;
mod store;
mod token;

use cluster::Role;
use error::Error;
use std::{
    io::{BufRead, Write},
    process::ExitCode,
};
use tokio::sync::watch;

/// Raised when the program is to end.
type Stop = watch::Receiver<bool>;

fn main() -> ExitCode {
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("off")).init();
    dataset::object_stores_by(objects::Objects::new(host::cache().join("objects")));
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let error = match &error {
                Error::Sql(_) | Error::Ballista(_) => {
                    advised(client::innermost(&error.to_string()))
                }
                error => error.to_string(),
            };
            // Standard error may be gone.
            let _ = writeln!(std::io::stderr(), "stampmill-cluster: {error}");
            ExitCode::from(2)
        }
    }
}

/// What to do about an executor's memory: joins by hashes hold one side, and do not go to disk.
fn advised(error: String) -> String {
    match error.contains("Resources exhausted") {
        true => format!("{error}; start the executors with more --memory"),
        false => error,
    }
}

fn run() -> Result<(), Error> {
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(Error::Machine)?;
    let role: Role = serde_json::from_str(&line).map_err(|_| Error::Usage)?;
    let (raise, stop) = watch::channel(false);
    std::thread::spawn(move || {
        let mut rest = String::new();
        while std::io::stdin().lock().read_line(&mut rest).is_ok_and(|read| read > 0) {
            rest.clear();
        }
        // Whoever listens may have ended.
        let _ = raise.send(true);
    });
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(Error::Machine)?;
    let done = runtime.block_on(async {
        match role {
            Role::Scheduler { host, port, token, silence } => {
                scheduler::run(&host, port, token, silence, stop).await
            }
            Role::Executor(settings) => executor::run(settings, stop).await,
            Role::Client(job) => client::run(job, stop).await,
            Role::Query { address, sql, tables } => query::run(&address, &sql, &tables, stop).await,
            Role::Find { address, question, out } => {
                find::run(&address, &question, &out, stop).await
            }
        }
    });
    // Calls that hang do not hold it up.
    runtime.shutdown_background();
    done
}

/// Wait until the program is to end.
async fn stopped(stop: &mut Stop) {
    // Where nobody can raise it any more, it is raised.
    let _ = stop.wait_for(|raised| *raised).await;
}

/// Print a line for whoever started this program.
fn say(text: &impl serde::Serialize) -> Result<(), Error> {
    let text = serde_json::to_string(text).expect("it has only names for keys");
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).map_err(Error::Machine)
}
