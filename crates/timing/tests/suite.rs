//! A suite as a stage.

use dataset::{
    Dataset,
    stage::{self, Context, Share, merge},
};
use stampmill_timing::{Code, Job, Options, Suite, TimeSuite, TimingRow};
use std::path::{Path, PathBuf};

/// Programs that end quickly, most of them badly.
fn suite() -> Suite {
    let programs = [
        ("empty", "int main(void) { return 0; }"),
        ("lost", "int main(void) { return lost; }"),
        ("no-main", "int other(void) { return 0; }"),
        ("null", "int main(void) { return *(volatile int *)0; }"),
        ("twice", "int main(void) { return 2; }"),
    ];
    let job = |(name, text): &(&str, &str)| Job {
        name: (*name).into(),
        program: Code::C((*text).into()),
        stdin: Vec::new(),
    };
    Suite { jobs: programs.iter().map(job).collect() }
}

fn rows(out: &Path) -> Vec<TimingRow> {
    let rows = Dataset::open(out).expect("made").rows().expect("times");
    rows.collect::<Result<_, _>>().expect("whole")
}

#[test]
fn parts_of_a_suite_merged_are_the_whole() {
    let options = Options { cpu: "zen4".into(), net: false, ..Options::default() };
    let stage = TimeSuite::new(suite(), &options).unwrap_or_else(|error| panic!("{error}"));
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| Context::new(folder.path().join(name));
    let whole = stage::run(&stage, &at("whole")).expect("timed").summary;
    let part = |index| {
        let context = Context { share: Some(Share { index, count: 3 }), ..at(&index.to_string()) };
        stage::run(&stage, &context).expect("timed");
        context.out
    };
    let parts: Vec<PathBuf> = (1..=3).map(part).collect();
    let merged = merge::<TimeSuite>(&parts, &at("merged")).expect("merged").summary;
    assert_eq!((merged.rows, merged.verdicts["accepted"]), (5, 2));
    assert_eq!(merged, whole);
    assert_eq!(rows(&folder.path().join("merged")), rows(&folder.path().join("whole")));
    let names: Vec<String> =
        rows(&folder.path().join("whole")).into_iter().map(|row| row.name).collect();
    assert_eq!(names, ["empty", "lost", "no-main", "null", "twice"]);
}
