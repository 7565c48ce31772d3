//! A body, asked for at the address that the first byte names, is answered as OpenAI's servers do.

use serde_json::Value;

const ADDRESSES: [&str; 3] = ["chat/completions", "completions", "embeddings"];

pub fn run(data: &[u8]) {
    let Some((first, body)) = data.split_first() else { return };
    let address = ADDRESSES[usize::from(*first) % ADDRESSES.len()];
    let head = format!(
        "POST /v1/{address} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let answer = super::http::answer(&[head.as_bytes(), body].concat());
    let answer = std::str::from_utf8(&answer).expect("text");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    let status = head.strip_prefix("HTTP/1.1 ").expect("HTTP").get(..3).expect("a status");
    match status {
        "200" if head.contains("text/event-stream") => {}
        "200" => assert!(!serde_json::from_str::<Value>(body).expect("JSON")["object"].is_null()),
        // There is no model behind it that draws: 503.
        "400" | "404" | "413" | "503" => {
            let said: Value = serde_json::from_str(body).expect("JSON");
            assert!(said["error"]["message"].is_string(), "{body}");
        }
        _ => panic!("{head}"),
    }
}
