use crate::Result;
use host::Helper;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The stages that run on a cluster, with the tools whose versions shape their rows.
pub const STAGES: [(&str, &[&str]); 10] = [
    ("prepare", &["clang"]),
    ("features", &["clang", "llvm"]),
    ("run", &["opencl"]),
    ("time", &["g++", "qemu"]),
    ("ir extract", &["llvm"]),
    ("ir dedup", &[]),
    ("ir stats", &["llvm"]),
    ("edits judge", &["g++", "qemu"]),
    ("sample", &["clang"]),
    ("steer", &["clang", "llvm"]),
];

/// The tools that a stage needs; `None`: it does not run on a cluster.
#[must_use]
pub fn tools_of(stage: &str) -> Option<&'static [&'static str]> {
    STAGES.iter().find(|(name, _)| *name == stage).map(|(_, tools)| *tools)
}

/// What a machine works with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// Version of Stampmill.
    pub version: String,
    /// Content hash of its programs: rows are made by one build.
    pub build: String,
    /// Versions of the tools that are here, by name.
    pub tools: BTreeMap<String, String>,
}

impl About {
    /// Of this program, its helper binaries and these tools.
    ///
    /// # Errors
    /// When a program cannot be read.
    pub fn here(tools: BTreeMap<String, String>) -> Result<About> {
        let own = std::env::current_exe().map_err(crate::error::machine("find this program"))?;
        let helpers = Helper::ALL.iter().filter_map(|helper| helper.find().ok());
        let mut hashes = Vec::new();
        for program in std::iter::once(own).chain(helpers) {
            let action = format!("read {}", program.display());
            let hashed = dataset::content_hash_of_file(&program);
            hashes.push(hashed.map_err(crate::error::machine(&action))?.1);
        }
        let build = dataset::content_hash_of(hashes.iter().map(String::as_bytes));
        Ok(About { version: env!("CARGO_PKG_VERSION").to_owned(), build, tools })
    }

    /// How another machine differs in what shapes the rows of a stage with these tools, one thing a line; this
    /// one's first.
    #[must_use]
    pub fn differences(&self, other: &About, tools: &[&str]) -> Vec<String> {
        if self.version != other.version {
            return vec![format!("stampmill: {} here, {} there", self.version, other.version)];
        }
        let mut differences = Vec::new();
        if self.build != other.build {
            let short = |build: &str| build.chars().take(8).collect::<String>();
            let (here, there) = (short(&self.build), short(&other.build));
            differences.push(format!("build of stampmill: {here} here, {there} there"));
        }
        for tool in tools {
            let of = |about: &About| about.tools.get(*tool).cloned();
            let (here, there) = (of(self), of(other));
            if here != there {
                let told = |version: Option<String>| version.unwrap_or_else(|| "none".to_owned());
                differences.push(format!("{tool}: {} here, {} there", told(here), told(there)));
            }
        }
        differences
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(version: &str, build: &str, tools: &[(&str, &str)]) -> About {
        let tools = tools.iter().map(|(name, version)| ((*name).into(), (*version).into()));
        About { version: version.into(), build: build.into(), tools: tools.collect() }
    }

    #[test]
    fn what_shapes_rows_is_compared_and_nothing_else() {
        let here = about("1", "a", &[("clang", "19"), ("g++", "12")]);
        let needs = ["clang"];
        assert!(here.differences(&about("1", "a", &[("clang", "19")]), &needs).is_empty());
        let of = |other: &About| here.differences(other, &needs).join("; ");
        assert_eq!(of(&about("2", "b", &[])), "stampmill: 1 here, 2 there");
        let both = of(&about("1", "b", &[("clang", "18")]));
        assert_eq!(both, "build of stampmill: a here, b there; clang: 19 here, 18 there");
        assert_eq!(of(&about("1", "a", &[])), "clang: 19 here, none there");
    }

    #[test]
    fn stages_that_are_not_listed_do_not_run_there() {
        assert!(tools_of("features").is_some() && tools_of("mine").is_none());
    }
}
