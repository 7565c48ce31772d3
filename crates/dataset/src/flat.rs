use crate::{
    Dataset, Error, Manifest, Notes, Result, Shard, content_hash_of_file,
    place::part_name,
    shard,
    unfinished::{Plan, Unfinished},
};
use arrow::array::RecordBatch;
use std::path::Path;

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
    // It has no parts, so there is nothing to go on with: one that was killed is begun anew.
    let plan = Plan::new(schema, version, "flat".into(), &[]);
    let unfinished = Unfinished::begin(out, force, &plan)?;
    let file = part_name(0);
    let path = unfinished.whole()?.join(&file);
    let rows = shard::write_batches(&path, (schema, version), columns, batches)?;
    let (bytes, hash) = content_hash_of_file(&path).map_err(Error::file("read", &path))?;
    let shards = vec![Shard { file, rows, bytes, hash }];
    unfinished.finish(&Manifest::of(schema, version, shards, notes))
}
