//! Inputs as targets want them.

use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// `data` as text; what is none is no input of most targets.
pub fn text(data: &[u8]) -> Option<&str> {
    std::str::from_utf8(data).ok()
}

/// Give `run` a file of this name that holds `data`.
pub fn file<T>(name: &str, data: &[u8], run: impl FnOnce(&Path) -> T) -> T {
    let path = folder().join(name);
    std::fs::write(&path, data).expect("a file can be written");
    run(&path)
}

/// A folder of this process below `TMPDIR`. Who set that removes it: libFuzzer ends processes as it likes.
pub fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = std::env::temp_dir().join(format!("stampmill-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        folder
    })
}
