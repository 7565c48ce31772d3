//! Whatever a host program holds, extracting its string literals ends and never panics.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    mine::extract_all(text);
});
