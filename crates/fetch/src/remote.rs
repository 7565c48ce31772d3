//! A file over HTTP, from where it was stopped.

use crate::{Error, Fetch, take::go_on};
use std::{
    fs::{self, File, OpenOptions},
    io::{Read, Write},
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
    time::{Duration, Instant},
};
use ureq::{Agent, Body, http::Response};

const BUFFER: usize = 64 << 10;
/// How long a server may take to answer, and to send the next byte.
const SILENCE: Duration = Duration::from_secs(60);

/// What was fetched now, and what was there.
pub(crate) struct Came {
    pub(crate) fetched: u64,
    pub(crate) resumed: u64,
}

/// What came of one connection.
enum End {
    Whole,
    /// It broke off, after so many bytes.
    Broken(u64, String),
}

/// Fetch `url` to `part`, going on from what is there. Its validator (`ETag`) stands beside it, so that bytes of two
/// versions are not joined.
pub(crate) fn download(
    url: &str,
    part: &Path,
    asked: &Fetch,
    stop: &AtomicBool,
) -> Result<Came, Error> {
    let agent: Agent = Agent::config_builder()
        .http_status_as_error(false)
        .timeout_connect(Some(SILENCE))
        .timeout_recv_response(Some(SILENCE))
        .user_agent(concat!("stampmill/", env!("CARGO_PKG_VERSION")))
        .build()
        .into();
    let resumed = fs::metadata(part).map_or(0, |about| about.len());
    let mut came = Came { fetched: 0, resumed };
    let (mut left, mut pause) = (asked.tries.max(1), asked.pause);
    loop {
        go_on(stop)?;
        let reason = match once(&agent, url, part, asked, stop, &mut came)? {
            End::Whole => return Ok(came),
            End::Broken(bytes, reason) => {
                // As long as something comes, it is not given up.
                left = if bytes > 0 { asked.tries.max(1) } else { left - 1 };
                reason
            }
        };
        if left == 0 {
            return Err(Error::Remote { url: without_user(url), reason });
        }
        tracing::info!(url = %without_user(url), reason, seconds = pause.as_secs_f64(), "asked again after a pause");
        let until = Instant::now() + pause;
        while Instant::now() < until {
            go_on(stop)?;
            std::thread::sleep(Duration::from_millis(20).min(pause));
        }
        pause = (pause * 2).min(SILENCE);
    }
}

fn once(
    agent: &Agent,
    url: &str,
    part: &Path,
    asked: &Fetch,
    stop: &AtomicBool,
    came: &mut Came,
) -> Result<End, Error> {
    let have = fs::metadata(part).map_or(0, |about| about.len());
    let validator = fs::read_to_string(validator_of(part)).ok().filter(|text| !text.is_empty());
    let mut request = agent.get(url);
    // Without a validator two versions could be joined; then it is begun again.
    let goes_on = have > 0 && validator.is_some();
    if let (true, Some(validator)) = (goes_on, &validator) {
        request = request.header("range", format!("bytes={have}-")).header("if-range", validator);
    }
    let answer = match request.call() {
        Ok(answer) => answer,
        Err(error) => return Ok(End::Broken(0, error.to_string())),
    };
    let status = answer.status().as_u16();
    let refused = |reason: String| Error::Remote { url: without_user(url), reason };
    let from = match status {
        206 if begins_at(&answer, have) => have,
        206 => return Err(refused("it sends another part than was asked for".into())),
        200 => 0,
        // What is there is all, or of another version: begun again, its checksum says which.
        416 => {
            forget(part);
            return Ok(End::Broken(1, "it has no such part".into()));
        }
        404 | 410 => {
            let file = part.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            return Err(Error::Absent { place: without_user(url), file, holds: String::new() });
        }
        408 | 425 | 429 | 500..=599 => return Ok(End::Broken(0, format!("status {status}"))),
        _ => return Err(refused(format!("status {status}"))),
    };
    if from == 0 {
        came.resumed = 0;
        let etag = header(&answer, "etag").filter(|etag| !etag.starts_with("W/"));
        let validator = etag.or_else(|| header(&answer, "last-modified")).unwrap_or_default();
        let beside = validator_of(part);
        fs::write(&beside, validator).map_err(Error::file("write", &beside))?;
    }
    let length = header(&answer, "content-length").and_then(|length| length.parse::<u64>().ok());
    let whole = length.map(|length| from + length);
    if whole.is_some_and(|whole| whole > asked.most) {
        return Err(Error::Large { file: without_user(url), most: asked.most });
    }
    let mut options = OpenOptions::new();
    let file = options.create(true).write(true).truncate(from == 0).append(from > 0).open(part);
    save(
        answer,
        file.map_err(Error::file("write", part))?,
        from,
        whole,
        (url, part),
        asked,
        stop,
        came,
    )
}

#[expect(clippy::too_many_arguments, reason = "all of them are one connection's")]
fn save(
    answer: Response<Body>,
    mut file: File,
    from: u64,
    whole: Option<u64>,
    (url, part): (&str, &Path),
    asked: &Fetch,
    stop: &AtomicBool,
    came: &mut Came,
) -> Result<End, Error> {
    let mut body = answer.into_body().into_reader();
    let mut buffer = vec![0; BUFFER];
    let mut got = 0;
    loop {
        go_on(stop)?;
        let read = match body.read(&mut buffer) {
            Ok(read) => read,
            Err(error) => return Ok(End::Broken(got, error.to_string())),
        };
        if read == 0 {
            break;
        }
        file.write_all(&buffer[..read]).map_err(Error::file("write", part))?;
        got += read as u64;
        came.fetched += read as u64;
        if from + got > asked.most {
            return Err(Error::Large { file: without_user(url), most: asked.most });
        }
    }
    file.sync_all().map_err(Error::file("write", part))?;
    match whole.is_none_or(|whole| from + got == whole) {
        true => Ok(End::Whole),
        false => Ok(End::Broken(got, format!("it broke off after {} bytes", from + got))),
    }
}

fn header(answer: &Response<Body>, name: &str) -> Option<String> {
    Some(answer.headers().get(name)?.to_str().ok()?.trim().to_owned())
}

/// Whether an answer's part begins where ours ends.
fn begins_at(answer: &Response<Body>, at: u64) -> bool {
    let range = header(answer, "content-range").unwrap_or_default();
    range.strip_prefix("bytes ").and_then(|rest| rest.split('-').next()?.parse::<u64>().ok())
        == Some(at)
}

fn validator_of(part: &Path) -> PathBuf {
    part.with_extension("part-version")
}

/// Remove what was fetched so far.
pub(crate) fn forget(part: &Path) {
    // They may not be there.
    let _ = fs::remove_file(part);
    let _ = fs::remove_file(validator_of(part));
}

/// An address without user, password and query: for messages and locks.
pub(crate) fn without_user(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or(url);
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    format!("{scheme}://{}{path}", host.rsplit('@').next().unwrap_or(host))
}
