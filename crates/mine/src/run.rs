use crate::{
    Cache, Error, Progress, Report, Result, Spec, Suite, find,
    packed::Packed,
    report::Counter,
    row::{ContentFile, LICENSE, SOURCE, UNAVAILABLE},
    source::Context,
};
use dataset::{
    Input, Language, Licenses, Signature, families, partial_folder,
    stage::{self, Finish, Items, Selected, Stage, Unit, Units, Worked},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

/// What to mine, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// Sources as [`Spec::parse`] reads them.
    pub sources: Vec<String>,
    /// Files under other licenses are rejected.
    pub licenses: Licenses,
    /// OpenCL C, wherever it stands, or the C programs of the sources.
    pub language: Language,
    /// Folder of the cache; see [`Cache::at`].
    pub cache: Option<PathBuf>,
    /// Fetch nothing: use what is in the cache.
    pub offline: bool,
    /// The published suite that the sources are: its files are built as its host programs build them.
    pub suite: Option<&'static Suite>,
}

/// The stage that makes [`ContentFile`]s of sources.
///
/// A source that is unavailable is a row of verdict `source-unavailable`; a run that is resumed tries it
/// again.
pub struct Mine<'a> {
    options: Options,
    specs: Vec<Spec>,
    cache: Cache,
    threads: rayon::ThreadPool,
    cancelled: Arc<AtomicBool>,
    progress: &'a dyn Progress,
}

/// A source to mine: an item of [`Mine`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// As it is written.
    pub source: String,
    /// Of a repository that a search found: the SPDX expression stated there, or empty.
    pub found: Option<String>,
    /// Why a list or a search could not be replaced by what it stands for.
    pub unavailable: Option<String>,
}

impl dataset::Row for Item {
    const SCHEMA: &'static str = "mine-source";
    const VERSION: u32 = 1;
}

impl<'a> Mine<'a> {
    /// Read the sources as they are written. Downloads end, and are told of, as those of a run in
    /// `context`.
    ///
    /// # Errors
    /// When there is none, or one is written in no known way.
    pub fn new(options: Options, context: &stage::Context<'a>) -> Result<Mine<'a>> {
        if options.sources.is_empty() {
            return Err(Error::NoSources(Spec::forms()));
        }
        let specs = options
            .sources
            .iter()
            .map(|text| Spec::parse(text).map_err(|error| gone(error, text, &context.out)))
            .collect::<Result<_>>()?;
        let jobs = context.jobs;
        let threads = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
        let threads =
            threads.map_err(|error| Error::Threads { jobs, reason: error.to_string() })?;
        let cache = Cache::at(options.cache.clone());
        let (cancelled, progress) = (context.cancel.flag(), context.progress);
        Ok(Mine { options, specs, cache, threads, cancelled, progress })
    }

    fn context(&self) -> Context<'_> {
        Context {
            cache: &self.cache,
            offline: self.options.offline,
            cancelled: &self.cancelled,
            progress: self.progress,
        }
    }

    fn one(&self, item: &Item) -> Result<Vec<Packed>> {
        let spec = item.source.as_str();
        if let Some(reason) = &item.unavailable {
            return Err(Error::unavailable(spec, reason));
        }
        let context = self.context();
        context.check()?;
        // A folder or file may be gone since it was named.
        let source = Spec::again(spec, item.found.as_deref())
            .map_err(|error| Error::unavailable(spec, error))?;
        let package = source.source.fetch(&context)?;
        context.check()?;
        let (licenses, language) = (self.options.licenses, self.options.language);
        let (suite, cancelled) = (self.options.suite, &*self.cancelled);
        let rows = self.threads.install(|| {
            find::rows_of(&package, spec, licenses, language, suite, &|_| true, cancelled)
        });
        context.check()?;
        let kernels: u64 = rows.iter().map(|row| row.row().kernels).sum();
        let files = rows.iter().filter(|row| row.row().is_accepted()).count();
        self.progress.message(&format!("{spec}: {files} content files, {kernels} kernels"));
        Ok(rows)
    }
}

impl Stage for Mine<'_> {
    const NAME: &'static str = "mine";
    const UNITS: &'static str = "sources";
    type Item = Item;
    type Row = ContentFile;
    type Facts = ();
    type Summary = Report;
    type Worker = ();
    type Error = Error;

    fn settings(&self) -> Value {
        let mut settings = serde_json::json!({
            "sources": self.options.sources,
            "licenses": format!("{:?}", self.options.licenses).to_lowercase(),
            "family_threshold": dataset::FAMILY_THRESHOLD,
        });
        if self.options.language != Language::OpenCl {
            settings["language"] = self.options.language.name().into();
        }
        if let Some(suite) = self.options.suite {
            settings["suite"] = suite.source.clone().into();
        }
        settings
    }

    /// Versions of packages are in their rows: see [`Stage::finish`].
    fn inputs(&self) -> Result<Vec<Input>> {
        Ok(Vec::new())
    }

    /// Lists and searches are replaced by what they stand for.
    fn items(&self) -> Result<Items<'_, Self>> {
        let items = members(&self.specs, &self.context())?;
        Ok(Items { total: Some(items.len() as u64), all: Box::new(items.into_iter().map(Ok)) })
    }

    fn key(&self, item: &Item) -> String {
        item.source.clone()
    }

    fn worker(&self) -> Result<()> {
        Ok(())
    }

    fn work(&self, (): &mut (), items: &[Item]) -> Result<Vec<Worked<ContentFile>>> {
        let rows = |item: &Item| match self.one(item) {
            Ok(rows) => Ok(Worked::Streamed(Box::new(rows.into_iter().map(Packed::unpack)))),
            Err(Error::Unavailable { reason, .. }) => {
                self.progress.message(&format!("{} is unavailable: {reason}", item.source));
                Ok(Worked::ForNow(vec![unavailable(&item.source, reason)]))
            }
            Err(error) => Err(error),
        };
        items.iter().map(rows).collect()
    }

    /// Sources in the order of their names, unavailable ones behind the others, files in that of their
    /// paths.
    fn finish<'a>(
        _: &'a Value,
        (): (),
        units: &'a Units<ContentFile>,
    ) -> Result<Finish<'a, ContentFile, Report>> {
        let winners = winners(units)?;
        let (report, packages) = count(units, &winners)?;
        let name = |index: &usize| units.all()[*index].key.as_str();
        let mut order: Vec<usize> = (0..units.all().len()).collect();
        let is_unavailable =
            |index: &usize| packages.get(name(index)).is_some_and(|package| package.is_unavailable);
        order.sort_by_key(|index| (is_unavailable(index), name(index)));
        let available = order.iter().filter(|index| !is_unavailable(index)).map(name);
        let inputs = available.map(|key| {
            let none = Package::default();
            let Package { ids, version, .. } = packages.get(key).unwrap_or(&none);
            let hash = dataset::content_hash_of(ids.iter().map(String::as_bytes));
            let name = [key, version].join(" ").trim_end().to_owned();
            Input { name, hash }
        });
        let inputs = Some(inputs.collect());
        let mut license_texts = HashSet::new();
        let select = move |_: &Unit, mut row: ContentFile| {
            if row.kind == LICENSE && !license_texts.insert(row.id.clone()) {
                return Selected::Dropped("a known text of a license");
            }
            match judge(&winners, &mut row) {
                true => Selected::Row(row),
                false => Selected::Dropped("a duplicate"),
            }
        };
        let verdicts = report.verdicts.clone();
        let (select, order) = (Box::new(select), Some(order));
        Ok(Finish { select, order, verdicts, summary: report, inputs })
    }
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

/// Lists and searches replaced by what they stand for.
fn members(specs: &[Spec], context: &Context<'_>) -> Result<Vec<Item>> {
    let mut items = Vec::new();
    for spec in specs {
        context.check()?;
        let source = spec.text().to_owned();
        match spec.source.members(context) {
            Ok(Some(specs)) => items.extend(members(&specs, context)?),
            Ok(None) => {
                items.push(Item { source, found: spec.source.found(), ..Item::default() });
            }
            Err(Error::Unavailable { reason, .. }) => {
                items.push(Item { source, unavailable: Some(reason), ..Item::default() });
            }
            Err(error) => return Err(error),
        }
    }
    Ok(items)
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

/// Package, version, path and source of a file.
type Origin = (String, String, String, String);

fn origin(row: &ContentFile) -> Origin {
    (row.package.clone(), row.version.clone(), row.path.clone(), row.source.clone())
}

/// The one file that stands for all of the same text.
struct Winner {
    origin: Origin,
    /// How many others there are.
    others: u64,
    family: String,
}

/// The winners by the content hash of their texts. Only what decides is in memory: the texts may not fit
/// in it together.
fn winners(units: &Units<ContentFile>) -> Result<HashMap<String, Winner>> {
    let mut winners: BTreeMap<String, (Winner, Vec<u32>)> = BTreeMap::new();
    for row in units.rows() {
        let (_, row) = row?;
        if !row.is_accepted() {
            continue;
        }
        let origin = origin(&row);
        match winners.get_mut(&row.id) {
            None => {
                let winner = Winner { origin, others: 0, family: String::new() };
                winners.insert(row.id, (winner, row.signature));
            }
            Some((winner, signature)) => {
                winner.others += 1;
                if origin < winner.origin {
                    winner.origin = origin;
                    *signature = row.signature;
                }
            }
        }
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
    Ok(winners.collect())
}

/// Whether a row stands in the data set; one that does is told its family and its duplicates.
fn judge(winners: &HashMap<String, Winner>, row: &mut ContentFile) -> bool {
    let Some(winner) = winners.get(&row.id).filter(|_| row.is_accepted()) else { return true };
    row.duplicates = winner.others;
    row.family.clone_from(&winner.family);
    winner.origin == origin(row)
}

/// What the rows of one source say of it.
#[derive(Default)]
struct Package {
    ids: Vec<String>,
    version: String,
    is_unavailable: bool,
}

/// The report, and each source by its name.
fn count<'a>(
    units: &'a Units<ContentFile>,
    winners: &HashMap<String, Winner>,
) -> Result<(Report, HashMap<&'a str, Package>)> {
    let mut counter = Counter::new(units.all().len() as u64);
    let mut packages: HashMap<&str, Package> = HashMap::new();
    for row in units.rows() {
        let (unit, mut row) = row?;
        let package = packages.entry(&unit.key).or_default();
        package.ids.push(row.id.clone());
        package.version.clone_from(&row.version);
        package.is_unavailable |= row.verdict == UNAVAILABLE;
        match judge(winners, &mut row) {
            true => counter.row(&row),
            false => counter.duplicate(&row),
        }
    }
    Ok((counter.finish(), packages))
}
