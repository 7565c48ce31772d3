//! Mined kernels to start from, without the ones that would give the answer away.

use crate::{
    Error,
    exclusion::Exclusion,
    judge::Judge,
    program::{Program, with_static_helpers},
    target::Target,
};
use dataset::{Code, Dataset, Language, Programs, Row, Verdict};
use leak::Print;
use lexer::kernel_names;
use rayon::prelude::*;
use rows::{ArchivedRow, ArchivedVerdict, KernelText};
use std::{
    collections::{BTreeSet, HashMap, HashSet},
    fs,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

/// A kernel to start from.
#[derive(Debug)]
pub(crate) struct Seed {
    pub(crate) text: String,
    pub(crate) vector: Vec<f64>,
    /// Read when it is first edited.
    pub(crate) program: OnceLock<Option<Program>>,
    /// Index of the mined text that it is, or is made of.
    origin: usize,
}

/// A mined text, and what the leak rule looks at.
#[derive(Debug, Default)]
struct Origin {
    text: String,
    /// Names that it was found under, and those of its kernels.
    names: BTreeSet<String>,
    families: BTreeSet<String>,
    /// How many rows hold it.
    rows: usize,
    /// Whether it is started from: of several kernels at a point of an archive one is, of those without a vector none.
    is_seed: bool,
    /// Of its kernels; known where they were needed.
    prints: OnceLock<Vec<Print>>,
}

/// Mined kernels with their vectors.
#[derive(Debug, Default)]
pub struct Corpus {
    /// Those that were mined, and behind them what was made of some.
    pub(crate) seeds: Vec<Arc<Seed>>,
    mined: usize,
    excluded: usize,
    origins: Arc<[Origin]>,
    rule: Rule,
}

/// What the leak rule needs to look at kernels.
#[derive(Clone, Debug, Default)]
struct Rule {
    /// Nothing; with workers.
    exclusion: Exclusion,
    /// The folder where prints are kept between runs.
    cache: Option<PathBuf>,
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
        let mut given = features.map(|path| given(path, judge)).transpose()?.unwrap_or_default();
        let Mined { rows: all, vectors: archived } = mined(path, judge)?;
        given.extend(archived);
        let identity = all.iter().map(|row| row.text.as_bytes());
        let versions = judge.versions();
        let identity = dataset::content_hash_of(identity.chain([versions.as_bytes()]));
        let weak = if sandbox::is_weak_allowed() { "-weak-sandbox" } else { "" };
        let name = format!("{identity}-{}{weak}.json", judge.space().name());
        let file = cache.map(|folder| folder.join(name));
        let rule = Rule { exclusion: exclusion.beside(), cache: cache.map(Path::to_owned) };
        let (mut origins, mut excluded) = (origins(all), 0);
        let kept = match exclusion.folder_of(path) {
            Some(_) => vec![false; origins.len()],
            None => rule.kept(&origins, exclusion)?,
        };
        let mut is_kept = kept.iter();
        origins.retain(|origin| {
            let is_kept = *is_kept.next().expect("one for each");
            excluded += if is_kept { 0 } else { origin.rows };
            is_kept
        });
        let seeds = origins.iter().enumerate().filter(|(_, origin)| origin.is_seed);
        let mut texts: Vec<(usize, String)> =
            seeds.map(|(at, origin)| (at, origin.text.clone())).collect();
        let own = texts.len();
        // Points of a single function are nearer to what keeps no helper beside it.
        let made = |(at, text): &(usize, String)| Some((*at, with_static_helpers(text)?));
        let made: Vec<(usize, String)> = texts.iter().filter_map(made).collect();
        texts.extend(made);
        let vectors = vectors(&texts, &given, judge, file.as_deref())?;
        let mined = vectors.iter().take(own).flatten().count();
        let seeds = texts.into_iter().zip(vectors).filter_map(|((origin, text), vector)| {
            Some(Arc::new(Seed { text, vector: vector?, program: OnceLock::new(), origin }))
        });
        Ok(Corpus { seeds: seeds.collect(), mined, excluded, origins: origins.into(), rule })
    }

    /// The seeds that the leak rule allows in a search for `target`; other targets play no part.
    ///
    /// # Errors
    /// When kernels cannot be looked at for want of clang or LLVM.
    pub fn for_target(&self, target: &Target) -> Result<Corpus, Error> {
        let mut exclusion = self.rule.exclusion.beside();
        exclusion.add_target(target)?;
        let kept = self.rule.kept(&self.origins, &exclusion)?;
        let is_kept = |seed: &&Arc<Seed>| kept[seed.origin];
        Ok(Corpus {
            seeds: self.seeds.iter().filter(is_kept).cloned().collect(),
            mined: self.seeds[..self.mined].iter().filter(is_kept).count(),
            excluded: self.excluded + kept.iter().filter(|kept| !**kept).count(),
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

    /// The first of the texts that were not excluded, whether or not it compiles.
    pub(crate) fn first_text(&self) -> Option<&str> {
        self.origins.first().map(|origin| origin.text.as_str())
    }

    /// The vectors of mined kernels.
    pub(crate) fn vectors(&self) -> impl Iterator<Item = &[f64]> {
        self.seeds[..self.mined].iter().map(|seed| seed.vector.as_slice())
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

/// The vector of each of the texts, from what is `given` or from `file` where it is known there.
fn vectors(
    texts: &[(usize, String)],
    given: &HashMap<String, Vec<f64>>,
    judge: &Judge,
    file: Option<&Path>,
) -> Result<Vec<Option<Vec<f64>>>, Error> {
    let mut known: HashMap<String, Option<Vec<f64>>> = file
        .and_then(|file| fs::read(file).ok())
        .and_then(|content| serde_json::from_slice(&content).ok())
        .unwrap_or_default();
    let keys: Vec<String> =
        texts.iter().map(|(_, text)| dataset::content_hash(text.as_bytes())).collect();
    let is_known = |key: &String| given.contains_key(key) || known.contains_key(key);
    let fresh: Vec<usize> = (0..keys.len()).filter(|at| !is_known(&keys[*at])).collect();
    if !fresh.is_empty() {
        let unknown: Vec<&str> = fresh.iter().map(|at| texts[*at].1.as_str()).collect();
        let vectors = judge.judge(&unknown)?;
        known.extend(fresh.iter().map(|at| keys[*at].clone()).zip(vectors));
        if let Some((file, folder)) = file.and_then(|file| Some((file, file.parent()?))) {
            // Without a cache the next run takes longer, nothing else.
            let _ = fs::create_dir_all(folder)
                .and_then(|()| fs::write(file, serde_json::to_vec(&known)?));
        }
    }
    let vector = |key: &String| given.get(key).or_else(|| known.get(key)?.as_ref()).cloned();
    Ok(keys.iter().map(vector).collect())
}

/// What was read of a data set, folder or file of kernels.
#[derive(Default)]
struct Mined {
    rows: Vec<KernelText>,
    /// Vectors that stand there, by the hash of the text.
    vectors: HashMap<String, Vec<f64>>,
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
    }
    let mut rows = Vec::new();
    for program in Programs::open(path)?.iter()? {
        let program = program?;
        let (original_name, family) = (called(&program), program.family);
        if let (Language::OpenCl, Code::Text(text)) = (program.language, program.code) {
            rows.push(KernelText { text, original_name, family, ..KernelText::default() });
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
        mined.rows.push(KernelText {
            text: row.text,
            original_name: row.original_name,
            family: row.family,
            package: row.package,
            license: row.license,
            verdict: if is_of_space { row.verdict } else { Verdict::ACCEPTED.to_owned() },
        });
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
pub(crate) fn stem(path: &str) -> String {
    Path::new(path).file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The texts, each once.
fn origins(all: Vec<KernelText>) -> Vec<Origin> {
    let no_seeds = [ArchivedVerdict::SamePoint, ArchivedVerdict::NoVector].map(|one| one.name());
    let mut indices: HashMap<String, usize> = HashMap::new();
    let mut origins: Vec<Origin> = Vec::new();
    for row in all {
        let index = *indices.entry(row.text).or_insert_with_key(|text| {
            let names = kernel_names(text).into_iter().map(str::to_owned).collect();
            origins.push(Origin { text: text.clone(), names, ..Origin::default() });
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

impl Rule {
    /// Which texts are neither excluded nor of a family with one that is.
    fn kept(&self, origins: &[Origin], exclusion: &Exclusion) -> Result<Vec<bool>, Error> {
        if exclusion.has_prints() {
            self.look_at(origins)?;
        }
        let is_held = |origin: &Origin| {
            let prints = origin.prints.get().map(Vec::as_slice).unwrap_or_default();
            exclusion.named(origin.names.iter().map(String::as_str)).is_some()
                || exclusion.copied(prints).is_some()
        };
        let held: Vec<bool> = origins.par_iter().map(is_held).collect();
        let families: HashSet<&String> = origins
            .iter()
            .zip(&held)
            .filter(|(_, held)| **held)
            .flat_map(|(origin, _)| &origin.families)
            .collect();
        let is_free = |(origin, held): (&Origin, &bool)| {
            !held && origin.families.iter().all(|one| !families.contains(one))
        };
        Ok(origins.iter().zip(&held).map(is_free).collect())
    }

    /// Have the prints of all texts; those that a run before this one made are read.
    fn look_at(&self, origins: &[Origin]) -> Result<(), Error> {
        let missing: Vec<&Origin> =
            origins.iter().filter(|origin| origin.prints.get().is_none()).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let versions = dataset::content_hash(self.exclusion.versions()?.as_bytes());
        let file = self.cache.as_ref().map(|folder| folder.join(format!("{versions}-prints.bin")));
        let mut known: HashMap<String, Vec<Print>> = file
            .as_ref()
            .and_then(|file| fs::read(file).ok())
            .and_then(|content| postcard::from_bytes(&content).ok())
            .unwrap_or_default();
        let key = |origin: &Origin| dataset::content_hash(origin.text.as_bytes());
        let fresh: Vec<&&Origin> =
            missing.iter().filter(|origin| !known.contains_key(&key(origin))).collect();
        let made = fresh
            .par_iter()
            .map(|origin| Ok((key(origin), self.exclusion.prints(&origin.text)?)))
            .collect::<Result<Vec<_>, Error>>()?;
        let is_fresh = !made.is_empty();
        known.extend(made);
        if let Some((file, folder)) = file.filter(|_| is_fresh).zip(self.cache.as_ref()) {
            // Without a cache the next run takes longer, nothing else.
            let bytes = postcard::to_stdvec(&known).unwrap_or_default();
            let _ = fs::create_dir_all(folder).and_then(|()| fs::write(file, bytes));
        }
        for origin in missing {
            let prints = known.get(&key(origin)).cloned().unwrap_or_default();
            let _ = origin.prints.set(prints);
        }
        Ok(())
    }
}
