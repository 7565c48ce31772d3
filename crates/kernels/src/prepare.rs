use crate::{
    Error, KernelRow, PackageReport, Report, Result, Source, Status, chunks,
    compiler::{Compiler, is_reaching},
    file::{self, TOO_SMALL},
    input::Input,
    rewrite::vocabulary,
    row::{DUPLICATE, RowExt as _},
};
use clang::Clang;
use dataset::{
    Input as Origin, Language, Licenses, Signature, Signatures, Verdict,
    stage::{ByRows, Facts, Fates, Finish, Items, Selected, Share, Stage, Unit, Units, Worked},
};
use lexer::tokens;
use rows::KernelKey;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

/// The limit of one question to clang unless another is given.
const LIMIT: Duration = Duration::from_secs(20);

/// How to prepare kernels.
#[derive(Clone, Debug)]
pub struct Options {
    /// A raw data set, any other data set with programs, a folder or a file.
    pub input: PathBuf,
    /// Wall-clock limit of one question to clang; the kernel or file that exceeds it is rejected.
    pub limit: Duration,
    /// Only content files under these licenses.
    pub licenses: Licenses,
    /// What kernels of CUDA become: OpenCL C, where that is proved equal, or CUDA as it is.
    pub language: Language,
    /// Macros that all content files are compiled with, `NAME` or `NAME=VALUE`; before what is known of them.
    pub defines: Vec<String>,
}

impl Options {
    /// Everything in `input`, with 20 s a question.
    #[must_use]
    pub fn new(input: impl Into<PathBuf>) -> Options {
        let (licenses, language) = (Licenses::All, Language::OpenCl);
        Options { input: input.into(), limit: LIMIT, licenses, language, defines: Vec::new() }
    }
}

/// The stage that turns content files into kernels: judge, repair, isolate, rewrite, prove.
#[derive(Debug)]
pub struct Prepare {
    input: Input,
    inputs: Vec<Origin>,
    whole: Origin,
    licenses: Licenses,
    language: Language,
    limit: Duration,
    defines: Vec<String>,
    clang: Arc<Clang>,
}

impl Prepare {
    /// # Errors
    /// When there is no clang worker, or the input cannot be read.
    pub fn new(options: &Options) -> Result<Prepare> {
        let input = Input::open(&options.input)?;
        let name = options.input.display().to_string();
        let (hash, inputs) = input.identity(&name)?;
        // A thread asks one question at a time, so there are as many workers as threads.
        let clang = Clang::start(usize::MAX)?.with_limit(options.limit);
        let (whole, clang) = (Origin { name, hash }, Arc::new(clang));
        let Options { licenses, language, limit, .. } = *options;
        let defines = options.defines.clone();
        Ok(Prepare { input, inputs, whole, licenses, language, limit, defines, clang })
    }

    /// The source with the macros that were asked for, which stand for those of the same name that are known of it.
    fn defined(&self, source: &Source) -> Source {
        let name = |define: &str| -> String {
            let define = define.strip_prefix("-D").unwrap_or(define);
            define.split('=').next().unwrap_or_default().to_owned()
        };
        let is_free = |known: &&String| self.defines.iter().all(|own| name(own) != name(known));
        let own = self.defines.iter().map(|own| format!("-D{own}"));
        let defines = own.chain(source.defines.iter().filter(is_free).cloned()).collect();
        Source { defines, ..source.clone() }
    }
}

impl Stage for Prepare {
    const NAME: &'static str = "prepare";
    const UNITS: &'static str = "files";
    type Item = Source;
    type Row = KernelRow;
    type Facts = Survey;
    type Summary = Report;
    type Worker = Compiler;
    type Error = Error;

    fn settings(&self) -> Value {
        let mut settings = serde_json::json!({
            "licenses": format!("{:?}", self.licenses).to_lowercase(),
            "minimum_instructions": crate::MINIMUM_INSTRUCTIONS,
            "version": env!("CARGO_PKG_VERSION"),
        });
        if self.language != Language::OpenCl {
            settings["language"] = self.language.name().into();
        }
        if self.limit != LIMIT {
            settings["limit_seconds"] = self.limit.as_secs_f64().into();
        }
        if !self.defines.is_empty() {
            settings["defines"] = self.defines.clone().into();
        }
        settings
    }

    fn inputs(&self) -> Result<Vec<Origin>> {
        Ok(vec![self.whole.clone()])
    }

    fn inputs_in_detail(&self) -> Result<Vec<Origin>> {
        Ok(self.inputs.clone())
    }

    fn left_out(&self) -> Result<BTreeMap<String, u64>> {
        self.input.left_out()
    }

    fn items(&self) -> Result<Items<'_, Prepare>> {
        Ok(Items { total: Some(self.input.len()), all: self.input.all()? })
    }

    fn items_by_rows(&self, share: Share) -> Result<Option<ByRows<'_, Prepare>>> {
        Ok(self.input.by_rows(share)?.map(|(own, all)| ByRows { own, all }))
    }

    fn key(&self, source: &Source) -> String {
        source.id.clone()
    }

    fn worker(&self) -> Result<Compiler> {
        Ok(Compiler::new(Arc::clone(&self.clang)))
    }

    fn work(&self, compiler: &mut Compiler, items: &[Source]) -> Result<Vec<Worked<KernelRow>>> {
        let rows = |source: &Source| {
            let rows = match source.rejected_before() {
                Some(row) => vec![row],
                None if !self.licenses.admit(&source.license) => vec![source.not_admitted()],
                None if self.defines.is_empty() => file::rows(compiler, source, self.language),
                None => file::rows(compiler, &self.defined(source), self.language),
            };
            compiler.works()?;
            Ok(Worked::Rows(rows))
        };
        items.iter().map(rows).collect()
    }

    fn is_fault(error: &Error) -> bool {
        matches!(error, Error::Clang(error) if error.is_fault())
    }

    fn observe(&self, source: &Source, rows: Option<&[KernelRow]>, survey: &mut Survey) {
        let Some(rows) = rows.filter(|_| source.rejected.is_empty()) else { return };
        let text = source.text.as_deref().unwrap_or_default();
        let heads = source.heads.unwrap_or_else(|| match source.language.parse() {
            Ok(Language::Cuda) => lexer::cuda_kernel_names(text).len() as u64,
            _ => chunks::count_heads(text),
        });
        if rows.iter().any(KernelRow::is_kernel) {
            let text = lexer::without_markers(text);
            let mut words = HashSet::new();
            vocabulary(&text, &mut words);
            survey.vocabulary.extend(words);
            survey.lines += text.lines().count() as u64;
        }
        survey.files.push(FileNote {
            package: source.package.clone(),
            path: source.path.clone(),
            key: source.id.clone(),
            heads,
        });
    }

    fn tools(&self) -> BTreeMap<String, String> {
        let version = self.clang.version().unwrap_or_else(|| "unknown".to_owned());
        BTreeMap::from([("clang".to_owned(), version)])
    }

    fn finish<'a>(
        _: &'a Value,
        mut survey: Survey,
        units: &'a Units<KernelRow>,
    ) -> Result<Finish<'a, KernelRow, Report>> {
        // The order of files is theirs, not that of the input or the threads.
        survey.files.sort();
        let places: HashMap<&str, usize> = units
            .all()
            .iter()
            .enumerate()
            .map(|(index, unit)| (unit.key.as_str(), index))
            .collect();
        let files: Vec<usize> = survey.files.iter().map(|file| places[file.key.as_str()]).collect();
        let are_files: HashSet<usize> = files.iter().copied().collect();
        let rejected: Vec<usize> =
            (0..units.all().len()).filter(|index| !are_files.contains(index)).collect();
        let found = Found::of(&survey, units, &files, &rejected)?;
        let Found { mut fates, firsts, families, verdicts, report } = found;
        // Identities of families that were met: the first member of each.
        let mut heads: HashMap<u32, String> = HashMap::new();
        // Where the kernels are that others are copies of.
        let mut copied: HashMap<String, String> = HashMap::new();
        let mut select = move |mut row: KernelRow| {
            if row.verdict != Verdict::ACCEPTED {
                return Ok(row);
            }
            let fate = fates.next(&row.id)?;
            let place = firsts.partition_point(|place| *place < fate.first);
            let head = families[place];
            if head as usize == place && fate.is_first() {
                heads.insert(head, row.id.clone());
            }
            row.family = heads.get(&head).cloned().unwrap_or_default();
            if fate.is_first() {
                row.duplicates = u32::try_from(fate.copies - 1).unwrap_or(u32::MAX);
                if row.duplicates > 0 {
                    let place = format!("of {} in {}", row.original_name, row.path);
                    copied.insert(row.id.clone(), place);
                }
            } else {
                let place = copied.get(&row.id).cloned().unwrap_or_default();
                row.judge(&Verdict::new(DUPLICATE, place));
                row.text.clear();
                row.arguments.clear();
            }
            Ok(row)
        };
        let select = move |_: &Unit, row| select(row).map_or_else(Selected::Failed, Selected::Row);
        let order = Some(files.into_iter().chain(rejected).collect());
        let select = Box::new(select);
        Ok(Finish { select, order, verdicts, summary: report, inputs: None })
    }
}

/// What is known about the content files themselves.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Survey {
    files: Vec<FileNote>,
    /// Hashes of the words of files that gave a kernel.
    vocabulary: BTreeSet<u64>,
    /// Lines of these.
    lines: u64,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct FileNote {
    package: String,
    path: String,
    key: String,
    heads: u64,
}

impl Facts for Survey {
    fn absorb(&mut self, other: Survey) {
        self.files.extend(other.files);
        self.vocabulary.extend(other.vocabulary);
        self.lines += other.lines;
    }
}

/// What is known about all kernels once every file is done. Those that are accepted are known by their numbers, in the
/// order of the data set: there may be very many. What lacks its proof is compared with nothing: a text that one file
/// proves is no repeat of the same text that another does not.
struct Found {
    /// Which are equal to others.
    fates: Fates,
    /// Those that are the first of their text.
    firsts: Vec<u64>,
    /// Of each of these its family's first member, by its index in `firsts`.
    families: Vec<u32>,
    verdicts: BTreeMap<String, u64>,
    report: Report,
}

impl Found {
    /// Look at the rows of content files, in their final order, and of what was rejected before.
    fn of(
        survey: &Survey,
        units: &Units<KernelRow>,
        files: &[usize],
        rejected: &[usize],
    ) -> Result<Found> {
        let mut report = Report::default();
        let mut verdicts: BTreeMap<String, u64> = BTreeMap::new();
        let keys = || {
            units.views_in::<KernelKey>(files.to_vec()).filter_map(|row| match row {
                Ok((_, row)) => (row.verdict == Verdict::ACCEPTED).then_some(Ok(row.id)),
                Err(error) => Some(Err(error)),
            })
        };
        let many = files.iter().map(|index| units.all()[*index].rows).sum();
        let mut met = units.firsts(many, keys)?;
        let (mut kernels, mut firsts, mut package_of) = (0, Vec::new(), Vec::new());
        let mut signatures = Signatures::default();
        let mut packages: BTreeMap<&str, PackageReport> = BTreeMap::new();
        let mut names: Vec<&str> = Vec::new();
        let mut words = HashSet::new();
        let mut rows = units.rows_in(files.to_vec());
        for (file, index) in survey.files.iter().zip(files) {
            let unit = &units.all()[*index];
            report.files += unit.items;
            let package = packages.entry(&file.package).or_default();
            package.files += 1;
            package.textual_kernels += file.heads;
            if names.last() != Some(&file.package.as_str()) {
                names.push(&file.package);
            }
            let mut status = None;
            for row in rows.by_ref().take(usize::try_from(unit.rows).unwrap_or(usize::MAX)) {
                let (_, mut row) = row?;
                if is_tried(&row) {
                    let same_ir = report.same_ir.entry(row.status.clone()).or_default();
                    same_ir.kernels += 1;
                    same_ir.proved += u64::from(row.rewritten && row.identical_ir);
                }
                if row.is_kernel() {
                    status = Some(row.status.clone());
                }
                if row.verdict == Verdict::ACCEPTED {
                    if met.meet(&row.id)? {
                        firsts.push(kernels);
                        package_of.push(names.len() as u32 - 1);
                        let signature = Signature::of(tokens(&row.text).map(|token| token.text));
                        signatures.push(signature).map_err(dataset::Error::Signatures)?;
                        count_unique(&mut report, &row, package, &mut words);
                    } else {
                        row.verdict = DUPLICATE.to_owned();
                    }
                    kernels += 1;
                    package.kernels += 1;
                    report.kernels += 1;
                }
                if !matches!(row.verdict.as_str(), Verdict::ACCEPTED | DUPLICATE) {
                    *package.rejected.entry(row.verdict.clone()).or_default() += 1;
                    *report.rejected.entry(row.verdict.clone()).or_default() += 1;
                }
                *verdicts.entry(row.verdict).or_default() += 1;
            }
            match status.as_deref() {
                Some(name) if name == Status::Plain.name() => report.compiled_plain += 1,
                Some(name) if name == Status::Shim.name() => report.compiled_shim += 1,
                Some(_) => report.compiled_repaired += 1,
                None => {}
            }
        }
        for row in units.rows_in(rejected.to_vec()) {
            let (_, row) = row?;
            report.rejected_before += 1;
            *report.rejected.entry(row.verdict.clone()).or_default() += 1;
            *verdicts.entry(row.verdict).or_default() += 1;
        }
        report.unique_files = files.len() as u64;
        report.vocabulary_before = survey.vocabulary.len() as u64;
        report.lines_before = survey.lines;
        report.textual_kernels = survey.files.iter().map(|file| file.heads).sum();
        report.vocabulary_after = words.len() as u64;
        let families = units.families(&signatures)?.into_iter();
        let families: Vec<u32> = families.map(|first| first as u32).collect();
        let mut by_package: Vec<(u32, u32)> =
            package_of.into_iter().zip(families.iter().copied()).collect();
        by_package.sort_unstable();
        by_package.dedup();
        for (package, _) in by_package {
            if let Some(report) = packages.get_mut(names[package as usize]) {
                report.families += 1;
            }
        }
        report.families =
            families.iter().zip(0..).filter(|(first, at)| *first == at).count() as u64;
        report.packages = packages
            .into_iter()
            .map(|(name, report)| PackageReport { package: name.to_owned(), ..report })
            .collect();
        Ok(Found { fates: met.met()?, firsts, families, verdicts, report })
    }
}

/// Whether a kernel that clang accepts in its own file had to be proved: all but those that stay in CUDA, those that are
/// too small and those
/// that reach out of the program, which are rejected for what they are.
fn is_tried(row: &KernelRow) -> bool {
    !row.status.is_empty()
        && row.standard != Language::Cuda.name()
        && row.verdict != TOO_SMALL
        && !is_reaching(&row.verdict)
}

fn count_unique(
    report: &mut Report,
    row: &KernelRow,
    package: &mut PackageReport,
    words: &mut HashSet<u64>,
) {
    report.unique_kernels += 1;
    package.unique += 1;
    report.lines_after += u64::from(row.lines);
    *report.licenses.entry(row.license.clone()).or_default() += 1;
    vocabulary(&row.text, words);
}

#[cfg(test)]
mod tests {
    use super::*;
    use sandbox::Death;

    #[test]
    fn everything_is_prepared_with_twenty_seconds_a_question_unless_said_otherwise() {
        let options = Options::new("somewhere");
        assert_eq!((options.limit.as_secs(), options.input.to_str()), (20, Some("somewhere")));
        assert!(options.licenses.admit("anything"));
    }

    #[test]
    fn a_limit_that_is_not_the_usual_one_stands_in_the_configuration() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a.cl"), "kernel void a() {}").expect("is written");
        let configuration = |limit| {
            let options = Options { limit, ..Options::new(folder.path()) };
            Prepare::new(&options).unwrap_or_else(|error| panic!("{error}")).settings()
        };
        assert_eq!(configuration(LIMIT).get("limit_seconds"), None);
        assert_eq!(configuration(Duration::from_secs(2))["limit_seconds"], 2.0);
    }

    #[test]
    fn a_machine_that_fails_the_compiler_is_a_fault_and_a_timeout_is_none() {
        let with =
            |death| Error::Clang(clang::Error::CannotStart { worker: "clang".into(), death });
        assert!(Prepare::is_fault(&with(Death::Machine("no room".into()))));
        assert!(!Prepare::is_fault(&with(Death::Timeout(7))));
    }

    #[test]
    fn what_was_not_compiled_or_is_rejected_for_what_it_is_was_not_tried() {
        let tried = |status: &str, verdict: &str| {
            is_tried(&KernelRow {
                status: status.into(),
                verdict: verdict.into(),
                ..KernelRow::default()
            })
        };
        assert!(tried("plain", "accepted") && tried("repaired", "isolation-failed"));
        assert!(!tried("", "accepted"));
        assert!(!tried("plain", TOO_SMALL));
        assert!(!tried("plain", "inline-assembly"));
    }
}
