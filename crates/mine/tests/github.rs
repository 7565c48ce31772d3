//! `github:QUERY` against a local server that answers like GitHub's.
//!
//! One test in a file of its own: the address of the server is a variable of the process.

#![expect(clippy::unwrap_used, reason = "what fails in set-up fails the test")]

use dataset::{
    Licenses,
    stage::{Context, run},
};
use stampmill_mine::{Mine, Options, Report};
use stand_in::{Request, Response};
use std::{
    path::Path,
    sync::{Arc, Mutex},
};

fn tarball(name: &str) -> Vec<u8> {
    let mut tar =
        tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
    let text = format!("kernel void {name}() {{}}\n");
    let mut header = tar::Header::new_gnu();
    header.set_size(text.len() as u64);
    header.set_mode(0o644);
    tar.append_data(&mut header, format!("{name}-abc123/k.cl"), text.as_bytes()).unwrap();
    tar.into_inner().unwrap().finish().unwrap()
}

/// What the server was asked, in order.
#[derive(Default)]
struct Log {
    asked: Vec<String>,
    limited: bool,
}

/// Three repositories on two pages; one request in between meets the limit on requests; the third
/// repository is empty.
fn answer(request: &Request, log: &Mutex<Log>) -> Response {
    let url = request.url.as_str();
    let known = request.header("if-none-match");
    let mut log = log.lock().unwrap();
    log.asked.push(format!("{url}{}", known.map_or("", |_| " if changed")));
    assert_eq!(request.header("authorization"), Some("Bearer secret"));
    let json = |text: String| Response::new(text).header("Content-Type", "application/json");
    let item =
        |name: &str| format!("{{\"full_name\":\"{name}\",\"license\":{{\"spdx_id\":\"MIT\"}}}}");
    if url.starts_with("/search/repositories") && !url.contains("page=2&") {
        assert!(url.contains("q=opencl%20language%3AC"), "{url}");
        if known == Some("\"one\"") {
            return Response::new("").status(304);
        }
        let base = format!("http://{}", request.header("host").unwrap());
        let items =
            format!("{{\"total_count\":3,\"items\":[{},{}]}}", item("a/one"), item("../evil"));
        let next = format!(
            "<{base}/search/repositories?page=2&q=x>; rel=\"next\", <{base}/l>; rel=\"last\""
        );
        json(items).header("Link", &next).header("ETag", "\"one\"")
    } else if url.starts_with("/search/repositories") {
        if !log.limited {
            log.limited = true;
            let response =
                json("{\"message\":\"You have exceeded a secondary rate limit\"}".to_owned());
            return response.status(403).header("Retry-After", "0");
        }
        json(format!("{{\"items\":[{},{}]}}", item("b/two"), item("c/empty")))
    } else if url == "/repos/c/empty/commits/HEAD" {
        json("{\"message\":\"Git Repository is empty.\"}".to_owned()).status(409)
    } else if url.ends_with("/commits/HEAD") {
        json("{\"sha\":\"abc123\"}".to_owned())
    } else if url == "/repos/a/one/tarball/abc123" {
        Response::new(tarball("one"))
    } else if url == "/repos/b/two/tarball/abc123" {
        Response::new(tarball("two"))
    } else {
        json("{}".to_owned()).status(404)
    }
}

fn mine(home: &Path) -> Report {
    let options = Options {
        sources: vec!["github:opencl language:C".to_owned()],
        licenses: Licenses::Permissive,
        language: dataset::Language::OpenCl,
        cache: Some(home.join("cache")),
        offline: false,
        suite: None,
    };
    let context = Context { force: true, jobs: 1, ..Context::new(home.join("raw")) };
    run(&Mine::new(options, &context).unwrap(), &context).unwrap().summary
}

#[test]
fn a_search_is_paged_slowed_and_remembered() {
    if std::env::var_os("STAMPMILL_GITHUB_API").is_none() {
        // The variables are set from outside the process: to set them inside would be unsafe.
        let log = Arc::new(Mutex::new(Log::default()));
        let logging = Arc::clone(&log);
        let address = stand_in::serve(move |request| Some(answer(&request, &logging))).unwrap();
        let status = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_search_is_paged_slowed_and_remembered"])
            .env("STAMPMILL_GITHUB_API", format!("http://{address}"))
            .env("GITHUB_TOKEN", "secret")
            .status()
            .unwrap();
        assert!(status.success());
        let asked = log.lock().unwrap().asked.clone();
        let count = |part: &str| asked.iter().filter(|url| url.contains(part)).count();
        // The second run asks whether the search has changed, and fetches no repository again.
        assert_eq!((count("tarball"), count("if changed")), (2, 1), "{asked:#?}");
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let first = mine(home.path());
    assert_eq!((first.sources, first.failed_sources, first.unique_files), (3, 1, 2));
    assert_eq!(first.licenses["MIT"], 2);
    assert_eq!(first.packages[0].version, "abc123");
    let second = mine(home.path());
    assert_eq!(second.unique_files, 2);
}
