//! A cluster on this machine, and commands that use it.

use crate::{
    home::{Home, STAMPMILL, run_by},
    stage::Stage,
};
use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

/// More than anything of these takes.
const PATIENCE: Duration = Duration::from_secs(300);

/// Its processes end with it.
pub(crate) struct Up {
    child: Child,
    pub(crate) url: String,
    pub(crate) scheduler: u32,
    pub(crate) executors: Vec<u32>,
}

impl Up {
    /// Start one whose executors do one task at a time, on one thread each.
    pub(crate) fn start(home: &Home, executors: usize) -> Result<Up, String> {
        Up::start_with(home, executors, &[], &[])
    }

    pub(crate) fn start_with(
        home: &Home,
        executors: usize,
        words: &[&str],
        variables: &[(&str, &Path)],
    ) -> Result<Up, String> {
        let mut child = command(home)
            .args(["cluster", "up", "--json", "--root", "."])
            .args(if words.contains(&"--listen") { &[][..] } else { &["--listen", "127.0.0.1:0"] })
            // Shorter than for users: a busy executor is heard every five seconds.
            .args(["--silence", "8s", "--jobs", "1", "--executors", &executors.to_string()])
            .args(words)
            .envs(variables.iter().copied())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let mut line = String::new();
        let out = child.stdout.take().ok_or("no standard output")?;
        BufReader::new(out).read_line(&mut line).map_err(|error| error.to_string())?;
        let told: serde_json::Value = serde_json::from_str(&line)
            .map_err(|error| format!("no cluster came up: {line:?} {error}"))?;
        let pid = |value: &serde_json::Value| {
            value["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok()).ok_or("no process")
        };
        let executors = told["executors"].as_array().ok_or("no executors")?;
        Ok(Up {
            child,
            url: told["url"].as_str().ok_or("no address")?.to_owned(),
            scheduler: pid(&told)?,
            executors: executors.iter().map(pid).collect::<Result<_, _>>()?,
        })
    }

    /// End it as Ctrl-C does.
    pub(crate) fn end(mut self) -> Result<(), String> {
        run_by(&format!("kill -INT {}", self.child.id()));
        let begun = Instant::now();
        while self.child.try_wait().map_err(|error| error.to_string())?.is_none() {
            if begun.elapsed() > PATIENCE {
                let _ = self.child.kill();
                return Err("the cluster does not end".to_owned());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `stampmill` in a home.
pub(crate) fn command(home: &Home) -> Command {
    let mut command = Command::new(STAMPMILL);
    command
        .current_dir(home.path())
        .env("TMPDIR", home.path().join("scratch"))
        .env("STAMPMILL_CACHE", home.path().join("cache"))
        .env("XDG_CACHE_HOME", home.path().join("cache"))
        .stdin(Stdio::null());
    command
}

/// A stage's command on a cluster, in so many parts.
pub(crate) fn on_cluster(home: &Home, stage: &Stage, url: &str, parts: u32) -> Command {
    let mut command = command(home);
    command.args(stage.command.split_whitespace());
    command.args(["--cluster", url, "--cluster-parts", &parts.to_string()]);
    command
}

/// Run a command, which must end well.
pub(crate) fn well(mut command: Command) -> Result<Output, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    match output.status.success() {
        true => Ok(output),
        false => Err(format!("{:?} ended with {}: {said}", command.get_args(), output.status)),
    }
}

/// Run a command, which must fail and say this.
pub(crate) fn refused(mut command: Command, words: &[&str]) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    let says = words.iter().all(|word| said.contains(word));
    match output.status.code() == Some(2) && says {
        true => Ok(said),
        false => Err(format!("{} instead of a refusal with {words:?}: {said}", output.status)),
    }
}

/// All files of a data set, by name; of its manifest, what does not tell of the machine.
pub(crate) fn bytes(folder: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>, String> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))? {
        let path = entry.map_err(|error| error.to_string())?.path();
        let mut bytes = fs::read(&path).map_err(|error| error.to_string())?;
        if path.ends_with("_dataset.json") {
            let of_machine = ["  \"host\":", "  \"checksum\":"];
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let lines =
                text.lines().filter(|line| !of_machine.iter().any(|start| line.starts_with(start)));
            bytes = lines.collect::<Vec<_>>().join("\n").into_bytes();
        }
        files.insert(path.file_name().map(PathBuf::from).unwrap_or_default(), bytes);
    }
    Ok(files)
}

/// Whether two folders hold the same data set, byte by byte.
pub(crate) fn equal(one: &Path, other: &Path) -> Result<usize, String> {
    let (one, other) = (bytes(one)?, bytes(other)?);
    if one.keys().ne(other.keys()) {
        return Err(format!("{:?} instead of {:?}", other.keys(), one.keys()));
    }
    for (name, bytes) in &one {
        if bytes != &other[name] {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let (a, b) = (text(bytes), text(&other[name]));
            let line = a.lines().zip(b.lines()).find(|(a, b)| a != b).unwrap_or_default();
            let line = (
                line.0.chars().take(300).collect::<String>(),
                line.1.chars().take(300).collect::<String>(),
            );
            return Err(format!("{} differs: {line:?}", name.display()));
        }
    }
    Ok(one.values().map(Vec::len).sum())
}

/// What of a run must be gone once it has ended.
pub(crate) fn nothing_beside(home: &Home) -> Result<(), String> {
    let names = fs::read_dir(home.path().join("made")).map_err(|error| error.to_string())?;
    let names = names.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let left: Vec<String> =
        names.filter(|name| name.contains(".parts") || name.contains(".partial")).collect();
    match left.is_empty() {
        true => Ok(()),
        false => Err(format!("left over: {left:?}")),
    }
}
