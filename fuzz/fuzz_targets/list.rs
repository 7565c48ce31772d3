//! Whatever a list of sources holds, reading it ends with sources or with what is wrong.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    let _ = mine::read_list(text);
});
