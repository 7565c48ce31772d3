//! What a command line of clang's, or of gcc's, says of its sources and of what they are compiled for.

use super::{is_cxx, is_gnu};
use std::path::Path;

/// File name endings and the languages they stand for.
const ENDINGS: &[(&str, &str)] = &[
    ("c", "c"),
    ("i", "c"),
    ("cc", "c++"),
    ("cp", "c++"),
    ("cpp", "c++"),
    ("cxx", "c++"),
    ("c++", "c++"),
    ("C", "c++"),
    ("CPP", "c++"),
    ("ii", "c++"),
    ("m", "objective-c"),
    ("mm", "objective-c++"),
    ("cl", "opencl"),
    ("clcpp", "opencl"),
    ("cu", "cuda"),
    ("hip", "hip"),
];

/// What `-x` calls languages.
const FORCED: &[(&str, &str)] = &[
    ("c", "c"),
    ("cpp-output", "c"),
    ("c++", "c++"),
    ("c++-cpp-output", "c++"),
    ("objective-c", "objective-c"),
    ("objective-c++", "objective-c++"),
    ("cl", "opencl"),
    ("clcpp", "opencl"),
    ("cuda", "cuda"),
    ("hip", "hip"),
];

/// Languages that gcc does not have: what it is given of them is no affair of ours.
const OF_CLANG: &[&str] = &["opencl", "cuda", "hip"];

/// Options that take the next word.
const WITH_VALUE: &[&str] = &[
    "-o",
    "-x",
    "-I",
    "-D",
    "-U",
    "-L",
    "-l",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-iwithprefix",
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-Xclang",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-Xarch_host",
    "-Xarch_device",
    "-Xcuda-ptxas",
    "-Xcuda-fatbinary",
    "-Xopenmp-target",
    "-Xoffload-linker",
    "-mllvm",
    "-arch",
    "-target",
    "-isysroot",
    "--sysroot",
    "-T",
    "-u",
    "-z",
    "--param",
    "-framework",
    "-B",
    "-F",
    "-G",
    "-e",
    "-aux-info",
    "-Wl,-soname",
];

/// Options after which nothing is compiled, or not by the driver.
const IDLE: &[&str] = &[
    "-cc1",
    "-cc1as",
    "-E",
    "-M",
    "-MM",
    "-fsyntax-only",
    "-###",
    "--version",
    "-v",
    "-dumpversion",
];

/// Beginnings of options for the list of what was read, and for a list of commands: a second pass writes neither.
const LISTS: &[&str] = &["-MD", "-MMD", "-MP", "-MG", "-MF", "-MT", "-MQ", "-MJ", "-Wp,-M"];

/// Compile for devices, or for the host, alone.
const DEVICE: &str = "--cuda-device-only";
const HOST: &str = "--cuda-host-only";

/// One source of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source {
    /// As the command names it: `-` is standard input.
    pub(super) path: String,
    pub(super) language: &'static str,
    /// What `-x` calls its language, where the command says so.
    pub(super) forced: Option<String>,
}

impl Source {
    pub(super) fn is_input(&self) -> bool {
        self.path == "-"
    }

    /// As compilers name it.
    pub(super) fn name(&self) -> &str {
        if self.is_input() { "<stdin>" } else { &self.path }
    }
}

/// What a source is compiled for, where that is more than one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Variant {
    /// The options that ask for this one alone.
    pub(super) options: Vec<String>,
    /// The architecture, or that it is a device's; empty for what has no other beside it.
    label: String,
}

impl Variant {
    fn new(options: &[&str], label: &str) -> Variant {
        let options = options.iter().map(|option| (*option).to_owned()).collect();
        Variant { options, label: label.to_owned() }
    }

    /// What `object` is called in the row of this one.
    pub(super) fn target(&self, object: &Path) -> String {
        match self.label.as_str() {
            "" => object.to_string_lossy().into_owned(),
            label => format!("{} ({label})", object.display()),
        }
    }
}

/// The one side that is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Host,
    Device,
}

#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) sources: Vec<Source>,
    pub(super) output: Option<String>,
    pub(super) compiles_only: bool,
    /// Whether assembly is asked for, which holds no section of bitcode that could be read back.
    pub(super) assembles: bool,
    pub(super) macros: Vec<String>,
    /// Architectures for which one object is made.
    architectures: Vec<String>,
    /// Architectures of the devices for which code is made besides.
    devices: Vec<String>,
    only: Option<Side>,
    /// Whether OpenMP has regions compiled for devices.
    has_openmp: bool,
    /// The arguments without sources, outputs, what they are compiled for, and inputs of the linker.
    pub(super) plain: Vec<String>,
}

impl Parsed {
    /// Whether a source of this language is compiled for devices and for the host apart.
    fn is_split(&self, language: &str) -> bool {
        matches!(language, "cuda" | "hip") || self.has_openmp && !OF_CLANG.contains(&language)
    }

    /// Whether its bitcode can be had in the same pass, from a section of the object: a device's code has none, and what is made
    /// of OpenCL may be no object.
    pub(super) fn has_section(&self, source: &Source) -> bool {
        source.language != "opencl" && !self.is_split(source.language)
    }

    /// What a source is compiled for: a module each.
    pub(super) fn variants(&self, source: &Source) -> Vec<Variant> {
        let mut all = Vec::new();
        if !self.is_split(source.language) {
            match self.architectures.as_slice() {
                [] => all.push(Variant::new(&[], "")),
                [one] => all.push(Variant::new(&["-arch", one.as_str()], "")),
                names => {
                    all.extend(
                        names.iter().map(|name| Variant::new(&["-arch", name.as_str()], name)),
                    );
                }
            }
            return all;
        }
        if self.only != Some(Side::Host) {
            if self.devices.is_empty() {
                all.push(Variant::new(&[DEVICE], "device"));
            }
            for name in &self.devices {
                let architecture = format!("--offload-arch={name}");
                all.push(Variant::new(&[DEVICE, architecture.as_str()], name));
            }
        }
        if self.only != Some(Side::Device) {
            all.push(Variant::new(&[HOST], ""));
        }
        all
    }

    /// Take in a word about devices; `false` for one about something else.
    fn takes_device(&mut self, word: &str) -> bool {
        let list = |names: [&str; 2]| names.iter().find_map(|name| word.strip_prefix(name));
        if let Some(list) = list(["--offload-arch=", "--cuda-gpu-arch="]) {
            for name in list.split(',').filter(|name| !name.is_empty()) {
                if !self.devices.iter().any(|known| known == name) {
                    self.devices.push(name.to_owned());
                }
            }
            return true;
        }
        if let Some(list) = list(["--no-offload-arch=", "--no-cuda-gpu-arch="]) {
            let is_out = |known: &str| list == "all" || list.split(',').any(|name| name == known);
            self.devices.retain(|known| !is_out(known));
            return true;
        }
        self.only = match word {
            "--offload-host-only" | HOST => Some(Side::Host),
            "--offload-device-only" | DEVICE => Some(Side::Device),
            "--offload-host-device" | "--cuda-compile-host-device" => None,
            // With it a device's code is bitcode anyhow.
            word => return word.starts_with("-foffload-lto"),
        };
        true
    }
}

/// `None` where nothing is compiled.
pub(super) fn parse(arguments: &[String], program: &str) -> Option<Parsed> {
    let (cxx, gnu) = (is_cxx(program), is_gnu(program));
    let mut parsed = Parsed::default();
    let mut forced: Option<String> = None;
    let mut is_openmp = false;
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if IDLE.contains(&word.as_str()) {
            return None;
        }
        if word == "-c" || word == "-S" {
            parsed.compiles_only = true;
            parsed.assembles |= word == "-S";
            continue;
        }
        if WITH_VALUE.contains(&word.as_str()) {
            let value = words.next()?.clone();
            match word.as_str() {
                "-o" => parsed.output = Some(value),
                "-x" => forced = (value != "none").then_some(value),
                "-arch" if parsed.architectures.contains(&value) => {}
                "-arch" => parsed.architectures.push(value),
                "-MF" | "-MT" | "-MQ" | "-MJ" | "-L" | "-l" | "-Xlinker" | "-T" | "-u" | "-z" => {}
                "-D" | "-U" | "-include" | "-imacros" => {
                    parsed.macros.push(format!("{word} {value}"));
                    parsed.plain.extend([word.clone(), value]);
                }
                _ => parsed.plain.extend([word.clone(), value]),
            }
            continue;
        }
        if word.starts_with('-') && word.len() > 1 {
            if let Some(output) = word.strip_prefix("-o").filter(|_| !word.starts_with("-object")) {
                parsed.output = Some(output.to_owned());
                continue;
            }
            if !gnu && parsed.takes_device(word) {
                continue;
            }
            if ["-D", "-U", "-std", "-cl-std"].iter().any(|option| word.starts_with(option)) {
                parsed.macros.push(word.clone());
            }
            is_openmp |= word == "-fopenmp" || word.starts_with("-fopenmp=");
            parsed.has_openmp |= !gnu && word.starts_with("-fopenmp-targets=");
            let linker = ["-L", "-l", "-Wl,"].iter().any(|option| word.starts_with(option));
            let listed = LISTS.iter().any(|option| word.starts_with(option));
            if let Some(language) = word.strip_prefix("-x") {
                forced = (language != "none").then(|| language.to_owned());
            } else if !linker && !listed && word != "-shared" {
                parsed.plain.push(word.clone());
            }
            continue;
        }
        let language = match &forced {
            Some(forced) => FORCED.iter().find(|(name, _)| name == forced).map(|(_, known)| *known),
            None => language(word, cxx),
        };
        if let Some(language) = language.filter(|known| !gnu || !OF_CLANG.contains(known)) {
            parsed.sources.push(Source { path: word.clone(), language, forced: forced.clone() });
        }
    }
    parsed.has_openmp |= is_openmp && !parsed.devices.is_empty();
    (!parsed.sources.is_empty()).then_some(parsed)
}

fn language(path: &str, cxx: bool) -> Option<&'static str> {
    let ending = Path::new(path).extension()?.to_str()?;
    let (_, language) = ENDINGS.iter().find(|(known, _)| *known == ending)?;
    Some(if cxx && *language == "c" { "c++" } else { language })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Option<Parsed> {
        parse(&words(line), "clang")
    }

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    /// Targets of the rows that a command has, and the options that each is made with.
    fn variants(line: &str) -> Vec<(String, String)> {
        let parsed = parsed(line).unwrap();
        let object = Path::new("k.o");
        let all = parsed.sources.iter().flat_map(|source| parsed.variants(source));
        all.map(|one| (one.target(object), one.options.join(" "))).collect()
    }

    #[test]
    fn sources_outputs_and_macros_are_told_apart() {
        let line = "-O2 -DX=1 -I inc -include c.h -c src/a.c -MD -MF a.d -Wp,-MMD,b.d -o out/a.o -lfoo b.o";
        let parsed = parsed(line).unwrap();
        let source = Source { path: "src/a.c".to_owned(), language: "c", forced: None };
        assert_eq!(parsed.sources, [source]);
        assert_eq!(parsed.output.as_deref(), Some("out/a.o"));
        assert!(parsed.compiles_only && !parsed.assembles);
        assert_eq!(parsed.macros, ["-DX=1", "-include c.h"]);
        assert_eq!(parsed.plain, words("-O2 -DX=1 -I inc -include c.h"));
    }

    #[test]
    fn what_compiles_nothing_has_no_plan() {
        for line in
            ["-E a.c", "--version", "a.o b.o -o prog", "-c x.s", "-x assembler -", "-MM a.c", "-o"]
        {
            assert!(parsed(line).is_none(), "{line}");
        }
        assert!(parsed("-cc1 -emit-obj a.c").is_none());
        // gcc takes these for files of the linker's.
        assert!(parse(&words("-c k.cl k.cu"), "gcc").is_none());
    }

    #[test]
    fn a_source_may_be_standard_input_and_of_a_language_that_is_said() {
        let parsed = parsed("-c -xc++ - -x none a.c").unwrap();
        let told: Vec<_> = parsed.sources.iter().map(|one| (one.name(), one.language)).collect();
        assert_eq!(told, [("<stdin>", "c++"), ("a.c", "c")]);
        assert_eq!(parsed.sources[0].forced.as_deref(), Some("c++"));
    }

    #[test]
    fn each_architecture_is_a_module() {
        let told = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(target, options)| ((*target).into(), (*options).into())).collect()
        };
        assert_eq!(variants("-c k.c"), told(&[("k.o", "")]));
        assert_eq!(variants("-arch a -arch a -c k.c"), told(&[("k.o", "-arch a")]));
        let two = told(&[("k.o (a)", "-arch a"), ("k.o (b)", "-arch b")]);
        assert_eq!(variants("-arch a -arch b -c k.c"), two);
        assert_eq!(variants("-c k.cl"), told(&[("k.o", "")]));
        let both = told(&[("k.o (device)", DEVICE), ("k.o", HOST)]);
        assert_eq!(variants("-c k.cu"), both);
        let sm = |name: &str| (format!("k.o ({name})"), format!("{DEVICE} --offload-arch={name}"));
        let line =
            "-x cuda --cuda-gpu-arch=sm_60,sm_70 --offload-arch=sm_80 --no-offload-arch=sm_70 -c k";
        let mut all = vec![sm("sm_60"), sm("sm_80")];
        assert_eq!(variants(&format!("{line} --cuda-device-only")), all);
        all.extend(told(&[("k.o", HOST)]));
        assert_eq!(variants(line), all);
        assert_eq!(variants(&format!("{line} --cuda-host-only")), all[2..]);
        assert_eq!(variants("-fopenmp --offload-arch=sm_60 -c k.c"), [sm("sm_60"), all[2].clone()]);
        assert_eq!(variants("-fopenmp-targets=nvptx64 -c k.c"), both);
        assert_eq!(variants("-fopenmp -c k.c"), told(&[("k.o", "")]));
    }
}
