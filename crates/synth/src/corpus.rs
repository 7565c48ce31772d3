//! Mined kernels to start from, without the ones that would give the answer away.

use crate::{
    Error,
    exclusion::{Exclusion, signature},
    judge::Judge,
    program::{Program, with_static_helpers},
    target::Target,
};
use dataset::{Code, Dataset, Language, Programs, Signature, Verdict};
use lexer::kernel_names;
use rows::KernelText;
use std::{
    collections::{BTreeSet, HashMap, HashSet},
    fs,
    path::Path,
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
    signature: OnceLock<Signature>,
}

/// Mined kernels with their vectors.
#[derive(Debug, Default)]
pub struct Corpus {
    /// Those that were mined, and behind them what was made of some.
    pub(crate) seeds: Vec<Arc<Seed>>,
    mined: usize,
    excluded: usize,
    origins: Arc<[Origin]>,
}

impl Corpus {
    /// The kernels at `path` (a data set, a folder or file of programs) that `exclusion` does not
    /// exclude, each text once, described by `judge`. Vectors are kept in the folder `cache` for the
    /// next time, whatever is excluded then.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn open(
        path: &Path,
        exclusion: &Exclusion,
        judge: &Judge,
        cache: Option<&Path>,
    ) -> Result<Corpus, Error> {
        let all = mined(path)?;
        let identity = all.iter().map(|row| row.text.as_bytes());
        let versions = judge.versions();
        let identity = dataset::content_hash_of(identity.chain([versions.as_bytes()]));
        let weak = if sandbox::is_weak_allowed() { "-weak-sandbox" } else { "" };
        let name = format!("{identity}-{}{weak}.json", judge.space().name());
        let file = cache.map(|folder| folder.join(name));
        let (origins, excluded) = origins(all, path, exclusion);
        let mut texts: Vec<(usize, String)> =
            origins.iter().map(|origin| origin.text.clone()).enumerate().collect();
        // Points of a single function are nearer to what keeps no helper beside it.
        let made = |(at, text): &(usize, String)| Some((*at, with_static_helpers(text)?));
        let made: Vec<(usize, String)> = texts.iter().filter_map(made).collect();
        texts.extend(made);
        let vectors = vectors(&texts, judge, file.as_deref())?;
        let mined = vectors.iter().take(origins.len()).flatten().count();
        let seeds = texts.into_iter().zip(vectors).filter_map(|((origin, text), vector)| {
            Some(Arc::new(Seed { text, vector: vector?, program: OnceLock::new(), origin }))
        });
        Ok(Corpus { seeds: seeds.collect(), mined, excluded, origins: origins.into() })
    }

    /// The seeds that the leak rule allows in a search for `target`; other targets play no part.
    #[must_use]
    pub fn for_target(&self, target: &Target) -> Corpus {
        let exclusion = Exclusion::of(target);
        let is_held = |origin: &Origin| {
            let signature = || origin.signature.get_or_init(|| signature(&origin.text));
            exclusion.holds_one_of(origin.names.iter().map(String::as_str), signature)
        };
        let held: Vec<bool> = self.origins.iter().map(is_held).collect();
        let families: HashSet<&String> = self
            .origins
            .iter()
            .zip(&held)
            .filter(|(_, held)| **held)
            .flat_map(|(origin, _)| &origin.families)
            .collect();
        let kept: Vec<bool> = self
            .origins
            .iter()
            .zip(&held)
            .map(|(origin, held)| {
                !held && origin.families.iter().all(|one| !families.contains(one))
            })
            .collect();
        let is_kept = |seed: &&Arc<Seed>| kept[seed.origin];
        Corpus {
            seeds: self.seeds.iter().filter(is_kept).cloned().collect(),
            mined: self.seeds[..self.mined].iter().filter(is_kept).count(),
            excluded: self.excluded + kept.iter().filter(|kept| !**kept).count(),
            origins: Arc::clone(&self.origins),
        }
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

    /// The vectors of mined kernels.
    pub(crate) fn vectors(&self) -> impl Iterator<Item = &[f64]> {
        self.seeds[..self.mined].iter().map(|seed| seed.vector.as_slice())
    }

    /// Whether this seed is as it was mined.
    pub(crate) fn is_mined(&self, index: usize) -> bool {
        index < self.mined
    }
}

/// The vector of each of the texts, from `file` where it is known there.
fn vectors(
    texts: &[(usize, String)],
    judge: &Judge,
    file: Option<&Path>,
) -> Result<Vec<Option<Vec<f64>>>, Error> {
    let mut known: HashMap<String, Option<Vec<f64>>> = file
        .and_then(|file| fs::read(file).ok())
        .and_then(|content| serde_json::from_slice(&content).ok())
        .unwrap_or_default();
    let keys: Vec<String> =
        texts.iter().map(|(_, text)| dataset::content_hash(text.as_bytes())).collect();
    let fresh: Vec<usize> = (0..keys.len()).filter(|at| !known.contains_key(&keys[*at])).collect();
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
    Ok(keys.iter().map(|key| known.get(key).cloned().flatten()).collect())
}

/// All kernels at `path`.
fn mined(path: &Path) -> Result<Vec<KernelText>, Error> {
    let is_kernels = Dataset::is_at(path)
        && Dataset::open(path)?.manifest().schema == <KernelText as dataset::Row>::SCHEMA;
    if is_kernels {
        let rows = Dataset::open(path)?.rows::<KernelText>()?;
        let is_accepted = |row: &dataset::Result<KernelText>| {
            row.as_ref().map_or(true, |row| row.verdict == Verdict::ACCEPTED)
        };
        return Ok(rows.filter(is_accepted).collect::<Result<_, _>>()?);
    }
    let mut all = Vec::new();
    for program in Programs::open(path)?.iter()? {
        let program = program?;
        if let (Language::OpenCl, Code::Text(text)) = (program.language, program.code) {
            let name = Path::new(&program.path).file_stem().unwrap_or_default();
            let original_name = name.to_string_lossy().into_owned();
            all.push(KernelText { text, original_name, ..KernelText::default() });
        }
    }
    Ok(all)
}

/// The texts that may be used, and how many kernels may not.
fn origins(all: Vec<KernelText>, path: &Path, exclusion: &Exclusion) -> (Vec<Origin>, usize) {
    if exclusion.folder_of(path).is_some() {
        return (Vec::new(), all.len());
    }
    let held: Vec<bool> =
        all.iter().map(|row| exclusion.holds(&row.original_name, &row.text)).collect();
    let families: HashSet<String> = all
        .iter()
        .zip(&held)
        .filter(|(row, held)| **held && !row.family.is_empty())
        .map(|(row, _)| row.family.clone())
        .collect();
    let mut excluded = 0;
    let mut indices: HashMap<String, usize> = HashMap::new();
    let mut origins: Vec<Origin> = Vec::new();
    for (row, held) in all.into_iter().zip(held) {
        if held || families.contains(&row.family) {
            excluded += 1;
            continue;
        }
        let index = *indices.entry(row.text).or_insert_with_key(|text| {
            let names = kernel_names(text).into_iter().map(str::to_owned).collect();
            origins.push(Origin { text: text.clone(), names, ..Origin::default() });
            origins.len() - 1
        });
        origins[index].names.insert(row.original_name);
        if !row.family.is_empty() {
            origins[index].families.insert(row.family);
        }
    }
    (origins, excluded)
}
