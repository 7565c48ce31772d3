//! `github:QUERY[#LIMIT]`: the repositories a search finds, through GitHub's REST API.
//!
//! A search is paged through (GitHub answers with a thousand repositories at most); each
//! repository's tarball is fetched at the commit its default branch stands on. With `GITHUB_TOKEN`
//! set the limit on requests is 5,000 an hour, else 60; either way the answer's headers are
//! heeded. Answers are kept with their `ETag`: asking again for what has not changed costs nothing
//! of the limit.

use super::{Context, Package, Source, Spec};
use crate::{Error, Result, client, unpack};
use dataset::content_hash;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{
    fs,
    io::{self, Read},
    path::Path,
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use ureq::http::Response;

const PREFIX: &str = "github:";
/// What is found on a page, and pages in an answer to a search.
pub(super) const PAGE: usize = 100;
const PAGES: usize = 10;
const TRIES: u32 = 5;
/// GitHub asks for at least this long where it names no time.
const PAUSE: Duration = Duration::from_secs(60);
/// A longer wait is the user's to decide: the source is unavailable until then.
const LONGEST_PAUSE: Duration = Duration::from_secs(3700);
/// Bytes of a tarball.
const TARBALL: u64 = 2 << 30;

struct Search {
    query: String,
    limit: usize,
}

/// One repository that a search found.
struct Repository {
    name: String,
    license: String,
}

pub(super) fn parse(text: &str) -> Option<Result<Box<dyn Source>, String>> {
    let read = query(text.strip_prefix(PREFIX)?);
    Some(read.map(|(query, limit)| Box::new(Search { query, limit }) as Box<dyn Source>))
}

/// What is searched for, and how many repositories are taken at most: `QUERY[#LIMIT]`.
pub(super) fn query(text: &str) -> Result<(String, usize), String> {
    let (query, limit) = match text.rsplit_once('#') {
        Some((query, limit)) => match limit.parse() {
            Ok(limit) => (query, limit),
            Err(_) => return Err(format!("`{limit}` is no number of repositories")),
        },
        None => (text, PAGE * PAGES),
    };
    match query.trim() {
        "" => Err("the query is empty".to_owned()),
        query => Ok((query.to_owned(), limit)),
    }
}

/// A page of an answer to a search.
#[derive(Deserialize)]
struct Found<T> {
    items: Vec<T>,
}

#[derive(Deserialize)]
struct Item {
    full_name: String,
    license: Option<License>,
}

#[derive(Deserialize)]
struct License {
    spdx_id: Option<String>,
}

#[derive(Deserialize)]
struct Commit {
    sha: String,
}

impl Source for Search {
    fn members(&self, context: &Context<'_>) -> Result<Option<Vec<Spec>>> {
        let spec = format!("github:{}", self.query);
        let api = Api::new(&spec, context);
        let mut members: Vec<Spec> = Vec::new();
        let query = percent_encoded(&self.query);
        let per_page = self.limit.clamp(1, PAGE);
        // The order of GitHub's liking changes by the hour; that of age does not.
        let path =
            format!("/search/repositories?q={query}&sort=updated&order=asc&per_page={per_page}");
        api.search(&path, |items: Vec<Item>| {
            for item in items.into_iter().filter(|item| is_name(&item.full_name)) {
                let license = item.license.and_then(|license| license.spdx_id);
                let license = crate::license::spdx_expression(&license.unwrap_or_default());
                members.push(found(item.full_name, license));
            }
            members.len() < self.limit
        })?;
        members.truncate(self.limit);
        Ok(Some(members))
    }

    fn fetch(&self, _: &Context<'_>) -> Result<Package> {
        Err(Error::unavailable(&self.query, "a search is no package"))
    }
}

/// The source of a repository by its name, with the SPDX expression that is stated for it, or empty.
pub(super) fn found(name: String, license: String) -> Spec {
    let text = format!("{PREFIX}{name}");
    Spec { text, source: Box::new(Repository { name, license }) }
}

/// A repository that a search found.
pub(super) fn repository(text: &str, license: &str) -> Box<dyn Source> {
    let name = text.strip_prefix(PREFIX).unwrap_or(text).to_owned();
    Box::new(Repository { name, license: license.to_owned() })
}

impl Source for Repository {
    fn found(&self) -> Option<String> {
        Some(self.license.clone())
    }

    fn fetch(&self, context: &Context<'_>) -> Result<Package> {
        let spec = format!("github:{}", self.name);
        let entry = context.cache.entry("github", &self.name)?;
        let tarball = entry.folder.join("source.tar.gz");
        let commit = match entry.known::<String>() {
            Some(commit) => commit,
            None => {
                let api = Api::new(&spec, context);
                let answer = api.get(&format!("{}/repos/{}/commits/HEAD", api.base, self.name))?;
                let commit: Commit = serde_json::from_slice(&answer.body)
                    .map_err(|error| Error::unavailable(&spec, error))?;
                if !commit.sha.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                    return Err(Error::unavailable(&spec, "its commit is no hash"));
                }
                api.download(
                    &format!("{}/repos/{}/tarball/{}", api.base, self.name, commit.sha),
                    &tarball,
                )?;
                entry.complete(&commit.sha)?;
                commit.sha
            }
        };
        let mut package = Package::new(&self.name, &commit);
        package.license.clone_from(&self.license);
        package.tree =
            unpack::archive(&tarball).map_err(|error| Error::unavailable(&spec, error))?;
        package.tree.strip_common_folder();
        Ok(package)
    }
}

/// `owner/name` of letters, digits and few others; it becomes part of a URL and of a path.
pub(super) fn is_name(name: &str) -> bool {
    let plain = |part: &str| {
        !part.is_empty()
            && part != "."
            && part != ".."
            && part.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
    };
    name.split_once('/').is_some_and(|(owner, name)| plain(owner) && plain(name))
}

pub(super) fn percent_encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                char::from(byte).to_string()
            }
            byte => format!("%{byte:02X}"),
        })
        .collect()
}

/// An answer as it is kept.
#[derive(Serialize, Deserialize)]
struct Answer {
    etag: String,
    next: Option<String>,
    body: Vec<u8>,
}

/// GitHub's REST API.
pub(super) struct Api<'a> {
    spec: &'a str,
    context: &'a Context<'a>,
    base: String,
    token: Option<String>,
    agent: ureq::Agent,
}

impl<'a> Api<'a> {
    /// As who has `GITHUB_TOKEN`, if that is set. What goes wrong is said of `spec`.
    pub(super) fn new(spec: &'a str, context: &'a Context<'a>) -> Api<'a> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(Duration::from_secs(30)))
            .timeout_recv_response(Some(Duration::from_secs(60)))
            .user_agent(concat!("stampmill/", env!("CARGO_PKG_VERSION")))
            .build()
            .new_agent();
        let base = variable("STAMPMILL_GITHUB_API").unwrap_or("https://api.github.com".to_owned());
        let base = base.trim_end_matches('/').to_owned();
        Api { spec, context, base, token: variable("GITHUB_TOKEN"), agent }
    }

    /// Whether nobody signs in.
    pub(super) fn is_anonymous(&self) -> bool {
        self.token.is_none()
    }

    /// What a search finds, page after page, until `take` has enough or there are no more pages.
    pub(super) fn search<T: DeserializeOwned>(
        &self,
        path: &str,
        mut take: impl FnMut(Vec<T>) -> bool,
    ) -> Result<()> {
        // A next page elsewhere would get our token.
        let is_here = |url: &str| {
            url.strip_prefix(self.base.as_str()).is_some_and(|path| path.starts_with('/'))
        };
        let mut next = Some(format!("{}{path}", self.base));
        for _ in 0..PAGES {
            let Some(url) = next.take() else { break };
            let answer = self.get(&url)?;
            let found: Found<T> = serde_json::from_slice(&answer.body).map_err(|error| {
                Error::unavailable(self.spec, format!("an answer that is none: {error}"))
            })?;
            if !take(found.items) {
                break;
            }
            next = answer.next.filter(|url| is_here(url));
        }
        Ok(())
    }

    /// The answer to a request, from the cache where the server says that it still holds.
    fn get(&self, url: &str) -> Result<Answer> {
        let entry = self.context.cache.entry("github-answers", &content_hash(url.as_bytes()))?;
        let known: Option<Answer> = entry.known();
        if self.context.offline {
            return known.ok_or_else(|| {
                Error::unavailable(self.spec, "not in the cache, and this run is offline")
            });
        }
        let etag =
            known.as_ref().map(|answer| answer.etag.as_str()).filter(|etag| !etag.is_empty());
        let mut response = self.ask(url, etag)?;
        if let (304, Some(known)) = (response.status().as_u16(), known) {
            return Ok(known);
        }
        let etag = header(&response, "etag").unwrap_or_default();
        let next = header(&response, "link").and_then(|links| next_page(&links));
        let body = response.body_mut().with_config().limit(64 << 20).read_to_vec();
        let body = body.map_err(|error| Error::unavailable(self.spec, error))?;
        let answer = Answer { etag, next, body };
        entry.complete(&answer)?;
        Ok(answer)
    }

    fn download(&self, url: &str, to: &Path) -> Result<()> {
        self.context.online(self.spec)?;
        let mut response = self.ask(url, None)?;
        let temporary = to.with_extension("new");
        let mut file = fs::File::create(&temporary).map_err(Error::file("create", &temporary))?;
        let mut body = response.body_mut().with_config().limit(TARBALL).reader();
        let mut buffer = vec![0; 1 << 18];
        loop {
            self.context.check()?;
            let count =
                body.read(&mut buffer).map_err(|error| Error::unavailable(self.spec, error))?;
            if count == 0 {
                break;
            }
            io::Write::write_all(&mut file, &buffer[..count])
                .map_err(Error::file("write", &temporary))?;
        }
        fs::rename(&temporary, to).map_err(Error::file("write", to))
    }

    /// Ask, and ask again after as long a pause as the server wants.
    fn ask(&self, url: &str, etag: Option<&str>) -> Result<Response<ureq::Body>> {
        let mut reason = String::new();
        for attempt in 0..TRIES {
            self.context.check()?;
            let mut request = self.agent.get(url).header("accept", "application/vnd.github+json");
            request = request.header("x-github-api-version", "2022-11-28");
            if let Some(token) = &self.token {
                request = request.header("authorization", format!("Bearer {token}"));
            }
            if let Some(etag) = etag {
                request = request.header("if-none-match", etag);
            }
            let pause = match request.call() {
                Ok(response) => match response.status().as_u16() {
                    200 | 304 => return Ok(response),
                    status @ (403 | 429) if limited(&response) || status == 429 => {
                        reason = "GitHub's limit on requests is reached; set GITHUB_TOKEN or wait"
                            .to_owned();
                        asked_pause(&response, attempt)
                    }
                    status if status >= 500 => {
                        reason = format!("GitHub answers {status}");
                        Duration::from_secs(1 << attempt)
                    }
                    status => {
                        return Err(Error::unavailable(
                            self.spec,
                            format!("GitHub answers {status} for {url}"),
                        ));
                    }
                },
                Err(error) => {
                    reason = error.to_string();
                    Duration::from_secs(1 << attempt)
                }
            };
            if pause > LONGEST_PAUSE || attempt + 1 == TRIES {
                break;
            }
            self.context.progress.message(&format!("{reason}; going on in {} s", pause.as_secs()));
            client::wait(pause, self.context.cancelled)?;
        }
        Err(Error::unavailable(self.spec, reason))
    }
}

fn header(response: &Response<ureq::Body>, name: &str) -> Option<String> {
    Some(response.headers().get(name)?.to_str().ok()?.to_owned())
}

/// Whether a refusal is for the number of requests, not for want of rights.
fn limited(response: &Response<ureq::Body>) -> bool {
    header(response, "retry-after").is_some()
        || header(response, "x-ratelimit-remaining").as_deref() == Some("0")
}

/// `Retry-After` in seconds, else until `X-RateLimit-Reset`, else a minute and longer each time.
fn asked_pause(response: &Response<ureq::Body>, attempt: u32) -> Duration {
    let number =
        |name: &str| header(response, name).and_then(|value| value.trim().parse::<u64>().ok());
    if let Some(seconds) = number("retry-after") {
        return Duration::from_secs(seconds);
    }
    match number("x-ratelimit-reset") {
        Some(at) => {
            let now =
                SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
            Duration::from_secs(at.saturating_sub(now) + 1)
        }
        None => PAUSE * 2_u32.pow(attempt),
    }
}

/// The address marked `rel="next"` in a `Link` header.
fn next_page(links: &str) -> Option<String> {
    links.split(',').find_map(|link| {
        let (address, relations) = link.split_once(';')?;
        let next = relations.contains("rel=\"next\"");
        next.then(|| address.trim().trim_start_matches('<').trim_end_matches('>').to_owned())
    })
}
