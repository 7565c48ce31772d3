//! Looks at a module between passes.

use super::{Run, Stop, Touched, Trace, Unit};
use crate::structure::{Shape, entry, identity, shape};
use llvm::{Function, Module, Opcode, Watcher};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    mem,
    time::Instant,
};

/// Required passes by their class, and as pipelines name them.
const REQUIRED: [(&str, &str); 8] = [
    ("AlwaysInlinerPass", "always-inline"),
    ("AnnotationRemarksPass", "annotation-remarks"),
    ("Annotation2MetadataPass", "annotation2metadata"),
    ("CoroAnnotationElidePass", "coro-annotation-elide"),
    ("CoroCleanupPass", "coro-cleanup"),
    ("CoroEarlyPass", "coro-early"),
    ("CoroSplitPass", "coro-split"),
    ("LowerConstantIntrinsicsPass", "lower-constant-intrinsics"),
];

/// Keeps what passes do, and stops them where it is told to.
pub(crate) struct Recorder<'s> {
    stop: Option<&'s Stop>,
    tell: bool,
    trace: Trace,
    passes: HashMap<String, u32>,
    names: HashMap<String, u32>,
    /// Functions with a body, by what tells them apart while they are there.
    known: HashMap<u64, (u32, Shape)>,
    /// Where the bodies of these begin.
    entries: HashMap<u64, u64>,
    /// Functions that the inliner has emptied: LLVM removes them once all passes of the group have run.
    emptied: HashSet<u64>,
    /// The functions of the run that has begun, and when it did.
    open: Option<(Vec<u32>, Instant)>,
    /// Runs of the pass that stops, by function; those on the whole module under `None`.
    counts: HashMap<Option<u32>, u64>,
    stopped: HashSet<u32>,
    all_stopped: bool,
    bitcode: Option<Vec<u8>>,
}

/// What was recorded.
pub(crate) struct Recorded {
    pub(crate) trace: Trace,
    /// The module where the pipeline was to stop; `None`: it is as the passes left it.
    pub(crate) bitcode: Option<Vec<u8>>,
    /// What is to be said of a stop that did not come.
    pub(crate) detail: String,
}

impl<'s> Recorder<'s> {
    /// With `tell`, what runs is written to standard error.
    pub(crate) fn new(module: &Module<'_>, stop: Option<&'s Stop>, tell: bool) -> Recorder<'s> {
        let mut recorder = Recorder {
            stop,
            tell,
            trace: Trace::default(),
            passes: HashMap::new(),
            names: HashMap::new(),
            known: HashMap::new(),
            entries: HashMap::new(),
            emptied: HashSet::new(),
            open: None,
            counts: HashMap::new(),
            stopped: HashSet::new(),
            all_stopped: false,
            bitcode: None,
        };
        recorder.known = recorder.all(module);
        recorder
    }

    /// The passes have run.
    pub(crate) fn finish(mut self, module: &Module<'_>) -> Recorded {
        self.close(module);
        let detail = match self.stop {
            Some(Stop::After(runs)) if (self.trace.runs.len() as u64) < *runs => {
                format!("the pipeline ended after {} runs of passes", self.trace.runs.len())
            }
            Some(stop @ Stop::Each { .. }) if !self.all_stopped => {
                let functions = self.known.values().map(|(name, _)| *name);
                let functions: BTreeSet<u32> = functions.collect();
                let reached = functions.iter().filter(|one| self.stopped.contains(one)).count();
                match reached == functions.len() {
                    true => String::new(),
                    false => format!("{reached} of {} functions came to {stop}", functions.len()),
                }
            }
            _ => String::new(),
        };
        Recorded { trace: self.trace, bitcode: self.bitcode, detail }
    }

    /// All functions of a module, looked at anew.
    fn all(&mut self, module: &Module<'_>) -> HashMap<u64, (u32, Shape)> {
        let mut all = HashMap::new();
        let mut entries = HashMap::new();
        let functions: Vec<Function<'_>> = self.bodies(module).collect();
        for function in functions {
            let name = self.name_of(function);
            all.insert(identity(function), (name, shape(function)));
            entries.insert(identity(function), entry(function));
        }
        self.entries = entries;
        all
    }

    fn name_of(&mut self, function: Function<'_>) -> u32 {
        let name = function.name();
        // A function without a name is known by itself.
        if name.is_empty()
            && let Some((known, _)) = self.known.get(&identity(function))
        {
            return *known;
        }
        let name = match name.is_empty() {
            true => format!("<unnamed {}>", self.names.len()),
            false => name,
        };
        let next = self.names.len() as u32;
        let functions = &mut self.trace.functions;
        *self.names.entry(name).or_insert_with_key(|name| {
            functions.push(name.clone());
            next
        })
    }

    /// The run that has begun is over: look at what it may have changed.
    fn close(&mut self, module: &Module<'_>) {
        let Some((functions, begun)) = self.open.take() else { return };
        let seconds = begun.elapsed().as_secs_f64();
        let unit = self.trace.runs.last().map_or(Unit::Module, |run| run.unit);
        let whole = match unit {
            Unit::Module => true,
            Unit::Functions => self.has_new(module),
            Unit::Function | Unit::Loop => false,
        };
        let mut touched = match whole {
            true => self.look_at_all(module, unit),
            false => self.look_again(module, &functions, unit),
        };
        if unit == Unit::Functions {
            // Of others only what it did: to callers of a function that it replaced, to what it added or removed.
            touched.retain(|row| row.changed || functions.contains(&row.function));
        }
        if let Some(run) = self.trace.runs.last_mut() {
            run.seconds = seconds;
            run.touched = touched;
        }
    }

    /// Whether there is a function that was not there.
    fn has_new(&self, module: &Module<'_>) -> bool {
        self.bodies(module).any(|function| !self.known.contains_key(&identity(function)))
    }

    fn look_at_all(&mut self, module: &Module<'_>, unit: Unit) -> Vec<Touched> {
        let mut new = self.all(module);
        for function in module.functions().filter(|function| is_empty(*function)) {
            let before = self.known.get(&identity(function)).map(|(_, shape)| shape.structure);
            if unit == Unit::Functions
                && before.is_some_and(|before| before != shape(function).structure)
            {
                new.remove(&identity(function));
                self.emptied.insert(identity(function));
            }
        }
        let before: BTreeMap<u32, Shape> =
            mem::replace(&mut self.known, new).into_values().collect();
        let after: BTreeMap<u32, Shape> = self.known.values().copied().collect();
        let all: BTreeSet<u32> = before.keys().chain(after.keys()).copied().collect();
        let pair = |one| touched(one, before.get(&one).copied(), after.get(&one).copied());
        all.into_iter().map(pair).collect()
    }

    /// The same for some functions; for several together also those that are no longer there.
    fn look_again(&mut self, module: &Module<'_>, functions: &[u32], unit: Unit) -> Vec<Touched> {
        let mut rows = Vec::new();
        for name in functions {
            let function = module.function(&self.trace.functions[*name as usize]);
            let function = function.filter(|function| !function.is_declaration());
            if let Some(function) = function
                && let Some((_, known)) = self.known.get_mut(&identity(function))
            {
                let before = mem::replace(known, shape(function));
                self.entries.insert(identity(function), entry(function));
                rows.push(touched(*name, Some(before), Some(*known)));
            }
        }
        if unit != Unit::Functions {
            return rows;
        }
        // What the inliner leaves of a function that nobody calls any more.
        for function in module.functions().filter(|function| is_empty(*function)) {
            let one = identity(function);
            if self.entries.get(&one).is_some_and(|before| *before != entry(function))
                && let Some((name, before)) = self.known.remove(&one)
            {
                self.emptied.insert(one);
                rows.push(touched(name, Some(before), None));
            }
        }
        if self.bodies(module).count() < self.known.len() {
            let here: HashSet<u64> = self.bodies(module).map(identity).collect();
            let gone = self.known.extract_if(|one, _| !here.contains(one));
            let gone: BTreeMap<u32, Shape> = gone.map(|(_, known)| known).collect();
            rows.extend(gone.into_iter().map(|(name, before)| touched(name, Some(before), None)));
        }
        rows
    }

    /// The functions that have bodies.
    fn bodies<'m>(&self, module: &'m Module<'_>) -> impl Iterator<Item = Function<'m>> {
        let is_emptied = |function: &Function<'_>| {
            self.emptied.contains(&identity(*function)) && is_empty(*function)
        };
        let functions = module.functions().filter(|function| !function.is_declaration());
        functions.filter(move |function| !is_emptied(function))
    }

    /// What LLVM calls a part of a module: its kind, and its functions that have bodies.
    fn part(&self, on: &str, module: &Module<'_>) -> (Unit, Vec<u32>) {
        let named = |name: &str| {
            let function = module.function(name).filter(|function| !function.is_declaration())?;
            self.known.get(&identity(function)).map(|(name, _)| *name)
        };
        if let Some(function) = named(on) {
            return (Unit::Function, vec![function]);
        }
        if let Some((_, function)) = on.rsplit_once(" in function ")
            && let Some(function) = named(function)
        {
            return (Unit::Loop, vec![function]);
        }
        let several = on.strip_prefix('(').and_then(|on| on.strip_suffix(')'));
        let several = several.map(|names| names.split(", ").map(named).collect::<Option<Vec<_>>>());
        match several {
            Some(Some(functions)) => (Unit::Functions, functions),
            // LLVM names only some of many.
            _ => (Unit::Module, Vec::new()),
        }
    }

    /// Whether a pass may run on a part, of which no module is at hand.
    fn is_stopped(&self, on: &str) -> bool {
        if self.all_stopped {
            return true;
        }
        if self.stopped.is_empty() {
            return false;
        }
        let is = |name: &str| self.names.get(name).is_some_and(|one| self.stopped.contains(one));
        if self.names.contains_key(on) {
            return is(on);
        }
        if let Some((_, function)) = on.rsplit_once(" in function ")
            && self.names.contains_key(function)
        {
            return is(function);
        }
        match on.strip_prefix('(').and_then(|on| on.strip_suffix(')')) {
            Some(names) => names.split(", ").any(is),
            None => true,
        }
    }

    /// Count a run of the pass that stops.
    fn count(&mut self, pass: &str, unit: Unit, functions: &[u32]) {
        let Some(Stop::Each { pass: last, occurrence }) = self.stop else { return };
        if plain(last) != plain(pass) {
            return;
        }
        let on = match unit {
            Unit::Module => vec![None],
            _ => functions.iter().map(|one| Some(*one)).collect(),
        };
        for one in on {
            let count = self.counts.entry(one).or_default();
            *count += 1;
            if *count >= *occurrence {
                match one {
                    Some(function) => _ = self.stopped.insert(function),
                    None => self.all_stopped = true,
                }
            }
        }
    }
}

impl Watcher for Recorder<'_> {
    fn allows(&mut self, _: &str, on: &str) -> bool {
        match self.stop {
            None => true,
            Some(Stop::After(runs)) => (self.trace.runs.len() as u64) < *runs,
            Some(Stop::Each { .. }) => !self.is_stopped(on),
        }
    }

    fn before(&mut self, pass: &str, on: &str, module: &Module<'_>) {
        self.close(module);
        if let Some(Stop::After(runs)) = self.stop
            && self.trace.runs.len() as u64 >= *runs
        {
            // A required pass.
            self.bitcode.get_or_insert_with(|| module.write());
            return;
        }
        let named = REQUIRED.iter().find(|(class, _)| *class == pass);
        let pass = named.map_or(pass, |(_, name)| *name);
        if self.tell {
            eprintln!("in {pass} on {on}");
        }
        let (unit, functions) = self.part(on, module);
        self.count(pass, unit, &functions);
        let next = self.passes.len() as u32;
        let passes = &mut self.trace.passes;
        let number = *self.passes.entry(pass.to_owned()).or_insert_with_key(|pass| {
            passes.push(pass.clone());
            next
        });
        self.trace.runs.push(Run { pass: number, unit, ..Run::default() });
        self.open = Some((functions, Instant::now()));
    }
}

/// A pass's name, the same for `loop-rotate` and the class `LoopRotatePass`: LLVM 19 names passes by their classes.
fn plain(pass: &str) -> String {
    let letters = pass.strip_suffix("Pass").unwrap_or(pass).chars();
    letters.filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// Whether a function's body is `unreachable` alone.
fn is_empty(function: Function<'_>) -> bool {
    let first = function.blocks().next().and_then(|block| block.instructions().next());
    first.is_some_and(|first| first.opcode() == Opcode::Unreachable)
        && function.blocks().nth(1).is_none()
}

fn touched(function: u32, before: Option<Shape>, after: Option<Shape>) -> Touched {
    let count = |shape: Option<Shape>| shape.map(|shape| shape.instructions);
    let structure = |shape: Option<Shape>| shape.map(|shape| shape.structure);
    let changed = structure(before) != structure(after);
    Touched { function, before: count(before), after: count(after), changed }
}

#[cfg(test)]
mod tests {
    use super::*;
    use llvm::{Context, Library};

    /// What passes do: pass, unit, function, instructions before and after, changed.
    type Row = (String, &'static str, String, Option<u64>, Option<u64>, bool);

    fn recorded(text: &str, pipeline: &str, stop: Option<&str>) -> (Vec<Row>, String, String) {
        let library = Library::newest().expect("scripts/setup.sh installs LLVM");
        let context = Context::new(library);
        let mut module = context.parse("m", text.as_bytes()).expect("it is valid");
        let stop: Option<Stop> = stop.map(|stop| stop.parse().expect("it is a stop"));
        let mut recorder = Recorder::new(&module, stop.as_ref(), false);
        module.run_passes_watched(pipeline, &mut recorder).expect("they run");
        let Recorded { trace, bitcode, detail } = recorder.finish(&module);
        let row = |run: &Run, one: &Touched| {
            let pass = trace.passes[run.pass as usize].clone();
            let function = trace.functions[one.function as usize].clone();
            (pass, run.unit.name(), function, one.before, one.after, one.changed)
        };
        let rows = trace.runs.iter().flat_map(|run| run.touched.iter().map(|one| row(run, one)));
        let printed = match bitcode {
            Some(bitcode) => context.parse("m", &bitcode).expect("it was written").print(),
            None => module.print(),
        };
        (rows.collect(), printed, detail)
    }

    fn short(rows: &[Row]) -> Vec<(&str, &str, &str, bool)> {
        rows.iter()
            .map(|(pass, unit, name, .., changed)| (&**pass, *unit, &**name, *changed))
            .collect()
    }

    const CALLS: &str = "define internal i32 @once(i32 %a) { %b = mul i32 %a, 3\n ret i32 %b }
        define internal i32 @always(i32 %a) alwaysinline { %b = add i32 %a, 1\n ret i32 %b }
        define i32 @user(i32 %a) {
          %b = call i32 @always(i32 %a)
          %c = call i32 @once(i32 %b)
          ret i32 %c
        }";

    #[test]
    fn functions_that_are_inlined_and_removed_have_rows() {
        let (rows, ..) = recorded(CALLS, "always-inline,cgscc(inline),globaldce", None);
        let expected = [
            ("always-inline", "module", "once", false),
            ("always-inline", "module", "always", true),
            ("always-inline", "module", "user", true),
            ("inline", "functions", "once", false),
            ("inline", "functions", "user", true),
            ("inline", "functions", "once", true),
            ("globaldce", "module", "user", false),
        ];
        assert_eq!(short(&rows), expected);
        assert_eq!((rows[1].3, rows[1].4), (Some(2), None));
        assert_eq!((rows[4].3, rows[4].4), (Some(3), Some(3)));
    }

    #[test]
    fn a_function_is_removed_by_the_inliner_whatever_runs_behind_it() {
        let (rows, ..) = recorded(CALLS, "cgscc(inline,argpromotion,function(sroa))", None);
        let removed = rows.iter().filter(|row| row.4.is_none());
        let removed: Vec<(&str, &str)> = removed.map(|row| (&*row.0, &*row.2)).collect();
        assert_eq!(removed, [("inline", "once"), ("inline", "always")]);
        let later = rows.iter().filter(|row| row.0 != "inline" && row.5);
        assert_eq!(later.count(), 0, "{rows:?}");
    }

    #[test]
    fn callers_of_a_function_that_is_replaced_have_rows() {
        let text =
            "define internal i32 @read(ptr %p) noinline { %a = load i32, ptr %p\n ret i32 %a }
            define i32 @user(ptr %q) { %a = load i32, ptr %q
              %b = call i32 @read(ptr %q)\n %c = add i32 %a, %b\n ret i32 %c }";
        let (rows, ..) = recorded(text, "cgscc(argpromotion)", None);
        let changed: Vec<_> = short(&rows).into_iter().filter(|row| row.3).collect();
        assert_eq!(
            changed,
            [
                ("argpromotion", "functions", "read", true),
                ("argpromotion", "functions", "user", true),
            ]
        );
    }

    #[test]
    fn names_that_look_like_parts_are_functions() {
        let text = "define void @\"(a, b)\"() { ret void }
            define void @\"loop %x in function y\"() { ret void }
            define void @\"list(u8,null).append (3 nodes)\"() { ret void }";
        let (rows, ..) = recorded(text, "function(sroa)", None);
        assert_eq!(
            short(&rows),
            [
                ("sroa", "function", "(a, b)", false),
                ("sroa", "function", "loop %x in function y", false),
                ("sroa", "function", "list(u8,null).append (3 nodes)", false),
            ]
        );
    }

    #[test]
    fn many_functions_that_call_each_other_are_all_looked_at() {
        let define = |at: u32| {
            format!(
                "define i32 @f{at}(i32 %a) {{ %p = alloca i32\n %b = call i32 @f{}(i32 %a)\n ret i32 %b }}",
                (at + 1) % 12
            )
        };
        let text: String = (0..12).map(|at| define(at) + "\n").collect();
        let (rows, ..) = recorded(&text, "cgscc(function-attrs)", None);
        assert_eq!(rows.len(), 12, "{rows:?}");
    }

    const STAGES: &str = "define i32 @f(i32 %a) {
          %p = alloca i32
          store i32 %a, ptr %p
          %b = load i32, ptr %p
          %c = add i32 %b, 0
          ret i32 %c
        }
        define i32 @g(i32 %a) { %c = add i32 %a, 0\n ret i32 %c }";

    #[test]
    fn a_pipeline_stops_after_so_many_runs() {
        let pipeline = "function(sroa,instsimplify)";
        let (rows, printed, detail) = recorded(STAGES, pipeline, Some("1"));
        assert_eq!(short(&rows), [("sroa", "function", "f", true)]);
        assert!(!printed.contains("alloca") && printed.matches("add i32").count() == 2);
        assert_eq!(detail, "");
        let (.., detail) = recorded(STAGES, pipeline, Some("9"));
        assert_eq!(detail, "the pipeline ended after 4 runs of passes");
        // The required pass behind it is no part of what is kept.
        let (rows, printed, _) = recorded(CALLS, "function(sroa),always-inline", Some("3"));
        assert_eq!(rows.len(), 3);
        assert!(printed.contains("@always"), "{printed}");
    }

    #[test]
    fn each_function_stops_after_its_run_of_a_pass() {
        let pipeline = "function(sroa,instsimplify,sroa,instsimplify),globaldce";
        let (rows, printed, detail) = recorded(STAGES, pipeline, Some("sroa"));
        let expected = [("sroa", "function", "f", true), ("sroa", "function", "g", false)];
        assert_eq!(short(&rows), expected);
        assert_eq!(printed.matches("add i32").count(), 2);
        assert_eq!(detail, "");
        let (rows, _, detail) = recorded(STAGES, pipeline, Some("sroa:3"));
        assert_eq!(rows.len(), 10);
        assert_eq!(detail, "0 of 2 functions came to sroa:3");
        let (rows, ..) = recorded(STAGES, "globaldce,function(sroa)", Some("globaldce:1"));
        assert!(rows.iter().all(|row| row.0 == "globaldce"));
    }
}
