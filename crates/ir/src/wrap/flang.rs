use super::{Compiler, Line, Place, Plan, Wanted};
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

/// flang, LLVM's Fortran compiler: a second pass writes bitcode with every pass of LLVM's turned
/// off. The lowering from Fortran's own IR has optimised by then as the command's `-O` says.
pub(super) struct Flang;

const ENDINGS: &[&str] =
    &["f", "for", "f77", "f90", "f95", "f03", "f08", "F", "F77", "F90", "F95", "F03", "F08"];
const WITH_VALUE: &[&str] =
    &["-o", "-I", "-J", "-D", "-U", "-L", "-l", "-module-dir", "-x", "-mllvm"];

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
        let arguments = line.arguments();
        let mut command = line.command();
        let gnu =
            line.name.starts_with("gfortran") || line.name.starts_with("f7") || line.name == "f95";
        if gnu {
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
