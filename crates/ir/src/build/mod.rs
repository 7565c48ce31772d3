//! From sources to modules: each package is built by its own build system, with wrapped compilers,
//! in a sandbox, and its tree removed afterwards.
//!
//! A kind of source is one file ([`Source`]): it fetches, then runs commands through [`Site::run`].
//! What happens to a package is a row about it, of verdict `built` or why not, with its log. A
//! package is a part of the unfinished data set: a run that was stopped or killed goes on with the
//! packages that are still to do, and ends with the same rows.

mod crates;
mod debian;
mod folder;
mod recipe;
mod root;
mod site;

pub use recipe::{RECIPES, Recipe};

use crate::{
    Error, Module, Reader, Report, Store,
    extract::{finish, of_store},
    module::{BUILT, LICENCE_TEXT, MODULE, PACKAGE},
    wrap::real,
};
use dataset::{Builder, Input, Progress, Verdict};
use rayon::prelude::*;
use rows::ModuleVerdict;
use site::Site;
use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// What to build, and how.
#[derive(Debug)]
pub struct Build<'a> {
    /// `crate:NAME[@VERSION]`, `crates:FILE`, `deb:NAME`, `dir:PATH`.
    pub sources: Vec<String>,
    /// Folder of the data set; trees are built beside it.
    pub out: PathBuf,
    /// Replace what is there.
    pub force: bool,
    /// Packages built at a time.
    pub jobs: usize,
    /// Reads modules.
    pub reader: &'a Reader,
    /// The command line that stands before a compiler's to wrap it.
    pub wrapper: Vec<OsString>,
    /// Wall-clock limit of one package's build.
    pub wall: Duration,
    /// Bytes one package's tree may take.
    pub disk_bytes: u64,
    /// How a folder is built, instead of what is found in it.
    pub command: Option<String>,
    /// With crates: build examples, tests and benches too, so that generic code has instances.
    pub all_targets: bool,
    /// Units rustc may split a crate into.
    pub codegen_units: u32,
    /// Folder of the cache; see [`mine::Cache::at`].
    pub cache: Option<PathBuf>,
    /// Fetch nothing.
    pub offline: bool,
    /// Leave trees where they are.
    pub keep: bool,
    /// Set it to stop; what is done by then is kept for the next run.
    pub cancelled: &'a AtomicBool,
}

/// What came of one package.
#[derive(Debug, Default)]
struct Outcome {
    /// Pinned: the source with its version or hash.
    package_source: String,
    package: String,
    version: String,
    /// The folder that holds the package's own files, for its licences.
    source: Option<PathBuf>,
    /// The folder that paths of its modules begin from, where that is not the whole tree.
    base: Option<PathBuf>,
    verdict: Option<Verdict>,
    log: String,
}

/// A package that can be built.
trait Source: Sync + Send {
    /// As the user wrote it.
    fn text(&self) -> &str;
    /// What shapes its content besides its text: a lock file's hash.
    fn pin(&self) -> String {
        String::new()
    }
    /// Programs of this machine that it cannot do without, and how to get them.
    fn needs(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
    /// Fetch and build it on `site`. What happens to the package is in the outcome.
    ///
    /// # Errors
    /// When the machine refuses, not the package.
    fn build(&self, site: &Site<'_>) -> Result<Outcome, Error>;
}

/// Reads one form of a source; `None` where the text has another form.
type Parse = fn(&str, &Build<'_>) -> Option<Result<Vec<Box<dyn Source>>, String>>;

const FAMILY: &[Parse] = &[crates::parse, debian::parse, folder::parse];

fn sources(options: &Build<'_>) -> Result<Vec<Box<dyn Source>>, Error> {
    let mut all = Vec::new();
    for text in &options.sources {
        let unknown = |reason: String| Error::UnknownSource { text: text.clone(), reason };
        let parsed = FAMILY.iter().find_map(|parse| parse(text, options));
        all.extend(parsed.unwrap_or(Err("no such kind".to_owned())).map_err(unknown)?);
    }
    // What this machine lacks is no package's fault, and told before anything is begun.
    for source in &all {
        let missing = source.needs().into_iter().find(|(program, _)| real(&[program]).is_none());
        if let Some((program, install)) = missing {
            return Err(Error::MissingTool { text: source.text().to_owned(), program, install });
        }
    }
    Ok(all)
}

/// Build every source and make a data set of its modules.
///
/// # Errors
/// When a source is written in no known way, the data set cannot be written, or the user stops it.
pub fn build(options: &Build<'_>, progress: &dyn Progress) -> Result<Report, Error> {
    let started = Instant::now();
    let sources = sources(options)?;
    let pins: Vec<(&str, String)> = sources.iter().map(|one| (one.text(), one.pin())).collect();
    let settings = (
        &pins,
        &options.command,
        options.all_targets,
        options.codegen_units,
        options.wall.as_secs(),
        options.disk_bytes,
    );
    let builder = Builder::<Module>::create(&options.out, options.force, &settings)?;
    let work = work_folder(&options.out)?;
    let threads = rayon::ThreadPoolBuilder::new()
        .num_threads(options.jobs.max(1))
        .build()
        .map_err(|error| Error::Worker(error.to_string()))?;
    let unavailable: Mutex<BTreeMap<String, Module>> = Mutex::default();
    progress.begin("packages", sources.len() as u64);
    threads.install(|| {
        sources.par_iter().with_max_len(1).try_for_each(|source| {
            if options.cancelled.load(Ordering::Relaxed) {
                return Err(Error::Cancelled);
            }
            if !builder.has(source.text()) {
                let rows = one(source.as_ref(), options, &work, progress)?;
                match rows.iter().find(|row| row.verdict == UNAVAILABLE) {
                    // No part is kept of it: the next run tries again.
                    Some(row) => {
                        let mut all = unavailable.lock().unwrap_or_else(PoisonError::into_inner);
                        all.insert(source.text().to_owned(), row.clone());
                    }
                    None => builder.add(source.text(), rows)?,
                }
            }
            progress.advance(1);
            Ok(())
        })
    })?;
    let mut keys: Vec<String> = Vec::new();
    let unavailable = unavailable.into_inner().unwrap_or_else(PoisonError::into_inner);
    for source in &sources {
        let key = source.text().to_owned();
        if let Some(row) = unavailable.get(&key) {
            builder.add(&key, [row.clone()])?;
        }
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    root::Root::close(&work);
    if !options.keep {
        // It holds nothing but trees of builds.
        let _ = fs::remove_dir_all(&work);
    }
    let inputs =
        pins.iter().map(|(text, pin)| Input { name: (*text).to_owned(), hash: pin.clone() });
    let configuration = serde_json::json!({
        "all_targets": options.all_targets,
        "codegen_units": options.codegen_units,
        "build": options.command,
        "wall_seconds": options.wall.as_secs(),
        "disk_bytes": options.disk_bytes,
    });
    finish(builder, &keys, inputs.collect(), configuration, started)
}

pub(crate) const UNAVAILABLE: &str = ModuleVerdict::SourceUnavailable.name();

/// By it a folder of trees is known to be ours, and may be removed.
const MARK: &str = ".stampmill-work";

/// Where trees are built: on the disk of the data set.
fn work_folder(out: &Path) -> Result<PathBuf, Error> {
    let name = out.file_name().unwrap_or_default().to_string_lossy();
    let work = out.with_file_name(format!("{name}.work"));
    let mark = work.join(MARK);
    let is_ours =
        |work: &Path| work.symlink_metadata().is_ok_and(|about| about.is_dir()) && mark.is_file();
    if work.symlink_metadata().is_ok() && !is_ours(&work) {
        return Err(Error::Foreign { path: work, what: "work folder" });
    }
    fs::create_dir_all(&work).map_err(Error::file("create", &work))?;
    fs::write(&mark, "").map_err(Error::file("write", &mark))?;
    Ok(work)
}

/// All rows of one package: its modules, its licence texts, and the row about itself.
fn one(
    source: &dyn Source,
    options: &Build<'_>,
    work: &Path,
    progress: &dyn Progress,
) -> Result<Vec<Module>, Error> {
    let started = Instant::now();
    progress.message(&format!("building {}", source.text()));
    let site = Site::open(options, &work.join(folder_name(source.text())))?;
    let outcome = source.build(&site)?;
    if outcome.verdict.is_some() && !site.has_room() {
        return Err(Error::DiskFull { path: work.to_owned() });
    }
    let like = Module {
        package_source: outcome.package_source.clone(),
        package: outcome.package.clone(),
        version: outcome.version.clone(),
        ..Module::default()
    };
    let is_whole = site.is_whole();
    let mut rows = match is_whole {
        true => of_store(options.reader, &Store::open(&site.store())?, &like)?,
        false => Vec::new(),
    };
    rows.retain(|row| row.verdict != "no-bitcode" || !row.detail.is_empty());
    rows.sort_by(|a, b| (&a.path, &a.target, &a.id).cmp(&(&b.path, &b.target, &b.id)));
    rows.dedup_by(|a, b| a.id == b.id && a.path == b.path && a.target == b.target);
    let texts = match &outcome.source {
        Some(folder) if is_whole => {
            licences(folder, &outcome.base.clone().unwrap_or_else(|| site.tree()), &mut rows)?
        }
        _ => BTreeMap::new(),
    };
    let modules = rows.iter().filter(|row| row.is_accepted()).count();
    let verdict = match outcome.verdict {
        _ if !is_whole => Verdict::new(
            ModuleVerdict::MovesItsTree,
            "its build replaced the folder it was built in",
        ),
        Some(verdict) => verdict,
        None if modules == 0 => Verdict::new(
            ModuleVerdict::NoModules,
            "it was built, but called no compiler by a name that is wrapped; those called by an absolute path are not seen",
        ),
        None => Verdict::new(BUILT, format!("{modules} modules")),
    };
    progress.message(&format!(
        "{}: {verdict} in {:.0} s",
        source.text(),
        started.elapsed().as_secs_f64()
    ));
    rows.extend(texts.into_iter().map(|(id, text)| Module {
        id,
        kind: LICENCE_TEXT.to_owned(),
        verdict: LICENCE_TEXT.to_owned(),
        content: text.into_bytes(),
        ..like.clone()
    }));
    let failed = verdict.name != BUILT;
    let about = Module {
        kind: PACKAGE.to_owned(),
        path: source.text().to_owned(),
        verdict: verdict.name.into_owned(),
        detail: verdict.detail,
        log: match failed {
            true => outcome.log.replace(&*site.place(), "[site]"),
            false => String::new(),
        },
        ..like
    };
    rows.push(about);
    if !options.keep {
        site.remove();
    }
    Ok(rows)
}

/// Say under which licence each module is; the texts of the package's licences.
fn licences(
    folder: &Path,
    base: &Path,
    rows: &mut [Module],
) -> Result<BTreeMap<String, String>, Error> {
    let inside = |row: &Module| {
        let path = base.join(&row.path);
        path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned()
    };
    let paths: Vec<String> = rows.iter().map(inside).collect();
    let found = mine::licences_of(folder, &paths)?;
    let ids: Vec<String> = found.texts.keys().cloned().collect();
    for (row, licence) in rows.iter_mut().zip(found.files).filter(|(row, _)| row.kind == MODULE) {
        row.license_expression = licence.expression;
        row.license_source = licence.source;
        row.license_files.clone_from(&ids);
    }
    Ok(found.texts)
}

fn folder_name(text: &str) -> String {
    let tame: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect();
    format!("{}-{}", &tame[..tame.len().min(60)], &dataset::content_hash(text.as_bytes())[..8])
}
