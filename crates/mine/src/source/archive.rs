//! A tar or zip file.

use super::{Context, Given, Package, Source};
use crate::{Error, Result, sink::Sink, unpack};
use dataset::Language;
use std::path::{Path, PathBuf};

/// How names of headers end, which are no programs elsewhere.
const HEADERS: [&str; 3] = ["h", "hpp", "cuh"];

struct Archive(PathBuf);

pub(super) fn parse(text: &str) -> Option<Result<Box<dyn Source>, String>> {
    let path = Path::new(text);
    if !path.is_file() {
        return None;
    }
    let is_header =
        path.extension().is_some_and(|extension| HEADERS.iter().any(|own| extension == *own));
    let is_program = matches!(
        Language::of(path),
        Some(Language::OpenCl | Language::C | Language::Cxx | Language::Cuda)
    );
    Some(match is_header || is_program {
        true => Err(format!(
            "it is one program: mine its folder, which puts its headers in; `stampmill prepare {text}` reads one that includes nothing"
        )),
        false => Ok(Box::new(Archive(path.to_owned()))),
    })
}

impl Archive {
    /// Its file's name without what tells its format.
    fn name(&self) -> String {
        let name =
            self.0.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
        let end = [".tar.", ".tar", ".tgz", ".tbz", ".txz", ".zip", ".whl"]
            .iter()
            .filter_map(|e| name.find(e))
            .min();
        name[..end.unwrap_or(name.len())].to_owned()
    }

    fn unavailable(&self, error: impl std::fmt::Display) -> Error {
        Error::unavailable(&self.0.display().to_string(), error)
    }
}

impl Source for Archive {
    fn fetch(&self, _: &Context<'_>) -> Result<Package> {
        let mut package = Package::new(&self.name(), "");
        package.tree = unpack::archive(&self.0).map_err(|error| self.unavailable(error))?;
        package.tree.strip_common_folder();
        Ok(package)
    }

    fn give(&self, _: &Context<'_>, sink: &mut dyn Sink) -> Result<Given> {
        let hash = dataset::content_hash_of_file(&self.0).map_err(Error::file("read", &self.0))?.1;
        unpack::into(&self.0, sink).map_err(|error| self.unavailable(error))?;
        let file = self.0.file_name().unwrap_or_default().to_string_lossy();
        let pinned = format!("{file}#{hash}");
        Ok(Given { name: self.name(), version: String::new(), pinned, is_wrapped: true })
    }
}
