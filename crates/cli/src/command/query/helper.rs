//! The program that answers queries, and the rows it sends.

use crate::interrupt;
use anyhow::{Context, anyhow};
use arrow::{
    array::RecordBatch, datatypes::SchemaRef, error::ArrowError, ipc::reader::StreamReader,
};
use host::Helper;
use std::{
    fs::File,
    io::{BufReader, Read, Seek},
    os::unix::process::{CommandExt, ExitStatusExt},
    path::Path,
    process::{Child, ChildStdout, Command, ExitStatus, Stdio},
    sync::atomic::Ordering,
    time::Duration,
};

/// The program's name.
pub(crate) const NAME: &str = Helper::QUERY.name;
/// How often to look whether to stop.
const LOOK: Duration = Duration::from_millis(50);
/// Bytes of what it says went wrong.
const SAID: u64 = 16 << 10;

/// What is asked.
pub(super) struct Question<'a> {
    pub(super) sql: &'a str,
    pub(super) tables: &'a [(&'a str, &'a Path)],
    pub(super) memory: u64,
}

/// Rows as they are found.
pub(super) struct Rows {
    stream: StreamReader<BufReader<ChildStdout>>,
    /// Whether all were taken.
    ended: bool,
}

/// The stream of rows broke off: what the program says about it is better.
#[derive(Debug)]
struct Broken(ArrowError);

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the rows of {NAME} broke off: {}", self.0)
    }
}

impl std::error::Error for Broken {}

impl Rows {
    fn of(out: ChildStdout) -> anyhow::Result<Rows> {
        let stream = StreamReader::try_new(BufReader::new(out), None).map_err(Broken)?;
        Ok(Rows { stream, ended: false })
    }

    pub(super) fn schema(&self) -> SchemaRef {
        self.stream.schema()
    }
}

impl Iterator for Rows {
    type Item = anyhow::Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.stream.next();
        self.ended = next.is_none();
        Some(next?.map_err(|error| Broken(error).into()))
    }
}

impl Question<'_> {
    /// Ask, and let `take` take the rows. Ctrl-C ends both.
    pub(super) fn ask<T: Send>(
        &self,
        take: impl FnOnce(&mut Rows) -> anyhow::Result<T> + Send,
    ) -> anyhow::Result<T> {
        let program = Helper::QUERY.find()?;
        let stopped = interrupt::quiet_flag()?;
        let spill = tempfile::Builder::new().prefix("stampmill-query-").tempdir();
        let spill = spill.context("cannot make a temporary folder")?;
        let mut said = tempfile::tempfile().context("cannot make a temporary file")?;
        let mut child = Command::new(&program)
            .arg(self.memory.to_string())
            .arg(spill.path())
            .arg(self.sql)
            .args(self.tables.iter().map(|(name, path)| format!("{name}={}", path.display())))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(said.try_clone().context("cannot share a temporary file")?)
            // Ctrl-C of a terminal goes to this program alone, which then ends that one.
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let out = child.stdout.take().with_context(|| format!("{NAME} without output"))?;
        let waiting = std::thread::current();
        let taken = std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let taken = Rows::of(out).and_then(|mut rows| Ok((take(&mut rows)?, rows.ended)));
                waiting.unpark();
                taken
            });
            while !reader.is_finished() {
                std::thread::park_timeout(LOOK);
                if stopped.load(Ordering::SeqCst) {
                    // It may have ended meanwhile.
                    let _ = child.kill();
                }
            }
            reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        finish(child, taken, &mut said).map_err(|error| match stopped.load(Ordering::SeqCst) {
            true => anyhow!("interrupted"),
            false => error,
        })
    }
}

/// Wait for the program; what it says went wrong goes before what was made of its rows.
fn finish<T>(
    mut child: Child,
    taken: anyhow::Result<(T, bool)>,
    said: &mut File,
) -> anyhow::Result<T> {
    let enough = match &taken {
        Ok((_, ended)) => !ended,
        Err(error) => !error.is::<Broken>(),
    };
    if enough {
        // Nobody takes its rows any more. It may have ended meanwhile.
        let _ = child.kill();
    }
    let status = child.wait().with_context(|| format!("cannot wait for {NAME}"))?;
    if enough || status.success() {
        return taken.map(|(taken, _)| taken);
    }
    let mut text = Vec::new();
    said.rewind()?;
    said.take(SAID).read_to_end(&mut text)?;
    Err(anyhow!(why(status, String::from_utf8_lossy(&text).trim())))
}

fn why(status: ExitStatus, said: &str) -> String {
    match status.code() {
        Some(2) if !said.is_empty() => said.to_owned(),
        _ if said.contains("memory allocation") => {
            format!(
                "the query needs more memory than it may take; narrow it, or give it more with --memory: {said}"
            )
        }
        Some(code) => format!("{NAME} ended with status {code}: {said}"),
        None => {
            let signal = status.signal().unwrap_or_default();
            format!(
                "{NAME} was ended by signal {signal} (the machine may be out of memory): {said}"
            )
        }
    }
}
