//! `stampmill-objects`: gets and puts objects of S3 stores, the only user of `object_store`'s clients.
//!
//! `stampmill` starts it. Each line of its standard input is a [`Request`](protocol::Request) in JSON, and for each it prints one
//! [`Answer`](protocol::Answer); where that input ends, it ends. Where the store is and who asks comes from the usual variables
//! (`AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT_URL`, ...). None of them is ever part of an answer.

mod failure;
mod files;
#[expect(unreachable_pub, reason = "the client's crate has it, too")]
#[path = "../../../crates/objects/src/protocol.rs"]
mod protocol;
mod store;

use protocol::{Answer, Request};
use std::{
    io::{BufRead, Write},
    process::ExitCode,
};
use store::Stores;

fn main() -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("stampmill-objects: cannot start: {error}");
            return ExitCode::from(2);
        }
    };
    let (send, requests) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                return;
            }
        }
        // Nobody hears what is done from now on.
        std::process::exit(0);
    });
    let mut stores = Stores::default();
    for line in requests {
        let answer = match serde_json::from_str::<Request>(&line) {
            Ok(request) => runtime.block_on(stores.answer(&request)),
            Err(error) => Answer::Failed(format!("{error}: `stampmill` starts this program")),
        };
        let Ok(text) = serde_json::to_string(&answer) else { return ExitCode::from(2) };
        let mut out = std::io::stdout().lock();
        if writeln!(out, "{text}").and_then(|()| out.flush()).is_err() {
            break;
        }
    }
    ExitCode::SUCCESS
}
