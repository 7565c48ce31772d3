use super::{Compiler, Line, Place, Plan, Wanted};
use std::{ffi::OsString, path::Path};

/// julia, where it makes an image: that of a package (`Pkg.precompile()` starts a julia for each), or of a system. It writes the
/// bitcode of it besides, in an archive, before any pass of LLVM's; Julia's own passes have been made by then.
pub(super) struct Julia;

/// The option that asks for bitcode before any pass.
const UNOPTIMIZED: &str = "--output-unopt-bc";
/// A cache of a package: what is compiled of it is in an image beside it, and where no image is made there is no code.
const CACHE: &str = "--output-ji";

/// Options that take the next word, or have their value behind a `=`.
const WITH_VALUE: &[&str] = &[
    "-e",
    "-E",
    "-L",
    "-J",
    "-C",
    "-H",
    "-p",
    "-t",
    "-m",
    "--eval",
    "--print",
    "--load",
    "--module",
    "--sysimage",
    "--cpu-target",
    "--home",
    "--procs",
    "--threads",
    "--gcthreads",
    "--machine-file",
    "--output-o",
    "--output-bc",
    "--output-asm",
    UNOPTIMIZED,
    CACHE,
    "--output-incremental",
    "--startup-file",
    "--history-file",
    "--color",
    "--compile",
    "--compiled-modules",
    "--pkgimages",
    "--check-bounds",
    "--depwarn",
    "--inline",
    "--math-mode",
    "--handle-signals",
    "--warn-overwrite",
    "--bind-to",
];

#[derive(Debug, Default)]
struct Parsed {
    /// Where bitcode before any pass goes, if it is asked for.
    bitcode: Option<String>,
    /// Where other code goes.
    image: Option<String>,
    cache: Option<String>,
    /// What is run: a file, or `-` for standard input.
    program: Option<String>,
    asks: bool,
}

fn parse(arguments: &[String]) -> Parsed {
    let mut parsed = Parsed::default();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let (option, value) = match word.split_once('=') {
            Some((option, value)) if word.starts_with("--") => (option, Some(value.to_owned())),
            _ if WITH_VALUE.contains(&word.as_str()) => (word.as_str(), words.next().cloned()),
            _ => (word.as_str(), None),
        };
        match option {
            UNOPTIMIZED => parsed.bitcode = value,
            CACHE => parsed.cache = value,
            "--output-o" | "--output-bc" | "--output-asm" => parsed.image = value,
            "-v" | "--version" | "-h" | "--help" | "--help-hidden" => parsed.asks = true,
            // What stands behind the program is the program's.
            "--" => {
                parsed.program = words.next().cloned();
                break;
            }
            // Which julia juliaup is to start.
            channel if channel.starts_with('+') => {}
            program if program == "-" || !program.starts_with('-') => {
                parsed.program = Some(program.to_owned());
                break;
            }
            _ => {}
        }
    }
    parsed
}

impl Compiler for Julia {
    fn is(&self, program: &str) -> bool {
        program == "julia" || program.starts_with("julia-")
    }

    fn plan(&self, line: &Line, scratch: &Path) -> Option<Plan> {
        let parsed = parse(&line.words[1..]);
        let output = parsed.image.as_ref().or(parsed.bitcode.as_ref()).filter(|_| !parsed.asks)?;
        // Folders of caches are named by packages, files in them by chance.
        let place = Path::new(parsed.cache.as_ref().unwrap_or(output));
        let package = place.parent().and_then(Path::file_name).map(|name| name.to_string_lossy());
        let (source, target) = match (&parsed.program, package) {
            (Some(program), _) if program != "-" => (program.clone(), output.clone()),
            (_, Some(package)) => (package.to_string(), format!("{package} (package image)")),
            (_, None) => (output.clone(), output.clone()),
        };
        let mut command = line.command();
        let (file, otherwise) = match &parsed.bitcode {
            Some(named) => (line.directory.join(named), None),
            None => {
                let file = scratch.join("julia.a");
                // Options stand before the program, and behind the channel.
                let is_channel = line.words.get(1).is_some_and(|word| word.starts_with('+'));
                let option = OsString::from(format!("{UNOPTIMIZED}={}", file.display()));
                command.insert(1 + usize::from(is_channel), option);
                (file, Some(line.command()))
            }
        };
        let wanted = Wanted {
            source,
            target,
            language: "julia",
            input: parsed.program.filter(|one| one == "-").map(|_| scratch.join("input")),
            place: Place::Section(file),
            ..Wanted::default()
        };
        Some(Plan { command, otherwise, modules: vec![wanted], ..Plan::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source, target, what was put into the command, and whether standard input is read.
    fn planned(words: &str) -> Option<(String, String, Vec<String>, bool)> {
        let given: Vec<OsString> = words.split_whitespace().map(OsString::from).collect();
        let line = Line::of(&given).expect("a program is named");
        let plan = Julia.plan(&line, Path::new("/scratch"))?;
        let more = plan.command[1..].iter().filter(|word| !given.contains(word));
        let more = more.map(|word| word.to_string_lossy().into_owned()).collect();
        let wanted = plan.modules.into_iter().next()?;
        Some((wanted.source, wanted.target, more, wanted.input.is_some()))
    }

    #[test]
    fn images_give_their_bitcode() {
        let line = "julia -O0 -J /j/sys.so -g1 --output-o /d/v1.10/Small/jl_a.o --output-ji /d/v1.10/Small/jl_b.ji \
                    --output-incremental=yes --startup-file=no -";
        let more = vec!["--output-unopt-bc=/scratch/julia.a".to_owned()];
        let package = ("Small".to_owned(), "Small (package image)".to_owned(), more.clone(), true);
        assert_eq!(planned(line), Some(package));
        let program = ("a.jl".to_owned(), "sys.o".to_owned(), more, false);
        assert_eq!(planned("julia +1.10 --output-o=sys.o a.jl --version"), Some(program));
        // What the build asks for is taken from where it is.
        let own = ("a.jl".to_owned(), "a.bc".to_owned(), Vec::new(), false);
        assert_eq!(planned("julia --output-unopt-bc a.bc -- a.jl"), Some(own));
    }

    #[test]
    fn what_makes_no_code_gives_no_module() {
        for line in [
            "julia --version --output-o a.o",
            "julia --project=. -e using",
            // An option of the program's.
            "julia build.jl --output-o a.o",
            // A cache without an image would be another with one.
            "julia --output-ji a.ji --output-incremental=yes -",
        ] {
            assert_eq!(planned(line), None, "{line}");
        }
    }
}
