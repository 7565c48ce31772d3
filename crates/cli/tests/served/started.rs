use serde_json::Value;
use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

/// Start a server that says where it listens in one line of JSON: its process, and its URL.
pub(crate) fn started(mut command: Command) -> (Child, String) {
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut line = String::new();
    let out = child.stdout.as_mut().expect("its output");
    BufReader::new(out).read_line(&mut line).expect("a line");
    let said: Value = serde_json::from_str(&line).expect("JSON");
    (child, said["url"].as_str().expect("an address").to_owned())
}
