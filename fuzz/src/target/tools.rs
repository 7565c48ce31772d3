//! What cachegrind and gem5 say, with what a program under study adds.

pub fn run(data: &[u8]) {
    let Some(text) = crate::input::text(data) else { return };
    let _ = timing::fuzz::tool_said(text);
}
