//! Mined kernels to start from, without the ones that would give the answer away.

use crate::{
    Error,
    clock::{Budget, Clock},
    exclusion::{Exclusion, kernel_of},
    judge::{Judge, Location},
    kept::Kept,
    leak_rule::{Fate, Rule},
    program::{Ancestors, Program, with_static_helpers},
    target::Target,
    vectors::{Allowance, vectors},
};
use dataset::{Code, Dataset, Language, Programs, Row, Verdict};
use leak::Print;
use lexer::kernel_names;
use rows::{Ancestor, ArchivedRow, ArchivedVerdict, KernelText, Module, SteeredRow};
use std::{
    collections::{BTreeSet, HashMap, HashSet},
    path::Path,
    sync::{Arc, OnceLock},
};

/// How much of a target's time its seeds may take, to be described and looked at by the leak rule.
pub(crate) const SEEDS: f64 = 0.5;

/// A kernel to start from.
#[derive(Debug)]
pub(crate) struct Seed {
    pub(crate) text: String,
    pub(crate) vector: Vec<f64>,
    /// Read when it is first edited.
    program: OnceLock<Option<Program>>,
    /// Itself as it was mined, and what that descends from.
    ancestors: Ancestors,
    /// Index of the mined text that it is, or is made of.
    origin: usize,
}

impl Seed {
    /// Its tree.
    pub(crate) fn read(&self, judge: &Judge) -> Option<&Program> {
        let read = || Some(judge.read_one(&self.text)?.made_of(&self.ancestors));
        self.program.get_or_init(read).as_ref()
    }
}

/// A mined text, and what the leak rule looks at.
#[derive(Debug, Default)]
pub(crate) struct Origin {
    pub(crate) text: String,
    /// Names that it was found under, and those of its kernels and of what it is made of.
    pub(crate) names: BTreeSet<String>,
    pub(crate) families: BTreeSet<String>,
    /// Itself as it was found first, and what that descends from.
    pub(crate) ancestors: Ancestors,
    /// How many rows hold it.
    pub(crate) rows: usize,
    /// Whether it is started from: of several kernels at a point of an archive one is, of those without a vector none.
    pub(crate) is_seed: bool,
    /// Of its kernels; known where they were needed.
    pub(crate) prints: OnceLock<Vec<Print>>,
}

/// Mined kernels with their vectors.
#[derive(Debug, Default)]
pub struct Corpus {
    /// Those that were mined, and behind them what was made of some.
    pub(crate) seeds: Vec<Arc<Seed>>,
    mined: usize,
    excluded: usize,
    /// Those that there was no time for.
    left: usize,
    /// Those that have no vector: what does not compile, and what the space does not describe.
    undescribed: usize,
    /// What the first target's budget is measured by, since the seeds were opened.
    clock: Option<Clock>,
    origins: Arc<[Origin]>,
    rule: Rule,
}

/// Where vectors may be known already.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known<'a> {
    /// A data set of `features`.
    pub(crate) features: Option<&'a Path>,
    /// The folder that keeps what is computed for the next time.
    pub(crate) cache: Option<&'a Path>,
}

impl Corpus {
    /// The kernels at `path` (a data set, a folder or file of programs) that `exclusion` does not
    /// exclude, each text once, described by `judge`; of an archive those that stand for their points. Vectors that stand
    /// there, or in `features`, a data set of that stage, are taken from there; others are kept in the folder `cache` for the
    /// next time, whatever is excluded then.
    ///
    /// # Errors
    /// When they cannot be read, and [`Error::OtherVectors`].
    pub fn open(
        path: &Path,
        exclusion: &Exclusion,
        judge: &Judge,
        features: Option<&Path>,
        cache: Option<&Path>,
    ) -> Result<Corpus, Error> {
        let known = Known { features, cache };
        Corpus::open_within(path, exclusion, judge, known, &Allowance::unlimited())
    }

    /// The same, for as long as a search for a target may be kept from beginning: what was not described, or not looked at, by
    /// then is no seed, and waits for the next run.
    pub(crate) fn open_within(
        path: &Path,
        exclusion: &Exclusion,
        judge: &Judge,
        known: Known<'_>,
        allowance: &Allowance,
    ) -> Result<Corpus, Error> {
        let Known { features, cache } = known;
        let mut given = features.map(|path| given(path, judge)).transpose()?.unwrap_or_default();
        let Mined { rows: all, vectors: archived, descent } = mined(path, judge)?;
        given.extend(archived);
        let identity = all.iter().map(|row| row.text.as_bytes());
        let versions = judge.versions();
        let identity = dataset::content_hash_of(identity.chain([versions.as_bytes()]));
        let weak = if sandbox::is_weak_allowed() { "-weak-sandbox" } else { "" };
        let name = format!("{identity}-{}{weak}.bin", judge.space().name());
        let rule = Rule { exclusion: exclusion.beside(), cache: cache.map(Path::to_owned) };
        let mut origins = origins(all, descent);
        if exclusion.folder_of(path).is_some() {
            let excluded = origins.iter().map(|origin| origin.rows).sum();
            return Ok(Corpus { excluded, rule, ..Corpus::default() });
        }
        let seeds = origins.iter().enumerate().filter(|(_, origin)| origin.is_seed);
        let mut texts: Vec<(usize, String)> =
            seeds.map(|(at, origin)| (at, origin.text.clone())).collect();
        let own = texts.len();
        // Points of a single function are nearer to what keeps no helper beside it.
        let made = |(at, text): &(usize, String)| Some((*at, with_static_helpers(text)?));
        let made: Vec<(usize, String)> = texts.iter().filter_map(made).collect();
        texts.extend(made);
        let end = allowance.clock.but_the_last(1.0 - SEEDS);
        let describing = if exclusion.has_prints() { end.for_the_next(0.5) } else { end.clone() };
        let describing = Allowance { clock: describing, ..allowance.clone() };
        let all: Vec<&str> = texts.iter().map(|(_, text)| text.as_str()).collect();
        let kept = Kept::open(cache, &name);
        let locations = vectors(&all, &given, judge, kept, &describing)?;
        let at = |((origin, _), place): (&(usize, String), &Location)| {
            matches!(place, Location::At(_)).then_some(*origin)
        };
        let started: HashSet<usize> = texts.iter().zip(&locations).filter_map(at).collect();
        let fates = rule.fates(&origins, &started, exclusion, &end)?;
        let is_left = |((origin, _), place): (&(usize, String), &Location)| match fates[*origin] {
            Fate::Free => *place == Location::Unknown,
            Fate::Unseen => true,
            Fate::Excluded => false,
        };
        let left = texts[..own].iter().zip(&locations).filter(|one| is_left(*one)).count();
        let is_free = |at: usize| fates[at] == Fate::Free;
        let undescribed = texts[..own].iter().zip(&locations);
        let undescribed = undescribed
            .filter(|((at, _), place)| is_free(*at) && **place == Location::Nowhere)
            .count();
        let mut mined = 0;
        let mut seeds = Vec::new();
        let places = places(&fates);
        for (number, ((origin, text), location)) in texts.into_iter().zip(locations).enumerate() {
            let ancestors = origins[origin].ancestors.clone();
            let (Some(origin), Location::At(vector)) = (places[origin], location) else { continue };
            mined += usize::from(number < own);
            let program = OnceLock::new();
            seeds.push(Arc::new(Seed { text, vector, program, ancestors, origin }));
        }
        let mut fate = fates.iter();
        let mut excluded = 0;
        origins.retain(|origin| {
            let fate = fate.next().expect("one for each");
            excluded += if *fate == Fate::Excluded { origin.rows } else { 0 };
            *fate == Fate::Free
        });
        let (origins, clock) = (origins.into(), Some(allowance.clock.clone()));
        Ok(Corpus { seeds, mined, excluded, left, undescribed, clock, origins, rule })
    }

    /// The seeds that the leak rule allows in a search for `target`; other targets play no part.
    ///
    /// # Errors
    /// When kernels cannot be looked at for want of clang or LLVM.
    pub fn for_target(&self, target: &Target) -> Result<Corpus, Error> {
        self.for_target_within(target, &Allowance::unlimited().clock)
    }

    /// The same, less those that could not be looked at while the search for it may be kept from beginning.
    pub(crate) fn for_target_within(
        &self,
        target: &Target,
        clock: &Clock,
    ) -> Result<Corpus, Error> {
        let end = clock.for_the_next(SEEDS);
        let mut exclusion = self.rule.exclusion.beside();
        exclusion.add_target(target)?;
        let started: HashSet<usize> = self.seeds.iter().map(|seed| seed.origin).collect();
        let fates = self.rule.fates(&self.origins, &started, &exclusion, &end)?;
        let is_kept = |seed: &&Arc<Seed>| fates[seed.origin] == Fate::Free;
        let excluded = fates.iter().filter(|fate| **fate == Fate::Excluded).count();
        Ok(Corpus {
            seeds: self.seeds.iter().filter(is_kept).cloned().collect(),
            mined: self.seeds[..self.mined].iter().filter(is_kept).count(),
            excluded: self.excluded + excluded,
            left: self.left,
            undescribed: self.undescribed,
            clock: None,
            origins: Arc::clone(&self.origins),
            rule: self.rule.clone(),
        })
    }

    /// How many kernels there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.mined
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.mined == 0
    }

    /// How many were excluded.
    #[must_use]
    pub fn excluded(&self) -> usize {
        self.excluded
    }

    /// How many more there would be, but for those that do not compile, had there been time to describe and look at all.
    #[must_use]
    pub fn left(&self) -> usize {
        self.left
    }

    /// How many were read that are no seeds because they have no vector: they do not compile, or the space does not describe them.
    #[must_use]
    pub fn undescribed(&self) -> usize {
        self.undescribed
    }

    /// What has measured the first target's budget since they were opened.
    pub(crate) fn clock(&self) -> Option<Clock> {
        self.clock.clone()
    }

    /// The same seeds, of whose time the first target is charged at most this share of its budget.
    pub(crate) fn charged(self, budget: Budget, share: f64) -> Corpus {
        let clock = self.clock.map(|clock| clock.spent_at_most(budget, share));
        Corpus { clock, ..self }
    }

    /// The first of the texts that were not excluded, whether or not it compiles.
    pub(crate) fn first_text(&self) -> Option<&str> {
        self.origins.first().map(|origin| origin.text.as_str())
    }

    /// The vectors of mined kernels.
    pub(crate) fn vectors(&self) -> impl Iterator<Item = &[f64]> {
        self.seeds[..self.mined].iter().map(|seed| seed.vector.as_slice())
    }

    /// What the seed of this text descends from; nothing where there is none.
    pub(crate) fn descent_of(&self, text: &str) -> Ancestors {
        let seed = self.seeds.iter().find(|seed| seed.text == text);
        seed.map(|seed| seed.ancestors.clone()).unwrap_or_default()
    }

    /// Whether this seed is as it was mined.
    pub(crate) fn is_mined(&self, index: usize) -> bool {
        index < self.mined
    }
}

/// Vectors of programs by the hash of their text, of a data set of `features`.
fn given(path: &Path, judge: &Judge) -> Result<HashMap<String, Vec<f64>>, Error> {
    let dataset = Dataset::open(path)?;
    let rows = dataset.rows::<features::Row>()?;
    judge
        .agrees_with(&dataset.manifest().notes)
        .map_err(|reason| Error::OtherVectors { path: path.to_owned(), reason })?;
    let mut given = HashMap::new();
    for row in rows {
        let mut row = row?;
        // Of several functions the last is the kernel: it calls the others.
        let vector = match judge.space().joined() {
            [] => row.vectors.remove(judge.space().name()),
            several => several
                .iter()
                .map(|one| row.vectors.remove(one.name()))
                .collect::<Option<Vec<_>>>()
                .map(|all| all.concat()),
        };
        if let Some(vector) = vector {
            given.insert(row.id, vector);
        }
    }
    Ok(given)
}

/// What was read of a data set, folder or file of kernels.
#[derive(Default)]
struct Mined {
    rows: Vec<KernelText>,
    /// Vectors that stand there, by the hash of the text.
    vectors: HashMap<String, Vec<f64>>,
    /// What kernels that a search found descend from, by their texts.
    descent: HashMap<String, Vec<Ancestor>>,
}

/// All kernels at `path`.
fn mined(path: &Path, judge: &Judge) -> Result<Mined, Error> {
    if Dataset::is_at(path) {
        let dataset = Dataset::open(path)?;
        let schema = dataset.manifest().schema.as_str();
        if schema == KernelText::SCHEMA {
            let is_accepted = |row: &dataset::Result<KernelText>| {
                row.as_ref().map_or(true, |row| row.verdict == Verdict::ACCEPTED)
            };
            let rows = dataset.rows::<KernelText>()?.filter(is_accepted);
            return Ok(Mined { rows: rows.collect::<Result<_, _>>()?, ..Mined::default() });
        }
        if schema == ArchivedRow::SCHEMA {
            return archived(&dataset, judge);
        }
        if schema == SteeredRow::SCHEMA {
            return found(&dataset);
        }
        if schema == Module::SCHEMA {
            let (found, wanted) = (schema.to_owned(), KernelText::SCHEMA.to_owned());
            let path = path.to_owned();
            return Err(dataset::Error::Schema { path, found, wanted }.into());
        }
    }
    let mut rows = Vec::new();
    for program in Programs::open(path)?.iter()? {
        let program = program?;
        let original_name = called(&program);
        if let (Language::OpenCl, Code::Text(text)) = (program.language, program.code) {
            rows.push(KernelText {
                text,
                original_name,
                family: program.family,
                package: program.provenance.package,
                path: program.path,
                license: program.provenance.license,
                ..KernelText::default()
            });
        }
    }
    Ok(Mined { rows, ..Mined::default() })
}

/// All kernels of an archive: those without a vector, too, which the leak rule looks at. Where it is one of another space, each
/// of them is as good as the others at its point there.
fn archived(dataset: &Dataset, judge: &Judge) -> Result<Mined, Error> {
    let made = &dataset.manifest().notes;
    let is_of_space = made.configuration["space"] == judge.space().name();
    let is_known = judge.has_made(made);
    let mut mined = Mined::default();
    for row in dataset.rows::<ArchivedRow>()? {
        let row = row?;
        if is_known && judge.is_vector(&row.vector) {
            mined.vectors.insert(dataset::content_hash(row.text.as_bytes()), row.vector);
        }
        mined.descent.insert(row.text.clone(), row.descends_from);
        mined.rows.push(KernelText {
            text: row.text,
            original_name: row.original_name,
            family: row.family,
            package: row.package,
            path: row.path,
            license: row.license,
            verdict: if is_of_space { row.verdict } else { Verdict::ACCEPTED.to_owned() },
        });
    }
    Ok(mined)
}

/// All kernels that a search found.
fn found(dataset: &Dataset) -> Result<Mined, Error> {
    let mut mined = Mined::default();
    for row in dataset.rows::<SteeredRow>()? {
        let row = row?;
        if row.verdict == Verdict::ACCEPTED {
            mined.descent.insert(row.text.clone(), row.descends_from);
            mined.rows.push(KernelText {
                text: row.text,
                original_name: kernel_of(&row.target).to_owned(),
                path: row.path,
                verdict: row.verdict,
                ..KernelText::default()
            });
        }
    }
    Ok(mined)
}

/// Identity of what lies at `path`: a data set by its own, a file by its bytes, a folder by its
/// programs.
pub(crate) fn content(path: &Path) -> Result<String, Error> {
    if Dataset::is_at(path) {
        return Ok(Dataset::open(path)?.manifest().identity.clone());
    }
    if path.is_file() {
        let hash = dataset::content_hash_of_file(path);
        let wrong = |error: std::io::Error| Error::Read {
            path: path.to_owned(),
            reason: error.to_string(),
        };
        return Ok(hash.map_err(wrong)?.1);
    }
    Ok(Programs::open(path)?.identity()?)
}

/// What the leak rule calls a program: its name where it was found, or that of its file.
pub(crate) fn called(program: &dataset::Program) -> String {
    match program.original_name.as_str() {
        "" => stem(&program.path),
        name => name.to_owned(),
    }
}

/// A path's last name, without what stands behind its last dot.
fn stem(path: &str) -> String {
    Path::new(path).file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The texts, each once.
fn origins(all: Vec<KernelText>, mut descent: HashMap<String, Vec<Ancestor>>) -> Vec<Origin> {
    let no_seeds = [ArchivedVerdict::SamePoint, ArchivedVerdict::NoVector].map(|one| one.name());
    let mut indices: HashMap<String, usize> = HashMap::new();
    let mut origins: Vec<Origin> = Vec::new();
    for row in all {
        let index = *indices.entry(row.text).or_insert_with_key(|text| {
            let own = Ancestor {
                name: row.original_name.clone(),
                package: row.package,
                path: row.path,
                license: row.license,
            };
            let earlier = descent.remove(text).unwrap_or_default();
            let inherited = earlier.iter().map(|one| one.name.clone());
            let names = kernel_names(text).into_iter().map(str::to_owned).chain(inherited);
            let names = names.collect();
            let ancestors = Ancestors::new([vec![own], earlier].concat());
            origins.push(Origin { text: text.clone(), names, ancestors, ..Origin::default() });
            origins.len() - 1
        });
        let origin = &mut origins[index];
        origin.rows += 1;
        origin.is_seed |= !no_seeds.contains(&row.verdict.as_str());
        origin.names.insert(row.original_name);
        if !row.family.is_empty() {
            origin.families.insert(row.family);
        }
    }
    origins
}

/// Where each text stands once those that are not free are gone.
fn places(fates: &[Fate]) -> Vec<Option<usize>> {
    let mut next = 0;
    let place = |fate: &Fate| {
        (*fate == Fate::Free).then(|| {
            next += 1;
            next - 1
        })
    };
    fates.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_goes_by_the_names_of_what_it_is_made_of_too() {
        let row = KernelText {
            text: "kernel void A(global int* a) { a[0] = 1; }".to_owned(),
            original_name: "blend".to_owned(),
            ..KernelText::default()
        };
        let earlier = Ancestor { name: "scan".to_owned(), ..Ancestor::default() };
        let descent = HashMap::from([(row.text.clone(), vec![earlier])]);
        let origins = origins(vec![row], descent);
        let names: Vec<&str> = origins[0].names.iter().map(String::as_str).collect();
        assert_eq!(names, ["A", "blend", "scan"]);
    }
}
