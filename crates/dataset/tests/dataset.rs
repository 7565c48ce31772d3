//! What holds for every data set.

use parquet::file::reader::{FileReader, SerializedFileReader};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use stampmill_dataset::{Builder, Code, Dataset, Error, Language, Manifest, Notes, Programs, Row};
use std::path::Path;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Sample {
    path: String,
    text: String,
    verdict: String,
    size: u64,
    ratio: f64,
    note: Option<String>,
    words: Vec<String>,
}

impl Row for Sample {
    const SCHEMA: &'static str = "sample";
    const VERSION: u32 = 2;
}

fn sample(path: &str, verdict: &str) -> Sample {
    Sample {
        path: path.into(),
        text: format!("kernel void {path}() {{}}"),
        verdict: verdict.into(),
        size: 1,
        ratio: 0.5,
        note: None,
        words: vec!["a".into(), String::new()],
    }
}

fn write(out: &Path, rows: Vec<Sample>) -> Dataset {
    let builder = Builder::<Sample>::create(out, true, &"").expect("the folder is ours");
    builder.finish(rows, Notes::default()).expect("the folder is ours")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn what_is_read_is_what_was_written(
        texts in prop::collection::vec((".{0,40}", any::<u64>(), any::<f64>(), any::<Option<String>>()), 0..40)
    ) {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let rows: Vec<Sample> = texts
            .into_iter()
            .filter(|(.., ratio, _)| !ratio.is_nan())
            .map(|(text, size, ratio, note)| Sample { text, size, ratio, note, ..sample("p", "accepted") })
            .collect();
        let written = write(&folder.path().join("set"), rows.clone());
        prop_assert_eq!(written.manifest().rows, rows.len() as u64);
        let read: Vec<Sample> = written.rows().unwrap().collect::<Result<_, _>>().unwrap();
        prop_assert_eq!(read, rows);
    }
}

#[test]
fn equal_rows_give_equal_bytes_and_identity() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let rows = vec![sample("a", "accepted"), sample("b", "timeout")];
    let one = write(&folder.path().join("one"), rows.clone());
    let two = write(&folder.path().join("two"), rows);
    assert_eq!(one.manifest().identity, two.manifest().identity);
}

#[test]
fn a_killed_run_goes_on_and_ends_with_the_same_data_set() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let out = folder.path().join("set");
    let rows = vec![sample("a", "accepted"), sample("b", "timeout")];
    let begun = Builder::<Sample>::create(&out, false, &"settings").expect("nothing is there");
    begun.add("first", vec![rows[0].clone()]).expect("the part is written");
    drop(begun);
    assert!(!out.exists(), "an unfinished data set must not look whole");
    let resumed = Builder::<Sample>::create(&out, false, &"settings").expect("equal settings");
    assert!(resumed.has("first") && !resumed.has("second"));
    resumed.add("second", vec![rows[1].clone()]).expect("the part is written");
    let parts: Vec<Sample> = ["first", "second"]
        .iter()
        .flat_map(|key| resumed.rows_of(key))
        .collect::<Result<_, _>>()
        .expect("both parts are whole");
    let whole = resumed.finish(parts, Notes::default()).expect("the folder is ours");
    let straight = write(&folder.path().join("straight"), rows);
    assert_eq!(whole.manifest().identity, straight.manifest().identity);
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").flatten().collect();
    assert_eq!(left.len(), 2, "the unfinished folder is gone");
}

#[test]
fn refuses_to_overwrite_to_mix_settings_and_to_share_a_folder() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let out = folder.path().join("set");
    let first = Builder::<Sample>::create(&out, false, &"one").expect("nothing is there");
    assert!(matches!(Builder::<Sample>::create(&out, false, &"one"), Err(Error::Busy(_))));
    drop(first);
    let other = Builder::<Sample>::create(&out, false, &"two");
    assert!(matches!(other, Err(Error::OtherSettings { .. })));
    let forced = Builder::<Sample>::create(&out, true, &"two").expect("force starts over");
    forced.finish(Vec::new(), Notes::default()).expect("an empty data set is one");
    assert!(matches!(Builder::<Sample>::create(&out, false, &"two"), Err(Error::Exists(_))));
}

#[test]
fn a_newer_or_foreign_schema_is_refused_by_name() {
    #[derive(Serialize, Deserialize)]
    struct Older {
        path: String,
    }
    impl Row for Older {
        const SCHEMA: &'static str = "sample";
        const VERSION: u32 = 1;
    }
    #[derive(Serialize, Deserialize)]
    struct Other {
        path: String,
    }
    impl Row for Other {
        const SCHEMA: &'static str = "other";
        const VERSION: u32 = 1;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let set = write(&folder.path().join("set"), vec![sample("a", "accepted")]);
    assert!(matches!(set.rows::<Older>().err(), Some(Error::Newer { found: 2, known: 1, .. })));
    assert!(matches!(set.rows::<Other>().err(), Some(Error::Schema { .. })));
}

#[test]
fn a_damaged_data_set_is_an_error_with_its_path() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let set = write(&folder.path().join("set"), vec![sample("a", "accepted")]);
    std::fs::write(&set.shards()[0], b"no parquet").expect("the shard is ours");
    let error = set.rows::<Sample>().expect("the manifest is whole").next().expect("one item");
    let error = error.expect_err("damaged").to_string();
    let fsck = format!("`stampmill fsck {}`", set.folder().display());
    assert!(error.contains("part-00000.parquet") && error.contains(&fsck), "{error}");
    let error = Dataset::open(set.folder()).expect_err("damaged").to_string();
    assert!(error.contains("part-00000.parquet"), "{error}");
    std::fs::write(set.folder().join(Manifest::FILE), "{").expect("the manifest is ours");
    assert!(matches!(Dataset::open(set.folder()), Err(Error::Manifest { .. })));
    assert!(matches!(Dataset::open(folder.path()), Err(Error::NotADataset(_))));
}

#[test]
fn programs_come_from_data_sets_folders_and_files_alike() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let set =
        write(&folder.path().join("set"), vec![sample("a", "accepted"), sample("b", "timeout")]);
    let programs = |path: &Path| -> Vec<_> {
        let programs = Programs::open(path).expect("programs are there");
        programs.iter().expect("readable").collect::<Result<Vec<_>, _>>().expect("whole")
    };
    let rows = programs(set.folder());
    assert_eq!(rows.len(), 1, "the rejected row is left out");
    let tree = folder.path().join("tree");
    std::fs::create_dir_all(tree.join("deep")).expect("a scratch folder");
    std::fs::write(tree.join("deep/a.cl"), rows[0].text_or_empty()).expect("a scratch file");
    std::fs::write(tree.join("b.bc"), [0xde, 0xc0]).expect("a scratch file");
    std::fs::write(tree.join("c.cl"), [0xff, 0]).expect("a scratch file");
    std::fs::write(tree.join("notes.txt"), "no program").expect("a scratch file");
    let files = programs(&tree);
    let paths: Vec<&str> = files.iter().map(|program| program.path.as_str()).collect();
    assert_eq!(paths, ["b.bc", "c.cl", "deep/a.cl"]);
    assert_eq!(files[2].code, rows[0].code);
    assert!(matches!(files[1].code, Code::Bytes(_)), "what is no text is kept as bytes");
    assert_eq!(programs(&tree.join("b.bc"))[0].language, Language::Bitcode);
    assert!(matches!(Programs::open(&folder.path().join("none")), Err(Error::File { .. })));
}

trait TextOrEmpty {
    fn text_or_empty(&self) -> String;
}

impl TextOrEmpty for stampmill_dataset::Program {
    fn text_or_empty(&self) -> String {
        match &self.code {
            Code::Text(text) => text.clone(),
            Code::Bytes(_) => String::new(),
        }
    }
}

#[test]
fn a_view_reads_its_columns_alone() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct View {
        size: u64,
        words: Vec<String>,
    }
    impl Row for View {
        const SCHEMA: &'static str = Sample::SCHEMA;
        const VERSION: u32 = Sample::VERSION;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let set = write(&folder.path().join("set"), vec![sample("a", "accepted")]);
    let read: Vec<View> = set.rows().unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(read, [View { size: 1, words: vec!["a".into(), String::new()] }]);
}

#[test]
fn a_shard_names_its_schema() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let set = write(&folder.path().join("set"), vec![sample("a", "accepted")]);
    let file = std::fs::File::open(&set.shards()[0]).expect("the shard is ours");
    let reader = SerializedFileReader::new(file).expect("a Parquet file");
    let keys = reader.metadata().file_metadata().key_value_metadata().expect("there are keys");
    let value = |key: &str| keys.iter().find(|pair| pair.key == key)?.value.clone();
    assert_eq!(value("stampmill.schema").as_deref(), Some("sample"));
    assert_eq!(value("stampmill.schema_version").as_deref(), Some("2"));
}

#[test]
fn every_language_is_read_as_it_is_written() {
    let sources = [Language::OpenCl, Language::C, Language::Cxx, Language::Rust];
    let all = sources.into_iter().chain([Language::LlvmIr, Language::Bitcode]);
    for language in all {
        assert_eq!(language.name().parse(), Ok(language));
    }
    assert_eq!("CPP".parse(), Ok(Language::Cxx));
    assert_eq!("ll".parse(), Ok(Language::LlvmIr));
    assert!("fortran".parse::<Language>().is_err());
}

#[test]
fn programs_of_a_data_set_bring_their_provenance() {
    #[derive(Serialize, Deserialize)]
    struct Source {
        text: String,
        language: String,
        package: String,
        version: String,
        license: String,
        family: String,
    }
    impl Row for Source {
        const SCHEMA: &'static str = "source";
        const VERSION: u32 = 1;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let out = folder.path().join("set");
    let row = Source {
        text: "define void @f() { ret void }".into(),
        language: "llvm-ir".into(),
        package: "p".into(),
        version: "1".into(),
        license: "MIT".into(),
        family: "f".into(),
    };
    let builder = Builder::<Source>::create(&out, false, &"").expect("nothing is there");
    builder.finish([row], Notes::default()).expect("the folder is ours");
    let programs = Programs::open(&out).expect("a data set");
    let program = programs.iter().unwrap().next().expect("one row").expect("it is whole");
    assert_eq!(program.language, Language::LlvmIr);
    assert_eq!(program.family, "f");
    let from = program.provenance;
    assert_eq!([from.package, from.version, from.license], ["p", "1", "MIT"]);
}

#[test]
fn a_file_that_the_manifest_lists_is_part_of_the_data_set_and_no_other() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let out = folder.path().join("set");
    let make = |force| {
        let builder = Builder::<Sample>::create(&out, force, &"")?;
        let files = vec!["words.json".to_owned()];
        builder.finish([sample("a", "accepted")], Notes { files, ..Notes::default() })
    };
    make(false).expect("nothing is there");
    std::fs::write(out.join("words.json"), "{}").expect("is written");
    assert!(stampmill_dataset::check(&out).expect("a data set").is_whole());
    make(true).expect("all that is there is ours");
    assert!(!out.join("words.json").exists());
    std::fs::write(out.join("others.json"), "{}").expect("is written");
    assert!(!stampmill_dataset::check(&out).expect("a data set").is_whole());
    assert!(matches!(make(true), Err(Error::ForeignFile { .. })));
}

#[test]
fn rows_that_are_no_accepted_programs_are_counted_by_verdict() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let rows = ["accepted", "duplicate", "does-not-compile", "duplicate"];
    let rows = rows.map(|verdict| sample(verdict, verdict)).to_vec();
    let left_out = |path: &Path| Programs::open(path).and_then(|programs| programs.left_out());
    let set = write(&folder.path().join("set"), rows);
    let counts = left_out(set.folder()).expect("it is read");
    assert_eq!(
        counts.into_iter().collect::<Vec<_>>(),
        [("does-not-compile".to_owned(), 1), ("duplicate".to_owned(), 2)]
    );
    std::fs::write(folder.path().join("a.cl"), "").expect("is written");
    assert!(left_out(&folder.path().join("a.cl")).expect("it is read").is_empty());
}
