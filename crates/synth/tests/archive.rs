//! Archives with the real compiler.

use dataset::{
    Dataset,
    stage::{self, Context},
};
use stampmill_synth::{
    Archive, ArchiveReport, ArchivedRow, Budget, Corpus, Exclusion, Judge, Seeds, Settings, Steer,
    SteerOptions, SteeredRow, Target, Targets, grow_archive, shipped_archive,
};
use std::path::{Path, PathBuf};

const SCALE: &str = "__kernel void scale(__global float* a, __global float* b, int c) {\n\
    int d = get_global_id(0);\n  if (d < c) {\n    b[d] = a[d] * 2.5f + 1.0f;\n  }\n}\n";
const MIX: &str = "__kernel void mix(__global int* a, int b) {\n\
    for (int c = 0; c < b; c++) {\n    a[c] ^= c << 3;\n  }\n}\n";
const BROKEN: &str = "__kernel void broken(__global int* a) { a[0] = unknown; }\n";

fn judge(space: &str) -> Judge {
    Judge::new(features::space(space).expect("registered"), 2)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// A folder of kernels, two of which lie at one point and one at none, and a program that is one of them.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("a temporary folder");
    std::fs::create_dir(home.path().join("mined")).expect("made");
    let longer = SCALE.replace("a[d] * 2.5f", "(a[d] * 2.5f)").replace("scale", "longer");
    for (name, text) in [
        ("mined/scale.cl", SCALE),
        ("mined/longer.cl", longer.as_str()),
        ("mined/mix.cl", MIX),
        ("mined/broken.cl", BROKEN),
        ("own.cl", SCALE),
    ] {
        std::fs::write(home.path().join(name), text).expect("written");
    }
    home
}

fn build(judge: &Judge, paths: &[PathBuf], out: &Path) -> (ArchiveReport, Vec<ArchivedRow>) {
    let archive = Archive::new(paths, judge).expect("readable");
    let done = stage::run(&archive, &Context::new(out)).expect("described");
    let rows = Dataset::open(out).expect("made").rows().expect("readable");
    (done.summary, rows.collect::<Result<_, _>>().expect("whole"))
}

fn options(judge: &Judge, archive: &Path, targets: &[&str]) -> SteerOptions {
    let texts: Vec<String> = targets.iter().map(|text| (*text).to_owned()).collect();
    let path = Some(archive.to_owned());
    SteerOptions {
        targets: Targets::read(&texts, None, judge).expect("well-formed"),
        seeds: Seeds { path, is_archive: true, ..Seeds::default() },
        settings: Settings { budget: Budget::Candidates(240), kept: 2, ..Settings::default() },
        transfer: false,
        trajectory: false,
        model: None,
        natural: None,
    }
}

#[test]
fn an_archive_holds_the_shortest_kernel_at_each_point_and_grows() {
    let (judge, home) = (judge("instcount"), home());
    let place = |name: &str| home.path().join(name);
    let (report, rows) = build(&judge, &[place("mined")], &place("archive"));
    assert_eq!((report.read, report.kernels, report.same_point, report.no_vector), (4, 2, 1, 1));
    let mut verdicts: Vec<(&str, &str)> =
        rows.iter().map(|row| (row.original_name.as_str(), row.verdict.as_str())).collect();
    verdicts.sort_unstable();
    let expected = [
        ("broken", "no-vector"),
        ("longer", "same-point"),
        ("mix", "accepted"),
        ("scale", "accepted"),
    ];
    assert_eq!(verdicts, expected);
    // What a search from it finds is added, and what is known is not described again.
    let options = options(&judge, &place("archive"), &["Load=4,Store=3,Ret=1"]);
    assert_eq!(options.corpus(&judge).expect("seeds").len(), 2);
    steer(&judge, options, &place("found"));
    let found = Dataset::open(&place("found")).expect("made").manifest().rows;
    let before = judge.judged();
    let (report, rows) = build(&judge, &[place("archive"), place("found")], &place("archive-2"));
    assert_eq!(judge.judged() - before, 1, "what does not compile");
    assert_eq!(report.read, 4 + found);
    let made = rows.iter().filter(|row| !row.proposer.is_empty()).count();
    assert_eq!(made as u64, found);
    let known = rows.iter().find(|row| row.original_name == "longer").expect("it is kept");
    assert_eq!(known.verdict, "same-point");
}

#[test]
fn an_archive_takes_what_was_found_in_its_place() {
    let (judge, home) = (judge("instcount"), home());
    let place = |name: &str| home.path().join(name);
    let (report, _) = build(&judge, &[place("mined")], &place("archive"));
    steer(&judge, options(&judge, &place("archive"), &["Load=4,Store=3,Ret=1"]), &place("found"));
    let found: Vec<SteeredRow> = {
        let rows = Dataset::open(&place("found")).expect("made").rows().expect("readable");
        rows.collect::<Result<_, _>>().expect("whole")
    };
    let context = Context::new(place("archive"));
    let grown = grow_archive(&place("archive"), &place("found"), &judge, &context).expect("added");
    assert_eq!(grown.summary.read, report.read + found.len() as u64);
    assert!(grown.summary.kernels > report.kernels, "{:?}", grown.summary);
    let archive = Dataset::open(&place("archive")).expect("it is whole");
    let rows = archive.rows::<ArchivedRow>().expect("readable");
    let rows: Vec<ArchivedRow> = rows.collect::<Result<_, _>>().expect("whole");
    for text in found.iter().map(|row| &row.text).chain([&SCALE.to_owned()]) {
        assert!(rows.iter().any(|row| row.text == *text), "{text}");
    }
    assert!(!place("archive.partial").exists());
    // Twice is as good as once.
    let again = grow_archive(&place("archive"), &place("found"), &judge, &context).expect("added");
    assert_eq!(again.summary.kernels, grown.summary.kernels);
}

#[test]
fn archives_ship_and_are_of_the_spaces_in_which_kernels_are_joined() {
    for name in ["instcount", "autophase"] {
        let judge = judge(name);
        let target = |text: &str| vec![Target::parse(text, judge.space()).expect("well-formed")];
        assert_eq!(shipped_archive(&target("TotalInsts=99"), judge.space()), None);
        let shipped =
            shipped_archive(&target("TotalInsts=100"), judge.space()).expect("it is large");
        let folder = Path::new("../..").join(shipped);
        let archive = Dataset::open(&folder)
            .unwrap_or_else(|error| panic!("{error}: `scripts/archive.sh` makes it"));
        let manifest = archive.manifest();
        assert_eq!((manifest.schema.as_str(), manifest.shards.len()), ("archive", 1));
        assert_eq!(manifest.notes.configuration["space"], name);
        assert!(manifest.notes.verdicts["accepted"] > 500, "{:?}", manifest.notes.verdicts);
    }
    let grewe = features::space("grewe").expect("registered");
    let target = Target::parse("comp=300", grewe).expect("well-formed");
    assert_eq!(shipped_archive(&[target], grewe), None);
}

#[test]
fn small_targets_are_searched_for_without_the_archive_that_ships() {
    let (judge, home) = (judge("instcount"), home());
    let place = |name: &str| home.path().join(name);
    build(&judge, &[place("mined")], &place("archive"));
    let found = |targets: &[&str], path: Option<PathBuf>, out: &str| {
        let shipped = path.is_some().then(|| "datasets/archive-instcount".to_owned());
        let mut options = options(&judge, &place("archive"), targets);
        options.settings.proposers = stampmill_synth::default_proposers(path.is_some());
        options.seeds = Seeds { is_archive: path.is_some(), path, shipped, ..Seeds::default() };
        steer(&judge, options, &place(out));
        let dataset = Dataset::open(&place(out)).expect("made");
        let rows = dataset.rows::<SteeredRow>().expect("readable");
        let rows: Vec<SteeredRow> = rows.collect::<Result<_, _>>().expect("whole");
        (rows, dataset.manifest().clone())
    };
    let (small, large) = ("Load=3,Store=2", "TotalInsts=100..200,Load=12");
    let (alone, manifest) = found(&[small], None, "alone");
    assert!(manifest.notes.configuration.get("archive").is_none());
    let (beside, manifest) = found(&[large, small], Some(place("archive")), "beside");
    let of = |target: &str| beside.iter().filter(|row| row.target == target).collect::<Vec<_>>();
    assert_eq!(of(small), alone.iter().collect::<Vec<_>>());
    assert!(
        of(small).iter().all(|row| row.seeds == 0) && of(large).iter().all(|row| row.seeds == 2)
    );
    // The data set says which archive it was.
    let archive = Dataset::open(&place("archive")).expect("made");
    let said = &manifest.notes.configuration["archive"];
    assert_eq!(said["identity"], archive.manifest().identity.as_str());
    assert_eq!(said["shipped"], true);
    let inputs: Vec<&str> = manifest.notes.inputs.iter().map(|input| input.name.as_str()).collect();
    assert!(inputs.contains(&"datasets/archive-instcount"), "{inputs:?}");
}

#[test]
fn the_leak_rule_looks_at_kernels_that_stand_for_no_point() {
    let (judge, home) = (judge("instcount"), home());
    let place = |name: &str| home.path().join(name);
    build(&judge, &[place("mined")], &place("archive"));
    let own = place("own.cl");
    let options = options(&judge, &place("archive"), &[own.to_str().expect("readable")]);
    let corpus = options.corpus(&judge).expect("seeds");
    let left = corpus.for_target(&options.targets.all()[0]).expect("looked at");
    // The copy that stands for the point, and the one beside it.
    assert_eq!((left.len(), left.excluded()), (1, 2));
}

/// What a search from these seeds finds.
fn steer(judge: &Judge, options: SteerOptions, out: &Path) {
    let corpus = options.corpus(judge).expect("seeds");
    let context = Context::new(out);
    let cancel = context.cancel.flag();
    let steer = Steer::new(judge, &corpus, options, None, &cancel).expect("known");
    stage::run(&steer, &context).expect("steered");
}

#[test]
fn what_was_made_with_the_leak_rule_off_is_no_seed_where_it_is_on() {
    let (judge, home) = (judge("instcount"), home());
    let place = |name: &str| home.path().join(name);
    let from = |name: &str, leaks: bool| {
        let mut options = options(&judge, &place(name), &["Load=2,Store=1,Ret=1"]);
        (options.seeds.is_archive, options.seeds.leaks) = (false, leaks);
        options
    };
    for (leaks, name) in [(false, "kept"), (true, "leaky")] {
        let archive = place(&format!("{name}-archive"));
        steer(&judge, from("mined", leaks), &place(name));
        build(&judge, &[place("mined"), place(name)], &archive);
        let again = place(&format!("{name}-again"));
        build(&judge, std::slice::from_ref(&archive), &again);
        for made in [place(name), archive, again] {
            let made = made.to_str().expect("readable");
            let opened = from(made, false).corpus(&judge).map_err(|error| error.to_string());
            match leaks {
                false => assert!(opened.is_ok(), "{opened:?}"),
                true => {
                    let error = opened.expect_err("refused");
                    assert!(error.contains("was made with the leak rule off"), "{error}");
                }
            }
            assert!(from(made, true).corpus(&judge).is_ok(), "{made}");
        }
    }
}

#[test]
fn what_was_found_for_a_kernel_goes_by_its_name() {
    let (judge, home) = (judge("instcount"), home());
    let place = |name: &str| home.path().join(name);
    let lines = place("targets.jsonl");
    let line = r#"{"target": "suite/x.cl:blend", "instcount": {"Load": 4, "Store": 3, "Ret": 1}}"#;
    std::fs::write(&lines, line).expect("written");
    let mut options = options(&judge, &place("mined"), &[]);
    options.seeds.is_archive = false;
    options.targets = Targets::read(&[], Some(&lines), &judge).expect("well-formed");
    steer(&judge, options, &place("found"));
    let (_, rows) = build(&judge, &[place("found")], &place("archive"));
    assert!(!rows.is_empty() && rows.iter().all(|row| row.original_name == "blend"));
    for name in ["found", "archive"] {
        let corpus = Corpus::open(&place(name), &Exclusion::default(), &judge, None, None);
        let corpus = corpus.expect("readable");
        let left = |target: &str| {
            corpus.for_target(&Target::point(target, &[])).expect("names need no compiler").len()
        };
        assert_eq!((left("other/y.cl:blend"), left("other/y.cl:sum")), (0, corpus.len()), "{name}");
    }
}

#[test]
fn what_is_no_archive_of_the_space_is_refused() {
    let (instcount, home) = (judge("instcount"), home());
    let place = |name: &str| home.path().join(name);
    build(&instcount, &[place("mined")], &place("archive"));
    let grewe = judge("grewe");
    let error = options(&grewe, &place("archive"), &["comp=3"]).corpus(&grewe);
    let error = error.expect_err("of another space").to_string();
    assert!(error.contains("is an archive of instcount, and this search is in grewe"), "{error}");
    let error = options(&instcount, &place("mined"), &["Load=3"]).corpus(&instcount);
    let error = error.expect_err("a folder").to_string();
    assert!(error.contains("is no archive but programs without vectors"), "{error}");
    // As seeds its kernels are described anew.
    let mut options = options(&grewe, &place("archive"), &["comp=3"]);
    options.seeds.is_archive = false;
    assert_eq!(options.corpus(&grewe).expect("seeds").len(), 3);
}
