//! CSV.

use crate::{
    Error, Result,
    cell::{self, meant, quoted, said, shown},
    decode::{Line, filled},
    lines::LONGEST,
    shape::{Asked, Shape, may_be_apart},
};
use arrow::datatypes::{DataType, Field};
use csv::ByteRecord;
use std::{
    collections::{BTreeMap, HashSet},
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

/// The first line of a file: where the values of each column are.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    /// Its cells.
    cells: Vec<String>,
    /// Columns in order: one cell, or a cell for each named value.
    columns: Vec<(String, Cells)>,
}

#[derive(Clone, Debug)]
enum Cells {
    One(usize),
    Apart(Vec<(String, usize)>),
}

impl Header {
    pub(crate) fn read(path: &Path, asked: Asked<'_>) -> Result<Header> {
        let mut records = Records::open(path)?;
        let Some(record) = records.next_record()? else {
            return Err(Error::whole(path, "is empty: there is no line with the names of columns"));
        };
        let wrong = |reason: String| Error::line(path, 1, reason);
        let mut cells = Vec::new();
        for (at, cell) in record.iter().enumerate() {
            let name = std::str::from_utf8(cell)
                .map_err(|_| wrong(format!("the name of column {} is not UTF-8", at + 1)))?;
            cells.push(name.to_owned());
        }
        let mut known = HashSet::new();
        if let Some(twice) = cells.iter().find(|name| !known.insert(name.as_str())) {
            return Err(wrong(format!("two columns are called `{twice}`")));
        }
        if let ([one], Some(other)) =
            (&cells[..], [';', '\t'].into_iter().find(|c| cells[0].contains(*c)))
        {
            return Err(wrong(format!(
                "there is one column, {}: cells are separated by commas, not by `{}`",
                shown(one),
                other.escape_debug()
            )));
        }
        let cells = asked.ours(&cells).map_err(wrong)?;
        let mut columns: Vec<(String, Cells)> = Vec::new();
        for (at, name) in cells.iter().enumerate() {
            let Some((column, value)) =
                name.split_once('.').filter(|(column, _)| may_be_apart(column))
            else {
                columns.push((name.clone(), Cells::One(at)));
                continue;
            };
            let value = (value.to_owned(), at);
            match columns.iter_mut().find(|(known, _)| known == column) {
                Some((_, Cells::Apart(values))) => values.push(value),
                Some((_, Cells::One(_))) => {
                    return Err(wrong(format!(
                        "there are `{column}` and `{name}`: name one of them"
                    )));
                }
                None => columns.push((column.to_owned(), Cells::Apart(vec![value]))),
            }
        }
        Ok(Header { cells, columns })
    }

    /// Whether each space has all of its dimensions, in order.
    fn spaces_are_whole(&self, shape: &Shape) -> Result<(), String> {
        for (column, values) in self.apart().filter(|(column, _)| shape.is_space(column)) {
            let Ok(space) = features::space(column) else { continue };
            let dimensions = space.dimensions();
            let unknown = |(name, _): &&(String, usize)| !dimensions.contains(&name.as_str());
            if let Some((name, _)) = values.iter().find(unknown) {
                let meant = meant(name, dimensions.iter().copied());
                return Err(format!("`{column}` has no dimension `{name}`{meant}"));
            }
            let is_there = |name: &&&str| values.iter().any(|(value, _)| value == **name);
            if let Some(name) = dimensions.iter().find(|name| !is_there(name)) {
                return Err(format!("dimension `{column}.{name}` is missing"));
            }
        }
        Ok(())
    }

    fn apart(&self) -> impl Iterator<Item = (&str, &[(String, usize)])> {
        self.columns.iter().filter_map(|(name, cells)| match cells {
            Cells::Apart(values) => Some((name.as_str(), &values[..])),
            Cells::One(_) => None,
        })
    }

    /// The columns, each once.
    pub(crate) fn columns(&self) -> Vec<String> {
        self.columns.iter().map(|(name, _)| name.clone()).collect()
    }

    /// The names of values by column, in the order of the values.
    pub(crate) fn names(&self) -> BTreeMap<String, Vec<String>> {
        let names =
            |values: &[(String, usize)]| values.iter().map(|(name, _)| name.clone()).collect();
        self.apart().map(|(column, values)| (column.to_owned(), names(values))).collect()
    }
}

/// The rows of a file as JSON.
pub(crate) struct Lines<'a> {
    records: Records,
    header: Header,
    shape: &'a Shape,
    begun: bool,
}

impl<'a> Lines<'a> {
    pub(crate) fn open(path: &Path, header: &Header, shape: &'a Shape) -> Result<Lines<'a>> {
        header.spaces_are_whole(shape).map_err(|reason| Error::line(path, 1, reason))?;
        let mut header = header.clone();
        for (column, cells) in &mut header.columns {
            if !shape.is_space(column) {
                continue;
            }
            if let (Cells::Apart(values), Some(space)) = (cells, features::space(column).ok()) {
                let dimensions = space.dimensions();
                values.sort_by_key(|(name, _)| dimensions.iter().position(|known| known == name));
            }
        }
        Ok(Lines { records: Records::open(path)?, header, shape, begun: false })
    }

    fn line(&mut self) -> Result<Option<Line>> {
        if !self.begun {
            self.begun = true;
            self.records.next_record()?;
        }
        let Some(record) = self.records.next_record()? else { return Ok(None) };
        let number = record.position().map_or(0, csv::Position::line);
        let wrong = |reason: String| Error::line(&self.records.path, number, reason);
        let (found, wanted) = (record.len(), self.header.cells.len());
        if found != wanted {
            return Err(wrong(format!(
                "{found} cells, where the first line names {wanted} columns"
            )));
        }
        let mut cells = Vec::with_capacity(wanted);
        for (cell, name) in record.iter().zip(&self.header.cells) {
            let text = std::str::from_utf8(cell);
            cells.push(text.map_err(|_| wrong(format!("column `{name}` is not UTF-8")))?);
        }
        let mut text = None;
        let mut members = String::new();
        for (column, place) in &self.header.columns {
            let Some(field) = self.shape.field(column) else { continue };
            let value = match place {
                Cells::One(at) => {
                    if column == "text" {
                        text = Some(cells[*at]);
                    }
                    cell::json(cells[*at], field)
                }
                Cells::Apart(values) => apart(field, values, &cells),
            };
            let value = value.map_err(|reason| wrong(format!("column `{column}`: {reason}")))?;
            if let Some(value) = value {
                members.push_str(&format!("{}:{value},", quoted(column)));
            }
        }
        members.push_str(&filled(self.shape, text, |_| false));
        Ok(Some(Line { number, json: format!("{{{}}}", members.trim_end_matches(',')) }))
    }
}

/// The value of a column whose values have cells of their own: none where all of them are empty.
fn apart(
    field: &Field,
    values: &[(String, usize)],
    cells: &[&str],
) -> Result<Option<String>, String> {
    let is_empty = values.iter().all(|(_, at)| cells[*at].is_empty());
    let value = |name: &str, at: usize, of: &Field| {
        cell::json(cells[at], of)
            .map(|value| value.unwrap_or_else(|| "null".to_owned()))
            .map_err(|reason| format!("`{name}`: {reason}"))
    };
    match field.data_type() {
        DataType::List(_) | DataType::Struct(_) if is_empty && field.is_nullable() => Ok(None),
        DataType::List(_) if is_empty => Ok(Some("[]".to_owned())),
        DataType::List(item) => {
            let all: Result<Vec<String>, String> =
                values.iter().map(|(name, at)| value(name, *at, item)).collect();
            Ok(Some(format!("[{}]", all?.join(","))))
        }
        DataType::Struct(fields) => {
            let all: Result<Vec<String>, String> = values
                .iter()
                .map(|(name, at)| {
                    let of = fields.iter().find(|field| field.name() == name);
                    let of = of.ok_or_else(|| format!("there is no `{name}`"))?;
                    Ok(format!("{}:{}", quoted(name), value(name, *at, of)?))
                })
                .collect();
            Ok(Some(format!("{{{}}}", all?.join(","))))
        }
        kind => Err(format!("it is {}, and no list", said(kind))),
    }
}

impl Iterator for Lines<'_> {
    type Item = Result<Line>;

    fn next(&mut self) -> Option<Self::Item> {
        self.line().transpose()
    }
}

/// The records of a file.
struct Records {
    path: PathBuf,
    reader: csv::Reader<Quotes<File>>,
}

impl Records {
    fn open(path: &Path) -> Result<Records> {
        let file = dataset::open_file(path).map_err(Error::file("open", path))?;
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .from_reader(Quotes::new(file));
        Ok(Records { path: path.to_owned(), reader })
    }

    fn next_record(&mut self) -> Result<Option<ByteRecord>> {
        let mut record = ByteRecord::new();
        match self.reader.read_byte_record(&mut record) {
            Ok(true) => Ok(Some(record)),
            Ok(false) => Ok(None),
            Err(error) => {
                let quotes = self.reader.get_ref();
                Err(match (error.into_kind(), &quotes.refused) {
                    (csv::ErrorKind::Io(_), Some((line, reason))) => {
                        Error::line(&self.path, *line, *reason)
                    }
                    (csv::ErrorKind::Io(error), None) => Error::file("read", &self.path)(error),
                    (kind, _) => Error::whole(&self.path, format!("{kind:?}")),
                })
            }
        }
    }
}

/// Looks at quotation marks while a file is read: a file that was cut off within them, and one whose records have no
/// end, are refused before the rest is taken for a record.
struct Quotes<R> {
    file: R,
    state: State,
    line: u64,
    /// Where the open quotation mark is.
    opened: u64,
    /// Bytes since a record ended.
    bytes: u64,
    refused: Option<(u64, &'static str)>,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Begin,
    Plain,
    Quoted,
    /// Behind a quotation mark in quotes, which ends them or is the first of two.
    Mark,
}

impl<R> Quotes<R> {
    fn new(file: R) -> Quotes<R> {
        Quotes { file, state: State::Begin, line: 1, opened: 1, bytes: 0, refused: None }
    }

    fn look(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.bytes += 1;
            self.state = match (self.state, byte) {
                (State::Begin, b'"') => {
                    self.opened = self.line;
                    State::Quoted
                }
                (State::Quoted, b'"') => State::Mark,
                (State::Mark, b'"') | (State::Quoted, _) => State::Quoted,
                (_, b'\n') => {
                    self.bytes = 0;
                    State::Begin
                }
                (_, b',' | b'\r') => State::Begin,
                _ => State::Plain,
            };
            self.line += u64::from(*byte == b'\n');
        }
    }
}

impl<R: Read> Read for Quotes<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.look(&buffer[..read]);
        if read == 0 && self.state == State::Quoted && !buffer.is_empty() {
            self.refused =
                Some((self.opened, "quotes open here and do not close: the file was cut off"));
        } else if self.bytes > LONGEST {
            self.refused = Some((self.opened, "a record is longer than 512 MiB"));
        }
        match &self.refused {
            Some((_, reason)) => Err(io::Error::new(io::ErrorKind::InvalidData, *reason)),
            None => Ok(read),
        }
    }
}
