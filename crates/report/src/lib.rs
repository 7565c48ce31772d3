//! One HTML page of what a folder holds: a file that needs no server and loads nothing.
//!
//! [`page()`] finds the data sets of a folder and puts on one page
//!
//! - a *section* for each schema: how each data set was made, what was rejected and why, curves and tables;
//! - the *sandbox*: which programs a limit ended, and which protections held meanwhile;
//! - a *map* of each feature space: the vectors of all data sets on their first two principal components. A point shows its
//!   program; points that are selected become targets of `steer`, or a query;
//! - *programs*: texts, found by words and by features, and beside them what they were before `prepare`.
//!
//! [`diagnosis()`] is the page of one task's diagnosis. [`describe`] makes what stands beside the parts of every data set for those
//! who read it without us, [`share`] a folder to upload.
//!
//! Whatever comes out of a data set was written by others; it reaches the page through `maud`, which escapes it, or as JSON that
//! the page's script sets as text. Charts are SVG and need no script. A section is a file beside this one, named in `ALL`.
//!
//! ```
//! use dataset::{Builder, Notes};
//! use rows::KernelRow;
//! use stampmill_report::{Options, page};
//!
//! let home = tempfile::tempdir()?;
//! let builder = Builder::<KernelRow>::create(&home.path().join("kernels"), false, &"by hand")?;
//! let kernel = KernelRow {
//!     id: "1".into(), name: "A".into(), verdict: "accepted".into(),
//!     text: "__kernel void A(__global int* a) {\n  a[0] = 1;\n}\n".into(),
//!     ..KernelRow::default()
//! };
//! builder.finish([kernel], Notes::default())?;
//! let page = page(home.path(), &Options::default())?;
//! assert_eq!((page.datasets, page.programs, page.problems.len()), (1, 1, 0));
//! assert!(page.html.contains("a[0] = 1;"));
//! page.save(&home.path().join("report.html"))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod before;
mod card;
mod chart;
mod diagnosis;
mod edits;
mod error;
mod facts;
mod feature_map;
mod figures;
mod files;
mod judgements;
mod kernel_edits;
mod kernels;
mod learned;
mod other;
mod page;
mod programs;
mod runs;
mod samples;
mod sandbox;
mod steered;
mod tasks;
mod trajectory;
mod vectors;

pub use card::{describe, share};
use dataset::Dataset;
pub use diagnosis::diagnosis;
pub use error::Error;
pub use figures::{count, percent};
use maud::{Markup, html};
use programs::{Program, Programs};
use serde::Serialize;
use std::{
    collections::BTreeSet,
    fs,
    io::Write,
    path::{Path, PathBuf},
};

type Result<T> = std::result::Result<T, Error>;

/// A data set of the folder.
pub(crate) struct Set {
    /// Its path in the folder; the folder's own name where it is the data set itself.
    name: String,
    /// How a command that runs in the folder names it.
    path: String,
    /// Its place on the page.
    anchor: String,
    dataset: Dataset,
}

/// The programs of a data set, read as they are asked for.
type Stream = Box<dyn Iterator<Item = dataset::Result<Program>>>;

/// What the page says of the data sets of some schemas. To add one, write a file beside these and
/// name it in [`ALL`].
trait Section: Sync {
    /// Its heading.
    fn title(&self) -> &'static str;

    /// Whether it tells of data sets of this schema.
    fn shows(&self, schema: &str) -> bool;

    /// The programs of a data set whose texts may stand on the page, and whether they were made for
    /// it (these come first where there is room for some only).
    fn programs(&self, _set: &Set) -> dataset::Result<Option<(bool, Stream)>> {
        Ok(None)
    }

    /// What is to be said of all its data sets side by side.
    fn together(&self, _sets: &[&Set]) -> Result<Markup> {
        Ok(html! {})
    }

    /// What is to be said of one data set beyond how it was made.
    fn body(&self, set: &Set, programs: &Programs) -> Result<Markup>;
}

/// All sections, in the page's order; the last one shows what none before it does.
static ALL: [&dyn Section; 11] = [
    &files::Files,
    &kernels::Kernels,
    &vectors::Vectors,
    &samples::Samples,
    &steered::Steered,
    &learned::Learned,
    &runs::Runs,
    &edits::Edits,
    &kernel_edits::KernelEdits,
    &tasks::Tasks,
    &other::Other,
];

/// What a page may hold.
#[derive(Clone, Debug)]
pub struct Options {
    /// Texts of programs at most: those made come first, of the others an even choice.
    pub programs: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { programs: 1000 }
    }
}

/// A page, and what is on it.
#[derive(Debug, Serialize)]
pub struct Page {
    /// The page.
    #[serde(skip)]
    pub html: String,
    /// Headings, in order.
    pub sections: Vec<String>,
    /// Data sets on the page.
    pub datasets: usize,
    /// Programs whose texts are on the page.
    pub programs: usize,
    /// Different programs whose texts are not.
    pub programs_left_out: usize,
    /// Size of the page.
    pub bytes: u64,
    /// Data sets that could not be read, and why.
    pub problems: Vec<String>,
}

impl Page {
    /// Write it to a file, whole or not at all; a file that is there already is replaced.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, out: &Path) -> Result<()> {
        let failed = |source| Error::Write { path: out.to_owned(), source };
        let parent = match out.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let mut file = tempfile::NamedTempFile::new_in(parent).map_err(failed)?;
        file.write_all(self.html.as_bytes()).map_err(failed)?;
        #[cfg(unix)]
        {
            // A temporary file is for its owner alone; a page is to be shown.
            use std::os::unix::fs::PermissionsExt;
            let shown = fs::Permissions::from_mode(0o644);
            fs::set_permissions(file.path(), shown).map_err(failed)?;
        }
        file.persist(out).map_err(|error| failed(error.error))?;
        Ok(())
    }
}

/// The page of `folder`, which is a data set or holds some up to three folders deep. The same data
/// sets give the same page.
///
/// # Errors
/// When `folder` does not exist, or holds no data set that can be opened. What else cannot be read is told on the page
/// and in [`Page::problems`].
pub fn page(folder: &Path, options: &Options) -> Result<Page> {
    let (sets, mut problems) = find(folder)?;
    let sections = || {
        ALL.iter().enumerate().filter_map(|(at, section)| {
            let earlier = |set: &Set| {
                ALL[..at].iter().any(|other| other.shows(&set.dataset.manifest().schema))
            };
            let shows = |set: &&Set| section.shows(&set.dataset.manifest().schema) && !earlier(set);
            let own: Vec<&Set> = sets.iter().filter(shows).collect();
            (!own.is_empty()).then_some((*section, own))
        })
    };
    let mut programs = Programs::default();
    let mut streams: Vec<(bool, &dyn Section, &Set)> = Vec::new();
    for (section, own) in sections() {
        for set in own {
            match section.programs(set) {
                Ok(Some((made, _))) => streams.push((made, section, set)),
                Ok(None) => {}
                Err(error) => problems.push(error.to_string()),
            }
        }
    }
    streams.sort_by_key(|(made, ..)| !made);
    programs.collect(&streams, options.programs, &mut problems);
    before::find(&sets, &mut programs, &mut problems);
    let maps = feature_map::maps(&sets, &programs, &mut problems);
    let mut parts: Vec<(String, Markup)> = Vec::new();
    for (section, own) in sections() {
        let markup = html! {
            (section.together(&own).unwrap_or_else(|error| note("", &error, &mut problems)))
            @for set in own {
                article #(set.anchor) {
                    h3 { (set.name) }
                    (section.body(set, &programs)
                        .unwrap_or_else(|error| note(&set.name, &error, &mut problems)))
                    (facts::manifest(set, &sets))
                }
            }
        };
        parts.push((section.title().to_owned(), markup));
    }
    if let Some(markup) = sandbox::body(&sets) {
        parts.push(("Sandbox".to_owned(), markup));
    }
    if !maps.is_empty() {
        parts.push(("Feature maps".to_owned(), feature_map::body(&maps)));
    }
    if programs.is_any() {
        parts.push(("Programs".to_owned(), programs.body()));
    }
    let mut said = BTreeSet::new();
    problems.retain(|problem| said.insert(problem.clone()));
    let html = page::page(&named(folder), &sets, &parts, &problems, &maps, &programs)?;
    Ok(Page {
        sections: parts.into_iter().map(|(title, _)| title).collect(),
        datasets: sets.len(),
        programs: programs.list().len(),
        programs_left_out: programs.left_out(),
        bytes: html.len() as u64,
        problems,
        html,
    })
}

/// What could not be read of the data set of that name, on the page and in the list.
fn note(name: &str, error: &Error, problems: &mut Vec<String>) -> Markup {
    let mut text = error.to_string();
    if !text.contains(name) {
        text = format!("{name}: {text}");
    }
    problems.push(text.clone());
    html! { p.problem { (text) } }
}

/// Folders below the one asked for in which data sets are looked for.
const DEPTH: usize = 3;

/// The data sets in `folder`, by path, and what cannot be read.
fn find(folder: &Path) -> Result<(Vec<Set>, Vec<String>)> {
    if !folder.is_dir() {
        return Err(Error::NoFolder(folder.to_owned()));
    }
    let mut folders = Vec::new();
    walk(folder, DEPTH, &mut folders);
    if folders.is_empty() {
        return Err(Error::NoDataset(folder.to_owned()));
    }
    folders.sort();
    let (mut sets, mut problems) = (Vec::new(), Vec::new());
    for path in folders {
        let (name, inside) = match path.strip_prefix(folder) {
            Ok(inside) if !inside.as_os_str().is_empty() => {
                (inside.display().to_string(), inside.display().to_string())
            }
            _ => (named(folder), ".".to_owned()),
        };
        match Dataset::open(&path) {
            Ok(dataset) => {
                let anchor = format!("set-{}", sets.len() + 1);
                sets.push(Set { name, path: inside, anchor, dataset });
            }
            Err(error) => problems.push(error.to_string()),
        }
    }
    if sets.is_empty() {
        return Err(Error::NoneRead { folder: folder.to_owned(), problems });
    }
    Ok((sets, problems))
}

fn walk(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    if Dataset::is_at(folder) {
        found.push(folder.to_owned());
        return;
    }
    let Some(depth) = depth.checked_sub(1) else { return };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if !hidden && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            walk(&entry.path(), depth, found);
        }
    }
}

/// What a folder is called, `.` too.
fn named(folder: &Path) -> String {
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    whole
        .file_name()
        .map_or_else(|| folder.display().to_string(), |name| name.to_string_lossy().into_owned())
}
