//! From programs to rows.

use crate::{
    CompileConfigs, Error, FeatureSpace, Part, ProgramView, RUST_FLAGS, Ran, Report, Row, Rustc,
    extracted::{DOES_NOT_COMPILE, ExtractedProgram, Found, NO_EXTRACTOR},
    reader::{ModuleReader, Readers, module_verdict},
    run::{Launch, Runner, Undefined, With},
};
use clang::{Answer, Clang, Diagnostic, Includes, Request, find_worker};
use dataset::{Code, Found as Met, Language, Program, Programs, Progress, Rejected, Verdict};
use llvm::{Context, Library, Version};
use rayon::prelude::*;
use rows::FeaturesVerdict;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

/// Programs described at a time.
const CHUNK: usize = 128;
/// Fewer where they are large: no more are begun once there are so many bytes of them.
const CHUNK_BYTES: usize = 64 << 20;

/// How programs are described.
#[derive(Clone, Debug)]
pub struct Options {
    /// How sources are compiled.
    pub configs: CompileConfigs,
    /// Threads, and workers of each kind, at most.
    pub jobs: usize,
    /// Who reads modules that come as bitcode or textual IR.
    pub reader: ModuleReader,
    /// Raise it, from any thread, to have the work end at the next program.
    pub cancelled: Arc<AtomicBool>,
}

impl Default for Options {
    /// As the published values were made, on all cores; modules are read by worker processes.
    fn default() -> Options {
        let jobs = std::thread::available_parallelism().map_or(1, usize::from);
        Options {
            configs: CompileConfigs::default(),
            jobs,
            reader: ModuleReader::default(),
            cancelled: Arc::default(),
        }
    }
}

/// Describes programs in the spaces it was made for. Any number of threads may share it.
///
/// Functions get a row each where a space tells them apart; the vectors of spaces that see a
/// program as a whole stand in every row of the program.
pub struct Extractor {
    spaces: Vec<&'static dyn FeatureSpace>,
    parts: BTreeSet<Part>,
    options: Options,
    /// For OpenCL, which sees nothing of this machine.
    clang: OnceLock<Clang>,
    /// For C and C++, which see its system headers.
    native: OnceLock<Clang>,
    /// For Rust.
    rustc: OnceLock<Rustc>,
    readers: Readers,
    runner: Runner,
}

impl Extractor {
    /// For these spaces. clang is started when the first source comes.
    #[must_use]
    pub fn new(spaces: Vec<&'static dyn FeatureSpace>, options: Options) -> Extractor {
        let parts = spaces.iter().flat_map(|space| space.parts()).copied().collect();
        let readers = Readers::new(&options.reader, options.jobs.max(1));
        let (clang, native) = (OnceLock::new(), OnceLock::new());
        let (rustc, runner) = (OnceLock::new(), Runner::default());
        Extractor { spaces, parts, options, clang, native, rustc, readers, runner }
    }

    /// Its spaces.
    #[must_use]
    pub fn spaces(&self) -> &[&'static dyn FeatureSpace] {
        &self.spaces
    }

    /// The rows of one program, at least one.
    ///
    /// # Errors
    /// When clang or LLVM cannot be had, and when cancelled; whatever is wrong with the program is in
    /// its row.
    pub fn describe(&self, program: &Program) -> Result<Vec<Row>, Error> {
        if self.options.cancelled.load(Ordering::Relaxed) {
            return Err(Error::Cancelled { done: 0 });
        }
        let found = match (program.language, &program.code) {
            (_, code) if is_blank(code) => Err(Verdict::new(FeaturesVerdict::Empty, "")),
            (Language::LlvmIr | Language::Bitcode, Code::Text(text)) => {
                self.of_module(program, text.as_bytes())?
            }
            (Language::LlvmIr | Language::Bitcode, Code::Bytes(bytes)) => {
                self.of_module(program, bytes)?
            }
            (_, Code::Text(text)) => self.of_source(program, text)?,
            (_, Code::Bytes(bytes)) => self.of_source(program, &String::from_utf8_lossy(bytes))?,
        };
        Ok(self.rows(program, found))
    }

    /// Describe `programs`, giving the rows of each to `sink`, in order.
    ///
    /// # Errors
    /// As [`Extractor::describe`], and when a program cannot be read.
    pub fn describe_all(
        &self,
        programs: &Programs,
        progress: &dyn Progress,
        mut sink: impl FnMut(Vec<Row>) -> Result<(), Error>,
    ) -> Result<Report, Error> {
        let mut report = Report::default();
        let result = self.in_chunks(programs, progress, |chunk| {
            for rows in self.describe_met(&chunk)? {
                report.programs += 1;
                rows.iter().for_each(|row| report.add(row));
                sink(rows)?;
            }
            Ok(())
        });
        match result {
            Err(Error::Cancelled { .. }) => Err(Error::Cancelled { done: report.programs }),
            result => result.map(|()| report),
        }
    }

    /// What shapes the rows but the programs.
    pub(crate) fn settings(&self) -> serde_json::Value {
        let spaces: BTreeMap<&str, Vec<&str>> =
            self.spaces.iter().map(|space| (space.name(), space.dimensions())).collect();
        let level = self.level();
        let mut settings = self.options.configs.settings();
        settings["spaces"] = serde_json::json!(spaces);
        settings["level"] = level.into();
        settings["rust"] = serde_json::json!(RUST_FLAGS);
        if self.parts.contains(&Part::Run) {
            settings["run"] = Runner::settings();
        }
        settings
    }

    /// Versions of what was used so far.
    pub(crate) fn tools(&self) -> BTreeMap<String, String> {
        let mut tools = BTreeMap::new();
        if let Some(clang) = self.clang.get().or(self.native.get()) {
            let version = clang.version().unwrap_or_else(|| "unknown".to_owned());
            tools.insert("clang".to_owned(), version);
        }
        tools.extend(self.rustc.get().map(|rustc| ("rustc".to_owned(), rustc.version())));
        if let Some(version) = self.llvm() {
            tools.insert("llvm".to_owned(), version);
        }
        if self.parts.contains(&Part::Run) {
            tools.extend(Runner::tool());
        }
        tools
    }

    /// The version of the LLVM that reads what clang writes (of a module that a later LLVM wrote, the nearest); `None` where no space needs one, or none is here.
    #[must_use]
    pub fn llvm(&self) -> Option<String> {
        let library = self.needs_llvm().then(|| Library::as_new_as(Version::OF_CLANG))?;
        Some(library.ok()?.version().to_string())
    }

    fn needs_llvm(&self) -> bool {
        self.parts.contains(&Part::Module) || self.parts.contains(&Part::Run)
    }

    fn in_chunks(
        &self,
        programs: &Programs,
        progress: &dyn Progress,
        mut work: impl FnMut(Vec<Met>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut all = programs.found()?.peekable();
        progress.begin("describing", programs.len());
        while all.peek().is_some() {
            // What is in memory at a time is bounded by number and by size.
            let (mut chunk, mut bytes) = (Vec::new(), 0);
            while chunk.len() < CHUNK
                && bytes < CHUNK_BYTES
                && let Some(met) = all.next()
            {
                let met = met?;
                if let Met::Program(program) = &met {
                    bytes += program.code.len();
                }
                chunk.push(met);
            }
            let units = chunk.len() as u64;
            work(chunk)?;
            progress.advance(units);
        }
        Ok(())
    }

    /// The rows of each of `programs`, in order, worked on by as many threads as there are jobs.
    ///
    /// # Errors
    /// As [`Extractor::describe`].
    pub fn describe_many(&self, programs: &[Program]) -> Result<Vec<Vec<Row>>, Error> {
        self.each(programs, |program| self.describe(program))
    }

    /// As [`Extractor::describe_many`], with a row for what is no program, too.
    fn describe_met(&self, met: &[Met]) -> Result<Vec<Vec<Row>>, Error> {
        self.each(met, |met| match met {
            Met::Program(program) => self.describe(program),
            Met::Rejected(Rejected { path, verdict }) => Ok(vec![Row {
                path: path.clone(),
                verdict: verdict.name.clone().into_owned(),
                detail: verdict.detail.clone(),
                ..Row::default()
            }]),
        })
    }

    fn each<T: Sync>(
        &self,
        all: &[T],
        one: impl Fn(&T) -> Result<Vec<Row>, Error> + Sync,
    ) -> Result<Vec<Vec<Row>>, Error> {
        let threads = rayon::ThreadPoolBuilder::new().num_threads(self.options.jobs.max(1)).build();
        match threads {
            Ok(threads) => threads.install(|| all.par_iter().map(&one).collect()),
            // Without threads the work is done on this one.
            Err(_) => all.iter().map(one).collect(),
        }
    }

    /// The compiler for programs in `language`.
    fn clang(&self, language: Language) -> Result<&Clang, Error> {
        let (slot, includes) = match language {
            Language::C | Language::Cxx => (&self.native, Includes::Host),
            _ => (&self.clang, Includes::Own),
        };
        if let Some(clang) = slot.get() {
            return Ok(clang);
        }
        if self.needs_llvm() {
            Library::as_new_as(Version::OF_CLANG)?;
        }
        let started = Clang::start_at(&find_worker()?, self.options.jobs.max(1), includes)?
            .with_stop(Arc::clone(&self.options.cancelled));
        // Of two threads that start it at once, one's is dropped.
        Ok(slot.get_or_init(|| started))
    }

    /// What the spaces say that look at the text, and those that look at a run.
    fn of_source(&self, program: &Program, source: &str) -> Result<Found, Error> {
        if !self.parts.contains(&Part::Run) {
            return self.of_text(program, source);
        }
        let found = match self.parts.len() {
            1 => Ok(self.extract(&ProgramView::default())),
            _ => self.of_text(program, source)?,
        };
        let ran = match (self.run(program, source)?, &found) {
            (Ok(ran), _) => ran,
            (Err(verdict), Ok(_)) if self.parts.len() > 1 => {
                let idle = vec![(String::new(), verdict)];
                return Ok(found.map(|found| ExtractedProgram { idle, ..found }));
            }
            (Err(verdict), Ok(_)) => return Ok(Err(verdict)),
            (Err(_), Err(_)) => return Ok(found),
        };
        let mut extracted = found.unwrap_or_else(|_| {
            let extracted = self.extract(&ProgramView::default());
            ExtractedProgram { absent: DOES_NOT_COMPILE, ..extracted }
        });
        let view = ProgramView { run: Some(&ran), ..ProgramView::default() };
        for (space, said) in
            extracted.spaces.iter_mut().filter(|(one, _)| one.parts().contains(&Part::Run))
        {
            *said = space.extract(&view);
        }
        if extracted.kernels.is_empty() {
            extracted.kernels = ran.kernels.iter().map(|(name, _)| name.clone()).collect();
        }
        let idle = ran.kernels.into_iter();
        extracted.idle = idle.filter_map(|(name, vector)| Some((name, vector.err()?))).collect();
        Ok(Ok(extracted))
    }

    /// How its kernels run, compiled for this machine.
    fn run(&self, program: &Program, source: &str) -> Result<Result<Ran, Verdict>, Error> {
        if program.language != Language::OpenCl {
            let what = format!("{} is no OpenCL C", program.language.name());
            return Ok(Err(Verdict::new(FeaturesVerdict::Unsupported, what)));
        }
        self.runner.run(&self.with(program.language)?, &program.path, source)
    }

    /// What OpenCL leaves undefined in runs of an OpenCL program's kernels, taken together, or why it cannot be told.
    ///
    /// # Errors
    /// When clang, LLVM or a linker cannot be had, and when cancelled.
    pub fn undefined(&self, source: &str) -> Result<Result<Undefined, Verdict>, Error> {
        self.runner.undefined(&self.with(Language::OpenCl)?, source)
    }

    /// Floating-point operations of launches of an OpenCL program's kernels, taken together, or why they cannot be counted: an
    /// addition, multiplication or division is one for each lane, a fused multiplication and addition two; those inside of other
    /// built-in functions are none. They are counted of the first group of work-items, on the numbers of space `dynamic` in buffers,
    /// and taken to be the same in all groups.
    ///
    /// # Errors
    /// When clang, LLVM or a linker cannot be had, and when cancelled.
    pub fn operations(
        &self,
        source: &str,
        launches: &[Launch],
    ) -> Result<Result<f64, Verdict>, Error> {
        self.runner.operations(&self.with(Language::OpenCl)?, source, launches)
    }

    /// What programs are run with, compiled for this machine.
    fn with(&self, language: Language) -> Result<With<'_>, Error> {
        let here = |options: &clang::Options| clang::Options {
            triple: clang::Triple::Host,
            front_end: true,
            ..options.clone()
        };
        let configs = self.options.configs.opencl.iter().map(here).collect();
        let (clang, level) = (self.clang(language)?, self.level().unwrap_or(1));
        Ok(With { clang, readers: &self.readers, configs, level })
    }

    /// The level of the compilers: of all languages the same, since one flag says it.
    fn level(&self) -> Option<u8> {
        self.options.configs.opencl.first().map(|options| options.optimisation)
    }

    fn of_text(&self, program: &Program, source: &str) -> Result<Found, Error> {
        if program.language == Language::Rust {
            return self.of_rust(program, source);
        }
        let clang = self.clang(program.language)?;
        let mut refused = Verdict::new(DOES_NOT_COMPILE, "");
        for (index, config) in self.options.configs.of(program.language).iter().enumerate() {
            let request = self.request(source, config);
            let answer = match clang.ask(&request) {
                Ok(answer) => answer,
                Err(death) => return died(self.clang(program.language)?, death).map(Err),
            };
            if let Some(error) = answer.first_error() {
                if index == 0 {
                    refused.detail = in_line(error, source);
                }
                continue;
            }
            let tokens = if self.parts.contains(&Part::Tokens) {
                let request =
                    Request::Tokens { source: source.to_owned(), options: config.clone() };
                match clang.ask(&request) {
                    Ok(answer) => Some(answer.tokens),
                    Err(death) => return died(self.clang(program.language)?, death).map(Err),
                }
            } else {
                None
            };
            return self.of_answer(program, &answer, tokens.as_deref());
        }
        match self.parts.contains(&Part::Tree) {
            true => self.of_tree(program, source, refused),
            false => Ok(Err(refused)),
        }
    }

    fn of_rust(&self, program: &Program, source: &str) -> Result<Found, Error> {
        let rustc = match self.rustc.get() {
            Some(rustc) => rustc,
            None => {
                let found = Rustc::find()?;
                self.rustc.get_or_init(|| found)
            }
        };
        match rustc.module(source, self.level().unwrap_or(1), false)? {
            Ok(module) => self.of_module(program, &module),
            Err(verdict) => Ok(Err(verdict)),
        }
    }

    /// What no compilation accepts, for what was once a warning or for what the target lacks, has no
    /// code, but may still have the syntax tree that some spaces are of.
    fn of_tree(&self, program: &Program, source: &str, refused: Verdict) -> Result<Found, Error> {
        for options in self.options.configs.of_tree(program.language) {
            let request = Request::Parse { source: source.to_owned(), options, tree: true };
            let answer = match self.clang(program.language)?.ask(&request) {
                Ok(answer) => answer,
                Err(death) => return died(self.clang(program.language)?, death).map(Err),
            };
            if answer.first_error().is_some() {
                continue;
            }
            let kernels = kernels_of(&answer);
            let tree = answer.tree.as_ref();
            let extracted =
                self.extract(&ProgramView { tree, kernels: &kernels, ..ProgramView::default() });
            return Ok(Ok(ExtractedProgram { absent: DOES_NOT_COMPILE, ..extracted }));
        }
        Ok(Err(refused))
    }

    /// One question with one parse for all that is needed of it.
    fn request(&self, source: &str, config: &clang::Options) -> Request {
        let (source, options) = (source.to_owned(), config.clone());
        let tree = self.parts.contains(&Part::Tree);
        if self.parts.contains(&Part::Module) {
            Request::Compile { source, options, facts: false, tree, bitcode: true }
        } else {
            Request::Parse { source, options, tree }
        }
    }

    fn of_answer(
        &self,
        program: &Program,
        answer: &Answer,
        tokens: Option<&[clang::Token]>,
    ) -> Result<Found, Error> {
        let kernels = kernels_of(answer);
        let view = ProgramView {
            tree: answer.tree.as_ref(),
            tokens,
            kernels: &kernels,
            ..ProgramView::default()
        };
        let Some(code) = answer.code.as_ref().filter(|code| !code.bitcode.is_empty()) else {
            return Ok(Ok(self.extract(&view)));
        };
        let context = Context::new(Library::of_module(&code.bitcode)?);
        Ok(match context.parse(&program.path, &code.bitcode) {
            Ok(module) => Ok(self.extract(&ProgramView { module: Some(&module), ..view })),
            Err(error) => Err(module_verdict(&error)),
        })
    }

    fn of_module(&self, program: &Program, content: &[u8]) -> Result<Found, Error> {
        let said = self.readers.read(&self.spaces, &program.path, content)?;
        Ok(said.map(|said| ExtractedProgram {
            spaces: self.spaces.iter().copied().zip(said).collect(),
            kernels: Vec::new(),
            absent: NO_EXTRACTOR,
            idle: Vec::new(),
        }))
    }

    fn extract(&self, view: &ProgramView<'_>) -> ExtractedProgram {
        let spaces = self.spaces.iter().map(|space| (*space, space.extract(view))).collect();
        let (kernels, idle) = (view.kernels.to_vec(), Vec::new());
        ExtractedProgram { spaces, kernels, absent: NO_EXTRACTOR, idle }
    }

    fn rows(&self, program: &Program, found: Found) -> Vec<Row> {
        let (path, name) = (program.path.clone(), program.known_as().to_owned());
        let row = Row { id: program.code.hash(), path, name, ..Row::default() };
        let extracted = match found {
            Ok(extracted) => extracted,
            Err(verdict) => {
                return vec![Row { verdict: verdict.name.into(), detail: verdict.detail, ..row }];
            }
        };
        let mut functions = extracted.functions();
        // A program of a data set is one kernel, and its helpers are none.
        if !program.name.is_empty() && !extracted.kernels.is_empty() {
            functions.retain(|function| extracted.kernels.contains(function));
        }
        functions.into_iter().map(|function| extracted.row(row.clone(), &function)).collect()
    }
}

impl std::fmt::Debug for Extractor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.spaces.iter().map(|space| space.name()).collect();
        f.debug_struct("Extractor").field("spaces", &names).finish_non_exhaustive()
    }
}

/// What the end of a worker says of the program it died over; a stop and a fault of the machine say
/// nothing.
///
/// # Errors
/// That the run was stopped, or that clang does not work.
pub(crate) fn died(clang: &Clang, death: sandbox::Death) -> Result<Verdict, Error> {
    match death {
        sandbox::Death::Stopped => Err(Error::Cancelled { done: 0 }),
        death if death.is_ours() => {
            Err(clang::Error::CannotStart { worker: clang.worker().to_owned(), death }.into())
        }
        death => Ok(Verdict::new(death.name(), death.to_string())),
    }
}

fn kernels_of(answer: &Answer) -> Vec<String> {
    if let Some(code) = &answer.code {
        let kernels = code.functions.iter().filter(|function| function.kernel);
        return kernels.map(|function| function.name.clone()).collect();
    }
    let facts = answer.facts.as_ref();
    facts.map_or_else(Vec::new, |facts| facts.kernels.iter().map(|k| k.name.clone()).collect())
}

fn is_blank(code: &Code) -> bool {
    match code {
        Code::Text(text) => text.trim().is_empty(),
        Code::Bytes(bytes) => bytes.is_empty(),
    }
}

/// An error with the line of the file that it lies in.
fn in_line(error: &Diagnostic, text: &str) -> String {
    let at = error.line.and_then(|line| (line as usize).checked_sub(1));
    let line = at.and_then(|at| text.lines().nth(at)).map_or("", str::trim);
    let (Some(at), false) = (at, line.is_empty()) else { return error.message.clone() };
    let (number, file) = lexer::line_of(text, at);
    let file = file.map(|file| format!(" of {file}")).unwrap_or_default();
    format!("{}, in line {number}{file}: {}", error.message, lexer::quoted(line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sandbox::Death;

    #[test]
    fn a_death_is_the_programs_where_neither_the_user_nor_the_machine_caused_it() {
        let worker = find_worker().expect("the clang worker is built with the workspace");
        let clang = Clang::start_at(&worker, 1, Includes::Own).expect("it starts");
        let verdict = died(&clang, Death::Timeout(7)).expect("a verdict");
        assert_eq!((verdict.name.as_ref(), verdict.is_accepted()), ("timeout", false));
        assert!(matches!(died(&clang, Death::Stopped), Err(Error::Cancelled { done: 0 })));
        let error = died(&clang, Death::Machine("no room".into())).expect_err("a fault");
        assert!(matches!(error, Error::Clang(clang::Error::CannotStart { .. })), "{error:?}");
    }

    #[test]
    fn white_space_is_blank_and_a_byte_is_not() {
        let text = |text: &str| Code::Text(text.to_owned());
        assert!(is_blank(&text(" \n\t")) && !is_blank(&text(" x")));
        assert!(is_blank(&Code::Bytes(Vec::new())) && !is_blank(&Code::Bytes(vec![b' '])));
    }

    #[test]
    fn an_extractor_says_what_it_is_for_and_with() {
        let spaces = crate::spaces("tokens,instcount").expect("registered");
        let extractor = Extractor::new(spaces, Options::default());
        let names: Vec<&str> = extractor.spaces().iter().map(|space| space.name()).collect();
        assert_eq!(names, ["tokens", "instcount"]);
        let shown = format!("{extractor:?}");
        assert!(shown.contains("\"tokens\"") && shown.contains("\"instcount\""), "{shown}");
        let settings = extractor.settings();
        assert_eq!(
            (&settings["level"], settings["spaces"].as_object().map(|all| all.len())),
            (&1.into(), Some(2))
        );
        let version = extractor.llvm().expect("scripts/setup.sh installs LLVM");
        assert!(version.starts_with(char::is_numeric), "{version}");
        assert_eq!(Vec::from_iter(extractor.tools()), [("llvm".to_owned(), version)]);
        let tokens = crate::spaces("tokens").expect("registered");
        assert_eq!(Extractor::new(tokens, Options::default()).llvm(), None);
    }
}
