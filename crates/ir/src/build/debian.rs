//! `deb:NAME[@SUITE]`: a Debian source package, built by its own `debian/rules` in a root that is
//! thrown away.

use super::{
    BuildOptions, Outcome, Source, UNAVAILABLE,
    root::Root,
    site::{Site, log, verdict},
};
use crate::{Error, wrap};
use dataset::Verdict;
use rows::ModuleVerdict;
use std::{ffi::OsString, fs, path::PathBuf};

#[derive(Debug)]
struct Debian {
    text: String,
    name: String,
    suite: Option<String>,
}

pub(super) fn parse(
    text: &str,
    _: &BuildOptions<'_>,
) -> Option<Result<Vec<Box<dyn Source>>, Error>> {
    let rest = text.strip_prefix("deb:")?;
    let (name, suite) = match rest.split_once('@') {
        Some((name, suite)) => (name, Some(suite.to_owned())),
        None => (rest, None),
    };
    let plain = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_alphanumeric())
            && word.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    };
    if !plain(name) || !suite.as_deref().is_none_or(plain) {
        return Some(Err(Error::unknown_source(text, format!("`{rest}` is no package"))));
    }
    Some(Ok(vec![Box::new(Debian { text: text.to_owned(), name: name.to_owned(), suite })]))
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
            package: self.name.clone(),
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
        outcome.package_source = format!("deb:{}={}#{}", self.name, fetched.version, fetched.hash);
        if let Some(missing) = fetched.missing.first() {
            return unavailable(outcome, format!("the archive lacks {missing}"), String::new());
        }
        let work = site.work();
        let root = match Root::ready(site, &work)? {
            Ok(root) => root,
            Err(reason) => return unavailable(outcome, reason, String::new()),
        };
        // Inside of the root the package has a folder of its own.
        let inside = PathBuf::from("/build").join(&self.name);
        let outside = root.folder.join("build").join(&self.name);
        if outside.exists() {
            fs::remove_dir_all(&outside).map_err(Error::file("remove", &outside))?;
        }
        for part in ["", "tree", "store", "home", "tmp", "bin"] {
            let path = outside.join(part);
            fs::create_dir_all(&path).map_err(Error::file("create", &path))?;
        }
        let wrapper: Vec<OsString> =
            ["/usr/lib/stampmill/stampmill", "-q", "ir", "wrap", "--"].map(OsString::from).to_vec();
        wrap::stand_ins(&outside.join("bin"), &wrapper, None)?;
        let mut dsc = String::new();
        for name in &fetched.files {
            let copy = outside.join("tree").join(name);
            fs::copy(fetched.folder.join(name), &copy).map_err(Error::file("write", &copy))?;
            if name.ends_with(".dsc") {
                dsc.clone_from(name);
            }
        }
        let dsc_inside = inside.join("tree").join(&dsc);
        if let Err((reason, said)) = root.install_needs(&dsc_inside.to_string_lossy())? {
            outcome.verdict = Some(Verdict::new(ModuleVerdict::NeedsUnavailable, reason));
            outcome.log = said;
            return Ok(outcome);
        }
        let path = format!("{}/bin:/usr/sbin:/usr/bin:/sbin:/bin", inside.display());
        let environment: Vec<(OsString, OsString)> = vec![
            ("PATH".into(), path.into()),
            ("HOME".into(), inside.join("home").into()),
            ("TMPDIR".into(), inside.join("tmp").into()),
            ("LC_ALL".into(), "C.UTF-8".into()),
            ("DEB_BUILD_OPTIONS".into(), format!("nocheck nodoc parallel={}", 1).into()),
            ("DEB_BUILD_PROFILES".into(), "nocheck nodoc".into()),
            (wrap::STORE.into(), inside.join("store").into()),
            (wrap::TREE.into(), inside.join("tree/source").into()),
            (wrap::PACKAGE.into(), self.name.clone().into()),
            (wrap::VERSION.into(), fetched.version.clone().into()),
        ];
        let mut profile = site.profile();
        profile.root = Some(root.folder.clone());
        profile.tree = Some((outside.clone(), options.disk_bytes));
        // Paths as they are inside.
        profile.writable = vec![inside.clone()];
        // Compiled, not packed: what packs (dwz, say) knows gcc's debug information alone.
        let script = format!(
            "dpkg-source --no-check -x {dsc} source && cd source && \
             dpkg-buildpackage -B -d -rfakeroot --no-sign --target=build-arch"
        );
        let directory = outside.join("tree");
        let finished = site.run_as(&["sh", "-c", &script], &directory, environment, profile)?;
        outcome.verdict = verdict(&finished, options);
        outcome.log = log(&finished);
        // What the build left goes where other builds leave it.
        for part in ["store", "tree"] {
            let to = site.store().with_file_name(part);
            fs::remove_dir_all(&to).map_err(Error::file("remove", &to))?;
            fs::rename(outside.join(part), &to).map_err(Error::file("move", &to))?;
        }
        let source = site.tree().join("source");
        outcome.source = source.is_dir().then_some(source);
        outcome.base.clone_from(&outcome.source);
        Ok(outcome)
    }
}
