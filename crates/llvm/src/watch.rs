//! Passes as they run: who asks is told of each before it begins, and may refuse those that LLVM calls optional.
//!
//! LLVM's C API has no call for this. Two of its own hooks give it. A context's gate for optional passes
//! (`OptPassGate`, what `-opt-bisect-limit` is made of) asks before each of them; its class is a table of four
//! functions, and a gate of ours is such a table. The pass manager's log (`-debug-pass-manager`) names every pass, the
//! required ones too (`always-inline`), before it begins; LLVM writes it to its stream of errors, whose function that
//! writes is replaced by one of ours. What is not of the log goes on to where it was going. Each of these tables is
//! looked at before it is relied on: a library that has another layout is an error, and nothing is run.

use crate::{
    Error, Library, Module,
    symbols::{RawGate, RawStream, Symbols},
};
use std::{
    cell::Cell,
    collections::BTreeMap,
    ffi::{c_char, c_void},
    mem::ManuallyDrop,
    ptr,
    sync::Mutex,
};

/// Is told what runs on a module, and looks at the module between passes.
pub trait Watcher {
    /// Whether an optional pass shall run on a part of a module, named as in [`Watcher::before`].
    fn allows(&mut self, pass: &str, on: &str) -> bool;

    /// A pass is about to run: `pass` by its name in pipelines (by that of its class, `SROAPass`, where it is required,
    /// and for all by LLVM 19), `on` what
    /// LLVM calls the part: `[module]`, `(f, g)` for functions that call each other, `loop %l in function f`, or a
    /// function's name.
    fn before(&mut self, pass: &str, on: &str, module: &Module<'_>);
}

/// The functions of a class derived from `OptPassGate`, in the order in which it declares them.
#[repr(C)]
struct GateTable {
    destroy: unsafe extern "C" fn(*mut Gate),
    delete: unsafe extern "C" fn(*mut Gate),
    should_run: ShouldRun,
    is_enabled: unsafe extern "C" fn(*const Gate) -> bool,
}

/// Texts come as pointer and length.
type ShouldRun =
    unsafe extern "C" fn(*const Gate, *const c_char, usize, *const c_char, usize) -> bool;

/// What stands before a class's functions, and these.
#[repr(C)]
struct GateClass {
    offset: isize,
    about: *const c_void,
    table: GateTable,
}

// SAFETY: nothing in it changes.
unsafe impl Sync for GateClass {}

static CLASS: GateClass = GateClass {
    offset: 0,
    about: ptr::null(),
    table: GateTable { destroy: keep, delete: keep, should_run, is_enabled },
};

/// A gate: its functions, and nothing else.
#[repr(C)]
struct Gate {
    table: *const GateTable,
}

/// Words of the table of a stream's functions that are looked at; LLVM 19 and 22 have fewer than 20.
const STREAM_FUNCTIONS: usize = 24;
/// Words before a table's first function.
const HEAD: usize = 2;
/// Where [`GateTable::should_run`] is.
const SHOULD_RUN: usize = 2;

type Write = unsafe extern "C" fn(*mut RawStream, *const c_char, usize);

/// By stream, the function that wrote before ours.
static HOOKED: Mutex<BTreeMap<usize, Write>> = Mutex::new(BTreeMap::new());

thread_local! {
    /// Who is told on this thread; null where nobody is.
    static ACTIVE: Cell<*mut Active<'static>> = const { Cell::new(ptr::null_mut()) };
}

struct Active<'w> {
    watcher: &'w mut dyn Watcher,
    module: ManuallyDrop<Module<'w>>,
    line: Vec<u8>,
    /// The optional pass of which the log is to tell next, and the part: here names are whole that hold a new line.
    optional: Option<(String, String)>,
}

/// The hooks of a library that has them.
struct Hooks {
    log: unsafe extern "C" fn(*mut crate::symbols::RawPassOptions, std::ffi::c_int),
    gate_of: unsafe extern "C" fn(*mut crate::symbols::RawContext) -> *mut RawGate,
    set_gate: unsafe extern "C" fn(*mut crate::symbols::RawContext, *mut RawGate),
}

impl Hooks {
    /// Of a module's library, whose stream of errors is hooked from now on.
    fn of(module: &Module<'_>) -> Option<Hooks> {
        let symbols: &Symbols = &module.library().symbols;
        let hooks = Hooks {
            log: symbols.log_passes?,
            gate_of: symbols.pass_gate?,
            set_gate: symbols.set_pass_gate?,
        };
        // SAFETY: the context is alive.
        let gate = unsafe { (hooks.gate_of)(module.raw_context()) };
        // SAFETY: a gate begins with the address of its functions.
        let table = unsafe { *gate.cast::<*const usize>() };
        // SAFETY: a gate has four functions.
        let slot = unsafe { table.add(SHOULD_RUN) };
        // SAFETY: as above.
        let found = unsafe { *slot };
        let expected = symbols.bisect_const.or(symbols.bisect)?;
        (found == expected as *const () as usize).then_some(())?;
        hook(symbols)?;
        Some(hooks)
    }
}

/// Put our function in the place of the one that writes to the stream of errors.
fn hook(symbols: &Symbols) -> Option<()> {
    // SAFETY: it gives the address of a stream that lives as long as the process.
    let stream = unsafe { (symbols.error_stream?)() };
    let original = symbols.write_stream?;
    let mut hooked = HOOKED.lock().expect("no thread panics while it hooks");
    if hooked.contains_key(&(stream as usize)) {
        return Some(());
    }
    let place = stream.cast::<*const usize>();
    // SAFETY: a stream begins with the address of its functions.
    let table = unsafe { *place };
    // SAFETY: two words stand before the first function of a class.
    let start = unsafe { table.sub(HEAD) };
    // SAFETY: the words before the table, the table, and what follows in the same section of the library.
    let words = unsafe { std::slice::from_raw_parts(start, HEAD + STREAM_FUNCTIONS) };
    let at = words
        .iter()
        .position(|word| *word == original as *const () as usize)
        .filter(|at| *at > HEAD)?;
    let mut copy = words.to_vec();
    copy[at] = write as *const () as usize;
    let copy: &'static [usize] = Vec::leak(copy);
    hooked.insert(stream as usize, original);
    let table = copy[HEAD..].as_ptr();
    // SAFETY: the copy has all functions of the table, and is never freed; LLVM writes on this thread or not at all
    // while passes have yet to begin.
    unsafe { *place = table };
    Some(())
}

impl Library {
    /// Whether [`Module::run_passes_watched`] can watch passes of this library.
    #[must_use]
    pub fn can_be_watched(&'static self) -> bool {
        let context = crate::Context::new(self);
        let empty = context.parse("empty", b"; nothing\n");
        empty.is_ok_and(|module| Hooks::of(&module).is_some())
    }
}

impl Module<'_> {
    /// As [`Module::run_passes`], and `watcher` is told of every pass before it begins. It sees the module as it is
    /// then; what it reads is gone when it returns.
    ///
    /// # Errors
    /// As there, and [`Error::CannotWatch`] for a library without what this needs; LLVM 19 and 22 have it.
    pub fn run_passes_watched(
        &mut self,
        pipeline: &str,
        watcher: &mut dyn Watcher,
    ) -> Result<(), Error> {
        let unknown = || Error::CannotWatch { library: self.library().version() };
        let hooks = Hooks::of(self).ok_or_else(unknown)?;
        let context = self.raw_context();
        // Dropped by nobody: it is the same module.
        let module = ManuallyDrop::new(self.again());
        let mut active = Active { watcher, module, line: Vec::new(), optional: None };
        let gate = Gate { table: &raw const CLASS.table };
        // SAFETY: the context is alive.
        let before = unsafe { (hooks.gate_of)(context) };
        // SAFETY: the gate lives until the old one is back.
        unsafe { (hooks.set_gate)(context, (&raw const gate).cast_mut().cast()) };
        let outer = ACTIVE.replace((&raw mut active).cast());
        let log = hooks.log;
        // SAFETY: the options are alive.
        let result = self.run(pipeline, true, |options| unsafe { log(options, 1) });
        ACTIVE.set(outer);
        // SAFETY: as above; the old gate is the context's own.
        unsafe { (hooks.set_gate)(context, before) };
        result
    }
}

/// Do something with who is told on this thread. Meanwhile nobody is: what LLVM writes then is no log.
fn told<T>(act: impl FnOnce(&mut Active<'static>) -> T) -> Option<T> {
    let active = ACTIVE.replace(ptr::null_mut());
    if active.is_null() {
        return None;
    }
    // SAFETY: it lives until the passes have run, and nobody else has it: it was taken out above.
    let answer = act(unsafe { &mut *active });
    ACTIVE.set(active);
    Some(answer)
}

unsafe extern "C" fn keep(_: *mut Gate) {}

unsafe extern "C" fn is_enabled(_: *const Gate) -> bool {
    true
}

unsafe extern "C" fn should_run(
    _: *const Gate,
    pass: *const c_char,
    pass_length: usize,
    on: *const c_char,
    on_length: usize,
) -> bool {
    let pass = crate::library::copy_text(pass, pass_length);
    let on = crate::library::copy_text(on, on_length);
    let answer = told(|active| {
        let allowed = active.watcher.allows(&pass, &on);
        active.optional = Some((pass, on));
        allowed
    });
    answer.unwrap_or(true)
}

unsafe extern "C" fn write(stream: *mut RawStream, text: *const c_char, size: usize) {
    let bytes: &[u8] = match text.is_null() {
        true => &[],
        // SAFETY: LLVM gives as many bytes as it says.
        false => unsafe { std::slice::from_raw_parts(text.cast(), size) },
    };
    let rest = told(|active| active.hear(bytes)).unwrap_or_else(|| bytes.to_vec());
    if rest.is_empty() {
        return;
    }
    let original = HOOKED.lock().ok().and_then(|all| all.get(&(stream as usize)).copied());
    if let Some(original) = original {
        // SAFETY: it is the function that the library itself has there.
        unsafe { original(stream, rest.as_ptr().cast(), rest.len()) };
    }
}

/// How lines of the log begin.
const LOG: [&str; 5] = [
    "Running pass: ",
    "Skipping pass: ",
    "Running analysis: ",
    "Invalidating analysis: ",
    "Clearing all analysis results for: ",
];
/// Required passes that change nothing.
const IDLE: [&str; 6] = [
    "RequireAnalysisPass",
    "InvalidateAnalysisPass",
    "InvalidateAllAnalysesPass",
    "VerifierPass",
    "NoOp",
    "PassManager",
];

impl Active<'_> {
    /// Read what LLVM writes; returns what is not part of the log.
    fn hear(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut rest = Vec::new();
        for byte in bytes {
            self.line.push(*byte);
            if *byte == b'\n' {
                let line = std::mem::take(&mut self.line);
                if !self.line_of_log(&line) {
                    rest.extend(line);
                }
            }
        }
        let begun = |log: &&'static str| {
            let length = log.len().min(self.line.len());
            log.as_bytes()[..length] == self.line[..length]
        };
        if !LOG.iter().any(begun) {
            rest.append(&mut self.line);
        }
        rest
    }

    fn line_of_log(&mut self, line: &[u8]) -> bool {
        let line = String::from_utf8_lossy(line);
        let Some(log) = LOG.iter().find(|log| line.starts_with(**log)) else { return false };
        let optional = match *log == LOG[0] || *log == LOG[1] {
            true => self.optional.take(),
            false => return true,
        };
        let Some((class, on)) = line[log.len()..].trim_end().split_once(" on ") else {
            return true;
        };
        if *log == LOG[1] || IDLE.iter().any(|idle| class.starts_with(idle)) {
            return true;
        }
        match &optional {
            Some((pass, on)) => self.watcher.before(pass, on, &self.module),
            None => self.watcher.before(class, without_count(on), &self.module),
        }
        true
    }
}

/// The part without how large it is: `f (3 instructions)`, `(f, g) (2 nodes)`.
fn without_count(on: &str) -> &str {
    let Some((name, count)) = on.rsplit_once(" (") else { return on };
    let mut words = count.trim_end_matches(')').split(' ');
    let number = words.next().is_some_and(|word| word.parse::<u64>().is_ok());
    let unit = matches!(words.next(), Some("instruction" | "instructions" | "node" | "nodes"));
    if number && unit && words.next().is_none() { name } else { on }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Context, candidates};

    #[derive(Default)]
    struct List {
        runs: Vec<(String, String, u64)>,
        refused: Option<&'static str>,
    }

    impl Watcher for List {
        fn allows(&mut self, pass: &str, _: &str) -> bool {
            self.refused != Some(&plain(pass))
        }

        fn before(&mut self, pass: &str, on: &str, module: &Module<'_>) {
            self.runs.push((plain(pass), on.to_owned(), module.instruction_count()));
        }
    }

    /// A pass by the name of its class, as pipelines name most.
    fn plain(pass: &str) -> String {
        pass.trim_end_matches("Pass").to_lowercase()
    }

    const TEXT: &str = "define i32 @g(i32 %a) {
          %p = alloca i32
          store i32 %a, ptr %p
          %b = load i32, ptr %p
          ret i32 %b
        }
        define internal i32 @h(i32 %a) alwaysinline { ret i32 %a }
        define i32 @f(i32 %a) { %b = call i32 @h(i32 %a)\n ret i32 %b }";

    /// What is told of a pipeline, by each library that can be watched.
    fn watched(pipeline: &str, refused: Option<&'static str>) -> Vec<List> {
        let found = candidates().into_iter().filter(|found| found.version.major >= 19);
        let of = |found: crate::Candidate| {
            let library = Library::load(&found.path).expect("it loads");
            assert!(library.can_be_watched(), "{library:?}");
            let context = Context::new(library);
            let mut module = context.parse("m", TEXT.as_bytes()).expect("it is valid");
            let mut list = List { refused, ..List::default() };
            module.run_passes_watched(pipeline, &mut list).expect("they run");
            list
        };
        let all: Vec<List> = found.map(of).collect();
        assert!(!all.is_empty(), "scripts/setup.sh installs LLVM");
        all
    }

    #[test]
    fn every_pass_is_told_of_before_it_runs_required_ones_too() {
        for list in watched("function(sroa,instsimplify),always-inline,globaldce", None) {
            let runs: Vec<_> =
                list.runs.iter().map(|(pass, on, n)| (pass.as_str(), on.as_str(), *n)).collect();
            let expected = [
                ("sroa", "g", 7),
                ("instsimplify", "g", 4),
                ("sroa", "h", 4),
                ("instsimplify", "h", 4),
                ("sroa", "f", 4),
                ("instsimplify", "f", 4),
                ("alwaysinliner", "[module]", 4),
                ("globaldce", "[module]", 2),
            ];
            assert_eq!(runs, expected);
        }
    }

    #[test]
    fn a_pass_that_is_refused_does_not_run() {
        for list in watched("function(sroa,instsimplify)", Some("sroa")) {
            assert!(list.runs.iter().all(|(pass, ..)| pass == "instsimplify"), "{:?}", list.runs);
        }
    }

    #[test]
    fn parts_are_named_without_their_sizes() {
        assert_eq!(without_count("f (1 instruction)"), "f");
        assert_eq!(without_count("(f, g) (2 nodes)"), "(f, g)");
        assert_eq!(without_count("list(u8,null).append (3)"), "list(u8,null).append (3)");
    }
}
