use super::Elsewhere;
use crate::Progress;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fmt,
    ops::Range,
    path::PathBuf,
    str::FromStr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// A flag that ends a run soon, raised by anybody who holds a clone.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Ask the run to end.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked to.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The flag itself, for libraries that want one.
    #[must_use]
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}

impl From<Arc<AtomicBool>> for Cancel {
    fn from(flag: Arc<AtomicBool>) -> Cancel {
        Cancel(flag)
    }
}

/// Part `index` of `count` of a job, counted from one: the items whose keys, or whose rows in the input, fall in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// From 1 to `count`.
    pub index: u32,
    /// How many shares make the whole.
    pub count: u32,
}

impl Share {
    /// Whether the item called `key` belongs to this share.
    #[must_use]
    pub fn has(self, key: &str) -> bool {
        let hash = crate::content_hash(key.as_bytes());
        let number = u64::from_str_radix(&hash[..15], 16).unwrap_or_default();
        number % u64::from(self.count) == u64::from(self.index - 1)
    }

    /// The numbers of its rows, of so many.
    #[must_use]
    pub fn of_rows(self, rows: u64) -> Range<u64> {
        let end = |index: u32| {
            let product = u128::from(rows) * u128::from(index) / u128::from(self.count);
            u64::try_from(product).unwrap_or(rows)
        };
        end(self.index - 1)..end(self.index)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Share, String> {
        let numbers = text.split_once('/').and_then(|(index, count)| {
            Some(Share { index: index.parse().ok()?, count: count.parse().ok()? })
        });
        match numbers {
            Some(share) if (1..=share.count).contains(&share.index) => Ok(share),
            _ => Err(format!("`{text}` is no part: it is written I/N, with 1 ≤ I ≤ N, like 2/8")),
        }
    }
}

/// What a run is told that does not shape its rows.
#[derive(Clone)]
pub struct Context<'a> {
    /// The data set to make.
    pub out: PathBuf,
    /// Whether to replace what is there.
    pub force: bool,
    /// Items worked on at a time.
    pub jobs: usize,
    /// Only this part of the items; [`merge()`](crate::stage::merge()) joins the parts.
    pub share: Option<Share>,
    /// Begin no further item after this time.
    pub time: Option<Duration>,
    /// Hears how far the run is.
    pub progress: &'a dyn Progress,
    /// Ends it soon; what is done is kept.
    pub cancel: Cancel,
    /// Where [`merge()`](crate::stage::merge()) has rows compared that are too many to be compared here.
    pub elsewhere: Option<Arc<dyn Elsewhere>>,
}

impl Context<'_> {
    /// Make `out`, on all cores, silently.
    #[must_use]
    pub fn new(out: impl Into<PathBuf>) -> Context<'static> {
        Context {
            out: out.into(),
            force: false,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            share: None,
            time: None,
            progress: &crate::Silent,
            cancel: Cancel::default(),
            elsewhere: None,
        }
    }
}

impl fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Context { out, force, jobs, share, time, cancel, .. } = self;
        let mut shown = f.debug_struct("Context");
        shown.field("out", out).field("force", force).field("jobs", jobs);
        shown.field("share", share).field("time", time).field("cancel", cancel);
        shown.finish_non_exhaustive()
    }
}

/// A finished run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Done<S> {
    /// What was counted.
    #[serde(flatten)]
    pub summary: S,
    /// Time on the wall.
    pub seconds: f64,
    /// What of the input was no item: see [`Stage::left_out`](crate::stage::Stage::left_out).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub left_out: BTreeMap<String, u64>,
}
