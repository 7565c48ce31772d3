//! How a user compiles a program: the flags of a compiler that mean something here, and the headers that a
//! program of a folder includes.

use crate::{Error, Result};
use regex::Regex;
use std::{
    collections::BTreeMap,
    path::{Component, Path, PathBuf},
    sync::LazyLock,
};

/// Headers of one program at most, and bytes of one.
const HEADERS: usize = 4096;
const LARGEST: u64 = 16 << 20;

static INCLUDE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?m)^[ \t]*#[ \t]*include[ \t]*(["<])([^">\n]+)[">]"#).expect("a pattern")
});

/// What a compiler's command line says of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// `-D`: NAME or NAME=VALUE.
    pub defines: Vec<String>,
    /// `-I`: folders of headers, in the order of looking.
    pub folders: Vec<PathBuf>,
    /// `-std=` or `-cl-std=`.
    pub standard: Option<String>,
}

impl Flags {
    /// Read `-I DIR`, `-D NAME[=VALUE]` (with a blank or without) and `-std=STANDARD`.
    ///
    /// # Errors
    /// [`Error::Flag`] for any other, and one without its value.
    pub fn parse(words: &[String]) -> Result<Flags> {
        let mut flags = Flags::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let wrong = || Error::Flag(word.clone());
            let mut value = |flag: &str| match word.strip_prefix(flag) {
                Some("") => words.next().cloned().ok_or_else(wrong).map(Some),
                rest => Ok(rest.map(str::to_owned)),
            };
            if let Some(folder) = value("-I")? {
                if !Path::new(&folder).is_dir() {
                    return Err(Error::NoFolder(folder.into()));
                }
                flags.folders.push(folder.into());
            } else if let Some(define) = value("-D")? {
                flags.defines.push(define);
            } else if let Some(standard) =
                word.strip_prefix("-std=").or_else(|| word.strip_prefix("-cl-std="))
            {
                flags.standard = Some(standard.to_owned());
            } else {
                return Err(wrong());
            }
        }
        Ok(flags)
    }

    /// The headers that `source`, the text of the file `program`, includes of its own folder and of those of
    /// `-I`, directly and through each other, by the names that a compiler finds them under. A header that no
    /// folder has is the compiler's to find; nothing outside of the folders is read, whatever a program names.
    #[must_use]
    pub fn headers(&self, program: &Path, source: &str) -> Vec<(String, String)> {
        let own = program.parent().map(Path::to_owned).unwrap_or_default();
        let own = if own.as_os_str().is_empty() { PathBuf::from(".") } else { own };
        let mut found: BTreeMap<PathBuf, String> = BTreeMap::new();
        // A text, the folder that it was found in, and its own place in that.
        let mut open = vec![(source.to_owned(), own, PathBuf::new())];
        while let Some((text, root, place)) = open.pop() {
            for include in INCLUDE.captures_iter(&text) {
                let name = Path::new(include.get(2).map_or("", |name| name.as_str()));
                let beside = (&include[1] == "\"").then(|| (root.clone(), place.join(name)));
                let listed = self.folders.iter().map(|folder| (folder.clone(), name.to_owned()));
                let header = beside.into_iter().chain(listed).find_map(|(root, name)| {
                    Some((read(&root, &plain(&name)?)?, root, plain(&name)?))
                });
                let Some((text, root, name)) = header else { continue };
                if found.len() >= HEADERS || found.contains_key(&name) {
                    continue;
                }
                let place = name.parent().map(Path::to_owned).unwrap_or_default();
                found.insert(name, text.clone());
                open.push((text, root, place));
            }
        }
        let named = |(name, text): (PathBuf, String)| (name.display().to_string(), text);
        found.into_iter().map(named).collect()
    }
}

/// A relative path without `.` and `..`; `None` where it leads out.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => plain.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !plain.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(plain)
}

/// The text of a file that lies in `root`, links followed.
fn read(root: &Path, name: &Path) -> Option<String> {
    let path = root.join(name).canonicalize().ok()?;
    let about = path.metadata().ok()?;
    let inside = path.starts_with(root.canonicalize().ok()?);
    if !(inside && about.is_file() && about.len() <= LARGEST) {
        return None;
    }
    std::fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn flags_are_read_with_a_blank_and_without_and_others_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().display();
        let flags = Flags::parse(&words(&format!("-I {path} -I{path} -D N=4 -DM -std=c99")));
        let flags = flags.expect("they are known");
        assert_eq!(flags.folders.len(), 2);
        assert_eq!((flags.defines, flags.standard), (words("N=4 M"), Some("c99".to_owned())));
        for wrong in ["-O3", "-I", "-D", "x.c"] {
            let said = Flags::parse(&words(wrong)).expect_err(wrong).to_string();
            assert!(said.contains(wrong) && said.contains("-D NAME"), "{said}");
        }
        let said = Flags::parse(&words("-I nowhere")).expect_err("no folder").to_string();
        assert!(said.contains("nowhere"), "{said}");
    }

    #[test]
    fn headers_are_found_through_each_other_and_never_outside() {
        let home = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let path = home.path().join(name);
            fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
            fs::write(path, text).expect("a file");
        };
        write("secret.h", "int secret;");
        write("src/own.h", "int own;");
        write("inc/sub/a.h", "#include \"b.h\"\n#include \"../c.h\"\n");
        write("inc/sub/b.h", "#include <sub/a.h>\n");
        write("inc/c.h", "int c;");
        std::os::unix::fs::symlink(home.path().join("secret.h"), home.path().join("src/link.h"))
            .expect("a link");
        let flags = Flags { folders: vec![home.path().join("inc")], ..Flags::default() };
        let source = "#include \"own.h\"\n # include <sub/a.h>\n#include <stdio.h>\n#include \"../secret.h\"\n\
            #include \"link.h\"\n#include \"/etc/passwd\"\n";
        let found = flags.headers(&home.path().join("src/p.c"), source);
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["c.h", "own.h", "sub/a.h", "sub/b.h"]);
        assert_eq!(found[1].1, "int own;");
    }
}
