//! A package in memory: of all its files those that matter, nothing ever written.

use crate::sink::{About, Link, Sink};
use dataset::{Language, Verdict};
use rows::ContentVerdict;
use std::{
    collections::{BTreeMap, HashMap},
    io::{self, Read},
    path::Path,
    sync::OnceLock,
};

/// A larger file gets the verdict `too-large`.
pub(crate) const FILE_LIMIT: u64 = 16 << 20;
/// More than this is not kept of one package, so that memory is bounded whatever an archive says.
const TREE_LIMIT: u64 = 1 << 30;
/// More than this is not read of one package, kept or not.
pub(crate) const READ_LIMIT: u64 = 32 << 30;
/// Of news, paths and all, so much is spelled out for one package; the rest is counted.
const NEWS_LIMIT: u64 = 256 << 20;
/// What a path, a verdict and the place for them take beside their letters.
const ENTRY_BYTES: u64 = 128;

/// What a file is good for, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// OpenCL by its name.
    Kernel,
    /// Perhaps OpenCL, perhaps included by it, perhaps holding it in a string.
    Header,
    /// Perhaps holding it in a string.
    Host(Host),
    /// Build files, which hold `-D` options.
    Build,
    /// License texts and package metadata.
    License,
}

/// The language of a program that may hold kernels in its strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    /// C, C++ and Objective-C.
    C,
    /// Python.
    Python,
    /// Rust.
    Rust,
    /// Julia.
    Julia,
    /// Java, C#, Scala, Kotlin, Go and JavaScript.
    Curly,
}

/// The file name's endings, after the first of which a template's ending may follow.
pub(crate) fn role(path: &str) -> Option<Role> {
    let name = path.rsplit('/').next()?;
    let lower = name.to_ascii_lowercase();
    let starts = |words: &[&str]| words.iter().any(|word| lower.starts_with(word));
    if starts(&["licen", "copying", "copyright", "notice", "unlicense"])
        || matches!(name, "PKG-INFO" | "METADATA" | "Cargo.toml" | "pyproject.toml")
    {
        return Some(Role::License);
    }
    if starts(&["makefile", "cmakelists", "meson.build", "sconstruct", "configure.ac"]) {
        return Some(Role::Build);
    }
    let stem = ["in", "mako", "tmpl", "tpl", "template", "jinja", "jinja2", "src", "txt"]
        .iter()
        .find_map(|ending| lower.strip_suffix(ending)?.strip_suffix('.'))
        .filter(|stem| stem.contains('.'));
    let ending = stem.unwrap_or(&lower).rsplit_once('.')?.1.to_owned();
    Some(match ending.as_str() {
        "cl" | "clc" | "clh" | "ocl" | "opencl" | "clcpp" => Role::Kernel,
        _ if stem.is_some() => return None,
        "h" | "hpp" | "hh" | "hxx" | "inc" | "inl" | "def" | "ipp" | "tpp" | "cu" | "cuh"
        | "hip" => Role::Header,
        "c" | "cc" | "cpp" | "cxx" | "c++" | "m" | "mm" => Role::Host(Host::C),
        "py" | "pyx" | "pxi" => Role::Host(Host::Python),
        "rs" => Role::Host(Host::Rust),
        "jl" => Role::Host(Host::Julia),
        "java" | "cs" | "scala" | "kt" | "js" | "ts" | "go" => Role::Host(Host::Curly),
        "cmake" | "mk" | "am" | "gyp" | "gn" | "bzl" => Role::Build,
        _ => return None,
    })
}

/// The files of a package that matter, by their path inside it.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    files: BTreeMap<String, Vec<u8>>,
    /// Licenses that the source itself states for single files.
    pub(crate) stated_licenses: HashMap<String, String>,
    /// What happened to files and archives on the way in: path, verdict.
    pub(crate) news: Vec<(String, Verdict)>,
    news_bytes: u64,
    /// News beyond the limit, counted by verdict.
    pub(crate) more_news: BTreeMap<String, u64>,
    bytes: u64,
    read: u64,
    by_name: OnceLock<HashMap<String, Vec<String>>>,
}

impl Tree {
    /// Take in a file found under `path`, if it matters. Returns whether there is room for more.
    ///
    /// # Errors
    /// When the content cannot be read.
    pub(crate) fn offer(
        &mut self,
        path: &str,
        size: Option<u64>,
        content: &mut dyn Read,
    ) -> io::Result<bool> {
        let Some(clean) = normal(path) else {
            self.tell(path, Verdict::new(ContentVerdict::UnsafePath, "leads out of its folder"));
            return Ok(true);
        };
        let Some(role) = role(&clean) else { return Ok(true) };
        let mut bytes = Vec::new();
        if size.is_none_or(|size| size <= FILE_LIMIT) {
            content.take(FILE_LIMIT + 1).read_to_end(&mut bytes)?;
        }
        self.read += bytes.len() as u64;
        if self.read > READ_LIMIT {
            self.tell("", too_much_read());
            return Ok(false);
        }
        if size.is_some_and(|size| size > FILE_LIMIT) || bytes.len() as u64 > FILE_LIMIT {
            let limit = format!("more than {} MiB", FILE_LIMIT >> 20);
            self.tell(&clean, Verdict::new(ContentVerdict::TooLarge, limit));
            return Ok(true);
        }
        if matches!(role, Role::Host(_)) && !is_program(&clean) && !may_matter(&bytes) {
            return Ok(true);
        }
        let taken = bytes.len() as u64 + clean.len() as u64 + ENTRY_BYTES;
        if self.bytes + taken > TREE_LIMIT {
            let limit =
                format!("sources of more than {} GiB; the rest is left out", TREE_LIMIT >> 30);
            self.tell("", Verdict::new(ContentVerdict::PackageTooLarge, limit));
            return Ok(false);
        }
        self.bytes += taken;
        self.files.insert(clean, bytes);
        Ok(true)
    }

    /// Note what happened to the file at `path`. None is forgotten: where there are so many that
    /// memory would not hold them, the rest is counted.
    pub(crate) fn tell(&mut self, path: &str, verdict: Verdict) {
        self.news_bytes += (path.len() + verdict.detail.len()) as u64 + ENTRY_BYTES;
        match self.news_bytes > NEWS_LIMIT {
            true => *self.more_news.entry(verdict.name.into_owned()).or_default() += 1,
            false => self.news.push((path.to_owned(), verdict)),
        }
    }

    pub(crate) fn get(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(Vec::as_slice)
    }

    /// All files, by path.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().map(|(path, content)| (path.as_str(), content.as_slice()))
    }

    /// Paths of the files called `name`, sorted.
    pub(crate) fn named(&self, name: &str) -> &[String] {
        let index = self.by_name.get_or_init(|| {
            let mut index: HashMap<String, Vec<String>> = HashMap::new();
            for path in self.files.keys() {
                let name = path.rsplit('/').next().unwrap_or(path);
                index.entry(name.to_owned()).or_default().push(path.clone());
            }
            index
        });
        index.get(name).map_or(&[], Vec::as_slice)
    }

    /// Where all files lie in one folder, take it off their paths, as archives of releases have it.
    pub(crate) fn strip_common_folder(&mut self) {
        let Some((folder, _)) = self.files.keys().next().and_then(|path| path.split_once('/'))
        else {
            return;
        };
        let folder = format!("{folder}/");
        if !self.files.keys().all(|path| path.starts_with(&folder)) {
            return;
        }
        let off = |path: String| path.strip_prefix(&folder).map(str::to_owned).unwrap_or(path);
        self.files =
            std::mem::take(&mut self.files).into_iter().map(|(p, c)| (off(p), c)).collect();
        self.news = std::mem::take(&mut self.news).into_iter().map(|(p, v)| (off(p), v)).collect();
        self.by_name = OnceLock::new();
    }

    /// Take in all of another tree, under the folder `below` where that is not empty.
    pub(crate) fn absorb(&mut self, other: Tree, below: &str) {
        let under = |path: String| match below {
            "" => path,
            folder => format!("{folder}/{path}"),
        };
        self.bytes += other.bytes;
        self.read += other.read;
        self.news_bytes += other.news_bytes;
        for (name, count) in other.more_news {
            *self.more_news.entry(name).or_default() += count;
        }
        self.files.extend(other.files.into_iter().map(|(path, content)| (under(path), content)));
        self.news.extend(other.news.into_iter().map(|(path, verdict)| (under(path), verdict)));
        self.by_name = OnceLock::new();
    }
}

impl Sink for Tree {
    fn wants(&self, path: &str) -> bool {
        role(path).is_some()
    }

    fn file(&mut self, path: &str, about: About, content: &mut dyn Read) -> io::Result<bool> {
        self.offer(path, about.size, content)
    }

    /// Links are nothing to read.
    fn link(&mut self, _: &str, _: &str, _: Link) {}

    fn tell(&mut self, path: &str, verdict: Verdict) {
        Tree::tell(self, path, verdict);
    }
}

/// The verdict of a package of which too much would have to be read.
pub(crate) fn too_much_read() -> Verdict {
    let limit = format!("more than {} GiB to read; the rest is left out", READ_LIMIT >> 30);
    Verdict::new(ContentVerdict::PackageTooLarge, limit)
}

/// Whether a file is a program by its name that is mined whole where its language is wanted.
fn is_program(path: &str) -> bool {
    matches!(Language::of(Path::new(path)), Some(Language::C | Language::Cxx | Language::Rust))
}

/// Whether a host program may hold a kernel or an option for one.
fn may_matter(content: &[u8]) -> bool {
    let holds = |word: &str| contains(content, word.as_bytes());
    holds("kernel") || holds("-D") || holds("__global")
}

pub(crate) fn contains(content: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find(content, word).is_some()
}

/// A path inside a package in its one spelling; `None` for one that leads out of it.
pub(crate) fn normal(path: &str) -> Option<String> {
    if path.starts_with('/') || path.contains('\0') {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// The folder of a path; empty at the top.
pub(crate) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// `path` seen from `folder`, in its one spelling.
pub(crate) fn join(folder: &str, path: &str) -> Option<String> {
    if path.starts_with('/') {
        return None;
    }
    normal(format!("{folder}/{path}").trim_start_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_leads_out_is_no_path() {
        assert_eq!(normal("a/./b//c"), Some("a/b/c".into()));
        assert_eq!(normal("a/../b"), Some("b".into()));
        for bad in ["../a", "a/../../b", "/etc/passwd", "", ".", "a\0b"] {
            assert_eq!(normal(bad), None, "{bad:?}");
        }
        assert_eq!(join("a/b", "../c.h"), Some("a/c.h".into()));
        assert_eq!(join("", "../c.h"), None);
        assert_eq!(join("a", "/etc/passwd"), None);
    }

    #[test]
    fn a_file_over_the_limit_is_a_verdict() {
        let mut tree = Tree::default();
        tree.offer("big.cl", None, &mut io::repeat(b'x')).unwrap();
        tree.offer("told.cl", Some(FILE_LIMIT + 1), &mut io::empty()).unwrap();
        tree.offer("../out.cl", Some(1), &mut &b"x"[..]).unwrap();
        let names: Vec<&str> = tree.news.iter().map(|(_, verdict)| verdict.name.as_ref()).collect();
        assert_eq!(names, ["too-large", "too-large", "unsafe-path"]);
        assert_eq!(tree.iter().count(), 0);
    }

    #[test]
    fn no_news_are_forgotten_and_endless_ones_are_counted() {
        let mut tree = Tree::default();
        let verdict = || Verdict::new("unsafe-path", "");
        (0..1000).for_each(|at| tree.tell(&format!("{at}.cl"), verdict()));
        assert_eq!((tree.news.len(), tree.more_news.len()), (1000, 0));
        let long = "x".repeat(16 << 20);
        (0..20).for_each(|_| tree.tell(&long, verdict()));
        assert_eq!(tree.news.len() as u64 + tree.more_news["unsafe-path"], 1020);
        assert!(tree.news.len() < 1016, "memory is bounded");
    }

    #[test]
    fn roles_follow_names() {
        assert_eq!(role("a/b.cl"), Some(Role::Kernel));
        assert_eq!(role("a/b.cl.in"), Some(Role::Kernel));
        assert_eq!(role("x.PY"), Some(Role::Host(Host::Python)));
        assert_eq!(role("debian/copyright"), Some(Role::License));
        assert_eq!(role("notes.txt"), None);
        assert_eq!(role("x.h.in"), None);
    }
}
