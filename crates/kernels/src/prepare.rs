use crate::{
    Error, KernelRow, PackageReport, Report, Result, Status, chunks,
    compiler::Compiler,
    file::{self, Source},
    input::{Input, Met},
    rewrite::vocabulary,
    row::{DUPLICATE, REWRITE_CHANGED_IR, RowExt as _},
};
use clang::Clang;
use dataset::{
    Builder, Input as Origin, Licences, Notes, Progress, Signature, Tally, Verdict, families,
};
use lexer::tokens;
use serde::Serialize;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    path::PathBuf,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc::sync_channel,
    },
    time::{Duration, Instant},
};

/// How to prepare kernels.
#[derive(Clone, Debug)]
pub struct Options {
    /// A raw data set, any other data set with programs, a folder or a file.
    pub input: PathBuf,
    /// The data set to make.
    pub out: PathBuf,
    /// Whether to replace what is at `out`.
    pub force: bool,
    /// Content files worked on at a time, and clang workers.
    pub jobs: usize,
    /// Wall-clock limit of one question to clang; the kernel or file that exceeds it is turned away.
    pub limit: Duration,
    /// Only content files under these licences.
    pub licences: Licences,
}

impl Options {
    /// Everything in `input`, with as many jobs as the machine has cores and 20 s a question.
    #[must_use]
    pub fn new(input: impl Into<PathBuf>, out: impl Into<PathBuf>) -> Options {
        Options {
            input: input.into(),
            out: out.into(),
            force: false,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            limit: Duration::from_secs(20),
            licences: Licences::All,
        }
    }
}

/// What shapes the data set, for resuming and for its manifest.
#[derive(Serialize)]
struct Settings {
    licences: String,
    minimum_instructions: u32,
    version: &'static str,
}

/// Turn content files into kernels: judge, repair, isolate, rewrite, prove, and write the data set.
///
/// An unfinished run with equal options is gone on with. Set `cancelled` from another thread, or a
/// signal handler, to stop soon and keep what was done.
///
/// # Errors
/// When there is no clang worker, when a data set cannot be read or written, or when cancelled.
/// What is wrong with a program is a verdict in its row.
pub fn prepare(
    options: &Options,
    progress: &dyn Progress,
    cancelled: &AtomicBool,
) -> Result<Report> {
    let started = Instant::now();
    let input = Input::open(&options.input)?;
    let name = options.input.display().to_string();
    let (identity, inputs) = input.identity(&name)?;
    let settings = Settings {
        licences: format!("{:?}", options.licences).to_lowercase(),
        minimum_instructions: crate::MINIMUM_INSTRUCTIONS,
        version: env!("CARGO_PKG_VERSION"),
    };
    let builder =
        Builder::<KernelRow>::create_from(&options.out, options.force, &settings, &inputs)?;
    let compiler = Compiler::new(Clang::start(options.jobs)?.with_limit(options.limit));
    let run = Run {
        options,
        compiler: &compiler,
        builder: &builder,
        progress,
        cancelled,
        survey: Mutex::new(Survey::default()),
    };
    progress.begin("prepare", input.len());
    let mut read = run.all(&input)?;
    let survey = run.survey.into_inner().expect("no thread panics with the lock held");
    let unique = survey.files.len() as u64;
    read.became("prepared", unique);
    read.became("equal to another", survey.total.saturating_sub(unique));
    let kept = Kept::of(&builder, &survey)?;
    let mut report = kept.report(&survey);
    report.seconds = started.elapsed().as_secs_f64();
    let notes = Notes {
        inputs: vec![Origin { name, hash: identity }],
        configuration: serde_json::to_value(&settings).unwrap_or_default(),
        seed: 0,
        tools: BTreeMap::from([("clang".to_owned(), "19".to_owned())]),
        verdicts: kept.verdicts.clone(),
        summary: without_clock(&report),
        ..Notes::default()
    };
    let rows: Vec<_> = survey.files.iter().map(|file| kept.rows_of(&builder, &file.key)).collect();
    let rejected: Vec<_> = survey.rejected.iter().map(|key| builder.rows_of(key)).collect();
    let rows = rows.into_iter().flatten().chain(rejected.into_iter().flatten());
    builder.finish_counted(rows, notes, &read, kept.verdicts.values().sum())?;
    Ok(report)
}

/// The report as the manifest holds it: nothing that depends on the clock.
fn without_clock(report: &Report) -> serde_json::Value {
    let mut summary = serde_json::to_value(report).unwrap_or_default();
    if let Some(object) = summary.as_object_mut() {
        object.remove("seconds");
    }
    summary
}

struct Run<'a> {
    options: &'a Options,
    compiler: &'a Compiler,
    builder: &'a Builder<KernelRow>,
    progress: &'a dyn Progress,
    cancelled: &'a AtomicBool,
    survey: Mutex<Survey>,
}

/// What is known about the content files themselves.
#[derive(Default)]
struct Survey {
    files: Vec<FileNote>,
    /// Names of the parts with rows of what was rejected before, in their order.
    rejected: Vec<String>,
    total: u64,
    seen: BTreeSet<String>,
    vocabulary: HashSet<u64>,
    lines: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FileNote {
    package: String,
    path: String,
    key: String,
    heads: u64,
}

/// Rows of what was rejected before that make one part.
const REJECTED_ROWS: usize = 1024;

impl Run<'_> {
    /// Work on everything in `input`; what became of what was no content file is in the answer.
    fn all(&self, input: &Input) -> Result<Tally> {
        let jobs = self.options.jobs.max(1);
        // Few enough wait for a thread that memory stays bounded.
        let (give, take) = sync_channel::<Source>(jobs);
        let take = Mutex::new(take);
        let failed: Mutex<Option<Error>> = Mutex::new(None);
        let fail = |error| {
            failed.lock().expect("no thread panics with the lock held").get_or_insert(error);
        };
        let all = input.all()?;
        let mut read = Tally::of("programs and rows");
        let (mut count, mut rejected) = (0, Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..jobs {
                scope.spawn(|| {
                    loop {
                        let source =
                            take.lock().expect("no thread panics with the lock held").recv();
                        let Ok(source) = source else { return };
                        if failed.lock().expect("no thread panics with the lock held").is_some() {
                            continue;
                        }
                        if let Err(error) = self.one(&source) {
                            fail(error);
                        }
                        self.progress.advance(1);
                    }
                });
            }
            for met in all {
                count += u64::from(met.is_ok());
                match met {
                    Ok(Met::File(source)) => {
                        if give.send(source).is_err() {
                            break;
                        }
                    }
                    Ok(Met::Rejected(source, verdict)) => {
                        read.became("rejected before", 1);
                        rejected.push(source.rejected("", &verdict));
                        if rejected.len() == REJECTED_ROWS
                            && let Err(error) = self.add_rejected(&mut rejected)
                        {
                            fail(error);
                        }
                        self.progress.advance(1);
                    }
                    Ok(Met::Other(what)) => {
                        read.became(what, 1);
                        self.progress.advance(1);
                    }
                    Err(error) => fail(error),
                }
                if failed.lock().expect("no thread panics with the lock held").is_some() {
                    break;
                }
            }
            // The threads end when nothing more can come.
            drop(give);
        });
        if let Some(error) = failed.into_inner().expect("no thread panics with the lock held") {
            return Err(error);
        }
        self.add_rejected(&mut rejected)?;
        // The order of files is theirs, not that of the threads.
        self.survey.lock().expect("no thread panics with the lock held").files.sort();
        read.read(input.count().unwrap_or(count));
        Ok(read)
    }

    fn add_rejected(&self, rows: &mut Vec<KernelRow>) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let mut survey = self.survey.lock().expect("no thread panics with the lock held");
        // No file has this name: theirs are hashes.
        let key = format!("rejected {}", survey.rejected.len());
        let rows = std::mem::take(rows);
        if !self.builder.has(&key) {
            self.builder.add(&key, rows)?;
        }
        survey.rejected.push(key);
        Ok(())
    }

    fn one(&self, source: &Source) -> Result<()> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        let heads =
            source.heads.unwrap_or_else(|| source.text.as_deref().map_or(0, chunks::count_heads));
        {
            let mut survey = self.survey.lock().expect("no thread panics with the lock held");
            survey.total += 1;
            if !survey.seen.insert(source.id.clone()) {
                return Ok(());
            }
        }
        if !self.builder.has(&source.id) {
            let rows = match self.options.licences.admit(&source.provenance.licence) {
                true => file::rows(self.compiler, source),
                false => vec![source.not_admitted()],
            };
            self.compiler.works()?;
            self.builder.add(&source.id, rows)?;
        }
        let mut gave_kernel = false;
        for row in self.builder.rows_of(&source.id) {
            gave_kernel |= row?.is_kernel();
        }
        let mut words = HashSet::new();
        let text = source.text.as_deref().filter(|_| gave_kernel).unwrap_or_default();
        vocabulary(text, &mut words);
        let mut survey = self.survey.lock().expect("no thread panics with the lock held");
        survey.vocabulary.extend(words);
        survey.lines += text.lines().count() as u64;
        survey.files.push(FileNote {
            package: source.provenance.package.clone(),
            path: source.provenance.path.clone(),
            key: source.id.clone(),
            heads,
        });
        Ok(())
    }
}

/// What is known about all kernels once every file is done.
struct Kept {
    /// For each kernel's id, the file that holds it first, and how often it is held.
    first: HashMap<String, (String, u32)>,
    families: HashMap<String, String>,
    verdicts: BTreeMap<String, u64>,
    report: Report,
}

impl Kept {
    fn of(builder: &Builder<KernelRow>, survey: &Survey) -> Result<Kept> {
        let mut kept = Kept {
            first: HashMap::new(),
            families: HashMap::new(),
            verdicts: BTreeMap::new(),
            report: Report::default(),
        };
        let mut unique: Vec<(String, usize, Signature)> = Vec::new();
        let mut packages: BTreeMap<&str, PackageReport> = BTreeMap::new();
        let mut names: Vec<&str> = Vec::new();
        let mut words = HashSet::new();
        for file in &survey.files {
            let package = packages.entry(&file.package).or_default();
            package.files += 1;
            package.textual_kernels += file.heads;
            if names.last() != Some(&file.package.as_str()) {
                names.push(&file.package);
            }
            let mut status = None;
            for row in builder.rows_of(&file.key) {
                let mut row = row?;
                if row.is_kernel() {
                    status = Some(row.status.clone());
                    let (_, count) =
                        kept.first.entry(row.id.clone()).or_insert_with(|| (file.key.clone(), 0));
                    *count += 1;
                    if *count > 1 {
                        row.verdict = DUPLICATE.to_owned();
                    } else {
                        let signature = Signature::of(tokens(&row.text).map(|token| token.text));
                        unique.push((row.id.clone(), names.len() - 1, signature));
                        kept.count_unique(&row, package, &mut words);
                    }
                    if row.verdict != REWRITE_CHANGED_IR {
                        package.kernels += 1;
                        kept.report.kernels += 1;
                    }
                }
                if !matches!(row.verdict.as_str(), Verdict::ACCEPTED | DUPLICATE) {
                    *package.rejected.entry(row.verdict.clone()).or_default() += 1;
                    *kept.report.rejected.entry(row.verdict.clone()).or_default() += 1;
                }
                *kept.verdicts.entry(row.verdict).or_default() += 1;
            }
            match status.as_deref() {
                Some(name) if name == Status::Plain.name() => kept.report.compiled_plain += 1,
                Some(name) if name == Status::Shim.name() => kept.report.compiled_shim += 1,
                Some(_) => kept.report.compiled_repaired += 1,
                None => {}
            }
        }
        for row in survey.rejected.iter().flat_map(|key| builder.rows_of(key)) {
            let row = row?;
            kept.report.rejected_before += 1;
            *kept.report.rejected.entry(row.verdict.clone()).or_default() += 1;
            *kept.verdicts.entry(row.verdict).or_default() += 1;
        }
        kept.report.vocabulary_after = words.len() as u64;
        kept.find_families(&unique, &names, &mut packages);
        kept.report.packages = packages
            .into_iter()
            .map(|(name, report)| PackageReport { package: name.to_owned(), ..report })
            .collect();
        Ok(kept)
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
        self.report.rewritten_identical_ir += u64::from(row.rewritten && row.identical_ir);
        self.report.lines_after += u64::from(row.lines);
        *self.report.licences.entry(row.licence.clone()).or_default() += 1;
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

    fn report(&self, survey: &Survey) -> Report {
        Report {
            files: survey.total,
            unique_files: survey.seen.len() as u64,
            vocabulary_before: survey.vocabulary.len() as u64,
            lines_before: survey.lines,
            textual_kernels: survey.files.iter().map(|file| file.heads).sum(),
            ..self.report.clone()
        }
    }

    /// The final rows of one content file.
    fn rows_of<'a>(
        &'a self,
        builder: &Builder<KernelRow>,
        key: &'a str,
    ) -> impl Iterator<Item = dataset::Result<KernelRow>> + use<'a> {
        let mut met = BTreeSet::new();
        builder.rows_of(key).map(move |row| {
            let mut row = row?;
            if let Some((first, count)) = self.first.get(&row.id).filter(|_| row.is_kernel()) {
                row.family = self.families.get(&row.id).cloned().unwrap_or_default();
                if first == key && met.insert(row.id.clone()) {
                    row.duplicates = count - 1;
                } else {
                    row.judge(&Verdict::new(DUPLICATE, row.id.clone()));
                    row.text.clear();
                    row.arguments.clear();
                }
            }
            Ok(row)
        })
    }
}
