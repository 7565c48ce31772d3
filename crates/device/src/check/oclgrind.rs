use crate::{Finding, Outcome};
use std::path::{Path, PathBuf};

/// Oclgrind: an OpenCL device that interprets kernels and watches every access (Debian's package
/// `oclgrind`). It is no driver with an ICD of its own here but stands in for the whole of OpenCL
/// in a worker that is told to load it.
#[derive(Clone, Debug)]
pub(crate) struct Oclgrind {
    library: PathBuf,
    /// Whether to look for values that nobody has written as well.
    uninitialised: bool,
}

const LIBRARIES: [&str; 3] = [
    "/usr/lib/oclgrind/liboclgrind-rt.so",
    "/usr/lib/x86_64-linux-gnu/oclgrind/liboclgrind-rt.so",
    "/usr/local/lib/oclgrind/liboclgrind-rt.so",
];

/// Where the loader of OpenCL looks first.
const LOADER_VARIABLE: &str = "OPENCL_DYLIB_PATH";
/// Findings of one execution that are written to the log; the first decides.
const MOST_ERRORS: &str = "4";

impl Oclgrind {
    /// Find it on this machine; `uninitialised`: it shall also look for results that depend on
    /// memory nobody has written, at several times the cost.
    pub(crate) fn find(uninitialised: bool) -> Option<Oclgrind> {
        let library = LIBRARIES.iter().map(PathBuf::from).find(|path| path.is_file())?;
        Some(Oclgrind { library, uninitialised })
    }

    /// What a worker's environment needs to run under it, with its log in `log`.
    pub(crate) fn environment(&self, log: &Path) -> Vec<(&'static str, String)> {
        let mut variables = vec![
            (LOADER_VARIABLE, self.library.display().to_string()),
            ("OCLGRIND_LOG", log.display().to_string()),
            ("OCLGRIND_DATA_RACES", "1".to_owned()),
            ("OCLGRIND_MAX_ERRORS", MOST_ERRORS.to_owned()),
        ];
        if self.uninitialised {
            variables.push(("OCLGRIND_UNINITIALIZED", "1".to_owned()));
        }
        variables
    }
}

/// What Oclgrind's log says of a kernel; `None`: nothing bad.
pub(crate) fn read_log(log: &str) -> Option<Finding> {
    let mut lines = log.lines().map(str::trim);
    let race = |line: &str| line.contains("data race");
    let outside = |line: &str| {
        ["Invalid read", "Invalid write", "Invalid argument"]
            .iter()
            .any(|hint| line.starts_with(hint))
            || line.contains("out of bounds")
    };
    let unwritten = |line: &str| line.to_lowercase().contains("uninitialized");
    let found = lines.find(|line| race(line) || outside(line) || unwritten(line))?;
    let place = lines.find(|line| line.starts_with("At line")).unwrap_or_default();
    let outcome = if race(found) {
        Outcome::Race
    } else if unwritten(found) {
        Outcome::NonDeterministic
    } else {
        Outcome::OutOfBounds
    };
    Some(Finding::new(outcome, format!("Oclgrind: {found} {place}").trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_finding_of_a_log_decides() {
        let log = "\nInvalid write of size 4 at global memory address 0x1000000000010\n\
            \tKernel: A\n\tAt line 3 of input.cl:\n\t  a[i] = 1;\n\n\
            Write-write data race at global memory address 0x1\n";
        let finding = read_log(log).expect("a finding");
        assert_eq!(finding.outcome, Outcome::OutOfBounds);
        assert!(finding.detail.contains("line 3"), "{}", finding.detail);
        assert_eq!(
            read_log("Read-write data race at local memory").map(|finding| finding.outcome),
            Some(Outcome::Race)
        );
        assert_eq!(
            read_log("Uninitialized value read from global memory address 0x1")
                .map(|finding| finding.outcome),
            Some(Outcome::NonDeterministic)
        );
        assert_eq!(read_log("all is well"), None);
    }
}
