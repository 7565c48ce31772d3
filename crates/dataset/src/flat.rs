use crate::{
    Dataset, Error, Input, Manifest, Notes, Result, Shard, check, content_hash_of_file,
    place::part_name,
    shard,
    unfinished::{Plan, Unfinished},
};
use arrow::{array::RecordBatch, datatypes::SchemaRef};
use std::{collections::BTreeMap, convert::Infallible, path::Path};

/// Write record batches whose columns are known only at run time, for example one per feature, as
/// a data set at `out` of the schema and version given, whole or not at all; `force` replaces
/// what is there. Where the columns are known beforehand, use [`Row`](crate::Row) and
/// [`Builder`](crate::Builder).
///
/// # Errors
/// When `out` exists, the batches are none or of different columns, or something cannot be
/// written.
pub fn write_flat(
    out: &Path,
    force: bool,
    (schema, version): (&str, u32),
    batches: &[RecordBatch],
    notes: Notes,
) -> Result<Dataset> {
    let columns = batches.first().map(RecordBatch::schema).ok_or_else(|| Error::Columns {
        schema: schema.to_owned(),
        reason: "no batch, so no columns".to_owned(),
    })?;
    let batches = batches.iter().cloned().map(Ok::<_, Infallible>);
    write_stream(out, force, (schema, version), columns, batches, || notes).map_err(|error| {
        match error {
            Streamed::Dataset(error) => error,
            Streamed::Batch(never) => match never {},
        }
    })
}

impl Dataset {
    /// The first `limit` rows as a data set of its own at the new folder `out`, of the same schema.
    ///
    /// # Errors
    /// When it has no rows, they cannot be read, or the new data set cannot be written.
    pub fn first(&self, limit: usize, out: &Path) -> Result<Dataset> {
        let manifest = self.manifest();
        let (mut left, mut batches) = (limit, Vec::new());
        let mut verdicts: BTreeMap<String, u64> = BTreeMap::new();
        for batch in self.batches(None)? {
            let batch = batch?;
            let batch = batch.slice(0, batch.num_rows().min(left));
            left -= batch.num_rows();
            for word in check::words(&batch).into_iter().flatten() {
                *verdicts.entry(word.to_owned()).or_default() += 1;
            }
            batches.push(batch);
            if left == 0 {
                break;
            }
        }
        let mut configuration = manifest.notes.configuration.clone();
        match configuration.as_object_mut() {
            Some(known) => drop(known.insert("limit".to_owned(), limit.into())),
            None => configuration = serde_json::json!({ "limit": limit }),
        }
        let name = self.folder().display().to_string();
        let notes = Notes {
            inputs: vec![Input { name, hash: manifest.identity.clone() }],
            configuration,
            seed: manifest.notes.seed,
            tools: manifest.notes.tools.clone(),
            verdicts,
            hosts: manifest.hosts().collect(),
            ..Notes::default()
        };
        write_flat(out, false, (&manifest.schema, manifest.version), &batches, notes)
    }
}

/// Why [`write_stream`] made no data set.
#[derive(Debug)]
pub enum Streamed<E> {
    /// The data set cannot be made.
    Dataset(Error),
    /// What the batches say.
    Batch(E),
}

/// As [`write_flat`], of batches that are still being made: memory holds one of them. `notes` is asked once all are
/// written. Nothing is left behind where there is an error.
///
/// # Errors
/// As there; and the first error among the batches.
pub fn write_stream<E>(
    out: &Path,
    force: bool,
    (schema, version): (&str, u32),
    columns: SchemaRef,
    batches: impl IntoIterator<Item = Result<RecordBatch, E>>,
    notes: impl FnOnce() -> Notes,
) -> Result<Dataset, Streamed<E>> {
    // It has no parts, so there is nothing to go on with: one that was killed is begun anew.
    let plan = Plan::new(schema, version, "flat".into(), &[]);
    let unfinished = Unfinished::begin(out, force, &plan).map_err(Streamed::Dataset)?;
    let write = || {
        let file = part_name(0);
        let path = unfinished.whole().map_err(Streamed::Dataset)?.join(&file);
        let rows = shard::write_batches(&path, (schema, version), columns, batches)?;
        let (bytes, hash) = content_hash_of_file(&path)
            .map_err(|error| Streamed::Dataset(Error::file("read", &path)(error)))?;
        Ok(vec![Shard { file, rows, bytes, hash }])
    };
    match write() {
        Ok(shards) => unfinished
            .finish(&Manifest::of(schema, version, shards, notes()))
            .map_err(Streamed::Dataset),
        Err(error) => {
            unfinished.abandon();
            Err(error)
        }
    }
}
