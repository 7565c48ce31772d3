//! clang and clang++, also in the place of gcc and g++.

mod arguments;

use super::{Compiler, Line, Place, Plan, Wanted, is_probe, real};
use arguments::{Source, Variant, parse};
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

/// clang and clang++, also in the place of gcc and g++.
///
/// Where a command makes one object, `-fembed-bitcode=all` puts the bitcode, as it was before any
/// pass, into a section of it in the same run. Where it makes several, links at once, or compiles for several architectures
/// or for devices, each source is compiled once more for each of them with no passes at all.
pub(super) struct Clang;

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
        let parsed = parse(&arguments, &line.name)?;
        // What comes from standard input is known by what is made of it; what is thrown away is a question.
        let asks = |source: &Source| match &parsed.output {
            Some(output) if source.is_input() || output == "/dev/null" => {
                is_probe(&line.directory, output)
            }
            _ => is_probe(&line.directory, &source.path),
        };
        if parsed.sources.iter().any(asks) {
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
        let mut all: Vec<(&Source, Variant)> = Vec::new();
        for source in &parsed.sources {
            all.extend(parsed.variants(source).into_iter().map(|variant| (source, variant)));
        }
        let one_pass = parsed.compiles_only
            && !parsed.assembles
            && !is_bitcode
            && matches!(&all[..], [(source, _)] if parsed.has_section(source));
        let mut modules = Vec::new();
        for (number, (source, variant)) in all.iter().enumerate() {
            let object = match &parsed.output {
                Some(output) => PathBuf::from(output),
                None => Path::new(&source.path).file_name().map(PathBuf::from)?.with_extension("o"),
            };
            let mut macros = parsed.macros.clone();
            macros.extend(variant.options.iter().cloned());
            let mut wanted = Wanted {
                source: source.name().to_owned(),
                target: variant.target(&object),
                language: source.language,
                input: source.is_input().then(|| scratch.join("input")),
                macros,
                ..Wanted::default()
            };
            if one_pass {
                wanted.read = Some(scratch.join("headers"));
                wanted.place = Place::Section(line.directory.join(object));
            } else {
                let file = scratch.join(format!("{number}.bc"));
                let list = scratch.join(format!("{number}.d"));
                let mut second = vec![compiler.clone()];
                second.extend(parsed.plain.iter().map(OsString::from));
                second.extend(lenient(gnu));
                second.extend(os(&["-c", "-fno-lto", "-emit-llvm"]));
                second.extend(os(&["-Xclang", "-disable-llvm-passes"]));
                second.extend(os(&["-Xclang", "-disable-O0-optnone", "-w"]));
                second.extend(variant.options.iter().map(OsString::from));
                if let Ok(tree) = std::env::var(super::TREE) {
                    second.push(format!("-ffile-prefix-map={tree}=.").into());
                }
                second.extend(os(&["-MD", "-MF"]));
                second.push(list.clone().into_os_string());
                // A linker's or an assembler's flags are no affair of this pass.
                second.extend(os(&["-Qunused-arguments", "-o"]));
                second.push(file.clone().into_os_string());
                if let Some(forced) = &source.forced {
                    second.extend(os(&["-x", forced.as_str()]));
                }
                second.push(OsString::from(&source.path));
                wanted.second = Some(second);
                wanted.read = Some(list);
                wanted.place = Place::File(file);
            }
            modules.push(wanted);
        }
        let mut environment = Vec::new();
        if one_pass {
            let embed = ["-Xclang", "-fembed-bitcode=all", "-Xclang", "-disable-O0-optnone"];
            command.extend(os(&embed));
            environment = vec![
                ("CC_PRINT_HEADERS", "1".into()),
                ("CC_PRINT_HEADERS_FILE", scratch.join("headers").into_os_string()),
            ];
        }
        // Where clang is what was asked for, flags of ours may still be what it does not take.
        let otherwise = (gnu || one_pass).then(|| line.command());
        Some(Plan { command, environment, otherwise, modules, ..Plan::default() })
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
    fn names_of_compilers_lose_version_and_triple() {
        assert!(is_gnu("x86_64-linux-gnu-gcc-12") && is_gnu("cc") && !is_gnu("clang-19"));
        assert!(is_cxx("clang++-19") && is_cxx("g++") && !is_cxx("gcc"));
        assert!(Clang.is("clang-19.1") && !Clang.is("rustc") && !Clang.is("clang-tidy"));
    }
}
