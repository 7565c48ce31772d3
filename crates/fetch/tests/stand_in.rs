//! Fetching against a server of this machine: ranges, connections that break off, wrong checksums, other versions.

use stampmill_fetch::{Error, Fetch, Fetched, Published, Source, fetch, fetch_source, source};
use stand_in::{Request, Response, serve};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};
use tempfile::TempDir;

const SIZE: usize = 300_000;

fn content(salt: u8) -> Vec<u8> {
    (0..SIZE).map(|at| (at * 7 + at / 251) as u8 ^ salt).collect()
}

/// What a server was asked for: `Range` headers, empty where there was none.
type Log = Arc<Mutex<Vec<String>>>;

/// A server of one file that sends at most `cut` bytes of it at a time and then breaks off.
fn server(bytes: Vec<u8>, cut: usize, etag: Arc<Mutex<String>>, ranges: bool) -> (String, Log) {
    let log = Log::default();
    let told = Arc::clone(&log);
    let address = serve(move |request: Request| {
        let etag = etag.lock().expect("the lock").clone();
        let range = request.header("range").unwrap_or_default().to_owned();
        told.lock().expect("the lock").push(range.clone());
        let same = request.header("if-range").is_none_or(|wanted| wanted == etag);
        let from: usize = match (ranges && same)
            .then(|| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok())
        {
            Some(Some(from)) => from,
            _ => 0,
        };
        let rest = &bytes[from.min(bytes.len())..];
        let sent = rest[..rest.len().min(cut)].to_vec();
        let whole = rest.len();
        let mut response = Response::new(sent).header("etag", &etag);
        if whole > cut {
            response = response.claims(whole);
        }
        if from > 0 {
            let of = format!("bytes {from}-{}/{}", bytes.len() - 1, bytes.len());
            response = response.status(206).header("content-range", &of);
        }
        Some(response)
    });
    (format!("http://{}/jotai.tar", address.expect("a port")), log)
}

fn asked(name: &str, from: &str, home: &TempDir) -> Fetch {
    let usual = Fetch::new(name, Some(from), &home.path().join("out"));
    Fetch { tries: 2, pause: Duration::from_millis(1), ..usual }
}

fn run(asked: &Fetch) -> Result<Fetched, Error> {
    fetch(asked, &AtomicBool::new(false), &|_| {})
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .expect("a folder")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn etag(text: &str) -> Arc<Mutex<String>> {
    Arc::new(Mutex::new(text.to_owned()))
}

#[test]
fn a_connection_that_breaks_off_is_gone_on_with_from_where_it_was() {
    let home = tempfile::tempdir().expect("a folder");
    let (url, log) = server(content(0), 100_000, etag("\"one\""), true);
    let fetched = run(&asked("jotai", &url, &home)).expect("it is fetched");
    assert_eq!(fs::read(home.path().join("out/jotai.tar")).expect("a file"), content(0));
    assert_eq!(*log.lock().expect("the lock"), ["", "bytes=100000-", "bytes=200000-"]);
    assert_eq!((fetched.fetched_bytes, fetched.files[0].pinned), (SIZE as u64, false));
    assert_eq!(names(&home.path().join("out")), ["fetch.lock", "jotai.tar"]);
    // Nothing is fetched twice.
    let again = run(&asked("jotai", &url, &home)).expect("it is there");
    assert_eq!((again.present, again.fetched_bytes, again.files), (1, 0, fetched.files));
    assert_eq!(log.lock().expect("the lock").len(), 3);
}

#[test]
fn a_server_that_gives_up_leaves_what_came_and_the_next_fetch_goes_on() {
    let home = tempfile::tempdir().expect("a folder");
    let (calls, bytes) = (AtomicUsize::new(0), content(0));
    let address = serve(move |request: Request| {
        let call = calls.fetch_add(1, Ordering::SeqCst);
        let head = |body: Vec<u8>| Response::new(body).header("etag", "\"a\"");
        Some(match call {
            0 => head(bytes[..1000].to_vec()).claims(SIZE),
            1..=2 => Response::new("").status(503),
            _ => {
                assert_eq!(request.header("range"), Some("bytes=1000-"));
                let of = format!("bytes 1000-{}/{SIZE}", SIZE - 1);
                head(bytes[1000..].to_vec()).status(206).header("content-range", &of)
            }
        })
    });
    let url = format!("http://{}/jotai.tar", address.expect("a port"));
    let error = run(&asked("jotai", &url, &home)).expect_err("it gives up").to_string();
    assert!(error.contains("status 503") && error.contains("the same command goes on"), "{error}");
    assert_eq!(names(&home.path().join("out")), ["jotai.tar.part", "jotai.tar.part-version"]);
    let fetched = run(&asked("jotai", &url, &home)).expect("it goes on");
    assert_eq!((fetched.resumed_bytes, fetched.fetched_bytes), (1000, SIZE as u64 - 1000));
    assert_eq!(fs::read(home.path().join("out/jotai.tar")).expect("a file"), content(0));
}

#[test]
fn bytes_of_two_versions_are_never_joined() {
    let home = tempfile::tempdir().expect("a folder");
    let out = home.path().join("out");
    fs::create_dir(&out).expect("a folder");
    for (version, ranges) in [("\"old\"", true), ("", true), ("\"new\"", false)] {
        // Of another version, of none that is known, and where the server knows no ranges.
        fs::write(out.join("jotai.tar.part"), &content(9)[..5000]).expect("a file");
        fs::write(out.join("jotai.tar.part-version"), version).expect("a file");
        let (url, _) = server(content(0), SIZE, etag("\"new\""), ranges);
        let fetched = run(&asked("jotai", &url, &home)).expect("it is fetched");
        assert_eq!(fs::read(out.join("jotai.tar")).expect("a file"), content(0), "{version}");
        assert_eq!(fetched.resumed_bytes, 0);
        fs::remove_file(out.join("jotai.tar")).expect("it is there");
    }
}

#[test]
fn what_the_lock_does_not_know_is_refused_and_removed() {
    let home = tempfile::tempdir().expect("a folder");
    let lock = home.path().join("jotai.lock");
    let (url, _) = server(content(0), SIZE, etag("\"a\""), true);
    let first = Fetch { lock: Some(lock.clone()), ..asked("jotai", &url, &home) };
    run(&first).expect("it is fetched");
    let elsewhere = home.path().join("elsewhere");
    let (other, _) = server(content(1), SIZE, etag("\"a\""), true);
    let second = Fetch { from: Some(other), out: elsewhere.clone(), ..first.clone() };
    let error = run(&second).expect_err("another file").to_string();
    assert!(error.contains("(the lock)") && error.contains("--lock"), "{error}");
    assert!(names(&elsewhere).is_empty());
    let right = Fetch { out: elsewhere, ..first };
    assert_eq!(run(&right).expect("the file that is known").files[0].sha256.len(), 64);
    // A file that was changed since is the user's: it is neither taken nor replaced.
    fs::write(right.out.join("jotai.tar"), "mine").expect("a file");
    let error = run(&right).expect_err("it is another").to_string();
    assert!(error.contains("move it away"), "{error}");
    assert_eq!(fs::read(right.out.join("jotai.tar")).expect("a file"), b"mine");
}

#[test]
fn pinned_files_must_be_what_this_build_knows() {
    let home = tempfile::tempdir().expect("a folder");
    let data = home.path().join("data");
    fs::create_dir(&data).expect("a folder");
    fs::write(data.join("benchmarks.jsonl"), "{}").expect("a file");
    let error =
        run(&asked("suites", &data.display().to_string(), &home)).expect_err("another file");
    assert!(
        matches!(&error, Error::Checksum { by, .. } if *by == "known to this build"),
        "{error}"
    );
    assert!(names(&home.path().join("out")).is_empty());
    let error =
        run(&asked("cgo17", &data.display().to_string(), &home)).expect_err("no files").to_string();
    assert!(error.contains("amd-benchmarks.csv") && error.contains("the CSV files"), "{error}");
    let (url, _) = server(content(0), SIZE, etag("\"a\""), true);
    let folder = url.trim_end_matches("/jotai.tar");
    assert!(matches!(run(&asked("suites", folder, &home)), Err(Error::Checksum { .. })));
}

#[test]
fn a_folder_is_taken_with_all_its_plain_files_and_nothing_leads_out() {
    let home = tempfile::tempdir().expect("a folder");
    let data = home.path().join("data");
    fs::create_dir_all(data.join("metadata")).expect("a folder");
    fs::write(data.join("metadata/p1.csv"), "a,b\n").expect("a file");
    fs::write(data.join("LICENSE"), "free\n").expect("a file");
    std::os::unix::fs::symlink("/etc/passwd", data.join("link")).expect("a link");
    let fetched = run(&asked("codenet", &data.display().to_string(), &home)).expect("it is taken");
    let paths: Vec<&str> = fetched.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["LICENSE", "metadata/p1.csv"]);
    let error =
        run(&asked("codenet", "http://127.0.0.1:9/..", &home)).expect_err("no name").to_string();
    assert!(error.contains("no name of a file"), "{error}");
    let error = run(&asked("codenet", "http://me:4711@127.0.0.1:9", &home))
        .expect_err("no file")
        .to_string();
    assert!(error.contains("name a file") && !error.contains("4711"), "{error}");
}

#[test]
fn too_much_too_little_and_a_stop_are_told() {
    let home = tempfile::tempdir().expect("a folder");
    let (url, _) = server(content(0), SIZE, etag("\"a\""), true);
    let small = Fetch { most: 1000, ..asked("jotai", &url, &home) };
    assert!(matches!(run(&small), Err(Error::Large { most: 1000, .. })));
    let stopped = fetch(&asked("jotai", &url, &home), &AtomicBool::new(true), &|_| {});
    assert!(matches!(stopped, Err(Error::Stopped)));
    let address = serve(|_| Some(Response::new("no").status(404))).expect("a port");
    let error =
        run(&asked("pie", &format!("http://{address}/test.jsonl"), &home)).expect_err("404");
    assert!(error.to_string().contains("train.jsonl"), "{error}");
    let gone = PathBuf::from("/nothing/here");
    assert!(matches!(
        run(&asked("pie", &gone.display().to_string(), &home)),
        Err(Error::File { .. })
    ));
}

/// A source that is published at a server of this machine.
fn published(url: &str, sha256: Option<&str>) -> Source {
    let file = Published {
        path: "all/jotai.tar".to_owned(),
        url: url.to_owned(),
        bytes: None,
        sha256: sha256.map(str::to_owned),
    };
    Source { published: vec![file], files: Vec::new(), ..source("jotai").expect("it is known") }
}

fn fetch_published(source: &Source, home: &TempDir) -> Result<Fetched, Error> {
    let asked = Fetch { from: None, ..asked("jotai", "", home) };
    fetch_source(&asked, source, &AtomicBool::new(false), &|_| {})
}

#[test]
fn without_a_place_the_files_come_from_where_they_are_published() {
    let home = tempfile::tempdir().expect("a folder");
    let (url, _) = server(content(0), SIZE, etag("\"one\""), true);
    let fetched = fetch_published(&published(&url, None), &home).expect("it is fetched");
    assert_eq!(fs::read(home.path().join("out/all/jotai.tar")).expect("a file"), content(0));
    assert_eq!((fetched.files[0].pinned, &fetched.files[0].from), (false, &url));
    // Published with a checksum, it must be that file.
    let home = tempfile::tempdir().expect("a folder");
    let sum = fetched.files[0].sha256.clone();
    let held = fetch_published(&published(&url, Some(&sum)), &home).expect("it is fetched");
    assert!(held.files[0].pinned);
    let home = tempfile::tempdir().expect("a folder");
    let other = fetch_published(&published(&url, Some(&"0".repeat(64))), &home);
    assert!(matches!(other, Err(Error::Checksum { by: "known to this build", .. })));
}

#[test]
fn a_public_address_that_gives_nothing_is_told_with_what_to_do() {
    let home = tempfile::tempdir().expect("a folder");
    // A port that nobody listens at.
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|one| one.local_addr());
    let url = format!("http://{}/jotai.tar", port.expect("a port"));
    let address = serve(|_: Request| Some(Response::new("").status(404))).expect("a port");
    for url in [url, format!("http://{address}/jotai.tar")] {
        let told = fetch_published(&published(&url, None), &home).expect_err("nothing comes");
        let told = told.to_string();
        assert!(told.contains("with --from") && told.contains("https://github.com/"), "{told}");
    }
    let asked = Fetch { from: None, ..asked("pie", "", &home) };
    let told = fetch(&asked, &AtomicBool::new(false), &|_| {}).expect_err("by hand").to_string();
    assert!(told.contains("gives no addresses of files") && told.contains("--from"), "{told}");
}
