//! Documents whose transcripts are run: what a block `console` shows is what its commands print.
//!
//! A line `$ stampmill ARGS...` is a command, the lines below it are its output, standard error last. All blocks of a
//! document run in order in one folder, which holds the blocks behind a line `<!-- file: PATH -->`, and `models` and
//! `datasets` as a checkout does. Commands end with status 0, or with that of a block `console status=N`. What differs
//! between two runs and machines is not compared; `BLESS=1` writes anew the outputs that differ in more.
//!
//! A block `sh run` is a shell's, and so is a line `<!-- run: COMMAND -->`, which pages do not show: both end with status 0, what
//! they print is not compared. In them `CHECKOUT` is this repository. Another block `sh` with a command of ours stands
//! behind a line `<!-- not run: WHY -->`.

use super::{root, settle, words};
use regex::Regex;
use std::{
    fmt::Write,
    fs,
    path::Path,
    process::{Command, Output},
};
use trials::Failed;

const FENCE: &str = "```";
const FILE: &str = "<!-- file: ";
const HIDDEN: &str = "<!-- run: ";
const NOT_RUN: &str = "<!-- not run: ";
const END: &str = " -->";
/// A block of a shell that is run.
const SHELL: &str = "```sh run";
const PROMPT: &str = "$ ";

/// What else is not compared, beside what cases leave out: figures of the compiler that this machine has, what its
/// version makes of identities and sizes, and the width of tables that hold such.
const UNSETTLED: [(&str, &str); 5] = [
    (
        r"(?m)^ (figure|time|net|cycles|instructions|branches|mispredicts|L[123]D? misses|TLB misses|kernel cycles|took) .*$",
        " $1",
    ),
    (r"[0-9,]+ instructions, [0-9.]+ [mµn]s simulated", "[NUMBER] instructions simulated"),
    (r"(?m)^ (identity|size|tools) .*$", " $1"),
    (r"(?m)^            (llvm|clang): .*\n", ""),
    (r"[─═]+", "─"),
];

/// Whether commands of a document are run.
pub(crate) fn is_one(text: &str) -> bool {
    text.lines().any(|line| opens(line, "console") || line.trim_end() == SHELL)
}

/// Blocks of a shell with a command of ours that are not run, and do not say why: their line numbers.
pub(crate) fn unexplained(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut before = "";
    let mut block = None;
    for (at, line) in text.lines().enumerate() {
        match block {
            Some(_) if line.trim_end() == FENCE => block = None,
            Some(begin) if line.contains("stampmill ") && found.last() != Some(&begin) => {
                found.push(begin);
            }
            Some(_) => {}
            None if line.trim_end() == "```sh" && !before.starts_with(NOT_RUN) => {
                block = Some(at + 1);
            }
            None => before = line,
        }
    }
    found
}

pub(crate) fn check(path: &Path) -> Result<(), Failed> {
    let text = fs::read_to_string(path)?;
    let folder = tempfile::tempdir()?;
    for name in ["models", "datasets"] {
        std::os::unix::fs::symlink(root().canonicalize()?.join(name), folder.path().join(name))?;
    }
    let found = performed(&text, folder.path())?;
    if found == text {
        return Ok(());
    }
    if std::env::var_os("BLESS").is_some() {
        return Ok(fs::write(path, found)?);
    }
    let mut differences = format!("{}: BLESS=1 writes it anew\n", path.display());
    for line in found.lines().filter(|line| !text.contains(*line)) {
        writeln!(differences, "+ {line}")?;
    }
    for line in text.lines().filter(|line| !found.contains(*line)) {
        writeln!(differences, "- {line}")?;
    }
    Err(differences.into())
}

fn opens(line: &str, language: &str) -> bool {
    line.trim_end().strip_prefix(FENCE).is_some_and(|info| info.split(' ').next() == Some(language))
}

/// The document with what its commands print now.
fn performed(text: &str, folder: &Path) -> Result<String, Failed> {
    let mut found = String::new();
    let mut lines = text.split_inclusive('\n');
    let mut file = None;
    while let Some(line) = lines.next() {
        found += line;
        if let Some(name) = line.trim_end().strip_prefix(FILE) {
            file = Some(name.trim_end_matches(END).to_owned());
            continue;
        }
        if let Some(command) = line.trim_end().strip_prefix(HIDDEN) {
            shell(command.trim_end_matches(END), folder)?;
            continue;
        }
        if !line.starts_with(FENCE) {
            continue;
        }
        let block: String = lines.by_ref().take_while(|line| line.trim_end() != FENCE).collect();
        if let Some(name) = file.take() {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap_or(folder))?;
            fs::write(path, &block)?;
        }
        if line.trim_end() == SHELL {
            shell(&block, folder)?;
        }
        found += &if opens(line, "console") {
            transcript(&block, status(line)?, folder)?
        } else {
            block
        };
        let _ = writeln!(found, "{FENCE}");
    }
    Ok(found)
}

/// The status that the commands of a block are to end with.
fn status(line: &str) -> Result<i32, Failed> {
    match line.trim_end().split_once(" status=") {
        Some((_, status)) => Ok(status.parse()?),
        None => Ok(0),
    }
}

fn transcript(block: &str, status: i32, folder: &Path) -> Result<String, Failed> {
    if !block.starts_with(PROMPT) {
        return Err(format!("a block `console` begins with `{PROMPT}`:\n{block}").into());
    }
    let mut found = String::new();
    for shown in block.split_inclusive('\n').fold(Vec::new(), commands) {
        let (command, expected) = shown.split_once('\n').unwrap_or((&shown, ""));
        let output = run(command, folder)?;
        let mut printed = String::from_utf8_lossy(&output.stdout).into_owned();
        printed += &String::from_utf8_lossy(&output.stderr);
        if output.status.code() != Some(status) {
            return Err(format!("{command}: {}, not {status}\n{printed}", output.status).into());
        }
        let same = settled(&printed, folder) == settled(expected, folder);
        let _ = writeln!(found, "{command}");
        found += if same { expected } else { &printed };
    }
    Ok(found)
}

fn settled(text: &str, folder: &Path) -> String {
    UNSETTLED.iter().fold(settle(text, folder), |text, (pattern, placeholder)| {
        let pattern = Regex::new(pattern).expect("a valid expression");
        pattern.replace_all(&text, *placeholder).into_owned()
    })
}

/// A block taken apart before every prompt.
fn commands(mut shown: Vec<String>, line: &str) -> Vec<String> {
    match shown.last_mut() {
        Some(last) if !line.starts_with(PROMPT) => last.push_str(line),
        _ => shown.push(line.to_owned()),
    }
    shown
}

/// Run lines of a shell, which must end well.
fn shell(lines: &str, folder: &Path) -> Result<(), Failed> {
    let ours = Path::new(env!("CARGO_BIN_EXE_stampmill")).parent().expect("a program's folder");
    let mut path = ours.as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let output = Command::new("sh")
        .args(["-euc", lines])
        .current_dir(folder)
        .env("PATH", path)
        .env("HOME", folder)
        .env("CHECKOUT", root().canonicalize()?)
        .env("STAMPMILL_CACHE", folder.join("cache"))
        .output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    Err(format!("{lines}: {}\n{}", output.status, String::from_utf8_lossy(&said)).into())
}

fn run(command: &str, folder: &Path) -> Result<Output, Failed> {
    let line = command.strip_prefix("$ stampmill ").ok_or_else(|| {
        Failed::from(format!("`{command}` is no command of ours: show it in a block `sh`"))
    })?;
    let output = Command::new(env!("CARGO_BIN_EXE_stampmill"))
        .args(words(line))
        .current_dir(folder)
        .env("STAMPMILL_CACHE", folder.join("cache"))
        .output()?;
    Ok(output)
}
