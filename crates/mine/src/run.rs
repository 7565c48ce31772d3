use crate::{
    Cache, Error, Progress, Report, Result, Spec, find,
    report::Counter,
    row::{ContentFile, LICENCE, SOURCE, UNAVAILABLE},
    source::Context,
};
use dataset::{
    Builder, Input, Language, Licences, Notes, Signature, Tally, families, partial_folder,
};
use rayon::prelude::*;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError, atomic::AtomicBool},
    time::Instant,
};

/// What to mine, and how.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// Sources as [`Spec::parse`] reads them.
    pub sources: Vec<String>,
    /// Folder of the data set.
    pub out: PathBuf,
    /// Replace what is there.
    pub force: bool,
    /// Files under other licences are turned away.
    pub licences: Licences,
    /// OpenCL C, wherever it stands, or the C programs of the sources.
    pub language: Language,
    /// Threads; 0 for one per core.
    pub jobs: usize,
    /// Folder of the cache; see [`Cache::at`].
    pub cache: Option<PathBuf>,
    /// Fetch nothing: use what is in the cache.
    pub offline: bool,
    /// Set it to stop; what is done by then is kept for the next run.
    pub cancelled: &'a AtomicBool,
}

/// Make a data set of [`ContentFile`]s from sources.
///
/// Each source is a part of the unfinished data set: a run that was stopped goes on with the
/// sources that are still to do, and ends with the bytes it would have had at once. A source that
/// cannot be had is a row of verdict `source-unavailable`.
///
/// # Errors
/// When a source is written in no known way, the output cannot be written or is there already, or
/// the user stops the run.
pub fn run(options: &Options<'_>, progress: &dyn Progress) -> Result<Report> {
    let started = Instant::now();
    let cache = Cache::at(options.cache.clone());
    let context =
        Context { cache: &cache, offline: options.offline, cancelled: options.cancelled, progress };
    if options.sources.is_empty() {
        return Err(Error::NoSources(Spec::forms()));
    }
    let wanted = options
        .sources
        .iter()
        .map(|text| Spec::parse(text).map_err(|error| gone(error, text, &options.out)))
        .collect::<Result<Vec<_>>>()?;
    let settings = (&options.sources, format!("{:?}", options.licences), options.language.name());
    let builder = Builder::<ContentFile>::create(&options.out, options.force, &settings)?;
    let threads = rayon::ThreadPoolBuilder::new()
        .num_threads(options.jobs)
        .build()
        .map_err(|error| Error::Threads { jobs: options.jobs, reason: error.to_string() })?;
    let (specs, mut failed) = members(wanted, &context)?;
    progress.begin("sources", specs.len() as u64);
    let newly_failed = Mutex::new(Vec::new());
    threads.install(|| {
        specs.par_iter().with_max_len(1).try_for_each(|spec| {
            context.check()?;
            if !builder.has(spec.text()) {
                match one(spec, &context, options) {
                    Ok(rows) => builder.add(spec.text(), rows)?,
                    // No part is kept of it: the next run tries again.
                    Err(Error::Unavailable { reason, .. }) => {
                        progress.message(&format!("{} is unavailable: {reason}", spec.text()));
                        let row = unavailable(spec.text(), reason);
                        newly_failed.lock().unwrap_or_else(PoisonError::into_inner).push(row);
                    }
                    Err(error) => return Err(error),
                }
            }
            progress.advance(1);
            Ok(())
        })
    })?;
    failed.extend(newly_failed.into_inner().unwrap_or_else(PoisonError::into_inner));
    failed.sort_by(|a, b| a.source.cmp(&b.source));
    let mut keys: Vec<&str> = specs.iter().map(Spec::text).filter(|key| builder.has(key)).collect();
    keys.sort_unstable();
    context.check()?;
    progress.message("removing duplicates, grouping families");
    let choice = threads.install(|| choose(&builder, &keys))?;
    let counter = finish(builder, &keys, &choice, failed, options)?;
    let report = Report { seconds: started.elapsed().as_secs_f64(), ..counter };
    Ok(report)
}

/// What to say of a source that cannot be read as one, where a stopped run has left something.
fn gone(error: Error, text: &str, out: &Path) -> Error {
    match partial_folder(out) {
        Ok(partial) if partial.is_dir() && Spec::is_gone(text) => {
            Error::SourceGone { spec: text.to_owned(), partial }
        }
        _ => error,
    }
}

/// Lists and searches replaced by what they stand for; each source once.
fn members(wanted: Vec<Spec>, context: &Context<'_>) -> Result<(Vec<Spec>, Vec<ContentFile>)> {
    let mut failed = Vec::new();
    let mut specs: Vec<Spec> = Vec::new();
    let mut seen = HashSet::new();
    let mut open: Vec<Spec> = wanted.into_iter().rev().collect();
    while let Some(spec) = open.pop() {
        context.check()?;
        match spec.source.members(context) {
            Ok(Some(members)) => open.extend(members.into_iter().rev()),
            Ok(None) => {
                if seen.insert(spec.text().to_owned()) {
                    specs.push(spec);
                }
            }
            Err(Error::Unavailable { reason, .. }) => failed.push(unavailable(spec.text(), reason)),
            Err(error) => return Err(error),
        }
    }
    Ok((specs, failed))
}

fn one(spec: &Spec, context: &Context<'_>, options: &Options<'_>) -> Result<Vec<ContentFile>> {
    let package = spec.source.fetch(context)?;
    context.check()?;
    let rows = find::rows(&package, spec.text(), options.licences, options.language);
    let kernels: u64 = rows.iter().map(|row| row.kernels).sum();
    let files = rows.iter().filter(|row| row.is_accepted()).count();
    context.progress.message(&format!("{}: {files} content files, {kernels} kernels", spec.text()));
    Ok(rows)
}

fn unavailable(spec: &str, reason: String) -> ContentFile {
    let name = spec.split_once(':').map_or(spec, |(_, name)| name);
    ContentFile {
        kind: SOURCE.to_owned(),
        source: spec.to_owned(),
        package: name.split(['@', '#']).next().unwrap_or(name).to_owned(),
        verdict: UNAVAILABLE.to_owned(),
        detail: reason,
        ..ContentFile::default()
    }
}

/// Of each text the one place that stands for all, with the number of the others and its family.
struct Choice {
    /// By content hash: package, version, path of the winner; duplicates; family.
    winners: HashMap<String, Winner>,
}

struct Winner {
    place: (String, String, String, String),
    others: u64,
    family: String,
}

/// Id, place and signature of a content file.
type Found = (String, (String, String, String, String), Vec<u32>);

/// Look through all parts. Only what decides is kept: the texts may not fit in memory together.
fn choose(builder: &Builder<ContentFile>, keys: &[&str]) -> Result<Choice> {
    let found: Vec<Vec<Found>> = keys
        .par_iter()
        .map(|key| {
            builder
                .rows_of(key)
                .filter(|row| row.as_ref().map_or(true, |row| row.is_accepted()))
                .map(|row| row.map(|row| (row.id.clone(), place(&row), row.signature)))
                .collect::<dataset::Result<Vec<_>>>()
        })
        .collect::<dataset::Result<_>>()?;
    let mut winners: BTreeMap<String, (Winner, Vec<u32>)> = BTreeMap::new();
    for (id, place, signature) in found.into_iter().flatten() {
        let winner = Winner { place: place.clone(), others: 0, family: String::new() };
        winners
            .entry(id)
            .and_modify(|(known, kept)| {
                known.others += 1;
                if place < known.place {
                    known.place = place;
                    kept.clone_from(&signature);
                }
            })
            .or_insert((winner, signature));
    }
    let ids: Vec<String> = winners.keys().cloned().collect();
    let empty = Signature::of([]);
    let signatures: Vec<Signature> = winners
        .values()
        .map(|(_, values)| Signature::from_values(values).unwrap_or_else(|| empty.clone()))
        .collect();
    let firsts = families(&signatures);
    let winners = winners.into_iter().zip(firsts);
    let winners = winners
        .map(|((id, (winner, _)), first)| (id, Winner { family: ids[first].clone(), ..winner }));
    Ok(Choice { winners: winners.collect() })
}

fn place(row: &ContentFile) -> (String, String, String, String) {
    (row.package.clone(), row.version.clone(), row.path.clone(), row.source.clone())
}

/// Decides row by row what stands in the data set.
struct Selector<'a> {
    choice: &'a Choice,
    licence_texts: HashSet<String>,
}

enum Selected {
    Row(Box<ContentFile>),
    Duplicate(Box<ContentFile>),
    /// A licence text that stands there already.
    Known,
}

impl Selector<'_> {
    fn new(choice: &Choice) -> Selector<'_> {
        Selector { choice, licence_texts: HashSet::new() }
    }

    fn select(&mut self, mut row: ContentFile) -> Selected {
        if row.kind == LICENCE && !self.licence_texts.insert(row.id.clone()) {
            return Selected::Known;
        }
        if row.is_accepted()
            && let Some(winner) = self.choice.winners.get(&row.id)
        {
            if winner.place != place(&row) {
                return Selected::Duplicate(Box::new(row));
            }
            row.duplicates = winner.others;
            row.family.clone_from(&winner.family);
        }
        Selected::Row(Box::new(row))
    }
}

/// Write the data set: parts in the order of their names, files in that of their paths.
///
/// The parts are read twice, once for the counts that the manifest holds: together they may not
/// fit in memory.
fn finish(
    builder: Builder<ContentFile>,
    keys: &[&str],
    choice: &Choice,
    failed: Vec<ContentFile>,
    options: &Options<'_>,
) -> Result<Report> {
    let mut counter = Counter::new((keys.len() + failed.len()) as u64);
    let mut inputs = Vec::new();
    let mut tally = Tally::of("files");
    let mut wanted = failed.len() as u64;
    let mut selector = Selector::new(choice);
    for key in keys {
        let mut ids = Vec::new();
        let mut version = String::new();
        for row in builder.rows_of(key) {
            let row = row?;
            ids.push(row.id.clone());
            version.clone_from(&row.version);
            tally.read(1);
            match selector.select(row) {
                Selected::Row(row) => {
                    tally.became("kept", 1);
                    wanted += 1;
                    counter.row(&row);
                }
                Selected::Duplicate(row) => {
                    tally.became("duplicates", 1);
                    counter.duplicate(&row);
                }
                Selected::Known => tally.became("known texts of licenses", 1),
            }
        }
        let hash = dataset::content_hash_of(ids.iter().map(String::as_bytes));
        let name = if version.is_empty() { (*key).to_owned() } else { format!("{key} {version}") };
        inputs.push(Input { name, hash });
    }
    failed.iter().for_each(|row| counter.row(row));
    let report = counter.finish();
    let mut summary = serde_json::to_value(&report).unwrap_or_default();
    if let Some(summary) = summary.as_object_mut() {
        // The same sources make the same manifest, however long it took.
        summary.remove("seconds");
    }
    let mut configuration = serde_json::json!({
        "sources": options.sources,
        "licences": format!("{:?}", options.licences).to_lowercase(),
        "family_threshold": dataset::FAMILY_THRESHOLD,
    });
    if options.language != Language::OpenCl {
        configuration["language"] = options.language.name().into();
    }
    let notes = Notes {
        inputs,
        configuration,
        verdicts: report.verdicts.clone(),
        summary,
        ..Notes::default()
    };
    let parts: Vec<_> = keys.iter().map(|key| builder.rows_of(key)).collect();
    let mut selector = Selector::new(choice);
    let rows = parts
        .into_iter()
        .flatten()
        .filter_map(|row| match row.map(|row| selector.select(row)) {
            Ok(Selected::Row(row)) => Some(Ok(*row)),
            Ok(Selected::Duplicate(_) | Selected::Known) => None,
            Err(error) => Some(Err(error)),
        })
        .chain(failed.into_iter().map(Ok));
    builder.finish_counted(rows, notes, &tally, wanted)?;
    Ok(report)
}
