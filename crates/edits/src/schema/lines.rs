use super::Form;
use crate::{Error, Result};
use dataset::Language;
use serde::Serialize;
use serde_json::{Map, Value};
use std::path::Path;

/// What to do about a line that cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnBroken {
    /// Stop at the first.
    #[default]
    Stop,
    /// Count it and go on.
    Skip,
}

/// A line that is not what its form says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Broken {
    /// 1-based.
    pub line: u64,
    /// The field at fault; `-` for the line as a whole.
    pub field: String,
    /// What is wrong with it.
    pub reason: String,
}

/// The lines of a file.
#[derive(Clone, Debug, Default)]
pub struct Lines<T> {
    /// Those that could be read, with their line numbers.
    pub rows: Vec<(u64, T)>,
    /// Those that could not.
    pub broken: Vec<Broken>,
}

/// Read JSON lines whose form each line shows by its keys, or that all have the form `wanted`.
/// Blank lines are skipped.
///
/// # Errors
/// When the file cannot be read; with [`OnBroken::Stop`], at the first broken line.
pub fn read_lines(
    path: &Path,
    wanted: Option<Form>,
    on_broken: OnBroken,
) -> Result<Lines<(Form, Map<String, Value>)>> {
    if matches!(Language::of(path), Some(Language::C | Language::Cxx)) {
        return Err(Error::IsProgram(path.to_owned()));
    }
    let bytes = std::fs::read(path).map_err(Error::file("read", path))?;
    let mut lines = Lines { rows: Vec::new(), broken: Vec::new() };
    for (at, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let number = at as u64 + 1;
        match parse(line, wanted) {
            Ok(row) => lines.rows.push((number, row)),
            Err((field, reason)) if on_broken == OnBroken::Skip => {
                lines.broken.push(Broken { line: number, field, reason });
            }
            Err((field, reason)) => {
                return Err(Error::Line { path: path.to_owned(), line: number, field, reason });
            }
        }
    }
    Ok(lines)
}

/// The values of lines.
type Values = Vec<Map<String, Value>>;

/// The values of lines that all have the form `wanted`.
pub(crate) fn read_values(
    path: &Path,
    wanted: Form,
    on_broken: OnBroken,
) -> Result<(Values, Vec<Broken>)> {
    let lines = read_lines(path, Some(wanted), on_broken)?;
    Ok((lines.rows.into_iter().map(|(_, (_, value))| value).collect(), lines.broken))
}

type Row = (Form, Map<String, Value>);

fn parse(line: &[u8], wanted: Option<Form>) -> std::result::Result<Row, (String, String)> {
    let whole = |reason: String| ("-".to_owned(), reason);
    let value: Value =
        serde_json::from_slice(line).map_err(|error| whole(format!("no JSON: {error}")))?;
    let Value::Object(line) = value else {
        return Err(whole("wanted a JSON object".into()));
    };
    let line = crate::problems::of_contest(&line).unwrap_or(line);
    let form = wanted.or_else(|| Form::of(&line)).ok_or_else(|| {
        whole("none of its keys tells a form (see `stampmill edits validate --forms`)".into())
    })?;
    form.check(&line)?;
    Ok((form, line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_lines_are_named_or_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.jsonl");
        let text = "{\"src_id\":\"a\",\"generated_answers\":[\"x\"]}\n\n{\"src_id\":\n{\"src_id\":\"b\"}\n";
        std::fs::write(&path, text).unwrap();
        let error = read_lines(&path, None, OnBroken::Stop).unwrap_err().to_string();
        assert!(error.contains("line 3, field `-`: no JSON"), "{error}");
        let lines =
            read_lines(&path, Some(super::super::form::CANDIDATES), OnBroken::Skip).unwrap();
        assert_eq!(lines.rows.len(), 1);
        let faults: Vec<(u64, &str)> =
            lines.broken.iter().map(|b| (b.line, b.field.as_str())).collect();
        assert_eq!(faults, [(3, "-"), (4, "generated_answers")]);
    }
}
