//! Foreign modules are read in worker processes: LLVM's reader is no match for hostile bitcode.

use crate::{
    Error, Plan, Structure,
    diff::Functions,
    passes::{Recorder, Trace},
    structure,
    structure::{shapes, structure_of},
};
use dataset::Verdict;
use llvm::{Context, Identification, Library, Opcode};
use rows::ModuleVerdict;
use sandbox::{Death, Memory, Pool, Profile};
use serde::{Deserialize, Serialize};
use std::{ffi::OsString, io, process::Command, time::Duration};

/// Modules of more bytes than this are not read.
pub const MODULE_LIMIT: usize = 24 << 20;
/// Wall-clock limit of one look at a module.
const LOOK: Duration = Duration::from_secs(30);
/// The same where it is optimised.
const OPTIMISE: Duration = Duration::from_secs(180);

/// The longest that passes may be given on one module.
pub const LONGEST: Duration = Duration::from_secs(3600);

/// What is asked about a module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Question {
    Look,
    Measure {
        optimise: bool,
    },
    Text,
    Functions,
    Object {
        /// What the object file says that it was made from.
        source: String,
    },
    Optimize(Plan),
    Watch {
        plan: Plan,
        /// Write to standard error what runs, so that a crash tells where it was.
        tell: bool,
    },
}

#[derive(Serialize, Deserialize)]
struct Request<'a> {
    question: Question,
    name: &'a str,
    #[serde(with = "serde_bytes")]
    content: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
enum Answer {
    Look(Box<Look>),
    Measure(Box<Measure>),
    Text(String),
    Functions(Functions),
    Object(#[serde(with = "serde_bytes")] Vec<u8>),
    Optimized(Box<Optimized>),
    Watched(Trace, String),
    Verdict(Verdict),
}

/// A module as passes left it, and what is to be said of it.
#[derive(Serialize, Deserialize)]
pub(crate) struct Optimized {
    pub(crate) look: Look,
    #[serde(with = "serde_bytes")]
    pub(crate) content: Vec<u8>,
    pub(crate) detail: String,
}

/// A module at a glance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// What wrote it, as its header says.
    pub producer: String,
    /// Major version of that LLVM; 0 where it does not say.
    pub llvm: u32,
    /// The source file it names.
    pub source: String,
    /// Its bitcode, where it came as text.
    pub bitcode: Option<Vec<u8>>,
    /// What one walk over it finds.
    pub structure: Structure,
}

/// A module before and after optimisation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measure {
    /// Its structure as it came.
    pub before: Structure,
    /// Its structure after `-O3`'s passes; `None` where they were not run or failed.
    pub after: Option<Structure>,
    /// Bytes of textual IR.
    pub text_bytes: u64,
    /// Bytes of bitcode after `-O3`'s passes.
    pub optimised_bytes: u64,
    /// Bytes of the object file that LLVM makes of it for its own triple, at `-O2`; 0 where this
    /// LLVM has no back end for it.
    pub object_bytes: u64,
}

/// [`profile`] of a worker that has yet to find its libraries.
fn started() -> Profile {
    let libraries = llvm::candidates().into_iter();
    let readable = libraries.filter_map(|found| found.path.parent().map(Into::into)).collect();
    Profile { readable, ..profile() }
}

fn profile() -> Profile {
    Profile {
        name: "ir".into(),
        memory: Memory::AddressSpace(6 << 30),
        processor: LONGEST,
        output_bytes: 2 << 30,
        ..Profile::clang()
    }
}

/// The worker's side: answer over standard input and output until that closes.
///
/// # Errors
/// When the sandbox cannot be entered or the pipe breaks.
pub fn serve() -> io::Result<()> {
    // Files are out of reach later.
    let library = Library::newest();
    sandbox::serve(&profile(), |request| {
        let answer = match (&library, postcard::from_bytes::<Request<'_>>(request)) {
            (Ok(library), Ok(request)) => match read(library, &request) {
                Ok(answer) => answer,
                Err(error) => Answer::Verdict(verdict(&error)),
            },
            (Err(error), _) => {
                Answer::Verdict(Verdict::new(ModuleVerdict::NoLibrary, error.to_string()))
            }
            (_, Err(error)) => {
                Answer::Verdict(Verdict::new(ModuleVerdict::Crash, error.to_string()))
            }
        };
        postcard::to_stdvec(&answer).unwrap_or_default()
    })
}

fn read(library: &'static Library, request: &Request<'_>) -> Result<Answer, llvm::Error> {
    if matches!(request.question, Question::Look)
        && let Ok((structure, source)) = structure_of(library, &request.content)
    {
        let look = identified(&request.content, source, None, structure);
        return Ok(Answer::Look(Box::new(look)));
    }
    let context = Context::new(library);
    let mut module = context.parse(request.name, &request.content)?;
    match &request.question {
        Question::Look => {
            module.verify()?;
            Ok(Answer::Look(Box::new(look(&module, &request.content))))
        }
        Question::Text => Ok(Answer::Text(module.print())),
        Question::Functions => {
            module.verify()?;
            Ok(Answer::Functions(shapes(&module)))
        }
        Question::Object { source } => {
            module.verify()?;
            module.set_source_file_name(source);
            Ok(module.emit_object().map_or_else(
                || Answer::Verdict(Verdict::new(ModuleVerdict::NoObject, module.triple())),
                Answer::Object,
            ))
        }
        Question::Measure { optimise } => {
            let mut measure = Measure {
                before: structure(&module),
                text_bytes: module.print().len() as u64,
                ..Measure::default()
            };
            if *optimise {
                // Rustc's and flang's modules say nothing about optimisation; `optnone` would.
                module.run_passes("default<O3>")?;
                measure.after = Some(structure(&module));
                measure.optimised_bytes = module.write().len() as u64;
                measure.object_bytes = module.emit_object().map_or(0, |object| object.len() as u64);
            }
            Ok(Answer::Measure(Box::new(measure)))
        }
        Question::Watch { plan, tell } => {
            module.verify()?;
            let mut recorder = Recorder::new(&module, plan.stop.as_ref(), *tell);
            module.run_passes_watched(&plan.pipeline, &mut recorder)?;
            let recorded = recorder.finish(&module);
            Ok(Answer::Watched(recorded.trace, recorded.detail))
        }
        Question::Optimize(plan) => optimized(&mut module, plan),
    }
}

fn optimized(module: &mut llvm::Module<'_>, plan: &Plan) -> Result<Answer, llvm::Error> {
    let (mut content, mut detail) = (None, String::new());
    match &plan.stop {
        None => module.run_passes(&plan.pipeline)?,
        Some(stop) => {
            module.verify()?;
            let mut recorder = Recorder::new(module, Some(stop), false);
            module.run_passes_watched(&plan.pipeline, &mut recorder)?;
            let recorded = recorder.finish(module);
            (content, detail) = (recorded.bitcode, recorded.detail);
        }
    }
    let context = Context::new(module.library());
    let (look, content) = match content {
        None => {
            let content = module.write();
            (look(module, &content), content)
        }
        Some(content) => (look(&context.parse(module.name(), &content)?, &content), content),
    };
    Ok(Answer::Optimized(Box::new(Optimized { look, content, detail })))
}

/// What one walk over a module finds, and who wrote it.
#[must_use]
pub fn look(module: &llvm::Module<'_>, content: &[u8]) -> Look {
    let bitcode = (!Identification::is_bitcode(content)).then(|| module.write());
    identified(content, module.source_file_name(), bitcode, structure(module))
}

fn identified(
    content: &[u8],
    source: String,
    bitcode: Option<Vec<u8>>,
    structure: Structure,
) -> Look {
    let identification = Identification::read(content);
    Look {
        llvm: identification.as_ref().and_then(|i| i.version).map_or(0, |version| version.major),
        producer: identification.map(|i| i.producer).unwrap_or_default(),
        source,
        bitcode,
        structure,
    }
}

/// Why a module could not be read.
pub(crate) fn verdict(error: &llvm::Error) -> Verdict {
    let name = match error {
        llvm::Error::TooNew { .. } => "llvm-too-new",
        llvm::Error::Invalid { .. } => "invalid-module",
        llvm::Error::Pipeline { .. } => "passes-failed",
        llvm::Error::CannotWatch { .. } => "no-library",
        _ => "not-a-module",
    };
    Verdict::new(name, error.to_string())
}

/// Reads modules, in workers of its own. Any number of threads may share it.
#[derive(Debug)]
pub struct Reader {
    pool: Pool,
}

impl Reader {
    /// `command` is the command line of a program that calls [`serve`]; at most `jobs` of them run.
    #[must_use]
    pub fn new(command: &[OsString], jobs: usize) -> Reader {
        let command = command.to_vec();
        let start = move || {
            let mut started =
                Command::new(command.first().map_or("".as_ref(), OsString::as_os_str));
            started.args(command.iter().skip(1));
            started.envs(sandbox::rustup().map(|folder| ("RUSTUP_HOME", folder)));
            started
        };
        Reader { pool: Pool::new(jobs.max(1), started(), start) }
    }

    /// Look at a module.
    ///
    /// # Errors
    /// [`Error::Worker`] when there is no LLVM to read it with, [`Error::Fault`] when the machine failed;
    /// whatever is wrong with the module is the verdict inside.
    pub fn look(&self, name: &str, content: &[u8]) -> Result<Result<Look, Verdict>, Error> {
        if content.len() > MODULE_LIMIT {
            return Ok(Err(too_large(content)));
        }
        Ok(match self.ask(Question::Look, name, content, LOOK)? {
            Answer::Look(look) => Ok(*look),
            Answer::Verdict(verdict) => Err(verdict),
            _ => Err(Verdict::new(ModuleVerdict::Crash, "an answer to another question")),
        })
    }

    /// Measure a module, with `-O3` run on it or not.
    ///
    /// # Errors
    /// As [`Reader::look`].
    pub fn measure(
        &self,
        name: &str,
        content: &[u8],
        optimise: bool,
    ) -> Result<Result<Measure, Verdict>, Error> {
        Ok(match self.ask(Question::Measure { optimise }, name, content, OPTIMISE)? {
            Answer::Measure(measure) => Ok(*measure),
            Answer::Verdict(verdict) => Err(verdict),
            _ => Err(Verdict::new(ModuleVerdict::Crash, "an answer to another question")),
        })
    }

    /// A module as textual IR.
    ///
    /// # Errors
    /// As [`Reader::look`].
    pub fn text(&self, name: &str, content: &[u8]) -> Result<Result<String, Verdict>, Error> {
        Ok(match self.ask(Question::Text, name, content, LOOK)? {
            Answer::Text(text) => Ok(text),
            Answer::Verdict(verdict) => Err(verdict),
            _ => Err(Verdict::new(ModuleVerdict::Crash, "an answer to another question")),
        })
    }

    /// The functions of a module that have bodies.
    ///
    /// # Errors
    /// As [`Reader::look`].
    pub(crate) fn functions(
        &self,
        name: &str,
        content: &[u8],
    ) -> Result<Result<Functions, Verdict>, Error> {
        if content.len() > MODULE_LIMIT {
            return Ok(Err(too_large(content)));
        }
        Ok(match self.ask(Question::Functions, name, content, LOOK)? {
            Answer::Functions(functions) => Ok(functions),
            Answer::Verdict(verdict) => Err(verdict),
            _ => Err(Verdict::new(ModuleVerdict::Crash, "an answer to another question")),
        })
    }

    /// The object file of a module, which says that it was made from `source`.
    ///
    /// # Errors
    /// As [`Reader::look`].
    pub(crate) fn object(
        &self,
        name: &str,
        content: &[u8],
        source: String,
    ) -> Result<Result<Vec<u8>, Verdict>, Error> {
        Ok(match self.ask(Question::Object { source }, name, content, OPTIMISE)? {
            Answer::Object(object) => Ok(object),
            Answer::Verdict(verdict) => Err(verdict),
            _ => Err(Verdict::new(ModuleVerdict::Crash, "an answer to another question")),
        })
    }

    /// A module as a pipeline leaves it: what is in it, its bitcode, and what is to be said of a stop that did not come.
    ///
    /// # Errors
    /// As [`Reader::look`].
    pub(crate) fn optimize(
        &self,
        name: &str,
        content: &[u8],
        plan: &Plan,
        limit: Duration,
    ) -> Result<Result<Optimized, Verdict>, Error> {
        Ok(match self.ask(Question::Optimize(plan.clone()), name, content, limit)? {
            Answer::Optimized(found) => Ok(*found),
            Answer::Verdict(verdict) => Err(self.with_place(verdict, name, content, plan, limit)?),
            _ => Err(Verdict::new(ModuleVerdict::Crash, "an answer to another question")),
        })
    }

    /// A crash with the pass that it was in: the passes run once more.
    fn with_place(
        &self,
        verdict: Verdict,
        name: &str,
        content: &[u8],
        plan: &Plan,
        limit: Duration,
    ) -> Result<Verdict, Error> {
        if verdict.name != ModuleVerdict::Crash.name() {
            return Ok(verdict);
        }
        let question = Question::Watch { plan: plan.clone(), tell: true };
        match self.ask(question, name, content, limit)? {
            Answer::Verdict(again) if again.name == verdict.name => Ok(again),
            _ => Ok(verdict),
        }
    }

    /// What the passes of a pipeline do to a module.
    ///
    /// # Errors
    /// As [`Reader::look`].
    pub(crate) fn watch(
        &self,
        name: &str,
        content: &[u8],
        plan: &Plan,
        limit: Duration,
    ) -> Result<Result<(Trace, String), Verdict>, Error> {
        let question = Question::Watch { plan: plan.clone(), tell: false };
        Ok(match self.ask(question, name, content, limit)? {
            Answer::Watched(trace, detail) => Ok((trace, detail)),
            Answer::Verdict(verdict) => Err(self.with_place(verdict, name, content, plan, limit)?),
            _ => Err(Verdict::new(ModuleVerdict::Crash, "an answer to another question")),
        })
    }

    /// Whether LLVM knows the passes of a pipeline.
    ///
    /// # Errors
    /// [`Error::Pipeline`] where it does not, with its message; else as [`Reader::look`].
    pub(crate) fn check_pipeline(&self, pipeline: &str) -> Result<(), Error> {
        let plan = Plan { pipeline: pipeline.to_owned(), stop: None };
        match self.ask(Question::Optimize(plan), "empty", b"; nothing\n", LOOK)? {
            Answer::Verdict(verdict) if verdict.name == "passes-failed" => {
                Err(Error::Pipeline(verdict.detail))
            }
            Answer::Verdict(verdict) => {
                Err(Error::Pipeline(format!("pipeline `{pipeline}`: {verdict}")))
            }
            _ => Ok(()),
        }
    }

    fn ask(
        &self,
        question: Question,
        name: &str,
        content: &[u8],
        limit: Duration,
    ) -> Result<Answer, Error> {
        let request = Request { question, name, content: content.to_vec() };
        let request =
            postcard::to_stdvec(&request).map_err(|error| Error::Worker(error.to_string()))?;
        let answer = match self.pool.call(&request, limit) {
            Ok(answer) => answer,
            Err(Death::Stopped) => return Err(Error::Cancelled),
            Err(death) if death.is_ours() => return Err(Error::Fault(death.to_string())),
            Err(death) => {
                return Ok(Answer::Verdict(Verdict::new(death.name(), death.to_string())));
            }
        };
        match postcard::from_bytes(&answer) {
            Ok(Answer::Verdict(verdict)) if verdict.name == "no-library" => {
                Err(Error::Worker(verdict.detail))
            }
            Ok(answer) => Ok(answer),
            Err(error) => {
                Ok(Answer::Verdict(Verdict::new(ModuleVerdict::Crash, error.to_string())))
            }
        }
    }
}

fn too_large(content: &[u8]) -> Verdict {
    Verdict::new(
        ModuleVerdict::TooLarge,
        format!("{} MiB, more than {}", content.len() >> 20, MODULE_LIMIT >> 20),
    )
}

/// Names of the columns of [`Structure::opcodes`].
#[must_use]
pub fn opcode_names() -> Vec<&'static str> {
    Opcode::ALL.iter().map(|opcode| opcode.name()).chain(["Other"]).collect()
}
