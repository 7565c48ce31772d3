use super::{Compiler, Line, Place, Plan, Wanted, is_probe};
use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

/// flang, LLVM's Fortran compiler. Where a command makes one object, bitcode is written first with every pass of LLVM's turned off,
/// and flang goes on from that: the object is the same as without. Else a second pass writes the bitcode. The lowering from Fortran's
/// own IR has optimised by then as the command's `-O` says.
///
/// Where it takes gfortran's place, what gfortran links is given flang's library.
pub(super) struct Flang;

const ENDINGS: &[&str] =
    &["f", "for", "f77", "f90", "f95", "f03", "f08", "F", "F77", "F90", "F95", "F03", "F08"];
const WITH_VALUE: &[&str] =
    &["-o", "-I", "-J", "-D", "-U", "-L", "-l", "-module-dir", "-x", "-mllvm"];

/// What turns every optional pass of LLVM's off.
const NO_PASSES: [&str; 4] = ["-emit-llvm", "-c", "-mllvm", "-opt-bisect-limit=0"];
/// Beginnings of options with which a command does not make one object of one source, or says what language that is in.
const NOT_ONE: &[&str] = &[
    "-emit-llvm",
    "-flto",
    "-foffload",
    "-fopenmp-targets",
    "-fsave-optimization-record",
    "--offload-arch",
    "-save-temps",
    "-x",
];
/// Beginnings of the preprocessor's options: nothing is left of them once there is bitcode.
const OF_PREPROCESSOR: &[&str] = &["-D", "-I", "-U", "-cpp", "-nocpp"];

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
        // The same for what comes behind bitcode.
        let mut behind = plain.clone();
        let (mut output, mut compiles_only) = (None, false);
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let of_preprocessor = OF_PREPROCESSOR.iter().any(|start| word.starts_with(start));
            match word.as_str() {
                "-E" | "-fsyntax-only" | "--version" | "-v" => return None,
                "-c" => compiles_only = true,
                "-o" => output = Some(words.next()?.clone()),
                option if WITH_VALUE.contains(&option) => {
                    let both = [OsString::from(word), words.next()?.into()];
                    plain.extend(both.clone());
                    behind.extend(both.into_iter().filter(|_| !of_preprocessor));
                }
                option if option.starts_with('-') => {
                    if !option.starts_with("-l") && !option.starts_with("-L") {
                        plain.push(word.into());
                        behind.extend((!of_preprocessor).then(|| OsString::from(word)));
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
        let is_other =
            |word: &String| word == "-S" || NOT_ONE.iter().any(|start| word.starts_with(start));
        let one_pass = compiles_only && sources.len() == 1 && !arguments.iter().any(is_other);
        let otherwise = (gnu || one_pass).then(|| line.command());
        let mut plan = Plan { command, otherwise, ..Plan::default() };
        for (number, source) in sources.into_iter().enumerate() {
            let file = scratch.join(format!("{number}.bc"));
            let mut bitcode = plain.clone();
            bitcode.extend(NO_PASSES.map(OsString::from));
            bitcode.extend(["-o".into(), file.clone().into_os_string(), OsString::from(&source)]);
            let object = match &output {
                Some(output) => PathBuf::from(output),
                None => Path::new(&source).file_name().map(PathBuf::from)?.with_extension("o"),
            };
            let mut wanted = Wanted {
                target: object.to_string_lossy().into_owned(),
                source,
                language: "fortran",
                place: Place::File(file.clone()),
                ..Wanted::default()
            };
            if one_pass {
                plan.before = Some(bitcode);
                plan.command = behind.clone();
                plan.command.extend(["-c".into(), "-o".into(), object.into_os_string()]);
                plan.command.push(file.into_os_string());
            } else {
                wanted.second = Some(bitcode);
            }
            plan.modules.push(wanted);
        }
        Some(plan)
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
    use super::*;

    /// What runs first, what runs behind it, and what runs for the module alone; the compiler left out.
    fn planned(words: &str) -> [String; 3] {
        let given: Vec<OsString> = words.split_whitespace().map(OsString::from).collect();
        let line = Line::of(&given).expect("a program is named");
        let plan = Flang.plan(&line, Path::new("/scratch")).expect("it compiles");
        let told = |command: &[OsString]| {
            let words = command.iter().skip(1).map(|word| word.to_string_lossy());
            words.collect::<Vec<_>>().join(" ")
        };
        let second = plan.modules.first().and_then(|wanted| wanted.second.clone());
        [plan.before.unwrap_or_default(), plan.command, second.unwrap_or_default()]
            .map(|command| told(&command))
    }

    #[test]
    fn one_object_is_made_of_the_bitcode() {
        let off = "-emit-llvm -c -mllvm -opt-bisect-limit=0 -o /scratch/0.bc";
        let line = "flang-new-19 -O2 -DX=1 -I inc -J mod -cpp -fPIC -c src/s.F90";
        let first = format!("-O2 -DX=1 -I inc -J mod -cpp -fPIC {off} src/s.F90");
        let behind = "-O2 -J mod -fPIC -c -o s.o /scratch/0.bc".to_owned();
        assert_eq!(planned(line), [first, behind, String::new()]);
    }

    #[test]
    fn what_makes_no_one_object_has_a_second_pass() {
        for line in [
            "flang-new-19 -O2 s.f90 -o s",
            "flang-new-19 -c a.f90 b.f90",
            "flang-new-19 -c -S a.f90",
            "flang-new-19 -c -flto a.f90",
            "flang-new-19 -c -x f95 a.f90",
            "flang-new-19 -c -emit-llvm a.f90",
        ] {
            let [first, command, second] = planned(line);
            assert!(first.is_empty() && !second.is_empty(), "{line}");
            assert_eq!(command, line.split_once(' ').unwrap().1);
        }
    }

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
