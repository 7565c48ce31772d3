//! Searches with the real compiler.

use dataset::{FAMILY_THRESHOLD, Signature};
use lexer::tokens;
use stampmill_synth::{
    Arguments, Budget, Candidate, Corpus, Exclusion, Judge, Proposer, Rng, Search, Settings, State,
    Target,
};
use std::{sync::atomic::AtomicBool, time::Duration};

fn judge(space: &str) -> Judge {
    let space = features::space(space).expect("registered");
    Judge::new(space, 2).unwrap_or_else(|error| panic!("{error}"))
}

fn settings(candidates: u64) -> Settings {
    let proposers = stampmill_synth::default_proposers(false);
    Settings { budget: Budget::Candidates(candidates), proposers, ..Settings::default() }
}

const KERNEL: &str = "__kernel void A(__global float* a, __global float* b, int c) {\n\
    int d = get_global_id(0);\n  if (d < c) {\n    b[d] = a[d] * 2.5f + 1.0f;\n  }\n}\n";

#[test]
fn finds_a_kernel_at_the_point_of_another() {
    let judge = judge("instcount");
    let vector = judge.judge(&[KERNEL]).expect("LLVM is here").pop().flatten().expect("compiles");
    let target = Target::point("a:A", &vector);
    let corpus = Corpus::default();
    let mut search = Search::new(&judge, &corpus, settings(30_000)).expect("proposers are known");
    let found = search.find(&target, &AtomicBool::new(false)).expect("candidates are judged");
    assert!(found.is_exact(), "{:?}", found.kernels);
    // The answer is judged again from its text alone.
    let again = judge.judge(&[&found.kernels[0].text]).expect("LLVM is here").pop().flatten();
    assert_eq!(again.expect("compiles"), vector);
    assert!(found.trajectory.iter().any(|row| row.best && row.distance == 0.0));
}

#[test]
fn the_same_seed_and_count_give_the_same_kernels() {
    let judge = judge("autophase");
    let target = Target::parse("NumLoadInst=3,NumBrInst=4,NumPHIInst=1", judge.space());
    let vector = judge.judge(&[KERNEL]).expect("LLVM is here").pop().flatten().expect("compiles");
    let corpus = Corpus::default();
    let large = Target::parse("TotalInsts=140..160,NumLoadInst=30,NumBrInst=9", judge.space());
    // The second comes near enough for sums of edits; the third can afford to try all edits first. The last is a large one.
    let point = Target::point("a:A", &vector);
    for (target, count, by) in [
        (target.expect("well-formed"), 480, "construct"),
        (point.clone(), 1600, "combine"),
        (point, 4500, "combine"),
        (large.expect("well-formed"), 1200, "construct"),
    ] {
        let [first, second] = [(); 2].map(|()| {
            let mut search = Search::new(&judge, &corpus, settings(count)).expect("known");
            let found = search.find(&target, &AtomicBool::new(false)).expect("judged");
            assert!(found.trajectory.iter().any(|row| row.proposer == by), "{by}");
            let way: Vec<f64> = found.trajectory.iter().map(|row| row.distance).collect();
            (found.kernels[0].text.clone(), way)
        });
        assert_eq!(first, second);
    }
}

#[test]
fn kernels_of_one_point_are_different_and_use_their_parameters() {
    let judge = judge("instcount");
    let target = Target::parse("Load=2,Store=1,TotalInsts=16", judge.space()).expect("well-formed");
    let corpus = Corpus::default();
    let settings = Settings { kept: 3, ..settings(30_000) };
    let mut search = Search::new(&judge, &corpus, settings).expect("known");
    let found = search.find(&target, &AtomicBool::new(false)).expect("judged");
    let texts: Vec<&str> = found.kernels.iter().map(|row| row.text.as_str()).collect();
    assert_eq!(texts.len(), 3);
    assert!(found.kernels.iter().all(|row| row.exact), "{texts:?}");
    let signatures = texts.iter().map(|text| Signature::of(tokens(text).map(|token| token.text)));
    let signatures: Vec<Signature> = signatures.collect();
    for (at, one) in signatures.iter().enumerate() {
        for other in &signatures[..at] {
            assert!(one.similarity(other) < FAMILY_THRESHOLD, "{texts:?}");
        }
    }
    for text in texts {
        let body = text.split_once('{').expect("a body").1;
        let head = text.split_once('{').expect("a head").0;
        let words = |text| tokens(text).map(|token| token.text).collect::<Vec<&str>>();
        let own = head.split(['(', ',', ')']).skip(1).filter_map(|one| words(one).pop());
        let unused: Vec<&str> = own.filter(|word| !words(body).contains(word)).collect();
        assert!(unused.is_empty(), "{unused:?} of {text}");
    }
}

/// A kernel of as many sums and one of as many products.
fn sums_and_products(count: i32) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, operator) in [("sums", "+"), ("products", "*")] {
        let line = |at: i32| format!("  b[d + {at}] = a[d + {at}] {operator} c;\n");
        let lines: String = (0..count).map(line).collect();
        let text = format!(
            "__kernel void {name}(__global float* a, __global float* b, float c) {{\n  int d = get_global_id(0);\n{lines}}}\n"
        );
        std::fs::write(folder.path().join(format!("{name}.cl")), text).expect("written");
    }
    folder
}

#[test]
fn a_large_point_is_composed_of_seeds() {
    let (judge, folder) = (judge("instcount"), sums_and_products(12));
    let exclusion = Exclusion::default();
    let corpus = Corpus::open(folder.path(), &exclusion, &judge, None, None).expect("readable");
    let settings = Settings { proposers: vec!["compose".to_owned()], ..settings(480) };
    let mut search = Search::new(&judge, &corpus, settings).expect("known");
    let stop = AtomicBool::new(false);
    let target = Target::parse("TotalInsts=100..400,FAdd=12,FMul=12", judge.space());
    let found = search.find(&target.expect("well-formed"), &stop).expect("judged");
    assert!(found.is_exact(), "{:?}", found.kernels);
    assert_eq!(found.kernels[0].proposer, "compose");
    // Of a small point it has nothing to say.
    let target = Target::parse("FAdd=12,FMul=12", judge.space()).expect("well-formed");
    let found = search.find(&target, &stop).expect("judged");
    assert_eq!((found.candidates, found.kernels[0].verdict.as_str()), (0, "nothing-found"));
}

#[test]
fn a_large_point_is_composed_on_the_parameters_that_are_asked_for() {
    let (judge, folder) = (judge("instcount"), sums_and_products(24));
    let exclusion = Exclusion::default();
    let corpus = Corpus::open(folder.path(), &exclusion, &judge, None, None).expect("readable");
    let target = Target::parse("TotalInsts=100..500,FAdd=24,FMul=24", judge.space());
    let target = target.expect("well-formed");
    for (types, is_hit) in
        [("global float*, float, global float*", true), ("global float*, int", false)]
    {
        let wanted: Arguments = types.parse().expect("types");
        let arguments = Some(wanted.clone());
        let proposers = vec!["compose".to_owned()];
        let settings = Settings { proposers, arguments, ..settings(480) };
        let mut search = Search::new(&judge, &corpus, settings).expect("known");
        let found = search.find(&target, &AtomicBool::new(false)).expect("judged");
        assert_eq!(found.is_exact(), is_hit, "{types}: {:?}", found.kernels);
        assert!(!is_hit || wanted.are_of(&found.kernels[0].text), "{types}");
    }
}

#[test]
fn answers_have_the_parameters_that_are_asked_for() {
    let judge = judge("instcount");
    let target = Target::parse("Load=3,FMul=2,Store=1", judge.space()).expect("well-formed");
    let corpus = Corpus::default();
    let wanted: Arguments = "int, global float*, global float*".parse().expect("types");
    let settings = Settings { arguments: Some(wanted.clone()), ..settings(3_000) };
    let mut search = Search::new(&judge, &corpus, settings).expect("known");
    let found = search.find(&target, &AtomicBool::new(false)).expect("judged");
    assert!(found.candidates > 0);
    assert!(wanted.are_of(&found.kernels[0].text), "{}", found.kernels[0].text);
}

#[test]
fn what_is_found_is_written_more_readably_at_the_same_point() {
    let judge = judge("grewe");
    let target = Target::parse("comp=10,mem=4..6", judge.space()).expect("well-formed");
    let corpus = Corpus::default();
    let [found, written] = [false, true].map(|readable| {
        let settings = Settings { readable, seed: 7, ..settings(3_000) };
        let mut search = Search::new(&judge, &corpus, settings).expect("known");
        search.find(&target, &AtomicBool::new(false)).expect("judged").kernels.remove(0)
    });
    assert!(found.exact && written.exact);
    let again = judge.judge(&[&written.text]).expect("LLVM is here").pop().flatten();
    assert_eq!(again.expect("compiles"), written.vector);
    let parameters =
        |text: &str| text.split_once(')').map_or(0, |(head, _)| head.matches(',').count());
    assert!(
        parameters(&written.text) < parameters(&found.text),
        "{}\n{}",
        found.text,
        written.text
    );
}

#[test]
fn the_shortest_time_is_enough_for_a_generation() {
    let judge = judge("instcount");
    let corpus = Corpus::default();
    let budget = Budget::Wall(Duration::from_nanos(1));
    let settings = Settings { budget, ..settings(48) };
    let mut search = Search::new(&judge, &corpus, settings).expect("known");
    for text in ["Load=3", "Load=4"] {
        let target = Target::parse(text, judge.space()).expect("well-formed");
        let found = search.find(&target, &AtomicBool::new(false)).expect("judged");
        // Not all edits were tried before. How near one generation comes hangs on what else the machine does.
        assert!((1..100).contains(&found.candidates), "{text}: {}", found.candidates);
    }
}

#[test]
fn combining_alone_begins_at_the_empty_kernel() {
    let judge = judge("instcount");
    let target = Target::parse("Load=2,Store=1", judge.space()).expect("well-formed");
    let corpus = Corpus::default();
    for seed in 0..4 {
        let settings = Settings { seed, proposers: vec!["combine".to_owned()], ..settings(480) };
        let mut search = Search::new(&judge, &corpus, settings).expect("known");
        let found = search.find(&target, &AtomicBool::new(false)).expect("judged");
        assert!(found.candidates > 0, "seed {seed}");
    }
}

#[test]
fn a_stopped_search_keeps_its_best() {
    let judge = judge("instcount");
    let target = Target::parse("Load=3,TotalInsts=2000", judge.space()).expect("well-formed");
    let corpus = Corpus::default();
    let mut search = Search::new(&judge, &corpus, settings(1_000_000)).expect("known");
    let stop = AtomicBool::new(false);
    let found = std::thread::scope(|scope| {
        let searching = scope.spawn(|| search.find(&target, &stop));
        std::thread::sleep(std::time::Duration::from_secs(1));
        stop.store(true, std::sync::atomic::Ordering::SeqCst);
        searching.join().expect("no panic").expect("judged")
    });
    assert!(!found.is_exact() && found.candidates > 0);
}

#[test]
fn a_target_far_out_of_reach_ends_with_its_time_and_gives_the_nearest() {
    let judge = judge("instcount");
    let target = Target::parse("Load=10000000", judge.space()).expect("well-formed");
    let corpus = Corpus::default();
    let budget = Budget::Wall(Duration::from_secs(2));
    let mut search =
        Search::new(&judge, &corpus, Settings { budget, ..settings(48) }).expect("known");
    let found = search.find(&target, &AtomicBool::new(false)).expect("judged");
    // How near it comes hangs on what else the machine does.
    let nearest = &found.kernels[0];
    let is_kernel = nearest.text.contains("kernel void");
    assert!(!found.is_cut && is_kernel == (nearest.proximity > 0.0), "{nearest:?}");
    assert_eq!(nearest.verdict, if is_kernel { "accepted" } else { "nothing-found" });
}

/// Kernels without any computation, and with some.
const FAR_AND_NEAR: &[&str] = &[
    "kernel void A(global int* a, int b) { if (a[0] < b) { return; } }",
    "kernel void A(global int* a, int b) { a[get_global_id(0)] *= b + 3; }",
];

/// Proposes these texts.
struct Texts(&'static [&'static str]);

impl Proposer for Texts {
    fn name(&self) -> &'static str {
        "texts"
    }

    fn propose(&mut self, _: &State<'_>, count: usize, _: &mut Rng) -> Vec<Candidate> {
        self.0.iter().take(count).map(|text| Candidate::of_text((*text).to_owned())).collect()
    }
}

#[test]
fn what_is_as_far_from_the_target_as_nothing_is_no_answer() {
    let judge = judge("grewe");
    let target = Target::parse("comp=2000000", judge.space()).expect("well-formed");
    let corpus = Corpus::default();
    for (texts, verdict) in [(&FAR_AND_NEAR[..1], "nothing-found"), (FAR_AND_NEAR, "accepted")] {
        let settings = Settings { proposers: Vec::new(), ..settings(48) };
        let mut search = Search::new(&judge, &corpus, settings).expect("no names");
        search.add_proposer(Box::new(Texts(texts)));
        let found = search.find(&target, &AtomicBool::new(false)).expect("judged");
        let [first] = &found.kernels[..] else { panic!("{:?}", found.kernels) };
        assert_eq!(first.verdict, verdict, "{first:?}");
        assert_eq!(first.text.is_empty(), verdict == "nothing-found");
        assert_eq!(first.proximity > 0.0, verdict == "accepted");
    }
}

#[test]
fn what_cannot_be_told_acceptable_ends_the_search() {
    let judge = judge("instcount");
    let target = Target::parse("Load=2,Store=1", judge.space()).expect("well-formed");
    let corpus = Corpus::default();
    let mut search = Search::new(&judge, &corpus, settings(480)).expect("known");
    let accepts = |_: &str| Err("the device is gone".to_owned());
    search.set_acceptance(&accepts);
    let error = search.find(&target, &AtomicBool::new(false)).expect_err("no device");
    assert!(error.to_string().contains("the device is gone"), "{error}");
}

#[test]
fn what_was_wrong_with_all_is_counted() {
    let judge = judge("instcount");
    let target = Target::parse("Load=2,Store=1", judge.space()).expect("well-formed");
    let corpus = Corpus::default();
    let mut search = Search::new(&judge, &corpus, settings(480)).expect("known");
    let accepts =
        |text: &str| Ok(Some(if text.contains("p0") { "race" } else { "no-output" }.to_owned()));
    search.set_acceptance(&accepts);
    let found = search.find(&target, &AtomicBool::new(false)).expect("judged");
    let detail = &found.kernels[0].detail;
    assert!(detail.contains(" were tried: ") && detail.contains(" race"), "{detail}");
}

#[test]
fn suite_kernels_are_never_seeds() {
    let judge = judge("instcount");
    // Real kernels stand in for a suite's; the targets' names are those of six suites.
    let home = tempfile::tempdir().expect("a temporary folder");
    let reference = home.path();
    let suites = reference.join("kernels/benchmarks.jsonl");
    let targets = reference.join("targets/suites.jsonl");
    let row = |text: &String| format!("{}\n", serde_json::json!({"benchmark": "s-k", "src": text}));
    let suites_text: String = {
        let long = trials::kernels().into_iter().filter(|text| text.len() > 400);
        long.step_by(5).map(|text| row(&text)).collect()
    };
    let targets_text = std::fs::read_to_string(trials::facts("suites.jsonl")).expect("it ships");
    for (path, text) in [(&suites, &suites_text), (&targets, &targets_text)] {
        std::fs::create_dir(path.parent().expect("it has one")).expect("made");
        std::fs::write(path, text).expect("written");
    }
    std::fs::write(reference.join("kernels/clgen.jsonl"), "").expect("written");
    // A corpus into which every fourth suite kernel slipped, its layout changed.
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut planted = 0;
    for (number, line) in suites_text.lines().enumerate().step_by(4) {
        let row: serde_json::Value = serde_json::from_str(line).expect("JSON lines");
        let Some(source) = row["src"].as_str() else { continue };
        let path = folder.path().join(format!("slipped{number}.cl"));
        std::fs::write(path, source.replace('\n', " \n ")).expect("written");
        planted += 1;
    }
    std::fs::write(folder.path().join("mine.cl"), KERNEL).expect("written");
    let mut exclusion = Exclusion::default();
    exclusion.add_path(&targets).expect("readable");
    for line in targets_text.lines() {
        let row: serde_json::Value = serde_json::from_str(line).expect("JSON lines");
        let name = row["target"].as_str().and_then(|target| target.rsplit(':').next());
        let name = name.expect("a name");
        let held = exclusion.holds(name, KERNEL).expect("names need no compiler");
        assert_eq!(held, name.len() > 1, "{name}");
    }
    exclusion.add_path(&suites).expect("readable");
    let corpus = Corpus::open(folder.path(), &exclusion, &judge, None, None).expect("readable");
    assert!(planted > 20, "{planted} planted");
    assert_eq!((corpus.len(), corpus.excluded()), (1, planted));
    // And nothing at all of the reference data itself.
    let kernels = reference.join("kernels");
    exclusion.add_folder(&targets);
    exclusion.add_folder(&kernels.join("clgen.jsonl"));
    assert!(exclusion.folder_of(&kernels).is_some());
    assert!(exclusion.folder_of(&kernels.join("clgen.jsonl")).is_some());
}

#[test]
fn a_data_set_beside_the_targets_gives_seeds_and_a_suite_does_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let targets = folder.path().join("targets.jsonl");
    let [kernels, suite] = ["kernels", "suite"].map(|name| folder.path().join(name));
    for made in [&kernels, &suite] {
        std::fs::create_dir(made).expect("made");
    }
    std::fs::write(kernels.join("_dataset.json"), "{}").expect("written");
    std::fs::write(&targets, "").expect("written");
    let mut beside = Exclusion::default();
    beside.add_folder(&targets);
    assert_eq!(beside.folder_of(&kernels), None);
    for held in [&targets, &suite, &suite.join("a.cl"), folder.path()] {
        assert!(beside.folder_of(held).is_some(), "{}", held.display());
    }
    let mut below = Exclusion::default();
    below.add_folder(folder.path());
    assert!(below.folder_of(&kernels).is_some());
}

#[test]
fn a_search_that_stands_still_begins_again_and_keeps_its_best() {
    let judge = judge("instcount");
    // A second block that is reached by one branch chooses between no values: much is near, nothing there.
    let target = Target::parse("TotalBlocks=2,Br=1,Ret=1,Load=2,PHI=2,Store=0", judge.space());
    let target = target.expect("well-formed");
    let corpus = Corpus::default();
    let find = |patience| {
        let settings = Settings { patience, seed: 1, ..settings(2_000) };
        let mut search = Search::new(&judge, &corpus, settings).expect("known");
        search.find(&target, &AtomicBool::new(false)).expect("judged")
    };
    let (eager, again, patient) = (find(100), find(100), find(u64::MAX));
    assert_eq!(eager.kernels[0].text, again.kernels[0].text);
    let least = |found: &stampmill_synth::Found| {
        found.trajectory.iter().map(|row| row.distance).fold(f64::INFINITY, f64::min)
    };
    // Of what came before the search began again nothing is lost.
    assert!((least(&eager) - eager.kernels[0].distance).abs() < 1e-9);
    assert!(!patient.is_exact() && eager.kernels[0].text != patient.kernels[0].text);
    let way = |found: &stampmill_synth::Found| -> Vec<(u64, f64)> {
        found.trajectory.iter().map(|row| (row.candidates, row.distance)).collect()
    };
    assert_eq!(way(&eager), way(&again));
    // Alike until the first hundred candidates that brought nothing, and then no longer.
    let (eager, patient) = (way(&eager), way(&patient));
    let same = eager.iter().zip(&patient).take_while(|(one, other)| one == other).count();
    assert!(same > 0 && same < eager.len().min(patient.len()));
}

/// Keeps what it is told.
#[derive(Default)]
struct Told(std::sync::Mutex<Vec<String>>);

impl dataset::Progress for Told {
    fn begin(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64) {}
    fn message(&self, text: &str) {
        self.0.lock().expect("nobody panics").push(text.to_owned());
    }
}

#[test]
fn a_search_says_at_once_that_it_begins_and_then_how_near_it_is() {
    let judge = judge("instcount");
    let target = Target::parse("Load=40,Store=40", judge.space()).expect("well-formed");
    let (corpus, told) = (Corpus::default(), Told::default());
    let mut search = Search::new(&judge, &corpus, settings(1_000)).expect("known");
    search.set_watch(&told);
    search.find(&target, &AtomicBool::new(false)).expect("candidates are judged");
    drop(search);
    let told = told.0.into_inner().expect("nobody panics");
    assert_eq!(told[0], "Load=40,Store=40: begins");
    assert!(told.len() > 1, "{told:?}");
    let last = told.last().expect("some");
    assert!(last.ends_with(": written more readably"), "{last}");
    let searched = told.iter().rfind(|one| !one.ends_with(": written more readably"));
    assert!(searched.is_some_and(|one| one.contains(" candidates, proximity ")), "{told:?}");
}

#[test]
fn how_near_a_search_is_never_goes_back_in_what_is_said() {
    let judge = judge("instcount");
    let target = Target::parse("Load=40,Store=40", judge.space()).expect("well-formed");
    let (corpus, told) = (Corpus::default(), Told::default());
    // Enough for a search with plain edits, behind which the one with all edits begins from nothing.
    let mut search = Search::new(&judge, &corpus, settings(1_800)).expect("known");
    search.set_watch(&told);
    search.find(&target, &AtomicBool::new(false)).expect("candidates are judged");
    drop(search);
    let told = told.0.into_inner().expect("nobody panics");
    let near = told.iter().filter_map(|one| one.split_once(" proximity ")?.1.parse::<f64>().ok());
    let near: Vec<f64> = near.collect();
    assert!(near.len() > 1 && near.is_sorted(), "{told:?}");
}
