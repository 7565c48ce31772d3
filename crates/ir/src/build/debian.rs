//! `deb:NAME[@SUITE][#FOLDER]`, and `debian:popcon:N` for many: a Debian source package, built by its own `debian/rules` in a root of the suite that is thrown
//! away; or one folder of its upstream source, built by what the folder holds, with the folders beside it at hand.

use super::{
    BuildOptions, Outcome, Source, UNAVAILABLE,
    folder::copy,
    recipe,
    root::Root,
    site::{Site, log, verdict},
};
use crate::{Error, wrap};
use dataset::Verdict;
use rows::ModuleVerdict;
use std::{ffi::OsString, fs, io, os::unix::fs::symlink, path::PathBuf};

/// Folder of the tree that the package's own files are in.
const SOURCE: &str = "source";

#[derive(Debug)]
struct Debian {
    text: String,
    name: String,
    suite: Option<String>,
    /// A folder of its source that is built in its place.
    folder: Option<String>,
}

pub(super) fn parse(
    text: &str,
    options: &BuildOptions<'_>,
) -> Option<Result<Vec<Box<dyn Source>>, Error>> {
    if let Some(rest) = text.strip_prefix("debian:") {
        return Some(popular(text, rest, options));
    }
    let rest = text.strip_prefix("deb:")?;
    Some(one(text, rest).map(|one| vec![Box::new(one) as Box<dyn Source>]))
}

/// The source packages that are installed most.
fn popular(
    text: &str,
    rest: &str,
    options: &BuildOptions<'_>,
) -> Result<Vec<Box<dyn Source>>, Error> {
    let unknown = |reason: String| Error::unknown_source(text, reason);
    let count = rest.strip_prefix("popcon:").ok_or_else(|| {
        unknown("one package is deb:NAME, those that are installed most debian:popcon:N".to_owned())
    })?;
    let count = super::sources::count(count, "packages").map_err(unknown)?;
    let Some(table) = &options.popcon else {
        return Err(unknown(
            "it needs the table of Debian's popularity contest over source packages, by installations; name its file with \
             --popcon FILE"
                .to_owned(),
        ));
    };
    let package =
        |name: String| Ok(Box::new(one(&format!("deb:{name}"), &name)?) as Box<dyn Source>);
    mine::popular_debian(table, count)?.into_iter().map(package).collect()
}

fn one(text: &str, rest: &str) -> Result<Debian, Error> {
    let (package, folder) = match rest.split_once('#') {
        Some((package, folder)) => (package, Some(folder.to_owned())),
        None => (rest, None),
    };
    let (name, suite) = match package.split_once('@') {
        Some((name, suite)) => (name, Some(suite.to_owned())),
        None => (package, None),
    };
    let plain = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_alphanumeric())
            && word.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    };
    if !plain(name) || ![&suite, &folder].into_iter().all(|one| one.as_deref().is_none_or(plain)) {
        return Err(Error::unknown_source(text, format!("`{rest}` is no package")));
    }
    Ok(Debian { text: text.to_owned(), name: name.to_owned(), suite, folder })
}

impl Debian {
    /// What it is called: the folder that is built, or the source package.
    fn label(&self) -> &str {
        self.folder.as_deref().unwrap_or(&self.name)
    }

    /// Put the source package into the tree and install what it needs; the script that builds it. Inside: why it cannot be built,
    /// and what was said of it.
    fn whole(
        &self,
        root: &Root,
        fetched: &mine::DebianSource,
        place: &Place,
    ) -> Result<Result<String, (Verdict, String)>, Error> {
        let mut dsc = String::new();
        for name in &fetched.files {
            let copy = place.outside.join("tree").join(name);
            fs::copy(fetched.folder.join(name), &copy).map_err(Error::file("write", &copy))?;
            if name.ends_with(".dsc") {
                dsc.clone_from(name);
            }
        }
        let dsc_inside = place.inside.join("tree").join(&dsc);
        if let Err(missing) = root.install_needs(&dsc_inside.to_string_lossy())? {
            return Ok(Err(needs_unavailable(missing)));
        }
        root.install_flang()?;
        // Compiled, not packed: what packs (dwz, say) knows gcc's debug information alone.
        Ok(Ok(format!(
            "dpkg-source --no-check -x {dsc} {SOURCE} && cd {SOURCE} && \
             dpkg-buildpackage -B -d -rfakeroot --no-sign --target=build-arch"
        )))
    }

    /// The same with one folder of the source. The others lie beside it, where packages look for what they depend on.
    fn part(
        &self,
        folder: &str,
        root: &Root,
        fetched: &mine::DebianSource,
        place: &Place,
    ) -> Result<Result<String, (Verdict, String)>, Error> {
        let unavailable =
            |reason: String| Ok(Err((Verdict::new(UNAVAILABLE, reason), String::new())));
        let all = match root.unpacked(fetched, &self.name)? {
            Ok(all) => all,
            Err(reason) => return unavailable(reason),
        };
        let from = root.folder.join(all.strip_prefix("/").unwrap_or(&all));
        // A link may lead out of the source.
        if !fs::symlink_metadata(from.join(folder)).is_ok_and(|found| found.is_dir()) {
            return unavailable(format!("its source has no folder {folder}"));
        }
        let Some(recipe) = recipe::of(&from.join(folder)) else {
            let detail = "it holds the file of no build system that is known";
            return Ok(Err((Verdict::new(ModuleVerdict::DoesNotBuild, detail), String::new())));
        };
        if let Err(missing) = root.install(recipe.debian)? {
            return Ok(Err(needs_unavailable(missing)));
        }
        let tree = place.outside.join("tree");
        for entry in fs::read_dir(&from).map_err(Error::file("read", &from))? {
            let name = entry.map_err(Error::file("read", &from))?.file_name();
            let to = tree.join(&name);
            if name.to_string_lossy() != folder && name != SOURCE {
                symlink(all.join(&name), &to).map_err(Error::file("create", &to))?;
            }
        }
        let to = tree.join(SOURCE);
        copy(&from.join(folder), &to, &[]).map_err(Error::file("copy", &to))?;
        // Under its own name as well, for those beside it.
        let own = tree.join(folder);
        if own != to {
            symlink(SOURCE, &own).map_err(Error::file("create", &own))?;
        }
        Ok(Ok(format!("cd {SOURCE} && {}", recipe.command)))
    }
}

/// Where a package is built.
struct Place {
    /// As programs in the root name it.
    inside: PathBuf,
    outside: PathBuf,
}

fn needs_unavailable((reason, said): (String, String)) -> (Verdict, String) {
    (Verdict::new(ModuleVerdict::NeedsUnavailable, reason), said)
}

impl Source for Debian {
    fn text(&self) -> &str {
        &self.text
    }

    fn needs(&self) -> Vec<(&'static str, String)> {
        vec![("mmdebstrap", "apt-get install mmdebstrap".to_owned())]
    }

    fn build(&self, site: &Site<'_>) -> Result<Outcome, Error> {
        let mut outcome = Outcome {
            package: self.label().to_owned(),
            package_source: self.text.clone(),
            ..Outcome::default()
        };
        let unavailable = |outcome: Outcome, reason: String, log: String| {
            Ok(Outcome { verdict: Some(Verdict::new(UNAVAILABLE, reason)), log, ..outcome })
        };
        let options = site.options;
        let cache = mine::Cache::at(options.cache.clone());
        let fetched = mine::debian_source(
            &self.name,
            self.suite.as_deref(),
            &cache,
            options.offline,
            &options.cancel.flag(),
        );
        let fetched = match fetched {
            Ok(fetched) => fetched,
            Err(mine::Error::Unavailable { reason, .. }) => {
                return unavailable(outcome, reason, String::new());
            }
            Err(error) => return Err(error.into()),
        };
        outcome.version.clone_from(&fetched.version);
        outcome.package_source = match &self.folder {
            None => format!("deb:{}={}#{}", self.name, fetched.version, fetched.hash),
            Some(folder) => {
                format!("deb:{}={}#{}/{folder}", self.name, fetched.version, fetched.hash)
            }
        };
        // Of a folder of the upstream source Debian's own part is not needed.
        let needed = |name: &&String| self.folder.is_none() || name.contains(".orig");
        if let Some(missing) = fetched.missing.iter().find(needed) {
            return unavailable(outcome, format!("the archive lacks {missing}"), String::new());
        }
        let work = site.work();
        let root = match Root::ready(site, &work, self.suite.as_deref())? {
            Ok(root) => root,
            Err(reason) => return unavailable(outcome, reason, String::new()),
        };
        // Inside of the root the package has a folder of its own.
        let inside = PathBuf::from("/build").join(self.label());
        let outside = root.folder.join("build").join(self.label());
        if outside.exists() {
            fs::remove_dir_all(&outside).map_err(Error::file("remove", &outside))?;
        }
        for part in ["", "tree", "store", "home", "tmp", "bin"] {
            let path = outside.join(part);
            fs::create_dir_all(&path).map_err(Error::file("create", &path))?;
        }
        let place = Place { inside, outside };
        let script = match &self.folder {
            None => self.whole(&root, &fetched, &place)?,
            Some(folder) => self.part(folder, &root, &fetched, &place)?,
        };
        let Place { inside, outside } = place;
        let script = match script {
            Ok(script) => script,
            Err((verdict, log)) => return Ok(Outcome { verdict: Some(verdict), log, ..outcome }),
        };
        let wrapper: Vec<OsString> =
            ["/usr/lib/stampmill/stampmill", "-q", "ir", "wrap", "--"].map(OsString::from).to_vec();
        let covers = wrap::stand_ins_of_build(&outside, &inside, &wrapper, Some(&root.folder))?;
        let path = format!("{}/bin:/usr/sbin:/usr/bin:/sbin:/bin", inside.display());
        let mut environment: Vec<(OsString, OsString)> = vec![
            ("PATH".into(), path.into()),
            ("HOME".into(), inside.join("home").into()),
            ("TMPDIR".into(), inside.join("tmp").into()),
            ("LC_ALL".into(), "C.UTF-8".into()),
            ("DEB_BUILD_OPTIONS".into(), format!("nocheck nodoc parallel={}", 1).into()),
            ("DEB_BUILD_PROFILES".into(), "nocheck nodoc".into()),
            (wrap::STORE.into(), inside.join("store").into()),
            (wrap::TREE.into(), inside.join("tree").join(SOURCE).into()),
            (wrap::PACKAGE.into(), self.label().into()),
            (wrap::VERSION.into(), fetched.version.clone().into()),
        ];
        environment
            .extend(super::site::swift_environment(&outside.join("bin"), &inside.join("bin")));
        let mut profile = site.profile();
        profile.root = Some(root.folder.clone());
        profile.tree = Some((outside.clone(), options.disk_bytes));
        // Paths as they are inside.
        profile.writable = vec![inside.clone()];
        let profile = site.with_covers(profile, covers);
        let directory = outside.join("tree");
        let finished = site.run_as(&["sh", "-c", &script], &directory, environment, profile)?;
        outcome.verdict = verdict(&finished, options);
        outcome.log = log(&finished);
        // What the build left goes where other builds leave it.
        for part in ["store", "tree"] {
            let to = site.store().with_file_name(part);
            fs::remove_dir_all(&to).map_err(Error::file("remove", &to))?;
            match fs::rename(outside.join(part), &to) {
                // The build has taken it away: the site is not whole then.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                moved => moved.map_err(Error::file("move", &to))?,
            }
        }
        let source = site.tree().join(SOURCE);
        outcome.source = source.is_dir().then_some(source);
        outcome.base.clone_from(&outcome.source);
        Ok(outcome)
    }
}
