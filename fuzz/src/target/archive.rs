//! An archive, of any kind, is read into files whose paths stay inside, or is none.

pub fn run(data: &[u8]) {
    crate::input::file("a", data, |path| {
        for (path, _) in mine::fuzz::archive(path).unwrap_or_default() {
            assert!(mine::fuzz::is_path(&path), "{path:?}");
        }
    });
}
