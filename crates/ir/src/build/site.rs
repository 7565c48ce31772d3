use super::BuildOptions;
use crate::{Error, wrap};
use dataset::Verdict;
use rows::ModuleVerdict;
use sandbox::{Cover, Death, Finished, Memory, Profile, Program};
use std::{
    cell::Cell,
    ffi::OsString,
    fs,
    io::Write,
    path::{Path, PathBuf},
    time::Duration,
};

/// Bytes of a build's output that are kept.
const LOG: usize = 64 << 10;

/// How long a look at one file may take.
const PROBE: Duration = Duration::from_secs(60);

/// Where one package is built: a tree, and beside it what the build needs and leaves.
pub(super) struct Site<'a> {
    pub(super) options: &'a BuildOptions<'a>,
    folder: PathBuf,
    /// Covers of the compilers of this machine.
    covers: Vec<Cover>,
    /// Whether compilers that the build called by their paths were stood in for.
    is_covered: Cell<bool>,
}

impl<'a> Site<'a> {
    /// A fresh site in `folder`; what an unfinished build left there goes.
    pub(super) fn open(options: &'a BuildOptions<'a>, folder: &Path) -> Result<Site<'a>, Error> {
        if folder.exists() {
            fs::remove_dir_all(folder).map_err(Error::file("remove", folder))?;
        }
        fs::create_dir_all(folder).map_err(Error::file("create", folder))?;
        let folder = folder.canonicalize().map_err(Error::file("find", folder))?;
        let mut site = Site { options, folder, covers: Vec::new(), is_covered: Cell::new(true) };
        for part in ["tree", "store", "home", "tmp", "cargo", "bin"] {
            let path = site.folder.join(part);
            fs::create_dir(&path).map_err(Error::file("create", &path))?;
        }
        site.covers = wrap::stand_ins_of_build(&site.folder, &site.folder, &options.wrapper, None)?;
        Ok(site)
    }

    /// A fresh folder of the site.
    pub(super) fn fresh(&self, name: &str) -> Result<PathBuf, Error> {
        let folder = self.folder.join(name);
        fs::create_dir(&folder).map_err(Error::file("create", &folder))?;
        Ok(folder)
    }

    /// Whether compilers that the build called by their paths were stood in for.
    pub(super) fn is_covered(&self) -> bool {
        self.is_covered.get()
    }

    /// The profile with these covers, where this machine can show them: not every kernel lets us. That is asked for by looking
    /// at one.
    pub(super) fn with_covers(&self, profile: Profile, covers: Vec<Cover>) -> Profile {
        let name = covers.first().and_then(|cover| {
            let mut files = fs::read_dir(&cover.files).ok()?.flatten();
            // The others are places for what is kept.
            let first = files.find(|file| file.metadata().is_ok_and(|about| about.len() > 0))?;
            Some(cover.folder.join(first.file_name()))
        });
        let Some(name) = name else { return profile };
        let covered = Profile { covers, ..profile.clone() };
        let program = Program {
            command: vec!["/bin/cat".into(), name.into()],
            wall: PROBE,
            ..Program::default()
        };
        let found = sandbox::run(&program, &covered);
        let holds = found.is_ok_and(|found| found.stdout.starts_with(wrap::STAND_IN.as_bytes()));
        self.is_covered.set(holds);
        if holds { covered } else { profile }
    }

    /// The folder of all sites of this run.
    pub(super) fn work(&self) -> PathBuf {
        self.folder.parent().map(PathBuf::from).unwrap_or_default()
    }

    /// Its own folder, as messages of the build name it.
    pub(super) fn place(&self) -> std::borrow::Cow<'_, str> {
        self.folder.to_string_lossy()
    }

    /// The package's own tree.
    pub(super) fn tree(&self) -> PathBuf {
        self.folder.join("tree")
    }

    pub(super) fn store(&self) -> PathBuf {
        self.folder.join("store")
    }

    pub(super) fn bin(&self) -> PathBuf {
        self.folder.join("bin")
    }

    pub(super) fn cargo_home(&self) -> PathBuf {
        self.folder.join("cargo")
    }

    /// Whether anything can be written here still.
    pub(super) fn has_room(&self) -> bool {
        // Under a name that the build cannot know: what it left there would be written through.
        let written = tempfile::NamedTempFile::new_in(&self.folder)
            .and_then(|mut probe| probe.write_all(&[1; 64 << 10]));
        !written.is_err_and(|error| error.kind() == std::io::ErrorKind::StorageFull)
    }

    /// Whether the build left its folders where they were. One that put a link in the place of its tree
    /// or store would have us read, and write, where the link leads.
    pub(super) fn is_whole(&self) -> bool {
        let is_folder = |path: PathBuf| path.symlink_metadata().is_ok_and(|about| about.is_dir());
        is_folder(self.tree()) && is_folder(self.store())
    }

    pub(super) fn remove(self) {
        // It is made anew when it is needed again.
        let _ = fs::remove_dir_all(&self.folder);
    }

    /// The environment of a build: little of ours, so that it is the same anywhere.
    pub(super) fn environment(&self) -> Vec<(OsString, OsString)> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut folders = vec![self.bin()];
        folders.extend(std::env::split_paths(&path));
        let path = std::env::join_paths(folders).unwrap_or(path);
        let mut all: Vec<(OsString, OsString)> = vec![
            ("PATH".into(), path),
            ("HOME".into(), self.folder.join("home").into()),
            ("TMPDIR".into(), self.folder.join("tmp").into()),
            ("LC_ALL".into(), "C.UTF-8".into()),
            ("SOURCE_DATE_EPOCH".into(), "1700000000".into()),
            (wrap::STORE.into(), self.store().into()),
            (wrap::TREE.into(), self.tree().into()),
            (wrap::CODEGEN_UNITS.into(), self.options.codegen_units.to_string().into()),
            ("CARGO_HOME".into(), self.cargo_home().into()),
            ("CARGO_NET_OFFLINE".into(), "true".into()),
            ("CARGO_INCREMENTAL".into(), "0".into()),
            ("CARGO_TERM_COLOR".into(), "never".into()),
            ("RUSTC_WRAPPER".into(), self.bin().join("rustc-wrapper").into()),
            // rustup's folder is not to be written, and there is no network.
            ("RUSTUP_AUTO_INSTALL".into(), "0".into()),
        ];
        all.extend(swift_environment(&self.bin(), &self.bin()));
        all.extend(sandbox::rustup().map(|folder| ("RUSTUP_HOME".into(), folder.into())));
        let toolchain = std::env::var_os("RUSTUP_TOOLCHAIN");
        all.extend(toolchain.map(|name| ("RUSTUP_TOOLCHAIN".into(), name)));
        all
    }

    /// Run a command of the package's build, without the network.
    ///
    /// # Errors
    /// When it cannot be started for reasons of ours.
    pub(super) fn run(
        &self,
        command: &[&str],
        directory: &Path,
        environment: &[(&str, OsString)],
    ) -> Result<Finished, Error> {
        let mut all = self.environment();
        all.extend(environment.iter().map(|(name, value)| ((*name).into(), value.clone())));
        let profile = self.with_covers(self.profile(), self.covers.clone());
        self.run_as(command, directory, all, profile)
    }

    pub(super) fn profile(&self) -> Profile {
        let mut profile = Profile {
            memory: Memory::Resident(12 << 30),
            processor: self.options.wall * 4,
            tree: Some((self.folder.clone(), self.options.disk_bytes)),
            ..Profile::build(self.folder.clone(), false)
        };
        // The stand-ins for compilers are links to it.
        let wrapper = self.options.wrapper.first().map(PathBuf::from);
        profile.readable.extend(wrapper);
        profile
    }

    pub(super) fn run_as(
        &self,
        command: &[&str],
        directory: &Path,
        environment: Vec<(OsString, OsString)>,
        profile: Profile,
    ) -> Result<Finished, Error> {
        let program = Program {
            command: command.iter().map(OsString::from).collect(),
            environment,
            directory: Some(directory.to_owned()),
            wall: self.options.wall,
            ..Program::default()
        };
        let finished = sandbox::run(&program, &profile).map_err(|death| Error::Start {
            program: command.first().copied().unwrap_or_default().to_owned(),
            reason: death.to_string(),
        })?;
        // Ctrl-C reaches the build too: what it broke off is no verdict on the package.
        match self.options.cancel.is_cancelled() {
            true => Err(Error::Cancelled),
            false => Ok(finished),
        }
    }

    /// Run a client that fetches: with the network, what of our environment configures it, and `caches`
    /// to write to.
    pub(super) fn fetch(
        &self,
        command: &[&str],
        directory: &Path,
        caches: &[PathBuf],
        environment: &[(&str, OsString)],
    ) -> Result<Finished, Error> {
        let mut all = sandbox::fetch_environment();
        all.extend(environment.iter().map(|(name, value)| ((*name).into(), value.clone())));
        all.push(("TMPDIR".into(), self.folder.join("tmp").into()));
        let mut profile = Profile { network: true, ..self.profile() };
        profile.writable.extend(caches.iter().cloned());
        self.run_as(command, directory, all, profile)
    }
}

/// By what Swift's package manager calls the stand-in for its compiler, where there is one in the folder `bin`, which the build calls
/// `inside`; packages of the Swift project take what lies beside them for what they depend on.
pub(super) fn swift_environment(bin: &Path, inside: &Path) -> Vec<(OsString, OsString)> {
    match bin.join("swiftc").is_file() {
        true => vec![
            ("SWIFT_EXEC".into(), inside.join("swiftc").into()),
            ("SWIFTCI_USE_LOCAL_DEPS".into(), "1".into()),
        ],
        false => Vec::new(),
    }
}

/// What a failed command says of the package; `None` for one that succeeded.
pub(super) fn verdict(finished: &Finished, options: &BuildOptions<'_>) -> Option<Verdict> {
    match (&finished.death, finished.status) {
        (Some(Death::Timeout(_)), _) => Some(Verdict::new(
            ModuleVerdict::Timeout,
            format!("not built within {} s", options.wall.as_secs()),
        )),
        // A build may say as much as it likes below that limit, but for its log.
        (Some(Death::Output), _) => Some(Verdict::new(
            ModuleVerdict::DiskLimit,
            format!("its tree or its log is larger than {} MiB", options.disk_bytes >> 20),
        )),
        (Some(death), _) => Some(Verdict::new(death.name(), death.to_string())),
        (None, Some(0)) => None,
        (None, _) => Some(Verdict::new(ModuleVerdict::DoesNotBuild, reason(&log(finished)))),
    }
}

/// The end of what a command said.
pub(super) fn log(finished: &Finished) -> String {
    let mut said = String::from_utf8_lossy(&finished.stdout).into_owned();
    said.push_str(&String::from_utf8_lossy(&finished.stderr));
    let from = said.len().saturating_sub(LOG);
    let from = (from..said.len()).find(|at| said.is_char_boundary(*at)).unwrap_or(0);
    said[from..].to_owned()
}

/// The line that says best what went wrong.
fn reason(said: &str) -> String {
    let lines = || said.lines().map(str::trim).filter(|line| !line.is_empty());
    let telling = |line: &&str| {
        let lower = line.to_ascii_lowercase();
        lower.starts_with("error")
            || lower.starts_with("==> error")
            || lower.contains(": error")
            || lower.contains("fatal error")
            || lower.starts_with("e:")
    };
    // What a build script met comes before cargo's word that it failed.
    let refused = ["Operation not permitted", "Network is unreachable", "resolve host"];
    let cause = lines().find(|line| refused.iter().any(|words| line.contains(words)));
    // cargo tells the cause last.
    let told = said.rsplit_once("Caused by:").and_then(|(_, rest)| {
        rest.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with("failed to"))
    });
    let found = cause.or(told).or_else(|| lines().find(telling)).or_else(|| lines().next_back());
    found.unwrap_or("failed without a word").chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::reason;

    #[test]
    fn the_telling_line_is_the_reason() {
        assert_eq!(
            reason("  Compiling x\nerror[E0425]: cannot find\nmore\n"),
            "error[E0425]: cannot find"
        );
        assert_eq!(reason("a.c:1:2: error: no\nmake: *** [x] Error 1"), "a.c:1:2: error: no");
        assert_eq!(
            reason(
                "error: x\n\nCaused by:\n  failed to load\n\nCaused by:\n  no package\n  at y\n"
            ),
            "no package"
        );
        assert_eq!(reason("all well\nnothing\n\n"), "nothing");
        assert_eq!(reason(""), "failed without a word");
    }
}
