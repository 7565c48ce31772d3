use crate::{About, Address, Error, Event, Job, Order, Result, Role, STAGES, error, tools_of};
use dataset::{
    Progress, Url,
    stage::{Cancel, Context, Done, Elsewhere, Question, Shares, Stage, merge, share_name},
};
use host::Helper;
use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader, Read, Write},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
    time::{Duration, Instant},
};

/// Parts of a job for each task that a cluster does at a time: the last ones to end are a small share of the whole, and
/// a part that is made again, too.
const PARTS_PER_TASK: usize = 4;
/// Items of a part, about: a task remembers those of its part, so that its memory does not grow with the whole.
const ITEMS_OF_A_PART: usize = 25_000;
/// Each part reads the whole input once.
const MOST_PARTS: usize = 4096;
/// How often to look whether to stop.
const LOOK: Duration = Duration::from_millis(50);

/// A stage that is to run on a cluster.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The scheduler.
    pub address: Address,
    /// The command line, less what says where and how it runs.
    pub arguments: Vec<String>,
    /// In how many parts; else by the executors' number.
    pub parts: Option<u32>,
    /// Rows that are compared in this process; more are compared by the executors.
    pub keys: u64,
}

/// Compares rows by the executors of a cluster.
#[derive(Debug)]
pub struct OnExecutors {
    address: Address,
    most_here: u64,
    /// Of this machine.
    folder: PathBuf,
    /// Where executors find what is in it, where that is in an object store; it goes with the parts.
    url: Option<Url>,
    /// What was put there.
    there: Mutex<BTreeSet<PathBuf>>,
    cancel: Cancel,
}

impl OnExecutors {
    /// By those of the scheduler at `address`, which see `folder` by this path.
    #[must_use]
    pub fn at(address: Address, folder: PathBuf) -> OnExecutors {
        let (url, there, cancel) = (None, Mutex::default(), Cancel::default());
        OnExecutors { address, most_here: 0, folder, url, there, cancel }
    }

    /// Those of a job.
    fn of(asked: &Asked, shares: &Shares, cancel: Cancel) -> Result<OnExecutors> {
        let name = share_name(shares.job(), 0, 0);
        let url = Url::of(shares.folder())?.map(|url| url.join(&name));
        let folder = whole(&shares.home().join(&name))?;
        let most_here = asked.keys;
        let executors = OnExecutors::at(asked.address.clone(), folder);
        Ok(OnExecutors { most_here, url, cancel, ..executors })
    }

    /// Where executors find a file.
    fn place(&self, file: &Path) -> Result<PathBuf> {
        let Some(url) = &self.url else { return Ok(file.to_owned()) };
        let words = file.strip_prefix(&self.folder).unwrap_or(file).iter();
        let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
        // As objects of data sets are called, which are removed with the parts.
        let url = url.join(&format!("part-{}", words.join("-")));
        let mut there = self.there.lock().unwrap_or_else(PoisonError::into_inner);
        if !there.contains(file) {
            dataset::object_store()?.put_file(file, &url)?;
            there.insert(file.to_owned());
        }
        Ok(url.path())
    }
}

impl Elsewhere for OnExecutors {
    fn most_here(&self) -> u64 {
        self.most_here
    }

    fn folder(&self) -> PathBuf {
        self.folder.clone()
    }

    fn answer(&self, question: Question, out: &Path) -> std::result::Result<(), String> {
        let words = |error: Error| error.to_string();
        let question = question.of_files(|file| self.place(file)).map_err(words)?;
        let role = Role::Find { address: self.address.clone(), question, out: out.to_owned() };
        let mut child = start(&role, Stdio::null(), Stdio::piped()).map_err(words)?;
        let mut said = child.stderr.take().expect("standard error is piped");
        // It says no more than a pipe holds, at its end.
        let status = loop {
            if self.cancel.is_cancelled() {
                drop(child.stdin.take());
            }
            match child.try_wait() {
                Ok(None) => std::thread::sleep(LOOK),
                Ok(Some(status)) => break status,
                Err(error) => return Err(error.to_string()),
            }
        };
        if status.success() {
            return Ok(());
        }
        let mut text = String::new();
        // What cannot be read is not said.
        let _ = said.read_to_string(&mut text);
        Err(format!("stampmill-cluster ended with {status}: {}", text.trim()))
    }
}

/// Make a stage's data set on a cluster: its executors make the parts in a folder beside the data set to be, here they
/// are joined. The rows, their order and the bytes are those of [`dataset::stage::run`].
///
/// `about` says what this machine works with: executors must be like it. `joined` makes what else there is to be made of
/// the parts.
///
/// # Errors
/// Those of the stage; when there is no cluster, or one that would make other rows; when the cluster gave up.
pub fn run<S, E>(
    asked: &Asked,
    stage: &S,
    about: impl FnOnce() -> Result<About>,
    context: &Context<'_>,
    joined: impl FnOnce(&[PathBuf], &S::Summary) -> std::result::Result<(), E>,
) -> std::result::Result<Done<S::Summary>, E>
where
    S: Stage,
    E: From<Error> + From<S::Error>,
{
    let started = Instant::now();
    let of_dataset = |error: dataset::Error| S::Error::from(error);
    let tools = tools_of(S::NAME).ok_or_else(|| not_a_stage(S::NAME))?;
    let about = about()?;
    let at_a_time = willing(&asked.address, &about, tools)?;
    let total = stage.items()?.total;
    let wanted = asked.parts.unwrap_or_else(|| parts_of(total, at_a_time));
    let shares = Shares::begin(stage, &context.out, context.force, wanted)?;
    let missing = shares.missing().map_err(of_dataset)?;
    if !missing.is_empty() {
        let job = Job {
            address: asked.address.clone(),
            order: Order {
                about,
                stage: S::NAME.to_owned(),
                arguments: asked.arguments.clone(),
                folder: std::env::current_dir().map_err(error::machine("find this folder"))?,
                parts: whole(shares.folder())?,
                name: shares.job().to_owned(),
                count: shares.count(),
            },
            missing,
        };
        context.progress.begin(S::NAME, u64::from(shares.count()));
        let done = match drive(&job, context.progress, &context.cancel) {
            Ok(done) => done,
            Err(error) => {
                shares.discard_if_empty();
                return Err(error.into());
            }
        };
        if !done {
            let kept = shares.folder().to_owned();
            let error = dataset::Error::Cancelled { units: "parts", done: shares.ready(), kept };
            return Err(of_dataset(error).into());
        }
        let missing = shares.missing().map_err(of_dataset)?;
        if !missing.is_empty() {
            let why = format!(
                "{} of {} parts are not in {}, though they were made: is this folder, by the same path, the executors' too?",
                missing.len(),
                shares.count(),
                shares.folder().display()
            );
            return Err(Error::Failed(why).into());
        }
    }
    let paths: Vec<PathBuf> = shares.paths();
    let executors = OnExecutors::of(asked, &shares, context.cancel.clone())?;
    let context = Context { elsewhere: Some(Arc::new(executors)), ..context.clone() };
    let merged = match merge::<S>(&paths, &context) {
        Ok(merged) => merged,
        // Another client of the same job was faster, and has removed the parts.
        Err(_) if !context.force && dataset::is_there(&context.out).unwrap_or_default() => {
            return Err(of_dataset(dataset::Error::Exists(context.out)).into());
        }
        Err(error) => return Err(error.into()),
    };
    joined(&paths, &merged.summary)?;
    shares.remove().map_err(of_dataset)?;
    Ok(Done { seconds: started.elapsed().as_secs_f64(), ..merged })
}

/// A path that means the same in every folder.
fn whole(path: &Path) -> Result<PathBuf> {
    match dataset::is_url(path) {
        true => Ok(path.to_owned()),
        false => std::path::absolute(path).map_err(error::machine("find the folder of the parts")),
    }
}

fn not_a_stage(stage: &str) -> Error {
    let known: Vec<&str> = STAGES.iter().map(|(name, _)| *name).collect();
    Error::NotAStage { stage: stage.to_owned(), known: known.join(", ") }
}

/// How many tasks the executors do at a time, if all of them are like this machine.
fn willing(address: &Address, about: &About, tools: &[&str]) -> Result<usize> {
    let status = crate::status(address)?;
    let mut at_a_time = 0;
    for executor in status.active() {
        let differences = about.differences(&executor.heartbeat.about, tools);
        if !differences.is_empty() {
            let executor = executor.heartbeat.name.clone();
            return Err(Error::Differs { executor, differences: differences.join("; ") });
        }
        at_a_time += executor.heartbeat.tasks;
    }
    match at_a_time {
        0 => Err(Error::NoExecutors(address.url().to_owned())),
        at_a_time => Ok(at_a_time),
    }
}

/// Have the engine run a job and tell how it stands; false: it was asked to stop.
fn drive(job: &Job, progress: &dyn Progress, cancel: &Cancel) -> Result<bool> {
    let mut child = start(&Role::Client(job.clone()), Stdio::piped(), Stdio::inherit())?;
    let out = child.stdout.take().expect("standard output is piped");
    let (said, hear) = channel();
    // It ends with the engine.
    std::thread::spawn(move || {
        for line in BufReader::new(out).lines().map_while(std::result::Result::ok) {
            if said.send(line).is_err() {
                return;
            }
        }
    });
    let ended = listen(&hear, progress, cancel);
    // The end of its input asks it to stop, where it has not ended.
    drop(child.stdin.take());
    let status = child.wait().map_err(error::machine("wait for stampmill-cluster"))?;
    match ended {
        Ended::Done => Ok(true),
        Ended::Cancelled => Ok(false),
        Ended::Failed(why) => Err(Error::Failed(why)),
        Ended::Silently => {
            Err(Error::Failed(format!("stampmill-cluster ended without a word: {status}")))
        }
    }
}

enum Ended {
    Done,
    Cancelled,
    Failed(String),
    Silently,
}

fn listen(hear: &Receiver<String>, progress: &dyn Progress, cancel: &Cancel) -> Ended {
    let mut shown = 0;
    // What was lost and repeated: in the end people should still see it.
    let mut losses = String::new();
    loop {
        if cancel.is_cancelled() {
            return Ended::Cancelled;
        }
        let line = match hear.recv_timeout(LOOK) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => return Ended::Silently,
        };
        match serde_json::from_str(&line) {
            Ok(Event::Told { done, running, executors, lost, repeated }) => {
                progress.advance(done.saturating_sub(shown));
                shown = shown.max(done);
                let mut text = format!("{running} running on {executors} executors");
                if lost > 0 || repeated > 0 {
                    losses = format!("{lost} lost, {repeated} tasks repeated");
                    text += &format!(", {losses}");
                }
                progress.message(&text);
            }
            Ok(Event::Said(text)) => progress.message(&text),
            Ok(Event::Done) => {
                if !losses.is_empty() {
                    progress.note(&format!("executors: {losses}; the rows are the same"));
                }
                return Ended::Done;
            }
            Ok(Event::Failed(why)) => return Ended::Failed(why),
            Err(error) => {
                return Ended::Failed(format!("stampmill-cluster said {line:?}: {error}"));
            }
        }
    }
}

/// Start the engine in a role. It reads that from its standard input, which ends when it is to stop.
///
/// # Errors
/// When it is not here or cannot be started.
pub fn start(role: &Role, stdout: Stdio, stderr: Stdio) -> Result<Child> {
    let program = Helper::CLUSTER.find()?;
    let action = format!("start {}", program.display());
    let mut child = Command::new(&program)
        // What `ps` shows.
        .arg0(format!("{} {}", program.display(), role.name()))
        .stdin(Stdio::piped())
        .stdout(stdout)
        .stderr(stderr)
        // Ctrl-C of a terminal goes to this program alone, which then ends that one.
        .process_group(0)
        .spawn()
        .map_err(error::machine(&action))?;
    tracing::info!(program = %program.display(), process = child.id(), "the engine of clusters was started");
    let text = serde_json::to_string(role).expect("it has only names for keys");
    let input = child.stdin.as_mut().expect("standard input is piped");
    // One that ended already has said why, or its status does.
    let _ = writeln!(input, "{text}");
    Ok(child)
}

/// Parts of as many items, where they can be counted, on a cluster that does so many tasks at a time.
fn parts_of(items: Option<u64>, at_a_time: usize) -> u32 {
    let items = items.map(|items| usize::try_from(items).unwrap_or(usize::MAX));
    let many = items.map_or(0, |items| items.div_ceil(ITEMS_OF_A_PART));
    let wanted = (PARTS_PER_TASK * at_a_time).max(many);
    let wanted = wanted.min(items.unwrap_or(MOST_PARTS)).clamp(1, MOST_PARTS);
    u32::try_from(wanted).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::parts_of;

    #[test]
    fn parts_are_as_many_as_keep_tasks_busy_and_small() {
        let parts = |items, tasks| parts_of(items, tasks);
        assert_eq!([parts(Some(1_000), 2), parts(Some(3), 2), parts(Some(0), 2)], [8, 3, 1]);
        assert_eq!([parts(Some(1_000_000), 1), parts(Some(100_000), 2)], [40, 8]);
        assert_eq!([parts(Some(1 << 40), 1), parts(None, 2), parts(None, 5000)], [4096, 8, 4096]);
    }
}
