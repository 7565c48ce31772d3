use super::stand_in::STAND_IN;
use std::{
    ffi::OsString,
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

/// A response file may name others, itself too: so deep they are read.
const DEEPEST: usize = 10;

/// A compiler's command line as it was given.
#[derive(Debug)]
pub(super) struct Line {
    /// The compiler as it was named, and its arguments.
    pub(super) words: Vec<String>,
    given: Vec<OsString>,
    /// The compiler's file name.
    pub(super) name: String,
    /// Where it runs.
    pub(super) directory: PathBuf,
}

impl Line {
    pub(super) fn of(given: &[OsString]) -> Option<Line> {
        let program = Path::new(given.first()?);
        let name = program.file_name()?.to_string_lossy().into_owned();
        let words = given.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let directory = std::env::current_dir().unwrap_or_default();
        Some(Line { words, given: given.to_vec(), name, directory })
    }

    /// The arguments as text, response files (`@FILE`) read in, and those that they name.
    pub(super) fn arguments(&self) -> Vec<String> {
        let mut words = Vec::new();
        self.read_in(&self.words[1..], 0, &mut words);
        words
    }

    fn read_in(&self, words: &[String], depth: usize, into: &mut Vec<String>) {
        for word in words {
            let file = word.strip_prefix('@').map(|name| self.directory.join(name));
            let file = file.filter(|path| depth < DEEPEST && path.is_file());
            match file.and_then(|path| std::fs::read_to_string(path).ok()) {
                Some(text) => self.read_in(&split(&text), depth + 1, into),
                None => into.push(word.clone()),
            }
        }
    }

    /// The command as it was given, by the real program where the named one is a stand-in of ours.
    pub(super) fn command(&self) -> Vec<OsString> {
        let mut command = self.given.clone();
        let named = Path::new(&self.given[0]);
        if (named.components().count() == 1 || is_stand_in(named))
            && let Some(path) = find(&self.name)
        {
            command[0] = path.into_os_string();
        }
        command
    }
}

/// A program on the search path that is no stand-in.
pub(super) fn find(name: &str) -> Option<PathBuf> {
    host::all_on_path(name).find(|path| !is_stand_in(path))
}

/// Whether this is a script of [`super::stand_ins`], in whatever folder.
pub(super) fn is_stand_in(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(64).read_to_end(&mut head));
    read.is_ok() && head.starts_with(STAND_IN.as_bytes())
}

/// Words of a response file or of a recorded command line: blanks part them, quotes and backslashes
/// hold them together.
pub(crate) fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => {
                word.get_or_insert_default().extend(letters.next());
            }
            (None, blank) if blank.is_whitespace() => words.extend(word.take()),
            (_, letter) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

/// The value that follows a flag.
pub(super) fn said(words: &[String], flag: &str) -> Option<String> {
    let at = words.iter().position(|word| word == flag)?;
    words.get(at + 1).cloned()
}

/// The paths in a list of one a line, or in the rules of a make file.
pub(super) fn paths_in(text: &str) -> Vec<String> {
    let is_rule =
        text.lines().next().is_some_and(|line| line.contains(": ") || line.ends_with(':'));
    if !is_rule {
        return text.lines().map(|line| line.trim_start_matches(['.', ' ']).to_owned()).collect();
    }
    let joined = text.replace("\\\n", " ");
    let first = joined.lines().next().unwrap_or_default();
    let rest = first.split_once(": ").map_or("", |(_, rest)| rest);
    split(rest)
}

/// Whether this is a question a build system asks of the compiler, not a part of the program.
pub(super) fn is_probe(directory: &Path, file: &str) -> bool {
    let name = Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = name.unwrap_or_default();
    let place = directory.join(file).to_string_lossy().into_owned();
    name == "conftest"
        || file == "/dev/null"
        || ["/CMakeFiles/CMakeScratch/", "/CMakeFiles/CMakeTmp/", "/meson-private/", "/CompilerId"]
            .iter()
            .any(|part| place.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_held_together_as_a_shell_would() {
        assert_eq!(split(r#"-DA="x y" 'b c' d\ e "" f"#), ["-DA=x y", "b c", "d e", "", "f"]);
        assert_eq!(split("  \n"), Vec::<String>::new());
    }

    #[test]
    fn response_files_are_read_in_and_one_that_names_itself_ends() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        std::fs::write(at("inner"), "-DX='a b' @gone").unwrap();
        std::fs::write(at("outer"), format!("-c @{} a.c", at("inner"))).unwrap();
        std::fs::write(at("itself"), format!("@{}", at("itself"))).unwrap();
        let arguments =
            |word: String| Line::of(&["clang".into(), word.into()]).unwrap().arguments();
        let outer = arguments(format!("@{}", at("outer")));
        assert_eq!(outer, ["-c", "-DX=a b", "@gone", "a.c"]);
        assert_eq!(arguments(format!("@{}", at("itself"))).len(), 1);
    }

    #[test]
    fn lists_and_rules_name_what_was_read() {
        assert_eq!(paths_in("/usr/a.h\n/usr/b.h\n"), ["/usr/a.h", "/usr/b.h"]);
        assert_eq!(
            paths_in("out/x.d: src/lib.rs src/a\\ b.rs\n\nsrc/lib.rs:\n"),
            ["src/lib.rs", "src/a b.rs"]
        );
    }

    #[test]
    fn probes_of_build_systems_are_no_programs() {
        assert!(is_probe(Path::new("/x"), "conftest.c") && is_probe(Path::new("/x"), "/dev/null"));
        assert!(is_probe(Path::new("/x/CMakeFiles/CMakeScratch/T"), "a.c"));
        assert!(!is_probe(Path::new("/x/src"), "config.c"));
    }
}
