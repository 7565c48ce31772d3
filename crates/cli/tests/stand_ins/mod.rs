//! Programs in the place of compilers and build systems, folders that are built with them, and the modules that this gives.

use serde_json::Value;
use std::{fs, path::Path, process::Command};

/// What `stampmill` prints, a value a line, with the programs in `own` first on the search path.
fn stampmill(folder: &Path, words: &[&str]) -> Vec<Value> {
    let inherited = std::env::var("PATH").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_stampmill"))
        .args(words)
        .current_dir(folder)
        .env("STAMPMILL_CACHE", folder.join("cache"))
        .env("PATH", format!("{}:{inherited}", folder.join("own").display()))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    let value = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {said}"));
    lines.lines().map(value).collect()
}

/// Build folders into `modules`, anew where that is there; the summary, and these columns of the rows.
pub(crate) fn build<const COLUMNS: usize>(
    folder: &Path,
    sources: &[&str],
    columns: [&str; COLUMNS],
) -> (Value, Vec<[String; COLUMNS]>) {
    let words =
        [&["ir", "build", "--out", "modules", "--force", "--json", "--offline"][..], sources]
            .concat();
    let report = stampmill(folder, &words).remove(0);
    let sql = format!(
        "SELECT {} FROM m WHERE kind <> 'license-text' ORDER BY kind, path, target",
        columns.join(", ")
    );
    let rows = stampmill(folder, &["query", sql.as_str(), "m=modules", "--format", "jsonl"]);
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    (report, rows.iter().map(|row| columns.map(|name| text(&row[name]))).collect())
}

pub(crate) fn put(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A program in `own`; in its text `OWN` is that folder.
pub(crate) fn put_own(folder: &Path, name: &str, text: &str) {
    let own = folder.join("own");
    let path = own.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let text = format!("#!/bin/sh\n{}", text.replace("OWN", &own.display().to_string()));
    trials::program(&path, text.as_bytes());
}

/// What a shell says.
pub(crate) fn said(script: &str) -> String {
    let output = Command::new("sh").args(["-c", script]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// The file behind `clang-19` on the search path.
pub(crate) fn clang() -> String {
    said("readlink -f \"$(command -v clang-19)\"")
}
