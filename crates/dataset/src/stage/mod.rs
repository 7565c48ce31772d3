//! What every stage is: items in, rows out, and one runner for all of them.
//!
//! A [`Stage`] says what its items are, how it names them, and which rows come of some of them. All
//! else is done once, by [`run()`]: threads, order, resuming, cancellation, progress, the manifest.
//! [`merge()`] joins the shares that several machines made of one job, and [`work_batch()`] is a
//! stage as a function from record batch to record batch, for an engine that has its own runner.

mod context;
mod elsewhere;
mod families;
mod firsts;
mod merge;
mod part;
mod run;
mod share;
mod shares;
mod units;

pub use context::{Cancel, Context, Done, Share};
pub use elsewhere::{Count, Edge, Elsewhere, Hashed, Keyed, Question, Repeat, Rooted, Signed};
pub use families::{Distinct, families};
pub use firsts::{Fate, Fates, Firsts};
pub use merge::{Shared, merge};
pub use run::run;
pub use shares::{Shares, share_name};
pub use units::{Unit, Units};

use crate::{Error, Input, Row};
use arrow::{
    array::{ArrayRef, RecordBatch, StringArray},
    datatypes::{DataType, Field, Schema},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::{collections::BTreeMap, ops::Range, sync::Arc};

/// Items of a stage, read as they are asked for.
pub struct Items<'a, S: Stage + ?Sized> {
    /// How many there are, where that is known before they are read.
    pub total: Option<u64>,
    /// The items, in an order that depends on the input alone.
    pub all: Box<dyn Iterator<Item = Result<S::Item, S::Error>> + 'a>,
}

/// Items of a stage for one share, which are read from rows of a data set: of the rows of others only what their keys
/// are made of.
pub struct ByRows<'a, S: Stage + ?Sized> {
    /// The rows of this share.
    pub own: Range<u64>,
    /// The items, as [`Items::all`] has them, each with the number of its row. Those of other rows may lack what neither
    /// [`Stage::key`] nor [`Stage::observe`] without rows looks at.
    pub all: Numbered<'a, S::Item, S::Error>,
}

/// Items, each with the number of its row in a data set.
pub type Numbered<'a, I, E> = Box<dyn Iterator<Item = Result<(u64, I), E>> + 'a>;

/// The rows of one item.
pub enum Worked<R> {
    /// What the item comes to, now and whenever it is asked for.
    Rows(Vec<R>),
    /// The same, made while they are written: together they may not fit in memory. A stage that counts
    /// beside its rows ([`Facts::COUNTS`]) gets them all at once nevertheless.
    Streamed(Box<dyn Iterator<Item = R> + Send>),
    /// What stands for it today: a run that is resumed tries again. For a source that could not be
    /// fetched, say.
    ForNow(Vec<R>),
}

impl<R> Worked<R> {
    /// All rows, in memory.
    #[must_use]
    pub fn rows(self) -> Vec<R> {
        match self {
            Worked::Rows(rows) | Worked::ForNow(rows) => rows,
            Worked::Streamed(rows) => rows.collect(),
        }
    }
}

/// What a stage counts beside its rows. The order in which items are observed is that of the threads:
/// the sum must not depend on it, or [`Stage::finish`] must sort.
pub trait Facts: Default + Serialize + DeserializeOwned + Send {
    /// Whether there is anything to count: if not, rows of an earlier run need not be read.
    const COUNTS: bool = true;

    /// Add what another thread, or another share, observed.
    fn absorb(&mut self, other: Self);
}

impl Facts for () {
    const COUNTS: bool = false;

    fn absorb(&mut self, _: ()) {}
}

/// What becomes of a row when the data set is finished.
#[derive(Debug)]
pub enum Selected<R> {
    /// It stands in the data set.
    Row(R),
    /// It does not, for this reason: `duplicate`, for example.
    Dropped(&'static str),
    /// It cannot be said.
    Failed(Error),
}

/// Decides what becomes of a row of a unit.
pub type Select<'a, R> = Box<dyn FnMut(&Unit, R) -> Selected<R> + 'a>;

/// How the rows of all units become the data set.
pub struct Finish<'a, R, S> {
    /// Decides row by row, in the order of the data set.
    pub select: Select<'a, R>,
    /// Indices of the units in the order of the data set; `None`: that of the items.
    pub order: Option<Vec<usize>>,
    /// Rows per verdict.
    pub verdicts: BTreeMap<String, u64>,
    /// What was counted.
    pub summary: S,
    /// What the data set was made from, where only the rows can tell (versions of packages).
    pub inputs: Option<Vec<Input>>,
}

impl<R, S> Finish<'_, R, S> {
    /// All rows, as they are.
    #[must_use]
    pub fn all(verdicts: BTreeMap<String, u64>, summary: S) -> Finish<'static, R, S> {
        let select = Box::new(|_: &Unit, row| Selected::Row(row));
        Finish { select, order: None, verdicts, summary, inputs: None }
    }
}

/// A step from items to rows.
///
/// What [`Stage::work`] answers depends on the settings and the items alone: not on the machine's
/// state, on other items, or on what was done before. So any share of the items can be worked on
/// anywhere, in any order, and again. (A stage that cannot promise this says so by
/// [`Stage::is_sequential`].)
pub trait Stage: Sync {
    /// The stage's name, as in the command line: `prepare`, `ir dedup`.
    const NAME: &'static str;
    /// What its items are called in progress and messages: `programs`.
    const UNITS: &'static str;
    /// Keys of the summary that tell of a run and not of its rows, such as how much was cached: printed,
    /// and left out of the manifest.
    const OF_THIS_RUN: &'static [&'static str] = &[];

    /// Names of files that are put beside the Parquet files once they are made, and belong to the data set.
    const FILES: &'static [&'static str] = &[];

    /// What it works on.
    type Item: Row + Send + Sync;
    /// What it makes.
    type Row: Row + Send + 'static;
    /// What it counts beside its rows; `()` for nothing.
    type Facts: Facts;
    /// What its `--json` prints.
    type Summary: Serialize;
    /// What one thread keeps from item to item: processes, buffers. It has no influence on rows.
    type Worker;
    /// Its errors; what is wrong with a program is a verdict in a row, never one of these.
    type Error: std::error::Error + From<Error> + Send;

    /// All that shapes the rows but the inputs; an unfinished run is resumed under equal settings
    /// only. They stand in the manifest as `configuration`.
    fn settings(&self) -> Value;

    /// The random seed; 0 where nothing is drawn.
    fn seed(&self) -> u64 {
        0
    }

    /// What the data set is made from.
    ///
    /// # Errors
    /// When an input cannot be read.
    fn inputs(&self) -> Result<Vec<Input>, Self::Error>;

    /// The same in detail, to say which input changed when a run is to be resumed: file by file.
    ///
    /// # Errors
    /// As [`Stage::inputs`].
    fn inputs_in_detail(&self) -> Result<Vec<Input>, Self::Error> {
        self.inputs()
    }

    /// How much of the input is no item, by verdict: rows that an earlier stage rejected, files that cannot be
    /// read. It is told beside the summary.
    ///
    /// # Errors
    /// When an input cannot be read.
    fn left_out(&self) -> Result<BTreeMap<String, u64>, Self::Error> {
        Ok(BTreeMap::new())
    }

    /// The items.
    ///
    /// # Errors
    /// When an input cannot be read.
    fn items(&self) -> Result<Items<'_, Self>, Self::Error>;

    /// The same for one share, where that takes less than reading the whole input: items whose first row, of all with
    /// their key, is in the share. `None`: shares are told by keys, of items that are read as a whole.
    ///
    /// # Errors
    /// When an input cannot be read.
    fn items_by_rows(&self, _share: Share) -> Result<Option<ByRows<'_, Self>>, Self::Error> {
        Ok(None)
    }

    /// The name of an item: stable, and equal for items that are equal but for where they lie. Of
    /// several items with one name the first is worked on.
    fn key(&self, item: &Self::Item) -> String;

    /// How many items are worked on, and kept, together: more than one where an item takes less than a
    /// few milliseconds.
    fn batch_size(&self) -> usize {
        1
    }

    /// Bytes that an item holds, where these may be many: a batch of so much is ended early, since
    /// several of them are in memory.
    fn size_bytes(&self, _item: &Self::Item) -> usize {
        0
    }

    /// How many threads work, of `jobs`: fewer where the work of one item uses several by itself.
    fn threads(&self, jobs: usize) -> usize {
        jobs
    }

    /// Whether an item's rows depend on the items before it. Such a stage works in order on one thread and
    /// cannot be shared out.
    fn is_sequential(&self) -> bool {
        false
    }

    /// What a thread needs.
    ///
    /// # Errors
    /// When a tool or device is missing.
    fn worker(&self) -> Result<Self::Worker, Self::Error>;

    /// The rows of each of `items`, in their order.
    ///
    /// # Errors
    /// When the machine fails: see [`Stage::is_fault`].
    fn work(
        &self,
        worker: &mut Self::Worker,
        items: &[Self::Item],
    ) -> Result<Vec<Worked<Self::Row>>, Self::Error>;

    /// Items that an earlier run did are skipped; for stages that are sequential.
    ///
    /// # Errors
    /// When what is needed of them cannot be had.
    fn resume(
        &self,
        _worker: &mut Self::Worker,
        _items: &[Self::Item],
        _rows: &[Vec<Self::Row>],
    ) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Whether the machine failed and not a program: no room, no memory, a killed tool. The items have no
    /// rows then, the others are done (but what comes behind in a stage that is sequential), and the run
    /// ends with an error; the same command does the rest.
    fn is_fault(_error: &Self::Error) -> bool {
        false
    }

    /// Count what the rows do not say. Of items with equal keys all but one come with `rows` of `None`.
    fn observe(&self, _item: &Self::Item, _rows: Option<&[Self::Row]>, _facts: &mut Self::Facts) {}

    /// Versions of the tools that shaped the rows, asked once the work is done.
    fn tools(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// The global pass: look at all rows and say what becomes of each. It sees what [`merge()`] sees too,
    /// settings, facts and rows, and nothing else.
    ///
    /// # Errors
    /// When rows cannot be read.
    fn finish<'a>(
        settings: &'a Value,
        facts: Self::Facts,
        units: &'a Units<Self::Row>,
    ) -> Result<Finish<'a, Self::Row, Self::Summary>, Self::Error>;
}

/// A stage as a function from record batch to record batch: rows of [`Stage::Item`] in, rows of
/// [`Stage::Row`] out, behind a column `unit` with the key of the item each is of.
///
/// # Errors
/// As [`Stage::work`], and when the batch has other columns.
pub fn work_batch<S: Stage>(
    stage: &S,
    worker: &mut S::Worker,
    batch: &RecordBatch,
) -> Result<RecordBatch, S::Error> {
    let items = S::Item::from_batch(batch)?;
    let (mut keys, mut rows) = (Vec::new(), Vec::new());
    for (item, worked) in items.iter().zip(stage.work(worker, &items)?) {
        let of_item = worked.rows();
        keys.extend(std::iter::repeat_n(stage.key(item), of_item.len()));
        rows.extend(of_item);
    }
    let columns = S::Row::to_batch(&rows)?;
    let schema = columns.schema();
    let unit = Arc::new(Field::new("unit", DataType::Utf8, false));
    let fields: Vec<_> = std::iter::once(unit).chain(schema.fields().iter().cloned()).collect();
    let unit: ArrayRef = Arc::new(StringArray::from(keys));
    let arrays = std::iter::once(unit).chain(columns.columns().iter().cloned()).collect();
    let whole = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays);
    whole.map_err(|error| {
        let schema = S::Row::SCHEMA.to_owned();
        Error::Columns { schema, reason: error.to_string() }.into()
    })
}
