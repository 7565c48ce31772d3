//! One content file, all the way to rows.

use crate::{
    KernelRow,
    compiler::{Compiler, DOES_NOT_COMPILE, is_reaching, reaching},
    cuda, functions,
    isolate::{Isolated, Pieces},
    place::File,
    reduce::Reduced,
    repair, rewrite,
    row::{ISOLATION_CHANGED_IR, ISOLATION_FAILED, REWRITE_CHANGED_IR, RowExt as _},
    setting::alone,
    solve::{Solved, first_errors, solve},
};
use dataset::{Language, Verdict};
use rows::KernelVerdict;
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    time::{Duration, Instant},
};

/// A kernel of fewer IR instructions than this does nothing worth learning from (CGO'17, 4.1).
pub const MINIMUM_INSTRUCTIONS: u32 = 3;

/// Larger content files are not tried.
const LARGEST_BYTES: usize = 24 << 20;

/// The kernels of one file are worked on for as many times the limit of one question.
pub(crate) const QUESTIONS_OF_A_FILE: u32 = 30;

/// A content file to prepare, or the news of one that was rejected before: an item of
/// [`Prepare`](crate::Prepare).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Content hash of the text; of what was rejected before a hash of where it is from, and why.
    pub id: String,
    /// `None` where the file is no UTF-8.
    pub text: Option<String>,
    /// The source as `mine` was asked for it.
    pub source: String,
    /// Package name.
    pub package: String,
    /// Package version.
    pub version: String,
    /// Path inside the package.
    pub path: String,
    /// SPDX expression, or empty.
    pub license: String,
    /// Where that is from.
    pub license_source: String,
    /// `-D` options found in its package.
    pub defines: Vec<String>,
    /// Kernel heads counted where it was found; `None` to count here.
    pub heads: Option<u64>,
    /// What it is written in: `opencl` or empty, `cuda`, or `c` for a program whose functions are wanted.
    pub language: String,
    /// What an earlier `prepare` called its kernel, and the kernel's name before that; empty for what was not prepared.
    pub renamed: [String; 2],
    /// The verdict it was rejected with before; empty for a content file.
    pub rejected: String,
    /// What goes with that verdict.
    pub detail: String,
    /// What a `prepare` before has inferred, which stands in the text.
    pub inferred: Vec<String>,
}

impl dataset::Row for Source {
    const SCHEMA: &'static str = "source";
    const VERSION: u32 = 1;
}

impl Source {
    /// A kernel's name before any `prepare`.
    fn first_name<'a>(&'a self, name: &'a str) -> &'a str {
        let [now, before] = &self.renamed;
        if name == now && !before.is_empty() { before } else { name }
    }

    pub(crate) fn row(&self) -> KernelRow {
        KernelRow {
            content_id: self.id.clone(),
            source: self.source.clone(),
            package: self.package.clone(),
            version: self.version.clone(),
            path: self.path.clone(),
            license: self.license.clone(),
            license_source: self.license_source.clone(),
            inferred: self.inferred.clone(),
            ..KernelRow::default()
        }
    }

    /// The row of what was rejected before; `None` for a content file.
    pub(crate) fn rejected_before(&self) -> Option<KernelRow> {
        let (name, detail) = (self.rejected.clone().into(), self.detail.clone());
        let verdict = Verdict { name, detail };
        (!self.rejected.is_empty()).then(|| self.rejected("", &verdict))
    }

    /// The row of a file that is rejected for its license, unread.
    pub(crate) fn not_admitted(&self) -> KernelRow {
        self.rejected("", &Verdict::new(KernelVerdict::LicenseNotAdmitted, self.license.as_str()))
    }

    pub(crate) fn rejected(&self, original_name: &str, verdict: &Verdict) -> KernelRow {
        let mut row = self.row();
        row.original_name = original_name.to_owned();
        row.id = dataset::content_hash_of([self.id.as_bytes(), original_name.as_bytes()]);
        row.judge(verdict);
        row
    }
}

/// The rows of a content file: its kernels, or functions of a C or C++ program, and whatever was rejected. Kernels of CUDA are
/// those of `language`: OpenCL C where they are translated, CUDA where they stay as they are.
pub(crate) fn rows(compiler: &Compiler, source: &Source, language: Language) -> Vec<KernelRow> {
    let Some(text) = &source.text else {
        return vec![
            source.rejected("", &Verdict::new(KernelVerdict::NotUtf8, "the file is binary")),
        ];
    };
    if text.trim().is_empty() {
        return vec![source.rejected("", &Verdict::new(KernelVerdict::Empty, ""))];
    }
    if text.len() > LARGEST_BYTES {
        let detail = format!("{} bytes, more than {LARGEST_BYTES}", text.len());
        return vec![source.rejected("", &Verdict::new(KernelVerdict::TooLarge, detail))];
    }
    let written = source.language.parse();
    let mut rows = match written {
        Ok(Language::C | Language::Cxx) => functions::rows(compiler, source, text),
        Ok(Language::Cuda) => cuda::rows(compiler, source, text, language),
        _ => of_opencl(compiler, source, text),
    };
    let wrong = rows.iter().filter(|row| row.verdict == DOES_NOT_COMPILE);
    let names: BTreeSet<&str> = wrong.map(|row| row.original_name.as_str()).collect();
    if !names.is_empty() {
        let first = match written {
            Ok(Language::C | Language::Cxx | Language::Cuda) => BTreeMap::new(),
            _ => first_errors(compiler, text, &source.defines, &names),
        };
        place_errors(&mut rows, &File::new(&source.path, text), &first);
    }
    rows
}

/// Say where in the file its errors lie; before what repair left stands what is said first of the kernel as it was found.
fn place_errors(rows: &mut [KernelRow], file: &File<'_>, first: &BTreeMap<String, String>) {
    // One error often rejects every kernel of a file.
    let mut told = HashMap::new();
    for row in rows.iter_mut().filter(|row| row.verdict == DOES_NOT_COMPILE) {
        let said = (first.get(&row.original_name), std::mem::take(&mut row.detail));
        let told = told
            .entry(said)
            .or_insert_with_key(|(first, left)| file.told(first.map(String::as_str), left));
        row.detail.clone_from(told);
    }
}

/// The rows of a content file of OpenCL C.
pub(crate) fn of_opencl(compiler: &Compiler, source: &Source, text: &str) -> Vec<KernelRow> {
    let heads: BTreeSet<&str> = lexer::kernel_names(text).into_iter().collect();
    if let Some(rows) = reduced_rows(compiler, source, text, &heads) {
        return rows;
    }
    let solved = match solve(compiler, text, &source.defines) {
        Ok(Some(solved)) => solved,
        Ok(None) if heads.is_empty() => {
            let detail = match text.contains("__global__") {
                true => "`__global__` makes a kernel of CUDA: name the file .cu",
                false => "",
            };
            return vec![source.rejected("", &Verdict::new(KernelVerdict::NoKernel, detail))];
        }
        Ok(None) => return heads.iter().map(|head| source.rejected(head, &inactive())).collect(),
        Err(unsolved) if heads.is_empty() => return vec![source.rejected("", unsolved.of(""))],
        Err(unsolved) => {
            return heads.iter().map(|head| source.rejected(head, unsolved.of(head))).collect();
        }
    };
    let originals = Originals::of(compiler, &solved, &solved.source, &[]);
    kernels(compiler, source, &solved, &originals, &heads)
}

/// The rows of a large file by way of the part of it that its kernels can reach.
///
/// What comes of that is compared with the whole file, and taken where every kernel is proved
/// equal to the file's own: else the way there is gone again with the whole file.
fn reduced_rows(
    compiler: &Compiler,
    source: &Source,
    text: &str,
    heads: &BTreeSet<&str>,
) -> Option<Vec<KernelRow>> {
    let reduced = Reduced::of(text)?;
    let solved = solve(compiler, &reduced.text, &source.defines).ok()??;
    if !solved.whole {
        return None;
    }
    let whole = reduced.whole(text, &solved.source);
    let originals = Originals::of(compiler, &solved, &whole, &reduced.unreached);
    let rows = kernels(compiler, source, &solved, &originals, heads);
    let good = |row: &KernelRow| {
        row.is_kernel() && row.identical_ir || matches!(row.verdict.as_str(), TOO_SMALL | INACTIVE)
    };
    rows.iter().all(good).then_some(rows)
}

pub(crate) fn inactive() -> Verdict {
    Verdict::new(INACTIVE, "conditional compilation leaves it out")
}

fn kernels(
    compiler: &Compiler,
    source: &Source,
    solved: &Solved,
    originals: &Originals,
    heads: &BTreeSet<&str>,
) -> Vec<KernelRow> {
    let limit = compiler.limit().saturating_mul(QUESTIONS_OF_A_FILE);
    kernels_within(limit, compiler, source, solved, originals, heads)
}

/// The rows of a file's kernels, of which none is begun after `limit`.
fn kernels_within(
    limit: Duration,
    compiler: &Compiler,
    source: &Source,
    solved: &Solved,
    originals: &Originals,
    heads: &BTreeSet<&str>,
) -> Vec<KernelRow> {
    let pieces = Pieces::of(&solved.text, &solved.facts);
    // Assembly of file scope is no kernel's own: it is in all of them.
    let everywhere = solved.facts.hazards.iter().find(|hazard| hazard.declaration.is_none());
    let everywhere =
        everywhere.map(|hazard| Verdict::new(hazard.kind.name(), hazard.detail.as_str()));
    let begun = Instant::now();
    let mut rows = Vec::new();
    let mut seen = BTreeSet::new();
    for kernel in &solved.facts.kernels {
        let declaration = kernel.declaration;
        let name = kernel.name.as_str();
        seen.insert(name);
        if let Some(verdict) = &everywhere {
            rows.push(source.rejected(name, verdict));
            continue;
        }
        if begun.elapsed() >= limit {
            rows.push(source.rejected(name, &late(limit)));
            continue;
        }
        let isolated = pieces.isolate(declaration);
        let row = Maker { compiler, source, solved, pieces: &pieces, originals }
            .make(name, declaration, &isolated)
            .unwrap_or_else(|verdict| {
                let mut row = source.rejected(name, &verdict);
                solved.status().name().clone_into(&mut row.status);
                row
            });
        rows.push(row);
    }
    for (name, verdict) in &solved.rejected {
        if seen.insert(name) {
            rows.push(source.rejected(name, verdict));
        }
    }
    for head in heads {
        if seen.insert(head) {
            rows.push(source.rejected(head, &inactive()));
        }
    }
    rows
}

/// The verdict of kernels that are not begun, since those before them took so long.
pub(crate) fn late(limit: Duration) -> Verdict {
    Verdict::new(
        KernelVerdict::Timeout,
        format!("the kernels before it took {} ms", limit.as_millis()),
    )
}

/// The canonical IR of the content file's own kernels.
struct Originals {
    hashes: BTreeMap<String, String>,
}

impl Originals {
    /// Of the content file itself, `whole`, where clang may pass over the bodies of `unreached`
    /// functions; of its preprocessed text where the file holds more than what compiles.
    fn of(compiler: &Compiler, solved: &Solved, whole: &str, unreached: &[String]) -> Originals {
        let names: Vec<String> =
            solved.facts.kernels.iter().map(|kernel| kernel.name.clone()).collect();
        let mut hashes = BTreeMap::new();
        if solved.whole {
            // A verdict here only means that the text is compared with instead.
            hashes = compiler
                .canonical_irs(whole, solved.setting.options(), &names, unreached)
                .unwrap_or_default();
        }
        if hashes.is_empty() {
            hashes = compiler
                .canonical_irs(&solved.text, alone(solved.setting.standard), &names, &[])
                .unwrap_or_default();
        }
        Originals { hashes }
    }
}

struct Maker<'a> {
    compiler: &'a Compiler,
    source: &'a Source,
    solved: &'a Solved,
    pieces: &'a Pieces<'a>,
    originals: &'a Originals,
}

impl Maker<'_> {
    fn make(
        &self,
        name: &str,
        declaration: u32,
        isolated: &Isolated,
    ) -> Result<KernelRow, Verdict> {
        let (renamed, new_name) = rewrite::rename(self.pieces, isolated, declaration);
        // Where the file switches `half` on the kernel may need that or not.
        let asks_half = self.pieces.pragmas().any(rewrite::is_half);
        let ways = if asks_half { &[false, true][..] } else { &[false] };
        for half in ways {
            let text = self.layout(&renamed, *half)?;
            match self.row(name, &new_name, text, true) {
                Ok(row) if row.identical_ir => return Ok(row),
                Err(verdict) if verdict.name == TOO_SMALL || is_reaching(&verdict.name) => {
                    return Err(verdict);
                }
                Ok(_) | Err(_) => {}
            }
        }
        // As isolated, with its own names. Clang accepted it in its file: what it says now is ours.
        let ours = |verdict: Verdict| match verdict.name.as_ref() {
            DOES_NOT_COMPILE => Verdict::new(ISOLATION_FAILED, verdict.detail),
            _ => verdict,
        };
        let text = self.layout(&isolated.text(self.pieces.text), asks_half).map_err(ours)?;
        let mut row = self.row(name, name, text, false).map_err(ours)?;
        let (verdict, text) = match row.identical_ir {
            true => (REWRITE_CHANGED_IR, "the rewritten text"),
            false => (ISOLATION_CHANGED_IR, "the isolated text"),
        };
        row.judge(&Verdict::new(verdict, format!("{text} was not proved equal to the original")));
        Ok(row)
    }

    /// The text in the one layout; with the pragma for `half` where it may need that.
    fn layout(&self, text: &str, half: bool) -> Result<String, Verdict> {
        let mut flat = String::new();
        if half {
            flat.push_str(repair::HALF);
            flat.push('\n');
        }
        // A pragma that holds for the rest of a file holds for every kernel in it.
        for pragma in self.pieces.pragmas().filter(|pragma| !rewrite::is_half(pragma)) {
            flat.push_str(&rewrite::flatten(pragma));
        }
        flat.push_str(&rewrite::flatten(text));
        self.compiler.format(&flat)
    }

    fn row(
        &self,
        original: &str,
        name: &str,
        text: String,
        rewritten: bool,
    ) -> Result<KernelRow, Verdict> {
        let standard = self.solved.setting.standard;
        let (facts, code, hash) = self.compiler.compile_and_hash(&text, alone(standard), name)?;
        if let Some(verdict) = reaching(&facts) {
            return Err(verdict);
        }
        let size = code.functions.iter().find(|function| function.name == name);
        let instructions = size.map_or(0, |function| function.instructions);
        if instructions < MINIMUM_INSTRUCTIONS {
            return Err(Verdict::new(TOO_SMALL, format!("{instructions} instructions")));
        }
        let Some(kernel) = facts.kernels.iter().find(|kernel| kernel.name == name) else {
            return Err(Verdict::new(DOES_NOT_COMPILE, "the isolated program lost its kernel"));
        };
        let mut row = self.source.row();
        row.identical_ir = self.originals.hashes.get(original) == Some(&hash);
        row.name = name.to_owned();
        row.original_name = self.source.first_name(original).to_owned();
        row.status = self.solved.status().name().to_owned();
        row.inferred.extend(self.solved.setting.inferred.iter().cloned());
        row.standard = standard.to_owned();
        row.rewritten = rewritten;
        row.arguments = serde_json::to_string(&kernel.arguments).expect("arguments are plain data");
        row.dimensions = kernel.dimensions;
        row.required_group_size = kernel.required_group_size.map(Vec::from).unwrap_or_default();
        row.instructions = instructions;
        row.accept(text);
        Ok(row)
    }
}

/// The verdict of kernels below [`MINIMUM_INSTRUCTIONS`].
pub(crate) const TOO_SMALL: &str = KernelVerdict::TooSmall.name();

/// The verdict of kernels that conditional compilation leaves out.
const INACTIVE: &str = KernelVerdict::Inactive.name();

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::MOST_KERNELS;
    use clang::Clang;

    #[test]
    fn every_kernel_of_a_file_with_too_many_is_accounted_for() {
        let compiler = Compiler::new(Clang::start(1).unwrap_or_else(|error| panic!("{error}")));
        let all = MOST_KERNELS + 25;
        let mut text = String::from("int f(int x) { return x * 3; }\n");
        for at in 0..all {
            text.push_str(&format!(
                "kernel void k{at:03}(global int* a) {{ a[get_global_id(0)] += f({at}); }}\n"
            ));
        }
        let broken = text.replace("f(3)", "f(]");
        for (text, bad) in [(&text, 0), (&broken, 1)] {
            let source = Source { text: Some(text.clone()), ..Source::default() };
            let rows = rows(&compiler, &source, Language::OpenCl);
            let count = |verdict: &str| rows.iter().filter(|row| row.verdict == verdict).count();
            assert_eq!(rows.len(), all);
            assert_eq!(count("too-many-kernels"), 25);
            assert_eq!(count("accepted"), MOST_KERNELS - bad);
            assert!(rows.iter().filter(|row| row.is_kernel()).all(|row| row.identical_ir));
            let beyond = rows.iter().find(|row| row.original_name == format!("k{MOST_KERNELS:03}"));
            assert_eq!(beyond.expect("it has a row").verdict, "too-many-kernels");
        }
    }

    #[test]
    fn a_files_kernels_are_begun_within_thirty_times_the_limit() {
        // Nothing is begun in no time; the questions about the file as a whole have theirs.
        let compiler = Compiler::new(Clang::start(1).unwrap_or_else(|error| panic!("{error}")));
        let text = "kernel void k(global int* a) { a[get_global_id(0)] += 3; }";
        let source = Source { text: Some(text.to_owned()), ..Source::default() };
        let solved = solve(&compiler, text, &[]).expect("it compiles").expect("it has a kernel");
        let originals = Originals::of(&compiler, &solved, text, &[]);
        let heads = BTreeSet::from(["k"]);
        let rows = kernels_within(Duration::ZERO, &compiler, &source, &solved, &originals, &heads);
        assert_eq!((rows.len(), rows[0].verdict.as_str()), (1, "timeout"));
    }

    fn verdicts(text: &str) -> Vec<String> {
        let compiler = Compiler::new(Clang::start(1).unwrap_or_else(|error| panic!("{error}")));
        let source = Source { text: Some(text.to_owned()), ..Source::default() };
        rows(&compiler, &source, Language::OpenCl).into_iter().map(|row| row.verdict).collect()
    }

    #[test]
    fn a_file_of_more_than_24_mebibytes_is_too_large() {
        let text = "int x;".to_owned() + &"\n".repeat(LARGEST_BYTES - 5);
        assert_eq!(verdicts(&text), ["too-large"]);
    }

    #[test]
    fn a_file_without_a_kernel_that_cannot_be_read_has_a_row() {
        assert_eq!(verdicts("#if 1\nint x;\n"), ["does-not-compile"]);
        assert_eq!(verdicts("int x;\n"), ["no-kernel"]);
    }

    #[test]
    fn a_kernel_of_three_instructions_is_not_too_small() {
        assert_eq!(verdicts("kernel void k(global int* a) { }"), ["accepted"]);
        assert_eq!(verdicts("kernel void k(void) { }"), ["too-small"]);
    }

    #[test]
    fn a_kernel_that_was_prepared_keeps_its_first_name() {
        let name = |renamed: [&str; 2], name: &str| {
            let renamed = renamed.map(str::to_owned);
            Source { renamed, ..Source::default() }.first_name(name).to_owned()
        };
        assert_eq!(name(["A", "blur"], "A"), "blur");
        assert_eq!(name(["A", "blur"], "B"), "B");
        assert_eq!(name(["A", ""], "A"), "A");
    }

    #[test]
    fn a_large_file_is_reduced_where_every_kernel_is_proved_or_rejected_for_what_it_is() {
        let compiler = Compiler::new(Clang::start(1).unwrap_or_else(|error| panic!("{error}")));
        let lost = format!("int lost(int a) {{ {} return a; }}\n", "a += 1; ".repeat(40_000));
        let good = "kernel void good(global int* a) { a[get_global_id(0)] += 3; }\n";
        let verdicts = |text: &str| {
            let source = Source { text: Some(text.to_owned()), ..Source::default() };
            let heads = lexer::kernel_names(text).into_iter().collect();
            let rows = reduced_rows(&compiler, &source, text, &heads)?;
            Some(rows.into_iter().map(|row| row.verdict).collect::<Vec<_>>())
        };
        for (kernels, wanted) in [
            ("", Some(&["accepted"][..])),
            ("kernel void small(void) { }", Some(&["accepted", "too-small"])),
            (
                "#if 0\nkernel void off(global int* a) { }\n#endif\n",
                Some(&["accepted", "inactive"]),
            ),
            ("kernel void bad(global int* a) { a[0] = ; }", None),
            ("kernel void out(global int* a) { int x = a[0]; __asm__(\"nop\"); a[0] = x; }", None),
        ] {
            let found = verdicts(&format!("{lost}{good}{kernels}"));
            let wanted = wanted.map(|all| all.iter().map(|one| (*one).to_owned()).collect());
            assert_eq!(found, wanted, "{kernels}");
        }
        assert_eq!(verdicts(good), None, "it is small");
        // What is left out counts in the whole file alone: its kernel is not the same.
        let counts = lost.replace("return a", "return a + __COUNTER__");
        let kernel = good.replace("+= 3", "+= __COUNTER__ + 3");
        assert_eq!(verdicts(&(counts + &kernel)), None);
        // As a whole they say the same.
        let text = format!("{lost}{good}kernel void bad(global int* a) {{ a[0] = ; }}");
        let rows =
            rows(&compiler, &Source { text: Some(text), ..Source::default() }, Language::OpenCl);
        let said: Vec<&str> = rows.iter().map(|row| row.verdict.as_str()).collect();
        assert_eq!(said, ["accepted", "does-not-compile"]);
    }
}
