//! Whatever `dataset.json` holds, opening the data set ends with it or with an error.
#![no_main]

libfuzzer_sys::fuzz_target!(|content: &[u8]| {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    std::fs::write(folder.path().join("dataset.json"), content).expect("it can be written to");
    let _ = dataset::Dataset::open(folder.path());
});
