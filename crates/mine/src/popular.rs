//! Packages that are used most, as their registries count them.
//!
//! Crates: the web API of cargo's registry, which is named in the registry's `config.json` (key `api`), sorts by downloads.
//! Debian: the tables of its popularity contest are text, a package a line, that with most installations first.

use crate::{Cache, Error, Result, client};
use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, BufRead, BufReader, Read, Seek},
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
    time::{Duration, SystemTime},
};

/// Crates on a page of the API: the most it gives.
const PAGE: usize = 100;
const TRIES: u32 = 4;
/// The registry asks its clients for no more than a request a second.
const PAUSE: Duration = Duration::from_secs(1);
/// Bytes of a page, and of a line of Debian's table.
const PAGE_BYTES: u64 = 16 << 20;
const LINE_BYTES: u64 = 4096;

/// A page of the API.
#[derive(Deserialize)]
struct Page {
    crates: Vec<Found>,
}

#[derive(Deserialize)]
struct Found {
    name: String,
    downloads: u64,
    max_stable_version: Option<String>,
    newest_version: Option<String>,
}

/// The `count` crates with most downloads, `NAME@VERSION` of the newest stable version each, the most downloaded first.
///
/// `STAMPMILL_CRATES_API` names the API; else the registry's `config.json` does, of which cargo keeps a copy. An answer is kept:
/// equal questions have equal answers until it is removed from the cache.
///
/// # Errors
/// [`Error::Unavailable`] when it cannot be had; when the cache cannot be written; when `cancelled`.
pub fn popular_crates(
    count: usize,
    cache: &Cache,
    offline: bool,
    cancelled: &AtomicBool,
) -> Result<Vec<String>> {
    let spec = format!("crates:top:{count}");
    let unavailable = |reason: String| Error::unavailable(&spec, reason);
    let api = api().ok_or_else(|| {
        unavailable(
            "no registry that cargo has asked here names a web API; `cargo search` asks one, STAMPMILL_CRATES_API names it"
                .to_owned(),
        )
    })?;
    let entry = cache.entry("popular", &format!("{api} {count}"))?;
    if let Some(known) = entry.known::<Vec<String>>() {
        return Ok(known);
    }
    if offline {
        return Err(unavailable("not in the cache, and this run is offline".to_owned()));
    }
    let agent = agent();
    let (mut all, mut names, mut least) = (Vec::new(), BTreeSet::new(), u64::MAX);
    for number in 1..=count.div_ceil(PAGE) {
        if number > 1 {
            client::wait(PAUSE, cancelled)?;
        }
        let url = format!("{api}/api/v1/crates?sort=downloads&per_page={PAGE}&page={number}");
        let body = get(&agent, &url, cancelled)?.map_err(unavailable)?;
        let page: Page = serde_json::from_slice(&body)
            .map_err(|error| unavailable(format!("{api} gives no list of crates: {error}")))?;
        for Found { name, downloads, max_stable_version, newest_version } in page.crates {
            if downloads > least {
                return Err(unavailable(format!("{api} does not sort crates by their downloads")));
            }
            least = downloads;
            let version = max_stable_version.or(newest_version).filter(|text| is_plain(text));
            // What it says becomes part of commands.
            if is_plain(&name) && names.insert(name.clone()) {
                all.push(version.map_or(name.clone(), |version| format!("{name}@{version}")));
            }
        }
    }
    if all.len() < count {
        return Err(unavailable(format!("{api} names {} crates only", all.len())));
    }
    all.truncate(count);
    entry.complete(&all)?;
    Ok(all)
}

fn is_plain(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphanumeric())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-.+".contains(c))
}

/// The address of the web API, without a slash at its end.
fn api() -> Option<String> {
    let named = std::env::var("STAMPMILL_CRATES_API").ok().filter(|name| !name.is_empty());
    let api = named.or_else(|| configured(&cargo_home()?))?;
    Some(api.trim_end_matches('/').to_owned())
}

fn cargo_home() -> Option<PathBuf> {
    let own = || Some(Path::new(&std::env::var_os("HOME")?).join(".cargo"));
    std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(own)
}

/// The API of the registry that cargo asked last: its index there has a copy of `config.json`.
fn configured(home: &Path) -> Option<String> {
    let indices = fs::read_dir(home.join("registry/index")).ok()?;
    let asked = |folder: &Path| folder.metadata().and_then(|about| about.modified());
    let with_api = |entry: io::Result<fs::DirEntry>| {
        let folder = entry.ok()?.path();
        let text = fs::read_to_string(folder.join("config.json")).ok()?;
        let config: serde_json::Value = serde_json::from_str(&text).ok()?;
        let time = asked(&folder).unwrap_or(SystemTime::UNIX_EPOCH);
        Some((time, config.get("api")?.as_str()?.to_owned()))
    };
    indices.filter_map(with_api).max().map(|(_, api)| api)
}

fn agent() -> ureq::Agent {
    ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_connect(Some(Duration::from_secs(30)))
        .timeout_recv_response(Some(Duration::from_secs(60)))
        .user_agent(concat!("stampmill/", env!("CARGO_PKG_VERSION")))
        .build()
        .new_agent()
}

/// The answer to a request; inside, why there is none. A server that is busy is asked again.
fn get(
    agent: &ureq::Agent,
    url: &str,
    cancelled: &AtomicBool,
) -> Result<std::result::Result<Vec<u8>, String>> {
    let mut reason = String::new();
    for attempt in 0..TRIES {
        if attempt > 0 {
            client::wait(PAUSE * 2_u32.pow(attempt), cancelled)?;
        }
        match agent.get(url).header("accept", "application/json").call() {
            Ok(mut response) => match response.status().as_u16() {
                200 => {
                    let body = response.body_mut().with_config().limit(PAGE_BYTES).read_to_vec();
                    return Ok(body.map_err(|error| error.to_string()));
                }
                status @ (429 | 500..) => reason = format!("{url} answers {status}"),
                status => return Ok(Err(format!("{url} answers {status}"))),
            },
            Err(error) => reason = format!("{url}: {error}"),
        }
    }
    Ok(Err(reason))
}

/// The first `count` packages of a table of Debian's popularity contest, as it is published or compressed by gzip. For the names
/// of source packages it is that over source packages.
///
/// # Errors
/// [`Error::List`] when it is no such table or has fewer; when it cannot be read.
pub fn popular_debian(table: &Path, count: usize) -> Result<Vec<String>> {
    let failed = Error::file("read", table);
    let mut names: Vec<String> = Vec::new();
    let mut read = || -> io::Result<()> {
        let mut file = File::open(table)?;
        let mut head = [0; 2];
        let is_packed = file.read_exact(&mut head).is_ok() && head == [0x1f, 0x8b];
        file.rewind()?;
        let reader: Box<dyn Read> = match is_packed {
            true => Box::new(MultiGzDecoder::new(file)),
            false => Box::new(file),
        };
        let mut reader = BufReader::new(reader);
        let mut line = Vec::new();
        while names.len() < count {
            line.clear();
            if (&mut reader).take(LINE_BYTES).read_until(b'\n', &mut line)? == 0 {
                break;
            }
            names.extend(named(&line));
        }
        Ok(())
    };
    read().map_err(failed)?;
    let bad = |reason: String| Error::List { path: table.to_owned(), reason };
    match names.len() {
        0 => Err(bad(
            "it is no table of the popularity contest: no line has a rank, a name and numbers"
                .to_owned(),
        )),
        found if found < count => Err(bad(format!("it names {found} packages only"))),
        _ => Ok(names),
    }
}

/// The package of a line: a rank, its name, and how many have it.
fn named(line: &[u8]) -> Option<String> {
    let line = String::from_utf8_lossy(line);
    let mut words = line.split_whitespace();
    words.next()?.parse::<u64>().ok()?;
    let name = words.next().filter(|name| is_plain(name))?;
    words.next()?.parse::<u64>().ok()?;
    Some(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const TABLE: &str = "#rank name                            inst  vote   old recent no-files (maintainer)\n\
        1     dpkg                           200000 180000  5000 15000     0 (A Team)                        \n\
        2     libx11                         190000 170000  5000 15000     0 (Another)                       \n\
        3     g++-12                         100 90  5 15     0 (Not in sid)                       \n\
        --------------------------\n3     Total                          390100\n";

    #[test]
    fn debians_table_is_read_packed_or_not_from_the_top() {
        let folder = tempfile::tempdir().unwrap();
        let (plain, packed) = (folder.path().join("by_inst"), folder.path().join("by_inst.gz"));
        fs::write(&plain, TABLE).unwrap();
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(TABLE.as_bytes()).unwrap();
        fs::write(&packed, gzip.finish().unwrap()).unwrap();
        for path in [&plain, &packed] {
            assert_eq!(popular_debian(path, 2).unwrap(), ["dpkg", "libx11"]);
            assert_eq!(popular_debian(path, 3).unwrap()[2], "g++-12");
        }
        fs::write(&plain, "dpkg 1\n").unwrap();
        let message = popular_debian(&plain, 1).unwrap_err().to_string();
        assert!(message.contains("no table of the popularity contest"), "{message}");
    }

    #[test]
    fn the_api_is_that_of_the_registry_that_was_asked_last() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(configured(home.path()), None);
        for (name, config) in [
            ("a", r#"{"dl": "https://a.example", "api": "https://a.example"}"#),
            ("b", r#"{"dl": "https://b.example"}"#),
            ("c", "no JSON"),
        ] {
            let folder = home.path().join("registry/index").join(name);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("config.json"), config).unwrap();
        }
        assert_eq!(configured(home.path()).as_deref(), Some("https://a.example"));
    }
}
