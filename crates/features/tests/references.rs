//! Values that others computed, and those that were recorded when all of these were met.

use dataset::{Code, Language, Program};
use serde_json::Value;
use sha2::{Digest, Sha256};
use stampmill_features::{CompileConfigs, Extractor, Options, spaces};
use std::{collections::BTreeMap, fs};

/// A program's text and the vector it should have.
type Wanted = (String, Vec<f64>);

/// All of these have their vectors; says which have not.
fn assert_equal(space: &str, wanted: &[Wanted]) {
    let extractor = Extractor::new(
        spaces(space).expect("registered"),
        Options { configs: CompileConfigs::published(None), ..Options::default() },
    );
    let program = |(text, _): &Wanted| Program {
        path: "it.cl".into(),
        language: Language::OpenCl,
        code: Code::Text(text.clone()),
        ..Program::default()
    };
    let programs: Vec<Program> = wanted.iter().map(program).collect();
    let described =
        extractor.describe_many(&programs).unwrap_or_else(|error| panic!("{space}: {error}"));
    let mut unequal = 0;
    for ((text, wanted), found) in wanted.iter().zip(&described) {
        let found = found.iter().find_map(|row| row.vectors.get(space));
        if found.is_none_or(|found| found[..wanted.len()] != *wanted) {
            println!("{space}: {found:?} instead of {wanted:?} of\n{text}");
            unequal += 1;
        }
    }
    assert_eq!(unequal, 0, "{space}: of {}", wanted.len());
}

/// The rows of a table that ships, without its head, as cells.
fn facts(name: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(trials::facts(name)).expect("it comes with the sources");
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

fn numbers<'a>(cells: impl IntoIterator<Item = &'a str>) -> Vec<f64> {
    cells.into_iter().map(|cell| cell.parse().expect("a number")).collect()
}

/// The columns `part` of a table about kernels that ship.
fn of_shipped(name: &str, vector: impl Fn(&[String]) -> Vec<f64>) -> Vec<Wanted> {
    let kernels = trials::kernels();
    let wanted = |row: Vec<String>| {
        let place: usize = row[0].parse().expect("a place");
        (kernels[place].clone(), vector(&row[1..]))
    };
    let all: Vec<Wanted> = facts(name).into_iter().map(wanted).collect();
    assert!(all.len() > 250, "{}", all.len());
    all
}

fn instcount_equals_another_readers_counts() {
    let vector = |row: &[String]| {
        let row = numbers(row.iter().map(String::as_str));
        // Functions, blocks, opcodes: the space has the sum, blocks, functions, opcodes.
        [vec![row[2..].iter().sum(), row[1], row[0]], row[2..].to_vec()].concat()
    };
    assert_equal("instcount", &of_shipped("opcodes.csv", vector));
}

fn grewe_equals_what_was_recorded() {
    let vector = |row: &[String]| numbers(row[..6].iter().map(String::as_str));
    assert_equal("grewe", &of_shipped("recorded.csv", vector));
}

fn autophase_equals_what_was_recorded() {
    let vector = |row: &[String]| numbers(row[6].split(' '));
    assert_equal("autophase", &of_shipped("recorded.csv", vector));
}

/// As far as that prints: two decimals.
fn ir2vec_equals_what_llvm_22_prints() {
    let text = fs::read_to_string(trials::facts("ir2vec.ll")).expect("it comes with the sources");
    let printed = text.lines().nth(2).expect("its third line").trim_start_matches("; ");
    let wanted = numbers(printed.split(' '));
    let options = Options { configs: CompileConfigs::published(None), ..Options::default() };
    let extractor = Extractor::new(spaces("ir2vec").expect("registered"), options);
    let program = Program {
        path: "it.ll".into(),
        language: Language::LlvmIr,
        code: Code::Text(text),
        ..Program::default()
    };
    let described = extractor.describe_many(&[program]).expect("LLVM is here");
    let found = &described[0][0].vectors["ir2vec"];
    assert_eq!(found.len(), wanted.len());
    let is_near = |(found, wanted): (&f64, &f64)| (found - wanted).abs() < 0.0051;
    assert!(found.iter().zip(&wanted).all(is_near), "{found:?} instead of {wanted:?}");
}

const TEXTS: &str = "kernels/clgen.jsonl";

/// The columns `part` of the published table, with the texts that do not ship.
fn published(vector: impl Fn(&[String]) -> Vec<f64>) -> Vec<Wanted> {
    let path = trials::reference().join(TEXTS);
    let lines = fs::read_to_string(&path).unwrap_or_else(|_| panic!("no {}", path.display()));
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for line in lines.lines() {
        let row: Value = serde_json::from_str(line).expect("a line of JSON");
        let text = row["src"].as_str().expect("every row has its source").to_owned();
        let hash = Sha256::digest(&text);
        let hash: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        texts.insert(hash, text);
    }
    let wanted = |row: Vec<String>| {
        let text = texts.get(&row[0]).unwrap_or_else(|| panic!("no text has the hash {}", row[0]));
        (text.clone(), vector(&row[1..]))
    };
    facts("clgen.csv").into_iter().map(wanted).filter(|(_, vector)| !vector.is_empty()).collect()
}

fn grewe_equals_every_published_row() {
    let wanted = published(|row| numbers(row[..6].iter().map(String::as_str)));
    assert_eq!(wanted.len(), 995);
    assert_equal("grewe", &wanted);
}

fn instcount_equals_every_published_row() {
    let wanted = published(|row| numbers(row[6].split_terminator(' ')));
    assert_eq!(wanted.len(), 503);
    assert_equal("instcount", &wanted);
}

fn autophase_equals_every_published_row() {
    let wanted = published(|row| numbers(row[7].split_terminator(' ')));
    assert_eq!(wanted.len(), 503);
    assert_equal("autophase", &wanted);
}

fn the_spaces_have_as_many_dimensions_as_the_published_targets() {
    let text = fs::read_to_string(trials::facts("suites.jsonl")).expect("it comes with us");
    let rows: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    assert_eq!(rows.len(), 273);
    for space in ["instcount", "autophase"] {
        let dimensions = stampmill_features::space(space).expect("registered").dimensions().len();
        for row in &rows {
            assert_eq!(row[space].as_array().map(Vec::len), Some(dimensions));
        }
    }
}

trials::main! {
    instcount_equals_another_readers_counts,
    grewe_equals_what_was_recorded,
    autophase_equals_what_was_recorded,
    ir2vec_equals_what_llvm_22_prints,
    grewe_equals_every_published_row: trials::lacks::reference(TEXTS),
    instcount_equals_every_published_row: trials::lacks::reference(TEXTS),
    autophase_equals_every_published_row: trials::lacks::reference(TEXTS),
    the_spaces_have_as_many_dimensions_as_the_published_targets,
}
