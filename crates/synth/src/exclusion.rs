//! What must not be among the seeds of a search, nor in the training set of a model that proposes.

use crate::{Error, clock::Clock, kept::Kept, target::Target};
use dataset::{Code, Dataset, Programs, Row};
use kernels::Printer;
use leak::{Known, Match, Print};
use lexer::kernel_names;
use lm::TrainingSet;
use rayon::prelude::*;
use rows::ArchivedRow;
use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

/// The leak rule: what must not be among the seeds of a search for points of known programs.
///
/// A kernel is excluded when its own name is that of an excluded kernel, when it is a copy of one (see [`leak`];
/// both are isolated first), when its family holds such a kernel, or when all of what holds it lies
/// in the folder of an excluded file, or below an excluded folder.
#[derive(Clone, Debug, Default)]
pub struct Exclusion {
    known: Known,
    /// Folders, and whether data sets below them are excluded as well.
    folders: Vec<(PathBuf, bool)>,
    /// Started when it is first needed.
    printer: Arc<OnceLock<Printer>>,
    /// The folder where it is kept between runs what excluded files hold.
    cache: Option<PathBuf>,
    /// Ends looking at excluded files.
    clock: Option<Clock>,
    /// Whether there was no time for some of them.
    is_incomplete: bool,
}

/// Most kernels that a message names.
const NAMED: usize = 5;

/// What the leak rule calls the kernel of a target, and what was found for it: what stands behind the last colon.
pub(crate) fn kernel_of(target: &str) -> &str {
    let name = target.rsplit(':').next().unwrap_or(target);
    // Of several targets of one name all but the first are numbered.
    name.split_once(" (").map_or(name, |(name, _)| name).trim()
}

impl Exclusion {
    /// Nothing yet, with the same workers.
    #[must_use]
    pub(crate) fn beside(&self) -> Exclusion {
        Exclusion { printer: Arc::clone(&self.printer), ..Exclusion::default() }
    }

    /// Nothing yet. What excluded files hold is kept in the folder `cache`, and looked at until the time of `clock` is up.
    #[must_use]
    pub(crate) fn within(cache: Option<&Path>, clock: Option<Clock>) -> Exclusion {
        Exclusion { cache: cache.map(Path::to_owned), clock, ..Exclusion::default() }
    }

    /// Whether some of what is excluded was not looked at for want of time: what is a copy of it is not known then.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.is_incomplete
    }

    /// Exclude kernels of this name, wherever they are from. Target names are often
    /// `PATH:KERNEL`: what stands behind the last colon counts.
    pub fn add_name(&mut self, target: &str) {
        let name = kernel_of(target);
        if name.len() > 1 && name.chars().all(|c| c.is_alphanumeric() || c == '_') {
            self.known.add_name(name);
        }
    }

    /// Exclude what gives a target away: kernels of its name, all kernels of the names of its suite where it
    /// is a published one's, its program's kernels and their names.
    ///
    /// # Errors
    /// When its program cannot be looked at for want of clang or LLVM.
    pub fn add_target(&mut self, target: &Target) -> Result<(), Error> {
        self.add_name(&target.name);
        if let Some(suite) = leak::suite_of(&target.name) {
            leak::suite_kernels(suite).for_each(|name| self.known.add_name(name));
        }
        target.program.iter().try_for_each(|program| self.add_named_program(program))
    }

    /// Exclude a program's kernels and their copies, and kernels of their names.
    ///
    /// # Errors
    /// When it cannot be looked at for want of clang or LLVM.
    pub fn add_named_program(&mut self, text: &str) -> Result<(), Error> {
        kernel_names(text).into_iter().for_each(|name| self.add_name(name));
        self.add_program(text)
    }

    /// Exclude a program's kernels and their copies, whatever they are called.
    ///
    /// # Errors
    /// When it cannot be looked at for want of clang or LLVM.
    pub fn add_program(&mut self, text: &str) -> Result<(), Error> {
        for kernel in self.printer()?.file(text)? {
            self.known.add(&format!("a program:{}", kernel.name), kernel.print);
        }
        Ok(())
    }

    /// The same of several, each with what messages call it, as far as there is time.
    fn add_programs(&mut self, programs: &[(&str, &str)]) -> Result<(), Error> {
        if programs.is_empty() {
            return Ok(());
        }
        let printer = self.printer()?;
        let name = format!("{}-files.bin", dataset::content_hash(printer.versions().as_bytes()));
        let mut kept: Kept<Vec<(String, Print)>> = Kept::open(self.cache.as_deref(), &name);
        let keyed = programs.iter().map(|(path, text)| {
            let key = dataset::content_hash(text.as_bytes());
            (*path, *text, key)
        });
        let keyed: Vec<(&str, &str, String)> = keyed.collect();
        let mut seen: HashSet<&str> = HashSet::new();
        let fresh = keyed.iter().map(|(_, text, key)| (*text, key.as_str()));
        let fresh: Vec<(&str, &str)> =
            fresh.filter(|(_, key)| !kept.known.contains_key(*key) && seen.insert(*key)).collect();
        let is_up = || self.clock.as_ref().is_some_and(Clock::is_up);
        let looked_at =
            |(text, key): &(&str, &str)| -> Result<(String, Vec<(String, Print)>), Error> {
                let kernels = printer.file(text)?.into_iter();
                let kernels = kernels.map(|kernel| (kernel.name, kernel.print)).collect();
                Ok(((*key).to_owned(), kernels))
            };
        let made = fresh.par_iter().filter(|_| !is_up()).map(looked_at);
        kept.add(made.collect::<Result<Vec<_>, Error>>()?);
        for (path, _, key) in &keyed {
            let Some(kernels) = kept.known.get(key) else {
                self.is_incomplete = true;
                continue;
            };
            for (name, print) in kernels {
                self.known.add(&format!("{path}:{name}"), print.clone());
            }
        }
        Ok(())
    }

    /// Exclude the programs at `path`, with their copies, kernels of their names, and what
    /// [`Exclusion::add_folder`] excludes: `path` is a data set, a folder or file of programs, or JSON lines with `src` or `text`, or
    /// `target`, whose name is excluded.
    ///
    /// # Errors
    /// When it cannot be read, or looked at for want of clang or LLVM.
    pub fn add_path(&mut self, path: &Path) -> Result<(), Error> {
        let wrong = |reason: String| Error::Read { path: path.to_owned(), reason };
        let mut programs = Vec::new();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
            for line in text.lines().filter(|line| !line.trim().is_empty()) {
                let row: serde_json::Value =
                    serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
                let get = |key: &&str| row.get(*key)?.as_str();
                if let Some(source) = ["src", "text", "source"].iter().find_map(get) {
                    let name = ["benchmark", "path", "name", "id"].iter().find_map(get);
                    programs.push((name.unwrap_or_default().to_owned(), source.to_owned()));
                }
                if let Some(target) = get(&"target") {
                    self.add_name(target);
                }
            }
        } else if Dataset::is_at(path)
            && Dataset::open(path)?.manifest().schema == ArchivedRow::SCHEMA
        {
            // Of an archive those that stand for no point, too.
            for row in Dataset::open(path)?.rows::<ArchivedRow>()? {
                let row = row?;
                programs.push((row.path, row.text));
            }
        } else {
            for program in Programs::open(path)?.iter()? {
                let program = program?;
                if let Code::Text(text) = program.code {
                    programs.push((program.path, text));
                }
            }
        }
        for (_, text) in &programs {
            kernel_names(text).into_iter().for_each(|name| self.add_name(name));
        }
        let programs: Vec<(&str, &str)> =
            programs.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        self.add_programs(&programs)?;
        self.add_folder(path);
        Ok(())
    }

    /// Exclude all that lies in a folder; of a file, all in its folder but data sets below: they
    /// are nobody's reference data, as where all work is done in one folder.
    pub fn add_folder(&mut self, path: &Path) {
        let real = path.canonicalize().ok();
        if let Some(folder) = real.clone().filter(|folder| folder.is_dir()) {
            self.folders.push((folder, true));
            return;
        }
        // A link's own folder, and that of what it points to.
        let beside = path.parent().map(|folder| Path::new(".").join(folder));
        let folders = [
            beside.and_then(|folder| folder.canonicalize().ok()),
            real.and_then(|file| file.parent().map(Path::to_owned)),
        ];
        self.folders.extend(folders.into_iter().flatten().map(|folder| (folder, false)));
    }

    /// Whether copies of anything are excluded, so that kernels have to be looked at.
    pub(crate) fn has_prints(&self) -> bool {
        self.known.has_prints()
    }

    /// How many names and how many kernels are excluded.
    #[must_use]
    pub fn len(&self) -> (usize, usize) {
        self.known.len()
    }

    /// Whether no kernel is excluded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// What excludes each program, given with the name that it had: by that name or those in its text, or by what one
    /// of its kernels is a copy of.
    ///
    /// # Errors
    /// When they cannot be looked at for want of clang or LLVM.
    pub fn matches(&self, programs: &[(&str, &str)]) -> Result<Vec<Option<Match>>, Error> {
        let one = |(name, text): &(&str, &str)| {
            let names = kernel_names(text).into_iter().chain([*name]);
            if let Some(found) = self.named(names) {
                return Ok(Some(found));
            }
            Ok(if self.has_prints() { self.copied(&self.prints(text)?) } else { None })
        };
        programs.par_iter().map(one).collect()
    }

    /// Whether this kernel is excluded, by the name that it had or has in its text, or by its text.
    ///
    /// # Errors
    /// When it cannot be looked at for want of clang or LLVM.
    pub fn holds(&self, name: &str, text: &str) -> Result<bool, Error> {
        Ok(self.matches(&[(name, text)])?.iter().any(Option::is_some))
    }

    /// The first of these names that is excluded.
    pub(crate) fn named<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Option<Match> {
        self.known.named(names)
    }

    /// What one of a program's kernels is a copy of.
    pub(crate) fn copied(&self, prints: &[Print]) -> Option<Match> {
        prints.iter().find_map(|print| self.known.copied(print))
    }

    /// What is compared of a program's kernels.
    pub(crate) fn prints(&self, text: &str) -> Result<Vec<Print>, Error> {
        let kernels = self.printer()?.kernels(text)?;
        Ok(kernels.into_iter().map(|kernel| kernel.print).collect())
    }

    /// Versions of what prints come from.
    pub(crate) fn versions(&self) -> Result<String, Error> {
        Ok(self.printer()?.versions())
    }

    fn printer(&self) -> Result<&Printer, Error> {
        if let Some(printer) = self.printer.get() {
            return Ok(printer);
        }
        let printer = Printer::start(rayon::current_num_threads())?;
        Ok(self.printer.get_or_init(|| printer))
    }

    /// Whether a model may propose where this is excluded: `training` is what it was trained on.
    ///
    /// # Errors
    /// [`Error::UnknownTraining`] where that is not known and something is excluded, [`Error::Trained`] where it holds
    /// what is excluded.
    pub fn check_model(&self, folder: &Path, training: Option<&TrainingSet>) -> Result<(), Error> {
        if self.is_empty() {
            return Ok(());
        }
        let folder = folder.to_owned();
        let Some(training) = training else {
            return Err(Error::UnknownTraining { folder, excluded: self.known.len() });
        };
        let found = training.kernels().filter_map(|(name, text)| {
            let print = Print { text: text.clone(), ..Print::default() };
            let found = self.known.named([name]).or_else(|| self.known.copied(&print))?;
            Some(match found {
                Match::Name(name) => name,
                Match::Copy(of, _) if name.is_empty() => format!("a copy of {of}"),
                Match::Copy(of, _) => format!("{name}, a copy of {of}"),
            })
        });
        let mut found: Vec<String> = found.collect();
        if found.is_empty() {
            return Ok(());
        }
        let (count, of) = (found.len(), training.len());
        found.sort();
        found.dedup();
        found.truncate(NAMED);
        Err(Error::Trained { folder, count, of, some: found.join("; ") })
    }

    /// The folder for which everything at `path` is excluded, if there is one.
    #[must_use]
    pub fn folder_of(&self, path: &Path) -> Option<&Path> {
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let is_own = Dataset::is_at(&path);
        let holds = |(folder, deep): &&(PathBuf, bool)| {
            path.starts_with(folder) && (*deep || path == *folder || !is_own)
        };
        self.folders.iter().find(holds).map(|(folder, _)| folder.as_path())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHER: &str =
        "kernel void A(global int* a, int b) { for (int c = 0; c < b; c++) a[c] ^= c << 3; }";

    fn holds(exclusion: &Exclusion, name: &str, text: &str) -> bool {
        exclusion.holds(name, text).expect("names need no compiler")
    }

    #[test]
    fn kernels_whose_text_names_them_like_a_target_are_excluded() {
        let text = "kernel void first(int a) {}\nkernel void second(global int* a) {}";
        let mut exclusion = Exclusion::default();
        exclusion.add_name("second");
        assert!(holds(&exclusion, "file", text) && !holds(&exclusion, "file", OTHER));
    }

    #[test]
    fn names_need_no_workers_and_exclusions_beside_each_other_have_the_same() {
        let mut exclusion = Exclusion::default();
        exclusion.add_name("x:scan");
        let beside = exclusion.beside();
        assert!(!holds(&exclusion, "file", OTHER) && beside.is_empty());
        assert!(exclusion.printer.get().is_none(), "workers were started for nothing");
        exclusion.add_program(OTHER).expect("the clang worker is built with the workspace");
        assert!(beside.printer.get().is_some());
        assert!(exclusion.has_prints() && !beside.has_prints());
    }

    #[test]
    fn files_that_there_was_no_time_for_wait_for_the_next_run() {
        let home = tempfile::tempdir().expect("a folder");
        let file = home.path().join("one.cl");
        fs::write(&file, OTHER).expect("written");
        let within = |clock: Option<Clock>| {
            let mut exclusion = Exclusion::within(Some(&home.path().join("cache")), clock);
            exclusion.add_path(&file).expect("is read");
            (exclusion.is_incomplete(), exclusion.has_prints())
        };
        assert_eq!(within(Some(Clock::overdue())), (true, false));
        assert_eq!(within(None), (false, true));
        assert_eq!(within(Some(Clock::overdue())), (false, true), "it was kept");
    }

    #[test]
    fn what_is_cached_is_that_of_these_versions() {
        let versions = Exclusion::default().versions().expect("clang and LLVM are here");
        assert!(versions.contains(&format!("leak {}", leak::VERSION)), "{versions}");
    }

    #[test]
    fn kernels_named_like_a_target_are_excluded() {
        let mut exclusion = Exclusion::default();
        exclusion.add_name("suite-1.0/path/File.cl:bitonicSort");
        assert!(holds(&exclusion, "bitonicSort", OTHER));
        let mut second = Exclusion::default();
        second.add_name("suite-1.0/path/File.cl:bitonicSort (2)");
        assert!(holds(&second, "bitonicSort", OTHER));
        assert!(!holds(&exclusion, "other", OTHER));
    }

    #[test]
    fn a_target_of_a_suite_excludes_the_names_of_all_its_kernels() {
        let mut exclusion = Exclusion::default();
        exclusion.add_target(&Target::point("npb-3.3/BT/x.cl:none", &[])).expect("no program");
        assert!(holds(&exclusion, "blts", OTHER) && !holds(&exclusion, "BFS_1", OTHER));
    }

    #[test]
    fn a_model_is_refused_for_what_it_learned() {
        let folder = Path::new("model");
        let mut exclusion = Exclusion::default();
        let trained = |name: &str| TrainingSet::of([(name, OTHER)]);
        assert!(exclusion.check_model(folder, None).is_ok());
        exclusion.add_name("x:scan");
        assert!(exclusion.check_model(folder, Some(&trained("other"))).is_ok());
        let error = exclusion.check_model(folder, Some(&trained("scan"))).expect_err("a name");
        assert!(error.to_string().contains("1 of 1 kernels"), "{error}");
        let error = exclusion.check_model(folder, None).expect_err("nothing is known");
        assert!(error.to_string().contains("does not say what it was trained on"), "{error}");
    }
}
