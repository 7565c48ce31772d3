//! The runner of stages: shares, stops, faults and threads change nothing in the rows.

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stampmill_dataset::{
    self as dataset, Dataset, Input, Row,
    stage::{
        self, Cancel, Context, Facts, Finish, Items, Selected, Share, Stage, Unit, Units, Worked,
    },
};
use std::{
    collections::{BTreeMap, HashSet},
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
struct Word {
    text: String,
    file: String,
}
impl Row for Word {
    const SCHEMA: &'static str = "word";
    const VERSION: u32 = 1;
}

#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
struct Letter {
    word: String,
    letter: String,
    verdict: String,
}
impl Row for Letter {
    const SCHEMA: &'static str = "letter";
    const VERSION: u32 = 1;
}

/// One column of [`Letter`].
#[derive(Serialize, Deserialize)]
struct Sign {
    letter: String,
}
impl Row for Sign {
    const SCHEMA: &'static str = "letter";
    const VERSION: u32 = 1;
}

#[derive(Default, Serialize, Deserialize)]
struct Files(Vec<String>);
impl Facts for Files {
    fn absorb(&mut self, other: Files) {
        self.0.extend(other.0);
    }
}

#[derive(Serialize, Debug, PartialEq)]
struct Summary {
    rows: u64,
    cached: u64,
    words: u64,
    files: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error(transparent)]
    Dataset(#[from] dataset::Error),
    #[error("no memory")]
    Fault,
    #[error("broken")]
    Broken,
}

/// Spells words; each letter stands once in the whole data set.
#[derive(Default)]
struct Spell {
    words: Vec<Word>,
    batch: usize,
    /// What each word is said to hold.
    bytes: usize,
    worked: AtomicUsize,
    batches: AtomicUsize,
    /// Words at which the machine fails, and at which the stage fails.
    faults: HashSet<String>,
    broken: HashSet<String>,
    /// Raised at this word.
    cancel: Option<(String, Cancel)>,
    for_now: HashSet<String>,
    /// Whether each word is said to need those before it.
    sequential: bool,
    /// What a word takes.
    pause: Duration,
    seen: Mutex<Vec<String>>,
    resumed: Mutex<Vec<String>>,
}

impl Stage for Spell {
    const NAME: &'static str = "spell";
    const UNITS: &'static str = "words";
    const OF_THIS_RUN: &'static [&'static str] = &["cached"];
    type Item = Word;
    type Row = Letter;
    type Facts = Files;
    type Summary = Summary;
    type Worker = ();
    type Error = Failed;

    fn settings(&self) -> Value {
        json!({"letters": "once"})
    }

    fn left_out(&self) -> Result<BTreeMap<String, u64>, Failed> {
        Ok(BTreeMap::from([("silent".to_owned(), 2)]))
    }

    fn inputs(&self) -> Result<Vec<Input>, Failed> {
        let text: Vec<&str> = self.words.iter().map(|word| word.text.as_str()).collect();
        let hash = dataset::content_hash(text.join(" ").as_bytes());
        Ok(vec![Input { name: "words".into(), hash }])
    }

    fn items(&self) -> Result<Items<'_, Spell>, Failed> {
        let all = Box::new(self.words.iter().cloned().map(Ok));
        Ok(Items { total: Some(self.words.len() as u64), all })
    }

    fn key(&self, word: &Word) -> String {
        word.text.clone()
    }

    fn batch_size(&self) -> usize {
        self.batch
    }

    fn size_bytes(&self, _: &Word) -> usize {
        self.bytes
    }

    fn worker(&self) -> Result<(), Failed> {
        Ok(())
    }

    fn work(&self, (): &mut (), words: &[Word]) -> Result<Vec<Worked<Letter>>, Failed> {
        self.worked.fetch_add(words.len(), Ordering::Relaxed);
        self.batches.fetch_add(1, Ordering::Relaxed);
        let spell = |word: &Word| {
            let text = &word.text;
            self.seen.lock().expect("no panic").push(text.clone());
            std::thread::sleep(self.pause);
            if let Some((_, cancel)) = self.cancel.as_ref().filter(|(at, _)| at == text) {
                cancel.cancel();
            }
            if self.faults.contains(text) {
                return Err(Failed::Fault);
            }
            if self.broken.contains(text) {
                return Err(Failed::Broken);
            }
            let letter = |letter: char| Letter {
                word: text.clone(),
                letter: letter.into(),
                verdict: "accepted".into(),
            };
            let rows = text.chars().map(letter).collect();
            Ok(if self.for_now.contains(text) { Worked::ForNow(rows) } else { Worked::Rows(rows) })
        };
        words.iter().map(spell).collect()
    }

    fn is_sequential(&self) -> bool {
        self.sequential
    }

    fn resume(&self, (): &mut (), words: &[Word], rows: &[Vec<Letter>]) -> Result<(), Failed> {
        for (word, letters) in words.iter().zip(rows) {
            assert_eq!(word.text.len(), letters.len());
            self.resumed.lock().expect("no panic").push(word.text.clone());
        }
        Ok(())
    }

    fn is_fault(error: &Failed) -> bool {
        matches!(error, Failed::Fault)
    }

    fn observe(&self, word: &Word, _: Option<&[Letter]>, facts: &mut Files) {
        facts.0.push(word.file.clone());
    }

    fn finish<'a>(
        settings: &'a Value,
        mut facts: Files,
        units: &'a Units<Letter>,
    ) -> Result<Finish<'a, Letter, Summary>, Failed> {
        assert_eq!(settings["letters"], "once");
        facts.0.sort();
        let mut first: BTreeMap<String, String> = BTreeMap::new();
        for row in units.rows() {
            let (_, row) = row?;
            let word = first.entry(row.letter).or_insert_with(|| row.word.clone());
            *word = row.word.min(word.clone());
        }
        for row in units.views::<Sign>() {
            let (unit, row) = row?;
            assert!(unit.key.contains(&row.letter));
        }
        let mut order: Vec<usize> = (0..units.all().len()).collect();
        order.sort_by_key(|index| units.all()[*index].key.clone());
        let words = units.items();
        let summary = Summary { rows: first.len() as u64, cached: 0, words, files: facts.0 };
        let verdicts = BTreeMap::from([("accepted".to_owned(), summary.rows)]);
        let mut written = HashSet::new();
        let select = move |unit: &Unit, row: Letter| {
            assert_eq!(unit.key, row.word);
            match first[&row.letter] == row.word && written.insert(row.letter.clone()) {
                true => Selected::Row(row),
                false => Selected::Dropped("duplicate"),
            }
        };
        Ok(Finish { select: Box::new(select), order: Some(order), verdicts, summary, inputs: None })
    }
}

fn spell(words: &[String], batch: usize) -> Spell {
    let word = |(at, text): (usize, &String)| Word { text: text.clone(), file: format!("{at:04}") };
    Spell { words: words.iter().enumerate().map(word).collect(), batch, ..Spell::default() }
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

fn at(folder: &Path, name: &str, jobs: usize) -> Context<'static> {
    Context { jobs, ..Context::new(folder.join(name)) }
}

fn rows(out: &Path) -> Vec<Letter> {
    let dataset = Dataset::open(out).expect("it is there");
    dataset.rows().expect("letters").collect::<Result<_, _>>().expect("whole")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn shares_merged_are_the_whole(
        words in proptest::collection::vec("[a-e]{1,4}", 0..24),
        count in 1_u32..5,
        batch in 1_usize..4,
        jobs in 1_usize..4,
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let whole = at(folder.path(), "whole", jobs);
        let done = stage::run(&spell(&words, batch), &whole).expect("done");
        let mut shares: Vec<PathBuf> = Vec::new();
        for index in (1..=count).rev() {
            let context = at(folder.path(), &format!("share{index}"), 1);
            let share = Some(Share { index, count });
            stage::run(&spell(&words, 3), &Context { share, ..context.clone() }).expect("done");
            shares.push(context.out);
        }
        let merged = at(folder.path(), "merged", 1);
        let joined = stage::merge::<Spell>(&shares, &merged).expect("merged");
        prop_assert_eq!(joined.left_out, done.left_out);
        prop_assert_eq!(joined.summary, done.summary);
        prop_assert_eq!(rows(&merged.out), rows(&whole.out));
        let of = |out: &Path| Dataset::open(out).expect("there").manifest().clone();
        let (a, b) = (of(&merged.out), of(&whole.out));
        prop_assert_eq!(a.notes, b.notes);
        prop_assert_eq!(a.identity, b.identity);
    }
}

#[test]
fn more_shares_than_are_held_open_are_the_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let all: Vec<String> = (0..1500).map(|number| format!("w{number}")).collect();
    let whole = at(folder.path(), "whole", 2);
    stage::run(&spell(&all, 100), &whole).expect("done");
    let count = 70;
    let shares: Vec<PathBuf> = (1..=count)
        .map(|index| {
            let context = at(folder.path(), &format!("share{index}"), 1);
            let share = Some(Share { index, count });
            stage::run(&spell(&all, 100), &Context { share, ..context.clone() }).expect("done");
            context.out
        })
        .collect();
    let merged = at(folder.path(), "merged", 1);
    stage::merge::<Spell>(&shares, &merged).expect("merged");
    let identity = |out: &Path| Dataset::open(out).expect("there").manifest().identity.clone();
    assert_eq!(identity(&merged.out), identity(&whole.out));
}

#[test]
fn a_cancelled_run_is_resumed_with_the_same_bytes_and_no_work_twice() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = words("ab cd ef gh ij kl mn op");
    let whole = at(folder.path(), "whole", 2);
    stage::run(&spell(&all, 1), &whole).expect("done");
    let stopped = at(folder.path(), "stopped", 1);
    let cancel = Some(("ef".to_owned(), stopped.cancel.clone()));
    let error = stage::run(&Spell { cancel, ..spell(&all, 1) }, &stopped).expect_err("stopped");
    assert!(error.to_string().starts_with("stopped after 3 words"), "{error}");
    let again = spell(&all, 1);
    let context = Context { cancel: Cancel::default(), ..stopped.clone() };
    stage::run(&again, &context).expect("done");
    assert_eq!(again.worked.into_inner(), 5);
    let identity = |out: &Path| Dataset::open(out).expect("there").manifest().identity.clone();
    assert_eq!(identity(&stopped.out), identity(&whole.out));
}

#[test]
fn the_manifest_has_nothing_of_the_summary_that_tells_of_a_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let context = at(folder.path(), "out", 1);
    stage::run(&spell(&words("ab c"), 1), &context).expect("done");
    let summary = Dataset::open(&context.out).expect("there").manifest().notes.summary.clone();
    assert_eq!(summary, json!({"rows": 3, "words": 2, "files": ["0000", "0001"]}));
}

#[test]
fn a_fault_of_the_machine_costs_its_items_and_the_rest_is_done() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = words("ab cd ef gh");
    let context = at(folder.path(), "out", 2);
    let faults = HashSet::from(["cd".to_owned()]);
    let error = stage::run(&Spell { faults, ..spell(&all, 1) }, &context).expect_err("a fault");
    assert!(error.to_string().starts_with("1 of 4 words have no rows"), "{error}");
    let again = spell(&all, 1);
    stage::run(&again, &context).expect("done");
    assert_eq!(again.seen.into_inner().expect("no panic"), ["cd"]);
    assert_eq!(rows(&context.out).len(), 8);
}

#[test]
fn a_machine_that_fails_again_and_again_ends_the_run_which_can_be_resumed() {
    let folder = tempfile::tempdir().expect("a folder");
    let all: Vec<String> = (100..160).map(|number| format!("w{number}")).collect();
    let context = at(folder.path(), "out", 1);
    // Fourteen faults, one word that is done, and faults till the end.
    let faults = all.iter().enumerate().filter(|(at, _)| *at != 15 && *at > 0);
    let faults: HashSet<String> = faults.map(|(_, word)| word.clone()).collect();
    let failing = Spell { faults, ..spell(&all, 1) };
    let error = stage::run(&failing, &context).expect_err("faults");
    let said = error.to_string();
    assert!(said.starts_with("gave up after 20 faults") && said.contains("to resume"), "{said}");
    assert_eq!(failing.seen.into_inner().expect("no panic").len(), 36);
    let again = spell(&all, 1);
    stage::run(&again, &context).expect("done");
    assert_eq!(again.seen.into_inner().expect("no panic").len(), 58);
}

#[test]
fn a_sequential_stage_does_nothing_behind_a_fault_and_is_resumed_in_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = || Spell { sequential: true, ..spell(&words("ab cd ef gh"), 1) };
    let context = at(folder.path(), "out", 2);
    let stage = Spell { faults: HashSet::from(["ef".to_owned()]), ..all() };
    let error = stage::run(&stage, &context).expect_err("a fault");
    assert!(matches!(error, Failed::Fault), "{error}");
    assert_eq!(stage.seen.into_inner().expect("no panic"), ["ab", "cd", "ef"]);
    let again = all();
    stage::run(&again, &context).expect("done");
    assert_eq!(again.resumed.into_inner().expect("no panic"), ["ab", "cd"]);
    assert_eq!(again.seen.into_inner().expect("no panic"), ["ef", "gh"]);
    assert_eq!(rows(&context.out).len(), 8);
    let share = Some(Share { index: 1, count: 2 });
    let error = stage::run(&all(), &Context { share, ..at(folder.path(), "part", 1) });
    assert!(error.expect_err("no part").to_string().contains("there is no part 1/2"));
}

#[test]
fn an_error_of_the_stage_ends_the_run_with_it_and_leaves_what_was_done_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    for (broken, left) in [("cd", true), ("ab", false)] {
        let broken = HashSet::from([broken.to_owned()]);
        let stage = Spell { broken, ..spell(&words("ab cd ef gh"), 1) };
        let error = stage::run(&stage, &at(folder.path(), "out", 1)).expect_err("broken");
        assert!(matches!(error, Failed::Broken), "{error}");
        assert_eq!(folder.path().join("out.partial").exists(), left);
        std::fs::remove_dir_all(folder.path().join("out.partial")).unwrap_or_default();
    }
}

#[test]
fn what_stands_for_now_is_tried_again_when_the_run_is_resumed() {
    let folder = tempfile::tempdir().expect("a folder");
    let context = at(folder.path(), "out", 1);
    let (for_now, broken) = (HashSet::from(["ab".to_owned()]), HashSet::from(["ef".to_owned()]));
    let stage = Spell { for_now, broken, ..spell(&words("ab cd ef"), 1) };
    stage::run(&stage, &context).expect_err("broken");
    let again = spell(&words("ab cd ef"), 1);
    stage::run(&again, &context).expect("done");
    let mut seen = again.seen.into_inner().expect("no panic");
    seen.sort();
    assert_eq!(seen, ["ab", "ef"]);
}

#[test]
fn a_batch_of_large_items_is_ended_early() {
    let folder = tempfile::tempdir().expect("a folder");
    let large = Spell { bytes: 9 << 20, ..spell(&words("ab cd ef gh"), 4) };
    stage::run(&large, &at(folder.path(), "large", 1)).expect("done");
    assert_eq!(large.batches.into_inner(), 2);
}

#[test]
fn what_waits_for_a_thread_when_the_time_is_up_is_left() {
    let folder = tempfile::tempdir().expect("a folder");
    let stage =
        Spell { pause: Duration::from_millis(300), ..spell(&words("ab cd ef gh ij kl"), 1) };
    let time = Some(Duration::from_millis(200));
    let context = Context { time, ..at(folder.path(), "out", 1) };
    let done = stage::run(&stage, &context).expect("done");
    // A machine with much else to do may come to none.
    let worked = stage.worked.into_inner();
    assert!(worked <= 1, "{worked} words");
    assert_eq!((done.summary.words, rows(&context.out).len()), (worked as u64, 2 * worked));
    let context = Context { force: true, ..at(folder.path(), "out", 2) };
    stage::run(&spell(&words("ab cd ef gh ij kl"), 1), &context).expect("done");
    assert_eq!(rows(&context.out).len(), 12);
}

#[test]
fn shares_that_do_not_belong_together_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let make = |name: &str, text: &str, index, count| {
        let share = Some(Share { index, count });
        let context = Context { share, ..at(folder.path(), name, 1) };
        stage::run(&spell(&words(text), 1), &context).expect("done");
        context.out
    };
    let (one, two) = (make("one", "ab cd ef", 1, 2), make("two", "ab cd ef", 2, 2));
    let other = make("other", "ab cd", 2, 2);
    let whole = at(folder.path(), "whole", 1);
    stage::run(&spell(&words("ab"), 1), &whole).expect("done");
    let said = |shares: &[&PathBuf]| {
        let shares: Vec<PathBuf> = shares.iter().map(|path| (*path).clone()).collect();
        let merged = stage::merge::<Spell>(&shares, &at(folder.path(), "merged", 1));
        merged.expect_err("refused").to_string()
    };
    assert!(said(&[]).contains("name the parts"));
    assert!(said(&[&one]).contains("missing: part 2/2"));
    assert!(said(&[&one, &one, &two]).contains("are both part 1/2"));
    assert!(said(&[&one, &other]).contains("other settings or from other inputs"));
    assert!(said(&[&whole.out, &two]).contains("was not made with --part"));
}

#[test]
fn a_batch_of_items_becomes_a_batch_of_rows() {
    let stage = spell(&words("ab c"), 1);
    let batch = Word::to_batch(&stage.words).expect("columns");
    let rows = stage::work_batch(&stage, &mut (), &batch).expect("worked");
    assert_eq!((rows.num_rows(), rows.schema().field(0).name().as_str()), (3, "unit"));
    let letters = Letter::from_batch(&rows).expect("letters");
    assert_eq!(letters.iter().map(|row| row.letter.as_str()).collect::<String>(), "abc");
}

#[test]
fn parts_are_written_as_one_of_so_many() {
    for wrong in ["", "1", "0/2", "3/2", "a/b", "1/2/3"] {
        assert!(wrong.parse::<Share>().is_err(), "{wrong}");
    }
    let share: Share = "2/8".parse().expect("a part");
    assert_eq!((share.index, share.count, share.to_string().as_str()), (2, 8, "2/8"));
}

#[test]
fn a_share_that_was_changed_is_not_merged() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = words("ab cd ef gh");
    let shares: Vec<PathBuf> = (1..=2)
        .map(|index| {
            let context = at(folder.path(), &format!("share{index}"), 1);
            let share = Some(Share { index, count: 2 });
            let context = Context { share, ..context };
            stage::run(&spell(&all, 1), &context).expect("done");
            context.out
        })
        .collect();
    let manifest = shares[1].join("_dataset.json");
    let text = std::fs::read_to_string(&manifest).expect("text");
    std::fs::write(&manifest, text.replace("\"seed\": 0", "\"seed\": 7")).expect("written");
    let error =
        stage::merge::<Spell>(&shares, &at(folder.path(), "merged", 1)).expect_err("edited");
    assert!(error.to_string().contains("it was edited"), "{error}");
    std::fs::write(&manifest, text).expect("written");
    stage::merge::<Spell>(&shares, &at(folder.path(), "merged", 1)).expect("as it was");
}
