//! Modules are optimised and measured in worker processes: neither LLVM's reader nor its passes are a
//! match for hostile bitcode.

use crate::{
    Error, Pipeline, Result,
    native::{self, rust::Function},
};
use dataset::Verdict;
use llvm::{Context, Library, LoopHint, Module};
use object::{Object, ObjectSection, SectionKind};
use rows::TaskVerdict;
use sandbox::{Bounds, Pool};
use serde::{Deserialize, Serialize};
use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

/// Wall-clock limit of one request; that on processor time is the profile's.
const LIMIT: Duration = Duration::from_secs(120);
/// Calling conventions of kernels: PTX's and SPIR's.
const KERNELS: [u32; 2] = [71, 76];

/// What is said of a module without instructions.
const NO_FUNCTION: &str = "it defines no function";

/// What is asked of a module.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Work {
    /// Run `default<O2>`, and say how many bytes of machine code it has.
    CodeSize,
    /// Run `default<O2>`, and give the assembly.
    Assembly,
    /// The same of a program in which only the function that runs its group by this choice is called from elsewhere,
    /// with the choice for all loops but those of this function.
    Group(Choice),
    /// Say how many instructions each pipeline leaves; `write` wants the modules as well.
    Passes { pipelines: Vec<Pipeline>, write: Option<Form> },
    /// Of a program in Rust, which is no module yet, say which function is to be called.
    Function,
}

/// What is done with a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Choice {
    /// What the compiler decides.
    Default,
    /// As many copies of the body of every loop.
    Unroll(u32),
    /// As many iterations of every loop at a time.
    Vectorize(u32),
    /// As many work-items as one.
    Coarsen(u32),
}

impl Choice {
    /// Work-items that are done as one.
    pub(crate) fn copies(self) -> u32 {
        match self {
            Choice::Coarsen(copies) => copies,
            Choice::Default | Choice::Unroll(_) | Choice::Vectorize(_) => 1,
        }
    }

    /// What passes are asked to do with loops.
    pub(crate) fn hint(self) -> Option<LoopHint> {
        match self {
            Choice::Unroll(count) => Some(LoopHint::Unroll(count)),
            Choice::Vectorize(width) => Some(LoopHint::Vectorize(width)),
            Choice::Default | Choice::Coarsen(_) => None,
        }
    }
}

/// How a module is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Form {
    /// LLVM's bitcode.
    Bitcode,
    /// Textual IR.
    Text,
}

/// What a pipeline left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Left {
    pub(crate) instructions: u64,
    /// Empty where it was not asked for.
    #[serde(with = "serde_bytes")]
    pub(crate) module: Vec<u8>,
}

/// The assembly of a group.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Group {
    pub(crate) assembly: String,
    /// Loops that a hint is for, before any pass.
    pub(crate) loops: u64,
}

/// The answer to a [`Work`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Done {
    CodeSize(u64),
    Assembly(String),
    Group(Group),
    /// One for each pipeline, and the instructions before any.
    Passes {
        before: u64,
        left: Vec<std::result::Result<Left, Refusal>>,
    },
    Function(Function),
}

/// Why a pipeline left nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Refusal {
    /// LLVM knows no such pass.
    Unknown(String),
    /// The module that it left breaks a rule of the IR.
    Invalid(String),
    /// It brought its worker down.
    Died(String),
}

#[derive(Serialize, Deserialize)]
struct Request {
    name: String,
    #[serde(with = "serde_bytes")]
    content: Vec<u8>,
    work: Work,
}

/// What came of one module.
pub(crate) type Said = std::result::Result<Done, Verdict>;

#[derive(Serialize, Deserialize)]
enum Answer {
    Said(Said),
    NoLibrary(String),
}

/// The worker's side: answer over standard input and output until that closes.
///
/// # Errors
/// When the sandbox cannot be entered or the pipe breaks.
pub fn serve() -> io::Result<()> {
    features::load_libraries();
    sandbox::serve(&features::module_profile(), |message| {
        let answer = match postcard::from_bytes::<Request>(message) {
            Ok(request) => answer(&request),
            Err(error) => Answer::Said(Err(Verdict::new(TaskVerdict::Crash, error.to_string()))),
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

/// Workers that read modules.
#[derive(Debug)]
pub(crate) struct Readers {
    pool: Pool,
    stop: Arc<AtomicBool>,
}

impl Readers {
    /// `jobs` workers at most of this program with these arguments, which calls [`serve`].
    pub(crate) fn new(
        program: &Path,
        arguments: &[OsString],
        jobs: usize,
        stop: &Arc<AtomicBool>,
    ) -> Readers {
        let (program, arguments): (PathBuf, Vec<OsString>) = (program.into(), arguments.into());
        let pool = Pool::new(jobs, features::module_profile(), move || {
            let mut command = Command::new(&program);
            command.args(&arguments);
            command.envs(sandbox::rustup().map(|folder| ("RUSTUP_HOME", folder)));
            command
        });
        Readers { pool, stop: Arc::clone(stop) }
    }

    /// What comes of one module, or how it killed the worker.
    pub(crate) fn ask(&self, name: &str, content: &[u8], work: Work) -> Result<Said> {
        let request = Request { name: name.to_owned(), content: content.to_vec(), work };
        let message = postcard::to_stdvec(&request).expect("a request is plain data");
        let bounds = Bounds { wall: LIMIT, processor: None, still: None, stop: Some(&self.stop) };
        let answer = match self.pool.call_within(&message, &bounds) {
            Ok(answer) => answer,
            Err(sandbox::Death::Stopped) => return Err(Error::Stopped),
            Err(death) if death.is_ours() => {
                return Err(Error::Worker { tool: "the reader of modules", death });
            }
            Err(death) => return Ok(Err(Verdict::new(death.name(), death.to_string()))),
        };
        match postcard::from_bytes(&answer) {
            Ok(Answer::Said(said)) => Ok(said),
            Ok(Answer::NoLibrary(_)) => Err(llvm::Error::NoLibrary.into()),
            Err(error) => Ok(Err(Verdict::new(TaskVerdict::Crash, error.to_string()))),
        }
    }
}

fn work_on(request: &Request) -> std::result::Result<Said, llvm::Error> {
    if matches!(request.work, Work::Function) {
        let source = String::from_utf8_lossy(&request.content);
        return Ok(native::rust::function(&source).map(Done::Function));
    }
    let context = Context::new(Library::of_module(&request.content)?);
    let mut module = match context.parse(&request.name, &request.content) {
        Ok(module) => module,
        Err(error) => return Ok(Err(features::module_verdict(&error))),
    };
    if let Err(error) = module.verify() {
        return Ok(Err(features::module_verdict(&error)));
    }
    // A kernel's helpers are its own: what is inlined everywhere need not stay.
    if let Work::Group(choice) = &request.work {
        let entry = native::entry(choice.copies());
        module.internalise(|function| function.name() == entry);
    } else if module.functions().any(is_kernel) {
        module.internalise(is_kernel);
    }
    let no_back_end = || {
        let detail = format!("for `{}`", module.triple());
        Err(Verdict::new(TaskVerdict::NoBackEnd, detail))
    };
    if !module.triple().starts_with("x86_64") && !matches!(request.work, Work::Passes { .. }) {
        return Ok(no_back_end());
    }
    Ok(match &request.work {
        Work::CodeSize => {
            module.run_passes("default<O2>")?;
            match module.emit_object().map(|object| code_size(&object)) {
                Some(Ok(0)) => Err(Verdict::new(TaskVerdict::NoCode, NO_FUNCTION)),
                Some(Ok(bytes)) => Ok(Done::CodeSize(bytes)),
                Some(Err(error)) => Err(Verdict::new(TaskVerdict::Crash, error)),
                None => Err(Verdict::new(TaskVerdict::NoBackEnd, "LLVM makes no code of it")),
            }
        }
        Work::Assembly => assembly(&mut module)?.map(Done::Assembly),
        Work::Group(choice) => {
            let entry = native::entry(choice.copies());
            let kernels = |function: llvm::Function<'_>| function.name() != entry;
            let loops = module.hint_loops(kernels, choice.hint()) as u64;
            // The driver calls it by one name.
            let renamed = |assembly: String| assembly.replace(&entry, native::ENTRY);
            assembly(&mut module)?
                .map(|assembly| Done::Group(Group { assembly: renamed(assembly), loops }))
        }
        Work::Passes { pipelines, write } => {
            let before = module.instruction_count();
            if before == 0 {
                return Ok(Err(Verdict::new(TaskVerdict::NoCode, NO_FUNCTION)));
            }
            let left = pipelines.iter().map(|pipeline| run(&module, pipeline, *write)).collect();
            Ok(Done::Passes { before, left })
        }
        Work::Function => unreachable!("answered above"),
    })
}

fn assembly(
    module: &mut Module<'_>,
) -> std::result::Result<std::result::Result<String, Verdict>, llvm::Error> {
    module.run_passes("default<O2>")?;
    let none = || Verdict::new(TaskVerdict::NoBackEnd, "LLVM makes no code of it");
    Ok(module.emit_assembly().ok_or_else(none))
}

fn is_kernel(function: llvm::Function<'_>) -> bool {
    KERNELS.contains(&function.calling_convention())
}

fn run(
    module: &Module<'_>,
    pipeline: &Pipeline,
    write: Option<Form>,
) -> std::result::Result<Left, Refusal> {
    let mut module = module.clone();
    if pipeline.minsize {
        module.ask_for_small_code();
    }
    match module.run_passes(&pipeline.passes) {
        Ok(()) => {}
        Err(llvm::Error::Pipeline { message, .. }) => return Err(Refusal::Unknown(message)),
        Err(error) => return Err(Refusal::Invalid(error.to_string())),
    }
    module.verify().map_err(|error| Refusal::Invalid(error.to_string()))?;
    let written = match write {
        None => Vec::new(),
        Some(Form::Bitcode) => module.write(),
        Some(Form::Text) => module.print().into_bytes(),
    };
    Ok(Left { instructions: module.instruction_count(), module: written })
}

/// Bytes of the sections that hold code.
fn code_size(file: &[u8]) -> std::result::Result<u64, String> {
    let file = object::File::parse(file).map_err(|error| error.to_string())?;
    Ok(file.sections().filter(|s| s.kind() == SectionKind::Text).map(|s| s.size()).sum())
}
