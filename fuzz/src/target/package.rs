//! A package of files becomes content files: includes, compiler options, strings, licenses.
//!
//! `=== PATH` begins a file.

use dataset::Language;

pub fn run(data: &[u8]) {
    let Some(text) = crate::input::text(data) else { return };
    let files: Vec<(&str, &[u8])> = text
        .split("=== ")
        .filter_map(|file| file.split_once('\n'))
        .map(|(path, content)| (path, content.as_bytes()))
        .collect();
    for language in [Language::OpenCl, Language::C] {
        for row in mine::fuzz::package(&files, language) {
            assert!(!row.verdict.is_empty());
            let inside = row.path.is_empty() || mine::fuzz::is_path(&row.path);
            assert!(inside || row.verdict != "accepted", "{:?}", row.path);
        }
    }
}
