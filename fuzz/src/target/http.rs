//! Bytes on a connection are answered by HTTP or by nothing.

use serve::fuzz::Subject;
use std::cell::OnceCell;

#[path = "../../../crates/cli/tests/served/llama.rs"]
mod llama;

thread_local! {
    static SUBJECT: OnceCell<Subject> = const { OnceCell::new() };
}

/// What the server answers to these bytes.
pub fn answer(asked: &[u8]) -> Vec<u8> {
    SUBJECT.with(|subject| {
        let load = || {
            let folder = crate::input::folder().join("llama");
            llama::llama(&folder, &["int main return void kernel".to_owned()]);
            let subject = Subject::load(&folder).expect("a checkpoint");
            std::fs::remove_dir_all(&folder).expect("it is loaded");
            subject
        };
        subject.get_or_init(load).answer(asked)
    })
}

pub fn run(data: &[u8]) {
    let answer = answer(data);
    assert!(answer.is_empty() || answer.starts_with(b"HTTP/1."), "{}", answer.escape_ascii());
    assert!(!answer.starts_with(b"HTTP/1.1 500"), "{}", answer.escape_ascii());
}
