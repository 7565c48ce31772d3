//! Tasks of an executor: each makes one part of a stage's data set in a process of its own.

use crate::stage::Made;
use cluster::{ExecutorSettings, Heartbeat, Order, tools_of};
use datafusion::error::{DataFusionError, Result};
use dataset::Url;
use rustix::process::{Pid, Signal, kill_process};
use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::sync::{Notify, oneshot};

/// Faults of this machine in a row, after which the executor leaves: others do its tasks.
const FAULTS_IN_A_ROW: u64 = 3;
/// How often to look whether a task has ended or is to end, at first.
const LOOK: Duration = Duration::from_millis(20);
/// The same of one that takes long.
const SELDOM: Duration = Duration::from_millis(200);
/// A task that was asked to end is ended after this.
const GRACE: Duration = Duration::from_secs(5);
/// Bytes of what a task that failed said last.
const SAID: u64 = 4 << 10;
/// The exit status by which a task says that it refuses what it was told: nobody would do it.
const REFUSED: i32 = 3;

/// Does the tasks of one executor.
#[derive(Debug)]
pub(crate) struct Runner {
    settings: ExecutorSettings,
    /// Identity of this executor.
    id: String,
    /// `stampmill`.
    program: PathBuf,
    /// Where what is to go to an object store comes to be.
    tries: PathBuf,
    running: Mutex<BTreeMap<u64, Running>>,
    next: AtomicU64,
    done: AtomicU64,
    faults: AtomicU64,
    in_a_row: AtomicU64,
    /// Why it leaves.
    leaving: Mutex<Option<String>>,
    pub(crate) leaves: Notify,
}

#[derive(Debug)]
struct Running {
    job: String,
    what: String,
    end: Arc<AtomicBool>,
    /// Answers of the scheduler since it began that did not name its job.
    unnamed: u32,
}

/// How a task's process ended.
enum Ended {
    By(ExitStatus),
    Stopped,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What no try would change.
fn refusal(why: String) -> DataFusionError {
    DataFusionError::Execution(format!("refused: {why}"))
}

/// What another machine, or a later try, may do.
fn fault(why: String) -> DataFusionError {
    DataFusionError::IoError(io::Error::other(why))
}

impl Runner {
    pub(crate) fn new(
        settings: ExecutorSettings,
        id: String,
        program: PathBuf,
        tries: PathBuf,
    ) -> Runner {
        Runner {
            settings,
            id,
            program,
            tries,
            running: Mutex::default(),
            next: AtomicU64::new(0),
            done: AtomicU64::new(0),
            faults: AtomicU64::new(0),
            in_a_row: AtomicU64::new(0),
            leaving: Mutex::default(),
            leaves: Notify::new(),
        }
    }

    /// Make a part, unless it is there.
    pub(crate) async fn make(self: Arc<Self>, order: &Order, part: u32, job: &str) -> Result<Made> {
        self.check(order, part)?;
        let (runner, asked) = (Arc::clone(&self), order.clone());
        // An object store may take its time.
        let made = tokio::task::spawn_blocking(move || runner.made(&asked, part)).await;
        if let Some(made) = made.map_err(|error| fault(error.to_string()))?? {
            return Ok(made);
        }
        let end = Arc::new(AtomicBool::new(false));
        let what = format!("{} {part}/{}", order.stage, order.count);
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let running = Running { job: job.to_owned(), what, end: Arc::clone(&end), unnamed: 0 };
        lock(&self.running).insert(number, running);
        // Where the task is dropped, its process is to end.
        let dropped = EndOnDrop(Arc::clone(&end));
        let (tell, hear) = oneshot::channel();
        let (runner, of_task) = (Arc::clone(&self), order.clone());
        // A thread of its own: that the process ends with this one is bound to the thread that started it.
        std::thread::spawn(move || {
            let done = runner.work(&of_task, part, &end);
            lock(&runner.running).remove(&number);
            // Nobody hears where the task was dropped.
            let _ = tell.send(done);
        });
        let done = hear.await.unwrap_or_else(|_| Err(fault("the task's thread is gone".into())));
        drop(dropped);
        match &done {
            Ok(_) => {
                self.in_a_row.store(0, Ordering::Relaxed);
                self.done.fetch_add(1, Ordering::Relaxed);
            }
            Err(DataFusionError::IoError(error)) => {
                self.faults.fetch_add(1, Ordering::Relaxed);
                if self.in_a_row.fetch_add(1, Ordering::Relaxed) + 1 >= FAULTS_IN_A_ROW {
                    self.leave(format!(
                        "its machine failed {FAULTS_IN_A_ROW} times in a row, last: {error}"
                    ));
                }
            }
            Err(_) => {}
        }
        done
    }

    /// Have the executor leave the cluster.
    pub(crate) fn leave(&self, why: String) {
        lock(&self.leaving).get_or_insert(why);
        self.leaves.notify_one();
    }

    /// Why it leaves, if it does.
    pub(crate) fn leaving(&self) -> Option<String> {
        lock(&self.leaving).clone()
    }

    /// Refuse what would make other rows than on the client's machine, or is not this executor's to do.
    fn check(&self, order: &Order, part: u32) -> Result<()> {
        let Some(tools) = tools_of(&order.stage) else {
            return Err(refusal(format!("`{}` is no stage of a cluster", order.stage)));
        };
        let differences = order.about.differences(&self.settings.about, tools);
        if !differences.is_empty() {
            let (host, differences) = (&self.settings.host, differences.join("; "));
            return Err(refusal(format!(
                "executor {host} is not like the client's machine ({differences})"
            )));
        }
        if !(1..=order.count).contains(&part) {
            return Err(refusal(format!("there is no part {part} of {}", order.count)));
        }
        let is_plain =
            |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_plain(&order.name) {
            return Err(refusal(format!("`{}` is no job's name", order.name)));
        }
        if dataset::is_url(&order.parts) {
            return self.check_inside(&order.parts);
        }
        for folder in [&order.folder, &order.parts] {
            self.check_inside(folder)?;
        }
        Ok(())
    }

    fn check_inside(&self, folder: &Path) -> Result<()> {
        let roots = &self.settings.roots;
        let url = |path: &Path| Url::of(path).map_err(|error| refusal(error.to_string()));
        let is_inside = match url(folder)? {
            Some(found) => roots
                .iter()
                .any(|root| matches!(Url::of(root), Ok(Some(root)) if found.is_in(&root))),
            None => {
                let found = folder.canonicalize().map_err(|error| {
                    fault(format!(
                        "executor {} cannot read {}: {error}",
                        self.settings.host,
                        folder.display()
                    ))
                })?;
                roots.iter().any(|root| found.starts_with(root))
            }
        };
        if is_inside {
            return Ok(());
        }
        let roots: Vec<String> = roots.iter().map(|root| root.display().to_string()).collect();
        Err(refusal(format!(
            "{} is not in {}, the only folder of executor {} (--root)",
            folder.display(),
            roots.join(", "),
            self.settings.host
        )))
    }

    /// Where a task works: in the client's folder, if that is one of this executor's.
    fn folder<'a>(&'a self, order: &'a Order) -> &'a Path {
        match self.check_inside(&order.folder) {
            Ok(()) => &order.folder,
            Err(_) => &self.tries,
        }
    }

    /// What a part comes to that is there already.
    fn made(&self, order: &Order, part: u32) -> Result<Option<Made>> {
        let manifest = order.part(part).join("_dataset.json");
        let text = match dataset::manifest_text(&order.part(part)) {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(None),
            Err(error) => {
                return Err(fault(format!("cannot read {}: {error}", manifest.display())));
            }
        };
        let told: serde_json::Value = serde_json::from_slice(&text)
            .map_err(|error| fault(format!("{} is damaged: {error}", manifest.display())))?;
        Ok(Some(Made {
            part,
            rows: told["rows"].as_u64().unwrap_or_default(),
            hash: told["identity"].as_str().unwrap_or_default().to_owned(),
            host: self.settings.host.clone(),
        }))
    }

    fn work(&self, order: &Order, part: u32, end: &AtomicBool) -> Result<Made> {
        let machine = |error: io::Error| fault(format!("executor {}: {error}", self.settings.host));
        let mut said = tempfile::tempfile().map_err(machine)?;
        let ended = self.process(order, part, end, &said).map_err(machine)?;
        let what = format!("part {part}/{} of {}", order.count, order.stage);
        let status = match ended {
            Ended::Stopped => return Err(fault(format!("{what} was stopped"))),
            Ended::By(status) => status,
        };
        if let (Some(0 | 1), Some(made)) = (status.code(), self.made(order, part)?) {
            return Ok(made);
        }
        let text = tail(&mut said).map_err(machine)?;
        let told = format!("{what} on executor {} ended with {status}: {text}", self.settings.host);
        match status.code() {
            Some(REFUSED) => Err(refusal(told)),
            _ => Err(fault(told)),
        }
    }

    /// Start a task's process and wait for it.
    fn process(
        &self,
        order: &Order,
        part: u32,
        end: &AtomicBool,
        said: &File,
    ) -> io::Result<Ended> {
        let settings = &self.settings;
        let mut command = Command::new(&self.program);
        command
            .args(["worker", "part", "--quiet", "--json"])
            .args(["--jobs", &settings.jobs.to_string()])
            .args(settings.roots.iter().flat_map(|root| [OsStr::new("--root"), root.as_os_str()]))
            .arg("--tries")
            .arg(&self.tries)
            .arg("--place")
            .arg(order.part(part))
            .args(["--share", &format!("{part}/{}", order.count)])
            .args(["--try", &self.id])
            .args(["--parent", &std::process::id().to_string()]);
        if settings.allow_weak_sandbox {
            command.arg("--allow-weak-sandbox");
        }
        let mut child = command
            .arg("--stage")
            .arg(&order.stage)
            .arg("--")
            .args(&order.arguments)
            .current_dir(self.folder(order))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(said.try_clone()?)
            .spawn()?;
        let begun = Instant::now();
        let mut asked: Option<Instant> = None;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(if asked.is_some() { Ended::Stopped } else { Ended::By(status) });
            }
            match asked {
                None if end.load(Ordering::Relaxed) => {
                    asked = Some(Instant::now());
                    // It may have ended meanwhile.
                    let _ = kill_process(Pid::from_child(&child), Signal::TERM);
                }
                Some(since) if since.elapsed() > GRACE => {
                    let _ = child.kill();
                }
                _ => {}
            }
            std::thread::sleep((begun.elapsed() / 100).clamp(LOOK, SELDOM));
        }
    }

    /// What the scheduler is told.
    pub(crate) fn heartbeat(&self, port: u16) -> Heartbeat {
        Heartbeat {
            id: self.id.clone(),
            name: format!("{}:{port}", self.settings.host),
            about: self.settings.about.clone(),
            tasks: self.settings.tasks,
            running: lock(&self.running).values().map(|running| running.what.clone()).collect(),
            done: self.done.load(Ordering::Relaxed),
            faults: self.faults.load(Ordering::Relaxed),
            leaving: self.leaving(),
        }
    }

    /// End the tasks of jobs that do not go on: two answers in a row must leave them out, since one may be older than
    /// the task.
    pub(crate) fn keep(&self, jobs: Vec<String>) {
        let jobs: BTreeSet<String> = jobs.into_iter().collect();
        for running in lock(&self.running).values_mut() {
            if jobs.contains(&running.job) {
                running.unnamed = 0;
                continue;
            }
            running.unnamed += 1;
            if running.unnamed > 1 {
                running.end.store(true, Ordering::Relaxed);
            }
        }
    }

    /// End all tasks, and wait until they have.
    pub(crate) fn end(&self) {
        let begun = Instant::now();
        loop {
            let left = lock(&self.running).values().fold(0, |left, running| {
                running.end.store(true, Ordering::Relaxed);
                left + 1
            });
            if left == 0 || begun.elapsed() > 2 * GRACE {
                return;
            }
            std::thread::sleep(LOOK);
        }
    }
}

struct EndOnDrop(Arc<AtomicBool>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The last that a task said.
fn tail(said: &mut File) -> io::Result<String> {
    let length = said.seek(SeekFrom::End(0))?;
    said.seek(SeekFrom::Start(length.saturating_sub(SAID)))?;
    let mut bytes = Vec::new();
    said.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
}
