//! SQL over data sets, asked of a program of its own.
//!
//! DataFusion is in the program `stampmill-query`; here is the client that asks it ([`Query`]), and what
//! becomes of the [`Rows`] that it sends: a table, JSON or CSV as text, or a data set.
//!
//! ```
//! use stampmill_query::{Error, Query};
//!
//! let tables = ["k=kernels".to_owned(), "runs".to_owned()];
//! assert!(Query::new("SELECT 1", &tables, 1 << 30).is_ok());
//! let tables = ["kernels".to_owned(), "runs".to_owned()];
//! let twice = Query::new("SELECT 1", &tables, 1 << 30);
//! assert!(matches!(twice, Err(Error::Twice(name)) if name == "dataset"));
//! ```

mod error;
mod render;

use arrow::{array::RecordBatch, datatypes::SchemaRef, ipc::reader::StreamReader};
use dataset::{Dataset, Input, Notes};
pub use error::Error;
use host::Helper;
pub use render::{csv, jsonl, table, values};
use std::{
    fs::File,
    io::{BufReader, Read, Seek, Write},
    os::unix::process::{CommandExt, ExitStatusExt},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, ExitStatus, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

type Result<T> = std::result::Result<T, Error>;

/// How often to look whether to stop.
const LOOK: Duration = Duration::from_millis(50);
/// Bytes of what it says went wrong.
const SAID: u64 = 16 << 10;
/// Stands between what is wrong with a query and what the engine says of it.
const ENGINE: char = '\u{1e}';

/// One statement over some data sets.
#[derive(Clone, Debug)]
pub struct Query {
    sql: String,
    tables: Vec<(String, PathBuf)>,
    memory: u64,
    /// Another program that answers, and what it is told.
    by: Option<(Helper, String)>,
}

/// All rows of an answer.
#[derive(Clone, Debug)]
pub struct Held {
    /// Their columns.
    pub schema: SchemaRef,
    /// The rows; at least one batch, which may be empty.
    pub rows: Vec<RecordBatch>,
}

/// Rows as they are found.
#[derive(Debug)]
pub struct Rows {
    stream: StreamReader<BufReader<ChildStdout>>,
    /// Whether all were taken.
    ended: bool,
}

impl Rows {
    fn of(out: ChildStdout) -> Result<Rows> {
        let stream = StreamReader::try_new(BufReader::new(out), None).map_err(Error::Broken)?;
        Ok(Rows { stream, ended: false })
    }

    /// Their columns.
    pub fn schema(&self) -> SchemaRef {
        self.stream.schema()
    }
}

impl Iterator for Rows {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.stream.next();
        self.ended = next.is_none();
        Some(next?.map_err(Error::Broken))
    }
}

/// Whether a name with this letter has to stand in quotes.
fn is_quoted(letter: char) -> bool {
    !(letter.is_alphanumeric() || letter == '_')
}

/// What may be a table's name in a statement.
fn words(sql: &str) -> impl Iterator<Item = &str> {
    let quoted = sql.split('"').skip(1).step_by(2);
    let bare = sql.split(is_quoted);
    bare.chain(quoted).filter(|word| !word.is_empty())
}

/// Whether SQL names this folder so: as it is, or with `_` for each letter that it would have to quote.
fn is_name_of(path: &Path, word: &str) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| {
        let unquoted = name.replace(is_quoted, "_");
        [name, &unquoted].contains(&word)
    })
}

fn machine(action: &str) -> impl FnOnce(std::io::Error) -> Error + '_ {
    move |source| Error::Machine { action: action.to_owned(), source }
}

impl Query {
    /// A statement over tables, each `NAME=DATASET` or a `DATASET` that is called `dataset` and by its folder's name;
    /// without tables, over the data sets of the current folder that it names. It may take `memory` bytes, and its rows as
    /// many where they are held at once.
    ///
    /// # Errors
    /// When two tables have one name, or there is none; names a data set that is not finished.
    pub fn new(sql: &str, tables: &[String], memory: u64) -> Result<Query> {
        if Dataset::is_at(Path::new(sql.trim())) {
            return Err(Error::Order);
        }
        let mut named: Vec<(String, PathBuf)> = Vec::new();
        for table in tables {
            let word = table.split_whitespace().next().unwrap_or_default();
            if word.len() < table.trim().len()
                && ["select", "with"].contains(&word.to_lowercase().as_str())
            {
                return Err(Error::Order);
            }
            let (name, path) = table.split_once('=').unwrap_or(("dataset", table));
            if named.iter().any(|(other, _)| other == name) {
                return Err(Error::Twice(name.to_owned()));
            }
            named.push((name.to_owned(), PathBuf::from(path)));
        }
        let mut begun = None;
        let unnamed =
            named.iter().find(|(name, _)| name == "dataset").map(|(_, path)| path.clone());
        for word in words(sql) {
            let is_known = named.iter().any(|(name, _)| name == word);
            match &unnamed {
                // By its folder's name, too.
                Some(path) if !is_known && is_name_of(path, word) => {
                    named.push((word.to_owned(), path.clone()));
                }
                None if tables.is_empty() && !is_known => {
                    let folders = [word.to_owned(), word.replace('_', "-")].map(PathBuf::from);
                    let is_begun = |folder: &&PathBuf| dataset::is_unfinished(folder);
                    begun = begun.or_else(|| folders.iter().find(is_begun).cloned());
                    let folder = folders.into_iter().find(|folder| Dataset::is_at(folder));
                    named.extend(folder.map(|folder| (word.to_owned(), folder)));
                }
                _ => {}
            }
        }
        if named.is_empty() {
            return Err(match begun {
                Some(folder) => dataset::Error::NotADataset(folder).into(),
                None => {
                    let there = data_sets(Path::new("."));
                    Error::NoTable { meant: meant(sql, &there), known: shortened(there) }
                }
            });
        }
        Ok(Query { sql: sql.to_owned(), tables: named, memory, by: None })
    }

    /// Have another program answer it: one that reads a line of its standard input, where this stands, and sends
    /// rows as `stampmill-query` does.
    #[must_use]
    pub fn by(self, program: Helper, told: String) -> Query {
        Query { by: Some((program, told)), ..self }
    }

    /// The tables, each where it is on this machine: that program knows no object stores.
    fn here(&self) -> Result<Vec<(String, PathBuf)>> {
        let here = |(name, path): &(String, PathBuf)| {
            let path = match dataset::is_url(path) {
                true => Dataset::open(path)?.here().to_owned(),
                false => path.clone(),
            };
            Ok((name.clone(), path))
        };
        self.tables.iter().map(here).collect()
    }

    /// The tables, by name.
    #[must_use]
    pub fn tables(&self) -> &[(String, PathBuf)] {
        &self.tables
    }

    /// Ask, and let `take` take the rows: it may leave some. Once `stop` is raised, both end.
    ///
    /// # Errors
    /// What `take` says; when the program is not here, the query is wrong or needs too much memory.
    pub fn ask<T: Send>(
        &self,
        stop: &AtomicBool,
        take: impl FnOnce(&mut Rows) -> Result<T> + Send,
    ) -> Result<T> {
        let helper = self.by.as_ref().map_or(Helper::QUERY, |(helper, _)| *helper);
        let program = helper.find()?;
        if dataset::verifies_hashes() {
            // That program does not know it, and looks only at what is always looked at. A cluster reads object stores
            // itself: opened here, all of a data set would come to this machine.
            let stays = |path: &Path| {
                self.by.is_some() && dataset::is_url(path) && !dataset::verifies_all_hashes()
            };
            for (_, path) in &self.tables {
                if Dataset::is_at(path) && !stays(path) {
                    Dataset::open(path)?;
                }
            }
        }
        let spill = tempfile::Builder::new().prefix("stampmill-query-").tempdir();
        let spill = spill.map_err(machine("make a temporary folder"))?;
        let mut said = tempfile::tempfile().map_err(machine("make a temporary file"))?;
        let stderr = said.try_clone().map_err(machine("share a temporary file"))?;
        let mut command = Command::new(&program);
        if self.by.is_none() {
            let table = |(name, path): &(String, PathBuf)| format!("{name}={}", path.display());
            let tables = self.here()?;
            command.arg(self.memory.to_string()).arg(spill.path());
            command.arg(&self.sql).args(tables.iter().map(table));
        }
        let mut child = command
            .stdin(if self.by.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(stderr)
            // Ctrl-C of a terminal goes to this program alone, which then ends that one.
            .process_group(0)
            .spawn()
            .map_err(machine(&format!("start {}", program.display())))?;
        tracing::info!(program = %program.display(), process = child.id(), "the SQL engine was started");
        let out = child.stdout.take().expect("standard output is piped");
        if let (Some((_, told)), Some(input)) = (&self.by, &mut child.stdin) {
            // One that ended already has said why.
            let _ = writeln!(input, "{told}");
        }
        let waiting = std::thread::current();
        let taken = std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let taken = Rows::of(out).and_then(|mut rows| Ok((take(&mut rows)?, rows.ended)));
                waiting.unpark();
                taken
            });
            while !reader.is_finished() {
                std::thread::park_timeout(LOOK);
                if stop.load(Ordering::SeqCst) {
                    // It may have ended meanwhile.
                    let _ = child.kill();
                }
            }
            reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        finish(child, taken, &mut said, helper.name).map_err(|error| {
            match stop.load(Ordering::SeqCst) {
                true => Error::Interrupted,
                false => error,
            }
        })
    }

    /// Ask, and hold all rows at once.
    ///
    /// # Errors
    /// As [`Query::ask`], and when the rows are more than the query's memory.
    pub fn hold(&self, stop: &AtomicBool) -> Result<Held> {
        self.ask(stop, |rows| {
            let schema = rows.schema();
            let (mut all, mut bytes) = (Vec::new(), 0_u64);
            for batch in rows {
                let batch = batch?;
                bytes = bytes.saturating_add(bytes_of(&batch));
                if bytes > self.memory {
                    return Err(Error::TooMany { bytes: self.memory });
                }
                all.push(batch);
            }
            if all.is_empty() {
                all.push(RecordBatch::new_empty(schema.clone()));
            }
            Ok(Held { schema, rows: all })
        })
    }

    /// Ask, and make a data set of the rows at `out`; with all columns of the first table it is of that
    /// one's schema, and says of itself what that one does: what its columns mean, its seed, its tools and machines.
    ///
    /// # Errors
    /// As [`Query::hold`], and when the data set cannot be made.
    pub fn save(&self, stop: &AtomicBool, out: &Path, force: bool) -> Result<Dataset> {
        let held = self.hold(stop)?;
        let names = |schema: &SchemaRef| -> Vec<String> {
            schema.fields().iter().map(|field| field.name().clone()).collect()
        };
        let mut schema = ("query".to_owned(), 1);
        let mut notes = Notes::default();
        let mut configuration = serde_json::Map::new();
        let mut inputs = Vec::new();
        for (index, (name, path)) in self.tables.iter().enumerate() {
            if !Dataset::is_at(path) {
                continue;
            }
            let dataset = Dataset::open(path)?;
            if let (0, Some(Ok(batch))) = (index, dataset.batches(None)?.next())
                && names(&batch.schema()) == names(&held.schema)
            {
                let manifest = dataset.manifest();
                schema = (manifest.schema.clone(), manifest.version);
                // What says how to read the columns, and what their values depend on, stays true.
                if let Some(known) = manifest.notes.configuration.as_object() {
                    configuration.clone_from(known);
                }
                notes.seed = manifest.notes.seed;
                notes.tools = manifest.notes.tools.clone();
                notes.hosts = manifest.hosts().collect();
            }
            let hash = dataset.manifest().identity.clone();
            inputs.push(Input { name: format!("{name}={}", path.display()), hash });
        }
        configuration.insert("sql".to_owned(), self.sql.clone().into());
        let notes = Notes { inputs, configuration: configuration.into(), ..notes };
        Ok(dataset::write_flat(out, force, (&schema.0, schema.1), &held.rows, notes)?)
    }
}

/// What rows hold. Columns that came in one message share its memory, which counts once for none of them.
fn bytes_of(batch: &RecordBatch) -> u64 {
    let bytes = batch.columns().iter().map(|column| {
        let data = column.to_data();
        data.get_slice_memory_size().unwrap_or_else(|_| data.get_array_memory_size()) as u64
    });
    bytes.sum()
}

/// Wait for the program; what it says went wrong goes before what was made of its rows.
fn finish<T>(mut child: Child, taken: Result<(T, bool)>, said: &mut File, name: &str) -> Result<T> {
    let enough = match &taken {
        Ok((_, ended)) => !ended,
        Err(error) => !matches!(error, Error::Broken(_)),
    };
    if enough {
        // Nobody takes its rows any more. It may have ended meanwhile.
        let _ = child.kill();
    }
    let status = child.wait().map_err(machine(&format!("wait for {name}")))?;
    if enough || status.success() {
        return taken.map(|(taken, _)| taken);
    }
    let mut text = Vec::new();
    said.rewind()
        .and_then(|()| said.take(SAID).read_to_end(&mut text))
        .map_err(machine("read a temporary file"))?;
    let text = String::from_utf8_lossy(&text);
    let (said, engine) = text.split_once(ENGINE).unwrap_or((&*text, ""));
    if !engine.is_empty() {
        tracing::info!(error = engine.trim(), "the SQL engine refused the query");
    }
    Err(Error::Failed(why(status, said.trim(), name)))
}

fn why(status: ExitStatus, said: &str, name: &str) -> String {
    match status.code() {
        Some(2) if !said.is_empty() => said.to_owned(),
        _ if said.contains("memory allocation") => {
            format!(
                "the query needs more memory than it may take; narrow it, or give it more with --memory: {said}"
            )
        }
        Some(code) => format!("{name} ended with status {code}: {said}"),
        None => {
            let signal = status.signal().unwrap_or_default();
            format!(
                "{name} was ended by signal {signal} (the machine may be out of memory): {said}"
            )
        }
    }
}

/// The names of the first data sets of a folder.
fn data_sets(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter(|entry| Dataset::is_at(&entry.path()))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// The first names, and how many more there are.
fn shortened(mut names: Vec<String>) -> Vec<String> {
    let more = names.len().saturating_sub(MOST_NAMED);
    names.truncate(MOST_NAMED);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    names
}

/// A word of the statement that stands where a table does, and the name among `there` that is near it, as a statement
/// writes it.
fn meant(sql: &str, there: &[String]) -> Option<(String, String)> {
    let unquoted: Vec<String> = there.iter().map(|name| name.replace(is_quoted, "_")).collect();
    let words: Vec<&str> = words(sql).collect();
    words.windows(2).find_map(|pair| {
        let is_before = ["from", "join"].contains(&pair[0].to_lowercase().as_str());
        let near = dataset::near(pair[1], unquoted.iter().map(String::as_str));
        near.filter(|_| is_before).map(|near| (pair[1].to_owned(), near.to_owned()))
    })
}

/// Data sets that an error names.
const MOST_NAMED: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::{
        array::{ArrayRef, StringArray},
        ipc::{reader::StreamReader, writer::StreamWriter},
    };
    use std::sync::Arc;

    #[test]
    fn a_table_that_is_nearly_a_data_set_is_one_that_was_meant() {
        let there = ["kernels".to_owned(), "my-runs".to_owned()];
        let found = |sql| meant(sql, &there).map(|(_, name)| name);
        assert_eq!(found("SELECT * FROM kernls"), Some("kernels".to_owned()));
        assert_eq!(found("SELECT * FROM x JOIN my_rnus USING (id)"), Some("my_runs".to_owned()));
        assert_eq!(found("SELECT kernls FROM x"), None);
    }

    #[test]
    fn a_folder_is_named_as_sql_can_name_it() {
        let folder = Path::new("out/my-kernels.v2");
        assert!(is_name_of(folder, "my_kernels_v2") && is_name_of(folder, "my-kernels.v2"));
        assert!(!is_name_of(folder, "my"));
        let words: Vec<&str> = words("SELECT a_b FROM \"my-kernels\"").collect();
        assert!(words.contains(&"my-kernels") && words.contains(&"a_b"), "{words:?}");
    }

    #[test]
    fn rows_that_came_in_one_message_are_counted_once() {
        let column: ArrayRef = Arc::new(StringArray::from(vec!["sixteen letters."; 1000]));
        let names: Vec<String> = (0..20).map(|at| format!("c{at}")).collect();
        let columns = names.iter().map(|name| (name, Arc::clone(&column)));
        let batch = RecordBatch::try_from_iter(columns).expect("columns of one length");
        let mut message = Vec::new();
        let mut writer = StreamWriter::try_new(&mut message, &batch.schema()).expect("a writer");
        writer.write(&batch).and_then(|()| writer.finish()).expect("is written");
        let read = StreamReader::try_new(&message[..], None).expect("a reader").next();
        let read = read.expect("a batch").expect("is read");
        let data = 20 * 1000 * 16;
        assert!((data..2 * data).contains(&bytes_of(&read)), "{}", bytes_of(&read));
    }
}
