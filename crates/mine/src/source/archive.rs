//! A tar or zip file.

use super::{Context, Package, Source};
use crate::{Error, Result, unpack};
use std::path::{Path, PathBuf};

struct Archive(PathBuf);

pub(super) fn parse(text: &str) -> Option<Result<Box<dyn Source>, String>> {
    let path = Path::new(text);
    path.is_file().then(|| Ok(Box::new(Archive(path.to_owned())) as Box<dyn Source>))
}

impl Source for Archive {
    fn fetch(&self, _: &Context<'_>) -> Result<Package> {
        let spec = self.0.display().to_string();
        let name =
            self.0.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
        let end = [".tar.", ".tar", ".tgz", ".tbz", ".txz", ".zip", ".whl"]
            .iter()
            .filter_map(|e| name.find(e))
            .min();
        let mut package = Package::new(&name[..end.unwrap_or(name.len())], "");
        package.tree =
            unpack::archive(&self.0).map_err(|error| Error::unavailable(&spec, error))?;
        package.tree.strip_common_folder();
        Ok(package)
    }
}
