//! From a content file to preprocessed text that parses: standards, shim, repair.

use crate::{
    Setting, Status,
    chunks::{self, Chunk, Uses},
    compiler::{Compiler, does_not_compile},
    repair,
    setting::{STANDARDS, alone},
};
use clang::{Diagnostic, Facts};
use dataset::Verdict;
use rows::KernelVerdict;
use std::collections::{BTreeMap, BTreeSet};

/// Rounds of leaving out what does not compile so that the other kernels of a file can.
const CUTS: usize = 4;

/// Kernels of one content file that are worked on: no file that a person wrote has more. A kernel
/// costs some milliseconds, whatever file it is in.
pub(crate) const MOST_KERNELS: usize = if cfg!(test) { 64 } else { 4096 };

/// The verdict of a file's kernels, or functions, behind the first [`MOST_KERNELS`].
const TOO_MANY_KERNELS: &str = KernelVerdict::TooManyKernels.name();

pub(crate) fn too_many() -> Verdict {
    Verdict::new(TOO_MANY_KERNELS, format!("behind the first {MOST_KERNELS} of its file"))
}

/// A content file that compiles, whole or in part.
#[derive(Debug)]
pub(crate) struct Solved {
    /// The content file, but for lines that repair left out.
    pub(crate) source: String,
    /// How it is read.
    pub(crate) setting: Setting,
    /// It preprocessed, as far as its kernels need it; parses without an error.
    pub(crate) text: String,
    /// Names in `text`.
    pub(crate) facts: Facts,
    /// Whether everything that its kernels need is in `text`: else the content file itself does
    /// not compile and cannot be what the kernels are compared with.
    pub(crate) whole: bool,
    /// Kernels that had to be left out.
    pub(crate) rejected: BTreeMap<String, Verdict>,
}

/// Why nothing of a content file compiles.
#[derive(Debug)]
pub(crate) struct Unsolved {
    /// Of the file, and of its kernels that are not named.
    verdict: Verdict,
    /// Of kernels by name.
    kernels: BTreeMap<String, Verdict>,
}

impl Unsolved {
    /// The verdict on a kernel.
    pub(crate) fn of(&self, kernel: &str) -> &Verdict {
        self.kernels.get(kernel).unwrap_or(&self.verdict)
    }
}

impl From<Verdict> for Unsolved {
    fn from(verdict: Verdict) -> Unsolved {
        Unsolved { verdict, kernels: BTreeMap::new() }
    }
}

/// One look of clang at a content file.
struct Look {
    text: String,
    facts: Facts,
    /// What the preprocessor and then the parser said.
    before: Vec<Diagnostic>,
    after: Vec<Diagnostic>,
    kernels: usize,
    /// Names of those that are too many, which `text` does not hold.
    beyond: Vec<String>,
}

impl Look {
    fn errors(&self) -> usize {
        self.before.len() + self.after.len()
    }
}

/// Begins what is said of a kernel that does not end, before what clang says of it and of what stands behind it.
pub(crate) const NEVER_CLOSED: &str = "a bracket is never closed";

/// Find a setting under which the kernels of `source` compile, or as many of them as can.
///
/// `None` where the preprocessed text holds no kernel at all.
pub(crate) fn solve(
    compiler: &Compiler,
    source: &str,
    defines: &[String],
) -> Result<Option<Solved>, Unsolved> {
    let mut source = source.to_owned();
    let (mut look, mut setting) = first_look(compiler, &source, Setting::plain(defines))?;
    let mut best: Option<(Look, Setting, String)> = None;
    for _ in 0..repair::ROUNDS {
        if look.errors() == 0 {
            break;
        }
        let kept = (setting.clone(), source.clone());
        let preprocessor = !look.before.is_empty();
        let errors = if preprocessor { &look.before } else { &look.after };
        let mut changed =
            repair::repair(&mut source, &look.text, errors, preprocessor, &mut setting);
        if preprocessor && !look.after.is_empty() {
            changed |= repair::repair(&mut source, &look.text, &look.after, false, &mut setting);
        }
        if !changed {
            break;
        }
        let (next, next_setting) = first_look(compiler, &source, setting)?;
        let last = std::mem::replace(&mut look, next);
        if best.as_ref().is_none_or(|(best, ..)| rank(&last) < rank(best)) {
            best = Some((last, kept.0, kept.1));
        }
        setting = next_setting;
    }
    if let Some((other, other_setting, other_source)) = best
        && rank(&other) < rank(&look)
    {
        (look, setting, source) = (other, other_setting, other_source);
    }
    if look.kernels == 0 {
        // A head that stands there and that clang does not read is at fault, and not left out.
        let stands = !lexer::kernel_names(&look.text).is_empty();
        if let Some(error) = look.before.first() {
            return Err(does_not_compile(error, &source).into());
        }
        let fault = look.after.first().filter(|_| stands);
        return fault.map_or(Ok(None), |error| Err(does_not_compile(error, &look.text).into()));
    }
    let beyond = std::mem::take(&mut look.beyond);
    let beyond: BTreeMap<String, Verdict> =
        beyond.into_iter().map(|name| (name, too_many())).collect();
    if look.errors() == 0 {
        let Look { text, facts, .. } = look;
        let whole = beyond.is_empty();
        return Ok(Some(Solved { source, setting, text, facts, whole, rejected: beyond }));
    }
    if let Some(error) = look.before.iter().find(|error| repair::is_lost_data(error, &source)) {
        return Err(does_not_compile(error, &source).into());
    }
    let mut solved = cut(compiler, source, setting, look)?;
    solved.rejected.extend(beyond);
    Ok(Some(solved))
}

/// What clang says first of each of the kernels `names`, or of what the kernel needs, before anything is repaired, as
/// verdicts say it; of a kernel that clang does not see, what it says first of the file.
pub(crate) fn first_errors(
    compiler: &Compiler,
    source: &str,
    defines: &[String],
    names: &BTreeSet<&str>,
) -> BTreeMap<String, String> {
    let setting = Setting::plain(defines);
    let Ok((all, before)) = compiler.preprocess(source, setting.options()) else {
        return BTreeMap::new();
    };
    if let Some(error) = before.first() {
        let said = does_not_compile(error, source).detail;
        return names.iter().map(|name| ((*name).to_owned(), said.clone())).collect();
    }
    let chunks = chunks::cut(&all);
    let name_of = |at: usize| chunks[at].kernel.as_deref().unwrap_or_default();
    let roots: Vec<usize> = kernels(&chunks).take(MOST_KERNELS).collect();
    let errors_of = |roots: Vec<usize>| errors_of(compiler, &all, &chunks, roots, names);
    let mut first = errors_of(roots.clone());
    // Others stood before these.
    let hidden = |at: &usize| names.contains(name_of(*at)) && !first.contains_key(name_of(*at));
    let hidden: Vec<usize> = roots.iter().copied().filter(hidden).collect();
    if !hidden.is_empty() {
        first.extend(errors_of(hidden));
    }
    let is_unseen = |name: &&&str| roots.iter().all(|at| name_of(*at) != **name);
    let unseen: Vec<&&str> = names.iter().filter(is_unseen).collect();
    if !unseen.is_empty()
        && let Ok((_, after)) = compiler.parse(&all, alone(setting.standard))
        && let Some(error) = after.first()
    {
        let said = does_not_compile(error, &all).detail;
        first.extend(unseen.iter().map(|name| ((**name).to_owned(), said.clone())));
    }
    first
}

/// What clang says first of those of the kernels `names` that are read with `roots`.
fn errors_of(
    compiler: &Compiler,
    all: &str,
    chunks: &[Chunk],
    roots: Vec<usize>,
    names: &BTreeSet<&str>,
) -> BTreeMap<String, String> {
    let mut first = BTreeMap::new();
    let needed = Uses::of(chunks).closure(all, chunks, roots, |_| true);
    let text = chunks::join(all, chunks, &needed);
    let Ok((_, after)) = compiler.parse(&text, alone(STANDARDS[0])) else { return first };
    let chunks = chunks::cut(&text);
    let open = chunks.iter().position(|chunk| chunk.is_open);
    let errors: Vec<(usize, &Diagnostic)> =
        after.iter().filter_map(|error| Some((chunk_of(error, &chunks, open)?, error))).collect();
    let uses = Uses::of(&chunks);
    for at in kernels(&chunks) {
        let Some(name) = chunks[at].kernel.as_deref().filter(|name| names.contains(name)) else {
            continue;
        };
        let needs = uses.closure(&text, &chunks, [at], |_| true);
        let is_its = |chunk: usize| {
            chunk == at || chunks[chunk].kernel.is_none() && needs.binary_search(&chunk).is_ok()
        };
        if let Some((_, error)) = errors.iter().find(|(chunk, _)| is_its(*chunk)) {
            let said = does_not_compile(error, &text).detail;
            first.entry(name.to_owned()).or_insert(said);
        }
    }
    first
}

/// The chunk that an error is told of, where `open` is the first that is never closed: that makes errors of all that stands
/// behind it.
fn chunk_of(error: &Diagnostic, chunks: &[Chunk], open: Option<usize>) -> Option<usize> {
    let offset = error.offset? as usize;
    let at = chunks.partition_point(|chunk| chunk.range.end <= offset);
    let at = open.map_or(at, |open| open.min(at));
    (at < chunks.len()).then_some(at)
}

/// Fewer errors are better, but not at the price of the kernels.
fn rank(look: &Look) -> (bool, usize) {
    (look.kernels == 0, look.errors())
}

/// Look with the setting's standard and, where what clang says may be the standard's fault, with
/// the others; the first of the best.
fn first_look(
    compiler: &Compiler,
    source: &str,
    setting: Setting,
) -> Result<(Look, Setting), Verdict> {
    let first = look(compiler, source, &setting)?;
    let of_names = |error: &Diagnostic| {
        error.kind.starts_with("err_undeclared")
            || error.kind.starts_with("err_unknown_typename")
            || error.kind.starts_with("err_pp_")
            || error.kind.contains("implicit_function_decl")
    };
    if first.errors() == 0 || first.before.iter().chain(&first.after).all(of_names) {
        return Ok((first, setting));
    }
    let mut best = (first, setting);
    for standard in
        STANDARDS.into_iter().filter(|standard| *standard != best.1.standard).collect::<Vec<_>>()
    {
        let other = Setting { standard, ..best.1.clone() };
        let look = look(compiler, source, &other)?;
        if rank(&look) < rank(&best.0) {
            best = (look, other);
        }
        if best.0.errors() == 0 {
            break;
        }
    }
    Ok(best)
}

fn look(compiler: &Compiler, source: &str, setting: &Setting) -> Result<Look, Verdict> {
    let (all, before) = compiler.preprocess(source, setting.options())?;
    let chunks = chunks::cut(&all);
    let mut roots: Vec<usize> = kernels(&chunks).collect();
    let beyond = roots.split_off(roots.len().min(MOST_KERNELS));
    let beyond: BTreeSet<usize> = beyond.into_iter().collect();
    let kernels = roots.len();
    let needed = Uses::of(&chunks).closure(&all, &chunks, roots, |at| !beyond.contains(&at));
    let text = chunks::join(&all, &chunks, &needed);
    let (facts, after) = match kernels {
        0 => (Facts::default(), Vec::new()),
        _ => compiler.parse(&text, alone(setting.standard))?,
    };
    let beyond = beyond.into_iter().filter_map(|at| chunks[at].kernel.clone()).collect();
    Ok(Look { text, facts, before, after, kernels, beyond })
}

fn kernels(chunks: &[Chunk]) -> impl Iterator<Item = usize> {
    (0..chunks.len()).filter(|at| chunks[*at].kernel.is_some())
}

/// Leave out the chunks that have errors and the kernels that may need them.
fn cut(
    compiler: &Compiler,
    source: String,
    setting: Setting,
    look: Look,
) -> Result<Solved, Unsolved> {
    let mut rejected = BTreeMap::new();
    let mut text = look.text;
    let mut errors = look.after;
    let mut facts = look.facts;
    // What the preprocessor still complains of did not reach the text.
    let first = look.before.into_iter().next();
    for _ in 0..CUTS {
        if errors.is_empty() {
            break;
        }
        let chunks = chunks::cut(&text);
        let mut bad: BTreeMap<usize, Verdict> = BTreeMap::new();
        let open = chunks.iter().position(|chunk| chunk.is_open);
        for error in &errors {
            let Some(at) = chunk_of(error, &chunks, open) else { continue };
            bad.entry(at).or_insert_with(|| {
                let mut verdict = does_not_compile(error, &text);
                if chunks[at].is_open {
                    verdict.detail = format!("{NEVER_CLOSED}; {}", verdict.detail);
                }
                verdict
            });
        }
        if bad.is_empty() {
            let verdict = match errors.first() {
                Some(error) => does_not_compile(error, &text),
                None => Verdict::new(KernelVerdict::DoesNotCompile, ""),
            };
            return Err(verdict.into());
        }
        let uses = Uses::of(&chunks);
        let mut roots = Vec::new();
        for at in kernels(&chunks) {
            let needs = uses.closure(&text, &chunks, [at], |_| true);
            let reason = needs.iter().find_map(|need| {
                bad.get(need).filter(|_| chunks[*need].kernel.is_none() || *need == at)
            });
            match (reason, &chunks[at].kernel) {
                (Some(reason), Some(name)) => {
                    rejected.insert(name.clone(), reason.clone());
                }
                _ => roots.push(at),
            }
        }
        if roots.is_empty() {
            text.clear();
            break;
        }
        let needed = uses.closure(&text, &chunks, roots, |at| !bad.contains_key(&at));
        text = chunks::join(&text, &chunks, &needed);
        (facts, errors) = compiler.parse(&text, alone(setting.standard))?;
    }
    if !errors.is_empty() || text.is_empty() {
        let error = rejected.values().next().cloned();
        let error = error.or_else(|| Some(does_not_compile(first.as_ref()?, &source)));
        let error = error.or_else(|| Some(does_not_compile(errors.first()?, &text)));
        let verdict = error.unwrap_or_else(|| Verdict::new(KernelVerdict::DoesNotCompile, ""));
        return Err(Unsolved { verdict, kernels: rejected });
    }
    Ok(Solved { source, setting, text, facts, whole: false, rejected })
}

impl Solved {
    /// How much help it needed.
    pub(crate) fn status(&self) -> Status {
        self.setting.status
    }
}
