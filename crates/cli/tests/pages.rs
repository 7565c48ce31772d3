//! Pages that are served and written, in a real browser (skipped where there is none): `serve --quiz` is played, and no page
//! shuts out who reads, sees or types otherwise.

#[path = "served/started.rs"]
mod started;

use dataset::Dataset;
use rows::AnswerRow;
use serde_json::{Value, json};
use started::started;
use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
};
use trials::browser::Browser;

fn stampmill(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stampmill"));
    command.current_dir(home).stdin(Stdio::null()).env("STAMPMILL_CACHE", home.join("cache"));
    command
}

fn done(home: &Path, words: &str) {
    let output = stampmill(home).args(words.split(' ')).output().expect("it runs");
    assert!(output.status.success(), "{words}: {output:?}");
}

/// A server, ended with the test.
struct Running {
    child: Child,
    address: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    fn start(home: &Path, words: &str) -> Running {
        let mut command = stampmill(home);
        command.args(words.split(' ')).arg("--json");
        let (child, url) = started(command);
        let address = url.trim_start_matches("http://").trim_end_matches('/').to_owned();
        Running { child, address }
    }

    /// Stop it as Ctrl-C does.
    fn stop(mut self) {
        // The shell's own: a small machine has no program `kill`.
        let kill = format!("kill -INT {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().expect("it runs").success());
        assert!(self.child.wait().expect("it ends").success());
    }

    fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Status and answer of a POST.
    fn post(&self, path: &str, headers: &str, body: &Value) -> (u16, Value) {
        let Running { address, .. } = self;
        let body = body.to_string();
        let mut stream = TcpStream::connect(address).expect("a connection");
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).expect("it is sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a body");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        (status.expect("a status"), serde_json::from_str(body).expect("JSON"))
    }
}

const JSON: &str = "content-type: application/json\r\n";
const HUMAN: &str = "get_global_id";
const MACHINE: &str = "2.0f";

/// Data sets `people` and `made` of so many kernels.
fn sides(home: &Path, kernels: usize) {
    for folder in ["h", "m"] {
        fs::create_dir(home.join(folder)).expect("a folder");
    }
    for number in 0..kernels {
        let human = format!("kernel void a(global int* x) {{ x[{HUMAN}(0)] += {number}; }}\n");
        let machine = format!(
            "kernel void b(global float* x) {{ x[{number}] = {MACHINE} * x[{}]; }}\n",
            number + 1
        );
        fs::write(home.join(format!("h/{number}.cl")), human).expect("a file");
        fs::write(home.join(format!("m/{number}.cl")), machine).expect("a file");
    }
    done(home, "prepare h --out people -q");
    done(home, "prepare m --out made -q");
}

const QUIZ: &str = "serve --quiz human=people --quiz machine=made --questions 6 --out answers";

fn answers(home: &Path) -> Vec<AnswerRow> {
    let dataset = Dataset::open(&home.join("answers")).expect("a data set");
    dataset.rows().expect("answers").collect::<Result<_, _>>().expect("rows")
}

fn answers_outlive_a_kill_and_a_player_goes_on() {
    let home = tempfile::tempdir().expect("a folder");
    let home = home.path();
    sides(home, 5);
    let server = Running::start(home, QUIZ);
    let (status, first) = server.post("/players", JSON, &json!({}));
    assert_eq!((status, &first["number"], &first["of"]), (200, &json!(1), &json!(6)));
    let player = first["player"].as_str().expect("a name").to_owned();
    let says = |number: u32, answer: &str| json!({ "player": player, "number": number, "answer": answer, "milliseconds": 7 });
    let (_, second) = server.post("/answers", JSON, &says(1, "human"));
    assert_eq!(second["number"], 2);
    assert!(second.get("score").is_none() && !second.to_string().contains("people"));
    let (_, again) = server.post("/answers", JSON, &says(1, "machine"));
    assert_eq!(again, second, "the first answer counts");
    for (body, wanted) in [(says(3, "human"), "`number`"), (says(2, "dog"), "neither `human` nor")]
    {
        let (status, refused) = server.post("/answers", JSON, &body);
        assert!(status == 400 && refused.to_string().contains(wanted), "{refused}");
    }
    // What another page may have a browser send.
    for headers in ["", "content-type: text/plain\r\n"] {
        assert_eq!(server.post("/answers", headers, &says(2, "human")).0, 415, "{headers}");
    }
    let taken = stampmill(home)
        .args("serve --quiz human=people --quiz machine=made --out other --listen".split(' '))
        .arg(&server.address)
        .args(["--questions", "6"])
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&taken.stderr);
    assert!(taken.status.code() == Some(2) && said.contains("name another address"), "{said}");
    assert!(!home.join("other.partial").exists());
    drop(server);

    let server = Running::start(home, QUIZ);
    assert_eq!(server.post("/next", JSON, &json!({ "player": player })).1, second);
    assert_eq!(server.post("/next", JSON, &json!({ "player": "0" })).0, 404);
    server.stop();
    let rows = answers(home);
    let row = &rows[0];
    let told = (rows.len(), &row.player, row.number, row.answer.as_str(), row.milliseconds);
    assert_eq!(told, (1, &player, 1, "human", 7));
    assert_eq!(row.right, row.kind == "human");
    let again = stampmill(home).args(QUIZ.split(' ')).output().expect("it runs");
    assert!(String::from_utf8_lossy(&again.stderr).contains("answers exists already"), "{again:?}");
}

fn who_knows_no_token_sees_no_kernel() {
    let home = tempfile::tempdir().expect("a folder");
    let home = home.path();
    sides(home, 5);
    fs::write(home.join("token"), "0123456789abcdef\n").expect("a file");
    let server = Running::start(home, &format!("{QUIZ} --token-file token"));
    for path in ["/players", "/next", "/answers"] {
        assert_eq!(server.post(path, JSON, &json!({})).0, 401, "{path}");
    }
    let bearer = format!("{JSON}authorization: Bearer 0123456789abcdef\r\n");
    assert_eq!(server.post("/players", &bearer, &json!({})).0, 200);
    server.stop();
    assert!(!home.join("answers").exists() && !home.join("answers.partial").exists());
}

fn faultless(browser: &Browser, page: &str) {
    let faults = browser.faults();
    assert!(faults.is_empty(), "{page}:\n{}", faults.join("\n"));
}

fn a_quiz_is_played_with_keys_and_pointer() {
    let home = tempfile::tempdir().expect("a folder");
    let home = home.path();
    sides(home, 5);
    let server = Running::start(home, QUIZ);
    let browser = Browser::start();
    browser.go(&server.url());
    faultless(&browser, "the start");
    browser.run("document.querySelector('#begin button').focus()");
    browser.keys("\u{e007}");
    let number = |number: u32| {
        browser.until(&format!(
            "return document.getElementById('heading').textContent === 'Kernel {number} of 6' && !human.disabled;"
        ));
    };
    let shown = || browser.run("return document.getElementById('program').textContent;");
    let mut asked = Vec::new();
    for at in 1..=6 {
        number(at);
        if at == 2 {
            faultless(&browser, "a question");
            // A page that is loaded anew goes on where it was.
            browser.go(&server.url());
            number(at);
        }
        assert!(
            browser.run("return document.title;").as_str().is_some_and(|t| t.starts_with("Human"))
        );
        let text = shown().as_str().expect("a text").to_owned();
        let is_human = text.contains(HUMAN);
        assert_ne!(is_human, text.contains(MACHINE), "{text}");
        asked.push(text);
        // The fourth answer is wrong.
        let says_human = is_human != (at == 4);
        match (at % 2 == 0, says_human) {
            (true, true) => browser.keys("h"),
            (true, false) => browser.keys("m"),
            (false, true) => drop(browser.run("document.getElementById('human').click()")),
            (false, false) => drop(browser.run("document.getElementById('machine').click()")),
        }
    }
    browser.until("return !document.getElementById('end').hidden;");
    faultless(&browser, "the score");
    let end = browser.run("return document.getElementById('end').textContent;");
    let end = end.as_str().expect("a text");
    // Wilson's interval of 5 of 6.
    for wanted in [
        "right 5 times of 6",
        "83 %; 95 % interval 44 to 97 %",
        "people (human)",
        "made (machine)",
        "chance, 50 %",
    ] {
        assert!(end.replace(" % to ", " to ").contains(wanted), "{wanted}: {end}");
    }
    server.stop();
    let rows = answers(home);
    let hash = |text: &String| dataset::content_hash(text.as_bytes());
    let programs: Vec<&String> = rows.iter().map(|row| &row.program).collect();
    assert_eq!(programs, asked.iter().map(hash).collect::<Vec<_>>().iter().collect::<Vec<_>>());
    let right: Vec<bool> = rows.iter().map(|row| row.right).collect();
    assert_eq!(right, [true, true, true, false, true, true]);
    assert_eq!(rows.iter().filter(|row| row.source == "people").count(), 3);
    let summary =
        &Dataset::open(&home.join("answers")).expect("it").manifest().notes.summary.clone();
    assert_eq!((&summary["right"], &summary["players"]), (&json!(5), &json!(1)));
}

fn hostile_kernels_stay_text_and_the_token_opens_the_door() {
    let home = tempfile::tempdir().expect("a folder");
    let home = home.path();
    sides(home, 1);
    let evil =
        "<img src=x onerror=\"document.title='broken'\"><script>document.title='broken'</script>";
    let rows = vec![rows::KernelRow {
        text: format!("kernel void A(global int* a) {{ }} // {evil}\n"),
        verdict: "accepted".into(),
        ..rows::KernelRow::default()
    }];
    let builder = dataset::Builder::create(&home.join("evil"), false, &"test").expect("a folder");
    builder.finish(rows, dataset::Notes::default()).expect("room");
    fs::write(home.join("token"), "0123456789abcdef\n").expect("a file");
    let words = "serve --quiz human=evil --quiz machine=made --questions 2 --out answers --token-file token";
    let server = Running::start(home, words);
    let browser = Browser::start();
    browser.go(&server.url());
    browser.run("document.querySelector('#begin button').click()");
    browser.until("return !document.getElementById('door').hidden;");
    faultless(&browser, "the door");
    browser.run("document.getElementById('token').focus()");
    browser.keys("0123456789abcdef\u{e007}");
    let mut seen = String::new();
    for at in 1..=2 {
        browser.until(&format!(
            "return heading.textContent === 'Kernel {at} of 2' && !human.disabled;"
        ));
        let text = browser.run("return document.getElementById('program').textContent;");
        seen += text.as_str().expect("a text");
        assert_eq!(browser.run("return document.querySelectorAll('img').length;"), 0);
        browser.keys("h");
    }
    browser.until("return !document.getElementById('end').hidden;");
    assert!(seen.contains(evil), "{seen}");
    assert_eq!(browser.run("return document.title;"), "Human or machine – Stampmill");
    server.stop();
}

fn the_live_report_shuts_nobody_out() {
    let home = tempfile::tempdir().expect("a folder");
    let home = home.path();
    sides(home, 5);
    let server = Running::start(home, "serve --report .");
    let browser = Browser::start();
    for page in ["", "page"] {
        browser.go(&(server.url() + page));
        faultless(&browser, page);
    }
    fs::create_dir(home.join("empty")).expect("a folder");
    let server = Running::start(home, "serve --report empty");
    browser.go(&(server.url() + "page"));
    faultless(&browser, "an empty report");
}

fn written_pages_shut_nobody_out() {
    let home = tempfile::tempdir().expect("a folder");
    let home = home.path();
    sides(home, 2);
    fs::create_dir(home.join("source")).expect("a folder");
    fs::write(home.join("source/a.ll"), "define i32 @f(i32 %x) {\n  ret i32 %x\n}\n")
        .expect("a file");
    done(home, "ir extract source --out modules -q");
    done(home, "ir stats modules --out statistics -q");
    done(home, "report . -q");
    let browser = Browser::start();
    for page in ["report.html", "statistics/index.html"] {
        browser.go(&format!("file://{}", home.join(page).display()));
        faultless(&browser, page);
    }
}

/// Else no page would have any.
fn faults_of_a_bad_page_are_found() {
    let home = tempfile::tempdir().expect("a folder");
    let page = home.path().join("bad.html");
    let text = "<body><h1>A</h1><h3 style='color: #999; background: #fff'>B</h3><button></button>\
        <a href='#x' style='outline: none'>x</a><p style='width: 500px' onclick='f()'>wide</p>\
        <div style='overflow: auto; height: 2em; cursor: pointer'>a<br>b<br>c</div><svg role='img'></svg>";
    fs::write(&page, text).expect("a file");
    let browser = Browser::start();
    browser.go(&format!("file://{}", page.display()));
    let faults = browser.faults().join("\n");
    for wanted in [
        "light, 360 px: no language",
        "no title",
        "no viewport",
        "a heading too deep: h3",
        "contrast 2.85: h3",
        "px wide",
        "no name: \"button\"",
        "no name: \"image\"",
        "focus is not seen: a",
        "a keyboard cannot scroll div",
        "a keyboard cannot press div",
    ] {
        assert!(faults.contains(wanted), "{wanted}:\n{faults}");
    }
}

trials::main! {
    faults_of_a_bad_page_are_found: trials::browser::lacks(),
    answers_outlive_a_kill_and_a_player_goes_on,
    who_knows_no_token_sees_no_kernel,
    a_quiz_is_played_with_keys_and_pointer: trials::browser::lacks(),
    hostile_kernels_stay_text_and_the_token_opens_the_door: trials::browser::lacks(),
    written_pages_shut_nobody_out: trials::browser::lacks(),
    the_live_report_shuts_nobody_out: trials::browser::lacks(),
}
