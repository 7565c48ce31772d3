//! Textual IR, a file a module.

use super::{Export, ExportReport, place_of, split_of};
use crate::{Error, Module};
use dataset::{Dataset, Progress};
use std::{fs, path::Path};

pub(super) fn write(
    options: &Export<'_>,
    dataset: &Dataset,
    folder: &Path,
    progress: &dyn Progress,
) -> Result<ExportReport, Error> {
    let mut report = ExportReport::default();
    for row in dataset.rows::<Module>()? {
        let row = row?;
        progress.advance(1);
        if !row.is_accepted() {
            continue;
        }
        let Ok(text) = options.reader.text(&row.path, &row.content)? else {
            report.failed += 1;
            continue;
        };
        let split = split_of(&row, options.held_out, options.seed);
        let path = folder.join(split).join(format!("{}.ll", place_of(&row)));
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(Error::file("create", parent))?;
        fs::write(&path, text).map_err(Error::file("write", &path))?;
        report.add(&row, split);
    }
    Ok(report)
}
