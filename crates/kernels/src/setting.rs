use crate::Status;
use clang::{Language, Options, Triple};

/// Standards tried in turn: the one most kernels are published for, the older one without the
/// generic address space, the newer ones.
pub(crate) const STANDARDS: [&str; 4] = ["CL2.0", "CL1.2", "CL3.0", "CL1.1"];

/// The target of preparation: the only one of clang's that has every extension on.
const TRIPLE: Triple = Triple::Spir64;

/// Name of the virtual header that holds definitions a content file lacks.
const PRELUDE: &str = "stampmill-prelude.h";

/// Diagnostics asked for: enough that one round of repair sees every missing name.
const DIAGNOSTICS: u32 = 200;

/// How a content file is read: what repair has come to so far.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    /// `-cl-std`.
    pub(crate) standard: &'static str,
    /// `-D` arguments without the `-D`.
    pub(crate) defines: Vec<String>,
    /// Definitions put before the source, one each.
    pub(crate) prelude: Vec<String>,
    /// Headers that are missing, given as empty ones.
    pub(crate) empty_headers: Vec<String>,
    /// The most that was done.
    pub(crate) status: Status,
    /// What was done, for the row.
    pub(crate) inferred: Vec<String>,
}

impl Setting {
    /// The content file as it is, with its package's `-D` options of known value.
    pub(crate) fn plain(defines: &[String]) -> Setting {
        let known = defines.iter().map(|define| define.strip_prefix("-D").unwrap_or(define).trim());
        let known = known.filter(|define| !define.is_empty() && !define.ends_with("=?"));
        Setting {
            standard: STANDARDS[0],
            defines: known.map(str::to_owned).collect(),
            prelude: Vec::new(),
            empty_headers: Vec::new(),
            status: Status::Plain,
            inferred: Vec::new(),
        }
    }

    /// What clang is told for the content file itself.
    pub(crate) fn options(&self) -> Options {
        let mut headers: Vec<(String, String)> =
            self.empty_headers.iter().map(|name| (name.clone(), String::new())).collect();
        let mut prelude = Vec::new();
        if !self.prelude.is_empty() {
            headers.push((PRELUDE.to_owned(), self.prelude.join("\n") + "\n"));
            prelude.push(PRELUDE.to_owned());
        }
        Options { defines: self.defines.clone(), headers, prelude, ..alone(self.standard) }
    }
}

/// What clang is told for text that stands alone.
pub(crate) fn alone(standard: &str) -> Options {
    Options {
        language: Language::OpenCl,
        standard: standard.to_owned(),
        triple: TRIPLE,
        optimisation: 0,
        front_end: false,
        effect: false,
        defines: Vec::new(),
        headers: Vec::new(),
        prelude: Vec::new(),
        diagnostics: DIAGNOSTICS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_known_value_are_kept() {
        let given = ["-DN=4", "-D M = 2", " K ", "-DUNKNOWN=?", "-D", ""].map(str::to_owned);
        let setting = Setting::plain(&given);
        assert_eq!(setting.defines, ["N=4", "M = 2", "K"]);
        assert_eq!((setting.status, setting.standard), (Status::Plain, STANDARDS[0]));
        assert!(setting.prelude.is_empty() && setting.inferred.is_empty());
    }

    #[test]
    fn what_repair_came_to_is_what_clang_is_told() {
        let plain = Setting::plain(&["-DN=4".to_owned()]);
        let options = plain.options();
        assert_eq!(
            (options.defines, options.headers.len(), options.prelude.len()),
            (vec!["N=4".to_owned()], 0, 0)
        );
        let texts = |all: &[&str]| all.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let repaired = Setting {
            standard: "CL1.2",
            prelude: texts(&["int a;", "int b;"]),
            empty_headers: texts(&["x.h"]),
            ..plain
        };
        let options = repaired.options();
        let pair = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        assert_eq!(options.headers, [pair("x.h", ""), pair(PRELUDE, "int a;\nint b;\n")]);
        assert_eq!((options.prelude, options.standard), (texts(&[PRELUDE]), "CL1.2".to_owned()));
        assert_eq!(
            (options.triple, options.optimisation, options.diagnostics),
            (TRIPLE, 0, DIAGNOSTICS)
        );
    }
}
