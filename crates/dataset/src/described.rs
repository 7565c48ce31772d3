//! Files that describe a data set to other programs: made by who knows how, kept beside its parts.

use crate::{Dataset, Error, Manifest, Result};
use std::{fs::File, io::Write, path::Path, sync::OnceLock};

/// Names and contents of files beside a data set's parts.
pub type Files = Vec<(&'static str, Vec<u8>)>;

static DESCRIBE: OnceLock<fn(&Dataset) -> Result<Files>> = OnceLock::new();

/// Have `describe` make files that describe a data set whenever one is finished, but for a share of a job; the first
/// caller's stays. Its manifest lists them, and they go with it. Without one, there are none. The data set has its
/// parts and manifest and is not in its place yet.
pub fn described_by(describe: fn(&Dataset) -> Result<Files>) {
    DESCRIBE.get_or_init(|| describe);
}

/// The files for the data set that is to stand at `out`, whose parts are in `whole`. The manifest lists them from now on.
pub(crate) fn describe(out: &Path, whole: &Path, manifest: &mut Manifest) -> Result<Files> {
    let Some(describe) = DESCRIBE.get() else { return Ok(Files::new()) };
    if manifest.notes.share.is_some() {
        return Ok(Files::new());
    }
    let files = describe(&Dataset::unplaced(out, whole, manifest.clone()))?;
    for (name, _) in &files {
        if !manifest.notes.files.iter().any(|known| known == name) {
            manifest.notes.files.push((*name).to_owned());
        }
    }
    Ok(files)
}

/// Write them into a folder.
pub(crate) fn write(folder: &Path, files: &[(&str, Vec<u8>)]) -> Result<()> {
    for (name, content) in files {
        let path = folder.join(name);
        let written = File::create(&path).and_then(|mut file| {
            file.write_all(content)?;
            file.sync_all()
        });
        written.map_err(Error::file("write", &path))?;
    }
    Ok(())
}
