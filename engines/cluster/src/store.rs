//! Objects of stores as DataFusion reads them: by `stampmill-objects`, a piece at a time.

use async_trait::async_trait;
use chrono::DateTime;
use datafusion::{
    error::{DataFusionError, Result as Answered},
    execution::{
        object_store::{DefaultObjectStoreRegistry, ObjectStoreRegistry},
        runtime_env::{RuntimeEnv, RuntimeEnvBuilder},
    },
};
use futures::{StreamExt, stream::BoxStream};
use object_store::{
    Attributes, CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult,
    MultipartUpload, ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions, PutPayload,
    PutResult, Result, path::Path,
};
use objects::Pieces;
use std::{
    fmt,
    sync::{Arc, OnceLock},
};

/// An environment for plans over files, which may be in object stores.
pub(crate) fn environment(registry: Arc<dyn ObjectStoreRegistry>) -> Answered<Arc<RuntimeEnv>> {
    RuntimeEnvBuilder::new().with_object_store_registry(registry).build_arc()
}

/// What reads files of this machine, and objects of any bucket.
pub(crate) fn reading() -> Arc<dyn ObjectStoreRegistry> {
    static PIECES: OnceLock<Arc<Pieces>> = OnceLock::new();
    let pieces = Some(Arc::clone(PIECES.get_or_init(Arc::default)));
    Arc::new(Buckets { others: DefaultObjectStoreRegistry::new(), pieces })
}

/// What knows that there are buckets, and reads nothing of them: a scheduler does not use its credentials for others.
pub(crate) fn naming() -> Arc<dyn ObjectStoreRegistry> {
    Arc::new(Buckets { others: DefaultObjectStoreRegistry::new(), pieces: None })
}

#[derive(Debug)]
struct Buckets {
    others: DefaultObjectStoreRegistry,
    pieces: Option<Arc<Pieces>>,
}

impl ObjectStoreRegistry for Buckets {
    fn register_store(
        &self,
        url: &url::Url,
        store: Arc<dyn ObjectStore>,
    ) -> Option<Arc<dyn ObjectStore>> {
        self.others.register_store(url, store)
    }

    fn get_store(&self, url: &url::Url) -> Answered<Arc<dyn ObjectStore>> {
        match (url.scheme(), url.host_str()) {
            ("s3", Some(name)) => {
                Ok(Arc::new(Bucket { name: name.to_owned(), pieces: self.pieces.clone() }))
            }
            ("file", _) => self.others.get_store(url),
            (other, _) => {
                Err(DataFusionError::Execution(format!("refused: nothing is read from {other}://")))
            }
        }
    }
}

/// A bucket; only what is needed to read Parquet files works.
#[derive(Debug)]
struct Bucket {
    name: String,
    pieces: Option<Arc<Pieces>>,
}

impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s3://{}", self.name)
    }
}

fn failed(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::Generic { store: "S3", source: Box::new(error) }
}

impl Bucket {
    fn url(&self, location: &Path) -> Result<dataset::Url> {
        let url = std::path::PathBuf::from(format!("{self}/{location}"));
        match dataset::Url::of(&url).map_err(failed)? {
            Some(url) => Ok(url),
            None => Err(Error::Generic { store: "S3", source: "no URL of an object".into() }),
        }
    }

    fn not_done(&self, operation: &str) -> Error {
        Error::NotImplemented { operation: operation.to_owned(), implementer: self.to_string() }
    }
}

/// What stands for the time of an object: another once it is replaced, since what is known of it is kept by that.
fn time_of(tag: &str) -> DateTime<chrono::Utc> {
    let hash = dataset::content_hash(tag.as_bytes());
    let seconds = i64::from_str_radix(&hash[..8], 16).unwrap_or_default();
    DateTime::from_timestamp(seconds, 0).unwrap_or_default()
}

#[async_trait]
impl ObjectStore for Bucket {
    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let url = self.url(location)?;
        let Some(pieces) = self.pieces.clone() else {
            let source = "refused: a scheduler reads no objects".into();
            return Err(Error::Generic { store: "S3", source });
        };
        let (location, shown) = (location.clone(), url.to_string());
        let read = move || {
            let missing = || Error::NotFound {
                path: shown.clone(),
                source: format!("there is no object {shown}").into(),
            };
            let (size, tag) = pieces.size(&url).map_err(failed)?.ok_or_else(missing)?;
            let range = match &options.range {
                Some(range) => range.as_range(size).map_err(failed)?,
                None => 0..size,
            };
            let bytes = match options.head || range.is_empty() {
                true => Vec::new(),
                false => pieces.read(&url, range.clone()).map_err(failed)?.ok_or_else(missing)?,
            };
            let last_modified = time_of(&tag);
            let e_tag = Some(tag).filter(|tag| !tag.is_empty());
            let meta = ObjectMeta { location, last_modified, size, e_tag, version: None };
            let payload = futures::stream::once(async move { Ok(bytes.into()) }).boxed();
            let payload = GetResultPayload::Stream(payload);
            Ok(GetResult { payload, meta, range, attributes: Attributes::default() })
        };
        tokio::task::spawn_blocking(read).await.map_err(failed)?
    }

    fn list(&self, _: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        // Data sets name their files.
        futures::stream::empty().boxed()
    }

    async fn list_with_delimiter(&self, _: Option<&Path>) -> Result<ListResult> {
        Err(self.not_done("list"))
    }

    async fn put_opts(&self, _: &Path, _: PutPayload, _: PutOptions) -> Result<PutResult> {
        Err(self.not_done("put"))
    }

    async fn put_multipart_opts(
        &self,
        _: &Path,
        _: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        Err(self.not_done("put"))
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let refused = self.to_string();
        let refuse = move |_| {
            let implementer = refused.clone();
            Err(Error::NotImplemented { operation: "delete".to_owned(), implementer })
        };
        locations.map(refuse).boxed()
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        Err(self.not_done("copy"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use object_store::ObjectStoreExt;

    #[test]
    fn buckets_are_known_and_other_places_are_not() {
        let store = |url: &str| reading().get_store(&url::Url::parse(url).unwrap());
        assert_eq!(store("s3://programs/a").unwrap().to_string(), "s3://programs");
        assert!(store("file:///etc").is_ok());
        for other in ["http://host/a", "gs://bucket/a"] {
            assert!(store(other).unwrap_err().to_string().contains("refused"), "{other}");
        }
    }

    #[tokio::test]
    async fn a_bucket_is_read_and_nothing_else() {
        let bucket = reading().get_store(&url::Url::parse("s3://programs").unwrap()).unwrap();
        let key = Path::from("a");
        assert!(matches!(
            bucket.put(&key, PutPayload::new()).await,
            Err(Error::NotImplemented { .. })
        ));
        let named = naming().get_store(&url::Url::parse("s3://programs").unwrap()).unwrap();
        assert!(named.get(&key).await.unwrap_err().to_string().contains("refused"));
        assert!(matches!(bucket.delete(&key).await, Err(Error::NotImplemented { .. })));
        assert!(matches!(
            bucket.copy(&key, &Path::from("b")).await,
            Err(Error::NotImplemented { .. })
        ));
    }

    #[test]
    fn an_object_that_is_replaced_has_another_time() {
        assert_ne!(time_of("a"), time_of("b"));
        assert_eq!(time_of("a"), time_of("a"));
    }
}
