//! How published suites build and launch their kernels: which macros their host programs define, which sizes and values
//! they pass, as facts of ours.
//!
//! A suite is a file of `suites/`. What is found in a package's build files and host programs says the same where a value
//! is written there; a value that the host computes is not found, and `prepare` would assume one.

use serde::Deserialize;
use std::sync::LazyLock;

/// What a suite's host programs define and pass.
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
    /// Its kernels of which is known what they are launched with.
    #[serde(default, rename = "kernel")]
    pub kernels: Vec<Launch>,
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

/// What a host program launches a kernel with, on the input that its suite runs it on by default. Of several launches: the
/// first of those with the most work-items.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// How the path of its program ends; one `*` stands for any name.
    pub path: String,
    /// The kernel's name there.
    pub name: String,
    /// The files that were read, from the suite's folder on.
    pub host: Vec<String>,
    /// Work-items along each dimension.
    pub global: Vec<u64>,
    /// The same of a group; empty where the host leaves it to the driver or asks the device.
    #[serde(default)]
    pub local: Vec<u64>,
    /// In order.
    pub arguments: Vec<LaunchArgument>,
}

/// An argument of a launch. With neither `elements` nor `value` it depends on what no host program says: contents of a
/// file, or what a kernel before has computed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchArgument {
    /// Its name in the kernel.
    pub name: String,
    /// Elements of a buffer, or of local memory.
    pub elements: Option<u64>,
    /// Its value, where it is a number.
    pub value: Option<f64>,
    /// Numbers in a buffer are indices below this.
    pub below: Option<u64>,
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

    /// What the kernel of this name in the program at `path` is launched with; `None` for one that is not described.
    #[must_use]
    pub fn launch(&self, path: &str, name: &str) -> Option<&Launch> {
        self.kernels.iter().find(|kernel| kernel.name == name && ends_with(path, &kernel.path))
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
    use std::collections::BTreeSet;

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
    fn every_described_kernel_is_one_and_its_sizes_are_some() {
        for suite in Suite::names() {
            let kernels = &Suite::of(suite).expect("it is there").kernels;
            let mut seen = BTreeSet::new();
            for kernel in kernels {
                let Launch { path, name, host, global, local, arguments } = kernel;
                assert!(seen.insert((path, name)), "{suite}: {path} {name} twice");
                assert!(!host.is_empty() && (1..=3).contains(&global.len()), "{path} {name}");
                assert!(local.is_empty() || local.len() == global.len(), "{path} {name}");
                assert!(global.iter().all(|side| *side > 0), "{path} {name}");
                let divides = |(side, group): (&u64, &u64)| side.is_multiple_of(*group);
                assert!(global.iter().zip(local).all(divides), "{path} {name}");
                let names: BTreeSet<&str> = arguments.iter().map(|one| one.name.as_str()).collect();
                assert_eq!(names.len(), arguments.len(), "{path} {name}");
                for one in arguments {
                    let about = format!("{path} {name} {}", one.name);
                    assert!(one.elements.is_none() || one.value.is_none(), "{about}");
                    assert!(one.elements != Some(0) && one.below != Some(0), "{about}");
                    assert!(one.below.is_none() || one.elements.is_some(), "{about}");
                }
            }
        }
    }

    #[test]
    fn a_kernel_is_known_by_its_path_and_name() {
        let rodinia = Suite::of("rodinia").expect("it is there");
        let launch = rodinia.launch("opencl/nw/nw.cl", "nw_kernel2").expect("it is described");
        assert_eq!((&launch.global, &launch.local), (&vec![8176, 1], &vec![16, 1]));
        assert_eq!(launch.arguments[5].value, Some(8193.0));
        assert!(rodinia.launch("opencl/nw/nw.cl", "nw_kernel3").is_none());
        assert!(rodinia.launch("opencl/other.cl", "nw_kernel2").is_none());
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
