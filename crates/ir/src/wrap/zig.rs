use super::{Compiler, Line, Place, Plan, Wanted};
use std::path::Path;

/// zig's own language (`zig build-exe`, `build-lib`, `build-obj`, `test`): LLVM's back end writes
/// the bitcode it was given. `zig cc` and `zig build` are other programs in the same file: the
/// first is called by build systems as a compiler, the second runs these commands itself.
pub(super) struct Zig;

impl Compiler for Zig {
    fn is(&self, program: &str) -> bool {
        program == "zig" || program.starts_with("zig-0.")
    }

    fn plan(&self, line: &Line, scratch: &Path) -> Option<Plan> {
        let kind = line.words.get(1)?.as_str();
        if !matches!(kind, "build-exe" | "build-lib" | "build-obj") {
            return None;
        }
        let source = line.words[2..].iter().find(|word| word.ends_with(".zig"));
        // `-Mroot=src/main.zig` names the root module of a build made by `zig build`.
        let source = source.map(|word| word.rsplit('=').next().unwrap_or(word).to_owned())?;
        let name = line.words.iter().position(|word| word == "--name");
        let name = name.and_then(|at| line.words.get(at + 1)).cloned().unwrap_or_else(|| {
            Path::new(&source)
                .file_stem()
                .map_or(String::new(), |stem| stem.to_string_lossy().into_owned())
        });
        let file = scratch.join("zig.bc");
        let mut command = line.command();
        command.push("-fllvm".into());
        command.push(format!("-femit-llvm-bc={}", file.display()).into());
        let wanted = Wanted {
            source,
            target: format!("{name} ({kind})"),
            language: "zig",
            place: Place::File(file),
            ..Wanted::default()
        };
        Some(Plan { command, modules: vec![wanted], ..Plan::default() })
    }
}
