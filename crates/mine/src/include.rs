//! Inlining of `#include`s from a package's own files.

use crate::{
    defines::Hints,
    tree::{self, Tree},
};
use dataset::Language;
use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

/// Includes inside includes.
const DEPTH: usize = 64;
/// Includes in one content file.
const INCLUSIONS: u32 = 1 << 14;
/// A content file grown beyond this is rejected.
const GROWN_LIMIT: usize = 16 << 20;

/// What every OpenCL compiler brings along: never inlined, never missed.
const BUILTIN: &[&str] = &["opencl-c.h", "opencl-c-base.h"];
/// Headers of C and of the host side of OpenCL: a package's own file of the same name is meant for
/// other programs than kernels.
const HOSTED: &[&str] = &["cl.h", "opencl.h", "cuda.h", "cuda_runtime.h"];
/// Headers of C, likewise. A C program keeps the lines that ask for them, for the compiler has them.
const STANDARD: &[&str] = &[
    "assert.h",
    "ctype.h",
    "errno.h",
    "float.h",
    "inttypes.h",
    "limits.h",
    "math.h",
    "stdarg.h",
    "stdbool.h",
    "stddef.h",
    "stdint.h",
    "stdio.h",
    "stdlib.h",
    "string.h",
    "time.h",
];

/// A text that stands alone.
pub(crate) struct Inlined {
    pub(crate) text: String,
    /// Includes nothing answers to, sorted.
    pub(crate) missing: Vec<String>,
    /// Set where the limit on size was hit; the text is then a part.
    pub(crate) too_large: bool,
}

/// The files of a package as they are included, each prepared once.
pub(crate) struct Library<'a> {
    tree: &'a Tree,
    hints: &'a Hints,
    /// Of C and C++ programs, not of OpenCL.
    of_c: bool,
    prepared: Mutex<HashMap<String, Option<Arc<Prepared>>>>,
}

/// A file to be included.
struct Prepared {
    text: String,
    /// Whether `#pragma once` stands in it.
    once: bool,
    /// Whether it adds nothing the second time.
    guarded: bool,
}

impl<'a> Library<'a> {
    pub(crate) fn new(tree: &'a Tree, hints: &'a Hints, language: Language) -> Library<'a> {
        let of_c = matches!(language, Language::C | Language::Cxx);
        Library { tree, hints, of_c, prepared: Mutex::default() }
    }

    fn get(&self, path: &str) -> Option<Arc<Prepared>> {
        let lock = || self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(path) {
            return known.clone();
        }
        let prepared = self.tree.get(path).and_then(crate::find::decode).map(|content| {
            let text = crate::embedded::unwrap(&content.text).unwrap_or(content.text);
            let once = pragma_once(&text);
            let guarded = once || guard(&text).is_some();
            Arc::new(Prepared { text, once, guarded })
        });
        lock().insert(path.to_owned(), prepared.clone());
        prepared
    }
}

/// A file that is being inlined.
struct Open {
    path: String,
    /// Its name, as it was included.
    name: String,
}

struct Inliner<'a> {
    library: &'a Library<'a>,
    out: String,
    missing: BTreeSet<String>,
    /// Files being inlined, outermost first.
    open: Vec<Open>,
    /// Conditions around the place that is being written, include guards left out.
    conditions: Vec<String>,
    /// Guarded files that stand in the text already, and under which conditions.
    done: HashMap<String, Vec<Vec<String>>>,
    /// How often each name was defined or undefined so far.
    changes: HashMap<String, u32>,
    /// Macros that may name a file.
    names: HashMap<String, String>,
    /// Conditions whose truth is not known to be that of an earlier one.
    unlike: u32,
    too_large: bool,
    /// Includes left until the text counts as too large: files of nothing but includes grow
    /// nothing, and yet need not end.
    left: u32,
}

/// Put the included files' text in place of the `#include`s of `text`, the file at `path`, between `#line` directives that
/// say which lines of which file follow.
///
/// A quoted name is looked for where the project's own build would: beside the including file, in
/// the folders of `-I` options, in the including file's parent folders, last anywhere in the
/// package. Nothing outside the package is ever read.
pub(crate) fn inline(library: &Library<'_>, path: &str, text: &str) -> Inlined {
    let mut inliner = Inliner {
        library,
        out: String::with_capacity(text.len()),
        missing: BTreeSet::new(),
        open: vec![Open {
            path: path.to_owned(),
            name: path.rsplit('/').next().unwrap_or(path).to_owned(),
        }],
        conditions: Vec::new(),
        done: HashMap::new(),
        changes: HashMap::new(),
        names: HashMap::new(),
        unlike: 0,
        too_large: false,
        left: INCLUSIONS,
    };
    inliner.copy(text);
    let Inliner { out, missing, too_large, .. } = inliner;
    Inlined { text: out, missing: missing.into_iter().collect(), too_large }
}

/// An include directive's operand.
#[derive(Debug, PartialEq, Eq)]
enum Operand<'a> {
    Quoted(&'a str),
    Angled(&'a str),
    /// Made by macros; the part of it that looks like a path.
    Computed(&'a str),
}

impl Inliner<'_> {
    fn copy(&mut self, text: &str) {
        let lines = Lines { rest: text, comment: false };
        let guard = guard(text);
        let outer = self.conditions.len();
        // Which of the conditionals open in this file is its include guard.
        let mut open: Vec<bool> = Vec::new();
        let mut number = 1;
        for line in lines {
            let ends = memchr::memchr_iter(b'\n', line.text.as_bytes()).count();
            number += ends;
            if self.left == 0 || self.out.len() + line.text.len() > GROWN_LIMIT {
                self.too_large = true;
                return;
            }
            match line.directive {
                Some(directive @ ("if" | "ifdef" | "ifndef")) => {
                    let is_guard = guard.is_some()
                        && open.is_empty()
                        && line.operand.contains(guard.unwrap_or_default());
                    if !is_guard {
                        let condition = self.condition(directive, line.operand);
                        self.conditions.push(condition);
                    }
                    open.push(is_guard);
                }
                Some("else") if open.last() == Some(&false) => {
                    let condition = self.conditions.pop().unwrap_or_default();
                    self.conditions.push(format!("!{condition}"));
                }
                Some("elif" | "elifdef" | "elifndef") if open.last() == Some(&false) => {
                    self.conditions.pop();
                    let condition = self.condition("elif", "");
                    self.conditions.push(condition);
                }
                Some("endif") if open.pop() == Some(false) => {
                    self.conditions.pop();
                }
                Some("define" | "undef") => self.note_macro(line.operand),
                Some("include" | "include_next" | "import") => {
                    match self.include(line.operand) {
                        true => self.mark(number),
                        // The lines behind keep their numbers.
                        false => self.out.extend(std::iter::repeat_n('\n', ends)),
                    }
                    continue;
                }
                Some("pragma") if is_once(line.operand) => {
                    self.out.push('\n');
                    continue;
                }
                _ => {}
            }
            self.out.push_str(line.text);
        }
        // Conditionals that nothing ends would reach into the including file.
        self.conditions.truncate(outer);
        if !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }

    /// A name for a condition: equal names are equally true. `#ifdef X` is while nothing defines
    /// X; any other condition may come out differently each time.
    fn condition(&mut self, directive: &str, operand: &str) -> String {
        let name = operand.split_whitespace().next().unwrap_or_default();
        if directive == "if" || directive == "elif" {
            self.unlike += 1;
            return format!("{}", self.unlike);
        }
        let changes = self.changes.get(name).copied().unwrap_or_default();
        format!("{directive} {name} {changes}")
    }

    fn note_macro(&mut self, operand: &str) {
        let end = operand.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let (name, body) = operand.split_at(end.unwrap_or(operand.len()));
        *self.changes.entry(name.to_owned()).or_default() += 1;
        if body.contains('.') && body.starts_with(char::is_whitespace) {
            self.names.insert(name.to_owned(), body.trim().to_owned());
        }
    }

    /// Say that line `number` of the file that is being inlined follows, as preprocessors do.
    ///
    /// A file is named as it was included, so that copies in two folders are one text.
    fn mark(&mut self, number: usize) {
        let name = self.open.last().map_or("", |file| &file.name);
        if !name.contains(|c: char| c.is_control() || c == '"' || c == '\\') {
            self.out.push_str(&format!("{}{number} \"{name}\"\n", lexer::MARKER));
        }
    }

    /// Put the file in place of the directive; whether it was.
    fn include(&mut self, operand: &str) -> bool {
        let named = self.names.get(operand.trim()).cloned();
        let Some(operand) = operand_of(named.as_deref().unwrap_or(operand)) else { return false };
        let (Operand::Quoted(name) | Operand::Angled(name) | Operand::Computed(name)) = operand;
        let base = name.rsplit('/').next().unwrap_or(name);
        if BUILTIN.contains(&base) {
            return false;
        }
        let found = self.find(&operand).and_then(|path| Some((self.library.get(&path)?, path)));
        let Some((file, path)) = found else {
            if self.library.of_c && STANDARD.contains(&name) {
                self.out.push_str(&format!("#include <{name}>"));
                return false;
            }
            self.missing.insert(name.to_owned());
            // Where a list goes on it is data; without the line the program would be another one.
            if lexer::trim_markers_end(&self.out).ends_with(['{', ',', '=', '(']) {
                self.out.push_str(&format!("#include \"{name}\""));
            }
            return false;
        };
        let stands = |known: &Vec<Vec<String>>| {
            known.iter().any(|before| self.conditions.starts_with(before))
        };
        if self.done.get(&path).is_some_and(stands) {
            return false;
        }
        if self.open.iter().any(|file| file.path == path) || self.open.len() > DEPTH {
            // A guarded file that includes itself adds nothing the second time.
            if !file.guarded {
                self.missing.insert(format!("{name} (includes itself)"));
            }
            return false;
        }
        self.left -= 1;
        if file.guarded {
            self.done.entry(path.clone()).or_default().push(self.conditions.clone());
        }
        // Where the file may come again, in another branch.
        let own_guard = file.once && !self.conditions.is_empty();
        if own_guard {
            let name = crate::defines::macro_name(&path);
            self.out.push_str(&format!("#ifndef ONCE_{name}\n#define ONCE_{name}\n"));
        }
        self.open.push(Open { path, name: name.to_owned() });
        self.mark(1);
        self.copy(&file.text);
        self.open.pop();
        if own_guard {
            self.out.push_str("#endif\n");
        }
        true
    }

    fn find(&self, operand: &Operand<'_>) -> Option<String> {
        let from = tree::folder(&self.open.last()?.path);
        let has = |path: Option<String>| path.filter(|path| self.library.tree.get(path).is_some());
        let (name, nearby) = match operand {
            Operand::Quoted(name) => (*name, true),
            Operand::Angled(name) => (*name, false),
            // The first folders of a computed path may be macros: `INCLUDE_PATH/inc_types.h`.
            Operand::Computed(path) => {
                let mut name = *path;
                loop {
                    if let Some(found) = self.find(&Operand::Quoted(name)) {
                        return Some(found);
                    }
                    name = name.split_once('/')?.1;
                }
            }
        };
        if name.starts_with('/') {
            return None;
        }
        if nearby && let Some(path) = has(tree::join(from, name)) {
            return Some(path);
        }
        let base = name.rsplit('/').next().unwrap_or(name);
        let hosted = HOSTED.contains(&base) || STANDARD.contains(&base);
        if hosted && !nearby {
            return None;
        }
        let mut above = Some(from).filter(|folder| !folder.is_empty());
        while let Some(folder) = above {
            if let Some(path) = has(tree::join(folder, name)) {
                return Some(path);
            }
            above = folder.rsplit_once('/').map(|(above, _)| above);
        }
        for folder in &self.library.hints.include_folders {
            if let Some(path) = has(tree::join(folder, name)) {
                return Some(path);
            }
        }
        if let Some(path) = has(tree::normal(name)) {
            return Some(path);
        }
        self.anywhere(from, name)
    }

    /// The file whose path ends in `name`; of several the nearest, unless near ones differ.
    fn anywhere(&self, from: &str, name: &str) -> Option<String> {
        let wanted = tree::normal(name.trim_start_matches("../").trim_start_matches("./"))?;
        let base = wanted.rsplit('/').next()?;
        let tail = format!("/{wanted}");
        let mut by_nearness: HashMap<usize, Vec<&String>> = HashMap::new();
        for path in self.library.tree.named(base).iter().filter(|path| path.ends_with(&tail)) {
            let shared = path.split('/').zip(from.split('/')).take_while(|(a, b)| a == b).count();
            by_nearness.entry(shared).or_default().push(path);
        }
        let nearest = by_nearness.into_iter().max_by_key(|(shared, _)| *shared)?.1;
        let first = nearest.first()?;
        let content = |path: &str| self.library.tree.get(path);
        let same = nearest.iter().all(|path| content(path) == content(first));
        same.then(|| (*first).clone())
    }
}

fn operand_of(text: &str) -> Option<Operand<'_>> {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix('"') {
        return rest.split_once('"').map(|(name, _)| Operand::Quoted(name));
    }
    if let Some(rest) = text.strip_prefix('<') {
        return rest.split_once('>').map(|(name, _)| Operand::Angled(name));
    }
    let is_path = |c: char| c.is_ascii_alphanumeric() || "_./-".contains(c);
    let path = text.split(|c| !is_path(c)).find(|word| word.contains('.') || word.contains('/'));
    Some(Operand::Computed(path.unwrap_or(text)))
}

/// The macro of the include guard around a whole file.
fn guard(text: &str) -> Option<&str> {
    let mut lines = Lines { rest: text, comment: false };
    let first = std::iter::from_fn(|| lines.next()).find(|line| !line.blank)?;
    let name = match first.directive? {
        "ifndef" => first.operand,
        "if" => first.operand.strip_prefix("!defined")?.trim_matches([' ', '(', ')']),
        _ => return None,
    };
    let name = name.split_whitespace().next()?;
    let second = std::iter::from_fn(|| lines.next()).find(|line| !line.blank)?;
    let defined = second.directive == Some("define")
        && second.operand.split_whitespace().next() == Some(name);
    defined.then_some(name)
}

fn pragma_once(text: &str) -> bool {
    let mut lines = Lines { rest: text, comment: false };
    std::iter::from_fn(|| lines.next())
        .any(|line| line.directive == Some("pragma") && is_once(line.operand))
}

fn is_once(operand: &str) -> bool {
    operand.split_whitespace().next() == Some("once")
}

/// One logical line: with its continuations.
struct Line<'a> {
    /// All of it, with its end.
    text: &'a str,
    /// The name of the directive it is.
    directive: Option<&'a str>,
    /// What follows that name.
    operand: &'a str,
    /// Whether nothing but comments and white space stands on it.
    blank: bool,
}

/// The logical lines of a text; directives inside block comments are none.
struct Lines<'a> {
    rest: &'a str,
    comment: bool,
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let mut length = 0;
        loop {
            let end = memchr::memchr(b'\n', &self.rest.as_bytes()[length..]);
            length = end.map_or(self.rest.len(), |end| length + end + 1);
            let continues = self.rest[..length].trim_end_matches(['\n', '\r']).ends_with('\\');
            if !continues || length == self.rest.len() {
                break;
            }
        }
        let (text, rest) = self.rest.split_at(length);
        self.rest = rest;
        let code = self.code_of(text);
        let blank = code.trim().is_empty();
        let (mut directive, mut operand) = (None, "");
        if let Some(behind) = code.trim_start().strip_prefix('#') {
            let behind = behind.trim_start();
            let split = behind.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let (name, after) = behind.split_at(split.unwrap_or(behind.len()));
            directive = Some(name);
            operand = after.trim();
        }
        Some(Line { text, directive, operand, blank })
    }
}

impl<'a> Lines<'a> {
    /// The code of a line: behind the comments it begins with, before the next one; notes whether
    /// a comment stays open.
    fn code_of(&mut self, line: &'a str) -> &'a str {
        let bytes = line.as_bytes();
        let (mut from, mut to, mut at) = (0, None, 0);
        let (mut quoted, mut leading) = (false, true);
        while at < bytes.len() {
            if self.comment {
                let Some(end) = memchr::memmem::find(&bytes[at..], b"*/") else {
                    return if leading { "" } else { &line[from..to.unwrap_or(bytes.len())] };
                };
                at += end + 2;
                self.comment = false;
                if leading {
                    from = at;
                }
                continue;
            }
            match bytes[at] {
                b'\\' if quoted => at += 1,
                b'"' => quoted = !quoted,
                b'/' if !quoted && bytes.get(at + 1) == Some(&b'/') => {
                    return &line[from..to.unwrap_or(at)];
                }
                b'/' if !quoted && bytes.get(at + 1) == Some(&b'*') => {
                    self.comment = true;
                    if !leading {
                        to.get_or_insert(at);
                    }
                    at += 2;
                    continue;
                }
                _ => {}
            }
            leading &= bytes[at.min(bytes.len() - 1)].is_ascii_whitespace();
            at += 1;
        }
        &line[from..to.unwrap_or(line.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Tree {
        let mut tree = Tree::default();
        for (path, text) in files {
            tree.offer(path, None, &mut text.as_bytes()).unwrap();
        }
        tree
    }

    fn inlined(files: &[(&str, &str)], path: &str) -> Inlined {
        let tree = tree(files);
        let text = std::str::from_utf8(tree.get(path).unwrap()).unwrap().to_owned();
        let hints = Hints::default();
        inline(&Library::new(&tree, &hints, Language::OpenCl), path, &text)
    }

    #[test]
    fn includes_are_found_beside_above_and_anywhere() {
        let files = [
            ("k/a.cl", "#include \"b.h\"\n#include \"c.h\"\n#include <deep/d.h>\nend\n"),
            ("k/b.h", "b\n"),
            ("c.h", "c\n"),
            ("x/y/deep/d.h", "d\n"),
        ];
        let found = inlined(&files, "k/a.cl");
        let own = |line| format!("#line {line} \"a.cl\"\n");
        let of = |name, text| format!("#line 1 \"{name}\"\n{text}\n");
        let (b, c, d) = (of("b.h", "b"), of("c.h", "c"), of("deep/d.h", "d"));
        assert_eq!(found.text, format!("{b}{}{c}{}{d}{}end\n", own(2), own(3), own(4)));
        assert!(found.missing.is_empty());
    }

    #[test]
    fn an_include_of_data_that_is_missing_stays() {
        let text = "constant int t[] = {\n#include \"t.inc\"\n};\n#include \"u.h\"\n";
        let found = inlined(&[("k/a.cl", text)], "k/a.cl");
        assert_eq!(found.text, "constant int t[] = {\n#include \"t.inc\"\n};\n\n");
        assert_eq!(found.missing, ["t.inc", "u.h"]);
        let files = [
            ("a.cl", "constant int t[] = {\n#include \"t.h\"\n#include \"t.inc\"\n};\n"),
            ("t.h", "1,\n"),
        ];
        let found = inlined(&files, "a.cl");
        assert!(found.text.contains("#include \"t.inc\"\n};\n"), "{}", found.text);
    }

    #[test]
    fn nothing_outside_the_package_is_read() {
        let text =
            "#include \"/etc/passwd\"\n#include \"../../../etc/passwd\"\n#include </dev/zero>\nx\n";
        let found = inlined(&[("k/a.cl", text)], "k/a.cl");
        assert_eq!(found.text, "\n\n\nx\n");
        assert_eq!(found.missing, ["../../../etc/passwd", "/dev/zero", "/etc/passwd"]);
    }

    #[test]
    fn recursive_includes_end() {
        let found = inlined(&[("a.cl", "#include \"a.cl\"\nx\n")], "a.cl");
        assert_eq!((found.text.as_str(), found.missing.len()), ("\nx\n", 1));
        let bomb: Vec<(String, String)> = (0..40)
            .map(|n| {
                (
                    format!("{n}.h"),
                    format!("#include \"{}.h\"\n#include \"{}.h\"\nint x;\n", n + 1, n + 1),
                )
            })
            .collect();
        let bomb: Vec<(&str, &str)> = bomb.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert!(inlined(&bomb, "0.h").too_large);
        let quiet: Vec<(&str, String)> =
            bomb.iter().map(|(a, b)| (*a, b.replace("int x;\n", ""))).collect();
        let quiet: Vec<(&str, &str)> = quiet.iter().map(|(a, b)| (*a, b.as_str())).collect();
        assert!(inlined(&quiet, "0.h").too_large);
    }

    #[test]
    fn a_guarded_file_in_a_branch_is_there_again_where_it_counts() {
        let files = [
            ("a.cl", "#ifdef X\n#include \"g.h\"\n#endif\n#include \"g.h\"\n#include \"g.h\"\n"),
            ("g.h", "#ifndef G\n#define G\nint g;\n#endif\n"),
        ];
        let text = inlined(&files, "a.cl").text;
        assert_eq!(text.matches("int g;").count(), 2, "{text}");
    }

    #[test]
    fn a_file_to_be_included_once_is_guarded_inside_a_branch() {
        let files = [
            ("a.cl", "#ifdef X\n#include \"p.h\"\n#else\n#include \"p.h\"\n#endif\n"),
            ("p.h", "#pragma once\nint p;\n"),
        ];
        let text = inlined(&files, "a.cl").text;
        assert_eq!(text.matches("#ifndef ONCE_P_H").count(), 2, "{text}");
    }

    #[test]
    fn a_guarded_file_is_there_once_under_a_condition_that_holds_throughout() {
        let files = [
            (
                "a.cl",
                "#ifdef S\n#include \"g.h\"\n#include \"h.h\"\n#endif\n#ifdef S\n#include \"g.h\"\n#endif\n#define S\n#ifdef S\n#include \"g.h\"\n#endif\n",
            ),
            ("g.h", "#ifndef G\n#define G\nint g;\n#endif\n"),
            ("h.h", "#ifdef S\n#include \"g.h\"\n#endif\n"),
        ];
        let text = inlined(&files, "a.cl").text;
        assert_eq!(text.matches("int g;").count(), 2, "{text}");
    }

    #[test]
    fn computed_includes_drop_the_macro_before_the_path() {
        let files = [("O/m.cl", "#include M2S(INCLUDE_PATH/inc.h)\n"), ("O/inc.h", "i\n")];
        let included = |line| format!("#line 1 \"inc.h\"\ni\n#line {line} \"m.cl\"\n");
        assert_eq!(
            inlined(&files, "O/m.cl").text,
            included(2).replace("inc.h", "INCLUDE_PATH/inc.h")
        );
        let named = [("m.cl", "#define C M2S(P/inc.h)\n#include C\n"), ("inc.h", "i\n")];
        assert_eq!(
            inlined(&named, "m.cl").text,
            format!("#define C M2S(P/inc.h)\n{}", included(3).replace("inc.h", "P/inc.h"))
        );
    }

    #[test]
    fn a_comment_holds_no_includes() {
        let text =
            "/* a\n#include \"n.h\"\n*/ /* b */ #include \"y.h\" // c\n// #include \"n.h\"\n";
        let found = inlined(&[("a.cl", text), ("y.h", "y\n")], "a.cl");
        assert!(found.missing.is_empty() && found.text.contains("\ny\n"), "{}", found.text);
    }
}
