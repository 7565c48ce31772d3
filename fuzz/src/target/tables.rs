//! Tables of others, as CSV and JSON Lines: a row or an error that names the file; what was read comes back from both.

use arrow::compute::concat_batches;
use dataset::Dataset;
use interchange::{Format, Import, export_rows, import};
use std::sync::atomic::AtomicBool;

pub fn run(data: &[u8]) {
    let stop = AtomicBool::new(false);
    for name in ["a.csv", "a.jsonl"] {
        crate::input::file(name, data, |path| {
            let folder = crate::input::folder();
            let out = folder.join("rows");
            let schemas = [None, Some("round"), Some("kernel"), Some("features"), Some("task")];
            for (at, schema) in schemas.into_iter().enumerate() {
                let asked = Import {
                    force: true,
                    schema: schema.map(str::to_owned),
                    fill: at > 1,
                    ignore_unknown: at > 1,
                    ..Import::new(path, &out)
                };
                match import(&asked, &stop) {
                    Ok(_) => comes_back(&Dataset::open(&out).expect("it was made"), &stop),
                    Err(error) => assert!(error.to_string().contains(name), "{error}"),
                }
            }
        });
    }
}

fn comes_back(made: &Dataset, stop: &AtomicBool) {
    let rows = |set: &Dataset| {
        let columns = set.columns().expect("it has a part");
        let batches: Result<Vec<_>, _> = set.batches(None).expect("it has a part").collect();
        concat_batches(&columns, &batches.expect("it is whole")).expect("they are of one schema")
    };
    if made.manifest().rows == 0 {
        return;
    }
    for (format, name) in [(Format::Csv, "b.csv"), (Format::Jsonl, "b.jsonl")] {
        let (file, out) = (crate::input::folder().join(name), crate::input::folder().join("again"));
        // One of another input.
        let _ = std::fs::remove_file(&file);
        export_rows(made, format, &file, u64::MAX, stop).expect("it is written");
        let schema = Some(made.manifest().schema.clone());
        let asked = Import { force: true, schema, ..Import::new(&file, &out) };
        let again = import(&asked, stop).map(|_| Dataset::open(&out).expect("it was made"));
        // JSON has no NaN, and a table no object all of whose members are missing.
        if ["round", "kernel"].contains(&made.manifest().schema.as_str()) {
            assert_eq!(rows(&again.expect("it is read")), rows(made));
        }
    }
}
