//! Many programs at once: how they are cut, what is counted, and what a user is told on the way.

use dataset::{
    Dataset, Programs, Progress, Silent,
    stage::{Context as Run, Stage as _, run},
};
use stampmill_features::{
    CompileConfigs, Error, Extractor, Features, ModuleReader, Options, spaces,
};
use std::{
    fs,
    path::Path,
    sync::{Arc, Mutex, atomic::AtomicBool},
};

fn extractor(list: &str) -> Extractor {
    let options = Options { reader: ModuleReader::InProcess, ..Options::default() };
    Extractor::new(spaces(list).expect("registered"), options)
}

/// What a user is told.
#[derive(Default)]
struct Told(Mutex<Vec<String>>);

impl Progress for Told {
    fn begin(&self, name: &str, total: u64) {
        self.0.lock().expect("nobody panicked").push(format!("{name} {total}"));
    }

    fn advance(&self, units: u64) {
        self.0.lock().expect("nobody panicked").push(units.to_string());
    }

    fn message(&self, _: &str) {}
}

/// What is told while the programs of a folder are described in the space of tokens.
fn told(folder: &Path) -> Vec<String> {
    let told = Told::default();
    let programs = Programs::open(folder).expect("there are some");
    extractor("instcount").describe_all(&programs, &told, |_| Ok(())).expect("they have rows");
    told.0.into_inner().expect("nobody panicked")
}

#[test]
fn programs_are_described_128_at_a_time() {
    let folder = tempfile::tempdir().expect("there is room");
    for index in 0..130 {
        fs::write(folder.path().join(format!("{index:03}.cl")), " ").expect("there is room");
    }
    assert_eq!(told(folder.path()), ["describing 130", "128", "2"]);
}

#[test]
fn large_programs_are_described_one_at_a_time() {
    let folder = tempfile::tempdir().expect("there is room");
    for name in ["a.bc", "b.bc"] {
        let sparse = fs::File::create(folder.path().join(name)).expect("there is room");
        sparse.set_len(dataset::LARGEST_PROGRAM).expect("a sparse file takes none");
    }
    fs::write(folder.path().join("c.cl"), " ").expect("there is room");
    assert_eq!(told(folder.path()), ["describing 3", "1", "1", "1"]);
}

#[test]
fn programs_rows_and_vectors_are_reported() {
    let folder = tempfile::tempdir().expect("there is room");
    let two =
        "kernel void A(global int* a) { a[0] = 1; } kernel void B(global int* a) { a[0] = 2; }";
    for (name, text) in [("a.cl", two), ("b.cl", " "), ("c.cl", "kernel void C() {}")] {
        fs::write(folder.path().join(name), text).expect("there is room");
    }
    let programs = Programs::open(folder.path()).expect("there are some");
    let (all, mut kernels) = (extractor("grewe,tokens"), Vec::new());
    let report = all.describe_all(&programs, &Silent, |rows| {
        kernels.extend(rows.into_iter().map(|row| row.kernel));
        Ok(())
    });
    let report = serde_json::to_value(report.expect("they have rows")).expect("plain data");
    assert_eq!(kernels, ["A", "B", "", "C"]);
    let wanted = serde_json::json!({
        "programs": 3,
        "rows": 4,
        "verdicts": {"accepted": 3, "empty": 1},
        "vectors": {"grewe": 2, "tokens": 3},
        "missing": {"grewe": {"no-vector": 1}},
    });
    assert_eq!(report, wanted);
}

#[test]
fn a_run_that_is_stopped_says_how_far_it_came() {
    let folder = tempfile::tempdir().expect("there is room");
    fs::write(folder.path().join("a.cl"), " ").expect("there is room");
    let cancelled = Arc::new(AtomicBool::new(true));
    let options = Options { cancelled, ..Options::default() };
    let all = Extractor::new(spaces("tokens").expect("registered"), options);
    let programs = Programs::open(folder.path()).expect("there is one");
    let error = all.describe_all(&programs, &Silent, |_| Ok(())).expect_err("it is stopped");
    assert!(matches!(error, Error::Cancelled { done: 0 }), "{error:?}");
}

#[test]
fn a_data_set_says_what_it_was_made_from_and_how() {
    let folder = tempfile::tempdir().expect("there is room");
    let sources = folder.path().join("sources");
    fs::create_dir(&sources).expect("there is room");
    fs::write(sources.join("a.cl"), "kernel void A() {}").expect("there is room");
    let stage = |configs: CompileConfigs| {
        let options =
            Options { configs, reader: ModuleReader::InProcess, jobs: 1, ..Options::default() };
        let all = Extractor::new(spaces("instcount,tokens").expect("registered"), options);
        let programs = Programs::open(&sources).expect("there is one");
        Features::new(all, programs, "my programs").expect("it is read")
    };
    let made = stage(CompileConfigs::default().at_level(2));
    assert_ne!(made.settings(), stage(CompileConfigs::default()).settings());
    let context = Run::new(folder.path().join("out"));
    run(&made, &context).expect("a data set");
    let dataset = Dataset::open(&context.out).expect("a data set");
    let notes = &dataset.manifest().notes;
    assert_eq!(notes.inputs.len(), 1);
    assert_eq!((notes.inputs[0].name.as_str(), notes.inputs[0].hash.len()), ("my programs", 32));
    assert_eq!(notes.configuration["level"], 2);
    let tools: Vec<&str> = notes.tools.keys().map(String::as_str).collect();
    assert_eq!(tools, ["clang", "llvm"]);
    let details = made.inputs_in_detail().expect("it is read");
    assert!(details.iter().any(|input| input.name.ends_with("a.cl")), "{details:?}");
    let item = made.items().expect("it is read").all.next().expect("one").expect("it is read");
    assert_eq!(made.size_bytes(&item), "kernel void A() {}".len());
    assert_eq!(made.key(&item), item.id);
}
