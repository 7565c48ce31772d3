//! `stampmill serve` against the clients it is for, and against those that mean it no good.

mod served;

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use served::{Server, llama, stampmill};
use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    time::Duration,
};

/// A connection; what hears nothing for two minutes fails.
fn connect(server: &Server) -> TcpStream {
    let host = server.url.trim_start_matches("http://").trim_end_matches("/v1");
    let stream = TcpStream::connect(host).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a socket");
    stream
}

/// What comes back when these bytes are sent: all of it.
fn raw(server: &Server, bytes: &[u8]) -> String {
    let mut stream = connect(server);
    // A server may answer before it has read everything.
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    assert!(read.is_ok() || !answer.is_empty(), "{read:?}");
    String::from_utf8_lossy(&answer).into_owned()
}

const JSON: &str = "content-type: application/json\r\n";

/// The status of an answer, 0 where there is none, and its body.
fn parts(answer: &str) -> (u16, Value) {
    let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or_default();
    (status, serde_json::from_str(body).unwrap_or(Value::Null))
}

fn request(method: &str, path: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\nhost: here\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n{body}"
    )
}

fn ask(server: &Server, method: &str, path: &str, body: &str) -> (u16, Value) {
    parts(&raw(server, request(method, path, JSON, body).as_bytes()))
}

/// A chat's body, with more or other fields.
fn chat(more: Value) -> Value {
    let mut body = json!({"model": "mine", "messages": [{"role": "user", "content": "int main"}]});
    for (key, value) in more.as_object().expect("an object") {
        body[key] = value.clone();
    }
    body
}

fn ask_chat(server: &Server, more: Value) -> (u16, Value) {
    ask(server, "POST", "/v1/chat/completions", &chat(more).to_string())
}

/// A model of random weights that never comes to an end by itself.
fn endless(folder: &Path) {
    llama(folder, &["int main return".to_owned()]);
    let path = folder.join("config.json");
    let text = fs::read_to_string(&path).expect("a configuration");
    let mut config: Value = serde_json::from_str(&text).expect("JSON");
    config["max_position_embeddings"] = json!(16384);
    // No token has this number.
    config["eos_token_id"] = json!(1_000_000);
    fs::write(path, config.to_string()).expect("a file");
}

#[test]
fn a_random_llama_is_served_as_openai_would() {
    let home = tempfile::tempdir().expect("a folder");
    let home = home.path();
    llama(&home.join("tiny"), &["int main return".to_owned()]);
    let server = Server::start(home, "tiny", &[]);

    let (status, models) = ask(&server, "GET", "/v1/models", "");
    assert_eq!((status, &models["data"][0]["id"]), (200, &json!("mine")));
    let (status, answer) = ask_chat(&server, json!({"max_tokens": 7, "n": 2, "seed": 5}));
    assert_eq!(status, 200, "{answer}");
    let text = |answer: &Value, at: usize| {
        answer["choices"][at]["message"]["content"].as_str().expect("a text").to_owned()
    };
    assert_ne!(text(&answer, 0), text(&answer, 1), "two draws differ");
    assert_eq!(answer["object"], "chat.completion");
    let usage = &answer["usage"];
    // "<s>int main\n\n": a word, a blank, a word, and the end of the message.
    assert_eq!(usage["prompt_tokens"], 5);
    assert!(usage["completion_tokens"].as_u64().is_some_and(|n| (2..=14).contains(&n)), "{usage}");
    let (_, again) = ask_chat(&server, json!({"max_tokens": 7, "n": 2, "seed": 5}));
    assert_eq!(text(&again, 1), text(&answer, 1), "the same seed draws the same");
    let (_, cold) = ask_chat(&server, json!({"max_tokens": 9, "temperature": 0}));
    let whole = text(&cold, 0);
    let end = whole.char_indices().nth(1).map(|(at, _)| whole[at..].chars().next().expect("more"));
    let end = end.expect("a second character").to_string();
    let (_, cut) = ask_chat(&server, json!({"max_tokens": 9, "temperature": 0, "stop": end}));
    assert_eq!(cut["choices"][0]["finish_reason"], "stop");
    assert!(whole.starts_with(&text(&cut, 0)) && !text(&cut, 0).contains(&end));
    let body = json!({"model": "mine", "prompt": ["int", "main main"], "max_tokens": 3});
    let (status, completed) = ask(&server, "POST", "/v1/completions", &body.to_string());
    assert_eq!((status, completed["choices"].as_array().map(Vec::len)), (200, Some(2)));
    let body = json!({"model": "mine", "input": ["int main", "return"]}).to_string();
    let (status, vectors) = ask(&server, "POST", "/v1/embeddings", &body);
    assert_eq!((status, vectors["data"][1]["embedding"].as_array().map(Vec::len)), (200, Some(64)));

    let refused = |(status, answer): (u16, Value), wanted: u16, code: &str| {
        assert_eq!((status, &answer["error"]["code"]), (wanted, &json!(code)), "{answer}");
        assert!(answer["error"]["message"].is_string() && answer["error"]["type"].is_string());
    };
    let post = |body: &str| ask(&server, "POST", "/v1/chat/completions", body);
    refused(post("{"), 400, "invalid_request");
    refused(post("{\"model\": \"other\"}"), 404, "model_not_found");
    refused(post("{\"model\": \"mine\", \"messages\": 3}"), 400, "invalid_value");
    refused(ask_chat(&server, json!({"temperature": 3})), 400, "invalid_value");
    refused(ask_chat(&server, json!({"max_tokens": 0})), 400, "invalid_value");
    refused(ask_chat(&server, json!({"tools": [{}]})), 400, "invalid_value");
    refused(ask_chat(&server, json!({"stream": "yes"})), 400, "invalid_value");
    let long = json!([{"role": "user", "content": "int main ".repeat(200)}]);
    refused(ask_chat(&server, json!({"messages": long})), 413, "context_length_exceeded");
    refused(ask(&server, "GET", "/v1/nothing", ""), 404, "not_found");
    refused(ask(&server, "PUT", "/v1/models", ""), 405, "method_not_allowed");

    let taken = server.url.trim_start_matches("http://").trim_end_matches("/v1").to_owned();
    let output =
        stampmill(home).args(["serve", "tiny", "--listen", &taken]).output().expect("runs");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("cannot listen on") && said.contains("--listen"), "{said}");
    assert_eq!(server.stop("INT"), Some(0));
}

/// The parts of a stream of server-sent events, without the mark that ends it.
fn events(server: &Server, path: &str, body: &Value) -> Vec<Value> {
    // HTTP/1.0 knows no chunks: what comes is the events alone.
    let body = body.to_string();
    let head = format!("POST {path} HTTP/1.0\r\n{JSON}content-length: {}\r\n\r\n", body.len());
    let answer = raw(server, format!("{head}{body}").as_bytes());
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    assert!(head.contains(" 200 ") && head.contains("text/event-stream"), "{answer}");
    let mut parts: Vec<&str> =
        body.split("\n\n").filter_map(|event| event.strip_prefix("data: ")).collect();
    assert_eq!(parts.pop(), Some("[DONE]"), "{body}");
    parts.iter().map(|part| serde_json::from_str(part).expect("JSON")).collect()
}

#[test]
fn a_stream_says_what_an_answer_would() {
    let home = tempfile::tempdir().expect("a folder");
    llama(&home.path().join("tiny"), &["int main return".to_owned()]);
    let server = Server::start(home.path(), "tiny", &[]);

    let asked = json!({"max_tokens": 40, "n": 2, "seed": 5, "stop": ["zq"], "user": "unknown fields are ignored"});
    let (status, whole) = ask_chat(&server, asked.clone());
    assert_eq!(status, 200, "{whole}");
    let mut asked = chat(asked);
    asked["stream"] = json!(true);
    asked["stream_options"] = json!({"include_usage": true});
    let parts = events(&server, "/v1/chat/completions", &asked);
    assert!(parts.iter().all(|part| part["object"] == "chat.completion.chunk"), "{parts:?}");
    assert_eq!(parts[0]["choices"][0]["delta"]["role"], "assistant");
    let mut texts = [String::new(), String::new()];
    let mut pieces = 0;
    for choice in parts.iter().filter_map(|part| part["choices"].get(0)) {
        let text = choice["delta"]["content"].as_str().unwrap_or_default();
        texts[choice["index"].as_u64().expect("a number") as usize] += text;
        pieces += usize::from(!text.is_empty());
    }
    assert!(pieces > 4, "it comes in pieces: {parts:?}");
    for (index, text) in texts.iter().enumerate() {
        assert_eq!(whole["choices"][index]["message"]["content"], *text);
    }
    let ends = parts.iter().filter(|part| part["choices"][0]["finish_reason"].is_string());
    assert_eq!(ends.count(), 2);
    let last = parts.last().expect("a last part");
    assert_eq!((&last["usage"], &last["choices"]), (&whole["usage"], &json!([])));

    let mut asked = json!({"model": "mine", "prompt": "int", "max_tokens": 30, "seed": 1});
    let (_, whole) = ask(&server, "POST", "/v1/completions", &asked.to_string());
    asked["stream"] = json!(true);
    let parts = events(&server, "/v1/completions", &asked);
    let text: String =
        parts.iter().filter_map(|part| part["choices"][0]["text"].as_str()).collect();
    assert_eq!(whole["choices"][0]["text"], text);
    assert!(parts.iter().all(|part| part["usage"].is_null()), "nobody asked for it");

    let asked = |format: &str| {
        let body = json!({"model": "mine", "input": "int main", "encoding_format": format});
        let (status, answer) = ask(&server, "POST", "/v1/embeddings", &body.to_string());
        assert_eq!(status, 200, "{answer}");
        answer["data"][0]["embedding"].clone()
    };
    let bytes = BASE64_STANDARD.decode(asked("base64").as_str().expect("a text")).expect("base64");
    let plain = asked("float");
    let plain: Vec<f32> = plain
        .as_array()
        .expect("numbers")
        .iter()
        .map(|n| n.as_f64().unwrap_or(0.0) as f32)
        .collect();
    let decoded: Vec<f32> =
        bytes.as_chunks::<4>().0.iter().map(|four| f32::from_le_bytes(*four)).collect();
    assert_eq!(decoded, plain);
}

/// A line of `/proc/PID/status`, as a number.
fn status_of(server: &Server, name: &str) -> u64 {
    let status =
        fs::read_to_string(format!("/proc/{}/status", server.child.id())).expect("it runs");
    let line = status.lines().find(|line| line.starts_with(name)).expect("a line");
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number")
}

/// Requests, each with the status it must get; 0: the connection is closed without a word.
fn hostile() -> Vec<(&'static str, Vec<u8>, u16)> {
    let json = JSON;
    let post = |headers: &str, body: &str| request("POST", "/v1/completions", headers, body);
    let completion = |more: &str| {
        post(
            json,
            &format!("{{\"model\": \"mine\", \"prompt\": \"int\", \"max_tokens\": 2{more}}}"),
        )
    };
    let long = "x".repeat(1 << 20);
    let many = vec!["\"a\""; 200_000].join(",");
    let head =
        |lines: &str| format!("POST /v1/completions HTTP/1.1\r\nhost: here\r\n{JSON}{lines}\r\n");
    let all: Vec<(&'static str, String, u16)> = vec![
        ("a length beyond all memory", head("content-length: 4611686018427387904\r\n"), 413),
        (
            "the same with GET",
            request("GET", "/v1/models", "", "").replace(": 0", ": 4611686018427387904"),
            413,
        ),
        ("a length beyond 64 bits", head("content-length: 99999999999999999999999\r\n"), 400),
        ("a negative length", head("content-length: -1\r\n"), 400),
        ("a length that is a word", head("content-length: many\r\n"), 400),
        ("two lengths", head("content-length: 3\r\ncontent-length: 4\r\n"), 400),
        ("an unknown coding", head("transfer-encoding: gzip\r\n"), 400),
        ("a chunk that is none", format!("{}zz\r\n", head("transfer-encoding: chunked\r\n")), 400),
        (
            "a chunk of no size",
            format!("{}ffffffffffffffff0\r\n", head("transfer-encoding: chunked\r\n")),
            400,
        ),
        (
            "chunks that are too much",
            format!(
                "{}200000\r\n{long}{long}\r\n0\r\n\r\n",
                head("transfer-encoding: chunked\r\n")
            ),
            413,
        ),
        ("a body that is too large", post(json, &format!("{long}x")), 413),
        (
            "200,000 prompts of 128 answers",
            post(json, &format!("{{\"model\": \"mine\", \"n\": 128, \"prompt\": [{many}]}}")),
            400,
        ),
        ("more answers than there may be", completion(", \"n\": 129"), 400),
        (
            "prompts times answers",
            post(json, "{\"model\": \"mine\", \"n\": 128, \"prompt\": [\"a\", \"b\"]}"),
            400,
        ),
        ("more tokens than there may be", completion(", \"n\": 128, \"max_tokens\": 16000"), 400),
        (
            "a long prompt",
            post(
                json,
                &format!("{{\"model\": \"mine\", \"prompt\": \"{}\"}}", "int main ".repeat(9000)),
            ),
            413,
        ),
        (
            "2,000 texts to embed",
            request(
                "POST",
                "/v1/embeddings",
                json,
                &format!("{{\"model\": \"mine\", \"input\": [{}]}}", vec!["\"a\""; 2000].join(",")),
            ),
            400,
        ),
        (
            "an empty text to embed in a list of none",
            request("POST", "/v1/embeddings", json, "{\"model\": \"mine\", \"input\": []}"),
            400,
        ),
        (
            "an unknown form of vectors",
            request(
                "POST",
                "/v1/embeddings",
                json,
                "{\"model\": \"mine\", \"input\": \"a\", \"encoding_format\": \"int8\"}",
            ),
            400,
        ),
        ("an endless stop text", completion(&format!(", \"stop\": \"{}\"", "x".repeat(1000))), 400),
        ("a temperature that is no number", completion(", \"temperature\": \"hot\""), 400),
        ("a number beyond all numbers", completion(", \"temperature\": 1e999"), 400),
        ("no JSON", post(json, "{\"model\""), 400),
        ("an empty body", post(json, ""), 400),
        ("a list", post(json, "[]"), 400),
        ("deep JSON", post(json, &"[".repeat(100_000)), 400),
        ("half a million numbers", post(json, &format!("[{}1]", "1,".repeat(500_000))), 400),
        ("no type", post("", "{}"), 415),
        ("another type", post("content-type: text/plain\r\n", "{}"), 415),
        ("a form", post("content-type: multipart/form-data; boundary=x\r\n", "--x--"), 415),
        ("an address of a megabyte", request("GET", &format!("/{long}"), "", ""), 431),
        ("an address of 20 KB", request("GET", &format!("/{}", &long[..20_000]), "", ""), 414),
        (
            "a header of a megabyte",
            request("GET", "/v1/models", &format!("x: {long}\r\n"), ""),
            431,
        ),
        ("300 headers", request("GET", "/v1/models", &"x: y\r\n".repeat(300), ""), 431),
        ("no address", "GET\r\n\r\n".into(), 400),
        ("another protocol", "SSH-2.0-OpenSSH_9.2\r\n\r\n".into(), 400),
        ("another version", "GET /v1/models HTTP/7.1\r\n\r\n".into(), 400),
        ("HTTP/2 at once", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".into(), 0),
        ("a header without a name", "GET /v1/models HTTP/1.1\r\n: x\r\n\r\n".into(), 400),
        ("an unknown address", request("GET", "/../../etc/passwd", "", ""), 404),
        ("an unknown model", request("GET", "/v1/models/%00%1b[31m", "", ""), 404),
        ("DELETE", request("DELETE", "/v1/models", "", ""), 405),
        ("GET where POST is due", request("GET", "/v1/completions", "", ""), 405),
        ("a method of its own", request("BREW", "/v1/models", "", ""), 405),
        (
            "CONNECT",
            "CONNECT here:443 HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n".into(),
            404,
        ),
        (
            "an upgrade, which is not taken",
            request("GET", "/v1/models", "upgrade: websocket\r\n", "")
                .replace("connection: close", "connection: upgrade, close"),
            200,
        ),
        ("HTTP/1.0", "GET /v1/models HTTP/1.0\r\n\r\n".into(), 200),
    ];
    let mut all: Vec<_> =
        all.into_iter().map(|(what, text, status)| (what, text.into_bytes(), status)).collect();
    let mut bytes = post(json, "{\"model\": \"????\"}").into_bytes();
    for byte in bytes.iter_mut().filter(|byte| **byte == b'?') {
        *byte = 0xff;
    }
    all.push(("a name that is no UTF-8", bytes, 400));
    all
}

#[test]
fn a_server_outlives_clients_that_mean_it_no_good() {
    let home = tempfile::tempdir().expect("a folder");
    endless(&home.path().join("tiny"));
    let server =
        Server::start(home.path(), "tiny", &["--max-connections", "64", "--read-timeout", "20s"]);
    let good = || {
        let (status, answer) = ask_chat(&server, json!({"max_tokens": 3}));
        assert_eq!((status, &answer["usage"]["completion_tokens"]), (200, &json!(3)), "{answer}");
    };
    let mut wrong = Vec::new();
    for (what, bytes, due) in hostile() {
        let answer = raw(&server, &bytes);
        let (status, body) = parts(&answer);
        if status != due {
            wrong.push(format!("{what}: {status}, due is {due}: {:.300}", answer));
        }
        // What is no HTTP gets a status alone.
        let has_body = !answer.contains("content-length: 0");
        if has_body && (400..600).contains(&status) {
            let error = &body["error"];
            let all = ["message", "type", "code"].iter().all(|name| error[name].is_string());
            assert!(all, "{what}: {answer}");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    good();

    // Two requests at once, and one that asks before it sends.
    let two = [
        request("GET", "/v1/models", "", "").replace("connection: close\r\n", ""),
        request("GET", "/v1/nothing", "", ""),
    ];
    let answers = raw(&server, two.concat().as_bytes());
    assert!(answers.starts_with("HTTP/1.1 200") && answers.contains("HTTP/1.1 404"), "{answers}");
    let careful = request(
        "POST",
        "/v1/chat/completions",
        &format!("{JSON}expect: 100-continue\r\n"),
        &chat(json!({"max_tokens": 1})).to_string(),
    );
    let answers = raw(&server, careful.as_bytes());
    assert!(answers.starts_with("HTTP/1.1 100") && answers.contains("HTTP/1.1 200"), "{answers}");

    // Clients that send half a head, or half a body, and nothing more.
    let half_head = "POST /v1/completions HTTP/1.1\r\nhost: he";
    let whole = request("POST", "/v1/completions", JSON, "{\"model\": \"mine\"}");
    let half_body = &whole[..whole.len() - 3];
    let slow: Vec<TcpStream> = (0..600)
        .map(|number| {
            let mut stream = connect(&server);
            let half = if number % 2 == 0 { half_head } else { half_body };
            // The older ones are closed already.
            let _ = stream.write_all(half.as_bytes());
            stream
        })
        .collect();
    good();
    let files = fs::read_dir(format!("/proc/{}/fd", server.child.id())).expect("it runs").count();
    assert!(files < 64 + 40, "{files} files are open");
    assert!(status_of(&server, "Threads:") < 64);
    drop(slow);
    good();
    let most = status_of(&server, "VmHWM:");
    assert!(most < 400 << 10, "it took {most} KiB");
    assert_eq!(server.stop("TERM"), Some(0));
}

/// A stream of which the first events have come.
fn begun(server: &Server, more: Value) -> BufReader<TcpStream> {
    let body = chat(more).to_string();
    let mut stream = connect(server);
    let head = format!(
        "POST /v1/chat/completions HTTP/1.0\r\n{JSON}content-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).expect("it listens");
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    while !line.contains("\"content\":\"") || line.contains("\"content\":\"\"") {
        line.clear();
        assert_ne!(stream.read_line(&mut line).expect("it goes on"), 0, "it ended");
    }
    stream
}

#[test]
fn what_is_too_much_is_told_to_come_again_and_who_leaves_makes_room() {
    let home = tempfile::tempdir().expect("a folder");
    endless(&home.path().join("tiny"));
    // Takes minutes to the end.
    let long = json!({"stream": true, "n": 8, "max_tokens": 16000});
    let refused = |answer: &str, due: u16, code: &str| {
        let (status, body) = parts(answer);
        assert_eq!((status, &body["error"]["code"]), (due, &json!(code)), "{answer}");
        assert!(answer.contains("retry-after: 1\r\n"), "{answer}");
    };
    let small =
        request("POST", "/v1/chat/completions", JSON, &chat(json!({"max_tokens": 1})).to_string());

    let server = Server::start(home.path(), "tiny", &["--queue", "1", "--slots", "2"]);
    let held = begun(&server, long.clone());
    refused(&raw(&server, small.as_bytes()), 429, "rate_limit_exceeded");
    assert_eq!(ask(&server, "GET", "/v1/models", "").0, 200, "nothing is drawn for this");
    drop(held);
    let answered = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        parts(&raw(&server, small.as_bytes())).0 == 200
    });
    assert!(answered, "nobody waits for the long answer, and it is still drawn");

    let server = Server::start(home.path(), "tiny", &["--max-connections", "1"]);
    let held = begun(&server, long.clone());
    refused(&raw(&server, small.as_bytes()), 503, "overloaded");
    drop(held);

    let server = Server::start(home.path(), "tiny", &["--timeout", "500ms"]);
    let (status, answer) = ask_chat(&server, json!({"n": 8, "max_tokens": 16000}));
    assert_eq!((status, &answer["error"]["code"]), (504, &json!("timeout")), "{answer}");
    let server = Server::start(home.path(), "tiny", &["--read-timeout", "500ms"]);
    let (status, answer) = parts(&raw(&server, &small.as_bytes()[..small.len() - 3]));
    assert_eq!((status, &answer["error"]["code"]), (408, &json!("request_timeout")), "{answer}");
}

#[test]
fn a_signal_lets_an_answer_come_to_its_end() {
    let home = tempfile::tempdir().expect("a folder");
    endless(&home.path().join("tiny"));
    for signal in ["INT", "TERM"] {
        let server = Server::start(home.path(), "tiny", &["--grace", "10m"]);
        let idle = connect(&server);
        let mut stream = begun(&server, json!({"stream": true, "max_tokens": 2000}));
        let reader = std::thread::spawn(move || {
            let mut rest = String::new();
            stream.read_to_string(&mut rest).expect("the rest");
            rest
        });
        assert_eq!(server.stop(signal), Some(0));
        let rest = reader.join().expect("a thread");
        assert!(rest.ends_with("data: [DONE]\n\n"), "{rest}");
        drop(idle);
    }
    // Who does not want to wait for it says so.
    let server = Server::start(home.path(), "tiny", &["--grace", "0s"]);
    let held = begun(&server, json!({"stream": true, "n": 8, "max_tokens": 16000}));
    assert_eq!(server.stop("INT"), Some(0));
    drop(held);
}
