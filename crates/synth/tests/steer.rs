//! Runs over several targets with the real compiler.

use dataset::{
    Dataset,
    stage::{self, Context, Done, Share, Stage, Worked, work_batch},
};
use stampmill_synth::{
    Budget, Error, Judge, Report, Seeds, Settings, Steer, SteerItem, SteerOptions, SteeredRow,
    Targets,
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
    time::Duration,
};

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

/// What is asked for, with seeds of this home.
fn options(judge: &Judge, home: &Path, targets: &[&str], transfer: bool) -> SteerOptions {
    let texts: Vec<String> = targets.iter().map(|text| (*text).to_owned()).collect();
    SteerOptions {
        targets: Targets::read(&texts, None, judge).expect("well-formed"),
        seeds: Seeds { path: Some(home.join("seeds")), ..Seeds::default() },
        settings: Settings { budget: Budget::Candidates(240), kept: 2, ..Settings::default() },
        transfer,
        trajectory: true,
        model: None,
        natural: None,
    }
}

fn run(judge: &Judge, options: SteerOptions, context: &Context<'_>) -> Result<Done<Report>, Error> {
    let corpus = options.corpus(judge).expect("seeds");
    let cancel = context.cancel.flag();
    let steer = Steer::new(judge, &corpus, options, None, &cancel).expect("known");
    stage::run(&steer, context)
}

fn all(out: &Path) -> Vec<SteeredRow> {
    let rows = Dataset::open(out).expect("made").rows().expect("readable");
    rows.collect::<Result<_, _>>().expect("whole")
}

/// The rows of each target, of a run over these.
fn rows(
    judge: &Judge,
    home: &Path,
    targets: &[&str],
    transfer: bool,
) -> BTreeMap<String, Vec<SteeredRow>> {
    let context = Context { force: true, ..Context::new(home.join("out")) };
    let done = run(judge, options(judge, home, targets, transfer), &context).expect("steered");
    assert_eq!(done.summary.targets, targets.len() as u64);
    let mut by_target: BTreeMap<String, Vec<SteeredRow>> = BTreeMap::new();
    for row in all(&context.out) {
        by_target.entry(row.target.clone()).or_default().push(row);
    }
    by_target
}

/// What a target is called: a program by its file's name.
fn name(target: &str) -> &str {
    target.strip_suffix("own.cl").map_or(target, |_| "own.cl")
}

#[test]
fn rows_of_a_target_are_the_same_alone_first_and_last() {
    let judge = judge();
    let home = home();
    let own = home.path().join("own.cl");
    let own = own.to_str().expect("readable");
    let targets = ["Load=6,FMul=3,Store=1,Br=2", "Load=4,Store=3,Ret=1", own];
    let backwards: Vec<&str> = targets.iter().rev().copied().collect();
    let forwards = rows(&judge, home.path(), &targets, false);
    assert_eq!(forwards, rows(&judge, home.path(), &backwards, false));
    for target in targets {
        let alone = rows(&judge, home.path(), &[target], false);
        assert_eq!(alone[name(target)], forwards[name(target)], "{target}");
    }
    // What the first search learned and found shows in the others' where it is handed on.
    let transferred = rows(&judge, home.path(), &targets, true);
    assert!(forwards.values().all(|rows| !rows[0].trajectory.is_empty()));
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
    let found = rows(&judge, home.path(), &targets, false);
    let mined = targets.map(|target| found[name(target)][0].mined_exact);
    assert_eq!(mined, [0, 1]);
    // One target's program is nobody's seed where searches hand on what they find.
    let found = rows(&judge, home.path(), &targets, true);
    assert_eq!(targets.map(|target| found[name(target)][0].mined_exact), [0, 0]);
}

#[test]
fn a_target_without_seeds_of_its_own_is_searched_for_without() {
    let judge = judge();
    let home = home();
    std::fs::remove_file(home.path().join("seeds/mix.cl")).expect("it was there");
    let own = home.path().join("own.cl");
    let options = options(&judge, home.path(), &[own.to_str().expect("readable")], false);
    let corpus = options.corpus(&judge).expect("readable");
    assert_eq!(corpus.len(), 1);
    let stop = AtomicBool::new(false);
    let steer = Steer::new(&judge, &corpus, options, None, &stop).expect("known");
    let items: Vec<SteerItem> =
        steer.items().expect("one").all.collect::<Result<_, _>>().expect("read");
    let Worked::Rows(rows) = &steer.work(&mut None, &items).expect("judged")[0] else {
        unreachable!("a search does not depend on the day")
    };
    assert_eq!((rows[0].verdict.as_str(), rows[0].mined_exact), ("accepted", 0));
    // The same as a function of batches.
    let batch = <SteerItem as dataset::Row>::to_batch(&items).expect("columns");
    let batch = work_batch(&steer, &mut None, &batch).expect("judged");
    assert_eq!(&<SteeredRow as dataset::Row>::from_batch(&batch).expect("columns"), rows);
}

const TARGETS: [&str; 5] = [
    "Load=6,FMul=3,Store=1,Br=2",
    "TotalInsts=30,Load=4",
    "Ret=0",
    "Load=3,Store=2",
    "Alloca=5,Store=0,Load=0",
];

#[test]
fn threads_and_parts_change_nothing() {
    let judge = judge();
    let home = home();
    let at = |name: &str, jobs, share| {
        let context = Context { jobs, share, ..Context::new(home.path().join(name)) };
        let options = options(&judge, home.path(), &TARGETS, false);
        let done = run(&judge, options, &context).expect("steered");
        (context.out, done.summary)
    };
    let (whole, report) = at("whole", 1, None);
    let (threads, of_threads) = at("threads", 3, None);
    assert_eq!((all(&threads), of_threads), (all(&whole), report.clone()));
    let part = |index| at(&format!("part{index}"), 2, Some(Share { index, count: 2 })).0;
    let parts: Vec<PathBuf> = [2, 1].map(part).to_vec();
    let merged = Context::new(home.path().join("merged"));
    let joined = stage::merge::<Steer<'_>>(&parts, &merged).expect("merged");
    assert_eq!((all(&merged.out), joined.summary), (all(&whole), report));
    let share = Some(Share { index: 1, count: 2 });
    let context = Context { share, ..Context::new(home.path().join("no-part")) };
    let error = run(&judge, options(&judge, home.path(), &TARGETS, true), &context);
    assert!(error.expect_err("refused").to_string().contains("no part 1/2"));
}

#[test]
fn a_stopped_run_is_resumed_to_the_rows_of_one_without_a_stop() {
    let judge = judge();
    let home = home();
    for transfer in [false, true] {
        let options = || options(&judge, home.path(), &TARGETS, transfer);
        let straight = Context { force: true, ..Context::new(home.path().join("straight")) };
        let before = judge.judged();
        run(&judge, options(), &straight).expect("steered");
        let count = judge.judged() - before;
        // In the first search, and in two later ones.
        for eighths in [1, 4, 7] {
            let stopped =
                Context { jobs: 1, force: true, ..Context::new(home.path().join("stopped")) };
            let until = judge.judged() + count * eighths / 8;
            let done = std::thread::scope(|scope| {
                let cancel = stopped.cancel.clone();
                let judge = &judge;
                scope.spawn(move || {
                    while judge.judged() < until && !cancel.is_cancelled() {
                        std::thread::sleep(Duration::from_micros(200));
                    }
                    cancel.cancel();
                });
                let done = run(judge, options(), &stopped);
                stopped.cancel.cancel();
                done
            });
            if let Err(error) = done {
                assert!(error.to_string().starts_with("stopped "), "{error}");
                let context = Context::new(&stopped.out);
                run(&judge, options(), &context).expect("resumed");
            }
            assert_eq!(all(&stopped.out), all(&straight.out), "transfer {transfer}, {eighths}/8");
            std::fs::remove_dir_all(&stopped.out).expect("made");
        }
    }
}

#[test]
fn vectors_of_seeds_are_read_where_they_are_given() {
    let judge = judge();
    let home = home();
    let extractor = features::Extractor::new(vec![judge.space()], features::Options::default());
    let seeds = dataset::Programs::open(&home.path().join("seeds")).expect("programs");
    let stage = features::Features::new(extractor, seeds, "seeds").expect("readable");
    let vectors = Context::new(home.path().join("vectors"));
    stage::run(&stage, &vectors).expect("described");
    let at = |name: &str, features: Option<PathBuf>| {
        let mut options = options(&judge, home.path(), &TARGETS[..1], false);
        options.seeds.features = features;
        let before = judge.judged();
        options.corpus(&judge).expect("seeds");
        let judged = judge.judged() - before;
        let context = Context::new(home.path().join(name));
        run(&judge, options, &context).expect("steered");
        (judged, all(&context.out))
    };
    let (computed, rows) = at("computed", None);
    let (read, same) = at("read", Some(vectors.out));
    assert_eq!((computed, read, same), (2, 0, rows));
    let other = home.path().join("computed");
    let mut options = options(&judge, home.path(), &TARGETS[..1], false);
    options.seeds.features = Some(other);
    assert!(options.corpus(&judge).expect_err("no vectors").to_string().contains("steered"));
}

#[test]
fn seeds_that_there_is_no_time_for_wait_for_the_next_run() {
    let judge = judge();
    let home = home();
    let options = || {
        let mut options = options(&judge, home.path(), &TARGETS[3..4], false);
        options.seeds.cache = Some(home.path().join("cache"));
        options.settings.budget = Budget::Wall(Duration::from_nanos(1));
        options
    };
    let mut described = 0;
    while described < 2 {
        let corpus = options().corpus(&judge).expect("readable");
        assert!(corpus.len() > described, "each run describes one at least");
        assert_eq!(corpus.len() + corpus.left(), 2);
        described = corpus.len();
    }
    let before = judge.judged();
    options().corpus(&judge).expect("readable");
    assert_eq!(judge.judged(), before);
    let done = run(&judge, options(), &Context::new(home.path().join("out"))).expect("steered");
    assert_eq!((done.summary.seeds, done.summary.seeds_left), (2, 0));
}
