use crate::{
    Error, KernelRow, PackageReport, Report, Result, Source, Status, chunks,
    compiler::Compiler,
    file,
    input::Input,
    rewrite::vocabulary,
    row::{DUPLICATE, ISOLATION_CHANGED_IR, ISOLATION_FAILED, REWRITE_CHANGED_IR, RowExt as _},
};
use clang::Clang;
use dataset::{
    Input as Origin, Licenses, Signature, Verdict, families,
    stage::{Facts, Finish, Items, Selected, Stage, Unit, Units, Worked},
};
use lexer::tokens;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

/// How to prepare kernels.
#[derive(Clone, Debug)]
pub struct Options {
    /// A raw data set, any other data set with programs, a folder or a file.
    pub input: PathBuf,
    /// Wall-clock limit of one question to clang; the kernel or file that exceeds it is rejected.
    pub limit: Duration,
    /// Only content files under these licenses.
    pub licenses: Licenses,
}

impl Options {
    /// Everything in `input`, with 20 s a question.
    #[must_use]
    pub fn new(input: impl Into<PathBuf>) -> Options {
        let limit = Duration::from_secs(20);
        Options { input: input.into(), limit, licenses: Licenses::All }
    }
}

/// The stage that turns content files into kernels: judge, repair, isolate, rewrite, prove.
#[derive(Debug)]
pub struct Prepare {
    input: Input,
    inputs: Vec<Origin>,
    whole: Origin,
    licenses: Licenses,
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
        let (whole, licenses) = (Origin { name, hash }, options.licenses);
        Ok(Prepare { input, inputs, whole, licenses, clang: Arc::new(clang) })
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
        serde_json::json!({
            "licenses": format!("{:?}", self.licenses).to_lowercase(),
            "minimum_instructions": crate::MINIMUM_INSTRUCTIONS,
            "version": env!("CARGO_PKG_VERSION"),
        })
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
                None if self.licenses.admit(&source.license) => file::rows(compiler, source),
                None => vec![source.not_admitted()],
            };
            compiler.works()?;
            Ok(Worked::Rows(rows))
        };
        items.iter().map(rows).collect()
    }

    fn is_fault(error: &Error) -> bool {
        matches!(error, Error::Clang(clang::Error::CannotStart { death, .. }) if death.is_ours())
    }

    fn observe(&self, source: &Source, rows: Option<&[KernelRow]>, survey: &mut Survey) {
        let Some(rows) = rows.filter(|_| source.rejected.is_empty()) else { return };
        let text = source.text.as_deref().unwrap_or_default();
        let heads = source.heads.unwrap_or_else(|| chunks::count_heads(text));
        if rows.iter().any(KernelRow::is_kernel) {
            let mut words = HashSet::new();
            vocabulary(text, &mut words);
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
        let Found { first, families, verdicts, report } = found;
        let mut written = HashSet::new();
        let select = move |unit: &Unit, mut row: KernelRow| {
            if let Some((key, count)) = first.get(&row.id).filter(|_| row.is_kernel()) {
                row.family = families.get(&row.id).cloned().unwrap_or_default();
                if *key == unit.key && written.insert(row.id.clone()) {
                    row.duplicates = count - 1;
                } else {
                    row.judge(&Verdict::new(DUPLICATE, row.id.clone()));
                    row.text.clear();
                    row.arguments.clear();
                }
            }
            Selected::Row(row)
        };
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

/// What is known about all kernels once every file is done.
#[derive(Default)]
struct Found {
    /// For each kernel's id, the file that holds it first, and how often it is held.
    first: HashMap<String, (String, u32)>,
    families: HashMap<String, String>,
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
        let mut found = Found::default();
        let mut unique: Vec<(String, usize, Signature)> = Vec::new();
        let mut packages: BTreeMap<&str, PackageReport> = BTreeMap::new();
        let mut names: Vec<&str> = Vec::new();
        let mut words = HashSet::new();
        for (file, index) in survey.files.iter().zip(files) {
            found.report.files += units.all()[*index].items;
            let package = packages.entry(&file.package).or_default();
            package.files += 1;
            package.textual_kernels += file.heads;
            if names.last() != Some(&file.package.as_str()) {
                names.push(&file.package);
            }
            let mut status = None;
            for row in units.rows_of(*index) {
                let mut row = row?;
                if row.is_kernel() || row.verdict == ISOLATION_FAILED {
                    let same_ir = found.report.same_ir.entry(row.status.clone()).or_default();
                    same_ir.kernels += 1;
                    same_ir.proved += u64::from(row.rewritten && row.identical_ir);
                }
                if row.is_kernel() {
                    status = Some(row.status.clone());
                    let (_, count) =
                        found.first.entry(row.id.clone()).or_insert_with(|| (file.key.clone(), 0));
                    *count += 1;
                    if *count > 1 {
                        row.verdict = DUPLICATE.to_owned();
                    } else {
                        let signature = Signature::of(tokens(&row.text).map(|token| token.text));
                        unique.push((row.id.clone(), names.len() - 1, signature));
                        found.count_unique(&row, package, &mut words);
                    }
                    if !matches!(row.verdict.as_str(), REWRITE_CHANGED_IR | ISOLATION_CHANGED_IR) {
                        package.kernels += 1;
                        found.report.kernels += 1;
                    }
                }
                if !matches!(row.verdict.as_str(), Verdict::ACCEPTED | DUPLICATE) {
                    *package.rejected.entry(row.verdict.clone()).or_default() += 1;
                    *found.report.rejected.entry(row.verdict.clone()).or_default() += 1;
                }
                *found.verdicts.entry(row.verdict).or_default() += 1;
            }
            match status.as_deref() {
                Some(name) if name == Status::Plain.name() => found.report.compiled_plain += 1,
                Some(name) if name == Status::Shim.name() => found.report.compiled_shim += 1,
                Some(_) => found.report.compiled_repaired += 1,
                None => {}
            }
        }
        for row in rejected.iter().flat_map(|index| units.rows_of(*index)) {
            let row = row?;
            found.report.rejected_before += 1;
            *found.report.rejected.entry(row.verdict.clone()).or_default() += 1;
            *found.verdicts.entry(row.verdict).or_default() += 1;
        }
        found.report.unique_files = files.len() as u64;
        found.report.vocabulary_before = survey.vocabulary.len() as u64;
        found.report.lines_before = survey.lines;
        found.report.textual_kernels = survey.files.iter().map(|file| file.heads).sum();
        found.report.vocabulary_after = words.len() as u64;
        found.find_families(&unique, &names, &mut packages);
        found.report.packages = packages
            .into_iter()
            .map(|(name, report)| PackageReport { package: name.to_owned(), ..report })
            .collect();
        Ok(found)
    }

    fn count_unique(
        &mut self,
        row: &KernelRow,
        package: &mut PackageReport,
        words: &mut HashSet<u64>,
    ) {
        if row.verdict != Verdict::ACCEPTED {
            return;
        }
        self.report.unique_kernels += 1;
        package.unique += 1;
        self.report.lines_after += u64::from(row.lines);
        *self.report.licenses.entry(row.license.clone()).or_default() += 1;
        vocabulary(&row.text, words);
    }

    fn find_families(
        &mut self,
        unique: &[(String, usize, Signature)],
        names: &[&str],
        packages: &mut BTreeMap<&str, PackageReport>,
    ) {
        let signatures: Vec<Signature> =
            unique.iter().map(|(.., signature)| signature.clone()).collect();
        let family = families(&signatures);
        let mut heads: BTreeSet<usize> = BTreeSet::new();
        let mut by_package: BTreeSet<(usize, usize)> = BTreeSet::new();
        for (at, (id, package, _)) in unique.iter().enumerate() {
            heads.insert(family[at]);
            by_package.insert((*package, family[at]));
            self.families.insert(id.clone(), unique[family[at]].0.clone());
        }
        self.report.families = heads.len() as u64;
        for (package, _) in by_package {
            if let Some(report) = packages.get_mut(names[package]) {
                report.families += 1;
            }
        }
    }
}
