//! How published suites build their kernels: which macros their host programs define, as facts of ours.
//!
//! A suite is a file of `suites/`. What is found in a package's build files and host programs says the same where a value
//! is written there; a value that the host computes is not found, and `prepare` would assume one.

use serde::Deserialize;
use std::sync::LazyLock;

/// What a suite's host programs define.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// Which suite it is, and in which case the macros are these.
    pub about: String,
    /// What was read.
    pub source: String,
    /// Its files that are built with macros.
    #[serde(default, rename = "file")]
    pub files: Vec<Built>,
}

/// A file of kernels.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Built {
    /// How its path ends; one `*` stands for any name.
    pub path: String,
    /// `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
}

const SUITES: [(&str, &str); 7] = [
    ("amd-sdk", include_str!("../suites/amd-sdk.toml")),
    ("npb", include_str!("../suites/npb.toml")),
    ("nvidia-sdk", include_str!("../suites/nvidia-sdk.toml")),
    ("parboil", include_str!("../suites/parboil.toml")),
    ("polybench", include_str!("../suites/polybench.toml")),
    ("rodinia", include_str!("../suites/rodinia.toml")),
    ("shoc", include_str!("../suites/shoc.toml")),
];

static READ: LazyLock<Vec<(&str, Suite)>> = LazyLock::new(|| {
    let read =
        |text: &str| toml::from_str(text).expect("our own files are whole: a test reads them");
    SUITES.iter().map(|(name, text)| (*name, read(text))).collect()
});

impl Suite {
    /// The suite of this name.
    #[must_use]
    pub fn of(name: &str) -> Option<&'static Suite> {
        READ.iter().find(|(known, _)| *known == name).map(|(_, suite)| suite)
    }

    /// The names that there are.
    #[must_use]
    pub fn names() -> [&'static str; 7] {
        SUITES.map(|(name, _)| name)
    }

    /// The options that the file at `path` is built with; `None` for one that is not described.
    #[must_use]
    pub fn options(&self, path: &str) -> Option<Vec<String>> {
        let built = self.files.iter().find(|file| ends_with(path, &file.path))?;
        Some(built.defines.iter().map(|define| format!("-D{define}")).collect())
    }
}

/// Whether a path ends as a pattern with at most one `*`, from the beginning of a name on.
fn ends_with(path: &str, pattern: &str) -> bool {
    let (before, after) = pattern.split_once('*').unwrap_or((pattern, ""));
    let mut begins = path.match_indices('/').map(|(at, _)| at + 1).chain([0]);
    begins.any(|at| {
        let Some(rest) = path[at..].strip_prefix(before) else { return false };
        match pattern.contains('*') {
            true => rest.ends_with(after) && !rest.contains('/'),
            false => rest.is_empty(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_suite_is_read_and_its_macros_are_names() {
        for name in Suite::names() {
            let suite = Suite::of(name).expect("it is there");
            assert!(suite.source.starts_with("https://") && !suite.about.is_empty(), "{name}");
            for define in suite.files.iter().flat_map(|file| &file.defines) {
                let name = define.split('=').next().unwrap_or_default();
                assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'), "{define}");
                assert!(!name.is_empty() && !define.ends_with('='), "{define}");
            }
        }
        assert!(Suite::of("rodinja").is_none());
    }

    #[test]
    fn a_file_is_known_by_how_its_path_ends() {
        let shoc = Suite::of("shoc").expect("it is there");
        let of = |path: &str| shoc.options(path).unwrap_or_default().join(" ");
        assert_eq!(of("level1/md/md.cl"), "-DSINGLE_PRECISION");
        assert_eq!(
            of("shoc/src/opencl/level1/stencil2d/stencil2d.cl"),
            "-DSINGLE_PRECISION -DLROWS=8 -DLCOLS=256"
        );
        assert_eq!(of("src/level2/s3d/ratt.cl"), "-DSINGLE_PRECISION -DDIM=24 -DN_GP=13824");
        for other in ["level2/s3d/a/b.cl", "xlevel1/md/md.cl", "level1/md/md.cl.txt"] {
            assert_eq!(shoc.options(other), None, "{other}");
        }
    }
}
