//! `stampmill serve --judge`: rewards and verdicts over HTTP, and what it refuses.

#[path = "served/started.rs"]
mod started;

use serde_json::{Value, json};
use started::started;
use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

const SLOW: &str = r#"#include <cstdio>
int main() { int n; scanf("%d", &n); volatile long s = 0;
for (int k = 0; k < 200; k++) { s = 0; for (int i = 1; i <= n; i++) s += i; } printf("%ld\n", s); }"#;
const FAST: &str = r#"#include <cstdio>
int main() { int n; scanf("%d", &n); printf("%ld\n", (long)n * (n + 1) / 2); }"#;
const CHEAT: &str = r#"#include <cstdio>
int main() { int n; scanf("%d", &n); puts(n == 1000 ? "500500" : "2001000"); }"#;

fn stampmill(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stampmill"));
    command.current_dir(home).stdin(Stdio::null());
    command
}

struct Judge {
    child: Child,
    address: String,
}

impl Judge {
    fn start(home: &Path, flags: &[&str]) -> Judge {
        let mut command = stampmill(home);
        command.args(["serve", "--judge", "--json", "--cache", "cache"]).args(flags);
        Judge::of(command)
    }

    fn of(command: Command) -> Judge {
        let (child, url) = started(command);
        let address = url.trim_start_matches("http://").trim_end_matches("/v1").to_owned();
        Judge { child, address }
    }

    /// The head and the body of an answer.
    fn ask(&self, method: &str, headers: &str, body: &str) -> (String, Value) {
        self.send(method, headers, body).read()
    }

    fn send(&self, method: &str, headers: &str, body: &str) -> Sent {
        self.send_to("/v1/judge", method, headers, body)
    }

    fn send_to(&self, path: &str, method: &str, headers: &str, body: &str) -> Sent {
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(300))).expect("a socket");
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: here\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).expect("it is sent");
        // A server may refuse before it has read everything.
        let _ = stream.write_all(body.as_bytes());
        Sent(stream)
    }

    fn post(&self, body: &Value) -> (u16, Value) {
        let (head, answer) = self.ask("POST", JSON, &body.to_string());
        (status(&head), answer)
    }

    /// A batch of kernels.
    fn post_kernels(&self, body: &Value) -> (u16, Value) {
        let sent = self.send_to("/v1/judge/kernels", "POST", JSON, &body.to_string());
        let (head, answer) = sent.read();
        (status(&head), answer)
    }

    fn about(&self) -> Value {
        self.ask("GET", "", "").1
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Sent(TcpStream);

impl Sent {
    fn read(mut self) -> (String, Value) {
        let mut answer = Vec::new();
        let read = self.0.read_to_end(&mut answer);
        assert!(read.is_ok() || !answer.is_empty(), "{read:?}");
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        (head.to_ascii_lowercase(), serde_json::from_str(body).unwrap_or(Value::Null))
    }
}

const JSON: &str = "content-type: application/json\r\n";

fn status(head: &str) -> u16 {
    head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0)
}

fn problem() -> Value {
    let tests = json!([["1000\n", "500500\n"], ["2000\n", "2001000\n"]]);
    json!({"slow": SLOW, "tests": tests, "hidden": [["3000\n", "4501500\n"]]})
}

const SLOW_KERNEL: &str = "kernel void twice(global const float* x, global float* y) {
int i = get_global_id(0); float s = 0.0f; for (int k = 0; k < 64; k++) s += x[i] * 0.03125f; y[i] = s; }";
const FAST_KERNEL: &str = "kernel void two(global const float* a, global float* b) {
int i = get_global_id(0); b[i] = 2.0f * a[i]; }";
const LAZY_KERNEL: &str = "kernel void twice(global const float* x, global float* y) {
int i = get_global_id(0); if (i < 100) y[i] = 2.0f * x[i]; }";
/// Judging kernels on one small size of a processor.
const SMALL: &[&str] = &["--devices", "cpu", "--global-sizes", "2^10", "--budget", "10ms"];

fn kernels(after: &[&str]) -> Value {
    let pair = |after: &&str| json!({"before": SLOW_KERNEL, "after": after});
    json!({"pairs": after.iter().map(pair).collect::<Vec<_>>()})
}

fn batch(codes: &[&str]) -> Value {
    let candidates: Vec<Value> =
        codes.iter().map(|code| json!({"problem": "sum", "code": code})).collect();
    json!({"problems": {"sum": problem()}, "candidates": candidates})
}

#[test]
fn a_batch_gets_rewards_and_verdicts_and_is_known_the_second_time() {
    let home = tempfile::tempdir().expect("a folder");
    let judge = Judge::start(home.path(), &[]);
    let body = batch(&[CHEAT, FAST, "int main( {", FAST, ""]);
    let (status, answer) = judge.post(&body);
    assert_eq!(status, 200, "{answer}");
    assert_eq!(
        verdicts(&answer),
        ["answer-table", "accepted", "does-not-compile", "accepted", "no-program"]
    );
    let rewards: Vec<f64> =
        answer["rewards"].as_array().expect("a list").iter().filter_map(Value::as_f64).collect();
    assert_eq!([rewards[0], rewards[2], rewards[4]], [-1.0, 0.0, 0.0]);
    assert!(rewards[1] > 2.0 && rewards[1] == rewards[3], "{rewards:?}");
    assert_eq!(answer["cheats"], json!({"answer-table": 1}));
    assert_eq!(answer["verdicts"], json!({"accepted": 2, "does-not-compile": 1, "no-program": 1}));
    assert_eq!(answer["data"][0]["is_cheat"], true);

    let runs = judge.about()["runs"].as_u64().expect("a count");
    assert!(runs > 0);
    let (_, again) = judge.post(&body);
    assert_eq!(again["data"], answer["data"]);
    assert_eq!(again["known"], 2);
    assert_eq!(judge.about()["runs"], runs, "nothing is run that was run before");

    // A server of later knows it too; an unwatched judge is another judge.
    drop(judge);
    let judge = Judge::start(home.path(), &[]);
    assert_eq!(judge.post(&batch(&[FAST])).1["known"], 1);
    let unwatched = Judge::start(home.path(), &["--sanitize", "never"]);
    assert_eq!(unwatched.post(&batch(&[FAST])).1["known"], 0);
}

fn verdicts(answer: &Value) -> Vec<&str> {
    let data = answer["data"].as_array().expect("a list");
    data.iter().filter_map(|one| one["verdict"].as_str()).collect()
}

#[test]
fn a_batch_of_kernels_gets_rewards_and_verdicts_and_is_known_the_second_time() {
    let home = tempfile::tempdir().expect("a folder");
    let judge = Judge::start(home.path(), SMALL);
    let body = kernels(&[LAZY_KERNEL, FAST_KERNEL, "kernel void twice( {", FAST_KERNEL, ""]);
    let (status, answer) = judge.post_kernels(&body);
    assert_eq!(status, 200, "{answer}");
    assert_eq!(
        verdicts(&answer),
        ["wrong-output", "accepted", "does-not-compile", "accepted", "interface-differs"],
        "{answer}"
    );
    let fast = &answer["data"][1];
    assert!(fast["reward"].as_f64().is_some_and(|reward| reward > 0.0), "{fast}");
    assert_eq!((&fast["reward"], fast), (&fast["speedup"], &answer["data"][3]));
    assert_eq!(fast["rows"][0]["global_size"], 1024);
    assert_eq!(answer["rewards"], json!([0.0, fast["reward"], 0.0, fast["reward"], 0.0]));
    assert_eq!((&answer["cheats"], &answer["known"]), (&json!({}), &json!(0)));
    assert_eq!(answer["verdicts"]["accepted"], 2);
    let (_, again) = judge.post_kernels(&body);
    assert_eq!((&again["data"], &again["known"]), (&answer["data"], &json!(3)));
    let about = judge.about();
    assert_eq!((&about["candidates"], &about["known"]), (&json!(10), &json!(3)));
    assert_eq!(about["kernels"]["global_sizes"], json!([1024]));
    // Programs are judged beside them.
    assert_eq!(judge.post(&batch(&[FAST])).1["verdicts"], json!({"accepted": 1}));

    // A server of later knows it too; one with other payloads is another judge.
    drop(judge);
    let judge = Judge::start(home.path(), SMALL);
    assert_eq!(judge.post_kernels(&kernels(&[FAST_KERNEL])).1["data"][0], *fast);
    let other = Judge::start(home.path(), &[SMALL, &["--payloads", "1"]].concat());
    assert_eq!(other.post_kernels(&kernels(&[FAST_KERNEL])).1["known"], 0);
}

#[test]
fn kernels_that_cannot_be_judged_are_refused() {
    let home = tempfile::tempdir().expect("a folder");
    let judge = Judge::start(home.path(), &["--max-batch", "1", "--devices", "abacus"]);
    let refused = |(status, answer): (u16, Value), wanted: u16, part: &str| {
        let message = answer["error"]["message"].as_str().unwrap_or_default().to_owned();
        assert!(status == wanted && message.contains(part), "{status} {answer}");
    };
    refused(judge.post_kernels(&kernels(&[FAST_KERNEL, ""])), 400, "--max-batch");
    refused(judge.post_kernels(&batch(&[])), 400, "expected `pairs`");
    refused(judge.post_kernels(&kernels(&[FAST_KERNEL])), 501, "abacus");
    assert_eq!(judge.post_kernels(&kernels(&[])).1["rewards"], json!([]));
    let (head, answer) = judge.send_to("/v1/judge/kernels", "GET", "", "").read();
    refused((status(&head), answer), 405, "another method");
    // Programs need no device.
    assert_eq!(judge.post(&batch(&[FAST])).1["verdicts"], json!({"accepted": 1}));
    let untimed = stampmill(home.path())
        .args(["serve", "--judge", "--cache", "cache", "--budget", "0s"])
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&untimed.stderr).into_owned();
    assert!(untimed.status.code() == Some(2) && said.contains("--budget"), "{said}");
}

#[test]
fn what_is_too_much_or_wrong_is_refused() {
    let home = tempfile::tempdir().expect("a folder");
    let judge = Judge::start(home.path(), &["--max-batch", "2", "--max-body", "64KiB"]);
    let refused = |(status, answer): (u16, Value), wanted: u16, part: &str| {
        let message = answer["error"]["message"].as_str().unwrap_or_default().to_owned();
        assert!(status == wanted && message.contains(part), "{status} {answer}");
    };
    refused(judge.post(&batch(&["", "", ""])), 400, "--max-batch");
    refused(judge.post(&batch(&["x".repeat(70_000).as_str()])), 413, "--max-body");
    refused(judge.post(&json!({"problems": {}})), 400, "candidates");
    let stranger = json!({"problems": {}, "candidates": [{"problem": "p", "code": ""}]});
    refused(judge.post(&stranger), 400, "`p`");
    let (head, answer) = judge.ask("POST", "content-type: text/plain\r\n", "{}");
    refused((status(&head), answer), 415, "application/json");
    let (head, answer) = judge.ask("DELETE", "", "");
    refused((status(&head), answer), 405, "another method");
    // Nothing was judged, and it still judges: a problem without tests says so.
    let untested = json!({"problems": {"p": {"slow": SLOW, "tests": []}}, "candidates": [{"problem": "p", "code": FAST}]});
    assert_eq!(judge.post(&untested).1["verdicts"], json!({"no-tests": 1}));
    assert_eq!(judge.post(&batch(&[])).1["rewards"], json!([]));
}

/// A request whose body does not come holds its place; until it is answered there is none for others.
#[test]
fn a_full_queue_says_when_to_come_again() {
    let home = tempfile::tempdir().expect("a folder");
    let judge = Judge::start(home.path(), &["--queue", "1", "--read-timeout", "1h"]);
    let mut first = TcpStream::connect(&judge.address).expect("a connection");
    first.set_read_timeout(Some(Duration::from_secs(300))).expect("a socket");
    let body = batch(&[FAST]).to_string();
    let length = body.len();
    let head = format!(
        "POST /v1/judge HTTP/1.1\r\nhost: here\r\nconnection: close\r\nexpect: 100-continue\r\n{JSON}content-length: {length}\r\n\r\n"
    );
    first.write_all(head.as_bytes()).expect("it is sent");
    // It has the place once its body is asked for.
    let asked = b"HTTP/1.1 100 Continue\r\n\r\n";
    let mut interim = [0; 25];
    first.read_exact(&mut interim).expect("the server wants its body");
    assert_eq!(&interim, asked, "{}", String::from_utf8_lossy(&interim));
    let (head, answer) = judge.ask("POST", JSON, &batch(&[]).to_string());
    assert_eq!((status(&head), &answer["error"]["code"]), (503, &json!("overloaded")), "{answer}");
    assert!(head.contains("retry-after: 1"), "{head}");
    first.write_all(body.as_bytes()).expect("it is sent");
    let (head, answer) = Sent(first).read();
    assert_eq!((status(&head), &answer["verdicts"]), (200, &json!({"accepted": 1})), "{answer}");
}

#[test]
fn off_loopback_a_token_is_needed_and_held_to() {
    let home = tempfile::tempdir().expect("a folder");
    let refused = stampmill(home.path())
        .args(["serve", "--judge", "--listen", "0.0.0.0:0"])
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && said.contains("--token-file"), "{said}");

    let token = "correct-horse-battery";
    fs::write(home.path().join("token"), format!("{token}\n")).expect("a file");
    let judge = Judge::start(home.path(), &["--token-file", "token"]);
    let body = batch(&[]).to_string();
    let (head, answer) = judge.ask("POST", JSON, &body);
    assert_eq!((status(&head), &answer["error"]["code"]), (401, &json!("no_token")), "{answer}");
    assert!(head.contains("www-authenticate: bearer"), "{head}");
    let with =
        |token: &str| judge.ask("POST", &format!("{JSON}authorization: Bearer {token}\r\n"), &body);
    assert_eq!(status(&with("correct-horse-batterz").0), 401);
    assert_eq!(status(&with(token).0), 200);
}

#[test]
fn it_ends_when_told_and_lets_a_batch_end() {
    let home = tempfile::tempdir().expect("a folder");
    let mut command = stampmill(home.path());
    command.args(["serve", "--judge", "--json", "--cache", "cache", "-vv"]).stderr(Stdio::piped());
    let mut judge = Judge::of(command);
    let mut said = BufReader::new(judge.child.stderr.take().expect("its events")).lines();
    let sent = judge.send("POST", JSON, &batch(&[FAST]).to_string());
    // It is being judged once a compiler has run.
    while !said.next().expect("a line").expect("text").contains("a program has run") {}
    let rest = std::thread::spawn(move || said.count());
    let kill = format!("kill -TERM {}", judge.child.id());
    Command::new("sh").args(["-c", &kill]).status().expect("a signal");
    let (head, answer) = sent.read();
    assert_eq!((status(&head), &answer["verdicts"]), (200, &json!({"accepted": 1})), "{answer}");
    assert_eq!(judge.child.wait().expect("it ends").code(), Some(0));
    assert!(rest.join().expect("the rest is read") > 0);
}
