//! Foreign modules are read in a worker process: LLVM's reader is no match for hostile bitcode.

use crate::{
    Error, Extracted, FeatureSpace, ProgramView,
    run::{Plan, plan},
    space,
};
use dataset::Verdict;
use llvm::{Context, Library, candidates};
use rows::FeaturesVerdict;
use sandbox::{Pool, Profile};
use serde::{Deserialize, Serialize};
use std::{ffi::OsString, io, path::PathBuf, process::Command, time::Duration};

/// Wall-clock limit of one module.
const LIMIT: Duration = Duration::from_secs(120);
/// The program that reads modules unless another is named.
const BINARY: &str = "stampmill";

/// What each space said of a module, or why none was asked.
pub(crate) type Said = Result<Vec<Option<Extracted>>, Verdict>;

#[derive(Serialize, Deserialize)]
struct Request {
    name: String,
    #[serde(with = "serde_bytes")]
    content: Vec<u8>,
    work: Work,
}

/// What is asked of a module.
#[derive(Serialize, Deserialize)]
enum Work {
    /// What these spaces say of it.
    Spaces(Vec<String>),
    /// Optimise it at this level and have its kernels count what they do.
    Plan(u8),
    /// Run `default<O2>`, and give the assembly.
    Assembly,
}

#[derive(Serialize, Deserialize)]
enum Done {
    Spaces(Vec<Option<Extracted>>),
    Plan(Plan),
    Assembly(String),
}

#[derive(Serialize, Deserialize)]
enum Answer {
    Said(Result<Done, Verdict>),
    /// There is no LLVM to read it with.
    NoLibrary(String),
}

/// What a process may do that reads foreign modules: it looks for the library that fits each.
#[must_use]
pub fn module_profile() -> Profile {
    let mut readable: Vec<PathBuf> =
        candidates().iter().filter_map(|found| found.path.parent().map(Into::into)).collect();
    readable.push("/usr/lib".into());
    readable.extend(sandbox::rustup().map(|folder| folder.join("toolchains")));
    readable.extend(std::env::var_os(llvm::OVERRIDE).map(PathBuf::from));
    // Time for passes, and for the built-in functions of OpenCL C.
    let processor = Duration::from_secs(60);
    Profile { name: "module".into(), readable, processor, ..Profile::clang() }
}

/// Load all LLVM libraries of the machine: in a sandbox files are out of reach later. One that does not
/// load is not missed until it is asked for.
pub fn load_libraries() {
    for candidate in candidates() {
        let _ = Library::load(&candidate.path);
    }
}

/// The worker's side: answer over standard input and output until that closes. The command line
/// of a [`ModuleReader::Worker`] ends up here.
///
/// # Errors
/// When the sandbox cannot be entered or the pipe breaks.
pub fn serve_modules() -> io::Result<()> {
    load_libraries();
    sandbox::serve(&module_profile(), |message| {
        let answer = match postcard::from_bytes::<Request>(message) {
            Ok(request) => answer(&request),
            Err(error) => {
                Answer::Said(Err(Verdict::new(FeaturesVerdict::Crash, error.to_string())))
            }
        };
        postcard::to_stdvec(&answer).unwrap_or_default()
    })
}

fn answer(request: &Request) -> Answer {
    match work_on(request) {
        Ok(said) => Answer::Said(said),
        Err(error) => Answer::NoLibrary(error.to_string()),
    }
}

/// Who reads modules that come as bitcode or textual IR.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModuleReader {
    /// Worker processes of this program: it is started with these arguments, and calls [`serve_modules`].
    Worker(PathBuf, Vec<OsString>),
    /// This very process, which hostile bitcode can take over: for tests, whose modules are their own.
    InProcess,
}

impl Default for ModuleReader {
    /// The `stampmill` binary beside this program. Where there is none, no module is read.
    fn default() -> ModuleReader {
        let program = host::installed(BINARY).unwrap_or_else(|| BINARY.into());
        ModuleReader::Worker(program, vec!["worker".into(), "modules".into()])
    }
}

/// The readers of one extractor.
#[derive(Debug)]
pub(crate) struct Readers {
    /// `None`: this process.
    pool: Option<Pool>,
}

impl Readers {
    pub(crate) fn new(reader: &ModuleReader, jobs: usize) -> Readers {
        let ModuleReader::Worker(program, arguments) = reader else {
            return Readers { pool: None };
        };
        let (program, arguments) = (program.clone(), arguments.clone());
        let pool = Pool::new(jobs, module_profile(), move || {
            let mut command = Command::new(&program);
            command.args(&arguments);
            command.envs(sandbox::rustup().map(|folder| ("RUSTUP_HOME", folder)));
            command
        });
        Readers { pool: Some(pool) }
    }

    /// What these spaces say of a module.
    pub(crate) fn read(
        &self,
        spaces: &[&dyn FeatureSpace],
        name: &str,
        content: &[u8],
    ) -> Result<Said, Error> {
        let work = Work::Spaces(spaces.iter().map(|space| space.name().to_owned()).collect());
        Ok(self.ask(name, content, work)?.and_then(|done| match done {
            Done::Spaces(said) => Ok(said),
            _ => Err(other()),
        }))
    }

    /// A module whose kernels count what they do, optimised at a level.
    pub(crate) fn plan(
        &self,
        name: &str,
        content: &[u8],
        level: u8,
    ) -> Result<Result<Plan, Verdict>, Error> {
        Ok(self.ask(name, content, Work::Plan(level))?.and_then(|done| match done {
            Done::Plan(plan) => Ok(plan),
            _ => Err(other()),
        }))
    }

    /// The assembly of a module after `default<O2>`.
    pub(crate) fn assembly(
        &self,
        name: &str,
        content: &[u8],
    ) -> Result<Result<String, Verdict>, Error> {
        Ok(self.ask(name, content, Work::Assembly)?.and_then(|done| match done {
            Done::Assembly(text) => Ok(text),
            _ => Err(other()),
        }))
    }

    fn ask(&self, name: &str, content: &[u8], work: Work) -> Result<Result<Done, Verdict>, Error> {
        let request = Request { name: name.to_owned(), content: content.to_vec(), work };
        let Some(pool) = &self.pool else { return Ok(work_on(&request)?) };
        let message = postcard::to_stdvec(&request).expect("a request is plain data");
        let answer = match pool.call(&message, LIMIT) {
            Ok(answer) => answer,
            Err(death) if death.is_ours() => return Err(Error::Reader(death)),
            Err(death) => return Ok(Err(Verdict::new(death.name(), death.to_string()))),
        };
        match postcard::from_bytes(&answer) {
            Ok(Answer::Said(said)) => Ok(said),
            Ok(Answer::NoLibrary(_)) => Err(llvm::Error::NoLibrary.into()),
            Err(error) => Ok(Err(Verdict::new(FeaturesVerdict::Crash, error.to_string()))),
        }
    }
}

fn other() -> Verdict {
    Verdict::new(FeaturesVerdict::Crash, "an answer to something else")
}

/// Read a module in this process, check it, and do what is asked.
fn work_on(request: &Request) -> Result<Result<Done, Verdict>, llvm::Error> {
    let (name, content) = (&request.name, &request.content);
    if let Work::Plan(level) = request.work {
        return Ok(plan(name, content, level)?.map(Done::Plan));
    }
    let context = Context::new(Library::of_module(content)?);
    let done = context.parse(name, content).and_then(|mut module| {
        module.verify()?;
        let Work::Spaces(names) = &request.work else {
            module.run_passes("default<O2>")?;
            return Ok(module.emit_assembly().map(Done::Assembly));
        };
        let spaces = names.iter().filter_map(|name| space(name).ok());
        let view = ProgramView { module: Some(&module), ..ProgramView::default() };
        Ok(Some(Done::Spaces(spaces.map(|space| space.extract(&view)).collect())))
    });
    Ok(done.map_err(|error| module_verdict(&error)).and_then(|done| {
        done.ok_or_else(|| Verdict::new(FeaturesVerdict::Unsupported, "LLVM makes no code of it"))
    }))
}

/// What it says of a module that LLVM does not read it.
#[must_use]
pub fn module_verdict(error: &llvm::Error) -> Verdict {
    let name = match error {
        llvm::Error::TooNew { .. } => "llvm-too-new",
        llvm::Error::Invalid { .. } => "invalid-module",
        _ => "not-a-module",
    };
    Verdict::new(name, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reader_may_see_every_library_that_it_may_load() {
        let profile = module_profile();
        assert_eq!(profile.name, "module");
        for candidate in candidates() {
            let folder = candidate.path.parent().expect("a file's folder").to_path_buf();
            assert!(profile.readable.contains(&folder), "{}", folder.display());
        }
        assert!(profile.readable.contains(&PathBuf::from("/usr/lib")));
    }

    #[test]
    fn what_llvm_does_not_read_has_a_verdict_that_says_why() {
        let library = Library::newest().expect("scripts/setup.sh installs LLVM").version();
        let (name, message) = ("m".to_owned(), "why".to_owned());
        let new = llvm::Error::TooNew { name: name.clone(), producer: "LLVM99".into(), library };
        assert_eq!(module_verdict(&new).name, "llvm-too-new");
        let invalid = llvm::Error::Invalid { name: name.clone(), message: message.clone() };
        assert_eq!(module_verdict(&invalid).name, "invalid-module");
        let broken = module_verdict(&llvm::Error::Parse { name, message });
        assert_eq!((broken.name.as_ref(), broken.detail.as_str()), ("not-a-module", "m: why"));
    }

    #[test]
    fn a_reader_that_is_not_there_is_an_error_and_one_that_dies_is_the_modules_verdict() {
        let tokens = space("tokens").expect("registered");
        let read = |program: &str| {
            let reader = ModuleReader::Worker(program.into(), Vec::new());
            Readers::new(&reader, 1).read(&[tokens], "m", b"BC")
        };
        assert!(matches!(read("/nowhere/reader"), Err(Error::Reader(_))));
        let said = read("/bin/false").expect("it starts");
        assert_eq!(said.expect_err("it dies").name, "crash");
    }

    #[test]
    fn a_request_is_answered_for_the_spaces_that_there_are() {
        let request = Request {
            name: "m".into(),
            content: b"define void @f() { ret void }".to_vec(),
            work: Work::Spaces(vec!["instcount".into(), "absent".into(), "tokens".into()]),
        };
        let Answer::Said(Ok(Done::Spaces(said))) = answer(&request) else {
            panic!("it is a module")
        };
        assert_eq!((said.len(), said[0].is_some(), said[1].is_some()), (2, true, false));
    }
}
