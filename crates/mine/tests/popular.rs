//! `crates:top:N` against a local server that answers like a registry's.
//!
//! One test in a file of its own: the address of the server is a variable of the process.

#![expect(clippy::unwrap_used, reason = "what fails in set-up fails the test")]

use stampmill_mine::{Cache, popular_crates};
use stand_in::{Request, Response};
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

/// 150 crates on two pages; the first request for the second meets a busy server.
fn answer(request: &Request, asked: &Mutex<Vec<String>>) -> Response {
    let mut asked = asked.lock().unwrap();
    asked.push(request.url.clone());
    assert!(request.header("user-agent").unwrap().starts_with("stampmill/"));
    let Some(page) = request.url.strip_prefix("/api/v1/crates?sort=downloads&per_page=100&page=")
    else {
        return Response::new("{\"errors\":[{\"detail\":\"not found\"}]}").status(404);
    };
    let page: u64 = page.parse().unwrap();
    if page == 2 && asked.len() == 2 {
        return Response::new("").status(503);
    }
    let one = |number: u64| {
        // Of pre-releases alone, and a name that is none.
        let stable = if number == 3 { "null".to_owned() } else { format!("\"1.0.{number}\"") };
        let name = if number == 4 { "../evil".to_owned() } else { format!("c{number}") };
        format!(
            "{{\"id\":\"{name}\",\"name\":\"{name}\",\"downloads\":{},\"max_version\":\"2.0.0-rc.1\",\"newest_version\":\"2.0.0-rc.1\",\
             \"max_stable_version\":{stable},\"description\":null}}",
            10_000 - number
        )
    };
    let first = (page - 1) * 100;
    let all: Vec<String> = (first..(first + 100).min(150)).map(one).collect();
    Response::new(format!("{{\"crates\":[{}],\"meta\":{{\"total\":150}}}}", all.join(",")))
}

#[test]
fn the_most_downloaded_crates_are_listed_with_their_versions_and_remembered() {
    if std::env::var_os("STAMPMILL_CRATES_API").is_none() {
        // The variable is set from outside the process: to set it inside would be unsafe.
        let asked = Arc::new(Mutex::new(Vec::new()));
        let asking = Arc::clone(&asked);
        let address = stand_in::serve(move |request| Some(answer(&request, &asking))).unwrap();
        let status = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "the_most_downloaded_crates_are_listed_with_their_versions_and_remembered",
            ])
            .env("STAMPMILL_CRATES_API", format!("http://{address}/"))
            .status()
            .unwrap();
        assert!(status.success());
        // The list of 120 takes two pages and one try more; that of 200 is asked for to its end; a run that is stopped asks
        // for no second page.
        assert_eq!(asked.lock().unwrap().len(), 3 + 2 + 1);
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let cache = Cache::at(Some(home.path().into()));
    let running = AtomicBool::new(false);
    let list = |count, offline| popular_crates(count, &cache, offline, &running);
    let all = list(120, false).unwrap();
    assert_eq!((all.len(), all[0].as_str(), all[3].as_str()), (120, "c0@1.0.0", "c3@2.0.0-rc.1"));
    assert_eq!(all[4], "c5@1.0.5");
    assert_eq!(list(120, true).unwrap(), all);
    let message = list(200, false).unwrap_err().to_string();
    assert!(message.contains("names 149 crates only"), "{message}");
    let message = list(7, true).unwrap_err().to_string();
    assert!(message.contains("this run is offline"), "{message}");
    running.store(true, Ordering::Relaxed);
    assert!(list(150, false).is_err());
}
