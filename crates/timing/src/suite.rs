//! Many programs on many inputs, and what a data set of their times holds.

use crate::{Error, Job, Measurement, Options, Timing, options::Code};
use dataset::content_hash_of;
pub use rows::TimingRow;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Programs and their inputs.
#[derive(Clone, Debug, Default)]
pub struct Suite {
    /// In the order of their names.
    pub jobs: Vec<Job>,
}

/// One line of a `.jsonl` suite.
#[derive(Deserialize)]
struct Line {
    name: String,
    src: String,
    #[serde(default)]
    stdin: String,
}

impl Suite {
    /// Read a suite: a `.jsonl` file of `{name, src, stdin}` in C++, or a folder of programs. There
    /// `NAME.cpp` runs on each `NAME.in` and `NAME.ANYTHING.in` beside it, on each `*.in` in a folder
    /// `NAME/`, or on nothing. A row is called `NAME`, with several inputs `NAME/in`, `NAME/ANYTHING`;
    /// where two programs have one `NAME`, the extension stays: `NAME.c`, `NAME.cpp`.
    ///
    /// # Errors
    /// When it cannot be read or holds no programs.
    pub fn read(path: &Path) -> Result<Suite, Error> {
        let mut jobs = match path.extension() {
            _ if path.is_dir() => folder(path)?,
            Some(extension) if extension == "jsonl" => lines(path)?,
            _ if !path.exists() => {
                return Err(Error::file("read", path)(std::io::ErrorKind::NotFound.into()));
            }
            _ => {
                let reason = format!("{} is neither a folder nor a .jsonl file", path.display());
                return Err(Error::Option { option: "--suite", reason });
            }
        };
        if jobs.is_empty() {
            return Err(Error::NoPrograms(path.to_owned()));
        }
        jobs.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Suite { jobs })
    }

    /// Identity of all programs and inputs.
    #[must_use]
    pub fn identity(&self) -> String {
        let pieces = self.jobs.iter().map(job_hash).collect::<Vec<_>>();
        content_hash_of(pieces.iter().map(String::as_bytes))
    }
}

/// Identity of a program on an input.
pub(crate) fn job_hash(job: &Job) -> String {
    content_hash_of([job.name.as_bytes(), content_of(&job.program), &job.stdin])
}

pub(crate) fn content_of(program: &Code) -> &[u8] {
    match program {
        Code::C(text) | Code::Cpp(text) => text.as_bytes(),
        Code::Elf(bytes) => bytes,
    }
}

fn lines(path: &Path) -> Result<Vec<Job>, Error> {
    let text = std::fs::read_to_string(path).map_err(Error::file("read", path))?;
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(at, line)| {
            let line: Line = serde_json::from_str(line).map_err(|error| Error::Option {
                option: "--suite",
                reason: format!(
                    "{}, line {}: {error}; a line is {{\"name\": ..., \"src\": C++, \"stdin\": ...}}",
                    path.display(),
                    at + 1
                ),
            })?;
            Ok(Job {
                name: line.name,
                program: Code::Cpp(line.src),
                stdin: line.stdin.into_bytes(),
            })
        })
        .collect()
}

fn folder(path: &Path) -> Result<Vec<Job>, Error> {
    let files = within(path)?;
    let mut jobs = Vec::new();
    for file in files.iter().filter(|file| is_program(file)) {
        let code = Code::read(file)?;
        // What is no source has no extension: the dots are its name's.
        let named = if matches!(code, Code::Elf(_)) { file.file_name() } else { file.file_stem() };
        let stem = named.unwrap_or_default().to_string_lossy().into_owned();
        let inputs = inputs_among(&files, &file.with_file_name(&stem), &stem)?;
        let same = |other: &&PathBuf| other.file_stem() == file.file_stem() && is_program(other);
        let name = match files.iter().filter(same).count() {
            1 => stem,
            _ => file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        };
        for (suffix, input) in &inputs {
            let stdin = std::fs::read(input).map_err(Error::file("read", input))?;
            let name = if inputs.len() == 1 { name.clone() } else { format!("{name}/{suffix}") };
            jobs.push(Job { name, program: code.clone(), stdin });
        }
        if inputs.is_empty() {
            jobs.push(Job { name, program: code, stdin: Vec::new() });
        }
    }
    for file in files.iter().filter(|file| file.extension().is_some_and(|e| e == "jsonl")) {
        jobs.extend(lines(file)?);
    }
    Ok(jobs)
}

/// The inputs of a program that is called `stem`, in a folder of them: `STEM.in`, `STEM.ANYTHING.in` and the `*.in` of a
/// folder `STEM/`, each with the name that rows have for it.
///
/// # Errors
/// When the folder cannot be read.
pub fn inputs(folder: &Path, stem: &str) -> Result<Vec<(String, PathBuf)>, Error> {
    inputs_among(&within(folder)?, &folder.join(stem), stem)
}

/// What is in a folder, by name.
fn within(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = std::fs::read_dir(folder).map_err(Error::file("read", folder))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths: Vec<PathBuf> =
        paths.collect::<std::io::Result<_>>().map_err(Error::file("read", folder))?;
    paths.sort();
    Ok(paths)
}

fn inputs_among(
    files: &[PathBuf],
    folder: &Path,
    stem: &str,
) -> Result<Vec<(String, PathBuf)>, Error> {
    let mut found = Vec::new();
    for file in files {
        let Some(name) = file.file_name().and_then(|name| name.to_str()) else { continue };
        let rest = name.strip_prefix(stem).and_then(|rest| rest.strip_suffix(".in"));
        match rest {
            Some("") => found.push(("in".to_owned(), file.clone())),
            Some(rest) if rest.starts_with('.') => found.push((rest[1..].to_owned(), file.clone())),
            _ => {}
        }
    }
    if folder.is_dir() {
        let inside = within(folder)?;
        let inside = inside.into_iter().filter(|path| path.extension().is_some_and(|e| e == "in"));
        found.extend(inside.map(|path| {
            (path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), path)
        }));
    }
    Ok(found)
}

fn is_program(path: &Path) -> bool {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("cpp" | "cc" | "cxx" | "C" | "c") => true,
        Some("in" | "jsonl") => false,
        _ => std::fs::read(path).is_ok_and(|bytes| bytes.starts_with(b"\x7fELF")),
    }
}

/// Of a program whose time may say nothing.
pub(crate) const WITHOUT_INPUT: &str = "it reads its input and was given none";

/// What a timing comes to in the data set.
pub(crate) fn row(job: &Job, timing: Timing, options: &Options, cpu: &str) -> TimingRow {
    let accepted = timing.is_accepted();
    let m = timing.measurement.unwrap_or_default();
    let Measurement { cycles, seconds_net, instructions, branches, mispredicts, .. } = m;
    let Measurement { l1d_misses, l2_misses, l3_misses, tlb_misses, startup_cycles, .. } = m;
    TimingRow {
        name: job.name.clone(),
        job: job_hash(job),
        verdict: timing.verdict,
        detail: match job.lacks_input(m.input_ended) {
            true => WITHOUT_INPUT.to_owned(),
            false => timing.detail,
        },
        source: options.source.name().into(),
        cpu: cpu.to_owned(),
        cycles,
        seconds_simulated: accepted.then_some(m.seconds_simulated),
        seconds_net,
        sample_rate: options.sample_rate,
        sampling_error_cycles: m.sampling_error_cycles,
        seconds_low: m.interval.map(|[low, _]| low),
        seconds_high: m.interval.map(|[_, high]| high),
        runs: m.runs,
        instructions,
        ipc: m.ipc,
        branches,
        mispredicts,
        l1d_misses,
        l2_misses,
        l3_misses,
        tlb_misses,
        startup_cycles,
        kernel_cycles: m.kernel_cycles,
        input_ended: m.input_ended,
        exit_status: accepted.then_some(m.exit_status),
        output_hash: m.output_hash,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_executable_keeps_the_dots_of_its_name() {
        let at = tempfile::tempdir().expect("a folder");
        std::fs::write(at.path().join("sort.slow"), b"\x7fELF").expect("written");
        std::fs::write(at.path().join("sort.slow.in"), "7").expect("written");
        let jobs = folder(at.path()).expect("read");
        let found: Vec<_> = jobs.iter().map(|job| (job.name.as_str(), &job.stdin[..])).collect();
        assert_eq!(found, [("sort.slow", &b"7"[..])]);
    }

    #[test]
    fn two_programs_of_one_name_keep_their_extensions() {
        let at = tempfile::tempdir().expect("a folder");
        for name in ["a.c", "a.cpp", "b.c"] {
            std::fs::write(at.path().join(name), "int main() {}").expect("written");
        }
        let jobs = folder(at.path()).expect("read");
        let found: Vec<_> = jobs.iter().map(|job| job.name.as_str()).collect();
        assert_eq!(found, ["a.c", "a.cpp", "b"]);
    }
}
