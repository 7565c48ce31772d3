use crate::{
    Dataset, Error, Manifest, Notes, Result, Shard, builder::claim, content_hash, content_hash_of,
    manifest::host, shard,
};
use arrow::array::RecordBatch;
use std::{fs, os::unix::fs::PermissionsExt, path::Path};

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
    claim(out, force)?;
    let columns = batches.first().map(RecordBatch::schema).ok_or_else(|| Error::Columns {
        schema: schema.to_owned(),
        reason: "no batch, so no columns".to_owned(),
    })?;
    let parent = match out.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    fs::create_dir_all(parent).map_err(Error::file("create", parent))?;
    let whole = tempfile::Builder::new()
        .prefix(".partial-")
        .permissions(fs::Permissions::from_mode(0o755))
        .tempdir_in(parent)
        .map_err(Error::file("create a folder in", parent))?;
    let file = "part-00000.parquet".to_owned();
    let path = whole.path().join(&file);
    let rows = shard::write_batches(&path, columns, batches)?;
    let content = fs::read(&path).map_err(Error::file("read", &path))?;
    let hash = content_hash(&content);
    let shards = vec![Shard { file, rows, bytes: content.len() as u64, hash }];
    let manifest = Manifest {
        schema: schema.to_owned(),
        version,
        benchstone: env!("CARGO_PKG_VERSION").to_owned(),
        identity: content_hash_of(shards.iter().map(|shard| shard.hash.as_bytes())),
        rows,
        shards,
        notes,
        host: host(),
    };
    manifest.write(whole.path())?;
    if out.exists() {
        fs::remove_dir_all(out).map_err(Error::file("remove", out))?;
    }
    fs::rename(whole.keep(), out).map_err(Error::file("write", out))?;
    Dataset::open(out)
}
