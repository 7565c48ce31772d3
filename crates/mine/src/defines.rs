//! Compiler options that a package's build files and host programs give its kernels.

use crate::{
    Suite,
    tree::{self, Role, Tree, role},
};
use regex::Regex;
use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    sync::LazyLock,
};

/// Values of one name that are kept.
const VALUES: usize = 4;
/// Options kept for one file.
const OPTIONS: usize = 64;

/// `-DNAME`, `-D NAME(x)=VALUE`.
static DEFINE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?:^|[\s"'`(\[,=])-D\s?([A-Za-z_]\w*)(\([\w, ]*\))?(=[^\s"'`\\;,\]]*)?"#)
        .expect("a constant pattern is well-formed")
});
static FOLDER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?:^|[\s"'`])-I\s?([\w./-]+)"#).expect("a constant pattern is well-formed")
});

/// What a package's files say about how its kernels are compiled.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    /// Folders of `-I` options, inside the package.
    pub(crate) include_folders: Vec<String>,
    /// The published suite that the package is: what it says of a file stands for all of this.
    pub(crate) suite: Option<&'static Suite>,
    files: Vec<Hinting>,
}

/// A file with options in it.
#[derive(Debug)]
struct Hinting {
    folder: String,
    is_build: bool,
    /// Name, and the option as a compiler would be given it.
    options: Vec<(String, String)>,
    words: HashSet<String>,
}

impl Hints {
    /// Look through the build files and host programs of a package.
    pub(crate) fn of(package: &Tree) -> Hints {
        let mut folders = BTreeSet::new();
        let mut files = Vec::new();
        let all: BTreeSet<&str> = package.iter().map(|(path, _)| tree::folder(path)).collect();
        for (path, content) in package.iter() {
            let role = role(path);
            if !matches!(role, Some(Role::Build | Role::Host(_) | Role::Header))
                || !tree::contains(content, b"-D") && !tree::contains(content, b"-I")
            {
                continue;
            }
            let text = String::from_utf8_lossy(content);
            let folder = tree::folder(path);
            for option in FOLDER.captures_iter(&text) {
                let named = &option[1];
                let found = [tree::join(folder, named), tree::normal(named)];
                folders.extend(
                    found.into_iter().flatten().filter(|folder| all.contains(folder.as_str())),
                );
            }
            let options: BTreeSet<(String, String)> = DEFINE
                .captures_iter(&text)
                .map(|option| {
                    let value = option.get(3).map_or(String::new(), |value| known(value.as_str()));
                    let parameters = option.get(2).map_or("", |list| list.as_str());
                    (option[1].to_owned(), format!("-D{}{parameters}{value}", &option[1]))
                })
                .collect();
            if options.is_empty() {
                continue;
            }
            let words = words(&text).map(str::to_owned).collect();
            let is_build = role == Some(Role::Build);
            files.push(Hinting {
                folder: folder.to_owned(),
                is_build,
                options: options.into_iter().collect(),
                words,
            });
        }
        Hints { include_folders: folders.into_iter().collect(), suite: None, files }
    }

    /// The options that define a name which `text`, the file at `path`, uses: first those of files
    /// that mention it, then of build files around it, then of all others.
    pub(crate) fn options(&self, path: &str, text: &str) -> Vec<String> {
        if let Some(options) = self.suite.and_then(|suite| suite.options(path)) {
            return options;
        }
        if self.files.is_empty() {
            return Vec::new();
        }
        let names: HashSet<&str> = self
            .files
            .iter()
            .flat_map(|file| &file.options)
            .map(|(name, _)| name.as_str())
            .collect();
        // Texts are megabytes, names are few.
        let used: HashSet<&str> = words(text).filter(|word| names.contains(word)).collect();
        let defined: HashSet<&str> = text.lines().filter_map(defined_without_condition).collect();
        let name = path.rsplit('/').next().unwrap_or(path);
        let stem = name.split(['.', '#']).next().unwrap_or(name);
        let spellings = ["", "_oclsrc", "_cl", "_kernel", "_kernels", "_str", "_source"];
        let spellings: Vec<String> =
            spellings.iter().map(|ending| format!("{stem}{ending}")).collect();
        let folder = tree::folder(path);
        let nearness = |file: &Hinting| {
            if spellings.iter().any(|spelling| file.words.contains(spelling)) {
                0
            } else if file.is_build && folder.starts_with(&file.folder) {
                1
            } else {
                2
            }
        };
        let mut files: Vec<(i32, &Hinting)> = self.files.iter().map(|f| (nearness(f), f)).collect();
        files.sort_by_key(|(near, _)| *near);
        let mut values: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let mut order = Vec::new();
        for (_, file) in files {
            for (name, option) in &file.options {
                if !used.contains(name.as_str()) || defined.contains(name.as_str()) {
                    continue;
                }
                let known = values.entry(name).or_default();
                if known.len() < VALUES && !known.contains(&option.as_str()) {
                    known.push(option);
                    order.push(option.clone());
                }
            }
        }
        order.truncate(OPTIONS);
        order
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    text.as_bytes()
        .split(move |byte| !is_word(byte))
        .filter(|word| word.len() > 1)
        .filter_map(|word| std::str::from_utf8(word).ok())
}

/// A value the host program computes (`%d`, `${X}`, `@X@`, nothing) is not known.
fn known(value: &str) -> String {
    let mut value = value.trim_end_matches(['.', ':']);
    while value.ends_with(')') && value.matches(')').count() > value.matches('(').count() {
        value = &value[..value.len() - 1];
    }
    let computed = value.len() <= 1 || value.contains(['%', '$', '@', '{', '<', '+']);
    if computed { "=?".to_owned() } else { value.to_owned() }
}

/// The name a line defines; those a file defines in any case need no option.
fn defined_without_condition(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("#define ")?.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    Some(&rest[..end])
}

/// A path as the name of a macro.
pub(crate) fn macro_name(path: &str) -> String {
    path.chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_come_from_the_files_that_mention_a_kernel_first() {
        let mut package = Tree::default();
        for (path, text) in [
            ("k/blur.cl", "kernel void blur() { int x = RADIUS + TYPE; }"),
            (
                "src/blur.cpp",
                "/* kernel */ build(\"blur.cl\", \"-D RADIUS=%d -DTYPE=float -DOTHER=1\");",
            ),
            ("src/else.cpp", "/* kernel */ options = \"-DRADIUS=7 -D TYPE=\" + type;"),
            ("k/Makefile", "clc -I../inc -DTYPE=double blur.cl"),
            ("inc/a.h", ""),
        ] {
            package.offer(path, None, &mut text.as_bytes()).unwrap();
        }
        let hints = Hints::of(&package);
        assert_eq!(hints.include_folders, ["inc"]);
        let text = std::str::from_utf8(package.get("k/blur.cl").unwrap()).unwrap();
        let wanted = ["-DTYPE=double", "-DRADIUS=?", "-DTYPE=float", "-DRADIUS=7", "-DTYPE=?"];
        assert_eq!(hints.options("k/blur.cl", text), wanted);
    }
}
