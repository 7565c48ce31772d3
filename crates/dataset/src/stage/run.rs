use super::{
    Context, Done, Facts, Finish, Selected, Share, Stage, Unit, Units, Worked,
    merge::Shared,
    part,
    share::{Met, Source},
};
use crate::{Builder, Error, Notes, tally::Tally};
use serde::Serialize;
use serde_json::Value;
use std::{
    collections::{HashMap, HashSet},
    marker::PhantomData,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{Receiver, sync_channel},
    },
    time::Instant,
};

/// A batch whose items hold as much takes no more of them.
const BATCH_BYTES: usize = 16 << 20;
/// So many faults of the machine without an item that was done between them end a run.
const FAULTS_IN_A_ROW: usize = 20;
/// Bytes of a thread's stack, of which a machine gives what is used: what a stage holds may be a tree as deep as a program is long.
const STACK: usize = 256 << 20;

/// What an unfinished run is known by.
#[derive(Serialize)]
struct Plan<'a> {
    stage: &'static str,
    settings: &'a Value,
    seed: u64,
    share: Option<Share>,
}

/// Run a stage: make the data set, or resume the run that an equal command began.
///
/// Rows and their order depend on the stage's settings and items, not on threads or on stops in
/// between. Under [`Context::share`] the data set holds the rows of that part as they are before
/// [`Stage::finish`], and what [`merge()`](crate::stage::merge()) needs.
///
/// # Errors
/// Those of the stage; [`Error::Cancelled`]; [`Error::Faults`] when the machine failed for some of
/// the items.
pub fn run<S: Stage>(stage: &S, context: &Context<'_>) -> Result<Done<S::Summary>, S::Error> {
    let started = Instant::now();
    if let (Some(share), true) = (context.share, stage.is_sequential()) {
        return Err(Error::NotShared { stage: S::NAME, share }.into());
    }
    let settings = stage.settings();
    let (seed, share) = (stage.seed(), context.share);
    let plan = Plan { stage: S::NAME, settings: &settings, seed, share };
    let inputs = stage.inputs_in_detail()?;
    let builder = Builder::<S::Row>::create_from(&context.out, context.force, &plan, &inputs)?;
    let work = Work::new(stage, context, &builder, started);
    tracing::info!(
        stage = S::NAME,
        out = %context.out.display(),
        resumes = !builder.is_empty(),
        "a stage begins"
    );
    if !builder.is_empty() {
        let there = builder.unfinished().display();
        context.progress.note(&format!("resuming the run that was stopped: {there}"));
    }
    let mut is_by_rows = false;
    let read = Source::of(stage, share).and_then(|items| {
        context.progress.begin(S::NAME, items.total.unwrap_or(0));
        is_by_rows = items.is_by_rows;
        work.all(items)
    });
    let read = match read {
        Ok(read) => read,
        Err(error) if !context.cancel.is_cancelled() => {
            drop(work);
            builder.discard_if_empty();
            return Err(error);
        }
        Err(error) if builder.is_empty() => {
            // What was asked while the items were listed may have ended it in other words.
            let kept = builder.unfinished().to_owned();
            drop(error);
            return Err(Error::Cancelled { units: S::UNITS, done: 0, kept }.into());
        }
        Err(error) => return Err(error),
    };
    let facts = work.facts.into_inner().unwrap_or_else(PoisonError::into_inner);
    let units = read.units(&builder)?;
    let left_out = stage.left_out()?;
    let notes = Notes {
        inputs: stage.inputs()?,
        configuration: settings.clone(),
        seed,
        tools: stage.tools(),
        ..Notes::default()
    };
    let summary = match share {
        None => conclude::<S>(builder, &settings, facts, &units, notes)?,
        Some(share) => {
            let shared = Shared {
                stage: S::NAME.to_owned(),
                share,
                is_by_rows,
                items: read.items,
                left: read.left,
                left_out: left_out.clone(),
                facts: serde_json::to_string(&facts).map(Value::String).unwrap_or_default(),
                units: units.units.clone(),
            };
            share_out::<S>(builder, &settings, shared, facts, &units, notes)?
        }
    };
    context.progress.end();
    tracing::info!(stage = S::NAME, seconds = started.elapsed().as_secs_f64(), "a stage has ended");
    Ok(Done { summary, seconds: started.elapsed().as_secs_f64(), left_out })
}

/// The global pass, and the data set.
pub(super) fn conclude<S: Stage>(
    builder: Builder<S::Row>,
    settings: &Value,
    facts: S::Facts,
    units: &Units<S::Row>,
    notes: Notes,
) -> Result<S::Summary, S::Error> {
    let Finish { mut select, order, verdicts, summary, inputs } =
        S::finish(settings, facts, units)?;
    let notes = Notes {
        inputs: inputs.unwrap_or(notes.inputs),
        verdicts,
        summary: lasting::<S>(&summary),
        files: S::FILES.iter().map(ToString::to_string).collect(),
        ..notes
    };
    let order = order.unwrap_or_else(|| (0..units.units.len()).collect());
    let mut tally = Tally::of("rows");
    tally.read(units.units.iter().map(|unit| unit.rows).sum());
    let counts = Mutex::new(tally);
    let rows = units.rows_in(order).filter_map(|row| match row {
        Ok((unit, row)) => {
            let (fate, row) = match select(unit, row) {
                Selected::Row(row) => ("written", Some(Ok(row))),
                Selected::Dropped(reason) => (reason, None),
                Selected::Failed(error) => return Some(Err(error)),
            };
            lock(&counts).became(fate, 1);
            row
        }
        Err(error) => Some(Err(error)),
    });
    builder.finish_checked(rows, notes, |out| lock(&counts).check(out))?;
    Ok(summary)
}

/// The data set of one share: rows as they are, and what joins them with the others'.
fn share_out<S: Stage>(
    builder: Builder<S::Row>,
    settings: &Value,
    shared: Shared,
    facts: S::Facts,
    units: &Units<S::Row>,
    notes: Notes,
) -> Result<S::Summary, S::Error> {
    let Finish { verdicts, summary, .. } = S::finish(settings, facts, units)?;
    let lasting = lasting::<S>(&summary);
    let files = S::FILES.iter().map(ToString::to_string).collect();
    let notes = Notes { verdicts, summary: lasting, files, share: Some(shared), ..notes };
    let rows = units.rows().map(|row| row.map(|(_, row)| row));
    builder.finish_with(rows, notes)?;
    Ok(summary)
}

/// The summary as the manifest holds it: nothing that depends on the clock or on what was cached.
fn lasting<S: Stage>(summary: &S::Summary) -> Value {
    let mut summary = serde_json::to_value(summary).unwrap_or_default();
    if let Some(object) = summary.as_object_mut() {
        let clock = ["seconds", "host_seconds"];
        object.retain(|key, _| !clock.iter().chain(S::OF_THIS_RUN).any(|other| key == other));
    }
    summary
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Items that are worked on and kept together.
struct Batch<I> {
    name: String,
    items: Vec<I>,
}

/// What was read: the units in the order of their items, and the parts they are in.
#[derive(Default)]
struct Read {
    units: Vec<Unit>,
    parts: Vec<String>,
    /// All items of the job, those of other shares too.
    items: u64,
    left: u64,
}

impl Read {
    /// The same without the units of these parts: they are left.
    fn without(mut self, late: &HashSet<String>) -> Read {
        let mut kept = Vec::new();
        let mut indices = Vec::new();
        for part in self.parts {
            indices.push((!late.contains(&part)).then_some(kept.len()));
            kept.extend((!late.contains(&part)).then_some(part));
        }
        self.units.retain_mut(|unit| match indices[unit.part] {
            Some(index) => {
                unit.part = index;
                true
            }
            None => {
                self.left += unit.items;
                false
            }
        });
        Read { parts: kept, ..self }
    }

    /// Where the rows of each unit are.
    fn units<T: crate::Row>(&self, builder: &Builder<T>) -> Result<Units<T>, Error> {
        let counts: Vec<Vec<u64>> =
            self.parts.iter().map(|part| builder.counts(part)).collect::<Result<_, _>>()?;
        let mut offsets = vec![(0_usize, 0_u64); self.parts.len()];
        let units = self.units.iter().map(|unit| {
            let (index, offset) = &mut offsets[unit.part];
            let rows = counts[unit.part].get(*index).copied().unwrap_or_default();
            let unit = Unit { rows, offset: *offset, ..unit.clone() };
            *index += 1;
            *offset += rows;
            unit
        });
        let parts = self.parts.iter().map(|part| builder.part(part)).collect();
        let (units, left) = (units.collect(), self.left);
        Ok(Units { units, parts, left, elsewhere: None, row: PhantomData })
    }
}

struct Work<'a, S: Stage> {
    stage: &'a S,
    context: &'a Context<'a>,
    builder: &'a Builder<S::Row>,
    started: Instant,
    facts: Mutex<S::Facts>,
    failed: Mutex<Option<S::Error>>,
    has_failed: AtomicBool,
    /// The first fault of the machine, and how many items are without rows for such.
    faults: Mutex<(Option<S::Error>, u64)>,
    /// Faults since an item had rows.
    in_a_row: AtomicUsize,
    /// Parts that a later run is to make again.
    for_now: Mutex<Vec<String>>,
    /// Parts that waited for a thread when the time was up.
    late: Mutex<HashSet<String>>,
}

impl<'a, S: Stage> Work<'a, S> {
    fn new(
        stage: &'a S,
        context: &'a Context<'a>,
        builder: &'a Builder<S::Row>,
        started: Instant,
    ) -> Work<'a, S> {
        Work {
            stage,
            context,
            builder,
            started,
            facts: Mutex::default(),
            failed: Mutex::new(None),
            has_failed: AtomicBool::new(false),
            faults: Mutex::new((None, 0)),
            in_a_row: AtomicUsize::new(0),
            for_now: Mutex::default(),
            late: Mutex::default(),
        }
    }

    fn all(&self, items: Source<'_, S>) -> Result<Read, S::Error> {
        let read = self.work_all(items);
        let failed = lock(&self.failed).take();
        let read = match (failed, read) {
            (Some(error), _) | (None, Err(error)) => Err(error),
            (None, Ok(read)) => self.whole(read),
        };
        if read.is_err() {
            for part in lock(&self.for_now).drain(..) {
                self.builder.remove(&part);
            }
        }
        read
    }

    /// All is done, or an error.
    fn whole(&self, read: Read) -> Result<Read, S::Error> {
        let done = read.parts.iter().filter(|part| self.has(part)).count();
        let cut_short = (self.is_cancelled() || self.gives_up()) && read.left > 0;
        if done == read.parts.len() && !cut_short {
            return Ok(read);
        }
        if self.is_cancelled() {
            let done = read.units.iter().filter(|unit| self.has(&read.parts[unit.part])).count();
            let kept = self.builder.unfinished().to_owned();
            return Err(Error::Cancelled { units: S::UNITS, done: done as u64, kept }.into());
        }
        match std::mem::take(&mut *lock(&self.faults)) {
            (Some(first), count) => {
                let (units, first) = (S::UNITS, first.to_string());
                let kept = self.builder.unfinished().to_owned();
                if self.gives_up() {
                    let faults = FAULTS_IN_A_ROW;
                    return Err(Error::GaveUp { units, faults, first, kept }.into());
                }
                Err(Error::Faults { units, count, of: read.items, first, kept }.into())
            }
            (None, _) => Err(Error::shard(self.builder.unfinished(), "a part is gone").into()),
        }
    }

    fn work_all(&self, items: Source<'_, S>) -> Result<Read, S::Error> {
        let sequential = self.stage.is_sequential();
        let threads = if sequential { 1 } else { self.stage.threads(self.context.jobs).max(1) };
        // Few enough wait for a thread that memory stays bounded.
        let (tx, rx) = sync_channel::<Batch<S::Item>>(threads);
        let rx = Mutex::new(rx);
        std::thread::scope(|scope| {
            for _ in 0..threads {
                let thread = std::thread::Builder::new().stack_size(STACK);
                thread
                    .spawn_scoped(scope, || self.thread(&rx))
                    .map_err(Error::file("start a thread for", self.builder.unfinished()))?;
            }
            let mut read = Read::default();
            let mut known: HashMap<String, usize> = HashMap::new();
            let size = self.stage.batch_size().max(1);
            let mut batch: Vec<(String, S::Item)> = Vec::new();
            let mut bytes = 0;
            let send = |read: &mut Read, batch: &mut Vec<(String, S::Item)>| {
                let name = part::name(batch.iter().map(|(key, _)| key.as_str()));
                read.parts.push(name.clone());
                let items = batch.drain(..).map(|(_, item)| item).collect();
                // The threads end only when nothing more can come.
                let _ = tx.send(Batch { name, items });
            };
            for met in items.all {
                let Met { item, key, is_own } = met?;
                let position = read.items;
                read.items += 1;
                if !is_own {
                    continue;
                }
                if let Some(index) = known.get(&key) {
                    let first: &mut Unit = &mut read.units[*index];
                    first.items += 1;
                    self.stage.observe(&item, None, &mut lock(&self.facts));
                    self.context.progress.advance(1);
                    continue;
                }
                if self.stops() || self.is_late() && !self.has(&key) {
                    read.left += 1;
                    if self.has_failed.load(Ordering::Relaxed) || self.gives_up() {
                        break;
                    }
                    continue;
                }
                known.insert(key.clone(), read.units.len());
                let part = read.parts.len();
                let unit = Unit { key: key.clone(), position, items: 1, rows: 0, part, offset: 0 };
                read.units.push(unit);
                bytes += self.stage.size_bytes(&item);
                batch.push((key, item));
                if batch.len() == size || bytes >= BATCH_BYTES {
                    send(&mut read, &mut batch);
                    bytes = 0;
                }
            }
            if !batch.is_empty() {
                send(&mut read, &mut batch);
            }
            drop(tx);
            Ok(read)
        })
        .map(|read| read.without(&lock(&self.late)))
    }

    fn thread(&self, rx: &Mutex<Receiver<Batch<S::Item>>>) {
        let mut worker = None;
        loop {
            let batch = lock(rx).recv();
            let Ok(batch) = batch else { return };
            if self.stops() {
                continue;
            }
            if self.is_late() && !self.has(&batch.name) {
                lock(&self.late).insert(batch.name);
                continue;
            }
            let units = batch.items.len() as u64;
            match self.one(&mut worker, batch) {
                Ok(()) => self.in_a_row.store(0, Ordering::Relaxed),
                Err(_) if self.is_cancelled() => {}
                // Of a sequential stage nothing that follows can be known.
                Err(error) if S::is_fault(&error) && !self.stage.is_sequential() => {
                    tracing::info!(stage = S::NAME, %error, units, "this machine failed");
                    self.in_a_row.fetch_add(1, Ordering::Relaxed);
                    let mut faults = lock(&self.faults);
                    faults.0.get_or_insert(error);
                    faults.1 += units;
                }
                Err(error) => {
                    lock(&self.failed).get_or_insert(error);
                    self.has_failed.store(true, Ordering::Relaxed);
                }
            }
            self.context.progress.advance(units);
        }
    }

    fn one(&self, worker: &mut Option<S::Worker>, batch: Batch<S::Item>) -> Result<(), S::Error> {
        let Batch { name, items } = batch;
        if self.has(&name) {
            if !S::Facts::COUNTS && !self.stage.is_sequential() {
                return Ok(());
            }
            let rows = self.read_back(&name)?;
            if self.stage.is_sequential() {
                self.stage.resume(self.worker(worker)?, &items, &rows)?;
            }
            self.observe(&items, &rows);
            return Ok(());
        }
        let worked = self.stage.work(self.worker(worker)?, &items)?;
        let for_now = worked.iter().any(|worked| matches!(worked, Worked::ForNow(_)));
        if for_now {
            lock(&self.for_now).push(name.clone());
        }
        if !S::Facts::COUNTS {
            return Ok(self.builder.add_items(&name, worked)?);
        }
        let rows: Vec<Vec<S::Row>> = worked.into_iter().map(Worked::rows).collect();
        self.observe(&items, &rows);
        Ok(self.builder.add_items(&name, rows.into_iter().map(Worked::Rows))?)
    }

    fn worker<'w>(&self, worker: &'w mut Option<S::Worker>) -> Result<&'w mut S::Worker, S::Error> {
        match worker {
            Some(worker) => Ok(worker),
            None => Ok(worker.insert(self.stage.worker()?)),
        }
    }

    fn read_back(&self, name: &str) -> Result<Vec<Vec<S::Row>>, S::Error> {
        let mut rows = self.builder.rows_of(name);
        let mut all = Vec::new();
        for count in self.builder.counts(name)? {
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            all.push(rows.by_ref().take(count).collect::<Result<_, _>>()?);
        }
        Ok(all)
    }

    fn observe(&self, items: &[S::Item], rows: &[Vec<S::Row>]) {
        let mut facts = S::Facts::default();
        for (item, rows) in items.iter().zip(rows) {
            self.stage.observe(item, Some(rows), &mut facts);
        }
        lock(&self.facts).absorb(facts);
    }

    fn has(&self, part: &str) -> bool {
        self.builder.has(part)
    }

    fn is_cancelled(&self) -> bool {
        self.context.cancel.is_cancelled()
    }

    fn is_late(&self) -> bool {
        self.context.time.is_some_and(|time| self.started.elapsed() > time)
    }

    /// Whether the machine fails so often that there is no point in trying on.
    fn gives_up(&self) -> bool {
        self.in_a_row.load(Ordering::Relaxed) >= FAULTS_IN_A_ROW
    }

    fn stops(&self) -> bool {
        self.is_cancelled() || self.has_failed.load(Ordering::Relaxed) || self.gives_up()
    }
}
