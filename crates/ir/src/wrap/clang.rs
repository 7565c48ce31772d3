use super::{Compiler, Line, Place, Plan, Wanted, real};
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

/// clang and clang++, also in the place of gcc and g++.
///
/// Where a command makes one object, `-fembed-bitcode=all` puts the bitcode, as it was before any
/// pass, into a section of it in the same run. Where it makes several or links at once, each source
/// is compiled once more with no passes at all.
pub(super) struct Clang;

/// File name endings and the languages they stand for.
const LANGUAGES: &[(&str, &str)] = &[
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
];

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
    "-Xclang",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
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

/// Options after which nothing is compiled.
const IDLE: &[&str] =
    &["-E", "-M", "-MM", "-fsyntax-only", "-###", "--version", "-v", "-dumpversion"];

/// An option of gcc's as clang has it; `None` where it makes no code.
fn as_clang(option: &str) -> Option<String> {
    if option == "-fanalyzer" {
        return None;
    }
    let boundary = option.strip_prefix("-mpreferred-stack-boundary=");
    let bytes = boundary.and_then(|bits| 1_u64.checked_shl(bits.parse().ok()?));
    Some(bytes.map_or_else(|| option.to_owned(), |bytes| format!("-mstack-alignment={bytes}")))
}

/// What of a name is not a version or a triple: `x86_64-linux-gnu-gcc-12` is `gcc`.
fn stem(program: &str) -> &str {
    let digits = |c: char| c.is_ascii_digit() || c == '.';
    let program = match program.rsplit_once('-') {
        Some((stem, version)) if version.starts_with(digits) && version.ends_with(digits) => stem,
        _ => program,
    };
    program.strip_prefix("x86_64-linux-gnu-").unwrap_or(program)
}

fn is_gnu(program: &str) -> bool {
    matches!(stem(program), "gcc" | "g++" | "cc" | "c++" | "c99" | "c89")
}

fn is_cxx(program: &str) -> bool {
    matches!(stem(program), "clang++" | "g++" | "c++")
}

struct Parsed {
    /// Sources and their languages.
    sources: Vec<(String, &'static str)>,
    output: Option<String>,
    compiles_only: bool,
    macros: Vec<String>,
    /// The arguments without sources, outputs and inputs of the linker.
    plain: Vec<String>,
}

/// `None` where nothing is compiled.
fn parse(arguments: &[String], cxx: bool) -> Option<Parsed> {
    let mut parsed = Parsed {
        sources: Vec::new(),
        output: None,
        compiles_only: false,
        macros: Vec::new(),
        plain: Vec::new(),
    };
    let mut forced: Option<String> = None;
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if IDLE.contains(&word.as_str()) {
            return None;
        }
        if word == "-c" || word == "-S" {
            parsed.compiles_only = true;
            // Assembly holds no section of bitcode that could be read back.
            if word == "-S" {
                parsed.output = Some(String::new());
            }
            continue;
        }
        if WITH_VALUE.contains(&word.as_str()) {
            let value = words.next()?.clone();
            match word.as_str() {
                "-o" => parsed.output = parsed.output.or(Some(value)),
                "-x" => forced = (value != "none").then_some(value),
                "-MF" | "-MT" | "-MQ" | "-L" | "-l" | "-Xlinker" | "-T" | "-u" | "-z" => {}
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
            if word.starts_with("-D") || word.starts_with("-U") || word.starts_with("-std") {
                parsed.macros.push(word.clone());
            }
            let linker = ["-L", "-l", "-Wl,"].iter().any(|option| word.starts_with(option));
            let written = matches!(word.as_str(), "-MD" | "-MMD" | "-MP" | "-MG" | "-shared");
            if let Some(language) = word.strip_prefix("-x") {
                forced = (language != "none").then(|| language.to_owned());
            } else if !linker && !written {
                parsed.plain.push(word.clone());
            }
            continue;
        }
        let language = match forced.as_deref() {
            Some("c") => Some("c"),
            Some("c++") => Some("c++"),
            Some(_) => None,
            None => language(word, cxx),
        };
        if let Some(language) = language.filter(|_| word != "-") {
            parsed.sources.push((word.clone(), language));
        }
    }
    (!parsed.sources.is_empty()).then_some(parsed)
}

fn language(path: &str, cxx: bool) -> Option<&'static str> {
    let ending = Path::new(path).extension()?.to_str()?;
    let (_, language) = LANGUAGES.iter().find(|(known, _)| *known == ending)?;
    Some(if cxx && *language == "c" { "c++" } else { language })
}

/// Whether this is a question a build system asks of the compiler, not a part of the program.
fn is_probe(directory: &Path, source: &str) -> bool {
    let name = Path::new(source).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = name.unwrap_or_default();
    let place = directory.join(source).to_string_lossy().into_owned();
    name == "conftest"
        || ["/CMakeFiles/CMakeScratch/", "/CMakeFiles/CMakeTmp/", "/meson-private/", "/CompilerId"]
            .iter()
            .any(|part| place.contains(part))
}

fn os(words: &[&str]) -> impl Iterator<Item = OsString> {
    words.iter().map(OsString::from).collect::<Vec<_>>().into_iter()
}

impl Compiler for Clang {
    fn is(&self, program: &str) -> bool {
        matches!(stem(program), "clang" | "clang++") || is_gnu(program)
    }

    fn plan(&self, line: &Line, scratch: &Path) -> Option<Plan> {
        let gnu = is_gnu(&line.name);
        let known = |word: &str| if gnu { as_clang(word) } else { Some(word.to_owned()) };
        let arguments: Vec<String> =
            line.arguments().iter().filter_map(|word| known(word)).collect();
        let cxx = is_cxx(&line.name);
        let parsed = parse(&arguments, cxx)?;
        if parsed.sources.iter().any(|(source, _)| is_probe(&line.directory, source)) {
            return None;
        }
        let whole = line.command().into_iter().filter_map(|word| match word.to_str() {
            Some(text) => known(text).map(OsString::from),
            None => Some(word),
        });
        let mut command: Vec<OsString> = whole.collect();
        // Debian's clang has no name without a version, but builds ask for `clang`.
        let nameless = stem(&line.name) == line.name && real(&[&line.name]).is_none();
        if gnu || nameless {
            let names: &[&str] =
                if cxx { &["clang++-19", "clang++"] } else { &["clang-19", "clang"] };
            command[0] = real(names)?;
        }
        let compiler = command[0].clone();
        command.extend(lenient(gnu));
        let lto = arguments.iter().any(|word| word.starts_with("-flto"));
        // gcc's linker would not take clang's bitcode in an object's place.
        if lto && gnu {
            command.push("-fno-lto".into());
        }
        // What is to be bitcode itself has no section for more of it.
        let is_bitcode = lto && !gnu || arguments.iter().any(|word| word == "-emit-llvm");
        if let Ok(tree) = std::env::var(super::TREE) {
            command.push(format!("-ffile-prefix-map={tree}=.").into());
        }
        let mut plan = Plan {
            otherwise: gnu.then(|| line.command()),
            environment: vec![
                ("CC_PRINT_HEADERS", "1".into()),
                ("CC_PRINT_HEADERS_FILE", scratch.join("headers").into_os_string()),
            ],
            ..Plan::default()
        };
        let one_pass = parsed.compiles_only
            && !is_bitcode
            && parsed.sources.len() == 1
            && parsed.output.as_deref() != Some("");
        for (number, (source, language)) in parsed.sources.iter().enumerate() {
            let object = match parsed.output.clone().filter(|output| !output.is_empty()) {
                Some(output) => PathBuf::from(output),
                None => Path::new(source).file_name().map(PathBuf::from)?.with_extension("o"),
            };
            let mut wanted = Wanted {
                source: source.clone(),
                target: object.to_string_lossy().into_owned(),
                language,
                read: Some(scratch.join("headers")),
                macros: parsed.macros.clone(),
                ..Wanted::default()
            };
            if one_pass {
                wanted.place = Place::Section(line.directory.join(object));
            } else {
                let file = scratch.join(format!("{number}.bc"));
                let mut second = vec![compiler.clone()];
                second.extend(parsed.plain.iter().map(OsString::from));
                second.extend(lenient(gnu));
                second.extend(os(&[
                    "-c",
                    "-fno-lto",
                    "-emit-llvm",
                    "-Xclang",
                    "-disable-llvm-passes",
                ]));
                second.extend(os(&["-Xclang", "-disable-O0-optnone", "-w"]));
                if let Ok(tree) = std::env::var(super::TREE) {
                    second.push(format!("-ffile-prefix-map={tree}=.").into());
                }
                // A linker's or an assembler's flags are no affair of this pass.
                second.extend(os(&["-Qunused-arguments", "-o"]));
                second.extend([file.clone().into_os_string(), source.into()]);
                wanted.second = Some(second);
                wanted.place = Place::File(file);
            }
            plan.modules.push(wanted);
        }
        if one_pass {
            command.extend(os(&[
                "-Xclang",
                "-fembed-bitcode=all",
                "-Xclang",
                "-disable-O0-optnone",
            ]));
        } else {
            // Which source included what is not told apart.
            plan.environment.clear();
            plan.modules.iter_mut().for_each(|wanted| wanted.read = None);
        }
        plan.command = command;
        Some(plan)
    }
}

/// What makes clang as patient as the gcc whose place it takes.
fn lenient(gnu: bool) -> impl Iterator<Item = OsString> {
    let words: &[&str] = match gnu {
        true => &[
            "-Qunused-arguments",
            "-Wno-unknown-warning-option",
            "-Wno-ignored-optimization-argument",
            "-Wno-error",
        ],
        false => &[],
    };
    os(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn options_of_gcc_are_those_of_clang_or_none() {
        assert_eq!(as_clang("-fanalyzer"), None);
        let of = |option| as_clang(option).unwrap();
        assert_eq!(of("-mpreferred-stack-boundary=6"), "-mstack-alignment=64");
        for same in ["-O2", "-mpreferred-stack-boundary=", "-mpreferred-stack-boundary=99"] {
            assert_eq!(of(same), same);
        }
    }

    #[test]
    fn sources_outputs_and_macros_are_told_apart() {
        let line = "-O2 -DX=1 -I inc -include c.h -c src/a.c -MD -MF a.d -o out/a.o -lfoo b.o";
        let parsed = parse(&words(line), false).unwrap();
        assert_eq!(parsed.sources, [("src/a.c".to_owned(), "c")]);
        assert_eq!(parsed.output.as_deref(), Some("out/a.o"));
        assert!(parsed.compiles_only);
        assert_eq!(parsed.macros, ["-DX=1", "-include c.h"]);
        assert_eq!(parsed.plain, words("-O2 -DX=1 -I inc -include c.h"));
    }

    #[test]
    fn what_compiles_nothing_has_no_plan() {
        for line in ["-E a.c", "--version", "a.o b.o -o prog", "-c x.s", "-x c -", "-MM a.c", "-o"]
        {
            assert!(parse(&words(line), false).is_none(), "{line}");
        }
    }

    #[test]
    fn names_of_compilers_lose_version_and_triple() {
        assert!(is_gnu("x86_64-linux-gnu-gcc-12") && is_gnu("cc") && !is_gnu("clang-19"));
        assert!(is_cxx("clang++-19") && is_cxx("g++") && !is_cxx("gcc"));
        assert!(Clang.is("clang-19.1") && !Clang.is("rustc") && !Clang.is("clang-tidy"));
    }

    #[test]
    fn probes_of_build_systems_are_no_programs() {
        assert!(is_probe(Path::new("/x"), "conftest.c"));
        assert!(is_probe(Path::new("/x/CMakeFiles/CMakeScratch/T"), "a.c"));
        assert!(!is_probe(Path::new("/x/src"), "config.c"));
    }
}
