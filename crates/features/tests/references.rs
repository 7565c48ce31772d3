//! The published values: skipped, and said so, where the reference data or the compiler is absent.

use dataset::{Code, Language, Program};
use serde_json::Value;
use stampmill_features::{CompileConfigs, Extractor, Options, spaces};
use std::path::PathBuf;

const COUNTERS: [&str; 6] = ["comp", "rational", "mem", "localmem", "coalesced", "atomic"];

fn reference(path: &str) -> Option<Vec<Value>> {
    let folder = std::env::var_os("STAMPMILL_REFERENCE")
        .map_or_else(|| PathBuf::from("../../../shared/data"), PathBuf::from);
    let Ok(text) = std::fs::read_to_string(folder.join(path)) else {
        println!("skipped: no reference data {path}");
        return None;
    };
    Some(text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect())
}

fn programs(rows: &[Value]) -> Vec<Program> {
    let program = |row: &Value| Program {
        path: row["benchmark"].as_str().expect("every row is named").to_owned(),
        language: Language::OpenCl,
        code: Code::Text(row["src"].as_str().expect("every row has its source").to_owned()),
        ..Program::default()
    };
    rows.iter().map(program).collect()
}

/// Rows that agree and rows compared, for each of `wanted`.
fn compare(
    space: &str,
    rows: &[Value],
    wanted: impl Fn(&Value) -> Option<Vec<f64>>,
) -> Option<(usize, usize)> {
    let extractor = Extractor::new(
        spaces(space).expect("registered"),
        Options { configs: CompileConfigs::published(None), ..Options::default() },
    );
    let described = match extractor.describe_many(&programs(rows)) {
        Ok(described) => described,
        Err(error) => {
            println!("skipped: {error}");
            return None;
        }
    };
    let (mut equal, mut compared) = (0, 0);
    for (row, found) in rows.iter().zip(&described) {
        let Some(wanted) = wanted(row) else { continue };
        compared += 1;
        let found = found.iter().find_map(|found| found.vectors.get(space));
        if found.is_some_and(|found| found[..wanted.len()] == wanted) {
            equal += 1;
        } else {
            println!("{}: {found:?}, published {wanted:?}", row["benchmark"]);
        }
    }
    println!("{space}: {equal} of {compared} rows equal");
    Some((equal, compared))
}

fn list(row: &Value, key: &str) -> Option<Vec<f64>> {
    Some(row[key].as_array()?.iter().map(|value| value.as_f64().expect("a number")).collect())
}

#[test]
fn grewe_equals_every_published_row() {
    let Some(rows) = reference("kernels/clgen.jsonl") else { return };
    let wanted = |row: &Value| {
        Some(COUNTERS.iter().map(|name| row[name].as_f64().expect("a counter")).collect())
    };
    let Some((equal, compared)) = compare("grewe", &rows, wanted) else { return };
    assert_eq!((equal, compared), (rows.len(), rows.len()));
}

#[test]
fn instcount_equals_every_published_row() {
    let Some(rows) = reference("kernels/clgen.jsonl") else { return };
    let Some((equal, compared)) = compare("instcount", &rows, |row| list(row, "instcount")) else {
        return;
    };
    assert!(compared > 0 && equal == compared);
}

#[test]
fn autophase_equals_every_published_row() {
    let Some(rows) = reference("kernels/clgen.jsonl") else { return };
    let Some((equal, compared)) = compare("autophase", &rows, |row| list(row, "autophase")) else {
        return;
    };
    assert!(compared > 0 && equal == compared);
}

#[test]
fn the_spaces_have_as_many_dimensions_as_the_published_targets() {
    let Some(rows) = reference("targets/suites.jsonl") else { return };
    for space in ["instcount", "autophase"] {
        let dimensions = stampmill_features::space(space).expect("registered").dimensions().len();
        for row in &rows {
            assert_eq!(list(row, space).map(|vector| vector.len()), Some(dimensions));
        }
    }
}
