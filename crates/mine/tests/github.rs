//! `github:QUERY` and `github-code:QUERY` against a local server that answers like GitHub's.
//!
//! The address of the server is a variable of the process: each test runs itself once more, with the variables set.

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
    let text = format!("// SPDX-License-Identifier: MIT\nkernel void {name}() {{}}\n");
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

fn json(text: String) -> Response {
    Response::new(text).header("Content-Type", "application/json")
}

/// What a server says of the repositories that it holds; the third is empty.
fn of_repository(url: &str) -> Response {
    if url == "/repos/c/empty/commits/HEAD" {
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

/// Three repositories on two pages; one request in between meets the limit on requests; the third
/// repository is empty.
fn answer(request: &Request, log: &Mutex<Log>) -> Response {
    let url = request.url.as_str();
    let known = request.header("if-none-match");
    let mut log = log.lock().unwrap();
    log.asked.push(format!("{url}{}", known.map_or("", |_| " if changed")));
    assert_eq!(request.header("authorization"), Some("Bearer secret"));
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
    } else {
        of_repository(url)
    }
}

/// Five files of three repositories on two pages, one of which has no name; one request in between meets the limit.
fn answer_of_code(request: &Request, log: &Mutex<Log>) -> Response {
    let url = request.url.as_str();
    let mut log = log.lock().unwrap();
    log.asked.push(url.to_owned());
    assert_eq!(request.header("authorization"), Some("Bearer secret"));
    let item = |path: &str, name: &str| {
        format!(
            "{{\"name\":\"{path}\",\"path\":\"src/{path}\",\"repository\":{{\"full_name\":\"{name}\"}}}}"
        )
    };
    if url.starts_with("/search/code") && !url.contains("page=2&") {
        assert!(url.contains("q=__kernel%20extension%3Acl&per_page=100"), "{url}");
        let base = format!("http://{}", request.header("host").unwrap());
        let [one, more, evil] =
            [item("a.cl", "a/one"), item("b.cl", "a/one"), item("c.cl", "../evil")];
        let next = format!("<{base}/search/code?page=2&q=x>; rel=\"next\"");
        json(format!("{{\"total_count\":5,\"items\":[{one},{more},{evil}]}}")).header("Link", &next)
    } else if url.starts_with("/search/code") {
        if !log.limited {
            log.limited = true;
            let response = json("{\"message\":\"API rate limit exceeded\"}".to_owned());
            return response
                .status(403)
                .header("x-ratelimit-remaining", "0")
                .header("retry-after", "0");
        }
        json(format!("{{\"items\":[{},{}]}}", item("d.cl", "b/two"), item("e.cl", "a/one")))
    } else {
        of_repository(url)
    }
}

fn mine(home: &Path, source: &str) -> Report {
    let options = Options {
        sources: vec![source.to_owned()],
        licenses: Licenses::Permissive,
        language: dataset::Language::OpenCl,
        cache: Some(home.join("cache")),
        offline: false,
        suite: None,
    };
    let context = Context { force: true, jobs: 1, ..Context::new(home.join("raw")) };
    run(&Mine::new(options, &context).unwrap(), &context).unwrap().summary
}

/// Whether the variables are set.
fn is_within() -> bool {
    std::env::var_os("STAMPMILL_GITHUB_API").is_some()
}

/// Run a test once more with the variables of a server that gives these answers; what the server was asked. The variables
/// are set from outside the process: to set them inside would be unsafe.
fn asked_by(
    test: &str,
    token: &str,
    answer: impl Fn(&Request, &Mutex<Log>) -> Response + Send + 'static,
) -> Vec<String> {
    let log = Arc::new(Mutex::new(Log::default()));
    let logging = Arc::clone(&log);
    let address = stand_in::serve(move |request| Some(answer(&request, &logging))).unwrap();
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test])
        .env("STAMPMILL_GITHUB_API", format!("http://{address}"))
        .env("GITHUB_TOKEN", token)
        .status()
        .unwrap();
    assert!(status.success());
    log.lock().unwrap().asked.clone()
}

#[test]
fn a_search_is_paged_slowed_and_remembered() {
    if !is_within() {
        let asked = asked_by("a_search_is_paged_slowed_and_remembered", "secret", answer);
        let count = |part: &str| asked.iter().filter(|url| url.contains(part)).count();
        // The second run asks whether the search has changed, and fetches no repository again.
        assert_eq!((count("tarball"), count("if changed")), (2, 1), "{asked:#?}");
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let search = "github:opencl language:C";
    let first = mine(home.path(), search);
    assert_eq!((first.sources, first.failed_sources, first.unique_files), (3, 1, 2));
    assert_eq!(first.licenses["MIT"], 2);
    assert_eq!(first.packages[0].version, "abc123");
    let second = mine(home.path(), search);
    assert_eq!(second.unique_files, 2);
}

#[test]
fn repositories_of_the_files_that_a_search_of_code_finds_are_mined_once() {
    if !is_within() {
        let test = "repositories_of_the_files_that_a_search_of_code_finds_are_mined_once";
        let asked = asked_by(test, "secret", answer_of_code);
        let count = |part: &str| asked.iter().filter(|url| url.contains(part)).count();
        // Two pages, one of them asked for twice; then one page alone, which has enough.
        assert_eq!((count("tarball"), count("/search/code")), (2, 4), "{asked:#?}");
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let all = mine(home.path(), "github-code:__kernel extension:cl");
    assert_eq!((all.sources, all.failed_sources, all.unique_files), (2, 0, 2));
    let sources: Vec<&str> = all.packages.iter().map(|package| package.source.as_str()).collect();
    assert_eq!(sources, ["github:a/one", "github:b/two"]);
    let first = mine(home.path(), "github-code:__kernel extension:cl#1");
    assert_eq!((first.sources, first.unique_files), (1, 1));
}

#[test]
fn a_search_of_code_is_for_those_who_sign_in() {
    if !is_within() {
        let asked = asked_by("a_search_of_code_is_for_those_who_sign_in", "", answer_of_code);
        assert_eq!(asked, [""; 0]);
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let report = mine(home.path(), "github-code:__kernel");
    let why = report.packages[0].notes.join("");
    assert!(report.failed_sources == 1 && why.contains("set GITHUB_TOKEN"), "{why}");
}
