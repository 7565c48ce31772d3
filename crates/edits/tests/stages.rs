//! The stages of edits: parts that are merged are the whole.

#![expect(clippy::unwrap_used, reason = "what fails in set-up fails the test")]

use dataset::{
    Dataset, Row, Silent,
    stage::{self, Context, Share, Stage, merge},
};
use stampmill_edits::{
    Bench, Candidates, GrowOptions, Judge, JudgeItem, JudgeReport, Language, Limits, MakePairs,
    MakeTests, Pair, PairItem, PairOptions, Problem, Sample, Store, Submission, Submissions,
    TestFolder, TestSet, Tests, TestsItem,
};
use std::{fmt::Debug, path::Path};

fn at(folder: &Path, name: &str) -> Context<'static> {
    Context { jobs: 2, ..Context::new(folder.join(name)) }
}

/// The rows and the summaries of a stage that is run whole, and in three parts that are merged.
fn whole_and_merged<S: Stage>(stage: &S, folder: &Path) -> (Vec<S::Row>, [S::Summary; 2])
where
    S::Row: PartialEq + Debug,
{
    let whole = at(folder, "whole");
    let done = stage::run(stage, &whole).unwrap();
    let part = |index| {
        let share = Some(Share { index, count: 3 });
        let context = Context { share, ..at(folder, &format!("part{index}")) };
        stage::run(stage, &context).unwrap();
        context.out
    };
    let parts: Vec<_> = (1..=3).map(part).collect();
    let merged = at(folder, "merged");
    let joined = merge::<S>(&parts, &merged).unwrap();
    let notes = |out: &Path| Dataset::open(out).unwrap().manifest().notes.clone();
    assert_eq!(notes(&merged.out), notes(&whole.out));
    let rows = |out: &Path| -> Vec<S::Row> {
        Dataset::open(out).unwrap().rows().unwrap().collect::<Result<_, _>>().unwrap()
    };
    assert_eq!(rows(&merged.out), rows(&whole.out));
    (rows(&whole.out), [done.summary, joined.summary])
}

fn bench(folder: &Path) -> Bench {
    let options = timing::Options { max_instructions: 50_000_000, ..timing::Options::default() };
    Bench::open(&options, Limits::default(), &Store::at(&folder.join("cache"))).unwrap()
}

/// A program that adds up, `times` over; `note` sets it apart from others.
fn sum(times: u32, note: &str) -> String {
    format!(
        "#include <cstdio>\nint main() {{ int n; if (scanf(\"%d\", &n) != 1) return 1; volatile long s = 0; \
         for (int k = 0; k < {times}; k++) {{ s = 0; for (int i = 1; i <= n; i++) s += i; }} \
         printf(\"%ld\\n\", s); }} // {note}\n"
    )
}

fn tests(folder: &Path, problems: &[&str]) -> TestSet {
    let tests = TestFolder::create(&folder.join("tests")).unwrap();
    for problem in problems {
        let test = stampmill_edits::Test {
            number: 0,
            input: b"1000\n".to_vec(),
            output: b"500500\n".to_vec(),
        };
        tests.put(problem, &[test]).unwrap();
    }
    tests.into()
}

fn submission(problem: &str, date: u64, code: String) -> Submission {
    Submission {
        id: format!("{problem}-{date}"),
        problem_id: problem.into(),
        user_id: "u".into(),
        date,
        language: Language::Cpp,
        code,
    }
}

#[test]
fn items_are_columns() {
    let submissions = vec![
        Submission { language: Language::C, ..submission("p1", 1, "int x;".into()) },
        submission("p1", 2, "int y;".into()),
    ];
    let pairs = [PairItem { problem_id: "p1".into(), submissions }, PairItem::default()];
    assert_eq!(PairItem::from_batch(&PairItem::to_batch(&pairs).unwrap()).unwrap(), pairs);
    let sample = Sample { input: "1\n".into(), output: String::new() };
    let grown = TestsItem {
        samples: vec![sample],
        programs: vec!["int x;".into()],
        ..TestsItem::default()
    };
    let grown = [grown, TestsItem::default()];
    assert_eq!(TestsItem::from_batch(&TestsItem::to_batch(&grown).unwrap()).unwrap(), grown);
    let judged = JudgeItem {
        methods: vec!["m".into()],
        programs: vec!["int x;".into()],
        fastest_seconds: Some(0.5),
        ..JudgeItem::default()
    };
    let judged = [judged, JudgeItem::default()];
    assert_eq!(JudgeItem::from_batch(&JudgeItem::to_batch(&judged).unwrap()).unwrap(), judged);
}

#[test]
fn pairs_made_in_parts_and_merged_are_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let bench = bench(folder.path());
    let mut submissions = Submissions { passed_over: 2, ..Submissions::default() };
    for problem in ["p1", "p2", "p3", "p4"] {
        for (date, times) in [(1, 600), (2, 300), (3, 1)] {
            submissions.accepted.push(submission(problem, date, sum(times, problem)));
        }
    }
    for (per_problem, rejected) in [(None, true), (Some(1), false)] {
        let home = folder.path().join(rejected.to_string());
        let tests = tests(folder.path(), &["p1", "p2", "p3"]);
        let options = PairOptions { per_problem, rejected, ..PairOptions::default() };
        let pairs = MakePairs::new(submissions.clone(), tests, &bench, options, 2).unwrap();
        let (rows, [whole, merged]) = whole_and_merged(&pairs, &home);
        assert_eq!(whole, merged);
        assert_eq!((whole.programs, whole.passed_over), (12, 2));
        assert_eq!((whole.verdicts["accepted"], whole.verdicts["no-tests"]), (9, 3));
        let names: Vec<&str> = rows.iter().map(|row| row.src_id.as_str()).collect();
        if rejected {
            assert_eq!((rows.len(), whole.pairs, whole.problems), (12, 9, 3));
            assert_eq!((rows[0].tgt_decile, rows[11].verdict.as_str()), (Some(7), "no-tests"));
        } else {
            assert_eq!((names, whole.pairs), (vec!["p1-1", "p2-1", "p3-1"], 3));
            assert!(rows.iter().all(|row| row.tgt_id.ends_with("-3")));
        }
    }
}

#[test]
fn tests_made_in_parts_and_merged_are_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let bench = bench(folder.path());
    let pair = |problem: &str, tgt: String| Pair {
        problem_id: problem.into(),
        src_code: sum(2, problem),
        tgt_code: tgt,
        ..Pair::default()
    };
    let broken = "int main() { return x; }\n".to_owned();
    let pairs = [
        pair("grown", sum(1, "fast")),
        pair("alone", broken),
        pair("wrong", sum(1, "fast")),
        pair("none", sum(1, "fast")),
    ];
    let problem = |id: &str, output: &str| {
        let sample =
            |input: &str, output: &str| Sample { input: input.into(), output: output.into() };
        let samples = vec![sample("10\n", output), sample("4\n", "10\n")];
        Problem { id: id.into(), samples, ..Problem::default() }
    };
    let problems = [problem("grown", "55\n"), problem("alone", "55\n"), problem("wrong", "1\n")];
    let options = GrowOptions { draws: 12, ..GrowOptions::default() };
    let tests = MakeTests::new(&problems, &pairs, &bench, options);
    let (rows, [whole, merged]) = whole_and_merged(&tests, folder.path());
    assert_eq!(whole, merged);
    assert_eq!((whole.problems, whole.with_tests, whole.grown), (4, 2, 1));
    let found = |problem: &str| {
        let of_problem: Vec<_> = rows.iter().filter(|row| row.problem_id == problem).collect();
        let sources: Vec<&str> = of_problem.iter().map(|row| row.source.as_str()).collect();
        (of_problem[0].verdict.clone(), sources)
    };
    assert_eq!(found("alone"), ("only-one-program".to_owned(), vec!["sample"; 2]));
    assert_eq!(found("wrong"), ("no-program-passes".to_owned(), vec![""]));
    let wrong = rows.iter().find(|row| row.problem_id == "wrong").unwrap();
    let due = "the first of 2: sample 0: wrong-output: line 1: wanted `1`, found `55`";
    assert_eq!(wrong.detail, due);
    assert_eq!(found("none"), ("no-samples".to_owned(), vec![""]));
    let (verdict, sources) = found("grown");
    assert_eq!((verdict.as_str(), &sources[..2]), ("accepted", &["sample"; 2][..]));
    assert!(sources.len() > 2 && sources[2..].iter().all(|source| *source == "grammar"));
}

#[test]
fn candidates_judged_in_parts_and_merged_are_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let bench = bench(folder.path());
    let pair = |name: &str, problem: &str| Pair {
        problem_id: problem.into(),
        src_id: name.into(),
        tgt_id: format!("{name}+"),
        src_code: sum(40, name),
        tgt_code: sum(1, name),
        ..Pair::default()
    };
    // The last is given twice, and judged twice.
    let pairs = [("a", "p1"), ("b", "p1"), ("c", "p2"), ("d", "p3"), ("d", "p3")];
    let pairs: Vec<Pair> = pairs.iter().map(|(name, problem)| pair(name, problem)).collect();
    let mut candidates = Candidates::same_human(&pairs[..4]);
    candidates[0].programs.push("int main() { return x; }\n".into());
    candidates.push(Candidates { src_id: "none".into(), ..Candidates::default() });
    candidates.push(Candidates { src_id: "none".into(), ..Candidates::default() });
    let tests = Tests { visible: tests(folder.path(), &["p1", "p3"]), hidden: None };
    let options = stampmill_edits::JudgeOptions::default();
    let judge = Judge::new(pairs, &candidates, tests, &bench, options, &Silent).unwrap();
    let (rows, [whole, merged]) = whole_and_merged(&judge, folder.path());
    assert!(whole.runs > 0 && whole.timed > 0 && merged.timed == 0, "{whole:?} {merged:?}");
    let lasting = |report| JudgeReport { runs: 0, timed: 0, instructions: 0, ..report };
    let whole = lasting(whole);
    assert_eq!(whole, lasting(merged));
    let found: Vec<(&str, &str)> =
        rows.iter().map(|row| (row.src_id.as_str(), row.verdict.as_str())).collect();
    let due = [
        ("a", "accepted"),
        ("a", "does-not-compile"),
        ("b", "accepted"),
        ("c", "no-tests"),
        ("d", "accepted"),
        ("d", "accepted"),
    ];
    assert_eq!(found, due);
    assert_eq!((whole.pairs, whole.problems, whole.unmatched, whole.program_tests), (5, 3, 1, 9));
    assert!(rows[0].fastest_seconds.is_some() && rows[3].fastest_seconds.is_none());
    assert_eq!(rows[4], rows[5]);
}
