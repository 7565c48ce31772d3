//! `stampmill serve --report`: the page follows what stages write.

#[path = "served/started.rs"]
mod started;

use serde_json::Value;
use started::started;
use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

fn stampmill(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stampmill"));
    command.current_dir(home).stdin(Stdio::null()).env("STAMPMILL_CACHE", home.join("cache"));
    command
}

/// A process that is ended with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(home: &Path) -> (Running, String) {
    let mut command = stampmill(home);
    command.args(["serve", "--report", "runs", "--json"]);
    let (child, url) = started(command);
    (Running(child), url.trim_start_matches("http://").trim_end_matches('/').to_owned())
}

fn get(address: &str, host: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(300))).expect("a socket");
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n")
        .expect("it is sent");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer");
    String::from_utf8_lossy(&answer).into_owned()
}

fn state(address: &str) -> Value {
    let answer = get(address, address, "/state");
    serde_json::from_str(answer.split_once("\r\n\r\n").expect("a body").1).expect("JSON")
}

#[test]
fn the_page_follows_the_folder() {
    let home = tempfile::tempdir().expect("a folder");
    let home = home.path();
    fs::create_dir(home.join("runs")).expect("a folder");
    let kernel =
        |name: &str| format!("kernel void {name}(global int* x) {{ x[get_global_id(0)] += 1; }}\n");
    for number in 0..40 {
        fs::create_dir_all(home.join("programs")).expect("a folder");
        fs::write(home.join(format!("programs/k{number}.cl")), kernel(&format!("k{number}")))
            .expect("a file");
    }
    let (_server, address) = start(home);
    assert!(get(&address, &address, "/page").contains("No data set is finished yet"));
    let empty = state(&address);
    assert_eq!(empty["unfinished"], serde_json::json!([]));

    let shell = get(&address, "localhost", "/");
    assert!(
        shell.contains("<iframe title=\"The report\"") && shell.contains("role=\"status\""),
        "{shell}"
    );

    let made = stampmill(home)
        .args(["mine", "programs", "--out", "runs/raw", "-q"])
        .stdout(Stdio::null())
        .status();
    assert!(made.expect("it runs").success());
    let one = state(&address);
    assert_ne!(one["version"], empty["version"]);
    let page = get(&address, &address, "/page");
    assert!(page.contains("<h3>raw</h3>"), "{}", &page[..page.len().min(2000)]);
    assert_eq!(state(&address), one, "nothing has changed");

    // What is being made is told: of a long run, once it has made a part.
    fs::create_dir(home.join("many")).expect("a folder");
    for number in 0..6000 {
        let path = home.join(format!("many/k{number}.cl"));
        fs::write(path, kernel(&format!("k{number}"))).expect("a file");
    }
    let mut command = stampmill(home);
    command.args(["features", "many", "--space", "grewe", "--out", "runs/vectors", "-q"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut long = Running(command.spawn().expect("it starts"));
    let unfinished = loop {
        assert!(long.0.try_wait().expect("it is there").is_none(), "it has ended");
        let unfinished = state(&address)["unfinished"].clone();
        if unfinished[0]["parts"].as_u64().is_some_and(|parts| parts > 0) {
            break unfinished;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    let first = &unfinished[0];
    assert_eq!((&first["name"], &first["schema"]), (&"vectors".into(), &"features".into()));
    assert_eq!(state(&address)["version"], one["version"], "no data set is finished");
}

#[test]
fn another_name_for_this_machine_is_not_answered() {
    let home = tempfile::tempdir().expect("a folder");
    fs::create_dir(home.path().join("runs")).expect("a folder");
    let (_server, address) = start(home.path());
    for path in ["/", "/page", "/state"] {
        let answer = get(&address, "evil.example", path);
        assert!(answer.starts_with("HTTP/1.1 421") && answer.contains("localhost"), "{answer}");
    }
    assert!(get(&address, &address, "/etc/passwd").starts_with("HTTP/1.1 404"));
    let refused =
        stampmill(home.path()).args(["serve", "--report", "nowhere"]).output().expect("it runs");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && said.contains("nowhere"), "{said}");
}
