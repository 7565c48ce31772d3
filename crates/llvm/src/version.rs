use std::fmt;

/// A version of LLVM; what is not known of it is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version {
    /// For example 19.
    pub major: u32,
    /// For example 1.
    pub minor: u32,
    /// For example 7.
    pub patch: u32,
}

impl Version {
    /// The LLVM of the clang that is linked into our worker.
    pub const OF_CLANG: Version = Version { major: 19, minor: 0, patch: 0 };
}

impl Version {
    /// The first version in `text`: digits that begin it or follow a letter, a dash or a dot, with
    /// up to two more dotted numbers. `libLLVM.so.22.1-rust-1.95.0-stable` gives 22.1.0,
    /// `LLVM19.1.7` gives 19.1.7.
    #[must_use]
    pub fn find(text: &str) -> Option<Version> {
        let start = text.find(|c: char| c.is_ascii_digit())?;
        let digits = text[start..].split(|c: char| !c.is_ascii_digit() && c != '.').next()?;
        let mut numbers = digits.split('.').map_while(|number| number.parse().ok());
        Some(Version {
            major: numbers.next()?,
            minor: numbers.next().unwrap_or(0),
            patch: numbers.next().unwrap_or(0),
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_versions_in_file_names_and_producer_strings() {
        let found = |text| Version::find(text).map(|version| version.to_string());
        assert_eq!(found("libLLVM.so.22.1-rust-1.95.0-stable").as_deref(), Some("22.1.0"));
        assert_eq!(found("libLLVM-14.0.6.so.1").as_deref(), Some("14.0.6"));
        assert_eq!(found("libLLVM-15.so.1").as_deref(), Some("15.0.0"));
        assert_eq!(found("LLVM19.1.7").as_deref(), Some("19.1.7"));
        assert_eq!(found("libLLVM.so"), None);
    }
}
