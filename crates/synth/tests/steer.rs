//! Runs over several targets with the real compiler.

use stampmill_synth::{
    Budget, Judge, Seeds, Settings, SteerOptions, SteeredRow, Steering, Targets, steer,
};
use std::{collections::BTreeMap, path::Path, sync::atomic::AtomicBool};

const SCALE: &str = "__kernel void scale(__global float* a, __global float* b, int c) {\n\
    int d = get_global_id(0);\n  if (d < c) {\n    b[d] = a[d] * 2.5f + 1.0f;\n  }\n}\n";
const MIX: &str = "__kernel void mix(__global int* a, int b) {\n\
    for (int c = 0; c < b; c++) {\n    a[c] ^= c << 3;\n  }\n}\n";

fn judge() -> Judge {
    Judge::new(features::space("instcount").expect("registered"), 2)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// A folder of seeds, and a program that is one of them.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("a temporary folder");
    std::fs::create_dir(home.path().join("seeds")).expect("made");
    for (name, text) in [("seeds/scale.cl", SCALE), ("seeds/mix.cl", MIX), ("own.cl", SCALE)] {
        std::fs::write(home.path().join(name), text).expect("written");
    }
    home
}

/// The rows of each target, of a run over these.
fn rows(
    judge: &Judge,
    home: &Path,
    targets: &[&str],
    independent: bool,
) -> BTreeMap<String, Vec<SteeredRow>> {
    let texts: Vec<String> = targets.iter().map(|text| (*text).to_owned()).collect();
    let options = SteerOptions {
        targets: Targets::read(&texts, None, judge).expect("well-formed"),
        seeds: Seeds { path: Some(home.join("seeds")), ..Seeds::default() },
        settings: Settings { budget: Budget::Candidates(240), kept: 2, ..Settings::default() },
        independent,
        model: None,
        out: home.join("out"),
        trajectory: None,
        force: true,
    };
    let stop = AtomicBool::new(false);
    let report = steer(judge, &options, None, &dataset::Silent, &stop).expect("steered");
    assert_eq!(report.targets, targets.len() as u64);
    let mut all: BTreeMap<String, Vec<SteeredRow>> = BTreeMap::new();
    for row in dataset::Dataset::open(&options.out).expect("made").rows().expect("readable") {
        let row: SteeredRow = row.expect("a row");
        all.entry(row.target.clone()).or_default().push(row);
    }
    all
}

/// What a target is called: a program by its file's name.
fn name(target: &str) -> &str {
    target.strip_suffix("own.cl").map_or(target, |_| "own.cl")
}

#[test]
fn rows_of_an_independent_target_are_the_same_alone_first_and_last() {
    let judge = judge();
    let home = home();
    let own = home.path().join("own.cl");
    let own = own.to_str().expect("readable");
    let targets = ["Load=6,FMul=3,Store=1,Br=2", "Load=4,Store=3,Ret=1", own];
    let backwards: Vec<&str> = targets.iter().rev().copied().collect();
    let forwards = rows(&judge, home.path(), &targets, true);
    assert_eq!(forwards, rows(&judge, home.path(), &backwards, true));
    for target in targets {
        let alone = rows(&judge, home.path(), &[target], true);
        assert_eq!(alone[name(target)], forwards[name(target)], "{target}");
    }
    // What the first search learned and found shows in the others' where it is handed on.
    let transferred = rows(&judge, home.path(), &targets, false);
    assert!(targets.map(name).iter().any(|target| transferred[*target] != forwards[*target]));
}

#[test]
fn a_program_is_no_seed_for_its_own_vector_and_one_for_others() {
    let judge = judge();
    let home = home();
    let vector = judge.judge(&[SCALE]).expect("LLVM is here").pop().flatten().expect("compiles");
    let point = home.path().join("point.json");
    std::fs::write(&point, serde_json::to_vec(&vector).expect("plain")).expect("written");
    let own = home.path().join("own.cl");
    let targets = [own.to_str().expect("readable"), point.to_str().expect("readable")];
    let found = rows(&judge, home.path(), &targets, true);
    let mined = targets.map(|target| found[name(target)][0].mined_exact);
    assert_eq!(mined, [0, 1]);
    // One target's program is nobody's seed where searches hand on what they find.
    let found = rows(&judge, home.path(), &targets, false);
    assert_eq!(targets.map(|target| found[name(target)][0].mined_exact), [0, 0]);
}

#[test]
fn a_target_without_seeds_of_its_own_is_searched_for_without() {
    let judge = judge();
    let home = home();
    std::fs::remove_file(home.path().join("seeds/mix.cl")).expect("it was there");
    let own = home.path().join("own.cl");
    let options = SteerOptions {
        targets: Targets::read(&[own.display().to_string()], None, &judge).expect("well-formed"),
        seeds: Seeds::default(),
        settings: Settings { budget: Budget::Candidates(96), ..Settings::default() },
        independent: true,
        model: None,
        out: home.path().join("out"),
        trajectory: None,
        force: false,
    };
    let seeds = home.path().join("seeds");
    let exclusion = stampmill_synth::Exclusion::default();
    let corpus = stampmill_synth::Corpus::open(&seeds, &exclusion, &judge, None).expect("readable");
    assert_eq!(corpus.len(), 1);
    let stop = AtomicBool::new(false);
    let mut steering = Steering::new(&judge, &corpus, &options, None, &stop).expect("known");
    let rows = steering.found(&options.targets.all()[0]).expect("judged");
    assert_eq!((rows[0].verdict.as_str(), rows[0].mined_exact), ("accepted", 0));
}
