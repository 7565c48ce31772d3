use crate::Error;
use serde::{Deserialize, Serialize};
use std::{
    io::Read as _,
    path::{Path, PathBuf},
    time::Duration,
};
use timing_model::Cpu;

/// Where cycles come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceKind {
    /// QEMU's user mode with our model of the processor.
    #[default]
    Qemu,
    /// gem5's out-of-order processor.
    Gem5,
    /// Valgrind's cachegrind: a weighted sum of events.
    Cachegrind,
    /// This host's clock, best of n.
    Wall,
}

impl SourceKind {
    /// All of them.
    pub const ALL: [SourceKind; 4] =
        [SourceKind::Qemu, SourceKind::Gem5, SourceKind::Cachegrind, SourceKind::Wall];

    /// Its name in options and results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            SourceKind::Qemu => "qemu",
            SourceKind::Gem5 => "gem5",
            SourceKind::Cachegrind => "cachegrind",
            SourceKind::Wall => "wall",
        }
    }
}

/// Which compiler translates sources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compiler {
    /// `g++` and `gcc`.
    #[default]
    Gcc,
    /// `clang++` and `clang`.
    Clang,
}

/// How to time programs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// `skylake`, `zen4`, `neoverse-n1`, `sifive-p550` or a processor file.
    pub cpu: String,
    /// Where cycles come from.
    pub source: SourceKind,
    /// Times to run: wall-clock time takes the best, the model's runs must agree.
    pub runs: u64,
    /// Simulate about one instruction in so many in detail, and estimate the rest; 1: all.
    pub sample_rate: u64,
    /// Instructions after which a program is stopped; 0: no limit.
    pub max_instructions: u64,
    /// Wall-clock limit of one run.
    pub timeout: Duration,
    /// Resident memory that a program and its emulator may use.
    pub memory_bytes: u64,
    /// Standard output that a program may write.
    pub output_bytes: u64,
    /// Compiler of sources; for an instruction set other than x86-64, its cross compiler.
    pub compiler: Compiler,
    /// Added behind the recipe's flags.
    pub flags: Vec<String>,
    /// Whether to measure the empty program that `seconds_net` takes away.
    pub net: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            cpu: "skylake".into(),
            source: SourceKind::Qemu,
            runs: 1,
            sample_rate: 1,
            max_instructions: 0,
            timeout: Duration::from_secs(600),
            memory_bytes: 4 << 30,
            output_bytes: 64 << 20,
            compiler: Compiler::Gcc,
            flags: Vec::new(),
            net: true,
        }
    }
}

impl Options {
    /// Read the processor that `cpu` names.
    ///
    /// # Errors
    /// When there is none of that name and no such file, or the file is not one of a processor.
    pub fn processor(&self) -> Result<Cpu, Error> {
        if let Some(cpu) = Cpu::named(&self.cpu) {
            return Ok(cpu);
        }
        let wrong = |reason: String| Error::Cpu { name: self.cpu.clone(), reason };
        let file = Path::new(&self.cpu);
        let text = std::fs::read_to_string(file).map_err(|error| {
            let names = format!("built in are {}, anything else is a TOML file", built_in());
            match file.extension() {
                None if !file.exists() => wrong(format!("there is none of that name; {names}")),
                _ => wrong(format!("cannot be read: {error}; {names}")),
            }
        })?;
        Cpu::parse(&text).map_err(|error| wrong(error.to_string()))
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        let wrong = |option, reason: &str| Err(Error::Option { option, reason: reason.into() });
        if self.runs == 0 {
            return wrong("--runs", "0 runs measure nothing");
        }
        if self.sample_rate == 0 || self.sample_rate > 1000 {
            return wrong("--sample-rate", "wanted 1/1 to 1/1000");
        }
        if self.sample_rate > 1 && self.source != SourceKind::Qemu {
            return wrong("--sample-rate", "only the model (--source qemu) samples");
        }
        if self.source == SourceKind::Wall && self.cpu != Options::default().cpu {
            return wrong("--cpu", "the wall clock is this machine's (--source wall)");
        }
        Ok(())
    }
}

/// The built-in processors, as a sentence lists them.
#[must_use]
pub fn built_in() -> String {
    let [first @ .., last] = &Cpu::NAMES;
    format!("{} and {last}", first.join(", "))
}

/// A program and its input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Names it in results.
    pub name: String,
    /// What to run.
    pub program: Code,
    /// Its standard input.
    pub stdin: Vec<u8>,
}

impl Job {
    /// What a compiler says of it, with the program's name in the place of the file's that the compiler was given.
    pub(crate) fn named(&self, said: &str) -> String {
        let given = match &self.program {
            Code::C(_) => SOURCE_C,
            Code::Cpp(_) => SOURCE_CPP,
            Code::Elf(_) => return said.to_owned(),
        };
        let own = format!("{}{}", self.name, given.trim_start_matches("source"));
        let lines = said.split_inclusive('\n');
        lines
            .map(|line| {
                line.strip_prefix(given).map_or(line.to_owned(), |rest| format!("{own}{rest}"))
            })
            .collect()
    }

    /// Whether it was given no input and has read to its end; `input_ended` as measured.
    #[must_use]
    pub(crate) fn lacks_input(&self, input_ended: Option<bool>) -> bool {
        input_ended == Some(true) && self.stdin.is_empty()
    }
}

/// The file that a compiler is given a program in C in.
pub(crate) const SOURCE_C: &str = "source.c";
/// The same of C++.
pub(crate) const SOURCE_CPP: &str = "source.cpp";

/// What a program is given as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Code {
    /// C source.
    C(String),
    /// C++ source.
    Cpp(String),
    /// An executable.
    Elf(Vec<u8>),
}

impl Code {
    /// Read a file: by its name C or C++, anything else as an executable.
    ///
    /// # Errors
    /// When it cannot be read, or a source is not UTF-8.
    pub fn read(path: &Path) -> Result<Code, Error> {
        if path.is_dir() {
            return Err(Error::Option {
                option: "PROGRAM",
                reason: format!(
                    "{} is a folder; --suite {0} --out DIR times the programs in it",
                    path.display()
                ),
            });
        }
        let bytes = std::fs::read(path).map_err(Error::file("read", path))?;
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        let text = |bytes: Vec<u8>| {
            // Sources of old contests are Latin-1 in their comments.
            String::from_utf8(bytes)
                .unwrap_or_else(|e| e.into_bytes().into_iter().map(char::from).collect())
        };
        Ok(match extension {
            "c" => Code::C(text(bytes)),
            "cpp" | "cc" | "cxx" | "C" => Code::Cpp(text(bytes)),
            _ => Code::Elf(bytes),
        })
    }
}

/// The files a user names.
impl Job {
    /// A program's file and its input's, if it reads any; `-` is what this process reads.
    ///
    /// # Errors
    /// When one of them cannot be read.
    pub fn read(program: &Path, stdin: Option<&PathBuf>) -> Result<Job, Error> {
        let input = match stdin {
            Some(path) if path.as_os_str() == "-" => {
                let mut all = Vec::new();
                let read = std::io::stdin().lock().read_to_end(&mut all);
                read.map_err(Error::file("read", Path::new("standard input")))?;
                all
            }
            Some(path) => std::fs::read(path).map_err(Error::file("read", path))?,
            None => Vec::new(),
        };
        let name = program.file_stem().unwrap_or(program.as_os_str()).to_string_lossy();
        Ok(Job { name: name.into_owned(), program: Code::read(program)?, stdin: input })
    }
}
