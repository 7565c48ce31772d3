//! Lines of JSON as record batches.

use crate::{
    Error, Result,
    cell::quoted,
    shape::{Asked, Shape},
};
use arrow::{
    array::RecordBatch,
    datatypes::{Schema, SchemaRef},
    json::{ReaderBuilder, reader::Decoder},
};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// Rows of a batch at most.
const ROWS: usize = 1024;
/// What a batch should take.
const BYTES: usize = 2 << 20;

/// A row as an object of JSON whose values were held to their columns, and where it stands.
pub(crate) struct Line {
    pub(crate) number: u64,
    pub(crate) json: String,
}

/// The record batches of lines. They are decoded as text, so that a double is what was written to its last bit.
pub(crate) struct Batches<I> {
    path: PathBuf,
    schema: SchemaRef,
    decoder: Decoder,
    lines: I,
    ended: bool,
}

impl<I: Iterator<Item = Result<Line>>> Batches<I> {
    /// Of lines whose objects have the columns by the names that `asked` has for them.
    pub(crate) fn new(
        path: &Path,
        shape: &Shape,
        asked: Asked<'_>,
        lines: I,
    ) -> Result<Batches<I>> {
        let schema = Arc::new(Schema::new(shape.fields.clone()));
        let theirs = shape
            .fields
            .iter()
            .map(|field| Arc::new(field.as_ref().clone().with_name(asked.theirs(field.name()))));
        let theirs = Arc::new(Schema::new(theirs.collect::<Vec<_>>()));
        let decoder = ReaderBuilder::new(theirs).with_batch_size(ROWS).build_decoder()?;
        Ok(Batches { path: path.to_owned(), schema, decoder, lines, ended: false })
    }

    fn batch(&mut self) -> Result<Option<RecordBatch>> {
        let (mut rows, mut bytes, mut number) = (0, 0, 0);
        while rows < ROWS && bytes < BYTES {
            let Some(line) = self.lines.next().transpose()? else { break };
            number = line.number;
            let text = line.json.as_bytes();
            let wrong = |reason: String| Error::line(&self.path, number, reason);
            let read = self.decoder.decode(text).map_err(|error| wrong(error.to_string()))?;
            if read != text.len() {
                return Err(wrong("more than one object".to_owned()));
            }
            rows += 1;
            bytes += text.len();
        }
        let batch = self.decoder.flush();
        let batch = batch.map_err(|error| Error::line(&self.path, number, error.to_string()))?;
        let ours = |batch: RecordBatch| {
            RecordBatch::try_new(Arc::clone(&self.schema), batch.columns().to_vec())
        };
        Ok(batch.map(ours).transpose()?)
    }
}

impl<I: Iterator<Item = Result<Line>>> Iterator for Batches<I> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.batch().transpose();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}

/// The members that stand in the columns which a row lacks, each with a comma behind it. An identity is the hash of
/// the text.
pub(crate) fn filled(shape: &Shape, text: Option<&str>, has: impl Fn(&str) -> bool) -> String {
    let mut members = String::new();
    for (name, stands) in shape.absent.iter().filter(|(name, _)| !has(name)) {
        let value = match (name.as_str(), stands, text) {
            ("id", Some(_), Some(text)) => quoted(&dataset::content_hash(text.as_bytes())),
            (_, Some(stands), _) => (*stands).to_owned(),
            (_, None, _) => continue,
        };
        members.push_str(&format!("{}:{value},", quoted(name)));
    }
    members
}
