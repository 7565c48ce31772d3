use crate::{Error, Result, kernel::Order};
use serde::Deserialize;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// A schedule file: several kernels of one program as one benchmark.
///
/// ```toml
/// program = "scan.cl"                 # beside this file
/// kernels = ["scan", "add", "scan"]   # in this order
///
/// [buffers]                           # arguments that share one buffer, by its name
/// sums = ["scan.partial", "add.partial"]
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Schedule {
    program: PathBuf,
    kernels: Vec<String>,
    #[serde(default)]
    buffers: BTreeMap<String, Vec<String>>,
}

/// Read the schedule at `path`: its program's path and text, and the order of its kernels.
pub(crate) fn read(path: &Path) -> Result<(PathBuf, String, Order)> {
    let wrong = |reason: String| Error::Schedule { path: path.to_owned(), reason };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let schedule: Schedule = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    if schedule.kernels.is_empty() {
        return Err(wrong("`kernels` names none".to_owned()));
    }
    let mut buffers = BTreeMap::new();
    for (buffer, arguments) in schedule.buffers {
        for argument in arguments {
            if !argument.contains('.') {
                return Err(wrong(format!("`{argument}` is not written KERNEL.ARGUMENT")));
            }
            if let Some(other) = buffers.insert(argument.clone(), buffer.clone()) {
                return Err(wrong(format!("`{argument}` is in `{other}` and in `{buffer}`")));
            }
        }
    }
    let program = path.parent().unwrap_or(Path::new("")).join(&schedule.program);
    let source = std::fs::read_to_string(&program)
        .map_err(|error| wrong(format!("cannot read {}: {error}", program.display())))?;
    Ok((schedule.program, source, Order { kernels: schedule.kernels, buffers }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(schedule: &str) -> Result<(PathBuf, String, Order)> {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("p.cl"), "kernel void A() {}").expect("written");
        let file = folder.path().join("s.toml");
        std::fs::write(&file, schedule).expect("written");
        read(&file)
    }

    #[test]
    fn a_schedule_names_its_program_kernels_and_buffers() {
        let (path, text, order) =
            reading("program = 'p.cl'\nkernels = ['A', 'B']\n[buffers]\nx = ['A.a', 'B.b']")
                .expect("a schedule");
        assert_eq!((path, text.as_str()), (PathBuf::from("p.cl"), "kernel void A() {}"));
        assert_eq!(order.kernels, ["A", "B"]);
        assert_eq!(order.buffers["A.a"], order.buffers["B.b"]);
    }

    #[test]
    fn wrong_schedules_say_what_is_wrong() {
        for (schedule, hint) in [
            ("kernels = ['A']", "program"),
            ("program = 'p.cl'\nkernels = []", "kernels"),
            ("program = 'q.cl'\nkernels = ['A']", "q.cl"),
            ("program = 'p.cl'\nkernels = ['A']\n[buffers]\nx = ['a']", "`a`"),
            ("program = 'p.cl'\nkernels = ['A']\n[buffers]\nx = ['A.a']\ny = ['A.a']", "`A.a`"),
            ("program = 'p.cl'\nkernels = ['A']\nrepeat = 3", "repeat"),
        ] {
            let message = reading(schedule).expect_err("wrong").to_string();
            assert!(message.contains(hint), "{message}");
        }
    }
}
