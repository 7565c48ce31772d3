//! From sources to modules: each package is built by its own build system, with wrapped compilers,
//! in a sandbox, and its tree removed afterwards.
//!
//! A kind of source is one file ([`Source`]): it fetches, then runs commands through [`Site::run`].
//! What happens to a package is a row about it, of verdict `built` or why not, with its log.

mod checkout;
mod crates;
mod debian;
mod folder;
mod recipe;
mod root;
mod site;
mod sources;

pub use recipe::{RECIPES, Recipe};

use crate::{
    Error, Module, Reader, Report, Store,
    extract::{of_store, tools},
    module::{BUILT, LICENSE_TEXT, MODULE, PACKAGE},
};
use dataset::{
    Input, Progress, Row, Verdict,
    stage::{Cancel, Finish, Items, Stage, Units, Worked},
};
use rows::ModuleVerdict;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use site::Site;
use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// What to build, and how.
pub struct BuildOptions<'a> {
    /// As [`Error::UnknownSource`] lists them; `@LIST.toml` names a list of others.
    pub sources: Vec<String>,
    /// Folder of the data set: trees are built beside it, and it is no part of a package that holds it.
    pub out: PathBuf,
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
    /// The table of Debian's popularity contest that `debian:popcon:N` is read from.
    pub popcon: Option<PathBuf>,
    /// Fetch nothing.
    pub offline: bool,
    /// Leave trees where they are.
    pub keep: bool,
    /// Hears which packages are built.
    pub progress: &'a dyn Progress,
    /// What a build comes to once it is raised is no verdict.
    pub cancel: Cancel,
}

/// What came of one package.
#[derive(Debug, Default)]
struct Outcome {
    /// Pinned: the source with its version or hash.
    package_source: String,
    package: String,
    version: String,
    /// The folder that holds the package's own files, for its licenses.
    source: Option<PathBuf>,
    /// The folder that paths of its modules begin from, where that is not the whole tree.
    base: Option<PathBuf>,
    /// Whether what is built are packages of their own, as their build system names them.
    has_packages: bool,
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

/// A package, as columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageItem {
    /// The source, as the user wrote it.
    pub text: String,
    /// What shapes its content besides: a lock file's hash, a folder's.
    pub pin: String,
}

impl Row for PackageItem {
    const SCHEMA: &'static str = "package-item";
    const VERSION: u32 = 1;
}

/// Builds packages and keeps their modules.
pub struct Build<'a> {
    options: BuildOptions<'a>,
    sources: Vec<(PackageItem, Box<dyn Source>)>,
    /// Where trees are built, once anything was.
    work: Mutex<Option<PathBuf>>,
}

impl<'a> Build<'a> {
    /// Read what is to be built.
    ///
    /// # Errors
    /// When a source is written in no known way, or this machine lacks a program it needs.
    pub fn new(options: BuildOptions<'a>) -> Result<Build<'a>, Error> {
        let with_pin = |source: Box<dyn Source>| {
            (PackageItem { text: source.text().to_owned(), pin: source.pin() }, source)
        };
        let sources = sources::all(&options)?.into_iter().map(with_pin).collect();
        Ok(Build { options, sources, work: Mutex::default() })
    }

    fn built(&self, work: &Path, item: &PackageItem) -> Result<Worked<Module>, Error> {
        let Some((_, source)) = self.sources.iter().find(|(known, _)| known == item) else {
            return Err(Error::unknown_source(&item.text, "it is another than was asked for"));
        };
        let rows = one(source.as_ref(), &self.options, work)?;
        Ok(match rows.iter().find(|row| row.verdict == UNAVAILABLE) {
            Some(row) => Worked::ForNow(vec![row.clone()]),
            None => Worked::Rows(rows),
        })
    }
}

impl Drop for Build<'_> {
    fn drop(&mut self) {
        let work = self.work.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Some(work) = work else { return };
        root::Root::close(work);
        if !self.options.keep {
            // It holds nothing but trees of builds.
            let _ = fs::remove_dir_all(work);
        }
    }
}

impl Stage for Build<'_> {
    const NAME: &'static str = "ir build";
    const UNITS: &'static str = "packages";
    type Item = PackageItem;
    type Row = Module;
    type Facts = ();
    type Summary = Report;
    type Worker = PathBuf;
    type Error = Error;

    fn settings(&self) -> Value {
        serde_json::json!({
            "all_targets": self.options.all_targets,
            "codegen_units": self.options.codegen_units,
            "build": self.options.command,
            "wall_seconds": self.options.wall.as_secs(),
            "disk_bytes": self.options.disk_bytes,
        })
    }

    fn inputs(&self) -> Result<Vec<Input>, Error> {
        let input = |item: &PackageItem| Input { name: item.text.clone(), hash: item.pin.clone() };
        Ok(self.sources.iter().map(|(item, _)| input(item)).collect())
    }

    fn items(&self) -> Result<Items<'_, Self>, Error> {
        let all = Box::new(self.sources.iter().map(|(item, _)| Ok(item.clone())));
        Ok(Items { total: Some(self.sources.len() as u64), all })
    }

    fn key(&self, item: &PackageItem) -> String {
        item.text.clone()
    }

    /// The folder of trees, made when the first package is to be built.
    fn worker(&self) -> Result<PathBuf, Error> {
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        match &*work {
            Some(work) => Ok(work.clone()),
            None => Ok(work.insert(work_folder(&self.options.out)?).clone()),
        }
    }

    fn work(
        &self,
        work: &mut PathBuf,
        items: &[PackageItem],
    ) -> Result<Vec<Worked<Module>>, Error> {
        items.iter().map(|item| self.built(work, item)).collect()
    }

    fn is_fault(error: &Error) -> bool {
        error.is_fault()
    }

    fn tools(&self) -> BTreeMap<String, String> {
        tools()
    }

    fn finish<'a>(
        _: &'a Value,
        (): (),
        units: &'a Units<Module>,
    ) -> Result<Finish<'a, Module, Report>, Error> {
        Report::finish(units)
    }
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

/// All rows of one package: its modules, its license texts, and the row about itself.
fn one(source: &dyn Source, options: &BuildOptions<'_>, work: &Path) -> Result<Vec<Module>, Error> {
    let (started, progress) = (Instant::now(), options.progress);
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
    let named = match outcome.has_packages {
        true => Module { package: String::new(), version: String::new(), ..like.clone() },
        false => like.clone(),
    };
    let mut rows = match is_whole {
        true => of_store(options.reader, &Store::open(&site.store())?, &named)?,
        false => Vec::new(),
    };
    for row in rows.iter_mut().filter(|row| row.package.is_empty()) {
        row.package.clone_from(&like.package);
        row.version.clone_from(&like.version);
    }
    rows.retain(|row| row.verdict != "no-bitcode" || !row.detail.is_empty());
    rows.sort_by(|a, b| (&a.path, &a.target, &a.id).cmp(&(&b.path, &b.target, &b.id)));
    rows.dedup_by(|a, b| a.id == b.id && a.path == b.path && a.target == b.target);
    // A link that the build put in its place would lead to files of others.
    let is_own = |folder: &PathBuf| folder.canonicalize().is_ok_and(|found| found == *folder);
    let texts = match &outcome.source {
        Some(folder) if is_whole && is_own(folder) => {
            licenses(folder, &outcome.base.clone().unwrap_or_else(|| site.tree()), &mut rows)?
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
        None if modules == 0 => {
            Verdict::new(ModuleVerdict::NoModules, no_modules(&site, rows.len()))
        }
        None => Verdict::new(BUILT, format!("{modules} modules")),
    };
    progress.message(&format!(
        "{}: {verdict} in {:.0} s",
        source.text(),
        started.elapsed().as_secs_f64()
    ));
    rows.extend(texts.into_iter().map(|(id, text)| Module {
        id,
        kind: LICENSE_TEXT.to_owned(),
        verdict: LICENSE_TEXT.to_owned(),
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

/// `rows`: of commands that were wrapped.
fn no_modules(site: &Site<'_>, rows: usize) -> String {
    match (rows, site.is_covered()) {
        (0, true) => {
            "it was built, but called no compiler by a name or path that is wrapped".to_owned()
        }
        (0, false) => {
            "it was built, but called no compiler by a name that is wrapped; those called by an absolute path are not seen, \
             since this kernel shows no overlay in a namespace"
                .to_owned()
        }
        (rows, _) => {
            format!("it was built, but of {rows} files its compilers left no module that can be read")
        }
    }
}

/// Say under which license each module is; the texts of the package's licenses.
fn licenses(
    folder: &Path,
    base: &Path,
    rows: &mut [Module],
) -> Result<BTreeMap<String, String>, Error> {
    let inside = |row: &Module| {
        let path = base.join(&row.path);
        path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned()
    };
    let paths: Vec<String> = rows.iter().map(inside).collect();
    let found = mine::licenses_of(folder, &paths)?;
    let ids: Vec<String> = found.texts.keys().cloned().collect();
    for (row, license) in rows.iter_mut().zip(found.files).filter(|(row, _)| row.kind == MODULE) {
        row.license_expression = license.expression;
        row.license_source = license.source;
        row.license_files.clone_from(&ids);
    }
    Ok(found.texts)
}

fn folder_name(text: &str) -> String {
    let tame: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect();
    format!("{}-{}", &tame[..tame.len().min(60)], &dataset::content_hash(text.as_bytes())[..8])
}
