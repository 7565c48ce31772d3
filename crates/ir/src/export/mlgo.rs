//! ml-compiler-opt's corpus: what its training reads, and what `ir extract` reads back.

use super::{Export, ExportReport, place_of, split_of};
use crate::{Error, Module, extract::Description};
use dataset::{Dataset, Progress};
use std::{fs, path::Path};

pub(super) fn write(
    options: &Export<'_>,
    dataset: &Dataset,
    folder: &Path,
    progress: &dyn Progress,
) -> Result<ExportReport, Error> {
    let mut report = ExportReport::default();
    let mut description = Description::default();
    for row in dataset.rows::<Module>()? {
        let row = row?;
        progress.advance(1);
        if !row.is_accepted() {
            continue;
        }
        // A corpus has no splits; each is a folder of it.
        let split = split_of(&row, options.held_out, options.seed);
        let name = format!("{split}/{}", place_of(&row));
        let path = folder.join(format!("{name}.bc"));
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(Error::file("create", parent))?;
        fs::write(&path, &row.content).map_err(Error::file("write", &path))?;
        let path = folder.join(format!("{name}.cmd"));
        fs::write(&path, row.command.join("\0")).map_err(Error::file("write", &path))?;
        report.add(&row, split);
        description.modules.push(name);
    }
    description.modules.sort();
    let path = folder.join(crate::extract::CORPUS);
    let text =
        serde_json::to_string_pretty(&description).map_err(|error| Error::format(&path, error))?;
    fs::write(&path, text + "\n").map_err(Error::file("write", &path))?;
    Ok(report)
}
