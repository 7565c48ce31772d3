//! How programs of each language are compiled for their features.

use clang::{Language, Options, Triple};

/// How sources of each language are compiled: configurations tried in order until clang accepts one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileConfigs {
    /// For OpenCL C.
    pub opencl: Vec<Options>,
    /// For C.
    pub c: Vec<Options>,
    /// For C++.
    pub cxx: Vec<Options>,
    /// For CUDA C++: its device code.
    pub cuda: Vec<Options>,
}

/// Name of the virtual header a shim becomes.
const SHIM: &str = "shim.h";
/// Name of the virtual header that makes clang as lenient as it was.
const OLD: &str = "old.h";
/// Groups of warnings that have become errors since clang 3.9.
const ONCE_WARNINGS: [&str; 5] = [
    "int-conversion",
    "implicit-int",
    "incompatible-function-pointer-types",
    "return-type",
    "return-mismatch",
];

impl CompileConfigs {
    /// As the published values were made: OpenCL C 2.0, else 1.2, and with `shim` included before
    /// the source where neither is enough, for `nvptx64-nvidia-nvcl` at -O1; C17 and C++17 for
    /// this machine at -O1.
    #[must_use]
    pub fn published(shim: Option<&str>) -> CompileConfigs {
        let plain = ["CL2.0", "CL1.2"].map(|standard| Options {
            standard: standard.to_owned(),
            triple: Triple::Nvptx64,
            optimisation: 1,
            ..Options::opencl()
        });
        let mut opencl = plain.to_vec();
        if let Some(shim) = shim {
            opencl.extend(plain.into_iter().map(|options| Options {
                headers: vec![(SHIM.to_owned(), shim.to_owned())],
                prelude: vec![SHIM.to_owned()],
                ..options
            }));
        }
        let host = |language, standard: &str| {
            let standard = standard.to_owned();
            let triple = Triple::Host;
            vec![Options { language, standard, triple, optimisation: 1, ..Options::opencl() }]
        };
        let cuda = vec![Options { optimisation: 1, ..Options::cuda() }];
        let (c, cxx) = (host(Language::C, "c17"), host(Language::Cxx, "c++17"));
        CompileConfigs { opencl, c, cxx, cuda }
    }

    /// For manifests: for each language, in the order in which they are tried, clang's options, as [`flags`] spells them.
    #[must_use]
    pub fn settings(&self) -> serde_json::Value {
        let all = |configs: &[Options]| configs.iter().map(flags).collect::<Vec<String>>();
        let (opencl, c, cxx) = (all(&self.opencl), all(&self.c), all(&self.cxx));
        serde_json::json!({ "opencl": opencl, "c": c, "cxx": cxx, "cuda": all(&self.cuda) })
    }

    /// Compile everything at another level (0 to 3) than -O1.
    #[must_use]
    pub fn at_level(mut self, level: u8) -> CompileConfigs {
        let native = self.c.iter_mut().chain(&mut self.cxx);
        for config in self.opencl.iter_mut().chain(native).chain(&mut self.cuda) {
            config.optimisation = level;
        }
        self
    }

    /// How to parse, not compile, what none of these accepts: as a compiler of 2016 did (what was a
    /// warning to clang 3.9 is one again), then for a target that has every extension, since a syntax tree
    /// does not depend on what the NVIDIA target lacks.
    pub(crate) fn of_tree(&self, language: dataset::Language) -> Vec<Options> {
        let configs = match language {
            dataset::Language::OpenCl => self.of(language),
            _ => &[],
        };
        let old = configs.first().map(|first| {
            let mut config = first.clone();
            let pragmas = ONCE_WARNINGS
                .map(|name| format!("#pragma clang diagnostic warning \"-W{name}\"\n"));
            config.headers.push((OLD.to_owned(), pragmas.concat()));
            config.prelude.insert(0, OLD.to_owned());
            config
        });
        let elsewhere =
            configs.iter().map(|config| Options { triple: Triple::Spir64, ..config.clone() });
        old.into_iter().chain(elsewhere).collect()
    }

    pub(crate) fn of(&self, language: dataset::Language) -> &[Options] {
        match language {
            dataset::Language::OpenCl => &self.opencl,
            dataset::Language::C => &self.c,
            dataset::Language::Cxx => &self.cxx,
            dataset::Language::Cuda => &self.cuda,
            // None of them is for clang.
            dataset::Language::Rust | dataset::Language::LlvmIr | dataset::Language::Bitcode => &[],
        }
    }
}

/// The options as a command line of clang has them; a virtual header by its name and the hash of its text.
#[must_use]
pub fn flags(options: &Options) -> String {
    let Options { language, standard, triple, optimisation, defines, headers, prelude, .. } =
        options;
    let (language, standard_flag) = match language {
        Language::OpenCl => ("cl", "-cl-std"),
        Language::C => ("c", "-std"),
        Language::Cxx => ("c++", "-std"),
        Language::Cuda => ("cuda --cuda-device-only -nocudainc -nocudalib", "-std"),
    };
    let mut all = vec![format!("-x {language} {standard_flag}={standard}")];
    all.extend(match triple {
        Triple::Nvptx64 => Some("--target=nvptx64-nvidia-nvcl".to_owned()),
        Triple::Spir64 => Some("--target=spir64-unknown-unknown".to_owned()),
        Triple::Host => None,
    });
    all.push(format!("-O{optimisation}"));
    if options.front_end {
        all.push("-Xclang -disable-llvm-passes".to_owned());
    }
    all.extend(defines.iter().map(|define| format!("-D{define}")));
    all.extend(prelude.iter().map(|name| format!("-include {name}")));
    let text = |text: &str| dataset::content_hash(text.as_bytes());
    all.extend(headers.iter().map(|(name, of)| format!("({name}: {:.16})", text(of))));
    all.join(" ")
}

impl Default for CompileConfigs {
    fn default() -> CompileConfigs {
        CompileConfigs::published(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_options_of_clang() {
        let configs = CompileConfigs::published(Some("typedef int T;"));
        let settings = configs.settings();
        let first = settings["opencl"][0].as_str();
        assert_eq!(first, Some("-x cl -cl-std=CL2.0 --target=nvptx64-nvidia-nvcl -O1"));
        let third = settings["opencl"][2].as_str().unwrap_or_default();
        let hash = dataset::content_hash(b"typedef int T;");
        assert!(
            third.ends_with(&format!(" -O1 -include shim.h (shim.h: {})", &hash[..16])),
            "{third}"
        );
        assert_eq!(settings["c"][0].as_str(), Some("-x c -std=c17 -O1"));
        let other = CompileConfigs::published(Some("typedef char T;")).settings();
        assert_ne!(settings["opencl"][3], other["opencl"][3]);
    }

    #[test]
    fn opencl_is_tried_by_two_standards_and_with_the_shim_again() {
        let standards = |configs: &CompileConfigs| {
            configs.opencl.iter().map(|one| one.standard.clone()).collect::<Vec<_>>()
        };
        let plain = CompileConfigs::published(None);
        assert_eq!(standards(&plain), ["CL2.0", "CL1.2"]);
        assert!(plain.opencl.iter().all(|one| one.prelude.is_empty()));
        let all = CompileConfigs::published(Some("int a;"));
        assert_eq!(standards(&all), ["CL2.0", "CL1.2", "CL2.0", "CL1.2"]);
        assert_eq!(all.opencl[..2], plain.opencl);
        for config in &all.opencl[2..] {
            assert_eq!(config.headers, [(SHIM.to_owned(), "int a;".to_owned())]);
            assert_eq!(config.prelude, [SHIM]);
        }
        for config in &all.opencl {
            assert_eq!((config.triple, config.optimisation), (Triple::Nvptx64, 1));
        }
        let (c, cxx) = (&all.of(dataset::Language::C)[0], &all.of(dataset::Language::Cxx)[0]);
        assert_eq!((c.standard.as_str(), cxx.standard.as_str()), ("c17", "c++17"));
        assert_eq!((c.triple, c.optimisation), (Triple::Host, 1));
        assert!(all.of(dataset::Language::LlvmIr).is_empty());
    }

    #[test]
    fn a_level_is_that_of_every_language() {
        let configs = CompileConfigs::published(Some("")).at_level(3);
        let all = configs.opencl.iter().chain(&configs.c).chain(&configs.cxx);
        assert_eq!(all.map(|one| one.optimisation).collect::<Vec<_>>(), [3; 6]);
    }

    #[test]
    fn trees_are_asked_of_an_old_compiler_and_then_of_another_target() {
        let configs = CompileConfigs::published(None);
        let trees = configs.of_tree(dataset::Language::OpenCl);
        let targets: Vec<Triple> = trees.iter().map(|one| one.triple).collect();
        assert_eq!(targets, [Triple::Nvptx64, Triple::Spir64, Triple::Spir64]);
        assert_eq!(trees[0].prelude, [OLD]);
        assert!(trees[0].headers[0].1.contains("warning \"-Wimplicit-int\""));
        assert!(trees[1].prelude.is_empty());
        assert_eq!(configs.of_tree(dataset::Language::C), []);
    }
}
