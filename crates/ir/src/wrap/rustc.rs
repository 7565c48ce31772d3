use super::{CODEGEN_UNITS, Compiler, Line, Place, Plan, TREE, Wanted, is_probe};
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

/// rustc, as cargo calls it through `RUSTC_WRAPPER`, or by name.
///
/// `-C save-temps` makes it leave each unit's bitcode as handed to LLVM, `*.no-opt.bc`; what else
/// it leaves is removed. MIR's own optimisations have been made by then.
pub(super) struct Rustc;

/// Options that take the next word.
const WITH_VALUE: &[&str] = &[
    "-C",
    "-L",
    "-l",
    "-A",
    "-W",
    "-D",
    "-F",
    "-o",
    "--cfg",
    "--check-cfg",
    "--crate-type",
    "--crate-name",
    "--edition",
    "--emit",
    "--print",
    "--out-dir",
    "--target",
    "--allow",
    "--warn",
    "--deny",
    "--forbid",
    "--cap-lints",
    "--codegen",
    "--extern",
    "--sysroot",
    "--error-format",
    "--json",
    "--color",
    "--remap-path-prefix",
    "--diagnostic-width",
    "-Z",
    "--explain",
];

#[derive(Default)]
struct Parsed {
    source: String,
    name: String,
    kinds: Vec<String>,
    out_dir: Option<String>,
    output: Option<String>,
    extra: String,
    emits: Vec<String>,
    saves: bool,
    asks: bool,
    cfgs: Vec<String>,
}

fn parse(arguments: &[String]) -> Parsed {
    let mut parsed = Parsed::default();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let (option, value) = if WITH_VALUE.contains(&word.as_str()) {
            (word.as_str(), words.next().cloned().unwrap_or_default())
        } else if let Some((option, value)) =
            word.split_once('=').filter(|_| word.starts_with("--"))
        {
            (option, value.to_owned())
        } else if let Some(value) = word.strip_prefix("-C") {
            ("-C", value.to_owned())
        } else if word.starts_with('-') && word != "-" {
            parsed.asks |= matches!(word.as_str(), "-V" | "-vV" | "--version" | "-h" | "--help");
            continue;
        } else {
            parsed.source.clone_from(word);
            continue;
        };
        match option {
            "--crate-name" => parsed.name = value,
            "--crate-type" => parsed.kinds.push(value),
            "--out-dir" => parsed.out_dir = Some(value),
            "-o" => parsed.output = Some(value),
            "--emit" => parsed.emits.extend(value.split(',').map(str::to_owned)),
            "--print" => parsed.asks = true,
            "--cfg" => parsed.cfgs.push(format!("--cfg {value}")),
            "-C" | "--codegen" => match value.split_once('=') {
                Some(("extra-filename", extra)) => parsed.extra = extra.to_owned(),
                Some(("save-temps", value)) => parsed.saves = value != "no",
                None if value == "save-temps" => parsed.saves = true,
                _ => {}
            },
            _ => {}
        }
    }
    parsed
}

impl Compiler for Rustc {
    fn is(&self, program: &str) -> bool {
        program == "rustc" || program == "clippy-driver"
    }

    fn plan(&self, line: &Line, _: &Path) -> Option<Plan> {
        // cargo calls a wrapper with the compiler it would have called and that one's arguments.
        let command = line.command();
        let arguments = line.arguments();
        let parsed = parse(&arguments);
        let makes_code = parsed.emits.is_empty()
            || parsed
                .emits
                .iter()
                .any(|kind| !kind.starts_with("dep-info") && !kind.starts_with("metadata"));
        let source = Path::new(&parsed.source);
        if parsed.asks || !makes_code || source.extension().is_none_or(|ending| ending != "rs") {
            return None;
        }
        if is_probe(&line.directory, &parsed.source) {
            return None;
        }
        let name = match parsed.name.as_str() {
            "" => source.file_stem()?.to_string_lossy().replace('-', "_"),
            name => name.to_owned(),
        };
        // A build script is a program of the build, not of the package.
        if name == "build_script_build" {
            return None;
        }
        let mut folder = line.directory.join(parsed.out_dir.as_deref().unwrap_or("."));
        let mut stem = format!("{name}{}", parsed.extra);
        if let Some(output) = &parsed.output {
            let output = line.directory.join(output);
            folder = output.parent().map(PathBuf::from)?;
            stem = output.file_stem()?.to_string_lossy().into_owned();
        }
        let mut command: Vec<OsString> = without_increments(&command);
        let mut more = vec!["-Csave-temps".to_owned()];
        if let Ok(units) = std::env::var(CODEGEN_UNITS) {
            more.push(format!("-Ccodegen-units={units}"));
        }
        if let Ok(tree) = std::env::var(TREE) {
            more.push(format!("--remap-path-prefix={tree}=/build"));
        }
        command.extend(more.into_iter().map(OsString::from));
        let kind = parsed.kinds.first().map_or("bin", String::as_str);
        let wanted = Wanted {
            source: parsed.source.clone(),
            target: format!("{name} ({kind})"),
            language: "rust",
            second: None,
            input: None,
            place: Place::Files {
                folder: folder.clone(),
                prefix: format!("{stem}."),
                ending: ".no-opt.bc",
                keep: parsed.saves,
            },
            read: Some(folder.join(format!("{stem}.d"))),
            macros: parsed.cfgs,
        };
        Some(Plan { command, modules: vec![wanted], ..Plan::default() })
    }
}

/// What was compiled before is not compiled again, and leaves no bitcode: ask for all of it.
fn without_increments(command: &[OsString]) -> Vec<OsString> {
    let is_incremental = |word: &OsString| word.to_string_lossy().starts_with("incremental=");
    let mut kept: Vec<OsString> = Vec::new();
    for word in command {
        if is_incremental(word) && kept.last().is_some_and(|last| last == "-C") {
            kept.pop();
        } else if !word.to_string_lossy().starts_with("-Cincremental=") {
            kept.push(word.clone());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_of_cargo_is_understood() {
        let text = "--crate-name regex --edition=2021 src/lib.rs --error-format=json --json=artifacts \
             --crate-type lib --emit=dep-info,metadata,link -C opt-level=3 -C extra-filename=-12ab \
             --out-dir /t/deps --cfg feature=\"std\" -Cembed-bitcode=no -L dependency=/t/deps";
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        let parsed = parse(&words);
        assert_eq!((parsed.name.as_str(), parsed.extra.as_str()), ("regex", "-12ab"));
        assert_eq!(parsed.source, "src/lib.rs");
        assert_eq!(parsed.out_dir.as_deref(), Some("/t/deps"));
        assert!(!parsed.asks && !parsed.saves);
        assert!(parsed.emits.contains(&"link".to_owned()));
    }

    #[test]
    fn probes_of_build_systems_give_no_module() {
        let planned = |words: &str| {
            let given: Vec<OsString> = words.split_whitespace().map(OsString::from).collect();
            Rustc.plan(&Line::of(&given).unwrap(), Path::new("/scratch")).is_some()
        };
        assert!(planned("rustc src/main.rs -o main"));
        assert!(!planned("rustc /b/meson-private/sanity.rs -o sanity"));
    }

    #[test]
    fn increments_are_left_out() {
        let words = ["/x/rustc", "-C", "incremental=/t", "-C", "opt-level=3", "-Cincremental=/t"];
        let command: Vec<OsString> = words.iter().map(OsString::from).collect();
        assert_eq!(without_increments(&command), ["/x/rustc", "-C", "opt-level=3"]);
    }
}
