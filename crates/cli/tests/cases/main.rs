//! Behaviour as files: every `cases/<command>/*.case` is one test, and every document with transcripts.
//!
//! A case is a list of sections, each begun by a line `--- NAME`: first, without a name, the header
//! (`args:`, once per command line, which may end with `< FILE`; `status:` of the last, where all before it end with 0, or with N where it says `args N:`;
//! `env:` with NAME=VALUE for the commands' environment; `needs:` with programs of the outside world, without one of
//! which the case is skipped); then `--- file PATH` for each file the commands find in their folder;
//! then what they print, `--- stdout` and `--- stderr`. `BLESS=1` writes the last two anew.

mod transcript;

use regex::Regex;
use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};
use trials::{Failed, Trial};

fn main() -> ExitCode {
    let root = root().join("cases");
    let mut paths = Vec::new();
    collect(&root, "case", &mut paths);
    paths.sort();
    let mut trials: Vec<Trial> = paths
        .into_iter()
        .map(|path| {
            let name = path.strip_prefix(&root).unwrap_or(&path).with_extension("");
            let lacks = needs(&path);
            Trial::new(name.display().to_string(), move || check(&path)).needs(lacks)
        })
        .collect();
    trials.extend(documents());
    trials.push(Trial::new("blocks-that-are-not-run-say-why", blocks_that_are_not_run_say_why));
    trials::run(trials)
}

/// What a case lacks of the programs that its header names.
fn needs(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let header = text.split("\n--- ").next()?;
    let programs = header.lines().find_map(|line| line.strip_prefix("needs:"))?;
    programs.split_whitespace().find_map(trials::lacks::program)
}

/// The README and the chapters of the book that show what commands print.
fn documents() -> impl Iterator<Item = Trial> {
    let mut paths = vec![root().join("README.md")];
    collect(&root().join("docs"), "md", &mut paths);
    paths.sort();
    paths.retain(|path| fs::read_to_string(path).is_ok_and(|text| transcript::is_one(&text)));
    paths.into_iter().map(|path| {
        let name = path.strip_prefix(root()).unwrap_or(&path).with_extension("");
        Trial::new(name.display().to_string(), move || transcript::check(&path))
    })
}

fn blocks_that_are_not_run_say_why() -> Result<(), Failed> {
    let mut paths = vec![root().join("README.md")];
    collect(&root().join("docs"), "md", &mut paths);
    paths.sort();
    let mut problems = String::new();
    for path in paths {
        for line in transcript::unexplained(&fs::read_to_string(&path)?) {
            writeln!(
                problems,
                "{}:{line}: neither `sh run` nor behind `<!-- not run: -->`",
                path.display()
            )?;
        }
    }
    let example = "```sh\nstampmill a\nstampmill b\n```\n<!-- not run: c -->\n```sh\nstampmill d\n```\n```sh run\nstampmill e\n```\n```sh\nls\n```\n";
    if transcript::unexplained(example) != [1] {
        problems += "blocks of the example are told apart wrongly\n";
    }
    match problems.is_empty() {
        true => Ok(()),
        false => Err(problems.into()),
    }
}

fn collect(folder: &Path, ending: &str, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, ending, paths);
        } else if path.extension().is_some_and(|extension| extension == ending) {
            paths.push(path);
        }
    }
}

/// The repository, for the checkpoint that comes with it.
fn root() -> PathBuf {
    // Asked for when it runs: a build folder may serve several checkouts.
    std::env::current_dir().expect("tests run in their crate's folder").join("../..")
}

#[derive(Debug, Default, PartialEq)]
struct Case {
    /// Command lines, each with the status that it must end with where another follows.
    arguments: Vec<(i32, String)>,
    status: i32,
    environment: Vec<(String, String)>,
    files: Vec<(String, String)>,
    stdout: String,
    stderr: String,
}

impl Case {
    fn parse(text: &str) -> Result<Case, String> {
        let mut case = Case::default();
        let mut section = "header".to_owned();
        for line in text.split_inclusive('\n') {
            if let Some(name) = line.strip_prefix("--- ") {
                section = name.trim_end().to_owned();
                if let Some(path) = section.strip_prefix("file ") {
                    case.files.push((path.to_owned(), String::new()));
                }
                continue;
            }
            match section.as_str() {
                "header" => case.header(line.trim())?,
                "stdout" => case.stdout.push_str(line),
                "stderr" => case.stderr.push_str(line),
                _ => match case.files.last_mut() {
                    Some((_, content)) => content.push_str(line),
                    None => return Err(format!("unknown section `{section}`")),
                },
            }
        }
        if case.arguments.is_empty() {
            return Err("no `args:` line".into());
        }
        Ok(case)
    }

    fn header(&mut self, line: &str) -> Result<(), String> {
        match line.split_once(':').map(|(key, value)| (key, value.trim())) {
            Some(("args", value)) => self.arguments.push((0, value.to_owned())),
            Some((key, value)) if key.starts_with("args ") => {
                let status = key["args ".len()..].parse();
                let status = status.map_err(|_| format!("`{key}` has no status"))?;
                self.arguments.push((status, value.to_owned()));
            }
            Some(("status", value)) => {
                self.status = value.parse().map_err(|_| format!("`{value}` is no status"))?;
            }
            Some(("needs", _)) => {}
            Some(("env", value)) => {
                let (name, value) =
                    value.split_once('=').ok_or_else(|| format!("`{value}` is no NAME=VALUE"))?;
                self.environment.push((name.to_owned(), value.to_owned()));
            }
            _ if line.is_empty() || line.starts_with('#') => {}
            _ => return Err(format!("`{line}` is no header line")),
        }
        Ok(())
    }

    /// The case's text with what the commands printed now.
    fn blessed(text: &str, found: &Case) -> String {
        let inputs = text.split("--- stdout\n").next().unwrap_or_default();
        let inputs = inputs.split("--- stderr\n").next().unwrap_or_default();
        let header: String = inputs
            .split_inclusive('\n')
            .map(|line| match line.starts_with("status:") {
                true => format!("status: {}\n", found.status),
                false => line.to_owned(),
            })
            .collect();
        let mut blessed = header;
        for (name, content) in [("stdout", &found.stdout), ("stderr", &found.stderr)] {
            if !content.is_empty() {
                let _ = write!(blessed, "--- {name}\n{content}");
            }
        }
        blessed
    }
}

fn check(path: &Path) -> Result<(), Failed> {
    let text = fs::read_to_string(path)?;
    let case = Case::parse(&text)?;
    let found = perform(&case)?;
    if std::env::var_os("BLESS").is_some() {
        fs::write(path, Case::blessed(&text, &found))?;
        return Ok(());
    }
    let mut complaint = String::new();
    if case.status != found.status {
        let _ = writeln!(complaint, "status {} instead of {}", found.status, case.status);
    }
    for (name, wanted, got) in
        [("stdout", &case.stdout, &found.stdout), ("stderr", &case.stderr, &found.stderr)]
    {
        if wanted != got {
            let _ = writeln!(complaint, "{name} wanted:\n{wanted}\n{name} found:\n{got}");
        }
    }
    if complaint.is_empty() { Ok(()) } else { Err(complaint.into()) }
}

/// Run the command lines in a fresh folder; the last one's status and all that they print.
fn perform(case: &Case) -> Result<Case, Failed> {
    let folder = tempfile::tempdir()?;
    for (name, content) in &case.files {
        let path = folder.path().join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, content)?;
    }
    let mut found = Case::default();
    for (number, (wanted, line)) in case.arguments.iter().enumerate() {
        let line = line.replace("[ROOT]", &root().display().to_string());
        // SQL has `<` as well, and something behind its right side.
        let is_file = |(_, name): &(&str, &str)| !name.contains([' ', '"']);
        let (line, input) = line.rsplit_once(" < ").filter(is_file).unwrap_or((&line, ""));
        let input = match input {
            "" => Stdio::null(),
            name => fs::File::open(folder.path().join(name))?.into(),
        };
        let output = Command::new(env!("CARGO_BIN_EXE_stampmill"))
            .args(words(line))
            .stdin(input)
            .current_dir(folder.path())
            .env("STAMPMILL_CACHE", folder.path().join("cache"))
            .envs(case.environment.iter().map(|(name, value)| (name, value)))
            .output()?;
        found.status = output.status.code().unwrap_or(-1);
        found.stdout += &settle(&String::from_utf8_lossy(&output.stdout), folder.path());
        found.stderr += &settle(&String::from_utf8_lossy(&output.stderr), folder.path());
        if number + 1 < case.arguments.len() && found.status != *wanted {
            let Case { status, stderr, .. } = found;
            return Err(format!("`{line}` ends with {status}, not {wanted}:\n{stderr}").into());
        }
    }
    Ok(found)
}

/// What differs between two runs and machines, and what is put in its place: times, the size of a page (it
/// names the machine), how much memory programs took, PoCL's name for the processor, what it says of the machine, versions of components, and
/// whether those are here that tests may lack.
const UNSETTLED: [(&str, &str); 11] = [
    (
        r#""(seconds|host_seconds|milliseconds_per_sample|compiling_per_second)":[0-9.e-]+"#,
        "\"$1\":[TIME]",
    ),
    (r#""bytes":[0-9]+"#, "\"bytes\":[BYTES]"),
    (r#""(clock_mhz|compute_units|memory_bytes)":[0-9]+"#, "\"$1\":[NUMBER]"),
    (r#""(platform_version|driver)":"[^"]*""#, "\"$1\":\"[VERSION]\""),
    (r#""(version|language)":"OpenCL [^"]*""#, "\"$1\":\"[VERSION]\""),
    (r#""found":true,"version":"[^"]*""#, "\"found\":true,\"version\":\"[VERSION]\""),
    (
        r#"("name":"(?:flang 19|ldc2|zig|swiftc|julia|spack|AArch64 g\+\+|RISC-V g\+\+|cachegrind|gem5|object store client|cluster engine|training engine)"),"found":(?:true|false),"version":"[^"]*""#,
        "$1,\"found\":[FOUND],\"version\":\"[VERSION]\"",
    ),
    (r#"\b(pthread|cpu)-[^"\n]*"#, "[PROCESSOR]"),
    (r"\b[0-9.]+ s\b", "[TIME]"),
    (r": [0-9.]+ (?:[mµ]?s) \([0-9]+ runs\)", ": [TIME] ([NUMBER] runs)"),
    (r"\bmemory [0-9]+[.][0-9]+", "memory [NUMBER]"),
];

/// Put a placeholder for the folder, this repository and all that is [`UNSETTLED`].
fn settle(text: &str, folder: &Path) -> String {
    let text = text.replace(&folder.display().to_string(), "[DIR]");
    let text = text.replace(&root().display().to_string(), "[ROOT]");
    UNSETTLED.iter().fold(text, |text, (pattern, placeholder)| {
        let pattern = Regex::new(pattern).expect("a valid expression");
        pattern.replace_all(&text, *placeholder).into_owned()
    })
}

/// Split a command line at blanks; double quotes hold words together.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let (mut quoted, mut begun) = (false, false);
    for c in line.chars() {
        match c {
            '"' => (quoted, begun) = (!quoted, true),
            c if c.is_whitespace() && !quoted => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            c => {
                word.push(c);
                begun = true;
            }
        }
    }
    if begun {
        words.push(word);
    }
    words
}
