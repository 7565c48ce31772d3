use super::{
    Compiler, Line, Place, Plan, Wanted,
    command::{said, split},
};
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

/// zig's own language: LLVM's back end writes the bitcode it was given. `zig build-exe`, `build-lib` and `build-obj` are asked for it
/// in the same pass; `zig build`, which runs these within itself, is asked to say each, and each is run once more for its bitcode
/// alone. `zig cc` is a compiler of C, another program in the same file.
pub(super) struct Zig;

impl Compiler for Zig {
    fn is(&self, program: &str) -> bool {
        program == "zig" || program.starts_with("zig-0.")
    }

    fn plan(&self, line: &Line, scratch: &Path) -> Option<Plan> {
        let mut command = line.command();
        if line.words.get(1)? == "build" {
            command.insert(2, "--verbose".into());
            return Some(Plan { command, told: Some(told), ..Plan::default() });
        }
        let file = scratch.join("zig.bc");
        let wanted = wanted(&line.words, file.clone())?;
        command.push("-fllvm".into());
        command.push(emitted(&file));
        // A zig may have no LLVM in it, or no back end of LLVM's for the target.
        let otherwise = Some(line.command());
        Some(Plan { command, otherwise, modules: vec![wanted], ..Plan::default() })
    }
}

/// The module of a command that `zig build --verbose` says, and the command that writes its bitcode alone.
fn told(text: &str, number: usize, scratch: &Path) -> Option<Wanted> {
    let mut words = split(text);
    words.retain(|word| word != "--listen=-");
    let file = scratch.join(format!("zig-{number}.bc"));
    let wanted = wanted(&words, file.clone())?;
    let mut second: Vec<OsString> = words.into_iter().map(OsString::from).collect();
    second.extend(["-fllvm".into(), "-fno-emit-bin".into(), emitted(&file)]);
    Some(Wanted { second: Some(second), ..wanted })
}

/// What a command of the compiler's makes, if that is a program, a library or an object of a Zig source.
fn wanted(words: &[String], file: PathBuf) -> Option<Wanted> {
    let kind = words.get(1)?.as_str();
    if !matches!(kind, "build-exe" | "build-lib" | "build-obj") {
        return None;
    }
    let source = words[2..].iter().find(|word| word.ends_with(".zig"));
    // `-Mroot=src/main.zig` names the root module of a build made by `zig build`.
    let source = source.map(|word| word.rsplit('=').next().unwrap_or(word).to_owned())?;
    let name = said(words, "--name").unwrap_or_else(|| {
        let stem = Path::new(&source).file_stem();
        stem.map_or(String::new(), |stem| stem.to_string_lossy().into_owned())
    });
    let target = format!("{name} ({kind})");
    Some(Wanted { source, target, language: "zig", place: Place::File(file), ..Wanted::default() })
}

fn emitted(file: &Path) -> OsString {
    format!("-femit-llvm-bc={}", file.display()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_a_build_says_are_run_for_their_bitcode() {
        let scratch = Path::new("/tmp/s");
        let wanted = told(
            "/opt/zig/zig build-exe -ODebug --dep lib -Mroot=/p/src/main.zig -Mlib=/p/src/root.zig --name p --listen=- ",
            2,
            scratch,
        )
        .unwrap();
        assert_eq!(
            (wanted.source.as_str(), wanted.target.as_str()),
            ("/p/src/main.zig", "p (build-exe)")
        );
        let second: Vec<String> =
            wanted.second.unwrap().iter().map(|word| word.to_string_lossy().into_owned()).collect();
        assert_eq!(second[0], "/opt/zig/zig");
        assert!(second.ends_with(&[
            "-fllvm".to_owned(),
            "-fno-emit-bin".to_owned(),
            "-femit-llvm-bc=/tmp/s/zig-2.bc".to_owned()
        ]));
        assert!(!second.iter().any(|word| word == "--listen=-"));
    }

    #[test]
    fn what_else_a_build_says_is_no_module() {
        for line in ["error: no such step", "/p/zig-out/bin/p --flag", "zig test -Mroot=a.zig", ""]
        {
            assert!(told(line, 0, Path::new("/tmp")).is_none(), "{line}");
        }
    }
}
