//! What labels are made with: the compiler, the readers of modules, llvm-mca.

use crate::{
    Error, Flags, Pipeline, Result,
    mca::Mca,
    native,
    reader::{Choice, Done, Form, Group, Left, Readers, Refusal, Work},
};
use clang::{Answer, Clang, Includes, Request, find_worker};
use dataset::{Language, Verdict};
use features::{CompileConfigs, RUST_FLAGS, Rustc};
use rows::TaskVerdict;
use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

/// How programs are compiled and who reads their modules.
#[derive(Clone, Debug)]
pub struct Options {
    /// A header of commonly assumed definitions, for OpenCL that needs it.
    pub shim: Option<String>,
    /// Workers of each kind at most.
    pub jobs: usize,
    /// The program that serves modules: started with these arguments it calls [`crate::serve`].
    pub reader: (PathBuf, Vec<OsString>),
    /// Raise it, from any thread, to have the work end.
    pub cancelled: Arc<AtomicBool>,
}

/// Name of the virtual header that says where a work-item is.
const GROUP_HEADER: &str = "items.h";

/// A program as LLVM sees it before its passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// What messages call it.
    pub name: String,
    /// Bitcode or textual IR.
    pub content: Vec<u8>,
    /// What it was written in.
    pub language: Language,
}

/// What a program costs by one choice, or `None` where that choice failed; or why it has no label.
pub(crate) type Costs = std::result::Result<Vec<Option<f64>>, Verdict>;

/// The instructions of a module before any pipeline, and what each pipeline left.
type Passed = (u64, Vec<std::result::Result<Left, Refusal>>);

/// Compiles, optimises and measures. Any number of threads may share it.
pub struct Bench {
    options: Options,
    configs: CompileConfigs,
    /// For OpenCL, which sees nothing of this machine.
    clang: OnceLock<Clang>,
    /// For C and C++, which see its system headers.
    native: OnceLock<Clang>,
    rustc: OnceLock<Rustc>,
    readers: Readers,
}

impl Bench {
    /// Nothing is started yet.
    #[must_use]
    pub fn new(options: Options) -> Bench {
        let mut configs = CompileConfigs::published(options.shim.as_deref());
        let all = configs.opencl.iter_mut().chain(&mut configs.c).chain(&mut configs.cxx);
        for config in all {
            config.triple = clang::Triple::Host;
            config.optimisation = 2;
            config.front_end = true;
        }
        let (program, arguments) = &options.reader;
        let readers = Readers::new(program, arguments, options.jobs.max(1), &options.cancelled);
        let (clang, native, rustc) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Bench { options, configs, clang, native, rustc, readers }
    }

    /// How sources are compiled, for manifests.
    #[must_use]
    pub fn settings(&self) -> serde_json::Value {
        let mut settings = self.configs.settings();
        settings["rust"] = serde_json::json!(RUST_FLAGS);
        settings
    }

    fn clang(&self, language: Language) -> Result<&Clang> {
        let (slot, includes) = match language {
            Language::C | Language::Cxx => (&self.native, Includes::Host),
            _ => (&self.clang, Includes::Own),
        };
        if let Some(clang) = slot.get() {
            return Ok(clang);
        }
        let started = Clang::start_at(&find_worker()?, self.options.jobs.max(1), includes)?
            .with_stop(Arc::clone(&self.options.cancelled));
        // Of two threads that start it at once, one's is dropped.
        Ok(slot.get_or_init(|| started))
    }

    pub(crate) fn rustc(&self) -> Result<&Rustc> {
        if let Some(rustc) = self.rustc.get() {
            return Ok(rustc);
        }
        let found = Rustc::find()?;
        Ok(self.rustc.get_or_init(|| found))
    }

    /// The module of a source in Rust, as rustc hands it to LLVM's passes at -O2.
    fn of_rust(&self, name: &str, source: &str) -> Result<std::result::Result<Module, Verdict>> {
        let module = self.rustc()?.module(source, 2, true)?;
        let (name, language) = (name.to_owned(), Language::Rust);
        Ok(module.map(|content| Module { name, content, language }))
    }

    /// The module of a source, as clang or rustc hands it to LLVM's passes at -O2; of a module, itself.
    ///
    /// # Errors
    /// When clang cannot be had, or the work was stopped.
    pub fn module(
        &self,
        name: &str,
        language: Language,
        content: &[u8],
    ) -> Result<std::result::Result<Module, Verdict>> {
        self.compiled(name, language, content, None)
    }

    /// The same of a file of the user's, with the headers that it includes and the flags that it is compiled with.
    ///
    /// # Errors
    /// As [`Bench::module`].
    pub fn module_of_file(
        &self,
        program: &Path,
        language: Language,
        content: &[u8],
        flags: &Flags,
    ) -> Result<std::result::Result<Module, Verdict>> {
        let name = program.display().to_string();
        self.compiled(&name, language, content, Some((program, flags)))
    }

    fn compiled(
        &self,
        name: &str,
        language: Language,
        content: &[u8],
        from: Option<(&Path, &Flags)>,
    ) -> Result<std::result::Result<Module, Verdict>> {
        if self.options.cancelled.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        let name = name.to_owned();
        if content.iter().all(u8::is_ascii_whitespace) {
            return Ok(Err(Verdict::new(TaskVerdict::NoCode, "it is empty")));
        }
        let configs = match language {
            Language::OpenCl => &self.configs.opencl,
            Language::C => &self.configs.c,
            Language::Cxx => &self.configs.cxx,
            Language::Cuda => &self.configs.cuda,
            Language::Rust => return self.of_rust(&name, &String::from_utf8_lossy(content)),
            Language::LlvmIr | Language::Bitcode => {
                return Ok(Ok(Module { name, content: content.to_vec(), language }));
            }
        };
        let source = String::from_utf8_lossy(content).into_owned();
        let headers = from.map(|(program, flags)| flags.headers(program, &source));
        let headers = headers.unwrap_or_default();
        let mut refused = Verdict::new(TaskVerdict::DoesNotCompile, "");
        for (place, options) in configs.iter().enumerate() {
            let mut options = options.clone();
            options.headers.extend(headers.iter().cloned());
            if let Some((_, flags)) = from {
                options.defines.extend(flags.defines.iter().cloned());
                options.standard = flags.standard.clone().unwrap_or(options.standard);
            }
            let request = Request::Compile {
                source: source.clone(),
                options,
                facts: false,
                tree: false,
                bitcode: true,
            };
            let answer = match self.ask(language, &request)? {
                Ok(answer) => answer,
                Err(verdict) => return Ok(Err(verdict)),
            };
            match answer.first_error() {
                Some(error) if place == 0 => refused.detail.clone_from(&error.message),
                Some(_) => {}
                None => {
                    let content = answer.code.unwrap_or_default().bitcode;
                    return Ok(Ok(Module { name, content, language }));
                }
            }
        }
        Ok(Err(refused))
    }

    /// Bytes of machine code after `default<O2>`.
    pub(crate) fn code_size(&self, module: &Module) -> Result<Costs> {
        let said = self.readers.ask(&module.name, &module.content, Work::CodeSize)?;
        Ok(said.map(|done| match done {
            Done::CodeSize(bytes) => vec![Some(bytes as f64)],
            _ => vec![None],
        }))
    }

    /// The assembly after `default<O2>`.
    pub(crate) fn assembly(&self, module: &Module) -> Result<std::result::Result<String, Verdict>> {
        let said = self.readers.ask(&module.name, &module.content, Work::Assembly)?;
        Ok(said.map(|done| match done {
            Done::Assembly(text) => text,
            _ => String::new(),
        }))
    }

    /// The assembly of a program that [`Bench::group`] made, by a choice.
    pub(crate) fn group_assembly(
        &self,
        module: &Module,
        choice: Choice,
    ) -> Result<std::result::Result<Group, Verdict>> {
        let said = self.readers.ask(&module.name, &module.content, Work::Group(choice))?;
        Ok(said.map(|done| match done {
            Done::Group(group) => group,
            _ => Group::default(),
        }))
    }

    /// The assembly of OpenCL C of our own, which takes some ten processor seconds: kept in the cache by its text and the tools.
    pub(crate) fn builtins(&self, text: &str) -> Result<String> {
        self.clang(Language::OpenCl)?;
        let made_of = format!("{}{:?}{:?}", self.settings(), self.tools(), text);
        let name = format!("builtins-{}.s", dataset::content_hash(made_of.as_bytes()));
        let kept = host::cache().join("cost").join(name);
        if let Ok(assembly) = fs::read_to_string(&kept) {
            return Ok(assembly);
        }
        let made = match self.module("builtins.cl", Language::OpenCl, text.as_bytes())? {
            Ok(module) => self.assembly(&module)?,
            Err(verdict) => Err(verdict),
        };
        let assembly = made.map_err(|verdict| Error::Builtins(verdict.to_string()))?;
        // Without a cache it is made again.
        let _ = fs::create_dir_all(kept.parent().unwrap_or(&kept));
        let _ = host::write_whole(&kept, assembly.as_bytes());
        Ok(assembly)
    }

    /// The module of a program with its last kernel as a loop over a group of work-items, or with its last function that
    /// other files can call as a loop of calls, before LLVM's passes: a function for each number of `copies`.
    pub(crate) fn group(
        &self,
        name: &str,
        language: Language,
        content: &[u8],
        copies: &BTreeSet<u32>,
    ) -> Result<std::result::Result<Module, Verdict>> {
        let is_opencl = language == Language::OpenCl;
        let unsupported = |what: String| Ok(Err(Verdict::new(TaskVerdict::Unsupported, what)));
        if !is_opencl && copies.iter().any(|copies| *copies > 1) {
            return unsupported(format!("{} has no work-items", language.name()));
        }
        let configs = match language {
            Language::OpenCl => &self.configs.opencl,
            Language::C => &self.configs.c,
            Language::Cxx => &self.configs.cxx,
            Language::Rust => return self.rust_calls(name, content),
            Language::Cuda | Language::LlvmIr | Language::Bitcode => {
                return unsupported(format!("{} is no OpenCL C, C, C++ or Rust", language.name()));
            }
        };
        let mut refused = None;
        for options in configs {
            // What a place in the group is kept in is a variable of the program, which OpenCL C 1.2 does not have.
            if is_opencl && options.standard != "CL2.0" {
                continue;
            }
            let mut options = options.clone();
            if is_opencl {
                options.headers.push((GROUP_HEADER.to_owned(), native::ITEMS.to_owned()));
                options.prelude.insert(0, GROUP_HEADER.to_owned());
            }
            let source = String::from_utf8_lossy(content).into_owned();
            let defined = |[x, y, z]: [u32; 3]| {
                [("X", x), ("Y", y), ("Z", z)]
                    .map(|(side, size)| format!("STAMPMILL_{side}={size}"))
            };
            let plain = clang::Options {
                defines: [options.defines.clone(), defined([1; 3]).to_vec()].concat(),
                ..options.clone()
            };
            let parse = Request::Parse { source: source.clone(), options: plain, tree: false };
            let answer = match self.ask(language, &parse)? {
                Ok(answer) => answer,
                Err(verdict) => return Ok(Err(verdict)),
            };
            if let Some(error) = answer.first_error() {
                let verdict = Verdict::new(TaskVerdict::DoesNotCompile, &*error.message);
                refused.get_or_insert(verdict);
                continue;
            }
            let facts = answer.facts.unwrap_or_default();
            let group = match is_opencl {
                true => native::group(&facts.kernels, copies),
                false => native::calls(&facts.functions),
            };
            let (group, sides) = match group {
                Ok(group) => group,
                Err(verdict) => return Ok(Err(verdict)),
            };
            options.defines.extend(defined(sides));
            let compile = Request::Compile {
                source: format!("{source}\n{group}"),
                options,
                facts: false,
                tree: false,
                bitcode: true,
            };
            let answer = match self.ask(language, &compile)? {
                Ok(answer) => answer,
                Err(verdict) => return Ok(Err(verdict)),
            };
            return Ok(match answer.first_error() {
                // It compiles by itself.
                Some(error) => Err(Verdict::new(TaskVerdict::Unsupported, &*error.message)),
                None => Ok(Module {
                    name: name.to_owned(),
                    content: answer.code.unwrap_or_default().bitcode,
                    language,
                }),
            });
        }
        Ok(Err(refused.unwrap_or_else(|| Verdict::new(TaskVerdict::DoesNotCompile, ""))))
    }

    /// The same of a program in Rust.
    fn rust_calls(
        &self,
        name: &str,
        content: &[u8],
    ) -> Result<std::result::Result<Module, Verdict>> {
        let function = match self.readers.ask(name, content, Work::Function)? {
            Ok(Done::Function(function)) => function,
            Ok(_) => {
                return Ok(Err(Verdict::new(TaskVerdict::Crash, "an answer to something else")));
            }
            Err(verdict) => return Ok(Err(verdict)),
        };
        let source = String::from_utf8_lossy(content);
        let module = self.of_rust(name, &format!("{source}\n{}", function.calls()))?;
        let lines = source.lines().count();
        Ok(module.map_err(|verdict| native::rust::refusal(verdict, lines)))
    }

    /// What clang says, or how it died over a program.
    fn ask(
        &self,
        language: Language,
        request: &Request,
    ) -> Result<std::result::Result<Answer, Verdict>> {
        if self.options.cancelled.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        match self.clang(language)?.ask(request) {
            Ok(answer) => Ok(Ok(answer)),
            Err(sandbox::Death::Stopped) => Err(Error::Stopped),
            Err(death) if death.is_ours() => Err(Error::Worker { tool: "clang", death }),
            Err(death) => Ok(Err(Verdict::new(death.name(), death.to_string()))),
        }
    }

    /// What each pipeline leaves. One that kills its worker costs the others nothing.
    pub(crate) fn passes(
        &self,
        module: &Module,
        pipelines: &[Pipeline],
        write: Option<Form>,
    ) -> Result<std::result::Result<Passed, Verdict>> {
        let ask = |pipelines: &[Pipeline]| {
            let work = Work::Passes { pipelines: pipelines.to_vec(), write };
            self.readers.ask(&module.name, &module.content, work)
        };
        match ask(pipelines)? {
            Ok(Done::Passes { before, left }) => return Ok(Ok((before, left))),
            Ok(_) => {
                return Ok(Err(Verdict::new(TaskVerdict::Crash, "an answer to something else")));
            }
            // The module itself cannot be read.
            Err(verdict) if !is_death(&verdict) => return Ok(Err(verdict)),
            Err(_) => {}
        }
        let (mut before, mut all) = (None, Vec::new());
        for pipeline in pipelines {
            match ask(std::slice::from_ref(pipeline))? {
                Ok(Done::Passes { before: count, left }) => {
                    before = Some(count);
                    all.extend(left);
                }
                Ok(_) => all.push(Err(Refusal::Died("an answer to something else".to_owned()))),
                Err(verdict) => all.push(Err(Refusal::Died(verdict.to_string()))),
            }
        }
        Ok(match before {
            Some(before) => Ok((before, all)),
            // Whatever is done with it, it kills.
            None => Err(Verdict::new(TaskVerdict::Crash, "every pipeline dies over it")),
        })
    }

    /// An llvm-mca for one thread.
    pub(crate) fn mca(&self) -> Result<Mca> {
        Mca::find()
    }

    /// Versions of what shapes labels.
    pub(crate) fn tools(&self) -> std::collections::BTreeMap<String, String> {
        let mut tools = std::collections::BTreeMap::new();
        if let Some(clang) = self.clang.get().or(self.native.get()) {
            let version = clang.version().unwrap_or_else(|| "unknown".to_owned());
            tools.insert("clang".to_owned(), version);
        }
        tools.extend(self.rustc.get().map(|rustc| ("rustc".to_owned(), rustc.version())));
        // Modules are read by the library nearest to what wrote them: clang's own.
        let all: Vec<String> =
            llvm::candidates().iter().map(|found| found.version.to_string()).collect();
        tools.insert("llvm".to_owned(), all.join(", "));
        tools
    }
}

/// Whether a verdict tells how a worker died.
fn is_death(verdict: &Verdict) -> bool {
    ["timeout", "cpu-limit", "memory-limit", "output-limit", "process-limit", "crash"]
        .contains(&&*verdict.name)
}
