//! What a manifest says of the making of a data set's inputs.

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use stampmill_dataset::{Dataset, Input, Notes, write_flat};
use std::{collections::BTreeMap, path::Path, sync::Arc};

/// A data set of one row, made of others.
fn made(out: &Path, value: i64, inputs: &[&Dataset], notes: Notes) -> Dataset {
    let column: ArrayRef = Arc::new(Int64Array::from(vec![value]));
    let rows = RecordBatch::try_from_iter([("value", column)]).unwrap();
    let inputs = inputs
        .iter()
        .map(|input| Input { name: "in".into(), hash: input.manifest().identity.clone() })
        .collect();
    write_flat(out, false, ("query", 1), &[rows], Notes { inputs, ..notes }).unwrap()
}

#[test]
fn seed_tools_and_machine_of_a_measurement_survive_what_is_made_of_it() {
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name);
    let tools = BTreeMap::from([("device".to_owned(), "a GPU, driver 7".to_owned())]);
    let hosts = vec!["another machine".to_owned()];
    made(&at("runs"), 1, &[], Notes { seed: 41, tools: tools.clone(), hosts, ..Notes::default() });
    let runs = Dataset::open(&at("runs")).unwrap();
    assert!(runs.manifest().lineage.is_empty());
    made(&at("both"), 2, &[&runs], Notes::default());
    let both = Dataset::open(&at("both")).unwrap();
    made(&at("task"), 3, &[&both], Notes::default());
    let task = Dataset::open(&at("task")).unwrap();
    let lineage = &task.manifest().lineage;
    assert_eq!(lineage.len(), 2);
    let measured = &lineage[&runs.manifest().identity];
    assert_eq!((measured.seed, &measured.tools), (41, &tools));
    assert_eq!(measured.host, "another machine");
    // What is no part of it is not in it, though this process has opened it.
    made(&at("other"), 4, &[], Notes::default());
    Dataset::open(&at("other")).unwrap();
    made(&at("last"), 5, &[&task], Notes::default());
    assert_eq!(Dataset::open(&at("last")).unwrap().manifest().lineage.len(), 3);
}
