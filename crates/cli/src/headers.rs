//! Programs of a plain folder that include files of it: a program is compiled alone, and `mine` puts such files in.

use crate::{Global, output};
use dataset::{Dataset, Programs};
use std::{
    cell::LazyCell,
    collections::HashMap,
    ffi::OsString,
    fs,
    path::{Component, Path, PathBuf},
};

/// Programs that are looked at.
const MOST: usize = 5000;

/// Say, before a command begins, how many programs lack files that lie beside them or elsewhere in the folder. What is
/// wrong with the folder is for the command to say.
pub(crate) fn say(input: &Path, global: &Global) {
    if global.is_quiet() || !input.exists() || Dataset::is_at(input) {
        return;
    }
    let Ok(Programs::Files(root, files)) = Programs::open(input) else { return };
    let all = LazyCell::new(|| files_of(input));
    // What `mine` puts in is of programs in OpenCL C and C.
    let is_looked_at = |path: &str| path.ends_with(".cl") || path.ends_with(".c");
    let files = files.iter().filter(|file| file.rejected.is_none() && is_looked_at(&file.path));
    let wanting: Vec<(_, String, PathBuf, bool)> = files
        .take(MOST)
        .filter_map(|file| {
            let text = fs::read_to_string(&file.file).ok()?;
            let folders = [file.file.parent()?, root.as_path()];
            let there = |name: &str| {
                let is_relative = Path::new(name).is_relative();
                let mut places = folders.iter().map(|folder| folder.join(name));
                let beside = places.find(|place| is_relative && place.is_file());
                let beside = beside.map(|place| (place, true));
                beside.or_else(|| Some((elsewhere(&all, name)?, false)))
            };
            // What C names between angle brackets its compiler has.
            let name_of = if file.path.ends_with(".c") { included } else { included_anywhere };
            let mut found = text.lines().filter_map(name_of);
            let (name, (place, is_beside)) = found.find_map(|name| Some((name, there(name)?)))?;
            Some((file, name.to_owned(), place, is_beside))
        })
        .collect();
    let Some((file, name, place, is_beside)) = wanting.first() else { return };
    let path = &file.path;
    let stands = match is_beside {
        true => String::new(),
        false => format!(" as {}", place.strip_prefix(&root).unwrap_or(place).display()),
    };
    let more = match wanting.len() - 1 {
        0 => String::new(),
        1 => " (and 1 more program includes such a file)".to_owned(),
        more => format!(" (and {} more programs include such files)", output::count(more as u64)),
    };
    // `mine` takes folders: one that holds both.
    let folder = input.parent().filter(|_| input.is_file()).unwrap_or(input);
    let folder = if folder == Path::new("") { Path::new(".") } else { folder };
    let folder = common(folder, place).unwrap_or_else(|| folder.to_owned());
    let input = folder.display();
    let language = if path.ends_with(".c") { " --language c" } else { "" };
    let note = format!(
        "note: {path} includes {name}, which is there{stands}{more}; here a program is compiled alone, without it. \
         `stampmill mine {input}{language} --out raw` puts such files in: then give this command raw"
    );
    eprintln!("{}", output::plain(&note));
}

/// Files by their last names.
type Names = HashMap<OsString, Vec<PathBuf>>;

/// Files of a folder and of those below that are looked at.
const MOST_FILES: usize = 100_000;

/// The files of a folder and of those below, where they are not too many; links are not followed.
fn files_of(folder: &Path) -> Names {
    let (mut folders, mut names, mut count) = (vec![folder.to_owned()], Names::new(), 0);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if kind.is_file() => {
                    names.entry(entry.file_name()).or_default().push(entry.path());
                    count += 1;
                }
                _ => {}
            }
        }
        if count > MOST_FILES {
            return Names::new();
        }
    }
    names
}

/// The one file whose path ends as an include says: `mine` looks for what is not beside a program in all of its package.
fn elsewhere(files: &Names, name: &str) -> Option<PathBuf> {
    let name = name.trim_start_matches("../").trim_start_matches("./");
    let wanted = Path::new(name);
    let named = files.get(wanted.file_name()?).filter(|_| stays_inside(name))?;
    let mut found = named.iter().filter(|path| path.ends_with(wanted));
    found.next().filter(|_| found.next().is_none()).cloned()
}

/// The folder above this one that holds the file, where this one does not, as one would call it here.
fn common(folder: &Path, file: &Path) -> Option<PathBuf> {
    let (folder, file) = (folder.canonicalize().ok()?, file.canonicalize().ok()?);
    if file.starts_with(&folder) {
        return None;
    }
    let above = folder.ancestors().find(|above| file.starts_with(above))?;
    let here = std::env::current_dir().ok()?;
    Some(match above.strip_prefix(here) {
        Ok(own) if own == Path::new("") => PathBuf::from("."),
        Ok(own) => own.to_owned(),
        Err(_) => above.to_owned(),
    })
}

/// A program's folder as a compiler's flag, where it includes a file beside it in quotes: compilers look there first.
pub(crate) fn quoted(program: &Path) -> Option<String> {
    beside(program)?;
    let whole = program.canonicalize().ok()?;
    Some(format!("-iquote{}", whole.parent()?.display()))
}

/// Say of programs that are compiled without what lies beside them, files or one folder, by which flag it is found.
pub(crate) fn say_flag(programs: &[&Path], flags: &[String], global: &Global) {
    let in_folder = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        files.sort();
        files
    };
    let files = programs.iter().flat_map(|path| match path.is_dir() {
        true => in_folder(path),
        false => vec![path.to_path_buf()],
    });
    let wanting = files.take(MOST).find_map(|file| Some((beside(&file)?, quoted(&file)?, file)));
    let Some((name, flag, file)) = wanting.filter(|_| !global.is_quiet()) else { return };
    let folder = flag.trim_start_matches("-iquote");
    if !flags.iter().any(|flag| flag.ends_with(folder)) {
        let note = format!(
            "note: {} includes {name}, which lies beside it; here a program is compiled alone: --flag -I{folder} finds it",
            file.display()
        );
        eprintln!("{}", output::plain(&note));
    }
}

/// A file beside a program in C or C++ that it includes, by the name between the quotes.
fn beside(program: &Path) -> Option<String> {
    let extension = program.extension()?.to_str()?;
    if !program.is_file() || !["c", "cpp", "cc", "cxx", "C"].contains(&extension) {
        return None;
    }
    let text = fs::read(program).ok()?;
    let text = String::from_utf8_lossy(&text);
    let folder = program.parent()?;
    let is_beside = |name: &&str| stays_inside(name) && folder.join(name).is_file();
    text.lines().filter_map(included).find(is_beside).map(str::to_owned)
}

/// Whether a path leads nowhere but down.
fn stays_inside(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// What an include names, with what stands around it.
fn include(line: &str) -> Option<&str> {
    let named = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
    Some(named.trim_start())
}

/// The name between the quotes of an include.
fn included(line: &str) -> Option<&str> {
    include(line)?.strip_prefix('"')?.split_once('"').map(|(name, _)| name)
}

/// The name between the quotes or the angle brackets of an include: `mine` puts both in where the folder has the file.
fn included_anywhere(line: &str) -> Option<&str> {
    let angled = || include(line)?.strip_prefix('<')?.split_once('>').map(|(name, _)| name);
    included(line).or_else(angled)
}

#[cfg(test)]
mod tests {
    use super::{elsewhere, files_of, included, included_anywhere, stays_inside};
    use std::{fs, path::Path};

    #[test]
    fn names_stand_between_quotes() {
        let lines = [
            "  # include  \"a/b.h\" // why",
            "#include <math.h>",
            "include \"x\"",
            "#include \"open",
        ];
        assert_eq!(lines.map(included), [Some("a/b.h"), None, None, None]);
        let anywhere = [Some("a/b.h"), Some("math.h"), None, None];
        assert_eq!(lines.map(included_anywhere), anywhere);
    }

    #[test]
    fn one_file_of_a_folder_is_what_an_include_says() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        for path in ["inc/deep/my.h", "a/two.h", "b/two.h", "top.h"] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("it has one")).expect("is made");
            fs::write(path, "").expect("is written");
        }
        let files = files_of(root);
        let of = |name: &str| elsewhere(&files, name);
        let at = |path: &str| Some(root.join(path));
        assert_eq!((of("my.h"), of("deep/my.h")), (at("inc/deep/my.h"), at("inc/deep/my.h")));
        assert_eq!((of("../../deep/my.h"), of("./top.h")), (at("inc/deep/my.h"), at("top.h")));
        assert_eq!((of("a/two.h"), of("two.h")), (at("a/two.h"), None));
        for name in ["other.h", "c/my.h", "/my.h", "deep/../my.h", "y.h", ""] {
            assert_eq!(of(name), None, "{name}");
        }
        assert!(files_of(&root.join("top.h")).is_empty() && files_of(Path::new("none")).is_empty());
    }

    #[test]
    fn what_leads_out_lies_beside_nothing() {
        let names = ["a.h", "./deep/a.h", "../a.h", "/etc/passwd", "deep/../../a.h"];
        assert_eq!(names.map(stays_inside), [true, true, false, false, false]);
    }
}
