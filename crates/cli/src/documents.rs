//! Every command line that a document shows is one that this program takes: of the book, the README and the other documents, and
//! of what stands below each command's options. They are parsed, not run; what blocks `console` show is run by the cases.

use crate::Arguments;
use clap::{CommandFactory, error::ErrorKind};
use rows::Words as _;
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

const NAME: &str = "stampmill";
/// Blanks between a command and what is said of it.
const GAP: &str = "  ";
/// Stands for arguments that are left out.
const ELLIPSIS: &str = "...";
/// Stands before a block whose commands were run by a version that took other options.
const EARLIER: &str = "<!-- of an earlier version -->";
/// Words of the shell between commands.
const BETWEEN: [&str; 5] = ["&&", "||", "|", ";", "&"];
/// Words of the shell behind which stands no argument of ours.
const REDIRECTIONS: [&str; 4] = [">", ">>", "<", "2>"];

/// A command line, and where it stands.
#[derive(Debug, PartialEq)]
struct Shown {
    line: usize,
    text: String,
    /// Whether it may be a part of one: options without what they need, names in the place of values.
    is_inline: bool,
}

/// What is wrong with a document's command lines, and how many there are.
fn check(name: &str, shown: Vec<Shown>) -> (Vec<String>, usize) {
    let mut problems = Vec::new();
    let mut count = 0;
    for Shown { line, text, is_inline } in shown {
        let mut wrong = |why: &str| problems.push(format!("{name}:{line}: `{text}`: {why}"));
        let Some(mut words) = shlex::split(&filled(&text)) else {
            wrong("a quote is not closed");
            continue;
        };
        let all = words.len();
        words.retain(|word| word != ELLIPSIS);
        let is_part = is_inline || words.len() < all;
        for words in commands(words) {
            count += 1;
            // `stampmill COMMAND --help` is of any command.
            if is_part && words.get(1).is_some_and(|word| is_name(word)) {
                continue;
            }
            let parsed = Arguments::command().try_get_matches_from(words);
            let Err(error) = parsed else { continue };
            let is_wrong = match error.kind() {
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => false,
                ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand => true,
                _ => !is_part,
            };
            if is_wrong {
                let said = error.to_string();
                wrong(said.lines().next().unwrap_or_default());
            }
        }
    }
    (problems, count)
}

/// A command line in which each of a shell's variables has a value.
fn filled(text: &str) -> String {
    let mut parts = text.split('$');
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        filled = filled + "1" + rest;
    }
    filled
}

/// Our commands among a shell's words.
fn commands(words: Vec<String>) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for mut part in words.split(|word| BETWEEN.contains(&word.as_str())).map(<[String]>::to_vec) {
        let is_set = |word: &String| word.split_once('=').is_some_and(|(name, _)| is_name(name));
        let begin = part.iter().position(|word| !is_set(word)).unwrap_or(part.len());
        part.drain(..begin);
        if let Some(end) = part.iter().position(|word| REDIRECTIONS.contains(&word.as_str())) {
            part.truncate(end);
        }
        if part.first().is_some_and(|word| word == NAME) {
            found.push(part);
        }
    }
    found
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// The command lines of a document in Markdown.
fn of_markdown(text: &str) -> Vec<Shown> {
    let mut found = Vec::new();
    let mut lines = text.lines().enumerate().peekable();
    let (mut is_code, mut is_earlier) = (false, false);
    while let Some((at, line)) = lines.next() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
            is_earlier &= is_code;
            continue;
        }
        is_earlier |= line.trim() == EARLIER;
        if is_code && is_earlier {
            continue;
        }
        if !is_code {
            found.extend(inline(line).map(|text| Shown { line: at + 1, text, is_inline: true }));
            continue;
        }
        let Some(mut text) = begun(line) else { continue };
        // A line that ends with a backslash, or within quotes, goes on.
        while text.ends_with('\\') || shlex::split(&text).is_none() {
            let Some((_, next)) = lines.next_if(|(_, next)| !next.trim_start().starts_with("```"))
            else {
                break;
            };
            text = format!("{} {}", text.trim_end_matches('\\'), said(next));
        }
        found.push(Shown { line: at + 1, text, is_inline: false });
    }
    found
}

/// The command that a line of a block begins with.
fn begun(line: &str) -> Option<String> {
    let line = said(line);
    let line = line.strip_prefix("$ ").unwrap_or(line);
    let first =
        line.split(' ').find(|word| word.split_once('=').is_none_or(|(name, _)| !is_name(name)));
    (first == Some(NAME)).then(|| line.to_owned())
}

/// A line without what is said of it.
fn said(line: &str) -> &str {
    let line = line.trim();
    line.split_once(GAP).map_or(line, |(line, _)| line.trim_end())
}

/// The commands between backquotes.
fn inline(line: &str) -> impl Iterator<Item = String> {
    let codes = line.split('`').skip(1).step_by(2);
    codes.filter(|code| code.starts_with("stampmill ")).map(str::to_owned)
}

/// The command lines of what stands below a command's options.
fn of_help(text: &str) -> Vec<Shown> {
    let mut found = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        if let Some(mut text) = line.strip_prefix("  ").and_then(begun) {
            while text.ends_with('\\') {
                let Some((_, next)) = lines.next() else { break };
                text = format!("{} {}", text.trim_end_matches('\\'), said(next));
            }
            found.push(Shown { line: at + 1, text, is_inline: false });
        } else {
            found.extend(inline(line).map(|text| Shown { line: at + 1, text, is_inline: true }));
        }
    }
    found
}

fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of this repository").flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, ending, found);
        } else if path.extension().is_some_and(|extension| extension == ending) {
            found.push(path);
        }
    }
}

/// Check the files; at least so many command lines are there.
fn all_are_taken(paths: &[PathBuf], read: fn(&str) -> Vec<Shown>, least: usize) {
    let (mut problems, mut count) = (Vec::new(), 0);
    for path in paths {
        let text = fs::read_to_string(path).expect("a text");
        let name = path.strip_prefix("../..").unwrap_or(path).display().to_string();
        let (wrong, some) = check(&name, read(&text));
        problems.extend(wrong);
        count += some;
    }
    assert!(
        problems.is_empty(),
        "command lines that stampmill does not take:\n{}",
        problems.join("\n")
    );
    assert!(count >= least, "only {count} command lines were found");
}

#[test]
fn command_lines_of_the_documents_are_taken() {
    let root = Path::new("../..");
    let mut paths = Vec::new();
    files(&root.join("docs"), "md", &mut paths);
    for name in [
        "README.md",
        "CLI.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "ARCHITECTURE.md",
        "python/README.md",
        "examples/README.md",
    ] {
        paths.push(root.join(name));
    }
    paths.sort();
    all_are_taken(&paths, of_markdown, 200);
}

#[test]
fn command_lines_of_the_help_are_taken() {
    let mut paths = Vec::new();
    files(Path::new("help"), "txt", &mut paths);
    paths.sort();
    all_are_taken(&paths, of_help, 150);
}

#[test]
fn the_help_names_chapters_of_the_book_and_no_file_of_a_checkout() {
    let summary = fs::read_to_string("../../docs/SUMMARY.md").expect("the book's chapters");
    let mut paths = Vec::new();
    files(Path::new("help"), "txt", &mut paths);
    let mut count = 0;
    for path in paths {
        let (name, text) = (path.display(), fs::read_to_string(&path).expect("a text"));
        assert!(!text.contains("docs/"), "{name}: who has the wheel has no folder docs");
        for named in text.split("(in the book: ").skip(1) {
            let chapter = named.split(')').next().unwrap_or_default();
            assert!(summary.contains(&format!("[{chapter}]")), "{name}: no chapter `{chapter}`");
            count += 1;
        }
    }
    assert!(count >= 7, "only {count} chapters are named");
}

#[test]
fn the_help_names_every_outcome_and_verdict() {
    let words: [(Vec<_>, &[&str]); 6] = [
        (rows::Outcome::table(), &["run"]),
        (rows::TimingVerdict::table(), &["time"]),
        (rows::TaskVerdict::table(), &["label", "heuristic-import"]),
        (
            rows::EditVerdict::table(),
            &["edits-judge", "edits-pairs", "edits-tests", "edits-self-play"],
        ),
        (rows::KernelEditVerdict::table(), &["edits-judge-kernels"]),
        (rows::Certificate::table(), &["edits-certify"]),
    ];
    let mut missing = Vec::new();
    for (table, commands) in words {
        let help: String = commands
            .iter()
            .map(|name| fs::read_to_string(format!("help/{name}.txt")).expect("a text"))
            .collect();
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        let said: BTreeSet<&str> = help.split(|letter| !is_part(letter)).collect();
        let unsaid = table.iter().map(|(word, ..)| *word).filter(|word| !said.contains(word));
        let unsaid = unsaid.filter(|word| *word != dataset::Verdict::ACCEPTED);
        missing.extend(unsaid.map(|word| format!("{word}: {}", commands.join(", "))));
    }
    assert!(missing.is_empty(), "words that the help lacks:\n{}", missing.join("\n"));
}

#[test]
fn a_command_line_that_is_none_is_named_with_its_place() {
    let text = "`stampmill steer --shard 1/2`, and `stampmill run DATASET` is a part of one\n\
        ```sh\nA=1 stampmill show k | head && stampmill shwo k > x   # why\n\
        stampmill query \"SELECT *\n  FROM k\" k=k \\\n  --format csv    a remark\n```\n";
    let (problems, count) = check("a.md", of_markdown(text));
    assert_eq!(count, 5);
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].starts_with(
        "a.md:1: `stampmill steer --shard 1/2`: error: unexpected argument '--shard'"
    ));
    assert!(problems[1].starts_with("a.md:3: ") && problems[1].contains("'shwo'"), "{problems:?}");
    let (problems, count) =
        check("a.txt", of_help("  stampmill merge a b    two\nText: `stampmill merge --ot c`\n"));
    assert_eq!((count, problems.len()), (2, 2), "{problems:?}");
    let part = "```\nstampmill features a ... --out b  of many\nstampmill features a --part \"$TASK/8\" --out b\n```\n\
        `stampmill COMMAND --help`\n";
    assert_eq!(check("a.md", of_markdown(part)), (Vec::new(), 3));
    let earlier = format!("{EARLIER}\n```\nstampmill shwo\n```\n```\nstampmill shwo\n```\n");
    assert_eq!(check("a.md", of_markdown(&earlier)).0.len(), 1);
    let (problems, _) = check("a.md", of_markdown("```\nstampmill show \"k\n```\n"));
    assert!(problems[0].ends_with("a quote is not closed"), "{problems:?}");
}
