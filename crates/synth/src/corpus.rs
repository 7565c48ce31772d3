//! Mined kernels to start from, without the ones that would give the answer away.

use crate::{
    Error,
    judge::Judge,
    program::{Program, with_static_helpers},
};
use dataset::{Code, Dataset, Language, Programs, Signature, Verdict};
use lexer::kernel_names;
use rows::KernelText;
use std::{
    collections::{HashMap, HashSet},
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// A mined kernel.
#[derive(Debug)]
pub(crate) struct Seed {
    pub(crate) text: String,
    pub(crate) vector: Vec<f64>,
    /// Read when it is first edited.
    pub(crate) program: OnceLock<Option<Program>>,
}

/// Mined kernels with their vectors.
#[derive(Debug, Default)]
pub struct Corpus {
    /// Those that were mined, and behind them what was made of some.
    pub(crate) seeds: Vec<Seed>,
    mined: usize,
    excluded: usize,
}

/// The leak rule: what must not be among the seeds of a search for points of known programs.
///
/// A kernel is kept out when its own name is that of a target's program, when it is a near-duplicate
/// (Jaccard similarity of token shingles at least [`dataset::FAMILY_THRESHOLD`], names made alike)
/// of an excluded program, when its family holds such a kernel, or when all of what holds it lies
/// in the folder of an excluded file, or below an excluded folder.
#[derive(Clone, Debug, Default)]
pub struct Exclusion {
    names: HashSet<String>,
    signatures: Vec<Signature>,
    /// Folders, and whether data sets below them are kept out as well.
    folders: Vec<(PathBuf, bool)>,
}

impl Exclusion {
    /// Keep kernels of this name out, wherever they are from. Target names are often
    /// `PATH:KERNEL`: what stands behind the last colon counts.
    pub fn add_name(&mut self, target: &str) {
        let name = target.rsplit(':').next().unwrap_or(target).trim();
        if name.len() > 1 && name.chars().all(|c| c.is_alphanumeric() || c == '_') {
            self.names.insert(name.to_owned());
        }
    }

    /// Keep the program of a target out: its near-duplicates, and kernels of its kernels' names.
    pub fn add_target(&mut self, text: &str) {
        self.add_program(text);
        kernel_names(text).into_iter().for_each(|name| self.add_name(name));
    }

    /// Keep this program and its near-duplicates out.
    pub fn add_program(&mut self, text: &str) {
        self.signatures.push(signature(text));
    }

    /// Keep the programs at `path` out, with their near-duplicates, and what
    /// [`Exclusion::add_folder`] keeps out: `path` is a data set, a folder or file of programs, or JSON lines with `src` or `text`, or
    /// `target`, whose name is kept out.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn add_path(&mut self, path: &Path) -> Result<(), Error> {
        let wrong = |reason: String| Error::Read { path: path.to_owned(), reason };
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
            for line in text.lines().filter(|line| !line.trim().is_empty()) {
                let row: serde_json::Value =
                    serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
                let source =
                    ["src", "text", "source"].iter().find_map(|key| row.get(key)?.as_str());
                if let Some(source) = source {
                    self.add_program(source);
                }
                if let Some(target) = row.get("target").and_then(|target| target.as_str()) {
                    self.add_name(target);
                }
            }
        } else {
            for program in Programs::open(path)?.iter()? {
                if let Code::Text(text) = program?.code {
                    self.add_program(&text);
                }
            }
        }
        self.add_folder(path);
        Ok(())
    }

    /// Of a folder, keep all out that lies in it; of a file, all in its folder but data sets below: they
    /// are nobody's reference data, as where all work is done in one folder.
    pub fn add_folder(&mut self, path: &Path) {
        let real = path.canonicalize().ok();
        if let Some(folder) = real.clone().filter(|folder| folder.is_dir()) {
            self.folders.push((folder, true));
            return;
        }
        // A link's own folder, and that of what it points to.
        let beside = path.parent().map(|folder| Path::new(".").join(folder));
        let folders = [
            beside.and_then(|folder| folder.canonicalize().ok()),
            real.and_then(|file| file.parent().map(Path::to_owned)),
        ];
        self.folders.extend(folders.into_iter().flatten().map(|folder| (folder, false)));
    }

    /// Whether this kernel is kept out, by the name that it had or has in its text, or by its text.
    #[must_use]
    pub fn holds(&self, name: &str, text: &str) -> bool {
        if self.names.contains(name)
            || kernel_names(text).into_iter().any(|name| self.names.contains(name))
        {
            return true;
        }
        let own = signature(text);
        self.signatures.iter().any(|known| own.similarity(known) >= dataset::FAMILY_THRESHOLD)
    }

    /// The folder for which everything at `path` is kept out, if there is one.
    #[must_use]
    pub fn folder_of(&self, path: &Path) -> Option<&Path> {
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let is_own = Dataset::is_at(&path);
        let holds = |(folder, deep): &&(PathBuf, bool)| {
            path.starts_with(folder) && (*deep || path == *folder || !is_own)
        };
        self.folders.iter().find(holds).map(|(folder, _)| folder.as_path())
    }
}

/// A program's shingles with every name replaced by its number in order of appearance, so that
/// renaming hides nothing.
fn signature(text: &str) -> Signature {
    let mut names: HashMap<&str, String> = HashMap::new();
    let tokens = tokens(text);
    let mut alike: Vec<String> = Vec::with_capacity(tokens.len());
    for token in tokens {
        let is_word = token.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let plain = token.trim_start_matches('_');
        if is_word && !WORDS.contains(&plain) {
            let next = format!("${}", names.len());
            alike.push(names.entry(token).or_insert(next).clone());
        } else {
            alike.push(plain.to_owned());
        }
    }
    Signature::of(alike.iter().map(String::as_str))
}

/// Words that mean the same in every program.
const WORDS: [&str; 38] = [
    "kernel",
    "global",
    "local",
    "constant",
    "private",
    "const",
    "restrict",
    "volatile",
    "void",
    "int",
    "uint",
    "unsigned",
    "float",
    "double",
    "char",
    "uchar",
    "short",
    "long",
    "ulong",
    "size_t",
    "float2",
    "float4",
    "int2",
    "int4",
    "uint4",
    "if",
    "else",
    "for",
    "while",
    "do",
    "return",
    "barrier",
    "get_global_id",
    "get_local_id",
    "get_group_id",
    "get_local_size",
    "get_global_size",
    "sqrt",
];

fn tokens(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let mut all = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let from = at;
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"//") || rest[0] == b'#' {
            at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        } else if rest.starts_with(b"/*") {
            at += text
                .get(at + 2..)
                .and_then(|rest| rest.find("*/"))
                .map_or(rest.len(), |end| end + 4);
        } else if rest[0].is_ascii_alphanumeric() || rest[0] == b'_' {
            let is_part =
                |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'.';
            at += rest.iter().take_while(|byte| is_part(byte)).count();
            all.push(&text[from..at]);
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
            if !rest[0].is_ascii_whitespace() {
                all.push(&text[from..at]);
            }
        }
    }
    all
}

impl Corpus {
    /// The kernels at `path` (a data set, a folder or file of programs) that `exclusion` does not
    /// keep out, each text once, described by `judge`. Vectors are kept in the folder `cache` for the next time.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn open(
        path: &Path,
        exclusion: &Exclusion,
        judge: &Judge,
        cache: Option<&Path>,
    ) -> Result<Corpus, Error> {
        let (mut kept, excluded) = texts(path, exclusion)?;
        // Points of a single function are nearer to what keeps no helper beside it.
        let made: Vec<String> = kept.iter().filter_map(|text| with_static_helpers(text)).collect();
        let texts = kept.len();
        kept.extend(made);
        let versions = judge.versions();
        let parts = kept.iter().chain([&versions]).map(|text| text.as_bytes());
        let identity = dataset::content_hash_of(parts);
        let name = format!("{identity}-{}.json", judge.space().name());
        let file = cache.map(|folder| folder.join(name));
        let known: Option<Vec<Option<Vec<f64>>>> = file
            .as_ref()
            .and_then(|file| fs::read(file).ok())
            .and_then(|content| serde_json::from_slice(&content).ok())
            .filter(|known: &Vec<_>| known.len() == kept.len());
        let vectors = match known {
            Some(known) => known,
            None => {
                let vectors = judge.judge(&kept)?;
                if let (Some(file), Some(folder)) = (&file, cache) {
                    // Without a cache the next run takes longer, nothing else.
                    let _ = fs::create_dir_all(folder)
                        .and_then(|()| fs::write(file, serde_json::to_vec(&vectors)?));
                }
                vectors
            }
        };
        let mined = vectors.iter().take(texts).flatten().count();
        let seeds = kept.into_iter().zip(vectors).filter_map(|(text, vector)| {
            Some(Seed { text, vector: vector?, program: OnceLock::new() })
        });
        Ok(Corpus { seeds: seeds.collect(), mined, excluded })
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

    /// How many were kept out.
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

/// The kernels that may be used, and how many may not.
fn texts(path: &Path, exclusion: &Exclusion) -> Result<(Vec<String>, usize), Error> {
    // Name, family, text.
    let mut all: Vec<(String, String, String)> = Vec::new();
    let is_kernels = Dataset::is_at(path)
        && Dataset::open(path)?.manifest().schema == <KernelText as dataset::Row>::SCHEMA;
    if is_kernels {
        for row in Dataset::open(path)?.rows::<KernelText>()? {
            let row = row?;
            if row.verdict == Verdict::ACCEPTED {
                all.push((row.original_name, row.family, row.text));
            }
        }
    } else {
        for program in Programs::open(path)?.iter()? {
            let program = program?;
            if let (Language::OpenCl, Code::Text(text)) = (program.language, program.code) {
                let name = Path::new(&program.path).file_stem().unwrap_or_default();
                all.push((name.to_string_lossy().into_owned(), String::new(), text));
            }
        }
    }
    if exclusion.folder_of(path).is_some() {
        return Ok((Vec::new(), all.len()));
    }
    let held: Vec<bool> = all.iter().map(|(name, _, text)| exclusion.holds(name, text)).collect();
    let families: HashSet<&str> = all
        .iter()
        .zip(&held)
        .filter(|((_, family, _), held)| **held && !family.is_empty())
        .map(|((_, family, _), _)| family.as_str())
        .collect();
    let kept: Vec<bool> = all
        .iter()
        .zip(&held)
        .map(|((_, family, _), held)| !held && !families.contains(family.as_str()))
        .collect();
    let excluded = kept.iter().filter(|kept| !**kept).count();
    let mut seen = HashSet::new();
    let kept = all.into_iter().zip(kept).filter_map(|((_, _, text), kept)| kept.then_some(text));
    Ok((kept.filter(|text| seen.insert(text.clone())).collect(), excluded))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUITE: &str = "__kernel void transpose(__global float* out, __global float* in, int w, int h) {\n\
        int x = get_global_id(0); int y = get_global_id(1);\n\
        if (x < w && y < h) { float v = in[y * w + x]; out[x * h + y] = v * 2.0f; } }";
    const RENAMED: &str = "kernel void A(global float* a, global float* b, int c, int d) {\n\
        int e = get_global_id(0); int f = get_global_id(1);\n\
        if (e < c && f < d) { float g = b[f * c + e]; a[e * d + f] = g * 2.0f; } }";
    const OTHER: &str =
        "kernel void A(global int* a, int b) { for (int c = 0; c < b; c++) a[c] ^= c << 3; }";

    #[test]
    fn a_renamed_suite_kernel_is_kept_out_and_another_is_not() {
        let mut exclusion = Exclusion::default();
        exclusion.add_program(SUITE);
        assert!(exclusion.holds("whatever", RENAMED));
        assert!(!exclusion.holds("whatever", OTHER));
    }

    #[test]
    fn kernels_whose_text_names_them_like_a_target_are_kept_out() {
        let text = "kernel void first(int a) {}\nkernel void second(global int* a) {}";
        let mut exclusion = Exclusion::default();
        exclusion.add_name("second");
        assert!(exclusion.holds("file", text) && !exclusion.holds("file", OTHER));
    }

    #[test]
    fn kernels_named_like_a_target_are_kept_out() {
        let mut exclusion = Exclusion::default();
        exclusion.add_name("suite-1.0/path/File.cl:bitonicSort");
        assert!(exclusion.holds("bitonicSort", OTHER));
        assert!(!exclusion.holds("other", OTHER));
    }
}
