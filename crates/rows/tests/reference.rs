//! The reference says what the code says.

use stampmill_rows::{reference, schemas, views};
use std::{env, fs, path::Path};

#[test]
fn the_reference_is_what_the_code_says() {
    let path = Path::new("../../docs/schemas.md");
    let text = reference().expect("every struct is a row");
    if env::var_os("BLESS").is_some() {
        fs::write(path, &text).expect("docs/ can be written");
    }
    let found = fs::read_to_string(path).unwrap_or_default();
    assert!(found == text, "docs/schemas.md is out of date: `cargo xtask schemas` writes it");
}

#[test]
fn every_column_has_a_meaning() {
    for schema in schemas().expect("every struct is a row") {
        for (column, _, meaning) in schema.columns {
            assert!(!meaning.is_empty(), "{}.{column}", schema.name);
        }
    }
}

#[test]
fn views_hold_columns_of_their_schema() {
    let schemas = schemas().expect("every struct is a row");
    for (name, columns) in views().expect("every struct is a row") {
        let schema = schemas.iter().find(|schema| schema.name == name).expect("a known schema");
        for (column, kind) in columns {
            let is_column =
                |(other, of, _): &(String, String, &str)| *other == column && *of == kind;
            assert!(schema.columns.iter().any(is_column), "{name}.{column}: {kind}");
        }
    }
}
