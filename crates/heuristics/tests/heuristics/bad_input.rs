//! Rows and tables that nothing can be learnt from.

use super::task;
use stampmill_heuristics::{
    CrossvalOptions, Features, Group, Import, ImportOptions, Mapping, Task, TrainOptions, crossval,
    import, train,
};
use std::fs;

const HEADER: &str = "benchmark,dataset,comp,rational,mem,localmem,coalesced,atomic,transfer,\
    wgsize,oracle,runtime_cpu,runtime_gpu";

/// Import CSV rows below the header of the CLgen paper's files.
fn imported(rows: &[&str], keep_garbage: bool) -> stampmill_heuristics::Result<Import> {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("table.csv");
    fs::write(&source, format!("{HEADER}\n{}\n", rows.join("\n"))).unwrap();
    import(&ImportOptions { source, mapping: Mapping::cgo17(Features::Grewe), keep_garbage })
}

const GOOD: &str = "npb-3.3-FT-fft,A,10,1,5,0,5,0,1024,64,GPU,4.0,2.0";

#[test]
fn every_bad_row_gets_a_verdict_and_none_vanishes() {
    let rows = [
        GOOD,
        "npb-3.3-FT-a,A,20001,1,5,0,5,0,1024,64,GPU,4.0,2.0",
        "npb-3.3-FT-b,A,-1,1,5,0,5,0,1024,64,GPU,4.0,2.0",
        "npb-3.3-FT-c,A,NaN,1,5,0,5,0,1024,64,GPU,4.0,2.0",
        "npb-3.3-FT-d,A,what,1,5,0,5,0,1024,64,GPU,4.0,2.0",
        "npb-3.3-FT-e,A,10,1,0,0,5,0,1024,64,GPU,4.0,2.0",
        "npb-3.3-FT-f,A,10,1,5,0,5,0,1024,64,GPU,0,2.0",
        "npb-3.3-FT-g,A,10,1,5,0,5,0,1024,64,FPGA,4.0,2.0",
        "npb-3.3-FT-h,A,10,1,5,0,5,0,1024,64,CPU,4.0,2.0",
        "npb-3.3-FT-i,A,10,1,5,0,5,0,-7,64,GPU,4.0,2.0",
    ];
    let import = imported(&rows, false).unwrap();
    let counted: Vec<(&str, u64)> =
        import.verdicts.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    assert_eq!(
        counted,
        [
            ("accepted", 1),
            ("bad-cost", 1),
            ("garbage-feature", 3),
            ("infinite-ratio", 1),
            ("not-a-number", 2),
            ("relabelled", 1),
            ("unknown-label", 1),
        ]
    );
    assert_eq!(import.task.rows.len(), 2);
    assert_eq!(import.task.rows[1].label, 1, "the cheapest choice is the label");
    let (line, verdict) = &import.notes[0];
    assert_eq!((*line, verdict.to_string().as_str()), (3, "garbage-feature: comp is 20001"));
}

#[test]
fn garbage_can_be_kept_and_is_still_counted() {
    let garbage = "npb-3.3-FT-a,A,20001,1,5,0,5,0,1024,64,GPU,4.0,2.0";
    let import = imported(&[GOOD, garbage], true).unwrap();
    assert_eq!(import.task.rows.len(), 2);
    assert_eq!(import.verdicts["garbage-feature"], 1);
}

#[test]
fn a_table_of_garbage_only_is_an_error_that_counts() {
    let error = imported(&["npb-3.3-FT-a,A,NaN,1,5,0,5,0,1024,64,GPU,4.0,2.0"], false).unwrap_err();
    assert!(error.to_string().ends_with(": 1 rejected"), "{error}");
}

#[test]
fn a_missing_column_is_named_with_the_columns_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("table.csv");
    fs::write(&source, "benchmark,dataset,comp\na,b,1\n").unwrap();
    let options = ImportOptions { source, mapping: Mapping::default(), keep_garbage: false };
    let error = import(&options).unwrap_err().to_string();
    assert!(error.contains("no column `"), "{error}");
    assert!(error.ends_with("it has benchmark, dataset, comp"), "{error}");
}

#[test]
fn rows_of_two_feature_spaces_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("table.csv");
    fs::write(&source, "name,space,x\na,grewe,1\nb,instcount,2\n").unwrap();
    let mapping = Mapping {
        program: "name".to_owned(),
        variant: None,
        group: Group::Program,
        features: Features::Columns(vec!["x".to_owned()]),
        costs: Vec::new(),
        label: None,
        counters: Vec::new(),
        counter_limit: f64::INFINITY,
    };
    let error = import(&ImportOptions { source, mapping, keep_garbage: false }).unwrap_err();
    assert_eq!(error.to_string(), "cannot mix feature spaces: [grewe] and [instcount]");
}

#[test]
fn selecting_a_feature_that_is_not_there_names_those_that_are() {
    let task = task(&[(&[1.0, 2.0], "a", [1.0, 2.0])]);
    let second = task.select(&["feature 1".to_owned()]).unwrap();
    assert_eq!((second.features.len(), second.rows[0].features[0]), (1, 2.0));
    let error = task.select(&["feature 2".to_owned()]).unwrap_err().to_string();
    assert_eq!(error, "the task has no column `feature 2`; it has feature 0, feature 1");
}

#[test]
fn tasks_of_two_feature_spaces_do_not_join() {
    let one = task(&[(&[1.0], "a", [1.0, 2.0])]);
    let two = task(&[(&[1.0, 2.0], "a", [1.0, 2.0])]);
    assert!(one.join(&two).unwrap_err().to_string().starts_with("cannot mix feature spaces"));
}

#[test]
fn a_choice_that_is_never_best_is_named() {
    let task = task(&[(&[1.0], "a", [1.0, 2.0]), (&[2.0], "b", [1.0, 3.0])]);
    let options = TrainOptions { model: "tree".to_owned(), seed: 0 };
    let error = train(&task, &options).unwrap_err().to_string();
    assert_eq!(
        error,
        "every row is labelled `CPU` and `GPU` never occurs; there is nothing to learn, choose \
         `CPU` always"
    );
}

#[test]
fn one_group_cannot_be_left_out() {
    let task = task(&[(&[1.0], "NPB", [1.0, 2.0]), (&[2.0], "NPB", [2.0, 1.0])]);
    let error = crossval(&task, &options("tree")).unwrap_err().to_string();
    assert_eq!(
        error,
        "1 group of rows (`NPB`), but cross-validation by group needs at least 2: `label --group path` makes a group of each file"
    );
}

#[test]
fn a_fold_that_knows_one_label_only_is_counted() {
    let task = task(&[(&[1.0], "a", [1.0, 2.0]), (&[2.0], "b", [2.0, 1.0])]);
    for model in ["tree", "knn", "forest", "boosting", "mlp"] {
        let report = crossval(&task, &options(model)).unwrap();
        let scores = &report.models[0].scores;
        assert_eq!(scores.verdicts["one-class-fold"], 2, "{model}");
        assert_eq!(scores.accuracy, 0.0, "{model}");
    }
}

#[test]
fn unmeasured_rows_cannot_be_trained_on() {
    let mut task = task(&[(&[1.0], "a", [1.0, 2.0]), (&[2.0], "b", [2.0, 1.0])]);
    task.rows[1].costs.clear();
    let options = TrainOptions { model: "tree".to_owned(), seed: 0 };
    let error = train(&task, &options).unwrap_err().to_string();
    assert!(error.starts_with("1 rows have no costs"), "{error}");
}

#[test]
fn unknown_models_and_settings_are_told_the_known_ones() {
    let task = task(&[(&[1.0], "a", [1.0, 2.0]), (&[2.0], "b", [2.0, 1.0])]);
    let said = |model: &str| {
        let options = TrainOptions { model: model.to_owned(), seed: 0 };
        train(&task, &options).unwrap_err().to_string()
    };
    assert_eq!(said("oak"), "unknown model `oak`; known: tree, knn, forest, boosting, mlp");
    assert!(said("knn:neighbours=3").contains("no setting `neighbours`; settings: k=1"));
    assert!(said("knn:k=3:scale=maybe").contains("scale cannot be `maybe`"));
    assert!(said("knn:k=many").contains("k cannot be `many`"));
}

#[test]
fn a_feature_may_not_be_named_like_a_column_of_the_schema() {
    let mut task = task(&[(&[1.0], "a", [1.0, 2.0])]);
    task.features[0] = "cost_CPU".to_owned();
    let folder = tempfile::tempdir().unwrap();
    let error = task.save(&folder.path().join("task"), false, dataset::Notes::default());
    assert!(error.unwrap_err().to_string().starts_with("`cost_CPU` cannot name a feature"));
}

#[test]
fn a_task_read_back_equals_what_was_written() {
    let mut task = task(&[
        (&[1.0, 0.1], "a", [1.0, 2.0]),
        (&[2.0, -3.0], "b", [2.0, 1.0]),
        (&[2.5, 1e300], "b", [2.0, 2.0]),
    ]);
    task.rows[2].label = 1;
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("task");
    task.save(&out, false, dataset::Notes::default()).unwrap();
    assert_eq!(Task::load(&out).unwrap(), task);
    let options = ImportOptions { source: out, mapping: Mapping::default(), keep_garbage: false };
    assert_eq!(import(&options).unwrap().task, task);
}

#[test]
fn a_task_written_as_csv_imports_as_the_same_task() {
    let task = task(&[(&[1.0, 0.1], "a", [1.0, 2.0]), (&[2.0, -3.0], "b", [2.0, 1.0])]);
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("task.csv");
    task.write_csv(fs::File::create(&source).unwrap()).unwrap();
    let text = str::to_owned;
    let mapping = Mapping {
        program: text("program"),
        variant: Some(text("variant")),
        group: Group::Column(text("group")),
        features: Features::Columns(task.features.clone()),
        costs: vec![(text("CPU"), text("cost_CPU")), (text("GPU"), text("cost_GPU"))],
        label: Some(text("label")),
        counters: Vec::new(),
        counter_limit: f64::INFINITY,
    };
    let import = import(&ImportOptions { source, mapping, keep_garbage: false }).unwrap();
    assert_eq!(import.task, task);
    assert_eq!(import.report().labels["GPU"], 1);
}

fn options(model: &str) -> CrossvalOptions {
    CrossvalOptions { models: vec![model.to_owned()], folds: 0, extra: None, seed: 0 }
}
