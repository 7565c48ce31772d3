use super::{Compiler, Line, Place, Plan, Wanted, is_probe};
use std::{ffi::OsString, path::Path};

/// ldc2, LLVM's D compiler: a second pass writes bitcode with every pass turned off.
pub(super) struct Ldc;

impl Compiler for Ldc {
    fn is(&self, program: &str) -> bool {
        matches!(program, "ldc2" | "ldmd2")
    }

    fn plan(&self, line: &Line, scratch: &Path) -> Option<Plan> {
        let arguments = line.arguments();
        let command = line.command();
        let is_source = |word: &String| {
            !word.starts_with('-')
                && Path::new(word).extension().is_some_and(|ending| ending == "d")
        };
        let sources: Vec<&String> = arguments.iter().filter(|word| is_source(word)).collect();
        let idle = ["--version", "-o-", "-run", "--help"];
        if sources.is_empty() || arguments.iter().any(|word| idle.contains(&word.as_str())) {
            return None;
        }
        if sources.iter().any(|source| is_probe(&line.directory, source)) {
            return None;
        }
        let output = arguments
            .iter()
            .find_map(|word| word.strip_prefix("-of"))
            .map(|output| output.trim_start_matches('=').to_owned());
        // A module a source: several in one command would share their template instances.
        let modules = sources.iter().enumerate().map(|(number, source)| {
            let file = scratch.join(format!("{number}.bc"));
            let kept = arguments.iter().filter(|word| {
                !is_source(word)
                    && !word.starts_with("-of")
                    && !word.starts_with("-od")
                    && !word.starts_with("-L")
                    && !matches!(word.as_str(), "-c" | "-lib" | "-shared" | "-main")
                    && !word.ends_with(".o")
                    && !word.ends_with(".a")
            });
            let mut second = vec![command[0].clone()];
            second.extend(kept.map(OsString::from));
            second.extend(["-c", "--output-bc", "--opt-bisect-limit=0"].map(OsString::from));
            second.push(format!("-of={}", file.display()).into());
            second.push(OsString::from(*source));
            Wanted {
                source: (*source).clone(),
                target: output.clone().unwrap_or_else(|| {
                    Path::new(source).with_extension("o").to_string_lossy().into_owned()
                }),
                language: "d",
                second: Some(second),
                place: Place::File(file),
                ..Wanted::default()
            }
        });
        let modules = modules.collect();
        Some(Plan { command, modules, ..Plan::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_have_a_pass_each_and_probes_none() {
        let planned = |words: &str| {
            let given: Vec<OsString> = words.split_whitespace().map(OsString::from).collect();
            Ldc.plan(&Line::of(&given).unwrap(), Path::new("/scratch"))
        };
        let plan = planned("ldc2 -O2 -c a.d b.d -of=both.o -L-lz").unwrap();
        let told: Vec<String> = plan
            .modules
            .iter()
            .map(|wanted| {
                let words = wanted.second.as_ref().unwrap()[1..].iter();
                words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
            })
            .collect();
        let second = |number: u32, source: &str| {
            format!("-O2 -c --output-bc --opt-bisect-limit=0 -of=/scratch/{number}.bc {source}")
        };
        assert_eq!(told, [second(0, "a.d"), second(1, "b.d")]);
        for words in ["ldc2 /b/meson-private/sanity.d -of=sanity", "ldc2 --version", "ldc2 a.o"] {
            assert!(planned(words).is_none(), "{words}");
        }
    }
}
