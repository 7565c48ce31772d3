//! The folder that a trial lives in, its commands, and what there is after them.

use crate::stage::{Rows, Stage};
use serde::{Deserialize, Serialize};
use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;

pub(crate) const STAMPMILL: &str = env!("CARGO_BIN_EXE_stampmill");
/// Names the folder in which the trials of a stage find its input and what its uninterrupted run gave.
pub(crate) const SHARED: &str = "STAMPMILL_TRIALS";
/// More than any command of these takes; what takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(180);
/// After the end of a command nothing of it runs for longer: a busy kernel takes seconds to clear up namespaces.
const GRACE: Duration = Duration::from_secs(30);

pub(crate) struct Home {
    _folder: TempDir,
    /// Where it is seen: at the same place by all trials, each in its own mount namespace.
    seen_at: PathBuf,
}

/// A command that was started, and where its words go.
pub(crate) struct Running {
    pub(crate) child: Child,
    begun: Instant,
    errors: PathBuf,
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) said: String,
    pub(crate) took: Duration,
}

impl Ended {
    /// In words, for messages.
    pub(crate) fn told(&self) -> String {
        let said: String = self.said.chars().take(600).collect();
        format!("{} after {:.1?}, which said {said:?}", self.status, self.took)
    }
}

/// Run a line of the shell, for what it prints.
pub(crate) fn run_by(line: &str) -> String {
    let output = Command::new("sh").args(["-c", line]).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
}

pub(crate) fn put(home: &Home, name: &str, text: &str) {
    let path = home.path().join(name);
    fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder");
    fs::write(path, text).expect("a file");
}

/// The folder that all trials see, if they share what the first of a stage makes.
fn shared() -> Option<PathBuf> {
    std::env::var_os(SHARED).map(Into::into)
}

/// Held while the first trial of a stage makes what the others find; it goes with the file.
fn lock(shared: &Path, stage: &Stage) -> File {
    let file = File::create(shared.join(format!("{}.lock", stage.name))).expect("a file");
    file.lock().expect("a lock");
    file
}

/// All that is in a folder, with its times, into another.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    let copied = Command::new("cp").arg("-a").arg(from.join(".")).arg(to).status();
    assert!(copied.is_ok_and(|status| status.success()), "{} is copied", from.display());
}

impl Home {
    /// A folder with the input of `stage`, which its first trial makes.
    pub(crate) fn new(stage: &Stage) -> Home {
        let folder = tempfile::tempdir().expect("a folder");
        let Some(shared) = shared() else {
            let home = Home { seen_at: folder.path().to_owned(), _folder: folder };
            home.make_input(stage);
            return home;
        };
        let seen_at = shared.join("home");
        fs::create_dir_all(&seen_at).expect("a folder");
        let mut bind = Command::new("mount");
        bind.arg("--bind").args([folder.path(), &seen_at]);
        assert!(bind.status().is_ok_and(|status| status.success()), "a mount");
        let home = Home { _folder: folder, seen_at };
        let _lock = lock(&shared, stage);
        let kept = shared.join(format!("{}.input", stage.name));
        if kept.exists() {
            copy(&kept, home.path());
        } else {
            home.make_input(stage);
            copy(home.path(), &kept);
        }
        home
    }

    fn make_input(&self, stage: &Stage) {
        self.reset().expect("folders");
        (stage.input)(self);
        self.reset().expect("folders");
    }

    pub(crate) fn path(&self) -> &Path {
        &self.seen_at
    }

    /// Forget all results.
    pub(crate) fn reset(&self) -> io::Result<()> {
        for name in ["made", "cache", "scratch"] {
            let folder = self.path().join(name);
            if folder.exists() {
                fs::remove_dir_all(&folder)?;
            }
            fs::create_dir(&folder)?;
        }
        Ok(())
    }

    pub(crate) fn copy(&self, from: &Path, name: &str) {
        let to = self.path().join(name);
        let copied = Command::new("cp").arg("-rL").arg(from).arg(&to).status();
        assert!(copied.is_ok_and(|status| status.success()), "{} is copied", from.display());
    }

    fn command(&self, before: &[&str]) -> Command {
        let mut command = match before.split_first() {
            None => Command::new(STAMPMILL),
            Some((first, rest)) => {
                let mut command = Command::new(first);
                command.args(rest).arg(STAMPMILL);
                command
            }
        };
        command
            .current_dir(self.path())
            .env("TMPDIR", self.path().join("scratch"))
            .env("STAMPMILL_CACHE", self.path().join("cache"))
            .env("XDG_CACHE_HOME", self.path().join("cache"))
            .stdin(Stdio::null());
        command
    }

    /// Run a command that sets something up.
    pub(crate) fn must(&self, line: &str) {
        self.must_words(&line.split_whitespace().collect::<Vec<_>>());
    }

    pub(crate) fn must_words(&self, words: &[&str]) {
        let output = self.command(&[]).args(words).output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {said}");
    }

    /// Run a command, for its exit status and what it prints: its words where it failed.
    pub(crate) fn ends(&self, words: &[String]) -> Result<(Option<i32>, String), String> {
        let output = self.command(&[]).args(words).output().map_err(|error| error.to_string())?;
        let said = if output.status.success() { output.stdout } else { output.stderr };
        Ok((output.status.code(), String::from_utf8_lossy(&said).into_owned()))
    }

    /// Start a stage's command, behind the words `before`.
    pub(crate) fn start(&self, stage: &Stage, before: &[&str]) -> io::Result<Running> {
        let errors = self.path().join("said");
        let mut command = self.command(before);
        command.args(stage.command.split_whitespace()).stdout(Stdio::null());
        let child = command.stderr(File::create(&errors)?).spawn()?;
        Ok(Running { child, begun: Instant::now(), errors })
    }

    /// Run it to its end.
    pub(crate) fn run(&self, stage: &Stage, before: &[&str]) -> Result<Ended, String> {
        let running = self.start(stage, before).map_err(|error| error.to_string())?;
        running.end()
    }

    /// Run it to its end, which must be a good one.
    pub(crate) fn run_well(&self, stage: &Stage) -> Result<Duration, String> {
        let ended = self.run(stage, &[])?;
        match ended.status.success() {
            true => Ok(ended.took),
            false => Err(format!("the command ended with {}", ended.told())),
        }
    }

    /// What of the result must be equal, as sorted lines.
    pub(crate) fn rows(&self, stage: &Stage) -> Result<Vec<String>, String> {
        let mut lines: Vec<String> = match stage.rows {
            Rows::Query(sql) => {
                let words = ["query", sql, "d=made/out", "--format", "jsonl"];
                let output = self.command(&[]).args(words).output().map_err(|e| e.to_string())?;
                if !output.status.success() {
                    let said = String::from_utf8_lossy(&output.stderr);
                    return Err(format!("the result cannot be read: {said}"));
                }
                let text = String::from_utf8_lossy(&output.stdout).into_owned();
                text.lines().map(str::to_owned).collect()
            }
            Rows::Files { but } => {
                let made = self.path().join("made");
                let mut lines = Vec::new();
                files(&made, &mut |path| {
                    let name = path.strip_prefix(&made).unwrap_or(path).display().to_string();
                    if !but.iter().any(|but| name.ends_with(but)) {
                        let bytes = fs::read(path).unwrap_or_default();
                        lines.push(format!("{name}: {}", String::from_utf8_lossy(&bytes)));
                    }
                });
                lines
            }
        };
        lines.sort();
        match lines.is_empty() {
            true => Err("there are no rows".into()),
            false => Ok(lines),
        }
    }

    /// The identity of the data set: a hash over what it holds.
    pub(crate) fn identity(&self) -> Option<String> {
        let text = fs::read(self.path().join("made/out/_dataset.json")).ok()?;
        let manifest: serde_json::Value = serde_json::from_slice(&text).ok()?;
        manifest["identity"].as_str().map(str::to_owned)
    }

    /// What lies about that should not.
    pub(crate) fn leftovers(&self, stage: &Stage) -> Vec<String> {
        let names = |folder: &str| {
            let entries = fs::read_dir(self.path().join(folder)).into_iter().flatten().flatten();
            entries
                .map(|entry| entry.file_name().to_string_lossy().into_owned())
                .collect::<Vec<_>>()
        };
        let mut all: Vec<String> =
            names("scratch").into_iter().map(|name| format!("TMPDIR/{name}")).collect();
        let expected = |name: &String| name == "out" || stage.beside.contains(&name.as_str());
        all.extend(names("made").into_iter().filter(|name| !expected(name)));
        all
    }

    /// The difference to what it should be, in words.
    pub(crate) fn compare(&self, stage: &Stage, straight: &Straight) -> Result<(), String> {
        let rows = self.rows(stage)?;
        if rows != straight.rows {
            let lost: Vec<_> = straight.rows.iter().filter(|row| !rows.contains(row)).collect();
            let new: Vec<_> = rows.iter().filter(|row| !straight.rows.contains(row)).collect();
            let first = |rows: &[&String]| -> String {
                rows.first().map_or("none".into(), |row| row.chars().take(700).collect())
            };
            return Err(format!(
                "{} rows of {} are not as they were; one was {}; one is {}",
                lost.len().max(new.len()),
                straight.rows.len(),
                first(&lost),
                first(&new)
            ));
        }
        if straight.identity.is_some() && straight.identity != self.identity() {
            return Err("the rows are equal, but the parts' bytes are not".into());
        }
        Ok(())
    }
}

/// What an uninterrupted run gives.
#[derive(Deserialize, Serialize)]
pub(crate) struct Straight {
    pub(crate) rows: Vec<String>,
    /// Set where two such runs have the same.
    pub(crate) identity: Option<String>,
    pub(crate) took: Duration,
}

impl Straight {
    /// What the first trial of the stage found.
    pub(crate) fn of(home: &Home, stage: &Stage) -> Result<Straight, String> {
        let Some(shared) = shared() else { return Straight::found(home, stage) };
        let _lock = lock(&shared, stage);
        let kept = shared.join(format!("{}.json", stage.name));
        if let Ok(text) = fs::read(&kept) {
            return serde_json::from_slice(&text).map_err(|error| error.to_string());
        }
        let straight = Straight::found(home, stage)?;
        let text = serde_json::to_vec(&straight).map_err(|error| error.to_string())?;
        fs::write(&kept, text).map_err(|error| error.to_string())?;
        Ok(straight)
    }

    /// Two uninterrupted runs, which must agree.
    fn found(home: &Home, stage: &Stage) -> Result<Straight, String> {
        let told = |problem: String| format!("uninterrupted: {problem}");
        home.run_well(stage).map_err(told)?;
        let (rows, identity) = (home.rows(stage).map_err(told)?, home.identity());
        // Rows that agree in that nothing worked would prove nothing.
        let with = |text: &str| rows.iter().any(|row| row.contains(text));
        if with("\"verdict\":\"") && !with("\"verdict\":\"accepted\"") {
            let first = rows.first().map_or("", |row| row.as_str());
            return Err(format!("uninterrupted: no row is accepted; the first is {first}"));
        }
        home.reset().map_err(|error| error.to_string())?;
        let took = home.run_well(stage).map_err(told)?;
        let identity = identity.filter(|first| home.identity().as_ref() == Some(first));
        let straight = Straight { rows, identity, took };
        home.compare(stage, &straight).map_err(told)?;
        let left = home.leftovers(stage);
        if !left.is_empty() {
            return Err(format!("uninterrupted: left over: {}", left.join(", ")));
        }
        home.reset().map_err(|error| error.to_string())?;
        Ok(straight)
    }
}

impl Running {
    /// Wait for its end.
    pub(crate) fn end(mut self) -> Result<Ended, String> {
        loop {
            if let Some(status) = self.child.try_wait().map_err(|error| error.to_string())? {
                let said = fs::read(&self.errors).unwrap_or_default();
                let said = String::from_utf8_lossy(&said).trim().to_owned();
                return Ok(Ended { status, said, took: self.begun.elapsed() });
            }
            if self.begun.elapsed() > PATIENCE {
                let _ = self.child.kill();
                let _ = self.child.wait();
                return Err(format!("the command hangs: no end after {PATIENCE:?}"));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Whether it handles SIGINT and SIGTERM (2 and 15) by now.
    pub(crate) fn listens(&self) -> bool {
        const BOTH: u64 = 1 << 1 | 1 << 14;
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        caught.is_some_and(|mask| mask & BOTH == BOTH)
    }

    /// Send a signal by the shell's own `kill`: a small machine has no other.
    pub(crate) fn signal(&self, signal: &str) {
        run_by(&format!("kill -{signal} {}", self.child.id()));
    }
}

/// Living processes of this namespace but the trial's own: name and number.
pub(crate) fn processes() -> Vec<(String, u32)> {
    let own = std::process::id();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let named = pids.filter(|pid| *pid != 1 && *pid != own).filter_map(|pid| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (head, behind) = stat.rsplit_once(')')?;
        let name = head.split_once('(').map_or("", |(_, name)| name).to_owned();
        // The dead that nobody has asked about do nothing more.
        (!behind.trim_start().starts_with(['Z', 'X'])).then_some((name, pid))
    });
    named.collect()
}

/// Processes that are still there a while after the command ended.
pub(crate) fn orphans() -> Vec<String> {
    let begun = Instant::now();
    loop {
        let left = processes();
        if left.is_empty() || begun.elapsed() > GRACE {
            return left.into_iter().map(|(name, pid)| format!("{name} ({pid})")).collect();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn files(folder: &Path, found: &mut impl FnMut(&Path)) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => files(&path, found),
            false => found(&path),
        }
    }
}
