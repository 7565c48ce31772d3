//! Compilers on foreign source: what one says about the program is told from everything else that can end it.
//!
//! A compiler is a foreign source's first interpreter, so it sees the source, the system's headers and nothing else.
//! Its diagnostics are text, which a source can make up (`#error No space left on device`): where they are no plain
//! diagnostic of the program, a program that is known to compile decides whether the machine is well.

use crate::{Error, bounded};
use dataset::Verdict;
use rows::TimingVerdict;
use sandbox::{Death, Memory, Profile, Program};
use std::{
    ffi::OsString,
    io::Read,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

/// Processor time that each process of a compiler may take.
const COMPILE: Duration = Duration::from_secs(60);
/// Address space of each of them. The kernel holds each to it; residence would be watched from here, which is a look
/// at every process of the machine, 200 times a second.
const BYTES: u64 = 4 << 30;
/// Bytes of any file it writes.
const OUTPUT: u64 = 256 << 20;
/// Name of a source in Rust; of C and C++ there are several.
pub const RUST: &str = "source.rs";
/// With less room than this where it writes, a failure tells nothing.
const ROOM: u64 = 64 << 20;

/// A call of a compiler: what any program is built by, whoever keeps what comes of it.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    /// The compiler.
    pub compiler: &'a Path,
    /// Flags that any program is compiled with.
    pub flags: Vec<OsString>,
    /// Name and content of the source, or of an object.
    pub source: (&'a str, &'a [u8]),
    /// What stands before the output and the source: included files.
    pub before: Vec<OsString>,
    /// What stands behind them: objects and other sources.
    pub behind: Vec<OsString>,
    /// Name of what is made.
    pub output: &'a str,
    /// Where the source is put and the output goes; nothing else can be written. Relative paths are taken from it.
    pub folder: &'a Path,
    /// What it may read besides: precompiled headers, folders of the user's flags.
    pub readable: Vec<PathBuf>,
    /// Where its own shared libraries lie, if the loader must be told: without `/proc` it cannot tell from where the compiler is.
    pub libraries: Option<PathBuf>,
}

/// Why a program did not compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// `does-not-compile`, with the first thing that is wrong.
    pub verdict: Verdict,
    /// Whether that follows from the program alone.
    pub lasting: bool,
}

/// How a compiler ended.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Fine,
    /// It says what is wrong with the program.
    Diagnostic(String),
    /// The program wants more than a compiler may take.
    Limit(String),
    /// Perhaps the program, perhaps the machine.
    Doubtful(String),
}

impl Call<'_> {
    /// Compile: what is made, or a refusal where it is the program that does not compile.
    ///
    /// # Errors
    /// When the machine failed: no room, no memory, a compiler that is killed or not whole.
    pub fn make(&self) -> Result<Result<Vec<u8>, Refusal>, Error> {
        let (name, text) = self.source;
        let path = self.folder.join(name);
        std::fs::write(&path, text).map_err(Error::file("write", &path))?;
        match self.run()? {
            Err(refusal) => Ok(Err(refusal)),
            Ok(()) => Ok(Ok(read_made(&self.folder.join(self.output), OUTPUT)?)),
        }
    }

    fn run(&self) -> Result<Result<(), Refusal>, Error> {
        let mut arguments = self.before.clone();
        arguments.extend(["-o", self.output, self.source.0].map(OsString::from));
        arguments.extend(self.behind.iter().cloned());
        let refuse = |detail: String, lasting: bool| {
            Ok(Err(Refusal {
                verdict: Verdict::new(TimingVerdict::DoesNotCompile, detail),
                lasting,
            }))
        };
        let starved = bounded::starved_programs();
        let doubt = match self.once(&arguments)? {
            End::Fine => return Ok(Ok(())),
            End::Diagnostic(detail) => return refuse(detail, true),
            End::Limit(detail) => return refuse(detail, false),
            End::Doubtful(doubt) => doubt,
        };
        self.check_machine(&doubt)?;
        match self.once(&arguments)? {
            End::Fine => Ok(Ok(())),
            End::Diagnostic(detail) => refuse(detail, true),
            End::Limit(detail) => refuse(detail, false),
            End::Doubtful(doubt) if bounded::starved_programs() > starved => Err(self.fault(doubt)),
            End::Doubtful(doubt) => {
                self.check_machine(&doubt)?;
                refuse(doubt, false)
            }
        }
    }

    fn once(&self, arguments: &[OsString]) -> Result<End, Error> {
        let mut command = vec![self.compiler.as_os_str().to_owned()];
        command.extend(self.flags.iter().cloned());
        command.extend(arguments.iter().cloned());
        let mut environment = vec![
            ("PATH".into(), std::env::var_os("PATH").unwrap_or_default()),
            ("LC_ALL".into(), "C".into()),
            ("TMPDIR".into(), self.folder.into()),
        ];
        let libraries = self.libraries.as_ref();
        environment.extend(libraries.map(|folder| ("LD_LIBRARY_PATH".into(), folder.into())));
        let program = Program {
            command,
            environment,
            directory: Some(self.folder.into()),
            stdin: Vec::new(),
            wall: COMPILE * 2,
            channel: false,
        };
        let base = Profile::compile(self.folder.into());
        let mut readable = base.readable.clone();
        readable.push(self.compiler.into());
        readable.extend(self.readable.iter().cloned());
        let profile = Profile {
            processor: COMPILE,
            memory: Memory::AddressSpace(BYTES),
            output_bytes: OUTPUT,
            readable,
            ..base
        };
        let finished = bounded::run(&self.name(), &program, &profile)?;
        if let Some(death @ Death::Timeout(_)) = &finished.death {
            // Its processor time is bounded: it waited for the machine.
            return Err(self.fault(death.to_string()));
        }
        Ok(end_of(finished.death.as_ref(), finished.status, &finished.stderr))
    }

    /// Whether the machine can compile at all.
    fn check_machine(&self, doubt: &str) -> Result<(), Error> {
        let room = rustix::fs::statvfs(self.folder).map(|found| found.f_bavail * found.f_frsize);
        if room.is_ok_and(|room| room < ROOM) {
            let place = self.folder.parent().unwrap_or(self.folder).display();
            return Err(self.fault(format!(
                "there is next to no room in {place} (it said: {doubt}); make room or set TMPDIR"
            )));
        }
        const C: &str = "#include <stdio.h>\nint main(void) { puts(\"\"); return 0; }\n";
        let (control, text) = match self.source.0 {
            RUST => ("control.rs", "pub fn one() -> u32 { 1 }\n"),
            _ if self.is_cpp() => ("control.cpp", C),
            _ => ("control.c", C),
        };
        let path = self.folder.join(control);
        std::fs::write(&path, text).map_err(Error::file("write", &path))?;
        let arguments = ["-o", "control.out", control].map(OsString::from);
        match self.once(&arguments)? {
            End::Fine => Ok(()),
            End::Diagnostic(said) | End::Limit(said) | End::Doubtful(said) => {
                Err(self.fault(format!(
                    "it does not compile a program that is right (it said: {said}; before: {doubt})"
                )))
            }
        }
    }

    fn is_cpp(&self) -> bool {
        self.name().contains("++")
    }

    fn name(&self) -> String {
        self.compiler.display().to_string()
    }

    fn fault(&self, reason: String) -> Error {
        Error::Start { what: self.name(), reason }
    }
}

fn end_of(death: Option<&Death>, status: Option<i32>, stderr: &[u8]) -> End {
    let words = String::from_utf8_lossy(stderr);
    let doubt = || {
        // A line about a place may hold the text of another file.
        let number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let plain = |line: &&str| !line.is_empty() && !line.split(':').any(number);
        let line = words.lines().map(str::trim).find(plain).map(str::to_owned);
        diagnostic(&words).or(line).unwrap_or_else(|| "it says nothing that is known".into())
    };
    let doubtful = || End::Doubtful(format!("the compiler: {}", doubt()));
    match (death, status) {
        (None, Some(0)) => End::Fine,
        (None, _) if words.contains("CPU time limit exceeded signal terminated") => {
            End::Limit("the compiler: processor time limit exceeded".into())
        }
        (None, Some(1)) => match diagnostic(&words) {
            Some(detail) if !blames_machine(&words) => End::Diagnostic(detail),
            _ => doubtful(),
        },
        (None, _) => doubtful(),
        (Some(death @ (Death::Processor | Death::Output)), _) => {
            End::Limit(format!("the compiler: {death}"))
        }
        (Some(death), _) => End::Doubtful(format!("the compiler: {}", death.name())),
    }
}

/// Whether there is talk of anything that a machine can lack.
fn blames_machine(words: &str) -> bool {
    const HINTS: [&str; 15] = [
        "No space left",
        "Disk quota exceeded",
        "annot allocate memory",
        "out of memory",
        "memory exhausted",
        "Input/output error",
        "Read-only file system",
        "Too many open files",
        "Resource temporarily unavailable",
        "annot create temporary",
        "cannot execute",
        "signal terminated program",
        "terminated with signal",
        "final link failed",
        "file truncated",
    ];
    HINTS.iter().any(|hint| words.contains(hint))
}

/// The first thing that is said against the program. Of files other than the source only the name is told: what is
/// in them is none of the program's.
fn diagnostic(words: &str) -> Option<String> {
    const LINKER: [&str; 3] =
        ["undefined reference to", "multiple definition of", "relocation truncated"];
    for line in words.lines().map(str::trim) {
        if let Some(at) = LINKER.iter().find_map(|what| line.find(what)) {
            return Some(line[at..].to_owned());
        }
        let Some(at) = ["error: ", "Error: ", "error[E"].iter().find_map(|what| line.find(what))
        else {
            continue;
        };
        // FILE:LINE:COLUMN: error: TEXT, FILE:LINE: Error: TEXT, FILE:LINE:COLUMN: error[ENUMBER]: TEXT
        let (place, text) = (line[..at].trim_end(), &line[at..]);
        let place = place.strip_suffix("fatal").unwrap_or(place).trim_end();
        let Some((file, numbers)) = place.split_once(':') else { continue };
        let is_place = |byte: u8| byte.is_ascii_digit() || byte == b':';
        if text.starts_with("error[") && !numbers.bytes().all(is_place) {
            continue;
        }
        let number = numbers.split(':').next().unwrap_or_default();
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        let of_source = file.starts_with("source.c") && !file.contains('/')
            || [RUST, "<inline asm>"].contains(&file);
        // The assembler reads a file that the compiler made of the source.
        let assembled =
            file.ends_with(".s") && file.rsplit('/').next().is_some_and(|n| n.starts_with("cc"));
        return Some(match (of_source, assembled) {
            (true, _) => line.to_owned(),
            (_, true) => format!("the assembler: {text}"),
            _ => format!("an error in {file}, line {number}, which it includes"),
        });
    }
    None
}

/// Read what a foreign program may have written: a plain file of at most `most` bytes, whatever stands there now.
pub(crate) fn read_made(path: &Path, most: u64) -> Result<Vec<u8>, Error> {
    let read = || -> std::io::Result<Vec<u8>> {
        // Neither a link is followed nor a pipe waited for.
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        let flags = i32::try_from(flags.bits()).map_err(std::io::Error::other)?;
        let file = std::fs::File::options().read(true).custom_flags(flags).open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() || metadata.len() > most {
            return Err(std::io::Error::other(format!("no plain file of at most {most} bytes")));
        }
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map_err(Error::file("read", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(status: i32, stderr: &str) -> End {
        end_of(None, Some(status), stderr.as_bytes())
    }

    #[test]
    fn diagnostics_of_the_program_are_told_from_troubles_of_the_machine() {
        let about_program = [
            "source.cpp: In function 'int main()':\nsource.cpp:3:1: error: 'x' was not declared\n",
            "source.c:1:10: fatal error: mine.h: No such file or directory\ncompilation terminated.\n",
            "/usr/bin/ld: crt1.o: in function `_start':\n(.text+0x1b): undefined reference to `main'\ncollect2: error: ld returned 1 exit status\n",
            "/tmp/x/ccA1.s: Assembler messages:\n/tmp/x/ccA1.s:9: Error: file not found: /h/output.0.txt\n",
            "source.rs:2:9: error[E0425]: cannot find value `x` in this scope\nerror: aborting due to 1 previous error\n",
        ];
        for words in about_program {
            assert!(matches!(ended(1, words), End::Diagnostic(_)), "{words}");
        }
        let doubtful = [
            "/usr/bin/ld: final link failed: No space left on device\ncollect2: error: ld returned 1 exit status\n",
            "Cannot create temporary file in /tmp/: No space left on device\n",
            "g++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.\n",
            "g++: fatal error: cannot execute 'cc1plus': execvp: No such file or directory\n",
            "source.cpp:1:2: error: #error No space left on device\n",
            "collect2: error: ld returned 1 exit status\n",
            "source.rs:2:9: note: error[E0425] is a text\nerror: aborting due to 1 previous error\n",
            "",
        ];
        for words in doubtful {
            assert!(matches!(ended(1, words), End::Doubtful(_)), "{words}");
        }
        assert!(matches!(ended(4, "source.c:1:1: error: x\n"), End::Doubtful(_)));
        assert_eq!(ended(0, "source.c:1:1: error: x\n"), End::Fine);
    }

    #[test]
    fn texts_of_other_files_are_not_told() {
        let told = |words: &str| diagnostic(words).unwrap();
        let shadow = told("/etc/shadow:1:5: error: 'root' does not name a type\n");
        assert_eq!(shadow, "an error in /etc/shadow, line 1, which it includes");
        let included = told("/etc/shadow:1: Error: no such instruction: `root:$6$salt'\n");
        assert!(!included.contains("salt"), "{included}");
        assert_eq!(told("source.c:1:5: error: x\n"), "source.c:1:5: error: x");
        assert!(told("/tmp/ccA.s:9: Error: no such instruction: `foo'").contains("foo"));
    }

    #[test]
    fn only_plain_files_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("plain"), "abc").unwrap();
        std::os::unix::fs::symlink(at("plain"), at("link")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", at("zero")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            at("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        assert_eq!(read_made(&at("plain"), 3).unwrap(), b"abc");
        for wrong in ["link", "zero", "pipe", "absent"] {
            assert!(read_made(&at(wrong), 3).is_err(), "{wrong}");
        }
        assert!(read_made(&at("plain"), 2).is_err());
    }
}
