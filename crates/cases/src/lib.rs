//! Cases of tests as files: what comes of each file of a folder stands beside it, or in the file itself.
//!
//! ```
//! let folder = std::env::temp_dir().join(format!("cases-{}", std::process::id()));
//! std::fs::create_dir_all(&folder)?;
//! std::fs::write(folder.join("one.txt"), "one")?;
//! std::fs::write(folder.join("one.out"), "ONE")?;
//! stampmill_cases::beside(&folder, |_, text| text.to_uppercase());
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), std::io::Error>(())
//! ```

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The ending of what stands beside a case.
const OUT: &str = "out";

/// Every file of `folder` is a case, and `run`, given its path and text, makes what stands in `NAME.out` beside it.
/// With `BLESS=1` in the environment those are written anew.
///
/// # Panics
/// When there is no case, or any of them gives something else: all are named, with what was found.
pub fn beside(folder: impl AsRef<Path>, run: impl FnMut(&Path, &str) -> String) {
    check(folder.as_ref(), |case| case.with_extension(OUT), run);
}

/// The same, but `run` makes the case's own text, with what it found in its place.
///
/// # Panics
/// As [`beside`].
pub fn inside(folder: impl AsRef<Path>, run: impl FnMut(&Path, &str) -> String) {
    check(folder.as_ref(), Path::to_owned, run);
}

fn check(
    folder: &Path,
    expected: impl Fn(&Path) -> PathBuf,
    mut run: impl FnMut(&Path, &str) -> String,
) {
    let read = |path: &Path| {
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut cases: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    cases.retain(|path| path.is_file() && path.extension().is_some_and(|ending| ending != OUT));
    cases.sort();
    assert!(!cases.is_empty(), "no case in {}", folder.display());
    let mut wrong = String::new();
    for case in cases {
        let (found, expected) = (run(&case, &read(&case)), expected(&case));
        if std::env::var_os("BLESS").is_some() {
            fs::write(&expected, &found)
                .unwrap_or_else(|error| panic!("{}: {error}", expected.display()));
        } else if !expected.is_file() || read(&expected) != found {
            let at = expected.display();
            wrong += &format!("== {at} is not what was found (BLESS=1 writes it):\n{found}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
