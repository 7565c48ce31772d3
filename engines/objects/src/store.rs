//! What is asked of a bucket.

use crate::{
    failure, files,
    protocol::{Action, Answer, Request},
};
use futures_util::StreamExt;
use object_store::{
    BackoffConfig, Error, ObjectStore, ObjectStoreExt, RetryConfig,
    aws::{AmazonS3, AmazonS3Builder},
    path::Path,
};
use std::{
    collections::{BTreeSet, HashMap, hash_map::Entry},
    time::Duration,
};

/// Tries of one request where `AWS_MAX_ATTEMPTS` says nothing.
const ATTEMPTS: usize = 8;
/// The first pause between two of them; each is about twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// After this no request is tried again.
const PATIENCE: Duration = Duration::from_secs(120);

/// The buckets that were asked for.
#[derive(Default)]
pub(crate) struct Stores(HashMap<String, AmazonS3>);

impl Stores {
    pub(crate) async fn answer(&mut self, request: &Request) -> Answer {
        let done = match self.bucket(&request.bucket) {
            Ok(store) => act(store, request).await,
            Err(why) => return Answer::Failed(why),
        };
        done.unwrap_or_else(|error| Answer::Failed(failure::told(&error, &request.bucket)))
    }

    fn bucket(&mut self, name: &str) -> Result<&AmazonS3, String> {
        match self.0.entry(name.to_owned()) {
            Entry::Occupied(entry) => Ok(entry.into_mut()),
            Entry::Vacant(entry) => Ok(entry.insert(open(name)?)),
        }
    }
}

/// Variables by one of which it is known who asks; without any, each request would be for a machine of Amazon's that
/// knows it, which other networks do not have.
const WHO: [&str; 6] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_METADATA_ENDPOINT",
    "AWS_SKIP_SIGNATURE",
];

fn open(bucket: &str) -> Result<AmazonS3, String> {
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if !WHO.iter().any(|name| is_set(&name)) {
        return Err(
            "there are no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or \
            AWS_SKIP_SIGNATURE=true for what everybody may read"
                .to_owned(),
        );
    }
    if is_set(&"AWS_ACCESS_KEY_ID") && !is_set(&"AWS_SECRET_ACCESS_KEY") {
        return Err(
            "AWS_ACCESS_KEY_ID is set and AWS_SECRET_ACCESS_KEY is not: set both".to_owned()
        );
    }
    let attempts = std::env::var("AWS_MAX_ATTEMPTS").ok();
    let attempts = attempts.and_then(|text| text.parse().ok()).unwrap_or(ATTEMPTS);
    let backoff =
        BackoffConfig { init_backoff: FIRST_PAUSE, max_backoff: LONGEST_PAUSE, base: 2.0 };
    let retry = RetryConfig { backoff, max_retries: attempts.max(1) - 1, retry_timeout: PATIENCE };
    let builder = AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(retry);
    builder.build().map_err(|error| failure::told(&error, bucket))
}

async fn act(store: &AmazonS3, request: &Request) -> Result<Answer, Error> {
    let key = Path::parse(&request.key)?;
    match &request.action {
        Action::Size => match store.head(&key).await {
            Ok(found) => Ok(Answer::Is { bytes: found.size, tag: found.e_tag.unwrap_or_default() }),
            Err(Error::NotFound { .. }) => missing(store, &key).await,
            Err(error) => Err(error),
        },
        Action::Get(file) => match files::get(store, &key, file).await {
            Err(Error::NotFound { .. }) => missing(store, &key).await,
            got => got,
        },
        Action::Piece(file, start, end) => {
            match files::piece(store, &key, file, *start..*end).await {
                Err(Error::NotFound { .. }) => missing(store, &key).await,
                got => got,
            }
        }
        Action::Put(file, when) => files::put(store, &key, file, when).await,
        Action::Delete => match store.delete(&key).await {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(Answer::Missing),
            Err(error) => Err(error),
        },
        Action::List => {
            let listed = store.list_with_delimiter(Some(&key)).await?;
            let objects = listed.objects.iter().map(|object| &object.location);
            let all = objects.chain(&listed.common_prefixes);
            let names: BTreeSet<String> =
                all.filter_map(|path| path.filename().map(str::to_owned)).collect();
            Ok(Answer::Names(names.into_iter().collect()))
        }
    }
}

/// That an object is not there; an error where its bucket is not. What a request for an object alone says of that
/// differs from store to store.
async fn missing(store: &AmazonS3, key: &Path) -> Result<Answer, Error> {
    match store.list(Some(key)).next().await {
        Some(Err(error)) if failure::lacks_bucket(&error) => Err(error),
        // Who may not list may yet read.
        _ => Ok(Answer::Missing),
    }
}
