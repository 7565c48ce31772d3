//! `stampmill cluster`: the machines that stages with `--cluster` run on.

use crate::{Global, interrupt, output, tasks};
use anyhow::{Context, bail};
use cluster::{Address, ExecutorSettings, Role, Started, Token};
use std::{
    io::{BufRead, BufReader, Write},
    num::NonZeroUsize,
    path::PathBuf,
    process::{Child, ExitCode, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

/// Run a scheduler or executors for the stages that take --cluster, and see how they do
#[derive(clap::Args, Debug)]
#[command(after_help = help!("cluster"))]
pub(crate) struct Cluster {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand, Debug)]
enum Verb {
    /// Start a scheduler and executors on this machine, until Ctrl-C: for a try, and for tests
    Up {
        /// How many executors
        #[arg(long, value_name = "N", default_value = "2")]
        executors: NonZeroUsize,
        #[command(flatten)]
        scheduler: SchedulerFlags,
        #[command(flatten)]
        work: WorkFlags,
    },
    /// Start a scheduler: it hands out tasks
    Scheduler(SchedulerFlags),
    /// Start an executor: it does tasks, each in a process of its own
    Executor {
        /// The scheduler's address, as that prints it
        #[arg(long, value_name = "URL")]
        scheduler: String,
        /// A file with the token that the scheduler wants
        #[arg(long, value_name = "FILE")]
        token_file: Option<PathBuf>,
        /// The host or address of this machine by which other executors reach it
        #[arg(long, value_name = "HOST", default_value = "127.0.0.1")]
        host: String,
        #[command(flatten)]
        work: WorkFlags,
    },
    /// Show a scheduler's executors: version, tools, what they are at
    Status {
        /// The scheduler's address
        #[arg(
            long,
            value_name = "URL",
            default_value = "http://127.0.0.1:50050",
            alias = "cluster"
        )]
        scheduler: String,
        /// A file with the token that it wants
        #[arg(long, value_name = "FILE")]
        token_file: Option<PathBuf>,
    },
}

#[derive(clap::Args, Debug)]
struct SchedulerFlags {
    /// Where to listen; port 0 is a free one
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50050")]
    listen: String,
    /// A file with a token that whoever speaks to it must know; needed off loopback
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Silence after which an executor counts as lost, and its tasks are done by others
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = crate::duration::duration)]
    silence: Duration,
}

#[derive(clap::Args, Debug)]
struct WorkFlags {
    /// Tasks at a time; each uses --jobs threads
    #[arg(long, value_name = "N", default_value = "1")]
    tasks: NonZeroUsize,
    /// Memory that the executor itself takes to sort and group rows, of queries and of keys; the rest goes to disk.
    /// What stages need is beside that
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = crate::size::size)]
    memory: u64,
    /// The only folder in which inputs and outputs may be, or the URL of one in an object store; may be given several
    /// times
    #[arg(long, value_name = "DIR", default_value = ".")]
    root: Vec<PathBuf>,
}

/// An engine in a role, once it works.
struct Engine {
    name: &'static str,
    child: Child,
    started: Started,
}

/// How often to look whether one has ended.
const LOOK: Duration = Duration::from_millis(100);

impl Cluster {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        match self.verb {
            Verb::Status { scheduler, token_file } => {
                status(&address(&scheduler, token_file)?, global)
            }
            Verb::Scheduler(flags) => {
                let stop = interrupt::quiet_flag()?;
                let engine = flags.start()?;
                said(&engine, global)?;
                wait(vec![engine], &stop)
            }
            Verb::Executor { scheduler, token_file, host, work } => {
                let stop = interrupt::quiet_flag()?;
                let settings = work.settings(address(&scheduler, token_file)?, host, global)?;
                let engine = start(&Role::Executor(settings))?;
                said(&engine, global)?;
                wait(vec![engine], &stop)
            }
            Verb::Up { executors, scheduler, work } => {
                let stop = interrupt::quiet_flag()?;
                let first = scheduler.start()?;
                let token = scheduler.token_file.clone();
                let address = address(&first.started.url, token)?;
                let host = address.host().to_owned();
                let settings = work.settings(address, host, global)?;
                let mut engines = vec![first];
                for _ in 0..executors.get() {
                    engines.push(start(&Role::Executor(settings.clone()))?);
                }
                let url = engines[0].started.url.clone();
                let names: Vec<&Started> = engines[1..].iter().map(|one| &one.started).collect();
                let told = serde_json::json!({
                    "url": url, "pid": engines[0].started.pid, "executors": names,
                });
                output::report(global, &told, || {
                    output::line(&format!(
                        "a scheduler and {}: --cluster {url} (Ctrl-C ends them)",
                        output::some(names.len() as u64, "executor")
                    ))
                })?;
                wait(engines, &stop)
            }
        }
    }
}

fn address(url: &str, token_file: Option<PathBuf>) -> anyhow::Result<Address> {
    let token = token_file.as_deref().map(Token::read).transpose()?;
    Ok(Address::new(url, token)?)
}

impl SchedulerFlags {
    fn start(&self) -> anyhow::Result<Engine> {
        let parts = self.listen.rsplit_once(':');
        let parts = parts.and_then(|(host, port)| Some((host, port.parse::<u16>().ok()?)));
        let Some((host, port)) = parts else {
            bail!("--listen {}: write HOST:PORT, like 127.0.0.1:50050", self.listen);
        };
        let token = self.token_file.as_deref().map(Token::read).transpose()?;
        let silence = self.silence.as_secs().max(1);
        start(&Role::Scheduler { host: host.to_owned(), port, token, silence })
    }
}

impl WorkFlags {
    fn settings(
        &self,
        address: Address,
        host: String,
        global: &Global,
    ) -> anyhow::Result<ExecutorSettings> {
        let root = |root: &PathBuf| match dataset::Url::of(root)? {
            Some(url) => Ok(url.path()),
            None => root
                .canonicalize()
                .with_context(|| format!("cannot read --root {}", root.display())),
        };
        let roots = self.root.iter().map(root).collect::<anyhow::Result<_>>()?;
        Ok(ExecutorSettings {
            address,
            host,
            tasks: self.tasks.get(),
            jobs: global.jobs(),
            memory: self.memory,
            roots,
            about: tasks::about(&tasks::all_tools())?,
            allow_weak_sandbox: global.allow_weak_sandbox,
        })
    }
}

/// Start an engine and wait until it works.
fn start(role: &Role) -> anyhow::Result<Engine> {
    let mut child = cluster::start(role, Stdio::piped(), Stdio::inherit())?;
    let out = child.stdout.take().context("no standard output")?;
    let mut line = String::new();
    BufReader::new(out).read_line(&mut line).context("cannot read what stampmill-cluster says")?;
    match serde_json::from_str(&line) {
        Ok(started) => Ok(Engine { name: role.name(), child, started }),
        Err(_) => {
            // It said why on standard error, which is ours.
            let status = child.wait()?;
            bail!("stampmill-cluster did not start ({status}): see above");
        }
    }
}

fn said(engine: &Engine, global: &Global) -> anyhow::Result<()> {
    output::report(global, &engine.started, || {
        output::line(&format!("{} {} (Ctrl-C ends it)", engine.name, engine.started.url))
    })
}

/// Wait until the user stops them, or the last executor has ended. Which ended by itself is said.
fn wait(mut engines: Vec<Engine>, stop: &AtomicBool) -> anyhow::Result<ExitCode> {
    let of_one = engines.len() == 1;
    let (mut failed, mut why) = (false, None);
    while why.is_none() && !engines.is_empty() && !stop.load(Ordering::SeqCst) {
        std::thread::sleep(LOOK);
        for at in (0..engines.len()).rev() {
            let Some(status) = engines[at].child.try_wait()? else { continue };
            failed |= !status.success();
            let Engine { name, started: Started { url, pid }, .. } = engines.remove(at);
            // A terminal that is gone is no reason to stop.
            let _ = writeln!(std::io::stderr(), "{name} {url} (process {pid}) ended: {status}");
            if name == "scheduler" {
                why = Some("the scheduler has ended");
            }
        }
        if !of_one && engines.len() == 1 {
            why = why.or(Some("all executors have ended"));
        }
    }
    // The end of its input ends each; executors first, so that the scheduler hears of it.
    for engine in engines.iter_mut().rev() {
        drop(engine.child.stdin.take());
        failed |= !engine.child.wait()?.success();
    }
    match why {
        Some(why) if !of_one => {
            bail!("{why}; `stampmill cluster up` starts another cluster")
        }
        _ => Ok(if failed { ExitCode::from(2) } else { ExitCode::SUCCESS }),
    }
}

fn status(address: &Address, global: &Global) -> anyhow::Result<ExitCode> {
    let status = cluster::status(address)?;
    output::report(global, &status, || {
        let rows = status.executors.iter().map(|one| {
            let heartbeat = &one.heartbeat;
            let tools =
                heartbeat.about.tools.iter().map(|(name, version)| format!("{name}: {version}"));
            let state = match &heartbeat.leaving {
                Some(why) => format!("left: {why}"),
                None if one.state == "lost" => format!("lost {:.0} s ago", one.silent_seconds),
                None => one.state.clone(),
            };
            // What one that is gone was at is done by others.
            let running = heartbeat.running.join("\n");
            let running = if one.state == "active" { running } else { String::new() };
            vec![
                heartbeat.name.clone(),
                state,
                format!(
                    "{} {}",
                    heartbeat.about.version,
                    heartbeat.about.build.get(..8).unwrap_or_default()
                ),
                tools.collect::<Vec<_>>().join("\n"),
                running,
                output::count(heartbeat.done),
                output::count(heartbeat.faults),
            ]
        });
        let header = ["executor", "state", "version, build", "tools", "running", "done", "faults"];
        output::print_table(&header, rows)?;
        output::line(&format!(
            "{}, {}",
            output::some(status.active().count() as u64, "active executor"),
            output::some(status.jobs.len() as u64, "running job")
        ))
    })?;
    Ok(output::status(status.active().next().is_some()))
}
