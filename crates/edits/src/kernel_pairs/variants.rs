use super::{Found, KernelPairsReport, Prepared};
use crate::{Error, Result};
use ::kernels::Source;
use dataset::{Code, Language, Program, Progress};
use serde_json::{Map, Value};
use std::{path::Path, time::Duration};

/// The option that names them.
const OPTION: &str = "--variants";

/// Sets of macros, a line each: a JSON list of `NAME` and `NAME=VALUE`.
///
/// # Errors
/// When the file cannot be read, a line is no such list, or there are fewer than two.
pub fn read_variants(path: &Path) -> Result<Vec<Vec<String>>> {
    let wrong = |reason: String| Error::Option {
        option: OPTION,
        reason: format!("{}: {reason}", path.display()),
    };
    let text = std::fs::read_to_string(path).map_err(Error::file("read", path))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let read = |(at, line): (usize, &str)| {
        let list: Vec<String> = serde_json::from_str(line).map_err(|error| {
            wrong(format!("line {} is no list of macros, [\"N=4\", \"M\"]: {error}", at + 1))
        })?;
        match list.iter().find(|one| !is_macro(one)) {
            Some(one) => Err(wrong(format!("line {}: `{one}` is no NAME or NAME=VALUE", at + 1))),
            None => Ok(list),
        }
    };
    let variants = lines.map(read).collect::<Result<Vec<Vec<String>>>>()?;
    match variants.len() {
        0 | 1 => Err(wrong(
            "holds fewer than two variants; the first line is the slow kernel's".to_owned(),
        )),
        _ => Ok(variants),
    }
}

fn is_macro(text: &str) -> bool {
    let name = text.split('=').next().unwrap_or_default();
    name.starts_with(|first: char| first == '_' || first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}

/// The lines that `edits judge-kernels` reads, with each kernel of `programs` under the first set of macros, and under each other
/// set that makes something else of it: `src_id` (its file and its name), `src_code`, `tgt_id` (the macros) and `tgt_code`, both
/// isolated and in normal form; and `kernel`, `path`, `license`, `src_defines` and `tgt_defines`. Programs in other languages are left
/// out. A question to clang has `limit`.
///
/// # Errors
/// When clang's worker cannot be started.
pub fn pair_variants(
    programs: &[Program],
    variants: &[Vec<String>],
    limit: Duration,
    progress: &dyn Progress,
) -> Result<(Vec<Map<String, Value>>, KernelPairsReport)> {
    let mut prepared = Prepared::start(limit)?;
    let mut found = Found::default();
    found.report.variants = variants.len() as u64;
    let Some((first, others)) = variants.split_first() else {
        return Ok((found.lines, found.report));
    };
    progress.begin("pair-kernels", programs.len() as u64);
    for program in programs {
        let Some(slow) = source(program, first) else {
            progress.advance(1);
            continue;
        };
        let fast: Vec<Source> = others.iter().filter_map(|one| source(program, one)).collect();
        prepared.add(std::iter::once(&slow).chain(&fast))?;
        for (macros, fast) in others.iter().zip(&fast) {
            found.compare(prepared.of(&slow), prepared.of(fast), |named, row| {
                [
                    ("src_id", format!("{}#{}", named.file, named.kernel).into()),
                    ("tgt_id", macros.join(" ").into()),
                    ("kernel", named.kernel.into()),
                    ("path", named.file.into()),
                    ("license", row.license.as_str().into()),
                    ("src_defines", first.clone().into()),
                    ("tgt_defines", macros.clone().into()),
                ]
            });
        }
        progress.advance(1);
    }
    Ok((found.lines, found.report))
}

/// A program under a set of macros.
fn source(program: &Program, macros: &[String]) -> Option<Source> {
    let text = match (&program.code, program.language) {
        (Code::Text(text), Language::OpenCl) => text.clone(),
        _ => return None,
    };
    let from = &program.provenance;
    Some(Source {
        id: program.code.hash(),
        text: Some(text),
        source: from.source.clone(),
        package: from.package.clone(),
        version: from.version.clone(),
        path: program.path.clone(),
        license: from.license.clone(),
        license_source: from.license_source.clone(),
        defines: macros.iter().map(|one| format!("-D{one}")).collect(),
        language: program.language.name().to_owned(),
        renamed: [program.name.clone(), program.original_name.clone()],
        inferred: program.inferred.clone(),
        ..Source::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_are_lists_of_macros_and_two_at_least() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("variants.jsonl");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            read_variants(&path).map_err(|error| error.to_string())
        };
        let known = read("[]\n\n[\"N=4\", \"_M\"]\n").unwrap();
        assert_eq!(known, [vec![], vec!["N=4".to_owned(), "_M".to_owned()]]);
        for (text, wanted) in [
            ("[]\n", "fewer than two"),
            ("[]\n{\"N\": 4}\n", "line 2 is no list"),
            ("[]\n[\"-DN=4\"]\n", "line 2: `-DN=4` is no NAME"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
