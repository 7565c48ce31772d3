use super::{
    Compiler, Line, Place, Plan, Wanted,
    command::{is_stand_in, said},
    is_probe, real,
    stand_in::OF_SWIFT,
};
use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

/// swiftc: a second pass over the whole module writes the IR that LLVM is given, which Swift's own passes over SIL have seen and
/// none of LLVM's. It is written as text: Debian's swiftc 6.0.3 ends with an assertion where it is asked for bitcode.
pub(super) struct Swift;

/// Flags without a value that say what else a command makes, or how it is split; those that begin with `-emit-` as well.
const DROPPED: &[&str] = &[
    "-c",
    "-serialize-diagnostics",
    "-incremental",
    "-enable-batch-mode",
    "-disable-batch-mode",
    "-parseable-output",
    "-use-frontend-parseable-output",
    "-save-temps",
    "-whole-module-optimization",
    "-wmo",
    "-index-ignore-system-modules",
];
/// The same with a value.
const DROPPED_WITH_VALUE: &[&str] = &[
    "-o",
    "-output-file-map",
    "-emit-module-path",
    "-emit-module-interface-path",
    "-emit-private-module-interface-path",
    "-emit-objc-header-path",
    "-emit-module-source-info-path",
    "-emit-dependencies-path",
    "-emit-const-values-path",
    "-emit-tbd-path",
    "-serialize-diagnostics-path",
    "-index-store-path",
    "-index-unit-output-path",
    "-num-threads",
    "-j",
];
/// Commands that compile nothing.
const IDLE: &[&str] = &[
    "-frontend",
    "-modulewrap",
    "-print-target-info",
    "-version",
    "--version",
    "-help",
    "-typecheck",
    "-parse",
    "-dump-ast",
    "-interpret",
    "-repl",
];

impl Compiler for Swift {
    fn is(&self, program: &str) -> bool {
        program == "swiftc"
    }

    fn plan(&self, line: &Line, scratch: &Path) -> Option<Plan> {
        let arguments = line.arguments();
        let is_source = |word: &str| word.ends_with(".swift") && !word.starts_with('-');
        let given = |word: &str| arguments.iter().any(|one| one == word);
        let is_idle = IDLE.iter().any(|word| given(word));
        let mut kept: Vec<OsString> = Vec::new();
        let mut sources: Vec<&str> = Vec::new();
        let (mut target, mut words) = (None, arguments.iter());
        while let Some(word) = words.next() {
            let word = word.as_str();
            if is_source(word) {
                sources.push(word);
            } else if DROPPED_WITH_VALUE.contains(&word) {
                let value = words.next();
                target = if word == "-o" { value } else { target };
                continue;
            } else if word == "-Xfrontend"
                && words
                    .clone()
                    .next()
                    .is_some_and(|next| DROPPED_WITH_VALUE.contains(&next.as_str()))
            {
                // Its value has a `-Xfrontend` before it as well.
                words.nth(2);
                continue;
            } else if DROPPED.contains(&word)
                || word.starts_with("-emit-")
                || word.starts_with("-j") && word[2..].parse::<u32>().is_ok()
            {
                continue;
            }
            kept.push(word.into());
            // What a flag's value looks like says nothing.
            if matches!(
                word,
                "-Xfrontend" | "-Xcc" | "-Xllvm" | "-Xlinker" | "-Xclang-linker" | "-I" | "-L"
            ) {
                kept.extend(words.next().map(OsString::from));
            }
        }
        // How a package is built is no part of it: `Package.swift`, or one for a version of Swift.
        let is_manifest = sources.iter().any(|source| {
            let name = source.rsplit('/').next().unwrap_or(source);
            name == "Package.swift" || name.starts_with("Package@swift-")
        });
        let asks = sources.iter().any(|source| is_probe(&line.directory, source));
        if sources.is_empty() || is_idle || is_manifest || asks {
            return None;
        }
        let name = said(&arguments, "-module-name").unwrap_or_else(|| "main".to_owned());
        let (file, list) = (scratch.join("swift.ll"), scratch.join("sources"));
        let mut second = line.command();
        second.truncate(1);
        second.extend(kept);
        second.extend(["-whole-module-optimization", "-emit-irgen", "-o"].map(OsString::from));
        second.push(file.clone().into());
        let macros = arguments.iter().filter(|word| word.starts_with("-D")).cloned().collect();
        // Without the list the hash is over less.
        let read = fs::write(&list, sources.join("\n")).is_ok().then_some(list);
        let wanted = Wanted {
            source: common(&sources),
            target: target.cloned().unwrap_or_else(|| name.clone()),
            language: "swift",
            second: Some(second),
            input: None,
            place: Place::Text {
                file,
                name: format!("{name}.swiftmodule"),
                clang: clang_of(&line.command()),
            },
            read,
            macros,
        };
        Some(Plan { command: line.command(), modules: vec![wanted], ..Plan::default() })
    }
}

/// The clang that comes with a swiftc, of the same LLVM: another may not read its IR. One on the search path where none does.
/// Where a build's folder of real compilers has the swiftc, it has that clang as well, since its path is covered.
fn clang_of(command: &[OsString]) -> PathBuf {
    let swiftc = command.first().map(PathBuf::from).unwrap_or_default();
    let own = swiftc.with_file_name(OF_SWIFT).join("clang");
    let beside = swiftc.canonicalize().unwrap_or(swiftc).with_file_name("clang");
    let found = [beside, own].into_iter().find(|path| path.is_file() && !is_stand_in(path));
    found.unwrap_or_else(|| {
        real(&["clang-17", "clang"]).map_or_else(|| "clang".into(), PathBuf::from)
    })
}

/// The source, or the folder of all.
fn common(sources: &[&str]) -> String {
    let [first, rest @ ..] = sources else { return String::new() };
    if rest.is_empty() {
        return (*first).to_owned();
    }
    let folders = |source: &str| -> Vec<String> {
        let folder = Path::new(source).parent().unwrap_or(Path::new(""));
        folder.components().map(|one| one.as_os_str().to_string_lossy().into_owned()).collect()
    };
    let mut same = folders(first);
    for source in rest {
        let equal = same.iter().zip(folders(source)).take_while(|(a, b)| *a == b).count();
        same.truncate(equal);
    }
    let joined: PathBuf = same.iter().collect();
    joined.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wrap::Compiler;

    fn planned(words: &str) -> Option<(Vec<String>, String)> {
        let given: Vec<OsString> = words.split_whitespace().map(OsString::from).collect();
        let line = Line::of(&given).expect("a program is named");
        let scratch = tempfile::tempdir().expect("a folder");
        let plan = Swift.plan(&line, scratch.path())?;
        let wanted = plan.modules.into_iter().next()?;
        let second =
            wanted.second?.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
        Some((second, wanted.source))
    }

    #[test]
    fn a_module_is_compiled_once_more_as_a_whole() {
        let (second, source) = planned(
            "swiftc -module-name Shapes -emit-dependencies -emit-module -emit-module-path b/Shapes.swiftmodule -output-file-map \
             b/map.json -parse-as-library -whole-module-optimization -num-threads 2 -c Sources/Shapes/a.swift \
             Sources/Shapes/Deep/b.swift -I b -O -j2 -DSWIFT_PACKAGE -Xfrontend -serialize-diagnostics-path -Xfrontend b/a.dia -Xcc -c",
        )
        .expect("it compiles");
        assert_eq!(source, "Sources/Shapes");
        let kept = "-module-name Shapes -parse-as-library Sources/Shapes/a.swift Sources/Shapes/Deep/b.swift -I b -O \
                    -DSWIFT_PACKAGE -Xcc -c -whole-module-optimization -emit-irgen -o";
        assert_eq!(second[..second.len() - 1].join(" "), kept);
    }

    #[test]
    fn what_compiles_nothing_gives_no_module() {
        for words in [
            "swiftc -print-target-info",
            "swiftc -o tool a.o b.o -emit-executable",
            "swiftc -frontend -c a.swift",
            "swiftc -c /p/Package.swift -o m.o",
            "swiftc Package@swift-5.6.swift -o m",
            "swiftc -typecheck a.swift",
            "swiftc /b/meson-private/sanity.swift -o sanity",
        ] {
            assert_eq!(planned(words), None, "{words}");
        }
        assert_eq!(
            planned("swiftc a.swift -o a").map(|(_, source)| source),
            Some("a.swift".to_owned())
        );
    }

    #[test]
    fn ir_is_read_by_the_clang_of_swift_where_a_stand_in_is_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for name in ["real/swift", "toolchain"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        fs::write(at("toolchain/swiftc"), "").unwrap();
        std::os::unix::fs::symlink(at("toolchain/swiftc"), at("real/swiftc")).unwrap();
        fs::write(at("real/swift/clang"), "").unwrap();
        let found = || clang_of(&[at("real/swiftc").into()]);
        assert_eq!(found(), at("real/swift/clang"));
        fs::write(at("toolchain/clang"), "").unwrap();
        assert_eq!(found(), at("toolchain/clang").canonicalize().unwrap());
        fs::write(at("toolchain/clang"), crate::wrap::STAND_IN).unwrap();
        assert_eq!(found(), at("real/swift/clang"));
    }
}
