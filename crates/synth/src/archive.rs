//! Archives: kernels at known points of a space, which searches start from.

use crate::{
    Error, Judge, Target,
    corpus::{called, content},
    exclusion::kernel_of,
    leak_rule,
    proposer::is_summed,
};
use dataset::{
    Code, Dataset, Input, Language, Program, Programs, Row, Verdict,
    stage::{self, Context, Done, Fate, Finish, Items, Selected, Stage, Unit, Units, Worked},
};
use features::FeatureSpace;
use rows::{ArchivedRow, ArchivedVerdict, SteeredRow};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// How often adding to an archive is begun again because another run is at it, or was.
const TRIES: u32 = 20;

/// The archive that ships for searches for these targets, by the name that documents give it: where kernels are joined for one of
/// them, so that something is to be had of it.
#[must_use]
pub fn shipped(targets: &[Target], space: &dyn FeatureSpace) -> Option<String> {
    let is_used = || targets.iter().any(|target| is_summed(target, space));
    (space.joined().is_empty() && is_used()).then(|| format!("datasets/archive-{}", space.name()))
}

/// Add what a search found to the archive at `archive`, in its place: the new one takes it at once, and what other runs add meanwhile
/// is not lost. `context` is of that place.
///
/// # Errors
/// As those of the stage [`Archive`]; [`Error::ReplacedArchive`] where other runs replace it again and again.
pub fn grow(
    archive: &Path,
    found: &Path,
    judge: &Judge,
    context: &Context<'_>,
) -> Result<Done<ArchiveReport>, Error> {
    let context = Context { force: true, share: None, out: archive.to_owned(), ..context.clone() };
    let paths = [archive, found].map(Path::to_owned);
    let mut tries = 0;
    loop {
        tries += 1;
        let both = Archive { is_in_place: true, ..Archive::new(&paths, judge)? };
        match stage::run(&both, &context) {
            Err(Error::ReplacedArchive(_) | Error::Dataset(dataset::Error::Busy(_)))
                if tries < TRIES && !context.cancel.is_cancelled() => {}
            done => return done,
        }
    }
}

/// A kernel with what its text says of it.
fn described(row: ArchivedRow) -> ArchivedRow {
    let id = dataset::content_hash(row.text.as_bytes());
    let tokens = u32::try_from(lexer::tokens(&row.text).count()).unwrap_or(u32::MAX);
    ArchivedRow { id, tokens, ..row }
}

/// A kernel as it was mined; `None` where it is none in OpenCL C.
fn mined(program: Program) -> Option<ArchivedRow> {
    let original_name = called(&program);
    let (Language::OpenCl, Code::Text(text)) = (program.language, program.code) else {
        return None;
    };
    let name = match program.name.as_str() {
        "" => lexer::kernel_names(&text).first().map_or(String::new(), |name| (*name).into()),
        name => name.to_owned(),
    };
    let from = program.provenance;
    Some(described(ArchivedRow {
        text,
        name,
        original_name,
        source: from.source,
        package: from.package,
        version: from.version,
        path: from.path,
        license: from.license,
        license_source: from.license_source,
        family: program.family,
        ..ArchivedRow::default()
    }))
}

/// A kernel that a search found; `is_known` says whether its vector would be found here.
fn found(row: SteeredRow, is_known: bool) -> ArchivedRow {
    described(ArchivedRow {
        original_name: kernel_of(&row.target).to_owned(),
        text: row.text,
        name: row.name,
        path: row.path,
        proposer: row.proposer,
        descends_from: row.descends_from,
        vector: if is_known { row.vector } else { Vec::new() },
        ..ArchivedRow::default()
    })
}

/// A kernel with the verdict that it has beside the others.
fn placed(row: ArchivedRow, fate: Fate) -> ArchivedRow {
    let (verdict, detail) = match (row.vector.is_empty(), fate.is_first()) {
        (true, _) => (ArchivedVerdict::NoVector, String::new()),
        (false, true) => (ArchivedVerdict::Accepted, String::new()),
        (false, false) => {
            (ArchivedVerdict::SamePoint, format!("row {} is at its point", fate.first))
        }
    };
    ArchivedRow { verdict: verdict.to_string(), detail, ..row }
}

/// What decides which kernel stands for a point.
#[derive(Debug, Serialize, Deserialize)]
struct Rank {
    id: String,
    tokens: u32,
    vector: Vec<f64>,
}

impl Row for Rank {
    const SCHEMA: &'static str = ArchivedRow::SCHEMA;
    const VERSION: u32 = ArchivedRow::VERSION;
}

/// A point's name.
fn point(vector: &[f64]) -> String {
    let bytes: Vec<u8> = vector.iter().flat_map(|value| value.to_le_bytes()).collect();
    dataset::content_hash(&bytes)
}

/// Refuse what is no archive of the judge's space.
pub(crate) fn require(path: &Path, judge: &Judge) -> Result<(), Error> {
    if !Dataset::is_at(path) && path.exists() {
        let what = "programs without vectors".to_owned();
        return Err(Error::NoArchive { path: path.to_owned(), what });
    }
    let dataset = Dataset::open(path)?;
    let schema = dataset.manifest().schema.as_str();
    if schema != ArchivedRow::SCHEMA {
        let what = format!("a data set of schema `{schema}`");
        return Err(Error::NoArchive { path: path.to_owned(), what });
    }
    dataset.require(ArchivedRow::SCHEMA, ArchivedRow::VERSION)?;
    let found = dataset.manifest().notes.configuration["space"].as_str().unwrap_or_default();
    let wanted = judge.space().name();
    if found != wanted {
        let (path, found, wanted) = (path.to_owned(), found.to_owned(), wanted.to_owned());
        return Err(Error::OtherArchive { path, found, wanted });
    }
    Ok(())
}

/// Kernels as items, read as they are asked for.
type Kernels<'a> = Box<dyn Iterator<Item = Result<ArchivedRow, Error>> + 'a>;

/// Where kernels come from. What has vectors says whether they would be found here.
#[derive(Debug)]
enum Source {
    Archive(Box<Dataset>, bool),
    Found(Box<Dataset>, bool),
    Programs(Programs),
}

impl Source {
    fn open(path: &Path, judge: &Judge) -> Result<Source, Error> {
        let programs = Programs::open(path)?;
        let Programs::Dataset(dataset) = programs else {
            return Ok(Source::Programs(programs));
        };
        let is_known = judge.has_made(&dataset.manifest().notes);
        Ok(match dataset.manifest().schema.as_str() {
            ArchivedRow::SCHEMA => Source::Archive(dataset, is_known),
            SteeredRow::SCHEMA => Source::Found(dataset, is_known),
            _ => Source::Programs(Programs::Dataset(dataset)),
        })
    }

    /// Its kernels; of an archive those that stand for no point, too.
    fn kernels(&self) -> Result<Kernels<'_>, Error> {
        Ok(match self {
            Source::Archive(dataset, is_known) => {
                let is_known = *is_known;
                let rows = dataset.rows::<ArchivedRow>()?;
                Box::new(rows.map(move |row| -> Result<ArchivedRow, Error> {
                    let row = row?;
                    let vector = if is_known { row.vector.clone() } else { Vec::new() };
                    Ok(described(ArchivedRow { vector, ..row }))
                }))
            }
            Source::Found(dataset, is_known) => {
                let is_known = *is_known;
                let rows = dataset.rows::<SteeredRow>()?;
                Box::new(rows.filter_map(move |row| match row {
                    Ok(row) if row.verdict != Verdict::ACCEPTED => None,
                    Ok(row) => Some(Ok(found(row, is_known))),
                    Err(error) => Some(Err(Error::from(error))),
                }))
            }
            Source::Programs(programs) => {
                Box::new(programs.iter()?.filter_map(|program| match program {
                    Ok(program) => mined(program).map(Ok),
                    Err(error) => Some(Err(Error::from(error))),
                }))
            }
        })
    }

    fn left_out(&self) -> Result<BTreeMap<String, u64>, Error> {
        Ok(match self {
            Source::Archive(..) => BTreeMap::new(),
            Source::Found(dataset, _) => dataset.rejected()?,
            Source::Programs(programs) => programs.left_out()?,
        })
    }
}

/// Makes a data set of kernels at known points of a space ([`ArchivedRow`]): mined ones, those that searches found, and
/// those of other archives. Of several at a point the one with the fewest tokens stands for it.
pub struct Archive<'a> {
    judge: &'a Judge,
    sources: Vec<Source>,
    inputs: Vec<Input>,
    is_leaky: bool,
    /// Whether the data set takes the place of the first of these.
    is_in_place: bool,
}

impl<'a> Archive<'a> {
    /// Of the kernels at these paths: data sets, folders or files of programs.
    ///
    /// # Errors
    /// When one cannot be read.
    pub fn new(paths: &[PathBuf], judge: &'a Judge) -> Result<Archive<'a>, Error> {
        let (mut sources, mut inputs, mut is_leaky) = (Vec::new(), Vec::new(), false);
        for path in paths {
            is_leaky |= leak_rule::was_off(path)?;
            sources.push(Source::open(path, judge)?);
            inputs.push(Input { name: path.display().to_string(), hash: content(path)? });
        }
        Ok(Archive { judge, sources, inputs, is_leaky, is_in_place: false })
    }

    /// Whether the leak rule was off where some of the kernels come from; the archive says so, too.
    #[must_use]
    pub fn is_leaky(&self) -> bool {
        self.is_leaky
    }
}

/// What `steer archive build` prints.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ArchiveReport {
    /// The space.
    pub space: String,
    /// Kernels that were read, those that are equal to others included.
    pub read: u64,
    /// Kernels that stand for a point each.
    pub kernels: u64,
    /// Others at the points of these.
    pub same_point: u64,
    /// Kernels that have no vector in the space.
    pub no_vector: u64,
}

impl Stage for Archive<'_> {
    const NAME: &'static str = "steer archive";
    const UNITS: &'static str = "kernels";
    type Item = ArchivedRow;
    type Row = ArchivedRow;
    type Facts = ();
    type Summary = ArchiveReport;
    type Worker = ();
    type Error = Error;

    fn settings(&self) -> Value {
        let space = self.judge.space();
        let mut settings =
            json!({ "space": space.name(), "spaces": { space.name(): space.dimensions() } });
        if self.is_leaky {
            settings["leak_rule"] = json!(leak_rule::OFF);
        }
        settings
    }

    fn inputs(&self) -> Result<Vec<Input>, Error> {
        Ok(self.inputs.clone())
    }

    fn left_out(&self) -> Result<BTreeMap<String, u64>, Error> {
        let mut all: BTreeMap<String, u64> = BTreeMap::new();
        for source in &self.sources {
            for (verdict, count) in source.left_out()? {
                *all.entry(verdict).or_default() += count;
            }
        }
        Ok(all)
    }

    fn items(&self) -> Result<Items<'_, Self>, Error> {
        // Nobody else writes there now: what is there is what was read, or what another run made meanwhile.
        if let Some(first) = self.inputs.first().filter(|_| self.is_in_place)
            && content(Path::new(&first.name))? != first.hash
        {
            return Err(Error::ReplacedArchive(first.name.clone().into()));
        }
        let mut each = Vec::new();
        for source in &self.sources {
            each.push(source.kernels()?);
        }
        Ok(Items { total: None, all: Box::new(each.into_iter().flatten()) })
    }

    fn key(&self, item: &ArchivedRow) -> String {
        let pieces = [&item.id, &item.original_name, &item.family];
        dataset::content_hash_of(pieces.map(|piece| piece.as_bytes()))
    }

    fn batch_size(&self) -> usize {
        64
    }

    fn size_bytes(&self, item: &ArchivedRow) -> usize {
        item.text.len()
    }

    /// The judge compiles with all threads by itself.
    fn threads(&self, _: usize) -> usize {
        1
    }

    fn worker(&self) -> Result<(), Error> {
        Ok(())
    }

    fn work(&self, (): &mut (), items: &[ArchivedRow]) -> Result<Vec<Worked<ArchivedRow>>, Error> {
        let unknown = items.iter().filter(|item| !self.judge.is_vector(&item.vector));
        let unknown: Vec<&str> = unknown.map(|item| item.text.as_str()).collect();
        let mut vectors = self.judge.judge(&unknown)?.into_iter();
        let space = self.judge.space().name();
        let mut worked = Vec::new();
        for item in items {
            let vector = match self.judge.is_vector(&item.vector) {
                true => item.vector.clone(),
                false => vectors.next().flatten().unwrap_or_default(),
            };
            let row = ArchivedRow { space: space.to_owned(), vector, ..item.clone() };
            worked.push(Worked::Rows(vec![row]));
        }
        Ok(worked)
    }

    fn is_fault(error: &Error) -> bool {
        error.is_fault()
    }

    fn tools(&self) -> BTreeMap<String, String> {
        self.judge.tools()
    }

    fn finish<'b>(
        settings: &'b Value,
        (): (),
        units: &'b Units<ArchivedRow>,
    ) -> Result<Finish<'b, ArchivedRow, ArchiveReport>, Error> {
        let many = units.all().iter().map(|unit| unit.rows).sum();
        let ranked = |row: Rank| (point(&row.vector), format!("{:010} {}", row.tokens, row.id));
        let ranks = units.views::<Rank>().map(|row| row.map(|(_, row)| ranked(row)));
        let mut fates = units.ranked(many, ranks)?;
        let space = settings["space"].as_str().unwrap_or_default().to_owned();
        let read = units.items();
        let mut report = ArchiveReport { space, read, ..ArchiveReport::default() };
        for row in units.views::<Rank>() {
            let (_, row) = row?;
            let is_first = fates.next(&point(&row.vector))?.is_first();
            match (row.vector.is_empty(), is_first) {
                (true, _) => report.no_vector += 1,
                (false, true) => report.kernels += 1,
                (false, false) => report.same_point += 1,
            }
        }
        let counts = [
            (ArchivedVerdict::Accepted, report.kernels),
            (ArchivedVerdict::SamePoint, report.same_point),
            (ArchivedVerdict::NoVector, report.no_vector),
        ];
        let counts = counts.into_iter().filter(|(_, count)| *count > 0);
        let verdicts = counts.map(|(word, count)| (word.to_string(), count)).collect();
        let mut fates = fates.again()?;
        let select = move |_: &Unit, row: ArchivedRow| match fates.next(&point(&row.vector)) {
            Ok(fate) => Selected::Row(placed(row, fate)),
            Err(error) => Selected::Failed(error),
        };
        let select = Box::new(select);
        Ok(Finish { select, order: None, verdicts, summary: report, inputs: None })
    }
}
