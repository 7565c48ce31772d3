//! `deb:NAME[@suite]`, through `apt-get source --download-only`.
//!
//! apt gets a configuration of its own, inside the cache: the machine's archive with source
//! packages added, so that neither the machine's list of sources nor its state changes.

use super::{Context, Package, Source, name_and_version};
use crate::{Error, Result, client, unpack};
use dataset::Verdict;
use rows::ContentVerdict;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::{
    collections::BTreeMap,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, SystemTime},
};

const UPDATE_WALL: Duration = Duration::from_secs(300);
const DOWNLOAD_WALL: Duration = Duration::from_secs(1800);
/// Package lists older than this are fetched again.
const LISTS_AGE: Duration = Duration::from_secs(24 * 3600);

/// What apt is told besides where its files are. The machine's hooks are for the machine's own
/// state; a user apt lowers its rights to may not write to the cache.
const SETTINGS: &str = r#"#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear APT::Update::Pre-Invoke;
APT::Sandbox::User "root";
Acquire::Retries "3";
Acquire::http::Timeout "30";
Acquire::https::Timeout "30";
"#;

struct Debian {
    name: String,
    suite: Option<String>,
}

/// A file of a source package, as the archive's signed index names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SourceFile {
    name: String,
    sha256: String,
    /// Whether it came, whole.
    arrived: bool,
}

#[derive(Serialize, Deserialize)]
struct About {
    version: String,
    files: Vec<SourceFile>,
}

pub(super) fn parse(text: &str) -> Option<Result<Box<dyn Source>, String>> {
    let (name, suite) = match name_and_version(text.strip_prefix("deb:")?, "@") {
        Ok(found) => found,
        Err(reason) => return Some(Err(reason)),
    };
    Some(Ok(Box::new(Debian { name: name.to_owned(), suite: suite.map(str::to_owned) })))
}

impl Source for Debian {
    fn fetch(&self, context: &Context<'_>) -> Result<Package> {
        let (about, folder) = self.about(context)?;
        unpack_source(&self.spec(), &self.name, &about, &folder)
    }
}

impl Debian {
    fn spec(&self) -> String {
        match &self.suite {
            Some(suite) => format!("deb:{}@{suite}", self.name),
            None => format!("deb:{}", self.name),
        }
    }

    /// What the archive has of it, and where that is.
    fn about(&self, context: &Context<'_>) -> Result<(About, PathBuf)> {
        let suite = self.suite.as_deref().unwrap_or("default");
        let spec = self.spec();
        let entry = context.cache.entry("deb", &format!("{}@{suite}", self.name))?;
        let about = match entry.known::<About>() {
            Some(about) => about,
            None => {
                context.online(&spec)?;
                let apt = Apt::ready(&spec, self.suite.as_deref(), context)?;
                let about = apt.download(&spec, &self.name, context, &entry.folder)?;
                entry.complete(&about)?;
                about
            }
        };
        Ok((about, entry.folder.clone()))
    }
}

/// A Debian source package as the archive has it, for those who build it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DebianSource {
    /// Its version.
    pub version: String,
    /// Where its files are.
    pub folder: PathBuf,
    /// Names of the files that came, checked against the archive's signed index.
    pub files: Vec<String>,
    /// Names of those that did not.
    pub missing: Vec<String>,
    /// SHA-256 of the `.dsc`, which names the hashes of all others.
    pub hash: String,
}

/// Fetch a source package of this machine's release, or of another suite of the same archive.
///
/// # Errors
/// [`Error::Unavailable`] when it cannot be had.
pub fn debian_source(
    name: &str,
    suite: Option<&str>,
    cache: &crate::Cache,
    offline: bool,
    cancelled: &std::sync::atomic::AtomicBool,
) -> Result<DebianSource> {
    let source = Debian { name: name.to_owned(), suite: suite.map(str::to_owned) };
    let context = Context { cache, offline, cancelled, progress: &crate::Silent };
    let (about, folder) = source.about(&context)?;
    let named = |arrived: bool| {
        let files = about.files.iter().filter(move |file| file.arrived == arrived);
        files.map(|file| file.name.clone()).collect()
    };
    let dsc = about.files.iter().find(|file| file.name.ends_with(".dsc"));
    Ok(DebianSource {
        hash: dsc.map(|file| file.sha256.clone()).unwrap_or_default(),
        files: named(true),
        missing: named(false),
        version: about.version,
        folder,
    })
}

/// The folder that an upstream tarball is unpacked into: the component of `.orig-COMPONENT.tar.xz`, or none.
#[must_use]
pub fn upstream_component(file: &str) -> &str {
    let component = file.split_once(".orig-").and_then(|(_, rest)| rest.split_once(".tar"));
    component.map_or("", |(component, _)| component)
}

/// A suite, which is this machine's release where none is given, and a list of its archives for binary and source packages.
#[must_use]
pub fn debian_archives(suite: Option<&str>) -> (String, String) {
    let own = codename();
    let sources = sources_list(&configured(Path::new("/etc/apt")), &own, suite);
    let suite = suite.map_or(own, str::to_owned);
    let both = format!("{}{sources}", sources.replace("deb-src ", "deb "));
    (suite, both)
}

/// Read the upstream tarballs alone; of the packaging only `debian/copyright`.
fn unpack_source(spec: &str, name: &str, about: &About, folder: &Path) -> Result<Package> {
    let mut package = Package::new(name, &about.version);
    let mut upstream = 0;
    for file in &about.files {
        if file.name.ends_with(".asc")
            || file.name.ends_with(".dsc")
            || file.name.contains(".diff.")
        {
            continue;
        }
        if !file.arrived {
            let detail = format!("{} is missing in the archive", file.name);
            package.tree.tell("", Verdict::new(ContentVerdict::PartialSource, detail));
            continue;
        }
        let path = folder.join(&file.name);
        let mut tree = unpack::archive(&path)
            .map_err(|error| Error::unavailable(spec, format!("{}: {error}", file.name)))?;
        if file.name.contains(".debian.tar.") {
            let copyright =
                tree.get("debian/copyright").map(|text| String::from_utf8_lossy(text).into_owned());
            package.copyright = copyright;
            continue;
        }
        upstream += 1;
        tree.strip_common_folder();
        package.tree.absorb(tree, upstream_component(&file.name));
    }
    let missing_dsc = about.files.iter().find(|file| file.name.ends_with(".dsc") && !file.arrived);
    if let Some(dsc) = missing_dsc {
        let detail = format!("{} is missing in the archive", dsc.name);
        package.tree.tell("", Verdict::new(ContentVerdict::PartialSource, detail));
    }
    if upstream == 0 {
        let missing: Vec<&str> = about
            .files
            .iter()
            .filter(|file| !file.arrived)
            .map(|file| file.name.as_str())
            .collect();
        let reason =
            format!("no upstream tarball could be had; the archive lacks {}", missing.join(", "));
        return Err(Error::unavailable(spec, reason));
    }
    Ok(package)
}

/// apt with a configuration of its own.
struct Apt {
    folder: PathBuf,
}

impl Apt {
    /// The configuration for one suite, its package lists fetched.
    fn ready(spec: &str, suite: Option<&str>, context: &Context<'_>) -> Result<Apt> {
        let entry = context.cache.entry("apt", suite.unwrap_or("default"))?;
        let apt = Apt { folder: entry.folder.clone() };
        let list = apt.folder.join("sources.list");
        let wanted = sources_list(&configured(Path::new("/etc/apt")), &codename(), suite);
        if wanted.is_empty() {
            return Err(Error::unavailable(
                spec,
                "no Debian archive is configured in /etc/apt on this machine",
            ));
        }
        let stamp = apt.folder.join("updated");
        let age = stamp.metadata().and_then(|stamp| stamp.modified()).ok();
        let age = age.and_then(|at| SystemTime::now().duration_since(at).ok());
        let fresh = age.is_some_and(|age| age < LISTS_AGE);
        if fresh && fs::read_to_string(&list).is_ok_and(|text| text == wanted) {
            return Ok(apt);
        }
        for folder in ["lists/partial", "cache/archives/partial", "state"] {
            let folder = apt.folder.join(folder);
            fs::create_dir_all(&folder).map_err(Error::file("create", &folder))?;
        }
        let status = apt.folder.join("state/status");
        fs::write(&status, "").map_err(Error::file("write", &status))?;
        let settings = apt.folder.join("apt.conf");
        fs::write(&settings, SETTINGS).map_err(Error::file("write", &settings))?;
        fs::write(&list, wanted).map_err(Error::file("write", &list))?;
        let updated = client::run(spec, context.cancelled, UPDATE_WALL, || {
            let mut update = apt.command("apt-get");
            update.arg("update");
            update
        })?;
        if !updated.success && age.is_none() {
            return Err(Error::unavailable(spec, updated.reason()));
        }
        File::create(&stamp).map_err(Error::file("create", &stamp))?;
        Ok(apt)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let folder = &self.folder;
        let settings = [
            ("Dir::Etc::sourcelist", folder.join("sources.list")),
            ("Dir::Etc::sourceparts", "/dev/null".into()),
            ("Dir::State", folder.join("state")),
            ("Dir::State::lists", folder.join("lists")),
            ("Dir::State::status", folder.join("state/status")),
            ("Dir::Cache", folder.join("cache")),
        ];
        command.arg("-c").arg(folder.join("apt.conf"));
        for (name, value) in settings {
            command.arg("-o").arg(format!("{name}={}", value.display()));
        }
        command.env("LC_ALL", "C");
        command
    }

    /// Fetch what the archive has of a source package. apt checks what it fetches against the
    /// signed index; it is checked again here, against that and against the `.dsc`.
    fn download(
        &self,
        spec: &str,
        name: &str,
        context: &Context<'_>,
        folder: &Path,
    ) -> Result<About> {
        let listed = client::run(spec, context.cancelled, UPDATE_WALL, || {
            let mut source = self.command("apt-get");
            // Files that lie where it runs are not listed.
            source
                .args(["source", "--print-uris", "--only-source", name])
                .current_dir(&self.folder);
            source
        })?;
        let (version, mut files) = match listing(&listed.stdout) {
            Some(found) if listed.success => found,
            _ => return Err(Error::unavailable(spec, listed.reason())),
        };
        context.progress.message(&format!("fetching {spec} {version}"));
        // Its status says no more than which files arrived.
        client::run(spec, context.cancelled, DOWNLOAD_WALL, || {
            let mut source = self.command("apt-get");
            source.args(["source", "--download-only", "--only-source", name]).current_dir(folder);
            source
        })?;
        let described = files
            .iter()
            .find(|file| file.name.ends_with(".dsc"))
            .map(|file| folder.join(&file.name));
        let described =
            described.and_then(|dsc| fs::read_to_string(dsc).ok()).map(|dsc| checksums(&dsc));
        for file in &mut files {
            let path = folder.join(&file.name);
            let Ok(found) = sha256(&path) else { continue };
            let dsc_agrees = described
                .as_ref()
                .and_then(|sums| sums.get(&file.name))
                .is_none_or(|sum| *sum == found);
            file.arrived = found == file.sha256 && dsc_agrees;
            if !file.arrived {
                fs::remove_file(&path).map_err(Error::file("remove", &path))?;
            }
        }
        Ok(About { version, files })
    }
}

/// SHA-256 of a file, in hexadecimal; it is read in pieces.
///
/// # Errors
/// When it cannot be read.
pub fn sha256(path: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 1 << 20];
    loop {
        match io::Read::read(&mut file, &mut buffer)? {
            0 => break,
            count => hasher.update(&buffer[..count]),
        }
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Version and files in the answer of `apt-get source --print-uris`.
fn listing(said: &str) -> Option<(String, Vec<SourceFile>)> {
    let files: Vec<SourceFile> = said
        .lines()
        .filter_map(|line| {
            let mut words = line.strip_prefix('\'')?.split_whitespace().skip(1);
            let name = words.next()?.to_owned();
            let sha256 = words.nth(1)?.strip_prefix("SHA256:")?.to_owned();
            // A name is used as a path.
            (!name.contains('/')).then_some(SourceFile { name, sha256, arrived: false })
        })
        .collect();
    let dsc = files.iter().find_map(|file| file.name.strip_suffix(".dsc"))?;
    Some((dsc.split_once('_')?.1.to_owned(), files))
}

/// `Checksums-Sha256` of a `.dsc`.
fn checksums(dsc: &str) -> BTreeMap<String, String> {
    let from = dsc.lines().skip_while(|line| !line.starts_with("Checksums-Sha256:")).skip(1);
    from.take_while(|line| line.starts_with(' '))
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let sum = words.next()?.to_owned();
            Some((words.nth(1)?.to_owned(), sum))
        })
        .collect()
}

/// For the fuzzer: names of files in what apt lists and in a `.dsc`, and lists of the sources in either format.
pub(crate) fn texts(text: &str) -> (Vec<String>, String) {
    let mut names: Vec<String> = checksums(text).into_keys().collect();
    names.extend(listing(text).into_iter().flat_map(|(_, files)| files).map(|file| file.name));
    let archives = [one_line(text), deb822(text)].concat();
    let lists = [None, Some("sid")].map(|suite| sources_list(&archives, "bookworm", suite));
    (names, lists.concat())
}

/// One archive the machine is configured with.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Archive {
    options: String,
    uri: String,
    suite: String,
    components: String,
}

/// The machine's sources of binary and source packages, in both of apt's formats.
fn configured(folder: &Path) -> Vec<Archive> {
    let mut paths = vec![folder.join("sources.list")];
    paths.extend(crate::cache::files(&folder.join("sources.list.d")).unwrap_or_default());
    let read = |path: &PathBuf| fs::read_to_string(path).ok().map(|text| (path.clone(), text));
    paths
        .iter()
        .filter_map(read)
        .flat_map(|(path, text)| {
            let name = path.to_string_lossy().into_owned();
            if name.ends_with(".sources") { deb822(&text) } else { one_line(&text) }
        })
        .collect()
}

fn one_line(text: &str) -> Vec<Archive> {
    let line = |line: &str| {
        let rest = line.strip_prefix("deb-src").or_else(|| line.strip_prefix("deb"))?.trim_start();
        let (options, rest) = match rest.strip_prefix('[') {
            Some(rest) => {
                rest.split_once(']').map(|(options, rest)| (options.trim(), rest.trim_start()))?
            }
            None => ("", rest),
        };
        let mut words = rest.split_whitespace();
        let (uri, suite) = (words.next()?, words.next()?);
        let kept = options.split_whitespace().filter(|option| !option.starts_with("arch="));
        Some(Archive {
            options: kept.collect::<Vec<_>>().join(" "),
            uri: uri.to_owned(),
            suite: suite.to_owned(),
            components: words.collect::<Vec<_>>().join(" "),
        })
    };
    text.lines().map(|l| l.split('#').next().unwrap_or(l).trim()).filter_map(line).collect()
}

fn deb822(text: &str) -> Vec<Archive> {
    let text: String =
        text.lines().filter(|line| !line.starts_with('#')).flat_map(|line| [line, "\n"]).collect();
    let mut archives = Vec::new();
    for paragraph in text.split("\n\n") {
        let field = |name: &str| {
            paragraph.lines().find_map(|line| {
                let (found, value) = line.split_once(':')?;
                found.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
            })
        };
        if field("Enabled").is_some_and(|value| value.eq_ignore_ascii_case("no")) {
            continue;
        }
        // A key written out in the paragraph itself cannot stand in the other format.
        let key = field("Signed-By").filter(|key| key.starts_with('/'));
        let options = key.map_or(String::new(), |key| format!("signed-by={key}"));
        let (uris, suites) =
            (field("URIs").unwrap_or_default(), field("Suites").unwrap_or_default());
        for uri in uris.split_whitespace() {
            archives.extend(suites.split_whitespace().map(|suite| Archive {
                options: options.clone(),
                uri: uri.to_owned(),
                suite: suite.to_owned(),
                components: field("Components").unwrap_or_default(),
            }));
        }
    }
    archives
}

/// The release this machine runs, `bookworm` for example.
fn codename() -> String {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let name = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    name.unwrap_or("stable").trim_matches('"').to_owned()
}

/// apt's list for the machine's own release, or for another suite of the same archive.
fn sources_list(archives: &[Archive], codename: &str, suite: Option<&str>) -> String {
    let own = |archive: &&Archive| {
        archive.suite == codename
            || archive.suite == "stable"
            || archive.suite.starts_with(&format!("{codename}-"))
    };
    let line = |archive: &Archive, suite: &str| {
        let options = match archive.options.as_str() {
            "" => String::new(),
            options => format!("[{options}] "),
        };
        format!("deb-src {options}{} {suite} {}\n", archive.uri, archive.components)
    };
    let mut lines: Vec<String> = match suite {
        None => archives.iter().filter(own).map(|archive| line(archive, &archive.suite)).collect(),
        Some(suite) => {
            let security = |archive: &&Archive| archive.suite.ends_with("-security");
            archives
                .iter()
                .filter(own)
                .filter(|a| security(a) == suite.ends_with("-security"))
                .take(1)
                .map(|a| line(a, suite))
                .collect()
        }
    };
    lines.sort();
    lines.dedup();
    lines.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCES: &str = "Types: deb\n# a snapshot\nURIs: http://archive.example/debian\nSuites: bookworm bookworm-updates\n\
        Components: main\nSigned-By: /usr/share/keyrings/a.gpg\n\nTypes: deb\nURIs: http://archive.example/debian-security\n\
        Suites: bookworm-security\nComponents: main\n\nEnabled: no\nTypes: deb\nURIs: http://off.example\nSuites: bookworm\n";

    #[test]
    fn sources_are_derived_from_both_formats_and_for_any_suite() {
        let mut archives = deb822(SOURCES);
        archives.extend(one_line(
            "deb [arch=amd64 signed-by=/k] https://other.example/apt stuff main # x\n# deb no\n",
        ));
        let own = sources_list(&archives, "bookworm", None);
        assert_eq!(own.lines().count(), 3);
        assert!(own.contains("deb-src [signed-by=/usr/share/keyrings/a.gpg] http://archive.example/debian bookworm main\n"));
        let sid = sources_list(&archives, "bookworm", Some("sid"));
        assert_eq!(
            sid,
            "deb-src [signed-by=/usr/share/keyrings/a.gpg] http://archive.example/debian sid main\n"
        );
        assert_eq!(archives.last().unwrap().options, "signed-by=/k");
    }

    #[test]
    fn the_answer_of_apt_names_version_and_files() {
        let said = "Reading package lists...\n'http://x/clpeak_1.1.5-1.dsc' clpeak_1.1.5-1.dsc 2160 SHA256:aa\n\
            'http://x/clpeak_1.1.5.orig.tar.gz' clpeak_1.1.5.orig.tar.gz 9 SHA256:bb\n";
        let (version, files) = listing(said).unwrap();
        assert_eq!((version.as_str(), files.len(), files[1].sha256.as_str()), ("1.1.5-1", 2, "bb"));
        let dsc = "Checksums-Sha1:\n 11 9 a.tar\nChecksums-Sha256:\n 22 9 a.tar\n 33 9 b.tar\nFiles:\n 44 9 a.tar\n";
        assert_eq!(
            checksums(dsc).into_iter().collect::<Vec<_>>(),
            [("a.tar".into(), "22".into()), ("b.tar".into(), "33".into())]
        );
    }

    #[test]
    fn a_source_that_came_in_part_says_which_file_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        let mut tar = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_ustar();
        header.set_size(19);
        tar.append_data(&mut header, "x-1/k.cl", &b"kernel void a() {}\n"[..]).unwrap();
        fs::write(folder.path().join("x_1.orig.tar"), tar.into_inner().unwrap()).unwrap();
        let file =
            |name: &str, arrived| SourceFile { name: name.into(), sha256: String::new(), arrived };
        let files = vec![
            file("x_1.dsc", false),
            file("x_1.orig.tar", true),
            file("x_1.debian.tar.xz", false),
        ];
        let about = About { version: "1".into(), files };
        let package = unpack_source("deb:x", "x", &about, folder.path()).unwrap();
        assert!(package.tree.get("k.cl").is_some());
        let news: Vec<&str> =
            package.tree.news.iter().map(|(_, verdict)| verdict.detail.as_str()).collect();
        assert_eq!(
            news,
            ["x_1.debian.tar.xz is missing in the archive", "x_1.dsc is missing in the archive"]
        );
        let about = About { version: "1".into(), files: vec![file("x_1.orig.tar", false)] };
        let error = unpack_source("deb:x", "x", &about, folder.path()).unwrap_err();
        assert!(matches!(error, Error::Unavailable { .. }));
    }
}
