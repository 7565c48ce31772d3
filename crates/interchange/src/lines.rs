//! JSON Lines.

use crate::{
    Error, Result,
    cell::{fits, meant},
    decode::{Line, filled},
    shape::{Asked, Shape},
};
use serde_json::Value;
use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
};

/// A longer line or record is no row.
pub(crate) const LONGEST: u64 = 512 << 20;

/// The names of the first object's members; its lines, held to the shape, come next.
pub(crate) fn columns(path: &Path, asked: Asked<'_>) -> Result<Vec<String>> {
    let mut reader = Reader::open(path)?;
    match reader.next_object()? {
        Some((_, _, Value::Object(members))) => {
            let names: Vec<String> = members.keys().cloned().collect();
            asked.ours(&names).map_err(|reason| Error::whole(path, reason))
        }
        _ => Err(Error::whole(path, "is empty: there is no row to tell the columns by")),
    }
}

pub(crate) struct Lines<'a> {
    reader: Reader,
    shape: &'a Shape,
    asked: Asked<'a>,
}

impl<'a> Lines<'a> {
    pub(crate) fn open(path: &Path, shape: &'a Shape, asked: Asked<'a>) -> Result<Lines<'a>> {
        Ok(Lines { reader: Reader::open(path)?, shape, asked })
    }

    fn line(&mut self) -> Result<Option<Line>> {
        let Some((number, text, value)) = self.reader.next_object()? else { return Ok(None) };
        let wrong = |reason: String| Error::line(&self.reader.path, number, reason);
        let empty = serde_json::Map::new();
        let members = value.as_object().unwrap_or(&empty);
        if !self.asked.ignore {
            let is_known = |theirs: &&String| {
                let fields = self.shape.fields.iter();
                fields.map(|field| self.asked.theirs(field.name())).any(|name| name == *theirs)
            };
            if let Some(name) = members.keys().find(|name| !is_known(name)) {
                let names = self.shape.fields.iter().map(|field| field.name().as_str());
                return Err(wrong(format!("unknown column `{name}`{}", meant(name, names))));
            }
        }
        for field in &self.shape.fields {
            let name = field.name();
            let value = match members.get(self.asked.theirs(name)) {
                Some(value) => value,
                None if self.shape.absent.contains_key(name) => continue,
                None => &Value::Null,
            };
            fits(value, field).map_err(|reason| wrong(format!("column `{name}`: {reason}")))?;
        }
        let text = text.trim();
        let member = |name: &str| members.get(self.asked.theirs(name));
        let program = member("text").and_then(Value::as_str);
        let filled = filled(self.shape, program, |name| member(name).is_some());
        let json = match (filled.as_str(), text.strip_prefix('{')) {
            ("", _) | (_, None) => text.to_owned(),
            (filled, Some(rest)) if members.is_empty() => {
                format!("{{{}{rest}", filled.trim_end_matches(','))
            }
            (filled, Some(rest)) => format!("{{{filled}{rest}"),
        };
        Ok(Some(Line { number, json }))
    }
}

impl Iterator for Lines<'_> {
    type Item = Result<Line>;

    fn next(&mut self) -> Option<Self::Item> {
        self.line().transpose()
    }
}

/// Objects of a file, a line each.
struct Reader {
    path: PathBuf,
    file: BufReader<File>,
    number: u64,
}

impl Reader {
    fn open(path: &Path) -> Result<Reader> {
        let file = dataset::open_file(path).map_err(Error::file("open", path))?;
        Ok(Reader { path: path.to_owned(), file: BufReader::new(file), number: 0 })
    }

    /// The next object, with the number of its line and its text; empty lines are passed over.
    fn next_object(&mut self) -> Result<Option<(u64, String, Value)>> {
        loop {
            let mut bytes = Vec::new();
            let read = (&mut self.file)
                .take(LONGEST)
                .read_until(b'\n', &mut bytes)
                .map_err(Error::file("read", &self.path))?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            let wrong = |reason: String| Error::line(&self.path, self.number, reason);
            if read as u64 == LONGEST {
                return Err(wrong(format!("longer than {} MiB", LONGEST >> 20)));
            }
            let Ok(mut text) = String::from_utf8(bytes) else {
                return Err(wrong("is not UTF-8".to_owned()));
            };
            if self.number == 1 {
                text = text.strip_prefix('\u{feff}').map_or(text.clone(), str::to_owned);
            }
            if text.trim().is_empty() {
                continue;
            }
            let cut = if text.ends_with('\n') { "" } else { ", and the file ends here" };
            let value: Value = serde_json::from_str(text.trim_end()).map_err(|error| {
                let said = error.to_string();
                let said = said.split(" at line ").next().unwrap_or_default();
                wrong(format!("is no JSON: {said} at column {}{cut}", error.column()))
            })?;
            return match value {
                Value::Object(_) => Ok(Some((self.number, text, value))),
                Value::Array(_) => Err(wrong(
                    "is a list, where each line must be an object: the rows of one JSON array go one to a line"
                        .to_owned(),
                )),
                _ => Err(wrong("is no object of JSON".to_owned())),
            };
        }
    }
}
