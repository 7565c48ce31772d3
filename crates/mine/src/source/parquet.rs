//! `parquet:FILE[#COLUMN]`: tables of source files, as BigQuery's export of GitHub or The Stack.

use super::{Context, Package, Source};
use crate::{Error, Result};
use arrow::{
    array::{Array, AsArray, RecordBatch},
    compute::cast,
    datatypes::DataType,
};
use parquet::arrow::{ProjectionMask, arrow_reader::ParquetRecordBatchReaderBuilder};
use std::{fs::File, path::PathBuf};

/// Names under which such tables keep the text, the path, the repository and the license.
const TEXT: &[&str] = &["content", "text", "code", "src", "source"];
const PATH: &[&str] = &["path", "max_stars_repo_path", "sample_path", "file_path"];
const REPOSITORY: &[&str] = &["repo_name", "max_stars_repo_name", "sample_repo_name", "repository"];
const LICENSE: &[&str] =
    &["license", "licence", "max_stars_repo_licenses", "licenses", "detected_licenses"];

struct Parquet {
    file: PathBuf,
    column: Option<String>,
}

pub(super) fn parse(text: &str) -> Option<Result<Box<dyn Source>, String>> {
    let rest = text.strip_prefix("parquet:")?;
    let (file, column) = match rest.rsplit_once('#') {
        Some((file, column)) => (file, Some(column.to_owned())),
        None => (rest, None),
    };
    let file = PathBuf::from(file);
    Some(if file.is_file() {
        Ok(Box::new(Parquet { file, column }) as Box<dyn Source>)
    } else {
        Err(format!("no file {}", file.display()))
    })
}

impl Source for Parquet {
    fn fetch(&self, context: &Context<'_>) -> Result<Package> {
        let spec = format!("parquet:{}", self.file.display());
        let failed = |error: &dyn std::fmt::Display| Error::unavailable(&spec, error);
        let file = File::open(&self.file).map_err(|error| failed(&error))?;
        let builder =
            ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| failed(&error))?;
        let columns: Vec<String> =
            builder.schema().fields().iter().map(|field| field.name().clone()).collect();
        let one_of = |names: &[&str]| {
            names.iter().find(|name| columns.iter().any(|c| c == *name)).map(|n| (*n).to_owned())
        };
        let text = match &self.column {
            Some(column) => columns.contains(column).then(|| column.clone()),
            None => one_of(TEXT),
        };
        let Some(text) = text else {
            let wanted = self.column.as_deref().unwrap_or("content, text or code");
            return Err(failed(&format!("no column {wanted}; there are {}", columns.join(", "))));
        };
        let (path, repository, license) = (one_of(PATH), one_of(REPOSITORY), one_of(LICENSE));
        let wanted = [Some(&text), path.as_ref(), repository.as_ref(), license.as_ref()];
        let mask = ProjectionMask::columns(
            builder.parquet_schema(),
            wanted.into_iter().flatten().map(String::as_str),
        );
        let batches = builder
            .with_projection(mask)
            .with_batch_size(64)
            .build()
            .map_err(|error| failed(&error))?;
        let name =
            self.file.file_stem().map_or(String::new(), |name| name.to_string_lossy().into_owned());
        let mut package = Package::new(&name, "");
        let mut row = 0_u64;
        for batch in batches {
            context.check()?;
            let batch = batch.map_err(|error| failed(&error))?;
            let texts = strings(&batch, Some(&text))
                .ok_or_else(|| failed(&format!("column {text} holds no text")))?;
            let [paths, repositories, licenses] =
                [&path, &repository, &license].map(|name| strings(&batch, name.as_deref()));
            for (at, content) in texts.into_iter().enumerate() {
                row += 1;
                let value = |column: &Option<Vec<String>>| {
                    column.as_ref().map(|all| all[at].clone()).unwrap_or_default()
                };
                let mut place = value(&paths);
                // A row whose column was asked for by name is a program, whatever it is called.
                if self.column.is_some() && crate::tree::role(&place).is_none() || place.is_empty()
                {
                    place = format!("{place}/row-{row}.cl");
                }
                let mut place = format!("{}/{place}", value(&repositories));
                if crate::tree::normal(place.trim_start_matches('/'))
                    .is_some_and(|place| package.tree.get(&place).is_some())
                {
                    place = format!("row-{row}/{place}");
                }
                let place = place.trim_start_matches('/');
                let offered =
                    package.tree.offer(place, Some(content.len() as u64), &mut content.as_bytes());
                if !offered.map_err(|error| failed(&error))? {
                    return Ok(package);
                }
                let stated = crate::license::spdx_expression(&value(&licenses));
                if !stated.is_empty()
                    && let Some(place) = crate::tree::normal(place)
                {
                    package.tree.stated_licenses.insert(place, stated);
                }
            }
        }
        Ok(package)
    }
}

/// A column's values as text, empty for null; a list's first.
fn strings(batch: &RecordBatch, name: Option<&str>) -> Option<Vec<String>> {
    let column = batch.column_by_name(name?)?;
    if let DataType::List(_) = column.data_type() {
        let lists = column.as_list::<i32>();
        let first = |at: usize| -> Option<String> {
            let values = cast(&lists.value(at), &DataType::Utf8).ok()?;
            let values = values.as_string::<i32>();
            (!lists.is_null(at) && !values.is_empty()).then(|| values.value(0).to_owned())
        };
        return Some((0..lists.len()).map(|at| first(at).unwrap_or_default()).collect());
    }
    let column = cast(column, &DataType::LargeUtf8).ok()?;
    Some(
        column
            .as_string::<i64>()
            .iter()
            .map(|value| value.unwrap_or_default().to_owned())
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cache, Silent};
    use arrow::array::StringArray;
    use std::{sync::Arc, sync::atomic::AtomicBool};

    #[test]
    fn a_table_of_files_is_a_package() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stack.parquet");
        let column = |values: &[&str]| Arc::new(StringArray::from(values.to_vec())) as _;
        let batch = RecordBatch::try_from_iter([
            ("content", column(&["kernel void a() {}", "int x;", "#include \"b.h\""])),
            ("max_stars_repo_name", column(&["o/r", "o/r", "p/q"])),
            ("max_stars_repo_path", column(&["k/a.cl", "k/b.h", "c.cl"])),
            ("license", column(&["MIT", "", "nonsense"])),
        ])
        .unwrap();
        let mut writer = parquet::arrow::ArrowWriter::try_new(
            File::create(&path).unwrap(),
            batch.schema(),
            None,
        )
        .unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let cache = Cache::at(Some(folder.path().to_owned()));
        let cancelled = AtomicBool::new(false);
        let context =
            Context { cache: &cache, offline: true, cancelled: &cancelled, progress: &Silent };
        let spec =
            |text: &str| parse(&format!("parquet:{}{text}", path.display())).unwrap().unwrap();
        let package = spec("").fetch(&context).unwrap();
        let paths: Vec<&str> = package.tree.iter().map(|(path, _)| path).collect();
        assert_eq!(paths, ["o/r/k/a.cl", "o/r/k/b.h", "p/q/c.cl"]);
        assert_eq!(package.tree.stated_licenses["o/r/k/a.cl"], "MIT");
        let error = spec("#nothing").fetch(&context).unwrap_err().to_string();
        assert!(error.contains("nothing") && error.contains("max_stars_repo_name"), "{error}");
    }
}
