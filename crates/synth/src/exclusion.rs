//! The leak rule.

use crate::{Error, target::Target};
use dataset::{Code, Dataset, Programs, Signature};
use lexer::kernel_names;
use std::{
    borrow::Borrow,
    collections::{HashMap, HashSet},
    fs,
    path::{Path, PathBuf},
};

/// The leak rule: what must not be among the seeds of a search for points of known programs.
///
/// A kernel is excluded when its own name is that of a target's program, when it is a near-duplicate
/// (Jaccard similarity of token shingles at least [`dataset::FAMILY_THRESHOLD`], names made alike)
/// of an excluded program, when its family holds such a kernel, or when all of what holds it lies
/// in the folder of an excluded file, or below an excluded folder.
#[derive(Clone, Debug, Default)]
pub struct Exclusion {
    names: HashSet<String>,
    signatures: Vec<Signature>,
    /// Folders, and whether data sets below them are excluded as well.
    folders: Vec<(PathBuf, bool)>,
}

impl Exclusion {
    /// Exclude kernels of this name, wherever they are from. Target names are often
    /// `PATH:KERNEL`: what stands behind the last colon counts.
    pub fn add_name(&mut self, target: &str) {
        let name = target.rsplit(':').next().unwrap_or(target);
        // Of several targets of one name all but the first are numbered.
        let name = name.split_once(" (").map_or(name, |(name, _)| name).trim();
        if name.len() > 1 && name.chars().all(|c| c.is_alphanumeric() || c == '_') {
            self.names.insert(name.to_owned());
        }
    }

    /// Exclude the program of a target: its near-duplicates, and kernels of its kernels' names.
    pub fn add_target(&mut self, text: &str) {
        self.add_program(text);
        kernel_names(text).into_iter().for_each(|name| self.add_name(name));
    }

    /// What must not be among the seeds of a search for this one target.
    pub(crate) fn of(target: &Target) -> Exclusion {
        let mut exclusion = Exclusion::default();
        exclusion.add_name(&target.name);
        if let Some(program) = &target.program {
            exclusion.add_target(program);
        }
        exclusion
    }

    /// Exclude this program and its near-duplicates.
    pub fn add_program(&mut self, text: &str) {
        self.signatures.push(signature(text));
    }

    /// Exclude the programs at `path`, with their near-duplicates, and what
    /// [`Exclusion::add_folder`] excludes: `path` is a data set, a folder or file of programs, or JSON lines with `src` or `text`, or
    /// `target`, whose name is excluded.
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

    /// Exclude all that lies in a folder; of a file, all in its folder but data sets below: they
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

    /// Whether this kernel is excluded, by the name that it had or has in its text, or by its text.
    #[must_use]
    pub fn holds(&self, name: &str, text: &str) -> bool {
        let mut names = kernel_names(text);
        names.push(name);
        self.holds_one_of(names.into_iter(), || signature(text))
    }

    /// Whether a kernel of these names is excluded, or its text: `signature` is asked where names do
    /// not decide it.
    pub(crate) fn holds_one_of<'a, S: Borrow<Signature>>(
        &self,
        mut names: impl Iterator<Item = &'a str>,
        signature: impl FnOnce() -> S,
    ) -> bool {
        if names.any(|name| self.names.contains(name)) {
            return true;
        }
        if self.signatures.is_empty() {
            return false;
        }
        let own = signature();
        let is_near =
            |known: &Signature| own.borrow().similarity(known) >= dataset::FAMILY_THRESHOLD;
        self.signatures.iter().any(is_near)
    }

    /// The folder for which everything at `path` is excluded, if there is one.
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
pub(crate) fn signature(text: &str) -> Signature {
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
    fn a_renamed_suite_kernel_is_excluded_and_another_is_not() {
        let mut exclusion = Exclusion::default();
        exclusion.add_program(SUITE);
        assert!(exclusion.holds("whatever", RENAMED));
        assert!(!exclusion.holds("whatever", OTHER));
    }

    #[test]
    fn kernels_whose_text_names_them_like_a_target_are_excluded() {
        let text = "kernel void first(int a) {}\nkernel void second(global int* a) {}";
        let mut exclusion = Exclusion::default();
        exclusion.add_name("second");
        assert!(exclusion.holds("file", text) && !exclusion.holds("file", OTHER));
    }

    #[test]
    fn kernels_named_like_a_target_are_excluded() {
        let mut exclusion = Exclusion::default();
        exclusion.add_name("suite-1.0/path/File.cl:bitonicSort");
        assert!(exclusion.holds("bitonicSort", OTHER));
        let mut second = Exclusion::default();
        second.add_name("suite-1.0/path/File.cl:bitonicSort (2)");
        assert!(second.holds("bitonicSort", OTHER));
        assert!(!exclusion.holds("other", OTHER));
    }
}
