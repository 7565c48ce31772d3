//! ml-compiler-opt's corpus: what its training reads, and what `ir extract` reads back.

use super::{Export, ExportReport, place_of, split_of};
use crate::{Error, Module, extract::Description};
use dataset::{Dataset, Progress};
use std::{fs, path::Path};

pub(super) fn write(
    options: &Export<'_>,
    dataset: &Dataset,
    folder: &Path,
    progress: &dyn Progress,
) -> Result<ExportReport, Error> {
    let mut report = ExportReport::default();
    let mut description = Description::default();
    for row in dataset.rows::<Module>()? {
        let row = row?;
        progress.advance(1);
        if !row.is_accepted() {
            continue;
        }
        // A corpus has no splits; each is a folder of it.
        let split = split_of(&row, options.held_out, options.seed);
        let name = format!("{split}/{}", place_of(&row));
        let path = folder.join(format!("{name}.bc"));
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(Error::file("create", parent))?;
        fs::write(&path, &row.content).map_err(Error::file("write", &path))?;
        let path = folder.join(format!("{name}.cmd"));
        fs::write(&path, back_end(&row.command).join("\0")).map_err(Error::file("write", &path))?;
        report.add(&row, split);
        description.modules.push(name);
    }
    description.modules.sort();
    let path = folder.join(crate::extract::CORPUS);
    let text =
        serde_json::to_string_pretty(&description).map_err(|error| Error::format(&path, error))?;
    fs::write(&path, text + "\n").map_err(Error::file("write", &path))?;
    Ok(report)
}

/// How clang goes on from a module's bitcode: what its training calls clang with, `-x ir FILE` behind
/// it. The optimisation is that of the command the module was made by; `-O2` where that says none.
fn back_end(command: &[String]) -> Vec<String> {
    if command.first().is_some_and(|word| word == "-cc1") {
        return command.to_vec();
    }
    let of_rustc =
        |word: &str| word.split_once("opt-level=").map(|(_, level)| format!("-O{level}"));
    let level = command.iter().rev().find_map(|word| match word.as_str() {
        "-O" | "-C" => None,
        level if level.starts_with("-O") && level.len() == 3 => Some(level.to_owned()),
        word => of_rustc(word),
    });
    let level = level.unwrap_or_else(|| "-O2".to_owned());
    let words = ["-cc1", &level, "-emit-obj", "-mrelocation-model", "pic", "-pic-level", "2"];
    words.map(str::to_owned).to_vec()
}

#[cfg(test)]
mod tests {
    use super::back_end;

    #[test]
    fn commands_become_what_clang_goes_on_with() {
        let of = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            back_end(&words).join(" ")
        };
        let rest = "-emit-obj -mrelocation-model pic -pic-level 2";
        assert_eq!(of("cc -O2 -Os -c a.c -o a.o"), format!("-cc1 -Os {rest}"));
        assert_eq!(
            of("rustc --crate-name x -C opt-level=3 src/lib.rs"),
            format!("-cc1 -O3 {rest}")
        );
        assert_eq!(of("cc -c a.c"), format!("-cc1 -O2 {rest}"));
        assert_eq!(of("-cc1 -O1 -x c"), "-cc1 -O1 -x c");
    }
}
