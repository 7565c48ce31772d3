use super::{Compiler, Line, Place, Plan, Wanted, is_probe};
use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

/// flang, LLVM's Fortran compiler: a second pass writes bitcode with every pass of LLVM's turned
/// off. The lowering from Fortran's own IR has optimised by then as the command's `-O` says.
///
/// Where it takes gfortran's place, what gfortran links is given flang's library.
pub(super) struct Flang;

const ENDINGS: &[&str] =
    &["f", "for", "f77", "f90", "f95", "f03", "f08", "F", "F77", "F90", "F95", "F03", "F08"];
const WITH_VALUE: &[&str] =
    &["-o", "-I", "-J", "-D", "-U", "-L", "-l", "-module-dir", "-x", "-mllvm"];

/// Beginnings of gfortran's options that flang does not know, and that change nothing of what the code does but when it goes wrong.
const OF_GNU: &[&str] = &[
    "-W",
    "-fallow-",
    "-fbacktrace",
    "-fbounds-check",
    "-fcf-protection",
    "-fcheck=",
    "-fcommon",
    "-fcray-pointer",
    "-fdata-sections",
    "-fdebug-prefix-map=",
    "-fdiagnostics-",
    "-fdollar-ok",
    "-fexceptions",
    "-ffat-lto-objects",
    "-ffile-prefix-map=",
    "-ffree-line-length-",
    "-ffunction-sections",
    "-flto",
    "-fmacro-prefix-map=",
    "-fmax-errors=",
    "-fmessage-length=",
    "-fno-backtrace",
    "-fno-common",
    "-fno-f2c",
    "-fno-omit-frame-pointer",
    "-fno-optimize-sibling-calls",
    "-fno-range-check",
    "-fno-second-underscore",
    "-fno-strict-aliasing",
    "-fno-trapping-math",
    "-fomit-frame-pointer",
    "-frecursive",
    "-fstack-",
    "-ftree-",
    "-funroll-",
    "-m64",
    "-mtune=",
    "-pedantic",
    "-pipe",
    "-specs=",
    "-std=",
];

/// Whether an option of gfortran's is left out where flang takes its place.
fn is_of_gnu(option: &str) -> bool {
    let passed = ["-Wl,", "-Wa,", "-Wp,"].iter().any(|start| option.starts_with(start));
    !passed && OF_GNU.iter().any(|start| option.starts_with(start))
}

impl Compiler for Flang {
    fn is(&self, program: &str) -> bool {
        matches!(program, "flang" | "flang-new" | "gfortran" | "f77" | "f95")
            || ["flang-", "flang-new-", "gfortran-"].iter().any(|start| {
                program
                    .strip_prefix(start)
                    .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
            })
    }

    fn plan(&self, line: &Line, scratch: &Path) -> Option<Plan> {
        let gnu =
            line.name.starts_with("gfortran") || line.name.starts_with("f7") || line.name == "f95";
        let (mut arguments, mut command) = (line.arguments(), line.command());
        if gnu {
            arguments.retain(|word| !is_of_gnu(word));
            command.retain(|word| !word.to_str().is_some_and(is_of_gnu));
            command[0] = super::real(&["flang-new-19", "flang-19", "flang-new", "flang"])?;
        }
        let mut sources = Vec::new();
        let mut plain = vec![command[0].clone()];
        let mut output = None;
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "-E" | "-fsyntax-only" | "--version" | "-v" => return None,
                "-c" => {}
                "-o" => output = Some(words.next()?.clone()),
                option if WITH_VALUE.contains(&option) => {
                    plain.extend([OsString::from(word), words.next()?.into()]);
                }
                option if option.starts_with('-') => {
                    if !option.starts_with("-l") && !option.starts_with("-L") {
                        plain.push(word.into());
                    }
                }
                file => {
                    let ending = Path::new(file).extension().and_then(|ending| ending.to_str());
                    if ending.is_some_and(|ending| ENDINGS.contains(&ending)) {
                        sources.push(file.to_owned());
                    }
                }
            }
        }
        if sources.is_empty() {
            return linked(line, &arguments, &command[0]).filter(|_| gnu);
        }
        if sources.iter().any(|source| is_probe(&line.directory, source)) {
            return None;
        }
        let modules = sources.into_iter().enumerate().map(|(number, source)| {
            let file = scratch.join(format!("{number}.bc"));
            let mut second = plain.clone();
            second.extend(
                ["-emit-llvm", "-c", "-mllvm", "-opt-bisect-limit=0", "-o"].map(OsString::from),
            );
            second.extend([file.clone().into_os_string(), OsString::from(&source)]);
            let object = match &output {
                Some(output) => PathBuf::from(output),
                None => Path::new(&source).with_extension("o"),
            };
            Wanted {
                target: object.to_string_lossy().into_owned(),
                source,
                language: "fortran",
                second: Some(second),
                place: Place::File(file),
                ..Wanted::default()
            }
        });
        let modules = modules.collect();
        let otherwise = gnu.then(|| line.command());
        Some(Plan { command, otherwise, modules, ..Plan::default() })
    }
}

/// A command of gfortran's that links objects, which may be of flang's making: with the library that these need behind it. It
/// compiles nothing.
fn linked(line: &Line, arguments: &[String], flang: &OsStr) -> Option<Plan> {
    let is_object =
        |word: &String| [".o", ".lo", ".a"].iter().any(|ending| word.ends_with(*ending));
    let compiles = arguments.iter().any(|word| matches!(word.as_str(), "-c" | "-S" | "-r"));
    if compiles || !arguments.iter().any(is_object) {
        return None;
    }
    let flang = Path::new(flang).canonicalize().ok()?;
    let library = flang.parent()?.with_file_name("lib");
    if !library.join("libFortranRuntime.a").is_file() {
        return None;
    }
    let mut command = line.command();
    command.push(format!("-L{}", library.display()).into());
    command.extend(["-lFortranRuntime", "-lFortranDecimal"].map(OsString::from));
    Some(Plan { command, otherwise: Some(line.command()), ..Plan::default() })
}

#[cfg(test)]
mod tests {
    use super::is_of_gnu;

    #[test]
    fn options_of_gfortran_that_change_no_code_are_left_out() {
        for option in ["-Wall", "-fstack-protector-strong", "-ffile-prefix-map=/a=.", "-std=gnu"] {
            assert!(is_of_gnu(option), "{option}");
        }
        for option in
            ["-O2", "-Wl,-z,relro", "-fPIC", "-fdefault-real-8", "-finit-local-zero", "a.f"]
        {
            assert!(!is_of_gnu(option), "{option}");
        }
    }
}
