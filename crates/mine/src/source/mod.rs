//! Where programs come from: one member a file.

mod archive;
mod crates;
mod debian;
mod folder;
mod git;
mod github;
mod github_code;
mod list;
mod parquet;
mod pypi;

pub(crate) use debian::texts as debian_texts;
pub use debian::{DebianSource, debian_archives, debian_source, sha256, upstream_component};
pub(crate) use git::{Git, give_files, read as read_git};
pub use list::read as read_list;

use crate::{Cache, Error, Progress, Result, sink::Sink, tree::Tree};
use std::sync::atomic::{AtomicBool, Ordering};

/// What a source gets to work with.
pub(crate) struct Context<'a> {
    pub(crate) cache: &'a Cache,
    /// Use the cache alone.
    pub(crate) offline: bool,
    pub(crate) cancelled: &'a AtomicBool,
    pub(crate) progress: &'a dyn Progress,
}

impl Context<'_> {
    /// # Errors
    /// When the user has stopped the run.
    pub(crate) fn check(&self) -> Result<()> {
        if self.cancelled.load(Ordering::Relaxed) { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// # Errors
    /// When nothing may be fetched.
    pub(crate) fn online(&self, spec: &str) -> Result<()> {
        if self.offline {
            Err(Error::unavailable(spec, "not in the cache, and this run is offline"))
        } else {
            Ok(())
        }
    }
}

/// The files of a package and what is known about it.
#[derive(Debug, Default)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// Version, commit, or empty.
    pub(crate) version: String,
    pub(crate) tree: Tree,
    /// SPDX expression the source states for the whole package, or empty.
    pub(crate) license: String,
    /// `debian/copyright`, where it comes apart from the tree.
    pub(crate) copyright: Option<String>,
}

impl Package {
    pub(crate) fn new(name: &str, version: &str) -> Package {
        Package { name: name.to_owned(), version: version.to_owned(), ..Package::default() }
    }
}

/// What is known of a package whose files went to a sink.
#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) name: String,
    /// The commit, or empty.
    pub(crate) version: String,
    /// The source with its commit, or the hash of its content.
    pub(crate) pinned: String,
    /// Whether all files lie in one folder that is no part of the package, as archives of releases have it.
    pub(crate) is_wrapped: bool,
}

/// A place programs come from.
pub(crate) trait Source: Send + Sync {
    /// The sources this one stands for; `None` where it is one package itself.
    ///
    /// # Errors
    /// When it cannot be read.
    fn members(&self, _context: &Context<'_>) -> Result<Option<Vec<Spec>>> {
        Ok(None)
    }

    /// Of what a search found: the SPDX expression it stated, or empty.
    fn found(&self) -> Option<String> {
        None
    }

    /// The package.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when it cannot be had; others end the run.
    fn fetch(&self, context: &Context<'_>) -> Result<Package>;

    /// Give all files of the package to `sink`, not only those that matter to who mines.
    ///
    /// # Errors
    /// As [`Source::fetch`]; for a kind of source that cannot do it, too.
    fn give(&self, _: &Context<'_>, _: &mut dyn Sink) -> Result<Given> {
        Err(Error::unavailable("this source", "it is no repository and no archive"))
    }
}

/// Reads one form of a source; `None` where the text has another form.
type Parse = fn(&str) -> Option<Result<Box<dyn Source>, String>>;

/// The forms, as a message shows them, in the order they are tried.
const FAMILY: &[(&str, Parse)] = &[
    ("@LIST.toml", list::parse),
    ("git+URL-OR-PATH[@REV]", git::parse),
    ("deb:NAME[@SUITE]", debian::parse),
    ("pypi:NAME[==VERSION]", pypi::parse),
    ("crate:NAME[@VERSION]", crates::parse),
    ("github:QUERY[#LIMIT]", github::parse),
    ("github-code:QUERY[#LIMIT]", github_code::parse),
    ("parquet:FILE[#COLUMN]", parquet::parse),
    ("an archive (.tar.* or .zip)", archive::parse),
    ("a folder", folder::parse),
];

/// A source as a user writes it.
pub struct Spec {
    text: String,
    pub(crate) source: Box<dyn Source>,
}

impl std::fmt::Debug for Spec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Spec").field(&self.text).finish()
    }
}

impl Spec {
    /// Read a source; nothing is fetched yet.
    ///
    /// # Errors
    /// When it has none of the known forms; the message lists them.
    pub fn parse(text: &str) -> Result<Spec> {
        let unknown = |reason: String| Error::UnknownSource {
            spec: text.to_owned(),
            reason,
            forms: Spec::forms(),
        };
        let text = text.trim();
        for (_, parse) in FAMILY {
            match parse(text) {
                Some(Ok(source)) => return Ok(Spec { text: text.to_owned(), source }),
                Some(Err(reason)) => return Err(unknown(reason)),
                None => {}
            }
        }
        let path = std::path::Path::new(text);
        let reason = match has_scheme(text) && !dataset::is_url(path) {
            true => "no such kind of source".to_owned(),
            false => dataset::missing(path),
        };
        Err(unknown(reason))
    }

    /// Whether a source is written as a file or folder that is not there.
    pub(crate) fn is_gone(text: &str) -> bool {
        let path = text.trim().trim_start_matches('@');
        !has_scheme(path) && !std::path::Path::new(path).exists()
    }

    /// A source by its text and what [`Source::found`] said of it.
    pub(crate) fn again(text: &str, found: Option<&str>) -> Result<Spec> {
        let Some(license) = found else { return Spec::parse(text) };
        Ok(Spec { text: text.to_owned(), source: github::repository(text, license) })
    }

    /// The forms a source may have, for messages and help.
    #[must_use]
    pub fn forms() -> String {
        FAMILY.iter().map(|(form, _)| *form).collect::<Vec<_>>().join(", ")
    }

    /// As it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

fn has_scheme(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, _)| !scheme.contains(['/', '.']))
}

/// `name[separator version]`, the name being one that no client takes for an option or a path.
fn name_and_version<'a>(
    text: &'a str,
    separator: &str,
) -> Result<(&'a str, Option<&'a str>), String> {
    let (name, version) = match text.split_once(separator) {
        Some((name, version)) => (name, Some(version)),
        None => (text, None),
    };
    let plain = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_alphanumeric())
            && word.chars().all(|c| c.is_ascii_alphanumeric() || "._+-~:".contains(c))
    };
    if !plain(name) {
        return Err(format!("`{name}` is no name"));
    }
    match version {
        Some(version) if !plain(version) => Err(format!("`{version}` is no version")),
        _ => Ok((name, version)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_source_is_named_and_the_known_forms_are_listed() {
        for text in [
            "ftp:x",
            "/no/such/folder",
            "deb:",
            "deb:--option",
            "pypi:../x",
            "crate:a@",
            "git+",
            "github-code:#5",
        ] {
            let message = Spec::parse(text).unwrap_err().to_string();
            assert!(message.contains(text) && message.contains("deb:NAME[@SUITE]"), "{message}");
        }
        for text in [
            "deb:clpeak",
            "deb:x264@sid",
            "pypi:silx==1.0",
            "crate:ocl@0.19.7",
            "github:opencl kernel#5",
            "github-code:__kernel extension:cl#5",
        ] {
            assert_eq!(Spec::parse(text).unwrap().text(), text);
        }
    }
}
