//! Objects from and to files.

use crate::protocol::{Answer, When};
use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::{
    Error, GetOptions, GetRange, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload,
    UpdateVersion, WriteMultipart, aws::AmazonS3, path::Path,
};
use std::{
    fs::File,
    io::{Read, Write},
    ops::Range,
    path,
};

/// Bytes of an object that one request gets or puts: a slow network manages so many before a request's time is over.
const PIECE: u64 = 8 << 20;
/// Requests at a time.
const AT_A_TIME: usize = 4;

fn machine(source: std::io::Error) -> Error {
    Error::Generic { store: "file", source: source.into() }
}

/// Write an object to a file.
pub(crate) async fn get(store: &AmazonS3, key: &Path, file: &path::Path) -> Result<Answer, Error> {
    let found = store.head(key).await?;
    let mut out = File::create(file).map_err(machine)?;
    let tag = found.e_tag.clone();
    let pieces = (0..found.size.div_ceil(PIECE)).map(|number| {
        let range = number * PIECE..((number + 1) * PIECE).min(found.size);
        let if_match = tag.clone();
        async move {
            let range = Some(GetRange::Bounded(range));
            store
                .get_opts(key, GetOptions { range, if_match, ..GetOptions::default() })
                .await?
                .bytes()
                .await
        }
    });
    let mut pieces = stream::iter(pieces).buffered(AT_A_TIME);
    while let Some(piece) = pieces.try_next().await? {
        out.write_all(&piece).map_err(machine)?;
    }
    Ok(Answer::Is { bytes: found.size, tag: tag.clone().unwrap_or_default() })
}

/// Write a piece of an object to a file.
pub(crate) async fn piece(
    store: &AmazonS3,
    key: &Path,
    file: &path::Path,
    bytes: Range<u64>,
) -> Result<Answer, Error> {
    let piece = store.get_range(key, bytes).await?;
    std::fs::write(file, &piece).map_err(machine)?;
    Ok(Answer::Is { bytes: piece.len() as u64, tag: String::new() })
}

/// Make an object of a file.
pub(crate) async fn put(
    store: &AmazonS3,
    key: &Path,
    file: &path::Path,
    when: &When,
) -> Result<Answer, Error> {
    let mut from = File::open(file).map_err(machine)?;
    let bytes = from.metadata().map_err(machine)?.len();
    if *when == When::Always && bytes > 2 * PIECE {
        let mut upload = WriteMultipart::new_with_chunk_size(
            store.put_multipart(key).await?,
            usize::try_from(PIECE).unwrap_or(usize::MAX),
        );
        loop {
            let mut piece = Vec::new();
            Read::by_ref(&mut from).take(PIECE).read_to_end(&mut piece).map_err(machine)?;
            if piece.is_empty() {
                break;
            }
            upload.wait_for_capacity(AT_A_TIME).await?;
            upload.put(Bytes::from(piece));
        }
        upload.finish().await?;
        return Ok(Answer::Is { bytes, tag: String::new() });
    }
    let mut all = Vec::new();
    from.read_to_end(&mut all).map_err(machine)?;
    let payload = PutPayload::from(all);
    let mode = match when {
        When::Always => PutMode::Overwrite,
        When::New => PutMode::Create,
        When::Still(tag) => {
            PutMode::Update(UpdateVersion { e_tag: Some(tag.clone()), version: None })
        }
    };
    let done = match store.put_opts(key, payload.clone(), PutOptions::from(mode)).await {
        // The store knows no conditions (AWS_CONDITIONAL_PUT=disabled): who comes last wins.
        Err(Error::NotImplemented { .. } | Error::NotSupported { .. }) => {
            store.put_opts(key, payload, PutOptions::default()).await
        }
        done => done,
    };
    match done {
        Ok(put) => Ok(Answer::Is { bytes, tag: put.e_tag.unwrap_or_default() }),
        Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => Ok(Answer::Unmet),
        Err(error) => Err(error),
    }
}
