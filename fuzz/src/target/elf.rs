//! An executable tells where its `main` is.

pub fn run(data: &[u8]) {
    let _ = timing::fuzz::executable(data);
}
